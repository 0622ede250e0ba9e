// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_mesh_input with its buffers: every flit (an arbitrary one is watched) leaves once, in order, unchanged,
/// with the route of its packet's head; every slot is returned once; a network that could send waits for at
/// most three others.
module prove_input
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        valid_i,
  input logic [1:0]  vnet_i,
  input logic        last_i,
  input logic [2:0]  data_i,
  input logic [3:0]  tile_i,
  input logic [3:0]  able_i,
  input logic        grant_i,
  input logic        watch_i
);
  localparam int Depth = MeshBufferFlits;
  localparam int unsigned PtrW = $clog2(Depth);

  logic [3:0] in_valid, credit, last, pick;
  dirs_t [3:0] want, unused_may_want;
  flit_t in, out;
  address_thread_t dest;

  // Tiles of the first two rows and columns, of this board or of another.
  assign dest     = '{kind: EndpointThread, board: 12'(tile_i[2]), tile_y: 4'(tile_i[1]), tile_x: 4'(tile_i[0]),
                      default: '0};
  assign in       = '{kind: FlitKindBody, vnet: VnetMailbox, last: last_i, dest: dest, payload: 128'(data_i),
                      default: '0};
  assign in_valid = valid_i ? 4'd1 << vnet_i : '0;

  gs_mesh_input #(.From(Local)) u_input (
    .clk_i,
    .rst_ni,
    .board_i    ('0),
    .tile_y_i   ('0),
    .tile_x_i   (4'd1),
    .to_exit_i  (dirs_t'(1) << West),
    .in_valid_i (in_valid),
    .in_i       (in),
    .in_credit_o(credit),
    .want_o     (want),
    .last_o     (last),
    .may_want_o (unused_may_want),
    .able_i,
    .pick_o     (pick),
    .grant_i,
    .out_o      (out)
  );

  // The network that is watched: an arbitrary one.
  logic [1:0] net_q;
  logic [3:0] net, pop;
  always_ff @(posedge clk_i) net_q <= net_q;
  assign net = 4'd1 << net_q;
  assign pop = pick & {4{grant_i}};

  for (genvar v = 0; v < 4; v++) begin : gen_vnet
    int space_q, inside_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        space_q  <= Depth;
        inside_q <= 0;
      end else begin
        space_q  <= space_q - 32'(in_valid[v]) + 32'(credit[v]);
        inside_q <= inside_q + 32'(in_valid[v]) - 32'(pop[v]);
      end
    end
    `GS_ASSUME_NOW(flits_arrive_only_with_a_credit, !in_valid[v] || space_q > 0)
    `GS_ASSUME_NOW(only_waiting_flits_are_able_to_leave, !able_i[v] || want[v] != '0)
    `GS_ASSERT_NOW(slots_are_returned_once, space_q >= 0 && space_q + inside_q + 32'(credit[v]) == Depth)
    `GS_ASSERT_NOW(waiting_flits_are_visible, inside_q >= 0 && u_input.some[v] == (inside_q != 0)
                   && (want[v] != '0) == (inside_q != 0))
    `GS_ASSERT_NOW(flits_want_at_most_one_output, $onehot0(want[v]))
    `GS_ASSERT_NOW(pointers_are_consistent, 32'(u_input.first[v]) < Depth
                   && slot(v, inside_q) == 32'(u_input.newest[v])
                   && slot(v, 1) == 32'(u_input.second[v]))
  end
  `GS_ASSUME_NOW(only_able_flits_are_granted, !grant_i || (pick & able_i) != '0)

  function automatic int slot(int v, int n);
    return (32'(u_input.first[v]) + n) % Depth;
  endfunction

  // The reference route: that of the packet's head, written independently of the package.
  logic [3:0] open_q;
  dirs_t [3:0] expected_route_q;
  dirs_t expected_route;
  always_comb begin
    expected_route = '0;
    if (tile_i[2] || !tile_i[0]) expected_route[West] = 1'b1;
    else if (tile_i[1] && MeshHeight > 1) expected_route[North] = 1'b1;
    else expected_route[Local] = 1'b1;
    if (open_q[vnet_i]) expected_route = expected_route_q[vnet_i];
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) open_q <= '0;
    else if (valid_i) open_q[vnet_i] <= !last_i;
    if (valid_i) expected_route_q[vnet_i] <= expected_route;
  end
  for (genvar v = 0; v < 4; v++) begin : gen_route
    `GS_ASSERT_NOW(packet_state_is_tracked, open_q[v] == u_input.open_q[v]
                   && (!open_q[v] || (expected_route_q[v] == u_input.route_q[v] && $onehot(expected_route_q[v]))))
  end

  // The watched flit, how many are ahead of it, and whether it is at the output.
  int ahead_q;
  logic watching_q, leaving_q, last_q;
  logic [2:0] item_q;
  dirs_t item_route_q;
  int held;
  assign held = (net_q == 2'd0) ? gen_vnet[0].inside_q : (net_q == 2'd1) ? gen_vnet[1].inside_q
                : (net_q == 2'd2) ? gen_vnet[2].inside_q : gen_vnet[3].inside_q;
  always_ff @(posedge clk_i) begin
    leaving_q <= rst_ni && watching_q && pop[net_q] && ahead_q == 0;
    if (!rst_ni) watching_q <= 1'b0;
    else if (watching_q) begin
      if (pop[net_q]) ahead_q <= ahead_q - 1;
      if (pop[net_q] && ahead_q == 0) watching_q <= 1'b0;
    end else if (watch_i && in_valid[net_q] && !leaving_q) begin
      watching_q   <= 1'b1;
      item_q       <= data_i;
      last_q       <= last_i;
      item_route_q <= expected_route;
      ahead_q      <= held - 32'(pop[net_q]);
    end
  end
  `GS_ASSERT_NOW(watched_flit_has_its_packets_route, !watching_q || ahead_q != 0
                 || (want[net_q] == item_route_q && last[net_q] == last_q))
  `GS_ASSERT_NOW(watched_flit_leaves_unchanged, !leaving_q || (out.payload == {125'd0, item_q} && out.last == last_q))

  // Invariants of the internal state, for the induction.
  `GS_ASSERT_NOW(watched_flit_is_in_the_queue, !watching_q || (ahead_q >= 0 && ahead_q < held))
  `GS_ASSERT_NOW(watched_flit_has_one_route, !watching_q || $onehot(item_route_q))
  for (genvar v = 0; v < 4; v++) begin : gen_mem
    for (genvar p = 0; p < Depth; p++) begin : gen_slot
      flit_t stored;
      assign stored = u_input.u_buffer.u_ram.mem[v << PtrW | p];
      `GS_ASSERT_NOW(watched_flit_is_in_its_slot, !watching_q || 32'(net_q) != v || slot(v, ahead_q) != p
                     || (stored.payload == {125'd0, item_q} && stored.last == last_q))
      `GS_ASSERT_NOW(all_waiting_flits_have_one_route,
                     (p + Depth - 32'(u_input.first[v])) % Depth >= gen_vnet[v].inside_q
                     || (p + Depth - 32'(u_input.first[v])) % Depth == 0
                     || $onehot(u_input.gen_vnet[v].u_info.mem[p][5:1]))
      `GS_ASSERT_NOW(watched_route_is_in_its_slot,
                     !watching_q || 32'(net_q) != v || ahead_q == 0 || slot(v, ahead_q) != p
                     || u_input.gen_vnet[v].u_info.mem[p] == {item_route_q, last_q})
    end
  end

  // A network that could send and is not picked: picks of others until it is. It stays able until it sends.
  int picks_q, distance, picked;
  logic waiting, waited_q;
  logic [3:0] was_q;
  assign waiting = able_i[net_q] && !pick[net_q];
  always_comb begin
    picked = 0;
    for (int v = 0; v < 4; v++) if (pick[v]) picked = v;
    distance = 32'(net_q) - picked + ((32'(net_q) < picked) ? 4 : 0);
  end
  always_ff @(posedge clk_i) begin
    waited_q <= rst_ni && waiting;
    was_q    <= pick;
    if (!rst_ni || !waiting) picks_q <= 0;
    else if (waited_q && was_q != pick) picks_q <= picks_q + 1;
  end
  `GS_ASSUME_NOW(able_flits_stay_able, !waited_q || able_i[net_q])
  `GS_ASSERT_NOW(exactly_one_network_is_picked, $onehot(pick))
  `GS_ASSERT_NOW(at_most_three_others_are_picked_first, !waiting || !waited_q
                 || picks_q + 32'(was_q != pick) + distance < 4)
  `GS_ASSERT_NOW(picks_are_counted, picks_q >= 0 && (picks_q == 0 || waited_q))
  logic over_q;
  always_ff @(posedge clk_i) over_q <= rst_ni && waiting && (grant_i || (pick & able_i) == '0);
  `GS_ASSERT_NOW(pick_moves_on_after_its_flit, !over_q || was_q != pick)
  `GS_COVER_NOW(watched_flit_leaves_last, leaving_q && picks_q == 0
                && u_input.newest[2] == PtrW'(3) && net_q == 2'd2)
  `GS_COVER_NOW(buffer_is_full, gen_vnet[1].inside_q == Depth)
  `GS_COVER_NOW(two_others_were_picked, picks_q == 2)
endmodule
