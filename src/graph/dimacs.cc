// SPDX-License-Identifier: Apache-2.0
/// DIMACS shortest paths: "p sp VERTICES EDGES", then arcs "a source target weight".
#include "graph/text_format.h"

namespace gossamer::graph {
namespace {

class Dimacs final : public CountedFormat {
 public:
  using CountedFormat::CountedFormat;

  HeaderLine header_line(std::string_view line) override {
    const auto words = split<false>(line);
    if (words.empty() || words[0] == "c") return HeaderLine::kMore;
    if (words[0] != "p")
      bad(0, "%s before the problem line; a DIMACS graph starts with: p sp VERTICES EDGES", quoted(words[0]).c_str());
    if (words.size() != 4 || words[1] != "sp") bad(0, "the problem line must be: p sp VERTICES EDGES");
    const std::uint64_t vertices = count_word(words[2], "vertices");
    header_.announced_edges = count_word(words[3], "edges");
    set_vertices(vertices);
    return HeaderLine::kLast;
  }

  std::uint64_t parse(const Block& block, Worker& worker) override {
    constexpr const char* form = "a source target weight";
    const std::uint64_t n = header_.vertices;
    const bool undirected = header_.undirected;
    std::uint64_t line = 0;
    std::uint64_t entries = 0;
    for (const char *at = block.begin(), *end = block.end(); at != end; ++line) {
      const char* const begin = at;
      at = skip_blanks<false>(at);
      if (*at == '\n') {
        ++at;
        continue;
      }
      if (*at == 'c' && (is_blank<false>(at[1]) || at[1] == '\n')) {
        at = next_line(at, end);
        continue;
      }
      if (*at != 'a' || !is_blank<false>(at[1]))
        bad(line,
            "a line of kind %s; after the problem line only arcs (a source target weight) and comments "
            "(c) are allowed",
            quoted(split<false>(line_at(begin))[0]).c_str());
      at = skip_blanks<false>(at + 1);
      std::uint64_t source = 0, target = 0;
      Number weight;
      if (!read_number(at, source) || !is_blank<false>(*at)) bad_entry(begin, line, 1, form);
      at = skip_blanks<false>(at);
      if (!read_number(at, target) || !is_blank<false>(*at)) bad_entry(begin, line, 1, form);
      at = skip_blanks<false>(at);
      if (!read_weight(at, weight)) bad_entry(begin, line, 1, form);
      at = skip_blanks<false>(at);
      if (*at != '\n' || --source >= n || --target >= n) bad_entry(begin, line, 1, form);
      ++at;
      ++entries;
      const auto s = static_cast<std::uint32_t>(source), t = static_cast<std::uint32_t>(target);
      worker.sink.add(s, t, weight);
      if (undirected && s != t) worker.sink.add(t, s, weight);
    }
    worker.entries += entries;
    return line;
  }
};

}  // namespace

std::unique_ptr<TextFormat> make_dimacs(Header& header) { return std::make_unique<Dimacs>(header); }

}  // namespace gossamer::graph
