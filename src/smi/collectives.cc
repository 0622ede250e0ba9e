// SPDX-License-Identifier: Apache-2.0
#include "collective.h"

#include <algorithm>

#include "hardware.h"

namespace gossamer::smi {

namespace {

constexpr const char* names[] = {"Bcast", "Reduce", "Scatter", "Gather", "Allreduce", "Allgather", "Barrier"};

std::string describe(const Signature& signature) {
  std::string text = names[static_cast<int>(signature.kind)];
  if (signature.kind == Kind::barrier) return text;
  text += format(" of %d %s", signature.count, typeName(signature.type));
  if (signature.kind == Kind::reduce || signature.kind == Kind::allreduce)
    text += format(" with %s", opName(signature.op));
  if (signature.kind != Kind::allreduce && signature.kind != Kind::allgather)
    text += format(" from root %d", signature.root);
  return text;
}

std::uint64_t callsOf(const Signature& signature, int rank, int size) {
  const auto count = static_cast<std::uint64_t>(signature.count);
  const bool all = signature.kind == Kind::allgather ||
                   ((signature.kind == Kind::scatter || signature.kind == Kind::gather) && rank == signature.root);
  return all ? count * static_cast<std::uint64_t>(size) : count;
}

/// A member has done all its calls: frees its port. The last member deletes the collective, unless other processes
/// still need updates of it (sendCollectiveUpdates).
void close(Collective& c) {
  current->rank->ports[c.port].collective = nullptr;
  if (++c.finished < c.size() || c.context->spansProcesses()) return;
  c.context->ports[c.port].live.erase(c.number);
  delete &c;
}

/// Blocks the owner of an element until all others have `needs` elements.
void waitForReaders(Collective& c, int me, std::uint64_t needs, CallSite site) {
  ++c.waitingWriters;
  c.member(me).needs = needs;
  waitForMember(c, me, -1, site);
  c.member(me).needs = 0;
  --c.waitingWriters;
}

}  // namespace

void Collective::setDegree(int stated) {
  degree = std::max(degree, stated);
  const int now = degree >= 0 ? degree : options.slack;
  rendezvous = now == 0;
  window = static_cast<std::uint64_t>(std::max(now, 1));
  const std::uint64_t most = std::min<std::uint64_t>(
      window, static_cast<std::uint64_t>(signature.count) * static_cast<std::uint64_t>(size()) + 1);
  // Broadcast lanes grow on demand: most lanes of a large Allgather are empty.
  if (deliversToAll()) return;
  for (Member& one : members) one.ring.grow(most);
}

Wait Collective::wait(const Fiber& fiber) const {
  int me = 0;
  while (me < size() && member(me).waiting != &fiber) ++me;
  const char* name = names[static_cast<int>(signature.kind)];
  Wait found{format("in %s, port %d", name, port), {}};
  if (me == size()) return found;
  const Member& mine = member(me);
  if (signature.kind != Kind::barrier) {
    found.what += format(", element %llu of %llu", static_cast<unsigned long long>(mine.done),
                         static_cast<unsigned long long>(mine.calls));
  }
  found.what += " ({})";
  if (mine.waitsFor >= 0) {
    found.ranks = {world(mine.waitsFor)};
  } else {
    for (int rank = 0; rank < size(); ++rank) {
      const bool late = deliversToAll() ? member(rank).done < mine.needs : member(rank).ring.tail <= mine.done;
      if (rank != me && late) found.ranks.push_back(world(rank));
    }
  }
  return found;
}

WaitKind Collective::kind(const Fiber&) const {
  return signature.kind == Kind::barrier ? WaitKind::barrier : WaitKind::collective;
}

std::string Collective::label(WaitKind) const {
  return format("%s, port %d", names[static_cast<int>(signature.kind)], port);
}

void wakeMember(Member& member) {
  if (!member.waiting) return;
  wake(member.waiting);
  member.waiting = nullptr;
}

void waitForMember(Collective& c, int me, int other, CallSite site) {
  Member& mine = c.member(me);
  mine.waiting = current;
  mine.waitsFor = other;
  wait(c, site);
  mine.waiting = nullptr;
}

Collective& joinCollective(Context& context, int port, std::uint64_t number, int rank, const Signature& signature,
                           int degree, CallSite site) {
  Collective*& slot = context.ports[port].live[number];
  if (!slot) {
    slot = new Collective;
    slot->signature = signature;
    slot->context = &context;
    slot->port = port;
    slot->number = number;
    slot->members = std::vector<Member>(context.members.size());
    slot->values.resize(context.members.size());
    for (int one = 0; one < context.size(); ++one) {
      slot->member(one).calls = callsOf(signature, one, context.size());
      slot->member(one).here = isHere(slot->world(one));
    }
    if (context.spansProcesses()) shareCollective(*slot);
  }
  Collective& c = *slot;
  if (!(c.signature == signature)) {
    int other = 0;
    while (!c.member(other).site) ++other;
    fail(GS_EXIT_INPUT,
         format("port %d: rank %d opens %s ({}), rank %d opens %s ({}); all ranks of a communicator must open "
                "the same",
                port, c.world(rank), describe(signature).c_str(), c.world(other), describe(c.signature).c_str()),
         {site, c.member(other).site});
  }
  c.member(rank).site = site;
  ++c.opened;
  c.setDegree(degree);
  // Ranks that a smaller degree blocked may continue.
  for (Member& one : c.members) wakeMember(one);
  return c;
}

SMI_Collective_channel openCollective(Signature signature, int port, SMI_Comm comm, std::optional<int> degree,
                                      const char* call, CallSite site) {
  if (degree) checkDegree(*degree, call, site);
  checkChannel(signature.count, signature.type, port, comm, call, site);
  Context& context = *comm->context;
  if (signature.root < 0 || signature.root >= context.size()) {
    fail(GS_EXIT_INPUT,
         format("rank %d, port %d: %s: root %d does not exist%s; ranks are 0 to %d ({})", current->rank->index, port,
                call, signature.root, context.describe().c_str(), context.size() - 1),
         {site});
  }
  if (!opName(signature.op)) {
    fail(GS_EXIT_INPUT,
         format("rank %d, port %d: %s: operation %d does not exist; use an SMI_Op ({})", current->rank->index, port,
                call, signature.op),
         {site});
  }
  if ((signature.op == SMI_ADD_ORDERED) && options.ordered) signature.op = SMI_ADD;
  if (hardware && context.number) {
    fail(GS_EXIT_INPUT,
         format("rank %d, port %d: %s%s: the RTL supports only collectives of all ranks ({}); omit "
                "--engine rtl",
                current->rank->index, port, names[static_cast<int>(signature.kind)], context.describe().c_str()),
         {site});
  }
  Port& used = claimPort(*current->rank, port, names[static_cast<int>(signature.kind)], site, true, true, true);
  Context::Opened& here = context.ports[port];
  here.count.resize(context.members.size());
  const std::uint64_t number = here.count[static_cast<std::size_t>(comm->rank)]++;
  Collective& c = joinCollective(context, port, number, comm->rank, signature, degree.value_or(-1), site);
  if (context.spansProcesses()) sendOpened(c, comm->rank, degree.value_or(-1));
  used.collective = &c;
  used.collectivePlace = site;
  SMI_Collective_channel channel{};
  channel.used = reinterpret_cast<gs_smi_port*>(&used);
  channel.number = ++used.collectives;
  channel.rank = comm->rank;
  channel.port = port;
  if (c.usesBlock()) openOnBlock(c, comm->rank, degree.value_or(-1), site);
  if (!c.member(comm->rank).calls) close(c);
  return channel;
}

/// Checks a call before it is performed; returns the collective.
Collective& beginCall(const SMI_Collective_channel& channel, Kind kind, CallSite site) {
  const char* name = names[static_cast<int>(kind)];
  if (!channel.used) {
    fail(GS_EXIT_INPUT, format("rank %d: SMI_%s on a channel that was not opened ({})", current->rank->index, name),
         {site});
  }
  // The last member deletes the collective, and copies of the descriptor would dangle: only the port is reliable.
  const Port& used = *reinterpret_cast<const Port*>(channel.used);
  if (!used.collective || used.collectives != channel.number) {
    fail(GS_EXIT_INPUT,
         format("rank %d, port %d: SMI_%s beyond the channel's count ({}); the last element closes a "
                "channel, open another",
                current->rank->index, channel.port, name),
         {site});
  }
  spend();
  Collective& c = *used.collective;
  const Fiber* other = c.member(channel.rank).waiting;
  if (other && other != current) {
    fail(GS_EXIT_INPUT,
         format("rank %d, port %d: SMI_%s in %s ({}), on which %s waits already; use one port per kernel",
                current->rank->index, channel.port, name, current->name.c_str(), other->name.c_str()),
         {site});
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

void broadcast(Collective& c, int me, int owner, const void* sent, void* received, CallSite site) {
  Ring& lane = c.member(owner).ring;
  // The degree applies to the elements of one owner: elements of earlier owners do not count.
  const std::uint64_t first = c.first(owner);
  if (me == owner) {
    const std::uint64_t value = load(c.signature.type, sent);
    if (received) store(c.signature.type, received, value);
    const auto pop_data = [&] { return std::max(c.slowestReader, first) - first; };
    const auto ahead = [&] {
      if (lane.tail - pop_data() < c.window) return false;
      c.slowestReader = countSlowest(c, me);
      return lane.tail - pop_data() >= c.window;
    };
    while (ahead()) waitForReaders(c, me, first + lane.tail - c.window + 1, site);
    lane.head = std::min(pop_data(), lane.tail);
    lane.grow(lane.size() + 1);
    lane.put(value);
    for (Member& one : c.members) {
      if (&one != &c.member(me)) wakeMember(one);
    }
    const std::uint64_t mine = first + lane.tail;
    while (c.rendezvous && (c.slowestReader = countSlowest(c, me)) < mine) waitForReaders(c, me, mine, site);
  } else {
    Member& mine = c.member(me);
    while (first + lane.tail <= mine.done) waitForMember(c, me, owner, site);
    store(c.signature.type, received, lane.slots[(mine.done - first) & lane.mask]);
    if (c.waitingWriters) {
      ++mine.done;
      for (int rank = 0; rank < c.size(); ++rank) {
        const std::uint64_t needs = c.member(rank).needs;
        if (needs && mine.done >= needs && countSlowest(c, rank) >= needs) wakeMember(c.member(rank));
      }
      --mine.done;
    }
  }
}

void sendElement(Collective& c, Member& lane, int me, int other, const void* data, CallSite site) {
  while (lane.ring.size() >= c.window) waitForMember(c, me, other, site);
  lane.ring.put(load(c.signature.type, data));
  Member& receiver = c.member(other);
  if (receiver.waitsFor == me) wakeMember(receiver);
  const std::uint64_t mine = lane.ring.tail;
  while (c.rendezvous && lane.ring.head < mine) waitForMember(c, me, other, site);
}

std::uint64_t receiveElement(Collective& c, Member& lane, int me, int other, CallSite site) {
  while (!lane.ring.size()) waitForMember(c, me, other, site);
  const std::uint64_t value = lane.ring.take();
  Member& sender = c.member(other);
  if (sender.waitsFor == me) wakeMember(sender);
  return value;
}

void addToLane(Collective& c, Member& lane, std::uint64_t value) {
  c.fullLanes += !lane.ring.size();
  lane.ring.put(value);
  if (c.fullLanes < c.size()) return;
  c.fullLanes = 0;
  for (std::size_t rank = 0; rank < c.members.size(); ++rank) {
    c.values[rank] = c.members[rank].ring.take();
    // A rank in another process may be one call ahead.
    c.fullLanes += c.members[rank].ring.size() > 0;
  }
  if (c.signature.kind != Kind::barrier) {
    c.result = combine(c.signature.type, c.signature.op, c.values.data(), c.size(), 0);
  }
  ++c.round;
  for (Member& one : c.members) wakeMember(one);
}

void combineAcrossRanks(Collective& c, int me, const void* sent, void* received, CallSite site) {
  Member& mine = c.member(me);
  const std::uint64_t round = mine.done;
  const bool carries = c.signature.kind != Kind::barrier;
  const std::uint64_t value = carries ? load(c.signature.type, sent) : 0;
  if (c.context->spansProcesses()) sendArrived(c, me, value);
  addToLane(c, mine, value);
  if (hardware && !carries) {
    // The hardware's barrier decides when to continue; the arrivals are counted only for reports.
    mine.waitsFor = -1;
    enterBarrier(c.port, mine.waiting, c, site);
    return;
  }
  while (c.round <= round) waitForMember(c, me, -1, site);
  if (carries) store(c.signature.type, received, c.result);
}

}  // namespace gossamer::smi
