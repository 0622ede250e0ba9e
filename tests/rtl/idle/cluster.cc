// SPDX-License-Identifier: Apache-2.0
// idle random SEED RUNS | barrier SEED WIDTH HEIGHT FLIGHT WORDS
// Boards with idle detection; endpoints, messages and control links are models. The checker knows the state of all
// endpoints: which of them wait, which messages are in flight, which words were contributed.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "Vidle_top.h"
#include "reduce.h"

namespace {

constexpr unsigned kBoards = IDLE_BOARDS, kEndpoints = IDLE_ENDPOINTS, kAll = kBoards * kEndpoints;
constexpr unsigned kReport = 1, kAnswer = 2, kTree = 3;
using namespace reduce_test;

[[noreturn]] void fail(const char* what, uint64_t run, uint64_t cycle, unsigned where) {
  std::fprintf(stderr, "FAIL: %s (run %llu, cycle %llu, at %u)\n", what, (unsigned long long)run,
               (unsigned long long)cycle, where);
  std::exit(1);
}

struct Message {
  unsigned to;
  unsigned epoch;
  bool wave;
  bool copies;  // to the router, which sends copies
  uint64_t at;
};

using Flit = std::array<uint32_t, 4>;
struct Packet {
  std::vector<Flit> flits;
  uint64_t at;
};

enum Kind { kThread, kRouter, kHost, kNone };

struct Endpoint {
  Kind kind = kNone;
  bool member = true;
  bool busy = false;
  bool started = false;
  bool vote = true;
  unsigned epoch = 0;
  uint32_t sent = 0, received = 0;
  unsigned budget = 0;
  unsigned copies = 0;
  unsigned epoch_copies = 0;
  uint64_t until = 0;
  std::array<Word, 2> words;
  // scan: chunks still to be sent
  int scan = -1;
  unsigned scan_op = 0;
  std::vector<uint8_t> results;
  // barrier runs
  uint64_t last_release = 0;
};

struct Style {
  unsigned slow_link;    // one of so many messages is slow
  unsigned long_flight;  // and takes up to so many cycles
  unsigned flight;
  unsigned control;
  unsigned reply;  // one of so many messages is answered
  unsigned linger;
  unsigned budget;
  bool words, host, router;
  bool few;    // one thread a board: coincidences are more frequent
  bool eager;  // the host sends at the worst time: after a report
};

class Cluster {
 public:
  Cluster(uint64_t seed, uint64_t run)
      : run_(run), random_(seed * 1'000'003 + run), top_(std::make_unique<Vidle_top>(&context_)) {}

  void random_run() {
    Style& s = style_;
    s.slow_link = 1 + pick(8);
    s.long_flight = pick(2) ? 20 + pick(400) : 1000;
    s.flight = pick(2) ? 1 + pick(30) : 1;
    s.control = 1 + pick(pick(2) ? 300 : pick(2) ? 20 : 1);
    s.reply = 1 + pick(4);
    s.linger = pick(2) ? 1 + pick(60) : 1 + pick(4);
    s.budget = pick(6);
    s.words = pick(2);
    s.host = pick(2);
    s.router = pick(2);
    s.few = pick(2);
    s.eager = pick(2);
    const unsigned epochs = 2 + pick(4);
    boards_ = 1 + pick(kBoards);
    place_endpoints(epochs);
    if (s.router) {
      router_ = pick(boards_) * kEndpoints + pick(kEndpoints);
      if (endpoints_[router_].kind == kThread && threads() > 1) {
        endpoints_[router_] = Endpoint{.kind = kRouter, .vote = true};
      } else {
        router_ = ~0u;
      }
    }
    if (s.host) {
      const unsigned i = pick(boards_) * kEndpoints + pick(kEndpoints);
      if (endpoints_[i].kind == kThread && threads() > 1) {
        endpoints_[i] = Endpoint{.kind = kHost, .vote = true};
        endpoints_[i].budget = s.eager ? 40 : pick(8);
      }
    }
    tree_at_random();
    age_counts();
    const uint64_t limit = 400'000;
    while (!over(epochs)) {
      if (cycle_ > limit) fail("no release", run_, cycle_, released_total_);
      cycle(epochs);
    }
    // No message arrives after the last release.
    for (unsigned i = 0; i < 1500; i++) cycle(epochs);
  }

  // All threads in a loop of barriers; returns cycles a barrier.
  double barriers(unsigned width, unsigned height, unsigned flight, bool words) {
    style_ = {1, 1, 1, 1, 1, 0, 0, words, false, false, false, false};
    fixed_ = flight;
    boards_ = width * height;
    place_endpoints(1000);
    mesh(width, height);
    const unsigned count = 20;
    while (endpoints_[0].epoch < 4) cycle(1000);
    const uint64_t begin = endpoints_[0].last_release;
    while (endpoints_[0].epoch < 4 + count) cycle(1000);
    return double(endpoints_[0].last_release - begin) / count;
  }

  uint64_t cycles() const { return cycle_; }
  unsigned waves() const { return waves_; }

 private:
  unsigned pick(unsigned n) { return n ? static_cast<unsigned>(random_() % n) : 0; }
  unsigned board(unsigned i) const { return i / kEndpoints; }
  unsigned threads() const {
    return static_cast<unsigned>(
        std::count_if(endpoints_.begin(), endpoints_.end(), [](auto& e) { return e.kind == kThread; }));
  }

  void place_endpoints(unsigned epochs) {
    endpoints_.assign(kAll, Endpoint{});
    for (unsigned i = 0; i < kAll; i++) {
      Endpoint& e = endpoints_[i];
      e.member = board(i) < boards_;
      if (!e.member) continue;
      // Some endpoints have no thread of the job, or are another job's.
      const unsigned chance = fixed_ ? 9 : style_.few && i % kEndpoints ? 0 : pick(10);
      if (chance == 0) continue;
      if (chance == 1) {
        e.member = false;
        continue;
      }
      e.kind = kThread;
      e.started = epochs > 0;
      e.busy = true;
      e.budget = pick(style_.budget + 1);
    }
    if (!threads()) {
      endpoints_[0] = Endpoint{.kind = kThread, .busy = true, .started = true};
    }
    for (unsigned b = 0; b < kBoards; b++) hold_[b] = false;
  }

  // Counts as after long traffic: any values that add up to no message in flight. Those of other jobs are arbitrary.
  void age_counts() {
    uint32_t in_flight = 0;
    Endpoint* last = nullptr;
    for (Endpoint& e : endpoints_) {
      e.sent = static_cast<uint32_t>(random_());
      e.received = static_cast<uint32_t>(random_());
      if (!e.member) continue;
      in_flight += e.sent - e.received;
      last = &e;
    }
    last->received += in_flight;
  }

  void configure(unsigned b, bool root, unsigned parent, const std::vector<unsigned>& children) {
    // idle_tree, from the low bits: op 4, enable 1, root 1, parent 12, spare 6, children 8 * 13
    unsigned __int128 bits = kTree | 1u << 4 | unsigned(root) << 5 | parent << 6;
    for (unsigned i = 0; i < children.size(); i++)
      bits |= static_cast<unsigned __int128>(children[i] | 1u << 12) << (24 + 13 * i);
    Flit f;
    for (unsigned i = 0; i < 4; i++) f[i] = static_cast<uint32_t>(bits >> (32 * i));
    // It must arrive before any report.
    inbox_[b].push_back({{f}, 0});
  }

  void tree_at_random() {
    std::vector<unsigned> order(boards_), parent(boards_);
    for (unsigned i = 0; i < boards_; i++) order[i] = i;
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<std::vector<unsigned>> children(boards_);
    // With nine boards the root of a star has the most children that a node supports.
    const bool star = pick(3) == 0;
    for (unsigned i = 1; i < boards_; i++) {
      parent[order[i]] = star ? order[0] : order[pick(i)];
      children[parent[order[i]]].push_back(order[i]);
    }
    for (unsigned b = 0; b < boards_; b++) configure(b, b == order[0], parent[b], children[b]);
  }

  void mesh(unsigned width, unsigned height) {
    const unsigned x0 = width / 2, y0 = height / 2;
    std::vector<std::vector<unsigned>> children(boards_);
    std::vector<unsigned> parent(boards_);
    for (unsigned b = 0; b < boards_; b++) {
      const unsigned x = b % width, y = b / width;
      if (x == x0 && y == y0) continue;
      parent[b] = y != y0 ? (y < y0 ? b + width : b - width) : (x < x0 ? b + 1 : b - 1);
      children[parent[b]].push_back(b);
    }
    for (unsigned b = 0; b < boards_; b++) configure(b, b == y0 * width + x0, parent[b], children[b]);
  }

  bool over(unsigned epochs) const {
    return std::all_of(endpoints_.begin(), endpoints_.end(),
                       [&](auto& e) { return e.kind != kThread || e.epoch >= epochs; });
  }

  unsigned flight() {
    if (fixed_) return fixed_;
    return 1 + pick(pick(style_.slow_link) == 0 ? style_.long_flight : style_.flight);
  }

  void send(unsigned from, unsigned to, unsigned epoch, bool wave, bool copies) {
    endpoints_[from].sent++;
    Message m{to, epoch & 3, wave, copies, cycle_ + 2};
    if (board(from) == board(to)) inside_.push_back(m);
    else {
      m.at = cycle_ + flight();
      in_flight_.push_back(m);
    }
  }

  unsigned other_thread(unsigned epochs) {
    for (;;) {
      const unsigned i = pick(boards_ * kEndpoints);
      if (endpoints_[i].kind == kThread && endpoints_[i].epoch < epochs) return i;
    }
  }

  void check_release(unsigned i, bool agreed) {
    Endpoint& e = endpoints_[i];
    for (unsigned k = 0; k < kAll; k++) {
      const Endpoint& o = endpoints_[k];
      if (o.kind == kThread && o.epoch < e.epoch) fail("second release before another's first", run_, cycle_, i);
      if (o.kind == kThread && o.epoch == e.epoch && o.busy) fail("release while a thread is busy", run_, cycle_, i);
      if (o.kind == kRouter && o.copies && (o.epoch_copies & 3) == (e.epoch & 3))
        fail("release while copies wait", run_, cycle_, i);
    }
    for (auto* list : {&in_flight_, &inside_})
      for (const Message& m : *list)
        if (m.epoch == (e.epoch & 3)) fail("release while a message is in flight", run_, cycle_, i);
    if (e.kind == kThread) {
      if (agreed != vote_[e.epoch]) fail("wrong vote", run_, cycle_, i);
      for (unsigned w = 0; w < 2; w++) {
        const Word& given = total_[e.epoch][w];
        if (!given.given) continue;
        if (e.results.size() != 16) fail("no results", run_, cycle_, i);
        uint64_t value = 0;
        for (unsigned k = 0; k < 8; k++) value |= uint64_t(e.results[8 * w + k]) << (8 * k);
        if (value != static_cast<uint64_t>(given.value)) fail("wrong result", run_, cycle_, i);
      }
    }
  }

  void cycle(unsigned epochs) {
    Vidle_top& t = *top_;
    // Outputs as the clock edge at the end of this cycle samples them.
    t.clk_i = 0;
    t.eval();
    std::vector<unsigned> released;
    if (cycle_ >= 4) {
      for (unsigned i = 0; i < kAll; i++) {
        if (t.chunk_valid_o >> i & 1) endpoints_[i].results.push_back(t.chunk_o[i]);
        if (t.release_o >> i & 1) released.push_back(i);
      }
    }
    // Releases are checked against the state before this cycle's actions; in a board they are simultaneous.
    for (unsigned i : released) {
      if (!endpoints_[i].member) fail("command to another job's endpoint", run_, cycle_, i);
      note_votes(endpoints_[i].epoch);
      check_release(i, t.agreed_o >> i & 1);
    }
    links(t);
    for (unsigned i = 0; i < kAll; i++) act(i, epochs, t);
    for (unsigned i : released) {
      Endpoint& e = endpoints_[i];
      e.epoch++;
      released_total_++;
      e.last_release = cycle_;
      e.words = {};
      e.results.clear();
      if (e.kind == kThread) {
        e.busy = e.epoch < epochs;
        e.started = e.busy;
        e.until = cycle_ + 2 + (fixed_ ? 0 : pick(style_.linger));
        e.budget = pick(style_.budget + 1);
      }
    }
    receive(epochs);
    t.clk_i = 1;
    t.rst_ni = cycle_ >= 3;
    t.eval();
    drive(t);
    cycle_++;
  }

  void note_votes(unsigned epoch) {
    if (voted_ > epoch) return;
    voted_ = epoch + 1;
    bool all = true;
    for (const Endpoint& o : endpoints_)
      if (o.kind == kThread && o.epoch == epoch) all = all && o.vote;
    vote_.resize(epoch + 1);
    vote_[epoch] = all;
  }

  void links(Vidle_top& t) {
    const bool reset = cycle_ < 4;
    for (unsigned b = 0; b < boards_ && !reset; b++) {
      if ((t.out_valid_o >> b & 1) && (t.out_ready_i >> b & 1)) {
        Flit f;
        for (unsigned k = 0; k < 4; k++) f[k] = t.out_payload_o[b][k];
        outbox_[b].push_back(f);
        if ((f[0] & 15) == kAnswer && (f[0] >> 4 & 3) == 1 && outbox_[b].size() == 1) waves_++;
        if (t.out_last_o >> b & 1) {
          const unsigned to = t.out_dest_o[b] >> 14 & 0xFFF;
          if (t.out_dest_o[b] >> 29 != 6 || to >= boards_) fail("packet without a receiver", run_, cycle_, b);
          // Packets of a link stay in order.
          uint64_t& last = link_last_[b][to];
          last = std::max(last + 1, cycle_ + (fixed_ ? fixed_ : 1 + pick(style_.control)));
          inbox_[to].push_back({outbox_[b], last});
          std::stable_sort(inbox_[to].begin() + (in_flit_[to] ? 1 : 0), inbox_[to].end(),
                           [](const Packet& x, const Packet& y) { return x.at < y.at; });
          outbox_[b].clear();
        }
      }
      if ((t.in_valid_i >> b & 1) && (t.in_ready_o >> b & 1)) {
        if (++in_flit_[b] == inbox_[b].front().flits.size()) {
          inbox_[b].pop_front();
          in_flit_[b] = 0;
        }
      }
    }
  }

  void act(unsigned i, unsigned epochs, Vidle_top& t) {
    Endpoint& e = endpoints_[i];
    const bool wave = t.wave_o >> i & 1;
    // Words are shifted up and down.
    if (e.scan >= 0 && ++e.scan == 16) e.scan = -1;
    if (t.scan_o >> i & 1) {
      e.scan = 0;
      e.scan_op = t.op_o[i];
    }
    if (t.release_o >> i & 1) return;
    if (cycle_ < 6) return;
    if (e.kind == kThread && e.busy && cycle_ >= e.until) {
      if (style_.words && (fixed_ || pick(3) != 0) && e.epoch < epochs) {
        const unsigned w = pick(2), op = fixed_ ? kSum : unsigned((e.epoch * 7 + w * 3 + run_) % 4);
        int64_t value = static_cast<int64_t>(random_());
        if (pick(3) == 0) value >>= 50;
        e.words[w].give(op, value);
        if (total_.size() <= e.epoch) total_.resize(e.epoch + 1);
        total_[e.epoch][w].give(op, value);
      }
      if (total_.size() <= e.epoch) total_.resize(e.epoch + 1);
      if (e.budget && pick(2)) {
        e.budget--;
        if (router_ != ~0u && pick(3) == 0) send(i, router_, e.epoch, wave, true);
        else send(i, other_thread(epochs), e.epoch, wave, false);
      }
      if (pick(4) == 0 || fixed_) {
        e.busy = false;
        e.vote = pick(6) != 0;
      } else e.until = cycle_ + pick(style_.linger);
    } else if (e.kind == kRouter && e.copies && pick(3) == 0) {
      send(i, other_thread(epochs), e.epoch_copies, wave, false);
      e.copies--;
    } else if (e.kind == kHost) {
      const unsigned b = board(i);
      if (hold_[b]) {
        if ((t.open_o >> b & 1) && (style_.eager || pick(2))) {
          if (!over_soon(epochs))
            send(i, other_thread(epochs), t.host_epoch_o[b], t.host_wave_o >> b & 1, false);
          hold_[b] = false;
        }
      } else if (e.budget && pick(style_.eager ? (t.open_o >> b & 1 ? 200 : 6) : 40) == 0 && !over_soon(epochs)) {
        e.budget--;
        hold_[b] = true;
      }
    }
  }

  // The host of this model sends only to threads that do not end with the next epoch.
  bool over_soon(unsigned epochs) const {
    for (const Endpoint& e : endpoints_)
      if (e.kind == kThread && (e.epoch + 1 >= epochs)) return true;
    return false;
  }

  void receive(unsigned epochs) {
    (void)epochs;
    std::vector<Message> stay;
    for (const Message& m : inside_) {
      Endpoint& e = endpoints_[m.to];
      const unsigned own = e.epoch & 3;
      if (m.at > cycle_ || m.epoch == ((own + 1) & 3) || (e.kind == kRouter && e.copies)) {
        stay.push_back(m);
        continue;
      }
      if (m.epoch != own) fail("message of an epoch that is over", run_, cycle_, m.to);
      e.received++;
      if (e.kind == kRouter) {
        e.copies = pick(4);
        e.epoch_copies = m.epoch;
        continue;
      }
      if (e.kind != kThread) fail("message without a receiver", run_, cycle_, m.to);
      e.busy = true;
      e.until = cycle_ + 1 + pick(style_.linger);
      if (pick(style_.reply) == 0 && replies_ < 400) {
        e.budget++;
        replies_++;
      }
    }
    inside_ = stay;
    // At most one message enters a board in a cycle.
    entered_ = 0;
    stay.clear();
    for (const Message& m : in_flight_) {
      const unsigned b = board(m.to);
      if (m.at > cycle_ || (entered_ >> b & 1)) {
        stay.push_back(m);
        continue;
      }
      entered_ |= uint64_t(1) << b;
      entry_[b] = m;
      Message in = m;
      in.at = cycle_ + 3 + (fixed_ ? 0 : pick(6));
      inside_.push_back(in);
    }
    in_flight_ = stay;
  }

  uint8_t chunk(const Endpoint& e) const {
    const unsigned w = e.scan / 8, k = e.scan % 8, op = e.scan_op >> (2 * w) & 3;
    uint64_t value = static_cast<uint64_t>(e.words[w].value);
    if (!e.words[w].given) value = op == kMin ? ~uint64_t(0) >> 1 : op == kMax ? uint64_t(1) << 63 : 0;
    return static_cast<uint8_t>(value >> 8 * (op == kMin || op == kMax ? 7 - k : k));
  }

  template <class T>
  static void put(T& vector, unsigned i, bool value) {
    vector = static_cast<T>((vector & ~(T(1) << i)) | T(value) << i);
  }

  void drive(Vidle_top& t) {
    for (unsigned i = 0; i < kAll; i++) {
      const Endpoint& e = endpoints_[i];
      put(t.member_i, i, e.member);
      put(t.idle_i, i, !e.busy && !e.copies);
      put(t.vote_i, i, e.kind != kThread || !e.started || e.vote);
      put(t.started_i, i, e.started);
      t.sent_i[i] = e.sent;
      t.received_i[i] = e.received;
      unsigned given = 0;
      for (unsigned w = 0; w < 2; w++)
        if (e.words[w].given) given |= 16u << w | e.words[w].op << 2 * w;
      t.given_i[i] = static_cast<uint8_t>(given);
      const bool gives = e.scan >= 0 && (e.words[0].given || e.words[1].given);
      put(t.chunk_valid_i, i, gives);
      t.chunk_i[i] = gives ? chunk(e) : static_cast<uint8_t>(random_());
    }
    for (unsigned b = 0; b < kBoards; b++) {
      put(t.entry_valid_i, b, entered_ >> b & 1);
      t.entry_epoch_i[b] = static_cast<uint8_t>(entry_[b].epoch);
      put(t.entry_wave_i, b, entry_[b].wave);
      put(t.hold_i, b, hold_[b]);
      put(t.out_ready_i, b, fixed_ || pick(3) != 0);
      const bool has = cycle_ > 4 && !inbox_[b].empty() && inbox_[b].front().at <= cycle_ + 1;
      // A stalled flit is stable.
      const bool valid = has && ((t.in_valid_i >> b & 1) || fixed_ || pick(3) != 0);
      put(t.in_valid_i, b, valid);
      if (has) {
        const Packet& p = inbox_[b].front();
        for (unsigned k = 0; k < 4; k++) t.in_payload_i[b][k] = p.flits[in_flit_[b]][k];
        put(t.in_last_i, b, in_flit_[b] + 1 == p.flits.size());
      }
    }
    entered_ = 0;
    t.eval();
  }

  uint64_t run_, cycle_ = 0;
  std::mt19937_64 random_;
  VerilatedContext context_;
  std::unique_ptr<Vidle_top> top_;
  Style style_{};
  unsigned boards_ = kBoards, fixed_ = 0, router_ = ~0u, replies_ = 0, released_total_ = 0, voted_ = 0, waves_ = 0;
  std::vector<Endpoint> endpoints_;
  std::vector<Message> in_flight_, inside_;
  std::vector<bool> vote_;
  std::vector<std::array<Word, 2>> total_;
  std::array<std::deque<Packet>, kBoards> inbox_;
  std::array<std::vector<Flit>, kBoards> outbox_;
  std::array<size_t, kBoards> in_flit_{};
  std::array<std::array<uint64_t, kBoards>, kBoards> link_last_{};
  std::array<bool, kBoards> hold_{};
  std::array<Message, kBoards> entry_{};
  uint64_t entered_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const uint64_t seed = std::strtoull(argv[2], nullptr, 10), count = std::strtoull(argv[3], nullptr, 10);
  if (!std::strcmp(argv[1], "random")) {
    uint64_t cycles = 0, waves = 0;
    for (uint64_t run = 0; run < count; run++) {
      Cluster cluster(seed, run);
      cluster.random_run();
      cycles += cluster.cycles();
      waves += cluster.waves();
    }
    std::printf("{\"runs\": %llu, \"cycles\": %llu, \"waves\": %llu}\n", (unsigned long long)count,
                (unsigned long long)cycles, (unsigned long long)waves);
    return 0;
  }
  if (!std::strcmp(argv[1], "barrier") && argc >= 7) {
    Cluster cluster(seed, 0);
    std::printf("%.1f\n", cluster.barriers(count, std::atoi(argv[4]), std::atoi(argv[5]), std::atoi(argv[6])));
    return 0;
  }
  return 2;
}
