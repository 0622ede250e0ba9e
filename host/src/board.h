// SPDX-License-Identifier: Apache-2.0
/// All boards of a simulation as HostLink and DebugLink need them: addresses, loading, starting, waiting.
///
/// A call of the user's program takes the Lock, does its work, and may let time pass. Time stands still otherwise, so a
/// program of one thread sees the same cycles each time.
#pragma once

#include <gossamer/host/routers.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "simulator.h"

namespace gossamer::host {

/// Cycles that a poll lets pass if it finds nothing.
constexpr uint64_t kPoll = 1000;

inline constexpr const char* kNoRouter = "a board that is alone has no multicast router; run with --cluster";

/// A place on the boards.
struct ThreadLocation {
  uint32_t board = 0;
  uint32_t core = 0;    ///< of the board
  uint32_t thread = 0;  ///< of the core
};

class Board {
 public:
  /// The boards of this run.
  static std::shared_ptr<Board> open();
  ~Board();

  Simulator& sim() { return sim_; }

  /// The calls of several threads, one at a time and in the order in which they came.
  class Lock {
   public:
    explicit Lock(Board& board) : board_(board) { board_.lock(); }
    ~Lock() { board_.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Board& board_;
  };

  // ---- Places ----

  static uint32_t boards_x();
  static uint32_t boards_y();
  /// The number of a board; ends the program if it is not there.
  uint32_t board(const char* call, uint32_t x, uint32_t y) const;
  /// The number of a core of all boards; ends the program if it is not there.
  uint32_t core(const char* call, uint32_t x, uint32_t y, uint32_t core) const;
  uint32_t address(const char* call, uint32_t x, uint32_t y, uint32_t core, uint32_t thread) const;
  /// The parts of a thread's address; false if there is no such thread.
  static bool location(uint32_t address, ThreadLocation& location);
  /// The same of a thread's number in the simulation.
  static ThreadLocation location(uint32_t thread);

  // ---- Waiting ----

  /// Waits until `there`, or until no thread runs and nothing is on its way: then false. If all that run wait, the
  /// program ends.
  bool wait(const char* call, uint32_t wanted, uint64_t room, const std::function<bool()>& there,
            uint64_t messages = 1);
  /// Lets a little time pass unless `there`. Whether it is there now.
  bool poll(const char* call, uint32_t wanted, uint64_t room, const std::function<bool()>& there);
  /// Ends the program: what it waits for never comes.
  [[noreturn]] void fail_deadlocked(const char* call);

  // ---- Loading and starting ----

  /// Code for all cores of all boards, data for all DRAMs.
  void load_all(const char* call, const char* code, const char* data);
  void load_code(const char* call, const char* code, uint32_t core);
  void load_data(const char* call, const char* data, uint32_t core);
  void set_address(uint32_t core, uint32_t address) { cores_[core].address = address; }
  void store(const char* call, uint32_t core, const uint32_t* words, uint32_t count);
  /// Writes what `store` has put aside: before anybody is told of it.
  void flush_stores(const char* call);
  /// Bytes for the memory that a tile uses; tiles are numbered board by board.
  void write_memory(const char* call, uint32_t tile, uint32_t address, const uint8_t* data, size_t size) {
    write(call, tile, address, data, size);
  }
  /// What is still to be written when the next threads start, whatever is loaded before.
  void before_start(std::function<void(Board&)> then) { before_start_ = std::move(then); }
  void write_instructions(const char* call, uint32_t core, const uint32_t* words, uint32_t count);
  /// Words of memory at the core's address, which they move on.
  std::vector<uint32_t> load(const char* call, uint32_t core, uint32_t count);
  /// Makes the first threads of a core ready to start.
  void ready(const char* call, uint32_t core, uint32_t threads);
  /// Whether a core's threads are ready, or have started.
  bool is_ready(uint32_t core) const { return cores_[core].ready != 0; }
  bool has_begun(uint32_t core) const { return cores_[core].ready != 0 || cores_[core].started; }
  /// Starts those that are ready of some cores.
  void go(const std::vector<uint32_t>& cores);
  bool has_router() const { return settings_.router; }
  /// Gives all boards the next of the tables that the run was started with.
  void load_tables(const char* call);
  /// A file with the cluster and the tables that its boards have, for programs of the command.
  std::string plan_file() const { return next_hops_file_ + ".plan"; }
  /// How messages of a board leave for another one.
  NextHop next_hop(const char* call, uint32_t from, uint32_t to);
  uint32_t cores() const { return static_cast<uint32_t>(cores_.size()); }

 private:
  struct Core {
    uint32_t ready = 0;  ///< threads that are ready to start
    bool started = false;
    uint32_t address = 0;
  };

  Board();
  void lock();
  void unlock();
  void finish();
  Woke pass(const char* call, uint32_t wanted, uint64_t room, uint64_t cycles, bool poll, uint64_t messages);

  /// Before anything is loaded: what threads that have ended left in caches goes to memory.
  void write_back_caches(const char* call);
  void write_code(const char* call, uint32_t dest, unsigned group, uint32_t replies, uint32_t address,
                  const std::vector<uint8_t>& code);
  /// Writes memory through the loader of a tile.
  void write(const char* call, uint32_t tile, uint32_t address, const uint8_t* data, size_t size);
  /// The same for whole lines, through the loader or loaders at an address.
  void write_lines(const char* call, uint32_t dest, uint32_t replies, uint32_t address, const uint8_t* data,
                   size_t size);
  /// The same through a loader at each DRAM.
  void write_each(const char* call, uint32_t address, const uint8_t* data, size_t size);
  void write_all(const char* call, uint32_t address, const uint8_t* data, size_t size);
  /// Reads whole lines through the loader of a tile, many at a time.
  std::vector<uint8_t> read(const char* call, uint32_t tile, uint32_t address, size_t size);
  /// Whether no packet is under way on any board, nor between two.
  bool network_drained(const char* call);
  /// Empties the cache of records of a board's multicast router.
  void flush_record_cache(const char* call, uint32_t board);

  Simulator sim_;
  const Settings settings_;
  std::string next_hops_file_;
  size_t next_tables_ = 0;  ///< that are loaded next, of those of the settings
  std::vector<Core> cores_;
  std::vector<uint32_t> of_board_;  ///< threads that were started on each
  uint64_t started_ = 0;            ///< threads
  std::function<void(Board&)> before_start_;
  std::vector<NextHop> next_hops_;  ///< [from][to], once read
  bool loaded_ = false;
  // Stores that follow each other are written together.
  struct {
    uint32_t tile = 0, address = 0;
    std::vector<uint8_t> data;
  } stores_;

  std::mutex mutex_;
  std::condition_variable served_changed_;
  uint64_t ticket_ = 0, served_ = 0;
  std::thread::id first_;
  bool several_ = false;  ///< threads of the program
};

}  // namespace gossamer::host
