// SPDX-License-Identifier: Apache-2.0
/// Steady flows that never pause: the head of each must leave in bounded time, whatever the others do.
///
/// Nothing here is random from cycle to cycle: starvation arises when two periods synchronize.
#include <cstdio>
#include <set>

#include "harness.h"
#include "scenes.h"

namespace switch_test {
namespace {

struct Flow {
  unsigned in, channel;
  uint32_t dest;
  unsigned flits;
};

/// Runs flows that never pause; returns the longest time that one of them waited between two packets.
uint64_t steady(Bench& b, const std::vector<Flow>& flows, uint64_t cycles) {
  for (const Flow& flow : flows) b.served[flow.in][flow.channel] = b.now;
  uint64_t longest = 0;
  for (const uint64_t end = b.now + cycles; b.now < end;) {
    for (const Flow& flow : flows)
      while (b.queue[flow.in][flow.channel].size() < 3) b.send(flow.in, flow.channel, flow.dest, flow.flits);
    b.tick();
    for (const Flow& flow : flows) longest = std::max(longest, b.now - b.served[flow.in][flow.channel]);
  }
  return longest;
}

void drain_all(Bench& b) {
  for (auto& port : b.drain)
    for (auto& channel : port) channel.period = 1;
  b.finish();
}

/// The longest time that the head of a flow may wait among these flows, by the rules in docs/hardware/switch.md: each
/// ingress may be the waiter before; it is selected after at most one round of eight windows of 64 cycles, and stays
/// the waiter until the egress has ended as many bursts as there are ingresses and has space for the longest packet.
uint64_t bound(const Bench& b, const std::vector<Flow>& flows) {
  unsigned longest = 1, period = 1;
  std::set<unsigned> ingresses;
  for (const Flow& flow : flows) {
    longest = std::max(longest, flow.flits);
    ingresses.insert(flow.in);
  }
  for (auto& port : b.drain)
    for (auto& channel : port) period = std::max(period, channel.period);
  const uint64_t passed = kPorts * std::max<uint64_t>(b.top->burst_i + longest, 1);
  return ingresses.size() * (8 * 64 + 64 + (passed + kLongest) * period);
}

void check_bound(Bench& b, const char* name, const std::vector<Flow>& flows) {
  const uint64_t most = bound(b, flows), waited = steady(b, flows, 2 * most);
  if (waited > most)
    for (const Flow& flow : flows)
      std::printf("  port %u channel %u to %08x, %u flits: %llu cycles\n", flow.in, flow.channel, flow.dest, flow.flits,
                  (unsigned long long)(b.now - b.served[flow.in][flow.channel]));
  std::printf("%s %llu of %llu\n", name, (unsigned long long)waited, (unsigned long long)most);
  CHECK(waited <= most, "%s: a flow waits %llu cycles", name, (unsigned long long)waited);
  drain_all(b);
}

}  // namespace

void fair(uint64_t seed, uint64_t rounds) {
  Bench b(seed);
  fill_table(b);
  b.steady = true;
  const uint32_t by2 = address(kThread, 0, 0), by3 = address(kThread, 1, 0), by4 = address(kThread, 2, 0);
  b.top->burst_i = 0;
  // One ingress: a stream at its full rate, and another network's packets.
  for (unsigned flits = 1; flits <= 6; ++flits) {
    // Full queues first.
    b.drain[2][0].period = 64;
    steady(b, {{9, 0, by2, flits}}, 2000);
    b.drain[2][0].period = 1;
    check_bound(b, "one-ingress", {{9, 0, by2, flits}, {9, 2, by3, 1}});
  }
  // Two heads that are offered alternately, each while its egress is busy with packets of another ingress.
  for (unsigned shift = 0; shift < 3; ++shift) {
    for (unsigned flits = 2; flits <= 4; ++flits) {
      steady(b, {{8, 4, by2, flits}}, 100 + shift);
      check_bound(b, "two-egresses", {{8, 4, by2, flits}, {7, 4, by3, flits}, {9, 0, by2, 1}, {9, 2, by3, 1}});
    }
  }
  // A channel whose receiver is slow: an ingress without other offers is always the first to see free space.
  for (unsigned period : {2u, 3u, 8u}) {
    b.drain[2][0].period = period;
    check_bound(b, "slow-channel", {{8, 0, by2, 5}, {9, 0, by2, 5}, {9, 2, by3, 2}, {9, 4, by4, 3}});
  }
  for (uint64_t round = 0; round < rounds; ++round) {
    static const unsigned ports[] = {0, 2, 3, 4, 7, 8, 9};
    b.top->burst_i = b.below(3) ? 0 : b.below(20);
    std::vector<Flow> flows;
    for (unsigned in : ports)
      for (unsigned vnet = 0; vnet < 4; ++vnet)
        if (b.below(2)) {
          // Two egresses, so that most flows contend.
          const uint32_t dest = b.below(2) ? by2 : by3;
          flows.push_back({in, vnet * kVcs, dest, b.below(16) ? 1 + b.below(5) : kLongest});
        }
    for (unsigned port : {2u, 3u})
      for (auto& channel : b.drain[port]) channel.period = 1 + b.below(b.below(4) ? 2 : 6);
    check_bound(b, "random", flows);
  }
}

}  // namespace switch_test
