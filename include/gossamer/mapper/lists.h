// SPDX-License-Identifier: Apache-2.0
/// Edges by receiver, and the messages that refer to them: the tables of one board at a time. Plain C, for Python.
///
/// Results are independent of the number of processors. Functions return 0, -1 with a message in gs_last_error(), or -2
/// if a signal interrupted them.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The edges of a pin by source. Vertex v has the edges `offsets[v]` to `offsets[v + 1]`.
struct gs_map_relation {
  const uint64_t* offsets;
  const uint32_t* targets;
  const uint8_t* values;  // of each edge `value_bytes`, or NULL
  uint64_t value_bytes;
  uint32_t pin;
};

/// A mapped problem. A slot is a vertex and a pin; slots are numbered thread by thread in the order of vertices.
struct gs_map_mapped {
  uint64_t vertices;
  const uint32_t* order;   // vertices sorted by thread
  const uint64_t* begins;  // of each thread, the number of vertices of earlier threads; one more for the end
  const uint32_t* thread;  // of each vertex
  const uint32_t* local;   // of each vertex: its number in its thread
  const struct gs_map_relation* relations;
  uint32_t relation_count, pins;
  uint32_t threads, tile_threads;  // of the machine, of a tile
  // The softswitch's layout, in bytes
  uint32_t state, offset, edge, value, list, unit;
  uint32_t copied;      // bytes of a value that an edge contains
  const uint8_t* none;  // the value of edges of relations without values
  uint32_t multicast;   // 1: a message for each tile, 0: for each thread
  uint32_t names;       // without multicast: a message for a single vertex names it, and has no list
};

/// What the threads of a block of tiles receive.
struct gs_map_lists {
  uint64_t messages;
  const uint32_t* slot;    // of the sender; messages are sorted by tile, then by slot
  const uint32_t* to;      // the tile, or the thread
  const uint32_t* place;   // with multicast the offset in the tables by key, else in the thread's lists or vertex + 1
  const uint64_t* mask;    // with multicast of the tile's threads, else 1 if `place` names a vertex
  const uint64_t* starts;  // of each thread's lists in `data`; one more for the end
  const uint8_t* data;
  const uint32_t* own;       // of each slot of the block's threads: bytes of its edges to its own thread
  const uint8_t* edges;      // these edges, one slot after the other
  const uint64_t* received;  // edges of each thread of the block
  uint64_t longest;          // bytes of the edges of the longest list
  uint64_t owned;            // bytes of `edges`
};

/// Makes the lists of the threads `first` to `first + count - 1`, whole tiles. `threads` 0: one per core.
int gs_map_lists_make(const struct gs_map_mapped* mapped, uint32_t first, uint32_t count, int threads,
                      struct gs_map_lists** made);
void gs_map_lists_free(struct gs_map_lists* lists);

/// Copies `count` rows of `width` bytes to the positions `at` of `data`.
void gs_map_put(uint8_t* data, uint64_t count, uint64_t width, const int64_t* at, const uint8_t* rows);

/// Counts edges: `between[a][b]` from board a to board b, `tiles` between tiles of a board, `others` between threads of
/// a tile, and `work[thread]`, the ends of edges at each thread.
int gs_map_cut(const struct gs_map_mapped* mapped, uint32_t boards, int threads, uint64_t* between, uint64_t* tiles,
               uint64_t* others, uint64_t* work);

#ifdef __cplusplus
}
#endif
