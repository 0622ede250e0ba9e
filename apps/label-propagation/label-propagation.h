// SPDX-License-Identifier: Apache-2.0
/// Communities by label propagation, as LDBC Graphalytics defines it (CDLP) for undirected graphs: on
/// the simple graph every vertex starts with its own label; in each step all vertices adopt the most
/// frequent label of their neighbours, the smallest in case of a tie. The steps are synchronous, so
/// every engine computes the same labels.
///
/// A vertex stores on each of its edges the neighbour's last label, and neighbours send only changes.
#pragma once

#include <gossamer/polite.h>

namespace label_propagation {

struct State {
  uint32_t label;
  uint32_t self;
};

struct Message {
  uint32_t from;
  uint32_t label;
};

/// `sorted` is scratch space for sorting.
struct Note {
  uint32_t label;
  uint32_t sorted;
};

struct Params {
  uint32_t steps;
};

struct Vertex : gossamer::PVertex<State, gossamer::None, Message, Params> {
  static constexpr bool lazyStep = true;
  gossamer::Edges<gossamer::None, Note> edges;

  void init() {
    for (uint32_t k = 0; k < edges.count(); ++k) edges.note(k).label = edges.to(k);
  }

  void send(Message* message) {
    *message = {s->self, s->label};
    *readyToSend = gossamer::No;
  }

  void recv(const Message* message, const gossamer::None*) {
    edges.note(edges.first(message->from)).label = message->label;
  }

  bool step() {
    if (!edges.count() || time >= params->steps) return false;
    const uint32_t label = mostFrequent();
    if (label == s->label) return false;
    s->label = label;
    const bool on = time + 1 < params->steps;
    if (on) *readyToSend = gossamer::Pin(0);
    return on;
  }

 private:
  uint32_t mostFrequent() const {
    const uint32_t count = edges.count();
    for (uint32_t k = 0; k < count; ++k) edges.note(k).sorted = edges.note(k).label;
    sort(count);
    uint32_t best = 0;
    uint32_t most = 0;
    uint32_t run = 0;
    for (uint32_t k = 0; k < count; ++k) {
      run = k && edges.note(k).sorted == edges.note(k - 1).sorted ? run + 1 : 1;
      if (run <= most) continue;  // of runs of equal length the first wins: the smallest label
      most = run;
      best = edges.note(k).sorted;
    }
    return best;
  }

  /// Heapsort: in place, with a guaranteed bound.
  void sort(uint32_t count) const {
    for (uint32_t k = count / 2; k-- > 0;) sink(k, count);
    for (uint32_t end = count; end-- > 1;) {
      const uint32_t largest = edges.note(0).sorted;
      edges.note(0).sorted = edges.note(end).sorted;
      edges.note(end).sorted = largest;
      sink(0, end);
    }
  }

  void sink(uint32_t at, uint32_t end) const {
    const uint32_t value = edges.note(at).sorted;
    for (uint32_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
      if (child + 1 < end && edges.note(child + 1).sorted > edges.note(child).sorted) ++child;
      if (edges.note(child).sorted <= value) break;
      edges.note(at).sorted = edges.note(child).sorted;
      at = child;
    }
    edges.note(at).sorted = value;
  }
};

}  // namespace label_propagation

GOSSAMER_VERTEX(label_propagation::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace label_propagation {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "label-propagation";
  static constexpr const char* summary = "communities: every vertex adopts the most frequent label of its neighbours";
  static constexpr gossamer::Wiring wiring = gossamer::Wiring::simple;
  static constexpr bool parallelInit = true;

  uint32_t iterations = 10;

  void parameters(gossamer::Parameters& p) {
    p.integer("iterations", iterations, 1, 1000000000,
              "maximum number of steps; the run ends earlier if no label changes");
  }

  Params params(const gossamer::GraphInfo&) { return {iterations}; }

  void init(const gossamer::VertexInfo& v, State& s) { s = {v.index, v.index}; }

  void results(gossamer::Columns<State>& c) {
    c.add("community", "the vertex whose label it has adopted", [](const State& s) { return s.label; })
        .vertex()
        .show(gossamer::Show::groups);
  }
};

}  // namespace label_propagation

GOSSAMER_APPLICATION(label_propagation::App)
#endif
