// SPDX-License-Identifier: Apache-2.0
/// The event loop of a thread that holds vertices: POLite on the overlay.
//
//   #include "vertex.h"                  // GOSSAMER_VERTEX(...)
//   #include <gossamer/softswitch.h>
//   int main(void) { return gossamer::Softswitch<GossamerVertex>::run(); }
//
// The host writes each thread's data to DRAM and the address of its header to gossamer_polite_blocks. A message
// consists of a key and the vertex's message. The key selects a list of edges at the receiving thread: one message to a
// thread serves all its vertices that the sender has edges to.
//
//   Header -> states of the vertices, contiguous: `recv` accesses only them, and a thread has little cache. The offset
//             of its state identifies a vertex.
//          -> flags: for each vertex where it is ready to send, and whether it is in the queue without being ready
//          -> queue of vertices that are ready to send: first in, first out, each at most once
//          -> outs: for each vertex and pin the address of an EdgeList within the thread, which may be empty; after it
//             an Entry for each message to others, up to the next vertex's or pin's list. If the graph changes, or
//             vertices read their own edges, the list's end is stored next to its address; in the latter case the own
//             edges (thread_edges.h) of each vertex follow its lists
//   key -> EdgeList: the number of bytes of edges; vertex and edge value of each. The key of a message to one thread
//          may be the vertex itself, its offset plus one: then there is no list
//
// Macros: GOSSAMER_POLITE_PINS is the number of pins of the graph; GOSSAMER_POLITE_LISTENS is 1 if the host receives
// the messages to it (else they are counted); GOSSAMER_POLITE_MULTICAST is 0 for messages to one thread, whose key is
// the address of the edges, 1 for messages to threads of a tile, whose key is the offset of the edges in a table of
// each, or 2 for these and messages by a key of the board's multicast router; GOSSAMER_POLITE_WIDE is 1 if offsets
// of states and lengths of lists need more than 16 bits; GOSSAMER_POLITE_HOSTED is 1 if a host sends messages to
// vertices and takes part in barriers (hosted.h); GOSSAMER_POLITE_HEARS is 1 if it only sends messages;
// GOSSAMER_POLITE_CHANGES is 1 if the host changes the tables between two parts of a run: threads end with each part,
// and begin the next one from the stored states.
#pragma once

#include <gossamer/hosted.h>
#include <gossamer/polite.h>
#include <gossamer/thread_aggregates.h>
#include <gossamer/thread_edges.h>
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
#ifndef GOSSAMER_POLITE_WIDE
#define GOSSAMER_POLITE_WIDE 0
#endif
#ifndef GOSSAMER_POLITE_HOSTED
#define GOSSAMER_POLITE_HOSTED 0
#endif
#ifndef GOSSAMER_POLITE_HEARS
#define GOSSAMER_POLITE_HEARS GOSSAMER_POLITE_HOSTED
#endif
#ifndef GOSSAMER_POLITE_CHANGES
#define GOSSAMER_POLITE_CHANGES 0
#endif

/// Address of each thread's header, by its number on the board.
extern "C" uint32_t gossamer_polite_blocks[GS_MAX_THREADS];
extern "C" const uint32_t gossamer_polite_layout[];

namespace gossamer {

/// Header of a thread: written by the host, with results of the thread. Addresses are of DRAM.
struct PoliteHeader {
  uint32_t vertices;  // of this thread
  uint32_t total;     // of the graph
  uint32_t states;    // address of the vertices' states
  uint32_t flags;     // address of their flags
  uint32_t outs;      // address of their lists' addresses
  uint32_t queue;     // address of the ring buffer for `vertices` + 1 offsets
  uint32_t params;    // address of the run's parameters
  uint32_t most;      // limit of steps
  uint32_t keys;      // address of the table by key
  // Written by the thread from here on.
  uint32_t status;  // PoliteStatus
  uint32_t steps;
  uint32_t sends;
  uint32_t delivered;  // bytes of edges along which messages were delivered, modulo 2^32
  uint32_t hostMessages;
  uint32_t wrongPin;  // for PoliteStatus WrongPin or WrongEdge: the pin or edge, and
  uint32_t wrong;     // the number of the vertex on the thread
  uint32_t retired;   // instructions that the thread has completed since `run`, modulo 2^32
  // Followed by the words of the last step's aggregates.
};

enum PoliteStatus : uint32_t {
  PoliteRuns = 0,
  PoliteDone = 1,
  PoliteGivenUp = 2,    // more steps than `most`
  PoliteWrongPin = 3,   // a vertex sends on a pin that the graph does not have
  PoliteWrongEdge = 4,  // a vertex sends along an edge that it does not have
  PoliteStopped = 5,    // the host has aborted the run
};

template <typename V>
class Softswitch {
  using S = typename V::State;
  using E = typename V::Edge;
  using M = typename V::Message;
  using P = typename V::Params;
  using A = typename V::Aggregates;
  static constexpr size_t words = aggregates::count<A>;
  static constexpr bool isHosted = GOSSAMER_POLITE_HOSTED;
  static constexpr bool receivesMessages = GOSSAMER_POLITE_HEARS;
  static constexpr bool isDynamic = GOSSAMER_POLITE_CHANGES;
  using Own = OwnEdges<V>;
  static constexpr uint32_t outWords = isDynamic || Own::some ? 2 : 1;  // of a list's address, and its end
  static constexpr uint32_t listWords = GOSSAMER_POLITE_PINS * outWords;
  static constexpr unsigned Patience = 32;  // messages received before one is sent: twice a thread's queue
  static constexpr uint32_t vertexWords = listWords + Own::words;  // of a vertex in `outs`

#if GOSSAMER_POLITE_WIDE
  using Offset = uint32_t;
#else
  using Offset = uint16_t;
#endif
  static constexpr uint32_t stride = sizeof(S) < 2 ? 2 : sizeof(S);  // from state to state
  /// A distinct type: stores through a character type may alias anything.
  /// Values after Inside are the host's marks if the graph changes: how a part begins, or that an entry is empty.
  enum Queued : uint8_t { AsPin, Inside, Begins, Changed, Gone };
  /// A vertex that is ready to send is in the queue. If it is no longer ready, it stays there, marked Inside, until it
  /// is dequeued.
  struct Flags {
    PPin pin;  // *readyToSend
    Queued queued;
  };
  /// The stride of flags is that of states divided by a power of two, so an offset locates both, with a shift.
  static constexpr unsigned flagShift = [] {
    unsigned shift = 0;
    while (stride % (2u << shift) == 0 && stride >> (shift + 1) >= sizeof(Flags)) ++shift;
    return shift;
  }();
  /// An edge into a vertex.
  struct Edge {
    Offset vertex;
    [[no_unique_address]] E value;
  };
  struct alignas(alignof(Edge)) EdgeList {
    // Of the edges that follow. A message's list has at least one, unless it belongs to a router's key and its edges
    // were removed.
    Offset bytes;
  };
  struct Entry {
#if GOSSAMER_POLITE_MULTICAST
    uint32_t tile;     // format of the register send_tile; 0: the router's records contain the receivers and their keys
    uint32_t key;      // then 0
    uint32_t maskLow;  // then the key of the router
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
  /// The key of a message to one thread contains a single edge, unless the edge has a value or the list may grow.
  static constexpr bool namesVertex =
      !GOSSAMER_POLITE_MULTICAST && sizeof(Edge) == sizeof(Offset) && !Own::some && !isDynamic;
  static_assert(sizeof(Message) <= 1u << GS_LOG_SLOT_BYTES, "the message does not fit into a slot");

 public:
  /// Runs this thread's vertices to the end of the job. Returns the thread's exit code: 0, or 1 if it did not complete.
  static int run() {
    auto* header = reinterpret_cast<PoliteHeader*>(gossamer_polite_blocks[gossamerThread()]);
    header->retired = -tinselInstrCount();  // the counter is not reset between runs
    const uint32_t states = header->states, flags = header->flags;
    const auto* const outs = reinterpret_cast<const uint32_t*>(header->outs);
    auto* const ring = reinterpret_cast<Offset*>(header->queue);
    Offset* const ringEnd = ring + header->vertices + 1;  // one entry stays free, to distinguish empty from full
#if GOSSAMER_POLITE_MULTICAST
    const uint32_t keys = header->keys;
#endif
    Offset* head = ring;
    Offset* tail = ring;
    uint32_t sends = 0, delivered = 0;
    auto* const slot = const_cast<uint32_t*>(static_cast<volatile uint32_t*>(tinselSendSlot()));
    V now = first(header);

    const auto flagsOf = [&](uint32_t vertex) __attribute__((always_inline)) {
      return reinterpret_cast<Flags*>(flags + (vertex >> flagShift));
    };
    const auto queue = [&](uint32_t vertex, Flags* its) __attribute__((always_inline)) {
      if (its->pin == No) return;
      if (its->queued) {
        its->queued = AsPin;
        return;
      }
      *tail = static_cast<Offset>(vertex);
      if (++tail == ringEnd) tail = ring;
    };
    // All vertices were visited, and those that are ready to send are in the queue, which was empty.
    const auto queued = [&](Offset* end) __attribute__((always_inline)) {
      head = ring;
      tail = end;
    };
    const auto receive = [&](const M& message, uint32_t vertex, const E* value) __attribute__((always_inline)) {
      Flags* const its = flagsOf(vertex);
      // The compiler removes this for most handlers, which do not change it.
      const PPin before = its->pin;
      M copy = message;
      V receiver = at(now, states + vertex, its);
      if constexpr (Own::some) Own::show(receiver, outsOf(outs, vertex) + listWords);
      receiver.recv(&copy, const_cast<E*>(value));
      if (before == No && its->pin != No) queue(vertex, its);
      if (before != No && its->pin == No) its->queued = Inside;
    };
    const auto deliver = [&](const M& message, const EdgeList* list) __attribute__((always_inline)) {
      if (isDynamic && GOSSAMER_POLITE_MULTICAST == 2 && !list->bytes) return;
      if constexpr (sizeof(Edge) == 2) {
        // Two offsets per word: the cache accepts one request a cycle from all threads of its cores.
        const E none{};
        uint32_t word = *reinterpret_cast<const uint32_t*>(list);
        uint32_t here = reinterpret_cast<uint32_t>(list);
        delivered += word & 0xFFFF;
        uint32_t last = here + (word & 0xFFFF), odd = last ^ 2;  // one of them is the last word's address
        asm("" : "+r"(last), "+r"(odd));
        for (;;) {
          receive(message, word >> 16, &none);
          if (here == odd) break;
          here += 4;
          asm("" : "+r"(here));  // else the compiler also maintains distances to both ends
          word = *reinterpret_cast<const uint32_t*>(here);
          receive(message, word & 0xFFFF, &none);
          if (here == last) break;
        }
      } else {
        const auto* edge = reinterpret_cast<const Edge*>(list + 1);
        const auto* last = reinterpret_cast<const Edge*>(reinterpret_cast<uint32_t>(edge) + list->bytes);
        delivered += list->bytes;
        do {
          receive(message, edge->vertex, &edge->value);
          asm("" : "+r"(edge));  // else the compiler adds a loop counter
        } while (++edge != last);
      }
    };
    // In flits minus one. The unit of tinselSetLen would depend on GOSSAMER_COMPAT.
    GS_CSR_WRITE(GS_CSR_SEND_LENGTH, (sizeof(Message) - 1) / GS_FLIT_BYTES);
    GS_CSR_WRITE(GS_CSR_SEND_SLOT, reinterpret_cast<uintptr_t>(slot));
    if constexpr (isDynamic) {
      header->status = PoliteRuns;
      header->steps = 0;
      header->hostMessages = 0;
      queued(goOnAll(header));
    } else {
      queued(initAll(header));
    }

    const Entry* next = nullptr;  // remaining entries of the message in the slot
    const Entry* listEnd = nullptr;
    unsigned active = 1;
    unsigned patience = Patience;
    const auto tired = [&patience] {
      if (--patience) return false;
      patience = Patience;
      return true;
    };
    int64_t totals[totalWords<A>];  // of the last step
    aggregates::save(A{}, totals);
    [[maybe_unused]] std::conditional_t<isHosted, Hosted<A>, None> hosted;
    for (;;) {
      M message;
      const EdgeList* edges;
      [[maybe_unused]] const Edge* one = nullptr;  // of a message along one edge
      if (next != listEnd) {
        if (tinselCanSend()) {
        entry:
          slot[0] = next->key;
#if GOSSAMER_POLITE_MULTICAST
          if (GOSSAMER_POLITE_MULTICAST == 2 && !next->tile) {
            GS_CSR_WRITE(GS_CSR_SEND_KEY, next->maskLow);
          } else {
            GS_CSR_WRITE(GS_CSR_SEND_MASK_LOW, next->maskLow);
            GS_CSR_WRITE(GS_CSR_SEND_MASK_HIGH, next->maskHigh);
            GS_CSR_WRITE(GS_CSR_SEND_TILE, next->tile);
          }
#else
          GS_CSR_WRITE(GS_CSR_SEND_DEST, next->thread);
#endif
          ++next;
          if (!tinselCanRecv()) continue;
        } else {
          // Keeps receiving while it waits to send: otherwise full mailboxes could deadlock.
          tinselWaitUntil(TINSEL_CAN_SEND | TINSEL_CAN_RECV);
          if (!tinselCanRecv()) continue;
        }
      } else if (head != tail && tinselCanSend()) {
        uint32_t vertex = *head;
        ++head;
        asm("" : "+r"(vertex), "+r"(head));  // else the compiler keeps both the old and the new head
        if (__builtin_expect(head == ringEnd, 0)) head = ring;
        Flags* const its = flagsOf(vertex);
        const unsigned pin = its->pin;
        if (pin != No) {
          message = M{};
          V sender = at(now, states + vertex, its);
          if constexpr (Own::some) Own::show(sender, outsOf(outs, vertex) + listWords);
          sender.send(&message);
          queue(vertex, its);
          ++sends;
          fill(slot, message);
          if (__builtin_expect(GOSSAMER_POLITE_PINS == 1 ? pin == Pin(0) : pin - 2 < GOSSAMER_POLITE_PINS, 1)) {
            const uint32_t* out = outsOf(outs, vertex) + (GOSSAMER_POLITE_PINS == 1 ? 0 : (pin - 2) * outWords);
            edges = reinterpret_cast<const EdgeList*>(out[0]);
            constexpr uint32_t unit = alignof(EdgeList) < 4 ? 4 : alignof(EdgeList);
            listEnd = reinterpret_cast<const Entry*>(out[1]);
            if (const uint32_t bytes = edges->bytes; __builtin_expect(bytes != 0, 0)) {
              next = reinterpret_cast<const Entry*>((out[0] + sizeof(EdgeList) + bytes + unit - 1) & -unit);
              goto found;
            }
            next = reinterpret_cast<const Entry*>(out[0] + ((sizeof(EdgeList) + unit - 1) & -unit));
            if (next != listEnd) goto entry;  // still ready to send
          } else if (pin == HostPin) {
            ++header->hostMessages;
            if (GOSSAMER_POLITE_LISTENS) {
              slot[0] = 0;
              GS_CSR_WRITE(GS_CSR_SEND_DEST, tinselHostId());
            }
          } else {
            uint32_t status = PoliteWrongPin, wrong = pin - 2;
            if constexpr (Own::some) {
              if (const AlongEdge* const to = Own::along(sender); pin == OneEdge && to) {
                if (to->thread == tinselId()) {
                  one = reinterpret_cast<const Edge*>(to->key - 1);
                  goto found;
                } else {
                  slot[0] = to->key;
                  GS_CSR_WRITE(GS_CSR_SEND_DEST, to->thread);
                }
                status = PoliteRuns;
              } else if (pin == OneEdge) {
                status = PoliteWrongEdge;
                wrong = Own::named(sender);
              }
            }
            if (status != PoliteRuns) {
              header->status = status;
              header->wrongPin = wrong;
              header->wrong = vertex / stride;
              if constexpr (isHosted) {
                const uint32_t key = status == PoliteWrongPin ? HostWrongPin : HostWrongEdge;
                const uint32_t report[] = {key, wrong, vertex / stride, tinselId()};
                for (unsigned i = 0; i < 4; ++i) slot[i] = report[i];
                GS_CSR_WRITE(GS_CSR_SEND_DEST, tinselHostId());
                breakOff();  // the host receives an error message, and stops the others
              }
              tinselCacheFlush();
              return 1;
            }
          }
        }
        if (pin == No) its->queued = AsPin;
        if (!tinselCanRecv()) continue;
      } else if (head != tail) {
        tinselWaitUntil(TINSEL_CAN_SEND | TINSEL_CAN_RECV);
        if (!tinselCanRecv()) continue;
      } else if (!tinselCanRecv()) {
        int idle;
        if constexpr (isHosted) {
          idle = hosted.idle(active, totals, slot);
          if (!idle) continue;
        } else {
          idle = tinselIdle(!active);
          // The release that ends the step's messages carries the first two words; the others have been received.
          if (words > 0 && idle == 2 && header->steps) readWords<A>(totals, 0, totals);
        }
        if (idle == 2) break;
        if (idle) {
          if (header->steps == header->most) {
            header->status = PoliteGivenUp;
            // One more step, so that the flags show which vertices would continue to send.
            if constexpr (isHosted) {
              stepAll(header, header->steps, totals, hosted.given);
            } else {
              stepAll(header, header->steps, totals);
            }
            break;
          }
          Stepped stepped;
          if constexpr (isHosted) {
            stepped = stepAll(header, header->steps, totals, hosted.given);
          } else {
            stepped = stepAll(header, header->steps, totals);
          }
          queued(stepped.queued);
          active = stepped.active;
          now.time = header->steps;
          continue;
        }
      }
      // Receives before it sends: a thread whose queue is full blocks the input of its whole tile, and thereby the
      // links. But a thread that receives continuously must still send.
      for (;;) {
        {  // so that a jump to `found` bypasses no initialization
          auto* const arrived = const_cast<uint32_t*>(static_cast<volatile uint32_t*>(tinselRecv()));
          if constexpr (isHosted) {
            if (arrived[0] == HostAnswer) {
              hosted.answer(arrived[1]);
              tinselFree(arrived);
              break;
            }
            if (arrived[0] == HostStop) {
              tinselFree(arrived);
              header->status = PoliteStopped;
              breakOff();
              tinselCacheFlush();
              return 1;
            }
          }
          __builtin_memcpy(&message, arrived + 1, sizeof(M));
          if constexpr (receivesMessages) {
            if (const uint32_t key = arrived[0]; key & HostToVertex) {
              tinselFree(arrived);
              const E unit{};
              delivered += sizeof(Edge);
              receive(message, key & ~HostToVertex, &unit);
              break;
            }
          }
          if constexpr (namesVertex) {
            if (const uint32_t key = arrived[0]; key & 1) {
              tinselFree(arrived);
              const E none{};
              delivered += sizeof(Edge);
              receive(message, key - 1, &none);
              if (!tinselCanRecv() || tired()) break;
              continue;
            }
          }
#if GOSSAMER_POLITE_MULTICAST
          const uint32_t listAddress = keys + arrived[0];
#else
          const uint32_t listAddress = arrived[0];
#endif
          edges = reinterpret_cast<const EdgeList*>(listAddress);
          // Tables by key are line-aligned, so an odd key is an odd address.
          if constexpr (Own::some) one = listAddress & 1 ? reinterpret_cast<const Edge*>(listAddress - 1) : nullptr;
          tinselFree(arrived);
        }
      found:
        if (Own::some && one) {
          delivered += sizeof(Edge);
          receive(message, one->vertex, &one->value);
        } else {
          deliver(message, edges);
        }
        if (!tinselCanRecv() || tired()) break;
      }
    }

    if (header->status == PoliteRuns) {
      header->hostMessages += finishAll(header, header->steps, slot);
      header->status = PoliteDone;
    }
    __builtin_memcpy(header + 1, totals, sizeof(int64_t) * words);
    header->sends = sends;
    header->delivered = delivered;
    header->retired += tinselInstrCount();
    if constexpr (isHosted) tinselCacheFlush();  // the host reads memory
    return header->status == PoliteDone ? 0 : 1;
  }

 private:
  // Separate functions visit all vertices, so that they and the loop above can each use all registers.
  struct Stepped {
    Offset* queued;
    unsigned active;
  };

  /// The lists of a vertex. Its offset is a multiple of `stride`, so dividing by the odd part of that is one
  /// multiplication, modulo 2^32; the rest is a shift.
  INLINE const uint32_t* outsOf(const uint32_t* outs, uint32_t vertex) {
    constexpr unsigned twos = static_cast<unsigned>(__builtin_ctz(stride));
    constexpr uint32_t inverse = [] {
      uint32_t x = 1;  // each round doubles the number of correct bits
      for (int round = 0; round < 5; ++round) x *= 2 - (stride >> twos) * x;
      return x;
    }();
    const uint32_t scaled = vertex * (inverse * vertexWords);
    const uint32_t bytes = twos >= 2 ? scaled >> (twos - 2) : scaled << (2 - twos);
    return reinterpret_cast<const uint32_t*>(reinterpret_cast<uint32_t>(outs) + bytes);
  }
  template <bool Few>
  using Copied = std::conditional_t<Few, P, None>;
  template <bool Few>
  INLINE Copied<Few> copied(const P* params) {
    if constexpr (Few) return *params;
    return {};
  }
  /// The vertex object of handlers; `s` and `readyToSend` change from call to call.
  INLINE V first(const PoliteHeader* header, uint32_t time = 0) {
    V now;
    now.params = reinterpret_cast<const P*>(header->params);
    now.numVertices = header->total;
    now.time = time;
    return now;
  }
  INLINE V at(V now, uint32_t state, Flags* its) {
    now.s = reinterpret_cast<S*>(state);
    now.readyToSend = &its->pin;
    return now;
  }
  /// Calls visit(vertex, flags) for every vertex, and queues those that are then ready to send. Returns the queue's
  /// end.
  template <typename Visit>
  INLINE Offset* all(const PoliteHeader* header, V now, Visit&& visit) {
    const uint32_t states = header->states, end = states + header->vertices * stride;
    uint32_t flags = header->flags;
    auto* tail = reinterpret_cast<Offset*>(header->queue);
    const auto* own = reinterpret_cast<const uint32_t*>(header->outs) + listWords;
    for (uint32_t state = states; state != end; state += stride, flags += stride >> flagShift, own += vertexWords) {
      asm("" : "+r"(state));  // else the compiler adds a loop counter
      auto* const its = reinterpret_cast<Flags*>(flags);
      if (isDynamic && its->queued == Gone) continue;
      V vertex = at(now, state, its);
      if constexpr (Own::some) Own::show(vertex, own);
      visit(vertex, its);
      if (its->pin != No) *tail++ = static_cast<Offset>(state - states);
    }
    return tail;
  }
  __attribute__((noinline)) static Offset* initAll(const PoliteHeader* header) {
    return all(header, first(header), [](V vertex, Flags* its) __attribute__((always_inline)) {
      *its = {No, AsPin};
      Own::clear(vertex);
      vertex.init();
    });
  }
  /// Begins a part of a run on a changing graph: the host's marks show which vertices begin, and which have gained or
  /// lost edges.
  __attribute__((noinline)) static Offset* goOnAll(const PoliteHeader* header) {
    return all(header, first(header), [](V vertex, Flags* its) __attribute__((always_inline)) {
      const Queued mark = its->queued;
      *its = {No, AsPin};
      Own::clear(vertex);
      if (mark == Begins) return vertex.init();
      if constexpr (rules::HasResume<V>) vertex.resume();
      if constexpr (rules::HasChanged<V>) {
        if (mark == Changed) vertex.changed();
      }
    });
  }
  /// `totals` are those of the previous step, whose first two words arrive with the release; on return all words of
  /// this step except the first two. With a host, this thread's contribution is stored in `kept`, and no barrier is
  /// entered.
  template <typename... Kept>
  __attribute__((noinline)) static Stepped stepAll(PoliteHeader* header, uint32_t time, int64_t* totals, Kept... kept) {
    unsigned active = 0;
    header->steps = time + 1;
    A before{}, mine{};
    if constexpr (words > 0) {
      int64_t received[words + 1];
      __builtin_memcpy(received, totals, sizeof received);
      if (!isHosted && time) readWords<A>(received, 0, totals);
      aggregates::load(before, received);
    }
    V now = first(header, time);
    // A local copy, which can be in registers: stores to states might alias `params`.
    constexpr bool few = sizeof(P) <= 32;
    const Copied<few> params = copied<few>(now.params);
    if constexpr (few) now.params = &params;
    Offset* const end = all(header, now, [&](V vertex, Flags*) __attribute__((always_inline)) {
      [[clang::always_inline]] active |= aggregates::step(vertex, before, mine);
    });
    if constexpr (isHosted) {
      aggregates::save(mine, kept...);
    } else if constexpr (words > 0) {
      int64_t given[words];
      aggregates::save(mine, given);
      // A barrier carries two words. No thread sends before the last of these barriers, so none ends early.
      for (size_t i = 0; i < exponentBarriers<A>; ++i) {
        giveExponents<A>(given, i);
        while (tinselIdle(0) == 0) {
        }
        takeExponents<A>(totals, i);
      }
      for (size_t i = 2; i < words; i += 2) {
        contributeWords<A>(given, i, totals);
        while (tinselIdle(0) == 0) {
        }
        readWords<A>(totals, i, totals);
      }
      contributeWords<A>(given, 0, totals);
    }
    return {end, active};
  }
  /// Returns the number of messages to the host.
  __attribute__((noinline)) static uint32_t finishAll(const PoliteHeader* header, uint32_t time, uint32_t* slot) {
    uint32_t count = 0;
    all(header, first(header, time), [&](V vertex, Flags* its) __attribute__((always_inline)) {
      M message{};
      const bool sends = vertex.finish(&message);
      *its = {No, AsPin};  // no vertex sends any more
      if (!sends) return;
      ++count;
      if (!GOSSAMER_POLITE_LISTENS) return;
      tinselWaitUntil(TINSEL_CAN_SEND);
      fill(slot, message);
      slot[0] = 0;
      GS_CSR_WRITE(GS_CSR_SEND_DEST, tinselHostId());
    });
    return count;
  }
  /// Copies a message to a slot. The bus of slots is 32 bits wide and needs whole words.
  INLINE void fill(uint32_t* slot, const M& message) {
    Message packed;
    __builtin_memcpy(packed.payload, &message, sizeof(M));
    uint32_t words[(sizeof(Message) + 3) / 4];
    __builtin_memcpy(words, &packed, sizeof packed);
    for (unsigned i = 1; i < sizeof words / 4; ++i) slot[i] = words[i];
  }

 public:
  /// Layout of the blocks for the host: sizes and offsets in bytes.
  struct Layout {
    static constexpr uint32_t state = stride;
    static constexpr uint32_t flags = stride >> flagShift;
    static constexpr uint32_t offset = sizeof(Offset);
    static constexpr uint32_t edge = sizeof(Edge);
    static constexpr uint32_t value = offsetof(Edge, value);
    static constexpr uint32_t align = alignof(Edge);
    static constexpr uint32_t list = sizeof(EdgeList);
    static constexpr uint32_t header = sizeof(PoliteHeader) + sizeof(int64_t) * words;
    static constexpr uint32_t label = std::is_empty_v<E> ? 0 : sizeof(E);
    static constexpr uint32_t labelAlign = alignof(E);
    static constexpr uint32_t message = sizeof(M);
    static constexpr uint32_t own = Own::words;
    static constexpr uint32_t note = Own::note;
  };
};

}  // namespace gossamer

/// The words of gossamer_polite_layout, in the order of gossamer.mapper.Layout.
#define GOSSAMER_POLITE_LAYOUT(ITS)                                                                           \
  ITS::state, ITS::flags, ITS::offset, ITS::edge, ITS::value, ITS::align, ITS::list, ITS::header, ITS::label, \
      ITS::labelAlign, ITS::message, ITS::own, ITS::note

/// The program of a vertex, for a freestanding compiler. Used once in a program.
#define GOSSAMER_SOFTSWITCH(VERTEX)                                                                           \
  uint32_t gossamer_polite_blocks[GS_MAX_THREADS];                                                            \
  __attribute__((used, retain))                                                                               \
  const uint32_t gossamer_polite_layout[] = {GOSSAMER_POLITE_LAYOUT(::gossamer::Softswitch<VERTEX>::Layout)}; \
  extern "C" int main(void) { return ::gossamer::Softswitch<VERTEX>::run(); }
