// SPDX-License-Identifier: Apache-2.0
/// Pushing: many messages to the receivers in each thread's range.
/// Part of cpu/engine.h, which has the class and its data.
#pragma once

#include "gossamer/cpu/engine.h"

namespace gossamer::cpu {

/// Calls f(range, local) for every range of receivers.
template <typename V>
template <typename F>
inline void Run<V>::forRanges(F&& f) {
  pool_.chunks(threads_, 1, [&](size_t begin, size_t end, unsigned thread) {
    for (size_t range = begin; range < end; ++range) f(static_cast<unsigned>(range), locals_[thread]);
  });
}

/// Calls f(v) for the bits of words begin .. end.
template <typename V>
template <typename F>
inline void Run<V>::forBits(const Bitmap& bits, size_t begin, size_t end, F&& f) {
  for (size_t w = begin; w < end; ++w) {
    for (uint64_t word = bits.word(w); word; word &= word - 1) {
      f(w * 64 + static_cast<size_t>(std::countr_zero(word)));
    }
  }
}

/// Delivers to the receivers in a range.
template <typename V>
void Run<V>::push(unsigned range, Local& local) {
  const uint32_t low = first_[range];
  const uint32_t high = first_[range + 1];
  for (const Relation& r : net_.relations) {
    const Bitmap& sent = sent_[r.pin];
    local.looks += sent.words();
    for (size_t word = 0; word < sent.words() && !stopped(); word += 64) {
      forBits(sent, word, std::min(sent.words(), word + 64), [&](size_t v) {
        const auto [begin, end] = rowPart(r.out, v, low, high, local);
        deliver<Wake::bitmap>(r.out, begin, end, message_[v], local);
      });
    }
  }
  if constexpr (readsEdges) {
    if (in_flight_single_) pushSingle(low, high, local);
  }
}

/// Delivers messages on OneEdge to receivers in [low, high).
template <typename V>
inline void Run<V>::pushSingle(uint32_t low, uint32_t high, Local& local) {
  const Rows& out = net_.relations[own_edges_.relation()].out;
  const Bitmap& sent = sent_[pins_];
  local.looks += sent.words();
  forBits(sent, 0, sent.words(), [&](size_t v) {
    ++local.looks;
    const uint32_t to = out.targets[along_[v]];
    if (to < low || to >= high) return;
    deliver<Wake::bitmap>(out, along_[v], along_[v] + 1, message_[v], local);
  });
}

/// The same for many threads.
template <typename V>
void Run<V>::pushSorted() {
  for (const Relation& r : net_.relations) {
    pushPieces(r.out, in_flight_edges_, sent_[r.pin], [&](unsigned part, size_t v) {
      exchange_.put(part, r.out, r.out.offsets[v], r.out.ends[v], static_cast<uint32_t>(v));
    });
  }
  if constexpr (readsEdges) {
    const Rows& out = net_.relations[own_edges_.relation()].out;
    if (!in_flight_single_) return;
    pushPieces(out, in_flight_single_, sent_[pins_], [&](unsigned part, size_t v) {
      exchange_.put(part, out, along_[v], along_[v] + 1, static_cast<uint32_t>(v));
    });
  }
}

/// Calls put(part, v) for the senders in a bitmap, and delivers the sorted messages: one slice of the senders at a
/// time, so that the messages in flight fit the caches.
template <typename V>
template <typename Put>
inline void Run<V>::pushPieces(const Rows& rows, uint64_t edges, const Bitmap& sent, Put&& put) {
  const uint64_t slices = exchange_.slices(edges);
  for (uint64_t slice = 0; slice < slices && !stopped(); ++slice) {
    forRanges([&](unsigned part, Local& local) {
      const size_t begin = firstWordOfPart(rows, n_, slice * threads_ + part, slices * threads_);
      const size_t end = firstWordOfPart(rows, n_, slice * threads_ + part + 1, slices * threads_);
      local.looks += end - begin;
      forBits(sent, begin, end, [&](size_t v) {
        ++local.looks;
        put(part, v);
      });
    });
    forRanges([&](unsigned range, Local& local) { receiveSorted<Wake::bitmap>(range, rows, message_.data(), local); });
  }
}

/// recv for the messages in the boxes of a range.
template <typename V>
template <Wake How>
void Run<V>::receiveSorted(unsigned range, const Rows& rows, const M* messages, Local& local) {
  const Receivers at = receivers();
  local.at.handler = Handler::recv;
  E* const first = edge(rows, 0);
  const bool own = rows.values && !std::is_empty_v<E>;
  exchange_.take(range, [&](const auto* parcels, size_t count) {
    if (stopped()) return;
    for (size_t i = 0; i < count; ++i) {
      if (i + ahead < count) __builtin_prefetch(at.state + parcels[i + ahead].to, 1);
      E* value = first;
      if constexpr (!std::is_empty_v<E>) value = own ? first + parcels[i].edge : first;
      receive<How>(at, parcels[i].to, messages[parcels[i].from], value, local);
    }
  });
}

/// The part of v's row with targets in [low, high): rows ascend.
template <typename V>
inline std::pair<uint64_t, uint64_t> Run<V>::rowPart(const Rows& rows, size_t v, uint32_t low, uint32_t high,
                                                     Local& local) const {
  uint64_t begin = rows.offsets[v];
  uint64_t end = rows.ends[v];
  if (threads_ == 1) return {begin, end};
  const uint32_t* targets = rows.targets;
  ++local.looks;
  local.probes += static_cast<uint64_t>(std::bit_width(end - begin)) * ((low != 0) + (high < n_));
  if (low) begin = firstFrom(targets, begin, end, low);
  if (high < n_) end = firstFrom(targets, begin, end, high);
  return {begin, end};
}

}  // namespace gossamer::cpu
