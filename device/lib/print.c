// SPDX-License-Identifier: Apache-2.0
// The printf family, to the debug channel or into memory. Small, since it shares 8 KB with the program.
//
// Formats: %d %i %u %x %X %o %c %s %p %f %F %e %E %g %G %%, the flags - + blank # 0, width and precision
// (also *), the lengths hh h l ll j z t L. Floating-point formats are in print_float.c. %a consumes its argument and
// prints a question mark; unknown conversions are printed unchanged.

#include <gossamer/device.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "print.h"

// 1 in print_tinsel.c: plain %x prints 8 digits, as in Tinsel's code.
#ifndef GS_TINSEL
#define GS_TINSEL 0
#endif

#if !GS_TINSEL
int putchar(int c) {
  while (!GS_CSR_SWAP(GS_CSR_UART_PUT, c & 0xFF)) {
  }
  return c;
}
#else
int putchar(int c);
#endif

static __attribute__((noinline)) void put(Out* out, int c) {
  out->count++;
  if (!out->end) {
    putchar(c);
  } else if (out->at < out->end) {
    *out->at++ = (char)c;
  }
}

#if !GS_TINSEL
static __attribute__((noinline)) void pad(Out* out, int c, int times) {
  while (times-- > 0) put(out, c);
}

void gossamer_print_field(Out* out, const Spec* spec, const char* body, int length, int zeros) {
  int sign = 0;
  while (spec->sign[sign]) sign++;
  int blank = spec->width - sign - length - zeros;
  if ((spec->flags & (kZero | kLeft)) == kZero && blank > 0) {
    zeros += blank;
    blank = 0;
  }
  if (!(spec->flags & kLeft)) pad(out, ' ', blank);
  for (int i = 0; i < sign; ++i) put(out, spec->sign[i]);
  pad(out, '0', zeros);
  for (int i = 0; i < length; ++i) put(out, body[i]);
  if (spec->flags & kLeft) pad(out, ' ', blank);
}
#endif

static const char* sign_of(const Spec* spec, int negative) {
  if (negative) return "-";
  return spec->flags & kPlus ? "+" : spec->flags & kBlank ? " " : "";
}

static __attribute__((noinline)) void integer(Out* out, Spec* spec, uint32_t high, uint32_t low, unsigned base) {
  char body[24];
  char* end = body + sizeof body;
  char* at = end;
  const int letters = (spec->flags & kUpper ? 'A' : 'a') - 10;
  while (high | low) {
    // Long division by half-words: the core divides 32 bits by 32.
    unsigned rest = high % base;
    high /= base;
    unsigned upper = rest << 16 | low >> 16;
    unsigned lower = (upper % base) << 16 | (low & 0xFFFF);
    low = (upper / base) << 16 | lower / base;
    const int digit = (int)(lower % base);
    *--at = (char)(digit < 10 ? '0' + digit : letters + digit);
  }
  const int length = (int)(end - at);
  int zeros = (spec->precision < 0 ? 1 : spec->precision) - length;
  if (spec->precision >= 0) spec->flags &= ~kZero;
  if (base == 8 && spec->flags & kAlternate && zeros <= 0) zeros = 1;
  gossamer_print_field(out, spec, at, length, zeros < 0 ? 0 : zeros);
}

static void format(Out* out, const char* text, va_list* list) {
  for (int c; (c = *text++);) {
    if (c != '%') {
      put(out, c);
      continue;
    }
    Spec spec = {0, 0, -1, ""};
    for (;; ++text) {
      static const char marks[] = "-+ #0";
      int flag = 0;
      while (marks[flag] && marks[flag] != *text) flag++;
      if (!marks[flag]) break;
      spec.flags |= 1 << flag;
    }
    int* number = &spec.width;
    for (;; ++text) {
      if (*text == '*') {
        *number = va_arg(*list, int);
        if (number == &spec.width && *number < 0) {
          spec.flags |= kLeft;
          *number = -*number;
        }
      } else if (*text >= '0' && *text <= '9') {
        *number = *number * 10 + (*text - '0');
      } else if (*text == '.') {
        number = &spec.precision;
        *number = 0;
      } else {
        break;
      }
    }
    int wide = 0;   // 1 for an integer of 8 bytes, or a long double of 16
    int small = 0;  // bits that h and hh drop
    for (;; ++text) {
      if (*text == 'h') {
        small = small ? 24 : 16;
      } else if (*text == 'j' || *text == 'L' || (*text == 'l' && text[1] == 'l')) {
        wide = 1;
      } else if (*text != 'l' && *text != 'z' && *text != 't') {
        break;
      }
    }
    c = *text;
    if (!c) break;
    ++text;
    const int lower = c | 0x20;
    if (c != lower) spec.flags |= kUpper;
    switch (lower) {
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'o':
      case 'p': {
        uint32_t high = 0, low;
        if (wide) {
          const uint64_t value = va_arg(*list, uint64_t);
          high = (uint32_t)(value >> 32);
          low = (uint32_t)value;
        } else {
          low = va_arg(*list, uint32_t) << small;
          if (lower == 'd' || lower == 'i') {
            low = (uint32_t)((int32_t)low >> small);
            high = (uint32_t)((int32_t)low >> 31);
          } else {
            low >>= small;
          }
        }
        unsigned base = lower == 'o' ? 8 : 10;
        if (lower == 'x' || lower == 'p') {
          base = 16;
          if (GS_TINSEL && lower == 'x' && !spec.width && spec.precision < 0) spec.precision = 8;
          if (lower == 'p' || (spec.flags & kAlternate && (high | low))) spec.sign = spec.flags & kUpper ? "0X" : "0x";
        } else if (lower == 'd' || lower == 'i') {
          const int negative = (int32_t)high < 0;
          spec.sign = sign_of(&spec, negative);
          if (negative) {
            low = -low;
            high = ~high + !low;
          }
        }
        integer(out, &spec, high, low, base);
        break;
      }
      case 'a':  // not supported: consumes its argument, so that later ones stay aligned
      case 'e':
      case 'f':
      case 'g': {
        union {
          double value;
          long double longer;
          uint32_t word[4];
        } given;
        if (wide) {
          given.longer = va_arg(*list, long double);
          if (gossamer_narrow) gossamer_narrow(given.word);
        } else {
          given.value = va_arg(*list, double);
        }
        spec.sign = sign_of(&spec, given.word[1] >> 31);
        if (gossamer_print_float && lower != 'a') {
          gossamer_print_float(out, &spec, given.word[1], given.word[0], lower);
        } else {
          gossamer_print_field(out, &spec, "?", 1, 0);
        }
        break;
      }
      case 'c': {
        const char body = (char)va_arg(*list, int);
        spec.flags &= ~kZero;
        gossamer_print_field(out, &spec, &body, 1, 0);
        break;
      }
      case 's': {
        const char* body = va_arg(*list, const char*);
        int length = 0;
        if (!body) body = "(null)";
        while ((spec.precision < 0 || length < spec.precision) && body[length]) length++;
        spec.flags &= ~kZero;
        gossamer_print_field(out, &spec, body, length, 0);
        break;
      }
      default:
        if (c != '%') put(out, '%');
        put(out, c);
    }
  }
}

#if GS_TINSEL
/// The printf of programs for Tinsel's code (io.h).
int gossamer_tinsel_printf(const char* text, ...) {
  va_list list;
  Out out = {0, 0, 0};
  va_start(list, text);
  format(&out, text, &list);
  va_end(list);
  return out.count;
}
#else
int vprintf(const char* text, va_list list) {
  va_list copy;
  va_copy(copy, list);
  Out out = {0, 0, 0};
  format(&out, text, &copy);
  va_end(copy);
  return out.count;
}

int printf(const char* text, ...) {
  va_list list;
  va_start(list, text);
  const int count = vprintf(text, list);
  va_end(list);
  return count;
}

int vsnprintf(char* to, size_t size, const char* text, va_list list) {
  char none;
  va_list copy;
  va_copy(copy, list);
  Out out = {to, size ? to + size - 1 : &none, 0};
  if (!size) out.at = &none;
  format(&out, text, &copy);
  va_end(copy);
  if (size) *out.at = 0;
  return out.count;
}

int snprintf(char* to, size_t size, const char* text, ...) {
  va_list list;
  va_start(list, text);
  const int count = vsnprintf(to, size, text, list);
  va_end(list);
  return count;
}
#endif
