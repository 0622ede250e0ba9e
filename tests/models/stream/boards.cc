// SPDX-License-Identifier: Apache-2.0
// Simulates boards_top: streams over links in RTL.
//
//   boards traffic SEED MESSAGES LOSS EAGER   random messages between all boards, and mailbox traffic; LOSS of 2^20
//   boards rate HOPS PORT                     middle part of a long message: prints bytes and cycles
//   boards beside HOPS PORT                   the same, while the last board before the receiver also sends to it,
//                                             from the other port: prints bytes of both messages, and cycles
//   boards deaf HOPS PORT                     a message to a kernel that never pops, then one from the other port over
//                                             the same link: prints cycles until the second has arrived
//   boards both HOPS PORT                     two messages of several packets over the same link, the other port's a
//                                             little later: prints cycles until both have arrived
//   boards latency HOPS                       one element over idle links: prints the minimum cycles of several
//   boards message HOPS COUNT TIMES           a message over idle links, TIMES times: prints messages, bytes of each
//                                             and cycles of all, from opening the channel to popping the last element
//
// Elements encode their message and index; a message is correct if each element arrives at its index.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "Vboards_top.h"
#include "verilated.h"

namespace {
constexpr unsigned kBoards = BOARDS, kPorts = 2, kAll = kBoards * kPorts, kDepth = DEPTH;

uint32_t address(unsigned board, unsigned port) { return 2u << 29 | board << 14 | port; }

uint32_t element(uint32_t message, uint32_t at) {
  uint32_t x = message * 0x9E3779B9u ^ at * 0x85EBCA6Bu;
  x ^= x >> 15;
  return x * 0x2C1B3C6Du ^ at;
}

struct Message {
  unsigned number, from, to;  // boards
  uint32_t count;
};

struct Bench {
  VerilatedContext context;
  Vboards_top top{&context};
  std::mt19937_64 random;
  std::deque<Message> sends[kAll], recvs[kAll];
  std::optional<Message> sending[kAll], receiving[kAll];
  uint32_t sent[kAll] = {}, came[kAll] = {};
  bool offered[kAll] = {}, stalls = false, deaf[kAll] = {};
  unsigned odds[2][kAll] = {};
  uint64_t now = 0, done = 0, elements = 0, entered = 0, first_out = 0, left = 0;
  // Mailbox messages in flight, and mailbox credits of each board.
  std::multiset<uint64_t> letters;
  unsigned credits[kBoards];
  uint64_t posted = 0, delivered = 0, to_post = 0;

  explicit Bench(uint64_t seed) : random(seed) {
    for (auto& one : credits) one = 8;
    top.seed_i = uint32_t(seed);
  }

  [[noreturn]] void fail(const char* what, unsigned at, uint64_t wanted = 0, uint64_t found = 0) {
    std::printf("cycle %llu, port %u: %s (%llx, %llx)\n", (unsigned long long)now, at, what, (unsigned long long)wanted,
                (unsigned long long)found);
    std::exit(1);
  }

  void tick() {
    top.clk_i = 0;
    top.eval();
    top.clk_i = 1;
    top.eval();
    ++now;
  }

  void begin(uint32_t loss, bool one_way) {
    top.rst_ni = 0;
    top.loss_i = top.damage_i = loss;
    for (int i = 0; i < 8; ++i) tick();
    top.rst_ni = 1;
    while (!top.ready_o) tick();
    for (unsigned to = 0; to < kBoards; ++to) {
      top.table_index_i = to;
      for (unsigned b = 0; b < kBoards; ++b) {
        const unsigned ahead = (to + kBoards - b) % kBoards;
        const bool up = one_way || ahead * 2 <= kBoards;
        // Port 3 is link 1, to the next board. After the dateline of the ring packets use channel 1.
        const bool seam = up ? to < b : to > b;
        top.table_we_i[b] = 1;
        top.table_entry_i[b] = 1 << 7 | (seam ? 0 : 1) << 5 | (up ? 3 : 2);
      }
      tick();
    }
    for (unsigned b = 0; b < kBoards; ++b) top.table_we_i[b] = 0;
    while (!top.up_o) tick();
    for (int i = 0; i < 2'000; ++i) tick();
  }

  // Eager messages over `hops` hops from one port, and over the last hop from the other.
  void begin_both(unsigned hops, unsigned port) {
    begin(0, true);
    bind(port, hops);
    bind(1 - port, 1);
  }

  // Binds port p of each board to port p of the board `hops` further, eagerly; the other ports ask for credits.
  void bind(unsigned port, unsigned hops) {
    for (unsigned b = 0; b < kBoards; ++b) {
      const unsigned at = b * kPorts + port, to = (b + hops) % kBoards, from = (b + kBoards - hops) % kBoards;
      top.send_bind_i[at] = 1ull << 53 | uint64_t(address(to, port)) << 16 | kDepth;
      top.recv_bind_i[at] = 1ull << 45 | uint64_t(from) << 32 | address(from, port);
    }
    top.bind_i = 1;
    tick();
    top.bind_i = 0;
  }

  void add(unsigned port, const Message& one) {
    sends[one.from * kPorts + port].push_back(one);
    recvs[one.to * kPorts + port].push_back(one);
    ++left;
  }

  void step() {
    if (stalls && now % 64 == 0) {
      static const unsigned kOdds[] = {0, 20, 300, 1000, 1000};
      for (auto& half : odds)
        for (auto& one : half) one = kOdds[random() % 5];
    }
    for (unsigned a = 0; a < kAll; ++a) {
      top.send_open_valid_i[a] = !sending[a] && !sends[a].empty();
      if (top.send_open_valid_i[a]) {
        top.send_dest_i[a] = address(sends[a].front().to, a % kPorts);
        top.send_count_i[a] = sends[a].front().count;
      }
      top.recv_open_valid_i[a] = !receiving[a] && !recvs[a].empty();
      if (top.recv_open_valid_i[a]) {
        top.recv_source_i[a] = recvs[a].front().from;
        top.recv_count_i[a] = recvs[a].front().count;
      }
      const bool some = sending[a] && sent[a] < sending[a]->count;
      top.s_valid_i[a] = some && (offered[a] || !stalls || random() % 1000 < odds[0][a]);
      if (some) {
        const uint64_t low = element(sending[a]->number, sent[a]);
        const bool two = sent[a] + 1 < sending[a]->count;
        top.s_data_i[a] = low | uint64_t(two ? element(sending[a]->number, sent[a] + 1) : 0xDEADBEEF) << 32;
      }
      top.m_ready_i[a] = !deaf[a] && (!stalls || random() % 1000 < odds[1][a]);
    }
    for (unsigned b = 0; b < kBoards; ++b) {
      top.own_valid_i[b] = posted < to_post && credits[b] && random() % 4 == 0;
      if (top.own_valid_i[b]) {
        const uint32_t dest = uint32_t(random() % kBoards) << 14 | uint32_t(random() & 0x3C3F);  // column 0
        top.own_dest_i[b] = dest;
        top.own_payload_i[b][0] = uint32_t(++posted);
        for (int w = 1; w < 4; ++w) top.own_payload_i[b][w] = uint32_t(posted * 77 + w);
        --credits[b];
        letters.insert(uint64_t(dest) << 32 | uint32_t(posted));
      }
    }
    top.clk_i = 0;
    top.eval();
    bool opens[kAll], takes[kAll], puts[kAll], pops[kAll];
    for (unsigned a = 0; a < kAll; ++a) {
      opens[a] = top.send_open_valid_i[a] && top.send_open_ready_o[a];
      takes[a] = top.recv_open_valid_i[a] && top.recv_open_ready_o[a];
      puts[a] = top.s_valid_i[a] && top.s_ready_o[a];
      offered[a] = top.s_valid_i[a] && !top.s_ready_o[a];
      pops[a] = top.m_valid_o[a] && top.m_ready_i[a];
    }
    for (unsigned a = 0; a < kAll; ++a) {
      if (pops[a]) {
        if (!receiving[a]) fail("an element without a channel", a);
        const Message& one = *receiving[a];
        const bool two = came[a] + 1 < one.count;
        if (top.m_keep_o[a] != (two ? 0xFF : 0x0F)) fail("keep", a, one.number, top.m_keep_o[a]);
        const uint64_t mask = two ? ~0ull : 0xFFFFFFFFull;
        const uint64_t wanted = element(one.number, came[a]) | uint64_t(element(one.number, came[a] + 1)) << 32;
        if ((top.m_data_o[a] & mask) != (wanted & mask)) fail("a wrong element", a, wanted & mask, top.m_data_o[a]);
        came[a] += two ? 2 : 1;
        elements += two ? 2 : 1;
        first_out = first_out ? first_out : now;
        if (top.m_last_o[a] != (came[a] >= one.count)) fail("last", a, one.number, came[a]);
        if (came[a] >= one.count) {
          receiving[a].reset();
          ++done;
        }
      }
      if (puts[a]) {
        entered = entered ? entered : now;
        sent[a] += 2;
        if (sent[a] >= sending[a]->count) sending[a].reset();
      }
      if (opens[a]) {
        sending[a] = sends[a].front();
        sends[a].pop_front();
        sent[a] = 0;
      }
      if (takes[a]) {
        receiving[a] = recvs[a].front();
        recvs[a].pop_front();
        came[a] = 0;
      }
    }
    for (unsigned b = 0; b < kBoards; ++b) {
      credits[b] += top.own_credit_o[b];
      if (top.own_valid_o[b]) {
        const uint64_t key = uint64_t(top.own_dest_o[b]) << 32 | top.own_payload_o[b][0];
        const auto found = letters.find(key);
        if (found == letters.end() || (top.own_dest_o[b] >> 14 & 0xFFF) != b)
          fail("unexpected mailbox message", b, key);
        for (uint32_t w = 1; w < 4; ++w)
          if (top.own_payload_o[b][w] != top.own_payload_o[b][0] * 77 + w) fail("a corrupted mailbox message", b, key);
        letters.erase(found);
        ++delivered;
      }
    }
    top.clk_i = 1;
    top.eval();
    ++now;
    if (top.fault_o) fail("a fault, or a dropped or unroutable packet", 0);
  }
};

int traffic(uint64_t seed, unsigned messages, uint32_t loss, bool eager) {
  Bench bench(seed);
  bench.begin(loss, false);
  if (eager) bench.bind(0, 1);
  for (unsigned i = 1; i <= messages; ++i) {
    const unsigned port = bench.random() % kPorts, from = bench.random() % kBoards;
    const unsigned to = eager && port == 0 ? (from + 1) % kBoards : bench.random() % kBoards;
    const uint32_t counts[] = {1, 2, 3, uint32_t(bench.random() % 40 + 1), uint32_t(bench.random() % 3000 + 1)};
    bench.add(port, {i, from, to, counts[bench.random() % 5]});
  }
  bench.to_post = messages * 20;
  bench.stalls = true;
  const uint64_t limit = bench.now + 20'000 + uint64_t(messages) * 20'000;
  while (bench.done < bench.left || !bench.letters.empty() || bench.posted < bench.to_post) {
    if (bench.now > limit / 2) bench.stalls = false;
    if (bench.now > limit) bench.fail("messages do not arrive", 0, bench.left, bench.done);
    bench.step();
  }
  std::printf("messages %llu elements %llu letters %llu cycles %llu lost %u\n", (unsigned long long)bench.done,
              (unsigned long long)bench.elements, (unsigned long long)bench.delivered, (unsigned long long)bench.now,
              bench.top.lost_o);
  return 0;
}

int rate(unsigned hops, unsigned port) {
  Bench bench(1);
  bench.begin(0, true);
  bench.bind(port, hops);
  bench.add(port, {1, 0, hops, 1u << 20});
  while (bench.elements < 40'000) bench.step();
  const uint64_t begun = bench.now, before = bench.elements;
  while (bench.elements < 240'000) bench.step();
  std::printf("bytes %llu cycles %llu\n", (unsigned long long)(4 * (bench.elements - before)),
              (unsigned long long)(bench.now - begun));
  return 0;
}

int beside(unsigned hops, unsigned port) {
  Bench bench(1);
  bench.begin_both(hops, port);
  bench.add(port, {1, 0, hops, 1u << 20});
  const unsigned one = hops * kPorts + port, other = hops * kPorts + 1 - port;
  while (bench.elements < 20'000) bench.step();
  bench.add(1 - port, {2, hops - 1, hops, 1u << 20});
  for (unsigned wait = 4'000; wait; --wait) bench.step();
  const uint64_t begun = bench.now;
  const uint32_t before[] = {bench.came[one], bench.came[other]};
  for (unsigned wait = 100'000; wait; --wait) bench.step();
  std::printf("bytes %llu and %llu cycles %llu\n", 4ull * (bench.came[one] - before[0]),
              4ull * (bench.came[other] - before[1]), (unsigned long long)(bench.now - begun));
  return 0;
}

int deaf(unsigned hops, unsigned port) {
  Bench bench(1);
  bench.begin_both(hops, port);
  const unsigned one = hops * kPorts + port, other = hops * kPorts + 1 - port;
  bench.deaf[one] = true;
  // More than the receiver's buffer and the links can hold.
  bench.add(port, {1, 0, hops, 8 * kDepth});
  for (unsigned wait = 4'000; wait; --wait) bench.step();
  bench.add(1 - port, {2, hops - 1, hops, 1'000});
  const uint64_t begun = bench.now;
  while (bench.came[other] < 1'000) {
    if (bench.now > begun + 20'000) bench.fail("a message to a stalled kernel blocks another", other);
    bench.step();
  }
  const uint64_t took = bench.now - begun;
  bench.deaf[one] = false;
  while (bench.done < bench.left) {
    if (bench.now > begun + 100'000) bench.fail("a message does not arrive", one);
    bench.step();
  }
  std::printf("cycles %llu\n", (unsigned long long)took);
  return 0;
}

int both(unsigned hops, unsigned port) {
  Bench bench(1);
  bench.begin_both(hops, port);
  const uint64_t begun = bench.now;
  bench.add(port, {1, 0, hops, 300});
  for (unsigned wait = 100; wait; --wait) bench.step();
  bench.add(1 - port, {2, hops - 1, hops, 300});
  while (bench.done < bench.left) {
    if (bench.now > begun + 20'000) bench.fail("a message does not arrive", port);
    bench.step();
  }
  std::printf("cycles %llu\n", (unsigned long long)(bench.now - begun));
  return 0;
}

int latency(unsigned hops) {
  Bench bench(1);
  bench.begin(0, true);
  bench.bind(0, hops);
  uint64_t least = ~0ull;
  for (unsigned i = 0; i < 12; ++i) {
    bench.entered = bench.first_out = 0;
    bench.add(0, {i + 1, 0, hops, 1});
    while (bench.done < bench.left) bench.step();
    least = std::min(least, bench.first_out - bench.entered);
    for (unsigned wait = 300 + bench.random() % 100; wait; --wait) bench.step();
  }
  std::printf("cycles %llu\n", (unsigned long long)least);
  return 0;
}

int message(unsigned hops, uint32_t count, unsigned times) {
  Bench bench(1);
  bench.begin(0, true);
  bench.bind(0, hops);
  uint64_t cycles = 0;
  for (unsigned i = 0; i < times; ++i) {
    bench.add(0, {i + 1, 0, hops, count});
    const uint64_t begun = bench.now, limit = begun + 20'000 + 8 * uint64_t(count);
    while (bench.done < bench.left) {
      if (bench.now > limit) bench.fail("a message does not arrive", 0, count, bench.elements);
      bench.step();
    }
    cycles += bench.now - begun;
    // Links become idle, each time at a different phase of their periodic activity.
    for (unsigned wait = 2'000 + bench.random() % 100; wait; --wait) bench.step();
  }
  std::printf("messages %u bytes %u cycles %llu\n", times, 4 * count, (unsigned long long)cycles);
  return 0;
}
}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at) { return at < argc ? std::strtoull(argv[at], nullptr, 10) : 0; };
  if (argc > 5 && !std::strcmp(argv[1], "traffic"))
    return traffic(number(2), unsigned(number(3)), uint32_t(number(4)), number(5) != 0);
  if (argc > 3 && !std::strcmp(argv[1], "rate")) return rate(unsigned(number(2)), unsigned(number(3)) % kPorts);
  if (argc > 3 && !std::strcmp(argv[1], "beside")) return beside(unsigned(number(2)), unsigned(number(3)) % kPorts);
  if (argc > 3 && !std::strcmp(argv[1], "deaf")) return deaf(unsigned(number(2)), unsigned(number(3)) % kPorts);
  if (argc > 3 && !std::strcmp(argv[1], "both")) return both(unsigned(number(2)), unsigned(number(3)) % kPorts);
  if (argc > 2 && !std::strcmp(argv[1], "latency")) return latency(unsigned(number(2)));
  if (argc > 4 && !std::strcmp(argv[1], "message"))
    return message(unsigned(number(2)), uint32_t(number(3)), unsigned(number(4)));
  std::fprintf(stderr,
               "boards traffic SEED MESSAGES LOSS EAGER | rate HOPS PORT | beside HOPS PORT | deaf HOPS PORT |\n"
               "  both HOPS PORT | latency HOPS | message HOPS COUNT TIMES\n");
  return 2;
}
