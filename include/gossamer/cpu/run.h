// SPDX-License-Identifier: Apache-2.0
/// A run from its beginning to its end, the edges that it asks for, and its host.
/// A room of cpu/engine.h, where the class and its data are.
#pragma once

#include "gossamer/cpu/engine.h"

namespace gossamer::cpu {

template <typename V>
void Run<V>::runAll() {
  begun_ = Clock::now();
  if constexpr (readsEdges) {
    needOut();
    own_edges_.open(net_, problem_.unit);
  }
  initialise();
  while (!stopped()) {
    carry();
    if (stopped()) break;
    if (problem_.host) {
      flushHost();
      if (problem_.host->waitIdle()) continue;
    }
    if (stepped_ && !vote_) break;
    step();
  }
  if (!stopped()) finish();
  flushHost();
}

template <typename V>
Statistics Run<V>::statistics() {
  Statistics s;
  s.engine = "cpu";
  s.threads = threads_;
  s.vertices = n_;
  s.edges = edges_;
  for (const Local& local : locals_) {
    s.sends += local.sends;
    s.deliveries += local.deliveries;
    s.stepCalls += local.stepCalls;
    s.hostMessages += local.hostMessages;
    s.vertexLooks += local.looks;
    s.edgeLooks += local.probes;
  }
  // Counted where it costs nothing: every delivery, send and step looks at one; init and finish at all. A
  // run that goes on counts the latter itself.
  s.vertexLooks += s.sends + s.stepCalls + (problem_.resumption ? 0 : 2 * n_);
  s.edgeLooks += s.deliveries - probed_deliveries_;
  s.steps = time_;
  s.pullRounds = pull_rounds_;
  s.pushRounds = push_rounds_;
  s.smallRounds = small_rounds_;
  s.stepSeconds = std::move(step_seconds_);
  s.stopped = stopped();
  s.keepAggregates(all_);
  s.seconds = elapsed();
  return s;
}

/// Asks once for edges by receiver; they cost about as much as a few rounds.
template <typename V>
bool Run<V>::askIn() {
  if (!hasIn() && !asked_in_ && net_.complete) {
    asked_in_ = true;
    net_.complete(net_, true);
  }
  return hasIn();
}

template <typename V>
void Run<V>::needOut() {
  if (hasOut()) return;
  if (net_.complete) net_.complete(net_, false);
  if (!hasOut()) throw std::logic_error("the network has no edges by sender");
  partitionReceivers();
}

template <typename V>
void Run<V>::partitionReceivers() {
  first_ = cpu::partitionReceivers(net_, threads_);
  if (threads_ > mostCutting) exchange_.open(first_);
}

template <typename V>
inline void Run<V>::toHost(const M& message, Local& local) {
  ++local.hostMessages;
  if (problem_.host) local.toHost.push_back(message);
}

template <typename V>
void Run<V>::flushHost() {
  for (Local& local : locals_) {
    for (const M& message : local.toHost) problem_.host->fromVertex(&message);
    local.toHost.clear();
  }
}

/// Delivers what the host has said meanwhile.
template <typename V>
void Run<V>::hearHost() {
  uint32_t to = 0;
  M message{};
  bool heard = false;
  while (problem_.host->toVertex(to, &message)) {
    heard = true;
    touched_listed_ = false;
    locals_[0].at.handler = Handler::recv;
    receive<Wake::bitmap>(receivers(), to, message, edge({}, 0), locals_[0]);
    ++locals_[0].deliveries;
  }
  if (heard) recount();
}

}  // namespace gossamer::cpu
