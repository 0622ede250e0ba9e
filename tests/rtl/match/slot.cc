// SPDX-License-Identifier: Apache-2.0
// The match engine in a tile: packets in, packets out, judged by plain lists. slot_test SEED PACKETS
//
// Each packet's answers are worked out when it is handed over, and what the design sends must be those, in that order
// and to the bit. Layouts and numbers are typed once more, from config/constants.
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "Vgs_match_slot.h"
#include "check.h"
#include "gossamer/match/reference.h"
#include "verilated.h"

using gossamer::match::Command;
using gossamer::match::Completion;
using gossamer::match::Op;
using gossamer::match::Reference;
using gossamer::match::Status;

namespace {

constexpr unsigned kThreads = GS_RECEIVERS, kEntries = GS_ENTRIES, kFlits = 4;
constexpr unsigned kBoard = 0x5A3, kTileY = 9, kTileX = 6;
enum : uint8_t { kFound = 0x40, kPost = 0x80, kCancel, kProbe, kWatch, kClear, kCount, kNone = 0x88, kNews,
                 kCancelled, kGone, kFullPosts, kFullMessages, kBad, kCleared, kCounted };

using Flit = std::array<uint32_t, 4>;
struct Packet {
  unsigned kind = 0;  // of its first flit
  uint32_t to = 0;    // thread
  std::vector<Flit> flits;
};

class Bench {
 public:
  explicit Bench(uint64_t seed) : random(seed), top(std::make_unique<Vgs_match_slot>()) {
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
  void finish() {
    for (quiet_ = 0; !to_send.empty() || !expected.empty() || top->busy_o || quiet_ < 50;) tick();
  }

  std::mt19937_64 random;
  std::unique_ptr<Vgs_match_slot> top;
  Reference reference{kThreads};
  std::map<uint32_t, Packet> store;  // of messages that wait
  std::set<uint32_t> watches;
  std::set<uint32_t> open;  // handles of receives that wait
  std::deque<Packet> to_send, expected;
  double send_rate = 1, take_rate = 1;
  uint64_t now = 0, ended = 0, least = ~uint64_t{0};  // cycles from a packet's last flit to what it brings
  uint64_t counts[10] = {};  // matched, waits, none or gone, full, bad, found, cancelled, news, counted, cleared

 private:
  void answer(const Packet& packet) { expected.push_back(packet); }
  void note(const Packet& packet, uint8_t kind) {
    Packet made{0, packet.to, {packet.flits[0]}};
    made.flits[0][0] = (made.flits[0][0] & ~0xFFu) | kind;
    answer(made);
  }

  size_t at_ = 0, out_ = 0;
  bool offering_ = false;
  uint32_t next_ = 0;
  unsigned quiet_ = 0;
};

void Bench::judge(const Packet& packet) {
  if (packet.kind) return;  // no message of threads
  const Flit& head = packet.flits[0];
  const uint8_t kind = static_cast<uint8_t>(head[0]);
  const uint32_t handle = packet.to << 16 | (head[2] & 0xFFFF);
  Command c;
  c.rank = static_cast<uint16_t>(packet.to);
  c.communicator = static_cast<uint16_t>(head[3] >> 16);
  c.source = static_cast<uint16_t>(head[0] >> 16);
  c.tag = head[1];
  const bool message = kind < kFound;
  if (message) {
    c.op = Op::kArrive;
    c.handle = next_++;
  } else {
    c.op = kind == kPost     ? Op::kPost
           : kind == kCancel ? Op::kCancel
           : kind == kClear  ? Op::kClear
           : kind == kCount  ? Op::kCount
                             : Op::kProbe;
    c.handle = handle;
    c.any_source = kind != kCancel && head[2] >> 31;
    c.any_tag = kind != kCancel && (head[2] >> 30 & 1);
  }
  if (!message && (kind < kPost || kind > kCount)) {
    ++counts[4];
    return note(packet, kBad);
  }
  const size_t posts = reference.posts().size(), messages = reference.messages().size();
  const size_t own = message ? messages : posts;
  const bool full = posts + messages >= kEntries || own >= kEntries - kEntries / 8;
  const Completion done = reference.apply(c, full);
  switch (done.status) {
    case Status::kMatched: {
      if (c.op == Op::kClear) {
        store.clear();
        open.clear();
        watches.clear();
        ++counts[9];
        return note(packet, kCleared);
      }
      if (c.op == Op::kCount) {
        Packet made = packet;
        made.flits[0][1] = done.partner;
        ++counts[8];
        return note(made, kCounted);
      }
      if (c.op == Op::kCancel) {
        open.erase(handle);
        ++counts[6];
        return note(packet, kCancelled);
      }
      const bool probes = c.op == Op::kProbe;
      Packet made = message ? packet : store.at(done.partner);
      const uint32_t given = message ? done.partner : handle;
      made.flits[0][2] = (made.flits[0][2] & ~0xFFFFu) | (given & 0xFFFF);
      if (probes) made.flits[0][0] |= kFound;
      if (!message && !probes) store.erase(done.partner);
      if (message) open.erase(done.partner);
      ++counts[probes ? 5 : 0];
      return answer(made);
    }
    case Status::kWaiting:
      ++counts[1];
      if (!message) {
        open.insert(handle);
        return;
      }
      store[c.handle] = packet;
      if (watches.erase(packet.to)) {
        ++counts[7];
        note(packet, kNews);
      }
      return;
    case Status::kNone:
      ++counts[2];
      if (kind == kWatch) watches.insert(packet.to);
      return note(packet, kind == kCancel ? kGone : kNone);
    case Status::kFull:
      ++counts[3];
      return note(packet, message ? kFullMessages : kFullPosts);
    case Status::kBad:
      ++counts[4];
      return note(packet, kBad);
  }
}

void Bench::tick() {
  ++now;
  if (!offering_) offering_ = !to_send.empty() && chance(send_rate);
  top->in_valid_i = offering_;
  if (offering_) {
    const Packet& packet = to_send.front();
    for (int i = 0; i < 4; ++i) top->in_i[i] = packet.flits[at_][i];
    top->in_i[4] = 7u << 29 | kBoard << 14 | kTileY << 10 | kTileX << 6 | packet.to;
    const uint32_t last = at_ + 1 == packet.flits.size();
    top->in_i[5] = last << 10 | (at_ ? 0 : packet.kind) << 11 | 1u << 8;
  }
  top->out_ready_i = chance(take_rate);
  top->clk_i = 0;
  top->eval();
  const bool taken = offering_ && top->in_ready_o;
  CHECK(top->busy_o || expected.empty(), "not busy, but an answer is still to come");
  if (top->out_valid_o && top->out_ready_i) {
    CHECK(!expected.empty(), "a flit that nobody asked for: %08x %08x %08x %08x", top->out_o[0], top->out_o[1],
          top->out_o[2], top->out_o[3]);
    const Packet& packet = expected.front();
    for (int i = 0; i < 4; ++i)
      CHECK(top->out_o[i] == packet.flits[out_][i], "flit %zu of an answer to thread %u: word %d is %08x, not %08x",
            out_,
            packet.to, i, top->out_o[i], packet.flits[out_][i]);
    const uint32_t dest = 0u << 29 | kBoard << 14 | kTileY << 10 | kTileX << 6 | packet.to;
    CHECK(top->out_o[4] == dest, "an answer goes to %08x, not %08x", top->out_o[4], dest);
    const bool last = out_ + 1 == packet.flits.size();
    if (out_ == 0 && packet.flits[0][0] % 256 < kFound && now - ended < least) least = now - ended;
    CHECK((top->out_o[5] >> 10 & 1) == last, "last is %d in flit %zu of %zu", !last, out_, packet.flits.size());
    CHECK(top->out_o[5] >> 11 == 0, "an answer is no body flit");
    ++out_;
    if (last) {
      expected.pop_front();
      out_ = 0;
    }
    quiet_ = 0;
  }
  if (taken) {
    // Answered at its end; the answer cannot leave before.
    quiet_ = 0;
    offering_ = false;
    if (++at_ == to_send.front().flits.size()) {
      ended = now;
      judge(to_send.front());
      to_send.pop_front();
      at_ = 0;
    }
  }
  top->clk_i = 1;
  top->eval();
  CHECK(++quiet_ < 200'000, "nothing happens: %zu packets and %zu answers are left", to_send.size(), expected.size());
}

struct Traffic {
  unsigned threads, communicators, sources, tags;
  double any, probe, cancel, odd, met;  // `met`: requests made to fit a message that waits
  long depth;
};

Packet any_packet(Bench& b, const Traffic& t, uint16_t handle) {
  Packet p;
  p.to = b.below(t.threads);
  const long depth = static_cast<long>(b.reference.posts().size()) - static_cast<long>(b.reference.messages().size());
  uint8_t kind = b.chance(depth < t.depth ? 0.7 : 0.3) ? kPost : static_cast<uint8_t>(1 + b.below(5));
  if (b.chance(t.probe)) kind = b.below(2) ? kProbe : kWatch;
  Flit head{kind | b.below(256) << 8 | b.below(t.sources) << 16, b.below(t.tags) * 4097u,
            handle | b.below(1 << 14) << 16, static_cast<uint32_t>(b.below(65'536)) | b.below(t.communicators) << 16};
  if (kind >= kPost && !b.store.empty() && b.chance(t.met)) {
    // Numbers drawn from thousands never meet: what waits would fill the store and stay.
    auto one = b.store.begin();
    std::advance(one, b.below(static_cast<unsigned>(b.store.size())));
    const Flit& waits = one->second.flits[0];
    p.to = one->second.to;
    head[0] = (head[0] & 0xFFFF) | (waits[0] & 0xFFFF'0000);
    head[1] = waits[1];
    head[3] = (head[3] & 0xFFFF) | (waits[3] & 0xFFFF'0000);
  }
  if (kind >= kPost) head[2] |= static_cast<uint32_t>(b.chance(t.any)) << 31 | b.chance(t.any) << 30;
  if (b.chance(t.cancel)) {
    head[0] = (head[0] & ~0xFFu) | kCancel;
    if (!b.open.empty() && b.below(4)) {
      auto one = b.open.begin();
      std::advance(one, b.below(static_cast<unsigned>(b.open.size())));
      p.to = *one >> 16;
      head[2] = (head[2] & ~0xFFFFu) | (*one & 0xFFFF);
    } else {
      head[2] = (head[2] & ~0xFFFFu) | (static_cast<uint16_t>(handle - 1 - b.below(500)));
      if (b.open.count(p.to << 16 | (head[2] & 0xFFFF))) head[1] ^= 1;  // its tag says nothing
    }
  }
  if (b.below(50) == 0) {
    head[0] = (head[0] & ~0xFFu) | kCount;
    head[1] = b.below(5);
  }
  // Seldom: the store is to fill.
  if (b.below(1500) == 0) head[0] = (head[0] & ~0xFFu) | kClear;
  if (b.chance(t.odd)) {
    if (b.below(3) == 0) p.kind = 1 + b.below(3);
    else if (b.below(2)) head[0] = (head[0] & ~0xFFu) | (b.below(2) ? 0x40 + b.below(64) : 0x86 + b.below(122));
    else p.to = kThreads + b.below(64 - kThreads);
  }
  p.flits.push_back(head);
  for (unsigned more = b.below(kFlits); more; --more)
    p.flits.push_back({static_cast<uint32_t>(b.random()), static_cast<uint32_t>(b.random()),
                       static_cast<uint32_t>(b.random()), static_cast<uint32_t>(b.random())});
  return p;
}

/// A program leaves receives, messages and a watch; another one begins with a clear, and meets none of them. The store
/// is filled before it, so that all of its places come back.
void clean_start(Bench& b) {
  const auto send = [&](uint8_t kind, uint32_t to, uint32_t tag, uint32_t handle) {
    b.to_send.push_back({0, to, {{kind | 7u << 16, tag, handle, 0}}});
  };
  for (unsigned round = 0; round < 3; ++round) {
    for (uint32_t n = 0; n < kEntries + 4; ++n) send(n % 3 == 1 ? kPost : 1, n % kThreads, n, n);
    send(kWatch, 0, ~0u, 0);
    send(kClear, kThreads - 1, 0, 0);
    send(1, 0, 5, 0);  // no news: who watched has gone
    send(kPost, 0, 5, 9);
    for (uint32_t n = 6; n < kEntries; ++n) send(n % 3 == 1 ? 1 : kProbe, n % kThreads, n, n);
    for (uint32_t thread = 0; thread < kThreads; ++thread)
      for (uint32_t counter = 0; counter < 4; ++counter) send(kCount, thread, counter, 0);
    send(kClear, 0, 0, 0);
    send(kClear, 0, 0, 0);
    b.finish();
  }
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 3, "slot_test SEED PACKETS");
  Bench b(std::strtoull(argv[1], nullptr, 10));
  const uint64_t packets = std::strtoull(argv[2], nullptr, 10);
  Traffic t{};
  uint16_t handle = 0;
  for (uint64_t n = 0; n < packets; ++n) {
    if (n % 500 == 0) {
      const auto pick = [&](auto... values) {
        const std::common_type_t<decltype(values)...> all[] = {values...};
        return all[b.below(sizeof...(values))];
      };
      t = {pick(1u, 3u, kThreads), pick(1u, 2u, 60'000u), pick(1u, 4u, 65'536u), pick(1u, 4u, 100'000u),
           pick(0.0, 0.05, 0.5),   pick(0.0, 0.1),         pick(0.0, 0.02),       pick(0.0, 0.05),
           pick(0.0, 0.02, 0.3),
           static_cast<long>(b.below(kEntries)) * (b.below(2) ? 1 : -1)};
      b.send_rate = pick(1.0, 0.5, 0.05);
      b.take_rate = pick(1.0, 0.5, 0.05);
    }
    // A handle is used again when its receive has ended.
    do ++handle;
    while ([&] {
      for (unsigned thread = 0; thread < kThreads; ++thread)
        if (b.open.count(thread << 16 | handle)) return true;
      return false;
    }());
    b.to_send.push_back(any_packet(b, t, handle));
    while (b.to_send.size() > (b.below(8) ? 0 : 2)) b.tick();
    if (n % 1000 == 999) b.finish();
  }
  b.finish();
  clean_start(b);
  std::printf("%llu packets: %llu matched, %llu wait, %llu none, %llu full, %llu bad, %llu found, %llu cancelled, "
              "%llu news, %llu counted, %llu cleared, %llu cycles\n",
              static_cast<unsigned long long>(packets), static_cast<unsigned long long>(b.counts[0]),
              static_cast<unsigned long long>(b.counts[1]), static_cast<unsigned long long>(b.counts[2]),
              static_cast<unsigned long long>(b.counts[3]), static_cast<unsigned long long>(b.counts[4]),
              static_cast<unsigned long long>(b.counts[5]), static_cast<unsigned long long>(b.counts[6]),
              static_cast<unsigned long long>(b.counts[7]), static_cast<unsigned long long>(b.counts[8]),
              static_cast<unsigned long long>(b.counts[9]), static_cast<unsigned long long>(b.least));
}
