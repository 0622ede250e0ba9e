// SPDX-License-Identifier: Apache-2.0
/// Runs user code under a guard: an exception, a signal (an invalid address, a division by zero, an assertion) or an
/// interruption of code that does not return ends the call, not the process.
#pragma once

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace gossamer {

/// The handlers of a vertex, for messages. `start` is the descriptor's init, `adapt` its changed, `fused` any of recv,
/// step and send, where an engine calls them in one pass. The last three are functions of the descriptor that concern
/// no vertex.
enum class Handler : uint8_t {
  none,
  init,
  send,
  recv,
  step,
  finish,
  changed,
  resume,
  start,
  adapt,
  fused,
  receive,
  verdict,
  results
};

/// The vertex and handler that a thread runs. Written in the hottest loops, one store each; read after a failure.
struct Position {
  volatile uint32_t vertex = 0;
  volatile Handler handler = Handler::none;
};

/// How guarded code ended, other than by returning.
struct Fault {
  static constexpr int maxAddresses = 24;

  int signal = 0;             // or 0
  bool interrupted = false;   // guard::interrupt() ended it
  std::exception_ptr thrown;  // or null
  const Position* position = nullptr;
  int depth = 0;                       // of `addresses`
  void* addresses[maxAddresses] = {};  // of code, the innermost first; none for exceptions

  explicit operator bool() const { return signal || interrupted || thrown; }
};

/// A run that cannot continue.
class Died : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An error in the user's program that an engine detects.
class ProgramError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A handler aborted a run. The text names the handler, the vertex (by its index) and the cause.
class HandlerDied : public Died {
 public:
  explicit HandlerDied(const Fault& fault);

  static constexpr uint32_t noVertex = ~uint32_t{0};
  uint32_t vertex = noVertex;
  std::string addresses;  // OBJECT+0x12ab for each code address, one per line, the innermost first
};

namespace guard {

/// While an object of this class exists, faults on threads inside run() are caught. Faults elsewhere go to the previous
/// signal handlers. The handler of interrupt()'s signal remains installed, since a pooled thread may receive that
/// signal after its run has ended.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
};

/// Calls f(context) on this thread. Returns false if f did not return; `fault` then has the cause. If a signal ended
/// it, the objects on its stack are not destroyed.
bool run(void (*f)(void*), void* context, const Position* position, Fault& fault) noexcept;

/// Throws the exception for a fault: HandlerDied, or unchanged an engine's own exception or std::bad_alloc.
[[noreturn]] void raise(const Fault& fault);

/// The same for any callable.
template <typename F>
bool run(F&& f, const Position* position, Fault& fault) noexcept {
  using Callable = std::remove_reference_t<F>;
  return run([](void* context) { (*static_cast<Callable*>(context))(); }, &f, position, fault);
}

/// Runs a function of the descriptor that concerns no vertex, such as `receive`. A fault is attributed to that
/// function, not to the handler that the thread was running.
template <typename F>
void inDescriptor(Handler which, F&& f) {
  Position position;
  position.vertex = HandlerDied::noVertex;
  position.handler = which;
  Fault fault;
  if (!run(f, &position, fault)) raise(fault);
}

/// While an object of this class exists, its thread counts as not inside run(), although run() has called it: the
/// thread waits for others, or runs code that must not be interrupted. interrupt() then ends only the other threads.
class Unguarded {
 public:
  Unguarded();
  ~Unguarded();
  Unguarded(const Unguarded&) = delete;
  Unguarded& operator=(const Unguarded&) = delete;

 private:
  void* inside_;
};

/// From this call on, this thread blocks all signals except faults, those of profilers and that of interrupt(). The
/// program's own threads, which may wait for other signals, receive them.
void blockSignals();

/// Ends all guarded code on all threads; for code that does not return.
void interrupt();

}  // namespace guard
}  // namespace gossamer
