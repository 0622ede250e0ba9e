// SPDX-License-Identifier: Apache-2.0
/// Edge lists, SNAP's and plain ones: "source target [weight]". The first line determines whether the
/// vertices are numbers (number_list.cc) or words (word_list.cc).
#include "graph/text_format.h"

namespace gossamer::graph {
namespace {

class EdgeList final : public TextFormat {
 public:
  using TextFormat::TextFormat;

  HeaderLine header_line(std::string_view line) override {
    const auto words = split<true>(line);
    if (words.empty()) return HeaderLine::kMore;
    if (words[0][0] == '#' || words[0][0] == '%') {
      read_comment(words);
      return HeaderLine::kMore;
    }
    for (const std::string_view word : words) {
      const std::size_t at = word.find_first_of(";|");
      if (at != std::string_view::npos && (words.size() == 1 || at == 0 || at + 1 == word.size()))
        bad(0, "columns separated by '%c'; an edge list needs blanks, tabs or commas between them: tr '%c' ' '",
            word[at], word[at]);
    }
    // A weight is a number, so this line is not an edge.
    if (!headed_ && words.size() == 3 && is_heading(words[0]) && is_heading(words[1]) && !looks_numeric(words[2])) {
      headed_ = true;
      return HeaderLine::kMore;
    }
    if (!looks_numeric(words[0]) || (words.size() > 1 && !looks_numeric(words[1]))) {
      list_ = make_word_list(header_, edges_announced_);
      return HeaderLine::kData;
    }
    if (words.size() < 2) bad(0, "one column, but an edge needs two: source target [weight]");
    if (words.size() > 3) bad(0, "%zu columns; an edge list has two or three: source target [weight]", words.size());
    list_ = make_number_list(header_, static_cast<unsigned>(words.size()));
    return HeaderLine::kData;
  }
  const char* ends_early() const override { return kNoEdge; }

  std::uint64_t parse(const Block& block, Worker& worker) override { return list_->parse(block, worker); }
  void parsed(const Block& block) override { list_->parsed(block); }
  Numbering finish(std::deque<Worker>& workers, gs_graph_shape& shape) override {
    return list_->finish(workers, shape);
  }
  void collect(std::vector<EdgeStore*>& stores) override { list_->collect(stores); }
  void labels(const Numbering& numbering, std::int64_t* numbers, std::uint64_t* starts, char* text) override {
    list_->labels(numbering, numbers, starts, text);
  }

 private:
  /// SNAP's "# Nodes: 7115 Edges: 103689": a comment, so a mismatch is only reported.
  void read_comment(const std::vector<std::string_view>& words) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const std::string key = lower(words[i]);
      std::uint64_t value = 0;
      if ((key != "nodes:" && key != "edges:") || !whole_number(words[i + 1], value)) continue;
      (key == "nodes:" ? header_.announced_vertices : header_.announced_edges) = value;
      edges_announced_ |= key == "edges:";
      header_.size_line = header_.lines + 1;
    }
  }

  bool edges_announced_ = false;
  bool headed_ = false;  // the list has a line of column headings
  std::unique_ptr<TextFormat> list_;
};

}  // namespace

void copy_announced(const Header& header, gs_graph_shape& shape) {
  shape.announced_vertices = header.announced_vertices;
  shape.announced_edges = header.announced_edges;
  shape.announced_line = header.size_line;
  if (header.undirected) shape.flags = GS_GRAPH_SYMMETRIC;
}

std::unique_ptr<TextFormat> make_edge_list(Header& header) { return std::make_unique<EdgeList>(header); }

}  // namespace gossamer::graph
