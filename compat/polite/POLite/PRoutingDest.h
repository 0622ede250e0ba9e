// SPDX-License-Identifier: Apache-2.0
/// Destinations of a message's copies, for tables of multicast routers.
#pragma once

#include <config.h>
#include <gossamer/device_config.h>
#include <stdint.h>

/// Kind of a destination: one thread with a 32-bit key, or threads of a mailbox with a 16-bit key.
enum PRoutingDestKind { PRDestKindURM1, PRDestKindMRM };

struct PRoutingDestURM1 {
  uint16_t threadId;  ///< within the mailbox
  uint32_t key;       ///< the first word of the message as received
};

struct PRoutingDestMRM {
  uint32_t threadMaskLow;
  uint32_t threadMaskHigh;
  uint16_t key;  ///< the first half-word of the message as received
};

struct PRoutingDest {
  PRoutingDestKind kind;
  uint32_t mbox;  ///< a thread's address without the thread: >> TinselLogThreadsPerMailbox
  union {
    PRoutingDestURM1 urm1;
    PRoutingDestMRM mrm;
  };
};

/// Fields of a mailbox's address: its board, the board's column and row, the mailbox's column and row on the board.
inline uint32_t destBoard(uint32_t mbox) { return mbox >> (TinselMailboxMeshXBits + TinselMailboxMeshYBits); }
inline uint32_t destX(uint32_t mbox) { return destBoard(mbox) % GS_BOARDS_WIDTH; }
inline uint32_t destY(uint32_t mbox) { return destBoard(mbox) / GS_BOARDS_WIDTH; }
inline uint32_t destMboxX(uint32_t mbox) { return mbox & ((1u << TinselMailboxMeshXBits) - 1); }
inline uint32_t destMboxY(uint32_t mbox) {
  return mbox >> TinselMailboxMeshXBits & ((1u << TinselMailboxMeshYBits) - 1);
}
