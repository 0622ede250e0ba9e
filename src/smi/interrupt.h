// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C, the limit in seconds, and accesses to memory that is not there.
#pragma once

namespace gossamer::smi {

/// From here on signals are looked at; `seconds` is a limit, 0 for none.
void watchSignals(double seconds);
/// Whether a signal asks for the end of the run.
bool interrupted();
/// Ends the run, for the reason that `interrupted` saw.
[[noreturn]] void interrupt();

}  // namespace gossamer::smi
