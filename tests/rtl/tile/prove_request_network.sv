// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_tile_switch: a release or another job, in any cycle, never blocks the tile's request network.
///
/// A message to the accelerator waits only while it is of the next epoch of the tile's job, or while the accelerator is
/// not ready. A message that is neither of this epoch nor of the next one leaves in the cycle in which that is so, also
/// if its header arrives in the cycle of the release. It never reaches the accelerator.
module prove_request_network
  import gossamer_pkg::*;
  import gs_address_pkg::*;
(
  input logic       clk_i,
  input logic       rst_ni,
  input logic       release_i,
  input logic       change_i,
  input logic [4:0] job_i,
  input logic       valid_i,
  input logic       last_i,
  input logic       to_loader_i,
  input logic       here_i,
  input logic [4:0] of_job_i,
  input logic [1:0] of_epoch_i,
  input logic       load_ready_i,
  input logic       acc_ready_i
);
  // The tile's job and epoch, as its mailbox and board give them.
  logic [4:0] job_q;
  logic [1:0] epoch_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      job_q   <= '0;
      epoch_q <= '0;
    end else begin
      if (release_i) epoch_q <= epoch_q + 2'd1;
      if (change_i) job_q <= job_i;
    end
  end

  address_accelerator_t dest;
  flit_t in;
  assign dest = '{kind: to_loader_i ? EndpointTile : EndpointAccelerator, board: here_i ? 12'd0 : 12'd1, default: '0};
  assign in   = '{kind: FlitKindBody, last: last_i, vnet: VnetRequest, job: of_job_i, epoch: of_epoch_i, dest: dest,
                  default: '0};

  logic [3:0] ready, unused_out_valid;
  logic [11:0] unused_ready;
  logic [1:0] unused_dropped;
  logic acc_valid, load_valid, dropped_own, unused_acc_dropped;
  flit_t unused_flit[4];
  flit_t to_acc;
  gs_idle_pkg::idle_drop_t drop;

  gs_tile_switch #(
    .Accelerator(1'b1)
  ) u_switch (
    .clk_i,
    .rst_ni,
    .board_i          (12'd0),
    .tile_y_i         (4'd0),
    .tile_x_i         (4'd0),
    .job_i            (job_q),
    .epoch_i          (epoch_q),
    .wave_i           (1'b0),
    .cluster_i        ('{routers: 1'b1, boards: 13'd2, hosts: 13'd1}),
    .net_in_valid_i   ({2'b00, valid_i, 1'b0} & {2'b00, ready[VnetRequest], 1'b0}),
    .net_in_ready_o   (ready),
    .net_in_i         (in),
    .net_out_valid_o  (unused_out_valid),
    .net_out_ready_i  ('1),
    .net_out_o        (unused_flit[0]),
    .box_in_valid_o   (unused_ready[0]),
    .box_in_ready_i   (1'b1),
    .box_in_o         (unused_flit[1]),
    .box_out_valid_i  (1'b0),
    .box_out_ready_o  (unused_ready[1]),
    .box_out_i        ('0),
    .far_out_valid_i  (1'b0),
    .far_out_ready_o  (unused_ready[2]),
    .far_out_i        ('0),
    .load_in_valid_o  (load_valid),
    .load_in_ready_i  (load_ready_i),
    .load_in_o        (unused_flit[2]),
    .load_out_valid_i (1'b0),
    .load_out_ready_o (unused_ready[3]),
    .load_out_i       ('0),
    .acc_in_valid_o   (acc_valid),
    .acc_in_ready_i   (acc_ready_i),
    .acc_in_o         (to_acc),
    .acc_out_valid_i  (1'b0),
    .acc_out_ready_o  (unused_ready[4]),
    .acc_out_i        ('0),
    .fault_valid_i    (1'b0),
    .fault_ready_o    (unused_ready[5]),
    .fault_i          ('0),
    .dma_valid_i      (1'b0),
    .dma_ready_o      (unused_ready[6]),
    .dma_i            ('0),
    .dma_reply_valid_o(unused_ready[7]),
    .dma_reply_o      (unused_flit[3]),
    .busy_o           (unused_ready[8]),
    .acc_dropped_o    (unused_acc_dropped),
    .dropped_o        (unused_dropped),
    .dropped_own_o    (dropped_own),
    .drop_o           (drop)
  );

  // The header that waits in the switch, as the inputs showed it.
  logic waits_q, first_q, for_acc_q, after_release_q;
  logic [4:0] job_of_q;
  logic [1:0] epoch_of_q;
  logic taken, leaves, over;
  assign taken  = valid_i && ready[VnetRequest];
  assign leaves = ready[VnetRequest];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waits_q <= 1'b0;
      first_q <= 1'b1;
    end else begin
      if (taken) first_q <= last_i;
      if (leaves) waits_q <= taken && first_q;
    end
    if (leaves) begin
      for_acc_q       <= !to_loader_i && here_i && of_job_i == job_q && 2'(of_epoch_i - epoch_q) <= 2'd1;
      job_of_q        <= of_job_i;
      epoch_of_q      <= of_epoch_i;
      after_release_q <= release_i;
    end
  end
  assign over = job_of_q != job_q || 2'(epoch_of_q - epoch_q) > 2'd1;

  // Invariants for the induction.
  `GS_ASSERT_NOW(first_flits_agree, first_q == u_switch.first_q)
  `GS_ASSERT_NOW(waiting_header_is_in_the_register,
                 waits_q == (u_switch.request_valid_q && u_switch.request_first_q))
  `GS_ASSERT_NOW(waiting_header_is_the_one_that_arrived,
                 !waits_q || (u_switch.request_q.job == job_of_q && u_switch.request_q.epoch == epoch_of_q))
  `GS_ASSERT_NOW(accelerator_receives_its_own_messages,
                 !waits_q || u_switch.to_acc_q == for_acc_q)
  `GS_ASSERT_NOW(message_of_this_job_is_known_as_such,
                 !(waits_q && for_acc_q) || (u_switch.own_q && !u_switch.to_load_q))

  `GS_ASSERT_NOW(stale_message_leaves_at_once, !(waits_q && for_acc_q && over) || leaves)
  `GS_ASSERT_NOW(stale_message_is_dropped, !(waits_q && for_acc_q && over) || drop.valid)
  `GS_ASSERT_NOW(stale_message_of_this_job_counts_as_received,
                 !(waits_q && for_acc_q && over) || dropped_own == (job_of_q == job_q))
  `GS_ASSERT_NOW(stale_message_never_reaches_the_accelerator,
                 !(waits_q && for_acc_q && over) || !u_switch.acc_net_valid)
  `GS_ASSERT_NOW(message_waits_only_for_its_epoch_and_the_accelerator,
                 !(waits_q && for_acc_q) || leaves || epoch_of_q != epoch_q || !u_switch.acc_net_ready)
  `GS_ASSERT_NOW(present_message_is_not_dropped, !(waits_q && for_acc_q && !over) || !drop.valid)

  `GS_COVER_NOW(header_arrives_in_the_cycle_of_the_release,
                waits_q && for_acc_q && over && after_release_q && job_of_q == job_q)
  `GS_COVER_NOW(waiting_message_loses_its_job, waits_q && for_acc_q && job_of_q != job_q && epoch_of_q != epoch_q)
  `GS_COVER_NOW(message_waits_for_its_epoch_and_is_accepted, acc_valid && acc_ready_i && epoch_q == 2'd1)

  logic unused;
  assign unused = ^{unused_out_valid, unused_ready, unused_dropped, unused_acc_dropped, load_valid, to_acc, drop,
                    unused_flit[0], unused_flit[1], unused_flit[2], unused_flit[3]};
endmodule
