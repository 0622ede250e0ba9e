// SPDX-License-Identifier: Apache-2.0
/// OpenCL's printf (OpenCL C 2.0, 6.13.13): that of C, with vectors (%v4f, %v4hlf, %v2ld). In C, because OpenCL C has
/// no access to variable arguments; compiled by the compiler of device files, whose calls it receives.
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define half _Float16
#include "opencl_types.h"
#include "types.h"

/// Prints the elements of a vector argument with the conversion of one element, and commas between.
#define ELEMENTS(T, N, P)                  \
  if (width == N) {                        \
    const T##N value = va_arg(list, T##N); \
    for (int i = 0; i < N; i++) {          \
      if (i) count += printf(",");         \
      count += printf(one, (P)value[i]);   \
    }                                      \
  }
#define VECTOR_OF(T, P) WIDTHS(ELEMENTS, T, P)

int gs_smi_printf(const char* format, ...) {
  va_list list;
  va_start(list, format);
  int count = 0;
  while (*format) {
    if (*format != '%') {
      const char* end = format;
      while (*end && *end != '%') ++end;
      count += printf("%.*s", (int)(end - format), format);
      format = end;
      continue;
    }
    // One conversion: flags, widths and precision as in C, then v and a number, the size, and the letter.
    char one[64];
    int at = 0, width = 0, size = 0;
    one[at++] = *format++;
    while (*format && at < 48) {
      const char c = *format;
      if (c == '*') {
        const int given = va_arg(list, int);
        at += snprintf(one + at, 12, "%d", given);
      } else if (c == 'v') {
        while (format[1] >= '0' && format[1] <= '9') width = 10 * width + (*++format - '0');
      } else if (c == '-' || c == '+' || c == ' ' || c == '#' || c == '.' || (c >= '0' && c <= '9')) {
        one[at++] = c;
      } else {
        break;
      }
      ++format;
    }
    if (format[0] == 'h' && format[1] == 'h')
      size = 1, format += 2;
    else if (format[0] == 'h' && format[1] == 'l')
      size = 4, format += 2;
    else if (format[0] == 'h')
      size = 2, ++format;
    else if (format[0] == 'l')
      size = 8, ++format;
    const char letter = *format;
    if (!letter) break;
    ++format;
    const bool floating = letter == 'f' || letter == 'F' || letter == 'e' || letter == 'E' || letter == 'g' ||
                          letter == 'G' || letter == 'a' || letter == 'A';
    const bool number =
        letter == 'd' || letter == 'i' || letter == 'o' || letter == 'u' || letter == 'x' || letter == 'X';
    const bool has_sign = letter == 'd' || letter == 'i';
    if (number) one[at++] = 'l';
    one[at++] = letter;
    one[at] = 0;
    if (width) {
      if (floating) {
        if (size == 8) {
          VECTOR_OF(double, double)
        } else if (size == 2) {
          VECTOR_OF(half, double)
        } else {
          VECTOR_OF(float, double)
        }
      } else if (has_sign) {
        if (size == 1) {
          VECTOR_OF(char, long)
        } else if (size == 2) {
          VECTOR_OF(short, long)
        } else if (size == 8) {
          VECTOR_OF(long, long)
        } else {
          VECTOR_OF(int, long)
        }
      } else {
        if (size == 1) {
          VECTOR_OF(uchar, ulong)
        } else if (size == 2) {
          VECTOR_OF(ushort, ulong)
        } else if (size == 8) {
          VECTOR_OF(ulong, ulong)
        } else {
          VECTOR_OF(uint, ulong)
        }
      }
    } else if (floating) {
      count += printf(one, va_arg(list, double));
    } else if (number) {
      if (size == 8) {
        count += printf(one, va_arg(list, long));
      } else {
        const int value = va_arg(list, int);
        const long full = has_sign ? (size == 1   ? (char)value
                                      : size == 2 ? (short)value
                                                  : value)
                                   : (long)(size == 1   ? (uchar)value
                                            : size == 2 ? (ushort)value
                                                        : (uint)value);
        count += printf(one, full);
      }
    } else if (letter == 'c') {
      count += printf(one, va_arg(list, int));
    } else if (letter == 's' || letter == 'p') {
      count += printf(one, va_arg(list, const void*));
    } else {
      count += printf(letter == '%' ? "%%" : "%s", one);
    }
  }
  va_end(list);
  return count;
}
