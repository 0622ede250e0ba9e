// SPDX-License-Identifier: Apache-2.0
#include "gossamer/core/guard.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

namespace gossamer {

namespace {

constexpr int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
constexpr size_t count = std::size(faults);

/// Of our own, so that it meets no use that anybody else makes of a signal: the last but two of the real-time ones.
int interruption() { return SIGRTMAX - 2; }

/// A thread that is inside run().
struct Inside {
  sigjmp_buf out;
  Fault* fault;
  Inside* outer;
};

/// What a thread has for its life: a stack for handlers, since its own may be what overflowed.
class Thread {
 public:
  Thread();
  ~Thread();
  Inside* volatile inside = nullptr;

 private:
  std::vector<char> stack_;
  bool own_ = false;
};

std::mutex mutex;  // of the two below
// Those that have been inside. Never destroyed: a thread may end while the process runs its exit handlers.
std::vector<pthread_t>& threads = *new std::vector<pthread_t>;
int uses = 0;
struct sigaction before[count];

thread_local Thread* here = nullptr;  // what a signal handler may read

Thread::Thread() : stack_(65536) {
  stack_t old{};
  sigaltstack(nullptr, &old);
  if (old.ss_flags & SS_DISABLE) {
    stack_t mine{};
    mine.ss_sp = stack_.data();
    mine.ss_size = stack_.size();
    own_ = sigaltstack(&mine, nullptr) == 0;
  }
  // Its first call loads what it needs, which a signal handler must not.
  void* place = nullptr;
  backtrace(&place, 1);
  const std::lock_guard lock(mutex);
  threads.push_back(pthread_self());
  here = this;
}

Thread::~Thread() {
  here = nullptr;
  {
    const std::lock_guard lock(mutex);
    std::erase_if(threads, [](pthread_t other) { return pthread_equal(other, pthread_self()); });
  }
  if (!own_) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

Thread& thisThread() {
  thread_local Thread one;
  return one;
}

/// Behind a jump out of its handler a signal stays blocked unless somebody says otherwise.
void takeAgain(int number) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

void onSignal(int number, siginfo_t*, void*) {
  Thread* const thread = here;
  Inside* const inside = thread ? thread->inside : nullptr;
  if (!inside) {
    if (number == interruption()) return;
    // Not ours: whoever was there before us has it, when the instruction fails again.
    for (size_t i = 0; i < count; ++i) {
      if (faults[i] == number) sigaction(number, &before[i], nullptr);
    }
    if (number == SIGABRT) ::raise(number);
    return;
  }
  Fault& fault = *inside->fault;
  if (number == interruption()) {
    fault.interrupted = true;
  } else {
    fault.signal = number;
  }
  fault.depth = backtrace(fault.places, Fault::mostPlaces);
  thread->inside = inside->outer;
  if (number == interruption()) takeAgain(number);
  siglongjmp(inside->out, 1);
}

const char* nameOf(Handler handler) {
  static constexpr const char* names[] = {"",
                                          "init",
                                          "send",
                                          "recv",
                                          "step",
                                          "finish",
                                          "changed",
                                          "resume",
                                          "the descriptor's init",
                                          "the descriptor's changed",
                                          "recv, step or send",
                                          "the descriptor's receive",
                                          "the descriptor's verdict",
                                          "the descriptor's results"};
  return names[static_cast<size_t>(handler)];
}

const char* nameOf(int signal) {
  switch (signal) {
    case SIGSEGV: return "touches memory that is not its own (SIGSEGV)";
    case SIGBUS: return "touches memory that is not there (SIGBUS); was a file that the run reads cut short?";
    case SIGFPE: return "divides by zero, or computes a whole number that does not exist (SIGFPE)";
    case SIGILL: return "runs an instruction that does not exist (SIGILL)";
    case SIGTRAP: return "stops in a trap (SIGTRAP)";
    default: return "aborts (SIGABRT)";
  }
}

std::string describe(const Fault& fault) {
  std::string text;
  const Handler handler = fault.position ? fault.position->handler : Handler::none;
  if (handler == Handler::none) {
    text = "the run";
  } else {
    text = nameOf(handler);
    const uint32_t vertex = fault.position->vertex;
    if (vertex != HandlerDied::noVertex) text += " of the vertex of index " + std::to_string(vertex);
  }
  if (fault.interrupted) return text + " does not return";
  if (fault.signal) return text + " " + nameOf(fault.signal);
  try {
    std::rethrow_exception(fault.thrown);
  } catch (const std::exception& error) {
    return text + " throws: " + error.what();
  } catch (...) {
    return text + " throws what is no std::exception";
  }
}

/// Where in its object each address of code is: PATH+0x12ab, one a line. The two innermost are the signal handler and
/// what called it; the next is what failed, and the others are behind calls, so one less is in the call.
std::string placesOf(const Fault& fault) {
  std::string text;
  for (int i = 2; i < fault.depth; ++i) {
    Dl_info info{};
    if (!dladdr(fault.places[i], &info) || !info.dli_fname) continue;
    char offset[32];
    const auto at = static_cast<char*>(fault.places[i]) - static_cast<char*>(info.dli_fbase) - (i > 2);
    std::snprintf(offset, sizeof offset, "+0x%zx\n", static_cast<size_t>(at));
    text += std::string(info.dli_fname) + offset;
  }
  return text;
}

}  // namespace

HandlerDied::HandlerDied(const Fault& fault) : Died(describe(fault)), places(placesOf(fault)) {
  if (fault.position && fault.position->handler != Handler::none) vertex = fault.position->vertex;
}

namespace guard {

Signals::Signals() {
  const std::lock_guard lock(mutex);
  if (uses++) return;
  struct sigaction action{};
  action.sa_sigaction = onSignal;
  // No signal stays blocked behind a jump out of its handler.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (size_t i = 0; i < count; ++i) sigaction(faults[i], &action, &before[i]);
  // Several may wait for a thread that wakes late: one after the other, or its stack for handlers is too small.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(interruption(), &action, nullptr);
}

Signals::~Signals() {
  const std::lock_guard lock(mutex);
  if (--uses) return;
  for (size_t i = 0; i < count; ++i) sigaction(faults[i], &before[i], nullptr);
}

[[gnu::noinline]] bool run(void (*f)(void*), void* context, const Position* position, Fault& fault) noexcept {
  Thread& thread = thisThread();
  Inside inside;
  inside.fault = &fault;
  inside.outer = thread.inside;
  fault.position = position;
  if (sigsetjmp(inside.out, 0)) return false;
  thread.inside = &inside;
  try {
    f(context);
  } catch (...) {
    fault.thrown = std::current_exception();
  }
  thread.inside = inside.outer;
  return !fault;
}

Outside::Outside() : inside_(here ? here->inside : nullptr) {
  if (here) here->inside = nullptr;
}

Outside::~Outside() {
  if (here) here->inside = static_cast<Inside*>(inside_);
}

void raise(const Fault& fault) {
  if (fault.thrown) {
    try {
      std::rethrow_exception(fault.thrown);
    } catch (const Died&) {
      throw;
    } catch (const Refused&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (...) {
      if (!fault.position) throw;
    }
  }
  throw HandlerDied(fault);
}

void leaveSignals() {
  sigset_t others;
  sigfillset(&others);
  for (const int fault : faults) sigdelset(&others, fault);
  for (const int mine : {interruption(), SIGPROF, SIGVTALRM, SIGPIPE}) sigdelset(&others, mine);
  pthread_sigmask(SIG_BLOCK, &others, nullptr);
}

void interrupt() {
  const std::lock_guard lock(mutex);
  if (!uses) return;
  for (const pthread_t thread : threads) pthread_kill(thread, interruption());
}

}  // namespace guard
}  // namespace gossamer
