// SPDX-License-Identifier: Apache-2.0
/// init, step and finish, which run on all vertices.
/// Part of cpu/engine.h, which has the class and its data.
#pragma once

#include "gossamer/cpu/engine.h"

namespace gossamer::cpu {

/// Calls f(first, last, local), on some thread, for every word of vertices.
template <typename V>
template <typename F>
inline void Run<V>::forWords(F&& f) {
  pool_.chunks(n_, grain_, [&](size_t begin, size_t end, unsigned thread) {
    for (size_t from = begin; from < end; from += 64) f(from, std::min(end, from + 64), locals_[thread]);
  });
}

template <typename V>
inline void Run<V>::initialise() {
  if (problem_.resumption) return resumeFrom(*problem_.resumption);
  forWords([&](size_t from, size_t to, Local& local) {
    for (size_t v = from; v < to; ++v) {
      if (net_.isGone(v)) continue;
      setPosition(local, Handler::init, v);
      V x = vertex(v, &state_[v], &pin_[v]);
      x.init();
      if (pin_[v] != No) ready_.set(v);
      touch(static_cast<uint32_t>(v));
      close(static_cast<uint32_t>(v));
    }
  });
  recount();
}

/// Continues from stored states: `init` and `changed` run only on the vertices that `from` lists.
template <typename V>
inline void Run<V>::resumeFrom(const Resumption& from) {
  const auto call = [&](Local& local, Handler handler, uint32_t v, auto&& what) {
    setPosition(local, handler, v);
    ++local.looks;
    V x = vertex(v, &state_[v], &pin_[v]);
    what(x);
    if (pin_[v] != No) ready_.set(v);
    touch(v);
  };
  if constexpr (rules::HasResume<V>) {
    forWords([&](size_t begin, size_t end, Local& local) {
      for (size_t v = begin; v < end; ++v) {
        if (net_.isGone(v) || std::binary_search(from.fresh.begin(), from.fresh.end(), v)) continue;
        call(local, Handler::resume, static_cast<uint32_t>(v), [](V& x) { x.resume(); });
      }
    });
  }
  Local& local = locals_[0];
  for (const uint32_t v : from.fresh) call(local, Handler::init, v, [](V& x) { x.init(); });
  if constexpr (rules::HasChanged<V>) {
    for (const uint32_t v : from.changed) {
      call(local, Handler::changed, v, [](V& x) { x.changed(); });
      if (pin_[v] == No) ready_.clear(v);  // resume may have set it
    }
  }
  if constexpr (hasSettled) {
    forWords([&](size_t begin, size_t end, Local&) {
      for (size_t v = begin; v < end; ++v) close(static_cast<uint32_t>(v));
    });
  }
  recount();
}

template <typename V>
inline void Run<V>::finish() {
  // Without a host, finish has no effect; skipping it leaves the cost of a continued run proportional to the change.
  if (problem_.resumption && !problem_.host) return;
  forWords([&](size_t from, size_t to, Local& local) {
    if (problem_.resumption) local.looks += to - from;
    for (size_t v = from; v < to; ++v) {
      if (net_.isGone(v)) continue;
      PPin pin = No;
      setPosition(local, Handler::finish, v);
      V x = vertex(v, &state_[v], &pin);
      M message{};
      if (x.finish(&message)) toHost(message, local);
    }
  });
}

template <typename V>
inline void Run<V>::recordStep() {
  stepped_ = true;
  vote_ = false;
  all_ = A{};
  for (Local& local : locals_) {
    vote_ |= std::exchange(local.vote, false);
    aggregates::reduce(all_, std::exchange(local.mine, A{}));
  }
  ++time_;
  if (step_seconds_.size() < maxStepTimes) step_seconds_.push_back(static_cast<float>(elapsed()));
  if (options_.timeline) options_.timeline->stepped(time_ - 1);
}

template <typename V>
void Run<V>::step() {
  if (stepsHaveNoEffect()) return recordStep();
  if constexpr (listsTouched) {
    if (touched_listed_ && touched_list_.size() <= n_ / 32) return stepListed();
  }
  bool all = true;
  if constexpr (lazySteps) {
    const uint64_t count = countBits(touched_);
    all = count > n_ / 2;
    if (!all && (threads_ == 1 || count < smallEdges / 4)) {
      stepTouched(0, n_, locals_[0]);
    } else if (!all) {
      pool_.chunks(n_, grain_, [&](size_t b, size_t e, unsigned t) { stepTouched(b, e, locals_[t]); });
    }
  }
  if (all && net_.gone) {
    pool_.chunks(n_, grain_, [&](size_t b, size_t e, unsigned t) { stepLive(b, e, locals_[t]); });
  } else if (all) {
    // If every vertex sent last time, every one probably will: send in the same pass.
    const bool sendToo = all_send_ && !problem_.host;
    pool_.chunks(n_, grain_, [&](size_t b, size_t e, unsigned t) {
      if (sendToo) {
        stepRange<true>(b, e, locals_[t]);
      } else {
        stepRange<false>(b, e, locals_[t]);
      }
    });
    if (sendToo) sumSent();
  }
  recordStep();
  recount();
  if constexpr (listsTouched) {
    touched_list_.clear();
    touched_listed_ = !in_flight_;
  }
}

template <typename V>
template <bool SendToo>
void Run<V>::stepRange(size_t begin, size_t end, Local& local) {
  local.at.handler = SendToo ? Handler::fused : Handler::step;
  const A all = all_;  // local copies stay in registers
  A mine{};
  bool vote = false;
  for (size_t from = begin; from < end; from += 64) {
    const size_t to = std::min(end, from + 64);
    uint64_t ready = 0;
    uint64_t sent = 0;
    [[maybe_unused]] uint64_t closed = 0;
    for (size_t v = from; v < to; ++v) {
      PPin pin = No;
      V x = vertex(v, &state_[v], &pin);
      local.at.vertex = static_cast<uint32_t>(v);
      vote |= aggregates::step(x, all, mine);
      if constexpr (hasSettled) closed |= uint64_t{x.settled()} << (v - from);
      if constexpr (SendToo) {
        if (pin == Pin(0)) {
          ++x.time;  // this send follows the step
          M message{};
          x.send(&message);
          message_[v] = message;
          sent |= uint64_t{1} << (v - from);
        }
      }
      if (pin != No) {
        pin_[v] = pin;
        ready |= uint64_t{1} << (v - from);
      }
    }
    ready_.word(from / 64) = ready;
    if constexpr (SendToo) recordSent(from, to, sent, local);
    if constexpr (lazySteps) touched_.word(from / 64) = sent;
    if constexpr (hasSettled) closed_.word(from / 64) = closed;
  }
  local.vote |= vote;
  aggregates::reduce(local.mine, mine);
  local.stepCalls += end - begin;
}

/// Whether no vertex's step would have an effect. A run from the start calls the steps nevertheless, to count them.
template <typename V>
inline bool Run<V>::stepsHaveNoEffect() {
  return rules::neverSteps<V>() && problem_.resumption;
}

/// The step of all vertices that are not removed.
template <typename V>
void Run<V>::stepLive(size_t begin, size_t end, Local& local) {
  const A all = all_;
  A mine{};
  for (size_t v = begin; v < end; ++v) {
    if (net_.isGone(v)) continue;
    PPin pin = No;
    V x = vertex(v, &state_[v], &pin);
    setPosition(local, Handler::step, v);
    if (aggregates::step(x, all, mine)) local.vote = true;
    ++local.stepCalls;
    close(static_cast<uint32_t>(v));
    if (pin == No) continue;
    pin_[v] = pin;
    ready_.set(v);
  }
  for (size_t w = begin / 64; w * 64 < end; ++w) {
    if constexpr (lazySteps) touched_.word(w) = 0;
  }
  aggregates::reduce(local.mine, mine);
}

/// The step of the listed touched vertices, in the order in which they were touched; lists those that become ready.
template <typename V>
void Run<V>::stepListed() {
  if constexpr (listsTouched) {
    Local& local = locals_[0];
    const A all = all_;
    A mine{};
    list_.clear();
    for (const uint32_t v : touched_list_) {
      touched_.clear(v);
      PPin pin = No;
      V x = vertex(v, &state_[v], &pin);
      setPosition(local, Handler::step, v);
      if (aggregates::step(x, all, mine)) local.vote = true;
      close(v);
      if (pin == No) continue;
      pin_[v] = pin;
      ready_.set(v);
      list_.push_back(v);
    }
    local.looks += touched_list_.size();
    local.stepCalls += touched_list_.size();
    touched_list_.clear();
    aggregates::reduce(local.mine, mine);
    recordStep();
    ready_count_ = list_.size();
    listed_ = ready_count_ < n_ / 64;
  }
}

template <typename V>
void Run<V>::stepTouched(size_t begin, size_t end, Local& local) {
  if constexpr (lazySteps) {
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
        close(static_cast<uint32_t>(v));
        if (pin == No) continue;
        pin_[v] = pin;
        ready_.set(v);
      }
      local.stepCalls += static_cast<uint64_t>(std::popcount(touched));
    }
    aggregates::reduce(local.mine, mine);
  }
}

}  // namespace gossamer::cpu
