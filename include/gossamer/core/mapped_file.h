// SPDX-License-Identifier: Apache-2.0
/// Memory-mapped files that may be truncated while mapped: reads past the new end return zeros, and the mapping is
/// marked. Without this the process would end with SIGBUS.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Registers the mapping of a file; `begin` is page-aligned. Returns its number, or -1 if all numbers are in use.
int gs_mapping_watch(const void* begin, size_t bytes);

/// Deregisters a mapping; call it before munmap().
void gs_mapping_forget(int number);

/// 1 if a read has hit the truncated part: any result of reading this file is then invalid.
int gs_mapping_cut(int number);

#ifdef __cplusplus
}
#endif
