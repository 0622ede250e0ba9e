// SPDX-License-Identifier: Apache-2.0
// Latencies of links between boards and of multicast routers, measured with the cycle counter on a row of three boards:
// one line per latency, its name and the cycles of a first and of a second round trip. config/model/timing.toml has
// the constants; tests/system/test_model_rtl.py compares.
//
//   local, mesh            a message to a thread of the tile, of the last tile, and its answer
//   direct, far, cross     to a thread of the next board: first tiles, last tiles, from the first to the last
//   two                    to a thread of the board after the next one
//   key_...                a message by key, and the same answer. The first message by a key reads its records from the
//                          DRAM, the second one from the caches of the routers.
//   meet0, meet1, meet2    a barrier whose last thread is on that board, from its wait to its release: one number
//
// A name that ends in 4 is of messages of four flits, any other of one. A round trip is from the read of the counter
// before the send to the one after the wait for the answer, since the counters of two boards differ.
#include <stdio.h>

#include "../fabric/programs/bench.h"

enum { EAST = 0, TILE = 3, ROUTER = 5 };  // a link of a board; kinds of records

static const uint32_t lanes = GS_THREADS_PER_TILE;

static volatile uint16_t* place(uint32_t beat, uint32_t at) {
  return (volatile uint16_t*)(TinselPOLiteProgRouterBase + 32 * beat) + 1 + 3 * at;
}

static uint32_t keyOf(uint32_t beat, uint32_t beats) {
  return ((TinselPOLiteProgRouterBase - TinselDRAMBase) / 32 + beat) << 5 | beats;
}

static void put(volatile uint16_t* half, uint64_t value) {
  for (uint32_t part = 0; part < 3; ++part) half[part] = (uint16_t)(value >> 16 * part);
}

/// Writes a beat with one record: to a thread of the board, with a mask.
static void tileBeat(uint32_t beat, uint32_t thread) {
  const uint64_t tile = thread / lanes, mask = 1ull << thread % lanes, kind = TILE;
  for (uint32_t i = 0; i < 16; ++i) place(beat, 0)[(int)i - 1] = i == 0;
  put(place(beat, 0), kind << 45 | tile / GS_MESH_WIDTH << 41 | tile % GS_MESH_WIDTH << 37 | (mask & 0xFFFF) << 16);
  put(place(beat, 1), mask >> 16);
}

/// Writes a beat with one record: to the router of the next board, with a key there.
static void routerBeat(uint32_t beat, uint32_t key) {
  const uint64_t kind = ROUTER, link = EAST;
  for (uint32_t i = 0; i < 16; ++i) place(beat, 0)[(int)i - 1] = i == 0;
  put(place(beat, 0), kind << 45 | link << 41 | key);
}

/// `from` of the first board sends by key, or to `to` if the key is 0; `to` of board `board` answers. Gives `from` the
/// cycles of the round trip.
static uint32_t trip(uint32_t from, uint32_t board, uint32_t to, uint32_t key, uint32_t flits) {
  const uint32_t me = gossamerThread(), here = gossamerBoard();
  const uint32_t there = gossamerAddressOn(board, to), back = gossamerAddressOn(0, from);
  uint32_t begin = 0, got, end = 0;
  tinselSetLen((int)flits);
  benchMeet();
  if (here == 0 && me == from) {
    for (volatile int i = 0; i < 100; ++i);
    if (key) {
      __asm__ volatile("csrr %0, %3\n csrw %5, %4\n csrrw %1, %6, %7\n csrr %2, %3"
                       : "=&r"(begin), "=&r"(got), "=&r"(end)
                       : "i"(GS_CSR_CYCLE), "r"(key), "i"(GS_CSR_SEND_KEY), "i"(GS_CSR_WAIT), "r"(TINSEL_CAN_RECV)
                       : "memory");
    } else {
      __asm__ volatile("csrr %0, %3\n csrw %5, %4\n csrrw %1, %6, %7\n csrr %2, %3"
                       : "=&r"(begin), "=&r"(got), "=&r"(end)
                       : "i"(GS_CSR_CYCLE), "r"(there), "i"(GS_CSR_SEND_DEST), "i"(GS_CSR_WAIT), "r"(TINSEL_CAN_RECV)
                       : "memory");
    }
    tinselFree(tinselRecv());
  } else if (here == board && me == to) {
    __asm__ volatile("csrrw %0, %1, %2\n csrw %3, %4"
                     : "=&r"(got)
                     : "i"(GS_CSR_WAIT), "r"(TINSEL_CAN_RECV), "i"(GS_CSR_SEND_DEST), "r"(back)
                     : "memory");
    tinselFree(tinselRecv());
  }
  benchMeet();
  return end - begin;
}

/// Barriers whose last thread is `me` of board `board`: its cycles from the wait to the release.
static uint32_t meet(uint32_t board) {
  uint32_t before, got, after;
  if (gossamerThread() == 0 && gossamerBoard() == board) {
    for (volatile int i = 0; i < 400; ++i);
  }
  __asm__ volatile("csrr %0, %3\n csrrw %1, %4, %5\n csrr %2, %3"
                   : "=&r"(before), "=&r"(got), "=&r"(after)
                   : "i"(GS_CSR_CYCLE), "i"(GS_CSR_IDLE), "r"(0)
                   : "memory");
  return after - before;
}

static void told(const char* name, uint32_t from, uint32_t board, uint32_t to, uint32_t key, uint32_t flits) {
  const uint32_t cold = trip(from, board, to, key, flits), warm = trip(from, board, to, key, flits);
  if (gossamerBoard() == 0 && gossamerThread() == from) printf("%s %d %d\n", name, (int)cold, (int)warm);
}

int main(void) {
  const uint32_t last = (GS_TILES - 1) * lanes;
  volatile uint32_t* const out = tinselSendSlot();
  GS_CSR_WRITE(GS_CSR_SEND_SLOT, (uintptr_t)out);
  if (gossamerThread() == 0) {
    tileBeat(0, 1);
    tileBeat(1, last);
    tileBeat(2, 0);
    routerBeat(3, keyOf(2, 1));
    tileBeat(4, last);
    routerBeat(5, keyOf(4, 1));
    routerBeat(6, keyOf(3, 1));
    tinselCacheFlush();
  }
  benchMeet();
  told("local", 0, 0, 1, 0, 1);
  told("mesh", 0, 0, last, 0, 1);
  told("direct", 0, 1, 0, 0, 1);
  told("direct4", 0, 1, 0, 0, 4);
  told("far", last, 1, last, 0, 1);
  told("cross", 0, 1, last, 0, 1);
  told("two", 0, 2, 0, 0, 1);
  told("two4", 0, 2, 0, 0, 4);
  told("key_two", 0, 2, 0, keyOf(6, 1), 1);
  told("mesh4", 0, 0, last, 0, 4);
  for (uint32_t board = 0; board < GS_BOARDS_WIDTH * GS_BOARDS_HEIGHT; ++board) {
    uint32_t cycles = 0;
    for (int i = 0; i < 2; ++i) cycles = meet(board);
    if (gossamerBoard() == board && gossamerThread() == 0) printf("meet%d %d\n", (int)board, (int)cycles);
  }
  told("key_local", 0, 0, 1, keyOf(0, 1), 1);
  told("key_mesh", 0, 0, last, keyOf(1, 1), 1);
  told("key_direct", 0, 1, 0, keyOf(3, 1), 1);
  told("key_cross", 0, 1, last, keyOf(5, 1), 1);
  return 0;
}
