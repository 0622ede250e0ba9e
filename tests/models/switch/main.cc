// SPDX-License-Identifier: Apache-2.0
// switch_test directed SEED | random SEED PACKETS | rates SEED CYCLES | saturate SEED CYCLES
#include <cstring>

#include "harness.h"
#include "scenes.h"

using namespace switch_test;

namespace {

const unsigned kBursts[] = {0, 1, 4, 16, 255};

/// A destination of any kind; sometimes unroutable.
uint32_t any_destination(Bench& b, bool unroutable) {
  static const Kind kinds[] = {kThread, kTile, kStream, kMatch, kKey, kControl, kAccelerator};
  if (b.below(8) == 0) return address(kHost, unroutable && b.below(4) == 0 ? 2 + b.below(4000) : b.below(2), 0);
  const Kind kind = kinds[b.below(7)];
  unsigned board = b.below(2) ? kOwnBoard : b.below(10);
  if (unroutable && b.below(10) == 0) board = b.below(2) ? 10 + b.below(40) : 64 + b.below(4000);
  uint32_t rest = static_cast<uint32_t>(b.random()) & 0x3FFF;
  if (kind == kKey) {
    const unsigned link = unroutable && b.below(10) == 0 ? b.below(64) : 1 + b.below(3);
    return address(kKey, 0, b.below(2) << 6 | link);
  }
  if (kind == kStream) rest = unroutable && b.below(10) == 0 ? b.below(256) : b.below(2);
  return address(kind, board, rest);
}

unsigned channel_of(Bench& b, unsigned port, unsigned vnet) {
  return vnet * kVcs + (is_link(port) ? b.below(kVcs) : 0);
}

unsigned length(Bench& b) {
  switch (b.below(4)) {
    case 0: return 1;
    case 1: return 1 + b.below(5);
    case 2: return 1 + b.below(kLongest);
    default: return b.below(8) ? 4 : kLongest;
  }
}

/// Packets of all kinds, from all ports, to receivers of all speeds.
void random_traffic(uint64_t seed, uint64_t count) {
  Bench b(seed);
  fill_table(b);
  uint64_t made = 0;
  while (made < count) {
    b.top->burst_i = kBursts[b.below(5)];
    for (auto& rate : b.send_rate) rate = b.below(3) ? 1.0 : 0.05 + b.below(90) / 100.0;
    for (auto& port : b.drain)
      for (auto& channel : port) channel.rate = b.below(3) == 0 ? 0.02 + b.below(50) / 100.0 : 1.0;
    const bool hot = b.below(4) == 0;
    const uint32_t spot = any_destination(b, false);
    for (unsigned n = 0; n < 400 && made < count; ++n, ++made) {
      const unsigned port = b.below(kPorts);
      const unsigned channel = channel_of(b, port, b.below(4));
      b.send(port, channel, hot && b.below(3) ? spot : any_destination(b, true), length(b));
      if (b.below(3) == 0) b.tick();
      if (b.below(97) == 0) {
        // A host at a port that does not exist: an invalid entry that a table could contain.
        const unsigned index = 40 + b.below(10);
        if (b.outstanding() == 0) b.set(index, {true, 11 + b.below(20), 0});
      }
    }
    if (b.below(2)) b.finish();
  }
  b.finish();
  std::printf("delivered %llu dropped %llu cycles %llu\n", (unsigned long long)b.delivered,
              (unsigned long long)b.dropped, (unsigned long long)b.now);
}

/// A channel that is not drained blocks no other: all other packets arrive, for all ports and networks.
void blocked(Bench& b) {
  for (unsigned port : {0u, 2u, 8u}) {
    const unsigned vcs = is_link(port) ? kVcs : 1;
    for (unsigned vnet = 0; vnet < 4; ++vnet) {
      for (unsigned vc = 0; vc < vcs; ++vc) {
        const unsigned stuck = vnet * kVcs + vc;
        b.drain[port][stuck].rate = 0;
        // Enough packets that the blocked channel fills its space at all ingresses.
        uint64_t held = 0, free = 0;
        for (unsigned in = 0; in < kPorts; ++in) {
          for (unsigned n = 0; n < 60; ++n) {
            const uint32_t dest = port == 0 ? address(kThread, kOwnBoard, 0)
                                  : port == 8 ? address(kStream, kOwnBoard, 0)
                                              : address(kThread, vc == 0 ? 0 : 3, 0);
            b.send(in, vnet * kVcs, dest, 5);
            ++held;
          }
        }
        for (int i = 0; i < 4000; ++i) b.tick();
        const uint64_t before = b.delivered;
        for (unsigned in = 0; in < kPorts; ++in) {
          for (unsigned other = 0; other < 4; ++other) {
            if (other == vnet) continue;
            for (unsigned n = 0; n < 20; ++n) {
              // Through the same port in other networks, and through other ports.
              const uint32_t dest = n % 2 == 0 ? (port == 0   ? address(kThread, kOwnBoard, 0)
                                                  : port == 8 ? address(kStream, kOwnBoard, 0)
                                                              : address(kThread, 0, 0))
                                               : address(kThread, 1, 0);
              b.send(in, other * kVcs, dest, 3);
              ++free;
            }
          }
        }
        const uint64_t start = b.now;
        while (b.delivered < before + free) {
          b.tick();
          CHECK(b.now - start < 60'000, "port %u channel %u, which is not drained, blocks others: %llu of %llu arrived",
                port, stuck, (unsigned long long)(b.delivered - before), (unsigned long long)free);
        }
        CHECK(b.outstanding() != 0, "no packet was blocked");
        b.drain[port][stuck].rate = 1;
        b.finish();
        (void)held;
      }
    }
  }
}

/// The table changes while packets are in flight: each follows one route or the other, whole.
void rewrite(Bench& b) {
  for (unsigned round = 0; round < 40; ++round) {
    b.finish();
    const Entry entry{b.below(4) != 0, 2 + b.below(3), b.below(2)};
    b.set(1, entry);
    for (unsigned n = 0; n < 20; ++n) b.send(b.below(kPorts), 2, address(kTile, 1, 0), length(b));
  }
  b.finish();
  // Entries that were never written are invalid.
  const uint64_t before = b.dropped;
  b.send(0, 0, address(kThread, 33, 0), 7);
  b.send(2, 0, address(kThread, 4095, 0), kLongest);
  b.send(2, 1, address(kHost, 5, 0), 1);
  b.send(0, 0, address(kStream, kOwnBoard, 2), 1);
  b.send(0, 0, address(kThread, 1, 0), 1);
  b.finish();
  CHECK(b.dropped >= before + 4, "%llu unroutable packets were dropped, not 4",
        (unsigned long long)(b.dropped - before));
  b.set(1, {true, 2, 0});
}

/// Each cycle writes an entry with the value that it has, while packets to all boards arrive: a read that meets the
/// write gives that value.
void refresh(Bench& b) {
  for (unsigned cycle = 0; cycle < 4000; ++cycle) {
    const unsigned to = b.below(9);
    if (b.outstanding() < 200) {
      const unsigned port = b.below(kPorts);
      b.send(port, channel_of(b, port, b.below(4)), address(kThread, to < kOwnBoard ? to : to + 1, 0), length(b));
    }
    const unsigned entry = b.below(10);
    b.set(entry, b.table[entry]);
  }
  b.finish();
}

void directed(uint64_t seed) {
  Bench b(seed);
  fill_table(b);
  blocked(b);
  rewrite(b);
  refresh(b);
}

/// One ingress, three networks that are blocked: the fourth has the full rate of the ingress.
void held(Bench& b) {
  for (unsigned vnet : {0u, 2u, 3u}) {
    b.drain[8][vnet * kVcs].rate = 0;
    for (unsigned in : {0u, 9u})
      for (unsigned n = 0; n < 60; ++n) b.send(in, vnet * kVcs, address(kStream, kOwnBoard, 0), 5);
  }
  for (int i = 0; i < 2000; ++i) b.tick();
  for (unsigned n = 0; n < 4000; ++n) b.send(9, 2, address(kThread, 0, 0), 1);
  for (int i = 0; i < 200; ++i) b.tick();
  const uint64_t from = b.flits_out, begin = b.now;
  for (int i = 0; i < 2000; ++i) b.tick();
  std::printf("held %.4f\n", double(b.flits_out - from) / double(b.now - begin));
  for (auto& channel : b.drain[8]) channel.rate = 1;
  b.finish();
}

/// The shortest and the longest burst among the last `count` flits that left by port 2. R is counted in flits: an
/// ingress continues for R flits, and its burst ends with the packet that reaches R.
void print_bursts(const Bench& b, const char* name, unsigned flits, unsigned burst, size_t count) {
  const auto& by = b.order_out[2];
  unsigned shortest = ~0u, longest = 0, length = 0, turns = 0;
  for (size_t i = by.size() - count; i < by.size(); ++i) {
    if (by[i] == by[i - 1]) {
      ++length;
      continue;
    }
    if (turns++ > 1) {
      shortest = std::min(shortest, length);
      longest = std::max(longest, length);
    }
    length = 1;
  }
  std::printf("%s %u %u %u %u\n", name, flits, burst, shortest, longest);
}

/// Latency of a lone packet; rate and fairness of many packets, each over so many cycles.
/// A switch whose lanes are three times as slow is measured for three times as many cycles.
void rates(uint64_t seed, uint64_t cycles) {
  // Flits of an input that do not run out in the 11,000 cycles of a crowd.
  const unsigned crowd = static_cast<unsigned>(2'400'000 / cycles);
  Bench b(seed);
  fill_table(b);
  for (unsigned flits : {1u, 5u}) {
    b.fastest = ~uint64_t{0};
    b.slowest = 0;
    for (unsigned in = 0; in < kPorts; ++in) {
      for (unsigned vnet = 0; vnet < 4; ++vnet) {
        b.send(in, vnet * kVcs, address(kThread, in % 4, 0), flits);
        b.finish();
      }
    }
    CHECK(b.fastest == b.slowest, "a lone packet takes %llu to %llu cycles", (unsigned long long)b.fastest,
          (unsigned long long)b.slowest);
    std::printf("latency %u %llu\n", flits, (unsigned long long)b.slowest);
  }
  // Four endpoints, one link, for all R: a flit a cycle, in equal shares.
  for (unsigned flits : {1u, 2u, 4u, 5u, kLongest}) {
    for (unsigned burst : kBursts) {
      b.top->burst_i = burst;
      b.flits_from[2].clear();
      const unsigned packets = 1200 / flits;
      const unsigned inputs[] = {0, 7, 8, 9};
      for (unsigned in : inputs)
        for (unsigned n = 0; n < packets; ++n) b.send(in, 2, address(kStream, 0, 0), flits);
      for (int i = 0; i < 200; ++i) b.tick();
      const uint64_t from = b.flits_out, begin = b.now;
      b.flits_from[2].clear();
      for (uint64_t i = 0; i < cycles; ++i) b.tick();
      const double rate = double(b.flits_out - from) / double(b.now - begin);
      uint64_t least = ~uint64_t{0}, most = 0;
      for (unsigned in : inputs) {
        least = std::min(least, b.flits_from[2][in]);
        most = std::max(most, b.flits_from[2][in]);
      }
      // Within the length of one burst of each.
      const uint64_t turn = std::max<uint64_t>(burst, 1) + flits;
      CHECK(most - least <= 2 * turn, "burst %u, %u flits: between %llu and %llu flits of 2000", burst, flits,
            (unsigned long long)least, (unsigned long long)most);
      std::printf("rate %u %u %.4f\n", flits, burst, rate);
      print_bursts(b, "burst", flits, burst, (b.flits_out - from) * 3 / 4);
      b.finish();
    }
  }
  // All other ports at once: R alone still determines the bursts.
  for (unsigned flits : {1u, 4u}) {
    for (unsigned burst = 44; burst <= 60; burst += flits) {
      b.top->burst_i = burst;
      for (unsigned in : {0u, 1u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u})
        for (unsigned n = 0; n < crowd / flits; ++n) b.send(in, 2, address(kStream, 0, 0), flits);
      const uint64_t from = b.flits_out;
      for (int i = 0; i < 11'000; ++i) b.tick();
      print_bursts(b, "crowd", flits, burst, (b.flits_out - from) * 10 / 11);
      b.finish();
    }
  }
  // All ports at once, each to the next one: no packet waits for another.
  const unsigned ring[] = {0, 2, 3, 4, 8, 9};
  for (unsigned flits : {1u, 4u}) {
    const unsigned packets = 4000 / flits;
    for (unsigned i = 0; i < 6; ++i) {
      const unsigned to = ring[(i + 1) % 6];
      const uint32_t dest = to == 0   ? address(kThread, kOwnBoard, 0)
                            : to >= 8 ? address(kStream, kOwnBoard, to - 8)
                                      : address(kThread, to - 2, 0);
      for (unsigned n = 0; n < packets; ++n) b.send(ring[i], 2 * (n % 4), dest, flits);
    }
    for (int i = 0; i < 200; ++i) b.tick();
    const uint64_t from = b.flits_out, begin = b.now;
    for (int i = 0; i < 2000; ++i) b.tick();
    std::printf("all %u %.4f\n", flits, double(b.flits_out - from) / double(b.now - begin) / 6);
    b.finish();
  }
  held(b);
  // A lone packet against five ingresses that never pause is served.
  b.top->burst_i = 16;
  for (unsigned in : {0u, 3u, 4u, 7u, 8u})
    for (unsigned n = 0; n < 2000; ++n) b.send(in, 0, address(kThread, 0, 0), 4);
  for (int i = 0; i < 500; ++i) b.tick();
  b.slowest = 0;
  b.send(9, 0, address(kThread, 0, 0), 1);
  uint64_t waits = 0;
  while (b.queue[9][0].size() || b.flits_from[2][9] == 0) {
    b.tick();
    CHECK(++waits < 400, "a lone packet has waited %llu cycles", (unsigned long long)waits);
    if (waits > 150 && b.flits_from[2][9]) break;
  }
  std::printf("alone %llu\n", (unsigned long long)waits);
  b.finish();
}

/// All queues are always full.
void saturate(uint64_t seed, uint64_t cycles) {
  Bench b(seed);
  fill_table(b);
  while (b.now < cycles) {
    b.top->burst_i = kBursts[b.below(5)];
    for (auto& port : b.drain)
      for (auto& channel : port) channel.rate = b.below(4) == 0 ? 0.1 : 1.0;
    for (unsigned i = 0; i < 500; ++i) {
      for (unsigned p = 0; p < kPorts; ++p) {
        for (unsigned vnet = 0; vnet < 4; ++vnet) {
          const unsigned c = channel_of(b, p, vnet);
          while (b.queue[p][c].size() < 3) b.send(p, c, any_destination(b, true), length(b));
        }
      }
      b.tick();
    }
  }
  b.finish();
  std::printf("delivered %llu flits %llu cycles %llu\n", (unsigned long long)b.delivered,
              (unsigned long long)b.flits_out, (unsigned long long)b.now);
}

}  // namespace

namespace switch_test {

void fill_table(Bench& b) {
  for (unsigned board = 0; board < 10; ++board) {
    if (board != kOwnBoard) b.set(board, {true, 2 + board % 3, board / 3 % 2});
  }
  b.set(kTable - 1, {true, 7, 0});
  b.set(kTable - 2, {true, 3, 1});
}

}  // namespace switch_test

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  // All memories and registers start with random values: a value that is not reset must not matter.
  Verilated::randReset(2);
  Verilated::randSeed(int(seed % 0x7fff'ffff) + 1);
  const uint64_t count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 10'000;
  if (!std::strcmp(argv[1], "directed")) directed(seed);
  else if (!std::strcmp(argv[1], "random")) random_traffic(seed, count);
  else if (!std::strcmp(argv[1], "rates")) rates(seed, count);
  else if (!std::strcmp(argv[1], "saturate")) saturate(seed, count);
  else if (!std::strcmp(argv[1], "fair")) fair(seed, count);
  else return 2;
}
