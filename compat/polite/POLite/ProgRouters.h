// SPDX-License-Identifier: Apache-2.0
/// Tables of the boards' multicast routers, written by hosts: ProgRouter for one board, ProgRouterMesh for all.
/// docs/hostlink.md explains each call.
#pragma once

#include <HostLink.h>
#include <POLite/PRoutingDest.h>
#include <POLite/Seq.h>
#include <config.h>
#include <gossamer/host/routers.h>
#include <gossamer/host/vertices.h>
#include <stdint.h>
#include <string.h>

#include <string>
#include <vector>

/// The table of one board. Records are added one by one; genKey() returns the key of the records since its last call.
class ProgRouter {
 public:
  explicit ProgRouter(gossamer::host::RouterTable& table) : table_(table) {}

  /// The key of the records that were added since the last call.
  uint32_t genKey() { return table_.key("ProgRouter::genKey"); }

  /// Adds a copy to threads of a mailbox of this board.
  void addMRM(uint32_t mboxX, uint32_t mboxY, uint32_t threadsHigh, uint32_t threadsLow, uint16_t key) {
    gossamer::host::RouterDest to;
    to.tile_x = mboxX;
    to.tile_y = mboxY;
    to.mask = uint64_t{threadsHigh} << 32 | threadsLow;
    to.key = key;
    if (to.mask) table_.add("ProgRouter::addMRM", to);
  }

  /// Adds a copy to one thread of a mailbox of this board.
  void addURM1(uint32_t mboxX, uint32_t mboxY, uint32_t threadId, uint32_t key) {
    gossamer::host::RouterDest to;
    to.tile_x = mboxX;
    to.tile_y = mboxY;
    to.thread = threadId;
    to.key = key;
    table_.add("ProgRouter::addURM1", to);
  }

  /// Adds a copy to the router of a neighbouring board, with a key of that board. 0 north (the next row), 1 south, 2
  /// east (the next column), 3 west.
  void addRR(uint32_t dir, uint32_t key) {
    const char* call = "ProgRouter::addRR";
    table_.add(call, gossamer::host::RouterTables::neighbour(call, table_.board(), dir), key);
  }

  /// Adds an indirection to the records of another key, which setIND sets later. It must be the last record of its key.
  uint8_t* addIND() { return table_.indirect("ProgRouter::addIND"); }
  void setIND(uint8_t* ind, uint32_t key) { memcpy(ind, &key, sizeof key); }

 private:
  gossamer::host::RouterTable& table_;
};

/// The tables of all boards: table[y][x].
class ProgRouterMesh {
 public:
  const uint32_t numBoardsX;
  const uint32_t numBoardsY;
  ProgRouter** table;

  ProgRouterMesh(uint32_t boardsX, uint32_t boardsY)
      : numBoardsX(boardsX), numBoardsY(boardsY), tables_("ProgRouterMesh", boardsX, boardsY) {
    routers_.reserve(size_t{GS_BOARDS_WIDTH} * GS_BOARDS_HEIGHT);
    for (uint32_t y = 0; y < GS_BOARDS_HEIGHT; ++y) {
      for (uint32_t x = 0; x < GS_BOARDS_WIDTH; ++x) routers_.emplace_back(tables_.at(y * GS_BOARDS_WIDTH + x));
      rows_.push_back(&routers_[size_t{y} * GS_BOARDS_WIDTH]);
    }
    table = rows_.data();
  }
  ProgRouterMesh(const ProgRouterMesh&) = delete;
  ProgRouterMesh& operator=(const ProgRouterMesh&) = delete;

  /// Returns a key with which a message of a thread on a board reaches all these destinations.
  uint32_t addDestsFromBoardXY(uint32_t senderX, uint32_t senderY, Seq<PRoutingDest>* dests) {
    const char* call = "ProgRouterMesh::addDestsFromBoardXY";
    std::vector<gossamer::host::RouterDest> to;
    to.reserve(static_cast<size_t>(dests->numElems));
    for (int i = 0; i < dests->numElems; ++i) {
      const PRoutingDest& dest = dests->elems[i];
      gossamer::host::RouterDest& one = to.emplace_back();
      one.board = destBoard(dest.mbox);
      one.tile_x = destMboxX(dest.mbox);
      one.tile_y = destMboxY(dest.mbox);
      if (dest.kind == PRDestKindMRM) {
        one.mask = uint64_t{dest.mrm.threadMaskHigh} << 32 | dest.mrm.threadMaskLow;
        one.key = dest.mrm.key;
        if (!one.mask) to.pop_back();
      } else {
        one.thread = dest.urm1.threadId;
        one.key = dest.urm1.key;
      }
    }
    if (senderX >= numBoardsX || senderY >= numBoardsY) {
      gossamer::host::reject_call(call, "there is no board " + std::to_string(senderX) + "," + std::to_string(senderY) +
                                       "; there are boards 0,0 to " + std::to_string(numBoardsX - 1) + "," +
                                       std::to_string(numBoardsY - 1));
    }
    return tables_.multicast_key(call, senderY * GS_BOARDS_WIDTH + senderX, to);
  }

  /// The same for the board of a mailbox.
  uint32_t addDestsFromBoard(uint32_t mbox, Seq<PRoutingDest>* dests) {
    return addDestsFromBoardXY(destX(mbox), destY(mbox), dests);
  }

  /// Writes the tables to the boards' memories; call it before the first message by key. If trees could deadlock, ends
  /// the program and writes nothing.
  void write(HostLink* hostLink) {
    tables_.check("ProgRouterMesh::write");
    std::vector<uint32_t> words;
    for (uint32_t board = 0; board < GS_BOARDS_WIDTH * GS_BOARDS_HEIGHT; ++board) {
      const gossamer::host::RouterTable& one = tables_.at(board);
      if (!one.size()) continue;
      words.resize(one.size() / sizeof(uint32_t));
      memcpy(words.data(), one.data(), one.size());
      const uint32_t x = board % GS_BOARDS_WIDTH, y = board / GS_BOARDS_WIDTH;
      hostLink->setAddr(x, y, 0, TinselPOLiteProgRouterBase);
      hostLink->store(x, y, 0, static_cast<uint32_t>(words.size()), words.data());
    }
  }

 private:
  gossamer::host::RouterTables tables_;
  std::vector<ProgRouter> routers_;
  std::vector<ProgRouter*> rows_;
};
