// SPDX-License-Identifier: Apache-2.0
/// Collectives: what their ranks share, and what the calls are made of.
///
/// The n-th channel that a rank opens on a port of a communicator belongs to the n-th of all others. Elements go
/// through lanes, a ring for each member: what it gives (to the root, or to all), or for a scatter what it gets. A rank
/// that is late holds up only what needs it, as with the hardware's support blocks, which forward whatever their kernel
/// does. Reductions combine along the same binomial tree as those blocks (elements.cc).
///
/// Where a communicator has ranks in several processes, each of these has a copy of the collective. A lane's elements
/// are told to those that take them; how many were taken, to who gives them.
#pragma once

#include <optional>

#include "processes.h"
#include "runtime.h"

namespace gossamer::smi {

enum class Kind { bcast, reduce, scatter, gather, allreduce, allgather, barrier };

/// What a rank asked for; all ranks have to agree.
struct Asked {
  Kind kind;
  int count, type, op, root;
  bool operator==(const Asked&) const = default;
};

struct Member {
  bool here = true;       ///< of this process
  Place place = nullptr;  ///< where it opened its channel
  std::uint64_t done = 0, calls = 0;
  Fiber* waiting = nullptr;
  int waitsFor = -1;        ///< a member, or -1: see Collective::wait
  std::uint64_t needs = 0;  ///< 0, or the elements that all readers must have for this one to go on
  Ring ring;                ///< its lane
  std::uint64_t toldElements = 0, toldTaken = 0, toldDone = 0;
};

struct Collective : Waitable {
  Asked asked{};
  Context* context = nullptr;
  int port = 0;
  std::uint64_t number = 0;
  std::vector<Member> members;
  int opened = 0, finished = 0, degree = -1;
  bool rendezvous = false;
  std::uint64_t room = 1;
  std::uint64_t slowest = 0;  ///< Bcast, Allgather: elements that all readers have, when last counted
  int writers = 0;            ///< members that wait for readers; without slack there may be several
  std::uint64_t result = 0, round = 0;
  int arrived = 0;  ///< Allreduce, Barrier: lanes that are not empty
  std::vector<std::uint64_t> values;

  int size() const { return context->size(); }
  Member& member(int rank) { return members[static_cast<std::size_t>(rank)]; }
  const Member& member(int rank) const { return members[static_cast<std::size_t>(rank)]; }
  int world(int rank) const { return context->members[static_cast<std::size_t>(rank)]; }
  bool is(Kind a, Kind b) const { return asked.kind == a || asked.kind == b; }
  bool toAll() const { return is(Kind::bcast, Kind::allgather); }
  bool together() const { return is(Kind::allreduce, Kind::barrier); }
  /// Number of the first element of an owner that is given to all.
  std::uint64_t first(int owner) const {
    return asked.kind == Kind::allgather ? static_cast<std::uint64_t>(owner) * static_cast<std::uint64_t>(asked.count)
                                         : 0;
  }

  /// The rank whose part a root has now: rank 0's comes first.
  int turn(int rank) const { return static_cast<int>(member(rank).done / static_cast<std::uint64_t>(asked.count)); }
  /// Whether blocks in hardware carry it.
  bool onBlock() const;

  void setDegree(int stated);
  Wait wait(const Fiber& fiber) const override;
};

/// `degree`: the asynchronicity degree, where the program states one.
SMI_Collective_channel openCollective(Asked asked, int port, SMI_Comm comm, std::optional<int> degree, const char* call,
                                      Place place);
/// Looks at a call before it is done; gives the collective.
Collective& beginCall(const SMI_Collective_channel& channel, Kind kind, Place place);
void endCall(Collective& c, const SMI_Collective_channel& channel);
/// A rank stops in a collective until another has moved.
void waitFor(Collective& c, int me, int other, Place place);
void wakeMember(Member& member);
/// One element from its owner to all others.
void broadcast(Collective& c, int me, int owner, const void* sent, void* received, Place place);
/// An element into a lane that has an end at the root: from the root for `scatter`, to it otherwise.
void give(Collective& c, Member& lane, int me, int other, const void* data, Place place);
std::uint64_t get(Collective& c, Member& lane, int me, int other, Place place);
/// One call of an Allreduce or a Barrier.
void meet(Collective& c, int me, const void* sent, void* received, Place place);
/// The running rank's part of a collective that blocks in hardware carry, once it is opened; and one call of it.
void openOnBlock(const Collective& c, int me, int degree, Place place);
void callOnBlock(Collective& c, int me, const void* sent, void* received, Place place);
/// A lane of an Allreduce or a Barrier has one element more.
void arrive(Collective& c, Member& lane, std::uint64_t value);
/// All others of a Bcast or an Allgather have so many elements.
std::uint64_t countSlowest(const Collective& c, int writer);

/// The collective, made where it is the first that is heard of it; ends the run if what a rank asks for does not agree.
Collective& joinCollective(Context& context, int port, std::uint64_t number, int rank, const Asked& asked, int degree,
                           Place place);
/// It is told of to other processes from here on, until it is taken away.
void shareCollective(Collective& c);
/// Tells the other processes that a rank of this one has opened it.
void tellOpened(const Collective& c, int rank, int degree);
/// The same of its element of an Allreduce or a Barrier.
void tellArrived(const Collective& c, int rank, std::uint64_t value);

}  // namespace gossamer::smi
