// SPDX-License-Identifier: Apache-2.0
/// The run as a whole: init, step and finish. Part of distributed/engine.h, which has the class and its data.
#pragma once

#include "gossamer/distributed/engine.h"

namespace gossamer::distributed {

template <typename V>
void Run<V>::runAll() {
  begun_ = Clock::now();
  if (timeline_) {
    timeline_->begin(pool_.size());
    pool_.record(timeline_);
  }
  const bool restores = checkpoints_ && checkpoints_->restores;
  if (restores) {
    restoreCheckpoint();
    step();
  } else {
    initialise();
  }
  for (;;) {
    deliverAll();
    flushHost();
    if (stepped_ && !vote_) break;
    if (checkpoints_ && checkpoints_->interval && time_ && time_ % checkpoints_->interval == 0) saveCheckpoint();
    step();
  }
  finish();
  flushHost();
  for (const unsigned rank : receivers_) {
    waitFor([&] { return requests_[rank] == noRequest || ranks_.table().sent(requests_[rank]); });
    requests_[rank] = noRequest;
  }
  pool_.record(nullptr);
  if (timeline_) timeline_->end();
}

template <typename V>
void Run<V>::initialise() {
  pool_.chunks(own_, grain_, [&](size_t begin, size_t end, unsigned thread) {
    Local& local = locals_[thread];
    for (size_t v = begin; v < end; ++v) {
      setPosition(local, Handler::init, v);
      V x = vertex(v, &state_[v], &pin_[v]);
      x.init();
      if (pin_[v] != No) ready_.set(v);
      if constexpr (lazySteps) touched_.set(v);
    }
  });
}

template <typename V>
void Run<V>::step() {
  // If every vertex sent last time, every one probably will: send in the same pass.
  produced_ = all_sent_ && !lazySteps && !readsEdges && !problem_.host;
  pool_.chunks(own_, grain_, [&](size_t begin, size_t end, unsigned thread) {
    if constexpr (lazySteps) {
      stepTouched(begin, end, locals_[thread]);
    } else if (produced_) {
      stepRange<true>(begin, end, locals_[thread]);
    } else {
      stepRange<false>(begin, end, locals_[thread]);
    }
  });
  stepped_ = after_step_ = true;
  vote_ = false;
  mine_ = A{};
  for (Local& local : locals_) {
    vote_ |= std::exchange(local.vote, false);
    aggregates::reduce(mine_, std::exchange(local.mine, A{}));
  }
  ++time_;
  if (step_seconds_.size() < maxStepTimes) step_seconds_.push_back(static_cast<float>(elapsed()));
  if (timeline_) timeline_->stepped(time_ - 1);
}

template <typename V>
template <bool SendToo>
void Run<V>::stepRange(size_t begin, size_t end, Local& local) {
  const A all = all_;  // local copies stay in registers
  const P params = params_;
  A mine{};
  bool vote = false;
  local.at.handler = SendToo ? Handler::fused : Handler::step;
  for (size_t from = begin; from < end; from += 64) {
    const size_t to = std::min(end, from + 64);
    uint64_t ready = 0;
    uint64_t sent = 0;
    for (size_t v = from; v < to; ++v) {
      PPin pin = No;
      V x = vertex(v, &state_[v], &pin);
      x.params = &params;
      local.at.vertex = static_cast<uint32_t>(v) + first_;
      vote |= aggregates::step(x, all, mine);
      if constexpr (SendToo) {
        if (pin == Pin(0)) {
          ++x.time;  // this send follows the step
          M message{};
          x.send(&message);
          message_[v] = message;
          sent |= uint64_t{1} << (v - from);
        }
      }
      pin_[v] = pin;
      if (pin != No) ready |= uint64_t{1} << (v - from);
    }
    ready_.word(from / 64) = ready;
    if constexpr (SendToo) {
      // Only this rank's vertices of a word have messages now.
      sent_[0].word(from / 64) = sent;
      const auto count = static_cast<uint64_t>(std::popcount(sent));
      local.sends += count;
      local.messages += count;
    }
  }
  local.vote |= vote;
  aggregates::reduce(local.mine, mine);
  local.stepCalls += end - begin;
}

template <typename V>
void Run<V>::stepTouched(size_t begin, size_t end, Local& local) {
  const A all = all_;
  A mine{};
  for (size_t w = begin / 64; w * 64 < end; ++w) {
    const uint64_t touched = std::exchange(touched_.word(w), 0);
    for (uint64_t bits = touched; bits; bits &= bits - 1) {
      const size_t v = w * 64 + static_cast<size_t>(std::countr_zero(bits));
      PPin pin = No;
      V x = vertex(v, &state_[v], &pin);
      setPosition(local, Handler::step, v);
      if (aggregates::step(x, all, mine)) local.vote = true;
      if (pin == No) continue;
      pin_[v] = pin;
      ready_.set(v);
    }
    local.stepCalls += static_cast<uint64_t>(std::popcount(touched));
  }
  local.looks += (end - begin + 63) / 64;
  aggregates::reduce(local.mine, mine);
}

template <typename V>
void Run<V>::finish() {
  pool_.chunks(own_, grain_, [&](size_t begin, size_t end, unsigned thread) {
    Local& local = locals_[thread];
    for (size_t v = begin; v < end; ++v) {
      PPin pin = No;
      setPosition(local, Handler::finish, v);
      V x = vertex(v, &state_[v], &pin);
      M message{};
      if (x.finish(&message)) toHost(message, local);
    }
  });
}

/// Passes the messages to the host to the application's objects of all ranks, in the same order.
template <typename V>
void Run<V>::flushHost() {
  if (!problem_.host) return;
  Bytes mine;
  for (Local& local : locals_) {
    append(mine, local.toHost.data(), local.toHost.size());
    local.toHost.clear();
  }
  Bytes all;
  ranks_.gather(mine.data(), mine.size(),
                [&](unsigned, const uint8_t* bytes, uint64_t size) { append(all, bytes, size); });
  uint64_t size = all.size();
  ranks_.broadcast(0, &size, sizeof size);
  all.resize(size);
  ranks_.broadcast(0, all.data(), size);
  if (checkpoints_ && checkpoints_->interval && ranks_.rank() == 0) append(host_log_, all.data(), size);
  receiveAtHost(all);
}

/// Passes messages to the application's object.
template <typename V>
void Run<V>::receiveAtHost(const Bytes& all) {
  for (uint64_t at = 0; at + sizeof(M) <= all.size(); at += sizeof(M)) {
    M message;
    __builtin_memcpy(static_cast<void*>(&message), all.data() + at, sizeof(M));
    problem_.host->fromVertex(&message);
  }
}

/// Ranges of receivers with about equal numbers of in-edges; all bounds but the last are multiples of 64.
template <typename V>
void Run<V>::partitionReceivers() {
  const unsigned threads = pool_.size();
  bounds_.assign(threads + 1, 0);
  bounds_[threads] = static_cast<uint32_t>(own_);
  const Rows& in = net_.relations()[0].in;
  for (unsigned t = 1; t < threads; ++t) {
    const uint64_t edge = in.offsets[own_] / threads * t;
    const auto at = static_cast<size_t>(std::lower_bound(in.offsets, in.offsets + own_, edge) - in.offsets);
    bounds_[t] = std::max(bounds_[t - 1], static_cast<uint32_t>(at / 64 * 64));
  }
}

/// The statistics of all ranks together, on every rank.
template <typename V>
Statistics Run<V>::statistics() {
  Statistics s;
  for (const Local& local : locals_) {
    s.sends += local.sends;
    s.deliveries += local.deliveries;
    s.stepCalls += local.stepCalls;
    s.hostMessages += local.hostMessages;
    s.vertexLooks += local.looks;
  }
  s.vertexLooks += s.sends + s.stepCalls + 2 * own_;
  s.edgeLooks = s.deliveries;
  s.edges = net_.edges();
  s.seconds = elapsed();
  uint64_t* const sums[] = {&s.sends,       &s.deliveries, &s.stepCalls, &s.hostMessages,
                            &s.vertexLooks, &s.edgeLooks,  &s.edges};
  std::vector<gs_reduced_word> all;
  for (const uint64_t* sum : sums) all.push_back({static_cast<int64_t>(Reduce::sum), static_cast<int64_t>(*sum)});
  all.push_back({static_cast<int64_t>(Reduce::sum), pool_.size()});
  for (const uint64_t rounds : {pull_rounds_, push_rounds_, small_rounds_}) {
    all.push_back({static_cast<int64_t>(Reduce::max), static_cast<int64_t>(rounds)});
  }
  all.push_back({static_cast<int64_t>(Reduce::max), detail::ordered(s.seconds)});
  ranks_.reduce(all);
  size_t at = 0;
  for (uint64_t* sum : sums) *sum = static_cast<uint64_t>(all[at++].word);
  s.threads = static_cast<unsigned>(all[at++].word);
  for (uint64_t* rounds : {&s.pullRounds, &s.pushRounds, &s.smallRounds}) {
    *rounds = static_cast<uint64_t>(all[at++].word);
  }
  s.seconds = detail::fromOrdered<double>(all[at].word);
  s.engine = "distributed";
  s.vertices = allVertices_;
  s.steps = time_;
  s.stepSeconds = std::move(step_seconds_);
  s.keepAggregates(all_);
  return s;
}

}  // namespace gossamer::distributed
