// SPDX-License-Identifier: Apache-2.0
/// Delivery of messages without rounds. Part of distributed/engine.h, which has the class and its data.
///
/// A rank lets its ready vertices send, some at a time, and between them receives the buffers that have arrived.
/// Messages for another rank are kept until that rank has received the last buffer; so a slow rank gets few large
/// buffers, and does not delay the others.
///
/// Termination: each rank counts the buffers that it has sent and received since the start of the run. A wave is a
/// non-blocking reduction of both counts. A rank contributes when it is idle: no vertex ready, no message kept; after
/// that it continues to receive. The network is idle if the number sent in a wave equals the number received in the
/// wave before (of the last step, for the first wave of a step; 0 for the first of all).
///
/// Proof. Wave k - 1 has completed on some rank at time T, before any rank contributes to wave k. Counts only grow, so
/// received(k - 1) <= received at T <= sent at T <= sent(k). If the ends are equal, no buffer is in flight at T, and no
/// rank sends between T and its contribution to wave k. A rank is idle at its contribution, and sends again only if it
/// receives a buffer that was sent after T. There is no first such buffer, so there is none. This holds for the first
/// wave of a step as well, where T is the end of the last step.
#pragma once

#include "gossamer/distributed/engine.h"

namespace gossamer::distributed {

template <typename V>
void Run<V>::deliverAsynchronously() {
  ++epoch_;
  bool waits = false;
  Clock::time_point since;
  if (std::exchange(produced_, false)) {
    takeMessages();
    deliverMany();
  }
  bool enlisted = false;
  bool wave = false;  // in progress; poll() may have been called elsewhere since it completed
  for (;;) {
    bool worked = receiveArrived(enlisted);
    if (!enlisted) {
      enlist();
      enlisted = true;
    }
    if (const uint64_t listed = hasPriority ? queue_.size() : list_.size() - list_at_; listed) {
      worked = true;
      if (areFew(listed) || areFew(countReady())) {
        ++small_rounds_;
        runListed(quantum);
      } else {
        produce();
        deliverMany();
        enlisted = false;
      }
    }
    const bool kept = sendKept();
    if (wave) {
      if (poll()) {
        wave = false;
        const auto sent = static_cast<uint64_t>(reduction_[0].word);
        const uint64_t received = std::exchange(received_before_, static_cast<uint64_t>(reduction_[1].word));
        finishReduction();
        if (sent == received) break;
      }
    } else if (!worked && !kept) {
      startReduction({Reduce::sum, sent_buffers_}, {Reduce::sum, received_buffers_});
      wave = true;
    }
    if (worked) {
      if (std::exchange(waits, false)) endWait(since);
      continue;
    }
    if (!std::exchange(waits, true)) since = Clock::now();
    ranks_.pause(since);
  }
  if (waits) endWait(since);
  list_.clear();
  list_at_ = 0;
}

/// Delivers messages that many vertices have just sent: on this rank, and into the buffers for others.
template <typename V>
void Run<V>::deliverMany() {
  sortSingles();
  for (const unsigned rank : receivers_) packMessages(rank, kept_[rank]);
  sendKept();
  if (in_flight_) {
    ++rounds_;
    all_sent_ = in_flight_ == own_ && net_.pins() == 1;
    const bool pulls = pullsMessages();
    ++(pulls ? pull_rounds_ : push_rounds_);
    proveFromMessages();
    if (pulls) {
      pull(false);
      pull(true);
    } else {
      push(0, own_);
    }
    forgetMessages();
  }
}

/// Receives at most one buffer of each rank. If vertices are enlisted, those that become ready are, too, unless many
/// messages have arrived: then `enlisted` becomes false.
template <typename V>
bool Run<V>::receiveArrived(bool& enlisted) {
  bool any = false;
  for (const uint32_t rank : senders_) {
    uint64_t size = 0;
    if (!ranks_.table().probe(static_cast<int>(rank), asyncTag(), &size)) continue;
    arrived_[rank].resize(size);
    ranks_.table().receive(arrived_[rank].data(), size);
    ++received_buffers_;
    any = true;
    if (!unpack<true>(rank)) enlisted = false;
  }
  return any;
}

/// Delivers the messages of ghosts that one section of a buffer has stored.
template <typename V>
void Run<V>::deliverGhosts() {
  if (!ghosts_sent_) return;
  if (mayPull && ghosts_sent_ * 3 >= net_.ghosts()) {
    pull(true);
  } else {
    push(own_, net_.all());
  }
  forgetMessages();
}

template <typename V>
void Run<V>::forgetMessages() {
  for (Bitmap& bits : sent_) {
    for (size_t w = 0; w < bits.words(); ++w) bits.word(w) = 0;
  }
  in_flight_ = ghosts_sent_ = 0;
}

/// Starts to send kept messages to ranks that have received the last buffer. Returns whether others are still kept.
template <typename V>
bool Run<V>::sendKept() {
  sortSingles();
  bool kept = false;
  bool sends = false;
  for (const unsigned rank : receivers_) {
    bool some = !kept_[rank].empty() || !singles_[rank].empty();
    for (size_t pin = 0; pin < events_.size() && !some; ++pin) some = !event_at_[pin][rank].empty();
    if (!some) continue;
    if (requests_[rank] != noRequest && !ranks_.table().sent(requests_[rank])) {
      kept = true;
      continue;
    }
    send_[rank].clear();
    std::swap(send_[rank], kept_[rank]);
    packEvents(rank, send_[rank]);
    packSingles(rank, send_[rank]);
    bytes_ += send_[rank].size();
    if (timeline_) timeline_->moved(GS_TIMELINE_SEND, rank, send_[rank].size());
    requests_[rank] =
        ranks_.table().send_matched(static_cast<int>(rank), asyncTag(), send_[rank].data(), send_[rank].size());
    ++sent_buffers_;
    sends = true;
  }
  if (sends && !in_flight_) ++rounds_;
  return kept;
}

/// Lets the first message that is delivered on this rank try to prove that recv never wakes.
template <typename V>
void Run<V>::proveFromMessages() {
  if (tried_proof_) return;
  const Incoming<E>& r = net_.relations()[0];
  const size_t some = std::min<size_t>(own_, 4096);
  for (size_t v = 0; v < some; ++v) {
    for (uint64_t i = r.in.offsets[v]; i < r.in.ends[v]; ++i) {
      if (sent_[r.pin].test(r.in.targets[i])) {
        return tryProof(static_cast<uint32_t>(v), message_[r.in.targets[i]], edge(r.in, i));
      }
    }
  }
}

}  // namespace gossamer::distributed
