// SPDX-License-Identifier: Apache-2.0
// noc random SEED CYCLES | pairs SEED | full SEED | fair SEED | block SEED | rates SEED
// Prints its measurements, one `name value` a line.
#include <algorithm>
#include <cstring>
#include <string>

#include "harness.h"

namespace noc_test {
namespace {

constexpr unsigned kLengths[] = {1, 2, 3, 4, 5, 8, 16, 17};

/// An address that routes a packet from a source to a sink; after some tries, any address.
uint32_t toward(Bench& bench, unsigned source, unsigned sink) {
  uint32_t dest = 0;
  for (int i = 0; i < 400; i++) {
    const unsigned kind = bench.below(kKinds), own = bench.below(4);
    dest = Bench::address(kind, own ? kBoard : bench.below(4096), bench.below(kHeight), bench.below(kWidth),
                          bench.below(64));
    // Tiles outside the mesh: at the edge, and as far away as an address reaches.
    if (bench.below(16) == 0) dest |= 15u << (bench.below(2) ? 10 : 6);
    if (bench.below(16) == 0) dest |= 7u << 26;
    if (bench.sink(source, dest) == sink) break;
  }
  return dest;
}

bool reaches(Bench& bench, unsigned source, unsigned sink, uint32_t& dest) {
  dest = toward(bench, source, sink);
  return bench.sink(source, dest) == sink;
}

/// Phases of different patterns and odds; after each phase all packets must have arrived.
void random_traffic(uint64_t seed, uint64_t cycles) {
  Bench bench(seed);
  uint64_t reached = 0;
  while (bench.cycle < cycles) {
    if (bench.below(8) == 0) bench.reset();
    bench.move(bench.below(2) ? kHeight - 1 : bench.below(kHeight), bench.below(kWidth));
    if (!kTiles) bench.run(2);
    const unsigned pattern = bench.below(5), hot = bench.below(kEnds), spread = bench.below(3);
    const unsigned nets = 1 + bench.below(15), backlog = 1 + bench.below(60), stray = bench.below(4) == 0;
    for (End& end : bench.ends) {
      static constexpr unsigned odds[] = {256, 256, 230, 128, 40, 8};
      end.send = odds[bench.below(6)];
      for (unsigned& take : end.take) take = odds[spread ? bench.below(6) : 0];
    }
    const unsigned length = 200 + bench.below(1200);
    for (unsigned i = 0; i < length; i++) {
      for (unsigned e = 0; e < kEnds; e++) {
        End& end = bench.ends[e];
        for (unsigned v = 0; v < kVnets; v++) {
          if (!(nets >> v & 1) || end.queue[v].size() > backlog || bench.below(4)) continue;
          unsigned to = bench.below(kEnds);
          if (pattern == 1 || (pattern == 2 && bench.below(4))) to = hot;
          if (pattern == 3) to = (e + 1 + hot) % kEnds;
          bench.send(e, v, toward(bench, e, to), kLengths[bench.below(pattern == 4 ? 2 : 8)], stray);
        }
      }
      bench.step();
      if (bench.below(200) == 0) bench.ends[bench.below(kEnds)].take[bench.below(kVnets)] = bench.below(257);
    }
    bench.drain();
    reached = bench.delivered;
  }
  std::printf("flits %llu\n", static_cast<unsigned long long>(reached));
}

/// All pairs of ends: the latency of a lone packet, and the throughput of a stream of packets.
void pairs(uint64_t seed) {
  Bench bench(seed);
  bench.record = true;
  unsigned found = 0, places = kTiles ? 1 : kWidth * kHeight;
  for (unsigned p = 0; p < places; p++) {
    bench.move(p / kWidth, p % kWidth);
    bench.run(4);
    for (unsigned source = 0; source < kEnds; source++) {
      for (unsigned sink = 0; sink < kEnds; sink++) {
        uint32_t dest;
        if (!reaches(bench, source, sink, dest)) continue;
        found++;
        const unsigned v = bench.below(kVnets), flits = kLengths[bench.below(8)], packets = 40 / flits + 1;
        bench.arrived.clear();
        for (unsigned i = 0; i < packets; i++) bench.send(source, v, dest, flits);
        bench.drain();
        const Arrival& head = bench.arrived.front();
        const uint64_t adapters = (source < kTiles ? 1 : 0) + (sink < kTiles ? 2 : 0);
        const uint64_t hops = Bench::hops(source, sink);
        CHECK(head.first - head.sent == 3 * hops + adapters, "%u to %u, %u routers: %llu cycles", source, sink,
              static_cast<unsigned>(hops), static_cast<unsigned long long>(head.first - head.sent));
        const uint64_t took = bench.arrived.back().last - head.first;
        CHECK(took == packets * flits - 1, "%u to %u: %u packets of %u take %llu cycles", source, sink, packets, flits,
              static_cast<unsigned long long>(took));
      }
    }
  }
  std::printf("pairs %u\n", found);
}

/// All ports at once, each source with its own sink: one flit a cycle each, for all lengths and networks.
void full(uint64_t seed) {
  Bench bench(seed);
  for (unsigned round = 0; round < 24; round++) {
    bench.reset();
    bench.move(round % 3 ? kHeight - 1 : bench.below(kHeight), bench.below(kWidth));
    bench.run(4);
    // No two sources share a sink; in a mesh sinks are neighbours, so that no two paths share a link.
    std::array<int, kEnds> to;
    to.fill(-1);
    std::array<bool, kEnds> used{};
    unsigned active = 0;
    for (unsigned i = 0; i < 200; i++) {
      const unsigned source = bench.below(kEnds), sink = bench.below(kEnds);
      uint32_t dest;
      if (to[source] >= 0 || used[sink] || (kTiles && Bench::hops(source, sink) > 1)) continue;
      if (kTiles && source == sink && bench.below(2)) continue;
      if (!reaches(bench, source, sink, dest)) continue;
      to[source] = static_cast<int>(sink), used[sink] = true, active++;
      const unsigned nets = 1 + bench.below(15), flits = kLengths[bench.below(8)];
      for (unsigned n = 0; n < 700;) {
        for (unsigned v = 0; v < kVnets; v++) {
          if (nets >> v & 1) bench.send(source, v, dest, flits), n += flits;
        }
      }
    }
    bench.run(60);
    bench.count.fill(0);
    bench.run(500);
    for (unsigned s = 0; s < kEnds; s++) {
      if (to[s] >= 0) {
        CHECK(bench.count[to[s]] == 500, "round %u: %u to %d: %llu flits in 500 cycles", round, s, to[s],
              static_cast<unsigned long long>(bench.count[to[s]]));
      }
    }
    bench.drain();
  }
}

/// One output, several inputs: equal shares; a packet waits for at most one packet of each other input in its network.
void fair(uint64_t seed) {
  Bench bench(seed);
  bench.record = true;
  uint64_t longest = 0;
  for (unsigned round = 0; round < 40; round++) {
    bench.reset();
    bench.move(kHeight - 1, bench.below(kWidth));
    bench.run(4);
    const unsigned sink = bench.below(kEnds), flits = kLengths[bench.below(8)];
    // Picks and grants could synchronize with two inputs of two networks each and with late credits.
    const unsigned nets = round % 3 ? 1u << bench.below(4) : 3 + bench.below(13), some = bench.below(2) ? kEnds : 2;
    const unsigned slow = round % 2 ? 256 : round % 4 ? 100 : 40;
    std::vector<unsigned> sources;
    for (unsigned s = 0; s < kEnds; s++) {
      uint32_t dest;
      if (sources.size() == some || !reaches(bench, s, sink, dest)) continue;
      sources.push_back(s);
      for (unsigned v = 0; v < kVnets; v++) {
        if (nets >> v & 1) for (unsigned i = 0; i < 3000 / flits + 1; i++) bench.send(s, v, dest, flits);
      }
    }
    for (unsigned& take : bench.ends[sink].take) take = slow;
    if (sources.size() < 2) continue;
    bench.run(200);
    bench.arrived.clear();
    bench.run(2400);
    std::map<std::pair<unsigned, unsigned>, std::vector<const Arrival*>> by;
    for (const Arrival& a : bench.arrived) by[{a.source, a.vnet}].push_back(&a);
    unsigned most = 0, least = ~0u;
    std::map<unsigned, std::vector<unsigned>> order;
    for (const Arrival& a : bench.arrived) order[a.vnet].push_back(a.source);
    for (auto& [vnet, who] : order) {
      // In a network packets leave round-robin: between two of one source there is at most one of each other.
      for (size_t i = 0; i + sources.size() < who.size() && kTiles == 0; i++) {
        const auto begin = who.begin() + static_cast<long>(i);
        std::vector<unsigned> window(begin, begin + static_cast<long>(sources.size()));
        std::sort(window.begin(), window.end());
        CHECK(window == sources, "round %u: network %u: the inputs are not served round-robin", round, vnet);
      }
    }
    for (auto& [key, list] : by) {
      most = std::max<unsigned>(most, list.size()), least = std::min<unsigned>(least, list.size());
      for (size_t i = 1; i < list.size(); i++) longest = std::max(longest, list[i]->first - list[i - 1]->last);
    }
    if (kTiles == 0) {
      CHECK(by.size() == sources.size() * __builtin_popcount(nets), "round %u: an input starves", round);
      // In one network the shares are equal; networks share an input and the output by flits, roughly.
      const unsigned apart = nets & (nets - 1) ? 3 + most / 4 : 1;
      CHECK(most - least <= apart, "round %u: shares from %u to %u packets", round, least, most);
      if (slow == 256) {
        const uint64_t all = bench.arrived.size() * flits;
        CHECK(all + 2 * flits * 20 >= 2400, "round %u: %llu flits in 2400 cycles", round,
              static_cast<unsigned long long>(all));
      }
    }
    bench.drain(1000000);
  }
  std::printf("longest-wait %llu\n", static_cast<unsigned long long>(longest));
}

/// A network whose flits no sink accepts blocks no other network.
void block(uint64_t seed) {
  Bench bench(seed);
  bench.patience = 3000;
  for (unsigned v = 0; v < kVnets; v++) {
    for (unsigned round = 0; round < 6; round++) {
      bench.reset();
      bench.move(kHeight - 1, bench.below(kWidth));
      bench.run(4);
      for (End& end : bench.ends) end.take[v] = 0;
      for (unsigned i = 0; i < 60; i++) {
        for (unsigned e = 0; e < kEnds; e++) {
          const uint32_t dest = toward(bench, e, bench.below(kEnds));
          bench.send(e, v, dest, kLengths[bench.below(8)]);
        }
      }
      bench.run(600);
      const uint64_t stuck = bench.waiting;
      // The other networks: each source to a sink of its own, at full rate where no link is shared.
      std::array<bool, kEnds> used{};
      unsigned streams = 0;
      for (unsigned e = 0; e < kEnds; e++) {
        for (unsigned i = 0; i < 20; i++) {
          const unsigned sink = bench.below(kEnds);
          uint32_t dest;
          if (used[sink] || !reaches(bench, e, sink, dest)) continue;
          used[sink] = true, streams++;
          for (unsigned n = 0; n < 200; n++) bench.send(e, (v + 1 + n % 3) % kVnets, dest, 1 + bench.below(5));
          break;
        }
      }
      const uint64_t queued = bench.waiting - stuck, began = bench.cycle;
      while (bench.waiting > stuck) {
        bench.step();
        CHECK(bench.cycle < began + (kTiles ? 600 * kEnds : 900), "network %u blocks others: %llu of %llu",
              v, static_cast<unsigned long long>(bench.waiting - stuck), static_cast<unsigned long long>(queued));
      }
      CHECK(streams > 1, "no streams");
      bench.drain(1000000);
    }
  }
}

/// For the benchmark: cycles from link to link, and flits a cycle out of all ports of a router at the rim.
void rates(uint64_t seed) {
  Bench bench(seed, kHeight - 1, 1);
  bench.record = true;
  bench.run(4);
  uint64_t hop = 0;
  for (unsigned source = 0; source < kEnds; source++) {
    for (unsigned sink = 0; sink < kEnds; sink++) {
      uint32_t dest;
      if (!reaches(bench, source, sink, dest)) continue;
      bench.arrived.clear();
      bench.send(source, 0, dest, 1);
      bench.drain();
      hop = std::max(hop, bench.arrived.front().first - bench.arrived.front().sent);
    }
  }
  for (unsigned source = 0; source < kEnds; source++) {
    // North and south, east and west cross; packets from the local port return to it.
    const unsigned sink = source == kEnds - 1 ? source : source ^ 1;
    uint32_t dest;
    if (!reaches(bench, source, sink, dest)) continue;
    for (unsigned i = 0; i < 400; i++) bench.send(source, i % kVnets, dest, 5);
  }
  bench.run(60);
  bench.count.fill(0);
  bench.run(1000);
  uint64_t all = 0;
  for (uint64_t flits : bench.count) all += flits;
  std::printf("hop-cycles %llu\nflits-per-cycle %.3f\n", static_cast<unsigned long long>(hop),
              static_cast<double>(all) / 1000);
}

}  // namespace
}  // namespace noc_test

int main(int argc, char** argv) {
  using namespace noc_test;
  if (argc < 3) return 2;
  const uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  const std::string mode = argv[1];
  if (mode == "random") random_traffic(seed, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 20000);
  else if (mode == "pairs") pairs(seed);
  else if (mode == "full") full(seed);
  else if (mode == "fair") fair(seed);
  else if (mode == "block") block(seed);
  else if (mode == "rates") rates(seed);
  else return 2;
  std::puts("ok");
}
