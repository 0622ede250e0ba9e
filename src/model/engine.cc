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
//
// Cache misses of the host bound the speed: an iteration reads the state of one of thousands of threads, its queue,
// a list and the states of its vertices. All threads that will execute in a window are known when it begins, so these
// are fetched for several groups at a time, one level of indirection after the other (`prefetch`).
#include "gossamer/model/engine.h"

#include <algorithm>
#include <barrier>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

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
// What holds messages to a tile whose queues are full, before their senders wait (rtl/mailbox): messages in the
// receiving side, and flits in the sender's output to the same tile and to others, besides the buffers of the mesh.
constexpr size_t kInputMessages = 2;
constexpr uint32_t kLocalFlits = 8, kNetFlits = 16;
constexpr uint32_t kMostBanks = 4;  // of the queues of a tile (gs_mailbox_queues.sv)
constexpr uint32_t kPatience = 32;  // messages received before one is sent (softswitch.h)
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr uint32_t kHeaderWords = 9, kResultWords = 8;
constexpr uint32_t kDram = 0x4000'0000;
constexpr uint32_t kNoLine = ~0u;  // a tag that no line has
// What an entry with a routing key takes less than one with a mask (softswitch.h): instructions, one of them the load
// of the mask's upper half, and accesses to the mailbox.
constexpr double kKeyIssues = 3, kKeyRegisters = 2;
constexpr size_t kMostPrefetched = 512;  // threads whose data are fetched at a time: about 2 KB each
constexpr uint32_t kGroupsAtATime = 8;
constexpr uint32_t kPrefetchedEdges = 48;           // of a list
constexpr uint64_t kPrefetchedBuckets = 4;          // of a calendar, lines
constexpr size_t kPrefetchedFlags = 6 * kHostLine;  // of a thread

constexpr uint32_t difference(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

/// An event's cost, as the engine adds it.
struct Cost {
  double issues = 0, extra = 0, requests = 0, fpu = 0;
  bool nothing = false;
};

/// A message in flight or in the queues of threads of a tile.
class Messages {
 public:
  void resize(uint32_t payload) { stride_ = (kHeader + payload + 15) / 16 * 16; }
  uint32_t make(const uint8_t* payload, uint32_t bytes) {
    uint32_t found;
    if (free_.empty()) {
      found = count_++;
      if (bytes_.size() < size_t{count_} * stride_) bytes_.resize(2 * bytes_.size() + 64 * size_t{stride_});
    } else {
      found = free_.back();
      free_.pop_back();
    }
    holders(found) = 0;
    std::memcpy(&bytes_[size_t{found} * stride_ + kHeader], payload, bytes);
    return found;
  }
  /// Threads that have not received it yet.
  uint32_t& holders(uint32_t message) { return *reinterpret_cast<uint32_t*>(&bytes_[size_t{message} * stride_]); }
  const uint8_t* payload(uint32_t message) const { return &bytes_[size_t{message} * stride_ + kHeader]; }
  /// Whether this was the last holder of the message.
  bool release(uint32_t message) {
    if (--holders(message)) return false;
    free_.push_back(message);
    return true;
  }

 private:
  static constexpr uint32_t kHeader = 8;
  uint32_t stride_ = 16, count_ = 0;
  std::vector<uint8_t> bytes_;
  std::vector<uint32_t> free_;
};

struct Arrival {
  double at;
  uint32_t message, key;
};

/// A message that a tile's mailbox has not yet accepted.
struct Waiting {
  double at;
  uint64_t mask;
  uint32_t message, key;
};

/// A message for one thread, in a bank of queues.
struct Pointer {
  double at;
  uint32_t lane, message, key;
};

/// The input of a tile's mailbox. Messages from the network and from the tile itself enter alternately. One at a time
/// is distributed to the banks of queues. A bank has a register for a pointer whose queue is full, and one for the next
/// message.
struct Input {
  uint32_t slots = 0;
  std::deque<Waiting> waiting[2];   // from the network, from this tile
  std::deque<uint32_t> blocked[2];  // threads whose message the network or the tile has no space for, of this group
  Waiting next{};                   // is distributed
  uint32_t nextBanks = 0;           // that have not accepted it
  bool fromTile = false;            // the source of `next`
  std::deque<Pointer> banks[kMostBanks];
  uint32_t pointers = 0;  // of all messages that are not in the queues of their threads
};

enum class Mode : uint8_t { Init, Loop, Step, Finish, Done };

/// A thread. What each iteration reads is in the first two lines of the host's cache.
struct alignas(kHostLine) Thread {
  double t = 0, canSend = 0;
  double lastAt = 0;            // when the last message of the queue arrives
  uint32_t first = 0, end = 0;  // of the queue: messages received, arrived; modulo its size
  Arrival* queue = nullptr;
  uint32_t queueMask = 0;
  Mode mode = Mode::Init;
  bool idle = false, receiving = false, sleeping = false;
  uint32_t patience = kPatience, cursor = 0;
  uint16_t lastWay = 0;  // of the last access
  uint8_t status = 0;
  uint32_t lastLine = ~0u;

  uint16_t core, cache, fpu, tile;  // of the group
  uint32_t next = 0, listEnd = 0;   // addresses of entries
  uint8_t *states, *flags;
  gs_model_counters* counters;
  double retired = 0;
  uint32_t vertices, statesAt, flagsAt, keysAt;

  uint32_t head = 0, tail = 0;  // of the ring
  uint64_t delivered = 0, sends = 0, hostMessages = 0;
  uint32_t number, lane;  // in the machine, in the tile
  uint32_t headerAt, outsAt, queueAt, paramsAt;
  std::vector<uint32_t> ring;
  std::vector<Arrival> arrivals;  // the queue's memory
  double ready = 0;               // when it could send if the network had space
  int active = 1, stepActive = 0;
  std::vector<int64_t> mine;
  uint32_t wrong = 0, wrongPin = 0;
  uint8_t payload[64];  // of the message that it sends

  bool waits() const { return first != end; }
  const Arrival& front() const { return queue[first & queueMask]; }
  bool received(double now) const { return waits() && front().at <= now; }
  void append(double at, uint32_t message, uint32_t key) {
    if (end - first == arrivals.size()) [[unlikely]]
      grow();
    queue[end++ & queueMask] = {at, message, key};
    lastAt = at;
  }

 private:
  [[gnu::noinline]] void grow() {
    const uint32_t count = end - first;
    std::vector<Arrival> larger(std::max<size_t>(8, 2 * arrivals.size()));
    for (uint32_t i = 0; i < count; ++i) larger[i] = queue[(first + i) & queueMask];
    arrivals.swap(larger);
    queue = arrivals.data();
    queueMask = static_cast<uint32_t>(arrivals.size() - 1);
    first = 0;
    end = count;
  }
};

/// A message to another group.
struct Flight {
  double at;
  uint32_t group, sequence, board, tile;
  uint64_t mask;
  uint32_t key, flits;
  uint32_t route;  // routing key, or 0: the message has a destination
  uint32_t from;   // the sender's tile on its board
  uint32_t home;   // the sender's board
  double made;     // when it left the sender
  uint8_t payload[64];
};

/// A message that enters a board on a link, for idle detection: it leaves the board that made it at `made`.
struct Entered {
  double made, at;
  uint32_t from, to;
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
  /// Threads that execute before `until`, at most as many as are fetched at a time.
  void gather(double until);
  /// Fetches what these threads read; each level needs what the previous one fetched.
  void prefetch(int level);
  static constexpr int kLevels = 5;
  /// When the last thread began to wait in a barrier; kNever if one does not wait.
  double waitsFrom() const {
    if (!heap_.empty()) return kNever;
    double last = 0;
    for (const Thread& t : threads) {
      if (t.mode != Mode::Done && !t.idle) return kNever;
      last = std::max(last, t.t);
    }
    return last;
  }
  double earliest() const { return heap_.empty() ? kNever : heap_.front().t; }
  void arrive(const Flight& flight, double at);
  /// A read of a line by a multicast router. Returns its delay by other requests.
  double readRecord(double t) { return memories_[0].delay(t, 1); }
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
  void deliver(Thread& t, const uint8_t* payload, uint32_t list, gs_model_event each);
  void enqueue(Thread& t, uint32_t vertex);
  void spend(Thread& t, const Cost& cost, double times = 1);
  /// Transfers lines through a port that is narrower than a line: a bucket of its calendar has the time of one line.
  /// Returns the delay by other transfers.
  double passes(Calendar& port, double t, double lines) {
    const double scale = kBucket / portCycles_;
    return port.delay(now_ * scale, t * scale, kBucket * lines) / scale;
  }
  void touchLine(Thread& t, uint32_t line, bool store);
  uint32_t miss(Thread& t, uint32_t* tags, uint8_t* dirty, uint32_t order, uint32_t line);
  void touch(Thread& t, uint32_t address, bool store) { touchLine(t, address >> lineShift_, store); }
  uint32_t local(const Thread& t) const { return static_cast<uint32_t>(&t - threads.data()); }
  void touchOthers(Thread& t, int event);
  void touchState(Thread& t, uint32_t vertex, bool store, int kind);
  void touchReceived(Thread& t, uint32_t vertex, bool store, const gs_model_receipt& receipt);
  void post(uint32_t tile, bool fromTile, uint64_t mask, uint32_t key, const uint8_t* payload, double at);
  void accept(uint32_t tile, double now);
  void drop(uint32_t tile, uint32_t message);
  void queue(Thread& to, uint32_t message, uint32_t key, double when);
  void block(Thread& t, uint32_t tile, bool fromTile, uint32_t flits, uint32_t space);
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
  Messages messages_;
  std::vector<uint32_t> gathered_, ahead_;
  double now_ = 0;  // when the running iteration began
  std::vector<Calendar> cores_, caches_, fpus_;
  std::vector<Calendar> fills_;      // of each cache: cycles of fills in flight
  std::vector<Calendar> transfers_;  // of each cache: cycles of its port to memory
  uint32_t cacheThreads_ = 0;        // that share a cache
  std::vector<double> outputs_;      // of each tile: when its last flit leaves
  std::vector<Input> inputs_;
  Calendar memories_[2], sramWrites_;          // DRAM, and the reads of SRAM
  double missCycles_[2], writeBackCycles_[2];  // of DRAM and SRAM
  const double portCycles_;                    // of a line at a port of a memory
  Calendar fromMemory_[2], toMemory_[2];       // ports of DRAM and SRAM: lines that are read; requests, lines written
  /// The model of the threads' caches: for each thread the tags of its lines, the bits of the order of each set, and
  /// which lines are dirty (a byte each), together in few lines of the host's cache.
  struct alignas(kHostLine) Block {
    uint32_t words[kHostLine / 4];
  };
  std::vector<Block> lineModel_;
  uint32_t cacheBlocks_ = 0;  // of a thread
  uint32_t* tagsOf(uint32_t thread) {
    return reinterpret_cast<uint32_t*>(lineModel_.data() + size_t{thread} * cacheBlocks_);
  }
  std::vector<uint32_t> older_, newer_;  // by way: the bits of an order that an access keeps, and those that it sets
  std::vector<gs_model_receipt> received_;
  std::vector<uint8_t> before_;  // a state before a step
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
  uint32_t exitColumn(uint32_t exit) const;
  uint32_t exitOf(uint32_t x) const;
  /// Routers of the mesh from a tile to the nearest exit, at the northern rim, or back.
  uint32_t routersToExit(uint32_t tile) const { return exitRouters_[tile % machine.tiles]; }
  bool release();
  void watch();
  void judge(double until);
  void finish();
  void simulate(Group& group, double until);
  void simulate(uint32_t first, uint32_t stride, double until);
  std::mutex mutex_;       // of the next two
  uint32_t failed_ = ~0u;  // the group with the lowest number whose handler aborted
  Fault fault_;
  // Idle detection of several boards
  std::vector<double> flipped_;  // of each board: when the colour of its messages changed in this step
  std::vector<Entered> entered_;
  bool late_ = false, lateNext_ = false;
  std::vector<uint32_t> exitRouters_;  // of each tile of a board
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
      memories_{Calendar(kBucket / its.timing.dram_line), Calendar(kBucket / its.timing.sram_line)},
      sramWrites_(kBucket / its.timing.sram_line),
      missCycles_{its.timing.dram_miss, its.timing.sram_miss},
      writeBackCycles_{its.timing.write_back, its.timing.sram_write_back},
      portCycles_(its.timing.port_line) {
  const gs_model_machine& m = its.machine;
  const uint32_t count = its.groupTiles * m.threads;
  const uint32_t perCore = m.threads / m.cores;
  threads.resize(count);
  cores_ = std::vector<Calendar>(its.groupTiles * m.cores, Calendar(kBucket / its.timing.core_issue));
  caches_ =
      std::vector<Calendar>(its.groupTiles * m.cores / m.cores_per_cache, Calendar(kBucket / its.timing.cache_request));
  fills_ = std::vector<Calendar>(caches_.size(), Calendar(kBucket * m.inflight));
  transfers_ = std::vector<Calendar>(caches_.size());
  cacheThreads_ = m.cores_per_cache * perCore;
  fpus_ = std::vector<Calendar>(its.groupTiles * m.cores / m.cores_per_fpu, Calendar(kBucket / its.timing.fpu_request));
  outputs_.assign(its.groupTiles, 0);
  inputs_.resize(its.groupTiles);
  for (Input& input : inputs_) input.slots = m.slots;
  messages_.resize(its.handlers.message_bytes);
  cacheBlocks_ = static_cast<uint32_t>((size_t{lines_} * 5 + size_t{m.sets} * 4 + kHostLine - 1) / kHostLine);
  lineModel_.resize(size_t{count} * cacheBlocks_);
  for (uint32_t i = 0; i < count; ++i) std::fill_n(tagsOf(i), lines_, kNoLine);
  older_.assign(m.ways, ~0u);
  newer_.assign(m.ways, 0);
  for (uint32_t way = 0; way < m.ways; ++way) {  // a bit is 1 where the upper half is older
    for (uint32_t node = 1, low = 0, size = m.ways / 2; size; size /= 2) {
      const bool upper = way >= low + size;
      older_[way] &= ~(1u << node);
      newer_[way] |= upper ? 0 : 1u << node;
      low += upper ? size : 0;
      node = 2 * node + upper;
    }
  }
  const double begin = its.timing.begin + m.start_links[n / m.memories] * its.timing.control_link;
  for (uint32_t i = 0; i < count; ++i) {
    Thread& t = threads[i];
    t.number = n * count + i;
    t.tile = static_cast<uint16_t>(i / m.threads);
    t.lane = i % m.threads;
    t.core = static_cast<uint16_t>(t.tile * m.cores + t.lane / perCore);
    t.cache = static_cast<uint16_t>(t.core / m.cores_per_cache);
    t.fpu = static_cast<uint16_t>(t.core / m.cores_per_fpu);
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
    t.t = begin + its.timing.begin_tile * (t.number / m.threads % m.tiles) + its.timing.begin_thread * t.lane;
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
  double end = issues > 0 ? cores_[t.core].take(now_, begin, issues, 1 / its_.timing.issue) : begin;
  end += cost.extra * times;
  if (cost.requests > 0) end += caches_[t.cache].spread(now_, begin, end, cost.requests * times);
  if (cost.fpu > 0) end += fpus_[t.fpu].delay(now_, begin, cost.fpu * times);
  t.t = end;
  t.retired += issues;
  gs_model_counters& c = *t.counters;
  c.instructions += issues;
  c.hits += cost.requests * times;
  c.fpu += cost.fpu * times;
}

/// The way of a line in a set; `ways` if it is in none.
inline uint32_t find(const uint32_t* tags, uint32_t ways, uint32_t line) {
#if defined(__AVX2__)
  if (ways == 8) {
    const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(tags));
    const __m256i same = _mm256_cmpeq_epi32(all, _mm256_set1_epi32(static_cast<int>(line)));
    const auto found = static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(same)));
    return found ? static_cast<uint32_t>(std::countr_zero(found)) : 8;
  }
#endif
  uint32_t way = 0;
  while (way < ways && tags[way] != line) ++way;
  return way;
}

/// An access to a line: a hit costs what the event's requests cost, a miss more.
inline void Group::touchLine(Thread& t, uint32_t line, bool store) {
  const uint32_t ways = its_.machine.ways, set = line & setMask_;
  uint32_t* const all = tagsOf(local(t));
  auto* const dirty = reinterpret_cast<uint8_t*>(all + lines_ + setMask_ + 1);
  if (t.lastLine == line) {  // already the most recent of its set
    dirty[t.lastWay] |= static_cast<uint8_t>(store);
    return;
  }
  uint32_t* const tags = all + set * ways;
  uint32_t& order = all[lines_ + set];
  uint32_t way = find(tags, ways, line);
  if (way == ways) [[unlikely]]
    way = miss(t, tags, dirty + set * ways, order, line);
  order = (order & older_[way]) | newer_[way];
  t.lastLine = line;
  t.lastWay = static_cast<uint16_t>(set * ways + way);
  dirty[t.lastWay] |= static_cast<uint8_t>(store);
}

/// Replaces a line of a set. Returns its way.
[[gnu::noinline]] uint32_t Group::miss(Thread& t, uint32_t* tags, uint8_t* dirty, uint32_t order, uint32_t line) {
  // The first invalid way, else the oldest by the tree's bits: a bit is 1 where the upper half is older.
  uint32_t way = find(tags, its_.machine.ways, kNoLine);
  if (way == its_.machine.ways) {
    uint32_t node = 1;
    for (uint32_t size = its_.machine.ways; size > 1; size /= 2) node = 2 * node + (order >> node & 1);
    way = node - its_.machine.ways;
  }
  gs_model_counters& c = *t.counters;
  ++c.misses;
  --c.hits;
  const bool sram = line < (kDram >> lineShift_);
  double wait = 0;
  const bool wasDirty = dirty[way];
  if (wasDirty) {
    ++c.writebacks;
    const bool old = tags[way] < (kDram >> lineShift_);
    wait += writeBackCycles_[old];
    (old ? sramWrites_ : memories_[0]).delay(now_, t.t, old ? 1 : its_.timing.dram_dirty);
    if (portCycles_ > 1) wait += passes(toMemory_[old], t.t, 1) + passes(transfers_[t.cache], t.t, 1);
  }
  // A cache has a number of fills in flight; with one for each thread no miss waits. A miss that waits for an earlier
  // fill does not wait for the memory as well.
  const double fill = missCycles_[sram];
  double delay = memories_[sram].delay(now_, t.t, 1);
  if (portCycles_ > 1) {
    delay += passes(toMemory_[sram], t.t, 1 / portCycles_);
    delay += passes(fromMemory_[sram], t.t + wait + fill + delay, 1);
    delay += passes(transfers_[t.cache], t.t + wait + fill + delay, 1);
  }
  const uint32_t inflight = its_.machine.inflight;
  if (inflight < cacheThreads_) {
    delay = std::max(delay, fills_[t.cache].take(now_, t.t, fill, inflight) - t.t - fill / inflight);
  }
  t.t += wait + fill + delay;
  tags[way] = line;
  dirty[way] = 0;
  return way;
}

/// The accesses of an event outside of the graph's tables: lines of the thread's partition, which are interleaved with
/// those of other threads, of its header, of the parameters.
void Group::touchOthers(Thread& t, int event) {
  const gs_model_lines& its = its_.its.lines[event];
  const auto stride = static_cast<uint32_t>(threads.size());
  for (uint32_t i = 0; i < its.count; ++i) {
    const uint32_t origin = its.line[i] & kLineOrigins;
    uint32_t line = its.line[i] & ~kLineOrigins;
    if (origin == kPartitionLine) line = kPartitionLine | (line * stride + local(t));
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

/// What `recv` accesses: what it usually reads, and what it has changed; if it has changed nothing, and usually reads
/// nothing else, all that it ever accesses.
void Group::touchReceived(Thread& t, uint32_t vertex, bool store, const gs_model_receipt& receipt) {
  const bool changed = receipt.what & GS_MODEL_CHANGED;
  const uint32_t* range = its_.its.ranges + 2 * kStateKinds;
  if (!changed && !range[1]) range = its_.its.ranges + 2 * kStateReceive;
  uint32_t begin = range[0], end = range[1];
  if (changed) {
    begin = end ? std::min<uint32_t>(begin, receipt.first) : receipt.first;
    end = std::max<uint32_t>(end, receipt.end);
    store = true;
  }
  if (!end) return;
  begin += t.statesAt + vertex;
  end += t.statesAt + vertex - 1;
  for (uint32_t line = begin >> lineShift_; line <= end >> lineShift_; ++line) touchLine(t, line, store);
}

void Group::enqueue(Thread& t, uint32_t vertex) {
  t.ring[t.tail] = vertex;
  touch(t, t.queueAt + t.tail * its_.machine.offset_bytes, true);
  if (++t.tail == t.ring.size()) t.tail = 0;
}

/// A message arrives at a tile of this group, from the network or from the tile itself, for the threads of `mask`.
void Group::post(uint32_t tile, bool fromTile, uint64_t mask, uint32_t key, const uint8_t* payload, double at) {
  const gs_model_machine& m = its_.machine;
  Thread* const first = &threads[tile * m.threads];
  if (mask & (mask - 1)) {
    for (uint64_t left = mask; left; left &= left - 1) __builtin_prefetch(first + std::countr_zero(left), 1);
  }
  const uint32_t message = messages_.make(payload, its_.handlers.message_bytes);
  for (uint64_t left = mask; left; left &= left - 1) {
    const Thread& to = first[std::countr_zero(left)];
    __builtin_prefetch(to.queue + (to.end & to.queueMask), 1);
  }
  ++its_.counters(number * its_.groupTiles + tile).received;
  Input& input = inputs_[tile];
  messages_.holders(message) = static_cast<uint32_t>(std::popcount(mask));
  bool space = input.pointers == 0 && input.slots != 0;
  for (uint64_t left = mask; left && space; left &= left - 1) {
    const Thread& to = first[std::countr_zero(left)];
    space = to.end - to.first < m.queue_depth;
  }
  if (!space) [[unlikely]] {
    input.pointers += messages_.holders(message);
    input.waiting[fromTile].push_back({at, mask, message, key});
    accept(tile, at);
    return;
  }
  --input.slots;
  for (uint64_t left = mask; left; left &= left - 1) queue(first[std::countr_zero(left)], message, key, at);
}

/// The mailbox of a tile distributes its waiting messages, until full queues or a lack of slots prevent it.
void Group::accept(uint32_t tile, double now) {
  const gs_model_machine& m = its_.machine;
  Input& input = inputs_[tile];
  Thread* const first = &threads[tile * m.threads];
  const uint32_t banks = m.threads >= 2 * kMostBanks ? kMostBanks : 1;
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t bank = 0; bank < banks; ++bank) {
      std::deque<Pointer>& its = input.banks[bank];
      while (!its.empty()) {
        const Pointer& head = its.front();
        Thread& to = first[head.lane];
        if (to.end - to.first >= m.queue_depth) break;
        queue(to, head.message, head.key, std::max(head.at, now));
        its.pop_front();
        --input.pointers;
        moved = true;
      }
      // The first pointer is in the bank's register, the others are those of its present message.
      if ((input.nextBanks >> bank & 1) && its.size() <= 1) {
        for (uint64_t left = input.next.mask; left; left &= left - 1) {
          const auto lane = static_cast<uint32_t>(std::countr_zero(left));
          if (lane % banks == bank) its.push_back({input.next.at, lane, input.next.message, input.next.key});
        }
        input.nextBanks &= ~(1u << bank);
        moved = true;
      }
    }
    if (input.nextBanks || !input.slots || (input.waiting[0].empty() && input.waiting[1].empty())) continue;
    input.fromTile = input.waiting[!input.fromTile].empty() ? input.fromTile : !input.fromTile;
    input.next = input.waiting[input.fromTile].front();
    input.waiting[input.fromTile].pop_front();
    --input.slots;
    for (uint64_t left = input.next.mask; left; left &= left - 1) {
      input.nextBanks |= 1u << static_cast<uint32_t>(std::countr_zero(left)) % banks;
    }
    moved = true;
    std::deque<uint32_t>& blocked = input.blocked[input.fromTile];
    if (blocked.empty()) continue;
    Thread& sender = threads[blocked.front()];  // its message has entered the network
    blocked.pop_front();
    sender.canSend = std::max(sender.ready, now);
    if (sender.sleeping) {
      sender.sleeping = false;
      sender.t = std::max(sender.t, sender.canSend);
      push(local(sender));
    }
  }
}

/// After a send to a tile of this group: the thread cannot send again while there is no space for the message. `flits`
/// is what the message takes, `space` what there is between the thread and the tile's mailbox.
void Group::block(Thread& t, uint32_t tile, bool fromTile, uint32_t flits, uint32_t space) {
  Input& input = inputs_[tile];
  if (input.waiting[fromTile].size() <= kInputMessages + space / flits) return;
  t.ready = t.canSend;
  t.canSend = kNever;
  input.blocked[fromTile].push_back(local(t));
}

/// A thread no longer holds a message.
void Group::drop(uint32_t tile, uint32_t message) {
  if (messages_.release(message)) ++inputs_[tile].slots;
}

void Group::queue(Thread& to, uint32_t message, uint32_t key, double when) {
  if (to.waits()) when = std::max(when, to.lastAt);
  to.append(when, message, key);
  if (to.sleeping) {
    to.sleeping = false;
    to.idle = false;
    to.t = std::max(to.t, when);
    push(local(to));
  }
}

void Group::arrive(const Flight& flight, double at) {
  const uint32_t tile = flight.tile % its_.groupTiles;
  its_.counters(number * its_.groupTiles + tile).flits_in += flight.flits;
  post(tile, false, flight.mask, flight.key, flight.payload, at);
}

/// `recv` of the vertices in a list.
void Group::deliver(Thread& t, const uint8_t* payload, uint32_t list, gs_model_event each) {
  const gs_model_machine& m = its_.machine;
  touch(t, list, false);
  const uint32_t bytes = offset(list), count = bytes / m.edge_bytes;
  if (!count) return;
  const uint32_t edges = list + m.list_bytes;
  if (received_.size() < count) received_.resize(count);
  const gs_model_edges its{host(edges), count, m.edge_bytes, m.value_at, m.offset_bytes};
  enter(t, Handler::recv, HandlerDied::noVertex);
  its_.handlers.receive(&its_.context, t.states, t.flags, m.flag_bytes, payload, &its, received_.data());
  t.delivered += count;
  const gs_model_cost& raw = its_.its.costs[each];
  const bool looksAtFlags = raw.flag_loads > 0.1, stores = raw.state_stores > 0.3;
  const bool looksAtOthers = its_.its.lines[each].count != 0;
  const bool values = m.edge_bytes > m.offset_bytes;
  const uint32_t stride = its_.handlers.state_bytes;
  uint32_t changed = 0, pushes = 0;
  const uint8_t* at = its.first;
  for (uint32_t i = 0; i < count; ++i, at += m.edge_bytes) {
    const uint32_t edge = edges + i * m.edge_bytes;
    uint32_t vertex = 0;
    std::memcpy(&vertex, at, m.offset_bytes == 2 ? 2 : 4);
    touch(t, edge, false);
    if (values) touch(t, edge + m.edge_bytes - 1, false);
    const gs_model_receipt& receipt = received_[i];
    const uint8_t what = receipt.what;
    if (looksAtFlags || (what & (GS_MODEL_WOKE | GS_MODEL_SLEPT))) {
      touch(t, t.flagsAt + vertex / stride * m.flag_bytes, what & (GS_MODEL_WOKE | GS_MODEL_SLEPT));
    }
    if (looksAtOthers) touchOthers(t, each);
    touchReceived(t, vertex, stores, receipt);
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
  its_.handlers.send(&its_.context, t.states + vertex, flags, t.payload);
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
      its_.its.listen(its_.its.context, t.payload);
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
    deliver(t, t.payload, list, GS_MODEL_OWN_EDGE);
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
    post(t.tile, true, mask, key, t.payload, t.t + its_.timing.local_message + flits);
    block(t, t.tile, true, flits, kLocalFlits);
    return;
  }
  its_.counters(mine).flits_out += flits;
  double& output = outputs_[t.tile];
  const double leaves = output = std::max(output, t.t) + flits * its_.timing.flit;
  const uint32_t from = mine % m.tiles;
  const uint32_t group = tile / its_.groupTiles;
  double at = leaves + its_.timing.mesh_message;
  const uint32_t routers = difference(from % m.width, x) + difference(from / m.width, y) + 1;
  if (board == mine / m.tiles) at += its_.timing.hop * routers;
  if (group == number) {
    its_.counters(tile).flits_in += flits;
    post(tile % its_.groupTiles, false, mask, key, t.payload, at);
    block(t, tile % its_.groupTiles, false, flits, kNetFlits + routers * m.buffer_flits);
    return;
  }
  Flight flight{at, number, sequence_++, board, tile, mask, key, flits, 0, from, mine / m.tiles, leaves, {}};
  std::memcpy(flight.payload, t.payload, its_.handlers.message_bytes);
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
  const uint32_t mine = number * its_.groupTiles + t.tile;
  Flight flight{output + its_.timing.mesh_message,
                number,
                sequence_++,
                ~0u,
                0,
                0,
                0,
                flits,
                route,
                mine % m.tiles,
                mine / m.tiles,
                output,
                {}};
  std::memcpy(flight.payload, t.payload, its_.handlers.message_bytes);
  out.push_back(flight);
}

void Group::receive(Thread& t) {
  const Arrival message = t.front();
  ++t.first;
  // No message is made before its handler ends, so the payload outlives the message.
  const uint8_t* const payload = messages_.payload(message.message);
  drop(t.tile, message.message);
  if (inputs_[t.tile].pointers) accept(t.tile, t.t);
  spend(t, its_.costs[GS_MODEL_RECEIVE]);
  const gs_model_machine& m = its_.machine;
  if (!m.multicast && (message.key & 1)) {
    // The key names a vertex: a list of one edge that is in no memory.
    uint8_t edge[4];
    const uint32_t vertex = message.key - 1;
    std::memcpy(edge, &vertex, 4);
    const gs_model_edges one{edge, 1, m.edge_bytes, 0, m.offset_bytes};
    gs_model_receipt receipt{};
    enter(t, Handler::recv, HandlerDied::noVertex);
    its_.handlers.receive(&its_.context, t.states, t.flags, m.flag_bytes, payload, &one, &receipt);
    ++t.delivered;
    const uint8_t what = receipt.what;
    const uint32_t at = vertex / its_.handlers.state_bytes * m.flag_bytes;
    if (its_.its.costs[GS_MODEL_EDGE].flag_loads > 0.1 || what & 3) touch(t, t.flagsAt + at, what & 3);
    touchReceived(t, vertex, its_.its.costs[GS_MODEL_EDGE].state_stores > 0.3, receipt);
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
  deliver(t, payload, m.multicast ? t.keysAt + message.key : message.key, GS_MODEL_EDGE);
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
      if (before_.size() < stride) before_.resize(stride);
      std::memcpy(before_.data(), state, stride);
      const uint8_t before = flags[0];
      enter(t, Handler::step, local);
      t.stepActive |= its_.handlers.step(&its_.stepContext, state, flags, its_.before.data(), t.mine.data());
      const bool changed = std::memcmp(before_.data(), state, stride) != 0;
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
      t.t = std::max(t.t, t.front().at);
      return;
    }
    t.idle = true;
    t.sleeping = true;
    return;
  }
  // Waits to send, and keeps receiving.
  spend(t, its_.costs[GS_MODEL_WAIT]);
  const double message = t.waits() ? t.front().at : kNever;
  const double next = std::min(t.canSend, message);
  if (next == kNever) {
    t.receiving = t.sleeping = true;
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

void Group::gather(double until) {
  gathered_.clear();
  ahead_.clear();
  if (!heap_.empty()) ahead_.push_back(0);
  while (!ahead_.empty() && gathered_.size() < kMostPrefetched) {
    const uint32_t at = ahead_.back();
    ahead_.pop_back();
    if (heap_[at].t >= until) continue;
    gathered_.push_back(heap_[at].thread);
    for (const uint32_t child : {2 * at + 1, 2 * at + 2}) {
      if (child < heap_.size()) ahead_.push_back(child);
    }
  }
}

void Group::prefetch(int level) {
  const gs_model_machine& m = its_.machine;
  const auto list = [&](const Thread& t) {
    const uint32_t key = t.front().key;
    return host(m.multicast ? t.keysAt + key : key);
  };
  for (const uint32_t index : gathered_) {
    const Thread& t = threads[index];
    if (level == 0) {
      const auto* const lines = reinterpret_cast<const uint8_t*>(&t);
      for (size_t at = 0; at < 3 * kHostLine; at += kHostLine) __builtin_prefetch(lines + at, 1);
      const uint32_t* const tags = tagsOf(index);
      for (uint32_t i = 0; i < cacheBlocks_; ++i) __builtin_prefetch(tags + i * (kHostLine / 4), 1);
      continue;
    }
    // Without multicast, odd keys name a vertex.
    const bool names = !m.multicast && t.waits() && level > 1 && (t.front().key & 1);
    if (level == 1) {
      if (t.waits()) __builtin_prefetch(&t.front());
      __builtin_prefetch(&cores_[t.core], 1);
      __builtin_prefetch(&caches_[t.cache], 1);
      __builtin_prefetch(&fpus_[t.fpu], 1);
      if (t.mode == Mode::Loop) {
        if (t.next != t.listEnd) __builtin_prefetch(host(t.next));
      } else if (t.mode != Mode::Done) {
        __builtin_prefetch(t.states + size_t{t.cursor} * its_.handlers.state_bytes, 1);
        __builtin_prefetch(t.flags + size_t{t.cursor} * m.flag_bytes, 1);
      }
      continue;
    }
    if (level == 2) {
      cores_[t.core].prefetch(t.t, kPrefetchedBuckets);
      caches_[t.cache].prefetch(t.t, kPrefetchedBuckets);
      fpus_[t.fpu].prefetch(t.t, kPrefetchedBuckets);
      __builtin_prefetch(t.counters, 1);
      __builtin_prefetch(t.counters + 1, 1);
    }
    if (t.mode != Mode::Loop || !t.waits()) continue;
    if (level == 2) {
      __builtin_prefetch(messages_.payload(t.front().message), 1);
      if (names) {
        __builtin_prefetch(t.states + t.front().key - 1, 1);
      } else {
        const uint8_t* const first = list(t);
        __builtin_prefetch(first);
        __builtin_prefetch(first + kHostLine);
      }
      const size_t flags = std::min<size_t>(size_t{t.vertices} * m.flag_bytes, kPrefetchedFlags);
      for (size_t at = 0; at < flags; at += kHostLine) __builtin_prefetch(t.flags + at, 1);
    } else if (level == 3 && !names) {
      uint32_t bytes = 0;
      const uint8_t* const first = list(t);
      std::memcpy(&bytes, first, m.offset_bytes);
      const uint32_t most = std::min(bytes, kPrefetchedEdges * m.edge_bytes);
      for (uint32_t at = 2 * kHostLine; at < most + m.list_bytes; at += kHostLine) __builtin_prefetch(first + at);
    } else if (level == 4 && !names) {
      uint32_t bytes = 0;
      const uint8_t* const first = list(t);
      std::memcpy(&bytes, first, m.offset_bytes);
      const uint32_t most = std::min(bytes, kPrefetchedEdges * m.edge_bytes);
      for (uint32_t at = 0; at < most; at += m.edge_bytes) {
        uint32_t vertex = 0;
        std::memcpy(&vertex, first + m.list_bytes + at, m.offset_bytes);
        __builtin_prefetch(t.states + vertex, 1);
      }
    }
  }
}

void Group::run(double until) {
  while (!heap_.empty() && heap_.front().t < until) {
    const uint32_t index = heap_.front().thread;
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
    Thread& t = threads[index];
    do {
      now_ = t.t;
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
  flipped_.assign(machine.boards, kNever);
  for (uint32_t tile = 0; tile < machine.tiles; ++tile) {
    const uint32_t x = tile % machine.width, rows = machine.tiles / machine.width;
    exitRouters_.push_back(difference(x, exitColumn(exitOf(x))) + rows - tile / machine.width);
  }
  links_ = std::vector<Calendar>(size_t{machine.boards} * std::max(1u, machine.links), Calendar(kBucket));
  if (machine.records) {
    routers_ = machine.exits + machine.links * machine.vcs;
    engines_.resize(size_t{machine.boards} * routers_);
    ports_ = std::vector<Calendar>(size_t{machine.boards} * (machine.exits + machine.links), Calendar(kBucket));
    exits_ = std::vector<Calendar>(size_t{machine.boards} * machine.exits, Calendar(kBucket));
    for (uint32_t i = 0; i < machine.boards; ++i) {
      records_.push_back({machine.records, machine.beats + machine.board_beats[i], machine.first_beat});
    }
  }
  for (uint32_t i = 0; i < machine.boards; ++i) mostBarrierDepth = std::max(mostBarrierDepth, machine.depth[i]);
}

/// Messages between groups leave their senders and arrive, in the order of time.
void Engine::exchange(double until) {
  if (machine.boards > 1) {
    watch();
    judge(until);
  }
  flights_.clear();
  for (Group& group : groups) {
    flights_.insert(flights_.end(), group.out.begin(), group.out.end());
    group.out.clear();
  }
  std::sort(flights_.begin(), flights_.end(), [](const Flight& a, const Flight& b) {
    return a.at != b.at ? a.at < b.at : a.group != b.group ? a.group < b.group : a.sequence < b.sequence;
  });
  const double begun = until - kWindow;  // of the window in which they were sent
  for (const Flight& flight : flights_) {
    double at = flight.at;
    uint32_t board = flight.group / machine.memories;
    if (machine.records && board != flight.board) {
      enter(flight);
      continue;
    }
    const bool leaves = board != flight.board;
    if (leaves) at += timing.hop * routersToExit(flight.from);
    while (board != flight.board) {
      const size_t hop = size_t{board} * machine.boards + flight.board;
      const size_t link = size_t{board} * machine.links + machine.next_link[hop];
      const double cycles = flight.flits * timing.link_flit + timing.link_frame;
      at = links_[link].take(begun, at, cycles, 1) + timing.link + flight.flits * timing.link_store;
      its.link_flits[link] += flight.flits;
      ++its.link_packets[link];
      board = machine.next_board[hop];
    }
    if (leaves) {
      entered_.push_back({flight.made, at, flight.home, board});
      at += timing.board_entry + timing.hop * routersToExit(flight.tile);
    }
    groups[flight.tile / groupTiles].arrive(flight, std::max(at, until));
  }
  route(until);
}

/// Boards whose threads all wait for the first time in a step change the colour of their messages (gs_idle_board.sv).
void Engine::watch() {
  for (uint32_t board = 0; board < machine.boards; ++board) {
    if (flipped_[board] < kNever) continue;
    double last = 0;
    for (uint32_t i = 0; i < machine.memories && last < kNever; ++i) {
      last = std::max(last, groups[board * machine.memories + i].waitsFrom());
    }
    flipped_[board] = last;
  }
}

/// Messages that have entered a board before `until`. One that a board made after its change, and that enters a board
/// before the change there, is late: the barrier needs another wave. One that was made before a change and enters after
/// it could belong to that next wave.
void Engine::judge(double until) {
  std::erase_if(entered_, [&](const Entered& one) {
    if (one.at >= until) return false;
    const bool changed = one.made >= flipped_[one.from], here = one.at >= flipped_[one.to];
    late_ |= changed && !here;
    lateNext_ |= !changed && here;
    return true;
  });
}

/// The column of an exit (gs_noc_pkg.sv).
uint32_t Engine::exitColumn(uint32_t exit) const { return (2 * exit + 1) * machine.width / (2 * machine.exits); }

/// The nearest exit of a column; ties to the west (gs_noc_pkg.sv).
uint32_t Engine::exitOf(uint32_t x) const {
  uint32_t best = 0, distance = ~0u;
  for (uint32_t i = 0; i < machine.exits; ++i) {
    const uint32_t apart = difference(exitColumn(i), x);
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
  const double at = flight.at + timing.hop * routersToExit(flight.from);
  const uint32_t board = flight.group / machine.memories;
  arriving_.push_back({at, at, arrivals_++, board, exitOf(flight.from % machine.width), keep(flight)});
  std::push_heap(arriving_.begin(), arriving_.end());
}

/// A message crosses a link to the next board's router.
void Engine::cross(uint32_t board, uint32_t link, uint32_t channel, uint32_t flight, double at) {
  const size_t hop = size_t{board} * machine.links + link;
  const uint32_t flits = kept_[flight].flits;
  // Copies leave while the rest of their message arrives; any other packet is stored first.
  const bool copy = kept_[flight].route != 0;
  const double stored = flits * timing.link_store - (copy ? timing.key_early : 0);
  const double made = copy ? at : kept_[flight].made;
  at = links_[hop].take(at, flits * timing.link_flit + timing.link_frame, 1);
  its.link_flits[hop] += flits;
  ++its.link_packets[hop];
  if (copy || machine.far_board[hop] == kept_[flight].board) {
    entered_.push_back({made, at + timing.link + stored, copy ? board : kept_[flight].home, machine.far_board[hop]});
  }
  const uint32_t router = machine.exits + machine.far_link[hop] * machine.vcs + channel;
  arriving_.push_back({at, at + timing.link + stored, arrivals_++, machine.far_board[hop], router, flight});
  std::push_heap(arriving_.begin(), arriving_.end());
}

/// A message enters the mesh of the board of its receivers.
void Engine::deliver(uint32_t board, const Flight& flight, double at, double until) {
  const uint32_t exit = exitOf(flight.tile % machine.tiles % machine.width);
  at = std::max(at, exits_[board * machine.exits + exit].take(at - flight.flits, flight.flits, 1));
  at += timing.board_entry + timing.hop * routersToExit(flight.tile);
  groups[flight.tile / groupTiles].arrive(flight, std::max(at, until));
}

/// Messages at multicast routers that no message of a later window can overtake.
void Engine::route(double until) {
  if (!machine.records) return;
  for (auto* calendars : {&links_, &ports_, &exits_}) {
    for (Calendar& one : *calendars) one.advance(until - kWindow);
  }
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
  const uint32_t words = handlers.words;
  const bool given = words && steps;
  // A board reports when its last thread waits; its report takes a link for each level of the tree.
  double last = 0, reported = 0;
  bool any = false, all = true;
  for (const Group& group : groups) {
    const double up =
        machine.depth[group.number / machine.memories] * (timing.control_link + (given ? timing.word_link : 0));
    for (const Thread& t : group.threads) {
      if (t.mode == Mode::Done) continue;
      any = true;
      last = std::max(last, t.t);
      reported = std::max(reported, t.t + up);
      all = all && !t.active;
    }
  }
  if (!any) return false;
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
  const double level = x.control_link + (given ? x.word_link : 0);
  const double wave = x.barrier + (given ? x.words : 0) + 2 * mostBarrierDepth * level;
  double again = 0;
  if (machine.boards > 1) {
    watch();
    judge(kNever);
    // The first barrier always takes another wave: some boards begin before others.
    const int waves = steps == 0 ? 1 : late_ + (late_ && lateNext_);
    again = waves * (mostBarrierDepth * (x.control_link + level) + x.again + (given ? x.words : 0));
    late_ = lateNext_ = false;
    flipped_.assign(machine.boards, kNever);
  }
  const double more =
      machine.barriers > 1 && steps ? (machine.barriers - 1) * (wave + x.release * machine.threads + 40 * x.issue) : 0;
  const double base = reported + x.barrier + (given ? x.words : 0) + more + again;
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
      group.wake(static_cast<uint32_t>(&t - group.threads.data()), base + depth * level + rank * x.release);
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

/// Runs the groups `first`, `first + stride` and so on.
void Engine::simulate(uint32_t first, uint32_t stride, double until) {
  const size_t count = groups.size();
  for (size_t begin = first; begin < count; begin += size_t{stride} * kGroupsAtATime) {
    const size_t end = std::min(count, begin + size_t{stride} * kGroupsAtATime);
    for (size_t i = begin; i < end; i += stride) groups[i].gather(until);
    for (int level = 0; level < Group::kLevels; ++level) {
      for (size_t i = begin; i < end; i += stride) groups[i].prefetch(level);
    }
    for (size_t i = begin; i < end; i += stride) simulate(groups[i], until);
  }
}

int Engine::run() {
  const uint32_t workers = std::max(1u, std::min<uint32_t>(its.workers, static_cast<uint32_t>(groups.size())));
  const bool alone = groups.size() == 1 && !machine.records;
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
      until = alone ? kNever : (std::floor(first / kWindow) + 1) * kWindow;
      return;
    }
  };
  if (alone) {
    // No other group sends to it: a window lasts until its threads wait.
    until = 1e6;
    while (!over) {
      for (double first = 0; failed_ == ~0u && (first = groups[0].earliest()) < until;) {
        simulate(0, 1, std::min(until, (std::floor(first / kWindow) + 1) * kWindow));
      }
      between();
      until = groups[0].earliest() + 1e6;
    }
  } else if (workers == 1) {
    while (!over) {
      simulate(0, 1, until);
      between();
    }
  } else {
    std::barrier sync(workers, between);
    const auto work = [&](uint32_t which) {
      while (!over) {
        simulate(which, workers, until);
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
  std::vector<std::vector<double>> ends(machine.boards);
  for (Group& group : groups) {
    for (Thread& t : group.threads) {
      ends[group.number / machine.memories].push_back(t.t);
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
  // A board reports the ends of its threads one after the other.
  double end = 0;
  for (auto& its : ends) {
    std::sort(its.begin(), its.end());
    double reported = 0;
    for (const double t : its) reported = std::max(t, reported + timing.end_thread);
    end = std::max(end, reported);
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
