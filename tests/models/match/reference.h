// SPDX-License-Identifier: Apache-2.0
/// Reference model of match engines: MPI's matching as in the standard, with one plain list per queue.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>

namespace gossamer::match {

enum class Op : uint8_t { kPost, kArrive, kCancel, kProbe, kTake, kCount, kCts };
enum class Status : uint8_t { kMatched, kWaiting, kNone, kFull, kBad };
/// Counters of each rank; the tag of kCount selects one.
enum class Counter : uint8_t { kDelivered, kUnexpected, kWaited, kRejected };
constexpr unsigned kCounters = 4;

/// A request; the fields of `match_command` (config/constants/match.toml).
struct Command {
  Op op = Op::kPost;
  bool any_source = false, any_tag = false, rendezvous = false;
  /// Rejected as full, instead of waiting, if there is no match.
  bool now = false;
  uint16_t rank = 0;
  uint8_t length = 0;
  uint16_t communicator = 0, source = 0;
  uint32_t tag = 0, handle = 0;
};

/// An answer; the fields of `match_completion`, except the entry of a waiting post.
struct Completion {
  Op op = Op::kPost;
  Status status = Status::kNone;
  bool rendezvous = false;
  uint8_t length = 0;
  uint16_t source = 0;
  uint32_t tag = 0, handle = 0, partner = 0;
  bool operator==(const Completion&) const = default;
};

class Reference {
 public:
  explicit Reference(unsigned ranks = 1024) : ranks_(ranks) {}
  /// Executes one request. With `reject` a request without a match is answered with kFull, as with `now`. A cancel
  /// identifies its post by the handle alone; handles of waiting posts are unique.
  Completion apply(const Command& command, bool reject = false);
  uint32_t count(uint16_t rank, Counter counter) const {
    const auto found = counts_.find(rank);
    return found == counts_.end() ? 0 : found->second[static_cast<unsigned>(counter)];
  }
  const std::list<Command>& posts() const { return posts_; }
  const std::list<Command>& messages() const { return messages_; }

 private:
  unsigned ranks_;
  std::list<Command> posts_, messages_;
  std::map<uint16_t, std::array<uint32_t, kCounters>> counts_;  // by rank
};

}  // namespace gossamer::match
