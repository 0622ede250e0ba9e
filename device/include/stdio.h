// SPDX-License-Identifier: Apache-2.0
/// C's own output. Where this header is included, puts is that of C, which adds a newline: before or behind tinsel.h.
#ifndef GOSSAMER_STDIO_H
#define GOSSAMER_STDIO_H
#endif
#undef puts
#include_next <stdio.h>
