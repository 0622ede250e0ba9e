// SPDX-License-Identifier: Apache-2.0
/// Errors of a host program's calls.
#pragma once

#include <string>

namespace gossamer::host {

/// Ends the program with one line and exit code 2: the call is not allowed now, or an argument is invalid.
[[noreturn]] void reject_call(const char* call, const std::string& what);

}  // namespace gossamer::host
