// SPDX-License-Identifier: Apache-2.0
/// Boards in a ring (fabric_top) with models of their exits, hosts and memory: packets in and out, and the host that
/// configures all boards in band from board 0. Link 0 of a board leads to the next one, link 1 to the previous one.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "Vfabric_top.h"
#include "check.h"
#include "flit.h"
#include "verilated.h"

constexpr unsigned kBoards = 3, kTiles = 4, kWidth = 2, kExits = 2, kPorts = 3, kAll = kBoards * kPorts;
constexpr unsigned kAllTiles = kBoards * kTiles, kNets = 4, kWindow = 8, kLongest = 33;
// Ports of a board's switch.
constexpr unsigned kLinkPort = 2, kControlPort = 4, kHostPort = 5;
enum Kind : uint32_t { kThread, kTile, kStream, kMatch, kKey, kHost, kControl, kAccelerator };
enum FlitKind : unsigned { kBody, kMask, kKeyHead, kHeader };
enum Net : unsigned { kMailbox, kRequest, kReply, kControlNet };
enum Op : unsigned {
  kReport = 1, kVerdict, kTree, kRoute, kJob, kCluster, kRelay, kRead, kAnswer, kEvent, kDebug, kBytes, kBegin,
  kRegister
};
enum Rejection : unsigned { kOfJob = 1, kOfPlace = 3, kOfKind = 5, kOfLength, kOfMask, kOfAddress, kOfRoom };
enum Event : unsigned { kUp = 1, kDown, kRestarted, kMismatch, kUnroutable, kRecord, kRejected, kStray, kTileDropped };
/// Counters of a board.
enum Counter : unsigned { kCountsTileDropped = 6, kEntered, kInFlight, kStreamDropped, kMatchDropped, kNoCounter };
/// Blocks with registers, and a register of a link.
enum Register : unsigned { kLinkBlock = 1, kStreamBlock = 2, kMatchBlock = 4, kCut = 15 };
constexpr unsigned kNoJob = 31;

using flit_test::Beat, flit_test::Flit, flit_test::Packet, flit_test::Wide;

inline uint32_t address(Kind kind, unsigned board, uint32_t rest = 0) {
  return static_cast<uint32_t>(kind) << 29 | board << 14 | rest;
}
inline uint32_t tile_address(Kind kind, unsigned board, unsigned tile, unsigned thread = 0) {
  return address(kind, board, (tile / kWidth) << 10 | (tile % kWidth) << 6 | thread);
}
inline unsigned tags(unsigned job, unsigned epoch = 0, unsigned wave = 0) { return wave << 7 | job << 2 | epoch; }

/// Builds a packet from fields, starting at the low bits.
class Bits {
 public:
  Bits& put(uint64_t value, unsigned count) {
    all_ |= static_cast<Wide>(value) << at_;
    at_ += count;
    return *this;
  }
  Flit flit(uint32_t dest, unsigned job = 0) const {
    Flit f{kBody, kControlNet, tags(job), true, dest, {}};
    for (unsigned w = 0; w < 4; ++w) f.payload[w] = static_cast<uint32_t>(all_ >> (32 * w));
    return f;
  }

 private:
  Wide all_ = 0;
  unsigned at_ = 0;
};

struct TileState {
  bool idle = true, vote = true, started = false;
  uint32_t sent = 0, received = 0;
  unsigned given = 0;
  bool chunk_valid = false;
  uint8_t chunk = 0;
  /// Messages that its mailbox [0] and its accelerator slot [1] drop in this cycle: reason (0: none) and job.
  struct Drop {
    unsigned why = 0, job = 0;
  };
  std::array<Drop, 2> drops;
};
struct TileCommand {
  bool release = false, agreed = false, wave = false, scan = false, chunk_valid = false, clear = false;
  unsigned op = 0;
  uint8_t chunk = 0;
};

class Bench {
 public:
  Bench(uint64_t seed, unsigned loss) : random(seed), loss_(loss) {
    for (unsigned b = 0; b < kBoards; ++b) {
      top[b] = std::make_unique<Vfabric_top>();
      Vfabric_top& t = *top[b];
      t.clk_i = t.rst_ni = 0;
      t.loss_i = t.damage_i = loss;
      t.cut_i = 0;
      t.board_i = b;
      t.wire_valid_i = 0;
      t.rsp_valid_i = 0;
      for (unsigned p = 0; p < kPorts; ++p) t.in_valid_i[p] = t.out_credit_i[p] = 0;
    }
    for (auto& port : credits_) port.fill(kWindow);
    drain.fill(1.0);
    show();
    for (auto& t : top) {
      for (int i = 0; i < 8; ++i) {
        t->clk_i = !t->clk_i;
        t->eval();
      }
      t->rst_ni = 1;
    }
  }
  ~Bench() {
    for (auto& t : top) t->final();
  }

  std::mt19937_64 random;
  unsigned loss_;
  std::array<std::unique_ptr<Vfabric_top>, kBoards> top;
  uint64_t now = 0;
  /// The fraction of cycles in which a port's flits are accepted.
  std::array<double, kAll> drain;
  std::array<TileState, kAllTiles> tiles, tiles_q;
  std::array<TileCommand, kAllTiles> commands, commands_port;
  std::array<std::map<uint32_t, Beat>, kBoards> beats;
  /// Called for each packet that left through an exit or to a host; and in each cycle.
  std::function<void(unsigned board, unsigned port, const Packet&)> on_packet;
  std::function<void()> acts;
  /// Answers, events, and bytes of debug buses at each board's host, in order of arrival.
  std::array<std::deque<Flit>, kBoards> answers, events, bytes;

  unsigned pick(unsigned n) { return n ? static_cast<unsigned>(random() % n) : 0; }
  bool chance(double share) { return std::uniform_real_distribution<double>(0, 1)(random) < share; }
  static unsigned host(unsigned board) { return board * kPorts + kExits; }
  static unsigned exit_of(unsigned tile) { return tile % kWidth; }

  void send(unsigned port, const Packet& packet) {
    for (const Flit& flit : packet) in_[port][packet[0].vnet].push_back(flit);
    waiting += packet.size();
  }
  uint64_t waiting = 0;
  size_t queued(unsigned port, unsigned net) const { return in_[port][net].size(); }

  Packet message(uint32_t dest, unsigned vnet, unsigned flits, unsigned tag) {
    Packet packet(flits);
    const uint32_t id = next_++;
    for (unsigned i = 0; i < flits; ++i)
      packet[i] = {kBody, vnet, tag, i + 1 == flits, dest, {id, i, uint32_t(random()), uint32_t(random())}};
    return packet;
  }

  void wait(uint64_t cycles) {
    while (cycles--) tick();
  }
  void until(const char* what, uint64_t limit, const std::function<bool()>& done) {
    for (const uint64_t from = now; !done(); tick()) CHECK(now - from < limit, "cycle %llu: %s: not within %llu cycles",
                                                           (unsigned long long)now, what, (unsigned long long)limit);
  }

  // ---- The host of board `by` and its boards ----

  /// The answer to the last request; no other answer may be queued.
  Flit answer(unsigned by, unsigned board, unsigned asked, unsigned rejection = 0) {
    until("an answer", 60'000, [&] { return !answers[by].empty(); });
    const Flit flit = answers[by].front();
    answers[by].pop_front();
    CHECK(flit.bits(10, 12) == board && flit.bits(22, 4) == asked, "board %u answers to %u, not %u to %u",
          (unsigned)flit.bits(10, 12), (unsigned)flit.bits(22, 4), board, asked);
    CHECK(flit.bits(35, 4) == rejection, "board %u: operation %u: reason %u, not %u", board, asked,
          (unsigned)flit.bits(35, 4), rejection);
    return flit;
  }
  Flit ask(const Flit& flit, unsigned rejection = 0, unsigned by = 0) {
    send(host(by), {flit});
    return answer(by, flit.dest >> 14 & 0xFFF, flit.payload[0] & 15, rejection);
  }
  static Flit route(unsigned board, unsigned first, const std::vector<unsigned>& entries) {
    Bits bits;
    bits.put(kRoute, 4).put(first & 0x3FFF, 14).put(entries.size(), 4).put(0, 10);
    for (unsigned entry : entries) bits.put(entry, 8);
    return bits.flit(address(kControl, board));
  }
  static Flit cluster(unsigned board, uint32_t host_address, unsigned burst = 8, bool flush = false) {
    return Bits().put(kCluster, 4).put(host_address, 32).put(2, 13).put(kBoards, 13).put(burst, 8).put(flush, 1)
        .flit(address(kControl, board));
  }
  static Flit job(unsigned board, unsigned place, unsigned number, uint64_t members, uint32_t host_address) {
    return Bits().put(kJob, 4).put(number, 5).put(place, 4).put(0, 19).put(host_address, 32).put(members, 64)
        .flit(address(kControl, board));
  }
  static Flit tree(unsigned board, unsigned number, bool enable, bool root, unsigned parent,
                   const std::vector<unsigned>& children) {
    Bits bits;
    bits.put(kTree, 4).put(enable, 1).put(root, 1).put(parent, 12).put(0, 6);
    for (unsigned child : children) bits.put(child | 1u << 12, 13);
    return bits.flit(address(kControl, board), number);
  }
  static Flit relay(unsigned board, const std::vector<unsigned>& children) {
    Bits bits;
    bits.put(kRelay, 4).put(0, 20);
    for (unsigned child : children) bits.put(child | 1u << 12, 13);
    return bits.flit(address(kControl, board));
  }
  static Flit debug(unsigned board, unsigned tile, unsigned count, const std::vector<uint8_t>& data) {
    Bits bits;
    bits.put(kDebug, 4).put(tile, 6).put(count, 4).put(0, 18);
    for (uint8_t byte : data) bits.put(byte, 8);
    return bits.flit(address(kControl, board));
  }
  static Flit begin(unsigned board, unsigned place, uint64_t members) {
    return Bits().put(kBegin, 4).put(place, 4).put(0, 56).put(members, 64).flit(address(kControl, board));
  }
  uint64_t counter(unsigned board, unsigned unit, unsigned number) {
    const Flit flit = ask(Bits().put(kRead, 4).put(unit, 5).put(number, 4).flit(address(kControl, board)));
    CHECK(flit.bits(26, 5) == unit && flit.bits(31, 4) == number, "the answer is for another counter");
    return flit.bits(64, 64);
  }

  /// Polls boards until two rounds have found no packet in flight in any, and none that entered a switch meanwhile:
  /// then no packet is in flight.
  void drained() {
    std::array<uint64_t, kBoards> before{}, entered{};
    for (unsigned calm = 0, rounds = 0; calm < 2; ++rounds) {
      CHECK(rounds < 300, "boards report packets in flight forever");
      uint64_t busy = 0;
      for (unsigned b = 0; b < kBoards; ++b) busy |= counter(b, 31, kInFlight);
      for (unsigned b = 0; b < kBoards; ++b) entered[b] = counter(b, 31, kEntered);
      for (unsigned b = 0; b < kBoards; ++b) busy |= counter(b, 31, kInFlight);
      calm = busy ? 0 : calm && entered != before ? 1 : calm + 1;
      before = entered;
    }
  }

  /// Configures all boards from the host of board 0, breadth first: each is reached through those before it.
  void configure() {
    for (unsigned b : {0u, 1u, 2u}) {
      // Host 0 is on board 0, host 1 on board 2. A board without a host sends no answers, so its tables are set first.
      std::vector<unsigned> boards;
      for (unsigned to = 0; to < kBoards; ++to)
        boards.push_back(to == b ? 0 : 1u << 7 | pick(2) << 5 | (kLinkPort + (to == (b + 1) % kBoards ? 0 : 1)));
      const auto to_host = [&](unsigned at) { return at == b ? 1u << 7 | kHostPort : boards[at]; };
      send(host(0), {route(b, 0, boards)});
      // The entries of hosts: the second host's entry is before the first one's.
      send(host(0), {route(b, ~1u, {to_host(2), to_host(0)})});
      const Flit done = ask(cluster(b, address(kHost, 0)));
      CHECK(done.bits(64, 64) == 0, "an answer to a setting has a value");
    }
    for (unsigned b = 0; b < kBoards; ++b)
      CHECK(top[b]->boards_o == kBoards && top[b]->hosts_o == 2, "board %u has another cluster size", b);
  }

  void tick() {
    if (acts) acts();
    drive();
    for (auto& t : top) {
      t->clk_i = 0;
      t->eval();
    }
    std::array<bool, kBoards> asks{}, answered{};
    std::array<Read, kBoards> read{};
    for (unsigned b = 0; b < kBoards; ++b) {
      asks[b] = top[b]->req_valid_o;
      answered[b] = top[b]->rsp_valid_i && top[b]->rsp_ready_o;
      read[b] = {now + 30, top[b]->req_tag_o, top[b]->req_beat_o};
    }
    for (auto& t : top) {
      t->clk_i = 1;
      t->eval();
    }
    ++now;
    wires();
    for (unsigned b = 0; b < kBoards; ++b) {
      if (answered[b]) reads_[b].erase(reads_[b].begin());
      if (asks[b]) reads_[b].push_back(read[b]);
    }
    commands = commands_port;
    for (unsigned t = 0; t < kAllTiles; ++t) {
      const Vfabric_top& m = *top[t / kTiles];
      const unsigned k = t % kTiles;
      commands_port[t] = {bool(m.tile_release_o[k]), bool(m.tile_agreed_o[k]), bool(m.tile_wave_o[k]),
                          bool(m.tile_scan_o[k]), bool(m.tile_chunk_valid_o[k]), bool(m.tile_clear_o[k]),
                          m.tile_op_o[k], m.tile_chunk_o[k]};
    }
    for (unsigned i = 0; i < kAll; ++i) {
      Vfabric_top& m = *top[i / kPorts];
      const unsigned p = i % kPorts;
      const bool is_host = p == kExits;
      uint8_t credits = 0;
      for (unsigned v = 0; v < kNets; ++v) {
        if (!is_host && (m.in_credit_o[p] >> v & 1)) ++credits_[i][v];
        if (m.out_valid_o[p] >> v & 1) {
          CHECK(!is_host || (m.out_credit_i[p] >> v & 1), "a flit arrives at a host that was not ready");
          arrive(i, v);
          if (!is_host) CHECK(++held_[i][v] <= kWindow, "exit %u sends without credit", i);
        }
        if (is_host) {
          if (chance(drain[i])) credits |= 1u << v;
        } else if (held_[i][v] != 0 && chance(drain[i])) {
          --held_[i][v];
          credits |= 1u << v;
        }
      }
      m.out_credit_i[p] = credits & ~blocked_[i];
    }
  }
  /// Networks that a host does not accept, one bit each.
  void block(unsigned board, unsigned nets) { blocked_[host(board)] = static_cast<uint8_t>(nets); }

 private:
  struct Read {
    uint64_t due;
    unsigned tag;
    uint32_t beat;
  };
  uint32_t next_ = 1;
  std::array<std::array<std::deque<Flit>, kNets>, kAll> in_;
  std::array<std::array<unsigned, kNets>, kAll> credits_, held_{};
  std::array<std::array<Packet, kNets>, kAll> part_;
  std::array<std::vector<Read>, kBoards> reads_;
  std::array<uint8_t, kAll> blocked_{};

  void wires() {
    for (unsigned b = 0; b < kBoards; ++b) {
      for (unsigned l = 0; l < 2; ++l) {
        Vfabric_top& to = *top[(b + (l == 0 ? 1 : kBoards - 1)) % kBoards];
        const Vfabric_top& from = *top[b];
        const auto put = [l](auto& at, unsigned bits) {
          at = static_cast<uint8_t>((at & ~(2u >> l)) | (bits >> l & 1) << (1 - l));
        };
        put(to.wire_valid_i, from.wire_valid_o);
        put(to.wire_last_i, from.wire_last_o);
        put(to.wire_error_i, from.wire_error_o);
        to.wire_data_i[1 - l] = from.wire_data_o[l];
        to.wire_keep_i[1 - l] = from.wire_keep_o[l];
      }
    }
  }

  /// The tiles' outputs are one register late.
  void show() {
    for (unsigned t = 0; t < kAllTiles; ++t) {
      const TileState& s = tiles_q[t];
      Vfabric_top& m = *top[t / kTiles];
      const unsigned k = t % kTiles;
      m.tile_idle_i[k] = s.idle;
      m.tile_vote_i[k] = s.vote;
      m.tile_started_i[k] = s.started;
      m.tile_sent_i[k] = s.sent;
      m.tile_received_i[k] = s.received;
      m.tile_given_i[k] = s.given;
      m.tile_chunk_valid_i[k] = s.chunk_valid;
      m.tile_chunk_i[k] = s.chunk;
      m.tile_drops_i[k] = 0;
      for (unsigned i = 0; i < 2; ++i) {
        const auto& [why, job] = s.drops[i];
        if (why) m.tile_drops_i[k] |= (1u << 9 | why << 5 | job) << 10 * i;
      }
    }
    tiles_q = tiles;
    for (TileState& tile : tiles) tile.drops = {};
  }

  void drive() {
    show();
    for (unsigned i = 0; i < kAll; ++i) {
      Vfabric_top& m = *top[i / kPorts];
      const unsigned p = i % kPorts;
      const bool is_host = p == kExits;
      m.in_valid_i[p] = 0;
      const unsigned first = pick(kNets);
      for (unsigned k = 0; k < kNets; ++k) {
        const unsigned v = (first + k) % kNets;
        if (in_[i][v].empty() || (is_host ? !(m.in_credit_o[p] >> v & 1) : credits_[i][v] == 0)) continue;
        const Flit flit = in_[i][v].front();
        in_[i][v].pop_front();
        if (!is_host) --credits_[i][v];
        --waiting;
        m.in_valid_i[p] = 1u << v;
        m.in_kind_i[p] = flit.kind;
        m.in_last_i[p] = flit.last;
        m.in_vnet_i[p] = flit.vnet;
        m.in_tags_i[p] = flit.tags;
        m.in_dest_i[p] = flit.dest;
        for (unsigned w = 0; w < 4; ++w) m.in_payload_i[p][w] = flit.payload[w];
        break;
      }
    }
    for (unsigned b = 0; b < kBoards; ++b) {
      top[b]->rsp_valid_i = !reads_[b].empty() && reads_[b].front().due <= now;
      if (!top[b]->rsp_valid_i) continue;
      top[b]->rsp_tag_i = reads_[b].front().tag;
      const Beat beat = beats[b].at(reads_[b].front().beat);
      for (unsigned w = 0; w < 8; ++w) top[b]->rsp_i[w] = beat[w];
    }
  }

  void arrive(unsigned i, unsigned v) {
    const Vfabric_top& m = *top[i / kPorts];
    const unsigned p = i % kPorts;
    Flit flit{m.out_kind_o[p], m.out_vnet_o[p], m.out_tags_o[p], bool(m.out_last_o[p]), m.out_dest_o[p], {}};
    for (unsigned w = 0; w < 4; ++w) flit.payload[w] = m.out_payload_o[p][w];
    CHECK(flit.vnet == v, "a flit of network %u arrives in network %u", flit.vnet, v);
    Packet& part = part_[i][v];
    part.push_back(flit);
    if (!flit.last) return;
    const unsigned board = i / kPorts, port = p;
    const Packet packet = std::move(part);
    part.clear();
    const unsigned op = packet[0].payload[0] & 15;
    if (port == kExits && packet[0].kind == kHeader && (op == kAnswer || op == kEvent || op == kBytes)) {
      CHECK(packet.size() == 1 && v == kReply, "an answer or event of %zu flits in network %u", packet.size(), v);
      (op == kAnswer ? answers : op == kEvent ? events : bytes)[board].push_back(packet[0]);
      return;
    }
    CHECK(on_packet, "an unexpected packet to %08x", flit.dest);
    on_packet(board, port, packet);
  }
};
