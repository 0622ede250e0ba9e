// SPDX-License-Identifier: Apache-2.0
#include "simulator.h"

#include <gossamer/core/exit_codes.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

namespace gossamer::host {

using sim::Kind;

static_assert(static_cast<int>(config::ExitCode::Done) == GS_EXIT_DONE);
static_assert(static_cast<int>(config::ExitCode::No) == GS_EXIT_NO);
static_assert(static_cast<int>(config::ExitCode::Input) == GS_EXIT_INPUT);
static_assert(static_cast<int>(config::ExitCode::Died) == GS_EXIT_DIED);
static_assert(static_cast<int>(config::ExitCode::Bug) == GS_EXIT_BUG);
static_assert(static_cast<int>(config::ExitCode::Interrupted) == GS_EXIT_INTERRUPTED);

[[noreturn]] void exit_program(int code) {
  std::cout.flush();
  std::fflush(nullptr);
  ::_exit(code);
}

[[noreturn]] void reject_call(const char* call, const std::string& what) {
  std::cout.flush();
  std::fflush(nullptr);
  std::fprintf(stderr, "gossamer: error: %s: %s\n", call, what.c_str());
  exit_program(GS_EXIT_INPUT);
}

Settings Settings::read() {
  const char* path = std::getenv("GOSSAMER_HOSTLINK");
  if (!path) reject_call("HostLink", "there are no boards; start this program with ./gossamer run FOLDER --engine rtl");
  std::ifstream file(path);
  if (!file) reject_call("HostLink", std::string(path) + ": cannot be read");
  Settings settings;
  for (std::string line; std::getline(file, line);) {
    const size_t blank = line.find(' ');
    const std::string key = line.substr(0, blank), value = blank == line.npos ? "" : line.substr(blank + 1);
    if (key == "requests") settings.requests = std::atoi(value.c_str());
    if (key == "records") settings.records = std::atoi(value.c_str());
    if (key == "report") settings.report = value;
    if (key == "status") settings.status = value;
    if (key == "most_cycles") settings.most_cycles = std::strtoull(value.c_str(), nullptr, 10);
    if (key == "plan") settings.plan = value;
    if (key == "tables") settings.tables.push_back(value);
    if (key == "watchdog") settings.watchdog = std::strtoull(value.c_str(), nullptr, 10);
  }
  return settings;
}

/// Progress, which `./gossamer run` reads while the program runs.
struct Simulator::Status {
  volatile uint64_t calls;  ///< number of calls that let time pass
  volatile uint64_t first;  ///< cycle of the first start of threads; 0: none yet
  volatile uint64_t cycle;
  volatile uint64_t instructions;
  volatile uint64_t threads;   ///< started threads
  volatile uint64_t computes;  ///< 1: the host program computes, 0: it waits
};

namespace {

machine::Plan plan_of(const std::string& path) {
  try {
    return machine::Plan::read_file(path);
  } catch (const machine::Error& error) {
    reject_call("HostLink", error.what());
  }
}

}  // namespace

Simulator::Simulator(const Settings& settings)
    : settings_(settings),
      pipe_(settings.requests, settings.records, *this),
      machine_(pipe_, plan_of(settings.plan), *this) {
  if (const int file = ::open(settings_.status.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666); file >= 0) {
    if (!::ftruncate(file, sizeof(Status))) {
      void* at = ::mmap(nullptr, sizeof(Status), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (at != MAP_FAILED) status_ = static_cast<Status*>(at);
    }
    ::close(file);
  }
  // Child processes of the user's program do not inherit these.
  for (const int end : {settings_.requests, settings_.records}) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  use(call_, [](machine::Machine& machine) { machine.begin_session(); });
}

Simulator::~Simulator() {
  if (status_) ::munmap(status_, sizeof(Status));
}

void Simulator::send(const Flits& flits) {
  use(call_, [&](machine::Machine& machine) { machine.send(flits); });
  queued_ += flits.size();
}

void Simulator::input(uint32_t thread, uint8_t byte) {
  use(call_, [&](machine::Machine& machine) { machine.feed(thread, byte); });
}

void Simulator::start(uint32_t tile, uint64_t mask, uint32_t threads) {
  if (!first_) first_ = cycle();
  started_ += static_cast<uint64_t>(__builtin_popcountll(mask));
  use(call_, [&](machine::Machine& machine) { machine.start(tile, mask, threads); });
}

void Simulator::fail(const char* call, const machine::Error& error) {
  switch (error.kind) {
    case machine::Error::Kind::Input: reject_call(call, error.what());
    case machine::Error::Kind::Disconnected: died(call, "gone");
    default: note("failed " + std::string(error.what())); died(call, "failed");
  }
}

Woke Simulator::wait(const char* call, uint32_t wanted, uint64_t space, uint64_t cycles, bool poll,
                     uint64_t messages) {
  Wait wait;
  wait.wanted = wanted;
  wait.poll = poll;
  wait.messages = messages_received_ + messages;
  wait.bytes = bytes_received_ + 1;
  wait.space = space;
  wait.cycles = cycles;
  // Cycles of a run count from its first threads.
  wait.limit = settings_.most_cycles && first_ ? first_ + settings_.most_cycles : 0;
  wait.watchdog = settings_.watchdog;
  use(call, [&](machine::Machine& machine) { machine.wait(wait); });
  const auto* woken = reinterpret_cast<const sim::Woken*>(woken_.data());
  switch (woken->reason) {
    case Woke::Limit: died(call, "max-cycles");
    case Woke::Stuck: died(call, "stuck");
    case Woke::Trap: died(call, "trap");
    case Woke::Stopped: died(call, "stopped");
    default: break;
  }
  return woken->reason;
}

void Simulator::finish() {
  use("the end of the program", [](machine::Machine& machine) { machine.end_session(); });
  report(call_, "done");
}

void Simulator::on_record(const machine::Record& record) {
  switch (record.kind) {
    case Kind::Byte:
      ++bytes_received_;
      output.push_back({record.thread, record.data[0]});
      return;
    case Kind::Stopped: ++stopped_; return;
    case Kind::Trap:
      note("trap " + std::to_string(record.thread) + ' ' + std::to_string(record.cycle) + ' ' +
           std::to_string(record.word(0)) + ' ' + std::to_string(record.word(4)) + ' ' +
           std::to_string(record.word(8)));
      return;
    case Kind::Queues:
      for (size_t at = 0; at + sizeof(sim::OccupiedQueue) <= record.bytes; at += sizeof(sim::OccupiedQueue)) {
        note("held " + std::to_string(record.word(at)) + ' ' + std::to_string(record.word(at + 4)) + ' ' +
             std::to_string(record.word(at + 8)) + ' ' + std::to_string(record.word(at + 12)));
      }
      return;
    case Kind::Progress:
      std::memcpy(&instructions_, record.data, sizeof instructions_);
      update_status(false);
      return;
    case Kind::Woken:
      woken_.assign(record.data, record.data + record.bytes);
      std::memcpy(&queued_, record.data + offsetof(sim::Woken, queued), sizeof queued_);
      std::memcpy(&instructions_, record.data + offsetof(sim::Woken, instructions), sizeof instructions_);
      // The program may end before it blocks again.
      update_figures();
      return;
    default: return;
  }
}

void Simulator::on_message(const machine::Message& message) {
  ++messages_received_;
  Message& whole = messages.emplace_back();
  std::copy_n(message.data.begin(), std::min(message.data.size(), whole.size()), whole.begin());
}

void Simulator::on_event(const machine::Event& event) {
  note("event " + std::to_string(event.cycle) + ' ' + std::to_string(event.board) + ' ' +
       std::to_string(static_cast<unsigned>(event.what)) + ' ' + std::to_string(event.unit) + ' ' +
       std::to_string(event.value));
}

void Simulator::on_fault(const machine::Fault& fault) {
  note("fault " + std::to_string(fault.cause) + ' ' + std::to_string(fault.address) + ' ' +
       std::to_string(fault.accelerator) + ' ' + std::to_string(fault.cycle));
}

void Simulator::update_status(bool computes) {
  if (!status_) return;
  status_->computes = computes;
  if (computes) status_->calls = status_->calls + 1;
  update_figures();
}

void Simulator::update_figures() {
  if (!status_) return;
  status_->first = first_;
  status_->threads = started_;
  status_->cycle = cycle();
  status_->instructions = instructions_;
}

void Simulator::report(const char* call, const char* reason) {
  std::ofstream report(settings_.report);
  report << "reason " << reason << "\ncall " << call << "\ncycles " << cycle() - first_ << "\n" << notes_;
  if (woken_.size() < sizeof(sim::Woken)) return;
  const auto* woken = reinterpret_cast<const sim::Woken*>(woken_.data());
  const auto* active = reinterpret_cast<const sim::ActiveThread*>(woken + 1);
  report << "queued " << woken->queued << "\n";
  for (uint32_t i = 0; i < woken->count; ++i) {
    report << "still " << active[i].thread << ' ' << +active[i].doing << ' ' << +active[i].request << ' '
           << active[i].pc << ' ' << active[i].address << ' ' << active[i].data << "\n";
  }
  // The end of the text that threads have printed and the program has not read.
  constexpr size_t kMost = 4000;
  for (size_t at = output.size() > kMost ? output.size() - kMost : 0; at < output.size(); ++at) {
    report << "said " << output[at].thread << ' ' << +output[at].byte << "\n";
  }
}

void Simulator::died(const char* call, const char* reason) {
  report(call, reason);
  exit_program(GS_EXIT_DIED);
}

}  // namespace gossamer::host
