// SPDX-License-Identifier: Apache-2.0
/// The `shuffle` engine: one thread that delivers in a random order with random
/// delays, all of it legal. A program whose result depends on the order of its
/// messages shows itself by another result than the `cpu` engine's.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gossamer/edge_binding.h"
#include "gossamer/engine.h"

namespace gossamer::shuffle {

/// Nothing is shared with the `cpu` engine but the vertex: no hint is read, no
/// round exists. The state is a bag of messages on their way and a bag of
/// vertices that want to send; each event takes a random one from either.
template <typename V>
class Engine final : public gossamer::Engine<V> {
  using S = typename V::State;
  using E = typename V::Edge;
  using M = typename V::Message;
  using A = typename V::Aggregates;

  struct Flying {
    uint32_t to;
    uint32_t relation;  // or fromHost
    uint64_t edge;
    M message;
  };
  static constexpr uint32_t fromHost = ~uint32_t{0};

 public:
  const char* name() const override { return "shuffle"; }

  Statistics run(Problem<V>& problem, Array<S>& state, const RunOptions& options) override {
    Statistics statistics;
    Fault fault;
    if (!guard::run([&] { statistics = runAll(problem, state, options); }, &at_, fault)) guard::raise(fault);
    return statistics;
  }

 private:
  /// What a vertex does at the beginning of a run.
  void start(V x, uint32_t v, const Resumption* resumption) {
    const auto is = [v](const std::vector<uint32_t>& list) { return std::binary_search(list.begin(), list.end(), v); };
    if (!resumption || is(resumption->fresh)) return x.init();
    if constexpr (rules::HasResume<V>) {
      at_.handler = Handler::resume;
      x.resume();
    }
    if constexpr (rules::HasChanged<V>) {
      at_.handler = Handler::changed;
      if (is(resumption->changed)) x.changed();
    }
  }

  Statistics runAll(Problem<V>& problem, Array<S>& state, const RunOptions& options) {
    const auto begun = std::chrono::steady_clock::now();
    Network& net = problem.network;
    for (const Relation& r : net.relations) {
      if (!r.out && net.complete) net.complete(net, false);
    }
    const uint32_t n = net.vertices;
    std::mt19937_64 random(options.seed);
    // Each run has a temper of its own: how far sending may run ahead of
    // delivery, up to everything at once.
    const uint64_t eagerness = 1 + random() % 15;
    const auto pick = [&](uint64_t below) { return random() % below; };
    const auto stopped = [&] { return options.stop && options.stop->load(std::memory_order_relaxed); };

    Statistics s;
    s.engine = name();
    s.vertices = n;
    unsigned pins = 1;
    for (const Relation& r : net.relations) {
      s.edges += r.out.edges(n);
      pins = std::max(pins, r.pin + 1);
    }
    OwnEdges<V> own;
    own.open(net, problem.unit);
    Array<PPin> pin(n);
    std::vector<uint32_t> ready;        // a bag
    std::vector<uint32_t> place(n, 0);  // 1 + where in the bag, or 0
    std::vector<Flying> air;            // a bag
    uint32_t time = 0;
    A all{};

    const auto vertex = [&](uint32_t v, Handler handler) {
      at_.vertex = v;
      at_.handler = handler;
      V x;
      x.s = &state[v];
      x.readyToSend = &pin[v];
      x.params = &problem.params;
      x.numVertices = n - net.removed;
      x.time = time;
      own.show(x, v);
      return x;
    };
    const auto settle = [&](uint32_t v) {
      if (pin[v] != No && !place[v]) {
        ready.push_back(v);
        place[v] = static_cast<uint32_t>(ready.size());
      } else if (pin[v] == No && place[v]) {
        ready[place[v] - 1] = ready.back();
        place[ready.back()] = place[v];
        ready.pop_back();
        place[v] = 0;
      }
    };
    const auto toHost = [&](const M& message) {
      ++s.hostMessages;
      if (problem.host) problem.host->fromVertex(&message);
    };
    const auto hear = [&] {
      Flying from{0, fromHost, 0, M{}};
      while (problem.host && problem.host->toVertex(from.to, &from.message)) air.push_back(from);
    };
    const auto sendOne = [&](uint32_t v) {
      const PPin to = pin[v];
      M message{};
      V x = vertex(v, Handler::send);
      x.send(&message);
      ++s.sends;
      settle(v);
      if (to == HostPin) return toHost(message);
      if constexpr (OwnEdges<V>::some) {
        if (to == OneEdge) {
          const uint64_t edge = own.named(x, v);
          const auto k = static_cast<uint32_t>(own.relation());
          air.push_back({net.relations[k].out.targets[edge], k, edge, message});
          return;
        }
      }
      if (to >= pins + 2) rejectPin(v, to - 2u, pins);
      for (uint32_t k = 0; k < net.relations.size(); ++k) {
        const Relation& r = net.relations[k];
        if (Pin(r.pin) != to) continue;
        for (uint64_t i = r.out.offsets[v]; i < r.out.ends[v]; ++i) {
          air.push_back({r.out.targets[i], k, i, message});
        }
      }
    };
    const auto deliverOne = [&](size_t at) {
      Flying f = air[at];
      air[at] = air.back();
      air.pop_back();
      E* edge = &problem.unit;
      if constexpr (!std::is_empty_v<E>) {
        if (f.relation != fromHost && net.relations[f.relation].out.values) {
          edge = const_cast<E*>(static_cast<const E*>(net.relations[f.relation].out.values)) + f.edge;
        }
      }
      V x = vertex(f.to, Handler::recv);
      x.recv(&f.message, edge);
      ++s.deliveries;
      settle(f.to);
    };

    std::vector<uint32_t> order;
    order.reserve(n - net.removed);
    for (uint32_t v = 0; v < n; ++v) {
      if (!net.isGone(v)) order.push_back(v);
    }
    const auto mix = [&] {
      for (size_t v = order.size(); v > 1; --v) std::swap(order[v - 1], order[pick(v)]);
    };
    mix();
    for (const uint32_t v : order) {
      start(vertex(v, Handler::init), v, problem.resumption);
      settle(v);
    }
    bool stepped = false;
    bool vote = false;
    uint64_t events = 0;
    while (!stopped()) {
      if ((++events & 1023) == 0) {
        hear();
        options.note(time, events);
      }
      if (!ready.empty() && (air.empty() || pick(16) < eagerness)) {
        sendOne(ready[pick(ready.size())]);
      } else if (!air.empty()) {
        deliverOne(pick(air.size()));
      } else {
        hear();
        if (!air.empty()) continue;
        if (problem.host && problem.host->waitIdle()) continue;
        if (stepped && !vote) break;
        stepped = true;
        vote = false;
        mix();
        A mine{};
        for (const uint32_t v : order) {
          V x = vertex(v, Handler::step);
          vote |= aggregates::step(x, all, mine);
          settle(v);
        }
        all = mine;
        s.stepCalls += order.size();
        ++time;
      }
    }
    if (!stopped()) {
      for (const uint32_t v : order) {
        M message{};
        if (vertex(v, Handler::finish).finish(&message)) toHost(message);
      }
    }
    s.steps = time;
    s.stopped = stopped();
    s.keepAggregates(all);
    s.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    at_.handler = Handler::none;
    return s;
  }

  Position at_;
};

}  // namespace gossamer::shuffle
