// SPDX-License-Identifier: Apache-2.0
/// Multicast trees over the channels between boards, with as few links as a heuristic finds. Plain C, for Python.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The channels of all links: a channel is (board * links + link) * vcs + vc and leads away from its board.
struct gs_map_channels {
  uint32_t boards;
  uint32_t links;        ///< of a board
  uint32_t vcs;          ///< virtual channels of a link
  const int32_t* far;    ///< [board][link]: the board at the other end; -1: there is none
  const int32_t* order;  ///< [channel]: a copy may go on from a channel to one of higher order alone
};

/// Places of trees, behind each other and parents first: tree t has those from first[t] to first[t + 1]. The first of
/// a tree is its source.
struct gs_map_trees {
  const uint64_t* first;
  const uint32_t* board;
  const int32_t* parent;   ///< within the tree; -1 at its source
  const int32_t* channel;  ///< that leads to the place; -1 at its source
  const int32_t* ends;     ///< [tree][board]: the place where a copy for this board leaves the tree; -1: none does
};

/// Makes a tree for each of `trees` sources to the boards for which `wanted` ([tree][board]) is not 0; no channel is
/// taken twice in one, and no copy returns over the link that it came by. Of `tries` attempts each, of which
/// one begins with what the last good one left, the smallest is kept. The result does not depend on `threads` (0: one a
/// core). Fails where a board cannot be reached: gives 0, -1 with a message in gs_last_error(), or -2 where a signal
/// has ended it. Freed with gs_map_trees_free.
int gs_map_trees_make(const struct gs_map_channels* channels, uint64_t trees, const uint32_t* sources,
                      const uint8_t* wanted, uint32_t tries, int threads, struct gs_map_trees** made);

void gs_map_trees_free(struct gs_map_trees* trees);

#ifdef __cplusplus
}
#endif
