// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C and SIGTERM end long work of the graph part in the middle. A program in Python hears of a signal only when
/// the call has come back; here a loop looks every few thousand elements whether one has come.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <new>

#include "gossamer/core/error.h"

namespace gossamer::graph {

/// Ends a loop that a signal has asked to end.
struct Stopped {};

/// While one of these is there on the process's main thread, that thread's work can be stopped by the signals for
/// which the program has a handler, which is called as well. Other threads, which are told of no signal, are stopped by
/// what gs_graph_stop_at names.
class Stoppable {
 public:
  Stoppable();
  ~Stoppable();
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;

 private:
  bool first_ = false;
};

/// For a loop: taken on the thread that was called, looked at on any.
class Stop {
 public:
  Stop();
  /// Throws Stopped if a signal has come.
  void look() const {
    if (flag_ && flag_->load(std::memory_order_relaxed)) throw Stopped{};
  }
  /// The same at every 65,536th number.
  void look(std::uint64_t number) const {
    if ((number & 0xffff) == 0) look();
  }

 private:
  const std::atomic<int>* flag_;
};

/// Runs the body of a C function; what it throws becomes a code and a message: `doing` ("reading the graph"), and
/// what to do when memory is short.
template <class Body>
int run_stoppable(const char* doing, const char* advice, Body&& body) {
  try {
    const Stoppable stoppable;
    return body();
  } catch (const Stopped&) {
    return GS_INTERRUPTED;
  } catch (const std::bad_alloc&) {
    return fail("%s: not enough memory; %s", doing, advice);
  } catch (const std::exception& error) {
    return fail("%s failed: %s", doing, error.what());
  }
}

}  // namespace gossamer::graph
