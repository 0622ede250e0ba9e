// SPDX-License-Identifier: Apache-2.0
// The functions of string.h that need no static memory. They use whole words if both sides are aligned: a load or store
// suspends the thread for the same time whatever its size.

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

typedef uint32_t __attribute__((may_alias)) Word;

void* memcpy(void* restrict to, const void* restrict from, size_t size) {
  unsigned char* d = to;
  const unsigned char* s = from;
  if ((((uintptr_t)d | (uintptr_t)s) & 3) == 0) {
    for (; size >= 4; size -= 4, d += 4, s += 4) *(Word*)d = *(const Word*)s;
  }
  while (size--) *d++ = *s++;
  return to;
}

void* memmove(void* to, const void* from, size_t size) {
  unsigned char* d = to;
  const unsigned char* s = from;
  if ((uintptr_t)d - (uintptr_t)s >= size) return memcpy(to, from, size);
  while (size--) d[size] = s[size];
  return to;
}

void* memset(void* to, int value, size_t size) {
  unsigned char* d = to;
  const uint32_t word = (uint32_t)(unsigned char)value * 0x01010101u;
  for (; size && (uintptr_t)d & 3; --size) *d++ = (unsigned char)value;
  for (; size >= 4; size -= 4, d += 4) *(Word*)d = word;
  while (size--) *d++ = (unsigned char)value;
  return to;
}

int memcmp(const void* left, const void* right, size_t size) {
  const unsigned char* a = left;
  const unsigned char* b = right;
  for (; size; --size, ++a, ++b) {
    if (*a != *b) return *a - *b;
  }
  return 0;
}

void* memchr(const void* from, int value, size_t size) {
  const unsigned char* s = from;
  for (; size; --size, ++s) {
    if (*s == (unsigned char)value) return (void*)s;
  }
  return 0;
}

size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length]) length++;
  return length;
}

size_t strnlen(const char* text, size_t most) {
  size_t length = 0;
  while (length < most && text[length]) length++;
  return length;
}

int strncmp(const char* left, const char* right, size_t most) {
  for (; most; --most, ++left, ++right) {
    if (*left != *right || !*left) return (unsigned char)*left - (unsigned char)*right;
  }
  return 0;
}

int strcmp(const char* left, const char* right) { return strncmp(left, right, SIZE_MAX); }

char* strcpy(char* restrict to, const char* restrict from) {
  char* d = to;
  while ((*d++ = *from++)) {
  }
  return to;
}

char* strncpy(char* restrict to, const char* restrict from, size_t most) {
  size_t i = 0;
  for (; i < most && from[i]; ++i) to[i] = from[i];
  for (; i < most; ++i) to[i] = 0;
  return to;
}

char* strcat(char* restrict to, const char* restrict from) {
  strcpy(to + strlen(to), from);
  return to;
}

char* strchr(const char* text, int value) {
  for (;; ++text) {
    if (*text == (char)value) return (char*)text;
    if (!*text) return 0;
  }
}

char* strrchr(const char* text, int value) {
  const char* last = 0;
  for (;; ++text) {
    if (*text == (char)value) last = text;
    if (!*text) return (char*)last;
  }
}

// Variants that the compiler substitutes for the functions above.

int bcmp(const void* left, const void* right, size_t size) { return memcmp(left, right, size); }

char* stpcpy(char* restrict to, const char* restrict from) {
  strcpy(to, from);
  return to + strlen(to);
}
