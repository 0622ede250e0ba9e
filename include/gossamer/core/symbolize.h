// SPDX-License-Identifier: Apache-2.0
/// Maps addresses of compiled code to lines of the user's source.
#pragma once

#include <string>

namespace gossamer {

/// The innermost line that is in the user's own files, not in Gossamer's or the system's headers: FILE:LINE. The format
/// of `addresses` is that of HandlerDied. Empty without debug information or without binutils (addr2line).
std::string userLineOf(const std::string& addresses);

}  // namespace gossamer
