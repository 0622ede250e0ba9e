// SPDX-License-Identifier: Apache-2.0
/// Programs of the command, in Python, that a host program starts and waits for.
#pragma once

#include <string>
#include <vector>

namespace gossamer::host {

/// Why such a program cannot be found.
inline constexpr const char* kNotStarted =
    "the program was not started by ./gossamer, or has changed its environment";

/// Runs a module with these words and, behind them, the number of this process, which it does not outlive. Where the
/// module fails it has said why, and the program ends with its exit code.
void run_module(const char* call, const char* module, const std::vector<std::string>& words);

}  // namespace gossamer::host
