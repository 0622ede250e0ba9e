// SPDX-License-Identifier: Apache-2.0
/// Where everyone sends, step after step: pull, step and send in one pass over the vertices.
/// A room of cpu/engine.h, where the class and its data are.
#pragma once

#include "gossamer/cpu/engine.h"

namespace gossamer::cpu {

/// recvIsQuiet(), asked once.
template <typename V>
inline bool Run<V>::quiet() {
  if (!asked_quiet_) quiet_ = recvIsQuiet();
  asked_quiet_ = true;
  return quiet_;
}

/// Whether `recv` provably leaves *readyToSend alone: the optimiser, with the
/// handler inlined, knows what it holds afterwards. False where it does not;
/// then the handler has run for nothing, on a copy of a real vertex's state
/// and with a real message.
template <typename V>
bool Run<V>::recvIsQuiet() {
#ifdef __OPTIMIZE__
  if constexpr (rules::KeepsNotes<V>) return false;  // a recv for nothing would write them
  const Rows& in = net_.relations[0].in;
  size_t v = 0;
  while (in.length(v) == 0) ++v;
  S state = state_[v];
  PPin pin = No;
  M message = message_[in.targets[in.offsets[v]]];
  V x = vertex(v, &state, &pin);
  say(locals_[0], Handler::recv, v);
  x.recv(&message, edge(in, 0));
  return __builtin_constant_p(pin == No) ? pin == No : false;
#else
  return false;
#endif
}

/// Pulls, steps and sends.
template <typename V>
void Run<V>::pullStepSend() {
  if (next_message_.empty()) next_message_ = Array<M>(n_);
  // The copy costs about as much as two steps, so one must not be all there is.
  const Rows& in = net_.relations[0].in;
  const bool valued = in.values && !std::is_empty_v<E>;
  if (++fused_steps_ == 2 && !valued && in.dense() && lengthsVary(in, n_, pool_)) sortByLength();
  const bool sorted = !by_length_.empty();
  pool_.chunks(n_, grain_, [&](size_t begin, size_t end, unsigned thread) {
    if (sorted) {
      pullStepSendByLength(begin, end, locals_[thread]);
    } else {
      pullStepSendRange(begin, end, locals_[thread]);
    }
  });
  std::swap(message_, next_message_);
  takeOff();
  noteStep();
  recount();
}

/// Puts the vertices of each chunk in the order of their numbers of in-edges,
/// and copies their rows in that order: rows of one length after the other end
/// where the processor expects it, and are still read from front to back.
template <typename V>
void Run<V>::sortByLength() {
  by_length_ = Array<Sorted>(n_);
  sources_ = Array<uint32_t>(edges_);
  pool_.chunks(n_, grain_, [&](size_t begin, size_t end, unsigned) {
    for (size_t from = begin; from < end; from += grain_) {
      sortChunk(net_.relations[0].in, from, std::min(end, from + grain_), by_length_.data(), sources_.data());
    }
  });
}

template <typename V>
void Run<V>::pullStepSendRange(size_t begin, size_t end, Local& local) {
  const Rows in = net_.relations[0].in;
  M* const messages = next_message_.data();
  local.at.handler = Handler::fused;
  const A all = all_;  // locals stay in registers
  const P params = params_;
  A mine{};
  bool vote = false;
  for (size_t from = begin; from < end; from += 64) {
    const size_t to = std::min(end, from + 64);
    uint64_t ready = 0;
    uint64_t sent = 0;
    for (size_t v = from; v < to; ++v) {
      S state = state_[v];
      PPin pin = No;
      local.at.vertex = static_cast<uint32_t>(v);
      gather(state, pin, in, v);
      V x = vertex(v, &state, &pin);
      x.params = &params;
      vote |= aggregates::step(x, all, mine);
      if (pin == Pin(0)) {
        ++x.time;  // this send comes after the step
        M message{};
        x.send(&message);
        messages[v] = message;
        sent |= uint64_t{1} << (v - from);
      }
      if (pin != No) {
        pin_[v] = pin;
        ready |= uint64_t{1} << (v - from);
      }
      state_[v] = state;
    }
    ready_.word(from / 64) = ready;
    noteSent(from, to, sent, local);
    if constexpr (lazySteps) touched_.word(from / 64) = sent;
    forget(from / 64);
  }
  local.vote |= vote;
  aggregates::reduce(local.mine, mine);
  local.stepCalls += end - begin;
}

/// The same, by length within each chunk.
template <typename V>
void Run<V>::pullStepSendByLength(size_t begin, size_t end, Local& local) {
  const uint64_t* const offsets = net_.relations[0].in.offsets;
  const M* const received = message_.data();
  M* const messages = next_message_.data();
  E* const unit = edge({}, 0);
  local.at.handler = Handler::fused;
  const A all = all_;  // locals stay in registers
  const P params = params_;
  A mine{};
  bool vote = false;
  for (size_t from = begin; from < end; from += grain_) {
    const size_t to = std::min(end, from + grain_);
    const Sorted* const sorted = by_length_.data() + from;
    const uint32_t* source = sources_.data() + offsets[from];
    uint64_t ready[mostGrain / 64] = {};
    uint64_t sent[mostGrain / 64] = {};
    for (size_t k = 0; k < to - from; ++k) {
      const size_t at = sorted[k].at;
      const size_t v = from + at;
      const uint64_t bit = uint64_t{1} << at % 64;
      S state = state_[v];
      PPin pin = No;
      local.at.vertex = static_cast<uint32_t>(v);
      V x = vertex(v, &state, &pin);
      x.params = &params;
      for (const uint32_t* const last = source + sorted[k].length; source < last; ++source) {
        hear(x, received[*source], unit);
      }
      vote |= aggregates::step(x, all, mine);
      if (pin == Pin(0)) {
        ++x.time;  // this send comes after the step
        M message{};
        x.send(&message);
        messages[v] = message;
        sent[at / 64] |= bit;
      }
      if (pin != No) {
        pin_[v] = pin;
        ready[at / 64] |= bit;
      }
      state_[v] = state;
    }
    for (size_t w = 0; w * 64 < to - from; ++w) {
      const size_t first = from + w * 64;
      ready_.word(first / 64) = ready[w];
      noteSent(first, std::min(to, first + 64), sent[w], local);
      if constexpr (lazySteps) touched_.word(first / 64) = sent[w];
      forget(first / 64);
    }
  }
  local.vote |= vote;
  aggregates::reduce(local.mine, mine);
  local.stepCalls += end - begin;
}

}  // namespace gossamer::cpu
