// SPDX-License-Identifier: Apache-2.0
/// A match engine of the engine `fast`, with its store and its packets to threads (docs/hardware/match.md).
//
// Results and their order are those of rtl/match/gs_match_slot.sv; lists are searched, not hashed, so the secret of the
// hash has no effect. Times are those of an idle engine: a packet takes its flits and the cycles of its request, an
// answer leaves when the previous one has left.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

namespace gossamer::fast {

/// Kinds of packets (match_packet in config/constants/match.toml).
namespace packet {
enum : uint32_t {
  kAnnounced = 0x20,
  kFound = 0x40,
  kPost = 0x80,
  kCancel,
  kProbe,
  kWatch,
  kClear,
  kCount,
  kMove,
  kTake,
  kAwait,
  kTaken,
  kNone = 0x90,
  kNews,
  kCancelled,
  kGone,
  kFullPosts,
  kFullMessages,
  kBad,
  kCleared,
  kCounted,
  kMoved,
  kLanded
};
}  // namespace packet

/// First flit of a packet (match_packet_head): words of 32 bits, the lowest first.
struct PacketHead {
  std::array<uint32_t, 4> word = {};

  uint32_t kind() const { return word[0] & 0xFF; }
  uint32_t credit() const { return word[0] >> 8 & 0xFF; }
  uint32_t source() const { return word[0] >> 16; }
  uint32_t tag() const { return word[1]; }
  uint32_t handle() const { return word[2] & 0xFFFF; }
  bool anyTag() const { return word[2] >> 30 & 1; }
  bool anySource() const { return word[2] >> 31; }
  uint32_t communicator() const { return word[3] >> 16; }
  void setKind(uint32_t kind) { word[0] = (word[0] & ~0xFFu) | kind; }
  void setHandle(uint32_t handle) { word[2] = (word[2] & ~0xFFFFu) | handle; }
};

class MatchEngine {
 public:
  struct Shape {
    uint32_t threads = 0, cam = 0, entries = 0, receives = 0, eager = 0, announced = 0, window = 0;
  };
  /// A packet that leaves.
  struct Packet {
    uint32_t thread = 0;
    std::vector<uint8_t> data;
  };

  /// Cycles from a packet's last flit to its result, and until the engine accepts the next packet.
  struct Cycles {
    uint32_t result, next;
  };

  explicit MatchEngine(const Shape& shape) : c_(shape), ranks_(shape.threads), answers_(shape.threads) {}

  /// The first step of a request: the thread acknowledges packets. Another one may leave before the request's answer.
  void acknowledge(uint32_t thread, const std::vector<uint8_t>& data) {
    PacketHead head;
    std::memcpy(head.word.data(), data.data(), sizeof head.word);
    Answers& its = answers_[thread];
    if (head.kind() >= packet::kFound) its.open -= std::min(its.open, head.credit());
    answering_ = its.answering;
  }
  /// Executes the request of a whole packet, or stores or forwards a message.
  Cycles receive(uint32_t thread, std::vector<uint8_t> data) {
    PacketHead head;
    std::memcpy(head.word.data(), data.data(), sizeof head.word);
    if (head.kind() == packet::kClear) {
      // The engine wipes its tables after the answer.
      const bool wipes = clear(thread);
      return {wipes ? c_.threads + kCamCycles : kCamCycles + 1, wipes ? 2 * c_.entries : kCamCycles + 1};
    }
    const uint32_t cycles = request(thread, head, std::move(data));
    return {cycles, cycles};
  }
  /// Whether packets wait that may leave.
  bool hasPacket() const { return pick() < c_.threads; }
  /// Packets that wait, those included that may not leave yet.
  bool busy() const {
    return std::any_of(answers_.begin(), answers_.end(), [](const Answers& its) { return its.any(); });
  }
  /// Takes the next packet that leaves; threads are served in turn.
  Packet next() {
    const uint32_t thread = pick();
    last_ = thread;
    Answers& its = answers_[thread];
    Packet found{thread, {}};
    if (its.cleared) {
      its.cleared = false;
      found.data = flitOf(packet::kCleared);
      return found;
    }
    ++its.open;
    if (its.answering) {
      its.answering = false;
      found.data = std::exchange(its.answer, {});
    } else if (its.full) {
      its.full = false;
      found.data = bytesOf(its.rejected);
    } else if (its.bad) {
      its.bad = false;
      found.data = flitOf(packet::kBad);
    } else if (its.news) {
      its.news = false;
      found.data = flitOf(packet::kNews);
    } else if (!its.messages.empty()) {
      Stored& first = its.messages.front();
      found.data = std::move(first.data);
      // Its slot is free once it has left.
      --(first.announced ? announced_ : eager_);
      its.messages.pop_front();
    } else {
      its.reached = false;
      found.data = bytesOf(its.awaited);
    }
    return found;
  }

 private:
  static constexpr uint32_t kCounters = 4;
  enum : uint32_t { kDelivered, kUnexpected, kWaited, kRejected };
  /// Cycles from a packet's last flit to its result: in the CAM, in lists, for an entry that a cancel tries.
  static constexpr uint32_t kTakenCycles = 2, kCamCycles = 4, kListCycles = 6, kCancelCycles = 7;

  struct Entry {
    uint32_t source, tag, communicator;
    bool anySource, anyTag;
    bool listed;      ///< beyond the CAM
    uint32_t id;      ///< number of the entry, the order of a cancel's search
    uint32_t handle;  ///< of a receive
    bool announced = false;
    std::vector<uint8_t> data;  ///< of a message
  };
  struct Rank {
    std::vector<Entry> posts, messages;  ///< the oldest first
    std::array<uint32_t, kCounters> counts = {};
    bool watches = false;
  };
  struct Stored {
    std::vector<uint8_t> data;
    bool announced;
  };
  /// Packets that wait for a thread.
  struct Answers {
    uint32_t open = 0;  ///< packets that it has not acknowledged
    bool answering = false, full = false, bad = false, news = false, cleared = false, reached = false, awaits = false;
    std::vector<uint8_t> answer;
    PacketHead plain;  ///< the answer to a probe whose message a clear has dropped
    PacketHead rejected, awaited;
    uint32_t left = 0;  ///< messages before the awaited count
    bool found = false;
    std::deque<Stored> messages;
    bool any() const { return answering || full || bad || news || cleared || reached || !messages.empty(); }
  };

  /// A request other than a clear, or a message. Returns the cycles that it takes after the packet's last flit.
  uint32_t request(uint32_t thread, PacketHead head, std::vector<uint8_t> data) {
    const uint32_t kind = head.kind();
    if (kind < packet::kFound) return message(thread, head, std::move(data));
    Answers& its = answers_[thread];
    const bool answered = kind == packet::kCancel || kind == packet::kProbe || kind == packet::kWatch ||
                          kind == packet::kTake || kind == packet::kCount || kind == packet::kAwait;
    if (kind == packet::kTaken) return kTakenCycles;
    if (answered && answering_) {
      its.bad = true;
      return kTakenCycles;
    }
    uint32_t cycles = kCamCycles + 1;
    switch (kind) {
      case packet::kPost: cycles += post(thread, head); break;
      case packet::kProbe:
      case packet::kWatch:
      case packet::kTake: cycles += probe(thread, head); break;
      case packet::kCancel: cycles = cancel(thread, head); break;
      case packet::kCount:
      case packet::kAwait: {
        const uint32_t counter = kind == packet::kAwait ? 0 : head.tag();
        if (counter >= kCounters) {
          head.setKind(packet::kBad);
          answer(thread, head);
          break;
        }
        head.setKind(packet::kCounted);
        const uint32_t count = ranks_[thread].counts[counter];
        if (kind == packet::kCount) {
          head.word[1] = count;
          answer(thread, head);
        } else {
          const auto ahead = static_cast<int32_t>(head.tag() - count);
          await(thread, head, ahead < 0 ? 0 : static_cast<uint32_t>(ahead));
        }
        break;
      }
      default: head.setKind(packet::kBad); answer(thread, head);
    }
    return cycles;
  }

  static std::vector<uint8_t> bytesOf(const PacketHead& head) {
    std::vector<uint8_t> data(sizeof head.word);
    std::memcpy(data.data(), head.word.data(), data.size());
    return data;
  }
  static std::vector<uint8_t> flitOf(uint32_t kind) {
    PacketHead head;
    head.setKind(kind);
    return bytesOf(head);
  }
  uint32_t pick() const {
    for (uint32_t i = 1; i <= c_.threads; ++i) {
      const uint32_t thread = (last_ + i) % c_.threads;
      const Answers& its = answers_[thread];
      if (its.cleared || (its.any() && its.open < c_.window)) return thread;
    }
    return c_.threads;
  }

  void answer(uint32_t thread, const PacketHead& head, bool found = false, std::vector<uint8_t> data = {}) {
    Answers& its = answers_[thread];
    if (its.answering) {
      its.bad = true;
      return;
    }
    its.answering = true;
    its.found = found;
    its.plain = head;
    its.answer = found ? std::move(data) : bytesOf(head);
  }
  void await(uint32_t thread, const PacketHead& head, uint32_t left) {
    Answers& its = answers_[thread];
    its.awaited = head;
    its.left = left;
    its.awaits = left != 0;
    its.reached = left == 0;
  }
  /// A message leaves for its thread.
  void send(uint32_t thread, std::vector<uint8_t> data, uint32_t handle, uint32_t added, bool announced) {
    PacketHead head;
    std::memcpy(head.word.data(), data.data(), sizeof head.word);
    head.setHandle(handle);
    head.word[0] |= added;
    std::memcpy(data.data(), head.word.data(), sizeof head.word);
    Answers& its = answers_[thread];
    its.messages.push_back({std::move(data), announced});
    if (its.awaits && !--its.left) {
      its.awaits = false;
      its.reached = true;
    }
  }

  static bool meets(const Entry& post, uint32_t communicator, uint32_t source, uint32_t tag) {
    return post.communicator == communicator && (post.anySource || post.source == source) &&
           (post.anyTag || post.tag == tag);
  }
  /// The first of the messages that a receive or probe matches.
  static std::vector<Entry>::iterator find(Rank& rank, const PacketHead& head) {
    const Entry wanted{head.source(), head.tag(), head.communicator(), head.anySource(), head.anyTag(), false, 0, 0,
                       false,         {}};
    return std::find_if(rank.messages.begin(), rank.messages.end(),
                        [&](const Entry& one) { return meets(wanted, one.communicator, one.source, one.tag); });
  }
  /// Cycles more than a match in the CAM: lists are used if they hold what is searched, or will hold the new entry.
  uint32_t lists(bool found, bool listed, uint32_t searched, bool stays, bool toCam) const {
    return found ? (listed ? kListCycles : 0) : searched || (stays && !toCam) ? kListCycles : 0;
  }
  Entry made(const PacketHead& head, bool toCam) {
    Entry its{head.source(), head.tag(), head.communicator(), head.anySource(), head.anyTag(), !toCam, 0, head.handle(),
              false,         {}};
    if (fresh_ < c_.entries) {
      its.id = fresh_++;
    } else {
      its.id = returned_.front();
      returned_.pop_front();
    }
    return its;
  }
  void gone(const Entry& entry, uint32_t& listed) {
    returned_.push_back(entry.id);
    --(entry.listed ? listed : cam_);
  }

  uint32_t message(uint32_t thread, PacketHead head, std::vector<uint8_t> data) {
    const bool announced = head.kind() & packet::kAnnounced;
    Answers& its = answers_[thread];
    const auto full = [&] {
      if (its.full) return;
      its.full = true;
      its.rejected = head;
      its.rejected.setKind(packet::kFullMessages);
    };
    if (announced ? announced_ + 2 >= c_.entries - c_.eager : eager_ >= c_.eager) {
      full();
      return kTakenCycles;
    }
    asked_ = true;
    Rank& rank = ranks_[thread];
    const auto found = std::find_if(rank.posts.begin(), rank.posts.end(), [&](const Entry& post) {
      return meets(post, head.communicator(), head.source(), head.tag());
    });
    if (found != rank.posts.end()) {
      const uint32_t more = lists(true, found->listed, 0, false, false), handle = found->handle;
      ++rank.counts[kDelivered];
      gone(*found, listedPosts_);
      --posts_;
      rank.posts.erase(found);
      ++(announced ? announced_ : eager_);
      send(thread, std::move(data), handle, 0, announced);
      return kCamCycles + more;
    }
    if (announced && waiting_ >= c_.announced) {
      ++rank.counts[kRejected];
      full();
      return kCamCycles + lists(false, false, listedPosts_, false, false);
    }
    const bool toCam = !listedMessages_ && cam_ < c_.cam;
    const uint32_t more = lists(false, false, listedPosts_, true, toCam);
    Entry stored = made(head, toCam);
    stored.announced = announced;
    stored.data = std::move(data);
    ++(toCam ? cam_ : listedMessages_);
    ++(announced ? announced_ : eager_);
    waiting_ += announced;
    ++rank.counts[kUnexpected];
    rank.messages.push_back(std::move(stored));
    if (rank.watches) {
      rank.watches = false;
      its.news = true;
    }
    return kCamCycles + more;
  }

  /// Removes a waiting message and sends it to its thread.
  void deliver(uint32_t thread, Rank& rank, std::vector<Entry>::iterator found, uint32_t handle, uint32_t added) {
    ++rank.counts[kDelivered];
    waiting_ -= found->announced;
    gone(*found, listedMessages_);
    send(thread, std::move(found->data), handle, added, found->announced);
    rank.messages.erase(found);
  }

  uint32_t post(uint32_t thread, PacketHead head) {
    asked_ = true;
    Rank& rank = ranks_[thread];
    const auto found = find(rank, head);
    if (found != rank.messages.end()) {
      const uint32_t more = lists(true, found->listed, 0, false, false);
      deliver(thread, rank, found, head.handle(), 0);
      return more;
    }
    if (posts_ >= c_.receives) {
      ++rank.counts[kRejected];
      head.setKind(packet::kFullPosts);
      answer(thread, head);
      return lists(false, false, listedMessages_, false, false);
    }
    const bool toCam = !listedPosts_ && cam_ < c_.cam;
    const uint32_t more = lists(false, false, listedMessages_, true, toCam);
    ++(toCam ? cam_ : listedPosts_);
    ++rank.counts[kWaited];
    ++posts_;
    rank.posts.push_back(made(head, toCam));
    return more;
  }

  uint32_t probe(uint32_t thread, PacketHead head) {
    asked_ = true;
    Rank& rank = ranks_[thread];
    const uint32_t kind = head.kind();
    const auto found = find(rank, head);
    if (found == rank.messages.end()) {
      rank.watches = rank.watches || kind == packet::kWatch;
      head.setKind(packet::kNone);
      answer(thread, head);
      return lists(false, false, listedMessages_, false, false);
    }
    const uint32_t more = lists(true, found->listed, 0, false, false);
    if (kind == packet::kTake) {
      deliver(thread, rank, found, head.handle(), packet::kFound);
      return more;
    }
    std::vector<uint8_t> data = found->data;
    PacketHead first;
    std::memcpy(first.word.data(), data.data(), sizeof first.word);
    first.setHandle(head.handle());
    first.word[0] |= packet::kFound;
    std::memcpy(data.data(), first.word.data(), sizeof first.word);
    head.setKind(packet::kNone);
    answer(thread, head, true, std::move(data));
    return more;
  }

  uint32_t cancel(uint32_t thread, PacketHead head) {
    asked_ = true;
    Rank& rank = ranks_[thread];
    const auto found = std::find_if(rank.posts.begin(), rank.posts.end(),
                                    [&](const Entry& post) { return post.handle == head.handle(); });
    if (found == rank.posts.end()) {
      head.setKind(packet::kGone);
      answer(thread, head);
      return c_.entries * kCancelCycles;
    }
    const uint32_t tried = found->id + 1;
    gone(*found, listedPosts_);
    --posts_;
    rank.posts.erase(found);
    head.setKind(packet::kCancelled);
    answer(thread, head);
    return tried * kCancelCycles;
  }

  /// Returns whether the engine has had a request since the last clear.
  bool clear(uint32_t thread) {
    for (Rank& rank : ranks_) rank = Rank();
    for (Answers& its : answers_) {
      its.messages.clear();
      its.news = its.awaits = its.reached = false;
      its.open = 0;
      if (its.answering && its.found) its.answer = bytesOf(its.plain);
      its.found = false;
    }
    answers_[thread].cleared = true;
    posts_ = eager_ = announced_ = waiting_ = cam_ = listedPosts_ = listedMessages_ = fresh_ = 0;
    returned_.clear();
    return std::exchange(asked_, false);
  }

  Shape c_;
  std::vector<Rank> ranks_;
  std::vector<Answers> answers_;
  std::deque<uint32_t> returned_;                   ///< numbers of entries that are free again
  uint32_t fresh_ = 0;                              ///< numbers that were used so far
  uint32_t posts_ = 0, eager_ = 0, announced_ = 0;  ///< waiting receives; slots of the store with and without credit
  uint32_t waiting_ = 0;                            ///< messages without credit
  uint32_t cam_ = 0, listedPosts_ = 0, listedMessages_ = 0;
  uint32_t last_ = 0;
  bool answering_ = false;  ///< an answer to the thread of the present request had not left when it arrived
  bool asked_ = false;      ///< a request since the last clear
};

}  // namespace gossamer::fast
