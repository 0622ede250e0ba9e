// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C, the time limit, and invalid memory accesses.
#pragma once

namespace gossamer::smi {

/// Installs the signal handlers; `seconds` is the time limit, 0 for none.
void watchSignals(double seconds);
/// Whether a signal has requested the end of the run.
bool interrupted();
/// Ends the run, for the reason that `interrupted` saw.
[[noreturn]] void interrupt();

}  // namespace gossamer::smi
