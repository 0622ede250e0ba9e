// SPDX-License-Identifier: Apache-2.0
/// The match engine of a tile with threads around it, and a model of the packets that it must send them.
//
// The effect of each packet is computed when it is accepted. The packets of the design must equal the model's, to the
// bit: messages of a thread in their order, and its answers. Packets are always accepted, whatever the output side
// does. Layouts and numbers are written independently of the generated headers, from config/constants.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "Vgs_match_slot.h"
#include "check.h"
#include "models/match/reference.h"
#include "verilated.h"

namespace slot_test {

using gossamer::match::Reference;

constexpr unsigned kThreads = GS_RECEIVERS, kEntries = GS_ENTRIES, kFlits = 4, kWindow = GS_WINDOW;
constexpr unsigned kReceives = kEntries * 3 / 8, kEager = kEntries / 2, kAnnounced = kEntries / 8;
constexpr unsigned kBoard = 0x5A3, kTileY = 9, kTileX = 6;
/// A packet is accepted within the time of one request: a cancel tries all entries, a clear empties all tables.
constexpr unsigned kPatience = 24 * kEntries + 200;
enum : uint8_t {
  kWithout = 0x20,
  kFound = 0x40,
  kPost = 0x80,
  kCancel,
  kProbe,
  kWatch,
  kCts,
  kCount,
  kTake = 0x87,
  kAwait,
  kTaken,
  kNone = 0x90,
  kNews,
  kCancelled,
  kGone,
  kFullPosts,
  kFullMessages,
  kBad,
  kCleared,
  kCounted
};

using Flit = std::array<uint32_t, 4>;
struct Packet {
  unsigned kind = 0;  // of its first flit
  uint32_t to = 0;    // thread
  std::vector<Flit> flits;
  uint8_t first() const { return static_cast<uint8_t>(flits[0][0]); }
  bool message() const { return first() < kFound; }
};

inline bool is_request(uint8_t kind) { return kind >= kFound; }

/// Expected and received notifications of a thread.
struct Thread {
  std::deque<Packet> messages;
  uint64_t matched = 0, seen = 0;  // messages for receives and matched probes: all, and those that have left
  std::optional<Packet> answer;
  bool probe_dropped = false;  // a clear has dropped the message of the answer
  std::deque<Flit> rejected;
  bool rejection_report_due = false, news = false;
  unsigned more_news = 0;  // from a second watch, before the first one's has left: they may be merged
  unsigned bad = 0, cleared = 0;  // upper bounds
  bool clear_report_due = false;
  std::optional<Flit> awaits, reached;
  uint32_t left = 0;
  uint64_t reached_at = 0;
  unsigned owed = 0,
           outside = 0;  // packets received and not acknowledged; packets sent since the last clear, minus those
};

class Bench {
 public:
  explicit Bench(uint64_t seed) : random(seed), top(std::make_unique<Vgs_match_slot>()), threads(kThreads) {
    top->board_i = kBoard;
    top->tile_y_i = kTileY;
    top->tile_x_i = kTileX;
    top->in_valid_i = 0;
    top->out_ready_i = 0;
    top->rst_ni = 0;
    top->clk_i = 0;
    for (int i = 0; i < 6; ++i) {
      top->clk_i = !top->clk_i;
      top->eval();
    }
    top->rst_ni = 1;
  }
  ~Bench() { top->final(); }
  unsigned below(unsigned n) { return static_cast<unsigned>(random() % n); }
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random) < p; }

  void judge(const Packet& packet);
  void tick();
  /// Runs until all packets have left; threads acknowledge packets.
  void finish();
  bool something_to_come() const;
  bool clearing() const { return clear_.has_value(); }

  std::mt19937_64 random;
  std::unique_ptr<Vgs_match_slot> top;
  Reference reference{kThreads};
  std::vector<Thread> threads;
  std::map<uint32_t, Packet> store;  // waiting messages
  std::set<uint32_t> watches, strays;
  std::set<uint32_t> open;  // handles of waiting receives
  std::deque<Packet> to_send;
  unsigned eager = 0, announced = 0;  // messages in the store, including leaving ones
  double send_rate = 1, take_rate = 1;
  uint64_t now = 0, ended = 0, began = 0;  // cycles: end of the last packet, start of the last outgoing one
  uint64_t longest = 0;                    // cycles for which a packet was not accepted
  uint64_t stalled = 0;                    // packets accepted while none could leave
  bool overrun = false;                    // the packet is rejected because an answer is pending
  uint64_t counts[16] = {};

 private:
  void leaves(const Packet& packet);
  void answer(uint32_t to, Packet packet) {
    CHECK(!threads[to].answer, "the test has sent a request of thread %u before its answer", to);
    threads[to].answer = std::move(packet);
    threads[to].probe_dropped = false;
  }
  void note(const Packet& packet, uint8_t kind) {
    Packet made{0, packet.to, {packet.flits[0]}};
    made.flits[0][0] = (made.flits[0][0] & ~0xFFu) | kind;
    answer(packet.to, made);
  }
  void send(uint32_t to, const Packet& packet);
  void reject(const Packet& packet);

  size_t at_ = 0;
  Packet out_;
  bool offering_ = false;
  uint32_t next_ = 0;
  unsigned quiet_ = 0, waiting_ = 0;
  unsigned hold_ = 0;            // cycles for which no packet may leave, so that full stores stay full
  std::optional<Packet> clear_;  // an accepted clear; it takes effect when the next packet can be accepted
  bool late_ = false;            // the leaving packet started before a clear, which dropped it
  std::vector<Thread> before_;   // the state at that time
};

}  // namespace slot_test
