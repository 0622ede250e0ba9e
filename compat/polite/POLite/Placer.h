// SPDX-License-Identifier: Apache-2.0
/// Divides a graph into partitions of equal size, and places them on a two-dimensional mesh. The interface is that of
/// Tinsel 0.8.3, for programs that place nodes themselves; PGraph::map uses the mapper of all engines.
//
// A partition has at most ceil(nodes / partitions) nodes. Methods:
//
//   Direct   by the nodes' numbers
//   Random   at random, from a fixed seed
//   BFS      in the order of a breadth-first search over edges of both directions
//   Metis    the same (and Default), then nodes move to the partition of most of their neighbours; METIS is not used
//
// Without a method, POLITE_PLACER selects it.
#pragma once

#include <POLite/Graph.h>
#include <gossamer/host/errors.h>
#include <stdint.h>
#include <stdlib.h>

#include <algorithm>
#include <numeric>
#include <queue>
#include <random>
#include <string>
#include <utility>
#include <vector>

typedef uint32_t PartitionId;

struct Placer {
  enum Method { Default, Metis, Random, Direct, BFS };

  Graph* graph;
  uint32_t width, height;   ///< columns and rows of the mesh; width * height partitions
  PartitionId* partitions;  ///< by node
  Graph* subgraphs;         ///< by partition: its nodes and the edges between them; a label is the node in `graph`
  uint64_t** connCount;     ///< edges between two partitions, in both directions
  PartitionId** mapping;    ///< by row and column
  uint32_t* xCoord;         ///< by partition
  uint32_t* yCoord;
  uint64_t savedCost = 0;   ///< cost of the best placement so far

  Placer(Graph* g, uint32_t w, uint32_t h, Method method = Default) : graph(g), width(w), height(h) {
    if (!w || !h) gossamer::host::reject_call("Placer", "a mesh has at least one column and one row");
    const uint32_t all = w * h;
    partitions = new PartitionId[std::max(1u, graph->nodeCount())];
    subgraphs = new Graph[all];
    connCount = new uint64_t*[all];
    for (uint32_t p = 0; p < all; ++p) connCount[p] = new uint64_t[all]();
    mapping = new PartitionId*[h];
    xCoord = new uint32_t[all];
    yCoord = new uint32_t[all];
    for (uint32_t y = 0; y < h; ++y) {
      mapping[y] = new PartitionId[w];
      for (uint32_t x = 0; x < w; ++x) put(y * w + x, x, y);
    }
    partition(method == Default ? chosen() : method);
    computeSubgraphs();
    savedCost = cost();
  }
  Placer(const Placer&) = delete;
  Placer& operator=(const Placer&) = delete;
  ~Placer() {
    for (uint32_t y = 0; y < height; ++y) delete[] mapping[y];
    for (uint32_t p = 0; p < width * height; ++p) delete[] connCount[p];
    delete[] partitions;
    delete[] subgraphs;
    delete[] connCount;
    delete[] mapping;
    delete[] xCoord;
    delete[] yCoord;
  }

  /// Edges between partitions, times their distance in hops.
  uint64_t cost() const {
    uint64_t sum = 0;
    for (uint32_t p = 0; p < width * height; ++p) sum += cost_of(p);
    return sum / 2;
  }

  /// Exchanges the partitions at two places of the mesh.
  void swap(uint32_t x, uint32_t y, uint32_t xNew, uint32_t yNew) {
    const PartitionId a = mapping[y][x], b = mapping[yNew][xNew];
    put(a, xNew, yNew);
    put(b, x, y);
  }

  /// Reduces the cost: exchanges two partitions as long as that helps, from the present placement and from random ones,
  /// `numAttempts` in all, and keeps the best.
  void place(uint32_t numAttempts) {
    const uint32_t all = width * height;
    std::vector<PartitionId> best(all), order(all);
    for (uint32_t i = 0; i < all; ++i) best[i] = order[i] = mapping[i / width][i % width];
    savedCost = cost();
    for (uint32_t attempt = 0; attempt < numAttempts; ++attempt) {
      if (attempt) {
        std::shuffle(order.begin(), order.end(), random_);
        for (uint32_t i = 0; i < all; ++i) put(order[i], i % width, i / width);
      }
      descend();
      if (const uint64_t now = cost(); now < savedCost || !attempt) {
        savedCost = now;
        for (uint32_t i = 0; i < all; ++i) best[i] = mapping[i / width][i % width];
      }
    }
    for (uint32_t i = 0; i < all; ++i) put(best[i], i % width, i / width);
  }

 private:
  void put(PartitionId p, uint32_t x, uint32_t y) {
    mapping[y][x] = p;
    xCoord[p] = x;
    yCoord[p] = y;
  }

  static Method chosen() {
    const char* text = getenv("POLITE_PLACER");
    const std::string name = text && *text ? text : "metis";
    if (name == "metis" || name == "default" || name == "kahypar") return Metis;
    if (name == "random") return Random;
    if (name == "bfs") return BFS;
    if (name == "direct") return Direct;
    gossamer::host::reject_call("Placer", "POLITE_PLACER is " + name + "; it must be metis, bfs, random or direct");
  }

  uint64_t cost_of(PartitionId p) const {
    uint64_t sum = 0;
    for (uint32_t q = 0; q < width * height; ++q) {
      const uint64_t columns = xCoord[p] > xCoord[q] ? xCoord[p] - xCoord[q] : xCoord[q] - xCoord[p];
      const uint64_t rows = yCoord[p] > yCoord[q] ? yCoord[p] - yCoord[q] : yCoord[q] - yCoord[p];
      sum += connCount[p][q] * (columns + rows);
    }
    return sum;
  }

  void descend() {
    const uint32_t all = width * height;
    for (bool better = true; better;) {
      better = false;
      for (uint32_t a = 0; a < all; ++a) {
        for (uint32_t b = a + 1; b < all; ++b) {
          const uint32_t place[4] = {a % width, a / width, b % width, b / width};
          const auto both = [&] { return cost_of(mapping[place[1]][place[0]]) + cost_of(mapping[place[3]][place[2]]); };
          const uint64_t before = both();
          swap(place[0], place[1], place[2], place[3]);
          if (both() < before) {
            better = true;
          } else {
            swap(place[0], place[1], place[2], place[3]);
          }
        }
      }
    }
  }

  void partition(Method method) {
    const uint32_t nodes = graph->nodeCount(), all = width * height;
    std::vector<NodeId> order(nodes);
    std::iota(order.begin(), order.end(), 0);
    if (method == Random) std::shuffle(order.begin(), order.end(), random_);
    if (method == BFS || method == Metis) order = breadth_first();
    // The first partitions have one node more than the others if the nodes cannot be divided equally.
    const uint32_t each = nodes / all, more = nodes % all;
    uint32_t at = 0;
    for (PartitionId p = 0; p < all; ++p) {
      for (uint32_t i = 0; i < each + (p < more); ++i) partitions[order[at++]] = p;
    }
    if (method == Metis) refine();
  }

  std::vector<NodeId> breadth_first() const {
    const uint32_t nodes = graph->nodeCount();
    std::vector<bool> seen(nodes);
    std::vector<NodeId> order;
    std::queue<NodeId> queue;
    const auto visit = [&](NodeId node) {
      if (seen[node]) return;
      seen[node] = true;
      order.push_back(node);
      queue.push(node);
    };
    for (NodeId first = 0; first < nodes; ++first) {
      for (visit(first); !queue.empty(); queue.pop()) {
        for_neighbours(queue.front(), visit);
      }
    }
    return order;
  }

  template <typename Then>
  void for_neighbours(NodeId node, const Then& then) const {
    for (const Seq<NodeId>* ends : {graph->outgoing->elems[node], graph->incoming->elems[node]}) {
      for (int i = 0; i < ends->numElems; ++i) then(ends->elems[i]);
    }
  }

  /// Moves nodes to the partition with most of their neighbours, while it has fewer nodes than the maximum.
  void refine() {
    constexpr int kPasses = 8;
    const uint32_t nodes = graph->nodeCount(), all = width * height, most = (nodes + all - 1) / all;
    std::vector<uint32_t> size(all), near(all);
    for (NodeId node = 0; node < nodes; ++node) ++size[partitions[node]];
    for (int pass = 0, moved = 1; moved && pass < kPasses; ++pass) {
      moved = 0;
      for (NodeId node = 0; node < nodes; ++node) {
        PartitionId& own = partitions[node];
        PartitionId best = own;
        for_neighbours(node, [&](NodeId other) { ++near[partitions[other]]; });
        for_neighbours(node, [&](NodeId other) {
          const PartitionId p = partitions[other];
          if (near[p] > near[best] && size[p] < most) best = p;
        });
        for_neighbours(node, [&](NodeId other) { near[partitions[other]] = 0; });
        moved += best != own;
        --size[own];
        ++size[own = best];
      }
    }
  }

  void computeSubgraphs() {
    const uint32_t nodes = graph->nodeCount();
    std::vector<NodeId> inside(nodes);
    for (NodeId node = 0; node < nodes; ++node) {
      Graph& own = subgraphs[partitions[node]];
      inside[node] = own.newNode();
      own.setLabel(inside[node], node);
    }
    for (NodeId node = 0; node < nodes; ++node) {
      const Seq<NodeId>& ends = *graph->outgoing->elems[node];
      const PartitionId from = partitions[node];
      for (int i = 0; i < ends.numElems; ++i) {
        const PartitionId to = partitions[ends.elems[i]];
        if (from == to) {
          subgraphs[from].addEdge(inside[node], graph->pins->elems[node]->elems[i], inside[ends.elems[i]]);
        } else {
          ++connCount[from][to];
          ++connCount[to][from];
        }
      }
    }
  }

  std::mt19937 random_{1};
};
