// SPDX-License-Identifier: Apache-2.0
/// Tinsel's output functions, included by tinsel.h. Unlike C's, its puts adds no newline. A program gets the puts of
/// the header (this one or stdio.h) that it includes last, apart from tinsel.h.
#ifndef GOSSAMER_IO_H
#define GOSSAMER_IO_H

#ifdef __cplusplus
extern "C" {
#endif

/// Writes a byte to the debug channel; waits until it is accepted.
int putchar(int c);

/// Writes a string without a newline.
int gossamer_puts(const char* s);

/// Writes a word as 8 hexadecimal digits.
int puthex(unsigned x);

/// Formatted output: more formats than Tinsel's, which has %s and %x. Here %x writes no leading zeros unless
/// requested (%08x). With GOSSAMER_COMPAT, and without stdio.h before this, it writes 8 digits as Tinsel's does.
int printf(const char* format, ...) __attribute__((format(printf, 1, 2)))
#if defined(GOSSAMER_COMPAT) && !defined(GOSSAMER_STDIO_H)
__asm__("gossamer_tinsel_printf")
#endif
;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif

#ifndef GOSSAMER_KEEP_PUTS
#undef puts
#define puts gossamer_puts
#endif
