// SPDX-License-Identifier: Apache-2.0
/// The transport between processes of this machine: one multi-writer queue in shared memory for each rank.
//
// The command creates the memory and starts each rank with GSMPI_RANK, GSMPI_SIZE and GSMPI_FD in its environment. An
// idle rank sleeps. The last rank to fall asleep detects deadlock: all ranks sleep, all queues are empty, and no rank
// woke during the check.

#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "transport.h"

enum { kSlots = 256, kAhead = 8, kSpins = 64 };

/// States of a rank, which the command reads; python/gossamer/mpi/_host.py has the same numbers.
enum { kAwake, kAsleep, kFinalized, kEnded };

typedef struct {
  _Alignas(64) _Atomic uint32_t state;
  _Atomic uint32_t joined;
  _Alignas(64) _Atomic uint32_t tail;  // index of the next slot that a sender claims
  _Alignas(64) _Atomic uint32_t head;  // index of the next slot that the rank reads
} Inbox;

typedef struct {
  _Atomic uint32_t sequence;  // minus the slot's index, so that zeroed memory is valid
  uint32_t spare[3];
  Packet packet;
} Slot;

typedef struct {
  _Atomic uint32_t deadlock, wakes;
  Inbox inboxes[];
} Shared;

static Shared* shared;
static Slot* slots;  // kSlots for each rank
static int me, ranks;
static uint64_t shuffle_state;  // 0: packets are received in order; tests shuffle them
static Packet reordered[kAhead];
static int reordered_count;

static size_t inboxes_bytes(int count) { return (sizeof(Shared) + (size_t)count * sizeof(Inbox) + 4095) / 4096 * 4096; }

static long futex(_Atomic uint32_t* word, int operation, uint32_t value) {
  return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

bool transport_join(int* rank, int* size) {
  const char *rank_text = getenv("GSMPI_RANK"), *size_text = getenv("GSMPI_SIZE"), *file_text = getenv("GSMPI_FD");
  if (!rank_text || !size_text || !file_text) return false;
  *rank = me = atoi(rank_text);
  *size = ranks = atoi(size_text);
  const char* seed = getenv("GSMPI_SHUFFLE");
  if (seed && strtoull(seed, NULL, 10))
    shuffle_state = (strtoull(seed, NULL, 10) + (uint64_t)me) * 0x9E3779B97F4A7C15u | 1;
  const int file = atoi(file_text);
  const size_t bytes = inboxes_bytes(ranks) + (size_t)ranks * kSlots * sizeof(Slot);
  if (ftruncate(file, (off_t)bytes)) return false;
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return false;
  shared = (Shared*)memory;
  slots = (Slot*)(memory + inboxes_bytes(ranks));
  atomic_store(&shared->inboxes[me].joined, 1);
  return true;
}

uint32_t transport_address(int rank) { return (uint32_t)rank; }

// ---------------------------------------------------------------------- packets

Packet* transport_begin(const Peer* peer) {
  Inbox* inbox = &shared->inboxes[peer->address];
  Slot* queue = slots + (size_t)peer->address * kSlots;
  uint32_t at = atomic_load_explicit(&inbox->tail, memory_order_relaxed);
  for (;;) {
    Slot* slot = &queue[at % kSlots];
    const uint32_t sequence = atomic_load_explicit(&slot->sequence, memory_order_acquire) + at % kSlots;
    if ((int32_t)(sequence - at) < 0) return NULL;
    if (sequence != at)
      at = atomic_load_explicit(&inbox->tail, memory_order_relaxed);
    else if (atomic_compare_exchange_weak(&inbox->tail, &at, at + 1))
      return &slot->packet;
  }
}

static void wake(Inbox* inbox) {
  uint32_t asleep = kAsleep;
  if (!atomic_compare_exchange_strong(&inbox->state, &asleep, kAwake)) return;
  atomic_fetch_add(&shared->wakes, 1);
  futex(&inbox->state, FUTEX_WAKE, 1);
}

void transport_send(const Peer* peer, Packet* packet, uint32_t bytes) {
  (void)bytes;
  Slot* slot = (Slot*)((char*)packet - offsetof(Slot, packet));
  atomic_fetch_add(&slot->sequence, 1);
  Inbox* inbox = &shared->inboxes[peer->address];
  if (atomic_load(&inbox->state) == kAsleep) wake(inbox);
}

static Slot* next_slot(void) {
  const uint32_t at = atomic_load_explicit(&shared->inboxes[me].head, memory_order_relaxed);
  Slot* slot = &slots[(size_t)me * kSlots + at % kSlots];
  const uint32_t sequence = atomic_load_explicit(&slot->sequence, memory_order_acquire) + at % kSlots;
  return sequence == at + 1 ? slot : NULL;
}

static void consume(Slot* slot) {
  atomic_fetch_add(&slot->sequence, kSlots - 1);
  atomic_fetch_add(&shared->inboxes[me].head, 1);
}

static uint32_t random_bits(void) {
  shuffle_state ^= shuffle_state << 13;
  shuffle_state ^= shuffle_state >> 7;
  shuffle_state ^= shuffle_state << 17;
  return (uint32_t)(shuffle_state >> 32);
}

const Packet* transport_receive(void) {
  Slot* slot;
  if (likely(!shuffle_state)) return (slot = next_slot()) ? &slot->packet : NULL;
  static Packet chosen;
  for (; reordered_count < kAhead && (slot = next_slot()) != NULL; consume(slot))
    reordered[reordered_count++] = slot->packet;
  if (!reordered_count) return NULL;
  const int which = (int)(random_bits() % (uint32_t)reordered_count);
  chosen = reordered[which];
  reordered[which] = reordered[--reordered_count];
  return &chosen;
}

void transport_release(const Packet* packet) {
  if (likely(!shuffle_state)) consume((Slot*)((char*)packet - offsetof(Slot, packet)));
}

// ---------------------------------------------------------------------- sleep

static bool all_asleep(void) {
  const uint32_t wakes = atomic_load(&shared->wakes);
  for (int rank = 0; rank < ranks; ++rank) {
    Inbox* inbox = &shared->inboxes[rank];
    const uint32_t state = atomic_load(&inbox->state);
    if (state == kFinalized) continue;
    if (state != kAsleep || !atomic_load(&inbox->joined)) return false;
    if (atomic_load(&inbox->tail) != atomic_load(&inbox->head)) return false;
  }
  return atomic_load(&shared->wakes) == wakes;
}

bool transport_wait(bool sending) {
  if (sending) {
    sched_yield();
    return false;
  }
  Inbox* inbox = &shared->inboxes[me];
  for (int i = 0; i < kSpins; ++i) {
    if (reordered_count || next_slot()) return false;
    if (i > kSpins / 2) sched_yield();
  }
  atomic_store(&inbox->state, kAsleep);
  if (next_slot()) {
    atomic_fetch_add(&shared->wakes, 1);
    atomic_store(&inbox->state, kAwake);
    return false;
  }
  if (all_asleep()) {
    atomic_store(&shared->deadlock, 1);
    for (int rank = 0; rank < ranks; ++rank) wake(&shared->inboxes[rank]);
  }
  while (atomic_load(&inbox->state) == kAsleep) futex(&inbox->state, FUTEX_WAIT, kAsleep);
  return atomic_load(&shared->deadlock) != 0;
}

void transport_leave(void) { atomic_store(&shared->inboxes[me].state, kFinalized); }

void transport_end(int code) {
  int rank, size;
  fflush(NULL);
  if (shared || transport_join(&rank, &size)) atomic_store(&shared->inboxes[me].state, kEnded);
  _exit(code);
}

void transport_stop(int code) { transport_end(code); }

static int load_address(struct dl_phdr_info* info, size_t size, void* to) {
  (void)size;
  *(uintptr_t*)to = info->dlpi_addr;
  return 1;  // the first is the program itself
}

/// The command reads lines with the offset of the call in the program's file from a pipe
/// (python/gossamer/mpi/_host.py).
void transport_print(const void* caller, const char* text) {
  const char* pipe = getenv("GSMPI_MESSAGES");
  char line[MPI_MAX_ERROR_STRING + 64];
  if (!pipe) {
    fprintf(stderr, "mpi: %s\n", text);
    return;
  }
  uintptr_t base = 0;
  dl_iterate_phdr(load_address, &base);
  const int length = snprintf(line, sizeof line, "@%zx %s\n", caller ? (uintptr_t)caller - base : 0, text);
  const size_t bytes = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
  line[bytes - 1] = '\n';
  while (write(atoi(pipe), line, bytes) < 0 && errno == EINTR) {
  }
}

void transport_host(char* name, size_t size) {
  if (gethostname(name, size)) snprintf(name, size, "localhost");
  name[size - 1] = 0;
}

double transport_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double transport_tick(void) {
  struct timespec tick;
  clock_getres(CLOCK_MONOTONIC, &tick);
  return (double)tick.tv_sec + 1e-9 * (double)tick.tv_nsec;
}

/// Line-buffers standard output, so that lines of different ranks do not mix.
__attribute__((constructor)) static void line_buffer_stdout(void) { setvbuf(stdout, NULL, _IOLBF, 0); }
