// SPDX-License-Identifier: Apache-2.0
#include "models/match/reference.h"

#include <algorithm>

namespace gossamer::match {

namespace {

bool matches(const Command& receive, const Command& message) {
  return receive.rank == message.rank && receive.communicator == message.communicator &&
         (receive.any_source || receive.source == message.source) && (receive.any_tag || receive.tag == message.tag);
}

}  // namespace

Completion Reference::apply(const Command& command, bool reject) {
  reject = reject || command.now;
  Completion done{command.op,     Status::kNone, command.rendezvous, command.length,
                  command.source, command.tag,   command.handle,     0};
  const auto count_one = [&](Counter counter) { ++counts_[command.rank][static_cast<unsigned>(counter)]; };
  const auto insert = [&](std::list<Command>& queue) {
    done.status = reject ? Status::kFull : Status::kWaiting;
    if (!reject) queue.push_back(command);
    count_one(reject ? Counter::kRejected : command.op == Op::kArrive ? Counter::kUnexpected : Counter::kWaited);
  };
  if (command.rank >= ranks_ || command.op > Op::kCts || (command.op == Op::kCount && command.tag >= kCounters) ||
      (command.op == Op::kArrive && (command.any_source || command.any_tag))) {
    done.status = Status::kBad;
    return done;
  }
  switch (command.op) {
    case Op::kArrive: {
      const auto receive = std::find_if(posts_.begin(), posts_.end(), [&](auto& p) { return matches(p, command); });
      if (receive == posts_.end()) {
        insert(messages_);
        break;
      }
      done.status = Status::kMatched;
      done.partner = receive->handle;
      posts_.erase(receive);
      count_one(Counter::kDelivered);
      break;
    }
    case Op::kPost:
    case Op::kProbe:
    case Op::kTake: {
      const auto message =
          std::find_if(messages_.begin(), messages_.end(), [&](auto& m) { return matches(command, m); });
      if (message == messages_.end()) {
        if (command.op == Op::kPost) insert(posts_);
        break;
      }
      done.status = Status::kMatched;
      done.rendezvous = message->rendezvous;
      done.length = message->length;
      done.source = message->source;
      done.tag = message->tag;
      done.partner = message->handle;
      if (command.op == Op::kProbe) break;
      messages_.erase(message);
      count_one(Counter::kDelivered);
      break;
    }
    case Op::kCancel: {
      const auto receive =
          std::find_if(posts_.begin(), posts_.end(), [&](auto& p) { return p.handle == command.handle; });
      if (receive == posts_.end()) break;
      done.status = Status::kMatched;
      posts_.erase(receive);
      break;
    }
    case Op::kCount:
      done.status = Status::kMatched;
      done.partner = count(command.rank, static_cast<Counter>(command.tag));
      break;
    case Op::kCts:  // affects all ranks
      posts_.clear();
      messages_.clear();
      counts_.clear();
      done.status = Status::kMatched;
      break;
  }
  return done;
}

}  // namespace gossamer::match
