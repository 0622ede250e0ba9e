// SPDX-License-Identifier: Apache-2.0
/// Packets between processes of this machine, in memory that they share: a queue for each rank, into which all write.
//
// The command makes the memory, and starts each rank with GSMPI_RANK, GSMPI_SIZE and GSMPI_FD in its environment. A
// rank that has nothing to do sleeps; the one that falls asleep last sees that nobody can go on, as then all sleep and
// all queues are empty, and no one has woken while it looked.

#define _GNU_SOURCE
#include <errno.h>
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

enum { kSlots = 256, kAhead = 8, kPatience = 64 };

/// What the command reads of a rank; python/gossamer/mpi/_host.py has the same numbers.
enum { kAwake, kAsleep, kFinalized, kEnded };

typedef struct {
  _Alignas(64) _Atomic uint32_t state;
  _Atomic uint32_t joined;
  _Alignas(64) _Atomic uint32_t tail;  // next packet that a sender claims
  _Alignas(64) _Atomic uint32_t head;  // next packet that the rank takes
} Post;

typedef struct {
  _Atomic uint32_t turn;  // less the slot's number, so that it starts as 0
  uint32_t spare[3];
  Packet packet;
} Slot;

typedef struct {
  _Atomic uint32_t deadlock, wakes;
  Post posts[];
} Shared;

static Shared* shared;
static Slot* slots;  // kSlots for each rank
static int me, ranks;
static uint64_t shuffle;  // 0: packets come in order; for tests they come in any
static Packet pool[kAhead];
static int pooled;

static size_t posts_bytes(int count) { return (sizeof(Shared) + (size_t)count * sizeof(Post) + 4095) / 4096 * 4096; }

static long futex(_Atomic uint32_t* word, int operation, uint32_t value) {
  return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

bool transport_join(int* rank, int* size) {
  const char *rank_text = getenv("GSMPI_RANK"), *size_text = getenv("GSMPI_SIZE"), *file_text = getenv("GSMPI_FD");
  if (!rank_text || !size_text || !file_text) return false;
  *rank = me = atoi(rank_text);
  *size = ranks = atoi(size_text);
  const char* seed = getenv("GSMPI_SHUFFLE");
  if (seed && strtoull(seed, NULL, 10)) shuffle = (strtoull(seed, NULL, 10) + (uint64_t)me) * 0x9E3779B97F4A7C15u | 1;
  const int file = atoi(file_text);
  const size_t bytes = posts_bytes(ranks) + (size_t)ranks * kSlots * sizeof(Slot);
  if (ftruncate(file, (off_t)bytes)) return false;
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return false;
  shared = (Shared*)memory;
  slots = (Slot*)(memory + posts_bytes(ranks));
  atomic_store(&shared->posts[me].joined, 1);
  return true;
}

uint32_t transport_address(int rank) { return (uint32_t)rank; }

// ---------------------------------------------------------------------- packets

Packet* transport_begin(const Peer* peer) {
  Post* post = &shared->posts[peer->address];
  Slot* queue = slots + (size_t)peer->address * kSlots;
  uint32_t at = atomic_load_explicit(&post->tail, memory_order_relaxed);
  for (;;) {
    Slot* slot = &queue[at % kSlots];
    const uint32_t turn = atomic_load_explicit(&slot->turn, memory_order_acquire) + at % kSlots;
    if ((int32_t)(turn - at) < 0) return NULL;
    if (turn != at)
      at = atomic_load_explicit(&post->tail, memory_order_relaxed);
    else if (atomic_compare_exchange_weak(&post->tail, &at, at + 1))
      return &slot->packet;
  }
}

static void wake(Post* post) {
  uint32_t asleep = kAsleep;
  if (!atomic_compare_exchange_strong(&post->state, &asleep, kAwake)) return;
  atomic_fetch_add(&shared->wakes, 1);
  futex(&post->state, FUTEX_WAKE, 1);
}

void transport_send(const Peer* peer, Packet* packet, uint32_t bytes) {
  (void)bytes;
  Slot* slot = (Slot*)((char*)packet - offsetof(Slot, packet));
  atomic_fetch_add(&slot->turn, 1);
  Post* post = &shared->posts[peer->address];
  if (atomic_load(&post->state) == kAsleep) wake(post);
}

static Slot* next_slot(void) {
  const uint32_t at = atomic_load_explicit(&shared->posts[me].head, memory_order_relaxed);
  Slot* slot = &slots[(size_t)me * kSlots + at % kSlots];
  const uint32_t turn = atomic_load_explicit(&slot->turn, memory_order_acquire) + at % kSlots;
  return turn == at + 1 ? slot : NULL;
}

static void take_out(Slot* slot) {
  atomic_fetch_add(&slot->turn, kSlots - 1);
  atomic_fetch_add(&shared->posts[me].head, 1);
}

static uint32_t chance(void) {
  shuffle ^= shuffle << 13;
  shuffle ^= shuffle >> 7;
  shuffle ^= shuffle << 17;
  return (uint32_t)(shuffle >> 32);
}

const Packet* transport_receive(void) {
  Slot* slot;
  if (likely(!shuffle)) return (slot = next_slot()) ? &slot->packet : NULL;
  static Packet chosen;
  for (; pooled < kAhead && (slot = next_slot()) != NULL; take_out(slot)) pool[pooled++] = slot->packet;
  if (!pooled) return NULL;
  const int which = (int)(chance() % (uint32_t)pooled);
  chosen = pool[which];
  pool[which] = pool[--pooled];
  return &chosen;
}

void transport_release(const Packet* packet) {
  if (likely(!shuffle)) take_out((Slot*)((char*)packet - offsetof(Slot, packet)));
}

// ---------------------------------------------------------------------- sleep

static bool all_sleep(void) {
  const uint32_t wakes = atomic_load(&shared->wakes);
  for (int rank = 0; rank < ranks; ++rank) {
    Post* post = &shared->posts[rank];
    const uint32_t state = atomic_load(&post->state);
    if (state == kFinalized) continue;
    if (state != kAsleep || !atomic_load(&post->joined)) return false;
    if (atomic_load(&post->tail) != atomic_load(&post->head)) return false;
  }
  return atomic_load(&shared->wakes) == wakes;
}

bool transport_wait(bool sending) {
  if (sending) {
    sched_yield();
    return false;
  }
  Post* post = &shared->posts[me];
  for (int i = 0; i < kPatience; ++i) {
    if (pooled || next_slot()) return false;
    if (i > kPatience / 2) sched_yield();
  }
  atomic_store(&post->state, kAsleep);
  if (next_slot()) {
    atomic_fetch_add(&shared->wakes, 1);
    atomic_store(&post->state, kAwake);
    return false;
  }
  if (all_sleep()) {
    atomic_store(&shared->deadlock, 1);
    for (int rank = 0; rank < ranks; ++rank) wake(&shared->posts[rank]);
  }
  while (atomic_load(&post->state) == kAsleep) futex(&post->state, FUTEX_WAIT, kAsleep);
  return atomic_load(&shared->deadlock) != 0;
}

void transport_leave(void) { atomic_store(&shared->posts[me].state, kFinalized); }

void transport_end(int code) {
  int rank, size;
  fflush(NULL);
  if (shared || transport_join(&rank, &size)) atomic_store(&shared->posts[me].state, kEnded);
  _exit(code);
}

void transport_stop(int code) { transport_end(code); }

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

/// Lines of ranks do not mix.
__attribute__((constructor)) static void by_line(void) { setvbuf(stdout, NULL, _IOLBF, 0); }
