// SPDX-License-Identifier: Apache-2.0
/// The parser's interface to a text format of graphs: reading its header, parsing a
/// block of its lines into edges, and numbering its vertices at the end.
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
#include "graph/columns.h"
#include "graph/sink.h"
#include "graph/store.h"

namespace gossamer::graph {

/// log2 of the sources per bucket if the number of vertices is not known beforehand.
constexpr unsigned kUsualShift = 12;

/// Thrown for a bad line. Caught by the parser, which knows the block's position in the file.
struct BadLine {
  std::uint64_t line;  // counted from the start of the block, from 0
  std::string what;
};
/// An error of the file as a whole; line 0 means no line.
struct BadFile {
  std::uint64_t line;
  std::string what;
};
[[gnu::format(printf, 2, 3)]] [[noreturn]] void bad(std::uint64_t line, const char* format, ...);
[[gnu::format(printf, 2, 3)]] [[noreturn]] void bad_file(std::uint64_t line, const char* format, ...);

/// The caller's options and the contents of the header.
struct Header {
  bool undirected = false;
  bool part = false;  // only some of the lines after the header are read
  bool rest = false;  // the first of them belongs to another part
  unsigned threads = 1;
  std::uint64_t lines = 0;      // lines read so far: the current line is the next one
  std::uint64_t size_line = 0;  // the line with the counts
  std::uint64_t announced_vertices = 0;
  std::uint64_t announced_edges = 0;
  std::uint64_t vertices = 0;  // if the header fixes their number, else 0

  // Of edge lists.
  bool certain = false;  // the caller has named the format
  bool announces_vertices = false, announces_edges = false;
  bool words = false;       // the labels are words, even if they look like numbers
  std::int64_t least = 0;   // the least number of a vertex, if negative
  std::uint32_t notes = 0;  // GS_NOTE_*
  /// Whether a comment states this number of edges: then no line is a heading or has another format.
  bool has_announced(std::uint64_t edges) const { return announces_edges && announced_edges == edges; }
};

/// Whole lines of the file, each with its '\n'.
struct Block {
  std::uint64_t number = 0;  // 0, 1, 2, ... in the order of the file
  std::uint64_t row = 0;     // the result of TextFormat::rows_before
  std::vector<char> text;
  std::size_t size = 0;
  const char* begin() const { return text.data(); }
  const char* end() const { return text.data() + size; }
};

/// A format's data of one thread between blocks.
struct Scratch {
  virtual ~Scratch() = default;
};

/// One thread's edges.
struct Worker {
  explicit Worker(unsigned shift) : sink(shift) {}
  Sink sink;
  std::uint64_t entries = 0;  // edges in the file
  std::uint64_t most = 0;     // largest number put into the sink
  std::unique_ptr<Scratch> scratch;
};

enum class HeaderLine {
  kMore,  // the header continues
  kLast,  // the data begins after this line
  kData,  // the data begins with this line
};

class TextFormat {
 public:
  explicit TextFormat(Header& header) : header_(header) {}
  virtual ~TextFormat() = default;
  TextFormat(const TextFormat&) = delete;
  TextFormat& operator=(const TextFormat&) = delete;

  /// Called before the first line with the columns to read, "SOURCE,TARGET[,WEIGHT]" by number or name.
  virtual void choose_columns(std::string_view /*columns*/) {
    throw BadFile{0, "only an edge list has columns to choose"};
  }
  /// The next line, without its '\n'. Throws BadLine{0, ...}.
  virtual HeaderLine header_line(std::string_view line) = 0;
  /// The error of a file that ends within its header.
  virtual const char* ends_early() const { return "the file ends within its header; it is truncated"; }

  /// Whether a line may be longer than a block.
  virtual bool long_lines() const { return false; }
  /// Called in the order of the file, with the text of each block; the result becomes Block::row.
  virtual std::uint64_t rows_before(const char* /*text*/, std::size_t /*size*/) { return 0; }
  /// Puts the edges of a block into the worker's sink; returns the number of lines. Throws BadLine.
  /// Called by many threads concurrently.
  virtual std::uint64_t parse(const Block& block, Worker& worker) = 0;
  /// Called for every block, including those that failed or were skipped.
  virtual void parsed(const Block& /*block*/) {}

  /// Checks the counts, fills `shape` except for the edges, and numbers the vertices. Throws BadFile.
  virtual Numbering finish(std::deque<Worker>& workers, gs_graph_shape& shape) = 0;
  /// Stores of edges that belong to no worker.
  virtual void collect(std::vector<EdgeStore*>& /*stores*/) {}
  /// Fills the labels that `finish` announced.
  virtual void labels(const Numbering& /*numbering*/, std::int64_t* /*numbers*/, std::uint64_t* /*starts*/,
                      char* /*text*/) {}
  /// Checks the finished rows. Throws BadFile.
  virtual void judge(const std::uint64_t* /*offsets*/, const std::uint32_t* /*targets*/, const void* /*weights*/,
                     int /*weight_type*/) {}

 protected:
  Header& header_;
};

std::unique_ptr<TextFormat> make_edge_list(Header& header);
std::unique_ptr<TextFormat> make_matrix_market(Header& header);
std::unique_ptr<TextFormat> make_metis(Header& header);
std::unique_ptr<TextFormat> make_dimacs(Header& header);

/// The part of an edge list after its comments, by its first line: numbers, or words.
std::unique_ptr<TextFormat> make_number_list(Header& header, const Columns& columns);
std::unique_ptr<TextFormat> make_word_list(Header& header, const Columns& columns);
/// Whether the word is a usual heading of a column of vertices, in any spelling: node_1, "From Node".
bool is_heading(std::string_view word);

/// For all edge lists: copies the counts of a `# Nodes: N Edges: M` comment to `shape`.
void copy_announced(const Header& header, gs_graph_shape& shape);
constexpr const char* kNoEdge = "the file ends without an edge; there is no graph in it";

/// Formats whose header states the number of vertices, which are 1 .. n.
class CountedFormat : public TextFormat {
 public:
  using TextFormat::TextFormat;
  Numbering finish(std::deque<Worker>& workers, gs_graph_shape& shape) override;

 protected:
  /// The number of entries that the header states, and their name in messages.
  virtual std::uint64_t expected() const { return header_.announced_edges; }
  virtual const char* entries_are() const { return "edges"; }
  /// What a refused word must be to be a weight, for messages: "is not ...".
  virtual const char* weights_are(std::string_view word) const { return weights_must_be(word); }
  virtual bool symmetric() const { return header_.undirected; }

  /// A count in a header: 0 .. 2^63 - 1.
  static std::uint64_t count_word(std::string_view word, const char* what);
  /// Sets the number of vertices and checks it, before memory of that size is allocated.
  void set_vertices(std::uint64_t vertices);
  [[noreturn]] void bad_vertex(std::string_view word, std::uint64_t line) const;
  /// Reports the error in a line with the columns of `form`; the vertices follow `skip` columns.
  [[noreturn]] void bad_entry(const char* at, std::uint64_t line, unsigned skip, const char* form) const;
};

}  // namespace gossamer::graph
