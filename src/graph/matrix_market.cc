// SPDX-License-Identifier: Apache-2.0
/// Matrix Market, coordinate: pattern, integer or real; general, symmetric or skew-symmetric.
#include <limits>

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
    if (words.size() != 3)
      bad(0, "%zu column%s in the line of sizes; it needs three: rows columns entries", words.size(),
          words.size() == 1 ? "" : "s");
    const std::uint64_t rows = count_word(words[0], "rows");
    const std::uint64_t columns = count_word(words[1], "columns");
    header_.announced_edges = count_word(words[2], "entries");
    if (rows != columns)
      bad(0, "%llu rows and %llu columns; the matrix of a graph is square", (unsigned long long)rows,
          (unsigned long long)columns);
    set_vertices(rows);
    return HeaderLine::kLast;
  }

  std::uint64_t parse(const Block& block, Worker& worker) override {
    return field_ == Field::pattern   ? parse_field<Field::pattern>(block, worker)
           : field_ == Field::integer ? parse_field<Field::integer>(block, worker)
                                      : parse_field<Field::real>(block, worker);
  }

 protected:
  const char* entries_are() const override { return "entries"; }
  const char* weights_are() const override { return field_ == Field::integer ? "a 64-bit integer" : "a finite number"; }
  bool symmetric() const override { return header_.undirected || symmetry_ == Symmetry::symmetric; }

 private:
  void read_banner(const std::vector<std::string_view>& words) {
    if (words.size() != 5) bad(0, "the banner must have five words: %%%%MatrixMarket matrix coordinate FIELD SYMMETRY");
    const std::string object = lower(words[1]), form = lower(words[2]), field = lower(words[3]),
                      symmetry = lower(words[4]);
    if (object != "matrix") bad(0, "object %s; a graph is a 'matrix'", quoted(words[1]).c_str());
    if (form != "coordinate")
      bad(0, "format %s; a graph must be in 'coordinate' (sparse) format", quoted(words[2]).c_str());
    if (field == "pattern")
      field_ = Field::pattern;
    else if (field == "integer")
      field_ = Field::integer;
    else if (field == "real" || field == "double")
      field_ = Field::real;
    else
      bad(0, "field %s; it must be pattern, integer or real", quoted(words[3]).c_str());
    if (symmetry == "general")
      symmetry_ = Symmetry::general;
    else if (symmetry == "symmetric")
      symmetry_ = Symmetry::symmetric;
    else if (symmetry == "skew-symmetric" && field_ != Field::pattern)
      symmetry_ = Symmetry::skew;
    else
      bad(0, "symmetry %s; it must be general, symmetric or (with weights) skew-symmetric", quoted(words[4]).c_str());
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
        if (!read_weight(at, weight) || (F == Field::integer && !weight.whole)) bad_entry(begin, line, 0, form);
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
      if (symmetry_ == Symmetry::skew) {
        if (weight.whole && weight.integer == std::numeric_limits<std::int64_t>::min()) bad_entry(begin, line, 0, form);
        weight.integer = -weight.integer;
        weight.real = -weight.real;
      }
      add<F>(worker.sink, t, s, weight);
    }
    worker.entries += entries;
    return line;
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

  Field field_ = Field::pattern;
  Symmetry symmetry_ = Symmetry::general;
};

}  // namespace

std::unique_ptr<TextFormat> make_matrix_market(Header& header) { return std::make_unique<MatrixMarket>(header); }

}  // namespace gossamer::graph
