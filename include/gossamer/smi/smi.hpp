// SPDX-License-Identifier: Apache-2.0
/// Streaming messages (SMI), in C++: typed channels, and kernels with arguments. A thin layer over smi.h; a program may
/// use both.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gossamer/smi/smi.h"

namespace smi {

/// An IEEE 754 binary16. Computes in float; the stored value is rounded to nearest, ties to even.
class half {
 public:
  half() = default;
  half(float value) : bits_(SMI_Float_to_half(value)) {}       // NOLINT: implicit, like float to double
  operator float() const { return SMI_Half_to_float(bits_); }  // NOLINT

 private:
  unsigned short bits_ = 0;
};

/// The SMI_Datatype of a C++ type; unsupported types do not compile.
template <class T>
constexpr SMI_Datatype datatype() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, half>) {
    return SMI_HALF;
  } else if constexpr (std::is_same_v<U, float>) {
    return SMI_FLOAT;
  } else if constexpr (std::is_same_v<U, double>) {
    return SMI_DOUBLE;
  } else {
    static_assert(std::is_integral_v<U> && std::is_signed_v<U> && !std::is_same_v<U, bool>,
                  "SMI carries char, short, int, long, float, double and smi::half");
    return sizeof(U) == 1 ? SMI_CHAR : sizeof(U) == 2 ? SMI_SHORT : sizeof(U) == 4 ? SMI_INT : SMI_LONG;
  }
}

/// Selects the run's default degree.
inline constexpr int default_degree = -1;

template <class T>
class sender {
 public:
  sender(int count, int destination, int port, SMI_Comm comm = SMI_COMM_WORLD, int degree = default_degree)
      : channel_(degree == default_degree
                     ? SMI_Open_send_channel(count, datatype<T>(), destination, port, comm)
                     : SMI_Open_send_channel_ad(count, datatype<T>(), destination, port, comm, degree)) {}
  void push(T value) { SMI_Push(&channel_, &value); }

 private:
  SMI_Channel channel_;
};

template <class T>
class receiver {
 public:
  receiver(int count, int source, int port, SMI_Comm comm = SMI_COMM_WORLD, int degree = default_degree)
      : channel_(degree == default_degree
                     ? SMI_Open_recv_channel(count, datatype<T>(), source, port, comm)
                     : SMI_Open_recv_channel_ad(count, datatype<T>(), source, port, comm, degree)) {}
  T pop() {
    T value;
    SMI_Pop(&channel_, &value);
    return value;
  }

 private:
  SMI_Channel channel_;
};

/// Starts a kernel of this rank with copies of the arguments: `smi::start("gemv", gemv, n, a, x)`.
template <class Function, class... Arguments>
SMI_Kernel start(const char* name, Function function, Arguments... arguments) {
  using Call = std::tuple<Function, Arguments...>;
  const auto run = [](void* given) {
    const std::unique_ptr<Call> call(static_cast<Call*>(given));
    std::apply([](auto& f, auto&... rest) { std::invoke(f, rest...); }, *call);
  };
  return SMI_Start_kernel(name, run, new Call(std::move(function), std::move(arguments)...));
}

}  // namespace smi
