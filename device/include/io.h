// SPDX-License-Identifier: Apache-2.0
/// Tinsel's own output, which tinsel.h brings. Its puts adds no newline, unlike C's: that of the header (this one or
/// stdio.h) which the program includes last, tinsel.h not counted.
#ifndef GOSSAMER_IO_H
#define GOSSAMER_IO_H

#ifdef __cplusplus
extern "C" {
#endif

/// Writes a byte to the debug channel, however long that takes.
int putchar(int c);

/// Writes a string as it is.
int gossamer_puts(const char* s);

/// Writes a word as 8 hexadecimal digits.
int puthex(unsigned x);

/// Formatted output: more formats than Tinsel's, which has %s and %x. Here %x writes no leading zeros unless
/// it is told to (%08x). With GOSSAMER_COMPAT, and without stdio.h before this, it writes 8 digits as Tinsel's does.
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
