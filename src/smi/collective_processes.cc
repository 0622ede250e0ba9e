// SPDX-License-Identifier: Apache-2.0
/// Collectives whose ranks are in several processes: the records that these exchange.
#include <algorithm>

#include "collective.h"

namespace gossamer::smi {

namespace {

std::vector<Collective*> shared;

Writer recordFor(const Collective& c, int to, Record record) {
  Writer out = newRecord(to, record);
  out << c.context->name << c.port << c.number;
  return out;
}

int home(const Collective& c, int rank) { return homeOf(c.world(rank)); }

/// Sender and receiver of a lane that has one end at the root.
int senderOf(const Collective& c, int lane) { return c.signature.kind == Kind::scatter ? c.signature.root : lane; }
int receiverOf(const Collective& c, int lane) { return c.signature.kind == Kind::scatter ? lane : c.signature.root; }

void sendElements(Collective& c, int lane, const std::vector<int>& to) {
  Member& one = c.member(lane);
  while (one.sentElements != one.ring.tail) {
    const std::uint64_t end = std::min(one.ring.tail, one.sentElements + mostElements);
    for (const int other : to) {
      (recordFor(c, other, Record::collectiveElements) << lane).elements(one.ring, one.sentElements, end);
    }
    one.sentElements = end;
  }
}

void sendBroadcastUpdates(Collective& c, int rank) {
  Member& one = c.member(rank);
  const bool gather = c.signature.kind == Kind::allgather;
  if (gather || rank == c.signature.root) sendElements(c, rank, c.context->others);
  if (one.done == one.reportedDone) return;
  one.reportedDone = one.done;
  const int root = home(c, c.signature.root);
  for (const int other : c.context->others) {
    if (gather || other == root) recordFor(c, other, Record::collectiveDone) << rank << one.done;
  }
}

void sendLaneUpdates(Collective& c, int lane) {
  const int from = home(c, senderOf(c, lane)), to = home(c, receiverOf(c, lane));
  Member& one = c.member(lane);
  if (from == to) return;
  if (from == process) sendElements(c, lane, {to});
  if (to == process && one.reportedTaken != one.ring.head) {
    one.reportedTaken = one.ring.head;
    recordFor(c, from, Record::collectiveTaken) << lane << one.reportedTaken;
  }
}

/// Elements of an owner that all ranks of this process have received.
std::uint64_t slowestHere(const Collective& c, int owner) {
  const std::uint64_t first = c.first(owner);
  std::uint64_t least = ~0ull;
  for (const Member& one : c.members) {
    if (one.here) least = std::min(least, std::max(one.done, first) - first);
  }
  return least;
}

void applyElements(Collective& c, int lane, const std::vector<std::uint64_t>& values) {
  Member& one = c.member(lane);
  if (c.combinesAll()) {
    for (const std::uint64_t value : values) addToLane(c, one, value);
    return;
  }
  if (c.deliversToAll()) one.ring.head = std::min(std::max(one.ring.head, slowestHere(c, lane)), one.ring.tail);
  one.ring.grow(one.ring.size() + values.size());
  for (const std::uint64_t value : values) one.ring.put(value);
  if (c.deliversToAll()) {
    for (Member& reader : c.members) wakeMember(reader);
  } else {
    wakeMember(c.member(receiverOf(c, lane)));
  }
}

}  // namespace

void shareCollective(Collective& c) { shared.push_back(&c); }

void sendOpened(const Collective& c, int rank, int degree) {
  const Signature& signature = c.signature;
  for (const int other : c.context->others) {
    (recordFor(c, other, Record::collectiveOpened) << rank << signature << degree).site(c.member(rank).site);
  }
}

void sendArrived(const Collective& c, int rank, std::uint64_t value) {
  for (const int other : c.context->others) {
    recordFor(c, other, Record::collectiveElements) << rank << std::uint32_t{1} << value;
  }
}

void sendCollectiveUpdates() {
  for (Collective*& one : shared) {
    Collective& c = *one;
    for (int rank = 0; rank < c.size() && !c.combinesAll(); ++rank) {
      if (!c.deliversToAll())
        sendLaneUpdates(c, rank);
      else if (c.member(rank).here)
        sendBroadcastUpdates(c, rank);
    }
    // All ranks of this process are done, and the signatures of all ranks have been compared.
    if (c.finished < c.context->here || c.opened < c.size()) continue;
    c.context->ports[c.port].live.erase(c.number);
    delete one;
    one = nullptr;
  }
  std::erase(shared, nullptr);
}

bool applyCollectiveRecord(Record record, Reader& in) {
  const auto name = in.get<std::uint64_t>();
  const int port = in.get<int>();
  const auto number = in.get<std::uint64_t>();
  const int rank = in.get<int>();
  Context* context = Context::named(name);
  if (record == Record::collectiveOpened) {
    const auto signature = in.get<Signature>();
    const int degree = in.get<int>();
    const CallSite site = in.site();
    if (context) joinCollective(*context, port, number, rank, signature, degree, site);
    return context;
  }
  const std::vector<std::uint64_t> values =
      record == Record::collectiveElements ? in.elements() : std::vector{in.get<std::uint64_t>()};
  if (!context) return false;
  const auto& live = context->ports[port].live;
  const auto found = live.find(number);
  // all its ranks in this process are done
  if (found == live.end()) return true;
  Collective& c = *found->second;
  if (record == Record::collectiveElements) {
    applyElements(c, rank, values);
  } else if (record == Record::collectiveTaken) {
    c.member(rank).ring.head = values[0];
    wakeMember(c.member(senderOf(c, rank)));
  } else {
    c.member(rank).done = values[0];
    for (Member& one : c.members) {
      if (one.needs) wakeMember(one);
    }
  }
  return true;
}

}  // namespace gossamer::smi
