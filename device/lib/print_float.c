// SPDX-License-Identifier: Apache-2.0
// Floating-point output of printf. A double is first rounded to single precision, which the core supports. Its decimal
// digits are exact for any magnitude, rounded to nearest, ties to even; at most 100 digits after the point.

#include "print.h"

/// A double's bits as a float's, rounded to nearest even.
static uint32_t narrow(uint32_t high, uint32_t low) {
  const int exponent = (int)(high >> 20 & 0x7FF) - 1023;
  if (exponent == 1024) return 0x7F800000u | ((high & 0xFFFFF) | low ? 1 : 0);
  if (exponent > 127) return 0x7F800000u;
  if (exponent < -150) return 0;
  uint32_t mantissa = (1u << 20 | (high & 0xFFFFF)) << 3 | low >> 29;
  uint32_t rest = low << 3;
  int shift = -126 - exponent;
  uint32_t biased = (uint32_t)(exponent + 126);  // the mantissa's top bit adds one
  if (shift > 0) biased = 0;
  for (; shift > 0; --shift) {
    rest = rest >> 1 | (rest & 1) | mantissa << 31;
    mantissa >>= 1;
  }
  if (rest > 0x80000000u || (rest == 0x80000000u && mantissa & 1)) mantissa++;
  return (biased << 23) + mantissa;  // a carry increments the exponent, up to infinity
}

void gossamer_narrow(uint32_t word[4]) {
  // From a sign, 15 bits of exponent and 112 of fraction to a sign, 11 and 52; the lowest bit is sticky: it
  // is 1 if any of the other 60 is.
  const uint32_t sign = word[3] & 0x80000000u;
  const int exponent = (int)(word[3] >> 16 & 0x7FFF) - 16383;
  uint32_t high = (word[3] & 0xFFFF) << 4 | word[2] >> 28;
  uint32_t low = word[2] << 4 | word[1] >> 28;
  if (word[1] << 4 | word[0]) low |= 1;
  if (exponent > 1023) {
    if (exponent < 16384) high = low = 0;  // too large for a double: infinity
    high |= 0x7FF00000u;
  } else if (exponent < -1022) {
    high = low = 0;  // far below the range of single precision
  } else {
    high |= (uint32_t)(exponent + 1023) << 20;
  }
  word[1] = sign | high;
  word[0] = low;
}

enum {
  kFraction = 10,  // half-words: 160 bits after the point; a float has 149
  kWhole = 8,      // half-words: 128 bits before the point
  kDigits = 200,   // 40 digits before the point, 152 after it, and one for a carry
  kMostPrecision = 100,
};

/// Appends four decimal digits.
static int four(char* digits, int count, unsigned value) {
  for (unsigned unit = 1000; unit; unit /= 10) digits[count++] = (char)(value / unit % 10);
  return count;
}

void gossamer_print_float(Out* out, Spec* spec, uint32_t high, uint32_t low_word, int style) {
  uint32_t bits = narrow(high, low_word);
  const int upper = spec->flags & kUpper;
  bits &= 0x7FFFFFFF;
  if (bits >= 0x7F800000u) {
    spec->flags &= ~kZero;
    const char* name = bits > 0x7F800000u ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf");
    gossamer_print_field(out, spec, name, 3, 0);
    return;
  }
  int precision = spec->precision < 0 ? 6 : spec->precision;
  if (precision > kMostPrecision) precision = kMostPrecision;
  if (style == 'g' && precision == 0) precision = 1;

  // The number in fixed point, the lowest half-word first.
  uint16_t big[kFraction + kWhole + 2] = {0};
  const uint32_t mantissa = bits >> 23 ? (bits & 0x7FFFFF) | 0x800000 : bits;
  const int lsb = (bits >> 23 ? (int)(bits >> 23) - 150 : -149) + 16 * kFraction;
  const uint64_t placed = (uint64_t)mantissa << (lsb & 15);
  for (int i = 0; i < 3; ++i) big[lsb / 16 + i] = (uint16_t)(placed >> 16 * i);

  // Its digits, one per byte: those before the point are computed in reverse order.
  char digits[kDigits];
  char whole[40];
  int front = 0;
  for (int top = kFraction + kWhole - 1; top >= kFraction;) {
    if (!big[top]) {
      --top;
      continue;
    }
    uint32_t rest = 0;
    for (int i = top; i >= kFraction; --i) {
      const uint32_t part = rest << 16 | big[i];
      big[i] = (uint16_t)(part / 10000);
      rest = part % 10000;
    }
    for (int i = 0; i < 4; ++i, rest /= 10) whole[front++] = (char)(rest % 10);
  }
  int count = 0;
  digits[count++] = 0;  // for a carry, and the zero before a fraction
  while (front) digits[count++] = whole[--front];
  const int point = count;
  int first = 0;  // first digit that is not 0
  while (first < count && !digits[first]) first++;

  // After the point, one digit more than requested; any remainder decides the rounding.
  int low = 0;
  for (;;) {
    while (low < kFraction && !big[low]) low++;
    const int from = style == 'f' ? point : first;
    if (low == kFraction || (from < count && count > from + precision + 1)) break;
    uint32_t carry = 0;
    for (int i = low; i < kFraction; ++i) {
      carry += big[i] * 10000u;
      big[i] = (uint16_t)carry;
      carry >>= 16;
    }
    count = four(digits, count, carry);
    while (first < count && !digits[first]) first++;
  }
  const int zero = first == count;
  if (zero) first = point - 1;

  // Rounds to nearest, ties to even, at the first digit that is not printed.
  const int shown = style == 'f' ? point + precision : style == 'e' ? first + precision + 1 : first + precision;
  if (shown < count) {
    int more = digits[shown] - 5;
    for (int i = shown + 1; !more && i < count; ++i) more = digits[i];
    if (!more) more = low < kFraction;
    if (more > 0 || (more == 0 && shown > 0 && digits[shown - 1] & 1)) {
      int at = shown;
      while (digits[--at] == 9) digits[at] = 0;
      digits[at]++;
      if (at < first) first = at;
    }
    count = shown;
  }

  char body[kDigits];
  int length = 0;
  int exponent = point - 1 - first;
  int fraction_digits = precision;  // printed digits after the point
  if (style == 'g') {
    style = exponent < -4 || exponent >= precision ? 'e' : 'f';
    fraction_digits = style == 'e' ? precision - 1 : precision - 1 - exponent;
    if (!(spec->flags & kAlternate)) {
      const int start = style == 'e' ? first + 1 : point;
      while (fraction_digits > 0 && (start + fraction_digits > count || !digits[start + fraction_digits - 1])) {
        fraction_digits--;
      }
    }
  }
  int at = style == 'e' ? first : first < point - 1 ? first : point - 1;
  const int dot = style == 'e' ? first + 1 : point;
  for (const int end = dot + fraction_digits; at < end; ++at) {
    if (at == dot) body[length++] = '.';
    body[length++] = (char)('0' + (at < count ? digits[at] : 0));
  }
  if (!fraction_digits && spec->flags & kAlternate) body[length++] = '.';
  if (style == 'e') {
    body[length++] = upper ? 'E' : 'e';
    body[length++] = exponent < 0 ? '-' : '+';
    if (exponent < 0) exponent = -exponent;
    body[length++] = (char)('0' + exponent / 10);
    body[length++] = (char)('0' + exponent % 10);
  }
  gossamer_print_field(out, spec, body, length, 0);
}
