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
///   bucket in waves, large waves on all threads.
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
#include "gossamer/edge_binding.h"
#include "gossamer/engine.h"

namespace gossamer::cpu {

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
  /// Where few vertices are touched between two steps a bitmap names their words, so that a step costs little for
  /// the others.
  static constexpr bool marksWords = lazySteps && !hasPriority;

  /// Below this many edges a round is over before a second thread has woken.
  static constexpr uint64_t smallEdges = 16384;
  /// How many edges ahead a receiver's state is asked for.
  static constexpr uint64_t ahead = 12;
  /// Mean length of rows from which their ends do not matter.
  static constexpr uint64_t mostShort = 32;
  /// A pull until vertices settle pays from this share of the edges on.
  static constexpr uint64_t mostSettled = 15;
  /// So many threads push by cutting rows: cheaper than sorting messages, but each looks at all senders.
  static constexpr unsigned mostCutting = 4;
  static constexpr size_t mostGrain = 4096;
  /// From so many words on a bitmap is counted by all threads.
  static constexpr size_t manyWords = 16384;
  static constexpr size_t mostStepTimes = 100000;

  /// A vertex by its place in the chunk, and the number of its in-edges.
  struct Sorted {
    uint32_t at;
    uint32_t length;
  };

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
        own_(options.pool      ? 1
             : options.threads ? options.threads
                               : defaultThreads()),
        pool_(options.pool ? *options.pool : own_),
        threads_(pool_.size()),
        // Chunks are whole words of every bitmap, small enough to balance.
        grain_(std::clamp<size_t>(n_ / (threads_ * 32) / 64 * 64, 64, mostGrain)),
        locals_(threads_),
        state_(state),
        pin_(n_),
        ready_(n_) {
    for (const Relation& r : net_.relations) {
      pins_ = std::max(pins_, r.pin + 1);
      edges_ += r.out.offsets[n_];
    }
    if constexpr (lazySteps) touched_ = Bitmap(n_);
    if constexpr (marksWords) touched_words_ = Bitmap(touched_.words());
    if constexpr (hasSettled) heard_ = Bitmap(n_);
    shareReceivers();
    for (unsigned t = 0; t < threads_; ++t) pool_.watch(t, &locals_[t].at);
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

  void runAll() {
    begun_ = Clock::now();
    if constexpr (readsEdges) {
      needOut();
      own_edges_.open(net_, problem_.unit);
    }
    initialise();
    while (!stopped()) {
      carry();
      if (stopped()) break;
      if (problem_.host) {
        flushHost();
        if (problem_.host->waitIdle()) continue;
      }
      if (stepped_ && !vote_) break;
      step();
    }
    if (!stopped()) finish();
    flushHost();
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  bool stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  Statistics statistics() {
    Statistics s;
    s.engine = "cpu";
    s.threads = threads_;
    s.vertices = n_;
    s.edges = edges_;
    for (const Local& local : locals_) {
      s.sends += local.sends;
      s.deliveries += local.deliveries;
      s.stepCalls += local.stepCalls;
      s.hostMessages += local.hostMessages;
      s.vertexLooks += local.looks;
      s.edgeLooks += local.probes;
    }
    // Counted where it costs nothing: every delivery, send and step looks at one; init and finish at all.
    s.vertexLooks += s.sends + s.stepCalls + 2 * n_;
    s.edgeLooks += s.deliveries - probed_deliveries_;
    s.steps = time_;
    s.pullRounds = pull_rounds_;
    s.pushRounds = push_rounds_;
    s.smallRounds = small_rounds_;
    s.stepSeconds = std::move(step_seconds_);
    s.stopped = stopped();
    s.keepAggregates(all_);
    s.seconds = elapsed();
    return s;
  }

  // ---- The graph -----------------------------------------------------------

  /// What the handlers of vertex `index` see.
  V vertex([[maybe_unused]] size_t index, S* state, PPin* pin) const {
    V v;
    v.s = state;
    v.readyToSend = pin;
    v.params = &params_;
    v.numVertices = static_cast<uint32_t>(n_);
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
      if (Pin(r.pin) == pin) sum += r.out.offsets[v + 1] - r.out.offsets[v];
    }
    return sum;
  }

  bool hasIn() const {
    return std::all_of(net_.relations.begin(), net_.relations.end(), [](const Relation& r) { return bool(r.in); });
  }
  bool hasOut() const {
    return std::all_of(net_.relations.begin(), net_.relations.end(), [](const Relation& r) { return bool(r.out); });
  }

  /// Asks once for edges by receiver; they cost about as much as a few rounds.
  bool askIn() {
    if (!hasIn() && !asked_in_ && net_.complete) {
      asked_in_ = true;
      net_.complete(net_, true);
    }
    return hasIn();
  }

  void needOut() {
    if (hasOut()) return;
    if (net_.complete) net_.complete(net_, false);
    if (!hasOut()) throw std::logic_error("the network has no edges by sender");
    shareReceivers();
  }

  /// Each thread's range of receivers, with about the same number of in-edges:
  /// from a sample of the targets, since in-degrees may not be known.
  void shareReceivers() {
    first_.assign(threads_ + 1, 0);
    first_[threads_] = static_cast<uint32_t>(n_);
    if (threads_ == 1) return;
    std::vector<uint32_t> sample;
    for (const Relation& r : net_.relations) {
      if (!r.out) continue;
      const uint64_t count = r.out.offsets[n_];
      const uint64_t stride = count / 16384 + 1;
      for (uint64_t i = stride / 2; i < count; i += stride) sample.push_back(r.out.targets[i]);
    }
    std::sort(sample.begin(), sample.end());
    for (unsigned t = 1; t < threads_; ++t) {
      const size_t at = sample.empty() ? n_ * t / threads_ : sample[sample.size() * t / threads_];
      const size_t word = std::min<size_t>((at + 32) / 64 * 64, n_);
      first_[t] = std::max(first_[t - 1], static_cast<uint32_t>(word));
    }
    woken_.resize(threads_);
    if (threads_ > mostCutting) exchange_.open(first_);
  }

  // ---- The host ------------------------------------------------------------

  void toHost(const M& message, Local& local) {
    ++local.hostMessages;
    if (problem_.host) local.toHost.push_back(message);
  }

  [[gnu::noinline]] void flushHost() {
    for (Local& local : locals_) {
      for (const M& message : local.toHost) problem_.host->fromVertex(&message);
      local.toHost.clear();
    }
  }

  /// Delivers what the host has said meanwhile.
  [[gnu::noinline]] void hearHost() {
    uint32_t to = 0;
    M message{};
    bool heard = false;
    while (problem_.host->toVertex(to, &message)) {
      heard = true;
      words_marked_ = false;
      locals_[0].at.handler = Handler::recv;
      receive<Wake::bitmap>(receivers(), to, message, edge({}, 0), locals_[0]);
      ++locals_[0].deliveries;
    }
    if (heard) recount();
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
    touched_words_.set(v / 64);
  }

  /// The step of a word of vertices: nothing has been heard since.
  void forget([[maybe_unused]] size_t word) {
    if constexpr (hasSettled) heard_.word(word) = 0;
  }

  /// What becomes of a vertex that a message made ready.
  enum class Wake {
    bitmap,  // it is ready: its bit says so
    list,    // and it is listed (with a priority: also if that changed)
    queue,   // and it goes into the queue under its priority
  };

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
    if constexpr (marksWords && How == Wake::list) {
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
    refusePin(static_cast<uint32_t>(vertexAndPin), static_cast<unsigned>(vertexAndPin >> 32) - 2, pins_);
  }
  static uint64_t badPin(uint32_t v, PPin pin) { return uint64_t{pin} << 32 | v; }

  // ---- Phases over all vertices ------------------------------------------------

  /// Calls f(first, last, local), on some thread, for every word of vertices.
  template <typename F>
  void forWords(F&& f) {
    pool_.chunks(n_, grain_, [&](size_t begin, size_t end, unsigned thread) {
      for (size_t from = begin; from < end; from += 64) f(from, std::min(end, from + 64), locals_[thread]);
    });
  }

  void initialise() {
    forWords([&](size_t from, size_t to, Local& local) {
      for (size_t v = from; v < to; ++v) {
        say(local, Handler::init, v);
        V x = vertex(v, &state_[v], &pin_[v]);
        x.init();
        if (pin_[v] != No) ready_.set(v);
        touch(static_cast<uint32_t>(v));
      }
    });
    recount();
  }

  void finish() {
    forWords([&](size_t from, size_t to, Local& local) {
      for (size_t v = from; v < to; ++v) {
        PPin pin = No;
        say(local, Handler::finish, v);
        V x = vertex(v, &state_[v], &pin);
        M message{};
        if (x.finish(&message)) toHost(message, local);
      }
    });
  }

  void noteStep() {
    stepped_ = true;
    vote_ = false;
    all_ = A{};
    for (Local& local : locals_) {
      vote_ |= std::exchange(local.vote, false);
      aggregates::reduce(all_, std::exchange(local.mine, A{}));
    }
    ++time_;
    if (step_seconds_.size() < mostStepTimes) step_seconds_.push_back(static_cast<float>(elapsed()));
  }

  [[gnu::noinline]] void step() {
    if constexpr (marksWords) {
      if (words_marked_) return stepMarked();
    }
    bool all = true;
    if constexpr (lazySteps) {
      const uint64_t count = countBits(touched_);
      all = count > n_ / 2;
      if (!all && (threads_ == 1 || count < smallEdges / 4)) {
        stepTouched(0, n_, locals_[0]);
      } else if (!all) {
        pool_.chunks(n_, grain_, [&](size_t b, size_t e, unsigned t) { stepTouched(b, e, locals_[t]); });
      }
    }
    if (all) {
      // Where everyone sent last time, everyone will: send in the same pass.
      const bool sendToo = everyone_sends_ && !problem_.host;
      pool_.chunks(n_, grain_, [&](size_t b, size_t e, unsigned t) {
        if (sendToo) {
          stepRange<true>(b, e, locals_[t]);
        } else {
          stepRange<false>(b, e, locals_[t]);
        }
      });
      if (sendToo) takeOff();
    }
    noteStep();
    recount();
    if constexpr (marksWords) {
      for (size_t w = 0; w < touched_words_.words(); ++w) touched_words_.word(w) = 0;
      words_marked_ = !flying_;
    }
  }

  template <bool SendToo>
  [[gnu::flatten, gnu::noinline]] void stepRange(size_t begin, size_t end, Local& local) {
    local.at.handler = SendToo ? Handler::fused : Handler::step;
    const A all = all_;  // locals stay in registers
    A mine{};
    bool vote = false;
    for (size_t from = begin; from < end; from += 64) {
      const size_t to = std::min(end, from + 64);
      uint64_t ready = 0;
      uint64_t sent = 0;
      for (size_t v = from; v < to; ++v) {
        PPin pin = No;
        V x = vertex(v, &state_[v], &pin);
        local.at.vertex = static_cast<uint32_t>(v);
        vote |= aggregates::step(x, all, mine);
        if constexpr (SendToo) {
          if (pin == Pin(0)) {
            ++x.time;  // this send comes after the step
            M message{};
            x.send(&message);
            message_[v] = message;
            sent |= uint64_t{1} << (v - from);
          }
        }
        if (pin != No) {
          pin_[v] = pin;
          ready |= uint64_t{1} << (v - from);
        }
      }
      ready_.word(from / 64) = ready;
      if constexpr (SendToo) noteSent(from, to, sent, local);
      if constexpr (lazySteps) touched_.word(from / 64) = sent;
      forget(from / 64);
    }
    local.vote |= vote;
    aggregates::reduce(local.mine, mine);
    local.stepCalls += end - begin;
  }

  /// The step of what is in marked words; who is ready then is listed, in order.
  void stepMarked() {
    if constexpr (marksWords) {
      Local& local = locals_[0];
      list_.clear();
      local.looks += touched_words_.words();
      for (size_t m = 0; m < touched_words_.words(); ++m) {
        for (uint64_t marks = std::exchange(touched_words_.word(m), 0); marks; marks &= marks - 1) {
          const size_t w = m * 64 + static_cast<size_t>(std::countr_zero(marks));
          ++local.looks;
          stepTouched(w * 64, std::min(n_, w * 64 + 64), local);
          forBits(ready_, w, w + 1, [&](size_t v) { list_.push_back(static_cast<uint32_t>(v)); });
        }
      }
      noteStep();
      ready_count_ = list_.size();
      listed_ = ready_count_ < n_ / 64;
    }
  }

  [[gnu::flatten, gnu::noinline]] void stepTouched(size_t begin, size_t end, Local& local) {
    if constexpr (lazySteps) {
      const A all = all_;
      A mine{};
      for (size_t w = begin / 64; w * 64 < end; ++w) {
        const uint64_t touched = std::exchange(touched_.word(w), 0);
        if (touched) forget(w);  // who has heard is touched
        for (uint64_t bits = touched; bits; bits &= bits - 1) {
          const size_t v = w * 64 + static_cast<size_t>(std::countr_zero(bits));
          PPin pin = No;
          V x = vertex(v, &state_[v], &pin);
          say(local, Handler::step, v);
          if (aggregates::step(x, all, mine)) local.vote = true;
          if (pin == No) continue;
          pin_[v] = pin;
          ready_.set(v);
        }
        local.stepCalls += static_cast<uint64_t>(std::popcount(touched));
      }
      aggregates::reduce(local.mine, mine);
    }
  }

  // ---- Messages on their way ------------------------------------------------

  /// Books the messages of one word of vertices, sent on pin 0.
  void noteSent(size_t from, size_t to, uint64_t sent, Local& local) {
    sent_[0].word(from / 64) = sent;
    const auto count = static_cast<uint64_t>(std::popcount(sent));
    local.sends += count;
    local.messages += count;
    const uint64_t* offsets = net_.relations[0].out.offsets;
    if (count == to - from) {
      local.edges += offsets[to] - offsets[from];
    } else {
      for (uint64_t bits = sent; bits; bits &= bits - 1) {
        const size_t v = from + static_cast<size_t>(std::countr_zero(bits));
        local.edges += offsets[v + 1] - offsets[v];
      }
    }
  }

  /// Sums up what the threads have sent in this phase.
  void takeOff() {
    flying_ = 0;
    flying_edges_ = 0;
    flying_alone_ = 0;
    for (Local& local : locals_) {
      if (local.badPin) refuse(local.badPin);
      flying_ += std::exchange(local.messages, 0);
      flying_alone_ += std::exchange(local.alone, 0);
      flying_edges_ += local.edges;
      local.deliveries += std::exchange(local.edges, 0);
    }
    everyone_sends_ = mayPull && flying_ == n_ && !flying_alone_ && net_.relations.size() == 1 &&
                      net_.relations[0].pin == 0 && hasIn();
    flushHost();
  }

  void landed() {
    flying_ = 0;
    flying_edges_ = 0;
    recount();
  }

  [[gnu::noinline]] void recount() {
    ready_count_ = countBits(ready_);
    listed_ = false;
  }

  /// Adds up what f(first word, last word) gives of pieces of the bitmaps: on all threads where there is much of it.
  template <typename F>
  uint64_t sumOfWords(bool much, F&& f) {
    const size_t words = ready_.words();
    locals_[0].looks += words;
    if (!much || threads_ == 1) return f(size_t{0}, words);
    pool_.chunks(words, grain_ / 64, [&](size_t begin, size_t end, unsigned t) { locals_[t].sum += f(begin, end); });
    uint64_t sum = 0;
    for (Local& local : locals_) sum += std::exchange(local.sum, 0);
    return sum;
  }

  uint64_t countBits(const Bitmap& bits) {
    return sumOfWords(bits.words() >= manyWords, [&](size_t begin, size_t end) {
      uint64_t count = 0;
      for (size_t w = begin; w < end; ++w) count += static_cast<uint64_t>(std::popcount(bits.word(w)));
      return count;
    });
  }

  /// Rounds of messages until nobody wants to send and none is on its way.
  void carry() {
    for (;;) {
      if (problem_.host) hearHost();
      if ((!ready_count_ && !flying_) || stopped()) return;
      options_.note(time_, pull_rounds_ + push_rounds_ + small_rounds_);
      if constexpr (hasPriority) {
        inOrder();
      } else {
        round();
      }
    }
  }

  void round() {
    if (!flying_) {
      bool few = ready_count_ < n_ / 8;
      if (few && threads_ > 1) few = ready_count_ * (edges_ / n_ + 1) < smallEdges;
      if (few && hasSettled) few = !hasOut() || !worthPulling(readyEdges());
      if (few && hasOut()) return straight();
      if (threads_ == 1 && hasOut() && !worthPulling(readyEdges())) return straight();
      produce();
    }
    if (!flying_edges_) return landed();
    // One thread would push the messages of so few senders; a pull by several must not look at much more.
    const bool much = flying_ >= n_ / 8 || flying_edges_ * 2 >= edges_ || hasSettled;
    if (mayPull && !flying_alone_ && ((much && worthPulling(flying_edges_)) || !hasOut()) && hasIn()) {
      ++pull_rounds_;
      const bool stepFollows = everyone_sends_ && !ready_count_ && !problem_.host && (!stepped_ || vote_);
      if (stepFollows && quiet()) return pullStepSend();
      pull();
    } else {
      needOut();
      ++push_rounds_;
      if (threads_ <= mostCutting) {
        forRanges([&](unsigned range, Local& local) { push(range, local); });
      } else {
        pushSorted();
      }
    }
    landed();
  }

  /// A pass over all in-edges reads them in order, a push writes states in
  /// none; but weights make the pass longer, so it must not be in vain.
  bool worthPulling(uint64_t edges) {
    const bool weighted = net_.edgesHaveValues && !std::is_empty_v<E>;
    // Where a vertex is through once it has settled, most in-edges are not looked at.
    const bool worth = hasSettled ? edges * mostSettled >= edges_ : weighted ? edges == edges_ : edges * 3 >= edges_;
    if (!worth || !mayPull) return false;
    // The first such round may be the only one: transpose for the second.
    return hasIn() || (dense_rounds_++ && askIn());
  }

  [[gnu::noinline]] uint64_t readyEdges() {
    if (listed_) {
      uint64_t sum = 0;
      for (const uint32_t v : list_) sum += degree(v, pin_[v]);
      return sum;
    }
    return sumOfWords(ready_count_ >= smallEdges, [&](size_t begin, size_t end) {
      uint64_t sum = 0;
      forBits(ready_, begin, end, [&](size_t v) { sum += degree(static_cast<uint32_t>(v), pin_[v]); });
      return sum;
    });
  }

  // ---- Few senders: straight to the receivers, on this thread ------------------

  [[gnu::noinline]] void straight() {
    ++small_rounds_;
    Local& local = locals_[0];
    everyone_sends_ = false;
    if (!listed_ && ready_count_ < n_ / 64) enlist();
    if (!listed_) words_marked_ = false;
    if (listed_) {
      for (const uint32_t v : list_) {
        if constexpr (marksWords) {
          if (words_marked_ && ready_.test(v) && !touched_.test(v)) noteTouched(v);
        }
        if (ready_.test(v)) forward<Wake::list>(v, local);
        if (ready_.test(v)) local.woken.push_back(v);
      }
      takeWoken(local);
    } else {
      // In index order; a receiver further on sends what it has gathered in
      // the same sweep.
      for (size_t w = 0; w < ready_.words(); ++w) {
        uint64_t later = ~uint64_t{0};
        while (const uint64_t bits = ready_.word(w) & later) {
          const int bit = std::countr_zero(bits);
          later = bit == 63 ? 0 : ~uint64_t{0} << (bit + 1);
          forward<Wake::bitmap>(static_cast<uint32_t>(w * 64 + static_cast<size_t>(bit)), local);
        }
      }
      recount();
    }
    if (!local.toHost.empty()) flushHost();
  }

  void enlist() {
    list_.clear();
    forBits(ready_, 0, ready_.words(), [&](size_t v) { list_.push_back(static_cast<uint32_t>(v)); });
    listed_ = true;
  }

  /// The next list: those woken and still ready, each once.
  void takeWoken(Local& local) {
    list_.clear();
    for (const uint32_t v : local.woken) {
      if (!ready_.test(v)) continue;
      ready_.clear(v);
      list_.push_back(v);
    }
    for (const uint32_t v : list_) ready_.set(v);
    local.woken.clear();
    ready_count_ = list_.size();
  }

  /// Sends the message of a ready vertex and delivers it.
  template <Wake How>
  void forward(uint32_t v, Local& local) {
    M message{};
    const PPin to = send(v, message, local);
    if (pin_[v] == No) ready_.clear(v);
    if (to == HostPin) return toHost(message, local);
    if constexpr (readsEdges) {
      if (to == OneEdge) {
        deliver<How>(net_.relations[own_edges_.relation()].out, local.along, local.along + 1, message, local);
        ++local.deliveries;
        return;
      }
    }
    if (!pinExists(to)) refuse(badPin(v, to));
    for (const Relation& r : net_.relations) {
      if (Pin(r.pin) != to) continue;
      const uint64_t begin = r.out.offsets[v];
      const uint64_t end = r.out.offsets[v + 1];
      deliver<How>(r.out, begin, end, message, local);
      local.deliveries += end - begin;
    }
  }

  /// recv of the targets of these edges.
  template <Wake How>
  [[gnu::flatten]] void deliver(const Rows& rows, uint64_t begin, uint64_t end, const M& message, Local& local) {
    const Receivers at = receivers();
    local.at.handler = Handler::recv;
    const uint32_t* const targets = rows.targets;
    E* const first = edge(rows, 0);
    const bool own = rows.values && !std::is_empty_v<E>;
    for (uint64_t i = begin; i < end; ++i) {
      if (i + ahead < end) __builtin_prefetch(at.state + targets[i + ahead], 1);
      receive<How>(at, targets[i], message, own ? first + i : first, local);
    }
  }

  // ---- Many senders: into the array of messages, then push or pull --------------

  /// Every ready vertex sends.
  [[gnu::noinline]] void produce() {
    needMessages();
    words_marked_ = false;
    forWords([&](size_t from, size_t, Local& local) {
      const size_t w = from / 64;
      ++local.looks;
      for (Bitmap& sent : sent_) sent.word(w) = 0;
      uint64_t still = 0;
      for (uint64_t bits = ready_.word(w); bits; bits &= bits - 1) {
        const auto v = static_cast<uint32_t>(from + static_cast<size_t>(std::countr_zero(bits)));
        M message{};
        const PPin to = send(v, message, local);
        if (pin_[v] != No) still |= uint64_t{1} << (v - from);
        book(v, to, message, local);
      }
      ready_.word(w) = still;
    });
    takeOff();
    recount();
  }

  void needMessages() {
    if (!message_.empty() || !n_) return;
    message_ = Array<M>(n_);
    for (unsigned p = 0; p < pins_ + readsEdges; ++p) sent_.emplace_back(n_);
    if constexpr (readsEdges) along_ = Array<uint64_t>(n_);
  }

  /// Puts a message where the receivers will find it.
  void book(uint32_t v, PPin to, const M& message, Local& local) {
    if (to == HostPin) return toHost(message, local);
    if constexpr (readsEdges) {
      if (to == OneEdge) {
        message_[v] = message;
        sent_[pins_].set(v);
        along_[v] = local.along;
        ++local.messages;
        ++local.edges;
        ++local.alone;
        return;
      }
    }
    if (!pinExists(to)) {
      local.badPin = badPin(v, to);
      return;
    }
    message_[v] = message;
    sent_[to - 2].set(v);
    ++local.messages;
    local.edges += degree(v, to);
  }

  /// Calls f(range, local) for every range of receivers.
  template <typename F>
  void forRanges(F&& f) {
    pool_.chunks(threads_, 1, [&](size_t begin, size_t end, unsigned thread) {
      for (size_t range = begin; range < end; ++range) f(static_cast<unsigned>(range), locals_[thread]);
    });
  }

  /// Calls f(v) for the bits of words begin .. end.
  template <typename F>
  static void forBits(const Bitmap& bits, size_t begin, size_t end, F&& f) {
    for (size_t w = begin; w < end; ++w) {
      for (uint64_t word = bits.word(w); word; word &= word - 1) {
        f(w * 64 + static_cast<size_t>(std::countr_zero(word)));
      }
    }
  }

  /// Delivers to the receivers in a range.
  [[gnu::flatten, gnu::noinline]] void push(unsigned range, Local& local) {
    const uint32_t low = first_[range];
    const uint32_t high = first_[range + 1];
    for (const Relation& r : net_.relations) {
      const Bitmap& sent = sent_[r.pin];
      local.looks += sent.words();
      forBits(sent, 0, sent.words(), [&](size_t v) {
        const auto [begin, end] = within(r.out, v, low, high, local);
        deliver<Wake::bitmap>(r.out, begin, end, message_[v], local);
      });
    }
    if constexpr (readsEdges) {
      if (flying_alone_) pushAlone(low, high, local);
    }
  }

  /// Delivers messages on OneEdge to receivers in [low, high).
  void pushAlone(uint32_t low, uint32_t high, Local& local) {
    const Rows& out = net_.relations[own_edges_.relation()].out;
    const Bitmap& sent = sent_[pins_];
    local.looks += sent.words();
    forBits(sent, 0, sent.words(), [&](size_t v) {
      ++local.looks;
      const uint32_t to = out.targets[along_[v]];
      if (to < low || to >= high) return;
      deliver<Wake::bitmap>(out, along_[v], along_[v] + 1, message_[v], local);
    });
  }

  /// The same for many threads.
  [[gnu::noinline]] void pushSorted() {
    for (const Relation& r : net_.relations) {
      pushPieces(r.out, flying_edges_, sent_[r.pin], [&](unsigned part, size_t v) {
        exchange_.put(part, r.out, r.out.offsets[v], r.out.offsets[v + 1], static_cast<uint32_t>(v));
      });
    }
    if constexpr (readsEdges) {
      const Rows& out = net_.relations[own_edges_.relation()].out;
      if (!flying_alone_) return;
      pushPieces(out, flying_alone_, sent_[pins_], [&](unsigned part, size_t v) {
        exchange_.put(part, out, along_[v], along_[v] + 1, static_cast<uint32_t>(v));
      });
    }
  }

  /// Sorts what put(part, v) says of the senders of a bitmap, and delivers it: a slice of the senders after the other,
  /// so that the messages on their way stay in the caches.
  template <typename Put>
  void pushPieces(const Rows& rows, uint64_t edges, const Bitmap& sent, Put&& put) {
    const uint64_t slices = exchange_.slices(edges);
    for (uint64_t slice = 0; slice < slices; ++slice) {
      forRanges([&](unsigned part, Local& local) {
        const size_t begin = wordAt(rows, slice * threads_ + part, slices * threads_);
        const size_t end = wordAt(rows, slice * threads_ + part + 1, slices * threads_);
        local.looks += end - begin;
        forBits(sent, begin, end, [&](size_t v) {
          ++local.looks;
          put(part, v);
        });
      });
      forRanges(
          [&](unsigned range, Local& local) { receiveSorted<Wake::bitmap>(range, rows, message_.data(), local); });
    }
  }

  /// The first word of the vertices behind `part` of `parts` of the edges; all words are in one of them.
  size_t wordAt(const Rows& rows, uint64_t part, uint64_t parts) const {
    if (part == parts) return (n_ + 63) / 64;
    const uint64_t edge = rows.offsets[n_] / parts * part;
    return static_cast<size_t>(std::lower_bound(rows.offsets, rows.offsets + n_, edge) - rows.offsets) / 64;
  }

  /// recv of what is in the boxes of a range.
  template <Wake How>
  [[gnu::flatten, gnu::noinline]] void receiveSorted(unsigned range, const Rows& rows, const M* messages,
                                                     Local& local) {
    const Receivers at = receivers();
    local.at.handler = Handler::recv;
    E* const first = edge(rows, 0);
    const bool own = rows.values && !std::is_empty_v<E>;
    exchange_.take(range, [&](const auto* parcels, size_t count) {
      for (size_t i = 0; i < count; ++i) {
        if (i + ahead < count) __builtin_prefetch(at.state + parcels[i + ahead].to, 1);
        E* value = first;
        if constexpr (!std::is_empty_v<E>) value = own ? first + parcels[i].edge : first;
        receive<How>(at, parcels[i].to, messages[parcels[i].from], value, local);
      }
    });
  }

  /// The first of the ascending targets begin .. end that is not below `low`. Where
  /// that is cannot be predicted, so the search has no branch to mispredict.
  static uint64_t firstFrom(const uint32_t* targets, uint64_t begin, uint64_t end, uint32_t low) {
    for (uint64_t count = end - begin; count > 0;) {
      const uint64_t half = (count + 1) / 2;
      begin += targets[begin + half - 1] < low ? half : 0;
      count -= half;
    }
    return begin;
  }

  /// The part of v's row that lies in [low, high): rows ascend.
  std::pair<uint64_t, uint64_t> within(const Rows& rows, size_t v, uint32_t low, uint32_t high, Local& local) const {
    uint64_t begin = rows.offsets[v];
    uint64_t end = rows.offsets[v + 1];
    if (threads_ == 1) return {begin, end};
    const uint32_t* targets = rows.targets;
    ++local.looks;
    local.probes += static_cast<uint64_t>(std::bit_width(end - begin)) * ((low != 0) + (high < n_));
    if (low) begin = firstFrom(targets, begin, end, low);
    if (high < n_) end = firstFrom(targets, begin, end, high);
    return {begin, end};
  }

  [[gnu::noinline]] void pull() {
    const bool all = everyone_sends_;
    if (!all) probed_deliveries_ += flying_edges_;
    pool_.chunks(n_, grain_, [&](size_t begin, size_t end, unsigned thread) {
      if (stopped()) return;
      if (all) {
        pullFull(begin, end, locals_[thread]);
      } else {
        pullSome(begin, end, locals_[thread]);
      }
    });
  }

  /// Everyone has sent: every in-edge brings a message.
  [[gnu::flatten, gnu::noinline]] void pullFull(size_t begin, size_t end, Local& local) {
    const Rows& in = net_.relations[0].in;
    local.at.handler = Handler::recv;
    local.looks += end - begin;
    for (size_t v = begin; v < end; ++v) {
      local.at.vertex = static_cast<uint32_t>(v);
      S state = state_[v];
      PPin pin = pin_[v];
      gather(state, pin, in, v);
      settle(static_cast<uint32_t>(v), state, pin);
    }
  }

  /// Some have sent. Which in-edges bring a message is a coin's toss to the
  /// branch predictor: so they are picked out first, without a branch.
  [[gnu::flatten, gnu::noinline]] void pullSome(size_t begin, size_t end, Local& local) {
    constexpr uint64_t block = 256;
    uint32_t picked[block];
    const M* const messages = message_.data();
    local.at.handler = Handler::recv;
    local.looks += end - begin;
    for (size_t v = begin; v < end; ++v) {
      local.at.vertex = static_cast<uint32_t>(v);
      if constexpr (hasSettled) {
        if (!heard_.test(v)) {
          if (vertex(v, &state_[v], &pin_[v]).settled()) continue;
          if (net_.relations.size() == 1) {
            local.probes += pullUntilSettled(v);
            continue;
          }
        }
      }
      S state = state_[v];
      PPin pin = pin_[v];
      V x = vertex(v, &state, &pin);
      bool any = false;
      for (const Relation& r : net_.relations) {
        const Bitmap& sent = sent_[r.pin];
        const uint64_t last = r.in.offsets[v + 1];
        local.probes += last - r.in.offsets[v];
        for (uint64_t from = r.in.offsets[v]; from < last; from += block) {
          const uint32_t* const sources = r.in.targets + from;
          const auto count = static_cast<uint32_t>(std::min(block, last - from));
          uint32_t found = 0;
          for (uint32_t i = 0; i < count; ++i) {
            picked[found] = i;
            found += sent.test(sources[i]) ? 1 : 0;
          }
          for (uint32_t k = 0; k < found; ++k) {
            hear(x, messages[sources[picked[k]]], edge(r.in, from + picked[k]));
          }
          any |= found != 0;
        }
      }
      if (any) settle(static_cast<uint32_t>(v), state, pin);
    }
  }

  /// Messages to a vertex that has heard nothing yet, the smallest sender first: what comes
  /// after it has settled does not matter. Gives the number of edges looked at.
  uint64_t pullUntilSettled(size_t v) {
    const Relation& r = net_.relations[0];
    const Bitmap& sent = sent_[r.pin];
    const M* const messages = message_.data();
    const uint64_t last = r.in.offsets[v + 1];
    uint64_t i = r.in.offsets[v];
    while (i < last && !sent.test(r.in.targets[i])) ++i;
    const uint64_t begin = r.in.offsets[v];
    if (i == last) return last - begin;
    S state = state_[v];
    PPin pin = pin_[v];
    V x = vertex(v, &state, &pin);
    while (i < last) {
      hear(x, messages[r.in.targets[i]], edge(r.in, i));
      if (x.settled()) break;
      do {
        ++i;
      } while (i < last && !sent.test(r.in.targets[i]));
    }
    settle(static_cast<uint32_t>(v), state, pin);
    return i - begin;
  }

  /// Puts back the state of a vertex that has received.
  void settle(uint32_t v, const S& state, PPin pin) {
    state_[v] = state;
    touch(v);
    if constexpr (hasSettled) heard_.set(v);
    pin_[v] = pin;
    if (pin == No) {
      ready_.clear(v);
    } else {
      ready_.set(v);
    }
  }

  /// recv for every in-edge of v, from everyone's messages.
  void gather(S& state, PPin& pin, const Rows& in, size_t v) const {
    const M* const messages = message_.data();
    const uint32_t* const sources = in.targets;
    V x = vertex(v, &state, &pin);
    const uint64_t end = in.offsets[v + 1];
    for (uint64_t i = in.offsets[v]; i < end; ++i) hear(x, messages[sources[i]], edge(in, i));
  }

  // ---- Everyone sends, step after step: one pass a step ---------------------------

  /// recvIsQuiet(), asked once.
  bool quiet() {
    if (!asked_quiet_) quiet_ = recvIsQuiet();
    asked_quiet_ = true;
    return quiet_;
  }

  /// Whether `recv` provably leaves *readyToSend alone: the optimiser, with the
  /// handler inlined, knows what it holds afterwards. False where it does not;
  /// then the handler has run for nothing, on a copy of a real vertex's state
  /// and with a real message.
  [[gnu::flatten, gnu::noinline]] bool recvIsQuiet() {
#ifdef __OPTIMIZE__
    if constexpr (rules::KeepsNotes<V>) return false;  // a recv for nothing would write them
    const Rows& in = net_.relations[0].in;
    size_t v = 0;
    while (in.offsets[v + 1] == 0) ++v;
    S state = state_[v];
    PPin pin = No;
    M message = message_[in.targets[0]];
    V x = vertex(v, &state, &pin);
    say(locals_[0], Handler::recv, v);
    x.recv(&message, edge(in, 0));
    return __builtin_constant_p(pin == No) ? pin == No : false;
#else
    return false;
#endif
  }

  /// Pulls, steps and sends.
  [[gnu::noinline]] void pullStepSend() {
    if (next_message_.empty()) next_message_ = Array<M>(n_);
    // The copy costs about as much as two steps, so one must not be all there is.
    if (++fused_steps_ == 2 && lengthsVary()) sortByLength();
    const bool sorted = !by_length_.empty();
    pool_.chunks(n_, grain_, [&](size_t begin, size_t end, unsigned thread) {
      if (sorted) {
        pullStepSendByLength(begin, end, locals_[thread]);
      } else {
        pullStepSendRange(begin, end, locals_[thread]);
      }
    });
    std::swap(message_, next_message_);
    takeOff();
    noteStep();
    recount();
  }

  /// Whether rows are short and of such different lengths that the processor
  /// mispredicts the end of most: that costs as much as a dozen reads.
  bool lengthsVary() const {
    const Rows& in = net_.relations[0].in;
    if (in.offsets[n_] / n_ > mostShort || (in.values && !std::is_empty_v<E>)) return false;
    uint64_t changes = 0;
    uint64_t last = 0;
    for (size_t v = 0; v < n_; ++v) {
      const uint64_t length = in.offsets[v + 1] - in.offsets[v];
      changes += length != last;
      last = length;
    }
    return changes > n_ / 4;
  }

  /// Puts the vertices of each chunk in the order of their numbers of in-edges,
  /// and copies their rows in that order: rows of one length after the other end
  /// where the processor expects it, and are still read from front to back.
  [[gnu::noinline]] void sortByLength() {
    by_length_ = Array<Sorted>(n_);
    sources_ = Array<uint32_t>(edges_);
    pool_.chunks(n_, grain_, [&](size_t begin, size_t end, unsigned) {
      for (size_t from = begin; from < end; from += grain_) sortChunk(from, std::min(end, from + grain_));
    });
  }

  void sortChunk(size_t from, size_t to) {
    constexpr uint64_t longest = 255;  // longer rows stay as they are
    const Rows& in = net_.relations[0].in;
    const auto length = [&](size_t v) { return in.offsets[v + 1] - in.offsets[v]; };
    uint32_t place[longest + 2] = {};
    for (size_t v = from; v < to; ++v) ++place[std::min(length(v), longest) + 1];
    for (size_t k = 1; k <= longest; ++k) place[k] += place[k - 1];
    for (size_t v = from; v < to; ++v) {
      by_length_[from + place[std::min(length(v), longest)]++] = {static_cast<uint32_t>(v - from),
                                                                  static_cast<uint32_t>(length(v))};
    }
    uint32_t* row = sources_.data() + in.offsets[from];
    for (size_t k = from; k < to; ++k) {
      const Sorted& s = by_length_[k];
      const uint32_t* const old = in.targets + in.offsets[from + s.at];
      for (uint32_t i = 0; i < s.length; ++i) *row++ = old[i];
    }
  }

  [[gnu::flatten, gnu::noinline]] void pullStepSendRange(size_t begin, size_t end, Local& local) {
    const Rows in = net_.relations[0].in;
    M* const messages = next_message_.data();
    local.at.handler = Handler::fused;
    const A all = all_;  // locals stay in registers
    A mine{};
    bool vote = false;
    for (size_t from = begin; from < end; from += 64) {
      const size_t to = std::min(end, from + 64);
      uint64_t ready = 0;
      uint64_t sent = 0;
      for (size_t v = from; v < to; ++v) {
        S state = state_[v];
        PPin pin = No;
        local.at.vertex = static_cast<uint32_t>(v);
        gather(state, pin, in, v);
        V x = vertex(v, &state, &pin);
        vote |= aggregates::step(x, all, mine);
        if (pin == Pin(0)) {
          ++x.time;  // this send comes after the step
          M message{};
          x.send(&message);
          messages[v] = message;
          sent |= uint64_t{1} << (v - from);
        }
        if (pin != No) {
          pin_[v] = pin;
          ready |= uint64_t{1} << (v - from);
        }
        state_[v] = state;
      }
      ready_.word(from / 64) = ready;
      noteSent(from, to, sent, local);
      if constexpr (lazySteps) touched_.word(from / 64) = sent;
      forget(from / 64);
    }
    local.vote |= vote;
    aggregates::reduce(local.mine, mine);
    local.stepCalls += end - begin;
  }

  /// The same, by length within each chunk.
  [[gnu::flatten, gnu::noinline]] void pullStepSendByLength(size_t begin, size_t end, Local& local) {
    const uint64_t* const offsets = net_.relations[0].in.offsets;
    const M* const received = message_.data();
    M* const messages = next_message_.data();
    E* const unit = edge({}, 0);
    local.at.handler = Handler::fused;
    const A all = all_;  // locals stay in registers
    A mine{};
    bool vote = false;
    for (size_t from = begin; from < end; from += grain_) {
      const size_t to = std::min(end, from + grain_);
      const Sorted* const sorted = by_length_.data() + from;
      const uint32_t* source = sources_.data() + offsets[from];
      uint64_t ready[mostGrain / 64] = {};
      uint64_t sent[mostGrain / 64] = {};
      for (size_t k = 0; k < to - from; ++k) {
        const size_t at = sorted[k].at;
        const size_t v = from + at;
        const uint64_t bit = uint64_t{1} << at % 64;
        S state = state_[v];
        PPin pin = No;
        local.at.vertex = static_cast<uint32_t>(v);
        V x = vertex(v, &state, &pin);
        for (const uint32_t* const last = source + sorted[k].length; source < last; ++source) {
          hear(x, received[*source], unit);
        }
        vote |= aggregates::step(x, all, mine);
        if (pin == Pin(0)) {
          ++x.time;  // this send comes after the step
          M message{};
          x.send(&message);
          messages[v] = message;
          sent[at / 64] |= bit;
        }
        if (pin != No) {
          pin_[v] = pin;
          ready[at / 64] |= bit;
        }
        state_[v] = state;
      }
      for (size_t w = 0; w * 64 < to - from; ++w) {
        const size_t first = from + w * 64;
        ready_.word(first / 64) = ready[w];
        noteSent(first, std::min(to, first + 64), sent[w], local);
        if constexpr (lazySteps) touched_.word(first / 64) = sent[w];
        forget(first / 64);
      }
    }
    local.vote |= vote;
    aggregates::reduce(local.mine, mine);
    local.stepCalls += end - begin;
  }

  // ---- By priority ---------------------------------------------------------------

  uint32_t priority(uint32_t v) {
    V x = vertex(v, &state_[v], &pin_[v]);
    return x.priority();
  }

  /// Carries messages until nobody is ready, the lowest priorities first.
  [[gnu::noinline]] void inOrder() {
    const auto keyOf = [this](uint32_t v, uint32_t& key) {
      if (!ready_.test(v)) return false;
      key = priority(v);
      return true;
    };
    queue_.restart();
    const bool sorted = readyAscend();
    if (!sorted) queueReady();
    needOut();
    Local& local = locals_[0];
    // A bucket is large when its edges keep all threads busy for a while.
    // With few edges a vertex, what a thread saves in work it spends on lists.
    const uint64_t mean = edges_ / n_ + 1;
    const uint64_t large = threads_ == 1 || mean < 8 || readsEdges ? ~uint64_t{0} : smallEdges / mean + 1;
    uint32_t v = 0;
    size_t cursor = 0;
    for (uint64_t turn = 0;; ++turn) {
      if (turn % 1024 == 0 && rest()) break;
      if (sorted && !queue_.waiting()) nextReady(cursor);
      if (queue_.waiting() >= large) {
        queue_.pop(list_, keyOf);
        if (wave()) continue;
        for (const uint32_t u : list_) inTurn(u, local);
      } else {
        if (!queue_.popOne(v, keyOf)) break;
        inTurn(v, local);
      }
    }
    flushHost();
    recount();
  }

  /// Whether the ready vertices stand in the order of their priorities already:
  /// then their bits are as good as a queue.
  bool readyAscend() {
    struct Keys {
      uint32_t first = 0;
      uint32_t last = 0;
      bool some = false;
      bool ascend = true;
    };
    const size_t grain = grain_ / 64;
    std::vector<Keys> pieces(ready_.words() / grain + 1);
    const auto look = [&](size_t begin, size_t end, unsigned) {
      Keys& keys = pieces[begin / grain];
      for (size_t w = begin; w < end && keys.ascend; ++w) {
        for (uint64_t bits = ready_.word(w); bits; bits &= bits - 1) {
          const uint32_t key = priority(static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(bits))));
          keys.ascend &= key >= keys.last;
          if (!keys.some) keys.first = key;
          keys.last = key;
          keys.some = true;
        }
      }
    };
    if (ready_count_ >= smallEdges) {
      pool_.chunks(ready_.words(), grain, look);
    } else {
      look(0, ready_.words(), 0);
    }
    locals_[0].looks += ready_.words();
    uint32_t last = 0;
    for (const Keys& keys : pieces) {
      if (!keys.ascend || (keys.some && keys.first < last)) return false;
      if (keys.some) last = keys.last;
    }
    return true;
  }

  void queueReady() {
    forBits(ready_, 0, ready_.words(),
            [&](size_t v) { queue_.push(priority(static_cast<uint32_t>(v)), static_cast<uint32_t>(v)); });
  }

  /// Queues the next vertex from `cursor` on that was ready from the start, if
  /// its turn is before whatever the queue holds.
  void nextReady(size_t& cursor) {
    for (size_t w = cursor / 64; w < ready_.words(); ++w) {
      const uint64_t bits = ready_.word(w) & (w == cursor / 64 ? ~uint64_t{0} << (cursor % 64) : ~uint64_t{0});
      if (!bits) continue;
      cursor = w * 64 + static_cast<size_t>(std::countr_zero(bits));
      const auto v = static_cast<uint32_t>(cursor);
      const uint32_t key = priority(v);
      if (key > queue_.bound()) return;
      queue_.push(key, v);
      ++cursor;
      return;
    }
    cursor = n_;
  }

  /// Between two turns: hears the host, says how far it is; true to end.
  bool rest() {
    if (problem_.host) hearHostInOrder();
    options_.note(time_, push_rounds_ + small_rounds_);
    return stopped();
  }

  /// A vertex from the queue sends, if it is still ready and its turn is now.
  void inTurn(uint32_t v, Local& local) {
    if (!ready_.test(v)) return;
    const uint32_t key = priority(v);
    if (key > queue_.lowest()) return queue_.push(key, v);
    ++small_rounds_;
    forward<Wake::queue>(v, local);
    if (ready_.test(v)) queue_.push(priority(v), v);
  }

  /// What the host says while a queue is being worked off joins the queue.
  void hearHostInOrder() {
    uint32_t to = 0;
    M message{};
    Local& local = locals_[0];
    while (problem_.host->toVertex(to, &message)) {
      local.at.handler = Handler::recv;
      receive<Wake::queue>(receivers(), to, message, edge({}, 0), local);
      ++local.deliveries;
    }
    flushHost();
  }

  /// Takes the vertices of list_ as one wave on all threads; false, with
  /// nothing done, when they are too few for that.
  [[gnu::noinline]] bool wave() {
    uint64_t edges = 0;
    wave_.clear();
    for (const uint32_t v : list_) {
      if (!ready_.test(v)) continue;
      const uint32_t key = priority(v);
      if (key > queue_.lowest()) {
        queue_.push(key, v);
        continue;
      }
      ready_.clear(v);  // so that a vertex listed twice is taken once
      wave_.push_back(v);
      edges += degree(v, pin_[v]);
    }
    if (edges < smallEdges) {
      for (const uint32_t v : wave_) ready_.set(v);
      list_.swap(wave_);
      return false;
    }
    ++push_rounds_;
    if (wave_message_.size() < wave_.size()) wave_message_ = Array<M>(wave_.size() * 2);
    wave_pin_.resize(wave_.size());
    pool_.chunks(wave_.size(), 256, [&](size_t begin, size_t end, unsigned thread) {
      Local& local = locals_[thread];
      for (size_t i = begin; i < end; ++i) {
        const uint32_t v = wave_[i];
        say(local, Handler::send, v);
        wave_message_[i] = M{};
        V x = vertex(v, &state_[v], &pin_[v]);
        wave_pin_[i] = pin_[v];
        x.send(&wave_message_[i]);
        ++local.sends;
      }
    });
    for (size_t i = 0; i < wave_.size(); ++i) {
      const uint32_t v = wave_[i];
      touch(v);
      if (wave_pin_[i] == HostPin) {
        toHost(wave_message_[i], locals_[0]);
      } else if (!pinExists(wave_pin_[i])) {
        refuse(badPin(v, wave_pin_[i]));
      }
      if (pin_[v] != No) {
        ready_.set(v);
        queue_.push(priority(v), v);
      }
    }
    if (threads_ <= mostCutting) {
      forRanges([&](unsigned range, Local& local) {
        pushWave(range, local);
        keepWoken(range, local);
      });
      queueWoken();
    } else {
      pushWaveSorted(edges);
    }
    return true;
  }

  /// Who was woken in a range, whichever thread had it: the queue's order shall not hang on that.
  void keepWoken(unsigned range, Local& local) {
    woken_[range].swap(local.woken);
    local.woken.clear();
  }

  void queueWoken() {
    for (std::vector<uint32_t>& woken : woken_) {
      for (const uint32_t u : woken) queue_.push(priority(u), u);
      woken.clear();
    }
  }

  [[gnu::flatten, gnu::noinline]] void pushWave(unsigned range, Local& local) {
    const uint32_t low = first_[range];
    const uint32_t high = first_[range + 1];
    for (const Relation& r : net_.relations) {
      for (size_t i = 0; i < wave_.size(); ++i) {
        if (wave_pin_[i] != Pin(r.pin)) continue;
        const auto [begin, end] = within(r.out, wave_[i], low, high, local);
        deliver<Wake::list>(r.out, begin, end, wave_message_[i], local);
        local.deliveries += end - begin;
      }
    }
  }

  /// The same for many threads.
  [[gnu::noinline]] void pushWaveSorted(uint64_t edges) {
    const uint64_t parts = exchange_.slices(edges) * threads_;
    for (const Relation& r : net_.relations) {
      for (uint64_t slice = 0; slice < parts; slice += threads_) {
        forRanges([&](unsigned part, Local& local) {
          const size_t end = wave_.size() * (slice + part + 1) / parts;
          for (size_t i = wave_.size() * (slice + part) / parts; i < end; ++i) {
            if (wave_pin_[i] != Pin(r.pin)) continue;
            const uint64_t* const row = r.out.offsets + wave_[i];
            ++local.looks;
            exchange_.put(part, r.out, row[0], row[1], static_cast<uint32_t>(i));
            local.deliveries += row[1] - row[0];
          }
        });
        forRanges([&](unsigned range, Local& local) {
          receiveSorted<Wake::list>(range, r.out, wave_message_.data(), local);
          keepWoken(range, local);
        });
        queueWoken();
      }
    }
  }

  Problem<V>& problem_;
  Network& net_;
  const P& params_;
  const RunOptions& options_;
  size_t n_;
  Pool own_;  // where the caller has none
  Pool& pool_;
  unsigned threads_;
  size_t grain_;
  std::vector<Local> locals_;
  std::vector<uint32_t> first_;               // receivers first_[t] .. first_[t + 1] are range t, one a thread
  Exchange<!std::is_empty_v<E>> exchange_;    // between them, where there are many
  std::vector<std::vector<uint32_t>> woken_;  // by range
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
  Bitmap touched_words_;  // the words of touched_ that are not 0, while words_marked_
  bool words_marked_ = false;

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

  BucketQueue queue_;
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
