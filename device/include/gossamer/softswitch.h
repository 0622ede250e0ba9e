// SPDX-License-Identifier: Apache-2.0
/// The event loop of a thread that holds vertices: POLite on the overlay.
//
//   #include "vertex.h"                  // GOSSAMER_VERTEX(...)
//   #include <gossamer/softswitch.h>
//   int main(void) { return gossamer::Softswitch<GossamerVertex>::run(); }
//
// The host writes everything that a thread needs into DRAM and the address of its header into gossamer_polite_blocks. A
// message is a key and the vertex's message. The key stands for a list of edges at the receiving thread: one message to
// a thread serves all its vertices that the sender points to.
//
//   Header -> vertices (Vertex: state, where it wants to send, where its lists are)
//          -> queue of those that want to send: first in, first out, each at most once
//   Vertex.out -> for each pin: edges within the thread, then an Entry for each message to others
//   key -> edges: where they end; vertex and edge value of each
//
// Macros: GOSSAMER_POLITE_PINS is the number of pins that the graph has; GOSSAMER_POLITE_LISTENS is 1 if the host wants
// the messages to it (else they are counted); GOSSAMER_POLITE_MULTICAST is 0 for messages to one thread, whose key is
// the address of the edges, or 1 for messages to threads of a tile, whose key is an offset into a table of each: there
// the list itself stands if it fits into a cache line, else its address with bit 0 set.
#pragma once

#include <gossamer/polite.h>
#include <stddef.h>
#include <tinsel.h>

#ifndef GOSSAMER_POLITE_PINS
#define GOSSAMER_POLITE_PINS 1
#endif
#ifndef GOSSAMER_POLITE_LISTENS
#define GOSSAMER_POLITE_LISTENS 1
#endif
#ifndef GOSSAMER_POLITE_MULTICAST
#define GOSSAMER_POLITE_MULTICAST 0
#endif

/// Address of each thread's header, by its number on the board.
extern "C" uint32_t gossamer_polite_blocks[GS_MAX_THREADS];
extern "C" const uint32_t gossamer_polite_layout[];

namespace gossamer {

/// What the host has written for a thread, and what it finds in the end. Addresses are of DRAM.
struct PoliteHeader {
  uint32_t vertices;  // of this thread
  uint32_t total;     // of the graph
  uint32_t locals;    // address of the vertices
  uint32_t queue;     // address of `vertices` words, at least one
  uint32_t params;    // address of the run's parameters
  uint32_t most;      // steps after which the run is given up; 0: none
  uint32_t keys;      // address of the table by key
  // From here on written by the thread.
  uint32_t status;    // PoliteStatus
  uint32_t steps;
  uint32_t sends;
  uint32_t delivered;     // bytes of edges along which messages came, modulo 2^32
  uint32_t hostMessages;
  uint32_t wrongPin;  // of PoliteStatus WrongPin: the pin, and
  uint32_t wrong;     // the number of the vertex in the thread
};

enum PoliteStatus : uint32_t {
  PoliteRuns = 0,
  PoliteDone = 1,
  PoliteGivenUp = 2,  // more steps than `most`
  PoliteWrongPin = 3,  // a vertex wants to send on a pin that the graph does not have
};

template <typename V>
class Softswitch {
  using S = typename V::State;
  using E = typename V::Edge;
  using M = typename V::Message;
  using P = typename V::Params;

  struct Vertex {
    S state;
    PPin pin;        // *readyToSend
    uint8_t queued;  // 1: it stands in the queue
    uint32_t out;    // address of its list, or of the lists' addresses where there are several pins
  };
  /// An edge into a vertex.
  struct Edge {
    uint32_t vertex;  // address
    [[no_unique_address]] E value;
  };
  struct alignas(alignof(Edge)) EdgeList {
    uint32_t end;  // address behind the last edge; the first follows, there is one at least
  };
  /// Where messages on a pin go: `own` is a list of edges within the thread, or 0; then `count` entries.
  struct List {
    uint32_t own;
    uint32_t count;
  };
  struct Entry {
#if GOSSAMER_POLITE_MULTICAST
    uint32_t tile;  // as the register send_tile takes it
    uint32_t key;
    uint32_t maskLow;
    uint32_t maskHigh;
#else
    uint32_t thread;
    uint32_t key;
#endif
  };
  struct Message {
    uint32_t key;
    uint8_t payload[sizeof(M)];
  };
  static_assert(sizeof(Message) <= 1u << GS_LOG_SLOT_BYTES, "the message does not fit into a slot");

 public:
  /// Runs this thread's vertices to the end of the job. Gives the thread's exit code: 0, or 1 where it was given up.
  static int run() {
    auto* header = reinterpret_cast<PoliteHeader*>(gossamer_polite_blocks[gossamerThread()]);
    auto* const vertices = reinterpret_cast<Vertex*>(header->locals);
    Vertex* const end = vertices + header->vertices;
    Vertex** const ring = reinterpret_cast<Vertex**>(header->queue);
    Vertex** const ringEnd = ring + header->vertices;
#if GOSSAMER_POLITE_MULTICAST
    const uint32_t keys = header->keys;
#endif
    Vertex** head = ring;
    Vertex** tail = ring;
    uint32_t waiting = 0;  // vertices in the queue
    uint32_t sends = 0, delivered = 0, hostMessages = 0;
    auto* const slot = const_cast<uint32_t*>(static_cast<volatile uint32_t*>(tinselSendSlot()));
    V now;  // what handlers see; `s` and `readyToSend` differ from call to call
    now.params = reinterpret_cast<const P*>(header->params);
    now.numVertices = header->total;
    now.time = 0;

    const auto queue = [&](Vertex* vertex) __attribute__((always_inline)) {
      if (vertex->pin == No || vertex->queued) return;
      vertex->queued = 1;
      *tail = vertex;
      if (++tail == ringEnd) tail = ring;
      ++waiting;
    };
    const auto at = [&](Vertex* vertex) __attribute__((always_inline)) -> V {
      V x = now;
      x.s = &vertex->state;
      x.readyToSend = &vertex->pin;
      return x;
    };
    const auto deliver = [&](const M& message, const EdgeList* list) __attribute__((always_inline)) {
      const auto* edge = reinterpret_cast<const Edge*>(list + 1);
      const auto* const last = reinterpret_cast<const Edge*>(list->end);
      delivered += list->end - reinterpret_cast<uint32_t>(edge);
      do {
        auto* const vertex = reinterpret_cast<Vertex*>(edge->vertex);
        // Most handlers leave it alone, which the compiler sees: then there is nothing to look at.
        const PPin before = vertex->pin;
        M copy = message;
        at(vertex).recv(&copy, const_cast<E*>(&edge->value));
        if (before == No && vertex->pin != No) queue(vertex);
      } while (++edge != last);
    };
    // The bus of slots is 32 bits wide and wants whole words.
    const auto fill = [&](const M& message) __attribute__((always_inline)) {
      Message packed;
      __builtin_memcpy(packed.payload, &message, sizeof(M));
      uint32_t words[(sizeof(Message) + 3) / 4];
      __builtin_memcpy(words, &packed, sizeof packed);
      for (unsigned i = 1; i < sizeof words / 4; ++i) slot[i] = words[i];
    };

    tinselSetLen((sizeof(Message) + GS_FLIT_BYTES - 1) / GS_FLIT_BYTES);
    GS_CSR_WRITE(GS_CSR_SEND_SLOT, reinterpret_cast<uintptr_t>(slot));
    for (Vertex* vertex = vertices; vertex != end; ++vertex) {
      at(vertex).init();
      queue(vertex);
    }

    const Entry* next = nullptr;  // entries of the message in the slot that are still to be sent
    const Entry* behind = nullptr;
    bool active = true;
    for (;;) {
      if (next != behind) {
        if (tinselCanSend()) {
          slot[0] = next->key;
#if GOSSAMER_POLITE_MULTICAST
          GS_CSR_WRITE(GS_CSR_SEND_MASK_LOW, next->maskLow);
          GS_CSR_WRITE(GS_CSR_SEND_MASK_HIGH, next->maskHigh);
          GS_CSR_WRITE(GS_CSR_SEND_TILE, next->tile);
#else
          GS_CSR_WRITE(GS_CSR_SEND_DEST, next->thread);
#endif
          ++next;
          continue;
        }
        // Whoever waits to send keeps receiving, or full mailboxes would wait for each other for ever.
        tinselWaitUntil(TINSEL_CAN_SEND | TINSEL_CAN_RECV);
        if (!tinselCanRecv()) continue;
      } else if (waiting && tinselCanSend()) {
        Vertex* const vertex = *head;
        if (++head == ringEnd) head = ring;
        --waiting;
        vertex->queued = 0;
        const unsigned pin = vertex->pin;
        if (pin != No) {
          M message{};
          at(vertex).send(&message);
          queue(vertex);
          ++sends;
          fill(message);
          if (pin == HostPin) {
            ++hostMessages;
            if (GOSSAMER_POLITE_LISTENS) {
              slot[0] = 0;
              GS_CSR_WRITE(GS_CSR_SEND_DEST, tinselHostId());
            }
          } else if (pin - 2 < GOSSAMER_POLITE_PINS) {
            const uint32_t* lists = reinterpret_cast<const uint32_t*>(vertex->out);
            const auto* list = reinterpret_cast<const List*>(lists);
            if (GOSSAMER_POLITE_PINS > 1) list = reinterpret_cast<const List*>(lists[pin - 2]);
            next = reinterpret_cast<const Entry*>(list + 1);
            behind = next + list->count;
            if (list->own) deliver(message, reinterpret_cast<const EdgeList*>(list->own));
          } else {
            header->status = PoliteWrongPin;
            header->wrongPin = pin - 2;
            header->wrong = static_cast<uint32_t>(vertex - vertices);
            tinselCacheFlush();
            return 1;
          }
        }
        if (!tinselCanRecv()) continue;
      } else if (waiting) {
        tinselWaitUntil(TINSEL_CAN_SEND | TINSEL_CAN_RECV);
        if (!tinselCanRecv()) continue;
      } else if (!tinselCanRecv()) {
        const int idle = tinselIdle(!active);
        if (idle == 2) break;
        if (idle == 1) {
          if (header->most && now.time == header->most) {
            header->status = PoliteGivenUp;
            break;
          }
          active = false;
          for (Vertex* vertex = vertices; vertex != end; ++vertex) {
            active |= at(vertex).step();
            queue(vertex);
          }
          ++now.time;
          continue;
        }
      }
      auto* const message = const_cast<uint32_t*>(static_cast<volatile uint32_t*>(tinselRecv()));
      M received;
      __builtin_memcpy(&received, message + 1, sizeof(M));
#if GOSSAMER_POLITE_MULTICAST
      const auto* edges = reinterpret_cast<const EdgeList*>(keys + message[0]);
      if (edges->end & 1) edges = reinterpret_cast<const EdgeList*>(edges->end - 1);
#else
      const auto* edges = reinterpret_cast<const EdgeList*>(message[0]);
#endif
      tinselFree(message);
      deliver(received, edges);
    }

    if (header->status == PoliteRuns) {
      for (Vertex* vertex = vertices; vertex != end; ++vertex) {
        M message{};
        if (!at(vertex).finish(&message)) continue;
        ++hostMessages;
        if (!GOSSAMER_POLITE_LISTENS) continue;
        tinselWaitUntil(TINSEL_CAN_SEND);
        fill(message);
        slot[0] = 0;
        GS_CSR_WRITE(GS_CSR_SEND_DEST, tinselHostId());
      }
      header->status = PoliteDone;
    }
    header->steps = now.time;
    header->sends = sends;
    header->delivered = delivered;
    header->hostMessages = hostMessages;
    return header->status == PoliteDone ? 0 : 1;
  }

  /// What the host must know to write blocks: sizes and offsets in bytes.
  struct Layout {
    static constexpr uint32_t vertex = sizeof(Vertex);
    static constexpr uint32_t state = offsetof(Vertex, state);
    static constexpr uint32_t out = offsetof(Vertex, out);
    static constexpr uint32_t edge = sizeof(Edge);
    static constexpr uint32_t value = offsetof(Edge, value);
    static constexpr uint32_t list = sizeof(EdgeList);
  };
};

}  // namespace gossamer

/// The program of a vertex, for a freestanding compiler. Once in a program.
#define GOSSAMER_SOFTSWITCH(VERTEX)                                                                                 \
  uint32_t gossamer_polite_blocks[GS_MAX_THREADS];                                                                  \
  __attribute__((used, retain)) const uint32_t gossamer_polite_layout[] = {                                         \
      ::gossamer::Softswitch<VERTEX>::Layout::vertex, ::gossamer::Softswitch<VERTEX>::Layout::state,                \
      ::gossamer::Softswitch<VERTEX>::Layout::out,    ::gossamer::Softswitch<VERTEX>::Layout::edge,                 \
      ::gossamer::Softswitch<VERTEX>::Layout::value,  ::gossamer::Softswitch<VERTEX>::Layout::list,                 \
      sizeof(::gossamer::PoliteHeader)};                                                                            \
  extern "C" int main(void) { return ::gossamer::Softswitch<VERTEX>::run(); }
