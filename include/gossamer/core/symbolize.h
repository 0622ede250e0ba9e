// SPDX-License-Identifier: Apache-2.0
/// Addresses of compiled code as lines of the source that a user has written.
#pragma once

#include <string>

namespace gossamer {

/// The innermost line that is neither of a header of ours nor of the system's: FILE:LINE. `places` are addresses as
/// HandlerDied has them. Empty where nothing tells: without debug information, or without binutils (addr2line).
std::string lineOf(const std::string& places);

}  // namespace gossamer
