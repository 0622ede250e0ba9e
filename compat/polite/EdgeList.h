// SPDX-License-Identifier: Apache-2.0
/// A graph, read from a file of pairs of numbers: source and destination.
#pragma once

#include <assert.h>
#include <gossamer/core/exit_codes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utility>
#include <vector>

struct EdgeList {
  uint32_t numNodes = 0;
  uint32_t numEdges = 0;
  /// By node: the number of its outgoing neighbours, then their numbers in the reverse order of the file. This is
  /// the order of Tinsel 0.8.3, in which programs draw random weights.
  uint32_t** neighbours = nullptr;

  /// Reads a file; ends the program with one line if it cannot be read or is not a list of pairs.
  void read(const char* filename) {
    FILE* file = fopen(filename, "r");
    if (!file) fail(filename, 0, "cannot be opened");
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    unsigned long line = 1;
    uint64_t number[2];
    for (int have = 0;;) {
      int c = getc(file);
      while (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        line += c == '\n';
        c = getc(file);
      }
      if (c == EOF) {
        if (have) fail(filename, line, "has a source without a destination");
        break;
      }
      uint64_t value = 0;
      do {
        if (c < '0' || c > '9') fail(filename, line, "contains something other than numbers; write SOURCE DESTINATION");
        value = value * 10 + static_cast<uint64_t>(c - '0');
        if (value > 0xfffffffe) fail(filename, line, "has a number beyond 4294967294");
        c = getc(file);
      } while (c != EOF && c != ' ' && c != '\t' && c != '\r' && c != '\n');
      if (c != EOF) ungetc(c, file);
      number[have++] = value;
      if (have < 2) continue;
      have = 0;
      edges.emplace_back(static_cast<uint32_t>(number[0]), static_cast<uint32_t>(number[1]));
      for (const uint64_t node : number) {
        if (node >= numNodes) numNodes = static_cast<uint32_t>(node + 1);
      }
    }
    if (ferror(file)) fail(filename, 0, "cannot be read");
    fclose(file);
    numEdges = static_cast<uint32_t>(edges.size());
    std::vector<uint32_t> counts(numNodes);
    for (const auto& edge : edges) ++counts[edge.first];
    neighbours = static_cast<uint32_t**>(calloc(numNodes ? numNodes : 1, sizeof(uint32_t*)));
    for (uint32_t i = 0; i < numNodes; ++i) {
      neighbours[i] = static_cast<uint32_t*>(calloc(size_t{counts[i]} + 1, sizeof(uint32_t)));
    }
    for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
      uint32_t* const its = neighbours[edge->first];
      its[++its[0]] = edge->second;
    }
  }

  uint32_t maxFanOut() {
    uint32_t most = 0;
    for (uint32_t i = 0; i < numNodes; ++i) most = neighbours[i][0] > most ? neighbours[i][0] : most;
    return most;
  }
  uint32_t minFanOut() {
    uint32_t least = numNodes ? neighbours[0][0] : 0;
    for (uint32_t i = 0; i < numNodes; ++i) least = neighbours[i][0] < least ? neighbours[i][0] : least;
    return least;
  }

 private:
  [[noreturn]] static void fail(const char* filename, unsigned long line, const char* what) {
    if (line) {
      fprintf(stderr, "%s:%lu: %s\n", filename, line, what);
    } else {
      fprintf(stderr, "%s: %s\n", filename, what);
    }
    exit(GS_EXIT_INPUT);
  }
};
