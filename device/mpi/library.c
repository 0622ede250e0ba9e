// SPDX-License-Identifier: Apache-2.0
/// Functions of the C library that differ between ranks: the state of each is thread-local. The compiler's C library
/// has the others.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/mpi/transport.h"

/// Marks text for stderr: the host prints bytes between these characters (shift out, shift in) on its own stderr.
void gossamer_select_stream(int number) { putchar(number == 2 ? GSMPI_STDERR_BEGIN : GSMPI_STDERR_END); }

// ---------------------------------------------------------------------- random numbers

static _Thread_local uint64_t random_state = 1;
static _Thread_local uint64_t state48 = 0x1234ABCD330Eu;

void srand(unsigned seed) { random_state = seed; }

int rand(void) {
  random_state = 6364136223846793005u * random_state + 1;
  return (int)(random_state >> 33);
}

void srandom(unsigned seed) { srand(seed); }
long random(void) { return rand(); }

static uint64_t next48(void) { return state48 = (0x5DEECE66Du * state48 + 0xB) & 0xFFFFFFFFFFFFu; }

void srand48(long seed) { state48 = (uint64_t)(uint32_t)seed << 16 | 0x330E; }
double drand48(void) { return (double)next48() / 281474976710656.0; }
long lrand48(void) { return (long)(next48() >> 17); }
long mrand48(void) { return (int32_t)(next48() >> 16); }

// ---------------------------------------------------------------------- text

char* strtok(char* restrict text, const char* restrict separators) {
  static _Thread_local char* rest;
  return strtok_r(text, separators, &rest);
}

/// Decimal numbers. The result is the nearest double if there are at most 15 digits and the exponent is within 22.
double strtod(const char* restrict text, char** restrict end) {
  const char* at = text;
  while (*at == ' ' || (*at >= '\t' && *at <= '\r')) ++at;
  const bool negative = *at == '-';
  if (*at == '-' || *at == '+') ++at;
  uint64_t digits = 0;
  int scale = 0;
  bool any = false;
  for (bool fraction = false;; ++at) {
    if (*at == '.' && !fraction) {
      fraction = true;
    } else if (*at >= '0' && *at <= '9') {
      any = true;
      if (digits < 100000000000000000u) {
        digits = 10 * digits + (uint64_t)(*at - '0');
        scale -= fraction;
      } else {
        scale += !fraction;
      }
    } else {
      break;
    }
  }
  if (any && (*at == 'e' || *at == 'E')) {
    char* after;
    const long exponent = strtol(at + 1, &after, 10);
    if (after != at + 1 && at[1] != ' ') {
      scale += exponent > 999 ? 999 : exponent < -999 ? -999 : (int)exponent;
      at = after;
    }
  }
  if (end) *end = (char*)(any ? at : text);
  double value = (double)digits, power = 10;
  for (unsigned left = (unsigned)(scale < 0 ? -scale : scale); left && digits; left /= 2, power *= power)
    if (left & 1) value = scale < 0 ? value / power : value * power;
  return negative ? -value : value;
}

float strtof(const char* restrict text, char** restrict end) { return (float)strtod(text, end); }
double atof(const char* text) { return strtod(text, NULL); }

// ---------------------------------------------------------------------- the rank as a process

pid_t getpid(void) { return gsmpi.rank + 1; }

int gethostname(char* name, size_t size) {
  int length;
  char whole[MPI_MAX_PROCESSOR_NAME];
  MPI_Get_processor_name(whole, &length);
  snprintf(name, size, "%s", whole);
  return 0;
}

int* __errno_location(void) {
  static _Thread_local int error;
  return &error;
}
