// SPDX-License-Identifier: Apache-2.0
/// The `distributed` engine: vertices on the ranks of an MPI job.
///
/// Result: that of the `cpu` engine. Each rank has a range of the vertices and the edges to them. A message is sent
/// once to each other rank that has a receiver, and is delivered there to all of them.
///
/// Ranks deliver messages asynchronously (async.h), until a rank proves that `recv` never sets *readyToSend: the
/// compiler knows it. From then on all ranks run rounds of messages together. In a round a rank lets its ready vertices
/// send, starts to send the messages for each other rank as one buffer, and delivers messages among its own vertices
/// while the buffers are in flight. The network is idle after the round; a step costs one exchange and one reduction,
/// which runs while messages are delivered, and also carries the votes and the aggregates of the preceding step.
///
/// Methods of a rank, by the number of ready vertices:
/// - Many: all send; then each vertex pulls over its in-edges, or receivers in ranges, one per thread, are pushed to.
///   Vertices without in-edges from other ranks are first; they need no message that is still in flight.
/// - Few: one thread delivers directly from sender to receiver, and lets the receivers send again.
///
/// This header has the class and the operations on one vertex; round.h the rounds, async.h the delivery without
/// rounds, buffers.h the buffers between ranks, checkpoint.h the checkpoints.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gossamer/core/memory.h"
#include "gossamer/core/pool.h"
#include "gossamer/distributed/network.h"
#include "gossamer/distributed/ranks.h"
#include "gossamer/distributed/share.h"
#include "gossamer/edge_binding.h"
#include "gossamer/engine.h"

namespace gossamer::distributed {

/// One run of one rank's share of a problem.
template <typename V>
class Run {
  using S = typename V::State;
  using E = typename V::Edge;
  using M = typename V::Message;
  using P = typename V::Params;
  using A = typename V::Aggregates;

  static constexpr bool lazySteps = rules::stepsLazily<V>();
  static constexpr bool mayPull = rules::ConstantEdges<V>;
  static constexpr bool readsEdges = OwnEdges<V>::some;
  static constexpr bool hasPriority = rules::HasPriority<V>;
  static constexpr size_t messageBytes = rules::bytesOf<M>();
  static constexpr size_t edgeBytes = rules::bytesOf<E>();
  static constexpr size_t words = aggregates::count<A>;
  static constexpr size_t maxGrain = 4096;
  static constexpr size_t maxStepTimes = 100000;
  /// Below 1/fewShare of the vertices ready, they send one at a time.
  static constexpr uint64_t fewShare = 8;
  /// Below this many edges a round ends before a second thread has woken.
  static constexpr uint64_t smallEdges = 16384;
  /// Vertices that send between two looks for buffers of other ranks.
  static constexpr uint64_t quantum = 1024;

  /// A message along one edge.
  struct Single {
    unsigned rank;
    uint32_t to;  // local number at the receiver
    const E* value;
    M message;
  };

  /// The data that one thread writes, on its own cache lines.
  struct alignas(64) Local {
    uint64_t sends = 0;
    uint64_t deliveries = 0;
    uint64_t stepCalls = 0;
    uint64_t hostMessages = 0;
    uint64_t messages = 0;  // stored in the array of messages, this round
    uint64_t badPin = 0;    // vertex and pin of a send on a pin that does not exist
    uint64_t looks = 0;
    bool vote = false;
    Position at;
    [[no_unique_address]] A mine{};
    std::vector<M> toHost;
    std::vector<Single> singles;
  };

 public:
  /// `own` has the edges of this rank's vertices by sender, with indices of the whole graph, if vertices read them, and
  /// `numbers` the numbers of their targets. `checkpoints` and `timeline` may be null.
  Run(Problem<V>& problem, const Network& own, const uint32_t* numbers, Array<S>& state, const Ranks& ranks,
      const Ranges& ranges, Pool& pool, const gs_checkpoints* checkpoints, Timeline* timeline = nullptr)
      : problem_(problem),
        params_(problem.params),
        ranks_(ranks),
        ranges_(ranges),
        pool_(pool),
        timeline_(timeline),
        net_(problem.network, ranks, ranges),
        first_(ranges.first()),
        own_(ranges.own()),
        allVertices_(ranges.vertices()),
        grain_(std::clamp<size_t>(own_ / (pool.size() * 32) / 64 * 64, 64, maxGrain)),
        locals_(pool.size()),
        checkpoints_(checkpoints),
        state_(state),
        pin_(own_),
        ready_(own_),
        send_(ranks.count()),
        kept_(ranks.count()),
        singles_(ranks.count()),
        requests_(ranks.count(), noRequest) {
    static_assert(!(rules::WritesEdges<V> && readsEdges),
                  "a vertex that reads its edges and changes values of edges cannot run on the engine `distributed`");
    if constexpr (lazySteps) touched_ = Bitmap(own_);
    if constexpr (readsEdges) own_edges_.open(own, problem.unit);
    ownRows_ = readsEdges ? own.relations[0].out : Rows{};
    ownNumbers_ = numbers;
    for (unsigned r = 0; r < ranks.count(); ++r) {
      bool sends = false;
      bool takes = false;
      for (unsigned p = 0; p < net_.pins(); ++p) {
        sends |= !net_.pairs(p).give[r].empty();
        takes |= !net_.pairs(p).take[r].empty();
      }
      if (sends) receivers_.push_back(r);
      if (takes) senders_.push_back(r);
    }
    arrived_.resize(ranks.count());
    partitionReceivers();
    for (unsigned t = 0; t < pool_.size(); ++t) pool_.watch(t, &locals_[t].at);
  }

  ~Run() {
    for (unsigned t = 0; t < pool_.size(); ++t) pool_.watch(t, nullptr);
  }

  Statistics run() {
    Fault fault;
    if (!guard::run([this] { runAll(); }, &locals_[0].at, fault)) {
      Position named;  // by its index instead of its number
      if (fault.position) {
        named.handler = fault.position->handler;
        const uint32_t v = fault.position->vertex - first_;
        named.vertex = v < own_ ? ranges_.indexOf(v) : fault.position->vertex;
        fault.position = &named;
      }
      guard::raise(fault);
    }
    return statistics();
  }

  gs_rank_figures figures() const { return {net_.pairs(0).to.size(), bytes_, sent_messages_, rounds_, wait_}; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint64_t noRequest = ~uint64_t{0};

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  /// Waits for other ranks.
  template <typename F>
  void waitFor(F&& done) {
    if (done()) return;
    const auto from = Clock::now();
    ranks_.waitFor(done);
    endWait(from);
  }

  V vertex([[maybe_unused]] size_t index, S* state, PPin* pin) const {
    V v;
    v.s = state;
    v.readyToSend = pin;
    v.params = &params_;
    v.numVertices = static_cast<uint32_t>(allVertices_);
    v.time = static_cast<uint32_t>(time_);
    if constexpr (readsEdges) own_edges_.show(v, index);
    return v;
  }

  /// The value of edge i. If `recv` changes values, the network's builder has made a private copy.
  E* edge(const Rows& rows, uint64_t i) const {
    if constexpr (!std::is_empty_v<E>) {
      if (rows.values) return const_cast<E*>(static_cast<const E*>(rows.values)) + i;
    }
    return const_cast<E*>(&problem_.unit);
  }

  void setPosition(Local& local, Handler handler, size_t v) const {
    local.at.vertex = static_cast<uint32_t>(v) + first_;
    local.at.handler = handler;
  }

  static void callRecv(V& x, const M& message, E* value) {
    if constexpr (rules::ConstantMessages<V>) {
      x.recv(&message, value);
    } else {
      M copy = message;
      x.recv(&copy, value);
    }
  }

  /// recv in place. The caller owns v's word of the bitmaps.
  template <bool Listed>
  void receive(uint32_t v, const M& message, E* value, Local& local) {
    local.at.vertex = v + first_;
    asm volatile("" : "+r"(v));  // keeps the store before the handler's memory accesses
    const PPin before = pin_[v];
    PPin now = before;
    V x = vertex(v, &state_[v], &now);
    uint32_t rank = 0;
    if constexpr (hasPriority && Listed) rank = x.priority();
    callRecv(x, message, value);
    if constexpr (lazySteps) touched_.set(v);
    if constexpr (hasPriority && Listed) {
      if (now != No && (before == No || x.priority() != rank)) enqueue(v, x.priority());
    }
    if (now == before) return;
    pin_[v] = now;
    if (now == No) {
      ready_.clear(v);
    } else if (before == No) {
      ready_.set(v);
      if constexpr (!hasPriority && Listed) list_.push_back(v);
    }
  }

  /// send in place; returns the message's destination.
  PPin send(uint32_t v, M& message, Local& local) {
    const PPin to = pin_[v];
    setPosition(local, Handler::send, v);
    V x = vertex(v, &state_[v], &pin_[v]);
    x.send(&message);
    if constexpr (readsEdges) {
      if (to == OneEdge) addSingle(own_edges_.named(x, v, ranges_.indexOf(v) - v), message, local);
    }
    ++local.sends;
    if constexpr (lazySteps) touched_.set(v);
    return to;
  }

  void addSingle(uint64_t at, const M& message, Local& local) {
    const uint32_t target = ownNumbers_[at];
    const unsigned rank = ranges_.ownerOf(target);
    local.singles.push_back({rank, target - ranges_.firstOf(rank), edge(ownRows_, at), message});
  }

  bool pinExists(PPin pin) const { return pin < net_.pins() + 2; }
  void checkPin(uint32_t v, PPin pin) const {
    if (!pinExists(pin)) rejectPin(ranges_.indexOf(v), pin - 2u, net_.pins());
  }

  void toHost(const M& message, Local& local) {
    ++local.hostMessages;
    if (problem_.host) local.toHost.push_back(message);
  }

  template <typename F>
  static void forBits(const Bitmap& bits, size_t begin, size_t end, F&& f) {
    for (size_t w = begin; w < end; ++w) {
      for (uint64_t word = bits.word(w); word; word &= word - 1) {
        f(static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(word))));
      }
    }
  }

  uint64_t deliveries() const {
    uint64_t sum = 0;
    for (const Local& local : locals_) sum += local.deliveries;
    return sum;
  }

  uint64_t countReady() const {
    uint64_t count = 0;
    for (size_t w = 0; w < ready_.words(); ++w) count += static_cast<uint64_t>(std::popcount(ready_.word(w)));
    return count;
  }

  // The whole run: run.h
  void runAll();
  Statistics statistics();
  void initialise();
  void finish();
  void flushHost();
  void receiveAtHost(const Bytes& all);
  void partitionReceivers();
  void step();
  template <bool SendToo>
  [[gnu::flatten, gnu::noinline]] void stepRange(size_t begin, size_t end, Local& local);
  [[gnu::flatten, gnu::noinline]] void stepTouched(size_t begin, size_t end, Local& local);

  // Rounds of messages: round.h
  void deliverAll();
  bool round();
  [[gnu::noinline]] void produce();
  void takeMessages();
  void storeMessage(uint32_t v, PPin to, const M& message, Local& local);
  void enlist();
  [[gnu::noinline]] void runListed(uint64_t limit);
  void forward(uint32_t v, Local& local);
  template <bool Listed>
  [[gnu::flatten]] void deliverTo(uint32_t sender, unsigned pin, const M& message, Local& local);
  void enqueue(uint32_t v, uint32_t priority);
  bool areFew(uint64_t ready) const;
  bool pullsMessages() const;
  void startReduction(std::pair<Reduce, uint64_t> first, std::pair<Reduce, uint64_t> second);
  void finishReduction();
  bool poll();
  void pull(bool boundary);
  [[gnu::flatten, gnu::noinline]] void pullFull(size_t begin, size_t end, bool boundary, Local& local);
  [[gnu::flatten, gnu::noinline]] void pullSome(size_t begin, size_t end, bool boundary, Local& local);
  void settle(uint32_t v, const S& state, PPin pin);
  void push(size_t begin, size_t end);
  [[gnu::flatten, gnu::noinline]] void pushRange(size_t begin, size_t end, unsigned range, Local& local);
  [[gnu::flatten, gnu::noinline]] void tryProof(uint32_t v, const M& sent, E* value);

  // Delivery without rounds: async.h
  void deliverAsynchronously();
  void deliverMany();
  bool receiveArrived(bool& enlisted);
  void deliverGhosts();
  void forgetMessages();
  bool sendKept();
  void proveFromMessages();
  int asyncTag() const { return epoch_ % 2 ? kAsyncOdd : kAsyncEven; }
  void endWait(Clock::time_point since) {
    wait_ += std::chrono::duration<double>(Clock::now() - since).count();
    if (timeline_) timeline_->waited(GS_TIMELINE_WAIT_RANKS, Timeline::at(since));
  }

  // Checkpoints: checkpoint.h
  void saveCheckpoint();
  void restoreCheckpoint();
  std::vector<uint64_t> counters() const;

  // Buffers between ranks: buffers.h
  void awaitBuffer(unsigned rank);
  void packMessages(unsigned rank, Bytes& buffer);
  void packEvents(unsigned rank, Bytes& buffer);
  void sortSingles();
  void packSingles(unsigned rank, Bytes& buffer);
  void startSend(unsigned rank);
  void receiveAll();
  template <bool Async>
  bool unpack(unsigned rank);

  Problem<V>& problem_;
  const P& params_;
  const Ranks& ranks_;
  const Ranges& ranges_;
  Pool& pool_;
  Timeline* timeline_;  // null: records nothing
  LocalNetwork<E> net_;
  uint32_t first_;
  size_t own_;
  uint64_t allVertices_;
  size_t grain_;
  std::vector<Local> locals_;
  const gs_checkpoints* checkpoints_;
  std::vector<uint32_t> bounds_;  // receivers bounds_[t] .. bounds_[t + 1] are those of thread t

  [[no_unique_address]] OwnEdges<V> own_edges_;
  Rows ownRows_;
  const uint32_t* ownNumbers_ = nullptr;
  Array<S>& state_;
  Array<PPin> pin_;  // not No exactly where ready_ is set
  Bitmap ready_;
  Bitmap touched_;
  std::vector<uint32_t> list_;  // ready vertices, each at least once, from list_at_ on
  size_t list_at_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> queue_;  // with priorities: a heap of priority and vertex
  Array<M> message_;                                  // by local number of the sender
  std::vector<Bitmap> sent_;                          // by pin: own vertices and ghosts with a message in flight
  uint64_t in_flight_ = 0;                            // messages of own vertices in message_
  uint64_t ghosts_sent_ = 0;                          // messages of ghosts in message_

  std::vector<uint32_t> receivers_;                           // ranks that need messages of this one
  std::vector<uint32_t> senders_;                             // ranks whose messages this one needs
  std::vector<Bytes> send_;                                   // by rank: the last buffer
  std::vector<Bytes> kept_;                                   // by rank: sections of the next one
  std::vector<std::vector<Single>> singles_;                  // by rank, for the next one
  std::vector<uint64_t> requests_;                            // by rank: of the last buffer
  std::vector<Bytes> arrived_;                                // by rank
  std::vector<std::vector<std::vector<uint32_t>>> event_at_;  // by pin and rank: positions of messages of few senders
  std::vector<std::vector<std::vector<M>>> events_;
  uint64_t event_count_ = 0;
  uint64_t epoch_ = 0;         // deliveries without rounds; a rank is at most one ahead of another
  uint64_t sent_buffers_ = 0;  // without rounds
  uint64_t received_buffers_ = 0;
  uint64_t received_before_ = 0;  // by all ranks, at the last wave

  std::vector<gs_reduced_word> reduction_;
  bool reducing_ = false;
  bool all_sent_ = false;    // in the last round with messages of this rank every vertex sent, on the only pin
  bool produced_ = false;    // the last step has stored the messages of the next round
  bool after_step_ = false;  // the next reduction carries votes and aggregates
  bool proven_ = false;      // on some rank, as all ranks know: recv never sets *readyToSend
  int64_t proof_ = 0;        // 1: proven here
  bool tried_proof_ = false;

  Clock::time_point begun_;
  Bytes host_log_;  // rank 0, with checkpoints: all messages to the host
  uint64_t time_ = 0;
  bool stepped_ = false;
  bool vote_ = false;
  [[no_unique_address]] A mine_{};
  [[no_unique_address]] A all_{};
  uint64_t pull_rounds_ = 0;
  uint64_t push_rounds_ = 0;
  uint64_t small_rounds_ = 0;
  uint64_t rounds_ = 0;
  uint64_t bytes_ = 0;
  uint64_t sent_messages_ = 0;
  double wait_ = 0;
  std::vector<float> step_seconds_;
};

}  // namespace gossamer::distributed

#include "gossamer/distributed/async.h"
#include "gossamer/distributed/buffers.h"
#include "gossamer/distributed/checkpoint.h"
#include "gossamer/distributed/round.h"
#include "gossamer/distributed/run.h"
