// SPDX-License-Identifier: Apache-2.0
/// Parsing of numbers and words in lines of text. Every line ends in '\n', so
/// no function here needs the end of the text.
#pragma once

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer::graph {

/// Blanks between columns; in edge lists this includes the comma.
template <bool Comma>
inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || (Comma && c == ',');
}

template <bool Comma>
inline const char* skip_blanks(const char* at) {
  while (is_blank<Comma>(*at)) ++at;
  return at;
}

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// Reads digits. False without a digit, or if the value does not fit (`at` is then unchanged).
[[gnu::always_inline]] inline bool read_number(const char*& at, std::uint64_t& value) {
  const char* p = at;
  std::uint64_t v = static_cast<unsigned char>(*p - '0');
  if (v > 9) return false;
  ++p;
  for (;;) {
    const auto digit = static_cast<unsigned char>(*p - '0');
    if (digit > 9) break;
    v = v * 10 + digit;
    ++p;
  }
  if (p - at > 18) [[unlikely]] {
    // 19 digits fit if the value stays below 2^63; leading zeros do not count.
    const char* q = at;
    while (*q == '0') ++q;
    if (p - q > 19) return false;
    v = 0;
    for (; q != p; ++q) v = v * 10 + static_cast<std::uint64_t>(*q - '0');
    if (v > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return false;
  }
  value = v;
  at = p;
  return true;
}

/// Whether a word is exactly a number in the sense of read_number.
inline bool whole_number(std::string_view word, std::uint64_t& value) {
  const std::string ended = std::string(word) + "\n";
  const char* at = ended.c_str();
  return read_number(at, value) && *at == '\n';
}

/// A weight as written in the file.
struct Number {
  bool whole = false;  // an integer that fits 64 bits
  std::int64_t integer = 0;
  double real = 0;
};

/// Reads an integer or a decimal number with optional exponent, finite. False for
/// anything else (`at` is then unchanged).
[[gnu::always_inline]] inline bool read_weight(const char*& at, Number& number) {
  static constexpr double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char* p = at;
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') ++p;
  const char* const digits = p;
  std::uint64_t mantissa = 0;
  int kept = 0;
  int power = 0;
  bool any = false;
  bool exact = true;
  auto take = [&](char c) {
    any = true;
    if (kept < 19) {
      mantissa = mantissa * 10 + static_cast<std::uint64_t>(c - '0');
      if (mantissa) ++kept;
      return true;
    }
    exact = exact && c == '0';
    return false;
  };
  bool fits = true;
  while (is_digit(*p)) {
    if (!take(*p++)) {
      ++power;
      fits = false;
    }
  }
  bool whole = any;
  if (*p == '.') {
    whole = false;
    ++p;
    while (is_digit(*p))
      if (take(*p++)) --power;
  }
  if (!any) return false;
  if (*p == 'e' || *p == 'E') {
    const char* q = p + 1;
    const bool minus = *q == '-';
    if (*q == '-' || *q == '+') ++q;
    if (!is_digit(*q)) return false;
    int exponent = 0;
    while (is_digit(*q)) {
      if (exponent < 100000) exponent = exponent * 10 + (*q - '0');
      ++q;
    }
    power += minus ? -exponent : exponent;
    p = q;
    whole = false;
  }
  if (whole) {
    const std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + negative;
    if (!fits || mantissa > most) return false;
    number.whole = true;
    number.integer = static_cast<std::int64_t>(negative ? 0 - mantissa : mantissa);
    number.real = static_cast<double>(number.integer);
    at = p;
    return true;
  }
  number.whole = false;
  if (mantissa == 0) {
    number.real = negative ? -0.0 : 0.0;
  } else if (exact && mantissa <= (std::uint64_t{1} << 53) && power >= -22 && power <= 22) {
    // Both factors are exact doubles, so a single rounding yields the nearest double.
    const auto value = static_cast<double>(mantissa);
    const double result = power < 0 ? value / tens[-power] : value * tens[power];
    number.real = negative ? -result : result;
  } else {
    double value = 0;
#if defined(__cpp_lib_to_chars)
    const auto done = std::from_chars(digits, p, value);
    if (done.ec == std::errc::result_out_of_range) {
      if (power > 0) return false;
      value = 0;
    }
#else
    value = std::strtod(std::string(digits, p).c_str(), nullptr);
#endif
    if (!std::isfinite(value)) return false;
    number.real = negative ? -value : value;
  }
  at = p;
  return true;
}

/// What a word must be that read_weight refuses, for a message: "a finite number", or
/// what a whole number too large for it must be.
inline const char* weights_must_be(std::string_view word) {
  if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.remove_prefix(1);
  for (const char c : word)
    if (!is_digit(c)) return "a finite number";
  return word.empty() ? "a finite number" : "a 64-bit integer; write it as a decimal number, with .0 at its end";
}

/// Whether a word is exactly a weight in the sense of read_weight.
[[gnu::noinline]] inline bool whole_weight(std::string_view word, Number& number) {
  const std::string ended = std::string(word) + "\n";
  const char* at = ended.c_str();
  return read_weight(at, number) && *at == '\n' && at == ended.c_str() + word.size();
}

/// The line that begins at `at`, without its '\n'.
inline std::string_view line_at(const char* at) {
  const char* end = at;
  while (*end != '\n') ++end;
  return {at, static_cast<std::size_t>(end - at)};
}

/// The begin of the next line.
inline const char* next_line(const char* at, const char* end) {
  return static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))) + 1;
}

/// The words of a line (without its '\n').
template <bool Comma>
std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t i = 0;
  while (i < line.size()) {
    while (i < line.size() && is_blank<Comma>(line[i])) ++i;
    const std::size_t begin = i;
    while (i < line.size() && !is_blank<Comma>(line[i])) ++i;
    if (i > begin) words.push_back(line.substr(begin, i - begin));
  }
  return words;
}

/// Whether a word is probably meant as a number: digits, with signs, a point or an exponent.
inline bool looks_numeric(std::string_view word) {
  std::size_t i = !word.empty() && (word[0] == '-' || word[0] == '+') ? 1 : 0;
  if (i == word.size()) return false;
  bool digit = false;
  for (; i < word.size(); ++i) {
    if (is_digit(word[i]))
      digit = true;
    else if (word[i] != '.' && !(digit && (word[i] == 'e' || word[i] == 'E' || word[i] == '-' || word[i] == '+')))
      return false;
  }
  return digit;
}

inline std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// A piece of the user's file for a message: quoted, at most 40 bytes, and printable.
inline std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text.substr(0, 40)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", byte);
      result += escape;
    } else {
      result += c;
    }
  }
  if (text.size() > 40) result += "...";
  return result + "'";
}

/// The first byte that is not part of valid UTF-8, or npos.
inline std::size_t bad_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      ++i;
      continue;
    }
    const unsigned more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    if (c < 0xc2 || c > 0xf4 || i + more >= text.size()) return i;
    for (unsigned k = 1; k <= more; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return i;
    const auto second = static_cast<unsigned char>(text[i + 1]);
    if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) || (c == 0xf0 && second < 0x90) ||
        (c == 0xf4 && second > 0x8f))
      return i;
    i += more + 1;
  }
  return std::string_view::npos;
}

}  // namespace gossamer::graph
