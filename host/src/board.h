// SPDX-License-Identifier: Apache-2.0
/// All boards of a simulation, as HostLink and DebugLink use them: addresses, loading, starting, waiting.
///
/// A call of the user's program holds the Lock while it works, and may let simulated time pass. Otherwise time stops,
/// so a single-threaded program sees the same cycles in each run.
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
#include "verilog_hex.h"

namespace gossamer::host {

/// Cycles that an unsuccessful poll lets pass.
constexpr uint64_t kPoll = 1000;

/// Location of a thread on the boards.
struct ThreadLocation {
  uint32_t board = 0;
  uint32_t core = 0;    ///< within the board
  uint32_t thread = 0;  ///< within the core
};

class Board {
 public:
  /// The boards of this run.
  static std::shared_ptr<Board> open();
  ~Board();

  Simulator& sim() { return sim_; }

  /// Serializes the calls of the program's threads, in the order of their arrival.
  class Lock {
   public:
    explicit Lock(Board& board) : board_(board) { board_.lock(); }
    ~Lock() { board_.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Board& board_;
  };

  // ---- Locations ----

  static uint32_t boards_x();
  static uint32_t boards_y();
  /// The number of a board; ends the program if the board does not exist.
  uint32_t board(const char* call, uint32_t x, uint32_t y) const;
  /// The number of a core among all boards; ends the program if the core does not exist.
  uint32_t core(const char* call, uint32_t x, uint32_t y, uint32_t core) const;
  uint32_t address(const char* call, uint32_t x, uint32_t y, uint32_t core, uint32_t thread) const;
  /// The location of a thread's address; false if there is no such thread.
  static bool location(uint32_t address, ThreadLocation& location);
  /// The location of a thread's number in the simulation.
  static ThreadLocation location(uint32_t thread);

  // ---- Waiting ----

  /// Waits until `satisfied`. Returns false if all threads have ended and nothing is in flight. Ends the program if all
  /// running threads wait.
  bool wait(const char* call, uint32_t wanted, uint64_t space, const std::function<bool()>& satisfied,
            uint64_t messages = 1);
  /// Lets a little time pass unless `satisfied`. Returns whether it is satisfied afterwards.
  bool poll(const char* call, uint32_t wanted, uint64_t space, const std::function<bool()>& satisfied);
  /// Ends the program: what it waits for can never happen.
  [[noreturn]] void fail_deadlocked(const char* call);

  // ---- Loading and starting ----

  /// Loads code for all cores of all boards, and data for all DRAMs.
  void load_all(const char* call, const char* code, const char* data);
  void load_code(const char* call, const char* code, uint32_t core);
  void load_data(const char* call, const char* data, uint32_t core);
  void set_address(uint32_t core, uint32_t address) { cores_[core].address = address; }
  void store(const char* call, uint32_t core, const uint32_t* words, uint32_t count);
  /// Writes the words that `store` has buffered, before anything can depend on them.
  void flush_stores(const char* call);
  /// Writes to the memory that a tile uses; tiles are numbered board by board.
  void write_memory(const char* call, uint32_t tile, uint32_t address, const uint8_t* data, size_t size) {
    write(call, tile, address, data, size);
  }
  /// Registers what shall be written just before the next threads start, after all loading.
  void before_start(std::function<void(Board&)> then) { before_start_ = std::move(then); }
  void write_instructions(const char* call, uint32_t core, const uint32_t* words, uint32_t count);
  /// Reads words of memory at the core's address, and advances that address.
  std::vector<uint32_t> load(const char* call, uint32_t core, uint32_t count);
  /// Prepares the first threads of a core for their start.
  void ready(const char* call, uint32_t core, uint32_t threads);
  /// Whether a core's threads are prepared, or have started.
  bool is_ready(uint32_t core) const { return cores_[core].ready != 0; }
  bool has_begun(uint32_t core) const { return cores_[core].ready != 0 || cores_[core].started; }
  /// Starts the prepared threads of some cores.
  void go(const std::vector<uint32_t>& cores);
  /// Loads the next routing tables of the run into all boards.
  void load_tables(const char* call);
  /// A file with the cluster and the current tables of its boards, for programs of the command.
  std::string plan_file() const { return plan_file_ + ".pickle"; }
  /// The next hop of messages from one board to another.
  NextHop next_hop(const char* call, uint32_t from, uint32_t to);
  uint32_t cores() const { return static_cast<uint32_t>(cores_.size()); }

 private:
  struct Core {
    uint32_t ready = 0;  ///< prepared threads
    bool started = false;
    uint32_t address = 0;
    std::string code;  ///< the file that was loaded for it; empty if for all cores
  };
  /// A file in a memory that cores share.
  struct Contents {
    std::string file;
    uint32_t address = 0;
    uint64_t end = 0;
  };

  Board();
  void lock();
  void unlock();
  void finish();
  Woke pass(const char* call, uint32_t wanted, uint64_t space, uint64_t cycles, bool poll, uint64_t messages);

  /// Before loading: writes back what ended threads left in the caches.
  void write_back_caches(const char* call);
  /// Ends the program if a file would replace what other cores need.
  void check_code(const char* call, const char* code, uint32_t core) const;
  void check_data(const char* call, const char* data, const std::vector<Part>& parts, uint32_t dram);
  /// Whether threads were started, and all have ended.
  bool all_ended() const { return started_ && sim_.stopped() >= started_; }
  /// Writes memory through a tile's loader.
  void write(const char* call, uint32_t tile, uint32_t address, const uint8_t* data, size_t size);
  /// After writes: the boards' routers may have cached the previous contents. `board` ~0: all boards.
  void flush_record_caches(const char* call, uint32_t board, uint32_t address, size_t size);

  Simulator sim_;
  const Settings settings_;
  std::string plan_file_;
  size_t next_tables_ = 0;  ///< index of the tables to load next, among those of the settings
  std::vector<Core> cores_;
  std::vector<std::string> code_;             ///< by instruction memory: the file that was loaded last
  std::vector<std::vector<Contents>> data_;   ///< by DRAM: the files that are in it
  std::vector<uint32_t> of_board_;  ///< by board: started threads
  uint64_t started_ = 0;            ///< started threads of all boards
  std::function<void(Board&)> before_start_;
  bool loaded_ = false;
  // Consecutive stores are written together.
  struct {
    uint32_t tile = 0, address = 0;
    std::vector<uint8_t> data;
  } stores_;

  std::mutex mutex_;
  std::condition_variable served_changed_;
  uint64_t ticket_ = 0, served_ = 0;
  std::thread::id first_;
  bool several_ = false;  ///< several threads of the program make calls
};

}  // namespace gossamer::host
