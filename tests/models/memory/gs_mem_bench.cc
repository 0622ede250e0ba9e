// SPDX-License-Identifier: Apache-2.0
// Runs gs_mem_bench, or gs_mem_tiles under that name, to its end: counts over a window in the middle, and finally
// checks every word of every array.
// Arguments: space line_bytes lines passes threads_of_a_port ports port_parts memory_half warm window limit apart
// (apart: in the SRAM, distance of two arrays in lines), then plusargs.
#include <verilated.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "Vgs_mem_bench.h"
#include "gs_mem_model.h"

namespace {

using gossamer::sim::MemoryModel;

struct Arrays {
  std::uint64_t space, line, lines, passes, threads, ports, parts, half, apart;

  std::uint64_t words() const { return lines * line / 4; }
  MemoryModel* model(std::uint64_t port, std::uint64_t part) const {
    const std::string owner = ".gen_port[" + std::to_string(port) + "].u_memory.";
    const std::string name = space ? owner + "gen_sram[" + std::to_string(part + 1) + "].u_sram" : owner + "u_dram";
    MemoryModel* const found = gossamer::sim::findMemory(name);
    if (!found) {
      std::fprintf(stderr, "memory %s does not exist\n", name.c_str());
      std::exit(1);
    }
    return found;
  }
  /// Calls visit(model, address in it, initial value) for every word.
  template <typename Visit>
  void each(Visit visit) const {
    std::mt19937 values(7);
    for (std::uint64_t port = 0; port < ports; port++) {
      std::vector<MemoryModel*> models;
      for (std::uint64_t part = 0; part < parts; part++) models.push_back(model(port, part));
      for (std::uint64_t thread = 0; thread < threads; thread++) {
        for (std::uint64_t word = 0; word < words(); word++) {
          const std::uint64_t number = word * 4 / line, offset = word * 4 % line;
          const std::uint32_t value = static_cast<std::uint32_t>(values());
          if (space) {
            // Arrays one after the other; lines are interleaved over the parts.
            const std::uint64_t all = thread * apart + number;
            visit(models[all % parts], all / parts * line + offset, value);
          } else {
            visit(models[0], half + (number * threads + thread) * line + offset, value);
          }
        }
      }
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 13) return 2;
  std::vector<std::uint64_t> a;
  for (int i = 1; i < 13; i++) a.push_back(std::strtoull(argv[i], nullptr, 0));
  const Arrays arrays{a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[11]};
  const std::uint64_t warm = a[8], window = a[9], limit = a[10];
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vgs_mem_bench top(&context);
  std::uint64_t cycle = 0;
  const auto clock = [&] {
    top.clk_i = 0;
    top.eval();
    top.clk_i = 1;
    top.eval();
    context.timeInc(1);
    cycle++;
  };
  top.passes_i = static_cast<std::uint32_t>(arrays.passes);
  top.rst_ni = 0;
  for (int i = 0; i < 4; i++) clock();
  arrays.each([](MemoryModel* model, std::uint64_t address, std::uint32_t value) {
    model->poke(address, reinterpret_cast<const std::uint8_t*>(&value), 4);
  });
  top.rst_ni = 1;
  std::uint64_t fills = 0, writebacks = 0, instructions = 0;
  const auto stop = [&](std::uint64_t at) {
    while (cycle < at && !top.all_done_o) clock();
  };
  stop(warm);
  fills -= top.fills_o, writebacks -= top.writebacks_o, instructions -= top.instructions_o;
  stop(warm + window);
  const bool early = top.any_done_o;
  fills += top.fills_o, writebacks += top.writebacks_o, instructions += top.instructions_o;
  stop(limit);
  if (!top.all_done_o) {
    std::fprintf(stderr, "not done after %llu cycles\n", static_cast<unsigned long long>(cycle));
    return 1;
  }
  std::uint64_t wrong = 0;
  arrays.each([&](MemoryModel* model, std::uint64_t address, std::uint32_t value) {
    std::uint32_t found = 0;
    model->peek(address, reinterpret_cast<std::uint8_t*>(&found), 4);
    wrong += found != value + arrays.passes;
  });
  std::printf("{\"cycles\": %llu, \"window\": %llu, \"fills\": %llu, \"writebacks\": %llu, \"instructions\": %llu, "
              "\"wrong\": %llu, \"early\": %s}\n",
              static_cast<unsigned long long>(cycle), static_cast<unsigned long long>(window),
              static_cast<unsigned long long>(fills), static_cast<unsigned long long>(writebacks),
              static_cast<unsigned long long>(instructions), static_cast<unsigned long long>(wrong),
              early ? "true" : "false");
  return wrong == 0 ? 0 : 1;
}
