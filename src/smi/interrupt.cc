// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>

#include "activity.h"
#include "command.h"
#include "programs.h"
#include "runtime.h"

namespace gossamer::smi {

namespace {

volatile sig_atomic_t reason = 0;
double limit = 0;

/// A kernel that never calls the emulator does not notice a request to stop: after this time the process ends anyway.
constexpr suseconds_t graceMicroseconds = 300'000;

/// Reports prepared in advance: composing one in a signal handler could deadlock on the allocator's lock.
std::string timeoutReport, crashReport;
const std::string* finalReport = nullptr;
int finalCode = 0;

void exitNow(int) {
  if (write(reportFile, finalReport->data(), finalReport->size()) < 0) finalCode = GS_EXIT_BUG;
  _exit(finalCode);
}

/// From here on, the process ends within a second, whatever its handlers do.
void exitWithinASecond(int code, const std::string& report) {
  finalCode = code;
  finalReport = &report;
  struct sigaction action{};
  action.sa_handler = exitNow;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGALRM, &action, nullptr);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
  const itimerval second{{0, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &second, nullptr);
}

/// The command ends all processes after one has failed.
void handleCommand(int) {
  if (reason || !commandRequestsEnd()) return;
  reason = SIGIO;
  budget = 0;
  itimerval soon{{0, 0}, {0, graceMicroseconds}};
  setitimer(ITIMER_REAL, &soon, nullptr);
}

void terminate(int signal) {
  if (reason) {
    // The second signal, or the grace period is over. The process holds nothing but memory, so it may end at once.
    exitWithinASecond(reason == SIGALRM ? GS_EXIT_INPUT : GS_EXIT_INTERRUPTED, timeoutReport);
    interrupt();
  }
  reason = signal;
  budget = 0;
  itimerval soon{{0, 0}, {0, graceMicroseconds}};
  setitimer(ITIMER_REAL, &soon, nullptr);
}

void fault(int signal, siginfo_t* info, void*) {
  // With the default handler, the process ends if anything here fails.
  ::signal(signal, SIG_DFL);
  const char* what = signal == SIGFPE   ? "a division by zero"
                     : signal == SIGILL ? "an illegal instruction"
                                        : "an invalid memory access (or a stack overflow: --stack)";
  const void* address = signal == SIGFPE || signal == SIGILL ? nullptr : info->si_addr;
  if (!current && loading < 0 && !reported()) _exit(GS_EXIT_BUG);
  exitWithinASecond(GS_EXIT_DIED, crashReport);
  dropActivity();
  if (!current) fail(GS_EXIT_DIED, format("%s: %s, at address %p", outsideOfMain().c_str(), what, address));
  fail(GS_EXIT_DIED,
       format("rank %d, %s: %s, at address %p", current->rank->index, current->name.c_str(), what, address));
}

}  // namespace

void watchSignals(double seconds) {
  limit = seconds;
  const char* report = "{\"outcome\":\"failed\",\"code\":%d,\"message\":\"%s\",\"places\":[]}\n";
  timeoutReport =
      format(report, GS_EXIT_INPUT,
             "the run was ended at its limit in seconds; is there a kernel that never ends? --timeout SECONDS "
             "allows more");
  crashReport = format(report, GS_EXIT_DIED, "a rank died of an invalid memory access");
  struct sigaction action{};
  action.sa_handler = terminate;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGALRM, &action, nullptr);
  if (commandIsRemote()) {
    action.sa_handler = handleCommand;
    sigaction(SIGIO, &action, nullptr);
    handleCommand(SIGIO);
  }
  static char stack[1 << 16];
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  sigaltstack(&other, nullptr);
  struct sigaction faults{};
  faults.sa_sigaction = fault;
  faults.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(signal, &faults, nullptr);
  if (seconds > 0) {
    const auto whole = static_cast<time_t>(seconds);
    itimerval at{{0, 0}, {whole, static_cast<suseconds_t>((seconds - static_cast<double>(whole)) * 1e6)}};
    setitimer(ITIMER_REAL, &at, nullptr);
  }
}

bool interrupted() { return reason != 0; }

void interrupt() {
  if (reason == SIGALRM) {
    fail(GS_EXIT_INPUT, format("the run was ended after %g seconds, rank %d in %s; is there a kernel that never ends? "
                               "--timeout SECONDS allows more",
                               limit, current ? current->rank->index : 0, current ? current->name.c_str() : "main"));
  }
  fail(GS_EXIT_INTERRUPTED, "interrupted");
}

}  // namespace gossamer::smi
