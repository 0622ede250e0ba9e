// SPDX-License-Identifier: Apache-2.0
/// Runs code that a user has written so that its end, of whatever kind, is an event and not the end of the process:
/// exceptions, signals (a bad address, a division by zero, an assertion), and code that does not return.
#pragma once

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace gossamer {

/// The handlers of a vertex, as messages name them; `start` is the descriptor's init,
/// `adapt` its changed, `fused` any of recv, step and send, where an engine calls them in one pass. The last three are
/// functions of the descriptor that concern no vertex.
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

/// What a thread is doing. Written in the hottest loops, one store each; read when the thread has died.
struct Position {
  volatile uint32_t vertex = 0;
  volatile Handler handler = Handler::none;
};

/// How a piece of code ended that did not come to its own end.
struct Fault {
  static constexpr int mostPlaces = 24;

  int signal = 0;             // or 0
  bool interrupted = false;   // it did not return, and somebody has lost patience
  std::exception_ptr thrown;  // or null
  const Position* position = nullptr;
  int depth = 0;                  // of `places`
  void* places[mostPlaces] = {};  // addresses of code, the innermost first; none for exceptions

  explicit operator bool() const { return signal || interrupted || thrown; }
};

/// A run that cannot go on.
class Died : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The program is wrong in a way that an engine notices.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A handler ended a run. The text says which, of which vertex (by its index) and how.
class HandlerDied : public Died {
 public:
  explicit HandlerDied(const Fault& fault);

  static constexpr uint32_t noVertex = ~uint32_t{0};
  uint32_t vertex = noVertex;
  std::string places;  // OBJECT+0x12ab for each address of code, one a line, the innermost first
};

namespace guard {

/// While one of these is there, faults on threads inside run() are caught. Threads of other code are none of ours.
/// The handler of what interrupt() sends stays: a thread that is kept from one run to the next may be late to hear it.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
};

/// Calls f(context) on this thread. False where it did not come to its end: `fault` says how. What it had on its
/// stack is given up without destructors where a signal ended it.
bool run(void (*f)(void*), void* context, const Position* position, Fault& fault) noexcept;

/// Throws what has ended a piece of code: HandlerDied, or as it is what an engine has thrown and what says that there
/// is not enough memory.
[[noreturn]] void raise(const Fault& fault);

/// The same for anything that can be called.
template <typename F>
bool run(F&& f, const Position* position, Fault& fault) noexcept {
  using Callable = std::remove_reference_t<F>;
  return run([](void* context) { (*static_cast<Callable*>(context))(); }, &f, position, fault);
}

/// Runs a function of the descriptor that concerns no vertex, such as `receive`: whatever ends it is blamed on it, and
/// not on the handler in which its thread may be.
template <typename F>
void inDescriptor(Handler which, F&& f) {
  Position position;
  position.vertex = HandlerDied::noVertex;
  position.handler = which;
  Fault fault;
  if (!run(f, &position, fault)) raise(fault);
}

/// While one of these is there, its thread is not inside run(), though run() has called it: it waits for others, or is
/// in code that is no handler and must come to its own end. What interrupt() ends then is what the others run.
class Outside {
 public:
  Outside();
  ~Outside();
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  void* inside_;
};

/// From here on this thread takes no signals but faults, those of profilers and what interrupt() sends: what is sent to
/// the process is for the program's own threads, which may wait for it.
void leaveSignals();

/// Ends whatever runs inside run() on any thread. For code that does not return by itself.
void interrupt();

}  // namespace guard
}  // namespace gossamer
