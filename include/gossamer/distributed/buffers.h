// SPDX-License-Identifier: Apache-2.0
/// Buffers of messages between ranks: sections, each a header and padded data. Part of distributed/engine.h, which has
/// the class and its data.
#pragma once

#include "gossamer/distributed/engine.h"

namespace gossamer::distributed {

/// How a section of a buffer names the senders of its messages: by positions in the list of vertices whose messages the
/// receiver needs on the section's pin.
enum class Form : uint32_t {
  all,     // every vertex of the list, in order
  bitmap,  // a bitmap of the list, and the messages in order
  list,    // positions, and the messages; a vertex at most once
  events,  // as `list`, but a vertex may occur several times
  single,  // messages along one edge: receiver, edge value, message
};

struct Section {
  Form form;
  uint32_t pin;
  uint64_t count;  // of messages
};

constexpr uint64_t padded(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }

/// Appends to the end of a buffer, and returns where.
inline uint8_t* extend(Bytes& buffer, uint64_t bytes) {
  const size_t at = buffer.size();
  buffer.resize(at + padded(bytes));
  return buffer.data() + at;
}

inline void addSection(Bytes& buffer, Form form, unsigned pin, uint64_t count) {
  const Section section{form, pin, count};
  __builtin_memcpy(extend(buffer, sizeof section), &section, sizeof section);
}

/// Waits until the last buffer for a rank has left, which it usually has long ago.
template <typename V>
void Run<V>::awaitBuffer(unsigned rank) {
  waitFor([&] { return requests_[rank] == noRequest || ranks_.table().sent(requests_[rank]); });
  requests_[rank] = noRequest;
  send_[rank].clear();
}

/// Appends the messages in flight that are not along one edge.
template <typename V>
void Run<V>::packMessages(unsigned rank, Bytes& buffer) {
  if (!in_flight_) return;
  for (unsigned pin = 0; pin < net_.pins(); ++pin) {
    const std::vector<uint32_t>& list = net_.pairs(pin).give[rank];
    const Bitmap& sent = sent_[pin];
    uint64_t count = 0;
    for (const uint32_t v : list) count += sent.test(v) ? 1 : 0;
    if (!count) continue;
    sent_messages_ += count;
    const uint64_t bits = (list.size() + 63) / 64 * 8;
    const Form form = count == list.size() ? Form::all : bits < 4 * count ? Form::bitmap : Form::list;
    addSection(buffer, form, pin, count);
    if (form == Form::bitmap) {
      auto* const at = reinterpret_cast<uint64_t*>(extend(buffer, bits));
      for (size_t i = 0; i < list.size(); ++i) at[i / 64] |= uint64_t{sent.test(list[i])} << i % 64;
    } else if (form == Form::list) {
      auto* at = reinterpret_cast<uint32_t*>(extend(buffer, 4 * count));
      for (uint32_t i = 0; i < list.size(); ++i) {
        if (sent.test(list[i])) *at++ = i;
      }
    }
    if constexpr (messageBytes > 0) {
      auto* at = reinterpret_cast<M*>(extend(buffer, messageBytes * count));
      for (const uint32_t v : list) {
        if (form == Form::all || sent.test(v)) *at++ = message_[v];
      }
    }
  }
}

/// Moves the messages of few senders to the end of the buffer.
template <typename V>
void Run<V>::packEvents(unsigned rank, Bytes& buffer) {
  for (unsigned pin = 0; pin < events_.size(); ++pin) {
    auto& positions = event_at_[pin][rank];
    if (positions.empty()) continue;
    addSection(buffer, Form::events, pin, positions.size());
    sent_messages_ += positions.size();
    __builtin_memcpy(extend(buffer, 4 * positions.size()), positions.data(), 4 * positions.size());
    if constexpr (messageBytes > 0) {
      auto& messages = events_[pin][rank];
      __builtin_memcpy(extend(buffer, messageBytes * messages.size()), static_cast<const void*>(messages.data()),
                       messageBytes * messages.size());
    }
    positions.clear();
    events_[pin][rank].clear();
  }
}

/// Sorts messages along one edge by rank; delivers those within this rank.
template <typename V>
void Run<V>::sortSingles() {
  if constexpr (readsEdges) {
    Local& mine = locals_[0];
    for (Local& local : locals_) {
      for (const Single& one : local.singles) {
        if (one.rank != ranks_.rank()) {
          singles_[one.rank].push_back(one);
          continue;
        }
        mine.at.handler = Handler::recv;
        receive<true>(one.to, one.message, const_cast<E*>(one.value), mine);
        ++mine.deliveries;
      }
      local.singles.clear();
    }
  }
}

/// Moves the messages along one edge to the end of the buffer.
template <typename V>
void Run<V>::packSingles(unsigned rank, Bytes& buffer) {
  if constexpr (readsEdges) {
    std::vector<Single>& singles = singles_[rank];
    if (singles.empty()) return;
    constexpr uint64_t record = 4 + edgeBytes + messageBytes;
    addSection(buffer, Form::single, 0, singles.size());
    uint8_t* at = extend(buffer, record * singles.size());
    for (const Single& one : singles) {
      __builtin_memcpy(at, &one.to, 4);
      __builtin_memcpy(at + 4, static_cast<const void*>(one.value), edgeBytes);
      __builtin_memcpy(at + 4 + edgeBytes, static_cast<const void*>(&one.message), messageBytes);
      at += record;
    }
    sent_messages_ += singles.size();
    singles.clear();
  }
}

template <typename V>
void Run<V>::startSend(unsigned rank) {
  bytes_ += send_[rank].size();
  if (timeline_) timeline_->moved(GS_TIMELINE_SEND, rank, send_[rank].size());
  requests_[rank] = ranks_.table().send(static_cast<int>(rank), kRound, send_[rank].data(), send_[rank].size());
}

/// Receives one buffer of each rank that sends to this one, in the order in which they arrive.
template <typename V>
void Run<V>::receiveAll() {
  std::vector<uint32_t> pending = senders_;
  while (!pending.empty()) {
    waitFor([&] {
      for (uint32_t& rank : pending) {
        uint64_t size = 0;
        if (!ranks_.table().probe(static_cast<int>(rank), kRound, &size)) continue;
        arrived_[rank].resize(size);
        ranks_.table().receive(arrived_[rank].data(), size);
        std::swap(rank, pending.back());
        return true;
      }
      return false;
    });
    unpack<false>(pending.back());
    pending.pop_back();
  }
}

/// Stores the messages of a buffer for delivery, or delivers them. Async: delivers all, and lists the vertices that
/// become ready; returns false if some may not be listed.
template <typename V>
template <bool Async>
bool Run<V>::unpack(unsigned rank) {
  bool listed = true;
  const Bytes& buffer = arrived_[rank];
  if (timeline_) timeline_->moved(GS_TIMELINE_RECEIVE, rank, buffer.size());
  const uint8_t* at = buffer.data();
  const uint8_t* const end = at + buffer.size();
  Local& local = locals_[0];
  while (at < end) {
    Section section;
    __builtin_memcpy(&section, at, sizeof section);
    at += sizeof section;
    if (section.form == Form::single) {
      if constexpr (readsEdges) {
        constexpr uint64_t record = 4 + edgeBytes + messageBytes;
        const uint8_t* one = at;
        at += padded(record * section.count);
        local.at.handler = Handler::recv;
        for (uint64_t i = 0; i < section.count; ++i, one += record) {
          uint32_t to = 0;
          E value{};
          M message{};
          __builtin_memcpy(&to, one, 4);
          if constexpr (edgeBytes > 0) __builtin_memcpy(&value, one + 4, edgeBytes);
          if constexpr (messageBytes > 0) __builtin_memcpy(&message, one + 4 + edgeBytes, messageBytes);
          receive<Async>(to, message, &value, local);
        }
        local.deliveries += section.count;
      }
      continue;
    }
    const std::vector<uint32_t>& ghosts = net_.pairs(section.pin).take[rank];
    const uint8_t* const names = at;
    if (section.form == Form::bitmap) at += (ghosts.size() + 63) / 64 * 8;
    if (section.form == Form::list || section.form == Form::events) at += padded(4 * section.count);
    const uint8_t* messages = at;
    at += padded(messageBytes * section.count);
    const auto next = [&] {
      M message{};
      if constexpr (messageBytes > 0) __builtin_memcpy(static_cast<void*>(&message), messages, messageBytes);
      messages += messageBytes;
      return message;
    };
    if (section.form == Form::events) {
      net_.requirePush(pool_);
      const auto* positions = reinterpret_cast<const uint32_t*>(names);
      for (uint64_t i = 0; i < section.count; ++i) {
        deliverTo<Async>(ghosts[positions[i]], section.pin, next(), local);
      }
      continue;
    }
    if (sent_.empty()) {
      message_ = Array<M>(net_.all());
      for (unsigned p = 0; p < net_.pins(); ++p) sent_.emplace_back(net_.all());
    }
    const auto store = [&](uint32_t ghost) {
      message_[ghost] = next();
      sent_[section.pin].set(ghost);
    };
    if (section.form == Form::all) {
      for (const uint32_t ghost : ghosts) store(ghost);
    } else if (section.form == Form::bitmap) {
      const auto* bits = reinterpret_cast<const uint64_t*>(names);
      for (size_t i = 0; i < ghosts.size(); ++i) {
        if (bits[i / 64] >> i % 64 & 1) store(ghosts[i]);
      }
    } else {
      const auto* positions = reinterpret_cast<const uint32_t*>(names);
      for (uint64_t i = 0; i < section.count; ++i) store(ghosts[positions[i]]);
    }
    ghosts_sent_ += section.count;
    if constexpr (Async) {
      deliverGhosts();
      listed = false;
    }
  }
  return listed;
}

}  // namespace gossamer::distributed
