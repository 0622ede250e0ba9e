// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C, the time limit, and invalid memory accesses.
#pragma once

#include <signal.h>

#include <initializer_list>

namespace gossamer::smi {

/// Installs the signal handlers; `seconds` is the time limit, 0 for none.
void watchSignals(double seconds);
/// Whether a signal has requested the end of the run.
bool interrupted();
/// Ends the run, for the reason that `interrupted` saw.
[[noreturn]] void interrupt();

/// Delays signals that end the run, while it exists; threads that start meanwhile never receive them.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGIO}) sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace gossamer::smi
