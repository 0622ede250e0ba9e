// SPDX-License-Identifier: Apache-2.0
/// Shared declarations of print.c and print_float.c, the floating-point part of printf.
#pragma once

#include <stdint.h>

/// Output: memory between `at` and `end`, or the debug channel if `end` is null.
typedef struct {
  char* at;
  char* end;
  int count;
} Out;

enum { kLeft = 1, kPlus = 2, kBlank = 4, kAlternate = 8, kZero = 16, kUpper = 32 };

/// One conversion.
typedef struct {
  int flags;
  int width;
  int precision;  // -1: none
  const char* sign;
} Spec;

/// Prints a body with its sign and padding, after `zeros` zeroes.
void gossamer_print_field(Out* out, const Spec* spec, const char* body, int length, int zeros);

/// %f, %e and %g of a double in two words; `style` is one of the letters. Linked only if a string of the program
/// contains such a format: it is larger than the rest of printf.
void gossamer_print_float(Out* out, Spec* spec, uint32_t high, uint32_t low, int style) __attribute__((weak));

/// Converts a long double (four words) to a double (two words), rounded so that a second rounding to single precision
/// is correct. Linked together with gossamer_print_float.
void gossamer_narrow(uint32_t word[4]) __attribute__((weak));
