// SPDX-License-Identifier: Apache-2.0
// Latencies of messages, barriers and starts that the RTL fixes, measured with the cycle counter: one line per latency,
// its name and cycles. All threads of one board of 2 or 2 x 2 tiles run it. config/model/timing.toml holds the values;
// tests/system/test_model_rtl.py compares. `release` and `starts` are those of all threads of a tile; `release` is
// valid for cores of at most 8 threads, which do not wait for each other to issue.
//
// The counter is read in the instructions before and after the measured ones, so a time is from the issue of a read to
// the issue of the next: the latency of a read (`control`), and of what is measured.
#include <gossamer/reduce.h>
#include <stdio.h>

#include "../fabric/programs/bench.h"

static const uint32_t tile = GS_THREADS_PER_TILE;
static volatile uint32_t* out;

enum { SLOWER = 3 * 8 };  // cycles of three instructions

static void line(const char* name, uint32_t cycles) { printf("%s %d\n", name, (int)cycles); }

/// A barrier whose last thread is thread 0: the cycles at which a thread begins to wait and at which it is released.
/// With `words` each thread contributes two words. The thread reads the second `lane` iterations of three instructions
/// after its release: threads that read in the same cycle would wait for each other at the control unit.
static void meet(uint32_t lane, int words, uint32_t* before, uint32_t* after) {
  uint32_t got;
  if (words) gsReduceSum(0, 1), gsReduceSum(1, 1);
  if (gossamerThread() == 0) {
    for (volatile int i = 0; i < 200; ++i);
  }
  __asm__ volatile("csrr %0, %4\n csrrw %1, %5, %6\n 1: beqz %3, 2f\n addi %3, %3, -1\n j 1b\n 2: csrr %2, %4"
                   : "=&r"(*before), "=&r"(got), "=&r"(*after), "+&r"(lane)
                   : "i"(GS_CSR_CYCLE), "i"(GS_CSR_IDLE), "r"(1)
                   : "memory");
}

/// Thread 0 sends `flits` flits to a thread that waits for them, which returns the cycles until it continues.
static uint32_t pass(uint32_t me, uint32_t to, uint32_t flits) {
  uint32_t found = 0, sent, got, woke;
  tinselSetLen((int)flits);
  const uint32_t destination = gossamerAddress(to);
  benchMeet();
  if (me == 0) {
    for (volatile int i = 0; i < 50; ++i);
    __asm__ volatile("csrr %0, %1\n csrw %2, %3"
                     : "=&r"(sent)
                     : "i"(GS_CSR_CYCLE), "i"(GS_CSR_SEND_DEST), "r"(destination)
                     : "memory");
    benchWait(TINSEL_CAN_SEND);
    out[0] = sent;
    GS_CSR_WRITE(GS_CSR_SEND_DEST, destination);
  } else if (me == to) {
    __asm__ volatile("csrrw %0, %2, %3\n csrr %1, %4"
                     : "=&r"(got), "=&r"(woke)
                     : "i"(GS_CSR_WAIT), "r"(TINSEL_CAN_RECV), "i"(GS_CSR_CYCLE)
                     : "memory");
    tinselFree(tinselRecv());
    benchWait(TINSEL_CAN_RECV);
    volatile uint32_t* in = tinselRecv();
    found = woke - in[0];
    tinselFree(in);
  }
  benchMeet();
  return found;
}

static void told(const char* name, uint32_t me, uint32_t to, uint32_t flits) {
  pass(me, to, flits);  // what it reads is in the cache afterwards
  const uint32_t found = pass(me, to, flits);
  if (me == to) line(name, found);
}

int main(void) {
  uint32_t first;
  __asm__ volatile("csrr %0, %1" : "=r"(first) : "i"(GS_CSR_CYCLE));
  const uint32_t me = gossamerThread(), all = gossamerThreads();
  out = tinselSendSlot();
  GS_CSR_WRITE(GS_CSR_SEND_SLOT, (uintptr_t)out);
  uint32_t before, after;
  for (uint32_t i = 0; i < 2; ++i) meet(me % tile, 1, &before, &after);
  if (me == 0) line("words", after - before);
  for (uint32_t i = 0; i < 2; ++i) meet(me % tile, 0, &before, &after);
  out[0] = me, out[1] = after, out[2] = first;
  tinselSetLen(1);
  if (me == 0) {
    const uint32_t released = after - before;
    uint32_t last = released, started = 0;
    for (uint32_t left = all - 1; left; --left) {
      benchWait(TINSEL_CAN_RECV);
      volatile uint32_t* in = tinselRecv();
      const uint32_t lane = in[0], its = in[1] - before - lane * SLOWER, start = in[2] - first;
      if (lane < tile && (int)(its - last) > 0) last = its;
      if (lane < tile && (int)(start - started) > 0) started = start;
      tinselFree(in);
    }
    line("detect", released);
    line("release", last - released);
    line("starts", started);
  } else {
    GS_CSR_WRITE(GS_CSR_SEND_DEST, gossamerAddress(0));
  }
  benchMeet();
  told("local1", me, 1, 1);
  told("local4", me, 1, 4);
  told("mesh1", me, tile, 1);
  told("mesh4", me, tile, 4);
  if (all > 2 * tile) told("far1", me, 3 * tile, 1);
  // Whether a thread may send again by the time its next instruction asks.
  tinselSetLen(4);
  if (me == 0) {
    uint32_t can;
    __asm__ volatile("csrw %1, %2\n csrr %0, %3"
                     : "=&r"(can)
                     : "i"(GS_CSR_SEND_DEST), "r"(gossamerAddress(1)), "i"(GS_CSR_CAN_SEND)
                     : "memory");
    line("can_send", can);
  } else if (me == 1) {
    benchWait(TINSEL_CAN_RECV);
    tinselFree(tinselRecv());
  }
  benchMeet();
  return 0;
}
