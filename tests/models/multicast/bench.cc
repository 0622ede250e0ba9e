// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "harness.h"

namespace multicast_test {

std::array<uint64_t, 2> Record::bits() const {
  const uint64_t head = static_cast<uint64_t>(kind) << 45 | static_cast<uint64_t>(y) << 41 |
                        static_cast<uint64_t>(x) << 37;
  switch (kind) {
    case kThread:
    case kThreadHalf: return {head | static_cast<uint64_t>(thread) << 31 | (word & 0xFFFF), 0};
    case kThreadWord: return {head | static_cast<uint64_t>(thread) << 31, word};
    case kThreadDouble: return {head | static_cast<uint64_t>(thread) << 31 | (mask & 0xFFFF), mask >> 16};
    case kTile:
    case kTileHalf: return {head | (mask & 0xFFFF) << 16 | (word & 0xFFFF), mask >> 16};
    case kRouter:
      return {static_cast<uint64_t>(kind) << 45 | static_cast<uint64_t>(link) << 41 | static_cast<uint64_t>(vc) << 39 |
                  key, 0};
    case kIndirect: return {static_cast<uint64_t>(kind) << 45 | key, 0};
    default: std::abort();
  }
}

uint32_t Tables::put(uint32_t at, const std::vector<Record>& records, std::mt19937_64& random) {
  uint32_t used = 0;
  size_t next = 0;
  while (next < records.size()) {
    std::array<uint64_t, 5> fields{};
    unsigned filled = 0, count = 0;
    while (next < records.size() && filled + (records[next].wide() ? 2 : 1) <= 5 && (count == 0 || random() % 8 != 0)) {
      const auto bits = records[next].bits();
      fields[filled++] = bits[0];
      if (records[next].wide()) fields[filled++] = bits[1];
      ++count;
      ++next;
    }
    Beat beat{};
    beat[0] = count;
    for (unsigned p = 0; p < 5; ++p) {
      for (unsigned bit = 0; bit < 48; ++bit) {
        const unsigned to = 16 + 48 * p + bit;
        if (fields[p] >> bit & 1) beat[to / 32] |= 1u << to % 32;
      }
    }
    beats[at + used++] = beat;
  }
  CHECK(used < 32, "a key of %u beats", used);
  const uint32_t key = at << 5 | used;
  keys[key] = records;
  return key;
}

Bench::Bench(uint64_t seed) : random(seed), top(std::make_unique<Vmulticast_top>()) {
  drain.fill(1.0);
  credits_.fill(kWindow);
  top->clk_i = 0;
  top->rst_ni = 0;
  top->board_i = kBoard;
  waves = static_cast<uint32_t>(random());
  top->wave_i = waves;
  top->flush_i = 0;
  top->in_valid_i = 0;
  top->out_credit_i = 0;
  top->req_ready_i = 0;
  top->rsp_valid_i = 0;
  for (int i = 0; i < 6; ++i) {
    top->clk_i = !top->clk_i;
    top->eval();
  }
  top->rst_ni = 1;
}

Bench::~Bench() { top->final(); }

uint64_t Bench::waiting() const {
  uint64_t all = 0;
  for (const auto& channel : in_) all += channel.size();
  return all;
}

void Bench::send(unsigned channel, Packet packet, size_t kept) {
  const bool expands = channel < kKeyed && packet.front().kind == kKey;
  Packet whole = packet;
  if (kept < packet.size()) {
    whole.resize(kept);
    whole.back().last = true;
  }
  if (expands) {
    ++messages;
    ++messages_of[packet.front().tags & 127];
    expand(channel, whole);
  } else {
    for (const Flit& flit : whole) out_[channel].push_back(flit);
    outstanding_ += whole.size();
  }
  for (Flit& flit : packet) in_[channel].push_back(flit);
}

/// All copies of a message, in the order of its records.
void Bench::expand(unsigned channel, const Packet& packet) {
  uint32_t key = packet.front().payload[0];
  for (unsigned depth = 0; (key & 31) != 0; ++depth) {
    const std::vector<Record>& records = tables.keys.at(key);
    uint32_t next = 0;
    for (const Record& r : records) {
      if (r.kind == kIndirect) {
        next = r.key;
        break;
      }
      Packet copy(packet.begin() + 1, packet.end());
      const uint32_t tile = kBoard << 14 | r.y << 10 | r.x << 6;
      uint32_t dest = 0;
      if (r.kind == kThread || r.kind == kThreadHalf || r.kind == kThreadWord || r.kind == kThreadDouble) {
        dest = 0u << 29 | tile | r.thread;
      }
      if (r.kind == kTile || r.kind == kTileHalf) dest = 1u << 29 | tile;
      if (r.kind == kRouter) dest = 4u << 29 | r.vc << 6 | (r.link + 1);
      if (r.kind == kThreadHalf || r.kind == kTileHalf) {
        copy[0].payload[0] = (copy[0].payload[0] & ~0xFFFFu) | (r.word & 0xFFFF);
      }
      if (r.kind == kThreadWord) copy[0].payload[0] = r.word;
      if (r.kind == kThreadDouble) {
        copy[0].payload[0] = static_cast<uint32_t>(r.mask);
        copy[0].payload[1] = static_cast<uint32_t>(r.mask >> 32);
      }
      Flit head = copy[0];
      head.last = false;
      if (r.kind == kTile || r.kind == kTileHalf) {
        head.kind = kMask;
        head.payload = {static_cast<uint32_t>(r.mask), static_cast<uint32_t>(r.mask >> 32), 0, 0};
        copy.insert(copy.begin(), head);
      } else if (r.kind == kRouter) {
        head.kind = kKey;
        head.payload = {r.key, 0, 0, 0};
        copy.insert(copy.begin(), head);
      }
      for (Flit& flit : copy) {
        flit.dest = dest;
        // A copy has this board's colour.
        flit.tags = (flit.tags & 127) | (waves >> (flit.tags >> 2 & 31) & 1) << 7;
        out_[channel].push_back(flit);
      }
      outstanding_ += copy.size();
      ++copies;
      ++copies_of[packet.front().tags & 127];
    }
    key = next;
  }
}

void Bench::drive() {
  top->in_valid_i = 0;
  if (send_rate >= 1.0 || chance(send_rate)) {
    const unsigned first = below(kChannels);
    for (unsigned k = 0; k < kChannels; ++k) {
      const unsigned c = (first + k) % kChannels;
      if (in_[c].empty() || credits_[c] == 0) continue;
      const Flit& flit = in_[c].front();
      top->in_valid_i = 1u << c;
      top->in_kind_i = flit.kind;
      top->in_last_i = flit.last;
      top->in_vnet_i = flit.vnet;
      top->in_tags_i = flit.tags;
      top->in_dest_i = flit.dest;
      for (unsigned w = 0; w < 4; ++w) top->in_payload_i[w] = flit.payload[w];
      in_[c].pop_front();
      --credits_[c];
      break;
    }
  }
  // Answers arrive in any order; an offered answer is stable until it is accepted.
  if (answering_ < 0 && !in_flight_.empty() && chance(memory_rate)) {
    const unsigned first = below(static_cast<unsigned>(in_flight_.size()));
    for (unsigned k = 0; k < in_flight_.size(); ++k) {
      const unsigned at = (first + k) % static_cast<unsigned>(in_flight_.size());
      if (in_flight_[at].due <= now) {
        answering_ = static_cast<int>(at);
        break;
      }
    }
  }
  top->rsp_valid_i = answering_ >= 0;
  if (answering_ >= 0) {
    const Read& read = in_flight_[answering_];
    top->rsp_tag_i = read.tag;
    for (unsigned w = 0; w < 8; ++w) top->rsp_i[w] = read.data[w];
  }
  top->req_ready_i = chance(memory_rate);
}

void Bench::observe() {
  for (unsigned c = 0; c < kChannels; ++c) {
    if (top->in_credit_o >> c & 1) {
      ++credits_[c];
      CHECK(credits_[c] <= kWindow, "channel %u returns too many credits", c);
    }
  }
  const unsigned valid = top->out_valid_o;
  CHECK((valid & (valid - 1)) == 0, "flits in two channels at once");
  uint8_t credits = 0;
  for (unsigned c = 0; c < kChannels; ++c) {
    if (valid >> c & 1) {
      Flit flit{top->out_kind_o, top->out_vnet_o, top->out_tags_o, bool(top->out_last_o), top->out_dest_o, {}};
      for (unsigned w = 0; w < 4; ++w) flit.payload[w] = top->out_payload_o[w];
      CHECK(!out_[c].empty(), "cycle %llu: channel %u: an unexpected flit to %08x",
            (unsigned long long)now, c, flit.dest);
      const Flit& want = out_[c].front();
      CHECK(flit == want,
            "cycle %llu: channel %u: a flit kind %u last %d to %08x, %08x %08x, not kind %u last %d to %08x, %08x %08x",
            (unsigned long long)now, c, flit.kind, flit.last, flit.dest, flit.payload[0], flit.payload[1], want.kind,
            want.last, want.dest, want.payload[0], want.payload[1]);
      out_[c].pop_front();
      --outstanding_;
      ++flits;
      if (first_flit == 0) first_flit = now;
      latest = now;
      ++held_[c];
      CHECK(held_[c] <= kWindow, "channel %u sends without credit", c);
    }
    if (held_[c] != 0 && (drain[c] >= 1.0 || chance(drain[c]))) {
      --held_[c];
      credits |= 1u << c;
    }
  }
  top->out_credit_i = credits;
  entered += std::popcount(top->entered_o);
  sent += std::popcount(top->sent_o);
  received += std::popcount(top->received_o);
  for (unsigned v = 0; v < kKeyed; ++v) {
    const auto count = [&](unsigned events, unsigned tags, std::array<uint64_t, 128>& of) {
      if (events >> v & 1) ++of[tags >> 7 * v & 127];
    };
    count(top->entered_o, top->entered_tag_o, entered_of);
    count(top->sent_o, top->sent_tag_o, sent_of);
    count(top->received_o, top->received_tag_o, received_of);
  }
  bad += (top->bad_o & 7) + (top->bad_o >> 3);
  lookups += std::popcount(top->lookup_o);
  hits += std::popcount(top->hit_o);
  // A copy is counted before its message is.
  CHECK(received <= entered, "more messages are consumed than arrived");
}

void Bench::tick() {
  drive();
  top->clk_i = 0;
  top->eval();
  const bool requests = top->req_valid_o && top->req_ready_i, answered = top->rsp_valid_i && top->rsp_ready_o;
  const uint32_t beat = top->req_beat_o;
  const Read read{now + memory_least + below(memory_most - memory_least + 1), top->req_tag_o, beat,
                  tables.beats.contains(beat) ? tables.beats[beat] : Beat{}};
  top->clk_i = 1;
  top->eval();
  ++now;
  if (answered) {
    tag_busy_[in_flight_[answering_].tag] = false;
    in_flight_.erase(in_flight_.begin() + answering_);
    answering_ = -1;
  }
  if (requests) {
    CHECK(!tag_busy_[read.tag], "tag %u is in use", read.tag);
    tag_busy_[read.tag] = true;
    in_flight_.push_back(read);
    ++reads;
  }
  observe();
}

void Bench::finish() {
  latest = now;
  while (outstanding_ != 0 || waiting() != 0) {
    tick();
    CHECK(now - latest < kPatience, "%llu flits did not arrive", (unsigned long long)outstanding_);
  }
  // The last message may end with many records that make no copy.
  for (int i = 0; received != messages && i < 300'000; ++i) tick();
  for (int i = 0; i < 100; ++i) tick();
  CHECK(received == messages, "%llu of %llu messages count as consumed", (unsigned long long)received,
        (unsigned long long)messages);
  CHECK(top->empty_o, "all flits have left, but the router does not report empty");
  for (unsigned t = 0; t < 128; ++t) {
    CHECK(entered_of[t] == messages_of[t] && received_of[t] == messages_of[t] && sent_of[t] == copies_of[t],
          "job %u, epoch %u: not all messages and copies are counted", t >> 2, t & 3);
  }
  CHECK(sent == copies, "%llu of %llu copies count as sent", (unsigned long long)sent, (unsigned long long)copies);
}

}  // namespace multicast_test
