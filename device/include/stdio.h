// SPDX-License-Identifier: Apache-2.0
/// C's output functions. If this header is included, before or after tinsel.h, puts is that of C, which adds a newline.
#ifndef GOSSAMER_STDIO_H
#define GOSSAMER_STDIO_H
#endif
#undef puts
#include_next <stdio.h>
