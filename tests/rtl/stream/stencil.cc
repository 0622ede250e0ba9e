// SPDX-License-Identifier: Apache-2.0
// Simulates stencil_top: a stencil on a grid of ranks, with tiles read from a file and written to one.
//
//   stencil DOWN ACROSS ROWS COLUMNS STEPS SEED STALLS IN OUT
//
// ROWS and COLUMNS are those of a rank. The file has DOWN * ROWS rows of ACROSS * COLUMNS floats. The harness models
// the ranks' memory: output of a pass is input of the next. STALLS: inputs, outputs and wires stall at random, at rates
// that change over time. Prints cycles from the first start to the last point.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "Vstencil_top.h"
#include "verilated.h"

namespace {
constexpr unsigned kRanks = 4, kSides = 4;

[[noreturn]] void fail(const char* what, uint64_t now, unsigned rank) {
  std::printf("cycle %llu, rank %u: %s\n", static_cast<unsigned long long>(now), rank, what);
  std::exit(1);
}

struct Rank {
  std::vector<uint32_t> tile, next;
  unsigned pass = 0, started = 0;
  std::size_t in = 0;
  bool offered = false;
};
}  // namespace

int main(int argc, char** argv) {
  if (argc != 10) {
    std::fprintf(stderr, "stencil DOWN ACROSS ROWS COLUMNS STEPS SEED STALLS IN OUT\n");
    return 2;
  }
  const auto number = [&](int at) { return unsigned(std::strtoul(argv[at], nullptr, 10)); };
  const unsigned down = number(1), across = number(2), rows = number(3), columns = number(4), passes = number(5) + 1;
  const unsigned ranks = down * across, width = across * columns;
  const bool stalls = number(7) != 0;
  std::mt19937_64 random(number(6));
  std::vector<uint32_t> grid(std::size_t(down) * rows * width);
  std::FILE* file = std::fopen(argv[8], "rb");
  if (!file || std::fread(grid.data(), 4, grid.size(), file) != grid.size() || ranks > kRanks) return 2;
  std::fclose(file);

  VerilatedContext context;
  Vstencil_top top{&context};
  const auto half = [&](int level) {
    top.clk_i = level;
    top.eval();
  };
  const auto tick = [&] {
    half(0);
    half(1);
  };
  // Ranks along the ring: every other row of the grid is reversed, so that most neighbours are one hop apart.
  const auto rank_of = [&](unsigned x, unsigned y) { return x * across + (x % 2 ? across - 1 - y : y); };
  top.seed_i = number(6);
  top.rows_i = uint16_t(rows);
  top.columns_i = uint16_t(columns);
  std::vector<Rank> all(ranks);
  const auto each_point = [&](auto act) {
    for (unsigned x = 0; x < down; ++x)
      for (unsigned y = 0; y < across; ++y)
        for (unsigned i = 0; i < rows; ++i)
          for (unsigned j = 0; j < columns; ++j)
            act(all[rank_of(x, y)], std::size_t(i) * columns + j,
                (std::size_t(x) * rows + i) * width + y * columns + j);
  };
  for (Rank& one : all) one.tile.resize(std::size_t(rows) * columns);
  each_point([&](Rank& one, std::size_t here, std::size_t there) { one.tile[here] = grid[there]; });
  for (unsigned x = 0; x < down; ++x) {
    for (unsigned y = 0; y < across; ++y) {
      const unsigned at = rank_of(x, y) * kSides;
      const bool there[] = {x > 0, x + 1 < down, y > 0, y + 1 < across};
      const unsigned far[] = {rank_of(x - 1, y), rank_of(x + 1, y), rank_of(x, y - 1), rank_of(x, y + 1)};
      for (unsigned s = 0; s < kSides; ++s) {
        top.joined_i[at + s] = there[s];
        top.neighbour_i[at + s] = uint8_t(there[s] ? far[s] : 0);
        // The last pass sends no borders.
        top.elements_i[at + s] = (passes - 1) * (s < 2 ? columns : rows);
      }
    }
  }
  for (int i = 0; i < 8; ++i) tick();
  top.rst_ni = 1;
  for (int i = 0; i < 200; ++i) tick();  // The switch clears its table.
  for (unsigned to = 0; to < kRanks; ++to) {
    top.table_index_i = uint8_t(to);
    for (unsigned b = 0; b < kRanks; ++b) {
      const unsigned ahead = (to + kRanks - b) % kRanks;
      const bool up = ahead * 2 <= kRanks, seam = up ? to < b : to > b;
      top.table_we_i[b] = 1;
      top.table_entry_i[b] = uint8_t(1 << 7 | (seam ? 0 : 1) << 5 | (up ? 3 : 2));
    }
    tick();
  }
  for (unsigned b = 0; b < kRanks; ++b) top.table_we_i[b] = 0;
  for (unsigned waited = 0; !top.ready_o; ++waited, tick())
    if (waited > 100'000) fail("links do not come up", waited, 0);
  for (int i = 0; i < 2'000; ++i) tick();
  top.open_i = passes > 1;
  tick();
  top.open_i = 0;

  const uint64_t points = uint64_t(rows) * columns;
  const uint64_t limit = 20'000 + passes * (60 * points + 20'000);
  unsigned done = 0, odds[2][kRanks] = {}, wire_odds[kRanks * kSides] = {};
  uint64_t now = 0;
  for (; done < ranks; ++now) {
    if (now > limit) fail("points are missing", now, 0);
    if (stalls && now % 64 == 0) {
      static const unsigned kOdds[] = {0, 20, 300, 1000, 1000};
      for (auto& ways : odds)
        for (auto& one : ways) one = kOdds[random() % 5];
      for (auto& one : wire_odds) one = kOdds[random() % 5];
    }
    top.stall_i = 0;
    for (unsigned w = 0; stalls && w < kRanks * kSides; ++w)
      if (random() % 1000 >= wire_odds[w]) top.stall_i |= uint16_t(1 << w);
    for (unsigned r = 0; r < ranks; ++r) {
      Rank& one = all[r];
      top.start_valid_i[r] = one.started == one.pass && one.pass < passes;
      top.copy_i[r] = one.pass == 0;
      top.last_i[r] = one.pass + 1 == passes;
      const bool some = one.started > one.pass && one.in < points;
      one.offered = some && (one.offered || !stalls || random() % 1000 < odds[0][r]);
      top.in_valid_i[r] = one.offered;
      top.in_i[r] = one.offered ? one.tile[one.in] : 0xDEADBEEF;
      top.out_ready_i[r] = !stalls || random() % 1000 < odds[1][r];
    }
    half(0);
    for (unsigned r = 0; r < ranks; ++r) {
      Rank& one = all[r];
      if (top.start_valid_i[r] && top.start_ready_o[r]) ++one.started;
      if (one.offered && top.in_ready_o[r]) {
        ++one.in;
        one.offered = false;
      }
      if (!top.out_valid_o[r] || !top.out_ready_i[r]) continue;
      if (one.pass == passes) fail("a surplus point", now, r);
      one.next.push_back(top.out_o[r]);
      if (one.next.size() < points) continue;
      if (one.in != points) fail("output before input", now, r);
      one.tile.swap(one.next);
      one.next.clear();
      one.in = 0;
      if (++one.pass == passes) ++done;
    }
    half(1);
    if (top.fault_o) fail("a fault, or a dropped or unroutable packet", now, 0);
  }
  each_point([&](Rank& one, std::size_t here, std::size_t there) { grid[there] = one.tile[here]; });
  file = std::fopen(argv[9], "wb");
  if (!file || std::fwrite(grid.data(), 4, grid.size(), file) != grid.size() || std::fclose(file)) return 2;
  std::printf("cycles %llu\n", static_cast<unsigned long long>(now));
  return 0;
}
