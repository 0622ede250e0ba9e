// SPDX-License-Identifier: Apache-2.0
// multicast_test random SEED MESSAGES | directed SEED | rates SEED MEMORY_CYCLES
#include <cstring>

#include "harness.h"

using namespace multicast_test;

namespace {

uint32_t random_word(Bench& b) { return static_cast<uint32_t>(b.random()); }

Record random_record(Bench& b) {
  Record r;
  r.kind = b.below(7);
  if (r.kind == kIndirect) r.kind = kThreadDouble;
  r.y = b.below(16);
  r.x = b.below(16);
  r.thread = b.below(64);
  r.link = b.below(16);
  r.vc = b.below(4);
  r.word = random_word(b);
  r.key = random_word(b);
  r.mask = b.random();
  return r;
}

/// Payload flits of a packet of a network.
Packet body(Bench& b, unsigned vnet, unsigned flits) {
  Packet packet(flits);
  const unsigned tags = b.below(256);
  for (Flit& flit : packet) {
    flit.vnet = vnet;
    flit.tags = tags;
    flit.dest = 4u << 29;
    for (uint32_t& word : flit.payload) word = random_word(b);
  }
  packet.back().last = true;
  return packet;
}

Packet keyed(Bench& b, uint32_t key, unsigned flits) {
  Packet packet = body(b, 0, flits);
  Flit head = packet.front();
  head.kind = kKey;
  head.last = false;
  head.payload = {key, random_word(b), random_word(b), random_word(b)};
  packet.insert(packet.begin(), head);
  return packet;
}

/// Fills the tables with keys of all lengths, some of which end with an indirection.
std::vector<uint32_t> fill(Bench& b, unsigned count) {
  std::vector<uint32_t> keys{0, 77u << 5};  // pins without destinations
  b.tables.keys[0] = b.tables.keys[77u << 5] = {};
  uint32_t at = b.below(1 << 20);
  for (unsigned n = 0; n < count; ++n) {
    std::vector<Record> records;
    const unsigned length = b.below(4) == 0 ? b.below(60) : b.below(8);
    for (unsigned i = 0; i < length; ++i) records.push_back(random_record(b));
    if (b.below(3) == 0) {
      Record r;
      r.kind = kIndirect;
      r.key = keys[b.below(static_cast<unsigned>(keys.size()))];
      records.push_back(r);
    }
    keys.push_back(b.tables.put(at, records, b.random));
    at += (keys.back() & 31) + b.below(3);
  }
  return keys;
}

void random_traffic(uint64_t seed, uint64_t count) {
  Bench b(seed);
  uint64_t made = 0;
  while (made < count) {
    b.tables = {};
    const std::vector<uint32_t> keys = fill(b, 1 + b.below(60));
    b.top->flush_i = 1;
    b.tick();
    b.top->flush_i = 0;
    for (unsigned round = 0; round < 4 && made < count; ++round) {
      b.send_rate = b.below(2) ? 1.0 : 0.3;
      b.memory_rate = b.below(2) ? 1.0 : 0.2;
      b.memory_most = b.memory_least + b.below(100);
      for (double& rate : b.drain) rate = b.below(3) == 0 ? 0.1 : 1.0;
      for (unsigned n = 0; n < 100 && made < count; ++n) {
        if (b.below(3) != 0) {
          const uint32_t key = keys[b.below(static_cast<unsigned>(keys.size()))];
          b.send(b.below(kKeyed), keyed(b, key, 1 + b.below(b.below(4) ? 4 : 16)));
          ++made;
        } else {
          const unsigned c = b.below(kChannels);
          // Packets of all other kinds pass unchanged, including those with a mask; keys pass where none are expanded.
          Packet packet = body(b, c / 2, 1 + b.below(c < kKeyed ? 5 : 16));
          packet.front().kind = b.below(2) ? kBody : c < kKeyed ? kMask : b.below(4);
          for (Flit& flit : packet) flit.dest = random_word(b);
          b.send(c, packet);
        }
        for (unsigned i = b.below(8); i; --i) b.tick();
        while (b.waiting() > 60) b.tick();
      }
      if (b.below(2)) b.finish();
    }
    b.finish();
  }
  CHECK(b.bad == 0, "%llu records were reported as invalid", (unsigned long long)b.bad);
  std::printf("copies %llu flits %llu lookups %llu hits %llu\n", (unsigned long long)b.copies,
              (unsigned long long)b.flits, (unsigned long long)b.lookups, (unsigned long long)b.hits);
}

/// Invalid records, cycles of indirections, changed tables; a channel that is not drained.
void directed(uint64_t seed) {
  Bench b(seed);
  Record thread;
  thread.thread = 3;
  // A key without a payload among others is a message without receivers; it is counted, and blocks no packet.
  {
    const uint32_t key = b.tables.put(100, {thread, thread}, b.random);
    b.tables.keys[200u << 5 | 3] = {};
    for (unsigned channel = 0; channel < kKeyed; ++channel) {
      const uint64_t before = b.bad;
      for (unsigned n = 0; n < 40; ++n) {
        b.send(channel, keyed(b, key, 2));
        Packet empty(1, keyed(b, 200u << 5 | 3, 1).front());
        empty.front().last = true;
        b.send(channel, empty);
      }
      b.send(channel, body(b, 0, 3));
      b.finish();
      CHECK(b.bad - before == 40, "40 keys without a payload were counted %llu times",
            (unsigned long long)(b.bad - before));
    }
  }
  // A packet longer than a buffer is truncated and counted; the packet after it is whole. So are the longest messages.
  for (const unsigned flits : {kMaxPayload - 1, kMaxPayload, kMaxPayload + 1, 33u, 100u}) {
    for (const unsigned channel : {0u, 1u, 2u}) {
      const uint64_t before = b.bad;
      const bool cut = channel < kKeyed && flits > kMaxPayload;
      for (unsigned n = 0; n < 3; ++n) {
        Packet packet = body(b, channel / 2, flits);
        packet.front().kind = n == 1 ? kMask : kBody;
        b.send(channel, packet, cut ? kMaxPayload : flits);
        b.send(channel, body(b, channel / 2, 2));
      }
      b.finish();
      CHECK(b.bad - before == (cut ? 3 : 0), "of packets of %u flits %llu were counted", flits,
            (unsigned long long)(b.bad - before));
    }
  }
  {
    const uint32_t key = b.tables.put(200, {thread, thread}, b.random);
    const uint64_t before = b.bad;
    b.send(0, keyed(b, key, kMaxPayload));
    b.send(0, keyed(b, key, kMaxPayload + 5), kMaxPayload + 1);
    b.send(0, keyed(b, key, 1));
    b.finish();
    CHECK(b.bad == before + 1, "of two messages one is too long, and %llu were counted",
          (unsigned long long)(b.bad - before));
  }
  // A beat whose count exceeds its number of records.
  {
    const uint32_t key = b.tables.put(300, {thread}, b.random);
    b.tables.beats[300][0] = 6;
    b.tables.keys[key] = {};
    const uint64_t before = b.bad;
    b.send(0, keyed(b, key, 1));
    b.finish();
    CHECK(b.bad == before + 1, "a beat of six records was accepted");
  }
  // Errors of arriving packets and of records in one cycle: all are counted.
  {
    const uint32_t wrong = b.tables.put(320, {thread}, b.random);
    b.tables.beats[320][0] = 7;
    b.tables.keys[wrong] = {};
    const uint64_t before = b.bad;
    for (unsigned n = 0; n < 300; ++n) {
      const unsigned channel = b.below(kKeyed);
      b.send(channel, keyed(b, wrong, 1 + b.below(2)));
      Packet empty(1, keyed(b, 200u << 5 | 3, 1).front());
      empty.front().last = true;
      b.send(channel, empty);
      for (unsigned i = b.below(4); i; --i) b.tick();
    }
    b.finish();
    CHECK(b.bad - before == 600, "of 600 errors %llu were counted", (unsigned long long)(b.bad - before));
  }
  // A wide record in the last field.
  {
    Record tile;
    tile.kind = kTile;
    tile.mask = ~uint64_t{0};
    Beat beat{};
    const uint32_t key = 400u << 5 | 1;
    b.tables.keys[key] = {thread, thread, thread, thread};
    b.tables.put(400, {thread, thread, thread, thread}, b.random);
    beat = {};
    beat[0] = 5;
    for (unsigned p = 0; p < 5; ++p) {
      const uint64_t field = (p < 4 ? thread : tile).bits()[0];
      for (unsigned bit = 0; bit < 48; ++bit) {
        const unsigned to = 16 + 48 * p + bit;
        if (field >> bit & 1) beat[to / 32] |= 1u << to % 32;
      }
    }
    b.tables.beats[400] = beat;
    for (uint32_t n = 401; n < 410; ++n) b.tables.beats.erase(n);
    b.tables.keys[key] = {thread, thread, thread, thread};
    const uint64_t before = b.bad;
    b.send(0, keyed(b, key, 1));
    b.finish();
    CHECK(b.bad == before + 1, "a record that extends beyond its beat was accepted");
  }
  // A cycle of indirections ends.
  {
    Record round;
    round.kind = kIndirect;
    round.key = 500u << 5 | 1;
    b.tables.put(500, {round}, b.random);
    b.tables.keys[500u << 5 | 1] = {};
    const uint64_t before = b.bad;
    b.send(0, keyed(b, 500u << 5 | 1, 1));
    b.finish();
    CHECK(b.bad == before + 1, "a cycle of indirections was counted %llu times", (unsigned long long)(b.bad - before));
    b.tables.keys[600u << 5 | 1] = {thread};
    b.tables.put(600, {thread}, b.random);
    b.send(0, keyed(b, 600u << 5 | 1, 1));
    b.finish();
  }
  // Records after an indirection, in its beat and in the next ones.
  {
    Record indirection;
    indirection.kind = kIndirect;
    indirection.key = 600u << 5 | 1;
    b.tables.put(700, {thread, indirection}, b.random);
    std::vector<Record> many(12, thread);
    const uint32_t rest = b.tables.put(720, many, b.random);
    const unsigned rest_beats = rest & 31;
    Tables one;
    std::mt19937_64 same(1);
    // One beat that ends with an indirection, then beats that must not be used.
    Beat beat{};
    beat[0] = 2;
    const auto put = [&](unsigned p, uint64_t field) {
      for (unsigned bit = 0; bit < 48; ++bit) {
        const unsigned to = 16 + 48 * p + bit;
        if (field >> bit & 1) beat[to / 32] |= 1u << to % 32;
      }
    };
    put(0, thread.bits()[0]);
    put(1, indirection.bits()[0]);
    b.tables.beats[719] = beat;
    const uint32_t key = 719u << 5 | (1 + rest_beats);
    b.tables.keys[key] = {thread, indirection};
    const uint64_t before = b.bad;
    b.send(0, keyed(b, key, 3));
    b.finish();
    CHECK(b.bad - before == rest_beats, "beats after an indirection were counted %llu times, not %u",
          (unsigned long long)(b.bad - before), rest_beats);
  }
  // A changed table takes effect after a flush.
  {
    Record other = thread;
    other.thread = 9;
    b.tables.put(600, {other}, b.random);
    b.tables.keys[600u << 5 | 1] = {other};
    b.top->flush_i = 1;
    b.tick();
    b.top->flush_i = 0;
    b.send(0, keyed(b, 600u << 5 | 1, 1));
    b.finish();
  }
  // A flush while reads of the old table are in flight: their data are not cached.
  {
    b.memory_least = b.memory_most = 50;
    Record other = thread;
    const uint32_t key = b.tables.put(900, {thread}, b.random);
    b.send(0, keyed(b, key, 1));
    for (int i = 0; i < 20; ++i) b.tick();
    b.top->flush_i = 1;
    b.tick();
    b.top->flush_i = 0;
    b.finish();
    other.thread = 33;
    b.tables.put(900, {other}, b.random);
    b.send(0, keyed(b, key, 1));
    b.finish();
    b.memory_least = 4;
    b.memory_most = 60;
  }
  // Each message counts its own indirections: more messages with one than a chain may have.
  {
    Record indirection;
    indirection.kind = kIndirect;
    indirection.key = b.tables.put(64, {thread}, b.random);
    const uint32_t key = b.tables.put(65, {indirection}, b.random);
    const uint64_t before = b.bad;
    for (unsigned channel = 0; channel < kKeyed; ++channel) {
      for (unsigned n = 0; n < 5000; ++n) {
        b.send(channel, keyed(b, key, 1));
        while (b.waiting() > 60) b.tick();
      }
      b.finish();
    }
    CHECK(b.bad == before, "%llu of 10,000 messages with one indirection were counted as cycles",
          (unsigned long long)(b.bad - before));
  }
  // A beat that is looked up in the cycle in which its line is filled, by the other message of the same key: the line
  // and its tag are undefined. Few bits of the tag differ from those of an empty line, so that it may seem to match.
  {
    const double rate = b.send_rate;
    const uint32_t key = b.tables.put(64 + 7, {thread}, b.random);
    for (unsigned round = 0; round < 400; ++round) {
      b.top->flush_i = 1;
      b.tick();
      b.top->flush_i = 0;
      for (unsigned n = 0; n < 70; ++n) b.tick();
      b.memory_least = b.memory_most = 4 + round % 4;
      for (unsigned n = 0; n < 8; ++n) {
        b.send(b.below(kKeyed), keyed(b, key, 1));
        if (b.below(2)) b.tick();
      }
      b.finish();
    }
    b.send_rate = rate;
    b.memory_least = 4;
    b.memory_most = 60;
  }
  // Tables that are rewritten under traffic: a read of the old table that is answered after the flush is not cached,
  // and a lookup in any cycle of the flush finds no old line, including the one that is cleared last.
  for (const uint32_t at : {63u, 127u, 128u + 31}) {
    for (unsigned round = 0; round < 200; ++round) {
      Record changed = thread;
      changed.thread = round % 64;
      b.memory_least = b.memory_most = round % 3 ? 6 : 160;
      const uint32_t key = at << 5 | 1;
      if (round % 4 == 0 && b.tables.keys.contains(key)) {
        // The line is not in the cache: this message's read is in flight.
        b.top->flush_i = 1;
        b.tick();
        b.top->flush_i = 0;
        for (unsigned n = 0; n < 70; ++n) b.tick();
        b.send(0, keyed(b, key, 1));
        for (unsigned n = 0; n < 30; ++n) b.tick();
      }
      b.tables.put(at, {changed}, b.random);
      b.top->flush_i = 1;
      b.tick();
      b.top->flush_i = 0;
      for (unsigned n = round % 4 ? 45 + round % 25 : 200; n; --n) b.tick();
      b.send(0, keyed(b, key, 1));
      b.finish();
      b.send(1, keyed(b, key, 2));
      b.finish();
    }
    b.memory_least = 4;
    b.memory_most = 60;
  }
  // Copies that wait block no other channel, and vice versa.
  std::vector<Record> records(40, thread);
  const uint32_t key = b.tables.put(1000, records, b.random);
  for (unsigned stuck = 0; stuck < kChannels; ++stuck) {
    b.drain[stuck] = 0;
    // The blocked channel fills up.
    for (unsigned n = 0; n < 8; ++n) b.send(stuck, stuck < kKeyed ? keyed(b, key, 4) : body(b, stuck / 2, 4));
    for (int i = 0; i < 3000; ++i) b.tick();
    const uint64_t before = b.flits;
    uint64_t free = 0;
    for (unsigned c = 0; c < kChannels; ++c) {
      if (c == stuck) continue;
      for (unsigned n = 0; n < 10; ++n) b.send(c, c < kKeyed ? keyed(b, key, 2) : body(b, c / 2, 3));
      free += c < kKeyed ? 10 * 40 * 2 : 30;
    }
    for (uint64_t i = 0; b.flits < before + free; ++i) {
      CHECK(i < 20'000, "channel %u, which is not drained, blocks others", stuck);
      b.tick();
    }
    b.drain[stuck] = 1;
    b.finish();
  }
}

/// Flits a cycle for cached and uncached records, and cycles to the first flit; `memory`: latency of a read.
void rates(uint64_t seed, unsigned memory) {
  for (unsigned payload : {1u, 4u}) {
    for (bool cached : {true, false}) {
      Bench b(seed);
      b.memory_least = b.memory_most = memory;
      Record thread;
      std::vector<uint32_t> keys;
      // Uncached: each key once, so that no beat is read twice, however large the cache.
      for (unsigned n = 0; n < (cached ? 1 : 300); ++n) {
        std::vector<Record> records(20, thread);
        // Full beats: `put` fills some only partly.
        const uint32_t at = 10'000 + 4 * n;
        for (unsigned k = 0; k < 4; ++k) {
          Beat beat{};
          beat[0] = 5;
          b.tables.beats[at + k] = beat;
        }
        const uint32_t key = at << 5 | 4;
        b.tables.keys[key] = records;
        keys.push_back(key);
      }
      // The cache clears itself after reset, line by line.
      for (int i = 0; i < 1000; ++i) b.tick();
      if (cached) {
        b.send(0, keyed(b, keys[0], 1));
        b.finish();
        // Again, now that the beats are cached: from the key's flit to the first copy's flit.
        b.first_flit = 0;
        const uint64_t from = b.now;
        b.send(0, keyed(b, keys[0], payload));
        b.finish();
        std::printf("first %u %llu\n", payload, (unsigned long long)(b.first_flit - from - 1));
      }
      for (unsigned n = 0; n < 300; ++n) b.send(0, keyed(b, keys[n % keys.size()], payload));
      const uint64_t lookups = b.lookups, hits = b.hits;
      for (int i = 0; i < 300; ++i) b.tick();
      const uint64_t from = b.flits, begin = b.now;
      for (int i = 0; i < 2000; ++i) b.tick();
      CHECK(b.waiting() != 0, "no messages are left: the rate is not that of a busy router");
      const uint64_t looked = b.lookups - lookups, hit = b.hits - hits;
      CHECK(looked != 0 && hit == (cached ? looked : 0), "%llu of %llu records were in the cache, not %s",
            (unsigned long long)hit, (unsigned long long)looked, cached ? "all" : "none");
      std::printf("rate %u %s %.4f\n", payload, cached ? "cached" : "uncached",
                  double(b.flits - from) / double(b.now - begin));
      b.finish();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  // All memories and registers start with random values: a value that is not reset must not matter.
  Verilated::randReset(2);
  Verilated::randSeed(int(seed % 0x7fff'ffff) + 1);
  const uint64_t count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1000;
  if (!std::strcmp(argv[1], "random")) random_traffic(seed, count);
  else if (!std::strcmp(argv[1], "directed")) directed(seed);
  else if (!std::strcmp(argv[1], "rates")) rates(seed, static_cast<unsigned>(count));
  else return 2;
}
