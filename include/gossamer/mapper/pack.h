// SPDX-License-Identifier: Apache-2.0
/// Keys of multicast messages. Plain C, for Python.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Gives each message to a tile a key: a place in the tables of all its receivers where it finds its list of edges at
/// each. Messages of one sending thread get places one behind the other where they can: they come one after the other,
/// and lists that share a cache line are then fetched together.
///
/// Message i has the lists `first[i]` to `first[i + 1]`, at least one. A list is at `thread` (0 to 63) of the tile, no
/// two of a message at the same, and takes `units` places, at least one. `sender` tells sending threads apart. `places`
/// receives the first place of each message. Returns how many places the longest table has.
uint32_t gs_pack_places(uint64_t count, const uint64_t* first, const uint32_t* sender, const uint8_t* thread,
                        const uint32_t* units, uint32_t* places);

#ifdef __cplusplus
}
#endif
