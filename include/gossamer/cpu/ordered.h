// SPDX-License-Identifier: Apache-2.0
/// Rounds in the order of the vertices' priorities, the lowest first.
/// A room of cpu/engine.h, where the class and its data are.
#pragma once

#include "gossamer/cpu/engine.h"

namespace gossamer::cpu {

template <typename V>
inline uint32_t Run<V>::priority(uint32_t v) {
  V x = vertex(v, &state_[v], &pin_[v]);
  return x.priority();
}

/// Carries messages until nobody is ready, the lowest priorities first.
template <typename V>
void Run<V>::inOrder() {
  const auto keyOf = [this](uint32_t v, uint32_t& key) {
    if (!ready_.test(v)) return false;
    key = priority(v);
    return true;
  };
  queue_.restart();
  const bool sorted = readyAscend();
  if (!sorted) queueReady();
  needOut();
  Local& local = locals_[0];
  // A bucket is large when its edges keep all threads busy for a while.
  // With few edges a vertex, what a thread saves in work it spends on lists.
  const uint64_t mean = edges_ / n_ + 1;
  const uint64_t large = threads_ == 1 || mean < 8 || readsEdges ? ~uint64_t{0} : smallEdges / mean + 1;
  uint32_t v = 0;
  size_t cursor = 0;
  for (uint64_t turn = 0;; ++turn) {
    if (turn % 1024 == 0 && rest()) break;
    if (sorted && !queue_.waiting()) nextReady(cursor);
    if (queue_.waiting() >= large) {
      queue_.pop(list_, keyOf);
      if (wave()) continue;
      for (const uint32_t u : list_) inTurn(u, local);
    } else {
      if (!queue_.popOne(v, keyOf)) break;
      inTurn(v, local);
    }
  }
  flushHost();
  recount();
}

/// Whether the ready vertices stand in the order of their priorities already:
/// then their bits are as good as a queue.
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
  const auto look = [&](size_t begin, size_t end, unsigned) {
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
    pool_.chunks(ready_.words(), grain, look);
  } else {
    look(0, ready_.words(), 0);
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
inline void Run<V>::queueReady() {
  forBits(ready_, 0, ready_.words(),
          [&](size_t v) { queue_.push(priority(static_cast<uint32_t>(v)), static_cast<uint32_t>(v)); });
}

/// Queues the next vertex from `cursor` on that was ready from the start, if
/// its turn is before whatever the queue holds.
template <typename V>
inline void Run<V>::nextReady(size_t& cursor) {
  for (size_t w = cursor / 64; w < ready_.words(); ++w) {
    const uint64_t bits = ready_.word(w) & (w == cursor / 64 ? ~uint64_t{0} << (cursor % 64) : ~uint64_t{0});
    if (!bits) continue;
    cursor = w * 64 + static_cast<size_t>(std::countr_zero(bits));
    const auto v = static_cast<uint32_t>(cursor);
    const uint32_t key = priority(v);
    if (key > queue_.bound()) return;
    queue_.push(key, v);
    ++cursor;
    return;
  }
  cursor = n_;
}

/// Between two turns: hears the host, says how far it is; true to end.
template <typename V>
inline bool Run<V>::rest() {
  if (problem_.host) hearHostInOrder();
  options_.note(time_, push_rounds_ + small_rounds_);
  return stopped();
}

/// A vertex from the queue sends, if it is still ready and its turn is now.
template <typename V>
inline void Run<V>::inTurn(uint32_t v, Local& local) {
  if (!ready_.test(v)) return;
  const uint32_t key = priority(v);
  if (key > queue_.lowest()) return queue_.push(key, v);
  ++small_rounds_;
  forward<Wake::queue>(v, local);
  if (ready_.test(v)) queue_.push(priority(v), v);
}

/// What the host says while a queue is being worked off joins the queue.
template <typename V>
inline void Run<V>::hearHostInOrder() {
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

/// Takes the vertices of list_ as one wave on all threads; false, with
/// nothing done, when they are too few for that.
template <typename V>
bool Run<V>::wave() {
  uint64_t edges = 0;
  wave_.clear();
  for (const uint32_t v : list_) {
    if (!ready_.test(v)) continue;
    const uint32_t key = priority(v);
    if (key > queue_.lowest()) {
      queue_.push(key, v);
      continue;
    }
    ready_.clear(v);  // so that a vertex listed twice is taken once
    wave_.push_back(v);
    edges += degree(v, pin_[v]);
  }
  if (edges < smallEdges) {
    for (const uint32_t v : wave_) ready_.set(v);
    list_.swap(wave_);
    return false;
  }
  ++push_rounds_;
  if (wave_message_.size() < wave_.size()) wave_message_ = Array<M>(wave_.size() * 2);
  wave_pin_.resize(wave_.size());
  pool_.chunks(wave_.size(), 256, [&](size_t begin, size_t end, unsigned thread) {
    Local& local = locals_[thread];
    for (size_t i = begin; i < end; ++i) {
      const uint32_t v = wave_[i];
      say(local, Handler::send, v);
      wave_message_[i] = M{};
      V x = vertex(v, &state_[v], &pin_[v]);
      wave_pin_[i] = pin_[v];
      x.send(&wave_message_[i]);
      ++local.sends;
    }
  });
  for (size_t i = 0; i < wave_.size(); ++i) {
    const uint32_t v = wave_[i];
    touch(v);
    if (wave_pin_[i] == HostPin) {
      toHost(wave_message_[i], locals_[0]);
    } else if (!pinExists(wave_pin_[i])) {
      refuse(badPin(v, wave_pin_[i]));
    }
    if (pin_[v] != No) {
      ready_.set(v);
      queue_.push(priority(v), v);
    }
  }
  if (threads_ <= mostCutting) {
    forRanges([&](unsigned range, Local& local) {
      pushWave(range, local);
      keepWoken(range, local);
    });
    queueWoken();
  } else {
    pushWaveSorted(edges);
  }
  return true;
}

/// Who was woken in a range, whichever thread had it: the queue's order shall not hang on that.
template <typename V>
inline void Run<V>::keepWoken(unsigned range, Local& local) {
  woken_[range].swap(local.woken);
  local.woken.clear();
}

template <typename V>
inline void Run<V>::queueWoken() {
  for (std::vector<uint32_t>& woken : woken_) {
    for (const uint32_t u : woken) queue_.push(priority(u), u);
    woken.clear();
  }
}

template <typename V>
void Run<V>::pushWave(unsigned range, Local& local) {
  const uint32_t low = first_[range];
  const uint32_t high = first_[range + 1];
  for (const Relation& r : net_.relations) {
    for (size_t i = 0; i < wave_.size(); ++i) {
      if (wave_pin_[i] != Pin(r.pin)) continue;
      const auto [begin, end] = within(r.out, wave_[i], low, high, local);
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
        keepWoken(range, local);
      });
      queueWoken();
    }
  }
}

}  // namespace gossamer::cpu
