// SPDX-License-Identifier: Apache-2.0
#include "collective.h"

#include <algorithm>

#include "hardware.h"

namespace gossamer::smi {

namespace {

constexpr const char* names[] = {"Bcast", "Reduce", "Scatter", "Gather", "Allreduce", "Allgather", "Barrier"};

std::string words(const Asked& asked) {
  std::string text = names[static_cast<int>(asked.kind)];
  if (asked.kind == Kind::barrier) return text;
  text += format(" of %d %s", asked.count, typeName(asked.type));
  if (asked.kind == Kind::reduce || asked.kind == Kind::allreduce) text += format(" with %s", opName(asked.op));
  if (asked.kind != Kind::allreduce && asked.kind != Kind::allgather) text += format(" from root %d", asked.root);
  return text;
}

std::uint64_t callsOf(const Asked& asked, int rank, int size) {
  const auto count = static_cast<std::uint64_t>(asked.count);
  const bool all = asked.kind == Kind::allgather ||
                   ((asked.kind == Kind::scatter || asked.kind == Kind::gather) && rank == asked.root);
  return all ? count * static_cast<std::uint64_t>(size) : count;
}

/// A member has done all its calls: its port is free, and the last one takes the collective away. Where it is shared
/// with other processes, they have to hear the rest of it first (shipCollectives).
void close(Collective& c) {
  current->rank->ports[c.port].collective = nullptr;
  if (++c.finished < c.size() || c.context->spread()) return;
  c.context->ports[c.port].live.erase(c.number);
  delete &c;
}

/// The owner of an element stops until all others have `needs` elements.
void waitForReaders(Collective& c, int me, std::uint64_t needs, Place place) {
  ++c.writers;
  c.member(me).needs = needs;
  waitFor(c, me, -1, place);
  c.member(me).needs = 0;
  --c.writers;
}

}  // namespace

void Collective::setDegree(int stated) {
  degree = std::max(degree, stated);
  const int now = degree >= 0 ? degree : options.slack;
  rendezvous = now == 0;
  room = static_cast<std::uint64_t>(std::max(now, 1));
  const std::uint64_t most =
      std::min<std::uint64_t>(room, static_cast<std::uint64_t>(asked.count) * static_cast<std::uint64_t>(size()) + 1);
  // What is given to all gets room as it comes: most lanes of a large Allgather are empty.
  if (toAll()) return;
  for (Member& one : members) one.ring.grow(most);
}

Wait Collective::wait(const Fiber& fiber) const {
  int me = 0;
  while (me < size() && member(me).waiting != &fiber) ++me;
  const char* name = names[static_cast<int>(asked.kind)];
  Wait found{format("in %s, port %d", name, port), {}};
  if (me == size()) return found;
  const Member& mine = member(me);
  if (asked.kind != Kind::barrier) {
    found.what += format(", element %llu of %llu", static_cast<unsigned long long>(mine.done),
                         static_cast<unsigned long long>(mine.calls));
  }
  found.what += " ({})";
  if (mine.waitsFor >= 0) {
    found.ranks = {world(mine.waitsFor)};
  } else {
    for (int rank = 0; rank < size(); ++rank) {
      const bool late = toAll() ? member(rank).done < mine.needs : member(rank).ring.tail <= mine.done;
      if (rank != me && late) found.ranks.push_back(world(rank));
    }
  }
  return found;
}

void wakeMember(Member& member) {
  if (!member.waiting) return;
  wake(member.waiting);
  member.waiting = nullptr;
}

void waitFor(Collective& c, int me, int other, Place place) {
  Member& mine = c.member(me);
  mine.waiting = current;
  mine.waitsFor = other;
  wait(c, place);
  mine.waiting = nullptr;
}

Collective& joinCollective(Context& context, int port, std::uint64_t number, int rank, const Asked& asked, int degree,
                           Place place) {
  Collective*& slot = context.ports[port].live[number];
  if (!slot) {
    slot = new Collective;
    slot->asked = asked;
    slot->context = &context;
    slot->port = port;
    slot->number = number;
    slot->members = std::vector<Member>(context.members.size());
    slot->values.resize(context.members.size());
    for (int one = 0; one < context.size(); ++one) {
      slot->member(one).calls = callsOf(asked, one, context.size());
      slot->member(one).here = isHere(slot->world(one));
    }
    if (context.spread()) shareCollective(*slot);
  }
  Collective& c = *slot;
  if (!(c.asked == asked)) {
    int other = 0;
    while (!c.member(other).place) ++other;
    fail(exitInput,
         format("port %d: rank %d opens %s ({}), rank %d opens %s ({}); all ranks of a communicator open "
                "the same",
                port, c.world(rank), words(asked).c_str(), c.world(other), words(c.asked).c_str()),
         {place, c.member(other).place});
  }
  c.member(rank).place = place;
  ++c.opened;
  c.setDegree(degree);
  // Who was stopped by a smaller degree may go on.
  for (Member& one : c.members) wakeMember(one);
  return c;
}

SMI_Collective_channel openCollective(Asked asked, int port, SMI_Comm comm, std::optional<int> degree, const char* call,
                                      Place place) {
  if (degree) checkDegree(*degree, call, place);
  checkChannel(asked.count, asked.type, port, comm, call, place);
  Context& context = *comm->context;
  if (asked.root < 0 || asked.root >= context.size()) {
    fail(exitInput,
         format("rank %d, port %d: %s: there is no root %d%s; ranks are 0 to %d ({})", current->rank->index, port, call,
                asked.root, context.words().c_str(), context.size() - 1),
         {place});
  }
  if (!opName(asked.op)) {
    fail(exitInput,
         format("rank %d, port %d: %s: there is no operation %d; use an SMI_Op ({})", current->rank->index, port, call,
                asked.op),
         {place});
  }
  if ((asked.op == SMI_ADD_ORDERED) && options.ordered) asked.op = SMI_ADD;
  if (hardware && context.number) {
    fail(exitInput,
         format("rank %d, port %d: %s%s: there is no RTL for it yet, only for collectives of all ranks ({}); leave out "
                "--engine rtl",
                current->rank->index, port, names[static_cast<int>(asked.kind)], context.words().c_str()),
         {place});
  }
  Port& used = freePort(*current->rank, port, names[static_cast<int>(asked.kind)], place, true, true, true);
  Context::Opened& here = context.ports[port];
  here.count.resize(context.members.size());
  const std::uint64_t number = here.count[static_cast<std::size_t>(comm->rank)]++;
  Collective& c = joinCollective(context, port, number, comm->rank, asked, degree.value_or(-1), place);
  if (context.spread()) tellOpened(c, comm->rank, degree.value_or(-1));
  used.collective = &c;
  used.collectivePlace = place;
  SMI_Collective_channel channel{};
  channel.used = reinterpret_cast<gs_smi_port*>(&used);
  channel.number = ++used.collectives;
  channel.rank = comm->rank;
  channel.port = port;
  if (c.onBlock()) openOnBlock(c, comm->rank, degree.value_or(-1), place);
  if (!c.member(comm->rank).calls) close(c);
  return channel;
}

/// Looks at a call before it is done; gives the collective.
Collective& beginCall(const SMI_Collective_channel& channel, Kind kind, Place place) {
  const char* name = names[static_cast<int>(kind)];
  if (!channel.used) {
    fail(exitInput, format("rank %d: SMI_%s on a channel that was not opened ({})", current->rank->index, name),
         {place});
  }
  // The collective is gone once all are done, and the descriptor's copies do not know: only the port does.
  const Port& used = *reinterpret_cast<const Port*>(channel.used);
  if (!used.collective || used.collectives != channel.number) {
    fail(exitInput,
         format("rank %d, port %d: SMI_%s after all elements of the channel ({}); a channel is closed by "
                "its last element, open another",
                current->rank->index, channel.port, name),
         {place});
  }
  spend();
  Collective& c = *used.collective;
  const Fiber* other = c.member(channel.rank).waiting;
  if (other && other != current) {
    fail(exitInput,
         format("rank %d, port %d: SMI_%s in %s ({}), in which %s waits already; give each kernel a port",
                current->rank->index, channel.port, name, current->name.c_str(), other->name.c_str()),
         {place});
  }
  return c;
}

void endCall(Collective& c, const SMI_Collective_channel& channel) {
  Member& mine = c.member(channel.rank);
  if (++mine.done == mine.calls) close(c);
}

std::uint64_t countSlowest(const Collective& c, int writer) {
  std::uint64_t least = ~0ull;
  for (int rank = 0; rank < c.size(); ++rank) {
    if (rank != writer) least = std::min(least, c.member(rank).done);
  }
  return least;
}

void broadcast(Collective& c, int me, int owner, const void* sent, void* received, Place place) {
  Ring& lane = c.member(owner).ring;
  // The degree is for the elements of one owner: what others gave before does not count.
  const std::uint64_t first = c.first(owner);
  if (me == owner) {
    const std::uint64_t value = load(c.asked.type, sent);
    if (received) store(c.asked.type, received, value);
    const auto taken = [&] { return std::max(c.slowest, first) - first; };
    const auto ahead = [&] {
      if (lane.tail - taken() < c.room) return false;
      c.slowest = countSlowest(c, me);
      return lane.tail - taken() >= c.room;
    };
    while (ahead()) waitForReaders(c, me, first + lane.tail - c.room + 1, place);
    lane.head = std::min(taken(), lane.tail);
    lane.grow(lane.held() + 1);
    lane.put(value);
    for (Member& one : c.members) {
      if (&one != &c.member(me)) wakeMember(one);
    }
    const std::uint64_t mine = first + lane.tail;
    while (c.rendezvous && (c.slowest = countSlowest(c, me)) < mine) waitForReaders(c, me, mine, place);
  } else {
    Member& mine = c.member(me);
    while (first + lane.tail <= mine.done) waitFor(c, me, owner, place);
    store(c.asked.type, received, lane.slots[(mine.done - first) & lane.mask]);
    if (c.writers) {
      ++mine.done;
      for (int rank = 0; rank < c.size(); ++rank) {
        const std::uint64_t needs = c.member(rank).needs;
        if (needs && mine.done >= needs && countSlowest(c, rank) >= needs) wakeMember(c.member(rank));
      }
      --mine.done;
    }
  }
}

void give(Collective& c, Member& lane, int me, int other, const void* data, Place place) {
  while (lane.ring.held() >= c.room) waitFor(c, me, other, place);
  lane.ring.put(load(c.asked.type, data));
  Member& receiver = c.member(other);
  if (receiver.waitsFor == me) wakeMember(receiver);
  const std::uint64_t mine = lane.ring.tail;
  while (c.rendezvous && lane.ring.head < mine) waitFor(c, me, other, place);
}

std::uint64_t get(Collective& c, Member& lane, int me, int other, Place place) {
  while (!lane.ring.held()) waitFor(c, me, other, place);
  const std::uint64_t value = lane.ring.take();
  Member& sender = c.member(other);
  if (sender.waitsFor == me) wakeMember(sender);
  return value;
}

void arrive(Collective& c, Member& lane, std::uint64_t value) {
  c.arrived += !lane.ring.held();
  lane.ring.put(value);
  if (c.arrived < c.size()) return;
  c.arrived = 0;
  for (std::size_t rank = 0; rank < c.members.size(); ++rank) {
    c.values[rank] = c.members[rank].ring.take();
    // In another process a rank may be a call ahead already.
    c.arrived += c.members[rank].ring.held() > 0;
  }
  if (c.asked.kind != Kind::barrier) {
    c.result = combine(c.asked.type, c.asked.op, c.values.data(), c.size(), 0);
  }
  ++c.round;
  for (Member& one : c.members) wakeMember(one);
}

void meet(Collective& c, int me, const void* sent, void* received, Place place) {
  Member& mine = c.member(me);
  const std::uint64_t round = mine.done;
  const bool carries = c.asked.kind != Kind::barrier;
  const std::uint64_t value = carries ? load(c.asked.type, sent) : 0;
  if (c.context->spread()) tellArrived(c, me, value);
  arrive(c, mine, value);
  if (hardware && !carries) {
    // The hardware's barrier says when to go on; who has come is for reports.
    mine.waitsFor = -1;
    comeToBarrier(mine.waiting, c, place);
    return;
  }
  while (c.round <= round) waitFor(c, me, -1, place);
  if (carries) store(c.asked.type, received, c.result);
}

}  // namespace gossamer::smi
