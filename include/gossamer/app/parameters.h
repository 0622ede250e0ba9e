// SPDX-License-Identifier: Apache-2.0
/// The parameters of an application, which the command line and Python may set.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/abi.h"

namespace gossamer {
namespace detail {

std::string jsonString(const std::string& text);
std::string jsonNumber(double value);

}  // namespace detail

/// A vertex and its weight, a finite number of at least 0.
struct WeightedVertex {
  uint32_t vertex;
  double weight;
};

/// Collects an application's parameters: the name, the variable that receives the value (its
/// current value is the default), the range, and a line of help.
class Parameters {
 public:
  enum class Kind { real, integer, vertex, flag, vertices, shares };
  struct Entry {
    std::string name;
    Kind kind;
    std::string help;
    std::string low;  // these three in JSON, integers with all digits
    std::string high;
    std::string initial;
    std::function<void(const gs_parameter&)> set;
  };
  /// The bounds of an integer: unsigned for an unsigned type, so that they cover all 64 bits.
  template <typename T>
  using Bound = std::conditional_t<std::is_unsigned_v<T>, uint64_t, int64_t>;

  void real(const char* name, double& value, double low, double high, const char* help) {
    using detail::jsonNumber;
    add(name, Kind::real, help, jsonNumber(low), jsonNumber(high), jsonNumber(value),
        [&value](const gs_parameter& p) { value = p.real; });
  }
  /// Any integer of at most 64 bits, represented exactly. Throws
  /// std::invalid_argument if its type cannot represent the bounds.
  template <typename T>
  void integer(const char* name, T& value, std::type_identity_t<Bound<T>> low, std::type_identity_t<Bound<T>> high,
               const char* help) {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>,
                  "an integer parameter must not be a bool; use flag()");
    using Limits = std::numeric_limits<T>;
    if (low < static_cast<Bound<T>>(Limits::min()) || high > static_cast<Bound<T>>(Limits::max()) || low > high) {
      throw std::invalid_argument(std::string("parameter ") + name + ": its type cannot represent the numbers from " +
                                  std::to_string(low) + " to " + std::to_string(high));
    }
    add(name, Kind::integer, help, std::to_string(low), std::to_string(high), std::to_string(value),
        [&value](const gs_parameter& p) { value = static_cast<T>(p.integer); });
  }
  /// A vertex: given by its label on the command line, stored as its index.
  void vertex(const char* name, uint32_t& value, const char* help) {
    add(name, Kind::vertex, help, "0", "4294967295", std::to_string(value),
        [&value](const gs_parameter& p) { value = static_cast<uint32_t>(p.integer); });
  }
  /// The vertices that an application uses if no argument names any; shown by the command's help.
  enum class Unnamed { first, none };
  /// Any number of vertices, in the order given; `values` is unchanged if none is given.
  void vertices(const char* name, std::vector<uint32_t>& values, const char* help, Unnamed unnamed = Unnamed::first) {
    add(name, Kind::vertices, help, "0", "4294967295", unnamed == Unnamed::none ? "-1" : "0",
        [&values](const gs_parameter& p) { values.push_back(static_cast<uint32_t>(p.integer)); });
  }
  /// As `vertices`, each with a weight: LABEL or LABEL=WEIGHT on the command line, in Python also a dict. Without a
  /// weight it is 1.
  void shares(const char* name, std::vector<WeightedVertex>& values, const char* help) {
    add(name, Kind::shares, help, "0", "4294967295", "0",
        [&values](const gs_parameter& p) { values.push_back({static_cast<uint32_t>(p.integer), p.real}); });
  }
  void flag(const char* name, bool& value, const char* help) {
    add(name, Kind::flag, help, "0", "1", value ? "1" : "0",
        [&value](const gs_parameter& p) { value = p.integer != 0; });
  }

  const std::vector<Entry>& entries() const { return entries_; }

  /// Sets one value; throws std::invalid_argument for an unknown name.
  void set(const gs_parameter& p) const {
    for (const Entry& e : entries_) {
      if (e.name == p.name) return e.set(p);
    }
    throw std::invalid_argument(std::string("there is no parameter ") + p.name);
  }

 private:
  void add(const char* name, Kind kind, const char* help, std::string low, std::string high, std::string initial,
           std::function<void(const gs_parameter&)> set) {
    entries_.push_back({name, kind, help, std::move(low), std::move(high), std::move(initial), std::move(set)});
  }
  std::vector<Entry> entries_;
};

}  // namespace gossamer
