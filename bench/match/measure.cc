// SPDX-License-Identifier: Apache-2.0
// match_measure preposted KEYS DEPTH | unload DEPTH | rate DEPTH MATCHES | baselines DEPTH
// Cycles of a match engine; every answer is held against plain lists as well.
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "gossamer/match/baselines.h"
#include "harness.h"

using namespace match_test;

namespace {

constexpr uint64_t kSeed = 20'261'122;
constexpr unsigned kRepeats = 16;
constexpr unsigned kKeyBits = 74;

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

/// Sources and tags that the engine's hash puts into one bin, by somebody who knows its secret bits.
std::vector<std::pair<uint16_t, uint32_t>> colliding(Bench& b, unsigned count) {
  const unsigned bins = static_cast<unsigned>(std::bit_width(2u * kEntries) - 1);
  const auto secret = [&](unsigned bit) { return b.top->seed_i[bit / 32] >> bit % 32 & 1; };
  // Column of the matrix for each of the 48 bits of source and tag, beside the bits that make it; those combinations
  // whose column is 0 change nothing.
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

/// Receives of a kind; the last is the one that is looked for, which none before it matches.
std::vector<Command> receives(Bench& b, const std::string& keys, unsigned depth) {
  std::vector<Command> all;
  std::vector<std::pair<uint16_t, uint32_t>> same;
  if (keys == "collide" || keys == "collide-blind") same = colliding(b, depth);
  for (unsigned n = 0; n < depth; ++n) {
    Command c = receive(n);
    const bool last = n + 1 == depth;
    if (keys == "random") {
      c.source = static_cast<uint16_t>(b.random());
      c.tag = static_cast<uint32_t>(b.random()) << 17 | n;
    } else if (keys == "stream") {
      // One source and one tag: the first matches.
      c.source = 3;
      c.tag = 7;
    } else if (keys == "one-tag") {
      // The same, and behind them one with another tag.
      c.source = 3;
      c.tag = last ? 8 : 7;
    } else if (keys == "wildcards") {
      c.source = static_cast<uint16_t>(b.below(64));
      c.tag = n;
      c.any_source = !last && n % 2 == 0;
      if (!last && n % 4 == 1) {
        // Another communicator, so that what is looked for does not match.
        c.communicator = 1 + n % 3;
        c.any_tag = true;
      }
    } else {
      CHECK(same.size() == depth, "keys %s: random, stream, one-tag, wildcards, collide or collide-blind", keys.c_str());
      c.source = same[n].first;
      c.tag = same[n].second;
    }
    all.push_back(c);
  }
  return all;
}

/// Cycles from a request to its completion, the engine at rest before.
uint64_t latency(Bench& b, const Command& c) {
  for (int i = 0; i < 40; ++i) b.tick();
  b.send(c);
  b.finish();
  return b.given_at - b.taken_at;
}

void preposted(const std::string& keys, unsigned depth) {
  uint64_t least = ~uint64_t{0}, most = 0, sum = 0;
  for (unsigned round = 0; round < (keys == "random" ? 4 : 1); ++round) {
    Bench b(kSeed + round);
    const std::vector<Command> all = receives(b, keys, depth);
    if (keys == "collide-blind") {
      // The secret is another one than that which the keys were made for.
      for (int i = 0; i < 4; ++i) b.top->seed_i[i] = static_cast<uint32_t>(b.random());
    }
    for (const Command& c : all) b.send(c);
    b.finish();
    CHECK(b.refused == 0, "%llu receives found no room", (unsigned long long)b.refused);
    for (unsigned n = 0; n < kRepeats; ++n) {
      const uint64_t cycles = latency(b, message_for(all.back(), 1'000'000 + n));
      least = std::min(least, cycles);
      most = std::max(most, cycles);
      sum += cycles;
      CHECK(b.matched == n + 1, "the message found no receive");
      // The one that was matched, once more.
      b.send(all.back());
      b.finish();
    }
    std::printf("cycles %.4f least %llu most %llu\n", double(sum) / (kRepeats * (round + 1)),
                (unsigned long long)least, (unsigned long long)most);
  }
}

/// Receives taken out from the last to the first.
void unload(unsigned depth) {
  Bench b(kSeed);
  const std::vector<Command> all = receives(b, "random", depth);
  for (const Command& c : all) b.send(c);
  b.finish();
  for (int i = 0; i < 40; ++i) b.tick();
  const uint64_t from = b.now;
  for (unsigned n = depth; n-- > 0;) {
    b.send(message_for(all[n], n));
    // Not more than the engine takes at once, for the sake of the queue's memory alone.
    while (b.under_way() > 8) b.tick();
  }
  b.finish();
  CHECK(b.matched == depth, "%llu of %u messages found their receives", (unsigned long long)b.matched, depth);
  std::printf("cycles %llu\n", (unsigned long long)(b.given_at - from));
}

/// As many posts as arrivals; each arrival is for one of the receives that wait, any of them. From the first request's
/// handshake to the last's.
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
    while (b.under_way() > 8) b.tick();
  }
  b.finish();
  std::printf("matches %llu cycles %llu\n", (unsigned long long)(b.matched - before),
              (unsigned long long)(b.taken_at - from));
}

/// The same preposted receives and the same unloading for the models of published engines.
void baselines(unsigned depth) {
  Bench b(kSeed);
  const std::vector<Command> all = receives(b, "random", depth);
  gossamer::match::Alpu alpu;
  gossamer::match::HashProcessor hash;
  for (const Command& c : all) alpu.post(c), hash.post(c);
  double alpu_all = 0, hash_all = 0;
  for (unsigned n = depth; n-- > 0;) {
    const double alpu_ns = alpu.arrive(all[n]), hash_ns = hash.arrive(all[n]);
    if (n + 1 == depth) std::printf("preposted alpu %.1f hash %.1f\n", alpu_ns, hash_ns);
    alpu_all += alpu_ns;
    hash_all += hash_ns;
  }
  std::printf("unload alpu %.1f hash %.1f\n", alpu_all, hash_all);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at) { return static_cast<unsigned>(std::strtoul(argv[at], nullptr, 10)); };
  if (argc == 4 && !std::strcmp(argv[1], "preposted")) preposted(argv[2], number(3));
  else if (argc == 3 && !std::strcmp(argv[1], "unload")) unload(number(2));
  else if (argc == 4 && !std::strcmp(argv[1], "rate")) rate(number(2), number(3));
  else if (argc == 3 && !std::strcmp(argv[1], "baselines")) baselines(number(2));
  else return 2;
}
