// SPDX-License-Identifier: Apache-2.0
/// Starts Python programs of the command and waits for them.
#pragma once

#include <string>
#include <vector>

namespace gossamer::host {

/// The error if such a program cannot be found.
inline constexpr const char* kNotStarted =
    "the program was not started by ./gossamer, or has changed its environment";

/// Runs a module with these arguments, followed by the number of this process, with which the module ends. If the
/// module fails, it has reported why, and this program ends with its exit code.
void run_module(const char* call, const char* module, const std::vector<std::string>& words);

}  // namespace gossamer::host
