// SPDX-License-Identifier: Apache-2.0
/// How the library's C functions say what went wrong.
#pragma once

#include <cstdint>

namespace gossamer {

/// Return codes of every `gs_*` function that can fail.
enum : int { GS_OK = 0, GS_FAILED = -1, GS_INTERRUPTED = -2, GS_DIED = -3 };

/// Stores a message for this thread (printf formats) and returns GS_FAILED.
/// The message is one line: what, where (file:line), what to do.
[[gnu::format(printf, 1, 2)]] int fail(const char* format, ...);

/// The same where a run died: the vertex that it died at, if that is known (else GS_NO_VERTEX), and places in code
/// (HandlerDied::places). Returns GS_DIED.
int died(const char* text, uint64_t vertex, const char* places);

}  // namespace gossamer
