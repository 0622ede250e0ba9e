// SPDX-License-Identifier: Apache-2.0
/// The timing model: the softswitch of every thread, with native handlers, and the cycles that it takes.
//
// A group is all tiles that share a DRAM. Its threads execute in the order of their times, one iteration of the
// softswitch's loop after the other, on the tables that the mapper made. An iteration costs what the interpreter has
// counted for its events (probe.cc), and touches the lines that the softswitch touches, in a model of each thread's
// cache. Cores, caches, FPUs, memories and links are calendars: capacity per bucket of cycles, taken in order of
// request, so that a request of a later time does not delay an earlier one.
//
// Groups exchange messages at the ends of windows of time, in an order that does not depend on the number of workers.
// Results and times are therefore the same for any number.
#include "gossamer/model/engine.h"

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gossamer/abi.h"
#include "gossamer/aggregates.h"
#include "gossamer/core/error.h"
#include "gossamer/core/guard.h"
#include "gossamer/model/probe.h"
#include "model/calendar.h"
#include "model/multicast.h"

namespace gossamer::model {
namespace {

constexpr double kWindow = 64;
constexpr size_t kNetworkMessages = 4;  // to a tile whose mailbox is full, before senders wait
constexpr uint32_t kPatience = 32;      // messages received before one is sent (softswitch.h)
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr uint32_t kHeaderWords = 9, kResultWords = 8;
constexpr uint32_t kDram = 0x4000'0000;
// What an entry with a routing key takes less than one with a mask (softswitch.h): instructions, one of them the load
// of the mask's upper half, and accesses to the mailbox.
constexpr double kKeyIssues = 3, kKeyRegisters = 2;

/// An event's cost, as the engine adds it.
struct Cost {
  double issues = 0, extra = 0, requests = 0, fpu = 0;
  bool nothing = false;
};

struct Message {
  uint32_t key = 0, holders = 0;
  uint8_t payload[64];
};

struct Arrival {
  double at;
  uint32_t message;
};

/// A message that a tile's mailbox has not yet stored for all of its receivers.
struct Waiting {
  double at;
  uint64_t mask;
  uint32_t message;
  bool stored;  // in a slot
};

/// The input of a tile's mailbox: free slots, and messages in order of arrival.
struct Input {
  uint32_t slots;
  std::deque<Waiting> waiting;
  std::deque<uint32_t> blocked;  // threads whose message the network has no space for, of this group
};

enum class Mode : uint8_t { Init, Loop, Step, Finish, Done };

struct Thread {
  uint32_t number, tile, core, lane;  // in the machine, of the group, of the group, in the tile
  uint32_t cache, fpu;
  gs_model_counters* counters;
  uint8_t *states, *flags;
  uint32_t vertices, headerAt, statesAt, flagsAt, outsAt, queueAt, keysAt, paramsAt;
  std::vector<uint32_t> ring;
  uint32_t head = 0, tail = 0;
  uint32_t next = 0, listEnd = 0;  // addresses of entries
  Message slot;
  std::vector<Arrival> queue;
  size_t first = 0;  // of the queue
  Mode mode = Mode::Init;
  bool idle = false, receiving = false, sleeping = false;
  uint32_t patience = kPatience, cursor = 0;
  double t = 0, canSend = 0, ready = 0;
  uint32_t lastLine = ~0u, lastWay = 0;  // of the last access
  int active = 1, stepActive = 0;
  uint64_t sends = 0, delivered = 0, hostMessages = 0;
  double retired = 0;
  std::vector<int64_t> mine;
  uint32_t status = 0, wrong = 0, wrongPin = 0;

  bool waits() const { return first != queue.size(); }
  bool received(double now) const { return waits() && queue[first].at <= now; }
};

/// A message to another group.
struct Flight {
  double at;
  uint32_t group, sequence, board, tile;
  uint64_t mask;
  uint32_t key, flits;
  uint32_t route;  // routing key, or 0: the message has a destination
  uint32_t from;   // the sender's tile on its board
  uint8_t payload[64];
};

/// A message at a multicast router. Routers are processed in the order of `order`: the time at the exit of a mesh, and
/// for routers of links the time at which the message has left the other board. So no message is processed that a
/// message of a later window could overtake.
struct Arriving {
  double order, at;
  uint64_t sequence;
  uint32_t board, router;
  uint32_t flight;
  bool operator<(const Arriving& other) const {
    return order != other.order ? order > other.order : sequence > other.sequence;
  }
};

struct Event {
  double t;
  uint32_t thread;
  bool operator<(const Event& other) const {  // the earliest is the top of a heap
    return t != other.t ? t > other.t : thread > other.thread;
  }
};

class Engine;

class Group {
 public:
  Group(Engine& its, uint32_t number);

  void run(double until);
  double earliest() const { return heap_.empty() ? kNever : heap_.front().t; }
  void arrive(const Flight& flight, double at);
  /// A read of a line by a multicast router. Returns its delay by other requests.
  double readRecord(double t) { return dram_.delay(t, 1); }
  void wake(uint32_t thread, double t) {
    threads[thread].t = t;
    push(thread);
  }

  std::vector<Thread> threads;
  std::vector<Flight> out;
  uint32_t number;
  /// The handler that runs, and its vertex in its thread. `recv` runs for several vertices in one call.
  Position position;
  uint32_t running = 0;  // the number of that thread

 private:
  void push(uint32_t thread) {
    heap_.push_back({threads[thread].t, thread});
    std::push_heap(heap_.begin(), heap_.end());
  }
  void execute(Thread& t);
  void loop(Thread& t);
  void send(Thread& t);
  void entry(Thread& t);
  void sendKey(Thread& t, uint32_t route);
  void receive(Thread& t);
  void visit(Thread& t);
  void deliver(Thread& t, const Message& message, uint32_t list, gs_model_event each);
  void enqueue(Thread& t, uint32_t vertex);
  void spend(Thread& t, const Cost& cost, double times = 1);
  void touchLine(Thread& t, uint32_t line, bool store);
  void touch(Thread& t, uint32_t address, bool store) { touchLine(t, address >> lineShift_, store); }
  void touchOthers(Thread& t, int event);
  void touchState(Thread& t, uint32_t vertex, bool store, int kind);
  void post(uint32_t tile, uint64_t mask, uint32_t message, double at);
  void accept(uint32_t tile, double now);
  void drop(uint32_t tile, uint32_t message);
  void queue(Thread& to, uint32_t message, double when);
  uint32_t make(uint32_t key, const uint8_t* payload);
  void block(Thread& t, uint32_t tile);
  void enter(const Thread& t, Handler handler, uint32_t local) {
    position.handler = handler;
    position.vertex = local;
    running = t.number;
  }
  const uint8_t* host(uint32_t address) const {
    return address >= kDram ? memory_.dram + (address - memory_.dram_at) : memory_.sram + (address - memory_.sram_at);
  }
  uint32_t word(uint32_t address) const {
    uint32_t found;
    std::memcpy(&found, host(address), 4);
    return found;
  }
  uint32_t offset(uint32_t address) const;

  Engine& its_;
  const gs_model_memory& memory_;
  const uint32_t lineShift_, setMask_, lines_;  // log2 of a line's bytes; of a thread: sets less one, lines
  std::vector<Event> heap_;
  std::vector<Message> messages_;
  std::vector<uint32_t> free_;
  std::vector<Calendar> cores_, caches_, fpus_;
  std::vector<double> outputs_;  // of each tile: when its last flit leaves
  std::vector<Input> inputs_;
  Calendar dram_, sramReads_, sramWrites_;
  std::vector<uint32_t> tags_;
  std::vector<uint32_t> order_;
  std::vector<uint8_t> dirty_, received_;
  uint32_t sequence_ = 0;
};

class Engine {
 public:
  explicit Engine(const gs_model_run& run);
  int run();

  const gs_model_run& its;
  const gs_model_machine& machine;
  const gs_model_timing& timing;
  const gs_model_handlers& handlers;
  gs_model_context context, stepContext;  // of all handlers, and of `step`, which sees one step less
  Cost costs[GS_MODEL_EVENTS];
  Cost keyEntry;  // of an entry with a routing key
  std::vector<int64_t> before;
  std::vector<Group> groups;
  uint32_t groupTiles, boardThreads, steps = 0, most, mostBarrierDepth = 0;
  bool agreed = false;

  gs_model_counters& counters(uint32_t tile) const { return its.counters[tile]; }

 private:
  void exchange(double until);
  void enter(const Flight& flight);
  void route(double until);
  void cross(uint32_t board, uint32_t link, uint32_t channel, uint32_t flight, double at);
  void deliver(uint32_t board, const Flight& flight, double at, double until);
  uint32_t keep(const Flight& flight);
  uint32_t exitOf(uint32_t x) const;
  bool release();
  void finish();
  void simulate(Group& group, double until);
  std::mutex mutex_;       // of the next two
  uint32_t failed_ = ~0u;  // the group with the lowest number whose handler aborted
  Fault fault_;
  std::vector<Calendar> links_;
  std::vector<Flight> flights_;
  // Multicast routers: those of a board's exits, then those of each channel of its links
  uint32_t routers_ = 0;
  std::vector<MulticastEngine> engines_;
  std::vector<Calendar> ports_;  // outputs of routers: of exits, then of links
  std::vector<Calendar> exits_;  // into meshes
  std::vector<Records> records_;
  std::vector<Arriving> arriving_;  // a heap
  std::vector<Flight> kept_;        // of `arriving_`
  std::vector<uint32_t> keptFree_;
  uint64_t arrivals_ = 0;
  double now_ = 0;
};

Group::Group(Engine& its, uint32_t n)
    : number(n),
      its_(its),
      memory_(its.its.memory[n]),
      lineShift_(static_cast<uint32_t>(__builtin_ctz(its.machine.line_bytes))),
      setMask_(its.machine.sets - 1),
      lines_(its.machine.sets * its.machine.ways),
      dram_(kBucket / its.timing.dram_line),
      sramReads_(kBucket / its.timing.sram_line),
      sramWrites_(kBucket / its.timing.sram_line) {
  const gs_model_machine& m = its.machine;
  const uint32_t count = its.groupTiles * m.threads;
  const uint32_t perCore = m.threads / m.cores;
  threads.resize(count);
  cores_.assign(its.groupTiles * m.cores, Calendar(kBucket / its.timing.core_issue));
  caches_.assign(its.groupTiles * m.cores / m.cores_per_cache, Calendar(kBucket / its.timing.cache_request));
  fpus_.assign(its.groupTiles * m.cores / m.cores_per_fpu, Calendar(kBucket / its.timing.fpu_request));
  outputs_.assign(its.groupTiles, 0);
  inputs_.assign(its.groupTiles, {m.slots, {}, {}});
  const uint32_t lines = m.sets * m.ways;
  tags_.assign(size_t{count} * lines, ~0u);
  order_.assign(size_t{count} * m.sets, 0);
  dirty_.assign(size_t{count} * lines, 0);
  for (uint32_t i = 0; i < count; ++i) {
    Thread& t = threads[i];
    t.number = n * count + i;
    t.tile = i / m.threads;
    t.lane = i % m.threads;
    t.core = t.tile * m.cores + t.lane / perCore;
    t.cache = t.core / m.cores_per_cache;
    t.fpu = t.core / m.cores_per_fpu;
    t.counters = &its.counters(n * its.groupTiles + t.tile);
    const uint32_t header = its.its.headers[t.number];
    t.headerAt = header;
    t.paramsAt = word(header + 24);
    t.vertices = word(header);
    t.statesAt = word(header + 8);
    t.flagsAt = word(header + 12);
    t.outsAt = word(header + 16);
    t.queueAt = word(header + 20);
    t.keysAt = word(header + 32);
    if (i == 0) its.most = word(header + 28);
    t.states = const_cast<uint8_t*>(host(t.statesAt));
    t.flags = const_cast<uint8_t*>(host(t.flagsAt));
    t.ring.resize(t.vertices + 1);
    t.mine.resize(its.handlers.words + 1);
    t.t = its.timing.begin + its.timing.begin_thread * (i % m.threads);
    push(i);
  }
}

uint32_t Group::offset(uint32_t address) const {
  if (its_.machine.offset_bytes == 4) return word(address);
  uint16_t found;
  std::memcpy(&found, host(address), 2);
  return found;
}

void Group::spend(Thread& t, const Cost& cost, double times) {
  if (times <= 0 || cost.nothing) return;
  const double begin = t.t;
  const double issues = cost.issues * times;
  double end = issues > 0 ? cores_[t.core].take(begin, issues, 1 / its_.timing.issue) : begin;
  end += cost.extra * times;
  if (cost.requests > 0) end += caches_[t.cache].delay(begin, cost.requests * times);
  if (cost.fpu > 0) end += fpus_[t.fpu].delay(begin, cost.fpu * times);
  t.t = end;
  t.retired += issues;
  gs_model_counters& c = *t.counters;
  c.instructions += issues;
  c.hits += cost.requests * times;
  c.fpu += cost.fpu * times;
}

/// An access to a line: a hit costs what the event's requests cost, a miss more.
void Group::touchLine(Thread& t, uint32_t line, bool store) {
  const gs_model_machine& m = its_.machine;
  const uint32_t set = line & setMask_;
  const size_t local = static_cast<size_t>(&t - threads.data());
  const size_t base = local * lines_ + size_t{set} * m.ways;
  uint32_t* const tags = &tags_[base];
  if (t.lastLine == line) {  // already the most recent of its set
    dirty_[base + t.lastWay] |= static_cast<uint8_t>(store);
    return;
  }
  uint32_t& order = order_[local * m.sets + set];
  uint32_t way = 0;
  while (way < m.ways && tags[way] != line) ++way;
  const bool hit = way < m.ways;
  if (!hit) {
    // The first invalid way, else the oldest by the tree's bits: a bit is 1 where the upper half is older.
    way = 0;
    while (way < m.ways && tags[way] != ~0u) ++way;
    if (way == m.ways) {
      uint32_t node = 1, low = 0, size = m.ways;
      while (size > 1) {
        const bool upper = order >> node & 1;
        size /= 2;
        low += upper ? size : 0;
        node = 2 * node + upper;
      }
      way = low;
    }
    gs_model_counters& c = *t.counters;
    const bool old = dirty_[base + way];
    ++c.misses;
    --c.hits;
    const bool sram = line < (kDram >> lineShift_);
    const gs_model_timing& x = its_.timing;
    double wait = sram ? x.sram_miss : x.dram_miss;
    if (old) {
      ++c.writebacks;
      const bool oldSram = tags[way] < (kDram >> lineShift_);
      wait += oldSram ? x.sram_write_back : x.write_back;
      (oldSram ? sramWrites_ : dram_).delay(t.t, 1);
    }
    wait += (sram ? sramReads_ : dram_).delay(t.t, 1);
    t.t += wait;
    tags[way] = line;
    dirty_[base + way] = 0;
  }
  if (store) dirty_[base + way] = 1;
  uint32_t node = 1, low = 0, size = m.ways;
  while (size > 1) {
    size /= 2;
    const bool upper = way >= low + size;
    if (upper) {
      low += size;
      order &= ~(1u << node);
    } else {
      order |= 1u << node;
    }
    node = 2 * node + upper;
  }
  t.lastLine = line;
  t.lastWay = way;
}

/// The accesses of an event outside of the graph's tables: lines of the thread's partition, which are interleaved with
/// those of other threads, of its header, of the parameters.
void Group::touchOthers(Thread& t, int event) {
  const gs_model_lines& its = its_.its.lines[event];
  const auto stride = static_cast<uint32_t>(threads.size());
  const auto local = static_cast<uint32_t>(&t - threads.data());
  for (uint32_t i = 0; i < its.count; ++i) {
    const uint32_t origin = its.line[i] & kLineOrigins;
    uint32_t line = its.line[i] & ~kLineOrigins;
    if (origin == kPartitionLine) line = kPartitionLine | (line * stride + local);
    if (origin == kHeaderLine) line += t.headerAt >> lineShift_;
    if (origin == kParamsLine) line += t.paramsAt >> lineShift_;
    if (origin == kBlockLine) line = (its_.its.blocks + 4 * (t.number % its_.boardThreads)) >> lineShift_;
    touchLine(t, line, its.store[i]);
  }
}

void Group::touchState(Thread& t, uint32_t vertex, bool store, int kind) {
  const uint32_t* const range = its_.its.ranges + 2 * kind;
  if (!range[1]) return;
  const uint32_t begin = t.statesAt + vertex + range[0], end = t.statesAt + vertex + range[1] - 1;
  for (uint32_t line = begin >> lineShift_; line <= end >> lineShift_; ++line) touchLine(t, line, store);
}

void Group::enqueue(Thread& t, uint32_t vertex) {
  t.ring[t.tail] = vertex;
  touch(t, t.queueAt + t.tail * its_.machine.offset_bytes, true);
  if (++t.tail == t.ring.size()) t.tail = 0;
}

uint32_t Group::make(uint32_t key, const uint8_t* payload) {
  uint32_t found;
  if (free_.empty()) {
    found = static_cast<uint32_t>(messages_.size());
    messages_.emplace_back();
  } else {
    found = free_.back();
    free_.pop_back();
  }
  Message& message = messages_[found];
  message.key = key;
  message.holders = 0;
  std::memcpy(message.payload, payload, its_.handlers.message_bytes);
  return found;
}

/// A message arrives at a tile of this group, for the threads of `mask`.
void Group::post(uint32_t tile, uint64_t mask, uint32_t message, double at) {
  Input& input = inputs_[tile];
  input.waiting.push_back({at, mask, message, false});
  ++messages_[message].holders;  // until the message has left `waiting`
  if (input.waiting.size() == 1) accept(tile, at);
  ++its_.counters(number * its_.groupTiles + tile).received;
}

/// The mailbox of a tile stores its waiting messages, in order, until one finds no free slot or a full queue.
void Group::accept(uint32_t tile, double now) {
  const gs_model_machine& m = its_.machine;
  Input& input = inputs_[tile];
  const uint32_t first = tile * m.threads;
  while (!input.waiting.empty()) {
    Waiting& head = input.waiting.front();
    if (!head.stored) {
      if (input.slots == 0) return;
      --input.slots;
      head.stored = true;
    }
    const double at = std::max(head.at, now);
    for (uint64_t left = head.mask; left; left &= left - 1) {
      const auto lane = static_cast<uint32_t>(__builtin_ctzll(left));
      Thread& to = threads[first + lane];
      if (to.queue.size() - to.first >= m.queue_depth) continue;
      head.mask &= ~(uint64_t{1} << lane);
      ++messages_[head.message].holders;
      queue(to, head.message, at);
    }
    if (head.mask) return;
    const uint32_t message = head.message;
    input.waiting.pop_front();
    drop(tile, message);
    if (!input.blocked.empty()) {  // its message has entered the network
      Thread& sender = threads[input.blocked.front()];
      input.blocked.pop_front();
      sender.canSend = std::max(sender.ready, at);
      if (sender.sleeping) {
        sender.sleeping = false;
        sender.t = std::max(sender.t, sender.canSend);
        push(static_cast<uint32_t>(&sender - threads.data()));
      }
    }
  }
}

/// After a send to a tile of this group: the thread cannot send again while the network is full.
void Group::block(Thread& t, uint32_t tile) {
  Input& input = inputs_[tile];
  if (input.waiting.size() <= kNetworkMessages) return;
  t.ready = t.canSend;
  t.canSend = kNever;
  input.blocked.push_back(static_cast<uint32_t>(&t - threads.data()));
}

/// A thread or the tile's input no longer holds a message.
void Group::drop(uint32_t tile, uint32_t message) {
  if (--messages_[message].holders) return;
  free_.push_back(message);
  ++inputs_[tile].slots;
}

void Group::queue(Thread& to, uint32_t message, double when) {
  if (to.waits()) when = std::max(when, to.queue.back().at);
  if (!to.waits() && to.first) {
    to.queue.clear();
    to.first = 0;
  }
  to.queue.push_back({when, message});
  if (to.sleeping) {
    to.sleeping = false;
    to.idle = false;
    to.t = std::max(to.t, when);
    push(static_cast<uint32_t>(&to - threads.data()));
  }
}

void Group::arrive(const Flight& flight, double at) {
  const uint32_t message = make(flight.key, flight.payload);
  const uint32_t tile = flight.tile % its_.groupTiles;
  its_.counters(number * its_.groupTiles + tile).flits_in += flight.flits;
  post(tile, flight.mask, message, at);
}

/// `recv` of the vertices in a list.
void Group::deliver(Thread& t, const Message& message, uint32_t list, gs_model_event each) {
  const gs_model_machine& m = its_.machine;
  touch(t, list, false);
  const uint32_t bytes = offset(list), count = bytes / m.edge_bytes;
  if (!count) return;
  const uint32_t edges = list + m.list_bytes;
  if (received_.size() < count) received_.resize(count);
  const gs_model_edges its{host(edges), count, m.edge_bytes, m.value_at, m.offset_bytes};
  const uint8_t* ahead = its.first;
  for (uint32_t i = 0; i < count; ++i, ahead += m.edge_bytes) {
    uint32_t vertex = 0;
    std::memcpy(&vertex, ahead, m.offset_bytes == 2 ? 2 : 4);
    __builtin_prefetch(t.states + vertex, 1);
  }
  enter(t, Handler::recv, HandlerDied::noVertex);
  its_.handlers.receive(&its_.context, t.states, t.flags, m.flag_bytes, message.payload, &its, received_.data());
  t.delivered += count;
  const gs_model_cost& raw = its_.its.costs[each];
  const bool looksAtFlags = raw.flag_loads > 0.1, stores = raw.state_stores > 0.3;
  const bool looksAtOthers = its_.its.lines[each].count != 0;
  const uint32_t stride = its_.handlers.state_bytes;
  uint32_t changed = 0, pushes = 0;
  const uint8_t* at = its.first;
  for (uint32_t i = 0; i < count; ++i, at += m.edge_bytes) {
    const uint32_t edge = edges + i * m.edge_bytes;
    uint32_t vertex = 0;
    std::memcpy(&vertex, at, m.offset_bytes == 2 ? 2 : 4);
    touch(t, edge, false);
    if (m.edge_bytes > m.offset_bytes) touch(t, edge + m.edge_bytes - 1, false);
    const uint8_t what = received_[i];
    if (looksAtFlags || (what & (GS_MODEL_WOKE | GS_MODEL_SLEPT))) {
      touch(t, t.flagsAt + vertex / stride * m.flag_bytes, what & (GS_MODEL_WOKE | GS_MODEL_SLEPT));
    }
    if (looksAtOthers) touchOthers(t, each);
    touchState(t, vertex, stores || (what & GS_MODEL_CHANGED), kStateReceive);
    changed += what & GS_MODEL_CHANGED ? 1 : 0;
    if (what & GS_MODEL_SLEPT) t.flags[vertex / stride * m.flag_bytes + 1] = 1;
    if (what & GS_MODEL_WOKE) {
      uint8_t& queued = t.flags[vertex / stride * m.flag_bytes + 1];
      if (queued) {
        queued = 0;
      } else {
        enqueue(t, vertex);
        ++pushes;
      }
    }
  }
  spend(t, its_.costs[each], count);
  spend(t, its_.costs[GS_MODEL_CHANGE], changed);
  spend(t, its_.costs[GS_MODEL_PUSH], pushes);
}

void Group::send(Thread& t) {
  const gs_model_machine& m = its_.machine;
  const uint32_t vertex = t.ring[t.head];
  touch(t, t.queueAt + t.head * m.offset_bytes, false);
  if (++t.head == t.ring.size()) t.head = 0;
  const uint32_t local = vertex / its_.handlers.state_bytes;
  uint8_t* const flags = t.flags + local * m.flag_bytes;
  touch(t, t.flagsAt + local * m.flag_bytes, true);
  const uint8_t pin = flags[0];
  if (!pin) {
    flags[1] = 0;
    spend(t, its_.costs[GS_MODEL_WAIT]);
    return;
  }
  touchOthers(t, GS_MODEL_SEND);
  touchState(t, vertex, its_.its.costs[GS_MODEL_SEND].state_stores > 0.3, kStateSend);
  enter(t, Handler::send, local);
  its_.handlers.send(&its_.context, t.states + vertex, flags, t.slot.payload);
  ++t.sends;
  spend(t, its_.costs[GS_MODEL_SEND]);
  if (flags[0]) {
    enqueue(t, vertex);
    spend(t, its_.costs[GS_MODEL_PUSH]);
  }
  if (pin == 1) {  // to the host
    ++t.hostMessages;
    spend(t, its_.costs[GS_MODEL_HOST]);
    if (its_.its.listen) {
      its_.its.listen(its_.its.context, t.slot.payload);
      t.canSend = t.t + its_.timing.send_busy;
    }
    return;
  }
  if (pin - 2u >= m.pins) {
    t.status = 3;
    t.wrongPin = pin - 2u;
    t.wrong = local;
    return;
  }
  const uint32_t out = t.outsAt + 4 * (local * m.pins + pin - 2u);
  touch(t, out, false);
  touch(t, out + 4, false);
  const uint32_t list = word(out);
  t.listEnd = word(out + 4);
  touch(t, list, false);
  const uint32_t bytes = offset(list);
  const uint32_t unit = m.unit;
  t.next = (list + m.list_bytes + bytes + unit - 1) & -unit;
  if (bytes) {
    spend(t, its_.costs[GS_MODEL_OWN_LIST]);
    deliver(t, t.slot, list, GS_MODEL_OWN_EDGE);
  }
}

void Group::entry(Thread& t) {
  const gs_model_machine& m = its_.machine;
  const uint32_t size = m.multicast ? 16 : 8;
  touch(t, t.next, false);
  if ((t.next + size - 1) / m.line_bytes != t.next / m.line_bytes) touch(t, t.next + size - 1, false);
  spend(t, m.records && !word(t.next) ? its_.keyEntry : its_.costs[GS_MODEL_ENTRY]);
  uint32_t address, key;
  uint64_t mask;
  if (m.multicast) {
    address = word(t.next);
    key = word(t.next + 4);
    mask = word(t.next + 8) | static_cast<uint64_t>(word(t.next + 12)) << 32;
    if (m.records && !address) {  // the entry has a routing key instead of a mask
      sendKey(t, static_cast<uint32_t>(mask));
      return;
    }
  } else {
    address = word(t.next);
    key = word(t.next + 4);
    mask = uint64_t{1} << (address & ((1u << m.thread_bits) - 1));
  }
  t.next += size;
  const uint32_t x = address >> m.thread_bits & ((1u << m.x_bits) - 1);
  const uint32_t y = address >> (m.thread_bits + m.x_bits) & ((1u << m.y_bits) - 1);
  const uint32_t named = address >> (m.thread_bits + m.x_bits + m.y_bits) & 0xFFF;
  const uint32_t board = m.board_of[named], tile = board * m.tiles + y * m.width + x;
  const uint32_t mine = number * its_.groupTiles + t.tile;
  const uint32_t body = (its_.handlers.message_bytes + 4 + m.flit_bytes - 1) / m.flit_bytes;
  const uint32_t flits = body + (m.multicast ? 1 : 0);
  ++its_.counters(mine).sent;
  t.canSend = t.t + its_.timing.send_busy + flits;
  if (tile == mine) {
    post(t.tile, mask, make(key, t.slot.payload), t.t + its_.timing.local_message + flits);
    block(t, t.tile);
    return;
  }
  its_.counters(mine).flits_out += flits;
  double& output = outputs_[t.tile];
  const double leaves = output = std::max(output, t.t) + flits * its_.timing.flit;
  const uint32_t from = mine % m.tiles;
  const uint32_t group = tile / its_.groupTiles;
  const auto apart = [&](uint32_t a, uint32_t b) { return a > b ? a - b : b - a; };
  double at = leaves + its_.timing.mesh_message;
  if (board == mine / m.tiles) at += its_.timing.hop * (apart(from % m.width, x) + apart(from / m.width, y) + 1);
  if (group == number) {
    its_.counters(tile).flits_in += flits;
    post(tile % its_.groupTiles, mask, make(key, t.slot.payload), at);
    block(t, tile % its_.groupTiles);
    return;
  }
  Flight flight{at, number, sequence_++, board, tile, mask, key, flits, 0, from, {}};
  std::memcpy(flight.payload, t.slot.payload, its_.handlers.message_bytes);
  out.push_back(flight);
}

/// Sends the message to the multicast router of the nearest exit.
void Group::sendKey(Thread& t, uint32_t route) {
  const gs_model_machine& m = its_.machine;
  t.next += 16;
  const uint32_t flits = (its_.handlers.message_bytes + 4 + m.flit_bytes - 1) / m.flit_bytes + 1;
  gs_model_counters& c = *t.counters;
  ++c.sent;
  c.flits_out += flits;
  t.canSend = t.t + its_.timing.send_busy + flits;
  double& output = outputs_[t.tile];
  output = std::max(output, t.t) + flits * its_.timing.flit;
  const uint32_t from = (number * its_.groupTiles + t.tile) % m.tiles;
  Flight flight{output + its_.timing.mesh_message, number, sequence_++, ~0u, 0, 0, 0, flits, route, from, {}};
  std::memcpy(flight.payload, t.slot.payload, its_.handlers.message_bytes);
  out.push_back(flight);
}

void Group::receive(Thread& t) {
  const uint32_t number_ = t.queue[t.first].message;
  ++t.first;
  // Copied: a delivery may send and thereby allocate.
  const Message message = messages_[number_];
  drop(t.tile, number_);
  if (!inputs_[t.tile].waiting.empty()) accept(t.tile, t.t);
  spend(t, its_.costs[GS_MODEL_RECEIVE]);
  const gs_model_machine& m = its_.machine;
  if (m.multicast && t.waits()) {
    __builtin_prefetch(host(t.keysAt + messages_[t.queue[t.first].message].key));
  }
  if (!m.multicast && (message.key & 1)) {
    // The key names a vertex: a list of one edge that is in no memory.
    uint8_t edge[4];
    const uint32_t vertex = message.key - 1;
    std::memcpy(edge, &vertex, 4);
    const gs_model_edges one{edge, 1, m.edge_bytes, 0, m.offset_bytes};
    uint8_t what = 0;
    enter(t, Handler::recv, HandlerDied::noVertex);
    its_.handlers.receive(&its_.context, t.states, t.flags, m.flag_bytes, message.payload, &one, &what);
    ++t.delivered;
    const uint32_t at = vertex / its_.handlers.state_bytes * m.flag_bytes;
    if (its_.its.costs[GS_MODEL_EDGE].flag_loads > 0.1 || what & 3) touch(t, t.flagsAt + at, what & 3);
    touchState(t, vertex, its_.its.costs[GS_MODEL_EDGE].state_stores > 0.3 || what & GS_MODEL_CHANGED, kStateReceive);
    spend(t, its_.costs[GS_MODEL_EDGE]);
    if (what & GS_MODEL_CHANGED) spend(t, its_.costs[GS_MODEL_CHANGE]);
    if (what & GS_MODEL_SLEPT) t.flags[at + 1] = 1;
    if (what & GS_MODEL_WOKE) {
      if (t.flags[at + 1]) {
        t.flags[at + 1] = 0;
      } else {
        enqueue(t, vertex);
        spend(t, its_.costs[GS_MODEL_PUSH]);
      }
    }
    return;
  }
  deliver(t, message, m.multicast ? t.keysAt + message.key : message.key, GS_MODEL_EDGE);
}

/// One vertex of init, a step or finish.
void Group::visit(Thread& t) {
  const gs_model_machine& m = its_.machine;
  const uint32_t stride = its_.handlers.state_bytes;
  if (t.cursor == 0) {
    touchOthers(t, t.mode == Mode::Init ? GS_MODEL_START : t.mode == Mode::Step ? GS_MODEL_STEPS : GS_MODEL_ENDS);
    spend(t, its_.costs[t.mode == Mode::Init ? GS_MODEL_START : t.mode == Mode::Step ? GS_MODEL_STEPS : GS_MODEL_ENDS]);
    t.stepActive = 0;
    if (t.mode == Mode::Step) its_.handlers.empty(t.mine.data());
    t.head = t.tail = 0;
  }
  if (t.cursor < t.vertices) {
    const uint32_t local = t.cursor++, vertex = local * stride;
    uint8_t* const flags = t.flags + local * m.flag_bytes;
    uint8_t* const state = t.states + vertex;
    touch(t, t.flagsAt + local * m.flag_bytes, t.mode != Mode::Step);
    if (t.mode == Mode::Init) {
      flags[0] = flags[1] = 0;
      if (its_.its.costs[GS_MODEL_INIT].state_loads + its_.its.costs[GS_MODEL_INIT].state_stores > 0.1) {
        touchState(t, vertex, its_.its.costs[GS_MODEL_INIT].state_stores > 0.3, kStateInit);
      }
      touchOthers(t, GS_MODEL_INIT);
      enter(t, Handler::init, local);
      its_.handlers.init(&its_.context, state, flags);
      spend(t, its_.costs[GS_MODEL_INIT]);
      if (flags[0]) enqueue(t, vertex);
    } else if (t.mode == Mode::Step) {
      const gs_model_cost& raw = its_.its.costs[GS_MODEL_STEP];
      touchOthers(t, GS_MODEL_STEP);
      if (received_.size() < stride) received_.resize(stride);
      std::memcpy(received_.data(), state, stride);
      const uint8_t before = flags[0];
      enter(t, Handler::step, local);
      t.stepActive |= its_.handlers.step(&its_.stepContext, state, flags, its_.before.data(), t.mine.data());
      const bool changed = std::memcmp(received_.data(), state, stride) != 0;
      if (raw.state_loads + raw.state_stores > 0.1 || changed)
        touchState(t, vertex, raw.state_stores > 0.3 || changed, kStateStep);
      spend(t, its_.costs[GS_MODEL_STEP]);
      if (changed) spend(t, its_.costs[GS_MODEL_STEP_CHANGE]);
      if (flags[0] != before) touch(t, t.flagsAt + local * m.flag_bytes, true);
      if (flags[0]) {
        enqueue(t, vertex);
        spend(t, its_.costs[GS_MODEL_STEP_PUSH]);
      }
    } else {
      touchState(t, vertex, false, kStateFinish);
      touchOthers(t, GS_MODEL_FINISH);
      uint8_t payload[64];
      enter(t, Handler::finish, local);
      const bool sends = its_.handlers.finish(&its_.context, state, flags, payload);
      flags[0] = flags[1] = 0;
      spend(t, its_.costs[GS_MODEL_FINISH]);
      if (sends) {
        ++t.hostMessages;
        if (its_.its.listen) {
          its_.its.listen(its_.its.context, payload);
          t.t = std::max(t.t, t.canSend);
          spend(t, its_.costs[GS_MODEL_HOST]);
          t.canSend = t.t + its_.timing.send_busy;
        }
      }
    }
    return;
  }
  touchOthers(t, t.mode == Mode::Init   ? GS_MODEL_AFTER_INIT
                 : t.mode == Mode::Step ? GS_MODEL_AFTER_STEP
                                        : GS_MODEL_AFTER_FINISH);
  t.cursor = 0;
  if (t.mode == Mode::Finish) {
    t.mode = Mode::Done;
    t.sleeping = true;
    if (!t.status) t.status = 1;
    return;
  }
  if (t.mode == Mode::Step) {
    t.active = t.stepActive;
    if (its_.steps > its_.most) {
      t.mode = Mode::Done;
      t.sleeping = true;
      t.status = 2;
      return;
    }
  }
  t.mode = Mode::Loop;
}

void Group::loop(Thread& t) {
  if (t.receiving) {
    if (t.received(t.t)) {
      receive(t);
      if (--t.patience == 0) {
        t.patience = kPatience;
        t.receiving = false;
      }
      return;
    }
    t.receiving = false;
  }
  if (t.next != t.listEnd) {
    if (t.canSend <= t.t) {
      entry(t);
      t.receiving = t.received(t.t);
      return;
    }
  } else if (t.head != t.tail) {
    if (t.canSend <= t.t) {
      send(t);
      t.receiving = t.received(t.t);
      return;
    }
  } else {
    if (t.received(t.t)) {
      t.receiving = true;
      return;
    }
    spend(t, its_.costs[GS_MODEL_IDLE]);
    t.receiving = true;
    if (t.waits()) {
      t.t = std::max(t.t, t.queue[t.first].at);
      return;
    }
    t.idle = true;
    t.sleeping = true;
    return;
  }
  // Waits to send, and keeps receiving.
  spend(t, its_.costs[GS_MODEL_WAIT]);
  const double message = t.waits() ? t.queue[t.first].at : kNever;
  const double next = std::min(t.canSend, message);
  if (next == kNever) {
    t.sleeping = true;
    return;
  }
  t.t = std::max(t.t, next);
  t.receiving = t.received(t.t);
}

void Group::execute(Thread& t) {
  if (t.status == 3) {
    t.mode = Mode::Done;
    t.sleeping = true;
    return;
  }
  if (t.mode == Mode::Loop) {
    loop(t);
  } else {
    visit(t);
  }
}

void Group::run(double until) {
  while (!heap_.empty() && heap_.front().t < until) {
    const uint32_t index = heap_.front().thread;
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
    Thread& t = threads[index];
    do {
      execute(t);
    } while (!t.sleeping && t.t < until && (heap_.empty() || t.t < heap_.front().t));
    if (!t.sleeping) push(index);
  }
}

Engine::Engine(const gs_model_run& run)
    : its(run), machine(*run.machine), timing(*run.timing), handlers(*run.handlers) {
  for (int i = 0; i < GS_MODEL_EVENTS; ++i) {
    const gs_model_cost& c = run.costs[i];
    const gs_model_timing& x = timing;
    costs[i].issues = c.issues;
    costs[i].requests = c.loads + c.stores;
    costs[i].fpu = c.fpu_long + c.fpu_short + c.fpu_divide;
    costs[i].extra = c.loads * (x.load - x.issue) + c.stores * (x.store - x.issue) + c.slots * (x.slot - x.issue) +
                     c.mailbox * (x.mailbox - x.issue) + c.control * (x.control - x.issue) +
                     c.fpu_long * (x.fpu_long - x.issue) + c.fpu_short * (x.fpu_short - x.issue) +
                     c.fpu_divide * (x.fpu_divide - x.issue) + c.divides * (x.divide - x.issue);
    costs[i].nothing = c.issues + costs[i].extra + costs[i].requests <= 0;
  }
  keyEntry = costs[GS_MODEL_ENTRY];
  keyEntry.issues -= kKeyIssues;
  keyEntry.requests -= 1;
  keyEntry.extra -= timing.load - timing.issue + kKeyRegisters * (timing.mailbox - timing.issue);
  before.resize(handlers.words + 1);
  handlers.empty(before.data());
  groupTiles = machine.tiles / machine.memories;
  boardThreads = machine.tiles * machine.threads;
  const uint32_t count = machine.boards * machine.memories;
  groups.reserve(count);
  context = {run.params, 0, 0};
  for (uint32_t i = 0; i < count; ++i) groups.emplace_back(*this, i);
  for (const Group& group : groups) {
    for (const Thread& t : group.threads) context.vertices += t.vertices;
  }
  stepContext = context;
  links_.assign(size_t{machine.boards} * std::max(1u, machine.links), Calendar(kBucket));
  if (machine.records) {
    routers_ = machine.exits + machine.links * machine.vcs;
    engines_.resize(size_t{machine.boards} * routers_);
    ports_.assign(size_t{machine.boards} * (machine.exits + machine.links), Calendar(kBucket));
    exits_.assign(size_t{machine.boards} * machine.exits, Calendar(kBucket));
    for (uint32_t i = 0; i < machine.boards; ++i) {
      records_.push_back({machine.records, machine.beats + machine.board_beats[i], machine.first_beat});
    }
  }
  for (uint32_t i = 0; i < machine.boards; ++i) mostBarrierDepth = std::max(mostBarrierDepth, machine.depth[i]);
}

/// Messages between groups leave their senders and arrive, in the order of time.
void Engine::exchange(double until) {
  flights_.clear();
  for (Group& group : groups) {
    flights_.insert(flights_.end(), group.out.begin(), group.out.end());
    group.out.clear();
  }
  std::sort(flights_.begin(), flights_.end(), [](const Flight& a, const Flight& b) {
    return a.at != b.at ? a.at < b.at : a.group != b.group ? a.group < b.group : a.sequence < b.sequence;
  });
  for (const Flight& flight : flights_) {
    double at = flight.at;
    uint32_t board = flight.group / machine.memories;
    if (machine.records && board != flight.board) {
      enter(flight);
      continue;
    }
    if (board != flight.board) at += timing.hop;
    while (board != flight.board) {
      const size_t hop = size_t{board} * machine.boards + flight.board;
      const size_t link = size_t{board} * machine.links + machine.next_link[hop];
      const double cycles = flight.flits * timing.link_flit + timing.link_frame;
      at = links_[link].take(at, cycles, 1) + timing.link;
      its.link_flits[link] += flight.flits;
      ++its.link_packets[link];
      board = machine.next_board[hop];
    }
    groups[flight.tile / groupTiles].arrive(flight, std::max(at, until));
  }
  route(until);
}

/// The nearest exit of a column; ties to the west (gs_noc_pkg.sv).
uint32_t Engine::exitOf(uint32_t x) const {
  uint32_t best = 0, distance = ~0u;
  for (uint32_t i = 0; i < machine.exits; ++i) {
    const uint32_t column = (2 * i + 1) * machine.width / (2 * machine.exits);
    const uint32_t apart = column > x ? column - x : x - column;
    if (apart < distance) {
      distance = apart;
      best = i;
    }
  }
  return best;
}

uint32_t Engine::keep(const Flight& flight) {
  if (keptFree_.empty()) {
    kept_.push_back(flight);
    return static_cast<uint32_t>(kept_.size() - 1);
  }
  const uint32_t found = keptFree_.back();
  keptFree_.pop_back();
  kept_[found] = flight;
  return found;
}

/// A message leaves the mesh: it enters the multicast router of an exit.
void Engine::enter(const Flight& flight) {
  const double at = flight.at + timing.hop;
  const uint32_t board = flight.group / machine.memories;
  arriving_.push_back({at, at, arrivals_++, board, exitOf(flight.from % machine.width), keep(flight)});
  std::push_heap(arriving_.begin(), arriving_.end());
}

/// A message crosses a link to the next board's router.
void Engine::cross(uint32_t board, uint32_t link, uint32_t channel, uint32_t flight, double at) {
  const size_t hop = size_t{board} * machine.links + link;
  const uint32_t flits = kept_[flight].flits;
  at = links_[hop].take(at, flits * timing.link_flit + timing.link_frame, 1);
  its.link_flits[hop] += flits;
  ++its.link_packets[hop];
  const uint32_t router = machine.exits + machine.far_link[hop] * machine.vcs + channel;
  arriving_.push_back({at, at + timing.link, arrivals_++, machine.far_board[hop], router, flight});
  std::push_heap(arriving_.begin(), arriving_.end());
}

/// A message enters the mesh of the board of its receivers.
void Engine::deliver(uint32_t board, const Flight& flight, double at, double until) {
  const uint32_t exit = exitOf(flight.tile % machine.tiles % machine.width);
  at = std::max(at, exits_[board * machine.exits + exit].take(at - flight.flits, flight.flits, 1));
  groups[flight.tile / groupTiles].arrive(flight, std::max(at, until));
}

/// Messages at multicast routers that no message of a later window can overtake.
void Engine::route(double until) {
  while (!arriving_.empty() && arriving_.front().order < until) {
    std::pop_heap(arriving_.begin(), arriving_.end());
    const Arriving one = arriving_.back();
    arriving_.pop_back();
    const bool atExit = one.router < machine.exits;
    MulticastEngine& engine = engines_[size_t{one.board} * routers_ + one.router];
    const uint32_t port = atExit ? one.router : machine.exits + (one.router - machine.exits) / machine.vcs;
    Calendar& output = ports_[size_t{one.board} * (machine.exits + machine.links) + port];
    const Flight flight = kept_[one.flight];
    if (!flight.route) {
      const double at = engine.pass(one.at, flight.flits);
      if (one.board == flight.board) {
        deliver(one.board, flight, at, until);
        keptFree_.push_back(one.flight);
      } else {
        const size_t hop = size_t{one.board} * machine.boards + flight.board;
        cross(one.board, machine.next_link[hop], machine.next_vc[hop], one.flight, at);
      }
      continue;
    }
    keptFree_.push_back(one.flight);
    const double body = flight.flits - 1;
    Group& memory = groups[size_t{one.board} * machine.memories];
    const auto read = [&](double t) { return t + timing.record_read + memory.readRecord(t); };
    const auto copy = [&](const gs_model_record& record, double at) {
      Flight made = flight;
      made.key = record.key;
      if (record.kind == GS_MODEL_RECORD_ROUTER) {
        made.route = record.key;
        cross(one.board, record.tile, record.channel, keep(made), at);
        return;
      }
      made.route = 0;
      made.tile = one.board * machine.tiles + record.tile;
      made.board = one.board;
      made.mask = record.mask;
      if (record.kind == GS_MODEL_RECORD_THREAD) made.flits -= 1;
      deliver(one.board, made, at, until);
    };
    engine.expand(flight.route, one.at, body, atExit ? 1 : timing.link_flit, records_[one.board], output,
                  its.routers[one.board], read, copy);
  }
}

/// All threads wait and no message is in flight: a step, or the end. Returns false if no thread is left.
bool Engine::release() {
  // A board reports when its last thread waits; its report takes a link for each level of the tree.
  double last = 0, reported = 0;
  bool any = false, all = true;
  for (const Group& group : groups) {
    const double up = machine.depth[group.number / machine.memories] * timing.link;
    for (const Thread& t : group.threads) {
      if (t.mode == Mode::Done) continue;
      any = true;
      last = std::max(last, t.t);
      reported = std::max(reported, t.t + up);
      all = all && !t.active;
    }
  }
  if (!any) return false;
  const uint32_t words = handlers.words;
  const bool given = words && steps;
  if (given) {
    std::vector<int64_t> sum(words + 1);
    handlers.empty(sum.data());
    for (const Group& group : groups) {
      for (const Thread& t : group.threads) {
        for (uint32_t i = 0; i < words; ++i) {
          sum[i] = aggregates::reduced(static_cast<Reduce>(handlers.reductions[i]), sum[i], t.mine[i]);
        }
      }
    }
    before = sum;
  }
  const gs_model_timing& x = timing;
  const double wave = x.barrier + (given ? x.words : 0) + 2 * mostBarrierDepth * x.link;
  const double more =
      machine.barriers > 1 && steps ? (machine.barriers - 1) * (wave + x.release * machine.threads + 40 * x.issue) : 0;
  const double base = reported + x.barrier + (given ? x.words : 0) + more;
  its.outcome->barrier_cycles += base - last;
  agreed = all;
  stepContext.time = steps;
  if (!all) ++steps;
  context.time = steps;
  const uint32_t lanes = machine.threads / machine.cores;
  for (Group& group : groups) {
    const uint32_t depth = machine.depth[group.number / machine.memories];
    for (Thread& t : group.threads) {
      if (t.mode == Mode::Done) continue;
      const uint32_t rank = t.lane % lanes * machine.cores + t.lane / lanes;
      t.mode = all ? Mode::Finish : Mode::Step;
      t.cursor = 0;
      t.idle = t.sleeping = t.receiving = false;
      t.patience = kPatience;
      group.wake(static_cast<uint32_t>(&t - group.threads.data()), base + depth * x.link + rank * x.release);
    }
  }
  return true;
}

/// Runs a group. If a handler aborts, the run ends at the end of the window, after every worker has reached it.
void Engine::simulate(Group& group, double until) {
  Fault fault;
  if (guard::run([&] { group.run(until); }, &group.position, fault)) return;
  const std::lock_guard lock(mutex_);
  if (group.number > failed_) return;
  failed_ = group.number;
  fault_ = fault;
}

int Engine::run() {
  const uint32_t workers = std::max(1u, std::min<uint32_t>(its.workers, static_cast<uint32_t>(groups.size())));
  double until = kWindow;
  bool over = false;
  gs_model_outcome& outcome = *its.outcome;
  outcome = {};
  const auto between = [&]() noexcept {
    for (;;) {
      if (failed_ != ~0u || __atomic_load_n(its.stop, __ATOMIC_RELAXED)) {
        outcome.status = 1;
        over = true;
        return;
      }
      exchange(until);
      double first = kNever;
      for (const Group& group : groups) first = std::min(first, group.earliest());
      if (!arriving_.empty()) first = std::min(first, arriving_.front().order);
      if (first == kNever) {
        if (!release()) {
          over = true;
          return;
        }
        continue;
      }
      if (its.progress) __atomic_store_n(its.progress, static_cast<uint64_t>(first), __ATOMIC_RELAXED);
      if (its.max_cycles > 0 && first > its.max_cycles) {
        outcome.status = 2;
        over = true;
        return;
      }
      until = groups.size() == 1 ? kNever : (std::floor(first / kWindow) + 1) * kWindow;
      return;
    }
  };
  if (groups.size() == 1) {
    // No other group can send to it: a window lasts until its threads wait.
    until = 1e6;
    while (!over) {
      simulate(groups[0], until);
      between();
      until = groups[0].earliest() + 1e6;
    }
  } else if (workers == 1) {
    while (!over) {
      for (Group& group : groups) simulate(group, until);
      between();
    }
  } else {
    std::barrier sync(workers, between);
    const auto work = [&](uint32_t which) {
      while (!over) {
        for (size_t i = which; i < groups.size(); i += workers) simulate(groups[i], until);
        sync.arrive_and_wait();
      }
    };
    std::vector<std::thread> pool;
    for (uint32_t i = 1; i < workers; ++i) pool.emplace_back(work, i);
    work(0);
    for (std::thread& one : pool) one.join();
  }
  if (failed_ != ~0u) {
    const Group& group = groups[failed_];
    if (group.position.vertex != HandlerDied::noVertex) {
      // Vertices are numbered in the order of threads, as the mapper orders them.
      uint32_t before = group.position.vertex;
      for (const Group& other : groups) {
        for (const Thread& t : other.threads) before += t.number < group.running ? t.vertices : 0;
      }
      groups[failed_].position.vertex = before;
    }
    guard::raise(fault_);
  }
  finish();
  return 0;
}

/// Results into the headers, where the softswitch stores them.
void Engine::finish() {
  gs_model_outcome& outcome = *its.outcome;
  double end = 0, begin = kNever;
  for (Group& group : groups) {
    for (Thread& t : group.threads) {
      end = std::max(end, t.t);
      begin = std::min(begin, t.t);
      outcome.retired += t.retired;
      const gs_model_memory& memory = its.memory[group.number];
      const uint32_t header = its.headers[t.number];
      uint8_t* const to = memory.dram + (header - memory.dram_at) + 4 * kHeaderWords;
      const uint32_t words[kResultWords] = {t.status,
                                            steps,
                                            static_cast<uint32_t>(t.sends),
                                            static_cast<uint32_t>(t.delivered * machine.edge_bytes),
                                            static_cast<uint32_t>(t.hostMessages),
                                            t.wrongPin,
                                            t.wrong,
                                            static_cast<uint32_t>(std::llround(t.retired))};
      std::memcpy(to, words, sizeof words);
      std::memcpy(to + sizeof words, before.data(), sizeof(int64_t) * handlers.words);
    }
  }
  outcome.cycles = end + timing.end;
  outcome.steps = steps;
  for (uint32_t i = 0; i < machine.boards * machine.tiles; ++i) {
    gs_model_counters& c = its.counters[i];
    c.idle = machine.cores * outcome.cycles - c.instructions;
  }
}

}  // namespace
}  // namespace gossamer::model

extern "C" int gs_model_simulate(const gs_model_run* run) {
  try {
    const gossamer::guard::Signals signals;
    gossamer::model::Engine engine(*run);
    return engine.run();
  } catch (const gossamer::HandlerDied& e) {
    return gossamer::died(e.what(), e.vertex == gossamer::HandlerDied::noVertex ? GS_NO_VERTEX : e.vertex,
                          e.addresses.c_str());
  } catch (const std::exception& e) {
    return gossamer::fail("%s", e.what());
  }
}
