// SPDX-License-Identifier: Apache-2.0
/// Edge lists, SNAP's and plain ones: "source target [weight]". The first line determines how columns are separated
/// (columns.h), and whether the vertices are numbers (number_list.cc) or words (word_list.cc).
#include <algorithm>
#include <array>

#include "graph/text_format.h"

namespace gossamer::graph {
namespace {

constexpr std::string_view kChoose = "choose two or three of them: --columns SOURCE,TARGET[,WEIGHT]";

class EdgeList final : public TextFormat {
 public:
  using TextFormat::TextFormat;

  void choose_columns(std::string_view columns) override {
    while (!columns.empty()) {
      const std::size_t comma = std::min(columns.find(','), columns.size());
      chosen_.emplace_back(columns.substr(0, comma));
      columns.remove_prefix(std::min(comma + 1, columns.size()));
    }
  }

  HeaderLine header_line(std::string_view line) override {
    const auto words = split<true>(line);
    if (split<false>(line).empty()) return HeaderLine::kMore;
    if (!words.empty() && (words[0][0] == '#' || words[0][0] == '%')) {
      read_comment(words);
      return HeaderLine::kMore;
    }
    for (const std::string_view word : words) {
      const std::size_t at = word.find_first_of(";|");
      if (!header_.words && at != std::string_view::npos && (words.size() == 1 || at == 0 || at + 1 == word.size()))
        bad(0, "columns separated by '%c'; an edge list needs blanks, tabs or commas between them: tr '%c' ' '",
            word[at], word[at]);
    }
    columns_.separator = separator_of(line);
    columns_.quotes = !header_.words && has_quotes(line, columns_.separator);
    const std::vector<Field>& fields = cutter_.cut(line, columns_.separator, 0, columns_.quotes);
    for (const Field& field : fields) {
      const std::size_t at = field.quoted ? std::string_view::npos : field.text.find(';');
      if (at != std::string_view::npos && looks_numeric(field.text.substr(0, at)) &&
          looks_numeric(field.text.substr(at + 1)))
        bad(0, "%s: columns separated by ';'; an edge list needs blanks, tabs or commas between them",
            quoted(field.text).c_str());
    }
    if (!chosen_.empty()) return choose(fields);
    if (!line_of_columns_) columns_.line = header_.lines + 1;
    // A weight is a number, so this line is not an edge.
    if (!headed_ && fields.size() == 3 && is_heading(fields[0].text) && is_heading(fields[1].text) &&
        !fields[2].text.empty() && !looks_numeric(fields[2].text)) {
      headed_ = true;
      return HeaderLine::kMore;
    }
    check_filled(fields, 0, nullptr);
    if (fields.size() > 3) too_many(fields);
    columns_.count = static_cast<unsigned>(fields.size());
    columns_.weight = fields.size() == 3 ? 2 : Columns::kNone;
    const bool number = looks_numeric(fields[0].text);
    if (fields.size() < 2 && number && !header_.words)
      bad(0, "one column, but an edge needs two: source target [weight]");
    return begin(fields, number && looks_numeric(fields[fields.size() < 2 ? 0 : 1].text));
  }
  const char* ends_early() const override { return kNoEdge; }

  std::uint64_t parse(const Block& block, Worker& worker) override { return list_->parse(block, worker); }
  void parsed(const Block& block) override { list_->parsed(block); }
  Numbering finish(std::deque<Worker>& workers, gs_graph_shape& shape) override {
    shape.first_line = columns_.line;
    return list_->finish(workers, shape);
  }
  void collect(std::vector<EdgeStore*>& stores) override { list_->collect(stores); }
  void labels(const Numbering& numbering, std::int64_t* numbers, std::uint64_t* starts, char* text) override {
    list_->labels(numbering, numbers, starts, text);
  }

 private:
  HeaderLine begin(const std::vector<Field>& fields, bool numbers) {
    for (std::size_t i = 0; i < 3 && i < fields.size(); ++i) whole_number(fields[i].text, columns_.first[i]);
    if (numbers && !header_.words)
      list_ = make_number_list(header_, columns_);
    else
      list_ = make_word_list(header_, columns_);
    return HeaderLine::kData;
  }

  [[noreturn]] void too_many(const std::vector<Field>& fields) const {
    std::string names;
    unsigned found = 0;
    for (const Field& field : fields) {
      if (found == 2 || !is_heading(field.text) || field.text == "id" || field.text == "Id") continue;
      names += (found++ ? "," : "") + std::string(field.text);
    }
    const bool data = fields.back().text.front() == '{' || fields.back().text.back() == '}';
    bad(0, "%zu columns; an edge list has two or three: source target [weight]; %s%s%s", fields.size(), kChoose.data(),
        found == 2 ? ", such as --columns " : "",
        found == 2 ? names.c_str()
        : data     ? " (NetworkX writes weights alone with write_weighted_edgelist)"
                   : "");
  }

  /// The columns that the user chose, by their names in this line or by their numbers.
  HeaderLine choose(const std::vector<Field>& fields) {
    if (line_of_columns_) {
      columns_.check(fields, 0);
    } else {
      line_of_columns_ = columns_.line = header_.lines + 1;
      columns_.chosen = true;
      columns_.count = static_cast<unsigned>(fields.size());
      bool named = false;
      unsigned* const places[] = {&columns_.source, &columns_.target, &columns_.weight};
      for (std::size_t i = 0; i < chosen_.size() && i < 3; ++i) *places[i] = column(chosen_[i], fields, named);
      const auto& source = fields[columns_.source].text;
      const auto& target = fields[columns_.target].text;
      const bool heads = !looks_numeric(source) && !looks_numeric(target);
      const bool no_weight =
          columns_.weighted() && !fields[columns_.weight].text.empty() && !looks_numeric(fields[columns_.weight].text);
      if (named || (heads && no_weight)) return HeaderLine::kMore;
      columns_.check(fields, 0);
    }
    return begin(fields, looks_numeric(fields[columns_.source].text) && looks_numeric(fields[columns_.target].text));
  }

  static unsigned column(const std::string& name, const std::vector<Field>& fields, bool& named) {
    std::uint64_t number = 0;
    if (whole_number(name, number)) {
      if (number - 1 >= fields.size())
        bad(0, "%zu column%s, but --columns has %s; columns are numbered from 1", fields.size(),
            fields.size() == 1 ? "" : "s", quoted(name).c_str());
      return static_cast<unsigned>(number - 1);
    }
    named = true;
    for (unsigned i = 0; i < fields.size(); ++i)
      if (fields[i].text == name) return i;
    for (unsigned i = 0; i < fields.size(); ++i)
      if (lower(fields[i].text) == lower(name)) return i;
    std::string names;
    for (const Field& field : fields) names += (names.empty() ? "" : ", ") + quoted(field.text);
    bad(0, "no column %s; the columns of the first line are %.300s", quoted(name).c_str(), names.c_str());
  }

  /// SNAP's "# Nodes: 7115 Edges: 103689": a comment, so a mismatch is only reported. Our own files state more.
  void read_comment(const std::vector<std::string_view>& words) {
    for (const std::string_view word : words)
      if (lower(word).find("matrixmarket") != std::string::npos)
        bad(0, "a Matrix Market banner must start with %%%%MatrixMarket, at the beginning of the first line");
    read_konect(words);
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const std::string key = lower(words[i]);
      std::uint64_t value = 0;
      if (key == "labels:" && words[i + 1] == "words") header_.words = true;
      if (key == "least:" && words[i + 1][0] == '-' && whole_number(words[i + 1].substr(1), value))
        header_.least = -static_cast<std::int64_t>(value);
      if ((key != "nodes:" && key != "edges:") || !whole_number(words[i + 1], value)) continue;
      (key == "nodes:" ? header_.announced_vertices : header_.announced_edges) = value;
      (key == "nodes:" ? header_.announces_vertices : header_.announces_edges) = true;
      header_.size_line = header_.lines + 1;
    }
  }

  /// The first line of KONECT's files: "% sym unweighted".
  void read_konect(const std::vector<std::string_view>& words) {
    static constexpr std::array<std::string_view, 9> kWeights = {"unweighted",    "positive",    "posweighted",
                                                                 "signed",        "multisigned", "weighted",
                                                                 "multiweighted", "dynamic",     "multiposweighted"};
    if (words.size() != 3 || words[0] != "%" || std::find(kWeights.begin(), kWeights.end(), words[2]) == kWeights.end())
      return;
    if (words[1] == "bip")
      bad(0,
          "a bipartite KONECT graph: both sides have the same numbers; give the sides different names first, such as "
          "a1 and b1");
    if (words[1] == "sym" && !header_.undirected) header_.notes |= GS_NOTE_UNDIRECTED;
  }

  std::vector<std::string> chosen_;
  std::uint64_t line_of_columns_ = 0;
  bool headed_ = false;  // the list has a line of column headings
  FieldCutter cutter_;
  Columns columns_;
  std::unique_ptr<TextFormat> list_;
};

}  // namespace

void copy_announced(const Header& header, gs_graph_shape& shape) {
  shape.announced_vertices = header.announced_vertices;
  shape.announced_edges = header.announced_edges;
  shape.announced_line = header.size_line;
  if (header.undirected) shape.flags = GS_GRAPH_SYMMETRIC;
  shape.notes |= header.notes;
}

std::unique_ptr<TextFormat> make_edge_list(Header& header) { return std::make_unique<EdgeList>(header); }

}  // namespace gossamer::graph
