// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of a store of flits: no flit is lost or duplicated, and a waiting flit is hidden for at most one cycle. The
/// link's idle output relies on this.
module prove_store
  import gs_link_pkg::*;
#(
  parameter int unsigned Depth = 4
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic [Channels-1:0] in_valid_i,
  input logic                in_i,
  input channel_t            out_channel_i,
  input logic                pop_i
);
  localparam int unsigned PtrW = $clog2(Depth);
  localparam logic [3:0] Front = 4'd4;

  logic [Channels-1:0] in_ready, in_valid, out_valid;
  logic pop, out, waiting, visible, visible_q;
  logic [3:0] items_q[Channels];

  assign in_valid = in_valid_i & (~in_valid_i + 1'b1) & in_ready;
  assign pop      = pop_i && out_valid[out_channel_i];

  gs_link_store #(
    .data_t(logic),
    .Depth (Depth)
  ) u_store (
    .clk_i,
    .rst_ni,
    .in_valid_i (in_valid),
    .in_ready_o (in_ready),
    .in_data_i  (in_i),
    .out_valid_o(out_valid),
    .out_channel_i,
    .out_data_o (out),
    .out_pop_i  (pop)
  );

  always_comb begin
    waiting = 1'b0;
    for (int unsigned i = 0; i < Channels; i++) if (items_q[i] != '0) waiting = 1'b1;
  end
  assign visible = in_valid != '0 || out_valid != '0;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Channels; i++) begin
      if (!rst_ni) items_q[i] <= '0;
      else items_q[i] <= items_q[i] + 4'(in_valid[i]) - 4'(pop && out_channel_i == channel_t'(i));
    end
    visible_q <= visible || !rst_ni;
  end

  `GS_ASSERT_NOW(waiting_flit_is_hidden_for_at_most_one_cycle, !waiting || visible || visible_q)
  // Invariants for the induction.
  `GS_ASSERT_NOW(flit_lands_if_only_the_block_ram_holds_flits,
      u_store.back_q == '0 || u_store.landing_q || out_valid != '0)
  `GS_ASSERT_NOW(hidden_flit_was_visible_before,
      visible_q || u_store.landing_q || u_store.back_q == '0)

  for (genvar i = 0; i < Channels; i++) begin : gen_channel
    logic [3:0] back, front;
    logic land;
    assign land = u_store.landing_q && u_store.land_q == channel_t'(i);
    always_comb begin
      back  = {(4 - PtrW)'(0), PtrW'(u_store.wptr_q[i] - u_store.rptr_q[i])};
      front = {2'd0, 2'(u_store.fwptr_q[i] - u_store.frptr_q[i])};
      if (u_store.back_q[i] && back == '0) back = 4'(Depth);
      if (out_valid[i] && front == '0) front = Front;
    end
    `GS_ASSERT_NOW(every_flit_is_stored_once, items_q[i] == back + 4'(land) + front)
    `GS_ASSERT_NOW(front_has_space_for_landing_flit,
        4'(u_store.held_q[i]) == 4'(land) + front && 4'(land) + front <= Front)
    `GS_ASSERT_NOW(flags_agree_with_pointers,
        u_store.back_q[i] == (back != '0) && out_valid[i] == (front != '0) && in_ready[i] == (back != 4'(Depth)))
  end

  `GS_COVER_NOW(flit_waits_in_block_ram, u_store.back_q != '0)

  logic unused;
  assign unused = out;
endmodule
