// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_mesh_local: every flit for the tile, whichever is watched, is taken once, in order, unchanged; places
/// are given back once; a network that the tile takes waits for three others at most, whatever the tile does not
/// take. The tile's flits never overflow the router's buffers.
module prove_local
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
(
  input logic       clk_i,
  input logic       rst_ni,
  // the tile's
  input logic       send_i,
  input logic [1:0] send_vnet_i,
  input logic [3:0] ready_i,
  // the router's
  input logic       valid_i,
  input logic [1:0] vnet_i,
  input logic [2:0] data_i,
  input logic [3:0] credit_i,
  input logic       watch_i
);
  localparam int Depth = MeshBufferFlits;
  localparam int unsigned PtrW = $clog2(Depth);

  logic [3:0] tile_ready, tile_valid, out_valid, sent, in_valid, credit;
  flit_t in, to_tile, out;

  assign in       = '{kind: FlitKindBody, vnet: VnetMailbox, payload: 128'(data_i), default: '0};
  assign in_valid = valid_i ? 4'd1 << vnet_i : '0;
  assign sent     = send_i ? (4'd1 << send_vnet_i) & tile_ready : '0;

  gs_mesh_local u_local (
    .clk_i,
    .rst_ni,
    .tile_valid_i(sent),
    .tile_ready_o(tile_ready),
    .tile_i      (in),
    .tile_valid_o(tile_valid),
    .tile_ready_i(ready_i),
    .tile_o      (to_tile),
    .out_valid_o (out_valid),
    .out_o       (out),
    .out_credit_i(credit_i),
    .in_valid_i  (in_valid),
    .in_i        (in),
    .in_credit_o (credit)
  );

  // Any network.
  logic [1:0] net_q;
  always_ff @(posedge clk_i) net_q <= net_q;

  function automatic int place(int v, int n);
    return (32'(u_local.first[v]) + n) % Depth;
  endfunction

  for (genvar v = 0; v < 4; v++) begin : gen_vnet
    int space_q, inside_q, have_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        space_q  <= Depth;
        inside_q <= 0;
        have_q   <= 0;
      end else begin
        space_q  <= space_q - 32'(in_valid[v]) + 32'(credit[v]);
        inside_q <= inside_q + 32'(in_valid[v]) - 32'(tile_valid[v]);
        have_q   <= have_q + 32'(out_valid[v]) - 32'(credit_i[v]);
      end
    end
    `GS_ASSUME_NOW(a_flit_comes_with_a_credit, !in_valid[v] || space_q > 0)
    `GS_ASSUME_NOW(only_a_place_that_is_used_becomes_free, !credit_i[v] || have_q > 0)
    `GS_ASSERT_NOW(places_are_given_back_once, space_q >= 0 && space_q + inside_q + 32'(credit[v]) == Depth)
    `GS_ASSERT_NOW(flits_are_seen, inside_q >= 0 && u_local.some[v] == (inside_q != 0))
    `GS_ASSERT_NOW(pointers_follow_each_other, 32'(u_local.first[v]) < Depth
                   && place(v, inside_q) == 32'(u_local.unused_newest[v]) && place(v, 1) == 32'(u_local.second[v]))
    `GS_ASSERT_NOW(only_what_is_there_is_offered, !(u_local.valid_q && u_local.turn_q[v]) || inside_q > 0)
    `GS_ASSERT_NOW(no_buffer_of_the_router_overflows, have_q >= 0 && have_q + 32'(out_valid[v]) <= Depth)
    `GS_ASSERT_NOW(all_its_places_are_counted,
                   32'(u_local.gen_credit[v].count_q) + have_q + 32'(out_valid[v]) == Depth)
    `GS_ASSERT_NOW(the_tile_may_send_if_there_is_room, !tile_ready[v] || u_local.gen_credit[v].count_q != '0)
  end
  `GS_ASSERT_NOW(a_flit_is_valid_where_it_is_taken, (tile_valid & ~ready_i) == '0 && $onehot0(tile_valid))
  `GS_ASSERT_NOW(one_network_has_the_turn, $onehot(u_local.turn_q))

  // The flit that is watched, and how many are before it.
  int ahead_q, held;
  logic watching_q;
  logic [2:0] item_q;
  assign held = (net_q == 2'd0) ? gen_vnet[0].inside_q : (net_q == 2'd1) ? gen_vnet[1].inside_q
              : (net_q == 2'd2) ? gen_vnet[2].inside_q : gen_vnet[3].inside_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) watching_q <= 1'b0;
    else if (watching_q) begin
      if (tile_valid[net_q]) ahead_q <= ahead_q - 1;
      if (tile_valid[net_q] && ahead_q == 0) watching_q <= 1'b0;
    end else if (watch_i && in_valid[net_q]) begin
      watching_q <= 1'b1;
      item_q     <= data_i;
      ahead_q    <= held - 32'(tile_valid[net_q]);
    end
  end
  logic offered;
  assign offered = watching_q && ahead_q == 0 && u_local.valid_q && u_local.turn_q[net_q];
  `GS_ASSERT_NOW(it_is_offered_as_it_came, !offered || to_tile.payload == 128'(item_q))
  `GS_ASSERT_NOW(it_is_in_the_queue, !watching_q || (ahead_q >= 0 && ahead_q < held))
  for (genvar v = 0; v < 4; v++) begin : gen_mem
    for (genvar p = 0; p < Depth; p++) begin : gen_place
      flit_t stored;
      assign stored = u_local.u_buffer.u_ram.mem[v << PtrW | p];
      `GS_ASSERT_NOW(it_is_in_its_place, !watching_q || 32'(net_q) != v || place(v, ahead_q) != p
                     || stored.payload == 128'(item_q))
    end
  end

  // Cycles that a network waits for its turn, though it has a flit and the tile took such in the last cycle.
  int waited_q, turn, distance;
  logic waits;
  assign waits = u_local.some[net_q] && u_local.hint_q[net_q] && !u_local.turn_q[net_q];
  always_comb begin
    turn = 0;
    for (int v = 0; v < 4; v++) if (u_local.turn_q[v]) turn = v;
    distance = 32'(net_q) - turn + ((32'(net_q) < turn) ? 4 : 0);
  end
  always_ff @(posedge clk_i) waited_q <= (rst_ni && waits) ? waited_q + 1 : 0;
  `GS_ASSERT_NOW(nobody_waits_for_more_than_all_others, waited_q >= 0 && waited_q < 4
                 && (!waits || waited_q + distance < 4))

  `GS_COVER_NOW(the_watched_one_is_taken_last, offered && tile_valid[net_q] && net_q == 2'd1
                && u_local.unused_newest[1] == PtrW'(3))
  `GS_COVER_NOW(one_is_passed_that_is_not_taken, u_local.valid_q && tile_valid[2] && gen_vnet[1].inside_q == Depth
                && !ready_i[1])
  `GS_COVER_NOW(the_tile_has_used_all_credits, gen_vnet[3].have_q == Depth && !tile_ready[3])
endmodule
