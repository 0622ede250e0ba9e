// SPDX-License-Identifier: Apache-2.0
/// The signals of streaming ports and blocks of collectives of the uncore's model, driven and sampled for kernels.
#pragma once

#include <gossamer/config.h>

#include "Vgs_sim_uncore.h"
#include "kernel_state.h"

namespace gossamer::sim {

constexpr unsigned kStreamPorts = sizeof(Vgs_sim_uncore::send_valid_i) / sizeof(CData);
constexpr unsigned kStreamBlocks = sizeof(Vgs_sim_uncore::open_valid_i) / sizeof(CData);

static_assert(kStreamPorts <= Kernels::kMostPorts && kStreamBlocks <= Kernels::kMostBlocks);

/// Sets the inputs of the coming cycle. `barrier_block` is the block of the barrier; kStreamBlocks: none.
inline void drive(const Kernels& kernels, Vgs_sim_uncore& rest, unsigned barrier_block) {
  for (unsigned p = 0; p < kStreamPorts; ++p) {
    const GsStreamPort& port = kernels.ports[p];
    rest.send_valid_i[p] = port.opens_send;
    rest.send_element_i[p] = port.send_type;
    rest.send_rank_i[p] = port.send_rank;
    rest.send_count_i[p] = port.send_count;
    rest.s_valid_i[p] = port.push_valid;
    rest.s_data_i[p] = port.push_data;
    rest.recv_valid_i[p] = port.opens_receive;
    rest.recv_element_i[p] = port.receive_type;
    rest.recv_rank_i[p] = port.receive_rank;
    rest.recv_count_i[p] = port.receive_count;
    rest.m_ready_i[p] = port.pop_ready;
  }
  for (unsigned b = 0; b < kStreamBlocks; ++b) {
    const GsStreamBlock& block = kernels.blocks[b];
    rest.open_valid_i[b] = block.opens;
    rest.open_kind_i[b] = block.kind;
    rest.open_element_i[b] = block.type;
    rest.open_op_i[b] = block.op;
    rest.open_root_i[b] = block.root;
    rest.open_count_i[b] = block.count;
    rest.give_valid_i[b] = block.push_valid;
    rest.give_data_i[b] = block.push_data;
    rest.take_ready_i[b] = block.pop_ready;
  }
  if (barrier_block >= kStreamBlocks) return;
  rest.open_valid_i[barrier_block] = kernels.barrier.enters;
  rest.open_kind_i[barrier_block] = static_cast<CData>(config::SmiCollective::Barrier);
  rest.take_ready_i[barrier_block] = kernels.barrier.leaves;
}

/// Records the handshakes of the coming clock edge; whether there are any.
inline bool sample(Kernels& kernels, const Vgs_sim_uncore& rest, unsigned barrier_block) {
  bool some = false;
  for (unsigned p = 0; p < kStreamPorts; ++p) {
    GsStreamPort& port = kernels.ports[p];
    port.opened_send = port.opens_send && rest.send_ready_o[p];
    port.pushed = port.push_valid && rest.s_ready_o[p];
    port.opened_receive = port.opens_receive && rest.recv_ready_o[p];
    port.popped = port.pop_ready && rest.m_valid_o[p];
    port.pop_data = rest.m_data_o[p];
    some |= port.opened_send || port.pushed || port.opened_receive || port.popped;
  }
  for (unsigned b = 0; b < kStreamBlocks; ++b) {
    GsStreamBlock& block = kernels.blocks[b];
    block.opened = block.opens && rest.open_ready_o[b];
    block.pushed = block.push_valid && rest.give_ready_o[b];
    block.popped = block.pop_ready && rest.take_valid_o[b];
    block.pop_data = rest.take_data_o[b];
    some |= block.opened || block.pushed || block.popped;
  }
  if (barrier_block >= kStreamBlocks) return some;
  GsStreamBarrier& barrier = kernels.barrier;
  barrier.has_entered = barrier.enters && rest.open_ready_o[barrier_block];
  barrier.has_left = barrier.leaves && rest.take_valid_o[barrier_block];
  return some || barrier.has_entered || barrier.has_left;
}

}  // namespace gossamer::sim
