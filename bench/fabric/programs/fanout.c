// SPDX-License-Identifier: Apache-2.0
// Fan-out: one thread of each board sends messages that all threads of the board get: by a mask to each tile in turn,
// or, with KEY, one message to a key of the board's multicast router, in a cluster. The thread writes the records.
#include "bench.h"

#ifndef COUNT
#define COUNT 32
#endif
#ifndef FLITS
#define FLITS 1
#endif

#ifdef KEY
/// Writes a record for each tile, two a beat, and gives their key. Layouts: route_beat, route_tile, route_key.
static uint32_t table(void) {
  volatile uint32_t* beat = (volatile uint32_t*)TinselPOLiteProgRouterBase;
  const uint64_t mask = GS_THREADS_PER_TILE == 64 ? ~0ull : (1ull << (GS_THREADS_PER_TILE & 63)) - 1;
  for (uint32_t tile = 0; tile < GS_TILES; beat += 8) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < 8; ++i) beat[i] = 0;
    for (; count < 2 && tile < GS_TILES; ++count, ++tile) {
      const uint64_t kind = 3, y = tile / GS_MESH_WIDTH, x = tile % GS_MESH_WIDTH;
      const uint64_t places[2] = {kind << 45 | y << 41 | x << 37 | (mask & 0xFFFF) << 16, mask >> 16};
      // A place is three half-words; the first is behind the count.
      volatile uint16_t* half = (volatile uint16_t*)beat + 1 + 6 * count;
      for (uint32_t place = 0; place < 2; ++place) {
        for (uint32_t part = 0; part < 3; ++part) half[3 * place + part] = (uint16_t)(places[place] >> 16 * part);
      }
    }
    *(volatile uint16_t*)beat = (uint16_t)count;
  }
  tinselCacheFlush();
  return (TinselPOLiteProgRouterBase - TinselDRAMBase) / 32 << 5 | (GS_TILES + 1) / 2;
}
#endif

int main(void) {
  const uint32_t me = gossamerThread(), board = gossamerBoard();
  // Two slots in turn, so that the next message can be written while the last is read.
  volatile uint32_t* const slots[2] = {tinselSendSlot(), tinselSendSlotExtra()};
#ifdef KEY
  const uint32_t key = me == 0 ? table() : 0;
#else
  const uint32_t all = GS_THREADS_PER_TILE == 64 ? 0xFFFFFFFFu : (1u << (GS_THREADS_PER_TILE & 31)) - 1;
#endif
  uint32_t to_send = me == 0 ? COUNT : 0, tile = 0, expected = 0, wrong = 0;
  tinselSetLen(FLITS);
  benchMeet();
  const uint32_t start = tinselCycleCount();
  while (to_send || expected < COUNT) {
    const uint32_t events = benchWait(to_send ? TINSEL_CAN_SEND | TINSEL_CAN_RECV : TINSEL_CAN_RECV);
    if (events & TINSEL_CAN_SEND) {
      volatile uint32_t* out = slots[to_send & 1];
      if (tile == 0) {
        out[0] = COUNT - to_send;
        out[1] = board;
      }
#ifdef KEY
      tinselKeySend(key, out);
      --to_send;
#else
      const uint32_t low = GS_THREADS_PER_TILE >= 32 ? 0xFFFFFFFFu : all;
      tinselMulticast(tinselMailbox(gossamerAddress(tile * GS_THREADS_PER_TILE)), GS_THREADS_PER_TILE == 64 ? all : 0,
                      low, out);
      if (++tile == GS_TILES) {
        tile = 0;
        --to_send;
      }
#endif
    }
    if (events & TINSEL_CAN_RECV) {
      volatile uint32_t* in = tinselRecv();
      wrong |= (in[0] ^ expected) | (in[1] ^ board);
      ++expected;
      tinselFree(in);
    }
  }
  if (tinselIdle(1) == 0) wrong = 1;
  const uint32_t cycles = tinselCycleCount() - start;
  benchTell(cycles);
  return wrong != 0;
}
