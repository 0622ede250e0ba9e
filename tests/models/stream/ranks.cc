// SPDX-License-Identifier: Apache-2.0
// Simulates boards of rank_top in any wiring, controlled by a script. It checks only the form of the results: elements
// that kernels receive are written to a file, for a model elsewhere.
//
//   ranks SCRIPT INPUT OUTPUT
//
// Lines of the script:
//   boards N | seed N | loss N | stalls 0|1 | limit CYCLES
//   wire BOARD LINK FAR FARLINK             one direction of a cable
//   route BOARD TO ENTRY                    an entry of a board's switch
//   tree KIND BOARD ROOT ENTRY              an entry in the tree of a root; for scatter, gather and allgather, the edge
//                                           towards the rank named as root
//   run KIND TYPE OP ROOT COUNT MEMBERS GAP a collective of the boards in the mask, GAP cycles after the end of the
//                                           previous one (-1: as soon as its ranks are free)
//   wrong RUN BOARD KIND TYPE OP ROOT COUNT the collective that one rank opens in place of it
//   recover RUN                             a report must arrive before RUN ends: then that run and earlier ones are
//                                           aborted, blocks cleared, ports bound again, and the other runs follow
// KIND is the number of the collective (smi_collective), plus 8 for the second scatter/gather block, or for a reduction
// at the block of allreduce.
// INPUT has the elements that kernels supply, in the order of the runs, then of boards; OUTPUT the results. For each
// run that was not aborted it prints a line: its number, cycles from its first open to its last open, to its first
// result beat, and to its last.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "Vrank_top.h"
#include "verilated.h"

namespace {
constexpr unsigned kMost = 32, kKinds = 2, kLinks = LINKS;
enum Kind { kBcast = 1, kReduce, kScatter, kGather, kAllreduce, kAllgather, kBarrier };

/// Set of a kind, and the index of its block there.
unsigned set_of(unsigned kind) {
  if (kind == 8 + kReduce) return 1;
  return kind > 8 || kind == 3 || kind == 4 || kind == 6 ? 2 : kind > kReduce;
}
unsigned block_of(unsigned kind) { return kind != 8 + kReduce && (kind > 8 || kind == kReduce || kind == kBarrier); }

/// Bytes of an element: int, float, double, char, short, long, half.
constexpr unsigned kSizes[] = {0, 4, 4, 8, 1, 2, 8, 2};

struct Wrong {
  unsigned board, kind, type, op, root, count;
};

struct Run {
  unsigned kind, type, op, root, count, members;
  long gap;
  std::vector<Wrong> wrong;
  std::vector<std::vector<uint8_t>> in, out;
  std::vector<std::vector<unsigned>> gives, takes;  // by board: bytes of its messages
  unsigned left = 0;                                // ranks that have not finished
  uint64_t begun = 0, opened = 0, first = 0, ended = 0;
  bool given_up = false;

  /// Sizes of messages, computed when all lines of the run have been read.
  void shape() {
    gives.resize(kMost);
    takes.resize(kMost);
    in.resize(kMost);
    out.resize(kMost);
    for (unsigned b = 0; b < kMost; ++b) {
      if (!(members >> b & 1)) continue;
      const unsigned bytes = count * kSizes[type];
      const std::vector<unsigned> one{bytes}, parts(size_t(__builtin_popcount(members)), bytes), none;
      const bool here = b == root;
      switch (kind & 7) {
        case kBcast: (here ? gives : takes)[b] = one; break;
        case kReduce:
          gives[b] = one;
          takes[b] = here ? one : none;
          break;
        case kScatter:
          gives[b] = here ? parts : none;
          takes[b] = one;
          break;
        case kGather:
          gives[b] = one;
          takes[b] = here ? parts : none;
          break;
        case kAllgather:
          gives[b] = one;
          takes[b] = parts;
          break;
        case kAllreduce: gives[b] = one; [[fallthrough]];
        case kBarrier: takes[b] = one; break;
        default: break;
      }
    }
  }
};

/// Iterates over the messages of a kernel, one beat of 8 bytes at a time.
struct Stream {
  const std::vector<unsigned>* lengths = nullptr;
  size_t message = 0;
  unsigned at = 0, all = 0;  // in the message; and in all

  void begin(const std::vector<unsigned>& of) {
    *this = {&of};
    skip();
  }
  void skip() {
    while (message < lengths->size() && at >= (*lengths)[message]) {
      ++message;
      at = 0;
    }
  }
  bool over() const { return message >= lengths->size(); }
  unsigned beat() const { return std::min(8u, (*lengths)[message] - at); }
  bool last() const { return at + 8 >= (*lengths)[message]; }
  void step() {
    all += beat();
    at += beat();
    skip();
  }
};

struct Kernel {
  size_t next = 0;  // next run to open
  Run* open = nullptr;
  bool offered = false;
  bool lies = false;   // opened another collective than the run's
  uint64_t comes = 0;  // cycle before which it opens no run
  Stream give, take;
  unsigned odds[2] = {1000, 1000};
};

[[noreturn]] void fail(const char* what, uint64_t cycle, unsigned at) {
  std::printf("cycle %llu, board %u, block %u: %s\n", (unsigned long long)cycle, at / kKinds, at % kKinds, what);
  std::exit(1);
}

bool bit(unsigned mask, unsigned at) { return mask >> at & 1; }

void set(uint8_t& mask, unsigned at, bool on) { mask = uint8_t((mask & ~(1u << at)) | unsigned(on) << at); }

struct Board {
  VerilatedContext context;
  Vrank_top top{&context};
  // By link: the far board and its link.
  int far[kLinks], far_link[kLinks];
  unsigned wired = 0;
};

std::vector<std::unique_ptr<Board>> boards;
uint64_t now = 0;

void each(const std::function<void(Vrank_top&)>& act) {
  for (auto& board : boards) act(board->top);
}

void low() {
  for (auto& board : boards) {
    board->top.clk_i = 0;
    board->top.eval();
  }
}

/// Wires to other boards start at registers, so their values reach those boards at this edge.
void high() {
  for (auto& board : boards) {
    unsigned valid = 0, last = 0, error = 0;
    for (unsigned l = 0; l < kLinks; ++l) {
      if (!(board->wired >> l & 1)) continue;
      Vrank_top& far = boards[size_t(board->far[l])]->top;
      const unsigned from = unsigned(board->far_link[l]);
      valid |= (far.away_valid_o >> from & 1u) << l;
      last |= (far.away_last_o >> from & 1u) << l;
      error |= (far.away_error_o >> from & 1u) << l;
      board->top.rx_data_i[l] = far.away_data_o[from];
      board->top.rx_keep_i[l] = far.away_keep_o[from];
    }
    board->top.rx_valid_i = valid;
    board->top.rx_last_i = last;
    board->top.rx_error_i = error;
  }
  for (auto& board : boards) {
    board->top.clk_i = 1;
    board->top.eval();
  }
  ++now;
}

void tick() {
  low();
  high();
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "ranks SCRIPT INPUT OUTPUT\n");
    return 2;
  }
  struct Write {
    unsigned board, at, entry, kind;
  };
  unsigned count = 0;
  struct Wire {
    unsigned board, link, far, far_link;
  };
  std::vector<Wire> wires;
  std::vector<Write> routes, trees;
  std::deque<Run> runs;
  uint64_t seed = 1, loss = 0, limit = 1'000'000, stalls = 0;
  long recover = -1;
  std::ifstream script(argv[1]), input(argv[2], std::ios::binary);
  for (std::string line, word; std::getline(script, line);) {
    std::istringstream words(line);
    words >> word;
    Write one{};
    if (word == "seed")
      words >> seed;
    else if (word == "loss")
      words >> loss;
    else if (word == "stalls")
      words >> stalls;
    else if (word == "limit")
      words >> limit;
    else if (word == "boards")
      words >> count;
    else if (word == "wire") {
      Wire wire{};
      words >> wire.board >> wire.link >> wire.far >> wire.far_link;
      wires.push_back(wire);
    } else if (word == "route") {
      words >> one.board >> one.at >> one.entry;
      routes.push_back(one);
    } else if (word == "tree") {
      words >> one.kind >> one.board >> one.at >> one.entry;
      trees.push_back(one);
    } else if (word == "run") {
      Run run{};
      words >> run.kind >> run.type >> run.op >> run.root >> run.count >> run.members >> run.gap;
      if (run.kind < 1 || run.type < 1 || run.type >= std::size(kSizes) || run.kind > 8 + kAllgather ||
          set_of(run.kind) != SET)
        words.setstate(std::ios::failbit);
      runs.push_back(run);
    } else if (word == "wrong") {
      unsigned run = 0;
      Wrong wrong{};
      words >> run >> wrong.board >> wrong.kind >> wrong.type >> wrong.op >> wrong.root >> wrong.count;
      runs.at(run).wrong.push_back(wrong);
    } else if (word == "recover")
      words >> recover;
    if (!words) {
      std::fprintf(stderr, "%s: %s: unknown line\n", argv[1], line.c_str());
      return 2;
    }
  }
  for (Run& run : runs) {
    run.shape();
    for (unsigned b = 0; b < kMost; ++b) {
      for (unsigned length : run.gives[b]) run.in[b].resize(run.in[b].size() + length);
      input.read(reinterpret_cast<char*>(run.in[b].data()), long(run.in[b].size()));
    }
  }
  if (!input) {
    std::fprintf(stderr, "%s: file too short\n", argv[2]);
    return 2;
  }

  std::mt19937_64 random(seed);
  for (unsigned b = 0; b < count; ++b) {
    boards.push_back(std::make_unique<Board>());
    boards[b]->top.board_i = b;
  }
  for (const Wire& wire : wires) {
    Board& board = *boards.at(wire.board);
    board.wired |= 1u << wire.link;
    board.far[wire.link] = int(wire.far);
    board.far_link[wire.link] = int(wire.far_link);
    board.top.far_i |= wire.far << 8 * wire.link;
    board.top.far_link_i |= wire.far_link << 8 * wire.link;
  }
  each([&](Vrank_top& top) {
    top.seed_i = uint32_t(seed);
    top.rst_ni = 0;
    top.loss_i = top.damage_i = uint32_t(loss);
  });
  for (int i = 0; i < 8; ++i) tick();
  each([](Vrank_top& top) { top.rst_ni = 1; });
  const auto ready = [] {
    for (auto& board : boards)
      if (!board->top.ready_o) return false;
    return true;
  };
  while (!ready()) tick();
  for (const Write& one : routes) {
    Vrank_top& top = boards.at(one.board)->top;
    top.table_index_i = one.at;
    top.table_entry_i = one.entry;
    top.table_we_i = 1;
    tick();
    top.table_we_i = 0;
  }
  for (const Write& one : trees) {
    Vrank_top& top = boards.at(one.board)->top;
    top.tree_root_i = one.at;
    top.tree_entry_i = one.entry;
    top.tree_we_i = 1u << block_of(one.kind);
    tick();
    top.tree_we_i = 0;
  }
  each([](Vrank_top& top) { top.bind_i = 1; });
  tick();
  each([](Vrank_top& top) { top.bind_i = 0; });
  const auto up = [] {
    for (auto& board : boards)
      if ((board->top.up_o & board->wired) != board->wired) return false;
    return true;
  };
  while (!up()) {
    tick();
    if (now > limit) fail("links do not come up", now, 0);
  }
  for (int i = 0; i < 2'000; ++i) tick();

  const unsigned all = count * kKinds;
  std::vector<Kernel> kernels(all);
  uint64_t idle_from[kKinds] = {now, now};
  size_t left = runs.size();
  const uint64_t begin = now;
  while (left) {
    if (stalls && now - begin > limit / 2) stalls = 0;
    if (now - begin > limit) fail("collectives do not finish", now, 0);
    for (unsigned a = 0; a < all; ++a) {
      Kernel& kernel = kernels[a];
      const unsigned board = a / kKinds, kind = a % kKinds;
      Vrank_top& top = boards[board]->top;
      if (stalls && now % 64 == 0) {
        static const unsigned kOdds[] = {0, 20, 300, 1000, 1000};
        for (unsigned& one : kernel.odds) one = kOdds[random() % 5];
      }
      if (!stalls) kernel.odds[0] = kernel.odds[1] = 1000;
      bool opens = false;
      if (!kernel.open) {
        while (kernel.next < runs.size() &&
               (block_of(runs[kernel.next].kind) != kind || !(runs[kernel.next].members >> board & 1)))
          ++kernel.next;
        if (kernel.next < runs.size()) {
          const Run& run = runs[kernel.next];
          // A run with a gap waits until all earlier runs of its kind have finished.
          bool waits = false;
          if (run.gap >= 0) {
            waits = now < idle_from[kind] + (runs.front().given_up ? 0 : uint64_t(run.gap));
            for (size_t r = 0; r < kernel.next; ++r) waits |= block_of(runs[r].kind) == kind && !runs[r].ended;
          }
          opens = !waits && (now >= kernel.comes || !stalls);
          Wrong said{board, run.kind & 7, run.type, run.op, run.root, run.count};
          for (const Wrong& wrong : run.wrong)
            if (wrong.board == board) said = wrong;
          if (opens)
            top.open_i[kind] = uint64_t(said.kind) << 53 | uint64_t(said.type) << 50 | uint64_t(said.op) << 48 |
                               uint64_t(board) << 40 | uint64_t(said.root) << 32 | said.count;
        }
      }
      set(top.open_valid_i, kind, opens);
      Run* run = kernel.open;
      const bool some = run && !kernel.give.over();
      set(top.s_valid_i, kind, some && (kernel.offered || random() % 1000 < kernel.odds[0]));
      if (some) {
        // Data after the last element are arbitrary.
        uint64_t data = 0xDEADBEEF'DEADBEEF;
        std::memcpy(&data, &run->in[board][kernel.give.all], kernel.give.beat());
        top.s_data_i[kind] = data;
      }
      set(top.m_ready_i, kind, kernel.odds[1] == 1000 || random() % 1000 < kernel.odds[1]);
    }
    low();
    for (unsigned a = 0; a < all; ++a) {
      Kernel& kernel = kernels[a];
      const unsigned board = a / kKinds, kind = a % kKinds;
      Vrank_top& top = boards[board]->top;
      Run* run = kernel.open;
      kernel.offered = bit(top.s_valid_i, kind) && !bit(top.s_ready_o, kind);
      if (bit(top.s_valid_i, kind) && bit(top.s_ready_o, kind)) kernel.give.step();
      // A rank that opens another collective may receive too many elements: in an allgather its own segment returns.
      const bool spare = kernel.lies && (!run || kernel.take.over());
      if (bit(top.m_valid_o, kind) && bit(top.m_ready_i, kind) && !spare) {
        if (!run || kernel.take.over()) fail("an unexpected element", now, a);
        const unsigned some = kernel.take.beat();
        if (top.m_keep_o[kind] != (1u << some) - 1) fail("keep", now, a);
        if (bit(top.m_last_o, kind) != kernel.take.last()) fail("last", now, a);
        run->first = run->first ? run->first : now;
        for (unsigned n = 0; n < some; ++n) run->out[board].push_back(uint8_t(top.m_data_o[kind] >> 8 * n));
        kernel.take.step();
      }
      if (run && kernel.give.over() && kernel.take.over()) {
        kernel.open = nullptr;
        ++kernel.next;
        kernel.comes = now + random() % 600;
        if (--run->left == 0) {
          run->ended = now;
          idle_from[kind] = now;
          --left;
        }
      }
      if (bit(top.open_valid_i, kind) && bit(top.open_ready_o, kind)) {
        kernel.open = &runs[kernel.next];
        Run& opened = *kernel.open;
        kernel.give.begin(opened.gives[board]);
        kernel.take.begin(opened.takes[board]);
        kernel.lies = std::any_of(opened.wrong.begin(), opened.wrong.end(),
                                  [&](const Wrong& wrong) { return wrong.board == board; });
        opened.opened = now;
        if (!opened.begun) {
          opened.begun = now;
          opened.left = unsigned(__builtin_popcount(opened.members));
        }
      }
      if (bit(top.block_fault_o, kind)) fail("a collective that its block does not support", now, a);
    }
    high();
    bool reported = false;
    for (unsigned b = 0; b < count && !reported; ++b) {
      Vrank_top& top = boards[b]->top;
      if (top.fault_o) fail("a dropped or unroutable packet", now, b * kKinds);
      if (!top.report_valid_o) continue;
      const uint64_t ends = top.report_ends_o;
      const auto at = [&](unsigned low, unsigned mask) { return unsigned(ends >> low) & mask; };
      std::printf("report of board %u: fault %u port %u own %u peer %u type %u and %u count %u and %u", b, at(30, 7),
                  at(22, 255), at(14, 255), at(6, 255), at(3, 7), at(0, 7), top.report_mine_o, top.report_theirs_o);
      for (const unsigned tag : {top.report_my_tag_o, top.report_their_tag_o})
        std::printf(" tag %u %u %u %u %u", tag >> 16, tag >> 13 & 7, tag >> 10 & 7, tag >> 8 & 3, tag & 255);
      std::printf("\n");
      if (recover < 0) return 1;
      reported = true;
    }
    if (!reported) continue;
    // Boards are cleared independently, as hosts do it; kernels open no run before all boards are cleared.
    for (auto& board : boards) {
      board->top.open_valid_i = board->top.s_valid_i = 0;
      board->top.m_ready_i = (1u << kKinds) - 1;
    }
    std::vector<unsigned> order(count);
    for (unsigned b = 0; b < count; ++b) order[b] = b;
    std::shuffle(order.begin(), order.end(), random);
    for (const unsigned b : order) {
      Vrank_top& top = boards[b]->top;
      top.clear_i = (1u << kKinds) - 1;
      top.account_i = 1;
      top.bind_i = 1;
      tick();
      top.clear_i = 0;
      top.bind_i = 0;
      for (unsigned i = unsigned(random() % 400); i; --i) tick();
    }
    for (unsigned i = 0; i < 500; ++i) tick();
    each([](Vrank_top& top) { top.clear_report_i = 1; });
    tick();
    each([](Vrank_top& top) { top.clear_report_i = 0; });
    for (long at = 0; at <= recover; ++at) {
      Run& run = runs[size_t(at)];
      if (!run.ended) --left;
      run.ended = now;
      run.given_up = true;
    }
    for (Kernel& kernel : kernels) {
      const size_t next = std::max(kernel.next, size_t(recover + 1));
      kernel = Kernel{};
      kernel.next = next;
    }
    recover = -1;
  }
  if (recover >= 0) fail("no report", now, 0);

  std::ofstream output(argv[3], std::ios::binary);
  for (const Run& run : runs) {
    if (run.given_up) continue;
    for (unsigned b = 0; b < count; ++b)
      if (!run.out[b].empty()) output.write(reinterpret_cast<const char*>(run.out[b].data()), long(run.out[b].size()));
    std::printf("run %zu opened %llu first %llu last %llu\n", size_t(&run - &runs[0]),
                (unsigned long long)(run.opened - run.begun), (unsigned long long)(run.first - run.begun),
                (unsigned long long)(run.ended - run.begun));
  }
  unsigned lost = 0;
  each([&](Vrank_top& top) { lost += top.lost_o; });
  std::printf("cycles %llu lost %u\n", (unsigned long long)now, lost);
  return output.good() ? 0 : 1;
}
