// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_mesh_output, for all requests of the inputs and all credits of the receiver: in a virtual network
/// packets are not interleaved on the link; every granted flit leaves on the link once; the receiver's buffers never
/// overflow; a flit that could leave can leave until it does; a packet waits for at most one packet of each other
/// input.
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

  // The payload of a flit is the number of its input.
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

  // An arbitrary input.
  logic [2:0] watched_q;
  always_ff @(posedge clk_i) watched_q <= watched_q;
  `GS_ASSUME_NOW(watched_input_exists, 32'(watched_q) < N)

  logic [2:0] first_from;
  always_comb begin
    first_from = '0;
    for (int i = 0; i < N; i++) if (u_output.from_q[i]) first_from |= 3'(i);
  end
  `GS_ASSERT_NOW(at_most_one_input_is_granted, $onehot0(grant))
  `GS_ASSERT_NOW(sent_flit_has_one_source, $onehot0(u_output.from_q) && $onehot0(u_output.sent_q)
                 && (u_output.sent_q == '0 || u_output.from_q != '0))
  `GS_ASSERT_NOW(link_flit_has_one_network, $onehot0(out_valid))

  for (genvar i = 0; i < N; i++) begin : gen_one
    for (genvar j = 0; j < N; j++) begin : gen_two
      for (genvar k = 0; k < N; k++) begin : gen_three
        `GS_ASSERT_NOW(arbiter_order_is_acyclic, !(u_output.u_arbiter.first[i][j] && u_output.u_arbiter.first[j][k]
                                            && u_output.u_arbiter.first[k][i]))
      end
    end
  end

  logic past_q;
  always_ff @(posedge clk_i) past_q <= rst_ni;
  for (genvar v = 0; v < 4; v++) begin : gen_vnet
    // Inputs: a waiting flit does not change.
    logic [4:0] want, able_here, held_q, was_last_q, could_q, may_q;
    for (genvar i = 0; i < N; i++) begin : gen_in
      assign want[i]      = want_i[i][v];
      assign able_here[i] = able[i][v];
      always_ff @(posedge clk_i) begin
        held_q[i]     <= rst_ni && want[i] && !leaves[i][v];
        could_q[i]    <= rst_ni && able_here[i] && !leaves[i][v];
        was_last_q[i] <= last_i[i][v];
        may_q[i]      <= may_want_i[i][v];
      end
      `GS_ASSUME_NOW(wanted_outputs_are_announced_a_cycle_ahead, !want[i] || may_q[i] || !past_q)
      `GS_ASSUME_NOW(waiting_flits_are_stable, !held_q[i] || (want[i] && last_i[i][v] == was_last_q[i]))
      `GS_ASSERT_NOW(only_able_flits_leave, !leaves[i][v] || able_here[i])
      `GS_ASSERT_NOW(able_flits_stay_able, !could_q[i] || able_here[i])
    end
    `GS_ASSERT_NOW(no_network_is_uncontested_after_reset, past_q || !u_output.gen_vnet[v].uncontested_q)
    `GS_ASSERT_NOW(at_most_one_input_is_able, $onehot0(able_here))

    // The receiver: flits that it holds, and flits that arrive there.
    int buffered_q;
    logic open_q, begun_q;
    logic [2:0] from_q, first, second;
    logic first_open, second_open;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        buffered_q <= 0;
        open_q     <= 1'b0;
      end else begin
        buffered_q <= buffered_q + 32'(out_valid[v]) - 32'(credit_i[v]);
        if (out_valid[v]) open_q <= !out.last;
      end
      if (out_valid[v]) from_q <= out.payload[2:0];
    end
    `GS_ASSUME_NOW(only_used_slots_become_free, !credit_i[v] || buffered_q > 0)
    `GS_ASSERT_NOW(receiver_buffer_never_overflows, buffered_q >= 0 && buffered_q + 32'(out_valid[v]) <= Depth)
    `GS_ASSERT_NOW(packets_are_not_interleaved, !(out_valid[v] && open_q) || out.payload[2:0] == from_q)

    // Invariants for the induction: the packet on the link, after those in the output's registers, is the owner's.
    assign first_open  = out_valid[v] ? !out.last : open_q;
    assign first       = out_valid[v] ? out.payload[2:0] : from_q;
    assign second_open = u_output.sent_q[v] ? !last_q[first_from] : first_open;
    assign second      = u_output.sent_q[v] ? first_from : first;
    `GS_ASSERT_NOW(open_packet_is_the_owners, second_open == u_output.gen_vnet[v].open_q
                   && (!second_open || u_output.gen_vnet[v].owner_q == dirs_t'(1) << second))
    `GS_ASSERT_NOW(next_flit_is_from_an_input, !first_open || 32'(first) < N)
    `GS_ASSERT_NOW(last_flit_is_from_an_input, !open_q || 32'(from_q) < N)
    `GS_ASSERT_NOW(payload_is_an_input_number, !out_valid[v] || out.payload < 128'(N))
    // Only the owner can send a flit inside a packet: the pipeline keeps order.
    `GS_ASSERT_NOW(open_packet_continues_from_its_input, !(u_output.sent_q[v] && first_open) || first_from == first)
    `GS_ASSERT_NOW(slots_are_all_accounted_for,
                   32'(u_output.gen_vnet[v].count_q) + buffered_q + 32'(out_valid[v]) == Depth)
    `GS_ASSERT_NOW(credits_are_exact, u_output.gen_vnet[v].credit_q
                   == (32'(u_output.gen_vnet[v].count_q) > 32'(u_output.sent_q[v])))
    `GS_ASSERT_NOW(flits_left_only_with_credits, 32'(u_output.gen_vnet[v].count_q) >= 32'(u_output.sent_q[v]))

    // Changes of the owner while an input waits. Each brings its turn nearer.
    int changes_q, owner, distance;
    logic waiting, idle_q, ended_q;
    dirs_t was_q;
    assign waiting = want[watched_q] && !u_output.gen_vnet[v].owner_q[watched_q];
    always_comb begin
      owner = 0;
      for (int i = 0; i < N; i++) if (u_output.gen_vnet[v].owner_q[i]) owner = i;
      distance = 32'(watched_q) - owner + ((32'(watched_q) < owner) ? N : 0);
    end
    always_ff @(posedge clk_i) begin
      was_q   <= u_output.gen_vnet[v].owner_q;
      idle_q  <= rst_ni && waiting && !u_output.gen_vnet[v].held;
      ended_q <= rst_ni && waiting && u_output.gen_vnet[v].ends;
      begun_q <= rst_ni && waiting && !leaves[watched_q][v];
      if (!rst_ni || !waiting || leaves[watched_q][v]) changes_q <= 0;
      else if (begun_q && was_q != u_output.gen_vnet[v].owner_q) changes_q <= changes_q + 1;
    end
    `GS_ASSERT_NOW(at_most_one_packet_of_each_other_input_goes_first,
                   !waiting || !begun_q || changes_q + 32'(was_q != u_output.gen_vnet[v].owner_q) + distance < N)
    `GS_ASSERT_NOW(changes_are_counted, changes_q >= 0 && (changes_q == 0 || begun_q))
    `GS_ASSERT_NOW(idle_owner_loses_ownership, !idle_q || was_q != u_output.gen_vnet[v].owner_q)
    `GS_ASSERT_NOW(owner_changes_when_its_packet_ends, !ended_q || was_q != u_output.gen_vnet[v].owner_q)
    `GS_COVER_NOW(packet_of_another_input_follows,
                  out_valid[v] && !open_q && out.payload[2:0] == 3'd4 && from_q == 3'd2)
  end

  `GS_COVER_NOW(all_credits_are_used, gen_vnet[1].buffered_q + 32'(out_valid[1]) == Depth)
  `GS_COVER_NOW(networks_interleave, gen_vnet[0].open_q && gen_vnet[2].open_q && out_valid[0])
  `GS_COVER_NOW(three_owners_went_first, gen_vnet[0].changes_q == 3)
endmodule
