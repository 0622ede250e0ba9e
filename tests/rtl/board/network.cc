// SPDX-License-Identifier: Apache-2.0
/// Three boards in a ring: every packet arrives once, whole and unchanged, at its destination, whatever the wires lose;
/// messages with keys arrive at every destination that the records of all boards on their path name.
///
/// network_test SEED PACKETS LOSS: number of packets; probabilities of loss and damage of a frame in units of 2^-20.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "Vnetwork_top.h"
#include "check.h"
#include "flit.h"
#include "verilated.h"

namespace {

constexpr unsigned kBoards = 3, kPorts = 4, kAll = kBoards * kPorts, kChannels = 8, kWindow = 8, kJob = 5;
constexpr uint64_t kPatience = 200'000;
enum Kind : uint32_t { kThread, kTile, kStream, kMatch, kKey, kHost, kControl, kAccelerator };
enum FlitKind : unsigned { kBody, kMask, kKeyHead, kHeader };

using flit_test::Beat, flit_test::Flit, flit_test::Packet;

uint32_t address(Kind kind, unsigned board, uint32_t rest) {
  return static_cast<uint32_t>(kind) << 29 | board << 14 | rest;
}

class Test {
 public:
  Test(uint64_t seed, unsigned loss) : random_(seed), top_(std::make_unique<Vnetwork_top>()) {
    top_->clk_i = 0;
    top_->rst_ni = 0;
    top_->loss_i = loss;
    top_->damage_i = loss;
    top_->cut_i = 0;
    top_->burst_i = 8;
    top_->flush_i = 0;
    top_->table_we_i = 0;
    for (unsigned i = 0; i < kAll; ++i) top_->in_valid_i[i] = top_->out_credit_i[i] = 0;
    for (unsigned b = 0; b < kBoards; ++b) top_->req_ready_i[b] = top_->rsp_valid_i[b] = 0;
    for (auto& port : credits_) port.fill(kWindow);
    for (int i = 0; i < 8; ++i) {
      top_->clk_i = !top_->clk_i;
      top_->eval();
    }
    top_->rst_ni = 1;
    while (!top_->ready_o) tick();
    for (uint64_t n = 0; top_->up_o != 0x3F; ++n) {
      CHECK(n < 50'000, "links %02x are up, not all six", top_->up_o);
      tick();
    }
    // Each board has two neighbours; host 0 is board 1's.
    for (unsigned b = 0; b < kBoards; ++b) {
      for (unsigned to = 0; to < kBoards; ++to)
        if (to != b) set(b, to, 1u << 7 | (random_() % 2) << 5 | (2 + (to == (b + 1) % kBoards ? 0 : 1)));
      set(b, 63, b == 1 ? 1u << 7 | 5 : 1u << 7 | (2 + ((b + 1) % kBoards == 1 ? 0 : 1)));
    }
  }
  ~Test() { top_->final(); }

  /// With `sparse` there are pauses, in which some or all parts of the boards become idle, and few keys, whose records
  /// are soon in the routers' caches.
  void run(uint64_t packets, bool sparse) {
    sparse_ = sparse;
    make_keys();
    for (uint64_t made = 0; made < packets;) {
      // Bursts of all traffic, receivers of all speeds.
      for (auto& rate : drain_) rate = random_() % 4 == 0 ? 0.2 : 1.0;
      for (unsigned n = 0; n < 200 && made < packets; ++n, ++made) {
        make();
        for (unsigned k = random_() % (!sparse_ ? 6 : random_() % 4 ? 60 : 1'000); k; --k) tick();
        while (waiting_ > 400) {
          tick();
          CHECK(now_ - latest_ < kPatience, "no packet has left for %llu cycles", (unsigned long long)kPatience);
        }
      }
    }
    finish();
    std::printf("packets %llu flits %llu cycles %llu lost %u keyed %llu copies %llu seen %llx\n",
                (unsigned long long)packets, (unsigned long long)flits_, (unsigned long long)now_, top_->lost_o,
                (unsigned long long)keyed_, (unsigned long long)copies_, (unsigned long long)seen_);
  }

  /// A cut link is reported down soon, and blocks no other link; when it is repaired, it delivers all its packets.
  void cut() {
    const auto send = [&](unsigned from, unsigned to, unsigned count) {
      for (unsigned n = 0; n < count; ++n) queue(from * kPorts, message(address(kThread, to, 0), 0, 4), to);
    };
    send(0, 1, 50);
    for (int i = 0; i < 300; ++i) tick();
    top_->cut_i = 0x09;  // board 0 by link 0, and board 1 by link 1: both directions
    const uint64_t from = now_;
    while (top_->up_o & 1) {
      tick();
      CHECK(now_ - from < 10'000, "a cut link is not detected in 10,000 cycles");
    }
    const uint64_t detected = now_ - from;
    const uint64_t before = arrived_;
    send(1, 2, 100);
    send(2, 0, 100);
    for (uint64_t i = 0; arrived_ < before + 200; ++i) {
      tick();
      CHECK(i < 50'000, "an intact link goes down while another link is cut");
    }
    top_->cut_i = 0;
    finish();
    std::printf("cut detected %llu\n", (unsigned long long)detected);
  }

 private:
  std::mt19937_64 random_;
  std::unique_ptr<Vnetwork_top> top_;
  uint64_t now_ = 0, flits_ = 0, latest_ = 0, waiting_ = 0, expected_ = 0, arrived_ = 0, keyed_ = 0, copies_ = 0;
  uint64_t seen_ = 0;  ///< hash of all packets that left: cycle, port, and contents
  uint32_t next_ = 1;
  bool sparse_ = false;
  std::array<std::array<std::deque<Flit>, kChannels>, kAll> in_;
  std::array<std::array<unsigned, kChannels>, kAll> credits_, held_{};
  std::array<std::array<Packet, kChannels>, kAll> part_;
  std::array<double, kAll> drain_;
  /// Outstanding packets by board, each as often as it is to arrive.
  std::array<std::multiset<Packet>, kBoards> wanted_;
  std::array<std::map<uint32_t, Beat>, kBoards> beats_;
  struct Leaf {
    unsigned board;
    bool tile;
    uint32_t dest;
    uint64_t mask;
  };
  /// Keys by the board on which they are sent, and the destinations of their messages.
  std::vector<std::pair<unsigned, uint32_t>> keys_;
  std::vector<std::vector<Leaf>> leaves_;
  struct Read {
    uint64_t due;
    unsigned tag;
    uint32_t beat;
  };
  std::array<std::vector<Read>, kBoards> reads_;

  bool chance(double share) { return std::uniform_real_distribution<double>(0, 1)(random_) < share; }

  void set(unsigned board, unsigned index, unsigned entry) {
    top_->table_we_i = 1u << board;
    top_->table_index_i = index;
    top_->table_entry_i = entry;
    tick();
    top_->table_we_i = 0;
  }

  Packet message(uint32_t dest, unsigned vnet, unsigned flits) {
    Packet packet(flits);
    const unsigned tags = kJob << 2 | random_() % 4;
    const uint32_t id = next_++;
    for (unsigned i = 0; i < flits; ++i) {
      packet[i] = {kBody, vnet, tags, i + 1 == flits, dest, {id, i, uint32_t(random_()), uint32_t(random_())}};
    }
    return packet;
  }

  void queue(unsigned port, const Packet& packet, int board) {
    const unsigned channel = packet[0].vnet * 2;
    for (const Flit& flit : packet) in_[port][channel].push_back(flit);
    waiting_ += packet.size();
    if (board >= 0) {
      wanted_[board].insert(packet);
      ++expected_;
    }
  }

  void make() {
    const unsigned board = random_() % kBoards, to = random_() % kBoards;
    unsigned port = board * kPorts + random_() % kPorts;
    const uint32_t place = random_() & 0x3FFF;
    switch (random_() % 7) {
      case 0: return queue(port, message(address(kThread, to, place), 0, 1 + random_() % 4), to);
      case 1: {
        Packet p = message(address(kTile, to, place & ~63u), 0, 2 + random_() % 4);
        p[0].kind = kMask;
        if (random_() % 2) p[0].payload[2] = p[0].payload[3] = 0;
        return queue(port, p, to);
      }
      case 2: return queue(port, message(address(kAccelerator, to, place), 1, 1 + random_() % 8), to);
      case 3: return queue(port, message(address(kHost, 0, 0), 2, 1 + random_() % 16), 1);
      case 4: return queue(port, message(address(kControl, to, 0), 3, 1 + random_() % 2), to);
      case 5: {
        // To a tile's loader: the longest packets.
        Packet p = message(address(kTile, to, place & ~63u), 1, 1 + random_() % 33);
        p[0].kind = kHeader;
        return queue(port, p, to);
      }
      default: {
        // A key from an exit of the mesh, which has a router.
        const unsigned k = random_() % (sparse_ ? 4 : keys_.size());
        port = keys_[k].first * kPorts + random_() % 2;
        Packet p = message(4u << 29, 0, 2 + random_() % 4);
        p[0].kind = kKeyHead;
        const uint32_t id = p[0].payload[0];
        p[0].payload = {keys_[k].second, 0, 0, 0};
        p[1].payload[0] = id;
        queue(port, p, -1);
        ++keyed_;
        for (const Leaf& leaf : leaves_[k]) {
          Packet copy(p.begin() + 1, p.end());
          if (leaf.tile) {
            Flit head = copy[0];
            head.kind = kMask;
            head.last = false;
            head.payload = {uint32_t(leaf.mask), uint32_t(leaf.mask >> 32), 0, 0};
            copy.insert(copy.begin(), head);
          }
          for (Flit& flit : copy) flit.dest = leaf.dest;
          wanted_[leaf.board].insert(copy);
          ++expected_;
          ++copies_;
        }
      }
    }
  }

  void put(Beat& beat, unsigned p, uint64_t place) {
    for (unsigned bit = 0; bit < 48; ++bit) {
      const unsigned to = 16 + 48 * p + bit;
      if (place >> bit & 1) beat[to / 32] |= 1u << to % 32;
    }
  }

  /// Makes a key on a board: copies there, and, while boards remain to be visited, on to a neighbour. Keys that arrive
  /// over a link take at most one more link: no path turns back.
  uint32_t tree(unsigned board, int came, unsigned depth, std::vector<Leaf>& leaves, uint32_t& next) {
    const uint32_t at = next++;
    Beat beat{};
    unsigned places = 0, count = 0;
    if (random_() % 4 != 0) {
      const uint32_t place = (random_() % 4) << 6;
      const uint64_t mask = random_() | 1;
      put(beat, places++, uint64_t{3} << 45 | uint64_t(place >> 10 & 15) << 41 | uint64_t(place >> 6 & 15) << 37 |
                              (mask & 0xFFFF) << 16);
      put(beat, places++, mask >> 16);
      ++count;
      leaves.push_back({board, true, address(kTile, board, place), mask});
    }
    if (random_() % 2) {
      const unsigned thread = random_() % 64;
      put(beat, places++, uint64_t{0} << 45 | uint64_t(thread) << 31);
      ++count;
      leaves.push_back({board, false, address(kThread, board, thread), 0});
    }
    for (unsigned link = 0; link < 2; ++link) {
      if (depth == 0 || (came >= 0 && link != unsigned(came)) || random_() % 3 == 0) continue;
      const unsigned ahead = link == 0 ? (board + 1) % kBoards : (board + kBoards - 1) % kBoards;
      // In a ring the second hop in one direction changes the virtual channel.
      const unsigned vc = came >= 0 ? 1 : 0;
      const uint32_t key = tree(ahead, int(link), came >= 0 ? 0 : depth - 1, leaves, next);
      put(beat, places++, uint64_t{5} << 45 | uint64_t(link) << 41 | uint64_t(vc) << 39 | key);
      ++count;
    }
    beat[0] |= count;
    beats_[board][at] = beat;
    return at << 5 | 1;
  }

  void make_keys() {
    uint32_t next = 7;
    for (unsigned k = 0; k < 40; ++k) {
      const unsigned board = random_() % kBoards;
      leaves_.emplace_back();
      const uint32_t key = tree(board, -1, 2, leaves_.back(), next);
      keys_.push_back({board, key});
    }
  }

  void finish() {
    drain_.fill(1.0);
    latest_ = now_;
    while (arrived_ < expected_ || waiting_ != 0) {
      tick();
      CHECK(now_ - latest_ < kPatience, "%llu of %llu packets did not arrive",
            (unsigned long long)(expected_ - arrived_), (unsigned long long)expected_);
    }
    // Messages without destinations are consumed, and everything becomes idle.
    for (int i = 0; i < 3000; ++i) tick();
    CHECK(top_->empty_o == 7, "a switch is not empty: %x", top_->empty_o);
    for (unsigned b = 0; b < 3; ++b)
      CHECK(!top_->in_flight_o[b], "board %u holds packets: %x", b, top_->in_flight_o[b]);
    for (unsigned b = 0; b < kBoards; ++b) CHECK(top_->idle_o[b], "a router of board %u is not idle", b);
  }

  void drive() {
    for (unsigned i = 0; i < kAll; ++i) {
      top_->in_valid_i[i] = 0;
      const unsigned first = random_() % 4;
      for (unsigned k = 0; k < 4; ++k) {
        const unsigned c = 2 * ((first + k) % 4);
        if (in_[i][c].empty() || credits_[i][c] == 0) continue;
        const Flit flit = in_[i][c].front();
        in_[i][c].pop_front();
        --credits_[i][c];
        --waiting_;
        top_->in_valid_i[i] = 1u << c;
        top_->in_kind_i[i] = flit.kind;
        top_->in_last_i[i] = flit.last;
        top_->in_vnet_i[i] = flit.vnet;
        top_->in_tags_i[i] = flit.tags;
        top_->in_dest_i[i] = flit.dest;
        for (unsigned w = 0; w < 4; ++w) top_->in_payload_i[i][w] = flit.payload[w];
        break;
      }
    }
    for (unsigned b = 0; b < kBoards; ++b) {
      top_->req_ready_i[b] = 1;
      top_->rsp_valid_i[b] = !reads_[b].empty() && reads_[b].front().due <= now_;
      if (top_->rsp_valid_i[b]) {
        top_->rsp_tag_i[b] = reads_[b].front().tag;
        const Beat beat = beats_[b].at(reads_[b].front().beat);
        for (unsigned w = 0; w < 8; ++w) top_->rsp_i[b][w] = beat[w];
      }
    }
  }

  void arrive(unsigned i, unsigned c) {
    Flit flit{top_->out_kind_o[i], top_->out_vnet_o[i], top_->out_tags_o[i], bool(top_->out_last_o[i]),
              top_->out_dest_o[i], {}};
    for (unsigned w = 0; w < 4; ++w) flit.payload[w] = top_->out_payload_o[i][w];
    const unsigned board = i / kPorts, port = i % kPorts;
    const uint32_t kind = flit.dest >> 29;
    const unsigned right = kind == kControl ? 2 : kind == kHost ? 3 : (flit.dest >> 6 & 15) == 0 ? 0 : 1;
    CHECK(port == right, "board %u: a flit to %08x left through port %u, not %u", board, flit.dest, port, right);
    Packet& part = part_[i][c];
    part.push_back(flit);
    ++flits_;
    latest_ = now_;
    for (const uint64_t word : {now_, uint64_t{i} << 8 | c, uint64_t{flit.dest} << 32 | flit.payload[2]}) {
      seen_ = (seen_ ^ word) * 0x9E3779B97F4A7C15u;
      seen_ ^= seen_ >> 29;
    }
    if (!flit.last) return;
    const auto found = wanted_[board].find(part);
    CHECK(found != wanted_[board].end(), "cycle %llu: board %u port %u: a packet to %08x of %zu flits, id %u, "
          "not sent there, or duplicated or changed", (unsigned long long)now_, board, port, flit.dest, part.size(),
          part[0].payload[0]);
    wanted_[board].erase(found);
    part.clear();
    ++arrived_;
  }

  void tick() {
    drive();
    top_->clk_i = 0;
    top_->eval();
    std::array<bool, kBoards> asks{}, answered{};
    std::array<Read, kBoards> read{};
    for (unsigned b = 0; b < kBoards; ++b) {
      asks[b] = top_->req_valid_o[b] && top_->req_ready_i[b];
      answered[b] = top_->rsp_valid_i[b] && top_->rsp_ready_o[b];
      read[b] = {now_ + 30, top_->req_tag_o[b], top_->req_beat_o[b]};
    }
    top_->clk_i = 1;
    top_->eval();
    ++now_;
    for (unsigned b = 0; b < kBoards; ++b) {
      if (answered[b]) reads_[b].erase(reads_[b].begin());
      if (asks[b]) reads_[b].push_back(read[b]);
      CHECK(top_->unroutable_o[b] == 0, "board %u drops a packet that has a route", b);
    }
    for (unsigned i = 0; i < kAll; ++i) {
      uint8_t credits = 0;
      for (unsigned c = 0; c < kChannels; ++c) {
        if (top_->in_credit_o[i] >> c & 1) ++credits_[i][c];
        if (top_->out_valid_o[i] >> c & 1) {
          arrive(i, c);
          ++held_[i][c];
          CHECK(held_[i][c] <= kWindow, "port %u sends without credit", i);
        }
        if (held_[i][c] != 0 && (drain_[i] >= 1.0 || chance(drain_[i]))) {
          --held_[i][c];
          credits |= 1u << c;
        }
      }
      top_->out_credit_i[i] = credits;
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  Test test(std::strtoull(argv[1], nullptr, 10), static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)));
  test.run(std::strtoull(argv[2], nullptr, 10), argc > 4);
  test.cut();
}
