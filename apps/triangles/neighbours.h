// SPDX-License-Identifier: Apache-2.0
/// Vertices that tell each neighbour all their neighbours, and count those that both have.
///
/// A list travels in messages of as many neighbours as fit, all of them along every edge. What is
/// left of the last is filled up with an index that no vertex has.
///
/// Trick: an own neighbour is compared with all of a message at once, in two vectors. Walking down two
/// lists takes a load and a comparison that wait for each other at each step. Where the message
/// spans a long piece of the own list, each of its neighbours is searched for instead, side by side.
#pragma once

#include <gossamer/polite.h>

namespace neighbours {

inline constexpr uint32_t Many = 14;
inline constexpr uint32_t Nobody = 0xffffffff;
/// Own neighbours from which on searches are quicker than comparisons.
inline constexpr ptrdiff_t Long = 160;

struct State {
  uint64_t common;  // neighbours in common with neighbours, over all of them
  uint32_t told;    // of its neighbours, how many it has told of
  uint32_t degree;
};

struct Message {
  uint32_t of[Many];  // ascending
  uint32_t last;      // of them
};

struct Totals {
  gossamer::Sum<uint64_t> common;
};

struct Vertex : gossamer::PVertex<State, gossamer::None, Message, gossamer::None, Totals> {
  gossamer::Edges<> edges;

  /// One neighbour alone has nobody to be told of.
  void init() { *readyToSend = edges.count() > 1 ? gossamer::Pin(0) : gossamer::No; }

  void send(Message* message) {
    const uint32_t* const from = edges.targets() + s->told;
    const uint32_t left = edges.count() - s->told;
    for (uint32_t i = 0; i < Many; ++i) message->of[i] = i < left ? from[i] : Nobody;
    const uint32_t now = left < Many ? left : Many;
    message->last = from[now - 1];
    s->told += now;
    if (s->told == edges.count()) *readyToSend = gossamer::No;
  }

  void recv(const Message* message, const gossamer::None*) {
    const uint32_t* const all = edges.targets();
    const uint32_t* const end = all + edges.count();
    const uint32_t* own = from(all, end, message->of[0]);
    if (end - own > Long) {
      const uint32_t* const behind = from(own, end, message->last + 1);
      if (behind - own > Long) {
        s->common += searched(*message, own, behind);
        return;
      }
    }
    using Lanes [[gnu::vector_size(32), gnu::may_alias]] = uint32_t;
    Lanes low, high{};
    __builtin_memcpy(&low, message->of, sizeof low);
    __builtin_memcpy(&high, message->of + 8, sizeof(uint32_t) * (Many - 8));
    high[6] = high[7] = Nobody;
    Lanes hits{};
    for (; own < end && *own <= message->last; ++own) {
      const Lanes one = Lanes{} + *own;
      hits -= reinterpret_cast<Lanes>(low == one) + reinterpret_cast<Lanes>(high == one);  // true is -1
    }
    uint32_t common = 0;
    for (unsigned i = 0; i < 8; ++i) common += hits[i];
    s->common += common;
  }

  bool step(const Totals&, Totals& mine) {
    mine.common.give(s->common);
    return false;
  }

 private:
  /// The first that is not below `least`; a search without a branch to mispredict.
  static const uint32_t* from(const uint32_t* at, const uint32_t* end, uint32_t least) {
    for (auto count = static_cast<uint32_t>(end - at); count > 0;) {
      const uint32_t half = (count + 1) / 2;
      at += at[half - 1] < least ? half : 0;
      count -= half;
    }
    return at;
  }

  /// Searches for all of a message in own neighbours begin .. end, which are not few: step by step for all.
  static uint32_t searched(const Message& message, const uint32_t* begin, const uint32_t* end) {
    uint32_t at[Many] = {};
    auto count = static_cast<uint32_t>(end - begin);
    for (; count > 1;) {
      const uint32_t half = count / 2;
      for (uint32_t i = 0; i < Many; ++i) at[i] += begin[at[i] + half] <= message.of[i] ? half : 0;
      count -= half;
    }
    uint32_t common = 0;
    for (uint32_t i = 0; i < Many; ++i) common += begin[at[i]] == message.of[i] ? 1 : 0;
    return common;
  }
};

}  // namespace neighbours
