// SPDX-License-Identifier: Apache-2.0
// Plain output and abnormal termination, separate from printf, so that programs without printf do not link it.

#include <gossamer/device.h>

int putchar(int c);

int gossamer_puts(const char* text) {
  while (*text) putchar(*text++);
  return 0;
}

int puts(const char* text) {
  gossamer_puts(text);
  putchar('\n');
  return 0;
}

int puthex(unsigned x) {
  for (int shift = 28; shift >= 0; shift -= 4) putchar("0123456789abcdef"[x >> shift & 15]);
  return 8;
}

/// Exit code of a thread whose assertion failed.
enum { kAssertFailed = 134 };

_Noreturn void __assert_fail(const char* what, const char* file, int line, const char* function) {
  gossamer_puts(file);
  putchar(':');
  char digits[10];
  int count = 0;
  for (unsigned rest = (unsigned)line; rest || !count; rest /= 10) digits[count++] = (char)('0' + rest % 10);
  while (count) putchar(digits[--count]);
  gossamer_puts(": ");
  if (function) {
    gossamer_puts(function);
    gossamer_puts(": ");
  }
  gossamer_puts("assertion failed: ");
  puts(what);
  _exit(kAssertFailed);
}

/// Weak: a library that must handle a program's end overrides it (device/mpi/start.c).
__attribute__((weak)) _Noreturn void exit(int code) { _exit(code); }

/// Traps, so that the host reports the location.
_Noreturn void abort(void) {
  for (;;) __asm__ volatile("ebreak");
}
