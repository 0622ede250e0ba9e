// SPDX-License-Identifier: Apache-2.0
// A mesh, or one router, with sources and sinks at all its ends. Every flit carries its source, its sink and its
// number, and every sink checks them.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "flit.h"
#include "verilated.h"
#ifdef NOC_ROUTER
#include "Vrouter_top.h"
using Top = Vrouter_top;
#else
#include "Vmesh_top.h"
using Top = Vmesh_top;
#endif

namespace noc_test {

inline constexpr unsigned kWidth = NOC_WIDTH, kHeight = NOC_HEIGHT, kDepth = NOC_DEPTH, kVnets = 4;
#ifdef NOC_ROUTER
inline constexpr unsigned kTiles = 0, kLinks = 5;
#else
inline constexpr unsigned kTiles = kWidth * kHeight, kLinks = NOC_PORTS;
#endif
inline constexpr unsigned kEnds = kTiles + kLinks;
inline constexpr unsigned kBoard = 0x5A3;
// Kinds of addresses, written independently of the generated header on purpose.
inline constexpr unsigned kKinds = 8;
enum Kind : unsigned { kThread, kTile, kStream, kMatch, kKey, kHost, kControl, kAccelerator };

#define CHECK(condition, ...)                                           \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::fprintf(stderr, "FAIL (%s:%d): ", __FILE__, __LINE__);       \
      std::fprintf(stderr, __VA_ARGS__);                                \
      std::fputc('\n', stderr);                                         \
      std::exit(1);                                                     \
    }                                                                   \
  } while (0)

using flit_test::Flit;

/// A received packet: `first` and `last` are the cycles of its first and last flit at the sink.
struct Arrival {
  unsigned source, sink, vnet, flits;
  uint32_t seq;
  uint64_t sent, first, last;
};

struct End {
  std::array<std::deque<Flit>, kVnets> queue;
  std::array<unsigned, kVnets> credits{};
  /// of 256: the odds that it sends, and that it accepts, in a cycle
  unsigned send = 256;
  std::array<unsigned, kVnets> take{256, 256, 256, 256};
  // state of a sink
  std::array<unsigned, kVnets> held{};
  std::array<uint64_t, kVnets> index{};
  std::array<uint32_t, kVnets> open{};
  std::array<uint64_t, kVnets> began{};
  unsigned next = 0;
};

class Bench {
 public:
  Bench(uint64_t seed, unsigned y = 0, unsigned x = 0) : random(seed), y_(y), x_(x) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed % 0x7FFFFFFE) + 1);
    top_ = std::make_unique<Top>(&context_);
    move(y, x);
    reset();
  }
  ~Bench() { top_->final(); }

  static uint32_t address(unsigned kind, unsigned board, unsigned y, unsigned x, unsigned low) {
    return kind << 29 | board << 14 | y << 10 | x << 6 | low;
  }

  /// The sink of a packet.
  unsigned sink(unsigned source, uint32_t dest) const {
    const unsigned kind = dest >> 29;
    const bool home = (kind == kThread || kind == kTile || kind == kAccelerator) && (dest >> 14 & 0xFFF) == kBoard;
    const unsigned to_x = std::min(dest >> 6 & 15, kWidth - 1), to_y = std::min(dest >> 10 & 15, kHeight - 1);
#ifdef NOC_ROUTER
    enum { N, S, E, W, L };
    unsigned out = L;
    const unsigned column = home ? to_x : nearest(x_);
    if (column > x_) out = E;
    else if (column < x_) out = W;
    else if (!home || to_y > y_) out = N;
    else if (to_y < y_) out = S;
    // No U-turns; x after y only for packets that enter from the rim.
    const bool turned = source == S || (source == N && y_ != kHeight - 1);
    if (out == source || (turned && (out == E || out == W))) out = L;
    return out;
#else
    if (home) return to_y * kWidth + to_x;
    if (source >= kTiles) return (kHeight - 1) * kWidth + column(source - kTiles);
    return kTiles + exit(nearest(source % kWidth));
#endif
  }
  /// Routers on the path.
  static unsigned hops(unsigned source, unsigned sink) {
    if (kTiles == 0) return 1;
    auto where = [](unsigned end) {
      return end < kTiles ? std::pair<int, int>(end % kWidth, end / kWidth)
                          : std::pair<int, int>(column(end - kTiles), kHeight - 1);
    };
    const auto [a, b] = where(source);
    const auto [c, d] = where(sink);
    return std::abs(a - c) + std::abs(b - d) + 1;
  }
  static unsigned column(unsigned exit) {
    static const std::vector<unsigned> columns{NOC_EXITS};
    return columns[exit];
  }

  /// Queues a packet at a source.
  void send(unsigned source, unsigned vnet, uint32_t dest, unsigned flits, bool stray = false) {
    const unsigned to = sink(source, dest);
    const uint32_t seq = sent_seq_[{source, to, vnet}]++;
    for (unsigned i = 0; i < flits; i++) {
      Flit flit;
      // The head determines the route; a stray packet has other destinations in its other flits.
      flit.dest = stray && i ? static_cast<uint32_t>(random()) : dest;
      flit.last = i + 1 == flits;
      flit.payload = {source | to << 8 | vnet << 16 | flits << 24, seq, i | (stray ? 1u << 31 : 0), 0};
      flit.payload[3] = hash(flit.payload);
      ends[source].queue[vnet].push_back(flit);
    }
    waiting += flits;
  }

  void step() {
    for (unsigned e = 0; e < kEnds; e++) offer(e);
    for (unsigned t = 0; t < kTiles; t++) set_ready(t);
    for (unsigned e = kTiles; e < kEnds; e++) return_credits(e);
    top_->eval();
    bool moved = false;
    for (unsigned e = 0; e < kEnds; e++) moved |= receive(e);
    for (unsigned e = kTiles; e < kEnds; e++) {
      const unsigned returned = credits_out(e);
      for (unsigned v = 0; v < kVnets; v++) {
        ends[e].credits[v] += returned >> v & 1;
        CHECK(ends[e].credits[v] <= kDepth, "link %u returns more credits than it has slots", e);
      }
    }
    top_->clk_i = 1;
    top_->eval();
    top_->clk_i = 0;
    top_->eval();
    cycle++;
    idle_ = moved || waiting == 0 ? 0 : idle_ + 1;
    CHECK(idle_ < patience, "cycle %llu: no flit has moved for %u cycles; %llu flits are in flight",
          static_cast<unsigned long long>(cycle), patience, static_cast<unsigned long long>(waiting));
  }
  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; i++) step();
  }
  /// Runs until all packets have arrived.
  void drain(uint64_t limit = 100000) {
    for (End& end : ends) end.send = 256, end.take = {256, 256, 256, 256};
    const uint64_t until = cycle + limit;
    while (waiting) {
      step();
      CHECK(cycle < until, "%llu flits have not arrived", static_cast<unsigned long long>(waiting));
    }
    run(30);
  }
  void reset() {
    top_->rst_ni = 0;
    top_->board_i = kBoard;
    for (unsigned e = 0; e < kEnds; e++) drive(e, 0, Flit{});
    for (unsigned e = kTiles; e < kEnds; e++) top_->link_credit_i[e - kTiles] = 0;
    for (int i = 0; i < 4; i++) {
      top_->clk_i = 0, top_->eval();
      top_->clk_i = 1, top_->eval();
    }
    top_->clk_i = 0;
    top_->rst_ni = 1;
    top_->eval();
    for (End& end : ends) end = End{};
    for (unsigned e = kTiles; e < kEnds; e++) ends[e].credits.fill(kDepth);
    sent_seq_.clear();
    seen_seq_.clear();
    waiting = 0;
    idle_ = 0;
  }
  void move([[maybe_unused]] unsigned y, [[maybe_unused]] unsigned x) {
#ifdef NOC_ROUTER
    y_ = y, x_ = x;
    top_->tile_y_i = y;
    top_->tile_x_i = x;
#endif
  }
  unsigned below(unsigned bound) { return static_cast<unsigned>(random() % bound); }

  std::mt19937_64 random;
  std::array<End, kEnds> ends;
  std::vector<Arrival> arrived;
  bool record = false;
  uint64_t cycle = 0, waiting = 0, delivered = 0;
  /// flits that arrived, by sink
  std::array<uint64_t, kEnds> count{};
  unsigned patience = 2000;

 private:
  static unsigned nearest(unsigned x) {
    unsigned best = column(0);
    for (unsigned e = 1; e < NOC_PORTS; e++) {
      if (std::abs(int(column(e)) - int(x)) < std::abs(int(best) - int(x))) best = column(e);
    }
    return best;
  }
  static unsigned exit(unsigned column_) {
    unsigned e = 0;
    while (column(e) != column_) e++;
    return e;
  }
  static uint32_t hash(const std::array<uint32_t, 4>& data) {
    uint32_t h = 2166136261u;
    for (unsigned i = 0; i < 3; i++) h = (h ^ data[i]) * 16777619u, h ^= h >> 13;
    return h;
  }

  void drive(unsigned e, unsigned valid, const Flit& flit) {
    const uint64_t head = static_cast<uint64_t>(flit.last) << 32 | flit.dest;
#ifndef NOC_ROUTER
    if (e < kTiles) {
      top_->tile_valid_i[e] = valid;
      top_->tile_head_i[e] = head;
      for (unsigned w = 0; w < 4; w++) top_->tile_data_i[e][w] = flit.payload[w];
      return;
    }
#endif
    top_->link_valid_i[e - kTiles] = valid;
    top_->link_head_i[e - kTiles] = head;
    for (unsigned w = 0; w < 4; w++) top_->link_data_i[e - kTiles][w] = flit.payload[w];
  }

  void offer(unsigned e) {
    End& end = ends[e];
    unsigned can = 0;
#ifndef NOC_ROUTER
    if (e < kTiles) can = top_->tile_ready_o[e];
#endif
    for (unsigned v = 0; v < kVnets; v++) {
      if (e >= kTiles && end.credits[v]) can |= 1u << v;
      if (end.queue[v].empty()) can &= ~(1u << v);
    }
    if (!can || below(256) >= end.send) {
      // Fields of an invalid flit are arbitrary.
      Flit flit;
      flit.dest = static_cast<uint32_t>(random());
      flit.last = below(2);
      drive(e, 0, flit);
      return;
    }
    do end.next = (end.next + 1) % kVnets;
    while (!(can >> end.next & 1));
    const unsigned v = end.next;
    Flit flit = end.queue[v].front();
    end.queue[v].pop_front();
    if ((flit.payload[2] & 0xFF) == 0) sent_at_[{e, flit.payload[0] >> 8 & 0xFF, v, flit.payload[1]}] = cycle;
    drive(e, 1u << v, flit);
    if (e >= kTiles) end.credits[v]--;
  }

  void set_ready([[maybe_unused]] unsigned t) {
#ifndef NOC_ROUTER
    unsigned ready = 0;
    for (unsigned v = 0; v < kVnets; v++) ready |= (below(256) < ends[t].take[v]) << v;
    top_->tile_ready_i[t] = ready;
#endif
  }
  void return_credits(unsigned e) {
    unsigned give = 0;
    for (unsigned v = 0; v < kVnets; v++) {
      if (ends[e].held[v] && below(256) < ends[e].take[v]) give |= 1u << v, ends[e].held[v]--;
    }
    top_->link_credit_i[e - kTiles] = give;
  }
  unsigned credits_out(unsigned e) { return top_->link_credit_o[e - kTiles]; }

  /// Checks the flit that arrives at an end, if any.
  bool receive(unsigned e) {
    End& end = ends[e];
    unsigned valid = 0;
    uint64_t head = 0;
    std::array<uint32_t, 4> data{};
#ifndef NOC_ROUTER
    if (e < kTiles) {
      valid = top_->tile_valid_o[e];
      head = top_->tile_head_o[e];
      for (unsigned w = 0; w < 4; w++) data[w] = top_->tile_data_o[e][w];
      CHECK(!(valid & ~top_->tile_ready_i[e]), "tile %u: a flit is valid that the tile does not accept", e);
    } else
#endif
    {
      valid = top_->link_valid_o[e - kTiles];
      head = top_->link_head_o[e - kTiles];
      for (unsigned w = 0; w < 4; w++) data[w] = top_->link_data_o[e - kTiles][w];
    }
    if (!valid) return false;
    CHECK(!(valid & (valid - 1)), "end %u: a flit in several networks: %x", e, valid);
    unsigned v = 0;
    while (!(valid >> v & 1)) v++;
    const unsigned source = data[0] & 0xFF, to = data[0] >> 8 & 0xFF, vnet = data[0] >> 16 & 0xFF;
    const unsigned flits = data[0] >> 24, index = data[2] & 0xFF;
    CHECK(data[3] == hash(data) && (head >> 33 & 1), "end %u: a flit was changed", e);
    CHECK(vnet == v, "end %u: a flit of network %u arrived in network %u", e, vnet, v);
    CHECK(to == e, "a packet from %u for %u is at %u (%08x)", source, to, e, static_cast<unsigned>(head));
    if (index == 0) {
      CHECK(end.index[v] == 0, "end %u: a packet begins inside another", e);
      const uint32_t next = seen_seq_[{source, e, v}];
      CHECK(next == data[1], "end %u: packet %u of %u, not %u", e, data[1], source, next);
      end.open[v] = source;
      end.began[v] = cycle;
    }
    CHECK(index == end.index[v] && end.open[v] == source, "end %u: flit %u of %u inside another packet", e, index,
          source);
    const bool last = head >> 32 & 1;
    CHECK(last == (index + 1 == flits), "end %u: a packet of %u flits ends at %u", e, flits, index);
    end.index[v] = last ? 0 : index + 1;
    if (last) {
      seen_seq_[{source, e, v}]++;
      const auto at = sent_at_.find({source, e, v, data[1]});
      CHECK(at != sent_at_.end(), "end %u: a packet that was never sent", e);
      if (record) arrived.push_back({source, e, v, flits, data[1], at->second, end.began[v], cycle});
      sent_at_.erase(at);
    }
    if (e >= kTiles) {
      CHECK(++end.held[v] <= kDepth, "link %u: a flit without a credit", e);
    }
    waiting--;
    delivered++;
    count[e]++;
    return true;
  }

  VerilatedContext context_;
  std::unique_ptr<Top> top_;
  unsigned y_, x_;
  unsigned idle_ = 0;
  std::map<std::tuple<unsigned, unsigned, unsigned>, uint32_t> sent_seq_, seen_seq_;
  std::map<std::tuple<unsigned, unsigned, unsigned, uint32_t>, uint64_t> sent_at_;
};

}  // namespace noc_test
