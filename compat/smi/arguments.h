/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the kernels of a .cl file without a host program. The command has checked them
   (python/gossamer/smi/_arguments.py, which describes the words), and passes them to each rank. */
#ifndef GOSSAMER_SMI_ARGUMENTS_H_
#define GOSSAMER_SMI_ARGUMENTS_H_

#include <gossamer/core/exit_codes.h>
#include <gossamer/smi/smi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gs_smi_buffer {
  const char* name;
  char* data;
  size_t size;
  const char* file; /* to which it is written, or null */
  struct gs_smi_buffer* next;
};

static char** gs_smi_words;
static struct gs_smi_buffer* gs_smi_buffers;

_Noreturn static void gs_smi_wrong(const char* name, const char* what) {
  fprintf(stderr, "gossamer: error: kernel %.*s: argument %s %s\n", (int)strcspn(name, "."), name,
          name + strcspn(name, ".") + 1, what);
  exit(GS_EXIT_INPUT);
}

/* The rest of the word that begins with a name and a mark; null without one. */
static const char* gs_smi_find(const char* name, char mark) {
  const size_t length = strlen(name);
  for (char** word = gs_smi_words + 1; *word; word++) {
    if (!strncmp(*word, name, length) && (*word)[length] == mark) return *word + length + 1;
  }
  return NULL;
}

/* The address of an argument's value, or its buffer. `name` is KERNEL.NAME. */
static void* gs_smi_argument(const char* name) {
  const char* text = gs_smi_find(name, '=');
  const char* rest = text ? strchr(text, ' ') + 1 : NULL;
  if (!text) gs_smi_wrong(name, "has no value");
  if (*text == 's') {
    for (struct gs_smi_buffer* one = gs_smi_buffers; one; one = one->next) {
      if (!strcmp(one->name, rest)) return one->data;
    }
    gs_smi_wrong(name, "shares a buffer that does not exist");
  }
  struct gs_smi_buffer* buffer = (struct gs_smi_buffer*)calloc(1, sizeof *buffer);
  buffer->name = name;
  FILE* in = NULL;
  if (*text == 'b') {
    buffer->size = strlen(rest) / 2;
  } else if (*text == 'z') {
    buffer->size = strtoull(rest, NULL, 10);
  } else {
    in = fopen(rest, "rb");
    if (!in || fseek(in, 0, SEEK_END)) gs_smi_wrong(name, "cannot be read");
    buffer->size = (size_t)ftell(in);
    rewind(in);
  }
  /* Vectors are accessed at multiples of their size, at most 128 bytes. */
  const size_t space = (buffer->size + 128) / 128 * 128;
  buffer->data = (char*)aligned_alloc(128, space);
  if (!buffer->data) gs_smi_wrong(name, "has more elements than fit into memory");
  if (in) {
    if (fread(buffer->data, 1, buffer->size, in) != buffer->size) gs_smi_wrong(name, "cannot be read");
    fclose(in);
  } else {
    memset(buffer->data, 0, buffer->size);
  }
  if (*text == 'b') {
    for (size_t i = 0; i < buffer->size; i++) {
      unsigned byte;
      sscanf(rest + 2 * i, "%2x", &byte);
      buffer->data[i] = (char)byte;
    }
  }
  buffer->file = gs_smi_find(name, '>');
  buffer->next = gs_smi_buffers;
  gs_smi_buffers = buffer;
  return buffer->data;
}

/* Writes buffers to their files, each complete or not at all. */
static void gs_smi_write(void) {
  for (struct gs_smi_buffer* one = gs_smi_buffers; one; one = one->next) {
    if (one->file && gs_smi_write_file(one->file, one->data, one->size)) {
      fprintf(stderr, "gossamer: error: %s: cannot be written\n", one->file);
      exit(GS_EXIT_INPUT);
    }
  }
}

#endif
