// SPDX-License-Identifier: Apache-2.0
/// Everything that a host does to boards, above a transport: configuration, memories, debug buses, tables, counters,
/// runs. The host programs of `host/` link it; Python uses it by the C interface of api.h.
///
/// Calls wait for the answers of the boards. What boards send without a request (text, ends and traps of threads,
/// messages, events) goes to the Listener, in order; no call waits for it to be handled. Every call may throw Error.
/// Tiles are numbered board by board, threads tile by tile. Addresses are physical, unless the user translates.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "machine/packets.h"
#include "machine/plan.h"
#include "machine/transport.h"
#include "wait.h"

namespace gossamer::machine {

/// Receives what boards send without a request.
class Listener {
 public:
  virtual ~Listener() = default;
  /// Any record but a packet.
  virtual void on_record(const Record& record) = 0;
  virtual void on_message(const Message& message) = 0;
  virtual void on_event(const Event& event) = 0;
  virtual void on_fault(const Fault& fault) = 0;
};

/// A report of a tile's debug bus: its code (config::DebugReport), then its arguments.
struct Report {
  uint32_t tile = 0;
  std::vector<uint8_t> bytes;
};

/// Where bytes of a user's address are in physical memory: there, this many are adjacent.
struct Span {
  uint32_t address = 0;
  uint64_t adjacent = 0;
};

using TileCounters = std::array<uint64_t, static_cast<size_t>(config::DebugCounter::Refused) + 1>;

/// A write of a register of a board's block, by packets of a job.
struct RegisterWrite {
  uint32_t board = 0;
  unsigned job = 0;
  uint32_t address = 0;  ///< config::RegisterAddress
  uint64_t value = 0;
};

class Machine {
 public:
  /// Owns neither transport nor listener.
  Machine(Transport& transport, Plan plan, Listener& listener);

  const Plan& plan() const { return plan_; }
  /// The last cycle that a record has named.
  uint64_t cycle() const { return cycle_; }
  uint32_t tiles() const { return plan_.boards() * plan_.tiles; }

  // ---- Packets ----

  /// Sends packets to loaders and waits for `replies` replies.
  std::vector<Reply> exchange(const Flits& flits, uint32_t replies);
  /// The same; throws Error (Input) if a loader rejects a request.
  std::vector<Reply> accepted(const Flits& flits, uint32_t replies);
  /// Sends packets of one flit to control units, and waits for an answer to each, unless `answered` is false. Throws
  /// Error (Died) if a unit rejects one.
  std::vector<Answer> control(const Flits& packets, bool answered = true);
  /// Queues messages into the network, without waiting.
  void send(const Flits& flits);

  // ---- Configuration ----

  /// Configures all boards after reset, from that of the first host outward.
  void configure();
  /// Checks that the tiles are those of the plan.
  void check_identity();
  /// Replaces the routing tables of boards that may be running. The plan must be of the same boards. Tables that cannot
  /// coexist with the old ones wait until no packet is in flight; throws Error (Input) if that does not happen.
  void update(const Plan& plan);
  /// Whether no packet is in flight anywhere.
  bool drained();
  /// Invalidates the record cache of a board's multicast router, after the host has written records.
  void flush_record_cache(uint32_t board);
  void flush_record_caches();
  /// Values of counters, in the order of the packets (read_counter).
  std::vector<uint64_t> counters(const Flits& packets);
  /// Registers of a board's blocks (config::RegisterBlock): links, streaming ports. A register is written only by
  /// packets of the job that owns its unit (kNoJob: no job). Throws Error (Died) if the board rejects the access.
  uint64_t read_register(uint32_t board, unsigned job, config::RegisterAddress address);
  void write_register(uint32_t board, unsigned job, config::RegisterAddress address, uint64_t value);
  /// Many writes, those to a board in order; boards work at the same time.
  void write_registers(const std::vector<RegisterWrite>& writes);

  // ---- Memories ----

  /// How addresses of read and write calls are translated; by default they are physical.
  void translate(std::function<Span(uint32_t)> translation) { translation_ = std::move(translation); }
  /// The number of a tile that accesses DRAM `memory`, numbered board by board.
  uint32_t tile_at(uint32_t memory) const { return memory * (plan_.tiles / plan_.drams); }
  /// Writes the memory of a tile, at any address.
  void write(uint32_t tile, uint32_t address, const uint8_t* data, size_t size);
  /// Writes all memories of a job's boards.
  void write_all(unsigned job, uint32_t address, const uint8_t* data, size_t size);
  void fill_all(unsigned job, uint32_t address, uint64_t size);
  /// Reads the memory of a tile, at any address.
  std::vector<uint8_t> read(uint32_t tile, uint32_t address, size_t size);
  /// Writes instructions from address 0 on, into all tiles of a job.
  void write_code(unsigned job, const uint8_t* code, size_t size);
  /// The same for instruction memories of a tile (`group`, a bit each), from a multiple of 16 on.
  void write_code(uint32_t tile, unsigned group, uint32_t address, const uint8_t* code, size_t size);
  /// Instructions of one such memory; at most kPacketBytes.
  std::vector<uint8_t> read_code(uint32_t tile, unsigned group, uint32_t address, uint32_t size);

  // ---- Debug buses ----

  static constexpr uint32_t kEachTile = ~uint32_t{0};
  /// Sends commands to a tile or to each, and waits for `replies` reports of each.
  std::vector<Report> ask(uint32_t tile, const std::vector<uint8_t>& commands, uint32_t replies);
  std::vector<TileCounters> tile_counters();
  /// Writes back and invalidates the caches of all threads; returns the threads that run, whose caches it has not.
  std::vector<uint32_t> flush();
  /// Parks all threads but those that wait for an event that does not occur.
  void halt();
  /// Ends halts, and lets some 10,000 cycles pass.
  void resume_threads();
  /// x1 to x31 of a parked or trapped thread.
  std::array<uint32_t, 31> registers(uint32_t thread);

  // ---- Runs, of simulators and of groups of boards ----

  /// Opens sessions with boards that have Ethernet shells, given by lines (board_session.cc). Throws Error (Input) if
  /// they cannot be used.
  void open(const std::string& facts);
  /// Adds to the input of a thread, for the next run.
  void input(uint32_t thread, const uint8_t* bytes, size_t count);
  /// Starts `threads` threads on each board. `most` cycles, and `watchdog` cycles without progress; 0: no limit. Then
  /// next() receives records up to End, or Paused.
  void run(const std::vector<uint32_t>& threads, uint64_t most, uint64_t watchdog);
  /// The run that starts or continues next pauses in this cycle after its begin.
  void pause(uint64_t cycle);
  void continue_run();
  void stop();
  /// Symbols of a trace: begin[32], end[32], length[32], name of each.
  void symbols(const uint8_t* bytes, size_t count);
  /// Requests the statistics of the last run; they go to the listener.
  void watch();
  /// Waits for one more record. Returns its kind after the listener has handled it.
  sim::Kind next();

  // ---- Sessions of host programs, which start threads at any time ----

  void begin_session();
  void feed(uint32_t thread, uint8_t byte);
  /// Starts the threads of a mask, in addition to running ones; `threads` threads of the board take part in total.
  void start(uint32_t tile, uint64_t mask, uint32_t threads);
  /// Lets time pass until a wanted event; the record Woken goes to the listener.
  void wait(const sim::Wait& wait);
  void end_session();

 private:
  struct Target {
    uint32_t dest = 0;
    unsigned job = 0;
    uint32_t replies = 1;
  };

  uint32_t board_of(uint32_t tile) const { return tile / plan_.tiles; }
  const std::vector<uint32_t>& boards_of(unsigned job) const;
  /// The number of a job on the boards.
  unsigned number_of(unsigned job) const { return plan_.is_guest() ? plan_.guest : job; }
  Target at(uint32_t tile) const;
  Target memories(unsigned job) const;
  Target code(unsigned job) const;
  Span span(uint32_t address) const;

  /// Receives records until one of this kind. The functors return whether they have handled a packet, or a report.
  void until(sim::Kind kind, const std::function<bool(Received&)>& packet = {},
             const std::function<bool(const Record&)>& report = {});
  void dispatch(const Record& record, const std::function<bool(Received&)>& packet);
  /// Writes at any address; the rest of the first and the last line is that of a tile's memory.
  void write_kept(const Target& target, uint32_t tile, uint32_t address, const uint8_t* data, size_t size);
  void write_lines(const Target& target, uint32_t address, const uint8_t* data, size_t size);
  void write_group(const Target& target, unsigned group, uint32_t address, const uint8_t* code, size_t size);
  std::vector<uint8_t> read_lines(uint32_t tile, uint32_t address, size_t size);
  Flit cluster(uint32_t board, bool flush) const;
  void wait_for_link(const Plan::Up& link);
  Flits tables(const Plan::Routes& routes) const;
  /// Sends a command to every thread, and waits for `replies` reports of each tile.
  std::vector<Report> each_thread(config::DebugCommand command, uint32_t replies);
  /// Advances time by some 5,000 cycles, the duration of a memory read; whether a thread has parked.
  bool pass_time();

  Transport& transport_;
  Plan plan_;
  Listener& listener_;
  std::function<Span(uint32_t)> translation_;
  uint64_t cycle_ = 0;
};

}  // namespace gossamer::machine
