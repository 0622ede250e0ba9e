// SPDX-License-Identifier: Apache-2.0
/// Finds out which message a thread receives: follows each from its send to the queues of its receivers.
///
/// Nothing in a packet names its sender. But the sends of a mailbox leave by each way in their order, packets within a
/// tile arrive in theirs, and each thread's queue keeps its own. Between tiles a packet is recognised by its address
/// and all of its contents; of several alike under way to the same threads the oldest is taken, and the arrow says so.
/// Multicast by key is not followed: routers make other packets of it.
#pragma once

#include <gossamer/config.h>

#include <bit>
#include <deque>
#include <unordered_map>
#include <vector>

#include "thinning.h"
#include "tile_trace.h"

namespace gossamer::sim {

class Messages {
 public:
  Messages(unsigned tiles, unsigned threads) : threads_(threads), tiles_(tiles), queues_(tiles * threads) {}

  /// Takes what was seen at a mailbox; `done` is called with messages whose way cannot be followed.
  template <typename Done>
  void see(unsigned tile, const Sight& sight, Done done) {
    Mailbox& mailbox = tiles_[tile];
    switch (sight.what) {
      case Sight::What::Send: send(tile, sight, done); return;
      case Sight::What::Out: leave(mailbox, sight.data, done); return;
      case Sight::What::In: mailbox.accepted.push_back(sight.local ? pop(mailbox.local) : arrive(sight.data)); return;
      case Sight::What::Deal: deal(tile, sight.data); return;
      default: return;
    }
  }

  /// What a thread receives now: a message with its sender, if it is known.
  Arrow receive(uint32_t thread, uint64_t cycle) {
    Arrow arrow;
    arrow.to = cycle;
    arrow.receiver = thread;
    const uint32_t number = pop(queues_[thread]);
    if (number == kNobody) return arrow;
    Message& message = messages_[number];
    arrow = message.arrow;
    arrow.to = cycle;
    arrow.receiver = thread;
    arrow.id = ++arrows_;
    if (--message.receivers == 0) free_.push_back(number);
    return arrow;
  }

  /// Those that nobody has received.
  template <typename Done>
  void rest(Done done) {
    for (uint32_t number : free_) messages_[number].arrow.name = nullptr;
    for (const Message& message : messages_) {
      if (message.arrow.name) done(message.arrow);
    }
  }

  uint64_t sent() const { return sent_; }
  uint64_t received() const { return arrows_; }
  uint64_t alike() const { return alike_; }

 private:
  using Numbers = std::deque<uint32_t>;
  enum Route : uint8_t { kLocal = 0, kNet = 1, kFar = 2 };  ///< route_e of gs_mailbox_pkg

  struct Message {
    Arrow arrow;
    unsigned receivers = 1;
  };
  struct Mailbox {
    Numbers local, net;  ///< sent and not yet left, by their way
    Numbers accepted;    ///< arrived and not yet dealt out
  };

  template <typename Done>
  void send(unsigned tile, const Sight& sight, Done done) {
    Message message;
    message.arrow.from = sight.cycle;
    message.arrow.sender = tile * threads_ + sight.thread;
    message.arrow.dest = sight.state.address;
    ++sent_;
    const auto kind = static_cast<config::FlitKind>(sight.kind);
    const bool masked = kind == config::FlitKind::Mask, key = kind == config::FlitKind::Key;
    message.arrow.name = masked ? "multicast" : key ? "send by key" : sight.route == kFar ? "send far" : "send";
    if (masked) message.receivers = static_cast<unsigned>(std::popcount(sight.data));
    if (sight.route == kFar) return done(message.arrow);
    if (key) message.receivers = 0;
    (sight.route == kLocal ? tiles_[tile].local : tiles_[tile].net).push_back(keep(message));
  }

  uint32_t keep(const Message& message) {
    if (free_.empty()) {
      messages_.push_back(message);
      return static_cast<uint32_t>(messages_.size() - 1);
    }
    const uint32_t number = free_.back();
    free_.pop_back();
    messages_[number] = message;
    return number;
  }

  template <typename Done>
  void leave(Mailbox& mailbox, uint64_t packet, Done done) {
    const uint32_t number = pop(mailbox.net);
    if (number == kNobody) return;
    if (messages_[number].receivers) {
      under_way_[packet].push_back(number);
      return;
    }
    done(messages_[number].arrow);
    free_.push_back(number);
  }

  uint32_t arrive(uint64_t packet) {
    const auto found = under_way_.find(packet);
    if (found == under_way_.end()) return kNobody;
    Numbers& alike = found->second;
    const uint32_t number = pop(alike);
    const auto other = [&](uint32_t n) { return messages_[n].arrow.sender != messages_[number].arrow.sender; };
    if (std::any_of(alike.begin(), alike.end(), other)) {
      ++alike_;
      messages_[number].arrow.alike = true;
      for (uint32_t n : alike) messages_[n].arrow.alike = true;
    }
    if (alike.empty()) under_way_.erase(found);
    return number;
  }

  void deal(unsigned tile, uint64_t threads) {
    const uint32_t number = pop(tiles_[tile].accepted);
    for (; threads; threads &= threads - 1) {
      queues_[tile * threads_ + static_cast<unsigned>(std::countr_zero(threads))].push_back(number);
    }
  }

  static uint32_t pop(Numbers& numbers) {
    if (numbers.empty()) return kNobody;
    const uint32_t first = numbers.front();
    numbers.pop_front();
    return first;
  }

  const unsigned threads_;
  std::vector<Mailbox> tiles_;
  std::vector<Numbers> queues_;  ///< of each thread
  std::unordered_map<uint64_t, Numbers> under_way_;
  std::vector<Message> messages_;
  std::vector<uint32_t> free_;
  uint64_t sent_ = 0, arrows_ = 0, alike_ = 0;
};

}  // namespace gossamer::sim
