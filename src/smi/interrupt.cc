// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "runtime.h"

namespace gossamer::smi {

namespace {

volatile sig_atomic_t reason = 0;
double limit = 0;

/// A kernel that calls nothing of ours never sees that it is to stop: it is given this long.
constexpr suseconds_t patience = 300'000;

void stop(int signal) {
  if (reason) {
    // The second time, or patience is at its end. The process holds nothing but memory, so it may end at once.
    interrupt();
  }
  reason = signal;
  fuel = 0;
  itimerval soon{{0, 0}, {0, patience}};
  setitimer(ITIMER_REAL, &soon, nullptr);
}

void broken(int signal, siginfo_t* info, void*) {
  // The default handler ends the process if anything here goes wrong.
  ::signal(signal, SIG_DFL);
  const char* what = signal == SIGFPE   ? "a division by zero"
                     : signal == SIGILL ? "an illegal instruction"
                                        : "an access to memory that it does not have (or its stack is full: --stack)";
  if (!current) _exit(exitBug);
  fail(exitDied, format("rank %d, %s: %s, at address %p", current->rank->index, current->name.c_str(), what,
                        signal == SIGFPE || signal == SIGILL ? nullptr : info->si_addr));
}

}  // namespace

void watchSignals(double seconds) {
  limit = seconds;
  struct sigaction action{};
  action.sa_handler = stop;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGALRM, &action, nullptr);
  static char stack[1 << 16];
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  sigaltstack(&other, nullptr);
  struct sigaction fault{};
  fault.sa_sigaction = broken;
  fault.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(signal, &fault, nullptr);
  if (seconds > 0) {
    const auto whole = static_cast<time_t>(seconds);
    itimerval at{{0, 0}, {whole, static_cast<suseconds_t>((seconds - static_cast<double>(whole)) * 1e6)}};
    setitimer(ITIMER_REAL, &at, nullptr);
  }
}

bool interrupted() { return reason != 0; }

void interrupt() {
  if (reason == SIGALRM) {
    fail(exitInput, format("the run was ended after %g seconds, rank %d in %s; is there a kernel that never ends? "
                           "--timeout SECONDS allows more",
                           limit, current ? current->rank->index : 0, current ? current->name.c_str() : "main"));
  }
  fail(exitInterrupted, "interrupted");
}

}  // namespace gossamer::smi
