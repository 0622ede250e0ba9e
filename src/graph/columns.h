// SPDX-License-Identifier: Apache-2.0
/// Columns of an edge list: what separates them, and which have the ends of an edge and its weight.
///
/// The first line of data determines the separator of the whole file: commas, tabs, or runs of blanks and tabs. A field
/// may be quoted as in CSV ("a ""b"" c"). Lines without quotes and with two or three columns have faster code in
/// number_list.cc and word_list.cc, which leaves all other lines to this file.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer::graph {

struct Field {
  std::string_view text;
  bool quoted = false;
};

/// Cuts lines into fields.
class FieldCutter {
 public:
  /// The fields of a line without its '\n'; valid until the next call, their text until `restart` or the end of the
  /// line's own text. Throws BadLine{number, ...}.
  const std::vector<Field>& cut(std::string_view line, char separator, std::uint64_t number, bool quotes = true);
  void restart() { unquoted_.clear(); }

 private:
  std::size_t quoted(std::string_view line, std::size_t at, std::uint64_t number);

  std::vector<Field> fields_;
  std::deque<std::string> unquoted_;  // fields with a doubled quotation mark
};

/// The separator of the list that begins with this line: ',', '\t', or ' ' for runs of blanks and tabs.
char separator_of(std::string_view line);
/// Whether quotation marks enclose names in the list that begins with this line. Between blanks they are part of a
/// name, unless a quoted name has a blank, or all are quoted.
bool has_quotes(std::string_view line, char separator);

struct Columns {
  static constexpr unsigned kNone = ~0u;
  char separator = ' ';
  bool quotes = true;
  unsigned count = 2;  // columns of each line
  unsigned source = 0, target = 1, weight = kNone;
  bool chosen = false;          // by the user: the other columns are ignored
  std::uint64_t line = 1;       // the line that determined `count`
  std::uint64_t first[3] = {};  // source, target and weight of the first edge, if they are numbers

  bool weighted() const { return weight != kNone; }
  /// Whether a line has the two or three columns that are read, in the usual order.
  bool plain() const { return !chosen && separator != '\t'; }
  /// Throws BadLine unless a line has `count` columns, and text in those that are read.
  void check(const std::vector<Field>& fields, std::uint64_t line) const;
  [[noreturn]] void bad_count(std::size_t count, std::uint64_t line) const;
};

/// Throws BadLine if a column without text is one of those that are read.
void check_filled(const std::vector<Field>& fields, std::uint64_t line, const Columns* chosen);

}  // namespace gossamer::graph
