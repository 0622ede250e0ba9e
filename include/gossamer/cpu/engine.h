// SPDX-License-Identifier: Apache-2.0
/// The `cpu` engine: vertices on the threads of this machine.
///
/// Result: the values of POLite's semantics, at the speed of a hand-written graph
/// kernel. The engine knows only the types of the handlers.
///
/// Methods, by the number of vertices that want to send:
/// - Nearly all: every sender stores its message in a compact array, and each
///   vertex pulls over its in-edges with its state in registers. No thread writes
///   data that another reads.
/// - If the compiler proves that `recv` never sets *readyToSend, the network is idle
///   after such a round. The pull, the following `step` and the `send` after it are then
///   one pass over the vertices, between two arrays of messages.
/// - Some: each thread owns a range of receivers, which receive from the senders in index
///   order, without locks. With few threads, each one cuts every sender's row at its range's
///   bounds; many threads first sort messages by range (Exchange), so that they read each
///   sender once in all.
/// - Few: one thread delivers directly from sender to receiver.
/// - With a priority: senders in exact order of priority (BucketQueue), each
///   bucket in waves, large waves on all threads, each of which queues its own receivers (Lanes).
/// - With a priority, edge values, and states of one machine word: any thread delivers to any vertex, and writes it
///   back if it has not changed meanwhile (concurrent.h).
///
/// This header has the class, its data and the operations on one vertex. The other headers of this folder have the rest
/// of the class: run.h the run as a whole; steps.h the handlers of all vertices; rounds.h the choice between push and
/// pull; push.h, pull.h; fused.h one pass per step; ordered.h order by priority;
/// concurrent.h the same on all threads.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gossamer/core/memory.h"
#include "gossamer/core/pool.h"
#include "gossamer/cpu/bucket_queue.h"
#include "gossamer/cpu/exchange.h"
#include "gossamer/cpu/lanes.h"
#include "gossamer/cpu/partition.h"
#include "gossamer/edge_binding.h"
#include "gossamer/engine.h"

namespace gossamer::cpu {

/// How a vertex that a message made ready is recorded.
enum class Wake {
  bitmap,  // in the bitmap of ready vertices
  list,    // also in a list (with a priority: also if the priority changed)
  queue,   // in the bitmap, and in the queue under its priority
};

/// One run of one problem.
template <typename V>
class Run {
  using S = typename V::State;
  using E = typename V::Edge;
  using M = typename V::Message;
  using P = typename V::Params;
  using A = typename V::Aggregates;

  static constexpr bool hasPriority = rules::HasPriority<V>;
  static constexpr bool lazySteps = rules::stepsLazily<V>();
  static constexpr bool mayPull = rules::ConstantEdges<V>;
  static constexpr bool hasSettled = rules::HasSettled<V>;
  static constexpr bool readsEdges = OwnEdges<V>::some;
  static constexpr bool largeMessages = sizeof(M) > 16;
  /// States that the processor reads and writes as one word: any thread may deliver to any vertex. Without edge values
  /// most messages have an effect, and ranges of receivers are faster (docs/design-notes/cpu-engine.md).
  static constexpr bool concurrent = hasPriority && rules::ConstantEdges<V> && !readsEdges && !hasSettled &&
                                     !lazySteps && !std::is_empty_v<E> && (sizeof(S) == 4 || sizeof(S) == 8);
  using PlainStateWord = std::conditional_t<sizeof(S) == 8, uint64_t, uint32_t>;
  using StateWord [[gnu::may_alias]] = PlainStateWord;
  /// In place of a vertex's pin while a thread writes the vertex back; no pin of a vertex without member edges.
  static constexpr PPin lockedPin = OneEdge;
  /// If few vertices are touched between two steps, they are listed, so that a step costs nothing for the others.
  static constexpr bool listsTouched = lazySteps && !hasPriority;

  /// Below this many edges, a round ends before a second thread has woken.
  static constexpr uint64_t smallEdges = 16384;
  /// Below this many queued vertices, one thread finds the lowest before a second has woken.
  static constexpr size_t smallBucket = 2048;
  /// Prefetch distance for a receiver's state, in edges.
  static constexpr uint64_t ahead = 12;
  /// Prefetch distance for a row, in senders of a wave.
  static constexpr size_t rowsAhead = 4;
  /// Prefetch distance for a queued sender's row, in senders; twice that for the row's bounds.
  static constexpr uint32_t sendersAhead = 3;
  /// Edges of a slice of a concurrent round, which one thread takes at a time.
  static constexpr uint64_t sliceEdges = 2048;
  /// Edges per thread from which on a concurrent round is long enough.
  static constexpr uint64_t roundEdges = 8192;
  /// Concurrent rounds are judged together until they have sent this many messages.
  static constexpr uint64_t epochSends = 512;
  /// The window shrinks if more than one of this many sends is a repetition.
  static constexpr uint64_t mostResends = 16;
  static constexpr uint32_t widest = uint32_t{1} << 30;
  /// Vertices that one thread takes from the queue before it counts the window again.
  static constexpr uint64_t checkEvery = 64;
  /// Prefetch distance for a row, in vertices that search their in-edges.
  static constexpr size_t rowsToPull = 32;
  /// A pull that stops when a vertex settles is worth it from 1/settledPullShare of the edges on.
  static constexpr uint64_t settledPullShare = 15;
  /// Up to this many threads push by cutting rows: cheaper than sorting messages, but each thread reads all senders.
  static constexpr unsigned maxRowCutters = 4;
  static constexpr size_t maxGrain = 4096;
  /// From this many words on, all threads count a bitmap.
  static constexpr size_t parallelWords = 16384;
  static constexpr size_t maxStepTimes = 100000;

  /// The data that one thread writes, on its own cache lines.
  struct alignas(64) Local {
    uint64_t sends = 0;
    uint64_t deliveries = 0;
    uint64_t stepCalls = 0;
    uint64_t hostMessages = 0;
    uint64_t messages = 0;  // stored in the array of messages, this round
    uint64_t edges = 0;     // that those messages will travel along
    uint64_t badPin = 0;    // vertex and pin of a send on a pin that does not exist
    uint64_t along = 0;     // the edge of the last message on OneEdge
    uint64_t single = 0;    // messages on OneEdge, this round
    uint64_t looks = 0;     // reads of vertices or words of them, other than for send and step
    uint64_t probes = 0;    // reads of edges without a delivery
    uint64_t sum = 0;       // partial sum of a parallel sum
    uint64_t resends = 0;   // sends of vertices that have sent before, in order of priority
    uint64_t commits = 0;   // concurrent deliveries that changed the receiver
    uint64_t retries = 0;   // concurrent handlers run again, because another thread changed the vertex
    bool vote = false;
    Position at;
    [[no_unique_address]] A mine{};  // contributions of the vertices' steps
    std::vector<M> toHost;
    std::vector<uint32_t> woken;  // vertices that became ready, or whose priority changed
  };

 public:
  Run(Problem<V>& problem, Array<S>& state, const RunOptions& options)
      : problem_(problem),
        net_(problem.network),
        params_(problem.params),
        options_(options),
        n_(net_.vertices),
        live_(n_ - net_.removed),
        ownPool_(options.pool      ? 1
                 : options.threads ? options.threads
                                   : defaultThreads()),
        pool_(options.pool ? *options.pool : *ownPool_),
        threads_(pool_.size()),
        // Chunks are whole words of every bitmap, small enough to balance.
        grain_(std::clamp<size_t>(n_ / (threads_ * 32) / 64 * 64, 64, maxGrain)),
        locals_(threads_),
        state_(state),
        pin_(n_),
        ready_(n_) {
    for (const Relation& r : net_.relations) {
      pins_ = std::max(pins_, r.pin + 1);
      edges_ += r.out.edges(n_);
    }
    if constexpr (lazySteps) touched_ = Bitmap(n_);
    if constexpr (hasSettled) closed_ = Bitmap(n_);
    partitionReceivers();
    for (unsigned t = 0; t < threads_; ++t) pool_.watch(t, &locals_[t].at);
    pool_.stopAt(options.stop);
  }

  ~Run() {
    for (unsigned t = 0; t < threads_; ++t) pool_.watch(t, nullptr);
  }

  Statistics run() {
    Fault fault;
    if (!guard::run([this] { runAll(); }, &locals_[0].at, fault)) guard::raise(fault);
    return statistics();
  }

 private:
  using Clock = std::chrono::steady_clock;

  // The whole run, requests for edges, and the host: cpu/run.h
  void runAll();
  Statistics statistics();
  bool requestIn();
  void requireOut();
  void partitionReceivers();
  void toHost(const M& message, Local& local);
  [[gnu::noinline]] void flushHost();
  [[gnu::noinline]] void receiveFromHost();

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  uint64_t deliveries() const {
    uint64_t sum = 0;
    for (const Local& local : locals_) sum += local.deliveries;
    return sum;
  }

  bool stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  // ---- The graph -----------------------------------------------------------

  /// The object that the handlers of vertex `index` run on.
  V vertex([[maybe_unused]] size_t index, S* state, PPin* pin) const {
    V v;
    v.s = state;
    v.readyToSend = pin;
    v.params = &params_;
    v.numVertices = static_cast<uint32_t>(live_);
    v.time = static_cast<uint32_t>(time_);
    if constexpr (readsEdges) own_edges_.show(v, index);
    return v;
  }

  /// The value of edge i. A recv with a mutable edge gets a pointer into the
  /// network's array: in that case the network's builder has made a private copy.
  E* edge(const Rows& rows, uint64_t i) const {
    if constexpr (!std::is_empty_v<E>) {
      if (rows.values) return const_cast<E*>(static_cast<const E*>(rows.values)) + i;
    }
    return const_cast<E*>(&problem_.unit);
  }

  /// The number of edges that a message of v on `pin` travels along.
  uint64_t degree(uint32_t v, PPin pin) const {
    if (readsEdges && pin == OneEdge) return 1;
    uint64_t sum = 0;
    for (const Relation& r : net_.relations) {
      if (Pin(r.pin) == pin) sum += r.out.length(v);
    }
    return sum;
  }

  bool hasIn() const {
    return std::all_of(net_.relations.begin(), net_.relations.end(), [](const Relation& r) { return bool(r.in); });
  }
  bool hasOut() const {
    return std::all_of(net_.relations.begin(), net_.relations.end(), [](const Relation& r) { return bool(r.out); });
  }

  // ---- One vertex ------------------------------------------------------------

  /// Records the vertex and handler that a thread is about to run, for messages about faults.
  static void setPosition(Local& local, Handler handler, size_t v) {
    local.at.vertex = static_cast<uint32_t>(v);
    local.at.handler = handler;
  }

  void touch(uint32_t v) {
    if constexpr (lazySteps) touched_.set(v);
  }

  /// The first touch since the last step, in a round that lists touched vertices.
  [[gnu::noinline]] void addTouched(uint32_t v) {
    touched_.set(v);
    touched_list_.push_back(v);
  }

  /// Records whether v ignores all messages until its next step. Call it after init and step. The caller owns v's word
  /// of the bitmaps.
  void close([[maybe_unused]] uint32_t v) {
    if constexpr (hasSettled) {
      const uint64_t bit = uint64_t{1} << (v % 64);
      uint64_t& word = closed_.word(v / 64);
      word = vertex(v, &state_[v], &pin_[v]).settled() ? word | bit : word & ~bit;
    }
  }

  /// The arrays that recv needs, by value, so that the loop reads no members.
  struct Receivers {
    S* state;
    PPin* pin;
    Bitmap* touched;
    const Bitmap* closed;
  };
  Receivers receivers() { return {state_.data(), pin_.data(), &touched_, &closed_}; }

  /// recv in place. The caller owns v's word of the bitmaps.
  template <Wake How>
  void receive(const Receivers& at, uint32_t v, std::conditional_t<largeMessages, const M&, M> message, E* value,
               Local& local) {
    constexpr bool ranked = hasPriority && How != Wake::bitmap;
    if constexpr (hasSettled) {
      if (at.closed->test(v)) return;
    }
    local.at.vertex = v;
    // Keeps the store above before the handler's memory accesses, so that a fault is attributed to the right vertex.
    asm volatile("" : "+r"(v));
    const PPin before = at.pin[v];
    PPin now = before;
    V x = vertex(v, at.state + v, &now);
    uint32_t rank = 0;
    if constexpr (ranked) rank = x.priority();
    callRecv(x, message, value);
    bool changed = now != before;
    if constexpr (ranked) changed |= now != No && x.priority() != rank;
    if constexpr (listsTouched && How == Wake::list) {
      if (!at.touched->test(v)) addTouched(v);
    } else if constexpr (lazySteps) {
      at.touched->set(v);
    }
    if (changed) [[unlikely]]
      wake<How>(v, before, now, local);
  }

  /// Calls recv, with a copy of the message if the handler may change it or if it fits registers.
  static void callRecv(V& x, const M& message, E* value) {
    if constexpr (rules::ConstantMessages<V> && largeMessages) {
      x.recv(&message, value);
    } else {
      M copy = message;
      x.recv(&copy, value);
    }
  }

  template <Wake How>
  [[gnu::noinline]] void wake(uint32_t v, PPin before, PPin now, Local& local) {
    pin_[v] = now;
    if (now == No) {
      ready_.clear(v);
      return;
    }
    if (before == No) ready_.set(v);
    if constexpr (How == Wake::queue) {
      queue_.push(priority(v), v);
    } else if constexpr (How == Wake::list) {
      if (before == No || hasPriority) local.woken.push_back(v);
    }
  }

  /// send in place; returns the message's destination. The caller owns
  /// v's word of the bitmaps, and clears its ready bit.
  PPin send(uint32_t v, M& message, Local& local) {
    const PPin to = pin_[v];
    setPosition(local, Handler::send, v);
    V x = vertex(v, &state_[v], &pin_[v]);
    x.send(&message);
    if constexpr (readsEdges) {
      if (to == OneEdge) local.along = own_edges_.named(x, v);
    }
    ++local.sends;
    touch(v);
    return to;
  }

  bool pinExists(PPin pin) const { return pin < pins_ + 2; }

  [[noreturn]] void throwBadPin(uint64_t vertexAndPin) const {
    rejectPin(static_cast<uint32_t>(vertexAndPin), static_cast<unsigned>(vertexAndPin >> 32) - 2, pins_);
  }
  static uint64_t badPin(uint32_t v, PPin pin) { return uint64_t{pin} << 32 | v; }

  // All vertices at once: cpu/steps.h
  template <typename F>
  void forWords(F&& f);
  void initialise();
  void resumeFrom(const Resumption& from);
  void finish();
  bool stepsHaveNoEffect();
  [[gnu::noinline]] void stepLive(size_t begin, size_t end, Local& local);
  void recordStep();
  [[gnu::noinline]] void step();
  template <bool SendToo>
  [[gnu::flatten, gnu::noinline]] void stepRange(size_t begin, size_t end, Local& local);
  [[gnu::flatten, gnu::noinline]] void stepListed();
  [[gnu::flatten, gnu::noinline]] void stepTouched(size_t begin, size_t end, Local& local);

  // Rounds of messages: cpu/rounds.h
  void recordSent(size_t from, size_t to, uint64_t sent, Local& local);
  void sumSent();
  void endRound();
  [[gnu::noinline]] void recount();
  template <typename F>
  uint64_t sumOfWords(bool much, F&& f);
  uint64_t countBits(const Bitmap& bits);
  void deliverAll();
  void round();
  bool worthPulling(uint64_t edges);
  [[gnu::noinline]] uint64_t readyEdges();
  [[gnu::noinline]] void forwardRound();
  void listReady();
  void takeWoken(Local& local);
  // Always inlined: the compiler treats a function that only prefetches as one without effect, and drops its call.
  [[gnu::always_inline]] void prefetchBounds(uint32_t v) const;
  [[gnu::always_inline]] void prefetchEdges(uint32_t v) const;
  template <Wake How>
  void forward(uint32_t v, Local& local);
  template <Wake How>
  [[gnu::flatten]] void deliver(const Rows& rows, uint64_t begin, uint64_t end, const M& message, Local& local);
  [[gnu::noinline]] void produce();
  void allocateMessages();
  void storeMessage(uint32_t v, PPin to, const M& message, Local& local);

  // Pushing: cpu/push.h
  template <typename F>
  void forRanges(F&& f);
  template <typename F>
  static void forBits(const Bitmap& bits, size_t begin, size_t end, F&& f);
  [[gnu::flatten, gnu::noinline]] void push(unsigned range, Local& local);
  void pushSingle(uint32_t low, uint32_t high, Local& local);
  [[gnu::noinline]] void pushSorted();
  template <typename Put>
  void pushPieces(const Rows& rows, uint64_t edges, const Bitmap& sent, Put&& put);
  template <Wake How>
  [[gnu::flatten, gnu::noinline]] void receiveSorted(unsigned range, const Rows& rows, const M* messages, Local& local);
  std::pair<uint64_t, uint64_t> rowPart(const Rows& rows, size_t v, uint32_t low, uint32_t high, Local& local) const;

  // Pulling: cpu/pull.h
  [[gnu::noinline]] void pull();
  [[gnu::flatten, gnu::noinline]] void pullFull(size_t begin, size_t end, Local& local);
  [[gnu::flatten, gnu::noinline]] void pullSome(size_t begin, size_t end, Local& local);
  [[gnu::flatten, gnu::noinline]] void pullUntilSettled(size_t begin, size_t end, Local& local);
  void settle(uint32_t v, const S& state, PPin pin);
  void gather(S& state, PPin& pin, const Rows& in, size_t v) const;

  // Every vertex sends, step after step: cpu/fused.h
  bool recvNeverWakes();
  [[gnu::flatten, gnu::noinline]] bool proveRecvNeverWakes();
  [[gnu::noinline]] void pullStepSend();
  [[gnu::noinline]] void sortByLength();
  [[gnu::flatten, gnu::noinline]] void pullStepSendRange(size_t begin, size_t end, Local& local);
  [[gnu::flatten, gnu::noinline]] void pullStepSendByLength(size_t begin, size_t end, Local& local);

  // By priority: cpu/ordered.h
  uint32_t priority(uint32_t v);
  [[gnu::noinline]] void inOrder();
  bool readyAscend();
  void queueReady(bool shared);
  void queueNextReady(size_t& cursor);
  [[gnu::always_inline]] void prefetchQueued() const;
  bool poll();
  void forwardQueued(uint32_t v, uint32_t low, Local& local);
  void queueFromHost();
  auto keyOfReady() {
    return [this](uint32_t v, uint32_t& key) {
      if (!isReady(v)) return false;
      key = priority(v);
      return true;
    };
  }
  bool isReady(uint32_t v) const {
    if constexpr (concurrent) {
      if (has_sent_.words()) return pin_[v] != No;  // concurrent rounds do not update the bitmap
    }
    return ready_.test(v);
  }
  [[gnu::noinline]] void moveBucketToLanes();
  [[gnu::noinline]] void processLanes(uint64_t large);
  void wave();
  void gather(Lane& lane, uint32_t low);
  void sendWave(Lane& lane, Local& local);
  [[gnu::noinline]] void sendOffGraph(const Lane& lane);
  void queueWoken(unsigned range, Local& local);
  void prefetchRow(const Rows& rows, uint32_t low, size_t i) const;
  [[gnu::flatten, gnu::noinline]] void pushWave(unsigned range, Local& local);
  [[gnu::noinline]] void pushWaveSorted(uint64_t edges);

  // By priority, on all threads: cpu/concurrent.h
  PPin awaitPin(uint32_t v) const;
  bool commit(uint32_t v, PPin before, PPin now, StateWord read, StateWord written);
  void receiveConcurrently(uint32_t v, M message, E* value, BucketQueue& queue, Local& local);
  [[gnu::noinline]] void receiveAndCommit(uint32_t v, const M& message, E* value, BucketQueue& queue, Local& local);
  bool hasNoEffect(uint32_t v, StateWord read, const M& message, E* value) const;
  void forwardConcurrently(uint32_t v, uint32_t limit, BucketQueue& queue, Local& local);
  template <bool Concurrent>
  void noteSent(uint32_t v, Local& local);
  [[gnu::noinline]] void inOrderConcurrently();
  [[gnu::noinline]] void moveLanesToQueue(uint32_t limit);
  [[gnu::noinline]] bool concurrentRound(uint32_t limit, uint64_t large);
  [[gnu::flatten, gnu::noinline]] void sendSlice(size_t begin, size_t end, uint32_t limit, unsigned thread);
  void adaptWindow(uint64_t rounds);

  Problem<V>& problem_;
  Network& net_;
  const P& params_;
  const RunOptions& options_;
  size_t n_;
  size_t live_;        // n_ less the removed vertices; 64 bits wide, so that stores to 32-bit states do not alias it
  PoolLease ownPool_;  // used if the caller has no pool
  Pool& pool_;
  unsigned threads_;
  size_t grain_;
  std::vector<Local> locals_;
  std::vector<uint32_t> first_;             // receivers first_[t] .. first_[t + 1] are range t, one per thread
  Exchange<!std::is_empty_v<E>> exchange_;  // between the threads, if there are many
  unsigned pins_ = 1;
  uint64_t edges_ = 0;

  [[no_unique_address]] OwnEdges<V> own_edges_;
  Array<S>& state_;
  Array<PPin> pin_;  // not No exactly where ready_ is set
  Bitmap ready_;
  Bitmap touched_;  // sent or received since the last step; lazy steps only
  Bitmap closed_;   // had settled after init or the last step; vertices with settled() only
  uint64_t ready_count_ = 0;
  std::vector<uint32_t> list_;  // the ready vertices, while listed_
  bool listed_ = false;
  std::vector<uint32_t> touched_list_;  // the vertices in touched_, while touched_listed_
  bool touched_listed_ = false;

  Array<M> message_;          // by sender
  std::vector<Bitmap> sent_;  // by pin: vertices with a message in flight
  uint64_t in_flight_ = 0;
  uint64_t in_flight_edges_ = 0;
  uint64_t in_flight_single_ = 0;  // of those, messages on OneEdge
  Array<uint64_t> along_;          // the edge of each message on OneEdge, by sender
  bool all_send_ = false;          // all vertices have a message in flight, on the only pin
  Array<M> next_message_;
  uint64_t fused_steps_ = 0;
  Array<Sorted> by_length_;  // the vertices of each chunk, by length
  Array<uint32_t> sources_;  // their rows, in that order
  unsigned dense_rounds_ = 0;
  bool requested_in_ = false;
  bool tried_proof_ = false;
  bool recv_never_wakes_ = false;

  BucketQueue queue_;  // vertices that became ready one at a time
  Lanes lanes_;        // vertices that became ready in waves; unused on one thread
  std::vector<uint32_t> wave_;
  std::vector<PPin> wave_pin_;
  Array<M> wave_message_;

  /// The totals at the start of an epoch of concurrent rounds.
  struct Epoch {
    uint64_t sends = 0;
    uint64_t resends = 0;
    uint64_t edges = 0;
    uint64_t rounds = 0;
    uint32_t pause = 0;  // epochs before the window may grow again
  };
  Bitmap has_sent_;      // since the last step; empty unless all threads may send in order of priority
  uint32_t window_ = 1;  // keys that a concurrent round sends
  Epoch epoch_;

  Clock::time_point begun_;
  uint64_t time_ = 0;
  bool stepped_ = false;
  bool vote_ = false;
  [[no_unique_address]] A all_{};  // the reduction of the last step's contributions
  uint64_t pull_rounds_ = 0;
  uint64_t push_rounds_ = 0;
  uint64_t probed_deliveries_ = 0;  // deliveries on edges already counted in `probes`
  uint64_t small_rounds_ = 0;
  std::vector<float> step_seconds_;
};

/// Vertices on the threads of this machine.
template <typename V>
class Engine final : public gossamer::Engine<V> {
 public:
  const char* name() const override { return "cpu"; }

  Statistics run(Problem<V>& problem, Array<typename V::State>& state, const RunOptions& options) override {
    return Run<V>(problem, state, options).run();
  }
};

}  // namespace gossamer::cpu

#include "gossamer/cpu/concurrent.h"
#include "gossamer/cpu/fused.h"
#include "gossamer/cpu/ordered.h"
#include "gossamer/cpu/pull.h"
#include "gossamer/cpu/push.h"
#include "gossamer/cpu/rounds.h"
#include "gossamer/cpu/run.h"
#include "gossamer/cpu/steps.h"
