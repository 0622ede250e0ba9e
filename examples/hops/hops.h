// SPDX-License-Identifier: Apache-2.0
/// How many edges away is each vertex? A wave of messages, one hop at a time.
#pragma once

#include <gossamer/polite.h>

struct HopsState {
  uint32_t hops;  // from the source; Far where the wave has not been
};
inline constexpr uint32_t Far = 0xffffffff;

struct HopsVertex : gossamer::PVertex<HopsState, gossamer::None, uint32_t> {
  // The source starts the wave.
  void init() { *readyToSend = s->hops == 0 ? gossamer::Pin(0) : gossamer::No; }

  // Called when the network can accept a message; pin 0 is all edges out of the vertex.
  void send(uint32_t* message) {
    *message = s->hops + 1;
    *readyToSend = gossamer::No;
  }

  // Called for each message that arrives.
  void recv(const uint32_t* message, const gossamer::None*) {
    if (*message < s->hops) {
      s->hops = *message;
      *readyToSend = gossamer::Pin(0);
    }
  }
};

GOSSAMER_VERTEX(HopsVertex)

#if __STDC_HOSTED__  // what follows is for the host: parameters, initial state, results
#include <gossamer/app.h>

struct HopsApp : gossamer::Application<HopsVertex> {
  static constexpr const char* name = "hops";
  static constexpr const char* summary = "distance in edges from one vertex";
  uint32_t source = 0;

  void parameters(gossamer::Parameters& p) { p.vertex("source", source, "where the wave starts"); }
  void init(const gossamer::VertexInfo& v, HopsState& s) { s.hops = v.index == source ? 0 : Far; }
  void results(gossamer::Columns<HopsState>& c) {
    c.add("hops", "edges from the source", [](const HopsState& s) { return s.hops; }).absent(Far);
  }
};
GOSSAMER_APPLICATION(HopsApp)
#endif
