// SPDX-License-Identifier: Apache-2.0
#include "simulator.h"

#include <gossamer/core/exit_codes.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
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
    if (key == "broadcast") settings.broadcast = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    if (key == "next_hops") settings.next_hops = value;
    if (key == "forget") settings.forget = value;
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

Simulator::Simulator(const Settings& settings) : settings_(settings) {
  if (const int file = ::open(settings_.status.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666); file >= 0) {
    if (!::ftruncate(file, sizeof(Status))) {
      void* at = ::mmap(nullptr, sizeof(Status), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (at != MAP_FAILED) status_ = static_cast<Status*>(at);
    }
    ::close(file);
  }
  // Child processes of the user's program do not inherit these.
  for (const int end : {settings_.requests, settings_.records}) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  request('V', nullptr, 0, nullptr, 0);
  receive_until(Kind::Done);
}

Simulator::~Simulator() {
  if (status_) ::munmap(status_, sizeof(Status));
}

void Simulator::send(const Flit* flits, size_t count) {
  request('M', nullptr, 0, flits, count * sizeof(Flit));
  queued_ += count;
}

void Simulator::input(uint32_t thread, uint8_t byte) { request('U', &thread, sizeof thread, &byte, 1); }

void Simulator::start(uint32_t tile, uint64_t mask, uint32_t threads) {
  const uint32_t words[] = {tile, threads, static_cast<uint32_t>(mask), static_cast<uint32_t>(mask >> 32)};
  if (!first_) first_ = cycle_;
  started_ += static_cast<uint64_t>(__builtin_popcountll(mask));
  request('B', words, sizeof words, nullptr, 0);
}

std::vector<Reply> Simulator::exchange(const char* call, const std::vector<Flit>& flits, uint32_t replies) {
  call_ = call;
  replies_.clear();
  request('N', &replies, sizeof replies, flits.data(), flits.size() * sizeof(Flit));
  receive_until(Kind::Done);
  for (const Reply& reply : replies_) {
    if (!reply.status()) continue;
    char text[80];
    std::snprintf(text, sizeof text, "there is no memory at 0x%08x, or not all of it (%s)", reply.address(),
                  config::name_of(static_cast<config::Rejection>(reply.status())));
    reject_call(call, text);
  }
  return std::move(replies_);
}

uint64_t Simulator::control(const char* call, const std::vector<Flit>& packets) {
  using Answer = config::ControlAnswer;
  call_ = call;
  replies_.clear();
  const auto answers = static_cast<uint32_t>(packets.size());
  request('N', &answers, sizeof answers, packets.data(), packets.size() * sizeof(Flit));
  receive_until(Kind::Done);
  uint64_t value = 0;
  for (const Reply& reply : replies_) {
    const auto field = [&reply](unsigned lsb, unsigned bits) {
      return reply.head[lsb / 32] >> lsb % 32 & ((1U << bits) - 1);
    };
    static_assert(Answer::kRejectionLsb % 32 + Answer::kRejectionBits <= 32 && Answer::kValueLsb == 64);
    if (const uint32_t rejection = field(Answer::kRejectionLsb, Answer::kRejectionBits)) {
      note("failed board " + std::to_string(field(Answer::kBoardLsb, Answer::kBoardBits)) +
           " rejected a packet to its control unit (" +
               config::name_of(static_cast<config::Rejection>(rejection)) + ")");
      died(call, "failed");
    }
    value = reply.head[2] | uint64_t{reply.head[3]} << 32;
  }
  replies_.clear();
  return value;
}

std::vector<std::vector<uint8_t>> Simulator::ask(uint32_t tile, const std::vector<uint8_t>& commands,
                                                 uint32_t replies) {
  const uint32_t words[] = {replies, tile};
  reports_.clear();
  request('Q', words, sizeof words, commands.data(), commands.size());
  receive_until(Kind::Done);
  return std::move(reports_);
}

Woke Simulator::wait(const char* call, uint32_t wanted, uint64_t space, uint64_t cycles, bool poll,
                     uint64_t messages) {
  call_ = call;
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
  request('W', &wait, sizeof wait, nullptr, 0);
  receive_until(Kind::Woken);
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

void Simulator::end() {
  call_ = "the end of the program";
  request('E', nullptr, 0, nullptr, 0);
  receive_until(Kind::Woken);
  report(call_, "done");
}

void Simulator::request(char kind, const void* head, size_t head_bytes, const void* payload, size_t bytes) {
  const uint32_t words[] = {static_cast<uint8_t>(kind), static_cast<uint32_t>(head_bytes + bytes)};
  const auto add = [this](const void* from, size_t count) {
    const auto* at = static_cast<const uint8_t*>(from);
    out_.insert(out_.end(), at, at + count);
  };
  add(words, sizeof words);
  add(head, head_bytes);
  add(payload, bytes);
  if (out_.size() > 1 << 20) flush();
}

void Simulator::flush() {
  // SIGPIPE of an ended simulator must not end the program before it has reported that.
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  bool broken = false;
  for (size_t at = 0; at < out_.size() && !broken;) {
    const ssize_t sent = ::write(settings_.requests, out_.data() + at, out_.size() - at);
    if (sent >= 0) at += static_cast<size_t>(sent);
    broken = sent < 0 && errno != EINTR;
  }
  if (broken) {
    const timespec none{};
    ::sigtimedwait(&pipe, nullptr, &none);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (broken) fail_disconnected();
  out_.clear();
}

void Simulator::fill() {
  // Moves the incomplete record to the front.
  in_.erase(in_.begin(), in_.begin() + static_cast<ptrdiff_t>(in_at_));
  in_at_ = 0;
  constexpr size_t kMost = 1 << 16;
  const size_t before = in_.size();
  in_.resize(before + kMost);
  ssize_t got;
  do {
    got = ::read(settings_.records, in_.data() + before, kMost);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) fail_disconnected();
  in_.resize(before + static_cast<size_t>(got));
}

void Simulator::receive_until(Kind kind) {
  update_status(false);
  flush();
  struct Head {
    uint8_t kind, flags;
    uint16_t spare;
    uint32_t thread, bytes, spare_too;
    uint64_t cycle;
  } head;
  static_assert(sizeof head == 24);
  for (;;) {
    while (in_.size() - in_at_ < sizeof head) fill();
    std::memcpy(&head, in_.data() + in_at_, sizeof head);
    while (in_.size() - in_at_ < sizeof head + head.bytes) fill();
    const uint8_t* payload = in_.data() + in_at_ + sizeof head;
    in_at_ += sizeof head + head.bytes;
    cycle_ = std::max(cycle_, head.cycle);
    handle_record(static_cast<Kind>(head.kind), head.thread, head.cycle, payload, head.bytes);
    if (static_cast<Kind>(head.kind) == kind) break;
  }
  update_status(true);
}

void Simulator::handle_record(Kind kind, uint32_t thread, uint64_t cycle, const uint8_t* payload, size_t bytes) {
  const auto word = [payload](size_t at) {
    uint32_t value;
    std::memcpy(&value, payload + at, sizeof value);
    return value;
  };
  switch (kind) {
    case Kind::Byte:
      ++bytes_received_;
      output.push_back({thread, payload[0]});
      return;
    case Kind::Packet: packet(payload, bytes); return;
    case Kind::Stopped: ++stopped_; return;
    case Kind::Trap: {
      char text[96];
      std::snprintf(text, sizeof text, "trap %u %llu %u %u %u\n", thread, static_cast<unsigned long long>(cycle),
                    word(0), word(4), word(8));
      notes_ += text;
      return;
    }
    case Kind::Queues:
      for (size_t at = 0; at + sizeof(sim::OccupiedQueue) <= bytes; at += sizeof(sim::OccupiedQueue)) {
        note("held " + std::to_string(word(at)) + ' ' + std::to_string(word(at + 4)) + ' ' +
             std::to_string(word(at + 8)) + ' ' + std::to_string(word(at + 12)));
      }
      return;
    case Kind::Reply: reports_.emplace_back(payload, payload + bytes); return;
    case Kind::Failed:
      note("failed " + std::string(payload, payload + bytes));
      died(call_, "failed");
    case Kind::Progress:
      std::memcpy(&instructions_, payload, sizeof instructions_);
      update_status(false);
      return;
    case Kind::Woken:
      woken_.assign(payload, payload + bytes);
      std::memcpy(&queued_, payload + offsetof(sim::Woken, queued), sizeof queued_);
      std::memcpy(&instructions_, payload + offsetof(sim::Woken, instructions), sizeof instructions_);
      return;
    default: return;
  }
}

void Simulator::packet(const uint8_t* payload, size_t bytes) {
  const size_t count = bytes / sizeof(Flit);
  Flit flit;
  std::memcpy(&flit, payload, sizeof flit);
  if (static_cast<config::FlitKind>(flit.kind()) != config::FlitKind::Header) {
    ++messages_received_;
    Message& message = messages.emplace_back();
    for (size_t i = 0; i < std::min<size_t>(count, config::mailbox::max_flits); ++i) {
      std::memcpy(message.data() + i * config::mailbox::flit_bytes, payload + i * sizeof(Flit),
                  config::mailbox::flit_bytes);
    }
    return;
  }
  const uint32_t op = flit.words[0] & 0xF;
  if (op == static_cast<uint32_t>(config::ControlOp::Event)) {
    std::string line = "event " + std::to_string(cycle_);
    for (const uint32_t word : flit.words) line += ' ' + std::to_string(word);
    note(line);
    return;
  }
  Reply reply;
  std::memcpy(reply.head.data(), flit.words.data(), sizeof reply.head);
  if (op == static_cast<uint32_t>(config::LoadOp::Fault)) {
    char text[96];
    std::snprintf(text, sizeof text, "fault %u %u %u %llu\n",
                  reply.head[0] >> config::LoadHeader::kTagLsb & 0xFF, reply.address(), reply.head[3],
                  static_cast<unsigned long long>(cycle_));
    notes_ += text;
    return;
  }
  for (size_t i = 1; i < count; ++i) {
    const uint8_t* data = payload + i * sizeof(Flit);
    reply.data.insert(reply.data.end(), data, data + 16);
  }
  replies_.push_back(std::move(reply));
}

void Simulator::update_status(bool computes) {
  if (!status_) return;
  status_->computes = computes;
  status_->first = first_;
  status_->threads = started_;
  status_->cycle = cycle_;
  status_->instructions = instructions_;
  if (computes) status_->calls = status_->calls + 1;
}

void Simulator::report(const char* call, const char* reason) {
  std::ofstream report(settings_.report);
  report << "reason " << reason << "\ncall " << call << "\ncycles " << cycle_ - first_ << "\n" << notes_;
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

void Simulator::fail_disconnected() { died(call_, "gone"); }

}  // namespace gossamer::host
