// SPDX-License-Identifier: Apache-2.0
/// The columns of an application's result.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/abi.h"
#include "gossamer/app/parameters.h"

namespace gossamer {
namespace detail {

/// The element type of an array of T; GS_NONE where the C interface has none.
template <typename T>
constexpr gs_type typeOf() {
  if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a floating-point number must be float or double");
    return sizeof(T) == 4 ? GS_F32 : GS_F64;
  } else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    return std::is_signed_v<T> ? GS_I64 : GS_U64;
  } else if constexpr (std::is_integral_v<T> && sizeof(T) == 4) {
    return std::is_signed_v<T> ? GS_I32 : GS_U32;
  } else {
    return GS_NONE;
  }
}

}  // namespace detail

/// Which values of a column to show first.
enum class Show { largest, smallest, groups };

/// The columns of an application's result: one value per vertex, computed from its state.
template <typename S>
class Columns {
 public:
  struct Column {
    std::string name;
    std::string help;
    gs_type type = GS_NONE;
    bool normalise = false;
    bool isVertex = false;
    Show order = Show::largest;
    std::string none = "null";  // in JSON
    std::function<void(const S*, size_t, void*)> write;

    /// Divides the values by their sum.
    Column& normalised(bool yes = true) {
      normalise = yes;
      return *this;
    }
    /// How the column is shown: its largest values (the default), its smallest,
    /// or how many vertices share each value.
    Column& show(Show what) {
      order = what;
      return *this;
    }
    /// The values are indices of vertices: shown and written as the vertices' labels.
    Column& vertex() {
      isVertex = true;
      return *this;
    }
    /// The value that means "no value".
    template <typename T>
    Column& absent(T value) {
      static_assert(std::is_arithmetic_v<T>);
      if constexpr (std::is_integral_v<T>) {
        none = std::to_string(value);
      } else if (std::isinf(value)) {
        none = value < 0 ? "-Infinity" : "Infinity";
      } else {
        none = detail::jsonNumber(static_cast<double>(value));
      }
      return *this;
    }
  };

  template <typename F>
  Column& add(const char* name, const char* help, F value) {
    using T = std::remove_cvref_t<decltype(value(std::declval<const S&>()))>;
    // Narrow integers and bool widen to 32 bits.
    using Stored = std::conditional_t<std::is_integral_v<T> && (sizeof(T) < 4),
                                      std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>, T>;
    static_assert(std::is_arithmetic_v<T>, "a result column holds numbers");
    columns_.push_back({name, help, detail::typeOf<Stored>(), false, false, Show::largest, "null",
                        [value](const S* state, size_t count, void* out) {
                          Stored* values = static_cast<Stored*>(out);
                          for (size_t i = 0; i < count; ++i) values[i] = static_cast<Stored>(value(state[i]));
                        }});
    return columns_.back();
  }

  const std::vector<Column>& all() const { return columns_; }

 private:
  std::vector<Column> columns_;
};

}  // namespace gossamer
