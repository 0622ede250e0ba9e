// SPDX-License-Identifier: Apache-2.0
/// The common part of formats whose header states the number of vertices.
#include <unistd.h>

#include <cstdarg>

#include "graph/text_format.h"

namespace gossamer::graph {
namespace {

std::string formatted(const char* format, va_list arguments) {
  char text[600];
  std::vsnprintf(text, sizeof text, format, arguments);
  return text;
}

}  // namespace

void bad(std::uint64_t line, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = formatted(format, arguments);
  va_end(arguments);
  throw BadLine{line, std::move(text)};
}

void bad_file(std::uint64_t line, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = formatted(format, arguments);
  va_end(arguments);
  throw BadFile{line, std::move(text)};
}

std::uint64_t CountedFormat::count_word(std::string_view word, const char* what) {
  std::uint64_t value = 0;
  if (!whole_number(word, value)) bad(0, "%s is not a count of %s; correct the header", quoted(word).c_str(), what);
  return value;
}

void CountedFormat::set_vertices(std::uint64_t vertices) {
  constexpr std::uint64_t most = 0xfffffffeu;
  if (vertices == 0) bad(0, "a graph without vertices; nothing can be computed on it");
  const auto memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (vertices > most)
    bad(0, "the header states %llu vertices, but the maximum is %llu; is the header right?",
        (unsigned long long)vertices, (unsigned long long)most);
  const double needed = 8.0 * static_cast<double>(vertices);
  if (needed > memory)
    bad(0, "the header states %llu vertices, which need %.1f GB; this machine has %.1f GB; is the header right?",
        (unsigned long long)vertices, needed / 1e9, memory / 1e9);
  header_.vertices = vertices;
  header_.size_line = header_.lines + 1;
}

void CountedFormat::bad_vertex(std::string_view word, std::uint64_t line) const {
  const std::string shown = quoted(word);
  const auto n = static_cast<unsigned long long>(header_.vertices);
  const bool negative = word.size() > 1 && word[0] == '-' && is_digit(word[1]);
  if (negative || word.find_first_not_of("0123456789") == std::string_view::npos)
    bad(line, "vertex %s is outside the range 1 .. %llu that line %llu states", shown.c_str(), n,
        (unsigned long long)header_.size_line);
  bad(line, "%s is not a vertex; vertices are numbers 1 .. %llu", shown.c_str(), n);
}

void CountedFormat::bad_entry(const char* at, std::uint64_t line, unsigned skip, const char* form) const {
  const auto words = split<false>(line_at(at));
  const std::size_t columns = split<false>(form).size();
  if (words.size() != columns)
    bad(line, "%zu column%s instead of %zu: %s", words.size(), words.size() == 1 ? "" : "s", columns, form);
  for (std::size_t i = skip; i < skip + 2u; ++i) {
    std::uint64_t value = 0;
    if (!whole_number(words[i], value) || value - 1 >= header_.vertices) bad_vertex(words[i], line);
  }
  bad(line, "weight %s is not %s", quoted(words.back()).c_str(), weights_are(words.back()));
}

Numbering CountedFormat::finish(std::deque<Worker>&, gs_graph_shape& shape) {
  if (header_.part)
    shape.announced_edges = expected();
  else if (shape.entries != expected())
    bad_file(
        header_.size_line,
        "the number of %s is %llu in the header, but %llu in the file; the file is truncated or its header is wrong",
        entries_are(), (unsigned long long)expected(), (unsigned long long)shape.entries);
  shape.vertices = header_.vertices;
  shape.base = 1;
  if (symmetric()) shape.flags = GS_GRAPH_SYMMETRIC;
  return Numbering(header_.vertices, 0u);
}

}  // namespace gossamer::graph
