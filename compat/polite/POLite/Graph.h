// SPDX-License-Identifier: Apache-2.0
/// Nodes with edges that leave from numbered pins.
#pragma once

#include <POLite/PDevice.h>
#include <POLite/Seq.h>

typedef uint32_t NodeLabel;

class Graph {
 public:
  Seq<Seq<NodeId>*>* incoming = new Seq<Seq<NodeId>*>;  ///< by node: the sources of its incoming edges
  Seq<Seq<NodeId>*>* outgoing = new Seq<Seq<NodeId>*>;  ///< by node: the destinations of its outgoing edges
  Seq<Seq<PinId>*>* pins = new Seq<Seq<PinId>*>;        ///< and their pins, in the same order

  Seq<NodeLabel>* labels = new Seq<NodeLabel>;          ///< by node: a number for the program's use, 0 at first

  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    for (int i = 0; i < incoming->numElems; ++i) {
      delete incoming->elems[i];
      delete outgoing->elems[i];
      delete pins->elems[i];
    }
    delete incoming;
    delete outgoing;
    delete pins;
    delete labels;
  }

  NodeId newNode() {
    incoming->append(new Seq<NodeId>(2));
    outgoing->append(new Seq<NodeId>(2));
    pins->append(new Seq<PinId>(2));
    labels->append(0);
    return static_cast<NodeId>(incoming->numElems - 1);
  }
  void setLabel(NodeId id, NodeLabel label) { labels->elems[id] = label; }
  void addEdge(NodeId x, PinId p, NodeId y) {
    outgoing->elems[x]->append(y);
    pins->elems[x]->append(p);
    incoming->elems[y]->append(x);
  }
  void addBidirectionalEdge(NodeId x, PinId px, NodeId y, PinId py) {
    addEdge(x, px, y);
    addEdge(y, py, x);
  }
  uint32_t fanIn(NodeId id) const { return static_cast<uint32_t>(incoming->elems[id]->numElems); }
  uint32_t fanOut(NodeId id) const { return static_cast<uint32_t>(outgoing->elems[id]->numElems); }
  uint32_t nodeCount() const { return static_cast<uint32_t>(incoming->numElems); }
};
