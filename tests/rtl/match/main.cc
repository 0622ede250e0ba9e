// SPDX-License-Identifier: Apache-2.0
// match_test random SEED OPERATIONS DEPTH: requests of many kinds of traffic, with each answer compared to the
// reference model; if DEPTH is not 0, first DEPTH receives wait, and then DEPTH messages. match_test cases SEED
// SPILLED: the cases of conformance.h, after SPILLED entries of another rank.
#include <algorithm>
#include <cstring>
#include <vector>

#include "conformance.h"
#include "models/match/engine_bench.h"

using namespace match_test;

namespace {

/// Parameters of a phase's requests.
struct Traffic {
  unsigned ranks, communicators, sources, tags;
  double any_source, any_tag;
  /// Probabilities of probe, take, cancel, and of requests that must not wait.
  double probe, take, cancel, now;
  /// Target of waiting receives minus waiting messages, which posts and arrivals approach.
  long depth;
};

Traffic any_traffic(Bench& b) {
  const auto pick = [&](auto... values) {
    const std::common_type_t<decltype(values)...> all[] = {values...};
    return all[b.below(sizeof...(values))];
  };
  Traffic t{};
  t.ranks = pick(1u, 1u, 3u, 16u, 1000u);
  t.communicators = pick(1u, 1u, 2u, 5u, 60'000u);
  t.sources = pick(1u, 2u, 8u, 100u, 65'536u);
  t.tags = pick(1u, 2u, 8u, 100u, 1'000'000u);
  t.any_source = pick(0.0, 0.05, 0.3, 1.0);
  t.any_tag = pick(0.0, 0.05, 0.3, 1.0);
  t.probe = pick(0.0, 0.05, 0.3);
  t.take = pick(0.0, 0.05, 0.2);
  t.cancel = pick(0.0, 0.02, 0.2);
  t.now = pick(0.0, 0.0, 0.02, 0.3);
  // Depths of real programs (Klenk and Froening): below 128 half of the time, below 512 three quarters of the time.
  const unsigned kind = b.below(8);
  const unsigned most = kEntries + kCam + 8;
  const unsigned depth = kind < 4 ? b.below(128) : kind < 6 ? b.below(512) : b.below(most);
  t.depth = static_cast<long>(std::min(depth, most)) * (b.below(2) ? 1 : -1);
  return t;
}

Command any_request(Bench& b, const Traffic& t, uint32_t handle) {
  Command c;
  const long depth = static_cast<long>(b.reference.posts().size()) - static_cast<long>(b.reference.messages().size());
  const double post = depth < t.depth ? 0.7 : 0.3;
  c.op = b.chance(post) ? Op::kPost : Op::kArrive;
  if (b.chance(t.probe))
    c.op = Op::kProbe;
  else if (b.chance(t.take))
    c.op = Op::kTake;
  c.rank = static_cast<uint16_t>(b.below(t.ranks));
  c.communicator = static_cast<uint16_t>(b.below(t.communicators));
  c.source = static_cast<uint16_t>(b.below(t.sources));
  c.tag = b.below(t.tags);
  if (t.tags > 1000) c.tag *= 4096;
  c.handle = handle;
  c.length = static_cast<uint8_t>(b.below(256));
  c.rendezvous = b.below(2) != 0;
  c.now = b.chance(t.now);
  // Sometimes targets a waiting entry, so that rare keys match as well.
  const auto& others = c.op == Op::kArrive ? b.reference.posts() : b.reference.messages();
  if (!others.empty() && b.below(3) == 0) {
    const size_t most = std::min<size_t>(others.size(), 64);
    auto at = b.below(2) ? others.begin() : std::prev(others.end(), static_cast<long>(most));
    std::advance(at, b.below(static_cast<unsigned>(most)));
    c.rank = at->rank;
    c.communicator = at->communicator;
    if (!at->any_source) c.source = at->source;
    if (!at->any_tag) c.tag = at->tag;
  }
  if (c.op != Op::kArrive) {
    c.any_source = b.chance(t.any_source);
    c.any_tag = b.chance(t.any_tag);
  }
  // Requests that never match; a clear is rare, so that depths are reached.
  if (b.below(50) == 0) {
    c.op = Op::kCount;
    c.tag = b.below(5);
    c.any_source = c.any_tag = false;
  }
  if (b.below(4000) == 0 && std::labs(t.depth) < 1000) c.op = Op::kCts;
  // Requests that no engine supports.
  if (b.below(100) == 0) {
    switch (b.below(3)) {
      case 0: c.rank = static_cast<uint16_t>(GS_RANKS + b.below(1024 - GS_RANKS)); break;
      case 1: c.op = static_cast<Op>(7); break;
      default: c.op = Op::kArrive; (b.below(2) ? c.any_source : c.any_tag) = true;
    }
  }
  return c;
}

/// Reads all counters of some ranks, while earlier requests are in flight.
void read_counters(Bench& b) {
  for (uint16_t rank = 0; rank < GS_RANKS; rank = static_cast<uint16_t>(rank < 20 ? rank + 1 : rank + 97))
    for (uint32_t counter = 0; counter < gossamer::match::kCounters; ++counter) {
      Command c;
      c.op = Op::kCount;
      c.rank = rank;
      c.tag = counter;
      b.send(c);
    }
}

/// Receives and messages wait, some with their completions in flight; a clear must remove them all, and all counts.
void clear(Bench& b, uint32_t handle) {
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned n = 0; n < 2 * kCam + 8; ++n) {
      Command c;
      c.op = n % 2 ? Op::kPost : Op::kArrive;
      c.rank = static_cast<uint16_t>(n % 3);
      c.tag = n;
      c.handle = handle + n;
      b.send(c);
    }
    read_counters(b);
    Command c;
    c.op = Op::kCts;
    c.rank = GS_RANKS - 1;                                        // says nothing
    for (unsigned times = 0; times <= round; ++times) b.send(c);  // an empty engine has nothing to do
    read_counters(b);
    for (unsigned n = 0; n < 2 * kCam + 8; ++n) {  // none of them finds what was there before
      c.op = n % 2 ? Op::kArrive : Op::kTake;
      c.rank = static_cast<uint16_t>(n % 3);
      c.tag = n;
      c.handle = handle + n;
      b.send(c);
    }
    read_counters(b);
    b.finish();
    b.send(Command{.op = Op::kCts});
    b.finish();
    CHECK(b.top->posts_o == 0 && b.top->messages_o == 0, "%u receives and %u messages are left after a clear",
          b.top->posts_o, b.top->messages_o);
  }
}

void random_traffic(uint64_t seed, uint64_t count, long depth) {
  Bench b(seed);
  uint32_t handle = b.below(1'000'000);
  uint64_t made = 0;
  size_t deepest_posts = 0, deepest_messages = 0;
  for (unsigned phases = 0; made < count; ++phases) {
    Traffic t = any_traffic(b);
    if (depth && phases < 2) {
      // Starts empty, so that the phase is long enough.
      b.send(Command{.op = Op::kCts});
      t.depth = phases ? -depth : depth;
      t.sources = 65'536;
      t.tags = 1'000'000;
      t.probe = t.take = t.cancel = 0.05;
      t.now = 0;
    }
    b.send_rate = b.below(3) ? 1.0 : 0.3;
    b.take_rate = b.below(3) ? 1.0 : 0.2;
    const unsigned window = 1 + b.below(12);
    // Long enough to reach the requested depth.
    const uint64_t phase = std::min<uint64_t>(count - made, 200 + 4 * static_cast<uint64_t>(std::labs(t.depth)));
    for (uint64_t n = 0; n < phase; ++n, ++made) {
      while (b.in_flight() >= window) b.tick();
      if (b.chance(t.cancel)) {
        const auto& posts = b.reference.posts();
        uint32_t which = b.below(1'000'000);
        if (!posts.empty() && b.below(8)) {
          auto at = b.below(2) ? posts.begin() : std::prev(posts.end(), std::min<long>(64, (long)posts.size()));
          std::advance(at, b.below(static_cast<unsigned>(std::min<size_t>(posts.size(), 64))));
          which = at->handle;
        } else if (b.below(2)) {
          which = handle - b.below(100);
        }
        b.send_cancel(which);
      } else {
        b.send(any_request(b, t, handle++));
      }
    }
    deepest_posts = std::max(deepest_posts, b.reference.posts().size());
    deepest_messages = std::max(deepest_messages, b.reference.messages().size());
    if (b.below(4) == 0) {
      b.finish();
      // Removes all entries, by one of three kinds of requests.
      const unsigned way = b.below(3);
      while (way == 0 && !b.reference.messages().empty()) {
        Command c = b.reference.messages().front();
        c.op = b.below(2) ? Op::kPost : Op::kTake;
        c.any_source = b.below(2) != 0;
        c.any_tag = b.below(2) != 0;
        b.send(c);
        b.finish();
        ++made;
      }
      while (way == 1 && !b.reference.posts().empty()) {
        Command c = b.below(2) ? b.reference.posts().front() : b.reference.posts().back();
        c.op = Op::kArrive;
        c.any_source = c.any_tag = false;
        b.send(c);
        b.finish();
        ++made;
      }
      while (way == 2 && !b.reference.posts().empty()) {
        b.send_cancel(b.reference.posts().front().handle);
        b.finish();
        ++made;
      }
      CHECK(b.top->posts_o == b.reference.posts().size() && b.top->messages_o == b.reference.messages().size(),
            "%u receives and %u messages wait according to the engine; %zu and %zu in the model", b.top->posts_o,
            b.top->messages_o, b.reference.posts().size(), b.reference.messages().size());
    }
  }
  read_counters(b);
  b.finish();
  clear(b, handle);
  std::printf("answered %llu cycles %llu deepest-posts %zu deepest-messages %zu\n", (unsigned long long)b.answered,
              (unsigned long long)b.now, deepest_posts, deepest_messages);
  for (int op = 0; op < 8; ++op) {
    std::printf("op %d", op);
    for (int status = 0; status < 5; ++status) std::printf(" %llu", (unsigned long long)b.answers[op][status]);
    std::printf("\n");
  }
}

/// Runs each case in an engine in which `spilled` receives and messages of another rank wait, so that the case's
/// entries are in the CAM or outside. Prints the number of matches that took at most as long as one in the CAM, the
/// number of slower ones, and the cycles of the longest cancel.
void cases(uint64_t seed, unsigned spilled) {
  constexpr uint32_t kStrangers = 1'000'000;
  constexpr uint64_t kCamCycles = 3;
  unsigned fast = 0, slow = 0;
  uint64_t cancel = 0;
  for (const Case& one : conformance()) {
    Bench b(seed);
    b.send_strangers(spilled, 9, kStrangers, Op::kArrive);
    b.finish();
    for (uint32_t n = 0; n < one.steps.size(); ++n) {
      const Step& step = one.steps[n];
      if (step.op == 'c') {
        b.send_cancel(static_cast<uint32_t>(step.tag));
      } else {
        Command c;
        c.op = step.op == 'p' ? Op::kPost : step.op == 'a' ? Op::kArrive : step.op == 'i' ? Op::kProbe : Op::kTake;
        c.rank = static_cast<uint16_t>(step.rank);
        c.communicator = static_cast<uint16_t>(step.communicator);
        c.any_source = step.source == kAny;
        c.any_tag = step.tag == kAny;
        c.source = static_cast<uint16_t>(c.any_source ? b.below(65'536) : step.source);
        c.tag = c.any_tag ? static_cast<uint32_t>(b.random()) : static_cast<uint32_t>(step.tag);
        c.handle = n;
        b.send(c);
      }
      b.finish();
      const Status must = step.status == 'm' ? Status::kMatched : step.status == 'w' ? Status::kWaiting : Status::kNone;
      CHECK(b.last.status == must && (must != Status::kMatched || step.op == 'c' || b.last.partner == step.partner),
            "%s, step %u, after %u others: status %d partner %u", one.name, n, spilled, (int)b.last.status,
            b.last.partner);
      const uint64_t took = b.given_at - b.taken_at;
      if (step.op == 'c') {
        cancel = std::max(cancel, took);
      } else if (must == Status::kMatched) {
        ++(took <= kCamCycles ? fast : slow);
      }
    }
  }
  std::printf("cases %zu in-cam %u behind %u cancel %llu\n", conformance().size(), fast, slow,
              (unsigned long long)cancel);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  const uint64_t count = std::strtoull(argv[3], nullptr, 10);
  if (!std::strcmp(argv[1], "random"))
    random_traffic(seed, count, argc > 4 ? std::strtol(argv[4], nullptr, 10) : 0);
  else if (!std::strcmp(argv[1], "cases"))
    cases(seed, static_cast<unsigned>(count));
  else
    return 2;
}
