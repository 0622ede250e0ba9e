// SPDX-License-Identifier: Apache-2.0
// Simulates injection_top: one-element messages at the maximum rate at which endpoints open channels.
//
//   injection R ENDPOINTS MESSAGES   prints messages and cycles at the link, for the middle half of the messages
//
// Each endpoint sends MESSAGES to its peer; every received element is compared. Packets at the link must have one flit,
// and the port of a sender.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "Vinjection_top.h"
#include "verilated.h"

namespace {
constexpr unsigned kEnds = 4;

uint32_t element(unsigned end, uint32_t message) { return (message + 1) * 0x9E3779B9u ^ end * 0x85EBCA6Bu; }

[[noreturn]] void fail(const char* what, uint64_t cycle, unsigned end) {
  std::printf("cycle %llu, endpoint %u: %s\n", static_cast<unsigned long long>(cycle), end, what);
  std::exit(1);
}
}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at) { return at < argc ? std::strtoull(argv[at], nullptr, 10) : 0; };
  const unsigned burst = unsigned(number(1)), ends = unsigned(number(2));
  const uint32_t each = uint32_t(number(3));
  if (argc != 4 || !ends || ends > kEnds || each < 4) {
    std::fprintf(stderr, "injection R ENDPOINTS MESSAGES\n");
    return 2;
  }
  VerilatedContext context;
  Vinjection_top top{&context};
  const auto half = [&](int level) {
    top.clk_i = level;
    top.eval();
  };
  const auto tick = [&] {
    half(0);
    half(1);
  };
  top.burst_i = uint8_t(burst);
  for (int i = 0; i < 8; ++i) tick();
  top.rst_ni = 1;
  while (!top.ready_o) tick();
  top.boot_i = 1;
  tick();
  top.boot_i = 0;
  for (int i = 0; i < 20; ++i) tick();

  const uint64_t all = uint64_t(each) * ends, first = all / 4, last = all - all / 4;
  std::vector<uint32_t> opened(kEnds), put(kEnds), asked(kEnds), came(kEnds), passed(kEnds);
  uint64_t packets = 0, arrived = 0, begun = 0, ended = 0;
  for (uint64_t now = 0; arrived < all; ++now) {
    if (now > 100 * all + 1'000) fail("messages do not arrive", now, 0);
    for (unsigned e = 0; e < ends; ++e) {
      top.send_valid_i[e] = opened[e] < each;
      top.s_valid_i[e] = put[e] < each;
      top.s_data_i[e] = element(e, put[e]);
      top.recv_valid_i[e] = asked[e] < each;
    }
    half(0);
    for (unsigned e = 0; e < ends; ++e) {
      opened[e] += top.send_valid_i[e] && top.send_ready_o[e];
      put[e] += top.s_valid_i[e] && top.s_ready_o[e];
      asked[e] += top.recv_valid_i[e] && top.recv_ready_o[e];
      if (!top.m_valid_o[e]) continue;
      if (top.m_data_o[e] != element(e, came[e]) || !top.m_last_o[e]) fail("a wrong element", now, e);
      ++came[e];
      ++arrived;
    }
    if (top.link_valid_o) {
      const unsigned e = top.link_dest_o & 0xFF;
      if (!top.link_last_o || e >= ends || top.link_dest_o >> 14 != (2u << 15 | 1)) fail("not a short message", now, e);
      if (++passed[e] > put[e]) fail("a message that was not sent", now, e);
      ++packets;
      if (packets == first) begun = now;
      if (packets == last) ended = now;
    }
    half(1);
    if (top.fault_o) fail("a fault, or a dropped or unroutable packet", now, 0);
  }
  std::printf("messages %llu cycles %llu\n", static_cast<unsigned long long>(last - first),
              static_cast<unsigned long long>(ended - begun));
  return packets == all ? 0 : 1;
}
