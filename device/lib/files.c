// SPDX-License-Identifier: Apache-2.0
// The streams of stdio.h: stdout and stderr both are the thread's text output, which is never buffered.

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct _IO_FILE {
  int number;
};

static const FILE streams[3] = {{0}, {1}, {2}};
#undef stdin
#undef stdout
#undef stderr
FILE* const stdin = (FILE*)&streams[0];
FILE* const stdout = (FILE*)&streams[1];
FILE* const stderr = (FILE*)&streams[2];

/// Called before and after text for stderr, with 2 and 1. Weak: only programs whose host separates the streams have it.
__attribute__((weak)) void gossamer_select_stream(int number);

static void begin(const FILE* stream) {
  if (stream->number == 2 && gossamer_select_stream) gossamer_select_stream(2);
}

static void end(const FILE* stream) {
  if (stream->number == 2 && gossamer_select_stream) gossamer_select_stream(1);
}

size_t fwrite(const void* restrict from, size_t size, size_t count, FILE* restrict stream) {
  const unsigned char* bytes = from;
  begin(stream);
  for (size_t i = 0; i < size * count; ++i) putchar(bytes[i]);
  end(stream);
  return size ? count : 0;
}

int fputs(const char* restrict text, FILE* restrict stream) {
  fwrite(text, 1, strlen(text), stream);
  return 0;
}

int fputc(int c, FILE* stream) {
  const unsigned char byte = (unsigned char)c;
  fwrite(&byte, 1, 1, stream);
  return byte;
}

int putc(int c, FILE* stream) { return fputc(c, stream); }

int vfprintf(FILE* restrict stream, const char* restrict format, va_list list) {
  begin(stream);
  const int count = vprintf(format, list);
  end(stream);
  return count;
}

int fprintf(FILE* restrict stream, const char* restrict format, ...) {
  va_list list;
  va_start(list, format);
  const int count = vfprintf(stream, format, list);
  va_end(list);
  return count;
}

int vsprintf(char* restrict to, const char* restrict format, va_list list) {
  return vsnprintf(to, UINTPTR_MAX - (uintptr_t)to, format, list);  // up to the end of memory
}

int sprintf(char* restrict to, const char* restrict format, ...) {
  va_list list;
  va_start(list, format);
  const int count = vsprintf(to, format, list);
  va_end(list);
  return count;
}

int fflush(FILE* stream) {
  (void)stream;
  return 0;
}

int setvbuf(FILE* restrict stream, char* restrict buffer, int mode, size_t size) {
  (void)stream, (void)buffer, (void)mode, (void)size;
  return 0;
}

void setbuf(FILE* restrict stream, char* restrict buffer) { (void)stream, (void)buffer; }

int ferror(FILE* stream) {
  (void)stream;
  return 0;
}

int feof(FILE* stream) { return stream->number == 0; }

void clearerr(FILE* stream) { (void)stream; }

int fclose(FILE* stream) {
  (void)stream;
  return 0;
}
