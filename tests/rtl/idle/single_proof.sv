// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// What is proved of a board that is alone: a release finds every endpoint idle and no message on its way.
///
/// The endpoints do anything that is allowed: one that is busy sends, becomes idle, or goes on; one that is idle
/// becomes busy when it receives, and else by a release alone. Messages take any time. Words are left out (given is
/// 0).
module single_proof
  import gs_idle_pkg::*;
#(
  parameter int unsigned Endpoints = 2,
  parameter int unsigned Wires     = 0
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 hold_i,
  input logic [Endpoints-1:0] send_i,
  input logic [Endpoints-1:0] receive_i,
  input logic [Endpoints-1:0] rest_i,
  input logic [Endpoints-1:0] vote_i,
  input logic [Endpoints-1:0] start_i
);
  idle_status_t [Endpoints-1:0] status, status_q[Wires+1];
  idle_command_t [Endpoints-1:0] command, command_q[Wires+1];
  logic [Endpoints-1:0] busy_q, busy_d, vote_q, send, receive, released;
  logic [Endpoints-1:0][31:0] sent_q, received_q;
  logic [31:0] flying_q, flying_d, total;
  logic woken_q, flew_q;

  // One message more is received only if there is one.
  always_comb begin
    flying_d = flying_q;
    busy_d   = busy_q;
    for (int unsigned i = 0; i < Endpoints; i++) begin
      released[i] = command_q[Wires][i].release_all;
      send[i]     = busy_q[i] && send_i[i] && flying_d < 32'd3 && !released[i];
      if (send[i]) flying_d = flying_d + 32'd1;
    end
    for (int unsigned i = 0; i < Endpoints; i++) begin
      receive[i] = receive_i[i] && flying_d != '0 && flying_q != '0 && !released[i];
      if (receive[i]) flying_d = flying_d - 32'd1;
      if (busy_q[i] && rest_i[i]) busy_d[i] = 1'b0;
      if (receive[i]) busy_d[i] = 1'b1;
      if (released[i]) busy_d[i] = start_i[i];
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q     <= start_i;
      sent_q     <= '0;
      received_q <= '0;
      flying_q   <= '0;
      woken_q    <= 1'b0;
      flew_q     <= 1'b0;
    end else begin
      busy_q   <= busy_d;
      flying_q <= flying_d;
      if (receive != '0 && busy_q == '0) woken_q <= 1'b1;
      if (flying_q > 32'd1) flew_q <= 1'b1;
      for (int unsigned i = 0; i < Endpoints; i++) begin
        sent_q[i]     <= sent_q[i] + 32'(send[i]);
        received_q[i] <= received_q[i] + 32'(receive[i]);
      end
    end
    vote_q <= vote_i;
  end

  always_comb begin
    total = '0;
    for (int unsigned i = 0; i < Endpoints; i++) begin
      total     = total + sent_q[i] - received_q[i];
      status[i] = '{idle: !busy_q[i], vote: vote_q[i], started: 1'b1, sent: sent_q[i], received: received_q[i],
                    default: '0};
    end
    status_q[0]  = status;
    command_q[0] = command;
  end
  for (genvar w = 0; w < int'(Wires); w++) begin : gen_wire
    always_ff @(posedge clk_i) begin
      status_q[w+1]  <= rst_ni ? status_q[w] : '0;
      command_q[w+1] <= rst_ni ? command_q[w] : '0;
    end
  end

  gs_idle_single #(
    .Endpoints(Endpoints),
    .Wires    (Wires)
  ) u_single (
    .clk_i,
    .rst_ni,
    .status_i (status_q[Wires]),
    .command_o(command),
    .hold_i,
    .open_o   (),
    .epoch_o  ()
  );

  `GS_ASSERT_NOW(what_flies_was_sent_and_not_received, total == flying_q)
  `GS_ASSERT_NOW(no_more_than_three_fly, flying_q <= 32'd3)
  `GS_ASSERT_NOW(a_release_finds_all_idle, released == '0 || busy_q == '0)
  `GS_ASSERT_NOW(a_release_finds_no_message, released == '0 || flying_q == '0)
  `GS_ASSERT_NOW(all_are_released_together, released == '0 || released == '1)
  `GS_COVER_NOW(a_release, released != '0)
  `GS_COVER_NOW(a_release_after_messages, released != '0 && flew_q)
  `GS_COVER_NOW(a_release_after_a_message_woke_all, released != '0 && woken_q)
endmodule
