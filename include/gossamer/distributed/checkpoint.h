// SPDX-License-Identifier: Apache-2.0
/// Checkpoints at step boundaries. Part of distributed/engine.h, which has the class and its data.
///
/// At a step boundary the network is idle and no vertex is ready. So the run is the states, values that vertices have
/// stored on edges, the vertices to step (lazy steps), the aggregates, and what the host has received.
#pragma once

#include <string>

#include "gossamer/distributed/engine.h"

namespace gossamer::distributed {

/// The counts of this rank.
template <typename V>
std::vector<uint64_t> Run<V>::counters() const {
  std::vector<uint64_t> sums(5);
  for (const Local& local : locals_) {
    const uint64_t counts[] = {local.sends, local.deliveries, local.stepCalls, local.hostMessages, local.looks};
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += counts[i];
  }
  return sums;
}

template <typename V>
void Run<V>::saveCheckpoint() {
  std::vector<gs_saved_part> parts;
  const auto whole = [&](const char* name, const void* bytes, uint64_t size) {
    parts.push_back({name, 0, size, nullptr, bytes});
  };
  // Sums over all ranks: rank 0 continues from them.
  std::vector<gs_reduced_word> sums;
  for (const uint64_t count : counters()) {
    sums.push_back({static_cast<int64_t>(Reduce::sum), static_cast<int64_t>(count)});
  }
  ranks_.reduce(sums);
  std::vector<int64_t> counts;
  for (const gs_reduced_word& sum : sums) counts.push_back(sum.word);
  whole("time", &time_, sizeof time_);
  whole("counts", counts.data(), counts.size() * sizeof counts[0]);
  whole("parameters", &problem_.params, sizeof problem_.params);
  whole("aggregates", &all_, sizeof all_);
  const uint64_t hosted = host_log_.size();
  whole("host-bytes", &hosted, sizeof hosted);
  whole("host", host_log_.data(), hosted);
  parts.push_back({"states", own_, sizeof(S), nullptr, state_.data()});
  Bytes touched(lazySteps ? own_ : 0);
  if constexpr (lazySteps) {
    for (size_t v = 0; v < own_; ++v) touched[v] = touched_.test(v);
    parts.push_back({"touched", own_, 1, nullptr, touched.data()});
  }
  std::vector<std::vector<uint64_t>> offsets;
  std::vector<std::vector<E>> values;
  std::vector<std::string> names;
  const auto ragged = [&](const Rows& rows, uint64_t bytes, const void* from) {
    offsets.emplace_back(own_ + 1);
    for (size_t v = 0; v <= own_; ++v) offsets.back()[v] = rows.offsets[v] * bytes;
    parts.push_back({names.back().c_str(), own_, 0, offsets.back().data(), from});
  };
  names.reserve(net_.relations().size() + 1);
  if constexpr (rules::WritesEdges<V>) {
    net_.requirePush(pool_);
    for (Incoming<E>& r : net_.relations()) {
      if (!r.in.values) continue;
      names.push_back("values-" + std::to_string(names.size()));
      values.emplace_back(r.in.offsets[own_]);
      net_.eachValue(r, [&](uint64_t i, const E& value) { values.back()[i] = value; });
      ragged(r.in, sizeof(E), values.back().data());
    }
  }
  if constexpr (rules::KeepsNotes<V>) {
    names.push_back("notes");
    ragged(ownRows_, own_edges_.noteBytes, own_edges_.notes());
  }
  if (checkpoints_->save(checkpoints_->context, time_, parts.data(), parts.size())) {
    throw std::runtime_error("a checkpoint was not written");
  }
}

/// Continues from the parts that saveCheckpoint has saved.
template <typename V>
void Run<V>::restoreCheckpoint() {
  const auto part = [&](const std::string& name, uint64_t bytes, void* to) {
    const void* const from = checkpoints_->restore(checkpoints_->context, name.c_str(), bytes);
    if (!from) throw std::runtime_error("a checkpoint has no part " + name + " of " + std::to_string(bytes) + " bytes");
    if (bytes) __builtin_memcpy(to, from, bytes);
  };
  part("time", sizeof time_, &time_);
  std::vector<uint64_t> counts(counters().size());
  part("counts", counts.size() * sizeof counts[0], counts.data());
  if (ranks_.rank() == 0) {
    Local& local = locals_[0];
    uint64_t* const into[] = {&local.sends, &local.deliveries, &local.stepCalls, &local.hostMessages, &local.looks};
    for (size_t i = 0; i < counts.size(); ++i) *into[i] = counts[i];
  }
  part("parameters", sizeof problem_.params, static_cast<void*>(&problem_.params));
  part("aggregates", sizeof all_, static_cast<void*>(&all_));
  uint64_t hosted = 0;
  part("host-bytes", sizeof hosted, &hosted);
  host_log_.resize(hosted);
  part("host", hosted, host_log_.data());
  if (problem_.host) receiveAtHost(host_log_);
  if (ranks_.rank() != 0) host_log_.clear();
  part("states", own_ * sizeof(S), static_cast<void*>(state_.data()));
  if constexpr (lazySteps) {
    Bytes touched(own_);
    part("touched", own_, touched.data());
    for (size_t v = 0; v < own_; ++v) {
      if (touched[v]) touched_.set(v);
    }
  }
  if constexpr (rules::WritesEdges<V>) {
    net_.requirePush(pool_);
    size_t number = 0;
    for (Incoming<E>& r : net_.relations()) {
      if (!r.in.values) continue;
      std::vector<E> values(r.in.offsets[own_]);
      part("values-" + std::to_string(number++), values.size() * sizeof(E), static_cast<void*>(values.data()));
      net_.eachValue(r, [&](uint64_t i, E& value) { value = values[i]; });
    }
  }
  if constexpr (rules::KeepsNotes<V>) {
    part("notes", ownRows_.offsets[own_] * own_edges_.noteBytes, static_cast<void*>(own_edges_.notes()));
  }
  // Every run that saves a checkpoint had a vertex that voted to continue.
  stepped_ = vote_ = true;
}

}  // namespace gossamer::distributed
