// SPDX-License-Identifier: Apache-2.0
/// Tables of the boards' multicast routers, built by a host: records under keys, and trees over boards to many threads.
/// The layouts are the `route_*` of config/constants/fabric.toml; docs/hardware/multicast.md explains the router.
///
/// Every call ends the program with one line if its arguments are invalid.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <vector>

namespace gossamer::host {

/// The next hop of messages from one board to another, as the boards' route tables define it.
struct NextHop {
  uint32_t link = 0;     ///< of the sending board
  uint32_t channel = 0;  ///< virtual channel on it
  uint32_t next = 0;     ///< the board at its other end
};

/// The next hop between two boards, numbered along the rows of the mesh.
NextHop next_hop(const char* call, uint32_t from, uint32_t to);

/// Destination of a copy.
struct RouterDest {
  uint32_t board = 0;
  uint32_t tile_x = 0;
  uint32_t tile_y = 0;
  uint64_t mask = 0;    ///< threads of the tile; 0: one thread, `thread`
  uint32_t thread = 0;  ///< of the tile
  uint32_t key = 0;     ///< the first bits of the message as received: 16 with a mask, else 32
};

/// The table of one board: records in the order in which they are added. `key` names the records since the last key.
class RouterTable {
 public:
  explicit RouterTable(uint32_t board);
  ~RouterTable();
  RouterTable(const RouterTable&) = delete;
  RouterTable& operator=(const RouterTable&) = delete;

  /// Adds a copy to one thread, or to threads of a tile, of this board; ignores `board` of the destination.
  void add(const char* call, const RouterDest& dest);
  /// Adds a copy to the router at the other end of a link, with a key of that board.
  void add(const char* call, const NextHop& next_hop, uint32_t key);
  /// Adds an indirection to the records of another key of this board, as the last record of a key. Returns the location
  /// of that other key, which is 0 (no receiver) until set. It is valid as long as the table.
  uint8_t* indirect(const char* call);
  /// The key of the records since the last call; without records, a key without receivers.
  uint32_t key(const char* call);

  uint32_t board() const { return board_; }
  /// The keys that `key` has returned.
  const std::vector<uint32_t>& keys() const { return keys_; }
  static uint32_t first_beat();  ///< of each table, counted from the beginning of memory
  /// Contents for TinselPOLiteProgRouterBase of the board, in whole beats.
  const uint8_t* data() const { return bytes_.get(); }
  size_t size() const;

 private:
  /// The beat for the next record, cleared if it is new.
  uint8_t* beat(const char* call);
  /// The location for a record of this many slots, in a new beat if the current one has too few free slots.
  uint8_t* put(const char* call, unsigned slots);

  const uint32_t board_;
  std::unique_ptr<uint8_t[]> bytes_;
  std::vector<uint32_t> keys_;
  uint32_t beat_ = 0;   ///< of the next record
  uint32_t first_ = 0;  ///< first beat of the next key
  unsigned slot_ = 0;   ///< next free one in the beat
  bool ended_ = false;  ///< by an indirection: no record may follow under this key
};

/// The tables of all boards of a run.
class RouterTables {
 public:
  /// Ends the program if there are fewer boards.
  RouterTables(const char* call, uint32_t columns, uint32_t rows);

  /// The table of a board.
  RouterTable& at(uint32_t board) { return *tables_[board]; }
  /// The key of a board that sends one copy to each destination, along a tree through the boards' route tables.
  uint32_t multicast_key(const char* call, uint32_t board, const std::vector<RouterDest>& dests);
  /// Checks the trees before they are written, together with earlier trees that stay in memory: ends the program if
  /// their messages could deadlock.
  void check(const char* call) const;
  /// The next hop to a neighbouring board: 0 north (the next row), 1 south, 2 east (the next column), 3 west.
  static NextHop neighbour(const char* call, uint32_t board, uint32_t direction);

 private:
  std::vector<std::unique_ptr<RouterTable>> tables_;
};

}  // namespace gossamer::host
