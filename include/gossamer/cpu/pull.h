// SPDX-License-Identifier: Apache-2.0
/// Pulling: each vertex searches its in-edges for messages.
/// Part of cpu/engine.h, which has the class and its data.
#pragma once

#include "gossamer/cpu/engine.h"

namespace gossamer::cpu {

template <typename V>
void Run<V>::pull() {
  const bool all = all_send_;
  if (!all || hasSettled) probed_deliveries_ += in_flight_edges_;
  pool_.chunks(n_, grain_, [&](size_t begin, size_t end, unsigned thread) {
    if (stopped()) return;
    if (all && !hasSettled) {
      pullFull(begin, end, locals_[thread]);
    } else if (hasSettled && net_.relations.size() == 1) {
      if constexpr (hasSettled) pullUntilSettled(begin, end, locals_[thread]);
    } else {
      pullSome(begin, end, locals_[thread]);
    }
  });
}

/// Every vertex has sent: every in-edge has a message.
template <typename V>
void Run<V>::pullFull(size_t begin, size_t end, Local& local) {
  const Rows& in = net_.relations[0].in;
  local.at.handler = Handler::recv;
  local.looks += end - begin;
  for (size_t v = begin; v < end; ++v) {
    local.at.vertex = static_cast<uint32_t>(v);
    S state = state_[v];
    PPin pin = pin_[v];
    gather(state, pin, in, v);
    settle(static_cast<uint32_t>(v), state, pin);
  }
}

/// Some vertices have sent. The branch predictor cannot predict which in-edges have
/// a message, so a branch-free pass selects them first.
template <typename V>
void Run<V>::pullSome(size_t begin, size_t end, Local& local) {
  constexpr uint64_t block = 256;
  uint32_t picked[block];
  const M* const messages = message_.data();
  local.at.handler = Handler::recv;
  local.looks += end - begin;
  for (size_t v = begin; v < end; ++v) {
    local.at.vertex = static_cast<uint32_t>(v);
    if constexpr (hasSettled) {
      if (closed_.test(v)) continue;
    }
    S state = state_[v];
    PPin pin = pin_[v];
    V x = vertex(v, &state, &pin);
    bool any = false;
    for (const Relation& r : net_.relations) {
      const Bitmap& sent = sent_[r.pin];
      const uint64_t last = r.in.ends[v];
      local.probes += last - r.in.offsets[v];
      for (uint64_t from = r.in.offsets[v]; from < last; from += block) {
        const uint32_t* const sources = r.in.targets + from;
        const auto count = static_cast<uint32_t>(std::min(block, last - from));
        uint32_t found = 0;
        for (uint32_t i = 0; i < count; ++i) {
          picked[found] = i;
          found += sent.test(sources[i]) ? 1 : 0;
        }
        for (uint32_t k = 0; k < found; ++k) {
          callRecv(x, messages[sources[picked[k]]], edge(r.in, from + picked[k]));
        }
        any |= found != 0;
      }
    }
    if (any) settle(static_cast<uint32_t>(v), state, pin);
  }
}

/// Some vertices have sent, on the only relation. A vertex receives from the smallest sender first, until it settles.
/// Words of vertices that all ignore messages cost one access to memory.
template <typename V>
void Run<V>::pullUntilSettled(size_t begin, size_t end, Local& local) {
  const Relation& r = net_.relations[0];
  const uint64_t* const sent = sent_[r.pin].data();
  const uint64_t* const offsets = r.in.offsets;
  const uint64_t* const ends = r.in.ends;
  const uint32_t* const sources = r.in.targets;
  const M* const messages = message_.data();
  // A vertex without in-edges receives nothing but messages of the host.
  const bool closeEmpty = !problem_.host;
  uint64_t probes = 0;
  uint64_t looks = 0;
  local.at.handler = Handler::recv;
  for (size_t w = begin / 64; w * 64 < end; ++w) {
    const size_t from = w * 64;
    const uint64_t valid = end - from < 64 ? (uint64_t{1} << (end - from)) - 1 : ~uint64_t{0};
    ++looks;
    const uint64_t open = ~closed_.word(w) & valid;
    if (!open) continue;
    looks += static_cast<uint64_t>(std::popcount(open));
    // The first in-edges of all vertices: without a branch, so that their cache misses overlap.
    uint64_t empty = 0;
    uint64_t hit = 0;
    for (uint64_t bits = open; bits; bits &= bits - 1) {
      const auto bit = static_cast<unsigned>(std::countr_zero(bits));
      const uint64_t first = offsets[from + bit];
      if (from + bit + rowsToPull < end) __builtin_prefetch(sources + offsets[from + bit + rowsToPull]);
      const bool some = first != ends[from + bit];
      const uint32_t source = sources[some ? first : 0];
      empty |= uint64_t{!some} << bit;
      hit |= (some & (sent[source / 64] >> (source % 64))) << bit;
    }
    uint64_t received = 0;
    const auto receiveFrom = [&](size_t v, uint64_t i) {
      const uint64_t last = ends[v];
      const auto next = [&] {
        while (i < last && !(sent[sources[i] / 64] >> (sources[i] % 64) & 1)) ++i;
      };
      const uint64_t begun = i;
      next();
      if (i < last) {
        received |= uint64_t{1} << (v % 64);
        local.at.vertex = static_cast<uint32_t>(v);
        const PPin before = pin_[v];
        PPin pin = before;
        S state = state_[v];
        V x = vertex(v, &state, &pin);
        do {
          callRecv(x, messages[sources[i]], edge(r.in, i));
          ++i;
          if (x.settled()) break;
          next();
        } while (i < last);
        state_[v] = state;
        if (pin != before) wake<Wake::bitmap>(static_cast<uint32_t>(v), before, pin, local);
      }
      probes += i - begun;
    };
    for (uint64_t bits = hit; bits; bits &= bits - 1) {
      const size_t v = from + static_cast<size_t>(std::countr_zero(bits));
      receiveFrom(v, offsets[v]);
    }
    for (uint64_t bits = open & ~hit & ~empty; bits; bits &= bits - 1) {
      const size_t v = from + static_cast<size_t>(std::countr_zero(bits));
      ++probes;
      receiveFrom(v, offsets[v] + 1);
    }
    touched_.word(w) |= received;
    if (closeEmpty) closed_.word(w) |= empty;
  }
  local.probes += probes;
  local.looks += looks;
}

/// Stores the state of a vertex that has received.
template <typename V>
inline void Run<V>::settle(uint32_t v, const S& state, PPin pin) {
  state_[v] = state;
  touch(v);
  pin_[v] = pin;
  if (pin == No) {
    ready_.clear(v);
  } else {
    ready_.set(v);
  }
}

/// recv for every in-edge of v, from the messages of all vertices.
template <typename V>
inline void Run<V>::gather(S& state, PPin& pin, const Rows& in, size_t v) const {
  const M* const messages = message_.data();
  const uint32_t* const sources = in.targets;
  V x = vertex(v, &state, &pin);
  const uint64_t end = in.ends[v];
  for (uint64_t i = in.offsets[v]; i < end; ++i) callRecv(x, messages[sources[i]], edge(in, i));
}

}  // namespace gossamer::cpu
