// SPDX-License-Identifier: Apache-2.0
/// Multicast trees over the channels between boards, which a heuristic makes small. Plain C, for Python.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The channels of all links: channel (board * links + link) * vcs + vc leaves that board.
struct gs_map_channels {
  uint32_t boards;
  uint32_t links;        ///< per board
  uint32_t vcs;          ///< virtual channels per link
  const int32_t* far;    ///< [board][link]: the board at the other end; -1: no cable
  const int32_t* order;  ///< [channel]: a copy may continue only on a channel of higher order
};

/// Nodes of trees, tree after tree and parents first: tree t has the nodes first[t] to first[t + 1]. The first node of
/// a tree is its source.
struct gs_map_trees {
  const uint64_t* first;
  const uint32_t* board;
  const int32_t* parent;   ///< within the tree; -1 for the source
  const int32_t* channel;  ///< that leads to the node; -1 for the source
  const int32_t* ends;     ///< [tree][board]: the node where the copy for this board leaves the tree; -1: none
};

/// Makes a tree for each of `trees` sources to the boards for which `wanted` ([tree][board]) is not 0. A tree uses no
/// channel twice, and no copy returns over the link on which it arrived. Each tree is the smallest of `tries` attempts;
/// every attempt after the first modifies the best one so far. The result is independent of `threads` (0: one per
/// core). Returns 0, -1 with a message in gs_last_error() if a board cannot be reached, or -2 if a signal interrupted
/// it. Free the result with gs_map_trees_free.
int gs_map_trees_make(const struct gs_map_channels* channels, uint64_t trees, const uint32_t* sources,
                      const uint8_t* wanted, uint32_t tries, int threads, struct gs_map_trees** made);

void gs_map_trees_free(struct gs_map_trees* trees);

#ifdef __cplusplus
}
#endif
