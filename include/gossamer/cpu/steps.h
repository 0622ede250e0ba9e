// SPDX-License-Identifier: Apache-2.0
/// init, step and finish: what all vertices do at once.
/// A room of cpu/engine.h, where the class and its data are.
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
  if (problem_.resumption) return goOn(*problem_.resumption);
  forWords([&](size_t from, size_t to, Local& local) {
    for (size_t v = from; v < to; ++v) {
      if (net_.isGone(v)) continue;
      say(local, Handler::init, v);
      V x = vertex(v, &state_[v], &pin_[v]);
      x.init();
      if (pin_[v] != No) ready_.set(v);
      touch(static_cast<uint32_t>(v));
    }
  });
  recount();
}

/// The states stand: only those begin, or hear of it, who have a reason.
template <typename V>
inline void Run<V>::goOn(const Resumption& from) {
  const auto call = [&](Local& local, Handler handler, uint32_t v, auto&& what) {
    say(local, handler, v);
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
      if (pin_[v] == No) ready_.clear(v);  // resume may have wanted to
    }
  }
  recount();
}

template <typename V>
inline void Run<V>::finish() {
  // Who looks at the few that a change concerns does not look at all to tell nobody.
  if (problem_.resumption && !problem_.host) return;
  forWords([&](size_t from, size_t to, Local& local) {
    if (problem_.resumption) local.looks += to - from;
    for (size_t v = from; v < to; ++v) {
      if (net_.isGone(v)) continue;
      PPin pin = No;
      say(local, Handler::finish, v);
      V x = vertex(v, &state_[v], &pin);
      M message{};
      if (x.finish(&message)) toHost(message, local);
    }
  });
}

template <typename V>
inline void Run<V>::noteStep() {
  stepped_ = true;
  vote_ = false;
  all_ = A{};
  for (Local& local : locals_) {
    vote_ |= std::exchange(local.vote, false);
    aggregates::reduce(all_, std::exchange(local.mine, A{}));
  }
  ++time_;
  if (step_seconds_.size() < mostStepTimes) step_seconds_.push_back(static_cast<float>(elapsed()));
}

template <typename V>
void Run<V>::step() {
  if (stepNobody()) return noteStep();
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
    pool_.chunks(n_, grain_, [&](size_t b, size_t e, unsigned t) { stepThere(b, e, locals_[t]); });
  } else if (all) {
    // Where everyone sent last time, everyone will: send in the same pass.
    const bool sendToo = everyone_sends_ && !problem_.host;
    pool_.chunks(n_, grain_, [&](size_t b, size_t e, unsigned t) {
      if (sendToo) {
        stepRange<true>(b, e, locals_[t]);
      } else {
        stepRange<false>(b, e, locals_[t]);
      }
    });
    if (sendToo) takeOff();
  }
  noteStep();
  recount();
  if constexpr (listsTouched) {
    touched_list_.clear();
    touched_listed_ = !flying_;
  }
}

template <typename V>
template <bool SendToo>
void Run<V>::stepRange(size_t begin, size_t end, Local& local) {
  local.at.handler = SendToo ? Handler::fused : Handler::step;
  const A all = all_;  // locals stay in registers
  A mine{};
  bool vote = false;
  for (size_t from = begin; from < end; from += 64) {
    const size_t to = std::min(end, from + 64);
    uint64_t ready = 0;
    uint64_t sent = 0;
    for (size_t v = from; v < to; ++v) {
      PPin pin = No;
      V x = vertex(v, &state_[v], &pin);
      local.at.vertex = static_cast<uint32_t>(v);
      vote |= aggregates::step(x, all, mine);
      if constexpr (SendToo) {
        if (pin == Pin(0)) {
          ++x.time;  // this send comes after the step
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
    if constexpr (SendToo) noteSent(from, to, sent, local);
    if constexpr (lazySteps) touched_.word(from / 64) = sent;
    forget(from / 64);
  }
  local.vote |= vote;
  aggregates::reduce(local.mine, mine);
  local.stepCalls += end - begin;
}

/// Whether nobody's step would do anything. A run that begins calls them all the same, and counts them.
template <typename V>
inline bool Run<V>::stepNobody() {
  return rules::neverSteps<V>() && problem_.resumption;
}

/// The step of all but those that are gone.
template <typename V>
void Run<V>::stepThere(size_t begin, size_t end, Local& local) {
  const A all = all_;
  A mine{};
  for (size_t v = begin; v < end; ++v) {
    if (net_.isGone(v)) continue;
    PPin pin = No;
    V x = vertex(v, &state_[v], &pin);
    say(local, Handler::step, v);
    if (aggregates::step(x, all, mine)) local.vote = true;
    ++local.stepCalls;
    if (pin == No) continue;
    pin_[v] = pin;
    ready_.set(v);
  }
  for (size_t w = begin / 64; w * 64 < end; ++w) {
    if constexpr (lazySteps) touched_.word(w) = 0;
    forget(w);
  }
  aggregates::reduce(local.mine, mine);
}

/// The step of the vertices that are listed as touched, in the order in which they were; those ready then are listed.
template <typename V>
void Run<V>::stepListed() {
  if constexpr (listsTouched) {
    Local& local = locals_[0];
    const A all = all_;
    A mine{};
    list_.clear();
    for (const uint32_t v : touched_list_) {
      touched_.clear(v);
      if constexpr (hasSettled) heard_.clear(v);
      PPin pin = No;
      V x = vertex(v, &state_[v], &pin);
      say(local, Handler::step, v);
      if (aggregates::step(x, all, mine)) local.vote = true;
      if (pin == No) continue;
      pin_[v] = pin;
      ready_.set(v);
      list_.push_back(v);
    }
    local.looks += touched_list_.size();
    local.stepCalls += touched_list_.size();
    touched_list_.clear();
    aggregates::reduce(local.mine, mine);
    noteStep();
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
      if (touched) forget(w);  // who has heard is touched
      for (uint64_t bits = touched; bits; bits &= bits - 1) {
        const size_t v = w * 64 + static_cast<size_t>(std::countr_zero(bits));
        PPin pin = No;
        V x = vertex(v, &state_[v], &pin);
        say(local, Handler::step, v);
        if (aggregates::step(x, all, mine)) local.vote = true;
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
