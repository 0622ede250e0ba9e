// SPDX-License-Identifier: Apache-2.0
/// METIS: a header "vertices edges [format [weights]]", then a line for each vertex with its neighbours.
/// Line i is vertex i, so the parser counts the vertex lines before each block.
#include <algorithm>

#include "gossamer/core/error.h"
#include "graph/text_format.h"

namespace gossamer::graph {
namespace {

class Metis final : public CountedFormat {
 public:
  using CountedFormat::CountedFormat;

  HeaderLine header_line(std::string_view line) override {
    const auto words = split<false>(line);
    if (words.empty() || words[0][0] == '%') return HeaderLine::kMore;
    if (words.size() < 2 || words.size() > 4)
      bad(0, "%zu column%s in the header; it has two to four: vertices edges [format [weights]]", words.size(),
          words.size() == 1 ? "" : "s");
    const std::uint64_t vertices = count_word(words[0], "vertices");
    header_.announced_edges = count_word(words[1], "edges");
    if (words.size() > 2) read_flags(words[2], words.size() > 3 ? words[3] : std::string_view());
    set_vertices(vertices);
    return HeaderLine::kLast;
  }

  bool long_lines() const override { return true; }  // a line holds all neighbours of a vertex

  std::uint64_t rows_before(const char* text, std::size_t size) override {
    const std::uint64_t before = rows_;
    for (const char *at = text, *end = text + size; at != end; at = next_line(at, end)) {
      if (*skip_blanks<false>(at) == '%')
        comment_rows_.push_back(rows_);
      else
        ++rows_;
    }
    return before;
  }

  std::uint64_t parse(const Block& block, Worker& worker) override {
    std::uint64_t line = 0;
    std::uint64_t row = block.row;
    for (const char *at = block.begin(), *end = block.end(); at != end; ++line) {
      at = skip_blanks<false>(at);
      if (*at == '%') {
        at = next_line(at, end);
        continue;
      }
      if (row >= header_.vertices) {
        if (*at != '\n')
          bad(line, "more lines of neighbours than vertices; line %llu states a number of vertices of %llu",
              (unsigned long long)header_.size_line, (unsigned long long)header_.vertices);
        ++at;
        continue;
      }
      at = parse_row(at, line, static_cast<std::uint32_t>(row), worker) + 1;
      ++row;
    }
    return line;
  }

  Numbering finish(std::deque<Worker>& workers, gs_graph_shape& shape) override {
    if (header_.part) {
      // The first vertex of a part is unknown here: rows are counted from 0.
      shape.announced_vertices = rows_;
    } else if (rows_ < header_.vertices) {
      bad_file(
          header_.size_line,
          "the number of vertices is %llu in the header, but the number of lines of neighbours is %llu; the file is "
          "truncated or its header is wrong",
          (unsigned long long)header_.vertices, (unsigned long long)rows_);
    }
    return CountedFormat::finish(workers, shape);
  }

  /// Every edge must be listed at both ends.
  void judge(const std::uint64_t* offsets, const std::uint32_t* targets, const void* weights,
             int weight_type) override {
    if (header_.part) return;
    std::uint64_t vertex = 0, other = 0;
    if (gs_graph_check_symmetric(header_.vertices, offsets, targets, weights, weight_type,
                                 static_cast<int>(header_.threads), &vertex, &other) == GS_OK)
      return;
    const auto comments = std::upper_bound(comment_rows_.begin(), comment_rows_.end(), vertex) - comment_rows_.begin();
    bad_file(header_.lines + vertex + static_cast<std::uint64_t>(comments) + 1,
             "vertex %llu lists neighbour %llu, which does not list it back as often and with the same weights; "
             "a METIS graph is undirected",
             (unsigned long long)vertex + 1, (unsigned long long)other + 1);
  }

 protected:
  std::uint64_t expected() const override { return 2 * header_.announced_edges; }
  const char* entries_are() const override { return "neighbours (two per edge)"; }
  bool symmetric() const override { return true; }

 private:
  void read_flags(std::string_view format, std::string_view count) {
    if (format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos)
      bad(0, "format %s; it must have one to three digits, each 0 or 1: sizes, vertex weights, edge weights",
          quoted(format).c_str());
    auto flag = [&](std::size_t from_end) {
      return format.size() > from_end && format[format.size() - 1 - from_end] == '1';
    };
    weighted_ = flag(0);
    std::uint64_t weights = flag(1) ? 1 : 0;
    if (!count.empty()) {
      weights = count_word(count, "vertex weights");
      if (weights > 1000 || (weights == 0) == flag(1))
        bad(0, "%s vertex weights contradict format %s", quoted(count).c_str(), quoted(format).c_str());
    }
    skipped_ = static_cast<unsigned>(weights) + (flag(2) ? 1 : 0);
  }

  static bool ends_word(char c) { return c == '\n' || is_blank<false>(c); }
  static std::string_view word(const char* at) {
    const char* stop = at;
    while (!ends_word(*stop)) ++stop;
    return {at, static_cast<std::size_t>(stop - at)};
  }

  /// Parses the neighbours of one vertex; returns the end of the line.
  const char* parse_row(const char* at, std::uint64_t line, std::uint32_t row, Worker& worker) const {
    for (unsigned i = 0; i < skipped_; ++i) {
      std::uint64_t ignored = 0;
      if (*at == '\n') bad(line, "too few numbers before the neighbours: %u instead of %u", i, skipped_);
      const char* const begin = at;
      if (!read_number(at, ignored) || !ends_word(*at))
        bad(line, "%s is not a vertex weight", quoted(word(begin)).c_str());
      at = skip_blanks<false>(at);
    }
    while (*at != '\n') {
      std::uint64_t target = 0;
      const char* begin = at;
      if (!read_number(at, target) || !ends_word(*at) || --target >= header_.vertices) bad_vertex(word(begin), line);
      at = skip_blanks<false>(at);
      ++worker.entries;
      if (!weighted_) {
        worker.sink.add(row, static_cast<std::uint32_t>(target));
        continue;
      }
      Number weight;
      if (*at == '\n') bad(line, "the last neighbour has no weight; the header states edge weights");
      begin = at;
      if (!read_weight(at, weight) || !ends_word(*at))
        bad(line, "weight %s is not %s", quoted(word(begin)).c_str(), weights_must_be(word(begin)));
      at = skip_blanks<false>(at);
      worker.sink.add(row, static_cast<std::uint32_t>(target), weight);
    }
    return at;
  }

  bool weighted_ = false;
  unsigned skipped_ = 0;  // sizes and weights of a vertex, before its neighbours
  std::uint64_t rows_ = 0;
  std::vector<std::uint64_t> comment_rows_;  // rows before each comment line
};

}  // namespace

std::unique_ptr<TextFormat> make_metis(Header& header) { return std::make_unique<Metis>(header); }

}  // namespace gossamer::graph
