// SPDX-License-Identifier: Apache-2.0
/// Matrix Market, coordinate or array: pattern, integer, unsigned-integer or real; general, symmetric, hermitian or
/// skew-symmetric. An array has a value per line, column by column; a value other than zero is an edge.
#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "graph/text_format.h"

namespace gossamer::graph {
namespace {

enum class Field { pattern, integer, real };
enum class Symmetry { general, symmetric, skew };

class MatrixMarket final : public CountedFormat {
 public:
  using CountedFormat::CountedFormat;

  HeaderLine header_line(std::string_view line) override {
    const auto words = split<false>(line);
    if (header_.lines == 0) {
      read_banner(words);
      return HeaderLine::kMore;
    }
    if (words.empty() || words[0][0] == '%') return HeaderLine::kMore;
    if (array_ && words.size() != 2)
      bad(0, "%zu column%s in the line of sizes; an array needs two: rows columns", words.size(),
          words.size() == 1 ? "" : "s");
    if (!array_ && words.size() != 3)
      bad(0, "%zu column%s in the line of sizes; it needs three: rows columns entries", words.size(),
          words.size() == 1 ? "" : "s");
    const std::uint64_t rows = count_word(words[0], "rows");
    const std::uint64_t columns = count_word(words[1], "columns");
    if (!array_) header_.announced_edges = count_word(words[2], "entries");
    if (rows != columns)
      bad(0, "%llu rows and %llu columns; the matrix of a graph is square", (unsigned long long)rows,
          (unsigned long long)columns);
    set_vertices(rows);
    if (array_) header_.announced_edges = first_of_column(rows);
    return HeaderLine::kLast;
  }

  std::uint64_t rows_before(const char* text, std::size_t size) override {
    const std::uint64_t before = values_;
    if (!array_) return before;
    for (const char *at = text, *end = text + size; at != end; at = next_line(at, end)) {
      const char first = *skip_blanks<false>(at);
      values_ += first != '%' && first != '\n';
    }
    return before;
  }

  std::uint64_t parse(const Block& block, Worker& worker) override {
    if (array_)
      return field_ == Field::integer ? parse_array<Field::integer>(block, worker)
                                      : parse_array<Field::real>(block, worker);
    return field_ == Field::pattern   ? parse_field<Field::pattern>(block, worker)
           : field_ == Field::integer ? parse_field<Field::integer>(block, worker)
                                      : parse_field<Field::real>(block, worker);
  }

 protected:
  const char* entries_are() const override { return array_ ? "values" : "entries"; }
  const char* weights_are(std::string_view word) const override {
    if (unsigned_) return "an integer from 0 to 9223372036854775807";
    return field_ == Field::integer ? "a 64-bit integer" : weights_must_be(word);
  }
  bool symmetric() const override { return header_.undirected || symmetry_ == Symmetry::symmetric; }

 private:
  void read_banner(const std::vector<std::string_view>& words) {
    if (words.size() != 5) bad(0, "the banner must have five words: %%%%MatrixMarket matrix coordinate FIELD SYMMETRY");
    const std::string object = lower(words[1]), form = lower(words[2]), field = lower(words[3]),
                      symmetry = lower(words[4]);
    if (object != "matrix") bad(0, "object %s; a graph is a 'matrix'", quoted(words[1]).c_str());
    array_ = form == "array";
    if (!array_ && form != "coordinate")
      bad(0, "format %s; it must be 'coordinate' (sparse) or 'array' (dense)", quoted(words[2]).c_str());
    unsigned_ = field == "unsigned-integer";
    if (field == "pattern")
      field_ = Field::pattern;
    else if (field == "integer" || unsigned_)
      field_ = Field::integer;
    else if (field == "real" || field == "double")
      field_ = Field::real;
    else
      bad(0, "field %s; it must be pattern, integer, unsigned-integer or real", quoted(words[3]).c_str());
    if (array_ && field_ == Field::pattern) bad(0, "a pattern in 'array' format; a pattern needs 'coordinate'");
    if (symmetry == "general")
      symmetry_ = Symmetry::general;
    else if (symmetry == "symmetric" || (symmetry == "hermitian" && field_ != Field::pattern))
      symmetry_ = Symmetry::symmetric;
    else if (symmetry == "skew-symmetric" && field_ != Field::pattern && !unsigned_)
      symmetry_ = Symmetry::skew;
    else
      bad(0, "symmetry %s; it must be general, symmetric or (with signed weights) hermitian or skew-symmetric",
          quoted(words[4]).c_str());
    if (header_.undirected && symmetry_ == Symmetry::skew)
      bad(0, "a skew-symmetric matrix cannot be read as undirected");
  }

  template <Field F>
  std::uint64_t parse_field(const Block& block, Worker& worker) const {
    constexpr const char* form = F == Field::pattern ? "row column" : "row column value";
    std::uint64_t line = 0;
    std::uint64_t entries = 0;
    const std::uint64_t n = header_.vertices;
    const bool mirror = header_.undirected || symmetry_ != Symmetry::general;
    for (const char *at = block.begin(), *end = block.end(); at != end; ++line) {
      const char* const begin = at;
      at = skip_blanks<false>(at);
      if (*at == '\n') {
        ++at;
        continue;
      }
      if (*at == '%') {
        at = next_line(at, end);
        continue;
      }
      std::uint64_t row = 0, column = 0;
      Number weight;
      if (!read_number(at, row) || !is_blank<false>(*at)) bad_entry(begin, line, 0, form);
      at = skip_blanks<false>(at);
      if (!read_number(at, column)) bad_entry(begin, line, 0, form);
      if constexpr (F != Field::pattern) {
        if (!is_blank<false>(*at)) bad_entry(begin, line, 0, form);
        at = skip_blanks<false>(at);
        if (!read_value<F>(at, weight)) bad_entry(begin, line, 0, form);
      }
      if (*at != '\n') {
        at = skip_blanks<false>(at);
        if (*at != '\n') bad_entry(begin, line, 0, form);
      }
      // 0 wraps around, and is then out of range as well.
      if (--row >= n || --column >= n) bad_entry(begin, line, 0, form);
      ++at;
      ++entries;
      const auto s = static_cast<std::uint32_t>(row), t = static_cast<std::uint32_t>(column);
      add<F>(worker.sink, s, t, weight);
      if (!mirror || s == t) continue;
      if (symmetry_ == Symmetry::skew && !negate(weight)) bad_entry(begin, line, 0, form);
      add<F>(worker.sink, t, s, weight);
    }
    worker.entries += entries;
    return line;
  }

  static bool negate(Number& weight) {
    if (weight.whole && weight.integer == std::numeric_limits<std::int64_t>::min()) return false;
    weight.integer = -weight.integer;
    weight.real = -weight.real;
    return true;
  }

  /// As read_weight, also with Fortran's exponents: 1.5D+03.
  template <Field F>
  bool read_value(const char*& at, Number& weight) const {
    const char* const begin = at;
    if (!read_weight(at, weight)) return false;
    if constexpr (F == Field::integer) return weight.whole && (!unsigned_ || weight.integer >= 0);
    if (*at != 'D' && *at != 'd') [[likely]]
      return true;
    while (*at != '\n' && !is_blank<false>(*at)) ++at;
    std::string text(begin, at);
    std::replace_if(text.begin(), text.end(), [](char c) { return c == 'D' || c == 'd'; }, 'e');
    return whole_weight(text, weight);
  }

  /// The number of values in the columns before `column` of an array, which lacks what the symmetry implies.
  std::uint64_t first_of_column(std::uint64_t column) const {
    const std::uint64_t n = header_.vertices;
    if (symmetry_ == Symmetry::general) return column * n;
    const std::uint64_t missing = column % 2 ? (column - 1) / 2 * column : column / 2 * (column - (column ? 1 : 0));
    return column * (symmetry_ == Symmetry::skew ? n - 1 : n) - missing;
  }
  /// The row and column of the value with this number.
  std::pair<std::uint64_t, std::uint64_t> place(std::uint64_t value) const {
    std::uint64_t low = 0, high = header_.vertices;
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (first_of_column(middle) <= value ? low : high) = middle;
    }
    const std::uint64_t skipped = symmetry_ == Symmetry::general ? 0 : low + (symmetry_ == Symmetry::skew ? 1 : 0);
    return {value - first_of_column(low) + skipped, low};
  }

  template <Field F>
  std::uint64_t parse_array(const Block& block, Worker& worker) const {
    constexpr const char* form = "value";
    const std::uint64_t n = header_.vertices;
    const bool mirror = header_.undirected || symmetry_ != Symmetry::general;
    std::uint64_t line = 0;
    std::uint64_t value = block.row;
    std::uint64_t row = 0, column = n;
    if (value < header_.announced_edges) std::tie(row, column) = place(value);
    for (const char *at = block.begin(), *end = block.end(); at != end; ++line) {
      const char* const begin = at;
      at = skip_blanks<false>(at);
      if (*at == '\n' || *at == '%') {
        at = next_line(at, end);
        continue;
      }
      Number weight;
      const bool good = read_value<F>(at, weight);
      at = skip_blanks<false>(at);
      if (!good || *at != '\n') bad_value(begin, line, form);
      ++at;
      ++worker.entries;
      if (value++ >= header_.announced_edges) continue;  // CountedFormat::finish reports them
      if (weight.whole ? weight.integer != 0 : weight.real != 0) {
        const auto s = static_cast<std::uint32_t>(row), t = static_cast<std::uint32_t>(column);
        add<F>(worker.sink, s, t, weight);
        if (mirror && s != t) {
          if (symmetry_ == Symmetry::skew && !negate(weight)) bad_value(begin, line, form);
          add<F>(worker.sink, t, s, weight);
        }
      }
      if (++row == n && value < header_.announced_edges) std::tie(row, column) = place(value);
    }
    return line;
  }
  [[noreturn]] void bad_value(const char* at, std::uint64_t line, const char* form) const {
    const auto words = split<false>(line_at(at));
    if (words.size() != 1) bad(line, "%zu columns instead of 1: %s", words.size(), form);
    bad(line, "value %s is not %s", quoted(words[0]).c_str(), weights_are(words[0]));
  }

  template <Field F>
  static void add(Sink& sink, std::uint32_t source, std::uint32_t target, const Number& weight) {
    if constexpr (F == Field::pattern)
      sink.add(source, target);
    else if constexpr (F == Field::integer)
      sink.add(source, target, weight);
    else
      sink.add_real(source, target, weight.real);
  }

  bool array_ = false;
  bool unsigned_ = false;
  std::uint64_t values_ = 0;  // of an array, in the blocks so far
  Field field_ = Field::pattern;
  Symmetry symmetry_ = Symmetry::general;
};

}  // namespace

std::unique_ptr<TextFormat> make_matrix_market(Header& header) { return std::make_unique<MatrixMarket>(header); }

}  // namespace gossamer::graph
