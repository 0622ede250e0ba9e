// SPDX-License-Identifier: Apache-2.0
/// k-means: each vertex is a point without neighbours; the means are aggregates.
#pragma once

#include <gossamer/polite.h>

inline constexpr uint32_t MostClusters = 10;

struct Point {
  float x, y;        // from -1 to 1
  uint32_t cluster;  // of the nearest mean
};

struct Start {
  uint32_t clusters;
  uint32_t most;  // maximum number of steps
  float x[MostClusters], y[MostClusters];
};

// Three words per cluster and one more. With 34 fractional bits a sum of 2^28 points fits.
struct Means {
  struct Cluster {
    gossamer::FixedSum<float, 34> x, y;
    gossamer::Sum<uint32_t> points;
  } of[MostClusters];
  gossamer::Sum<uint32_t> moved;
};

struct PointVertex : gossamer::PVertex<Point, gossamer::None, gossamer::None, Start, Means> {
  void init() {}
  void send(gossamer::None*) {}
  void recv(const gossamer::None*, const gossamer::None*) {}

  bool step(const Means& all, Means& mine) {
    uint32_t nearest = s->cluster;
    float least = __builtin_inff();
    for (uint32_t k = 0; k < params->clusters; ++k) {
      float x = params->x[k], y = params->y[k];
      if (time > 0) {
        const float points = static_cast<float>(all.of[k].points.value());
        if (points == 0) continue;  // a cluster that has lost its last point remains empty
        x = all.of[k].x.value() / points;
        y = all.of[k].y.value() / points;
      }
      const float distance = (s->x - x) * (s->x - x) + (s->y - y) * (s->y - y);
      if (distance < least) {
        least = distance;
        nearest = k;
      }
    }
    if (time == 0 || nearest != s->cluster) mine.moved.give(1);
    s->cluster = nearest;
    mine.of[nearest].x.give(s->x);
    mine.of[nearest].y.give(s->y);
    mine.of[nearest].points.give(1);
    return (time == 0 || all.moved.value() > 0) && time + 1 < params->most;
  }
};

GOSSAMER_VERTEX(PointVertex)
