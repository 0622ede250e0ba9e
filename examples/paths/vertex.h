// SPDX-License-Identifier: Apache-2.0
/// The papers' own example: shortest paths, asynchronous.
#pragma once

#include <gossamer/polite.h>

using namespace gossamer;

struct SSSPState {
  uint32_t id;
  // Is this the source vertex?
  bool isSource;
  // The shortest known distance to this vertex
  int32_t dist;
};

struct SSSPMessage {
  uint32_t from;
  int32_t dist;
};

struct SSSPVertex : PVertex<SSSPState, int32_t, SSSPMessage> {
  void init() { *readyToSend = s->isSource ? Pin(0) : No; }

  void send(SSSPMessage* msg) {
    *msg = {s->id, s->dist};
    *readyToSend = No;
  }

  void recv(const SSSPMessage* msg, const int32_t* weight) {
    const int32_t newDist = msg->dist + *weight;
    if (newDist < s->dist) {
      s->dist = newDist;
      *readyToSend = Pin(0);
    }
  }

  bool step() { return false; }

  bool finish(SSSPMessage* msg) {
    *msg = {s->id, s->dist};
    return true;
  }
};
