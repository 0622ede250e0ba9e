// SPDX-License-Identifier: Apache-2.0
/// Order by priority on all threads, for vertices whose state fits one machine word.
/// Part of cpu/engine.h, which has the class and its data.
///
/// Method: each thread has a queue of the vertices that it has made ready. A round collects all queued vertices in a
/// window of keys, and the threads take slices of them. A thread delivers to any receiver: `recv` runs on a copy of the
/// receiver's state, and only a copy that differs is written back, if the receiver has not changed meanwhile. So
/// deliveries without an effect, which are most, write nothing that another thread reads. A thread delivers from its
/// own queue at the end of a slice if it has made vertices of the same window ready (bucket fusion: Y. Zhang et al.,
/// CGO 2020), which saves a round for each link of a chain.
///
/// A window is one key wide at first. It grows while rounds are too short to occupy all threads, and shrinks when
/// vertices send again that have already sent, because then the order of keys saves messages.
#pragma once

#include <sched.h>

#include "gossamer/cpu/engine.h"

namespace gossamer::cpu {

/// Reads the pin of a vertex that other threads may change, when no thread is writing the vertex back.
template <typename V>
inline PPin Run<V>::awaitPin(uint32_t v) const {
  const auto* const pin = reinterpret_cast<const uint8_t*>(pin_.data() + v);
  for (unsigned spin = 0;; ++spin) {
    const auto seen = static_cast<PPin>(__atomic_load_n(pin, __ATOMIC_ACQUIRE));
    if (seen != lockedPin) [[likely]]
      return seen;
    // The writer may have lost its processor.
    if (spin >= 256) sched_yield();
  }
}

/// Writes a vertex back; false, without an effect, if its pin or its state is not as it was read. No handler runs
/// between the two stores, so that a fault cannot leave the pin locked.
template <typename V>
inline bool Run<V>::commit(uint32_t v, PPin before, PPin now, StateWord read, StateWord written) {
  auto* const pin = reinterpret_cast<uint8_t*>(pin_.data() + v);
  auto* const state = reinterpret_cast<StateWord*>(state_.data() + v);
  uint8_t expected = before;
  if (!__atomic_compare_exchange_n(pin, &expected, uint8_t{lockedPin}, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    return false;
  }
  const bool same = __atomic_load_n(state, __ATOMIC_RELAXED) == read;
  if (same && written != read) __atomic_store_n(state, written, __ATOMIC_RELAXED);
  __atomic_store_n(pin, static_cast<uint8_t>(same ? now : before), __ATOMIC_RELEASE);
  return same;
}

/// Whether recv would change neither the state nor any pin that a vertex with one pin may have. Reads only the state,
/// so that most edges cost one access to memory.
template <typename V>
inline bool Run<V>::hasNoEffect(uint32_t v, StateWord read, const M& message, E* value) const {
  for (const PPin pin : {No, HostPin, Pin(0)}) {
    S state = std::bit_cast<S>(static_cast<PlainStateWord>(read));
    PPin now = pin;
    V x = vertex(v, &state, &now);
    callRecv(x, message, value);
    if (std::bit_cast<PlainStateWord>(state) != read || now != pin) return false;
  }
  return true;
}

/// recv of a vertex that other threads may change at the same time.
template <typename V>
inline void Run<V>::receiveConcurrently(uint32_t v, M message, E* value, BucketQueue& queue, Local& local) {
  local.at.vertex = v;
  // Keeps the store above before the handler's memory accesses, so that a fault is attributed to the right vertex.
  asm volatile("" : "+r"(v));
  const StateWord read = __atomic_load_n(reinterpret_cast<const StateWord*>(state_.data() + v), __ATOMIC_RELAXED);
  if (hasNoEffect(v, read, message, value)) [[likely]]
    return;
  receiveAndCommit(v, message, value, queue, local);
}

/// The same, if recv has an effect or may have one.
template <typename V>
void Run<V>::receiveAndCommit(uint32_t v, const M& message, E* value, BucketQueue& queue, Local& local) {
  const auto* const word = reinterpret_cast<const StateWord*>(state_.data() + v);
  for (;;) {
    const PPin before = awaitPin(v);
    const StateWord read = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    S state = std::bit_cast<S>(static_cast<PlainStateWord>(read));
    PPin now = before;
    V x = vertex(v, &state, &now);
    const uint32_t rank = x.priority();
    callRecv(x, message, value);
    if (now == lockedPin) [[unlikely]] {
      local.badPin = badPin(v, now);
      return;
    }
    // Also without a change: only a commit shows that pin and state were read between the same two changes.
    if (!commit(v, before, now, read, std::bit_cast<PlainStateWord>(state))) {
      ++local.retries;
      continue;
    }
    ++local.commits;
    if (now != No && (before == No || x.priority() != rank)) queue.push(x.priority(), v);
    return;
  }
}

/// A collected vertex sends, if it is still ready and its key is at most `limit`, and its message is delivered.
template <typename V>
inline void Run<V>::forwardConcurrently(uint32_t v, uint32_t limit, BucketQueue& queue, Local& local) {
  M message{};
  PPin to = No;
  for (;;) {
    to = awaitPin(v);
    if (to == No) return;
    const StateWord read = __atomic_load_n(reinterpret_cast<const StateWord*>(state_.data() + v), __ATOMIC_ACQUIRE);
    S state = std::bit_cast<S>(static_cast<PlainStateWord>(read));
    PPin now = to;
    V x = vertex(v, &state, &now);
    if (const uint32_t key = x.priority(); key > limit) return queue.push(key, v);
    setPosition(local, Handler::send, v);
    message = M{};
    x.send(&message);
    if (now == lockedPin) [[unlikely]] {
      local.badPin = badPin(v, now);
      return;
    }
    if (!commit(v, to, now, read, std::bit_cast<PlainStateWord>(state))) {
      ++local.retries;
      continue;
    }
    if (now != No) queue.push(x.priority(), v);
    break;
  }
  ++local.sends;
  noteSent<true>(v, local);
  if (to == HostPin) return toHost(message, local);
  if (!pinExists(to)) {
    local.badPin = badPin(v, to);
    return;
  }
  local.at.handler = Handler::recv;
  for (const Relation& r : net_.relations) {
    if (Pin(r.pin) != to) continue;
    const uint32_t* const targets = r.out.targets;
    E* const first = edge(r.out, 0);
    const bool own = r.out.values && !std::is_empty_v<E>;
    const uint64_t begin = r.out.offsets[v];
    const uint64_t end = r.out.ends[v];
    for (uint64_t i = begin; i < end; ++i) {
      if (i + ahead < end) __builtin_prefetch(state_.data() + targets[i + ahead]);
      receiveConcurrently(targets[i], message, own ? first + i : first, queue, local);
    }
    local.deliveries += end - begin;
  }
}

/// Counts a send of a vertex that has sent before.
template <typename V>
template <bool Concurrent>
inline void Run<V>::noteSent(uint32_t v, Local& local) {
  uint64_t& word = has_sent_.word(v / 64);
  const uint64_t bit = uint64_t{1} << (v % 64);
  uint64_t before = 0;
  if constexpr (Concurrent) {
    before = __atomic_load_n(&word, __ATOMIC_RELAXED);
    if (!(before & bit)) before = __atomic_fetch_or(&word, bit, __ATOMIC_RELAXED);
  } else {
    before = word;
    word |= bit;
  }
  local.resends += (before & bit) != 0;
}

/// Delivers messages until no vertex is ready: the lowest keys first, and those of a window on all threads.
template <typename V>
void Run<V>::inOrderConcurrently() {
  queue_.restart();
  requireOut();
  lanes_.open(first_);
  has_sent_ = Bitmap(n_);
  window_ = 1;
  const uint64_t mean = edges_ / n_ + 1;
  const uint64_t large = smallEdges / mean + 1;
  const bool sorted = readyAscend();
  if (!sorted) queueReady(true);
  Local& local = locals_[0];
  uint32_t v = 0;
  size_t cursor = 0;
  for (uint64_t iteration = 0;; ++iteration) {
    if (iteration % 256 == 0 && poll()) break;
    if (sorted && !queue_.lowestCount()) queueNextReady(cursor);
    const bool lanesFirst = lanes_.some() && lanes_.bound() <= queue_.bound();
    if (lanesFirst || queue_.lowestCount() >= large || iteration % checkEvery == 0) {
      const uint32_t low = std::min(queue_.bound(), lanes_.bound());
      const uint32_t limit = low + std::min(window_ - 1, ~low);
      if (queue_.countUpTo(limit) + lanes_.countUpTo(limit) >= large) {
        if (concurrentRound(limit, large)) continue;
      }
      if (lanesFirst) moveLanesToQueue(limit);
      if (iteration % checkEvery == 0) adaptWindow(0);
    }
    if (queue_.popOne(v, keyOfReady(), lanes_.bound())) {
      prefetchQueued();
      forwardQueued(v, queue_.lowest(), local);
    } else if (!lanes_.some()) {
      break;
    }
  }
  flushHost();
  for (size_t w = 0; w < ready_.words(); ++w) ready_.word(w) = 0;  // kept in pin_ meanwhile
  if (stopped()) {
    for (size_t u = 0; u < n_; ++u) {
      if (pin_[u] != No) ready_.set(u);
    }
  }
  recount();
}

/// Moves the vertices with keys up to `limit` from the lanes to the queue, for one thread.
template <typename V>
void Run<V>::moveLanesToQueue(uint32_t limit) {
  for (Lane& lane : lanes_) {
    while (lane.queue.bound() <= limit && lane.queue.find(keyOfReady(), limit)) {
      const uint32_t key = lane.queue.lowest();
      lane.queue.pop(list_, keyOfReady());
      for (const uint32_t v : list_) queue_.push(key, v);
    }
  }
  lanes_.update();
}

/// The vertices with keys up to `limit` send, on all threads; false if they are too few for that.
template <typename V>
bool Run<V>::concurrentRound(uint32_t limit, uint64_t large) {
  const auto collect = [&](BucketQueue& queue, Lane& lane) {
    while (queue.bound() <= limit && queue.find(keyOfReady(), limit)) {
      queue.pop(lane.listed, keyOfReady());
      lane.wave.insert(lane.wave.end(), lane.listed.begin(), lane.listed.end());
    }
  };
  for (Lane& lane : lanes_) lane.wave.clear();
  if (lanes_.countUpTo(limit) >= smallBucket) {
    forRanges([&](unsigned range, Local&) { collect(lanes_[range].queue, lanes_[range]); });
  } else {
    for (Lane& lane : lanes_) collect(lane.queue, lane);
  }
  collect(queue_, lanes_[0]);
  size_t count = 0;
  for (Lane& lane : lanes_) lane.base = std::exchange(count, count + lane.wave.size());
  if (count < large / 2) {
    // Most of the buckets were above the window.
    for (Lane& lane : lanes_) {
      for (const uint32_t v : lane.wave) queue_.push(priority(v), v);
    }
    lanes_.update();
    return false;
  }
  ++push_rounds_;
  const uint64_t mean = edges_ / n_ + 1;
  const size_t grain = std::clamp<uint64_t>(sliceEdges / mean, 1, 64);
  pool_.chunks(count, grain, [&](size_t begin, size_t end, unsigned thread) { sendSlice(begin, end, limit, thread); });
  for (Local& local : locals_) {
    if (local.badPin) throwBadPin(local.badPin);
  }
  flushHost();
  lanes_.update();
  adaptWindow(1);
  return true;
}

/// The vertices begin .. end of all lanes send, and those of the window that this thread makes ready thereby.
template <typename V>
void Run<V>::sendSlice(size_t begin, size_t end, uint32_t limit, unsigned thread) {
  Local& local = locals_[thread];
  BucketQueue& queue = lanes_[thread].queue;
  Lane* lane = &lanes_.lastFrom(begin);
  size_t i = begin;
  while (i < end) {
    while (i >= lane->base + lane->wave.size()) ++lane;
    const std::span<const uint32_t> wave = lane->wave;
    const size_t last = std::min(end - lane->base, wave.size());
    for (size_t k = i - lane->base; k < last; ++k) {
      if (k + 2 * sendersAhead < wave.size()) prefetchBounds(wave[k + 2 * sendersAhead]);
      if (k + sendersAhead < wave.size()) prefetchEdges(wave[k + sendersAhead]);
      forwardConcurrently(wave[k], limit, queue, local);
    }
    i = lane->base + last;
  }
  const auto key = [this](uint32_t v, uint32_t& found) {
    if (awaitPin(v) == No) return false;
    const auto* const word = reinterpret_cast<const StateWord*>(state_.data() + v);
    S state = std::bit_cast<S>(static_cast<PlainStateWord>(__atomic_load_n(word, __ATOMIC_ACQUIRE)));
    PPin pin = Pin(0);
    found = vertex(v, &state, &pin).priority();
    return true;
  };
  uint32_t v = 0;
  for (size_t fused = 0; fused < end - begin && queue.bound() <= limit && queue.popOne(v, key, limit); ++fused) {
    forwardConcurrently(v, limit, queue, local);
  }
}

/// Chooses the window of the next rounds, after `rounds` concurrent ones or some vertices on one thread.
template <typename V>
void Run<V>::adaptWindow(uint64_t rounds) {
  uint64_t sends = 0;
  uint64_t resends = 0;
  uint64_t edges = 0;
  for (const Local& local : locals_) {
    sends += local.sends;
    resends += local.resends;
    edges += local.deliveries;
  }
  epoch_.rounds += rounds;
  if (sends - epoch_.sends < epochSends) return;
  const uint64_t sent = sends - epoch_.sends;
  const uint64_t again = resends - epoch_.resends;
  const uint64_t perRound = epoch_.rounds ? (edges - epoch_.edges) / epoch_.rounds : 0;
  if (again * mostResends > sent) {
    window_ = std::max(window_ / 2, uint32_t{1});
    epoch_.pause = 4;
  } else if (epoch_.pause) {
    --epoch_.pause;
  } else if (!epoch_.rounds) {
    // No window was worth a round: finds the narrowest that is, if there is one. Keys may be far apart.
    const auto inWindow = [&](uint32_t window) {
      const uint32_t low = std::min(queue_.bound(), lanes_.bound());
      const uint32_t limit = low + std::min(window - 1, ~low);
      return queue_.countUpTo(limit) + lanes_.countUpTo(limit);
    };
    const uint64_t large = smallEdges / (edges_ / n_ + 1) + 1;
    if (inWindow(~uint32_t{0}) >= large) {
      while (window_ < widest && inWindow(window_) < large) window_ *= 2;
    }
  } else if (perRound < roundEdges * threads_ && window_ < widest) {
    window_ *= 2;
  }
  epoch_ = {sends, resends, edges, 0, epoch_.pause};
}

}  // namespace gossamer::cpu
