// SPDX-License-Identifier: Apache-2.0
/// Error reporting of the library's C functions.
#pragma once

#include <cstdint>

namespace gossamer {

/// Return codes of every `gs_*` function that can fail.
enum : int { GS_OK = 0, GS_FAILED = -1, GS_INTERRUPTED = -2, GS_DIED = -3 };

/// Stores a message for this thread (printf formats) and returns GS_FAILED.
/// The message is one line: what, where (file:line), what to do.
[[gnu::format(printf, 1, 2)]] int fail(const char* format, ...);

/// The same for an aborted run: the vertex whose handler failed, or GS_NO_VERTEX if it was no handler, and the code
/// addresses (HandlerDied::addresses). Returns GS_DIED.
int died(const char* text, uint64_t vertex, const char* addresses);

}  // namespace gossamer
