// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_mesh_input with its buffers: every flit, whichever is watched, leaves once, in order, unchanged, with
/// the route of its packet's head; a place is given back once; a network that could send waits for three others at
/// most.
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

  // Tiles of the first two rows and columns, of this board or not.
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

  // The network that is watched, any of them.
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
    `GS_ASSUME_NOW(a_flit_comes_with_a_credit, !in_valid[v] || space_q > 0)
    `GS_ASSUME_NOW(only_a_flit_could_leave, !able_i[v] || want[v] != '0)
    `GS_ASSERT_NOW(places_are_given_back_once, space_q >= 0 && space_q + inside_q + 32'(credit[v]) == Depth)
    `GS_ASSERT_NOW(flits_are_seen, inside_q >= 0 && u_input.some[v] == (inside_q != 0)
                   && (want[v] != '0) == (inside_q != 0))
    `GS_ASSERT_NOW(a_flit_has_one_way, $onehot0(want[v]))
    `GS_ASSERT_NOW(pointers_follow_each_other, 32'(u_input.first[v]) < Depth
                   && place(v, inside_q) == 32'(u_input.newest[v])
                   && place(v, 1) == 32'(u_input.second[v]))
  end
  `GS_ASSUME_NOW(only_what_could_leave_is_granted, !grant_i || (pick & able_i) != '0)

  function automatic int place(int v, int n);
    return (32'(u_input.first[v]) + n) % Depth;
  endfunction

  // Its route: that of its packet's head. Typed again.
  logic [3:0] open_q;
  dirs_t [3:0] way_q;
  dirs_t way;
  always_comb begin
    way = '0;
    if (tile_i[2] || !tile_i[0]) way[West] = 1'b1;
    else if (tile_i[1] && MeshHeight > 1) way[North] = 1'b1;
    else way[Local] = 1'b1;
    if (open_q[vnet_i]) way = way_q[vnet_i];
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) open_q <= '0;
    else if (valid_i) open_q[vnet_i] <= !last_i;
    if (valid_i) way_q[vnet_i] <= way;
  end
  for (genvar v = 0; v < 4; v++) begin : gen_way
    `GS_ASSERT_NOW(packets_are_followed, open_q[v] == u_input.open_q[v]
                   && (!open_q[v] || (way_q[v] == u_input.route_q[v] && $onehot(way_q[v]))))
  end

  // The flit that is watched, how many are before it, and whether it is at the output.
  int ahead_q;
  logic watching_q, leaving_q, last_q;
  logic [2:0] item_q;
  dirs_t item_way_q;
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
      watching_q <= 1'b1;
      item_q     <= data_i;
      last_q     <= last_i;
      item_way_q <= way;
      ahead_q    <= held - 32'(pop[net_q]);
    end
  end
  `GS_ASSERT_NOW(it_has_its_packets_route, !watching_q || ahead_q != 0
                 || (want[net_q] == item_way_q && last[net_q] == last_q))
  `GS_ASSERT_NOW(it_leaves_as_it_came, !leaving_q || (out.payload == {125'd0, item_q} && out.last == last_q))

  // What induction needs to know of the inside.
  `GS_ASSERT_NOW(it_is_in_the_queue, !watching_q || (ahead_q >= 0 && ahead_q < held))
  `GS_ASSERT_NOW(it_has_one_way, !watching_q || $onehot(item_way_q))
  for (genvar v = 0; v < 4; v++) begin : gen_mem
    for (genvar p = 0; p < Depth; p++) begin : gen_place
      flit_t stored;
      assign stored = u_input.u_buffer.u_ram.mem[v << PtrW | p];
      `GS_ASSERT_NOW(it_is_in_its_place, !watching_q || 32'(net_q) != v || place(v, ahead_q) != p
                     || (stored.payload == {125'd0, item_q} && stored.last == last_q))
      `GS_ASSERT_NOW(all_that_waits_has_one_way,
                     (p + Depth - 32'(u_input.first[v])) % Depth >= gen_vnet[v].inside_q
                     || (p + Depth - 32'(u_input.first[v])) % Depth == 0
                     || $onehot(u_input.gen_vnet[v].u_info.mem[p][5:1]))
      `GS_ASSERT_NOW(so_is_what_is_known_of_it, !watching_q || 32'(net_q) != v || ahead_q == 0 || place(v, ahead_q) != p
                     || u_input.gen_vnet[v].u_info.mem[p] == {item_way_q, last_q})
    end
  end

  // A network that could send and is not picked: turns of others until it is. What could leave can until it does.
  int turns_q, distance, picked;
  logic waits, waited_q;
  logic [3:0] was_q;
  assign waits = able_i[net_q] && !pick[net_q];
  always_comb begin
    picked = 0;
    for (int v = 0; v < 4; v++) if (pick[v]) picked = v;
    distance = 32'(net_q) - picked + ((32'(net_q) < picked) ? 4 : 0);
  end
  always_ff @(posedge clk_i) begin
    waited_q <= rst_ni && waits;
    was_q    <= pick;
    if (!rst_ni || !waits) turns_q <= 0;
    else if (waited_q && was_q != pick) turns_q <= turns_q + 1;
  end
  `GS_ASSUME_NOW(what_could_leave_still_can, !waited_q || able_i[net_q])
  `GS_ASSERT_NOW(one_network_is_picked, $onehot(pick))
  `GS_ASSERT_NOW(nobody_waits_for_more_than_all_others, !waits || !waited_q
                 || turns_q + 32'(was_q != pick) + distance < 4)
  `GS_ASSERT_NOW(turns_are_counted, turns_q >= 0 && (turns_q == 0 || waited_q))
  logic over_q;
  always_ff @(posedge clk_i) over_q <= rst_ni && waits && (grant_i || (pick & able_i) == '0);
  `GS_ASSERT_NOW(a_turn_ends_with_its_flit, !over_q || was_q != pick)
  `GS_COVER_NOW(the_watched_one_leaves_last, leaving_q && turns_q == 0
                && u_input.newest[2] == PtrW'(3) && net_q == 2'd2)
  `GS_COVER_NOW(a_buffer_is_full, gen_vnet[1].inside_q == Depth)
  `GS_COVER_NOW(two_have_passed, turns_q == 2)
endmodule
