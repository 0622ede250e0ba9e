// SPDX-License-Identifier: Apache-2.0
/// Rounds in the order of the vertices' priorities, the lowest first.
/// Part of cpu/engine.h, which has the class and its data.
#pragma once

#include "gossamer/cpu/engine.h"

namespace gossamer::cpu {

template <typename V>
inline uint32_t Run<V>::priority(uint32_t v) {
  V x = vertex(v, &state_[v], &pin_[v]);
  return x.priority();
}

/// Delivers messages until no vertex is ready, the lowest priorities first.
template <typename V>
void Run<V>::inOrder() {
  if constexpr (concurrent) {
    // With short rows, one thread is done before the others have found their vertices.
    if (threads_ > 1 && pins_ == 1 && edges_ / n_ + 1 >= 8) return inOrderConcurrently();
  }
  queue_.restart();
  requireOut();
  // A bucket is large if its edges keep all threads busy for a while. With few edges
  // per vertex, list maintenance costs as much as the other threads save.
  const uint64_t mean = edges_ / n_ + 1;
  const uint64_t large = threads_ == 1 || mean < 8 || readsEdges ? ~uint64_t{0} : smallEdges / mean + 1;
  const bool shared = large != ~uint64_t{0};
  // With short rows, a sender is done before its prefetch completes, and a depth-first search in a grid needs none.
  const bool ask = mean >= 8 && !net_.relations.empty();
  if (shared) lanes_.open(first_);
  const bool sorted = readyAscend();
  if (!sorted) queueReady(shared);
  Local& local = locals_[0];
  uint32_t v = 0;
  size_t cursor = 0;
  for (uint64_t iteration = 0;; ++iteration) {
    if (iteration % 256 == 0 && poll()) break;
    if (sorted && !queue_.lowestCount()) queueNextReady(cursor);
    if (queue_.lowestCount() >= large) moveBucketToLanes();
    if (lanes_.some() && lanes_.bound() <= queue_.bound()) {
      processLanes(large);
    } else if (queue_.popOne(v, keyOfReady(), lanes_.bound())) {
      if (ask) prefetchQueued();
      forwardQueued(v, queue_.lowest(), local);
    } else if (!lanes_.some()) {
      break;
    }
  }
  flushHost();
  recount();
}

/// Whether the ready vertices are already in the order of their priorities:
/// the bitmap then replaces a queue.
template <typename V>
inline bool Run<V>::readyAscend() {
  struct Keys {
    uint32_t first = 0;
    uint32_t last = 0;
    bool some = false;
    bool ascend = true;
  };
  const size_t grain = grain_ / 64;
  std::vector<Keys> pieces(ready_.words() / grain + 1);
  const auto checkPiece = [&](size_t begin, size_t end, unsigned) {
    Keys& keys = pieces[begin / grain];
    for (size_t w = begin; w < end && keys.ascend; ++w) {
      for (uint64_t bits = ready_.word(w); bits; bits &= bits - 1) {
        const uint32_t key = priority(static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(bits))));
        keys.ascend &= key >= keys.last;
        if (!keys.some) keys.first = key;
        keys.last = key;
        keys.some = true;
      }
    }
  };
  if (ready_count_ >= smallEdges) {
    pool_.chunks(ready_.words(), grain, checkPiece);
  } else {
    checkPiece(0, ready_.words(), 0);
  }
  locals_[0].looks += ready_.words();
  uint32_t last = 0;
  for (const Keys& keys : pieces) {
    if (!keys.ascend || (keys.some && keys.first < last)) return false;
    if (keys.some) last = keys.last;
  }
  return true;
}

template <typename V>
inline void Run<V>::queueReady(bool shared) {
  const auto queueWords = [this](BucketQueue& queue, size_t begin, size_t end) {
    forBits(ready_, begin, end,
            [&](size_t v) { queue.push(priority(static_cast<uint32_t>(v)), static_cast<uint32_t>(v)); });
  };
  if (!shared || ready_count_ < smallEdges) return queueWords(queue_, 0, ready_.words());
  forRanges([&](unsigned range, Local&) {
    queueWords(lanes_[range].queue, first_[range] / 64, (first_[range + 1] + size_t{63}) / 64);
  });
  lanes_.update();
}

/// Queues the next vertex from `cursor` on that was ready at the start, unless the
/// queues hold a lower key.
template <typename V>
inline void Run<V>::queueNextReady(size_t& cursor) {
  for (size_t w = cursor / 64; w < ready_.words(); ++w) {
    const uint64_t bits = ready_.word(w) & (w == cursor / 64 ? ~uint64_t{0} << (cursor % 64) : ~uint64_t{0});
    if (!bits) continue;
    cursor = w * 64 + static_cast<size_t>(std::countr_zero(bits));
    const auto v = static_cast<uint32_t>(cursor);
    const uint32_t key = priority(v);
    if (key > std::min(queue_.bound(), lanes_.bound())) return;
    queue_.push(key, v);
    ++cursor;
    return;
  }
  cursor = n_;
}

/// Prefetches the rows of the vertices that send soon. They are scattered in memory: without this, every sender
/// stalls for its row's bounds, and then for the row.
template <typename V>
inline void Run<V>::prefetchQueued() const {
  const std::span<const uint32_t> upcoming = queue_.upcoming();
  if (upcoming.size() <= 2 * sendersAhead) return;
  prefetchBounds(upcoming[upcoming.size() - 1 - 2 * sendersAhead]);
  prefetchEdges(upcoming[upcoming.size() - 1 - sendersAhead]);
}

/// Receives from the host and reports progress; true to stop.
template <typename V>
inline bool Run<V>::poll() {
  if (problem_.host) queueFromHost();
  options_.note(time_, push_rounds_ + small_rounds_);
  return stopped();
}

/// A vertex from a queue sends, if it is still ready and its priority is at most `low`.
template <typename V>
inline void Run<V>::forwardQueued(uint32_t v, uint32_t low, Local& local) {
  if (!isReady(v)) return;
  const uint32_t key = priority(v);
  if (key > low) return queue_.push(key, v);
  ++small_rounds_;
  if constexpr (concurrent) {
    if (has_sent_.words()) noteSent<false>(v, local);
  }
  forward<Wake::queue>(v, local);
  if (isReady(v)) queue_.push(priority(v), v);
}

/// Delivers messages of the host; vertices that become ready join the queue.
template <typename V>
inline void Run<V>::queueFromHost() {
  uint32_t to = 0;
  M message{};
  Local& local = locals_[0];
  while (problem_.host->toVertex(to, &message)) {
    local.at.handler = Handler::recv;
    receive<Wake::queue>(receivers(), to, message, edge({}, 0), local);
    ++local.deliveries;
  }
  flushHost();
}

/// Moves a large bucket of the queue to the lanes.
template <typename V>
void Run<V>::moveBucketToLanes() {
  const uint32_t low = queue_.lowest();
  queue_.pop(list_, keyOfReady());
  for (const uint32_t v : list_) lanes_.of(v).queue.push(low, v);
  lanes_.update();
}

/// The lanes hold the lowest key: starts a wave if many vertices have it, else moves them to the queue.
template <typename V>
void Run<V>::processLanes(uint64_t large) {
  const uint32_t low = lanes_.bound();
  // Each range spreads its own bucket of several keys.
  const auto find = [&](unsigned range, Local&) { lanes_[range].queue.find(keyOfReady(), low); };
  if (lanes_.nextBucketSize() >= smallBucket) {
    forRanges(find);
  } else {
    for (unsigned range = 0; range < threads_; ++range) find(range, locals_[0]);
  }
  lanes_.update();
  const size_t lowestCount = lanes_.lowestCount();
  if (!lowestCount) return;
  const size_t queued = queue_.find(keyOfReady(), low) && queue_.lowest() == low ? queue_.lowestCount() : 0;
  if (lowestCount + queued >= large) {
    if (queued) moveBucketToLanes();
    return wave();
  }
  for (Lane& lane : lanes_) {
    if (!lanes_.holdsBound(lane)) continue;
    lane.queue.pop(list_, keyOfReady());
    for (const uint32_t v : list_) queue_.push(low, v);
  }
  lanes_.update();
}

/// The vertices of the lowest key in the lanes send, on all threads.
template <typename V>
void Run<V>::wave() {
  const uint32_t low = lanes_.bound();
  forRanges([&](unsigned range, Local&) { gather(lanes_[range], low); });
  size_t count = 0;
  uint64_t edges = 0;
  for (Lane& lane : lanes_) {
    lane.base = std::exchange(count, count + lane.wave.size());
    edges += lane.edges;
  }
  if (edges < smallEdges) {
    for (const Lane& lane : lanes_) {
      for (const uint32_t v : lane.wave) ready_.set(v);
    }
    for (const Lane& lane : lanes_) {
      for (const uint32_t v : lane.wave) forwardQueued(v, low, locals_[0]);
    }
    return lanes_.update();
  }
  ++push_rounds_;
  wave_.resize(count);
  wave_pin_.resize(count);
  if (wave_message_.size() < count) wave_message_ = Array<M>(count * 2);
  forRanges([&](unsigned range, Local& local) { sendWave(lanes_[range], local); });
  for (Lane& lane : lanes_) {
    if (lane.offGraph) sendOffGraph(lane);
  }
  if (threads_ <= maxRowCutters) {
    forRanges([&](unsigned range, Local& local) {
      pushWave(range, local);
      queueWoken(range, local);
    });
  } else {
    pushWaveSorted(edges);
  }
  lanes_.update();
}

/// Collects the vertices of a lane that send in this wave, each once.
template <typename V>
inline void Run<V>::gather(Lane& lane, uint32_t low) {
  lane.wave.clear();
  lane.edges = 0;
  if (!lanes_.holdsBound(lane)) return;
  lane.queue.pop(lane.listed, keyOfReady());
  for (const uint32_t v : lane.listed) {
    if (!ready_.test(v)) continue;
    const uint32_t key = priority(v);
    if (key > low) {
      lane.queue.push(key, v);
      continue;
    }
    ready_.clear(v);  // so that a vertex listed twice is collected once
    lane.wave.push_back(v);
    lane.edges += degree(v, pin_[v]);
  }
}

template <typename V>
inline void Run<V>::sendWave(Lane& lane, Local& local) {
  lane.offGraph = false;
  size_t i = lane.base;
  for (const uint32_t v : lane.wave) {
    setPosition(local, Handler::send, v);
    wave_[i] = v;
    wave_message_[i] = M{};
    V x = vertex(v, &state_[v], &pin_[v]);
    const PPin to = pin_[v];
    wave_pin_[i] = to;
    x.send(&wave_message_[i++]);
    ++local.sends;
    touch(v);
    lane.offGraph |= to == HostPin || !pinExists(to);
    if (pin_[v] != No) {
      ready_.set(v);
      lane.queue.push(priority(v), v);
    }
  }
}

/// Sends the messages of a lane's part of the wave to the host, in order; throws for a pin that does not exist.
template <typename V>
void Run<V>::sendOffGraph(const Lane& lane) {
  for (size_t i = lane.base; i < lane.base + lane.wave.size(); ++i) {
    if (wave_pin_[i] == HostPin) {
      toHost(wave_message_[i], locals_[0]);
    } else if (!pinExists(wave_pin_[i])) {
      throwBadPin(badPin(wave_[i], wave_pin_[i]));
    }
  }
}

/// Queues the woken vertices of a range in its lane, each once.
template <typename V>
inline void Run<V>::queueWoken(unsigned range, Local& local) {
  size_t count = 0;
  for (const uint32_t u : local.woken) {
    if (!ready_.test(u)) continue;
    ready_.clear(u);
    local.woken[count++] = u;
  }
  local.woken.resize(count);
  for (const uint32_t u : local.woken) {
    ready_.set(u);
    lanes_[range].queue.push(priority(u), u);
  }
  local.woken.clear();
}

/// Prefetches the elements of a row that a binary search for a bound reads first. Senders of a wave are scattered in
/// memory: without this, every search is a sequence of cache misses.
template <typename V>
inline void Run<V>::prefetchRow(const Rows& rows, uint32_t low, size_t i) const {
  if (i + 2 * rowsAhead < wave_.size()) __builtin_prefetch(rows.offsets + wave_[i + 2 * rowsAhead]);
  if (i + rowsAhead >= wave_.size()) return;
  const uint32_t v = wave_[i + rowsAhead];
  const uint64_t begin = rows.offsets[v];
  const uint64_t length = rows.ends[v] - begin;
  if (!low) __builtin_prefetch(rows.targets + begin);
  __builtin_prefetch(rows.targets + begin + length / 4);
  __builtin_prefetch(rows.targets + begin + length / 2);
  __builtin_prefetch(rows.targets + begin + length / 4 * 3);
}

template <typename V>
void Run<V>::pushWave(unsigned range, Local& local) {
  const uint32_t low = first_[range];
  const uint32_t high = first_[range + 1];
  for (const Relation& r : net_.relations) {
    for (size_t i = 0; i < wave_.size(); ++i) {
      if (i % 1024 == 0 && stopped()) return;
      prefetchRow(r.out, low, i);
      if (wave_pin_[i] != Pin(r.pin)) continue;
      const auto [begin, end] = rowPart(r.out, wave_[i], low, high, local);
      deliver<Wake::list>(r.out, begin, end, wave_message_[i], local);
      local.deliveries += end - begin;
    }
  }
}

/// The same for many threads.
template <typename V>
void Run<V>::pushWaveSorted(uint64_t edges) {
  const uint64_t parts = exchange_.slices(edges) * threads_;
  for (const Relation& r : net_.relations) {
    for (uint64_t slice = 0; slice < parts; slice += threads_) {
      forRanges([&](unsigned part, Local& local) {
        const size_t end = wave_.size() * (slice + part + 1) / parts;
        for (size_t i = wave_.size() * (slice + part) / parts; i < end; ++i) {
          if (wave_pin_[i] != Pin(r.pin)) continue;
          const uint32_t v = wave_[i];
          ++local.looks;
          exchange_.put(part, r.out, r.out.offsets[v], r.out.ends[v], static_cast<uint32_t>(i));
          local.deliveries += r.out.length(v);
        }
      });
      forRanges([&](unsigned range, Local& local) {
        receiveSorted<Wake::list>(range, r.out, wave_message_.data(), local);
        queueWoken(range, local);
      });
    }
  }
}

}  // namespace gossamer::cpu
