// SPDX-License-Identifier: Apache-2.0
/// Debug buses of tiles (config/constants/debug.toml).
#include <cstdio>
#include <cstring>

#include "machine/machine.h"

namespace gossamer::machine {
namespace {

using config::DebugCommand;
using config::DebugReport;

constexpr uint32_t kReadBytes = 1 << 16;  ///< of memory, in about 5,000 cycles
constexpr unsigned kParkReads = 16;       ///< such reads within which threads must park

bool is(const std::vector<uint8_t>& report, DebugReport code) {
  return !report.empty() && report[0] == static_cast<uint8_t>(code);
}

template <typename Value>
Value value_at(const std::vector<uint8_t>& report, size_t byte) {
  Value value{};
  if (byte + sizeof value <= report.size()) std::memcpy(&value, report.data() + byte, sizeof value);
  return value;
}

}  // namespace

std::vector<Report> Machine::ask(uint32_t tile, const std::vector<uint8_t>& commands, uint32_t replies) {
  const uint32_t head[] = {replies, tile};
  std::vector<Report> found;
  transport_.request('Q', {{head, sizeof head}, {commands.data(), commands.size()}});
  until(sim::Kind::Done, {}, [&](const Record& record) {
    found.push_back({record.thread / plan_.threads, {record.data, record.data + record.bytes}});
    return true;
  });
  return found;
}

void Machine::check_identity() {
  for (const Report& report : ask(kEachTile, {static_cast<uint8_t>(DebugCommand::Ping)}, 1)) {
    // Code, magic, hash, version, threads, threads per core, instruction memories.
    const std::vector<uint8_t>& bytes = report.bytes;
    if (value_at<uint32_t>(bytes, 1) == config::debug_magic && value_at<uint8_t>(bytes, 9) == config::debug_version &&
        value_at<uint8_t>(bytes, 10) == plan_.threads && value_at<uint8_t>(bytes, 11) == plan_.core_threads) {
      continue;
    }
    std::string digits;
    for (const uint8_t byte : bytes) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", byte);
      digits += two;
    }
    throw Error(Error::Kind::Died,
                "the simulated tile is not of configuration " + plan_.config + ": it replied " + digits);
  }
}

std::vector<TileCounters> Machine::tile_counters() {
  std::vector<TileCounters> found(tiles());
  std::vector<uint8_t> commands;
  for (unsigned i = 0; i < found[0].size(); ++i) {
    commands.push_back(static_cast<uint8_t>(DebugCommand::ReadCounter));
    commands.push_back(static_cast<uint8_t>(i));
  }
  for (const Report& report : ask(kEachTile, commands, static_cast<uint32_t>(found[0].size()))) {
    if (is(report.bytes, DebugReport::Counter)) {
      found.at(report.tile).at(value_at<uint8_t>(report.bytes, 1)) = value_at<uint64_t>(report.bytes, 2);
    }
  }
  return found;
}

std::vector<Report> Machine::each_thread(DebugCommand command, uint32_t replies) {
  std::vector<uint8_t> commands;
  for (uint32_t thread = 0; thread < plan_.threads; ++thread) {
    commands.push_back(static_cast<uint8_t>(command));
    commands.push_back(static_cast<uint8_t>(thread));
  }
  return ask(kEachTile, commands, replies);
}

std::vector<uint32_t> Machine::flush() {
  std::vector<uint32_t> running;
  for (const Report& report : each_thread(DebugCommand::Flush, plan_.threads)) {
    // Code, command, thread.
    if (is(report.bytes, DebugReport::Rejected)) {
      running.push_back(report.tile * plan_.threads + value_at<uint8_t>(report.bytes, 2));
    }
  }
  return running;
}

bool Machine::pass_time() {
  bool parked = false;
  Flits flits;
  config::LoadHeader head;
  head.op = config::LoadOp::Read;
  head.address = static_cast<uint32_t>(config::dram_base);
  head.length = kReadBytes;
  const bool owned = !plan_.alone && !plan_.is_guest() && plan_.job_of(plan_.hosts[0]) != kNoJob;
  const Target target = at((owned ? plan_.hosts[0] : boards_of(0)[0]) * plan_.tiles);
  add_load(flits, target.dest, target.job, head, true, nullptr);
  const uint32_t replies = kReadBytes / kPacketBytes;
  transport_.request('N', {{&replies, sizeof replies}, {flits.data(), flits.size() * sizeof(Flit)}});
  until(
      sim::Kind::Done, [](Received& received) { return std::holds_alternative<Reply>(received); },
      [&](const Record& record) {
        parked |= record.bytes && record.data[0] == static_cast<uint8_t>(DebugReport::Parked);
        return true;
      });
  return parked;
}

void Machine::halt() {
  each_thread(DebugCommand::Halt, 0);
  // A thread reports when it is parked.
  for (unsigned reads = 0; reads < kParkReads && pass_time();) ++reads;
}

void Machine::resume_threads() {
  each_thread(DebugCommand::Resume, 0);
  for (unsigned reads = 0; reads < 2; ++reads) pass_time();
}

std::array<uint32_t, 31> Machine::registers(uint32_t thread) {
  constexpr uint32_t kWrite = static_cast<uint32_t>(config::Csr::DebugValue) << 20 | 0x1073;  // csrrw x0, csr, x0
  std::array<uint32_t, 31> found{};
  for (uint32_t number = 1; number <= found.size(); ++number) {
    const uint32_t instruction = kWrite | number << 15;
    std::vector<uint8_t> command{static_cast<uint8_t>(DebugCommand::Inject),
                                 static_cast<uint8_t>(thread % plan_.threads)};
    for (unsigned byte = 0; byte < 4; ++byte) command.push_back(static_cast<uint8_t>(instruction >> 8 * byte));
    const auto reports = ask(thread / plan_.threads, command, 1);
    if (!reports.empty()) found[number - 1] = value_at<uint32_t>(reports[0].bytes, 2);
  }
  return found;
}

}  // namespace gossamer::machine
