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

/// The signal of interrupt(): the third-last real-time signal, which other code is unlikely to use.
int interruptSignal() { return SIGRTMAX - 2; }

/// A call of run() in progress.
struct GuardedCall {
  sigjmp_buf out;
  Fault* fault;
  GuardedCall* outer;
};

/// Per-thread data: a stack for signal handlers, since the thread's own stack may have overflowed.
class Thread {
 public:
  Thread();
  ~Thread();
  GuardedCall* volatile inside = nullptr;

 private:
  std::vector<char> stack_;
  bool ownStack_ = false;
};

std::mutex mutex;  // of `threads` and `uses`
// Threads that have called run(). Never destroyed: a thread may end while the process runs its exit handlers.
std::vector<pthread_t>& threads = *new std::vector<pthread_t>;
int uses = 0;
struct sigaction before[count];

thread_local Thread* here = nullptr;  // readable in a signal handler

Thread::Thread() : stack_(65536) {
  stack_t old{};
  sigaltstack(nullptr, &old);
  if (old.ss_flags & SS_DISABLE) {
    stack_t mine{};
    mine.ss_sp = stack_.data();
    mine.ss_size = stack_.size();
    ownStack_ = sigaltstack(&mine, nullptr) == 0;
  }
  // The first call of backtrace() loads libraries, which a signal handler must not do.
  void* address = nullptr;
  backtrace(&address, 1);
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
  if (!ownStack_) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

Thread& thisThread() {
  thread_local Thread one;
  return one;
}

/// After siglongjmp() out of its handler a signal would stay blocked.
void unblock(int number) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

void onSignal(int number, siginfo_t*, void*) {
  Thread* const thread = here;
  GuardedCall* const inside = thread ? thread->inside : nullptr;
  if (!inside) {
    if (number == interruptSignal()) return;
    // Unguarded guarded code: reinstall the previous handler, which runs when the instruction fails again.
    for (size_t i = 0; i < count; ++i) {
      if (faults[i] == number) sigaction(number, &before[i], nullptr);
    }
    if (number == SIGABRT) ::raise(number);
    return;
  }
  Fault& fault = *inside->fault;
  if (number == interruptSignal()) {
    fault.interrupted = true;
  } else {
    fault.signal = number;
  }
  fault.depth = backtrace(fault.addresses, Fault::maxAddresses);
  thread->inside = inside->outer;
  if (number == interruptSignal()) unblock(number);
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
    case SIGSEGV: return "accesses an invalid address (SIGSEGV)";
    case SIGBUS: return "accesses memory that does not exist (SIGBUS); was a file that the run reads truncated?";
    case SIGFPE: return "divides by zero, or overflows an integer division (SIGFPE)";
    case SIGILL: return "executes an illegal instruction (SIGILL)";
    case SIGTRAP: return "executes a trap (SIGTRAP)";
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
    return text + " throws an object that is no std::exception";
  }
}

/// Each code address relative to its object: PATH+0x12ab, one per line. The two innermost are the signal handler and
/// its caller; the next is the failing instruction. The others are return addresses, minus one to be inside the call.
std::string relativeAddresses(const Fault& fault) {
  std::string text;
  for (int i = 2; i < fault.depth; ++i) {
    Dl_info info{};
    if (!dladdr(fault.addresses[i], &info) || !info.dli_fname) continue;
    char offset[32];
    const auto at = static_cast<char*>(fault.addresses[i]) - static_cast<char*>(info.dli_fbase) - (i > 2);
    std::snprintf(offset, sizeof offset, "+0x%zx\n", static_cast<size_t>(at));
    text += std::string(info.dli_fname) + offset;
  }
  return text;
}

}  // namespace

HandlerDied::HandlerDied(const Fault& fault) : Died(describe(fault)), addresses(relativeAddresses(fault)) {
  if (fault.position && fault.position->handler != Handler::none) vertex = fault.position->vertex;
}

namespace guard {

Signals::Signals() {
  const std::lock_guard lock(mutex);
  if (uses++) return;
  struct sigaction action{};
  action.sa_sigaction = onSignal;
  // The handler leaves by siglongjmp(), which does not unblock the signal.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (size_t i = 0; i < count; ++i) sigaction(faults[i], &action, &before[i]);
  // Several may be pending for a thread that wakes late: handle one at a time, or its signal stack overflows.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(interruptSignal(), &action, nullptr);
}

Signals::~Signals() {
  const std::lock_guard lock(mutex);
  if (--uses) return;
  for (size_t i = 0; i < count; ++i) sigaction(faults[i], &before[i], nullptr);
}

[[gnu::noinline]] bool run(void (*f)(void*), void* context, const Position* position, Fault& fault) noexcept {
  Thread& thread = thisThread();
  GuardedCall inside;
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

Unguarded::Unguarded() : inside_(here ? here->inside : nullptr) {
  if (here) here->inside = nullptr;
}

Unguarded::~Unguarded() {
  if (here) here->inside = static_cast<GuardedCall*>(inside_);
}

void raise(const Fault& fault) {
  if (fault.thrown) {
    try {
      std::rethrow_exception(fault.thrown);
    } catch (const Died&) {
      throw;
    } catch (const ProgramError&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (...) {
      if (!fault.position) throw;
    }
  }
  throw HandlerDied(fault);
}

void blockSignals() {
  sigset_t others;
  sigfillset(&others);
  for (const int fault : faults) sigdelset(&others, fault);
  for (const int mine : {interruptSignal(), SIGPROF, SIGVTALRM, SIGPIPE}) sigdelset(&others, mine);
  pthread_sigmask(SIG_BLOCK, &others, nullptr);
}

void interrupt() {
  const std::lock_guard lock(mutex);
  if (!uses) return;
  for (const pthread_t thread : threads) pthread_kill(thread, interruptSignal());
}

}  // namespace guard
}  // namespace gossamer
