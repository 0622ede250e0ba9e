// SPDX-License-Identifier: Apache-2.0
/// The API calls of collectives.
#include "collective.h"

namespace gossamer::smi {

namespace {

/// Performs the call on a hardware block, if the collective uses one.
bool usesBlock(Collective& c, const SMI_Collective_channel& channel, const void* sent, void* received, CallSite site) {
  if (!c.usesBlock()) return false;
  callOnBlock(c, channel.rank, sent, received, site);
  endCall(c, channel);
  return true;
}

/// Scatter and gather: the counts are those of one rank's block.
SMI_Collective_channel openParts(Kind kind, int sent, int received, int type, int port, int root, SMI_Comm comm,
                                 std::optional<int> degree, const char* call, CallSite site) {
  if (sent != received) {
    fail(GS_EXIT_INPUT,
         format("rank %d, port %d: %s: %d elements are sent to a rank that receives %d; both counts must be "
                "equal ({})",
                current->rank->index, port, call, sent, received),
         {site});
  }
  return openCollective({kind, sent, type, 0, root}, port, comm, degree, call, site);
}

}  // namespace

}  // namespace gossamer::smi

using namespace gossamer::smi;

extern "C" {

SMI_BChannel SMI_Open_bcast_channel(int count, SMI_Datatype type, int port, int root, SMI_Comm comm) {
  return {openCollective({Kind::bcast, count, type, 0, root}, port, comm, {}, __func__, __builtin_return_address(0))};
}

SMI_BChannel SMI_Open_bcast_channel_ad(int count, SMI_Datatype type, int port, int root, SMI_Comm comm, int degree) {
  return {
      openCollective({Kind::bcast, count, type, 0, root}, port, comm, degree, __func__, __builtin_return_address(0))};
}

void SMI_Bcast(SMI_BChannel* channel, void* data) {
  const CallSite site = __builtin_return_address(0);
  Collective& c = beginCall(channel->channel, Kind::bcast, site);
  if (usesBlock(c, channel->channel, data, data, site)) return;
  if (c.size() > 1) {
    broadcast(c, channel->channel.rank, c.signature.root, data,
              channel->channel.rank == c.signature.root ? nullptr : data, site);
  }
  endCall(c, channel->channel);
}

SMI_RChannel SMI_Open_reduce_channel(int count, SMI_Datatype type, SMI_Op op, int port, int root, SMI_Comm comm) {
  return {openCollective({Kind::reduce, count, type, op, root}, port, comm, {}, __func__, __builtin_return_address(0))};
}

SMI_RChannel SMI_Open_reduce_channel_ad(int count, SMI_Datatype type, SMI_Op op, int port, int root, SMI_Comm comm,
                                        int degree) {
  return {
      openCollective({Kind::reduce, count, type, op, root}, port, comm, degree, __func__, __builtin_return_address(0))};
}

void SMI_Reduce(SMI_RChannel* channel, const void* sent, void* received) {
  const CallSite site = __builtin_return_address(0);
  Collective& c = beginCall(channel->channel, Kind::reduce, site);
  if (usesBlock(c, channel->channel, sent, received, site)) return;
  const int me = channel->channel.rank, root = c.signature.root;
  if (me == root) {
    // All contributions first: no rank gets further ahead because the root waits for another one.
    for (int rank = 0; rank < c.size(); ++rank) {
      while (rank != me && !c.member(rank).ring.size()) waitForMember(c, me, rank, site);
    }
    for (int rank = 0; rank < c.size(); ++rank) {
      c.values[static_cast<std::size_t>(rank)] =
          rank == me ? load(c.signature.type, sent) : receiveElement(c, c.member(rank), me, rank, site);
    }
    store(c.signature.type, received, combine(c.signature.type, c.signature.op, c.values.data(), c.size(), root));
  } else {
    sendElement(c, c.member(me), me, root, sent, site);
  }
  endCall(c, channel->channel);
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
  const CallSite site = __builtin_return_address(0);
  Collective& c = beginCall(channel->channel, Kind::scatter, site);
  if (usesBlock(c, channel->channel, sent, received, site)) return;
  const int me = channel->channel.rank, root = c.signature.root;
  if (me != root) {
    store(c.signature.type, received, receiveElement(c, c.member(me), me, root, site));
  } else if (const int to = c.blockOwner(me); to == me) {
    store(c.signature.type, received, load(c.signature.type, sent));
  } else {
    sendElement(c, c.member(to), me, to, sent, site);
  }
  endCall(c, channel->channel);
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
  const CallSite site = __builtin_return_address(0);
  Collective& c = beginCall(channel->channel, Kind::gather, site);
  if (usesBlock(c, channel->channel, sent, received, site)) return;
  const int me = channel->channel.rank, root = c.signature.root;
  if (me != root) {
    sendElement(c, c.member(me), me, root, sent, site);
  } else if (const int from = c.blockOwner(me); from == me) {
    store(c.signature.type, received, load(c.signature.type, sent));
  } else {
    store(c.signature.type, received, receiveElement(c, c.member(from), me, from, site));
  }
  endCall(c, channel->channel);
}

SMI_AllreduceChannel SMI_Open_allreduce_channel(int count, SMI_Datatype type, SMI_Op op, int port, SMI_Comm comm) {
  return {openCollective({Kind::allreduce, count, type, op, 0}, port, comm, {}, __func__, __builtin_return_address(0))};
}

void SMI_Allreduce(SMI_AllreduceChannel* channel, const void* sent, void* received) {
  const CallSite site = __builtin_return_address(0);
  Collective& c = beginCall(channel->channel, Kind::allreduce, site);
  if (usesBlock(c, channel->channel, sent, received, site)) return;
  combineAcrossRanks(c, channel->channel.rank, sent, received, site);
  endCall(c, channel->channel);
}

SMI_AllgatherChannel SMI_Open_allgather_channel(int count, SMI_Datatype type, int port, SMI_Comm comm) {
  return {openCollective({Kind::allgather, count, type, 0, 0}, port, comm, {}, __func__, __builtin_return_address(0))};
}

SMI_AllgatherChannel SMI_Open_allgather_channel_ad(int count, SMI_Datatype type, int port, SMI_Comm comm, int degree) {
  return {
      openCollective({Kind::allgather, count, type, 0, 0}, port, comm, degree, __func__, __builtin_return_address(0))};
}

void SMI_Allgather(SMI_AllgatherChannel* channel, const void* sent, void* received) {
  const CallSite site = __builtin_return_address(0);
  Collective& c = beginCall(channel->channel, Kind::allgather, site);
  if (usesBlock(c, channel->channel, sent, received, site)) return;
  if (c.size() > 1) {
    broadcast(c, channel->channel.rank, c.blockOwner(channel->channel.rank), sent, received, site);
  } else {
    store(c.signature.type, received, load(c.signature.type, sent));
  }
  endCall(c, channel->channel);
}

void SMI_Barrier(int port, SMI_Comm comm) {
  const CallSite site = __builtin_return_address(0);
  SMI_Collective_channel channel = openCollective({Kind::barrier, 1, SMI_INT, 0, 0}, port, comm, {}, __func__, site);
  Collective& c = beginCall(channel, Kind::barrier, site);
  combineAcrossRanks(c, channel.rank, nullptr, nullptr, site);
  endCall(c, channel);
}

}  // extern "C"
