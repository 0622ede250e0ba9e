// SPDX-License-Identifier: Apache-2.0
// records SEED READS: readers of multicast records send requests, a memory responds in any order, and readers are not
// always ready. Each tag gets the words of its own address, once.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>

#include "Vrecords_top.h"
#include "check.h"
#include "verilated.h"

int main(int, char** arguments) {
  std::mt19937_64 random(std::strtoull(arguments[1], nullptr, 10));
  const uint64_t reads = std::strtoull(arguments[2], nullptr, 10);
  Verilated::threadContextp()->randReset(2);
  Vrecords_top top;
  const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
  struct Line {
    uint32_t address;
    unsigned id;
  };
  std::map<unsigned, uint32_t> asked;  // by tag: the beat
  std::vector<Line> lines;             // requests to the memory
  bool answering = false;
  Line answer{};
  uint32_t at = 0;
  uint64_t taken = 0, offered = 0, waited = 0;
  bool request = false;
  unsigned ready = 50;
  top.rst_ni = 0;
  for (uint64_t cycle = 0; taken < reads; ++cycle) {
    CHECK(cycle < 200 * reads + 1000, "%llu of %llu reads were answered",
          static_cast<unsigned long long>(taken), static_cast<unsigned long long>(reads));
    if (cycle % 500 == 0) ready = 5 + random() % 95;
    top.rst_ni = cycle >= 4;
    if (!request && cycle >= 4 && offered < reads && chance(80)) {
      const unsigned tag = random() % 256;
      if (!asked.count(tag)) {
        top.req_beat_i = random() % (1u << 27);
        top.req_tag_i = tag;
        request = true;
      }
    }
    top.req_valid_i = request;
    top.rsp_ready_i = chance(ready);
    top.mem_ready_i = chance(70);
    if (!answering && !lines.empty() && chance(80)) {
      const size_t which = random() % lines.size();
      answer = lines[which];
      lines.erase(lines.begin() + static_cast<long>(which));
      answering = true;
      at = 0;
    }
    top.mem_valid_i = answering;
    top.mem_addr_i = answer.address + at;
    top.mem_id_i = answer.id;
    top.mem_last_i = at + top.port_bytes_o == top.line_bytes_o;
    top.clk_i = 0;
    top.eval();
    const bool accepted = request && top.req_ready_o, to_memory = top.mem_valid_o && top.mem_ready_i;
    const bool from_memory = answering && top.mem_ready_o, returned = top.rsp_valid_o && top.rsp_ready_i;
    if (cycle >= 4) {
      CHECK(accepted == to_memory, "a read is accepted without a memory request, or the reverse");
      waited += top.rsp_valid_o && !top.rsp_ready_i;
      if (returned) {
        const auto found = asked.find(top.rsp_tag_o);
        CHECK(found != asked.end(), "an answer to %u, who has not asked", top.rsp_tag_o);
        for (uint32_t word = 0; word < 8; ++word) {
          CHECK(top.rsp_o[word] == (found->second * 8 + word) * 0x9E3779B9u, "%u got another's answer",
                top.rsp_tag_o);
        }
        asked.erase(found);
        ++taken;
      }
      if (accepted) {
        for (const Line& line : lines) CHECK(line.id != top.mem_id_o, "two reads have one number at the memory");
        lines.push_back({top.mem_addr_o, top.mem_id_o});
        asked[top.req_tag_i] = top.req_beat_i;
        ++offered;
        request = false;
      }
      if (from_memory) {
        at += top.port_bytes_o;
        answering = at != top.line_bytes_o;
      }
    }
    top.clk_i = 1;
    top.eval();
  }
  CHECK(waited > reads / 20, "answers hardly ever waited: nothing was tested");
}
