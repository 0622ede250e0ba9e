// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>

#include "command.h"
#include "programs.h"
#include "runtime.h"

namespace gossamer::smi {

namespace {

volatile sig_atomic_t reason = 0;
double limit = 0;

/// A kernel that calls nothing of ours never sees that it is to stop: it is given this long.
constexpr suseconds_t patience = 300'000;

/// Reports made beforehand: a handler that makes one may wait for the allocator, whose lock the kernel holds.
std::string brokenOff, crashed;
const std::string* lastWords = nullptr;
int lastCode = 0;

void endAtOnce(int) {
  if (write(reportFile, lastWords->data(), lastWords->size()) < 0) lastCode = exitBug;
  _exit(lastCode);
}

/// Whatever a handler does from here on, the process ends within a second.
void endSoon(int code, const std::string& words) {
  lastCode = code;
  lastWords = &words;
  struct sigaction action{};
  action.sa_handler = endAtOnce;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGALRM, &action, nullptr);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
  const itimerval second{{0, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &second, nullptr);
}

/// The command ends all processes, as one has failed.
void ended(int) {
  if (reason || !commandAsks()) return;
  reason = SIGIO;
  fuel = 0;
  itimerval soon{{0, 0}, {0, patience}};
  setitimer(ITIMER_REAL, &soon, nullptr);
}

void stop(int signal) {
  if (reason) {
    // The second time, or patience is at its end. The process holds nothing but memory, so it may end at once.
    endSoon(reason == SIGALRM ? exitInput : exitInterrupted, brokenOff);
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
  const void* address = signal == SIGFPE || signal == SIGILL ? nullptr : info->si_addr;
  if (!current && loading < 0 && !reported()) _exit(exitBug);
  endSoon(exitDied, crashed);
  if (!current) fail(exitDied, format("%s: %s, at address %p", outsideOfMain().c_str(), what, address));
  fail(exitDied, format("rank %d, %s: %s, at address %p", current->rank->index, current->name.c_str(), what, address));
}

}  // namespace

void watchSignals(double seconds) {
  limit = seconds;
  const char* words = "{\"outcome\":\"failed\",\"code\":%d,\"message\":\"%s\",\"places\":[]}\n";
  brokenOff = format(words, exitInput,
                     "the run was ended at its limit in seconds; is there a kernel that never ends? --timeout SECONDS "
                     "allows more");
  crashed = format(words, exitDied, "a rank died of an access to memory that it does not have");
  struct sigaction action{};
  action.sa_handler = stop;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGALRM, &action, nullptr);
  if (commandIsFar()) {
    action.sa_handler = ended;
    sigaction(SIGIO, &action, nullptr);
    ended(SIGIO);
  }
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
