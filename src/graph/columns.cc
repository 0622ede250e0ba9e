// SPDX-License-Identifier: Apache-2.0
#include "graph/columns.h"

#include <algorithm>

#include "graph/text_format.h"

namespace gossamer::graph {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank<false>(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank<false>(text.back())) text.remove_suffix(1);
  return text;
}

bool has_blank(const Field& field) {
  return !field.quoted && field.text.find_first_of(" \t") != std::string_view::npos;
}

bool numeric(const std::vector<Field>& fields) {
  return std::all_of(fields.begin(), fields.end(), [](const Field& field) { return looks_numeric(field.text); });
}

}  // namespace

/// Appends the quoted field that begins at `at`; returns the position after its closing mark.
std::size_t FieldCutter::quoted(std::string_view line, std::size_t at, std::uint64_t number) {
  const std::size_t begin = at + 1;
  bool doubled = false;
  for (++at; at < line.size(); ++at) {
    if (line[at] != '"') continue;
    if (at + 1 == line.size() || line[at + 1] != '"') break;
    doubled = true;
    ++at;
  }
  if (at >= line.size())
    bad(number, "a quotation mark in column %zu is not closed on its line; close it, or remove it", fields_.size() + 1);
  std::string_view text = line.substr(begin, at - begin);
  if (doubled) {
    std::string& whole = unquoted_.emplace_back();
    for (std::size_t i = 0; i < text.size(); ++i) {
      whole += text[i];
      i += text[i] == '"';
    }
    text = whole;
  }
  fields_.push_back({text, true});
  return at + 1;
}

const std::vector<Field>& FieldCutter::cut(std::string_view line, char separator, std::uint64_t number, bool quotes) {
  fields_.clear();
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const bool runs = separator == ' ';
  const auto separates = [&](char c) { return runs ? is_blank<false>(c) : c == separator; };
  std::size_t at = 0;
  if (runs) {
    line = trimmed(line);
    if (line.empty()) return fields_;
  }
  for (;;) {
    while (!runs && at < line.size() && line[at] != separator && is_blank<false>(line[at])) ++at;
    if (quotes && at < line.size() && line[at] == '"') {
      at = quoted(line, at, number);
      while (!runs && at < line.size() && line[at] != separator && is_blank<false>(line[at])) ++at;
      if (at < line.size() && !separates(line[at]))
        bad(number, "text after the quotation marks of column %zu; a quoted column ends with its closing mark",
            fields_.size());
    } else {
      const std::size_t begin = at;
      while (at < line.size() && !separates(line[at])) ++at;
      fields_.push_back({trimmed(line.substr(begin, at - begin)), false});
      if (runs && fields_.back().text.find(',') != std::string_view::npos)
        bad(number, "a comma in a list whose columns are separated by blanks; use one separator in the whole file");
    }
    if (at == line.size()) return fields_;
    ++at;
    if (!runs) continue;
    // Two tabs in a run enclose an empty column.
    std::size_t tabs = line[at - 1] == '\t';
    for (; at < line.size() && is_blank<false>(line[at]); ++at) tabs += line[at] == '\t';
    for (; tabs > 1; --tabs) fields_.push_back({});
  }
}

char separator_of(std::string_view line) {
  bool quoted = false, comma = false, tab = false;
  for (const char c : line) {
    quoted ^= c == '"';
    comma |= !quoted && c == ',';
    tab |= !quoted && c == '\t';
  }
  FieldCutter by_comma, by_tab, by_blank;
  if (comma) {
    const auto& fields = by_comma.cut(line, ',', 0);
    if (std::none_of(fields.begin(), fields.end(), has_blank)) return ',';
    for (const Field& field : fields) {
      const auto words = split<false>(field.text);
      if (has_blank(field) && std::all_of(words.begin(), words.end(), looks_numeric))
        bad(0, "columns separated by blanks and by commas: %s; use one separator in the whole file",
            gossamer::graph::quoted(field.text).c_str());
    }
    return tab ? '\t' : ',';
  }
  if (!tab) return ' ';
  const auto& tabs = by_tab.cut(line, '\t', 0);
  const auto& blanks = by_blank.cut(line, ' ', 0);
  if (numeric(blanks)) return ' ';
  if (tabs.size() == 2 && has_blank(tabs[0]) && blanks.size() == 3 && looks_numeric(tabs[1].text))
    bad(0,
        "columns separated by blanks and by a tab: is %s one vertex or two? use tabs or blanks in the whole file, or "
        "quote names with blanks",
        gossamer::graph::quoted(tabs[0].text).c_str());
  return '\t';
}

bool has_quotes(std::string_view line, char separator) {
  if (separator != ' ') return true;
  if (line.find('"') == std::string_view::npos) return true;  // on later lines
  FieldCutter cutter;
  const auto& fields = cutter.cut(line, separator, 0);
  const auto quoted = [](const Field& field) { return field.quoted; };
  const auto enclosed = [](const Field& field) {
    return field.quoted && field.text.find_first_of(" \t") != std::string_view::npos;
  };
  return std::all_of(fields.begin(), fields.end(), quoted) || std::any_of(fields.begin(), fields.end(), enclosed);
}

void check_filled(const std::vector<Field>& fields, std::uint64_t line, const Columns* chosen) {
  for (unsigned i = 0; i < fields.size(); ++i) {
    if (!fields[i].text.empty()) continue;
    if (!chosen) bad(line, "column %u is empty; fill it, or choose columns: --columns SOURCE,TARGET[,WEIGHT]", i + 1);
    if (i == chosen->source || i == chosen->target || i == chosen->weight)
      bad(line, "column %u is empty; fill it, or remove the line", i + 1);
  }
}

void Columns::bad_count(std::size_t got, std::uint64_t at) const {
  if (chosen) bad(at, "%zu column%s, but line %llu has %u", got, got == 1 ? "" : "s", (unsigned long long)line, count);
  bad(at, "%zu column%s, but line %llu has %u (source target%s); a list of neighbours needs --format adjlist", got,
      got == 1 ? "" : "s", (unsigned long long)line, count, weighted() ? " weight" : "");
}

void Columns::check(const std::vector<Field>& fields, std::uint64_t at) const {
  if (fields.size() != count) bad_count(fields.size(), at);
  check_filled(fields, at, chosen ? this : nullptr);
}

}  // namespace gossamer::graph
