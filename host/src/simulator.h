// SPDX-License-Identifier: Apache-2.0
/// The machine as a host program uses it: what its threads have sent, the progress and the report of the run, and how
/// the program ends. The process that serves the machine was started and configured by `./gossamer run` before.
#pragma once

#include <gossamer/config.h>
#include <gossamer/host/errors.h>

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.h"

namespace gossamer::host {

using machine::Flits;
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

/// Settings of the run, which `./gossamer run` has written to the file that GOSSAMER_HOSTLINK names.
struct Settings {
  int requests = -1;         ///< descriptor for requests to the simulator
  int records = -1;          ///< descriptor for its records
  std::string report;        ///< file for the report of the run's end
  std::string status;        ///< file for the progress
  uint64_t most_cycles = 0;  ///< limit of the run; 0: none
  uint64_t watchdog = 0;     ///< limit of cycles without an instruction or output; 0: none
  std::string plan;                 ///< file with the plan of the machine (src/machine/plan.h)
  std::vector<std::string> tables;  ///< files with plans that have other routing tables

  /// Ends the program if it was not started by `./gossamer run`.
  static Settings read();
};

/// Flushes the program's output and ends the program.
[[noreturn]] void exit_program(int code);

class Simulator : machine::Listener, machine::Waiting {
 public:
  explicit Simulator(const Settings& settings);
  ~Simulator() override;
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  /// The last cycle that the simulator has reported.
  uint64_t cycle() const { return machine_.cycle(); }

  // ---- Received from the simulator ----
  std::deque<Message> messages;
  std::deque<OutputByte> output;
  /// Flits that wait to enter the network, as last reported.
  uint64_t queued() const { return queued_; }
  /// Threads that have ended.
  uint64_t stopped() const { return stopped_; }

  // ---- Requests, in the order of the calls ----

  /// Lets `what` use the machine. Ends the program if that throws.
  template <typename What>
  auto use(const char* call, What what) {
    call_ = call;
    try {
      return what(machine_);
    } catch (const machine::Error& error) {
      fail(call, error);
    }
  }
  const machine::Plan& plan() const { return machine_.plan(); }
  /// Sends messages.
  void send(const Flits& flits);
  void input(uint32_t thread, uint8_t byte);
  void start(uint32_t tile, uint64_t mask, uint32_t threads);
  /// Lets time pass, at most `cycles` if that is not 0. Returns Event, Over, Deadlock or AllEnded; any other reason
  /// ends the program. A `poll` returns the last two only after a long time.
  Woke wait(const char* call, uint32_t wanted, uint64_t space, uint64_t cycles, bool poll, uint64_t messages);
  /// Ends the session.
  void finish();

  /// Ends the program because the run cannot continue: `./gossamer run` reports why. Exit code 4.
  [[noreturn]] void died(const char* call, const char* reason);
  /// Adds a line to the report, if one is written later.
  void note(const std::string& line) { notes_ += line + "\n"; }

 private:
  struct Status;

  [[noreturn]] void fail(const char* call, const machine::Error& error);
  void begin() override { update_status(false); }
  void end() override { update_status(true); }
  void on_record(const machine::Record& record) override;
  void on_message(const machine::Message& message) override;
  void on_event(const machine::Event& event) override;
  void on_fault(const machine::Fault& fault) override;
  void update_status(bool computes);
  void update_figures();
  void report(const char* call, const char* reason);

  const Settings settings_;
  Status* status_ = nullptr;
  uint64_t first_ = 0, instructions_ = 0, queued_ = 0, started_ = 0, stopped_ = 0;
  uint64_t messages_received_ = 0, bytes_received_ = 0;
  std::vector<uint8_t> woken_;
  std::string notes_;
  const char* call_ = "HostLink";
  machine::Pipe pipe_;
  machine::Machine machine_;
};

}  // namespace gossamer::host
