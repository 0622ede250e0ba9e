// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_mesh_output, for all that inputs may ask for and all that a receiver may give back: in a virtual
/// network no packet is mixed with another on the link; what leaves on the link is what was granted, once; the
/// receiver's buffers never overflow; what could leave can leave until it does; a packet waits for one packet of each
/// other input at most.
module prove_output
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
(
  input logic       clk_i,
  input logic       rst_ni,
  input logic [4:0][3:0] want_i,
  input logic [4:0][3:0] may_want_i,
  input logic [4:0][3:0] last_i,
  input logic [4:0][1:0] pick_i,
  input logic [3:0] credit_i
);
  localparam int unsigned N = Directions;
  localparam int Depth = MeshBufferFlits;

  logic [4:0][3:0] able, pick, leaves;
  dirs_t grant;
  logic [3:0] out_valid;
  flit_t out;
  flit_t [4:0] data;

  // The flit that an input read a cycle ago carries its number.
  logic [4:0] last_q;
  for (genvar i = 0; i < N; i++) begin : gen_in
    assign pick[i]   = 4'd1 << pick_i[i];
    assign leaves[i] = grant[i] ? pick[i] : '0;
    assign data[i]   = '{kind: FlitKindBody, vnet: VnetMailbox, last: last_q[i], payload: 128'(i), default: '0};
    always_ff @(posedge clk_i) last_q[i] <= last_i[i][pick_i[i]];
  end

  gs_mesh_output u_output (
    .clk_i,
    .rst_ni,
    .want_i,
    .may_want_i,
    .last_i,
    .able_o      (able),
    .pick_i      (pick),
    .grant_o     (grant),
    .data_i      (data),
    .out_valid_o (out_valid),
    .out_o       (out),
    .out_credit_i(credit_i)
  );

  // Any input.
  logic [2:0] who_q;
  always_ff @(posedge clk_i) who_q <= who_q;
  `GS_ASSUME_NOW(it_is_one_of_them, 32'(who_q) < N)

  logic [2:0] first_from;
  always_comb begin
    first_from = '0;
    for (int i = 0; i < N; i++) if (u_output.from_q[i]) first_from |= 3'(i);
  end
  `GS_ASSERT_NOW(there_is_at_most_one_grant, $onehot0(grant))
  `GS_ASSERT_NOW(what_is_sent_comes_from_one, $onehot0(u_output.from_q) && $onehot0(u_output.sent_q)
                 && (u_output.sent_q == '0 || u_output.from_q != '0))
  `GS_ASSERT_NOW(a_flit_on_the_link_is_of_one_network, $onehot0(out_valid))

  for (genvar i = 0; i < N; i++) begin : gen_one
    for (genvar j = 0; j < N; j++) begin : gen_two
      for (genvar k = 0; k < N; k++) begin : gen_three
        `GS_ASSERT_NOW(there_is_an_order, !(u_output.u_arbiter.first[i][j] && u_output.u_arbiter.first[j][k]
                                            && u_output.u_arbiter.first[k][i]))
      end
    end
  end

  logic past_q;
  always_ff @(posedge clk_i) past_q <= rst_ni;
  for (genvar v = 0; v < 4; v++) begin : gen_vnet
    // Inputs: a flit that waits stays as it is.
    logic [4:0] want, here, held_q, was_last_q, could_q, may_q;
    for (genvar i = 0; i < N; i++) begin : gen_in
      assign want[i] = want_i[i][v];
      assign here[i] = able[i][v];
      always_ff @(posedge clk_i) begin
        held_q[i]     <= rst_ni && want[i] && !leaves[i][v];
        could_q[i]    <= rst_ni && here[i] && !leaves[i][v];
        was_last_q[i] <= last_i[i][v];
        may_q[i]      <= may_want_i[i][v];
      end
      `GS_ASSUME_NOW(no_output_is_wanted_by_surprise, !want[i] || may_q[i] || !past_q)
      `GS_ASSUME_NOW(a_flit_that_waits_stays, !held_q[i] || (want[i] && last_i[i][v] == was_last_q[i]))
      `GS_ASSERT_NOW(a_flit_leaves_only_if_it_could, !leaves[i][v] || here[i])
      `GS_ASSERT_NOW(what_could_leave_still_can, !could_q[i] || here[i])
    end
    `GS_ASSERT_NOW(after_reset_nobody_is_alone, past_q || !u_output.gen_vnet[v].alone_q)
    `GS_ASSERT_NOW(only_one_could_leave, $onehot0(here))

    // The receiver: flits that it has, and what arrives there.
    int have_q;
    logic open_q, begun_q;
    logic [2:0] from_q, first, second;
    logic first_open, second_open;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        have_q <= 0;
        open_q <= 1'b0;
      end else begin
        have_q <= have_q + 32'(out_valid[v]) - 32'(credit_i[v]);
        if (out_valid[v]) open_q <= !out.last;
      end
      if (out_valid[v]) from_q <= out.payload[2:0];
    end
    `GS_ASSUME_NOW(only_a_place_that_is_used_becomes_free, !credit_i[v] || have_q > 0)
    `GS_ASSERT_NOW(no_buffer_overflows, have_q >= 0 && have_q + 32'(out_valid[v]) <= Depth)
    `GS_ASSERT_NOW(packets_are_not_mixed, !(out_valid[v] && open_q) || out.payload[2:0] == from_q)

    // What induction needs to know: the packet on the link, behind what is in the output, is the owner's.
    assign first_open  = out_valid[v] ? !out.last : open_q;
    assign first       = out_valid[v] ? out.payload[2:0] : from_q;
    assign second_open = u_output.sent_q[v] ? !last_q[first_from] : first_open;
    assign second      = u_output.sent_q[v] ? first_from : first;
    `GS_ASSERT_NOW(the_packet_is_the_owners, second_open == u_output.gen_vnet[v].open_q
                   && (!second_open || u_output.gen_vnet[v].owner_q == dirs_t'(1) << second))
    `GS_ASSERT_NOW(what_came_is_of_an_input, !first_open || 32'(first) < N)
    `GS_ASSERT_NOW(what_has_come_is_of_an_input, !open_q || 32'(from_q) < N)
    `GS_ASSERT_NOW(inputs_are_numbered, !out_valid[v] || out.payload < 128'(N))
    // A flit inside of a packet is seen by its owner alone: the pipeline keeps order.
    `GS_ASSERT_NOW(what_goes_out_goes_on, !(u_output.sent_q[v] && first_open) || first_from == first)
    `GS_ASSERT_NOW(all_places_are_counted, 32'(u_output.gen_vnet[v].count_q) + have_q + 32'(out_valid[v]) == Depth)
    `GS_ASSERT_NOW(credits_are_exact, u_output.gen_vnet[v].credit_q
                   == (32'(u_output.gen_vnet[v].count_q) > 32'(u_output.sent_q[v])))
    `GS_ASSERT_NOW(nothing_left_without_a_credit, 32'(u_output.gen_vnet[v].count_q) >= 32'(u_output.sent_q[v]))

    // Turns: changes of the owner while somebody waits. Each brings him nearer.
    int turns_q, owner, distance;
    logic waits, idle_q, ended_q;
    dirs_t was_q;
    assign waits = want[who_q] && !u_output.gen_vnet[v].owner_q[who_q];
    always_comb begin
      owner = 0;
      for (int i = 0; i < N; i++) if (u_output.gen_vnet[v].owner_q[i]) owner = i;
      distance = 32'(who_q) - owner + ((32'(who_q) < owner) ? N : 0);
    end
    always_ff @(posedge clk_i) begin
      was_q   <= u_output.gen_vnet[v].owner_q;
      idle_q  <= rst_ni && waits && !u_output.gen_vnet[v].held;
      ended_q <= rst_ni && waits && u_output.gen_vnet[v].ends;
      begun_q <= rst_ni && waits && !leaves[who_q][v];
      if (!rst_ni || !waits || leaves[who_q][v]) turns_q <= 0;
      else if (begun_q && was_q != u_output.gen_vnet[v].owner_q) turns_q <= turns_q + 1;
    end
    `GS_ASSERT_NOW(nobody_waits_for_more_than_all_others,
                   !waits || !begun_q || turns_q + 32'(was_q != u_output.gen_vnet[v].owner_q) + distance < N)
    `GS_ASSERT_NOW(turns_are_counted, turns_q >= 0 && (turns_q == 0 || begun_q))
    `GS_ASSERT_NOW(an_idle_owner_makes_way, !idle_q || was_q != u_output.gen_vnet[v].owner_q)
    `GS_ASSERT_NOW(an_owner_makes_way_when_its_packet_ends, !ended_q || was_q != u_output.gen_vnet[v].owner_q)
    `GS_COVER_NOW(a_packet_of_another_follows, out_valid[v] && !open_q && out.payload[2:0] == 3'd4 && from_q == 3'd2)
  end

  `GS_COVER_NOW(all_credits_are_used, gen_vnet[1].have_q + 32'(out_valid[1]) == Depth)
  `GS_COVER_NOW(networks_interleave, gen_vnet[0].open_q && gen_vnet[2].open_q && out_valid[0])
  `GS_COVER_NOW(three_are_passed, gen_vnet[0].turns_q == 3)
endmodule
