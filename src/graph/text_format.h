// SPDX-License-Identifier: Apache-2.0
/// What a text format of graphs is to the parser: how its header is read, how a
/// block of its lines becomes edges, and how its vertices are numbered in the end.
///
/// A format is one file of this folder, one function `make_...` below, and one
/// line of the table in parser.cc.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gossamer/graph/graph.h"
#include "graph/sink.h"
#include "graph/store.h"

namespace gossamer::graph {

/// Sources a bucket where the number of vertices is not known beforehand, as a power of two.
constexpr unsigned kUsualShift = 12;

/// What a bad line makes. Caught by the parser, which knows where in the file the block is.
struct BadLine {
  std::uint64_t line;  // counted from the start of the block, from 0
  std::string what;
};
/// What is wrong with the file as a whole; line 0 is none.
struct BadFile {
  std::uint64_t line;
  std::string what;
};
[[gnu::format(printf, 2, 3)]] [[noreturn]] void bad(std::uint64_t line, const char* format, ...);
[[gnu::format(printf, 2, 3)]] [[noreturn]] void bad_file(std::uint64_t line, const char* format, ...);

/// What was asked for, and what the header said.
struct Header {
  bool undirected = false;
  unsigned threads = 1;
  std::uint64_t lines = 0;      // read so far: the line in hand is the next one
  std::uint64_t size_line = 0;  // where the counts stand
  std::uint64_t announced_vertices = 0;
  std::uint64_t announced_edges = 0;
  std::uint64_t vertices = 0;  // where the header binds the file to them, else 0
};

/// Whole lines of the file, each with its '\n'.
struct Block {
  std::uint64_t number = 0;  // 0, 1, 2, ... in the order of the file
  std::uint64_t row = 0;     // what TextFormat::rows_before gave
  std::vector<char> text;
  std::size_t size = 0;
  const char* begin() const { return text.data(); }
  const char* end() const { return text.data() + size; }
};

/// What a thread keeps between blocks for its format.
struct Scratch {
  virtual ~Scratch() = default;
};

/// One thread's edges.
struct Worker {
  explicit Worker(unsigned shift) : sink(shift) {}
  Sink sink;
  std::uint64_t entries = 0;  // edges as the file lists them
  std::uint64_t most = 0;     // greatest number put into the sink
  std::unique_ptr<Scratch> scratch;
};

enum class HeaderLine {
  kMore,  // the header goes on
  kLast,  // the data begin behind this line
  kData,  // the data begin with this line
};

class TextFormat {
 public:
  explicit TextFormat(Header& header) : header_(header) {}
  virtual ~TextFormat() = default;
  TextFormat(const TextFormat&) = delete;
  TextFormat& operator=(const TextFormat&) = delete;

  /// The next line, without its '\n'. Throws BadLine{0, ...}.
  virtual HeaderLine header_line(std::string_view line) = 0;
  /// What is wrong with a file that ends within its header.
  virtual const char* ends_early() const { return "the file ends within its header; it is cut short"; }

  /// Whether a line may be longer than a block.
  virtual bool long_lines() const { return false; }
  /// Called in the order of the file, with the text of each block; given on as Block::row.
  virtual std::uint64_t rows_before(const char* /*text*/, std::size_t /*size*/) { return 0; }
  /// Puts the edges of a block into the worker's sink; gives the number of lines. Throws BadLine.
  /// Called by many threads at once.
  virtual std::uint64_t parse(const Block& block, Worker& worker) = 0;
  /// Called for every block, also for one that failed or was left out.
  virtual void parsed(const Block& /*block*/) {}

  /// Judges the counts, fills `shape` but for the edges, and numbers the vertices. Throws BadFile.
  virtual Numbering finish(std::deque<Worker>& workers, gs_graph_shape& shape) = 0;
  /// Stores of edges that are no worker's.
  virtual void collect(std::vector<EdgeStore*>& /*stores*/) {}
  /// Fills the labels that `finish` announced.
  virtual void labels(const Numbering& /*numbering*/, std::int64_t* /*numbers*/, std::uint64_t* /*starts*/,
                      char* /*text*/) {}
  /// Judges the finished rows. Throws BadFile.
  virtual void judge(const std::uint64_t* /*offsets*/, const std::uint32_t* /*targets*/, const void* /*weights*/,
                     int /*weight_type*/) {}

 protected:
  Header& header_;
};

std::unique_ptr<TextFormat> make_edge_list(Header& header);
std::unique_ptr<TextFormat> make_matrix_market(Header& header);
std::unique_ptr<TextFormat> make_metis(Header& header);
std::unique_ptr<TextFormat> make_dimacs(Header& header);

/// An edge list below its comments, by what its first line has: numbers in `columns` columns, or words.
std::unique_ptr<TextFormat> make_number_list(Header& header, unsigned columns);
/// Whether tables of edges have such a word above a column of vertices, in any spelling: node_1, "From Node".
bool is_heading(std::string_view word);

std::unique_ptr<TextFormat> make_word_list(Header& header, bool edges_announced);

/// For all edge lists: what a `# Nodes: N Edges: M` comment said.
void tell_announced(const Header& header, gs_graph_shape& shape);
constexpr const char* kNoEdge = "the file ends without an edge; there is no graph in it";

/// Formats whose header gives the number of vertices, which are 1 .. n.
class CountedFormat : public TextFormat {
 public:
  using TextFormat::TextFormat;
  Numbering finish(std::deque<Worker>& workers, gs_graph_shape& shape) override;

 protected:
  /// How many entries the header announces, and what they are called.
  virtual std::uint64_t expected() const { return header_.announced_edges; }
  virtual const char* entries_are() const { return "edges"; }
  /// What a weight is, behind "no".
  virtual const char* weights_are() const { return "finite number"; }
  virtual bool symmetric() const { return header_.undirected; }

  /// A count in a header: 0 .. 2^63 - 1.
  static std::uint64_t count_word(std::string_view word, const char* what);
  /// Takes the number of vertices, before anything of that size is asked for.
  void set_vertices(std::uint64_t vertices);
  [[noreturn]] void bad_vertex(std::string_view word, std::uint64_t line) const;
  /// Says what is wrong with a line of the columns of `form`, the vertices behind `skip` of them.
  [[noreturn]] void bad_entry(const char* at, std::uint64_t line, unsigned skip, const char* form) const;
};

}  // namespace gossamer::graph
