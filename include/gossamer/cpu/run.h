// SPDX-License-Identifier: Apache-2.0
/// The run as a whole, requests for missing edges, and the host.
/// Part of cpu/engine.h, which has the class and its data.
#pragma once

#include "gossamer/cpu/engine.h"

namespace gossamer::cpu {

template <typename V>
void Run<V>::runAll() {
  begun_ = Clock::now();
  if (options_.timeline) {
    options_.timeline->begin(threads_);
    pool_.record(options_.timeline);
  }
  if constexpr (readsEdges) {
    requireOut();
    own_edges_.open(net_, problem_.unit);
  }
  initialise();
  while (!stopped()) {
    deliverAll();
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
  pool_.record(nullptr);
  if (options_.timeline) options_.timeline->end();
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
    s.commits += local.commits;
    s.retries += local.retries;
    s.byThread.push_back(local.deliveries);
  }
  // Counted without cost in the loops: every delivery, send and step reads one vertex; init and finish read all. A
  // continued run counts init and finish itself.
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

/// Requests the edges by receiver once; they cost about as much as a few rounds.
template <typename V>
bool Run<V>::requestIn() {
  if (!hasIn() && !requested_in_ && net_.complete) {
    requested_in_ = true;
    net_.complete(net_, true);
  }
  return hasIn();
}

template <typename V>
void Run<V>::requireOut() {
  if (hasOut()) return;
  if (net_.complete) net_.complete(net_, false);
  if (!hasOut()) throw std::logic_error("the network has no edges by sender");
  partitionReceivers();
}

template <typename V>
void Run<V>::partitionReceivers() {
  first_ = cpu::partitionReceivers(net_, threads_);
  if (threads_ > maxRowCutters) exchange_.open(first_);
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

/// Delivers the messages that the host has sent.
template <typename V>
void Run<V>::receiveFromHost() {
  uint32_t to = 0;
  M message{};
  bool received = false;
  while (problem_.host->toVertex(to, &message)) {
    received = true;
    touched_listed_ = false;
    locals_[0].at.handler = Handler::recv;
    receive<Wake::bitmap>(receivers(), to, message, edge({}, 0), locals_[0]);
    ++locals_[0].deliveries;
  }
  if (received) recount();
}

}  // namespace gossamer::cpu
