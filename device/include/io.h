// SPDX-License-Identifier: Apache-2.0
/// Tinsel's own output. Its puts adds no newline, unlike C's: where this header is included, it is this one.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// Writes a byte to the debug channel, however long that takes.
int putchar(int c);

/// Writes a string as it is.
int puts(const char* s) __asm__("gossamer_puts");

/// Writes a word as 8 hexadecimal digits.
int puthex(unsigned x);

/// Formatted output: more formats than Tinsel's, which has %s and %x. Here %x writes no leading zeros unless
/// it is told to (%08x).
int printf(const char* format, ...) __attribute__((format(printf, 1, 2)));

#ifdef __cplusplus
}  // extern "C"
#endif
