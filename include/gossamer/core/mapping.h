// SPDX-License-Identifier: Apache-2.0
/// Files that are mapped into memory, and what happens when one is cut short meanwhile: whoever reads behind its new
/// end reads zeros, and the mapping says so. Without this the process would die of SIGBUS.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Watches the mapping of a file, which begins at a page. Gives its number, or -1 where there are too many.
int gs_mapping_watch(const void* begin, size_t bytes);

/// Ends that; before the mapping does.
void gs_mapping_forget(int number);

/// 1 if something was read from behind the file's end: then no result of what has read it is one.
int gs_mapping_cut(int number);

#ifdef __cplusplus
}
#endif
