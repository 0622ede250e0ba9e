// SPDX-License-Identifier: Apache-2.0
/// Rounds of messages: the choice between push and pull, and direct delivery of few messages.
/// Part of cpu/engine.h, which has the class and its data.
#pragma once

#include "gossamer/cpu/engine.h"

namespace gossamer::cpu {

/// Records the messages of one word of vertices, sent on pin 0.
template <typename V>
inline void Run<V>::recordSent(size_t from, size_t to, uint64_t sent, Local& local) {
  sent_[0].word(from / 64) = sent;
  const auto count = static_cast<uint64_t>(std::popcount(sent));
  local.sends += count;
  local.messages += count;
  const Rows& out = net_.relations[0].out;
  if (count == to - from && out.dense()) {
    local.edges += out.offsets[to] - out.offsets[from];
  } else {
    for (uint64_t bits = sent; bits; bits &= bits - 1) {
      const size_t v = from + static_cast<size_t>(std::countr_zero(bits));
      local.edges += out.length(v);
    }
  }
}

/// Sums the messages that the threads have sent in this phase.
template <typename V>
inline void Run<V>::sumSent() {
  in_flight_ = 0;
  in_flight_edges_ = 0;
  in_flight_single_ = 0;
  for (Local& local : locals_) {
    if (local.badPin) throwBadPin(local.badPin);
    in_flight_ += std::exchange(local.messages, 0);
    in_flight_single_ += std::exchange(local.single, 0);
    in_flight_edges_ += local.edges;
    local.deliveries += std::exchange(local.edges, 0);
  }
  all_send_ = mayPull && in_flight_ == n_ && !in_flight_single_ && net_.relations.size() == 1 &&
              net_.relations[0].pin == 0 && hasIn();
  flushHost();
}

template <typename V>
inline void Run<V>::endRound() {
  in_flight_ = 0;
  in_flight_edges_ = 0;
  recount();
}

template <typename V>
void Run<V>::recount() {
  ready_count_ = countBits(ready_);
  listed_ = false;
}

/// The sum of f(first word, last word) over pieces of the bitmaps; on all threads if there is `much` work.
template <typename V>
template <typename F>
inline uint64_t Run<V>::sumOfWords(bool much, F&& f) {
  const size_t words = ready_.words();
  locals_[0].looks += words;
  if (!much || threads_ == 1) return f(size_t{0}, words);
  pool_.chunks(words, grain_ / 64, [&](size_t begin, size_t end, unsigned t) { locals_[t].sum += f(begin, end); });
  uint64_t sum = 0;
  for (Local& local : locals_) sum += std::exchange(local.sum, 0);
  return sum;
}

template <typename V>
inline uint64_t Run<V>::countBits(const Bitmap& bits) {
  return sumOfWords(bits.words() >= parallelWords, [&](size_t begin, size_t end) {
    uint64_t count = 0;
    for (size_t w = begin; w < end; ++w) count += static_cast<uint64_t>(std::popcount(bits.word(w)));
    return count;
  });
}

/// Runs rounds of messages until no vertex wants to send and no message is in flight.
template <typename V>
inline void Run<V>::deliverAll() {
  for (;;) {
    if (problem_.host) receiveFromHost();
    if ((!ready_count_ && !in_flight_) || stopped()) return;
    options_.note(time_, pull_rounds_ + push_rounds_ + small_rounds_);
    const uint64_t from = options_.timeline ? Timeline::now() : 0;
    const uint64_t before = options_.timeline ? deliveries() : 0;
    if constexpr (hasPriority) {
      inOrder();
    } else {
      round();
    }
    if (options_.timeline) options_.timeline->round(from, deliveries() - before);
  }
}

template <typename V>
inline void Run<V>::round() {
  if (!in_flight_) {
    bool few = ready_count_ < n_ / 8;
    if (few && threads_ > 1) few = ready_count_ * (edges_ / n_ + 1) < smallEdges;
    if (few && hasSettled) few = !hasOut() || !worthPulling(readyEdges());
    if (few && hasOut()) return forwardRound();
    if (threads_ == 1 && hasOut() && !worthPulling(readyEdges())) return forwardRound();
    produce();
  }
  if (!in_flight_edges_) return endRound();
  // One thread would push the messages of so few senders; a pull by several threads must not read many more edges.
  const bool much = in_flight_ >= n_ / 8 || in_flight_edges_ * 2 >= edges_ || hasSettled;
  if (mayPull && !in_flight_single_ && ((much && worthPulling(in_flight_edges_)) || !hasOut()) && hasIn()) {
    ++pull_rounds_;
    const bool stepFollows = all_send_ && !hasSettled && !ready_count_ && !problem_.host && (!stepped_ || vote_);
    if (stepFollows && recvNeverWakes()) return pullStepSend();
    pull();
  } else {
    requireOut();
    ++push_rounds_;
    if (threads_ <= maxRowCutters) {
      forRanges([&](unsigned range, Local& local) { push(range, local); });
    } else {
      pushSorted();
    }
  }
  endRound();
}

/// A pull reads all in-edges sequentially, a push writes states in random order; but
/// weights make the pull longer, so it must deliver on every edge.
template <typename V>
inline bool Run<V>::worthPulling(uint64_t edges) {
  const bool weighted = net_.edgesHaveValues && !std::is_empty_v<E>;
  // A vertex that has settled skips its remaining in-edges, so a pull reads only a few.
  const bool worth = hasSettled ? edges * settledPullShare >= edges_ : weighted ? edges == edges_ : edges * 3 >= edges_;
  if (!worth || !mayPull) return false;
  // The first such round may be the only one: transpose only before the second.
  return hasIn() || (dense_rounds_++ && requestIn());
}

template <typename V>
uint64_t Run<V>::readyEdges() {
  if (listed_) {
    uint64_t sum = 0;
    for (const uint32_t v : list_) sum += degree(v, pin_[v]);
    return sum;
  }
  return sumOfWords(ready_count_ >= smallEdges, [&](size_t begin, size_t end) {
    uint64_t sum = 0;
    forBits(ready_, begin, end, [&](size_t v) { sum += degree(static_cast<uint32_t>(v), pin_[v]); });
    return sum;
  });
}

template <typename V>
void Run<V>::forwardRound() {
  ++small_rounds_;
  Local& local = locals_[0];
  all_send_ = false;
  if (!listed_ && ready_count_ < n_ / 64) listReady();
  if (!listed_) touched_listed_ = false;
  if (listed_) {
    uint32_t sends = 0;
    const bool ask = edges_ >= 8 * n_ && !net_.relations.empty();  // short rows are done before a prefetch completes
    for (size_t k = 0; k < list_.size(); ++k) {
      const uint32_t v = list_[k];
      if (sends++ % 1024 == 0 && stopped()) break;
      if (ask && k + 2 * sendersAhead < list_.size()) {
        prefetchBounds(list_[k + 2 * sendersAhead]);
        prefetchEdges(list_[k + sendersAhead]);
      }
      if constexpr (listsTouched) {
        if (touched_listed_ && ready_.test(v) && !touched_.test(v)) addTouched(v);
      }
      if (ready_.test(v)) forward<Wake::list>(v, local);
      if (ready_.test(v)) local.woken.push_back(v);
    }
    takeWoken(local);
  } else {
    // In index order: a receiver with a larger index sends what it has received in
    // the same sweep.
    for (size_t w = 0; w < ready_.words() && !stopped(); ++w) {
      uint64_t later = ~uint64_t{0};
      while (const uint64_t bits = ready_.word(w) & later) {
        const int bit = std::countr_zero(bits);
        later = bit == 63 ? 0 : ~uint64_t{0} << (bit + 1);
        forward<Wake::bitmap>(static_cast<uint32_t>(w * 64 + static_cast<size_t>(bit)), local);
      }
    }
    recount();
  }
  if (!local.toHost.empty()) flushHost();
}

template <typename V>
inline void Run<V>::listReady() {
  list_.clear();
  forBits(ready_, 0, ready_.words(), [&](size_t v) { list_.push_back(static_cast<uint32_t>(v)); });
  listed_ = true;
}

/// The next list: the woken vertices that are still ready, each once.
template <typename V>
inline void Run<V>::takeWoken(Local& local) {
  list_.clear();
  for (const uint32_t v : local.woken) {
    if (!ready_.test(v)) continue;
    ready_.clear(v);
    list_.push_back(v);
  }
  for (const uint32_t v : list_) ready_.set(v);
  local.woken.clear();
  ready_count_ = list_.size();
}

/// Prefetches the state of a vertex that will send and the bounds of its row in the first relation, which is nearly
/// always the only one.
template <typename V>
inline void Run<V>::prefetchBounds(uint32_t v) const {
  const Rows& rows = net_.relations[0].out;
  __builtin_prefetch(state_.data() + v, 1);
  __builtin_prefetch(rows.offsets + v);
  if (!rows.dense()) __builtin_prefetch(rows.ends + v);
}

/// Prefetches the first edges of that row.
template <typename V>
inline void Run<V>::prefetchEdges(uint32_t v) const {
  const Rows& rows = net_.relations[0].out;
  const uint64_t begin = rows.offsets[v];
  __builtin_prefetch(rows.targets + begin);
  if constexpr (!std::is_empty_v<E>) {
    if (rows.values) __builtin_prefetch(static_cast<const E*>(rows.values) + begin);
  }
}

/// Sends the message of a ready vertex and delivers it.
template <typename V>
template <Wake How>
inline void Run<V>::forward(uint32_t v, Local& local) {
  M message{};
  const PPin to = send(v, message, local);
  if (pin_[v] == No) ready_.clear(v);
  if (to == HostPin) return toHost(message, local);
  if constexpr (readsEdges) {
    if (to == OneEdge) {
      deliver<How>(net_.relations[own_edges_.relation()].out, local.along, local.along + 1, message, local);
      ++local.deliveries;
      return;
    }
  }
  if (!pinExists(to)) throwBadPin(badPin(v, to));
  for (const Relation& r : net_.relations) {
    if (Pin(r.pin) != to) continue;
    const uint64_t begin = r.out.offsets[v];
    const uint64_t end = r.out.ends[v];
    deliver<How>(r.out, begin, end, message, local);
    local.deliveries += end - begin;
  }
}

/// recv for the targets of these edges.
template <typename V>
template <Wake How>
inline void Run<V>::deliver(const Rows& rows, uint64_t begin, uint64_t end, const M& message, Local& local) {
  const Receivers at = receivers();
  local.at.handler = Handler::recv;
  const uint32_t* const targets = rows.targets;
  E* const first = edge(rows, 0);
  const bool own = rows.values && !std::is_empty_v<E>;
  for (uint64_t i = begin; i < end; ++i) {
    if (i + ahead < end) __builtin_prefetch(at.state + targets[i + ahead], 1);
    receive<How>(at, targets[i], message, own ? first + i : first, local);
  }
}

/// Every ready vertex sends.
template <typename V>
void Run<V>::produce() {
  allocateMessages();
  touched_listed_ = false;
  forWords([&](size_t from, size_t, Local& local) {
    const size_t w = from / 64;
    ++local.looks;
    for (Bitmap& sent : sent_) sent.word(w) = 0;
    uint64_t remaining = 0;
    for (uint64_t bits = ready_.word(w); bits; bits &= bits - 1) {
      const auto v = static_cast<uint32_t>(from + static_cast<size_t>(std::countr_zero(bits)));
      M message{};
      const PPin to = send(v, message, local);
      if (pin_[v] != No) remaining |= uint64_t{1} << (v - from);
      storeMessage(v, to, message, local);
    }
    ready_.word(w) = remaining;
  });
  sumSent();
  recount();
}

template <typename V>
inline void Run<V>::allocateMessages() {
  if (!message_.empty() || !n_) return;
  message_ = Array<M>(n_);
  for (unsigned p = 0; p < pins_ + readsEdges; ++p) sent_.emplace_back(n_);
  if constexpr (readsEdges) along_ = Array<uint64_t>(n_);
}

/// Stores a message for its receivers.
template <typename V>
inline void Run<V>::storeMessage(uint32_t v, PPin to, const M& message, Local& local) {
  if (to == HostPin) return toHost(message, local);
  if constexpr (readsEdges) {
    if (to == OneEdge) {
      message_[v] = message;
      sent_[pins_].set(v);
      along_[v] = local.along;
      ++local.messages;
      ++local.edges;
      ++local.single;
      return;
    }
  }
  if (!pinExists(to)) {
    local.badPin = badPin(v, to);
    return;
  }
  message_[v] = message;
  sent_[to - 2].set(v);
  ++local.messages;
  local.edges += degree(v, to);
}

}  // namespace gossamer::cpu
