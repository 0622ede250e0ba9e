// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_mesh_local: every flit for the tile (an arbitrary one is watched) is delivered once, in order,
/// unchanged; every slot is returned once; a network that the tile accepts waits for at most three others, whatever
/// the tile does not accept. The tile's flits never overflow the router's buffers.
module prove_local
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
(
  input logic       clk_i,
  input logic       rst_ni,
  // driven by the tile
  input logic       send_i,
  input logic [1:0] send_vnet_i,
  input logic [3:0] ready_i,
  // driven by the router
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

  // An arbitrary network.
  logic [1:0] net_q;
  always_ff @(posedge clk_i) net_q <= net_q;

  function automatic int slot(int v, int n);
    return (32'(u_local.first[v]) + n) % Depth;
  endfunction

  for (genvar v = 0; v < 4; v++) begin : gen_vnet
    int space_q, inside_q, buffered_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        space_q    <= Depth;
        inside_q   <= 0;
        buffered_q <= 0;
      end else begin
        space_q    <= space_q - 32'(in_valid[v]) + 32'(credit[v]);
        inside_q   <= inside_q + 32'(in_valid[v]) - 32'(tile_valid[v]);
        buffered_q <= buffered_q + 32'(out_valid[v]) - 32'(credit_i[v]);
      end
    end
    `GS_ASSUME_NOW(flits_arrive_only_with_a_credit, !in_valid[v] || space_q > 0)
    `GS_ASSUME_NOW(only_used_slots_become_free, !credit_i[v] || buffered_q > 0)
    `GS_ASSERT_NOW(slots_are_returned_once, space_q >= 0 && space_q + inside_q + 32'(credit[v]) == Depth)
    `GS_ASSERT_NOW(waiting_flits_are_visible, inside_q >= 0 && u_local.some[v] == (inside_q != 0))
    `GS_ASSERT_NOW(pointers_are_consistent, 32'(u_local.first[v]) < Depth
                   && slot(v, inside_q) == 32'(u_local.unused_newest[v]) && slot(v, 1) == 32'(u_local.second[v]))
    `GS_ASSERT_NOW(only_waiting_flits_are_offered, !(u_local.valid_q && u_local.offered_q[v]) || inside_q > 0)
    `GS_ASSERT_NOW(router_buffers_never_overflow, buffered_q >= 0 && buffered_q + 32'(out_valid[v]) <= Depth)
    `GS_ASSERT_NOW(router_slots_are_all_accounted_for,
                   32'(u_local.gen_credit[v].count_q) + buffered_q + 32'(out_valid[v]) == Depth)
    `GS_ASSERT_NOW(tile_is_ready_only_with_credits, !tile_ready[v] || u_local.gen_credit[v].count_q != '0)
  end
  `GS_ASSERT_NOW(flits_are_valid_only_if_accepted, (tile_valid & ~ready_i) == '0 && $onehot0(tile_valid))
  `GS_ASSERT_NOW(exactly_one_network_is_offered, $onehot(u_local.offered_q))

  // The watched flit, and how many are ahead of it.
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
  assign offered = watching_q && ahead_q == 0 && u_local.valid_q && u_local.offered_q[net_q];
  `GS_ASSERT_NOW(watched_flit_is_offered_unchanged, !offered || to_tile.payload == 128'(item_q))
  `GS_ASSERT_NOW(watched_flit_is_in_the_queue, !watching_q || (ahead_q >= 0 && ahead_q < held))
  for (genvar v = 0; v < 4; v++) begin : gen_mem
    for (genvar p = 0; p < Depth; p++) begin : gen_slot
      flit_t stored;
      assign stored = u_local.u_buffer.u_ram.mem[v << PtrW | p];
      `GS_ASSERT_NOW(watched_flit_is_in_its_slot, !watching_q || 32'(net_q) != v || slot(v, ahead_q) != p
                     || stored.payload == 128'(item_q))
    end
  end

  // Cycles that a network waits to be offered, although it has a flit and the tile was ready for it in the last
  // cycle.
  int waited_q, current, distance;
  logic waiting;
  assign waiting = u_local.some[net_q] && u_local.ready_before_q[net_q] && !u_local.offered_q[net_q];
  always_comb begin
    current = 0;
    for (int v = 0; v < 4; v++) if (u_local.offered_q[v]) current = v;
    distance = 32'(net_q) - current + ((32'(net_q) < current) ? 4 : 0);
  end
  always_ff @(posedge clk_i) waited_q <= (rst_ni && waiting) ? waited_q + 1 : 0;
  `GS_ASSERT_NOW(at_most_three_others_are_offered_first, waited_q >= 0 && waited_q < 4
                 && (!waiting || waited_q + distance < 4))

  `GS_COVER_NOW(watched_flit_is_accepted_last, offered && tile_valid[net_q] && net_q == 2'd1
                && u_local.unused_newest[1] == PtrW'(3))
  `GS_COVER_NOW(unaccepted_network_is_bypassed, u_local.valid_q && tile_valid[2] && gen_vnet[1].inside_q == Depth
                && !ready_i[1])
  `GS_COVER_NOW(tile_has_used_all_credits, gen_vnet[3].buffered_q == Depth && !tile_ready[3])
endmodule
