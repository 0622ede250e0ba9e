// SPDX-License-Identifier: Apache-2.0
/// Ranks of the engine `distributed` in one process: the functions of gossamer/distributed/transport.h without MPI.
///
/// Each rank is a thread, but only one runs at a time. Every call of a function may pass control to another rank, by
/// random numbers with a seed, so a failure can be repeated. The simulation delays everything that MPI may delay:
/// messages, the ends of sends, and the end of a reduction, on each rank by a time of its own. Ranks have speeds that
/// change at random and differ by a factor of up to 100: a rank may make no progress while others exchange dozens
/// of messages. The bytes of a message are read as late as MPI may read them, so a buffer that is overwritten too early
/// arrives wrong.
///
/// A violation of the interface, and a run that does not end, end the program with one line and the exit code 3.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gossamer/distributed/transport.h"

namespace test {

class SimulatedRanks {
 public:
  /// `limit`: calls of functions after which the run is regarded as one that does not end.
  SimulatedRanks(unsigned count, uint64_t seed, std::string what, uint64_t limit = 1'000'000)
      : random_(seed), limit_(limit), what_(std::move(what)) {
    static constexpr uint64_t latencies[] = {0, 4, 30, 150};
    for (uint64_t* latency : {&message_latency_, &send_latency_, &reduction_latency_}) *latency = latencies[draw(4)];
    stays_ = draw(2) ? 7 : draw(2);
    for (unsigned r = 0; r < count; ++r) {
      ranks_.push_back(std::make_unique<Rank>());
      ranks_[r]->number = r;
      ranks_[r]->net = this;
      ranks_[r]->table = {static_cast<int32_t>(r),
                          static_cast<int32_t>(count),
                          [](int to, int tag, const void* bytes, uint64_t size) {
                            return here->net->send(to, tag, bytes, size, false);
                          },
                          [](uint64_t request) { return here->net->sent(request); },
                          [](int from, int tag, uint64_t* size) { return here->net->probe(from, tag, size); },
                          [](int, int*, uint64_t*) { return here->net->fail("probe_any is not simulated"); },
                          [](void* bytes, uint64_t size) { here->net->receive(bytes, size); },
                          [](gs_reduced_word* words, uint64_t size) { here->net->reduce(words, size); },
                          [] { return here->net->reduced(); },
                          [](int from, void* bytes, uint64_t size) { here->net->broadcast(from, bytes, size); },
                          [](int) { here->net->fail("a rank has called abort"); },
                          [] {},
                          [](int to, int tag, const void* bytes, uint64_t size) {
                            return here->net->send(to, tag, bytes, size, true);
                          }};
    }
    changeSpeeds();
  }

  /// Runs body(table) on all ranks to the end. No message, send or reduction may then be in progress.
  void run(const std::function<void(const gs_ranks*)>& body) {
    std::vector<std::thread> threads;
    for (auto& rank : ranks_) {
      threads.emplace_back([&body, this, rank = rank.get()] {
        rank->turn.acquire();
        here = rank;
        body(&rank->table);
        rank->over = true;
        if (Rank* next = chosen()) next->turn.release();
      });
    }
    chosen()->turn.release();
    for (std::thread& thread : threads) thread.join();
    for (auto& [channel, messages] : channels_) {
      if (!messages.empty()) fail("a message has not been received");
    }
    for (auto& rank : ranks_) {
      if (rank->contributed != reductions_.size() || rank->reducing) fail("a reduction has not been completed");
      for (const Send& one : rank->sends) {
        if (one.live) fail("a send has not been completed");
      }
    }
  }

  uint64_t calls() const { return now_; }

 private:
  struct Send {
    const void* bytes = nullptr;
    uint64_t size = 0;
    bool live = false;     // the rank has not been told of its end
    bool matched = false;  // ends only after the receiver has begun to receive
    bool received = false;
    uint64_t ends = 0;
  };
  struct Message {
    unsigned from;
    uint64_t request;
    std::vector<uint8_t> copy;  // after the end of the send
    bool copied = false;
    uint64_t size;
    uint64_t arrives;
  };
  struct Reduction {
    std::vector<gs_reduced_word> words;
    unsigned contributions = 0;
    uint64_t complete = 0;
  };
  struct Rank {
    unsigned number = 0;
    SimulatedRanks* net = nullptr;
    gs_ranks table{};
    std::binary_semaphore turn{0};
    bool over = false;
    uint64_t weight = 1;
    std::vector<Send> sends;
    std::deque<Message> probed;
    gs_reduced_word* reducing = nullptr;
    size_t contributed = 0;  // reductions
    uint64_t told = 0;       // when this rank learns of the end of its reduction; 0: not yet drawn
    size_t broadcasts = 0;
  };
  using Channel = std::tuple<unsigned, unsigned, int>;  // sender, receiver, tag

  static inline thread_local Rank* here = nullptr;

  uint64_t draw(uint64_t below) { return random_() % below; }
  uint64_t later(uint64_t latency) { return now_ + (latency ? draw(latency + 1) : 0); }

  int fail(const char* why) {
    std::fprintf(stderr, "%s: %s\n", what_.c_str(), why);
    std::fflush(nullptr);
    std::_Exit(3);
  }

  void changeSpeeds() {
    static constexpr uint64_t weights[] = {1, 1, 10, 100};
    for (auto& rank : ranks_) rank->weight = weights[draw(4)];
    change_ = now_ + 1 + draw(200);
  }

  Rank* chosen() {
    uint64_t sum = 0;
    for (auto& rank : ranks_) sum += rank->over ? 0 : rank->weight;
    if (!sum) return nullptr;
    uint64_t at = draw(sum);
    for (auto& rank : ranks_) {
      if (rank->over) continue;
      if (at < rank->weight) return rank.get();
      at -= rank->weight;
    }
    return nullptr;
  }

  /// Lets time pass; another rank may run.
  void pass() {
    if (++now_ > limit_) fail("does not end");
    if (now_ >= change_) changeSpeeds();
    if (draw(8) < stays_) return;
    Rank* const me = here;
    Rank* const next = chosen();
    if (next == me) return;
    next->turn.release();
    me->turn.acquire();
  }

  uint64_t send(int to, int tag, const void* bytes, uint64_t size, bool matched) {
    pass();
    uint64_t request = 0;
    while (request < here->sends.size() && here->sends[request].live) ++request;
    if (request == here->sends.size()) here->sends.emplace_back();
    here->sends[request] = {bytes, size, true, matched, false, later(send_latency_)};
    auto& channel = channels_[{here->number, static_cast<unsigned>(to), tag}];
    uint64_t arrives = later(message_latency_);
    if (!channel.empty()) arrives = std::max(arrives, channel.back().arrives);  // in order
    channel.push_back({here->number, request, {}, false, size, arrives});
    return request;
  }

  int sent(uint64_t request) {
    pass();
    if (request >= here->sends.size() || !here->sends[request].live) fail("sent() of a request that is free");
    Send& one = here->sends[request];
    if (now_ < one.ends || (one.matched && !one.received)) return 0;
    if (!one.received) copy(request);
    one.live = false;
    return 1;
  }

  /// Reads the bytes of a message that is still on its way, before its sender may change them.
  void copy(uint64_t request) {
    for (auto& [channel, messages] : channels_) {
      for (Message& m : messages) {
        if (m.from == here->number && m.request == request && !m.copied) read(m);
      }
    }
  }

  void read(Message& m) {
    const Send& one = ranks_[m.from]->sends[m.request];
    const auto* bytes = static_cast<const uint8_t*>(one.bytes);
    m.copy.assign(bytes, bytes + one.size);
    m.copied = true;
  }

  int probe(int from, int tag, uint64_t* size) {
    pass();
    auto& channel = channels_[{static_cast<unsigned>(from), here->number, tag}];
    if (channel.empty() || channel.front().arrives > now_) return 0;
    if (!here->probed.empty()) fail("probe() before the last message has been received");
    *size = channel.front().size;
    here->probed.push_back(std::move(channel.front()));
    channel.pop_front();
    return 1;
  }

  void receive(void* bytes, uint64_t size) {
    if (here->probed.empty()) fail("receive() without probe()");
    Message m = std::move(here->probed.front());
    here->probed.pop_front();
    if (size != m.size) fail("receive() of another size");
    if (!m.copied) {
      read(m);
      ranks_[m.from]->sends[m.request].received = true;
    }
    if (size) std::memcpy(bytes, m.copy.data(), size);
    pass();
  }

  void reduce(gs_reduced_word* words, uint64_t count) {
    pass();
    if (here->reducing) fail("reduce() while a reduction is in progress");
    if (here->contributed == reductions_.size()) reductions_.emplace_back();
    Reduction& all = reductions_[here->contributed++];
    if (all.contributions++ == 0) {
      all.words.assign(words, words + count);
    } else {
      if (all.words.size() != count) fail("the ranks reduce different numbers of words");
      for (uint64_t i = 0; i < count; ++i) combine(all.words[i], words[i]);
    }
    if (all.contributions == ranks_.size()) all.complete = now_;
    here->reducing = words;
    here->told = 0;
  }

  void combine(gs_reduced_word& to, const gs_reduced_word& from) {
    if (to.how != from.how) fail("the ranks reduce words of different kinds");
    switch (to.how) {
      case 0: to.word += from.word; break;
      case 1: to.word = std::min(to.word, from.word); break;
      case 2: to.word = std::max(to.word, from.word); break;
      case 3: to.word |= from.word; break;
      default: fail("sums of doubles are not simulated");
    }
  }

  int reduced() {
    pass();
    if (!here->reducing) fail("reduced() without a reduction");
    const Reduction& all = reductions_[here->contributed - 1];
    if (!all.complete) return 0;
    if (!here->told) here->told = later(reduction_latency_) + 1;
    if (now_ < here->told) return 0;
    std::copy(all.words.begin(), all.words.end(), here->reducing);
    here->reducing = nullptr;
    return 1;
  }

  void broadcast(int from, void* bytes, uint64_t size) {
    pass();
    const size_t number = here->broadcasts++;
    if (static_cast<int>(here->number) == from) {
      const auto* at = static_cast<const uint8_t*>(bytes);
      broadcasts_[number].assign(at, at + size);
      return;
    }
    while (!broadcasts_.count(number)) pass();
    if (broadcasts_[number].size() != size) fail("the ranks broadcast different sizes");
    if (size) std::memcpy(bytes, broadcasts_[number].data(), size);
  }

  std::mt19937_64 random_;
  uint64_t limit_;
  std::string what_;
  uint64_t now_ = 0;
  uint64_t change_ = 0;
  uint64_t stays_ = 0;  // in eighths: how often the same rank continues
  uint64_t message_latency_ = 0;
  uint64_t send_latency_ = 0;
  uint64_t reduction_latency_ = 0;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::map<Channel, std::deque<Message>> channels_;
  std::deque<Reduction> reductions_;
  std::map<size_t, std::vector<uint8_t>> broadcasts_;
};

}  // namespace test
