// SPDX-License-Identifier: Apache-2.0
/// Vertices that send each neighbour the list of all their neighbours, and count the common ones.
///
/// A list is split into messages of as many neighbours as fit, each sent along every edge. The last
/// message is padded with an index that no vertex has.
///
/// Method: each own neighbour is compared with a whole message at once, in two vectors. Merging two
/// lists needs a dependent load and comparison per element. Where the message
/// spans a long part of the own list, each of its neighbours is searched for instead, in parallel.
#pragma once

#include <gossamer/polite.h>

namespace neighbours {

inline constexpr uint32_t PerMessage = 14;
inline constexpr uint32_t NoVertex = 0xffffffff;
/// Number of own neighbours from which searches are faster than comparisons.
inline constexpr ptrdiff_t SearchFrom = 160;

struct State {
  uint64_t common;  // common neighbours, summed over all neighbours
  uint32_t sent;    // number of its neighbours that it has sent
  uint32_t degree;
};

struct Message {
  uint32_t of[PerMessage];  // ascending
  uint32_t last;            // the last of them
};

struct Totals {
  gossamer::Sum<uint64_t> common;
};

struct Vertex : gossamer::PVertex<State, gossamer::None, Message, gossamer::None, Totals> {
  gossamer::Edges<> edges;

  /// A vertex with a single neighbour has no other vertex to report to it.
  void init() { *readyToSend = edges.count() > 1 ? gossamer::Pin(0) : gossamer::No; }

  void send(Message* message) {
    const uint32_t* const from = edges.targets() + s->sent;
    const uint32_t left = edges.count() - s->sent;
    for (uint32_t i = 0; i < PerMessage; ++i) message->of[i] = i < left ? from[i] : NoVertex;
    const uint32_t now = left < PerMessage ? left : PerMessage;
    message->last = from[now - 1];
    s->sent += now;
    if (s->sent == edges.count()) *readyToSend = gossamer::No;
  }

  void recv(const Message* message, const gossamer::None*) {
    const uint32_t* const all = edges.targets();
    const uint32_t* const end = all + edges.count();
    const uint32_t* own = from(all, end, message->of[0]);
    if (end - own > SearchFrom) {
      const uint32_t* const after = from(own, end, message->last + 1);
      if (after - own > SearchFrom) {
        s->common += searched(*message, own, after);
        return;
      }
    }
    using Lanes [[gnu::vector_size(32), gnu::may_alias]] = uint32_t;
    Lanes low, high{};
    __builtin_memcpy(&low, message->of, sizeof low);
    __builtin_memcpy(&high, message->of + 8, sizeof(uint32_t) * (PerMessage - 8));
    high[6] = high[7] = NoVertex;
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
  /// The first element that is at least `least`; a branch-free search.
  static const uint32_t* from(const uint32_t* at, const uint32_t* end, uint32_t least) {
    for (auto count = static_cast<uint32_t>(end - at); count > 0;) {
      const uint32_t half = (count + 1) / 2;
      at += at[half - 1] < least ? half : 0;
      count -= half;
    }
    return at;
  }

  /// Binary searches for all elements of a message in own neighbours begin .. end, in lockstep.
  static uint32_t searched(const Message& message, const uint32_t* begin, const uint32_t* end) {
    uint32_t at[PerMessage] = {};
    auto count = static_cast<uint32_t>(end - begin);
    for (; count > 1;) {
      const uint32_t half = count / 2;
      for (uint32_t i = 0; i < PerMessage; ++i) at[i] += begin[at[i] + half] <= message.of[i] ? half : 0;
      count -= half;
    }
    uint32_t common = 0;
    for (uint32_t i = 0; i < PerMessage; ++i) common += begin[at[i]] == message.of[i] ? 1 : 0;
    return common;
  }
};

}  // namespace neighbours
