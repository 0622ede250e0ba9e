// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of a store of flits: none is lost or doubled, and one that waits is out of sight for one cycle at most. The
/// link counts on that when it says that it is idle.
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
  logic pop, out, waits, seen, seen_q;
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
    waits = 1'b0;
    for (int unsigned i = 0; i < Channels; i++) if (items_q[i] != '0) waits = 1'b1;
  end
  assign seen = in_valid != '0 || out_valid != '0;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Channels; i++) begin
      if (!rst_ni) items_q[i] <= '0;
      else items_q[i] <= items_q[i] + 4'(in_valid[i]) - 4'(pop && out_channel_i == channel_t'(i));
    end
    seen_q <= seen || !rst_ni;
  end

  `GS_ASSERT_NOW(what_waits_is_out_of_sight_for_one_cycle_at_most, !waits || seen || seen_q)
  // What induction needs to know.
  `GS_ASSERT_NOW(behind_an_empty_front_something_lands,
      u_store.back_q == '0 || u_store.landing_q || out_valid != '0)
  `GS_ASSERT_NOW(what_is_out_of_sight_was_seen,
      seen_q || u_store.landing_q || u_store.back_q == '0)

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
    `GS_ASSERT_NOW(every_flit_is_somewhere, items_q[i] == back + 4'(land) + front)
    `GS_ASSERT_NOW(room_is_left_for_what_lands, 4'(u_store.held_q[i]) == 4'(land) + front && 4'(land) + front <= Front)
    `GS_ASSERT_NOW(flags_say_what_pointers_do,
        u_store.back_q[i] == (back != '0) && out_valid[i] == (front != '0) && in_ready[i] == (back != 4'(Depth)))
  end

  `GS_COVER_NOW(a_flit_waits_behind_the_front, u_store.back_q != '0)

  logic unused;
  assign unused = out;
endmodule
