// SPDX-License-Identifier: Apache-2.0
/// The calls of collectives.
#include "collective.h"

namespace gossamer::smi {

namespace {

/// Does the call where blocks in hardware carry the collective.
bool onBlock(Collective& c, const SMI_Collective_channel& channel, const void* sent, void* received, Place place) {
  if (!c.onBlock()) return false;
  callOnBlock(c, channel.rank, sent, received, place);
  endCall(c, channel);
  return true;
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
  return openCollective({kind, sent, type, 0, root}, port, comm, degree, call, place);
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
  const Place place = __builtin_return_address(0);
  Collective& c = beginCall(channel->channel, Kind::bcast, place);
  if (onBlock(c, channel->channel, data, data, place)) return;
  if (c.size() > 1) {
    broadcast(c, channel->channel.rank, c.asked.root, data, channel->channel.rank == c.asked.root ? nullptr : data,
              place);
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
  const Place place = __builtin_return_address(0);
  Collective& c = beginCall(channel->channel, Kind::reduce, place);
  if (onBlock(c, channel->channel, sent, received, place)) return;
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
  const Place place = __builtin_return_address(0);
  Collective& c = beginCall(channel->channel, Kind::scatter, place);
  if (onBlock(c, channel->channel, sent, received, place)) return;
  const int me = channel->channel.rank, root = c.asked.root;
  if (me != root) {
    store(c.asked.type, received, get(c, c.member(me), me, root, place));
  } else if (const int to = c.turn(me); to == me) {
    store(c.asked.type, received, load(c.asked.type, sent));
  } else {
    give(c, c.member(to), me, to, sent, place);
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
  const Place place = __builtin_return_address(0);
  Collective& c = beginCall(channel->channel, Kind::gather, place);
  if (onBlock(c, channel->channel, sent, received, place)) return;
  const int me = channel->channel.rank, root = c.asked.root;
  if (me != root) {
    give(c, c.member(me), me, root, sent, place);
  } else if (const int from = c.turn(me); from == me) {
    store(c.asked.type, received, load(c.asked.type, sent));
  } else {
    store(c.asked.type, received, get(c, c.member(from), me, from, place));
  }
  endCall(c, channel->channel);
}

SMI_AllreduceChannel SMI_Open_allreduce_channel(int count, SMI_Datatype type, SMI_Op op, int port, SMI_Comm comm) {
  return {openCollective({Kind::allreduce, count, type, op, 0}, port, comm, {}, __func__, __builtin_return_address(0))};
}

void SMI_Allreduce(SMI_AllreduceChannel* channel, const void* sent, void* received) {
  const Place place = __builtin_return_address(0);
  Collective& c = beginCall(channel->channel, Kind::allreduce, place);
  if (onBlock(c, channel->channel, sent, received, place)) return;
  meet(c, channel->channel.rank, sent, received, place);
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
  const Place place = __builtin_return_address(0);
  Collective& c = beginCall(channel->channel, Kind::allgather, place);
  if (onBlock(c, channel->channel, sent, received, place)) return;
  if (c.size() > 1) {
    broadcast(c, channel->channel.rank, c.turn(channel->channel.rank), sent, received, place);
  } else {
    store(c.asked.type, received, load(c.asked.type, sent));
  }
  endCall(c, channel->channel);
}

void SMI_Barrier(int port, SMI_Comm comm) {
  const Place place = __builtin_return_address(0);
  SMI_Collective_channel channel = openCollective({Kind::barrier, 1, SMI_INT, 0, 0}, port, comm, {}, __func__, place);
  Collective& c = beginCall(channel, Kind::barrier, place);
  meet(c, channel.rank, nullptr, nullptr, place);
  endCall(c, channel);
}

}  // extern "C"
