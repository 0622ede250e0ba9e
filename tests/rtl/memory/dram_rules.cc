// SPDX-License-Identifier: Apache-2.0
// The DRAM's controller under random requests: data are correct, no rule is violated. Then repeatedly with one of its
// timings one clock too short: the checker must name exactly that rule.
// Arguments: seed requests
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "gs_dram_controller.h"

namespace {

using namespace gossamer::sim;

struct Outcome {
  std::vector<std::string> violations;
  std::uint64_t wrong = 0, cycles = 0, activates = 0, refreshes = 0;
};

/// Random lines, in streaks within a row, over banks, or with random strides; reads and writes in runs.
Outcome run(const DramConfig& config, const DramTiming& timing, std::uint64_t seed, std::uint64_t requests) {
  DramController dram(config, timing);
  std::mt19937_64 random(seed);
  std::unordered_map<std::uint64_t, std::vector<std::uint8_t>> flat;
  std::multimap<std::uint32_t, std::vector<std::uint8_t>> expected;
  std::map<std::uint32_t, std::vector<std::uint8_t>> partial;
  Outcome outcome;
  std::uint64_t sent = 0, answered = 0, cycle = 0, address = 0, streak = 0, pause = 0;
  std::uint64_t beat = 0;
  bool write = false;
  std::uint64_t stride = 0;
  std::vector<std::uint8_t> line(config.lineBytes);
  std::uint32_t id = 0;
  while (answered < requests) {
    if (beat == 0 && pause > 0) {
      pause--;
    } else if (sent < requests && dram.ready()) {
      if (beat == 0) {
        if (streak == 0) {
          streak = 1 + random() % 24;
          write = random() % 2 == 0;
          address = random() % config.bytes;
          const std::uint64_t strides[] = {config.lineBytes, config.bankBytes, config.rowBytes * config.banks,
                                           1ull << 20};
          stride = strides[random() % 4];
          if (random() % 8 == 0) pause = random() % 200;
        }
        streak--;
        // Few enough lines that addresses repeat.
        address = (address + stride) % config.bytes / config.lineBytes * config.lineBytes % (1ull << 22);
        id = static_cast<std::uint32_t>(sent % 512);
        for (auto& byte : line) byte = static_cast<std::uint8_t>(random());
      }
      const bool last = !write || (beat + 1) * config.portBytes == config.lineBytes;
      dram.put(cycle, write, last, address, id, line.data() + beat * config.portBytes);
      beat++;
      if (last) {
        beat = 0;
        sent++;
        if (write) {
          flat[address] = line;
        } else {
          auto found = flat.find(address);
          expected.emplace(id, found == flat.end() ? std::vector<std::uint8_t>(config.lineBytes) : found->second);
        }
      }
    }
    dram.tick(cycle);
    if (dram.has(cycle) && random() % 16 != 0) {
      const auto got = dram.get();
      if (got.ack) {
        answered++;
      } else {
        auto& bytes = partial[got.id];
        bytes.insert(bytes.end(), got.data.begin(), got.data.begin() + static_cast<std::ptrdiff_t>(config.portBytes));
        if (got.last) {
          auto found = expected.find(got.id);
          if (found == expected.end() || found->second != bytes) outcome.wrong++;
          if (found != expected.end()) expected.erase(found);
          partial.erase(got.id);
          answered++;
        }
      }
    }
    if (++cycle > requests * 400 + 100000) {
      std::printf("the controller makes no progress after %llu responses\n", static_cast<unsigned long long>(answered));
      std::exit(1);
    }
  }
  // Long enough for a refresh without requests.
  cycle += 20 * config.refi;
  dram.put(cycle, false, true, 0, 0, nullptr);
  for (int i = 0; i < 4000; i++) dram.tick(cycle++);
  outcome.violations = dram.checker().violations();
  outcome.cycles = cycle;
  outcome.activates = dram.checker().seen(DramCommand::kActivate);
  outcome.refreshes = dram.checker().seen(DramCommand::kRefresh);
  return outcome;
}

struct Mutation {
  const char* rule;  // the rule that the checker must name
  void (*make)(DramTiming&);
};

const Mutation kMutations[] = {
    {"tRCD", [](DramTiming& t) { t.rcd--; }},
    {"tRP", [](DramTiming& t) { t.rp--; }},
    {"tRAS", [](DramTiming& t) { t.ras--; }},
    {"tRRD", [](DramTiming& t) { t.rrd--; }},
    {"tFAW", [](DramTiming& t) { t.faw--; }},
    {"tRTP", [](DramTiming& t) { t.rtp--; }},
    {"tRFC", [](DramTiming& t) { t.rfc--; }},
    {"tREFI", [](DramTiming& t) { t.refi = t.refi * 3 / 2; }},
    {"tWTR", [](DramTiming& t) { t.writeToRead--; }},
    {"tWR", [](DramTiming& t) { t.writeToCharge--; }},
    {"data bus: no time for the turnaround", [](DramTiming& t) { t.readToWrite--; }},
    {"data bus: two bursts overlap", [](DramTiming& t) { t.readToWrite -= 3; }},
    {"tCCD", [](DramTiming& t) { t.burst--; }},
};

bool named(const std::vector<std::string>& violations, const std::string& rule) {
  for (const std::string& violation : violations) {
    if (violation.find(": " + rule) != std::string::npos) return true;
  }
  return false;
}

/// Rules that the controller cannot violate by a wrong timing: the test passes the commands to the checker directly.
int directly() {
  const DramConfig c;
  int failures = 0;
  using K = DramCommand;
  const auto says = [&](const char* rule, std::vector<std::pair<std::uint64_t, DramCommand>> commands) {
    DramChecker checker(c);
    for (const auto& [clock, command] : commands) checker.observe(clock, command);
    const bool ok = *rule ? checker.count() >= 1 && named(checker.violations(), rule) : checker.count() == 0;
    if (!ok) {
      std::printf("the checker did not say '%s'\n", rule);
      failures++;
    }
  };
  says("", {{10, {K::kActivate, 0, 5}}, {21, {K::kRead, 0, 0, 64}}, {38, {K::kPrecharge, 0}},
            {49, {K::kActivate, 0, 6}}});
  says("command: two commands in one clock", {{10, {K::kActivate, 0, 5}}, {10, {K::kActivate, 1, 5}}});
  says("bank: the number", {{10, {K::kActivate, 8, 5}}});
  says("activate: the row does not exist", {{10, {K::kActivate, 0, 65536}}});
  says("activate: the bank is open", {{10, {K::kActivate, 0, 5}}, {100, {K::kActivate, 0, 6}}});
  says("read: the bank is closed", {{10, {K::kRead, 0, 0, 0}}});
  says("write: the bank is closed", {{10, {K::kActivate, 0, 5}}, {40, {K::kPrecharge, 0}}, {60, {K::kWrite, 0, 0, 0}}});
  says("column: not the start", {{10, {K::kActivate, 0, 5}}, {40, {K::kRead, 0, 0, 32}}});
  says("column: not the start", {{10, {K::kActivate, 0, 5}}, {40, {K::kRead, 0, 0, 8192}}});
  says("refresh: a bank is open", {{10, {K::kActivate, 0, 5}}, {60, {K::kRefresh}}});
  says("tRP before refresh", {{10, {K::kActivate, 0, 5}}, {50, {K::kPrechargeAll}}, {60, {K::kRefresh}}});
  says("tRAS", {{10, {K::kActivate, 0, 5}}, {37, {K::kPrechargeAll}}});
  return failures;
}

int check(const char* name, const DramConfig& config, std::uint64_t seed, std::uint64_t requests, bool mutate) {
  int failures = 0;
  const Outcome good = run(config, DramTiming(config), seed, requests);
  if (good.wrong || !good.violations.empty()) {
    std::printf("%s: %llu answers were wrong; %zu rules broken%s%s\n", name,
                static_cast<unsigned long long>(good.wrong),
                good.violations.size(), good.violations.empty() ? "" : ": ",
                good.violations.empty() ? "" : good.violations[0].c_str());
    failures++;
  }
  if (good.activates < requests / 50 || good.refreshes < 19) {
    std::printf("%s: only %llu activates, %llu refreshes\n", name, static_cast<unsigned long long>(good.activates),
                static_cast<unsigned long long>(good.refreshes));
    failures++;
  }
  if (!mutate) return failures;
  for (const Mutation& mutation : kMutations) {
    DramTiming timing(config);
    mutation.make(timing);
    // A rule matters only if its commands meet: in one of a hundred runs no bank is wanted right after a refresh.
    bool found = false;
    for (std::uint64_t more = 0; more < 5 && !found; ++more)
      found = named(run(config, timing, seed + more, requests).violations, mutation.rule);
    if (!found) {
      std::printf("%s: %s was broken and the checker did not say so\n", name, mutation.rule);
      failures++;
    }
  }
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::uint64_t seed = std::strtoull(argv[1], nullptr, 0), requests = std::strtoull(argv[2], nullptr, 0);
  int failures = directly();
  DramConfig ddr3;
  failures += check("DDR3, lines of 32 bytes", ddr3, seed, requests, true);
  ddr3.lineBytes = 64;
  failures += check("DDR3, lines of 64 bytes", ddr3, seed + 1, requests, false);
  ddr3.lineBytes = 128;
  ddr3.portBytes = 64;
  ddr3.bankHash = false;
  failures += check("DDR3, lines of 128 bytes", ddr3, seed + 2, requests, false);
  DramConfig sdr;
  sdr.doubleRate = false;
  sdr.bytes = 1ull << 23;
  sdr.busBytes = 4, sdr.banks = 4, sdr.rowBytes = 1024;
  sdr.cl = 2, sdr.cwl = 0, sdr.rcd = 2, sdr.rp = 2, sdr.ras = 3, sdr.rrd = 2, sdr.faw = 4, sdr.wr = 2, sdr.wtr = 1;
  sdr.rtp = 1, sdr.rfc = 4, sdr.refi = 937;
  sdr.dramKhz = sdr.coreKhz = 60000;
  sdr.controllerLatency = 6, sdr.portBytes = 4;
  failures += check("SDR", sdr, seed + 3, requests, false);
  return failures ? 1 : 0;
}
