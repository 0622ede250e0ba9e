// SPDX-License-Identifier: Apache-2.0
/// Pulling: each vertex searches its in-edges for messages.
/// Part of cpu/engine.h, which has the class and its data.
#pragma once

#include "gossamer/cpu/engine.h"

namespace gossamer::cpu {

template <typename V>
void Run<V>::pull() {
  const bool all = all_send_;
  if (!all) probed_deliveries_ += in_flight_edges_;
  pool_.chunks(n_, grain_, [&](size_t begin, size_t end, unsigned thread) {
    if (stopped()) return;
    if (all) {
      pullFull(begin, end, locals_[thread]);
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
      if (!received_.test(v)) {
        if (vertex(v, &state_[v], &pin_[v]).settled()) continue;
        if (net_.relations.size() == 1) {
          local.probes += pullUntilSettled(v);
          continue;
        }
      }
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

/// Messages to a vertex that has received nothing since its last step, the smallest sender first, until it
/// settles. Returns the number of edges read.
template <typename V>
inline uint64_t Run<V>::pullUntilSettled(size_t v) {
  const Relation& r = net_.relations[0];
  const Bitmap& sent = sent_[r.pin];
  const M* const messages = message_.data();
  const uint64_t last = r.in.ends[v];
  uint64_t i = r.in.offsets[v];
  while (i < last && !sent.test(r.in.targets[i])) ++i;
  const uint64_t begin = r.in.offsets[v];
  if (i == last) return last - begin;
  S state = state_[v];
  PPin pin = pin_[v];
  V x = vertex(v, &state, &pin);
  while (i < last) {
    callRecv(x, messages[r.in.targets[i]], edge(r.in, i));
    if (x.settled()) break;
    do {
      ++i;
    } while (i < last && !sent.test(r.in.targets[i]));
  }
  settle(static_cast<uint32_t>(v), state, pin);
  return i - begin;
}

/// Stores the state of a vertex that has received.
template <typename V>
inline void Run<V>::settle(uint32_t v, const S& state, PPin pin) {
  state_[v] = state;
  touch(v);
  if constexpr (hasSettled) received_.set(v);
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
