// SPDX-License-Identifier: Apache-2.0
/// Clusters of points in the plane, by k-means:
///
///     ./gossamer run examples/kmeans/host.cpp POINTS CLUSTERS
///
/// POINTS is a file with two numbers per line. Prints the mean of each cluster and its number of points.
#include <gossamer/pgraph.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "vertex.h"

int main(int count, char** arguments) try {
  const long clusters = count == 3 ? std::strtol(arguments[2], nullptr, 10) : 0;
  if (clusters < 1 || clusters > MostClusters) {
    std::fprintf(stderr, "usage: host.cpp POINTS CLUSTERS, a file with two numbers per line and 1 to %u\n",
                 MostClusters);
    return 2;
  }
  std::vector<std::pair<double, double>> points;
  std::ifstream file(arguments[1]);
  for (double x, y; file >> x >> y;) points.emplace_back(x, y);
  if (!file.eof() || points.size() < static_cast<size_t>(clusters)) {
    std::fprintf(stderr, "%s: not a file with two numbers per line and at least one line per cluster\n", arguments[1]);
    return 2;
  }

  // Fixed point needs a bounded range: the points are scaled into a square.
  auto [left, right] = std::minmax_element(points.begin(), points.end());
  const auto below = [](const auto& a, const auto& b) { return a.second < b.second; };
  auto [bottom, top] = std::minmax_element(points.begin(), points.end(), below);
  const double middleX = (left->first + right->first) / 2, middleY = (bottom->second + top->second) / 2;
  const double widest = std::max(right->first - left->first, top->second - bottom->second) / 2;
  const double scale = widest > 0 ? widest : 1;

  gossamer::PGraph<PointVertex> graph;
  for (const auto& [x, y] : points) {
    graph.state(graph.newVertex()) = {static_cast<float>((x - middleX) / scale),
                                      static_cast<float>((y - middleY) / scale), 0};
  }
  // The first mean is the first point; each further one is the point farthest from all earlier ones.
  graph.params.clusters = static_cast<uint32_t>(clusters);
  graph.params.most = 1000;
  std::vector<float> distance(points.size(), INFINITY);
  uint32_t next = 0;
  for (long k = 0; k < clusters; ++k) {
    const Point mean = graph.state(next);
    graph.params.x[k] = mean.x;
    graph.params.y[k] = mean.y;
    for (uint32_t v = 0; v < points.size(); ++v) {
      const Point& p = graph.state(v);
      distance[v] = std::min(distance[v], std::hypot(p.x - mean.x, p.y - mean.y));
      if (distance[v] > distance[next]) next = v;
    }
  }

  auto job = graph.start();
  const auto& how = job.wait();
  const Means means = job.totals();
  if (means.moved.value()) {
    std::fprintf(stderr, "the means still change after %llu steps\n", static_cast<unsigned long long>(how.steps));
    return 1;
  }
  for (long k = 0; k < clusters; ++k) {
    const double n = static_cast<double>(means.of[k].points.value());
    if (n == 0) continue;
    std::printf("%.6g %.6g %.0f\n", middleX + scale * means.of[k].x.value() / n,
                middleY + scale * means.of[k].y.value() / n, n);
  }
  return 0;
} catch (const gossamer::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
