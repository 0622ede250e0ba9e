// SPDX-License-Identifier: Apache-2.0
/// The `shuffle` engine: one thread that delivers in a random legal order with random
/// delays. If a program's result depends on the order of its messages, this engine's
/// result differs from the `cpu` engine's.
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

/// Shares only the vertex with the `cpu` engine: it ignores hints and has no
/// rounds. Its state is a bag of messages in flight and a bag of
/// vertices that want to send; each event removes a random one from either.
template <typename V>
class Engine final : public gossamer::Engine<V> {
  using S = typename V::State;
  using E = typename V::Edge;
  using M = typename V::Message;
  using A = typename V::Aggregates;

  struct Delivery {
    uint32_t to;
    uint32_t relation;  // or fromHost
    uint64_t edge;
    M message;
  };
  static constexpr uint32_t fromHost = ~uint32_t{0};
  static constexpr size_t maxStepTimes = 100000;
  /// Sends and deliveries that the timeline records as one round, since the engine has none.
  static constexpr uint64_t batch = 1024;

 public:
  const char* name() const override { return "shuffle"; }

  Statistics run(Problem<V>& problem, Array<S>& state, const RunOptions& options) override {
    Statistics statistics;
    Fault fault;
    if (!guard::run([&] { statistics = runAll(problem, state, options); }, &at_, fault)) guard::raise(fault);
    return statistics;
  }

 private:
  /// Runs the first handlers of a vertex in a run.
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
    const auto elapsed = [begun] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun); };
    Timeline* const timeline = options.timeline;
    if (timeline) timeline->begin(1);
    Network& net = problem.network;
    for (const Relation& r : net.relations) {
      if (!r.out && net.complete) net.complete(net, false);
    }
    const uint32_t n = net.vertices;
    std::mt19937_64 random(options.seed);
    // A random parameter of the run: how far sending may run ahead of
    // delivery, up to sending everything first.
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
    std::vector<uint32_t> ready;       // a bag
    std::vector<uint32_t> slot(n, 0);  // 1 + index in `ready`, or 0
    std::vector<Delivery> inFlight;    // a bag
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
    const auto updateReady = [&](uint32_t v) {
      if (pin[v] != No && !slot[v]) {
        ready.push_back(v);
        slot[v] = static_cast<uint32_t>(ready.size());
      } else if (pin[v] == No && slot[v]) {
        ready[slot[v] - 1] = ready.back();
        slot[ready.back()] = slot[v];
        ready.pop_back();
        slot[v] = 0;
      }
    };
    const auto toHost = [&](const M& message) {
      ++s.hostMessages;
      if (problem.host) problem.host->fromVertex(&message);
    };
    const auto receiveFromHost = [&] {
      Delivery from{0, fromHost, 0, M{}};
      while (problem.host && problem.host->toVertex(from.to, &from.message)) inFlight.push_back(from);
    };
    const auto sendOne = [&](uint32_t v) {
      const PPin to = pin[v];
      M message{};
      V x = vertex(v, Handler::send);
      x.send(&message);
      ++s.sends;
      updateReady(v);
      if (to == HostPin) return toHost(message);
      if constexpr (OwnEdges<V>::some) {
        if (to == OneEdge) {
          const uint64_t edge = own.named(x, v);
          const auto k = static_cast<uint32_t>(own.relation());
          inFlight.push_back({net.relations[k].out.targets[edge], k, edge, message});
          return;
        }
      }
      if (to >= pins + 2) rejectPin(v, to - 2u, pins);
      for (uint32_t k = 0; k < net.relations.size(); ++k) {
        const Relation& r = net.relations[k];
        if (Pin(r.pin) != to) continue;
        for (uint64_t i = r.out.offsets[v]; i < r.out.ends[v]; ++i) {
          inFlight.push_back({r.out.targets[i], k, i, message});
        }
      }
    };
    const auto deliverOne = [&](size_t at) {
      Delivery f = inFlight[at];
      inFlight[at] = inFlight.back();
      inFlight.pop_back();
      E* edge = &problem.unit;
      if constexpr (!std::is_empty_v<E>) {
        if (f.relation != fromHost && net.relations[f.relation].out.values) {
          edge = const_cast<E*>(static_cast<const E*>(net.relations[f.relation].out.values)) + f.edge;
        }
      }
      V x = vertex(f.to, Handler::recv);
      x.recv(&f.message, edge);
      ++s.deliveries;
      updateReady(f.to);
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
      updateReady(v);
    }
    bool stepped = false;
    bool vote = false;
    uint64_t events = 0;
    uint64_t from = timeline ? Timeline::now() : 0;  // of the batch
    uint64_t recorded = 0;                           // deliveries before it
    const auto recordBatch = [&] {
      if (!timeline) return;
      if (s.deliveries > recorded) timeline->round(from, s.deliveries - recorded);
      from = Timeline::now();
      recorded = s.deliveries;
    };
    while (!stopped()) {
      if (++events % batch == 0) {
        recordBatch();
        receiveFromHost();
        options.note(time, events);
      }
      if (!ready.empty() && (inFlight.empty() || pick(16) < eagerness)) {
        sendOne(ready[pick(ready.size())]);
      } else if (!inFlight.empty()) {
        deliverOne(pick(inFlight.size()));
      } else {
        receiveFromHost();
        if (!inFlight.empty()) continue;
        recordBatch();
        if (problem.host && problem.host->waitIdle()) continue;
        if (stepped && !vote) break;
        stepped = true;
        vote = false;
        mix();
        A mine{};
        for (const uint32_t v : order) {
          V x = vertex(v, Handler::step);
          vote |= aggregates::step(x, all, mine);
          updateReady(v);
        }
        all = mine;
        s.stepCalls += order.size();
        ++time;
        if (s.stepSeconds.size() < maxStepTimes) s.stepSeconds.push_back(static_cast<float>(elapsed().count()));
        if (timeline) {
          timeline->stepped(time - 1);
          from = Timeline::now();
        }
      }
    }
    recordBatch();
    if (!stopped()) {
      for (const uint32_t v : order) {
        M message{};
        if (vertex(v, Handler::finish).finish(&message)) toHost(message);
      }
    }
    s.steps = time;
    s.stopped = stopped();
    s.keepAggregates(all);
    s.seconds = elapsed().count();
    if (timeline) timeline->end();
    at_.handler = Handler::none;
    return s;
  }

  Position at_;
};

}  // namespace gossamer::shuffle
