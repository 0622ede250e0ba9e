// SPDX-License-Identifier: Apache-2.0
/// The `cpu` engine: vertices on the threads of this machine.
///
/// Result: the values that POLite's semantics give, at the speed of a graph
/// kernel written by hand. Nothing is known of the handlers but their types.
///
/// Tricks, by how many vertices want to send:
/// - Nearly all: every sender's message goes into a compact array, and each
///   vertex pulls over its in-edges with its state in registers. Nobody writes
///   what another reads.
/// - Where the compiler proves that `recv` never asks to send, such a round ends
///   with everything still, so the pull, the `step` that follows and the `send`
///   after it are one pass over the vertices, between two arrays of messages.
/// - Some: each thread owns a range of receivers, who hear the senders in index
///   order, without locks. A few threads cut each sender's row at the ranges' bounds;
///   many sort messages by range first (Exchange), so that no sender is looked at once
///   a thread.
/// - Few: one thread, straight from sender to receiver.
/// - With a priority: senders in exact order of priority (BucketQueue), each
///   bucket in waves, large waves on all threads, each of which queues its receivers (Lanes).
///
/// Here are the class, its data and what happens to one vertex. Rooms beside it have the run as a whole: run.h; and
/// what happens to many: steps.h, rounds.h (which way messages go), push.h, pull.h, fused.h (one pass a step),
/// ordered.h (by priority).
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

/// What becomes of a vertex that a message made ready.
enum class Wake {
  bitmap,  // it is ready: its bit says so
  list,    // and it is listed (with a priority: also if that changed)
  queue,   // and it goes into the queue under its priority
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
  /// Where few vertices are touched between two steps they are listed, so that a step costs nothing for the others.
  static constexpr bool listsTouched = lazySteps && !hasPriority;

  /// Below this many edges a round is over before a second thread has woken.
  static constexpr uint64_t smallEdges = 16384;
  /// Below this many queued vertices one thread finds the lowest before a second has woken.
  static constexpr size_t smallBucket = 2048;
  /// How many edges ahead a receiver's state is asked for.
  static constexpr uint64_t ahead = 12;
  /// How many senders of a wave ahead a row is asked for.
  static constexpr size_t rowsAhead = 4;
  /// How many turns ahead a sender's row is asked for, and twice as many its bounds.
  static constexpr uint32_t turnsAhead = 3;
  /// A pull until vertices settle pays from this share of the edges on.
  static constexpr uint64_t mostSettled = 15;
  /// So many threads push by cutting rows: cheaper than sorting messages, but each looks at all senders.
  static constexpr unsigned mostCutting = 4;
  static constexpr size_t mostGrain = 4096;
  /// From so many words on a bitmap is counted by all threads.
  static constexpr size_t manyWords = 16384;
  static constexpr size_t mostStepTimes = 100000;

  /// What one thread writes, on cache lines of its own.
  struct alignas(64) Local {
    uint64_t sends = 0;
    uint64_t deliveries = 0;
    uint64_t stepCalls = 0;
    uint64_t hostMessages = 0;
    uint64_t messages = 0;  // put into the array of messages, this round
    uint64_t edges = 0;     // and the edges that they will travel
    uint64_t badPin = 0;    // vertex and pin of a send to a pin that is not there
    uint64_t along = 0;     // the edge of the last message on OneEdge
    uint64_t alone = 0;     // messages on OneEdge, this round
    uint64_t looks = 0;     // at vertices, or words of them, besides those that send or step
    uint64_t probes = 0;    // at edges that deliver nothing
    uint64_t sum = 0;       // of its share of what all add up
    bool vote = false;
    Position at;
    [[no_unique_address]] A mine{};  // what the vertices' steps gave
    std::vector<M> toHost;
    std::vector<uint32_t> woken;  // became ready, or changed their priority
  };

 public:
  Run(Problem<V>& problem, Array<S>& state, const RunOptions& options)
      : problem_(problem),
        net_(problem.network),
        params_(problem.params),
        options_(options),
        n_(net_.vertices),
        there_(n_ - net_.removed),
        ownPool_(options.pool      ? 1
                 : options.threads ? options.threads
                                   : defaultThreads()),
        pool_(options.pool ? *options.pool : *ownPool_),
        threads_(pool_.size()),
        // Chunks are whole words of every bitmap, small enough to balance.
        grain_(std::clamp<size_t>(n_ / (threads_ * 32) / 64 * 64, 64, mostGrain)),
        locals_(threads_),
        state_(state),
        pin_(n_),
        ready_(n_) {
    for (const Relation& r : net_.relations) {
      pins_ = std::max(pins_, r.pin + 1);
      edges_ += r.out.edges(n_);
    }
    if constexpr (lazySteps) touched_ = Bitmap(n_);
    if constexpr (hasSettled) heard_ = Bitmap(n_);
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

  // From its beginning to its end, the edges it lacks and the host beside it: cpu/run.h
  void runAll();
  Statistics statistics();
  bool askIn();
  void needOut();
  void partitionReceivers();
  void toHost(const M& message, Local& local);
  [[gnu::noinline]] void flushHost();
  [[gnu::noinline]] void hearHost();

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  bool stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  // ---- The graph -----------------------------------------------------------

  /// What the handlers of vertex `index` see.
  V vertex([[maybe_unused]] size_t index, S* state, PPin* pin) const {
    V v;
    v.s = state;
    v.readyToSend = pin;
    v.params = &params_;
    v.numVertices = static_cast<uint32_t>(there_);
    v.time = static_cast<uint32_t>(time_);
    if constexpr (readsEdges) own_edges_.show(v, index);
    return v;
  }

  /// The value of edge i. A recv that wants it mutable gets what the network
  /// holds: its builder gave it a copy of its own then.
  E* edge(const Rows& rows, uint64_t i) const {
    if constexpr (!std::is_empty_v<E>) {
      if (rows.values) return const_cast<E*>(static_cast<const E*>(rows.values)) + i;
    }
    return const_cast<E*>(&problem_.unit);
  }

  /// The edges that a message of v on `pin` travels along.
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

  /// What a thread is about to do, should it not survive it.
  static void say(Local& local, Handler handler, size_t v) {
    local.at.vertex = static_cast<uint32_t>(v);
    local.at.handler = handler;
  }

  void touch(uint32_t v) {
    if constexpr (lazySteps) touched_.set(v);
  }

  /// The first touch since the last step, in a round of few.
  [[gnu::noinline]] void noteTouched(uint32_t v) {
    touched_.set(v);
    touched_list_.push_back(v);
  }

  /// The step of a word of vertices: nothing has been heard since.
  void forget([[maybe_unused]] size_t word) {
    if constexpr (hasSettled) heard_.word(word) = 0;
  }

  /// The arrays that recv needs, by value: nothing to look up in the loop.
  struct Receivers {
    S* state;
    PPin* pin;
    Bitmap* touched;
    Bitmap* heard;
  };
  Receivers receivers() { return {state_.data(), pin_.data(), &touched_, &heard_}; }

  /// recv, where the state lies. The caller owns v's word of the bitmaps.
  template <Wake How>
  void receive(const Receivers& at, uint32_t v, std::conditional_t<largeMessages, const M&, M> message, E* value,
               Local& local) {
    constexpr bool ranked = hasPriority && How != Wake::bitmap;
    local.at.vertex = v;
    // What the handler touches by way of its state comes behind this, so that a fault is blamed on the right vertex.
    asm volatile("" : "+r"(v));
    if constexpr (hasSettled) {
      // Nothing heard since the last step: then nothing that it hears matters.
      if (!at.heard->test(v) && vertex(v, at.state + v, at.pin + v).settled()) return;
      at.heard->set(v);
    }
    const PPin before = at.pin[v];
    PPin now = before;
    V x = vertex(v, at.state + v, &now);
    uint32_t rank = 0;
    if constexpr (ranked) rank = x.priority();
    hear(x, message, value);
    bool changed = now != before;
    if constexpr (ranked) changed |= now != No && x.priority() != rank;
    if constexpr (listsTouched && How == Wake::list) {
      if (!at.touched->test(v)) noteTouched(v);
    } else if constexpr (lazySteps) {
      at.touched->set(v);
    }
    if (changed) [[unlikely]]
      wake<How>(v, before, now, local);
  }

  /// recv, with a copy of the message where the handler may change it or where it fits registers.
  static void hear(V& x, const M& message, E* value) {
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

  /// send, where the state lies; gives where the message goes. The caller owns
  /// v's word of the bitmaps, and clears its ready bit.
  PPin send(uint32_t v, M& message, Local& local) {
    const PPin to = pin_[v];
    say(local, Handler::send, v);
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

  [[noreturn]] void refuse(uint64_t vertexAndPin) const {
    rejectPin(static_cast<uint32_t>(vertexAndPin), static_cast<unsigned>(vertexAndPin >> 32) - 2, pins_);
  }
  static uint64_t badPin(uint32_t v, PPin pin) { return uint64_t{pin} << 32 | v; }

  // All vertices at once: cpu/steps.h
  template <typename F>
  void forWords(F&& f);
  void initialise();
  void goOn(const Resumption& from);
  void finish();
  bool stepNobody();
  [[gnu::noinline]] void stepThere(size_t begin, size_t end, Local& local);
  void noteStep();
  [[gnu::noinline]] void step();
  template <bool SendToo>
  [[gnu::flatten, gnu::noinline]] void stepRange(size_t begin, size_t end, Local& local);
  [[gnu::flatten, gnu::noinline]] void stepListed();
  [[gnu::flatten, gnu::noinline]] void stepTouched(size_t begin, size_t end, Local& local);

  // Rounds of messages: cpu/rounds.h
  void noteSent(size_t from, size_t to, uint64_t sent, Local& local);
  void takeOff();
  void landed();
  [[gnu::noinline]] void recount();
  template <typename F>
  uint64_t sumOfWords(bool much, F&& f);
  uint64_t countBits(const Bitmap& bits);
  void carry();
  void round();
  bool worthPulling(uint64_t edges);
  [[gnu::noinline]] uint64_t readyEdges();
  [[gnu::noinline]] void straight();
  void enlist();
  void takeWoken(Local& local);
  // Inlined at once: a function that does nothing but ask is taken for one without effect, and its call dropped.
  [[gnu::always_inline]] void askForBounds(uint32_t v) const;
  [[gnu::always_inline]] void askForEdges(uint32_t v) const;
  template <Wake How>
  void forward(uint32_t v, Local& local);
  template <Wake How>
  [[gnu::flatten]] void deliver(const Rows& rows, uint64_t begin, uint64_t end, const M& message, Local& local);
  [[gnu::noinline]] void produce();
  void needMessages();
  void book(uint32_t v, PPin to, const M& message, Local& local);

  // Pushing: cpu/push.h
  template <typename F>
  void forRanges(F&& f);
  template <typename F>
  static void forBits(const Bitmap& bits, size_t begin, size_t end, F&& f);
  [[gnu::flatten, gnu::noinline]] void push(unsigned range, Local& local);
  void pushAlone(uint32_t low, uint32_t high, Local& local);
  [[gnu::noinline]] void pushSorted();
  template <typename Put>
  void pushPieces(const Rows& rows, uint64_t edges, const Bitmap& sent, Put&& put);
  template <Wake How>
  [[gnu::flatten, gnu::noinline]] void receiveSorted(unsigned range, const Rows& rows, const M* messages, Local& local);
  std::pair<uint64_t, uint64_t> within(const Rows& rows, size_t v, uint32_t low, uint32_t high, Local& local) const;

  // Pulling: cpu/pull.h
  [[gnu::noinline]] void pull();
  [[gnu::flatten, gnu::noinline]] void pullFull(size_t begin, size_t end, Local& local);
  [[gnu::flatten, gnu::noinline]] void pullSome(size_t begin, size_t end, Local& local);
  uint64_t pullUntilSettled(size_t v);
  void settle(uint32_t v, const S& state, PPin pin);
  void gather(S& state, PPin& pin, const Rows& in, size_t v) const;

  // Everyone sends, step after step: cpu/fused.h
  bool quiet();
  [[gnu::flatten, gnu::noinline]] bool recvIsQuiet();
  [[gnu::noinline]] void pullStepSend();
  [[gnu::noinline]] void sortByLength();
  [[gnu::flatten, gnu::noinline]] void pullStepSendRange(size_t begin, size_t end, Local& local);
  [[gnu::flatten, gnu::noinline]] void pullStepSendByLength(size_t begin, size_t end, Local& local);

  // By priority: cpu/ordered.h
  uint32_t priority(uint32_t v);
  [[gnu::noinline]] void inOrder();
  bool readyAscend();
  void queueReady(bool shared);
  void nextReady(size_t& cursor);
  [[gnu::always_inline]] void askForComing() const;
  bool rest();
  void inTurn(uint32_t v, uint32_t low, Local& local);
  void hearHostInOrder();
  auto keyOfReady() {
    return [this](uint32_t v, uint32_t& key) {
      if (!ready_.test(v)) return false;
      key = priority(v);
      return true;
    };
  }
  [[gnu::noinline]] void dealOut();
  [[gnu::noinline]] void turnOfLanes(uint64_t large);
  void wave();
  void gather(Lane& lane, uint32_t low);
  void sendWave(Lane& lane, Local& local);
  [[gnu::noinline]] void sendElsewhere(const Lane& lane);
  void queueWoken(unsigned range, Local& local);
  void askForRow(const Rows& rows, uint32_t low, size_t i) const;
  [[gnu::flatten, gnu::noinline]] void pushWave(unsigned range, Local& local);
  [[gnu::noinline]] void pushWaveSorted(uint64_t edges);

  Problem<V>& problem_;
  Network& net_;
  const P& params_;
  const RunOptions& options_;
  size_t n_;
  size_t there_;       // less the removed ones; of 64 bits, since stores to states of 32 bits would have it read again
  PoolLease ownPool_;  // where the caller has none
  Pool& pool_;
  unsigned threads_;
  size_t grain_;
  std::vector<Local> locals_;
  std::vector<uint32_t> first_;             // receivers first_[t] .. first_[t + 1] are range t, one a thread
  Exchange<!std::is_empty_v<E>> exchange_;  // between them, where there are many
  unsigned pins_ = 1;
  uint64_t edges_ = 0;

  [[no_unique_address]] OwnEdges<V> own_edges_;
  Array<S>& state_;
  Array<PPin> pin_;  // not No exactly where ready_ is set
  Bitmap ready_;
  Bitmap touched_;  // sent or received since the last step; lazy steps only
  Bitmap heard_;    // received since then; vertices with settled() only
  uint64_t ready_count_ = 0;
  std::vector<uint32_t> list_;  // the ready vertices, while listed_
  bool listed_ = false;
  std::vector<uint32_t> touched_list_;  // the vertices in touched_, while touched_listed_
  bool touched_listed_ = false;

  Array<M> message_;          // by sender
  std::vector<Bitmap> sent_;  // by pin: who has a message on its way
  uint64_t flying_ = 0;
  uint64_t flying_edges_ = 0;
  uint64_t flying_alone_ = 0;    // of them, on OneEdge
  Array<uint64_t> along_;        // and the edge of each, by sender
  bool everyone_sends_ = false;  // the messages on their way are all vertices', on the one pin
  Array<M> next_message_;
  uint64_t fused_steps_ = 0;
  Array<Sorted> by_length_;  // the vertices of each chunk, by length
  Array<uint32_t> sources_;  // and their rows
  unsigned dense_rounds_ = 0;
  bool asked_in_ = false;
  bool asked_quiet_ = false;
  bool quiet_ = false;

  BucketQueue queue_;  // who became ready one at a time
  Lanes lanes_;        // and who in waves; none on one thread
  std::vector<uint32_t> wave_;
  std::vector<PPin> wave_pin_;
  Array<M> wave_message_;

  Clock::time_point begun_;
  uint64_t time_ = 0;
  bool stepped_ = false;
  bool vote_ = false;
  [[no_unique_address]] A all_{};  // what the last step has come to
  uint64_t pull_rounds_ = 0;
  uint64_t push_rounds_ = 0;
  uint64_t probed_deliveries_ = 0;  // on edges that are counted as looked at already
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

#include "gossamer/cpu/fused.h"
#include "gossamer/cpu/ordered.h"
#include "gossamer/cpu/pull.h"
#include "gossamer/cpu/push.h"
#include "gossamer/cpu/rounds.h"
#include "gossamer/cpu/run.h"
#include "gossamer/cpu/steps.h"
