// SPDX-License-Identifier: Apache-2.0
// match_measure preposted KEYS DEPTH... | unload DEPTH... | rate DEPTH MATCHES | baselines DEPTH...
// Measures cycles of a match engine; every answer is also compared with the reference model.
#include <bit>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "models/match/baselines.h"
#include "models/match/engine_bench.h"

using namespace match_test;

namespace {

constexpr uint64_t kSeed = 20'261'122;
constexpr unsigned kRepeats = 16;

Command receive(uint32_t handle) {
  Command c;
  c.op = Op::kPost;
  c.handle = handle;
  return c;
}

Command message_for(Command c, uint32_t handle) {
  c.op = Op::kArrive;
  c.any_source = c.any_tag = false;
  c.handle = handle;
  return c;
}

/// Sources and tags that the engine's hash maps to one bin, computed with its secret bits.
std::vector<std::pair<uint16_t, uint32_t>> colliding(Bench& b, unsigned count) {
  const unsigned bins = static_cast<unsigned>(std::bit_width(2u * kEntries) - 1);
  const auto secret = [&](unsigned bit) { return b.top->seed_i[bit / 32] >> bit % 32 & 1; };
  // Column of the matrix for each of the 48 bits of source and tag, with the combination of bits that yields it;
  // combinations whose column is 0 do not change the hash.
  std::vector<uint64_t> kernel;
  std::vector<std::pair<uint32_t, uint64_t>> rows;
  for (unsigned bit = 0; bit < 48; ++bit) {
    uint32_t column = 0;
    for (unsigned h = 0; h < bins; ++h) column |= secret(h + bit) << h;
    uint64_t made = uint64_t{1} << bit;
    for (const auto& [pivot, bits] : rows) {
      if (column & std::bit_floor(pivot)) column ^= pivot, made ^= bits;
    }
    if (column) rows.push_back({column, made});
    else kernel.push_back(made);
  }
  CHECK(kernel.size() >= 20, "too few keys collide");
  std::vector<std::pair<uint16_t, uint32_t>> found;
  for (unsigned n = 0; n < count; ++n) {
    uint64_t key = 0;
    for (unsigned i = 0; i < kernel.size(); ++i) key ^= (n >> i & 1) ? kernel[i] : 0;
    found.push_back({static_cast<uint16_t>(key >> 32), static_cast<uint32_t>(key)});
  }
  return found;
}

/// Receives of one kind, as many as requested.
class Receives {
 public:
  Receives(Bench& b, const std::string& keys, unsigned most) : b_(b), keys_(keys) {
    CHECK(keys == "random" || keys == "stream" || keys == "one-tag" || keys == "wildcards" || keys == "collide" ||
              keys == "collide-blind",
          "keys %s: random, stream, one-tag, wildcards, collide or collide-blind", keys.c_str());
    if (keys.starts_with("collide")) same_ = colliding(b, most + kTargets);
  }
  /// The next waiting receive.
  Command next() {
    Command c = receive(made_);
    if (keys_ == "random") {
      c.source = static_cast<uint16_t>(b_.random());
      c.tag = static_cast<uint32_t>(b_.random()) << 17 | made_;
    } else if (keys_ == "stream" || keys_ == "one-tag") {
      c.source = 3;
      c.tag = 7;
    } else if (keys_ == "wildcards") {
      c.source = static_cast<uint16_t>(b_.below(64));
      c.tag = made_;
      c.any_source = made_ % 2 == 0;
      // Some with any tag, in other communicators.
      c.any_tag = made_ % 4 == 1;
      if (c.any_tag) c.communicator = static_cast<uint16_t>(1 + made_ % 3);
    } else {
      std::tie(c.source, c.tag) = same_[kTargets + made_];
    }
    ++made_;
    return c;
  }
  /// The measured receive. No earlier one matches, except in a stream, where it is like all others.
  Command target() {
    Command c = keys_ == "stream" ? next() : receive(kTarget + targets_);
    if (keys_ == "random") {
      c.source = static_cast<uint16_t>(b_.random());
      c.tag = static_cast<uint32_t>(b_.random()) | 0xFFFF;
    } else if (keys_ == "one-tag") {
      c.source = 3;
      c.tag = 8;
    } else if (keys_ == "wildcards") {
      c.source = 5;
      c.tag = kTarget;
    } else if (!same_.empty()) {
      std::tie(c.source, c.tag) = same_.at(targets_);
    }
    ++targets_;
    return c;
  }

 private:
  static constexpr unsigned kTargets = 16, kTarget = 1'000'000;
  Bench& b_;
  std::string keys_;
  std::vector<std::pair<uint16_t, uint32_t>> same_;
  unsigned made_ = 0, targets_ = 0;
};

/// Cycles from a request to its completion, with the engine idle before.
uint64_t latency(Bench& b, const Command& c) {
  for (int i = 0; i < 40; ++i) b.tick();
  b.send(c);
  b.finish();
  return b.given_at - b.taken_at;
}

void preposted(const std::string& keys, const std::vector<unsigned>& depths) {
  Bench b(kSeed);
  Receives receives(b, keys, depths.back());
  if (keys == "collide-blind") {
    // The secret differs from the one that the keys were made for.
    for (int i = 0; i < 4; ++i) b.top->seed_i[i] = static_cast<uint32_t>(b.random());
  }
  // New lists are inserted at the front of their bin, so with colliding keys the oldest receive outside the CAM is the
  // worst case; it can be matched only once.
  const bool collide = keys.starts_with("collide");
  std::vector<Command> oldest;
  for (unsigned n = 0; collide && n < kCam; ++n) b.send(receives.next());
  for (size_t n = 0; collide && n < depths.size(); ++n) {
    oldest.push_back(receives.target());
    b.send(oldest.back());
  }
  b.finish();
  for (size_t i = 0; i < depths.size(); ++i) {
    const unsigned depth = depths[i], repeats = collide ? 1 : kRepeats;
    while (b.reference.posts().size() + !collide < depth) {
      b.send(receives.next());
      b.finish();
    }
    const Command target = collide ? oldest[i] : receives.target();
    uint64_t least = ~uint64_t{0}, most = 0, sum = 0;
    for (unsigned n = 0; n < repeats; ++n) {
      if (!collide) b.send(target);
      b.finish();
      CHECK(b.rejected == 0 && b.reference.posts().size() == depth, "a receive was rejected");
      const uint64_t before = b.matched, cycles = latency(b, message_for(target, 2'000'000 + n));
      CHECK(b.matched == before + 1, "the message found no receive");
      least = std::min(least, cycles);
      most = std::max(most, cycles);
      sum += cycles;
    }
    std::printf("depth %u cycles %.4f least %llu most %llu\n", depth, double(sum) / repeats,
                (unsigned long long)least, (unsigned long long)most);
    std::fflush(stdout);
  }
}

/// Receives removed from the last to the first.
void unload(const std::vector<unsigned>& depths) {
  Bench b(kSeed);
  for (const unsigned depth : depths) {
    Receives receives(b, "random", depth);
    std::vector<Command> all;
    for (unsigned n = 0; n < depth; ++n) {
      all.push_back(receives.next());
      b.send(all.back());
    }
    b.finish();
    for (int i = 0; i < 40; ++i) b.tick();
    const uint64_t from = b.now, before = b.matched;
    for (unsigned n = depth; n-- > 0;) {
      b.send(message_for(all[n], n));
      // Limits requests in flight only to bound the memory of the queue.
      while (b.in_flight() > 8) b.tick();
    }
    b.finish();
    CHECK(b.matched - before == depth, "%llu of %u messages found their receives",
          (unsigned long long)(b.matched - before), depth);
    std::printf("depth %u cycles %llu\n", depth, (unsigned long long)(b.given_at - from));
    std::fflush(stdout);
  }
}

/// Alternating posts and arrivals; each arrival matches a random waiting receive. From the first request's handshake to
/// the last one's.
void rate(unsigned depth, unsigned matches) {
  Bench b(kSeed);
  std::vector<Command> waiting;
  uint32_t next = 0;
  const auto post = [&] {
    Command c = receive(next);
    c.source = static_cast<uint16_t>(b.random());
    c.tag = next++;
    c.any_source = b.below(20) == 0;
    waiting.push_back(c);
    b.send(c);
  };
  for (unsigned n = 0; n < depth; ++n) post();
  b.finish();
  const uint64_t from = b.now, before = b.matched;
  for (unsigned n = 0; n < matches; ++n) {
    std::swap(waiting[b.below(depth)], waiting.back());
    const Command c = waiting.back();
    waiting.pop_back();
    b.send(message_for(c, n));
    post();
    while (b.in_flight() > 8) b.tick();
  }
  b.finish();
  std::printf("matches %llu cycles %llu\n", (unsigned long long)(b.matched - before),
              (unsigned long long)(b.taken_at - from));
}

/// The same unloading in the models of published engines; its first match is that of the last preposted receive.
void baselines(const std::vector<unsigned>& depths) {
  Bench b(kSeed);
  for (const unsigned depth : depths) {
    Receives receives(b, "random", depth);
    std::vector<Command> all;
    gossamer::match::Alpu alpu;
    gossamer::match::HashProcessor hash;
    for (unsigned n = 0; n < depth; ++n) {
      all.push_back(receives.next());
      alpu.post(all.back());
      hash.post(all.back());
    }
    double alpu_all = 0, hash_all = 0, alpu_last = 0, hash_last = 0;
    for (unsigned n = depth; n-- > 0;) {
      const double alpu_ns = alpu.arrive(all[n]), hash_ns = hash.arrive(all[n]);
      if (n + 1 == depth) alpu_last = alpu_ns, hash_last = hash_ns;
      alpu_all += alpu_ns;
      hash_all += hash_ns;
    }
    std::printf("depth %u preposted %.1f %.1f unload %.1f %.1f\n", depth, alpu_last, hash_last, alpu_all, hash_all);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  const auto numbers = [&](int from) {
    std::vector<unsigned> all;
    for (int i = from; i < argc; ++i) all.push_back(static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)));
    return all;
  };
  if (what == "preposted" && argc > 3) preposted(argv[2], numbers(3));
  else if (what == "unload") unload(numbers(2));
  else if (what == "rate" && argc == 4) rate(numbers(2)[0], numbers(2)[1]);
  else if (what == "baselines") baselines(numbers(2));
  else return 2;
}
