// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of idle detection of a single board: at a release every endpoint is idle and no message is in flight.
///
/// The endpoints are arbitrary within the rules: a busy one sends, becomes idle, or continues; an idle one becomes busy
/// only when it receives a message or is released. Messages take any time. Words are left out (given is 0).
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
  input logic [Endpoints-1:0] become_idle_i,
  input logic [Endpoints-1:0] vote_i,
  input logic [Endpoints-1:0] start_i
);
  idle_status_t [Endpoints-1:0] status, status_q[Wires+1];
  idle_command_t [Endpoints-1:0] command, command_q[Wires+1];
  logic [Endpoints-1:0] busy_q, busy_d, vote_q, send, receive, released;
  logic [Endpoints-1:0][31:0] sent_q, received_q;
  logic [31:0] in_flight_q, in_flight_d, total;
  logic woken_q, several_in_flight_q;

  // A message is received only if one is in flight.
  always_comb begin
    in_flight_d = in_flight_q;
    busy_d      = busy_q;
    for (int unsigned i = 0; i < Endpoints; i++) begin
      released[i] = command_q[Wires][i].release_all;
      send[i]     = busy_q[i] && send_i[i] && in_flight_d < 32'd3 && !released[i];
      if (send[i]) in_flight_d = in_flight_d + 32'd1;
    end
    for (int unsigned i = 0; i < Endpoints; i++) begin
      receive[i] = receive_i[i] && in_flight_d != '0 && in_flight_q != '0 && !released[i];
      if (receive[i]) in_flight_d = in_flight_d - 32'd1;
      if (busy_q[i] && become_idle_i[i]) busy_d[i] = 1'b0;
      if (receive[i]) busy_d[i] = 1'b1;
      if (released[i]) busy_d[i] = start_i[i];
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q              <= start_i;
      sent_q              <= '0;
      received_q          <= '0;
      in_flight_q         <= '0;
      woken_q             <= 1'b0;
      several_in_flight_q <= 1'b0;
    end else begin
      busy_q      <= busy_d;
      in_flight_q <= in_flight_d;
      if (receive != '0 && busy_q == '0) woken_q <= 1'b1;
      if (in_flight_q > 32'd1) several_in_flight_q <= 1'b1;
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

  `GS_ASSERT_NOW(counts_equal_messages_in_flight, total == in_flight_q)
  `GS_ASSERT_NOW(at_most_three_messages_are_in_flight, in_flight_q <= 32'd3)
  `GS_ASSERT_NOW(release_only_if_all_are_idle, released == '0 || busy_q == '0)
  `GS_ASSERT_NOW(release_only_if_no_message_is_in_flight, released == '0 || in_flight_q == '0)
  `GS_ASSERT_NOW(all_are_released_in_the_same_cycle, released == '0 || released == '1)
  `GS_COVER_NOW(release_happens, released != '0)
  `GS_COVER_NOW(release_after_messages, released != '0 && several_in_flight_q)
  `GS_COVER_NOW(release_after_a_message_woke_an_idle_board, released != '0 && woken_q)
endmodule
