// SPDX-License-Identifier: Apache-2.0
/// What the two halves of printf share: print.c, and print_float.c for numbers with a fraction.
#pragma once

#include <stdint.h>

/// Where characters go: to memory between `at` and `end`, or to the debug channel if `end` is null.
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
  int precision;  // -1 if there is none
  const char* sign;
} Spec;

/// A body between its sign and its padding; `zeros` stand in front of it.
void gossamer_print_field(Out* out, const Spec* spec, const char* body, int length, int zeros);

/// %f, %e and %g of a double given as two words; `style` is one of the letters. Linked where a string of the
/// program has such a format in it: it is larger than all the rest.
void gossamer_print_float(Out* out, Spec* spec, uint32_t high, uint32_t low, int style) __attribute__((weak));

/// Makes a double (two words) of a long double (four), rounded such that a second rounding to single precision is
/// right. Linked together with gossamer_print_float.
void gossamer_narrow(uint32_t word[4]) __attribute__((weak));
