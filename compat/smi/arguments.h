/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel arguments of a .cl file without a host program, from command-line arguments [RANK.][KERNEL.]NAME=VALUE. The
   value of a buffer is its number of (zero) elements, or a file with its elements; with :FILE appended, the buffer is
   written to FILE at the end. {} in a file name is the rank. */
#ifndef GOSSAMER_SMI_ARGUMENTS_H_
#define GOSSAMER_SMI_ARGUMENTS_H_

#include <errno.h>
#include <gossamer/core/exit_codes.h>
#include <gossamer/smi/smi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gs_smi_buffer {
  char* data;
  size_t size;
  char file[4096];
  struct gs_smi_buffer* next;
};

static char** gs_smi_words;
static struct gs_smi_buffer* gs_smi_buffers;

_Noreturn static void gs_smi_wrong(const char* kernel, const char* name, const char* what) {
  fprintf(stderr, "gossamer: error: kernel %s: argument %s %s\n", kernel, name, what);
  exit(GS_EXIT_INPUT);
}

/* The value with the most specific match of rank and kernel. */
static const char* gs_smi_find(const char* kernel, const char* name) {
  char forms[4][256];
  const int rank = SMI_Comm_rank(SMI_COMM_WORLD);
  snprintf(forms[0], sizeof forms[0], "%d.%s.%s=", rank, kernel, name);
  snprintf(forms[1], sizeof forms[1], "%d.%s=", rank, name);
  snprintf(forms[2], sizeof forms[2], "%s.%s=", kernel, name);
  snprintf(forms[3], sizeof forms[3], "%s=", name);
  for (int form = 0; form < 4; form++) {
    for (char** word = gs_smi_words + 1; *word; word++) {
      if (!strncmp(*word, forms[form], strlen(forms[form]))) return *word + strlen(forms[form]);
    }
  }
  gs_smi_wrong(kernel, name, "has no value; give it after --, as NAME=VALUE");
}

static double gs_smi_number(const char* kernel, const char* name) {
  const char* text = gs_smi_find(kernel, name);
  char* end;
  const double value = strtod(text, &end);
  if (end == text || *end) gs_smi_wrong(kernel, name, "is not a number");
  return value;
}

/* Value of an integer parameter of `size` bytes, signed or unsigned. */
static long long gs_smi_integer(const char* kernel, const char* name, size_t size, int has_sign) {
  const char* text = gs_smi_find(kernel, name);
  char* end;
  errno = 0;
  const long long value = has_sign ? strtoll(text, &end, 0) : (long long)strtoull(text, &end, 0);
  if (end == text || *end || (!has_sign && strchr(text, '-'))) gs_smi_wrong(kernel, name, "is not an integer");
  const int spare = 64 - 8 * (int)size;
  const unsigned long long up = (unsigned long long)value << spare;
  const long long kept = has_sign ? (long long)up >> spare : (long long)(up >> spare);
  if (errno == ERANGE || kept != value) gs_smi_wrong(kernel, name, "does not fit into the kernel's parameter");
  return value;
}

static void gs_smi_file(char* out, const char* from, size_t size) {
  char rank[16];
  snprintf(rank, sizeof rank, "%d", SMI_Comm_rank(SMI_COMM_WORLD));
  size_t at = 0;
  for (size_t i = 0; i < size && at < 4000; i++) {
    if (from[i] == '{' && i + 1 < size && from[i + 1] == '}') {
      at += (size_t)sprintf(out + at, "%s", rank);
      i++;
    } else {
      out[at++] = from[i];
    }
  }
  out[at] = 0;
}

static void* gs_smi_buffer(const char* kernel, const char* name, size_t element) {
  const char* text = gs_smi_find(kernel, name);
  const char* colon = strchr(text, ':');
  const size_t length = colon ? (size_t)(colon - text) : strlen(text);
  struct gs_smi_buffer* buffer = calloc(1, sizeof *buffer);
  char* end;
  const unsigned long long zeros = strtoull(text, &end, 10);
  if (end == text + length && length) {
    buffer->size = zeros * element;
    buffer->data = zeros < SIZE_MAX ? calloc(zeros + 1, element) : NULL;
    if (!buffer->data) gs_smi_wrong(kernel, name, "has more elements than fit into memory");
  } else {
    char file[4096];
    gs_smi_file(file, text, length);
    FILE* in = fopen(file, "rb");
    if (!in || fseek(in, 0, SEEK_END)) gs_smi_wrong(kernel, name, "is neither a number nor a file that can be read");
    buffer->size = (size_t)ftell(in);
    rewind(in);
    buffer->data = malloc(buffer->size + 1);
    if (fread(buffer->data, 1, buffer->size, in) != buffer->size) gs_smi_wrong(kernel, name, "cannot be read");
    fclose(in);
  }
  if (colon) gs_smi_file(buffer->file, colon + 1, strlen(colon + 1));
  buffer->next = gs_smi_buffers;
  gs_smi_buffers = buffer;
  return buffer->data;
}

static void gs_smi_write(void) {
  for (struct gs_smi_buffer* one = gs_smi_buffers; one; one = one->next) {
    if (!one->file[0]) continue;
    FILE* out = fopen(one->file, "wb");
    if (!out || fwrite(one->data, 1, one->size, out) != one->size || fclose(out)) {
      fprintf(stderr, "gossamer: error: %s: cannot be written\n", one->file);
      exit(GS_EXIT_INPUT);
    }
  }
}

#endif
