// SPDX-License-Identifier: Apache-2.0
/// Where copies of a message go, as tables of multicast routers are made from.
#pragma once

#include <config.h>
#include <gossamer/device_config.h>
#include <stdint.h>

/// What a destination is: one thread with a key of 32 bits, or threads of a mailbox with a key of 16.
enum PRoutingDestKind { PRDestKindURM1, PRDestKindMRM };

struct PRoutingDestURM1 {
  uint16_t threadId;  ///< of the mailbox
  uint32_t key;       ///< the message's first word where it arrives
};

struct PRoutingDestMRM {
  uint32_t threadMaskLow;
  uint32_t threadMaskHigh;
  uint16_t key;  ///< the message's first half-word where it arrives
};

struct PRoutingDest {
  PRoutingDestKind kind;
  uint32_t mbox;  ///< a thread's address without the thread: >> TinselLogThreadsPerMailbox
  union {
    PRoutingDestURM1 urm1;
    PRoutingDestMRM mrm;
  };
};

/// The parts of a mailbox's address: its board, column and row of that, column and row on the board.
inline uint32_t destBoard(uint32_t mbox) { return mbox >> (TinselMailboxMeshXBits + TinselMailboxMeshYBits); }
inline uint32_t destX(uint32_t mbox) { return destBoard(mbox) % GS_BOARDS_WIDTH; }
inline uint32_t destY(uint32_t mbox) { return destBoard(mbox) / GS_BOARDS_WIDTH; }
inline uint32_t destMboxX(uint32_t mbox) { return mbox & ((1u << TinselMailboxMeshXBits) - 1); }
inline uint32_t destMboxY(uint32_t mbox) {
  return mbox >> TinselMailboxMeshXBits & ((1u << TinselMailboxMeshYBits) - 1);
}
