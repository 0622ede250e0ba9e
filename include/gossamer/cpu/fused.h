// SPDX-License-Identifier: Apache-2.0
/// Every vertex sends in every step: pull, step and send in one pass over the vertices.
/// Part of cpu/engine.h, which has the class and its data.
#pragma once

#include "gossamer/cpu/engine.h"

namespace gossamer::cpu {

/// The cached result of proveRecvNeverWakes().
template <typename V>
inline bool Run<V>::recvNeverWakes() {
  if (!tried_proof_) recv_never_wakes_ = proveRecvNeverWakes();
  tried_proof_ = true;
  return recv_never_wakes_;
}

/// Whether `recv` provably does not change *readyToSend: the optimiser, with the
/// handler inlined, knows its value afterwards. Otherwise false, and
/// the handler has run without effect, on a copy of a real vertex's state
/// and of a real message.
template <typename V>
bool Run<V>::proveRecvNeverWakes() {
#ifdef __OPTIMIZE__
  if constexpr (rules::KeepsNotes<V>) return false;  // this call of recv would change notes
  const Rows& in = net_.relations[0].in;
  size_t v = 0;
  while (in.length(v) == 0) ++v;
  S state = state_[v];
  PPin pin = No;
  M message = message_[in.targets[in.offsets[v]]];
  V x = vertex(v, &state, &pin);
  setPosition(locals_[0], Handler::recv, v);
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
  // Sorting copies the rows, which costs about as much as two steps, so it holdsBound for the second fused step.
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
  sumSent();
  recordStep();
  recount();
}

/// Sorts the vertices of each chunk by their numbers of in-edges, and copies
/// their rows in that order. Consecutive rows then have equal lengths, so that
/// their ends are predictable, and are still read sequentially.
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
  const A all = all_;  // local copies stay in registers
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
        ++x.time;  // this send follows the step
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
    recordSent(from, to, sent, local);
    if constexpr (lazySteps) touched_.word(from / 64) = sent;
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
  const A all = all_;  // local copies stay in registers
  const P params = params_;
  A mine{};
  bool vote = false;
  for (size_t from = begin; from < end; from += grain_) {
    const size_t to = std::min(end, from + grain_);
    const Sorted* const sorted = by_length_.data() + from;
    const uint32_t* source = sources_.data() + offsets[from];
    uint64_t ready[maxGrain / 64] = {};
    uint64_t sent[maxGrain / 64] = {};
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
        callRecv(x, received[*source], unit);
      }
      vote |= aggregates::step(x, all, mine);
      if (pin == Pin(0)) {
        ++x.time;  // this send follows the step
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
      recordSent(first, std::min(to, first + 64), sent[w], local);
      if constexpr (lazySteps) touched_.word(first / 64) = sent[w];
    }
  }
  local.vote |= vote;
  aggregates::reduce(local.mine, mine);
  local.stepCalls += end - begin;
}

}  // namespace gossamer::cpu
