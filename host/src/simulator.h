// SPDX-License-Identifier: Apache-2.0
/// The simulator, as a host program controls it: requests and reported records (sim/host/records.h, session.h), and how
/// a run ends. The simulator is a process that `./gossamer run` has started and configured before.
#pragma once

#include <gossamer/config.h>
#include <gossamer/host/errors.h>

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "flit.h"
#include "records.h"
#include "wait.h"

namespace gossamer::host {

using sim::Flit;
using sim::Wait;
using sim::Woke;

constexpr unsigned kMessageBytes = config::mailbox::max_flits * config::mailbox::flit_bytes;

/// A message of a thread, padded with zeroes.
using Message = std::array<uint8_t, kMessageBytes>;

/// A byte that a thread has written to its debug channel.
struct OutputByte {
  uint32_t thread = 0;
  uint8_t byte = 0;
};

/// A packet of a loader: the words of its header, and its data.
struct Reply {
  std::array<uint32_t, 4> head{};
  std::vector<uint8_t> data;

  unsigned status() const { return head[0] >> config::LoadHeader::kStatusLsb & 0xF; }
  uint32_t address() const { return head[1]; }
};

/// Settings of the run, which `./gossamer run` has written to the file that GOSSAMER_HOSTLINK names.
struct Settings {
  int requests = -1;         ///< descriptor for requests to the simulator
  int records = -1;          ///< descriptor for its records
  std::string report;        ///< file for the report of the run's end
  std::string status;        ///< file for the progress
  uint64_t most_cycles = 0;  ///< limit of the run; 0: none
  uint64_t watchdog = 0;     ///< limit of cycles without an instruction or output; 0: none
  std::string next_hops;     ///< file with the next hop from each board to each other one
  std::string forget;        ///< file with one packet per board that invalidates the record cache of its router
  std::vector<std::string> tables;  ///< files with packets that load other tables into all boards; each with next hops
  uint32_t broadcast = 0;    ///< address of all boards' loaders

  /// Ends the program if it was not started by `./gossamer run`.
  static Settings read();
};

/// Flushes the program's output and ends the program.
[[noreturn]] void exit_program(int code);

class Simulator {
 public:
  explicit Simulator(const Settings& settings);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  /// The last cycle that the simulator has reported.
  uint64_t cycle() const { return cycle_; }

  // ---- Received from the simulator ----
  std::deque<Message> messages;
  std::deque<OutputByte> output;
  /// Flits that wait to enter the network, as last reported.
  uint64_t queued() const { return queued_; }
  /// Threads that have ended.
  uint64_t stopped() const { return stopped_; }

  // ---- Requests, in the order of the calls ----

  /// Sends a message, as flits.
  void send(const Flit* flits, size_t count);
  void input(uint32_t thread, uint8_t byte);
  void start(uint32_t tile, uint64_t mask, uint32_t threads);
  /// Sends packets to loaders and waits for their replies. Ends the program if one reports an error.
  std::vector<Reply> exchange(const char* call, const std::vector<Flit>& flits, uint32_t replies);
  /// Sends packets to boards' control units, at most as many per board as it can answer; returns the value of the last
  /// answer. Ends the program if a board rejects one.
  uint64_t control(const char* call, const std::vector<Flit>& packets);
  /// Sends commands of the debug bus to a tile; returns the reports that answer them.
  std::vector<std::vector<uint8_t>> ask(uint32_t tile, const std::vector<uint8_t>& commands, uint32_t replies);
  /// Lets time pass, at most `cycles` if that is not 0. Returns Event, Over, Deadlock or AllEnded; any other reason
  /// ends the program. A `poll` returns the last two only after a long time.
  Woke wait(const char* call, uint32_t wanted, uint64_t space, uint64_t cycles, bool poll, uint64_t messages);
  /// Ends the session.
  void end();

  /// Ends the program because the run cannot continue: `./gossamer run` reports why. Exit code 4.
  [[noreturn]] void died(const char* call, const char* reason);
  /// Adds a line to the report, if one is written later.
  void note(const std::string& line) { notes_ += line + "\n"; }

 private:
  struct Status;

  void request(char kind, const void* head, size_t head_bytes, const void* payload, size_t bytes);
  /// Sends all requests, and handles records until one of this kind has arrived.
  void receive_until(sim::Kind kind);
  void flush();
  void fill();
  void handle_record(sim::Kind kind, uint32_t thread, uint64_t cycle, const uint8_t* payload, size_t bytes);
  void packet(const uint8_t* payload, size_t bytes);
  void update_status(bool computes);
  void report(const char* call, const char* reason);
  [[noreturn]] void fail_disconnected();

  const Settings settings_;
  Status* status_ = nullptr;
  std::vector<uint8_t> out_, in_;
  size_t in_at_ = 0;
  uint64_t cycle_ = 0, first_ = 0, limit_ = 0, instructions_ = 0, queued_ = 0, started_ = 0, stopped_ = 0;
  uint64_t messages_received_ = 0, bytes_received_ = 0;
  std::vector<Reply> replies_;
  std::vector<std::vector<uint8_t>> reports_;
  std::vector<uint8_t> woken_;
  std::string notes_;
  const char* call_ = "";
};

}  // namespace gossamer::host
