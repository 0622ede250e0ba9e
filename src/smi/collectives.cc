// SPDX-License-Identifier: Apache-2.0
/// Collectives. The n-th channel that a rank opens on a port of a communicator belongs to the n-th of all others.
///
/// Ranks share the memory of one collective: a broadcast's elements stand once in a ring that every rank reads at its
/// own pace; each contribution to a reduction has a ring of its own. So a rank that is late holds up only what needs
/// it, as with the hardware's support blocks, which forward whatever their kernel does. Reductions combine along the
/// same binomial tree as those blocks (elements.cc).
#include <algorithm>
#include <memory>
#include <optional>

#include "runtime.h"

namespace gossamer::smi {

namespace {

enum class Kind { bcast, reduce, scatter, gather, allreduce, allgather, barrier };
constexpr const char* names[] = {"Bcast", "Reduce", "Scatter", "Gather", "Allreduce", "Allgather", "Barrier"};

/// What a rank asked for; all ranks have to agree.
struct Asked {
  Kind kind;
  int count, type, op, root;
};

std::string words(const Asked& asked) {
  std::string text = names[static_cast<int>(asked.kind)];
  if (asked.kind == Kind::barrier) return text;
  text += format(" of %d %s", asked.count, typeName(asked.type));
  if (asked.kind == Kind::reduce || asked.kind == Kind::allreduce) text += format(" with %s", opName(asked.op));
  if (asked.kind != Kind::allreduce && asked.kind != Kind::allgather) text += format(" from root %d", asked.root);
  return text;
}

struct Member {
  Place place = nullptr;  ///< where it opened its channel
  std::uint64_t done = 0, calls = 0;
  Fiber* waiting = nullptr;
  int waitsFor = -1;        ///< a member, or -1: see Collective::wait
  std::uint64_t needs = 0;  ///< 0, or the elements that all readers must have for this one to go on
  Ring ring;                ///< to or from the root
};

}  // namespace

struct Collective : Waitable {
  Asked asked{};
  Context* context = nullptr;
  int port = 0;
  std::uint64_t number = 0;
  std::vector<Member> members;
  int opened = 0, finished = 0, degree = -1;
  bool rendezvous = false;
  std::uint64_t room = 1;
  Ring shared;                ///< Bcast, Allgather
  std::uint64_t slowest = 0;  ///< elements that all readers have, when last counted
  int writers = 0;            ///< members that wait for readers; without slack there may be several
  std::uint64_t result = 0, round = 0;
  int arrived = 0;
  std::vector<std::uint64_t> values;

  int size() const { return context->size(); }
  Member& member(int rank) { return members[static_cast<std::size_t>(rank)]; }
  const Member& member(int rank) const { return members[static_cast<std::size_t>(rank)]; }
  int world(int rank) const { return context->members[static_cast<std::size_t>(rank)]; }

  void setDegree(int stated) {
    degree = std::max(degree, stated);
    const int now = degree >= 0 ? degree : options.slack;
    rendezvous = now == 0;
    room = static_cast<std::uint64_t>(std::max(now, 1));
    const std::uint64_t most =
        std::min<std::uint64_t>(room, static_cast<std::uint64_t>(asked.count) * static_cast<std::uint64_t>(size()) + 1);
    if (asked.kind == Kind::bcast || asked.kind == Kind::allgather)
      shared.grow(most);
    else
      for (Member& one : members) one.ring.grow(most);
  }

  Wait wait(const Fiber& fiber) const override {
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
        const bool late = asked.kind == Kind::bcast || asked.kind == Kind::allgather
                              ? member(rank).done < mine.needs
                              : member(rank).done < mine.done || !member(rank).waiting;
        if (rank != me && late) found.ranks.push_back(world(rank));
      }
    }
    return found;
  }
};

namespace {

std::uint64_t callsOf(const Asked& asked, int rank, int size) {
  const auto count = static_cast<std::uint64_t>(asked.count);
  const bool all = asked.kind == Kind::allgather ||
                   ((asked.kind == Kind::scatter || asked.kind == Kind::gather) && rank == asked.root);
  return all ? count * static_cast<std::uint64_t>(size) : count;
}

bool operator==(const Asked& a, const Asked& b) {
  return a.kind == b.kind && a.count == b.count && a.type == b.type && a.op == b.op && a.root == b.root;
}

void wakeMember(Member& member) {
  if (!member.waiting) return;
  wake(member.waiting);
  member.waiting = nullptr;
}

/// A rank stops in a collective until another has moved.
void waitFor(Collective& c, int me, int other, Place place) {
  Member& mine = c.member(me);
  mine.waiting = current;
  mine.waitsFor = other;
  wait(c, place);
  mine.waiting = nullptr;
}

/// A member has done all its calls: its port is free, and the last one takes the collective away.
void close(Collective& c) {
  current->rank->ports[c.port].collective = nullptr;
  if (++c.finished < c.size()) return;
  c.context->ports[c.port].live.erase(c.number);
  delete &c;
}

/// `degree`: the asynchronicity degree, where the program states one.
SMI_Collective_channel open(Asked asked, int port, SMI_Comm comm, std::optional<int> degree, const char* call,
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
  Port& used = freePort(*current->rank, port, names[static_cast<int>(asked.kind)], place, true, true, true);
  Context::Opened& here = context.ports[port];
  here.count.resize(context.members.size());
  const std::uint64_t number = here.count[static_cast<std::size_t>(comm->rank)]++;
  Collective*& slot = here.live[number];
  if (!slot) {
    slot = new Collective;
    slot->asked = asked;
    slot->context = &context;
    slot->port = port;
    slot->number = number;
    slot->members = std::vector<Member>(context.members.size());
    slot->values.resize(context.members.size());
    for (int rank = 0; rank < context.size(); ++rank) slot->member(rank).calls = callsOf(asked, rank, context.size());
  }
  Collective& c = *slot;
  Member& mine = c.member(comm->rank);
  if (!(c.asked == asked)) {
    int other = 0;
    while (!c.member(other).place) ++other;
    fail(exitInput,
         format("port %d: rank %d opens %s ({}), rank %d opens %s ({}); all ranks of a communicator open "
                "the same",
                port, current->rank->index, words(asked).c_str(), c.world(other), words(c.asked).c_str()),
         {place, c.member(other).place});
  }
  mine.place = place;
  ++c.opened;
  c.setDegree(degree.value_or(-1));
  // Who was stopped by a smaller degree may go on.
  for (Member& one : c.members) wakeMember(one);
  used.collective = &c;
  used.collectivePlace = place;
  SMI_Collective_channel channel{};
  channel.used = reinterpret_cast<gs_smi_port*>(&used);
  channel.number = ++used.collectives;
  channel.rank = comm->rank;
  channel.port = port;
  if (!mine.calls) close(c);
  return channel;
}

/// Looks at a call before it is done; gives the collective.
Collective& begin(const SMI_Collective_channel& channel, Kind kind, Place place) {
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

void end(Collective& c, const SMI_Collective_channel& channel) {
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

/// The owner of an element stops until all others have `needs` elements.
void waitForReaders(Collective& c, int me, std::uint64_t needs, Place place) {
  ++c.writers;
  c.member(me).needs = needs;
  waitFor(c, me, -1, place);
  c.member(me).needs = 0;
  --c.writers;
}

/// One element from its owner to all others.
void broadcast(Collective& c, SMI_Collective_channel& channel, int owner, const void* sent, void* received,
               Place place) {
  const int me = channel.rank;
  if (me == owner) {
    const std::uint64_t value = load(c.asked.type, sent);
    if (received) store(c.asked.type, received, value);
    // The degree is for the elements of one owner: what others gave before does not count.
    const std::uint64_t first = c.asked.kind == Kind::allgather
                                    ? static_cast<std::uint64_t>(owner) * static_cast<std::uint64_t>(c.asked.count)
                                    : 0;
    const auto held = [&] { return c.shared.tail - std::max(c.slowest, first); };
    const auto ahead = [&] {
      if (held() < c.room) return false;
      c.slowest = countSlowest(c, me);
      return held() >= c.room;
    };
    while (ahead()) waitForReaders(c, me, c.shared.tail - c.room + 1, place);
    c.shared.head = std::min(c.slowest, c.shared.tail);
    c.shared.grow(c.shared.held() + 1);
    c.shared.put(value);
    for (Member& one : c.members) {
      if (&one != &c.member(me)) wakeMember(one);
    }
    const std::uint64_t mine = c.shared.tail;
    while (c.rendezvous && (c.slowest = countSlowest(c, me)) < mine) waitForReaders(c, me, mine, place);
  } else {
    Member& mine = c.member(me);
    while (c.shared.tail <= mine.done) waitFor(c, me, owner, place);
    store(c.asked.type, received, c.shared.slots[mine.done & c.shared.mask]);
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

/// An element into a ring that has an end at the root: from the root for `scatter`, to it otherwise.
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

/// The rank whose elements a root has now: rank 0's come first.
int turn(const Collective& c, const Member& mine) {
  return static_cast<int>(mine.done / static_cast<std::uint64_t>(c.asked.count));
}

/// Scatter and gather: the counts are of one rank's part.
SMI_Collective_channel openParts(Kind kind, int sent, int received, int type, int port, int root, SMI_Comm comm,
                                 std::optional<int> degree, const char* call, Place place) {
  if (sent != received) {
    fail(exitInput,
         format("rank %d, port %d: %s: %d elements are sent to a rank that receives %d; give both counts "
                "the same number ({})",
                current->rank->index, port, call, sent, received),
         {place});
  }
  return open({kind, sent, type, 0, root}, port, comm, degree, call, place);
}

void everyone(Collective& c, SMI_Collective_channel& channel, const void* sent, void* received, Place place) {
  Member& mine = c.member(channel.rank);
  const std::uint64_t round = mine.done;
  const bool carries = c.asked.kind != Kind::barrier;
  if (carries) c.values[static_cast<std::size_t>(channel.rank)] = load(c.asked.type, sent);
  if (++c.arrived == c.size()) {
    if (carries) c.result = combine(c.asked.type, c.asked.op, c.values.data(), c.size(), 0);
    c.arrived = 0;
    ++c.round;
    for (Member& one : c.members) wakeMember(one);
  }
  while (c.round <= round) waitFor(c, channel.rank, -1, place);
  if (carries) store(c.asked.type, received, c.result);
}

}  // namespace

}  // namespace gossamer::smi

using namespace gossamer::smi;

extern "C" {

SMI_BChannel SMI_Open_bcast_channel(int count, SMI_Datatype type, int port, int root, SMI_Comm comm) {
  return {open({Kind::bcast, count, type, 0, root}, port, comm, {}, __func__, __builtin_return_address(0))};
}

SMI_BChannel SMI_Open_bcast_channel_ad(int count, SMI_Datatype type, int port, int root, SMI_Comm comm, int degree) {
  return {open({Kind::bcast, count, type, 0, root}, port, comm, degree, __func__, __builtin_return_address(0))};
}

void SMI_Bcast(SMI_BChannel* channel, void* data) {
  const Place place = __builtin_return_address(0);
  Collective& c = begin(channel->channel, Kind::bcast, place);
  if (c.size() > 1) {
    broadcast(c, channel->channel, c.asked.root, data, channel->channel.rank == c.asked.root ? nullptr : data, place);
  }
  end(c, channel->channel);
}

SMI_RChannel SMI_Open_reduce_channel(int count, SMI_Datatype type, SMI_Op op, int port, int root, SMI_Comm comm) {
  return {open({Kind::reduce, count, type, op, root}, port, comm, {}, __func__, __builtin_return_address(0))};
}

SMI_RChannel SMI_Open_reduce_channel_ad(int count, SMI_Datatype type, SMI_Op op, int port, int root, SMI_Comm comm,
                                        int degree) {
  return {open({Kind::reduce, count, type, op, root}, port, comm, degree, __func__, __builtin_return_address(0))};
}

void SMI_Reduce(SMI_RChannel* channel, const void* sent, void* received) {
  const Place place = __builtin_return_address(0);
  Collective& c = begin(channel->channel, Kind::reduce, place);
  const int me = channel->channel.rank, root = c.asked.root;
  if (me == root) {
    // All contributions first: a rank is never further ahead because the root waits for another one.
    for (int rank = 0; rank < c.size(); ++rank) {
      while (rank != me && !c.member(rank).ring.held()) waitFor(c, me, rank, place);
    }
    for (int rank = 0; rank < c.size(); ++rank) {
      c.values[static_cast<std::size_t>(rank)] =
          rank == me ? load(c.asked.type, sent) : get(c, c.member(rank), me, rank, place);
    }
    store(c.asked.type, received, combine(c.asked.type, c.asked.op, c.values.data(), c.size(), root));
  } else {
    give(c, c.member(me), me, root, sent, place);
  }
  end(c, channel->channel);
}

SMI_ScatterChannel SMI_Open_scatter_channel(int send_count, int recv_count, SMI_Datatype type, int port, int root,
                                            SMI_Comm comm) {
  return {openParts(Kind::scatter, send_count, recv_count, type, port, root, comm, {}, __func__,
                    __builtin_return_address(0))};
}

SMI_ScatterChannel SMI_Open_scatter_channel_ad(int send_count, int recv_count, SMI_Datatype type, int port, int root,
                                               SMI_Comm comm, int degree) {
  return {openParts(Kind::scatter, send_count, recv_count, type, port, root, comm, degree, __func__,
                    __builtin_return_address(0))};
}

void SMI_Scatter(SMI_ScatterChannel* channel, const void* sent, void* received) {
  const Place place = __builtin_return_address(0);
  Collective& c = begin(channel->channel, Kind::scatter, place);
  const int me = channel->channel.rank, root = c.asked.root;
  if (me != root) {
    store(c.asked.type, received, get(c, c.member(me), me, root, place));
  } else if (const int to = turn(c, c.member(me)); to == me) {
    store(c.asked.type, received, load(c.asked.type, sent));
  } else {
    give(c, c.member(to), me, to, sent, place);
  }
  end(c, channel->channel);
}

SMI_GatherChannel SMI_Open_gather_channel(int send_count, int recv_count, SMI_Datatype type, int port, int root,
                                          SMI_Comm comm) {
  return {openParts(Kind::gather, send_count, recv_count, type, port, root, comm, {}, __func__,
                    __builtin_return_address(0))};
}

SMI_GatherChannel SMI_Open_gather_channel_ad(int send_count, int recv_count, SMI_Datatype type, int port, int root,
                                             SMI_Comm comm, int degree) {
  return {openParts(Kind::gather, send_count, recv_count, type, port, root, comm, degree, __func__,
                    __builtin_return_address(0))};
}

void SMI_Gather(SMI_GatherChannel* channel, const void* sent, void* received) {
  const Place place = __builtin_return_address(0);
  Collective& c = begin(channel->channel, Kind::gather, place);
  const int me = channel->channel.rank, root = c.asked.root;
  if (me != root) {
    give(c, c.member(me), me, root, sent, place);
  } else if (const int from = turn(c, c.member(me)); from == me) {
    store(c.asked.type, received, load(c.asked.type, sent));
  } else {
    store(c.asked.type, received, get(c, c.member(from), me, from, place));
  }
  end(c, channel->channel);
}

SMI_AllreduceChannel SMI_Open_allreduce_channel(int count, SMI_Datatype type, SMI_Op op, int port, SMI_Comm comm) {
  return {open({Kind::allreduce, count, type, op, 0}, port, comm, {}, __func__, __builtin_return_address(0))};
}

void SMI_Allreduce(SMI_AllreduceChannel* channel, const void* sent, void* received) {
  const Place place = __builtin_return_address(0);
  Collective& c = begin(channel->channel, Kind::allreduce, place);
  everyone(c, channel->channel, sent, received, place);
  end(c, channel->channel);
}

SMI_AllgatherChannel SMI_Open_allgather_channel(int count, SMI_Datatype type, int port, SMI_Comm comm) {
  return {open({Kind::allgather, count, type, 0, 0}, port, comm, {}, __func__, __builtin_return_address(0))};
}

SMI_AllgatherChannel SMI_Open_allgather_channel_ad(int count, SMI_Datatype type, int port, SMI_Comm comm, int degree) {
  return {open({Kind::allgather, count, type, 0, 0}, port, comm, degree, __func__, __builtin_return_address(0))};
}

void SMI_Allgather(SMI_AllgatherChannel* channel, const void* sent, void* received) {
  const Place place = __builtin_return_address(0);
  Collective& c = begin(channel->channel, Kind::allgather, place);
  if (c.size() > 1) {
    broadcast(c, channel->channel, turn(c, c.member(channel->channel.rank)), sent, received, place);
  } else {
    store(c.asked.type, received, load(c.asked.type, sent));
  }
  end(c, channel->channel);
}

void SMI_Barrier(int port, SMI_Comm comm) {
  const Place place = __builtin_return_address(0);
  SMI_Collective_channel channel = open({Kind::barrier, 1, SMI_INT, 0, 0}, port, comm, {}, __func__, place);
  Collective& c = begin(channel, Kind::barrier, place);
  everyone(c, channel, nullptr, nullptr, place);
  end(c, channel);
}

}  // extern "C"
