// SPDX-License-Identifier: Apache-2.0
// Runs link_bench: link_bench CYCLES. Prints flits of payload in each direction, frames sent again, latency, faults.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "Vlink_bench.h"
#include "verilated.h"

int main(int argc, char** argv) {
  const std::uint64_t cycles = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  auto context = std::make_unique<VerilatedContext>();
  auto top = std::make_unique<Vlink_bench>(context.get());
  const auto run = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      top->clk_i = 0;
      top->eval();
      top->clk_i = 1;
      top->eval();
    }
  };
  top->rst_ni = 0;
  run(4);
  top->rst_ni = 1;
  // Until the session is open and frames are as long as they become.
  run(20'000);
  const std::uint64_t before = top->flits_o;
  run(cycles);
  const std::uint64_t after = top->flits_o;
  std::printf("%u %u %u %u %u %u %u\n", std::uint32_t(after) - std::uint32_t(before),
              std::uint32_t(after >> 32) - std::uint32_t(before >> 32), std::uint32_t(top->resends_o),
              std::uint32_t(top->resends_o >> 32), top->latency_o, unsigned(top->wrong_o), unsigned(top->up_o));
  return 0;
}
