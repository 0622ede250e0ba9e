// SPDX-License-Identifier: Apache-2.0

/// Counters of a link since reset, modulo 2^32.
module gs_link_counters
  import gs_link_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        tx_frame_i,
  input  logic [15:0] tx_bytes_i,
  input  logic        tx_packet_i,
  input  logic        resend_i,
  input  logic        rx_frame_i,
  input  logic [15:0] rx_bytes_i,
  input  logic        rx_packet_i,
  input  logic        damaged_i,
  input  logic        dropped_i,
  input  logic        violation_i,
  input  logic        stall_i,
  input  logic        restart_i,
  input  logic        clear_i,
  input  logic [15:0] lost_i,
  output counters_t   counters_o
);
  counters_t count_q, count_d;

  always_comb begin
    count_d = count_q;
    if (tx_frame_i) count_d.tx_frames = count_q.tx_frames + 1'b1;
    if (tx_frame_i) count_d.tx_bytes = count_q.tx_bytes + 32'(tx_bytes_i);
    if (tx_packet_i) count_d.tx_packets = count_q.tx_packets + 1'b1;
    if (resend_i) count_d.resends = count_q.resends + 1'b1;
    if (rx_frame_i) count_d.rx_frames = count_q.rx_frames + 1'b1;
    if (rx_frame_i) count_d.rx_bytes = count_q.rx_bytes + 32'(rx_bytes_i);
    if (rx_packet_i) count_d.rx_packets = count_q.rx_packets + 1'b1;
    if (damaged_i) count_d.damaged = count_q.damaged + 1'b1;
    count_d.dropped = count_q.dropped + 32'(dropped_i) + 32'(violation_i);
    if (stall_i) count_d.stalls = count_q.stalls + 1'b1;
    if (restart_i) count_d.restarts = count_q.restarts + 1'b1;
    // The packets of the old session that are unacknowledged when the new session begins.
    if (clear_i) count_d.lost = count_q.lost + 32'(lost_i);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= count_d;
  end

  assign counters_o = count_q;
endmodule
