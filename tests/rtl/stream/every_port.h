// SPDX-License-Identifier: Apache-2.0
// A port of each kind, from which boards are generated (test_generated.py). It is read, and not run. With TREES there
// are no sums in the order of ranks, for which all ranks are one path.
#pragma once
#include <smi.h>

enum { kPoints = 0, kFlags = 1, kSums = 2 };

static void channels(SMI_Comm comm) {
  SMI_Channel out = SMI_Open_send_channel(10, SMI_INT, 1, kPoints, comm);
  SMI_Channel in = SMI_Open_receive_channel(10, SMI_INT, 1, kPoints, comm);
  SMI_Channel flags = SMI_Open_send_channel(10, SMI_CHAR, 1, kFlags, comm);
  SMI_Channel flagged = SMI_Open_recv_channel(10, SMI_CHAR, 1, kFlags, comm);
  SMI_Channel sums = SMI_Open_send_channel_ad(10, SMI_DOUBLE, 1, kSums, comm, 1000);
  SMI_Channel summed = SMI_Open_recv_channel_ad(10, SMI_DOUBLE, 1, kSums, comm, 1000);
  (void)out, (void)in, (void)flags, (void)flagged, (void)sums, (void)summed;
}

static inline int every_port(void) {
  const SMI_Comm comm = SMI_COMM_WORLD;
  channels(comm);
  SMI_BChannel bcast = SMI_Open_bcast_channel(10, SMI_FLOAT, 3, 0, comm);
  SMI_RChannel sum = SMI_Open_reduce_channel(10, SMI_INT, SMI_ADD, 4, 0, comm);
  SMI_RChannel most = SMI_Open_reduce_channel(10, SMI_SHORT, SMI_MAX, 5, 0, comm);
  SMI_AllreduceChannel all = SMI_Open_allreduce_channel(10, SMI_DOUBLE, SMI_ADD, 6, comm);
  SMI_ScatterChannel scatter = SMI_Open_scatter_channel(10, 10, SMI_SHORT, 7, 0, comm);
  SMI_GatherChannel gather = SMI_Open_gather_channel(10, 10, SMI_LONG, 8, 0, comm);
  SMI_AllgatherChannel allgather = SMI_Open_allgather_channel(10, SMI_INT, 9, comm);
#ifndef TREES
  SMI_RChannel ordered = SMI_Open_reduce_channel(10, SMI_FLOAT, SMI_ADD_ORDERED, 11, 0, comm);
  (void)ordered;
#endif
  (void)bcast, (void)sum, (void)most, (void)all, (void)scatter, (void)gather, (void)allgather;
  SMI_Barrier(10, comm);
  return 0;
}
