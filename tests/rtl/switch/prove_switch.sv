// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_switch with two ports: each flit leaves once, unchanged, in order, through the port of its destination,
/// not interleaved with other packets of its channel; no buffer overflows; no flit leaves without a credit.
///
/// Every flit carries its ingress and its number among the flits of the same ingress, channel and destination. Senders
/// respect their credits and the longest packet, and are arbitrary otherwise.
module prove_switch
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  parameter int unsigned MaxFlits = 2,
  parameter bit          Shared   = 0
) (
  input logic            clk_i,
  input logic            rst_ni,
  input logic [7:0]      burst_i,
  input logic [1:0]      valid_i,
  input logic [1:0]      last_i,
  input logic [1:0]      vnet_i,
  input logic [1:0]      dest_i,
  input logic [1:0][3:0] credit_i
);
  localparam int unsigned Window = 2;
  localparam int unsigned SeqW = 5;
  localparam home_t Home = '{stream: '{first: 8'd0, count: 8'd2}, default: '0};

  channels_t in_valid[2], in_credit[2], out_valid[2], out_credit[2];
  flit_t in[2], out[2];
  logic [1:0] unused_unroutable;
  logic [31:0] unused_dest[2];
  logic unused_ready, unused_empty;

  // [ingress][network][egress]: numbers of the next flits, at both ends
  logic [1:0][3:0][1:0][SeqW-1:0] sent_q, seen_q;
  logic [1:0][3:0] in_open_q, in_dest_q, out_open_q, out_from_q;
  logic [1:0][3:0][2:0] in_length_q;
  logic [1:0][3:0][1:0] credits_q, held_q;

  for (genvar p = 0; p < 2; p++) begin : gen_port
    logic [1:0] v;
    logic dest;
    // Two networks: the others are copies.
    assign v = {1'b0, vnet_i[p]};
    assign dest = in_open_q[p][v] ? in_dest_q[p][v] : dest_i[p];
    assign in[p] = '{kind: FlitKindBody, last: last_i[p], vnet: vnet_e'(v),
                     dest: {EndpointStream, 3'd0, 12'd0, 6'd0, 8'(dest)},
                     payload: 128'({1'(p), sent_q[p][v][dest]}), default: '0};
    `GS_ASSUME_NOW(senders_respect_their_credits, !valid_i[p] || credits_q[p][v] != '0)
    `GS_ASSUME_NOW(packets_end, !valid_i[p] || last_i[p] || in_length_q[p][v] + 3'd1 < 3'(MaxFlits))
    for (genvar c = 0; c < SwitchChannels; c++) begin : gen_channel
      if (c % SwitchVcs == 0) begin : gen_network
        localparam int unsigned Net = c / SwitchVcs;
        assign in_valid[p][c] = valid_i[p] && v == 2'(Net);
        // A receiver that holds no flit has no credit to return.
        assign out_credit[p][c] = credit_i[p][Net] && held_q[p][Net] != '0;
        always_ff @(posedge clk_i) begin
          if (!rst_ni) begin
            credits_q[p][Net] <= 2'(Window);
            held_q[p][Net]    <= '0;
          end else begin
            credits_q[p][Net] <= credits_q[p][Net] + 2'(in_credit[p][c]) - 2'(in_valid[p][c]);
            held_q[p][Net]    <= held_q[p][Net] + 2'(out_valid[p][c]) - 2'(out_credit[p][c]);
          end
        end
        `GS_ASSERT_NOW(no_flit_leaves_without_credit, !out_valid[p][c] || held_q[p][Net] != 2'(Window))
        `GS_ASSERT_NOW(credits_return_once, !in_credit[p][c] || credits_q[p][Net] != 2'(Window))
      end else begin : gen_none
        assign in_valid[p][c] = 1'b0;
        assign out_credit[p][c] = 1'b0;
        `GS_ASSERT_NOW(no_flit_leaves_in_a_virtual_channel, !out_valid[p][c])
      end
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        sent_q[p]      <= '0;
        in_open_q[p]   <= '0;
        in_length_q[p] <= '0;
      end else if (valid_i[p]) begin
        sent_q[p][v][dest] <= sent_q[p][v][dest] + SeqW'(1);
        in_open_q[p][v]    <= !last_i[p];
        in_length_q[p][v]  <= last_i[p] ? '0 : in_length_q[p][v] + 3'd1;
      end
      if (valid_i[p]) in_dest_q[p][v] <= dest;
    end

    // ------------------------------------------------------------ egress
    logic valid, from;
    logic [1:0] net;
    assign valid = out_valid[p] != '0;
    assign net = out[p].vnet;
    assign from = out[p].payload[SeqW];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) out_open_q[p] <= '0;
      else if (valid) out_open_q[p][net] <= !out[p].last;
      if (valid) out_from_q[p][net] <= from;
    end
    `GS_ASSERT_NOW(at_most_one_channel_sends, (out_valid[p] & (out_valid[p] - channels_t'(1))) == '0)
    `GS_ASSERT_NOW(flits_leave_in_their_network, !valid || out_valid[p][SwitchVcs*net])
    `GS_ASSERT_NOW(flits_leave_through_their_port, !valid || out[p].dest[7:0] == 8'(p))
    `GS_ASSERT_NOW(flits_leave_once_in_order, !valid || out[p].payload[SeqW-1:0] == seen_q[from][net][p])
    `GS_ASSERT_NOW(only_sent_flits_leave, !valid || seen_q[from][net][p] != sent_q[from][net][p])
    `GS_ASSERT_NOW(packets_are_not_interleaved, !valid || !out_open_q[p][net] || out_from_q[p][net] == from)
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      seen_q <= '0;
    end else begin
      for (int unsigned p = 0; p < 2; p++) begin
        if (out_valid[p] != '0) begin
          seen_q[out[p].payload[SeqW]][out[p].vnet][p] <= seen_q[out[p].payload[SeqW]][out[p].vnet][p] + SeqW'(1);
        end
      end
    end
  end

  gs_switch #(
    .Ports    (2),
    .Virtual  (2'b00),
    .Home     (Home),
    .TableW   (2),
    .MaxFlits (MaxFlits),
    .InRegion (4),
    .OutRegion(4),
    .Packets  (4),
    .Window   (Window),
    .Shared   (Shared)
  ) u_switch (
    .clk_i,
    .rst_ni,
    .board_i          ('0),
    .burst_i,
    .ready_o          (unused_ready),
    .table_we_i       (1'b0),
    .table_index_i    ('0),
    .table_entry_i    ('0),
    .in_valid_i       (in_valid),
    .in_i             (in),
    .in_credit_o      (in_credit),
    .out_valid_o      (out_valid),
    .out_o            (out),
    .out_credit_i     (out_credit),
    .unroutable_o     (unused_unroutable),
    .unroutable_dest_o(unused_dest),
    .unroutable_message_o(),
    .unroutable_job_o(),
    .empty_o          (unused_empty)
  );

  `GS_COVER_NOW(both_ingresses_send_to_one_port, seen_q[0][0][1] != '0 && seen_q[1][0][1] != '0)
  `GS_COVER_NOW(egress_is_without_credits, held_q[0][1] == 2'(Window) && seen_q[1][1][0] != '0)
  `GS_COVER_NOW(long_packet_leaves, out_valid[0] != '0 && !out[0].last)
endmodule
