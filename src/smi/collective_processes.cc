// SPDX-License-Identifier: Apache-2.0
/// Collectives whose ranks are in several processes: what each tells the others.
#include <algorithm>

#include "collective.h"

namespace gossamer::smi {

namespace {

std::vector<Collective*> shared;

Writer tellOf(const Collective& c, int to, Record record) {
  Writer out = tell(to, record);
  out << c.context->name << c.port << c.number;
  return out;
}

int home(const Collective& c, int rank) { return homeOf(c.world(rank)); }

/// Who gives and who takes what is in a lane that has an end at the root.
int giver(const Collective& c, int lane) { return c.asked.kind == Kind::scatter ? c.asked.root : lane; }
int taker(const Collective& c, int lane) { return c.asked.kind == Kind::scatter ? lane : c.asked.root; }

void shipElements(Collective& c, int lane, const std::vector<int>& to) {
  Member& one = c.member(lane);
  while (one.toldElements != one.ring.tail) {
    const std::uint64_t end = std::min(one.ring.tail, one.toldElements + mostElements);
    for (const int other : to) {
      (tellOf(c, other, Record::collectiveElements) << lane).elements(one.ring, one.toldElements, end);
    }
    one.toldElements = end;
  }
}

void shipToAll(Collective& c, int rank) {
  Member& one = c.member(rank);
  const bool gather = c.asked.kind == Kind::allgather;
  if (gather || rank == c.asked.root) shipElements(c, rank, c.context->others);
  if (one.done == one.toldDone) return;
  one.toldDone = one.done;
  const int root = home(c, c.asked.root);
  for (const int other : c.context->others) {
    if (gather || other == root) tellOf(c, other, Record::collectiveDone) << rank << one.done;
  }
}

void shipLane(Collective& c, int lane) {
  const int from = home(c, giver(c, lane)), to = home(c, taker(c, lane));
  Member& one = c.member(lane);
  if (from == to) return;
  if (from == process) shipElements(c, lane, {to});
  if (to == process && one.toldTaken != one.ring.head) {
    one.toldTaken = one.ring.head;
    tellOf(c, from, Record::collectiveTaken) << lane << one.toldTaken;
  }
}

/// The least that ranks of this process have of what an owner gives to all.
std::uint64_t slowestHere(const Collective& c, int owner) {
  const std::uint64_t first = c.first(owner);
  std::uint64_t least = ~0ull;
  for (const Member& one : c.members) {
    if (one.here) least = std::min(least, std::max(one.done, first) - first);
  }
  return least;
}

void takeElements(Collective& c, int lane, const std::vector<std::uint64_t>& values) {
  Member& one = c.member(lane);
  if (c.together()) {
    for (const std::uint64_t value : values) arrive(c, one, value);
    return;
  }
  if (c.toAll()) one.ring.head = std::min(std::max(one.ring.head, slowestHere(c, lane)), one.ring.tail);
  one.ring.grow(one.ring.held() + values.size());
  for (const std::uint64_t value : values) one.ring.put(value);
  if (c.toAll()) {
    for (Member& reader : c.members) wakeMember(reader);
  } else {
    wakeMember(c.member(taker(c, lane)));
  }
}

}  // namespace

void shareCollective(Collective& c) { shared.push_back(&c); }

void tellOpened(const Collective& c, int rank, int degree) {
  const Asked& asked = c.asked;
  for (const int other : c.context->others) {
    (tellOf(c, other, Record::collectiveOpened) << rank << asked << degree).place(c.member(rank).place);
  }
}

void tellArrived(const Collective& c, int rank, std::uint64_t value) {
  for (const int other : c.context->others) {
    tellOf(c, other, Record::collectiveElements) << rank << std::uint32_t{1} << value;
  }
}

void shipCollectives() {
  for (Collective*& one : shared) {
    Collective& c = *one;
    for (int rank = 0; rank < c.size() && !c.together(); ++rank) {
      if (!c.toAll())
        shipLane(c, rank);
      else if (c.member(rank).here)
        shipToAll(c, rank);
    }
    // Nobody here has a use for it, and what all asked for has been compared.
    if (c.finished < c.context->here || c.opened < c.size()) continue;
    c.context->ports[c.port].live.erase(c.number);
    delete one;
    one = nullptr;
  }
  std::erase(shared, nullptr);
}

bool takeCollective(Record record, Reader& in) {
  const auto name = in.get<std::uint64_t>();
  const int port = in.get<int>();
  const auto number = in.get<std::uint64_t>();
  const int rank = in.get<int>();
  Context* context = Context::named(name);
  if (record == Record::collectiveOpened) {
    const auto asked = in.get<Asked>();
    const int degree = in.get<int>();
    const Place place = in.place();
    if (context) joinCollective(*context, port, number, rank, asked, degree, place);
    return context;
  }
  const std::vector<std::uint64_t> values =
      record == Record::collectiveElements ? in.elements() : std::vector{in.get<std::uint64_t>()};
  if (!context) return false;
  const auto& live = context->ports[port].live;
  const auto found = live.find(number);
  // Its ranks here are through.
  if (found == live.end()) return true;
  Collective& c = *found->second;
  if (record == Record::collectiveElements) {
    takeElements(c, rank, values);
  } else if (record == Record::collectiveTaken) {
    c.member(rank).ring.head = values[0];
    wakeMember(c.member(giver(c, rank)));
  } else {
    c.member(rank).done = values[0];
    for (Member& one : c.members) {
      if (one.needs) wakeMember(one);
    }
  }
  return true;
}

}  // namespace gossamer::smi
