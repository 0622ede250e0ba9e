// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C and SIGTERM interrupt long work of the graph part. A Python program handles a signal only after the call has
/// returned; so loops here check every few thousand elements whether a signal has arrived.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <new>

#include "gossamer/core/error.h"

namespace gossamer::graph {

/// Thrown to end a loop after a signal.
struct Stopped {};

/// While an object of this class exists on the process's main thread, the signals for which the program has a handler
/// stop that thread's work; the program's handler is called as well. Other threads, which receive no signals, are
/// stopped by the flag of gs_graph_stop_at.
class Stoppable {
 public:
  Stoppable();
  ~Stoppable();
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;

 private:
  bool first_ = false;
};

/// The stop flag for a loop: constructed on the calling thread, checked on any thread.
class Stop {
 public:
  Stop();
  /// Throws Stopped if a signal has arrived.
  void look() const {
    if (flag_ && flag_->load(std::memory_order_relaxed)) throw Stopped{};
  }
  /// The same for every 65,536th number.
  void look(std::uint64_t number) const {
    if ((number & 0xffff) == 0) look();
  }

 private:
  const std::atomic<int>* flag_;
};

/// Runs the body of a C function and converts exceptions to a code and a message, with `doing` ("reading the graph")
/// and advice for a lack of memory.
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
