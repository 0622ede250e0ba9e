// SPDX-License-Identifier: Apache-2.0
/// The host's graph of devices: the host builds it, maps it to threads, and writes it to the boards' memories.
#pragma once

#include <HostLink.h>
#include <POLite/Graph.h>
#include <POLite/InTables.h>
#include <POLite/PDevice.h>
#include <POLite/PRoutingDest.h>
#include <POLite/Seq.h>
#include <config.h>
#include <gossamer/host/vertices.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <vector>

template <typename DeviceType, typename S, typename E, typename M>
class PGraph {
  static_assert(std::is_trivially_copyable<S>::value, "the state of a device must be trivially copyable: plain data");
  static_assert(std::is_trivially_copyable<E>::value, "the label of an edge must be trivially copyable: plain data");
  static_assert(std::is_trivially_copyable<M>::value, "a message must be trivially copyable: plain data");
  static_assert(sizeof(M) + 4 <= TinselBytesPerMsg,
                "the message is too large: 4 bytes less than TinselBytesPerMsg of the configuration");

 public:
  uint32_t numBoardsX;
  uint32_t numBoardsY;
  uint32_t numDevices = 0;

  Graph graph;
  /// The label of each edge, in the order of graph.outgoing; left empty for types without data.
  Seq<Seq<E>*> edgeLabels;

  /// By device: its state, which the host sets between map() and write().
  PState<S>** devices = nullptr;
  /// Devices on each thread, by the thread's address.
  uint32_t* numDevicesOnThread = nullptr;
  /// After map(): the location of each device, and the devices by location: [thread][number].
  PDeviceAddr* toDeviceAddr = nullptr;
  PDeviceId** fromDeviceAddr = nullptr;

  /// Memory of each thread, by the thread's address: contents, size, address on the board. With `rtl`, valid from map()
  /// on: write() writes the contents as changed by the program, except for states, which are in `devices`. Empty with
  /// `cpu`.
  uint8_t** vertexMem = nullptr;  ///< states
  uint32_t* vertexMemSize = nullptr;
  uint32_t* vertexMemBase = nullptr;
  uint8_t** threadMem = nullptr;  ///< the thread's header
  uint32_t* threadMemSize = nullptr;
  uint32_t* threadMemBase = nullptr;
  uint8_t** inEdgeHeaderMem = nullptr;  ///< addresses of lists of edges
  uint32_t* inEdgeHeaderMemSize = nullptr;
  uint32_t* inEdgeHeaderMemBase = nullptr;
  uint8_t** inEdgeRestMem = nullptr;  ///< incoming edges
  uint32_t* inEdgeRestMemSize = nullptr;
  uint32_t* inEdgeRestMemBase = nullptr;
  uint8_t** outEdgeMem = nullptr;  ///< destinations of messages
  uint32_t* outEdgeMemSize = nullptr;
  uint32_t* outEdgeMemBase = nullptr;

  // Placement of data. No effect: data that threads write is in SRAM if it fits, all other data in DRAM.
  bool mapVerticesToDRAM = false;
  bool mapInEdgeHeadersToDRAM = true;
  bool mapInEdgeRestToDRAM = true;
  bool mapOutEdgesToDRAM = true;

  /// 1: reports the time of the mapping on standard error.
  uint32_t chatty = 0;

  PGraph() { construct(number("POLITE_BOARDS_X", 0), number("POLITE_BOARDS_Y", 0)); }
  /// A graph on the boards of the given number of boxes.
  PGraph(uint32_t numBoxesX, uint32_t numBoxesY) {
    construct(numBoxesX * TinselMeshXLenWithinBox, numBoxesY * TinselMeshYLenWithinBox);
  }
  PGraph(const PGraph&) = delete;
  PGraph& operator=(const PGraph&) = delete;
  ~PGraph() {
    releaseAll();
    for (int i = 0; i < edgeLabels.numElems; ++i) delete edgeLabels.elems[i];
  }

  /// Columns and rows of boards to use.
  void setNumBoards(uint32_t x, uint32_t y) {
    numBoardsX = x;
    numBoardsY = y;
  }

  PDeviceId newDevice() {
    if (hasLabels) edgeLabels.append(new Seq<E>(2));
    ++numDevices;
    return graph.newNode();
  }

  /// Adds an edge from a pin, with the label E{}.
  void addEdge(PDeviceId from, PinId pin, PDeviceId to) { addLabelledEdge(E{}, from, pin, to); }

  void addLabelledEdge(E edge, PDeviceId x, PinId pin, PDeviceId y) {
    check("PGraph::addEdge", x);
    check("PGraph::addEdge", y);
    if (pin < 0 || pin >= POLITE_NUM_PINS) {
      gossamer::host::reject_call("PGraph::addEdge",
                                  "there is no pin " + std::to_string(pin) + "; a device has pins 0 to " +
                                                    std::to_string(POLITE_NUM_PINS - 1) +
                                                    " (POLITE_NUM_PINS, to be set before POLite.h)");
    }
    graph.addEdge(x, pin, y);
    if (hasLabels) edgeLabels.elems[x]->append(edge);
  }

  uint32_t fanIn(PDeviceId id) {
    check("PGraph::fanIn", id);
    return graph.fanIn(id);
  }
  uint32_t fanOut(PDeviceId id) {
    check("PGraph::fanOut", id);
    return graph.fanOut(id);
  }

  /// Maps each device to a thread; creates `devices` and the tables of addresses.
  void map() {
    releaseAll();
    vertices_ = gossamer::host::Vertices();
    vertices_.count = numDevices;
    vertices_.stateBytes = sizeof(S);
    vertices_.edgeBytes = hasLabels ? sizeof(E) : 0;
    vertices_.messageBytes = sizeof(M);
    vertices_.boardsX = numBoardsX;
    vertices_.boardsY = numBoardsY;
    vertices_.chatty = chatty != 0;
    wire();
    vertices_.map();

    allocate();
    for (PDeviceId i = 0; i < numDevices; ++i) {
      const PThreadId thread = vertices_.threads[i];
      const uint32_t local = vertices_.locals[i];
      if (local >= fromDeviceAddr_[thread].size()) fromDeviceAddr_[thread].resize(local + 1);
      fromDeviceAddr_[thread][local] = i;
      ++numDevicesOnThread[thread];
      toDeviceAddr[i] = local * static_cast<uint32_t>(TinselMaxThreads) + thread;
    }
    for (size_t thread = 0; thread < fromDeviceAddr_.size(); ++thread) {
      fromDeviceAddr[thread] = fromDeviceAddr_[thread].data();
    }
  }

  /// Splits the edges of a device's pin into those to devices of its board and all others, each sorted by thread.
  void splitDests(PDeviceId devId, PinId pinId, Seq<PEdgeDest>* local, Seq<PEdgeDest>* nonLocal) {
    check("PGraph::splitDests", devId);
    mapped("PGraph::splitDests");
    const uint32_t board = boardOf(toDeviceAddr[devId]);
    local->clear();
    nonLocal->clear();
    const Seq<NodeId>& ends = *graph.outgoing->elems[devId];
    for (int at = 0; at < ends.numElems; ++at) {
      if (graph.pins->elems[devId]->elems[at] != pinId) continue;
      const NodeId dest = ends.elems[at];
      const PDeviceAddr addr = toDeviceAddr[dest];
      (boardOf(addr) == board ? local : nonLocal)->append({static_cast<uint32_t>(at), dest, addr});
    }
    for (Seq<PEdgeDest>* one : {local, nonLocal}) {
      std::stable_sort(one->elems, one->elems + one->numElems, [](const PEdgeDest& a, const PEdgeDest& b) {
        return getThreadId(a.addr) < getThreadId(b.addr);
      });
    }
  }

  /// Groups of receivers; see computeTables.
  PReceiverGroup groups[TinselThreadsPerMailbox];

  /// The lowest key that is free in the tables of the threads of the first `numGroups` groups.
  uint32_t findKey(uint32_t numGroups) { return in_tables_.find(groups, numGroups); }
  /// Allocates that key.
  uint32_t addInTableEntries(uint32_t numGroups) { return in_tables_.add(groups, numGroups); }

  /// For edges sorted by thread (splitDests): creates one message per receiving mailbox, with a mask of its threads and
  /// a key that is free at all of them. For programs that write router tables themselves; the mapper creates the
  /// graph's own tables independently.
  void computeTables(Seq<PEdgeDest>* dests, uint32_t d, Seq<PRoutingDest>* out) {
    check("PGraph::computeTables", d);
    out->clear();
    for (int at = 0; at < dests->numElems;) {
      const uint32_t mbox = getThreadId(dests->elems[at].addr) >> TinselLogThreadsPerMailbox;
      uint32_t count = 0;
      uint64_t mask = 0;
      for (; at < dests->numElems && getThreadId(dests->elems[at].addr) >> TinselLogThreadsPerMailbox == mbox; ++at) {
        const PThreadId thread = getThreadId(dests->elems[at].addr);
        if (!count || groups[count - 1].threadId != thread) groups[count++] = {thread, 0};
        ++groups[count - 1].numEdges;
        mask |= uint64_t{1} << (thread & (TinselThreadsPerMailbox - 1));
      }
      PRoutingDest dest;
      dest.kind = PRDestKindMRM;
      dest.mbox = mbox;
      dest.mrm.threadMaskLow = static_cast<uint32_t>(mask);
      dest.mrm.threadMaskHigh = static_cast<uint32_t>(mask >> 32);
      dest.mrm.key = static_cast<uint16_t>(addInTableEntries(count));
      out->append(dest);
    }
  }

  /// Writes a program's own memory contents for each thread, by the thread's address: contents, size, address.
  void writeRAM(HostLink* hostLink, uint8_t** heap, uint32_t* heapSize, uint32_t* heapBase) {
    for (PThreadId thread = 0; thread < TinselMaxThreads; ++thread) {
      if (!heapSize[thread]) continue;
      uint32_t x, y, core, its;
      hostLink->fromAddr(thread, &x, &y, &core, &its);
      std::vector<uint32_t> words((heapSize[thread] + 3) / 4);
      memcpy(words.data(), heap[thread], heapSize[thread]);
      hostLink->setAddr(x, y, core, heapBase[thread]);
      hostLink->store(x, y, core, static_cast<uint32_t>(words.size()), words.data());
    }
  }

  /// Writes states and tables; they are in the boards' memories when threads start.
  void write(HostLink* hostLink) {
    mapped("PGraph::write");
    (void)hostLink;
    std::vector<S> states(numDevices);
    for (PDeviceId i = 0; i < numDevices; ++i) states[i] = devices[i]->state;
    vertices_.write(states.data());
  }

  // The steps of map(), which performs them all.
  void allocatePartitions() {}
  void initialisePartitions() {}
  void allocateMapping() {}
  void allocateRoutingTables() { in_tables_.clear(); }
  void computeRoutingTables() {}

  /// Frees the results of map().
  void releaseAll() {
    delete[] devices;
    delete[] states_;
    delete[] numDevicesOnThread;
    delete[] toDeviceAddr;
    delete[] fromDeviceAddr;
    for (auto& region : regions()) {
      delete[] *region.mem;
      delete[] *region.size;
      delete[] *region.base;
      *region.mem = nullptr;
      *region.size = *region.base = nullptr;
    }
    in_tables_.clear();
    devices = nullptr;
    states_ = nullptr;
    numDevicesOnThread = nullptr;
    toDeviceAddr = nullptr;
    fromDeviceAddr = nullptr;
    fromDeviceAddr_.clear();
  }

 private:
  static constexpr bool hasLabels = !std::is_empty<E>::value;

  static uint32_t boardOf(PDeviceAddr addr) { return destBoard(getThreadId(addr) >> TinselLogThreadsPerMailbox); }

  void mapped(const char* call) const {
    if (!devices) gossamer::host::reject_call(call, "the graph is not mapped; call map() before");
  }

  struct Region {
    uint8_t*** mem;
    uint32_t** size;
    uint32_t** base;
  };
  /// In the order of gossamer::host::Vertices::Region.
  std::array<Region, gossamer::host::Vertices::kRegions> regions() {
    return {{{&vertexMem, &vertexMemSize, &vertexMemBase},
             {&threadMem, &threadMemSize, &threadMemBase},
             {&inEdgeHeaderMem, &inEdgeHeaderMemSize, &inEdgeHeaderMemBase},
             {&inEdgeRestMem, &inEdgeRestMemSize, &inEdgeRestMemBase},
             {&outEdgeMem, &outEdgeMemSize, &outEdgeMemBase}}};
  }

  static uint32_t number(const char* name, uint32_t usual) {
    const char* text = getenv(name);
    if (!text || !*text) return usual;
    char* end = nullptr;
    const unsigned long value = strtoul(text, &end, 10);
    if (*end || value > 1000) {
      gossamer::host::reject_call(name, std::string("is ") + text + ", which is not a number of boards");
    }
    return static_cast<uint32_t>(value);
  }

  void construct(uint32_t x, uint32_t y) {
    numBoardsX = x ? x : GS_BOARDS_WIDTH;
    numBoardsY = y ? y : GS_BOARDS_HEIGHT;
    if (const char* text = getenv("POLITE_CHATTY")) chatty = atoi(text) > 0;
  }

  void check(const char* call, PDeviceId id) const {
    if (id < numDevices) return;
    gossamer::host::reject_call(
        call, "there is no device " + std::to_string(id) + "; the graph has " + std::to_string(numDevices));
  }

  /// The edges of each pin by sender, for the mapper.
  void wire() {
    vertices_.pins.resize(POLITE_NUM_PINS);
    for (auto& pin : vertices_.pins) pin.offsets.assign(size_t{numDevices} + 1, 0);
    for (PDeviceId i = 0; i < numDevices; ++i) {
      const Seq<NodeId>& ends = *graph.outgoing->elems[i];
      const Seq<PinId>& pins = *graph.pins->elems[i];
      for (int at = 0; at < ends.numElems; ++at) {
        auto& pin = vertices_.pins[static_cast<size_t>(pins.elems[at])];
        pin.targets.push_back(ends.elems[at]);
        if (hasLabels) {
          const auto* label = reinterpret_cast<const uint8_t*>(&edgeLabels.elems[i]->elems[at]);
          pin.values.insert(pin.values.end(), label, label + sizeof(E));
        }
      }
      for (auto& pin : vertices_.pins) pin.offsets[size_t{i} + 1] = pin.targets.size();
    }
  }

  void allocate() {
    states_ = new PState<S>[numDevices ? numDevices : 1]();
    devices = new PState<S>*[numDevices ? numDevices : 1]();
    for (PDeviceId i = 0; i < numDevices; ++i) devices[i] = &states_[i];
    numDevicesOnThread = new uint32_t[TinselMaxThreads]();
    toDeviceAddr = new PDeviceAddr[numDevices ? numDevices : 1]();
    fromDeviceAddr = new PDeviceId*[TinselMaxThreads]();
    fromDeviceAddr_.resize(TinselMaxThreads);
    for (auto& region : regions()) {
      *region.mem = new uint8_t*[TinselMaxThreads]();
      *region.size = new uint32_t[TinselMaxThreads]();
      *region.base = new uint32_t[TinselMaxThreads]();
    }
    for (const auto& memory : vertices_.memories) {
      const auto& all = regions();
      for (size_t i = 0; i < all.size(); ++i) {
        (*all[i].mem)[memory.thread] = memory.regions[i].data;
        (*all[i].size)[memory.thread] = memory.regions[i].bytes;
        (*all[i].base)[memory.thread] = memory.regions[i].address;
      }
    }
  }

  gossamer::host::Vertices vertices_;
  gossamer::compat::InTables in_tables_;
  PState<S>* states_ = nullptr;
  std::vector<std::vector<PDeviceId>> fromDeviceAddr_;
};
