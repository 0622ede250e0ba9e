// SPDX-License-Identifier: Apache-2.0
/// Keys of multicast messages. Plain C, for Python.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Assigns a key to each message to a tile: the slot in the tables of all its receivers that holds the receiver's list
/// of edges. Consecutive messages of one sending thread get adjacent slots where possible: they are sent one after the
/// other, and lists that share a cache line are then fetched together.
///
/// Message i has the lists `first[i]` to `first[i + 1]`, at least one. A list belongs to `thread` (0 to 63) of the
/// tile, each list of a message to a different thread, and occupies `units` slots, at least one. `sender` identifies
/// the sending thread. `keys` receives the first slot of each message. Returns the size of the longest table in slots.
uint32_t gs_pack_keys(uint64_t count, const uint64_t* first, const uint32_t* sender, const uint8_t* thread,
                      const uint32_t* units, uint32_t* keys);

#ifdef __cplusplus
}
#endif
