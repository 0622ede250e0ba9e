// SPDX-License-Identifier: Apache-2.0
/// Tables of the boards' multicast routers, made by a host: records under keys, and trees over boards to many threads.
/// Layouts are the `route_*` of config/constants/fabric.toml; docs/hardware/multicast.md says what a router does.
///
/// Every call ends the program with one line where its arguments cannot be.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <vector>

namespace gossamer::host {

/// How messages of a board leave for another one, by the boards' route tables.
struct NextHop {
  uint32_t link = 0;     ///< of the board
  uint32_t channel = 0;  ///< virtual channel on it
  uint32_t next = 0;     ///< the board at its other end
};

/// The way from one board to another one, both by their numbers (rows of the mesh, one behind the other).
NextHop next_hop(const char* call, uint32_t from, uint32_t to);

/// Whom a copy is for.
struct RouterDest {
  uint32_t board = 0;
  uint32_t tile_x = 0;
  uint32_t tile_y = 0;
  uint64_t mask = 0;    ///< threads of the tile; 0: one thread, `thread`
  uint32_t thread = 0;  ///< of the tile
  uint32_t key = 0;     ///< what the message begins with where it arrives: 16 bits with a mask, else 32
};

/// The table of one board: records in the order in which they are added; `key` names those since the last one.
class RouterTable {
 public:
  explicit RouterTable(uint32_t board);
  ~RouterTable();
  RouterTable(const RouterTable&) = delete;
  RouterTable& operator=(const RouterTable&) = delete;

  /// A copy to one thread, or to threads of a tile, of this board; `board` of the destination is not looked at.
  void add(const char* call, const RouterDest& dest);
  /// A copy to the router at the other end of a link, with a key of that board.
  void add(const char* call, const NextHop& next_hop, uint32_t key);
  /// The records of another key of this board; the last record under a key. Gives the place of that key, which is 0 (a
  /// message to nobody) until set. It holds as long as the table.
  uint8_t* indirect(const char* call);
  /// The key of the records since the last call; without any, one that reaches nobody.
  uint32_t key(const char* call);

  uint32_t board() const { return board_; }
  /// The keys that `key` has given.
  const std::vector<uint32_t>& keys() const { return keys_; }
  static uint32_t first_beat();  ///< of each table, counted from the beginning of memory
  /// Bytes for TinselPOLiteProgRouterBase of the board, whole beats.
  const uint8_t* data() const { return bytes_.get(); }
  size_t size() const;

 private:
  /// The beat that records go to, empty if it is a new one.
  uint8_t* beat(const char* call);
  /// The next place for a record of so many places, in a new beat if this one has no room.
  uint8_t* put(const char* call, unsigned places);

  const uint32_t board_;
  std::unique_ptr<uint8_t[]> bytes_;
  std::vector<uint32_t> keys_;
  uint32_t beat_ = 0;   ///< that records go to
  uint32_t first_ = 0;  ///< of the next key
  unsigned place_ = 0;  ///< next one in the beat
  bool ended_ = false;  ///< by an indirection: nothing may follow under this key
};

/// The tables of all boards of a run.
class RouterTables {
 public:
  /// Ends the program if there are not so many boards.
  RouterTables(const char* call, uint32_t columns, uint32_t rows);

  /// The table of a board by its number.
  RouterTable& at(uint32_t board) { return *tables_[board]; }
  /// The key at a board for one copy to each destination: a tree along the boards' route tables.
  uint32_t multicast_key(const char* call, uint32_t board, const std::vector<RouterDest>& dests);
  /// Has the trees checked before they are written, together with those that were before and are not written over: ends
  /// the program if messages in them could wait for each other for ever.
  void check(const char* call) const;
  /// The way from a board to the one beside it: 0 north (the next row), 1 south, 2 east (the next column), 3 west.
  static NextHop neighbour(const char* call, uint32_t board, uint32_t direction);

 private:
  std::vector<std::unique_ptr<RouterTable>> tables_;
};

}  // namespace gossamer::host
