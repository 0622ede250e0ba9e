// SPDX-License-Identifier: Apache-2.0
// Neighbour exchange: every thread exchanges messages with a thread of a neighbouring tile, all at once.
//
// A quarter of a tile's threads each: tiles 0-1, 2-3, ... of a row; 1-2, 3-4, ... of a row; the same of columns. So
// every neighbour has its share, and as much leaves a tile as comes in. Tiles at the rim, which have no neighbour on
// one side, exchange twice as much along the rim.
#include "bench.h"

#ifndef COUNT
#define COUNT 256
#endif
#ifndef FLITS
#define FLITS GS_MAX_FLITS
#endif
#define HEIGHT (GS_TILES / GS_MESH_WIDTH)

/// The tile that a place exchanges with along one side: `odd` pairs 1-2, 3-4, ...; itself if it has none.
static uint32_t pair(uint32_t place, uint32_t length, uint32_t odd) {
  const uint32_t other = ((place + odd) ^ 1) - odd;
  return other < length ? other : place;
}

int main(void) {
  const uint32_t me = gossamerThread();
  const uint32_t tile = me / GS_THREADS_PER_TILE, quarter = me % 4;
  const uint32_t x = tile % GS_MESH_WIDTH, y = tile / GS_MESH_WIDTH;
  const uint32_t odd = quarter >> 1;
  uint32_t other_x = x, other_y = y;
  if (quarter & 1) {
    other_y = pair(y, HEIGHT, odd);
    if (other_y == y) other_x = pair(x, GS_MESH_WIDTH, 0);
  } else {
    other_x = pair(x, GS_MESH_WIDTH, odd);
    if (other_x == x) other_y = pair(y, HEIGHT, 0);
  }
  const uint32_t other = other_y * GS_MESH_WIDTH + other_x;
  const uint32_t partner =
      other == tile ? NOBODY : gossamerAddress(other * GS_THREADS_PER_TILE + me % GS_THREADS_PER_TILE);
  int good = 1;
  const uint32_t cycles = benchExchange(partner, COUNT, FLITS, &good);
  benchTell(cycles);
  return !good;
}
