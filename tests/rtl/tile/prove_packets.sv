// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_packet_arbiter: within a virtual network packets never interleave, no flit is lost, duplicated or
/// changed, a flit is sent only to a ready network, and an eligible input waits for at most N-1 flits of others. Inputs
/// are any packets of any lengths; all flits of a packet are of one network.
module prove_packets
  import gossamer_pkg::*;
#(
  parameter int unsigned N = 3
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic [N-1:0]     valid_i,
  input logic [N-1:0]     last_i,
  input logic [2*N-1:0]   vnet_i,
  input logic [8*N-1:0]   data_i,
  input logic [3:0]       ready_i
);
  flit_t in[N];
  flit_t out;
  logic [N-1:0] taken;
  logic [3:0] out_valid;

  // A packet is in progress in a network, and its input.
  logic [3:0] open_q;
  logic [3:0][7:0] from_q;

  // Every flit contains the number of its input, and data.
  for (genvar i = 0; i < N; i++) begin : gen_in
    assign in[i] = '{kind: FlitKindBody, last: last_i[i], vnet: vnet_e'(vnet_i[2*i+:2]),
                     payload: {112'd0, data_i[8*i+:8], 8'(i)}, default: '0};

    logic inside_q;
    logic [1:0] vnet_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) inside_q <= 1'b0;
      else if (taken[i]) inside_q <= !last_i[i];
      if (taken[i]) vnet_q <= vnet_i[2*i+:2];
    end
    `GS_ASSUME_NOW(packet_stays_in_its_network, !inside_q || vnet_i[2*i+:2] == vnet_q)
    // Invariant for the induction: an input within a packet owns its network.
    for (genvar v = 0; v < 4; v++) begin : gen_has
      `GS_ASSERT_NOW(input_within_a_packet_owns_its_network,
                   !inside_q || vnet_q != 2'(v) || (open_q[v] && from_q[v] == 8'(i)))
    end
    `GS_ASSERT_NOW(ready_only_for_a_valid_flit, !taken[i] || valid_i[i])
  end

  gs_packet_arbiter #(.N(N)) u_arbiter (
    .clk_i,
    .rst_ni,
    .in_valid_i (valid_i),
    .in_ready_o (taken),
    .in_i       (in),
    .out_valid_o(out_valid),
    .out_ready_i(ready_i),
    .out_o      (out)
  );

  for (genvar v = 0; v < 4; v++) begin : gen_network
    always_ff @(posedge clk_i) begin
      if (!rst_ni) open_q[v] <= 1'b0;
      else if (out_valid[v]) open_q[v] <= !out.last;
      if (out_valid[v]) from_q[v] <= out.payload[7:0];
    end
    `GS_ASSERT_NOW(packets_never_interleave, !out_valid[v] || !open_q[v] || out.payload[7:0] == from_q[v])
    `GS_ASSERT_NOW(owner_matches_the_arbiter, !open_q[v] || u_arbiter.open_q[v] == N'(1) << from_q[v])
    `GS_ASSERT_NOW(free_network_is_open_to_all, open_q[v] || u_arbiter.open_q[v] == '1)
  end

  logic some;
  assign some = out_valid != '0;
  `GS_ASSERT_NOW(at_most_one_flit_is_sent, (out_valid & (out_valid - 4'd1)) == '0)
  `GS_ASSERT_NOW(flit_is_sent_only_to_a_ready_network, (out_valid & ~ready_i) == '0)
  `GS_ASSERT_NOW(flit_is_sent_in_its_network, !some || out_valid == 4'd1 << out.vnet)
  `GS_ASSERT_NOW(flit_is_sent_if_one_is_accepted, some == (taken != '0))
  for (genvar i = 0; i < N; i++) begin : gen_out
    `GS_ASSERT_NOW(sent_flit_is_the_accepted_one, !taken[i] || out == in[i])
  end

  // Any one input: the number of flits of others while it was eligible.
  logic [7:0] who_q;
  logic [7:0] waited_q;
  int pointer, distance;
  logic could;
  assign could = valid_i[who_q[1:0]] && ready_i[vnet_i[2*who_q[1:0]+:2]]
              && u_arbiter.open_q[vnet_i[2*who_q[1:0]+:2]][who_q[1:0]];
  always_comb begin
    pointer = 0;
    for (int i = N - 1; i >= 0; i--) if (u_arbiter.u_arbiter.ahead_q[i]) pointer = i;
    distance = 32'(who_q) - pointer + ((32'(who_q) < pointer) ? N : 0);
  end
  always_ff @(posedge clk_i) begin
    who_q <= who_q;
    if (!rst_ni || !could || taken[who_q[1:0]]) waited_q <= '0;
    else waited_q <= waited_q + 8'd1;
  end
  `GS_ASSUME_NOW(watched_index_is_legal, 32'(who_q) < N)
  `GS_ASSERT_NOW(input_waits_for_at_most_all_others, !could || 32'(waited_q) < N)
  `GS_ASSERT_NOW(pointer_approaches_a_waiting_input, !could || 32'(waited_q) + distance < N)
  for (genvar i = 1; i < N; i++) begin : gen_ahead
    `GS_ASSERT_NOW(ahead_is_a_suffix_of_the_inputs,
                   !u_arbiter.u_arbiter.ahead_q[i-1] || u_arbiter.u_arbiter.ahead_q[i])
  end

`ifdef FORMAL
  // Reachable situations: packets of two networks interleave, two inputs send consecutively in a network, another
  // network overtakes a stalled one.
  logic [1:0] length_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !out_valid[0]) length_q <= '0;
    else length_q <= out.last ? 2'd0 : length_q + 2'(length_q != '1);
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      networks_interleave: cover (out_valid[1] && open_q[0] && open_q[1] && out.last);
      another_input_follows: cover (out_valid[0] && !open_q[0] && out.payload[7:0] == 8'd2 && from_q[0] == 8'd1);
      a_long_packet: cover (length_q == 2'd3 && out_valid[0] && out.last);
      a_network_passes_another: cover (some && valid_i[0] && vnet_i[1:0] == 2'd2 && !ready_i[2] && open_q[2]);
    end
  end
`endif
endmodule
