// SPDX-License-Identifier: Apache-2.0
/// Collectives: the state that their ranks share, and the steps of their calls.
///
/// The n-th channel that each rank opens on a port of a communicator belongs to the n-th collective there. Elements
/// pass through lanes, one ring per member: the elements that it sends (to the root, or to all), or for a scatter those
/// that it receives. A late rank delays only the ranks that need its elements, as with the hardware's support blocks,
/// which forward independently of their kernel. Reductions combine along the same binomial tree as those blocks
/// (elements.cc).
///
/// If a communicator has ranks in several processes, each process has a copy of the collective. The sending process
/// sends a lane's elements to the processes of the receivers; these report how many they have consumed.
#pragma once

#include <optional>

#include "processes.h"
#include "runtime.h"

namespace gossamer::smi {

enum class Kind { bcast, reduce, scatter, gather, allreduce, allgather, barrier };

/// Arguments of a collective; those of all ranks must agree.
struct Signature {
  Kind kind;
  int count, type, op, root;
  bool operator==(const Signature&) const = default;
};

struct Member {
  bool here = true;         ///< in this process
  CallSite site = nullptr;  ///< where it opened its channel
  std::uint64_t done = 0, calls = 0;
  Fiber* waiting = nullptr;
  int waitsFor = -1;        ///< a member, or -1 for several: see Collective::wait
  std::uint64_t needs = 0;  ///< elements that all readers must have before this one continues, or 0
  Ring ring;                ///< its lane
  std::uint64_t sentElements = 0, reportedTaken = 0, reportedDone = 0;
};

struct Collective : Waitable {
  Signature signature{};
  Context* context = nullptr;
  int port = 0;
  std::uint64_t number = 0;
  std::vector<Member> members;
  int opened = 0, finished = 0, degree = -1;
  bool rendezvous = false;
  std::uint64_t window = 1;
  std::uint64_t slowestReader = 0;  ///< Bcast, Allgather: elements of the slowest reader, at the last count
  int waitingWriters = 0;           ///< members that wait for readers; several only without slack
  std::uint64_t result = 0, round = 0;
  int fullLanes = 0;  ///< Allreduce, Barrier: lanes with an element
  std::vector<std::uint64_t> values;

  int size() const { return context->size(); }
  Member& member(int rank) { return members[static_cast<std::size_t>(rank)]; }
  const Member& member(int rank) const { return members[static_cast<std::size_t>(rank)]; }
  int world(int rank) const { return context->members[static_cast<std::size_t>(rank)]; }
  bool is(Kind a, Kind b) const { return signature.kind == a || signature.kind == b; }
  bool deliversToAll() const { return is(Kind::bcast, Kind::allgather); }
  bool combinesAll() const { return is(Kind::allreduce, Kind::barrier); }
  /// Number of the first broadcast element of an owner.
  std::uint64_t first(int owner) const {
    return signature.kind == Kind::allgather
               ? static_cast<std::uint64_t>(owner) * static_cast<std::uint64_t>(signature.count)
               : 0;
  }

  /// The rank whose block a root handles now, in rank order.
  int blockOwner(int rank) const {
    return static_cast<int>(member(rank).done / static_cast<std::uint64_t>(signature.count));
  }
  /// Whether hardware blocks perform it.
  bool usesBlock() const;

  void setDegree(int stated);
  Wait wait(const Fiber& fiber) const override;
  WaitKind kind(const Fiber& fiber) const override;
  std::string label(WaitKind kind) const override;
};

/// `degree`: the asynchronicity degree, if the program specifies one.
SMI_Collective_channel openCollective(Signature signature, int port, SMI_Comm comm, std::optional<int> degree,
                                      const char* call, CallSite site);
/// Checks a call before it is performed; returns the collective.
Collective& beginCall(const SMI_Collective_channel& channel, Kind kind, CallSite site);
void endCall(Collective& c, const SMI_Collective_channel& channel);
/// Blocks a rank until another member makes progress.
void waitForMember(Collective& c, int me, int other, CallSite site);
void wakeMember(Member& member);
/// Broadcasts one element from its owner to all others.
void broadcast(Collective& c, int me, int owner, const void* sent, void* received, CallSite site);
/// Sends an element through a lane that has one end at the root: from the root for `scatter`, to it otherwise.
void sendElement(Collective& c, Member& lane, int me, int other, const void* data, CallSite site);
std::uint64_t receiveElement(Collective& c, Member& lane, int me, int other, CallSite site);
/// One call of an Allreduce or a Barrier.
void combineAcrossRanks(Collective& c, int me, const void* sent, void* received, CallSite site);
/// Opens a collective on the running rank's hardware block; and one call of it.
void openOnBlock(const Collective& c, int me, int degree, CallSite site);
void callOnBlock(Collective& c, int me, const void* sent, void* received, CallSite site);
/// Appends an element to a lane of an Allreduce or a Barrier.
void addToLane(Collective& c, Member& lane, std::uint64_t value);
/// Elements that all other members of a Bcast or an Allgather have received.
std::uint64_t countSlowest(const Collective& c, int writer);

/// Joins a collective, and creates it if this is its first rank; ends the run if the signatures disagree.
Collective& joinCollective(Context& context, int port, std::uint64_t number, int rank, const Signature& signature,
                           int degree, CallSite site);
/// Registers a collective for updates to other processes, until it is deleted.
void shareCollective(Collective& c);
/// Informs the other processes that a rank of this one has opened the collective.
void sendOpened(const Collective& c, int rank, int degree);
/// Sends a rank's element of an Allreduce or a Barrier to the other processes.
void sendArrived(const Collective& c, int rank, std::uint64_t value);

}  // namespace gossamer::smi
