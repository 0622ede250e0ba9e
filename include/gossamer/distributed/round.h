// SPDX-License-Identifier: Apache-2.0
/// Rounds of messages. Part of distributed/engine.h, which has the class and its data.
#pragma once

#include "gossamer/cpu/partition.h"
#include "gossamer/distributed/engine.h"

namespace gossamer::distributed {

template <typename V>
void Run<V>::deliverAll() {
  for (bool more = true; more;) {
    const uint64_t from = timeline_ ? Timeline::now() : 0;
    const uint64_t before = timeline_ ? deliveries() : 0;
    if (proven_) {
      more = round();
    } else {
      deliverAsynchronously();
      more = false;
    }
    if (timeline_) timeline_->round(from, deliveries() - before);
  }
}

template <typename V>
bool Run<V>::areFew(uint64_t ready) const {
  if (ready >= own_ / fewShare) return false;
  return pool_.size() == 1 || ready * (net_.edges() / own_ + 1) < smallEdges;
}

/// Whether receivers shall pull the messages in flight among the vertices of this rank.
template <typename V>
bool Run<V>::pullsMessages() const {
  // Weights make a pull longer, so that it must deliver on every edge.
  const bool weighted = edgeBytes && net_.relations()[0].in.values;
  return mayPull && (weighted ? in_flight_ == own_ : in_flight_ * 3 >= own_);
}

/// One round on all ranks. Returns whether another one must follow.
template <typename V>
bool Run<V>::round() {
  const bool produced = std::exchange(produced_, false);
  const uint64_t ready = countReady();
  bool leftover = false;
  bool pulls = false;
  if (produced) {
    takeMessages();
    leftover = ready != 0;
  } else if (ready && areFew(ready)) {
    enlist();
    runListed(~uint64_t{0});
  } else if (ready) {
    produce();
    leftover = countReady() != 0;
  }
  sortSingles();
  uint64_t sent = in_flight_ + event_count_;
  for (const auto& singles : singles_) sent += singles.size();
  if (sent) {
    for (const unsigned rank : receivers_) {
      awaitBuffer(rank);
      packMessages(rank, send_[rank]);
      packEvents(rank, send_[rank]);
      packSingles(rank, send_[rank]);
      startSend(rank);
    }
    event_count_ = 0;
  }
  startReduction({Reduce::max, sent != 0 || leftover}, {Reduce::max, leftover});
  if (in_flight_) {
    pulls = pullsMessages();
    ++(pulls ? pull_rounds_ : push_rounds_);
    if (pulls) {
      pull(false);
    } else {
      push(0, own_);
      for (Bitmap& bits : sent_) forBits(bits, 0, bits.words(), [&](uint32_t v) { bits.clear(v); });
    }
  } else if (ready) {
    ++small_rounds_;
  }
  if (sent) all_sent_ = in_flight_ == own_ && net_.pins() == 1;
  waitFor([&] { return poll(); });
  finishReduction();
  if (!reduction_[0].word) return false;
  if (!sent) {
    for (const unsigned rank : receivers_) {
      awaitBuffer(rank);
      startSend(rank);
    }
  }
  receiveAll();
  if (pulls || (mayPull && ghosts_sent_ * 3 >= net_.ghosts() && ghosts_sent_)) {
    pull(true);
  } else if (ghosts_sent_) {
    push(own_, net_.all());
  }
  if (in_flight_ || ghosts_sent_) forgetMessages();
  ++rounds_;
  return reduction_[1].word;
}

/// Starts a reduction of two words, and of whether a rank has proven that recv never wakes; after a step also of votes
/// and aggregates.
template <typename V>
void Run<V>::startReduction(std::pair<Reduce, uint64_t> first, std::pair<Reduce, uint64_t> second) {
  const auto add = [&](Reduce how, int64_t word) { reduction_.push_back({static_cast<int64_t>(how), word}); };
  reduction_.clear();
  add(first.first, static_cast<int64_t>(first.second));
  add(second.first, static_cast<int64_t>(second.second));
  add(Reduce::max, proof_);
  if (after_step_) {
    add(Reduce::max, vote_);
    int64_t mine[words + 1];
    aggregates::save(mine_, mine);
    for (size_t i = 0; i < words; ++i) add(aggregates::reductions<A>.of[i], mine[i]);
  }
  ranks_.table().reduce(reduction_.data(), reduction_.size());
  reducing_ = true;
}

/// Lets MPI proceed; returns whether the reduction has completed.
template <typename V>
bool Run<V>::poll() {
  if (reducing_ && ranks_.table().reduced()) reducing_ = false;
  return !reducing_;
}

/// Stores what a completed reduction has found.
template <typename V>
void Run<V>::finishReduction() {
  proven_ = reduction_[2].word == 1;
  if (!std::exchange(after_step_, false)) return;
  vote_ = reduction_[3].word != 0;
  int64_t all[words + 1];
  for (size_t i = 0; i < words; ++i) all[i] = reduction_[4 + i].word;
  aggregates::load(all_, all);
}

/// Tries to prove, once, that `recv` does not change *readyToSend: the optimiser, with the handler inlined, knows its
/// value afterwards. The handler runs without effect: on a copy of the state of a real vertex, of a real message to it
/// and of the edge's value.
template <typename V>
void Run<V>::tryProof([[maybe_unused]] uint32_t v, [[maybe_unused]] const M& sent, [[maybe_unused]] E* value) {
  tried_proof_ = true;
#ifdef __OPTIMIZE__
  if constexpr (rules::KeepsNotes<V>) return;  // this call of recv would change notes
  S state = state_[v];
  PPin pin = No;
  M message = sent;
  E copy = *value;
  V x = vertex(v, &state, &pin);
  setPosition(locals_[0], Handler::recv, v);
  x.recv(&message, &copy);
  if (__builtin_constant_p(pin == No)) proof_ = pin == No;
#endif
}

// ---- Many senders ----------------------------------------------------------

/// Every ready vertex sends.
template <typename V>
void Run<V>::produce() {
  if (sent_.empty()) {
    message_ = Array<M>(net_.all());
    for (unsigned p = 0; p < net_.pins(); ++p) sent_.emplace_back(net_.all());
  }
  pool_.chunks(own_, grain_, [&](size_t begin, size_t end, unsigned thread) {
    Local& local = locals_[thread];
    for (size_t w = begin / 64; w * 64 < end; ++w) {
      ++local.looks;
      uint64_t remaining = 0;
      for (uint64_t bits = ready_.word(w); bits; bits &= bits - 1) {
        const auto v = static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(bits)));
        M message{};
        const PPin to = send(v, message, local);
        if (pin_[v] != No) remaining |= uint64_t{1} << v % 64;
        storeMessage(v, to, message, local);
      }
      ready_.word(w) = remaining;
    }
  });
  takeMessages();
}

/// Counts the messages that the threads have stored.
template <typename V>
inline void Run<V>::takeMessages() {
  in_flight_ = 0;
  for (Local& local : locals_) {
    if (local.badPin) checkPin(static_cast<uint32_t>(local.badPin), static_cast<PPin>(local.badPin >> 32));
    in_flight_ += std::exchange(local.messages, 0);
  }
}

template <typename V>
inline void Run<V>::storeMessage(uint32_t v, PPin to, const M& message, Local& local) {
  if (to == HostPin) return toHost(message, local);
  if (readsEdges && to == OneEdge) return;
  if (!pinExists(to)) {
    local.badPin = uint64_t{to} << 32 | v;
    return;
  }
  message_[v] = message;
  sent_[to - 2].set(v);
  ++local.messages;
}

/// Delivers by in-edges, to the words of vertices that have in-edges from other ranks or to those that have none.
template <typename V>
void Run<V>::pull(bool boundary) {
  const bool all = in_flight_ == own_ && net_.relations().size() == 1 && net_.pins() == 1 &&
                   (!boundary || ghosts_sent_ == net_.ghosts());
  pool_.chunks(own_, grain_, [&](size_t begin, size_t end, unsigned thread) {
    if (thread == 0) poll();
    if (all) {
      pullFull(begin, end, boundary, locals_[thread]);
    } else {
      pullSome(begin, end, boundary, locals_[thread]);
    }
  });
}

/// Every in-edge has a message.
template <typename V>
void Run<V>::pullFull(size_t begin, size_t end, bool boundary, Local& local) {
  const Rows in = net_.relations()[0].in;
  const M* const messages = message_.data();
  const P params = params_;
  local.at.handler = Handler::recv;
  for (size_t from = begin; from < end; from += 64) {
    if (net_.atBoundary(from / 64) != boundary) continue;
    const size_t to = std::min(end, from + 64);
    for (size_t v = from; v < to; ++v) {
      local.at.vertex = static_cast<uint32_t>(v) + first_;
      S state = state_[v];
      PPin pin = pin_[v];
      V x = vertex(v, &state, &pin);
      x.params = &params;
      const uint64_t last = in.ends[v];
      for (uint64_t i = in.offsets[v]; i < last; ++i) callRecv(x, messages[in.targets[i]], edge(in, i));
      settle(static_cast<uint32_t>(v), state, pin);
    }
    local.deliveries += in.offsets[to] - in.offsets[from];
    local.looks += to - from;
  }
}

/// Some in-edges have a message. The branch predictor cannot predict which, so a branch-free pass selects them first.
template <typename V>
void Run<V>::pullSome(size_t begin, size_t end, bool boundary, Local& local) {
  constexpr uint64_t block = 256;
  uint32_t picked[block];
  const M* const messages = message_.data();
  local.at.handler = Handler::recv;
  for (size_t v = begin; v < end; ++v) {
    if (net_.atBoundary(v / 64) != boundary) {
      v |= 63;
      continue;
    }
    ++local.looks;
    local.at.vertex = static_cast<uint32_t>(v) + first_;
    S state = state_[v];
    PPin pin = pin_[v];
    V x = vertex(v, &state, &pin);
    bool any = false;
    for (const Incoming<E>& r : net_.relations()) {
      const Bitmap& sent = sent_[r.pin];
      const uint64_t last = r.in.ends[v];
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
        local.deliveries += found;
        any |= found != 0;
      }
    }
    if (any) settle(static_cast<uint32_t>(v), state, pin);
  }
}

/// Stores the state of a vertex that has received.
template <typename V>
inline void Run<V>::settle(uint32_t v, const S& state, PPin pin) {
  state_[v] = state;
  if constexpr (lazySteps) touched_.set(v);
  pin_[v] = pin;
  if (pin == No) {
    ready_.clear(v);
  } else {
    ready_.set(v);
  }
}

/// Delivers the messages of senders begin .. end - 1 by out-edges; each thread to its range of receivers.
template <typename V>
void Run<V>::push(size_t begin, size_t end) {
  net_.requirePush(pool_);
  pool_.run([&](unsigned range) { pushRange(begin, end, range, locals_[range]); });
}

template <typename V>
void Run<V>::pushRange(size_t begin, size_t end, unsigned range, Local& local) {
  const uint32_t low = bounds_[range];
  const uint32_t high = bounds_[range + 1];
  if (low == high) return;
  const bool whole = pool_.size() == 1;
  local.at.handler = Handler::recv;
  for (const Incoming<E>& r : net_.relations()) {
    const Rows& rows = r.push;
    const bool valued = edgeBytes && rows.values;
    forBits(sent_[r.pin], begin / 64, (end + 63) / 64, [&](uint32_t v) {
      if (v < begin || v >= end) return;
      uint64_t from = rows.offsets[v];
      uint64_t to = rows.ends[v];
      if (!whole) {
        from = cpu::firstFrom(rows.targets, from, to, low);
        to = cpu::firstFrom(rows.targets, from, to, high);
      }
      for (uint64_t i = from; i < to; ++i) {
        receive<false>(rows.targets[i], message_[v], valued ? edge(rows, i) : edge({}, 0), local);
      }
      local.deliveries += to - from;
    });
  }
}

// ---- Few senders -----------------------------------------------------------

/// Lists the ready vertices.
template <typename V>
void Run<V>::enlist() {
  net_.requirePush(pool_);
  if (events_.empty()) {
    events_.assign(net_.pins(), std::vector<std::vector<M>>(ranks_.count()));
    event_at_.assign(net_.pins(), std::vector<std::vector<uint32_t>>(ranks_.count()));
  }
  list_.clear();
  list_at_ = 0;
  queue_.clear();
  forBits(ready_, 0, ready_.words(), [&](uint32_t v) {
    if constexpr (hasPriority) {
      enqueue(v, vertex(v, &state_[v], &pin_[v]).priority());
    } else {
      list_.push_back(v);
    }
  });
}

/// Lets listed vertices send, and those that become ready, until none is or about `limit` have sent; keeps the messages
/// for other ranks.
template <typename V>
void Run<V>::runListed(uint64_t limit) {
  Local& local = locals_[0];
  uint64_t count = 0;
  if constexpr (hasPriority) {
    while (!queue_.empty() && count < limit) {
      std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
      const uint32_t v = queue_.back().second;
      queue_.pop_back();
      if (!ready_.test(v)) continue;
      forward(v, local);
      if (ready_.test(v)) enqueue(v, vertex(v, &state_[v], &pin_[v]).priority());
      if (++count % 1024 == 0) poll();
    }
  } else {
    // A vertex may be listed more than once; only a ready one sends.
    while (list_at_ < list_.size() && count < limit) {
      const uint32_t v = list_[list_at_++];
      if (list_at_ >= 1 << 20) {
        list_.erase(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(list_at_));
        list_at_ = 0;
      }
      if (!ready_.test(v)) continue;
      forward(v, local);
      if (ready_.test(v)) list_.push_back(v);
      if (++count % 1024 == 0) poll();
    }
  }
}

template <typename V>
inline void Run<V>::enqueue(uint32_t v, uint32_t priority) {
  queue_.emplace_back(priority, v);
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
}

/// Sends the message of a ready vertex: delivers it on this rank, and keeps it for others.
template <typename V>
inline void Run<V>::forward(uint32_t v, Local& local) {
  M message{};
  const PPin to = send(v, message, local);
  if (pin_[v] == No) ready_.clear(v);
  if (to == HostPin) return toHost(message, local);
  if constexpr (readsEdges) {
    if (to == OneEdge) {
      const Single single = local.singles.back();
      if (single.rank != ranks_.rank()) return;
      local.singles.pop_back();
      local.at.handler = Handler::recv;
      ++local.deliveries;
      return receive<true>(single.to, single.message, const_cast<E*>(single.value), local);
    }
  }
  checkPin(v, to);
  const unsigned pin = to - 2u;
  deliverTo<true>(v, pin, message, local);
  const Pairs& pairs = net_.pairs(pin);
  for (uint64_t i = pairs.offsets[v]; i < pairs.offsets[v + 1]; ++i) {
    event_at_[pin][pairs.to[i].rank].push_back(pairs.to[i].at);
    events_[pin][pairs.to[i].rank].push_back(message);
    ++event_count_;
  }
}

/// recv at all receivers of this rank of a message of an own vertex or a ghost.
template <typename V>
template <bool Listed>
inline void Run<V>::deliverTo(uint32_t sender, unsigned pin, const M& message, Local& local) {
  local.at.handler = Handler::recv;
  for (const Incoming<E>& r : net_.relations()) {
    if (r.pin != pin) continue;
    const uint64_t begin = r.push.offsets[sender];
    const uint64_t end = r.push.ends[sender];
    const bool valued = edgeBytes && r.push.values;
    if (!tried_proof_ && begin < end)
      tryProof(r.push.targets[begin], message, valued ? edge(r.push, begin) : edge({}, 0));
    for (uint64_t i = begin; i < end; ++i) {
      receive<Listed>(r.push.targets[i], message, valued ? edge(r.push, i) : edge({}, 0), local);
    }
    local.deliveries += end - begin;
  }
}

}  // namespace gossamer::distributed
