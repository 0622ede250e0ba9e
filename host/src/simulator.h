// SPDX-License-Identifier: Apache-2.0
/// The simulator as a host program drives it: requests to it and what it tells (sim/host/records.h, session.h), and
/// the ways in which a run ends. The simulator is a process that `./gossamer run` has started and set up before.
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

/// A message of a thread; behind its end are zeroes.
using Message = std::array<uint8_t, kMessageBytes>;

/// A byte that a thread has written to its debug channel.
struct OutputByte {
  uint32_t thread = 0;
  uint8_t byte = 0;
};

/// A packet of a loader: the header's words, and data.
struct Reply {
  std::array<uint32_t, 4> head{};
  std::vector<uint8_t> data;

  unsigned status() const { return head[0] >> config::LoadHeader::kStatusLsb & 0xF; }
  uint32_t address() const { return head[1]; }
};

/// What `./gossamer run` has written down for the run, in the file that GOSSAMER_HOSTLINK names.
struct Settings {
  int requests = -1;         ///< descriptor for requests to the simulator
  int records = -1;          ///< descriptor for its records
  std::string report;        ///< file for how the run ended
  std::string status;        ///< file for how far it is
  uint64_t most_cycles = 0;  ///< of the run; 0: any number
  uint64_t watchdog = 0;     ///< cycles without an instruction or output; 0: any number
  bool router = false;       ///< boards have a multicast router
  std::string next_hops;          ///< file with the route tables: how each board reaches each other one
  std::string forget;        ///< file with a packet for each board: its router is to read records from memory again
  std::vector<std::string> tables;  ///< files with packets that give all boards other tables, and their `ways`
  uint32_t broadcast = 0;    ///< address from which requests to loaders go to all boards; 0: there is none

  /// Ends the program where it was started without `./gossamer run`.
  static Settings read();
};

/// Ends the program. What it has printed is seen, whatever comes behind it.
[[noreturn]] void exit_program(int code);

class Simulator {
 public:
  explicit Simulator(const Settings& settings);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  /// The last cycle that is known here.
  uint64_t cycle() const { return cycle_; }

  // ---- What has come ----
  std::deque<Message> messages;
  std::deque<OutputByte> output;
  /// Flits that wait to enter the network, as far as is known here.
  uint64_t queued() const { return queued_; }
  /// Threads that have ended.
  uint64_t stopped() const { return stopped_; }

  // ---- Requests, in the order of the calls ----

  /// A message, as flits.
  void send(const Flit* flits, size_t count);
  void input(uint32_t thread, uint8_t byte);
  void start(uint32_t tile, uint64_t mask, uint32_t threads);
  /// Packets to loaders; waits for so many replies, of which none may be a refusal.
  std::vector<Reply> exchange(const char* call, const std::vector<Flit>& flits, uint32_t replies);
  /// Packets to boards' control units, no more than a board has room to answer; the value of the last answer. Ends the
  /// program where one is refused.
  uint64_t control(const char* call, const std::vector<Flit>& packets);
  /// Commands of the debug bus to a tile; the reports that answer them.
  std::vector<std::vector<uint8_t>> ask(uint32_t tile, const std::vector<uint8_t>& commands, uint32_t replies);
  /// Lets time pass, so many cycles at most if they are not 0. Gives Event, Over, Deadlock or AllEnded; on anything
  /// else, the program ends. A `poll` gives the last two only after very long.
  Woke wait(const char* call, uint32_t wanted, uint64_t room, uint64_t cycles, bool poll, uint64_t messages);
  /// The end of the session.
  void end();

  /// Ends the program because the run cannot go on: `./gossamer run` says why. Exit code 4.
  [[noreturn]] void died(const char* call, const char* reason);
  /// A part of the report, for the case that there is one.
  void note(const std::string& line) { notes_ += line + "\n"; }

 private:
  struct Status;

  void request(char kind, const void* head, size_t head_bytes, const void* payload, size_t bytes);
  /// Sends what is there, and hears until a record of this kind is there.
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
