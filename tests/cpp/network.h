// SPDX-License-Identifier: Apache-2.0
/// Shared by the tests of engines: random wirings, and a plain loop that runs
/// a vertex program by the API's text, without any code of an engine.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/cpu/engine.h"
#include "gossamer/engine.h"
#include "gossamer/shuffle/engine.h"

namespace test {

/// Mixes all 64 bits, so that any missing or duplicate message changes the result.
inline uint64_t mix(uint64_t x) {
  x ^= x >> 31;
  x *= 0x7fb5d329728ea185u;
  x ^= x >> 27;
  x *= 0x81dadef4bc2dd44du;
  return x ^ x >> 33;
}

template <typename E>
struct Wire {
  uint32_t pin;
  uint32_t from;
  uint32_t to;
  E value;
};

/// Wires as a list, and as the rows of an engine.
template <typename E>
class Wiring {
 public:
  struct Side {
    std::vector<uint64_t> offsets;
    std::vector<uint32_t> targets;
    std::vector<E> values;
  };
  struct Sides {
    unsigned pin;
    Side out;
    Side in;
  };

  Wiring(uint32_t n, unsigned pins, std::vector<Wire<E>> list)
      : vertices(n), pinCount(pins), wires(std::move(list)) {
    const auto order = [](const Wire<E>& a, const Wire<E>& b) {
      if (a.pin != b.pin) return a.pin < b.pin;
      return a.from != b.from ? a.from < b.from : a.to < b.to;
    };
    std::stable_sort(wires.begin(), wires.end(), order);
    for (unsigned p = 0; p < pins; ++p) sides.push_back({p, side(p, false), side(p, true)});
  }

  gossamer::Network network(bool withIn = true, bool withValues = true) {
    gossamer::Network net;
    net.vertices = vertices;
    net.edgesHaveValues = withValues && !std::is_empty_v<E>;
    for (Sides& s : sides) {
      const gossamer::Rows in = withIn ? rows(s.in, withValues) : gossamer::Rows{};
      net.relations.push_back({s.pin, rows(s.out, withValues), in});
    }
    return net;
  }

  static gossamer::Rows rows(Side& s, bool withValues) {
    const bool some = withValues && !std::is_empty_v<E>;
    return {s.offsets.data(), s.targets.data(), some ? s.values.data() : nullptr};
  }

  uint32_t vertices;
  unsigned pinCount;
  std::vector<Wire<E>> wires;  // by pin, then sender, then receiver
  std::vector<Sides> sides;    // by pin; values are copies

 private:
  Side side(unsigned pin, bool backwards) const {
    std::vector<const Wire<E>*> mine;
    for (const Wire<E>& w : wires) {
      if (w.pin == pin) mine.push_back(&w);
    }
    if (backwards) {
      std::stable_sort(mine.begin(), mine.end(), [](auto* a, auto* b) { return a->to < b->to; });
    }
    Side s;
    s.offsets.assign(vertices + 1, 0);
    for (const Wire<E>* w : mine) {
      ++s.offsets[(backwards ? w->to : w->from) + 1];
      s.targets.push_back(backwards ? w->from : w->to);
      s.values.push_back(w->value);
    }
    for (uint32_t v = 0; v < vertices; ++v) s.offsets[v + 1] += s.offsets[v];
    if (s.targets.empty()) s.targets.reserve(1);  // data() must not be null
    if (s.values.empty()) s.values.reserve(1);
    return s;
  }
};

/// Random wires, some of them duplicates or self-loops, a few
/// vertices with very many. `value(pin, random)` returns each wire's value.
template <typename E, typename F>
Wiring<E> randomWiring(std::mt19937_64& random, uint32_t n, unsigned pins, uint64_t count, F&& value) {
  std::vector<Wire<E>> list;
  const uint32_t hub = static_cast<uint32_t>(random() % n);
  for (unsigned p = 0; p < pins; ++p) {
    for (uint64_t i = 0; i < count; ++i) {
      auto from = static_cast<uint32_t>(random() % n);
      auto to = static_cast<uint32_t>(random() % n);
      if (i % 29 == 0) from = hub;
      if (i % 31 == 0) to = hub;
      if (i % 97 == 0) to = from;
      list.push_back({p, from, to, value(p, random)});
      if (i % 101 == 0) list.push_back({p, from, to, value(p, random)});
    }
  }
  return Wiring<E>(n, pins, std::move(list));
}

/// The value of wires without one.
inline gossamer::None noValue(unsigned, std::mt19937_64&) { return {}; }

/// The result of a run.
template <typename V>
struct Outcome {
  std::vector<typename V::State> state;
  uint64_t sends = 0;
  uint64_t deliveries = 0;
  uint64_t steps = 0;
  std::vector<typename V::Message> host;
};

/// Runs a program by the API's rules, one message after the other.
template <typename V>
Outcome<V> plain(Wiring<typename V::Edge>& wiring, std::vector<typename V::State> state,
                 const typename V::Params& params) {
  using M = typename V::Message;
  struct Parcel {
    typename V::Edge* edge;
    uint32_t to;
    M message;
  };
  const uint32_t n = wiring.vertices;
  Outcome<V> o;
  o.state = std::move(state);
  std::vector<gossamer::PPin> pins(n, gossamer::No);
  std::vector<std::vector<Wire<typename V::Edge>*>> leaving(n);
  for (auto& w : wiring.wires) leaving[w.from].push_back(&w);
  std::deque<Parcel> air;
  const auto vertex = [&](uint32_t v) {
    V x;
    x.s = &o.state[v];
    x.readyToSend = &pins[v];
    x.params = &params;
    x.numVertices = n;
    x.time = static_cast<uint32_t>(o.steps);
    return x;
  };
  for (uint32_t v = 0; v < n; ++v) vertex(v).init();
  bool vote = true;
  for (bool stepped = false;; stepped = true) {
    for (bool busy = true; busy;) {
      busy = false;
      for (uint32_t v = 0; v < n; ++v) {
        if (pins[v] == gossamer::No) continue;
        busy = true;
        const gossamer::PPin to = pins[v];
        M message{};
        vertex(v).send(&message);
        ++o.sends;
        if (to == gossamer::HostPin) o.host.push_back(message);
        for (auto* w : leaving[v]) {
          if (gossamer::Pin(w->pin) == to) air.push_back({&w->value, w->to, message});
        }
      }
      for (; !air.empty(); air.pop_front()) {
        Parcel p = air.front();
        vertex(p.to).recv(&p.message, p.edge);
        ++o.deliveries;
        busy = true;
      }
    }
    if (stepped && !vote) break;
    vote = false;
    for (uint32_t v = 0; v < n; ++v) vote |= vertex(v).step();
    ++o.steps;
  }
  for (uint32_t v = 0; v < n; ++v) {
    M message{};
    if (vertex(v).finish(&message)) o.host.push_back(message);
  }
  return o;
}

inline constexpr unsigned threadCounts[] = {1, 2, 3, 8};

/// A host that only receives.
template <typename M>
class Listener : public gossamer::HostEnd {
 public:
  void fromVertex(const void* message) override { heard.push_back(*static_cast<const M*>(message)); }
  bool toVertex(uint32_t&, void*) override { return false; }
  bool waitIdle() override { return false; }
  std::vector<M> heard;
};

template <typename V>
struct Ran {
  std::vector<typename V::State> state;
  gossamer::Statistics stats;
};

template <typename V, template <typename> typename EngineOf = gossamer::cpu::Engine>
Ran<V> runOn(gossamer::Network network, const std::vector<typename V::State>& state,
             const typename V::Params& params, unsigned threads, gossamer::HostEnd* host = nullptr,
             std::atomic<int>* stop = nullptr, uint64_t seed = 1) {
  gossamer::Problem<V> problem;
  problem.network = std::move(network);
  problem.params = params;
  problem.host = host;
  gossamer::Array<typename V::State> array(state.size());
  std::copy(state.begin(), state.end(), array.data());
  gossamer::RunOptions options;
  options.threads = threads;
  options.stop = stop;
  options.seed = seed;
  EngineOf<V> engine;
  Ran<V> ran;
  ran.stats = engine.run(problem, array, options);
  ran.state.assign(array.data(), array.data() + array.size());
  return ran;
}

}  // namespace test
