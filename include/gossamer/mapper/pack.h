// SPDX-License-Identifier: Apache-2.0
/// Keys of multicast messages. Plain C, for Python.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Gives each message a key: an index that is free in the tables of all its receivers. Messages with masks that do
/// not meet may share one. First fit keeps tables short: a thread's table ends with the greatest key that reaches it.
///
/// `masks` are the receivers of `count` messages, threads of one tile, none of them 0; `keys` receives the keys.
/// Returns the number of keys in use. First fit looks at no more than 4,096 keys that still have room.
uint32_t gs_pack_keys(const uint64_t* masks, uint64_t count, uint32_t* keys);

#ifdef __cplusplus
}
#endif
