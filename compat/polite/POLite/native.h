// SPDX-License-Identifier: Apache-2.0
/// PThread on the engine cpu: one call of run() runs all devices of the graph.
#pragma once

#include <gossamer/engines.h>
#include <gossamer_polite_job.h>
#include <gossamer_polite_who.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace gossamer::compat {

/// The edges of a pin in the engine's format: ascending within a row.
template <typename E>
struct Sorted {
  std::vector<uint32_t> targets;
  std::vector<E> values;

  Sorted(const Job::Pin& pin, uint32_t vertices, bool hasValues) {
    const uint64_t edges = pin.offsets[vertices];
    std::vector<uint64_t> order(edges);
    std::iota(order.begin(), order.end(), uint64_t{0});
    for (uint32_t v = 0; v < vertices; ++v) {
      std::stable_sort(order.begin() + static_cast<int64_t>(pin.offsets[v]),
                       order.begin() + static_cast<int64_t>(pin.offsets[v + 1]),
                       [&](uint64_t a, uint64_t b) { return pin.targets[a] < pin.targets[b]; });
    }
    targets.resize(edges + 1);
    for (uint64_t i = 0; i < edges; ++i) targets[i] = pin.targets[order[i]];
    if (!hasValues) return;
    values.resize(edges + 1);
    for (uint64_t i = 0; i < edges; ++i) {
      std::memcpy(&values[i], static_cast<const char*>(pin.values) + order[i] * sizeof(E), sizeof(E));
    }
  }
};

template <typename M>
class ToHost final : public gossamer::HostEnd {
 public:
  void fromVertex(const void* message) override { gossamer_polite_job->message(message, sizeof(M)); }
  bool toVertex(uint32_t& device, void* message) override {
    return gossamer_polite_job->receives_messages &&
           gossamer_polite_job->receive_message(&device, message, sizeof(M), false);
  }
  bool waitIdle() override {
    return gossamer_polite_job->receives_messages && gossamer_polite_job->receive_message(nullptr, nullptr, 0, true);
  }
};

/// Runs the job that the host has set up; returns its outcome.
template <typename V>
gossamer::Statistics runNatively() {
  using S = typename V::State;
  using E = typename V::Edge;
  const Job& job = *gossamer_polite_job;
  const bool hasValues = !std::is_empty_v<E>;
  if (job.stateBytes != sizeof(S) || job.messageBytes != sizeof(typename V::Message) ||
      job.edgeBytes != (hasValues ? sizeof(E) : 0)) {
    job.failed("PThread::run: the PGraph of the host has other types of state, edge or message than this PThread");
  }
  gossamer::Problem<V> problem;
  ToHost<typename V::Message> host;
  problem.host = &host;
  problem.network.vertices = job.vertices;
  problem.network.edgesHaveValues = hasValues;
  std::vector<Sorted<E>> kept;
  kept.reserve(job.pins);
  for (uint32_t pin = 0; pin < job.pins; ++pin) {
    const Sorted<E>& edges = kept.emplace_back(job.pin[pin], job.vertices, hasValues);
    gossamer::Relation relation;
    relation.pin = pin;
    relation.out = {job.pin[pin].offsets, edges.targets.data(), hasValues ? edges.values.data() : nullptr};
    problem.network.relations.push_back(relation);
  }
  gossamer::Array<S> states(job.vertices);
  for (uint32_t v = 0; v < job.vertices; ++v) {
    std::memcpy(&states[v], static_cast<const char*>(job.states) + size_t{v} * sizeof(S), sizeof(S));
  }
  V::first = states.data();
  gossamer::RunOptions options;
  options.threads = job.workers;
  options.stop = reinterpret_cast<std::atomic<int>*>(job.stop);
  try {
    const gossamer::guard::Signals signals;
    return gossamer::makeEngine<V>("cpu")->run(problem, states, options);
  } catch (const std::bad_alloc&) {
    job.failed("not enough memory for the run");
  } catch (const std::exception& error) {
    job.failed(error.what());
  }
  return {};
}

}  // namespace gossamer::compat
