// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Two ends of a link and the wire between them. End 0 is in the low bits of every port.
module link_top
  import gossamer_pkg::*;
  import gs_link_pkg::*;
#(
  parameter int unsigned FrameBytes       = 1500,
  parameter int unsigned Window           = 64,
  parameter int unsigned RxBuffers        = 16,
  parameter int unsigned TxWords          = 2048,
  parameter int unsigned RxFlits          = 512,
  parameter int unsigned BitsPerKilocycle = 40_000,
  parameter int unsigned Flight           = 100,
  parameter int unsigned Seed             = 1,
  parameter int unsigned Bytes            = 8
) (
  input  logic           clk_i,
  /// resets of the wire, and of each end
  input  logic           rst_ni,
  input  logic [1:0]     end_rst_ni,
  input  logic [15:0]    tx_valid_i,
  output logic [15:0]    tx_ready_o,
  input  logic [2*173-1:0] tx_flit_i,
  output logic [15:0]    rx_valid_o,
  input  logic [15:0]    rx_ready_i,
  output logic [2*173-1:0] rx_flit_o,
  input  logic [20:0]    loss_i,
  input  logic [20:0]    damage_i,
  input  logic [1:0]     cut_i,
  /// an end of these receives words of the test in place of those of the wire
  input  logic [1:0]     forged_i,
  input  logic           forged_valid_i,
  input  logic [63:0]    forged_data_i,
  input  logic [7:0]     forged_keep_i,
  input  logic           forged_last_i,
  input  logic           forged_error_i,
  /// the frames that each end sends
  output logic [1:0]     mac_valid_o,
  output logic [127:0]   mac_data_o,
  output logic [15:0]    mac_keep_o,
  output logic [1:0]     mac_last_o,
  output logic [1:0]     idle_o,
  output logic [1:0]     up_o,
  output logic [7:0]     events_o,
  output logic [2*12*32-1:0] counters_o,
  output logic [63:0]    wire_lost_o,
  output logic [63:0]    wire_damaged_o
);
  localparam shape_t Shape = '{
    frame_bytes: FrameBytes, least_bytes: 60, window: Window, rx_buffers: RxBuffers, tx_words: TxWords,
    tx_flits: 64, rx_flits: RxFlits, hello_cycles: 256, probe_cycles: 64, keep_cycles: 512, dead_cycles: 6000
  };

  logic [1:0] tx_valid, tx_ready, tx_last, rx_valid, rx_last, rx_error;
  logic [63:0] tx_data[2];
  logic [63:0] rx_data[2];
  logic [7:0] tx_keep[2];
  logic [7:0] rx_keep[2];

  // A test may begin with random inputs: the design does not run before the first reset.
  logic begun_q;
  initial begun_q = 1'b0;
  always_ff @(posedge clk_i) if (!rst_ni) begun_q <= 1'b1;

  // An end that restarts loses flits that this harness cannot count; so does one whose other end is forged.
  logic restarted_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) restarted_q <= 1'b0;
    else if (end_rst_ni != '1 || forged_i != '0) restarted_q <= 1'b1;
  end

  for (genvar e = 0; e < 2; e++) begin : gen_end
    logic mac_tx_valid, mac_tx_ready, mac_tx_last, mac_rx_valid, mac_rx_last, mac_rx_error;
    logic [8*Bytes-1:0] mac_tx_data, mac_rx_data;
    logic [Bytes-1:0] mac_tx_keep, mac_rx_keep;
    // Received words: of the wire, or of the test.
    logic in_valid, in_last, in_error;
    logic [63:0] in_data;
    logic [7:0] in_keep;
    assign in_valid = forged_i[e] ? forged_valid_i : rx_valid[e];
    assign in_data = forged_i[e] ? forged_data_i : rx_data[e];
    assign in_keep = forged_i[e] ? forged_keep_i : rx_keep[e];
    assign in_last = forged_i[e] ? forged_last_i : rx_last[e];
    assign in_error = forged_i[e] ? forged_error_i : rx_error[e];
    if (Bytes == 8) begin : gen_words
      assign {tx_valid[e], tx_data[e], tx_keep[e], tx_last[e]} = {mac_tx_valid, mac_tx_data, mac_tx_keep, mac_tx_last};
      assign mac_tx_ready = tx_ready[e];
      assign {mac_rx_valid, mac_rx_data, mac_rx_keep} = {in_valid, in_data, in_keep};
      assign {mac_rx_last, mac_rx_error} = {in_last, in_error};
    end else begin : gen_beats
      gs_mac_beats u_beats (
        .clk_i,
        .rst_ni    (rst_ni && end_rst_ni[e] && begun_q),
        .tx_valid_i(mac_tx_valid),
        .tx_ready_o(mac_tx_ready),
        .tx_data_i (mac_tx_data),
        .tx_keep_i (mac_tx_keep),
        .tx_last_i (mac_tx_last),
        .rx_valid_o(mac_rx_valid),
        .rx_data_o (mac_rx_data),
        .rx_keep_o (mac_rx_keep),
        .rx_last_o (mac_rx_last),
        .rx_error_o(mac_rx_error),
        .valid_o   (tx_valid[e]),
        .ready_i   (tx_ready[e]),
        .data_o    (tx_data[e]),
        .keep_o    (tx_keep[e]),
        .last_o    (tx_last[e]),
        .valid_i   (in_valid),
        .data_i    (in_data),
        .keep_i    (in_keep),
        .last_i    (in_last),
        .error_i   (in_error)
      );
    end

    gs_link #(
      .Shape(Shape),
      .Bytes(Bytes)
    ) u_link (
      .clk_i,
      .rst_ni        (rst_ni && end_rst_ni[e] && begun_q),
      .tx_valid_i    (tx_valid_i[8*e+:8]),
      .tx_ready_o    (tx_ready_o[8*e+:8]),
      .tx_flit_i     (tx_flit_i[173*e+:173]),
      .rx_valid_o    (rx_valid_o[8*e+:8]),
      .rx_ready_i    (rx_ready_i[8*e+:8]),
      .rx_flit_o     (rx_flit_o[173*e+:173]),
      .mac_tx_valid_o(mac_tx_valid),
      .mac_tx_ready_i(mac_tx_ready),
      .mac_tx_data_o (mac_tx_data),
      .mac_tx_keep_o (mac_tx_keep),
      .mac_tx_last_o (mac_tx_last),
      .mac_rx_valid_i(mac_rx_valid),
      .mac_rx_data_i (mac_rx_data),
      .mac_rx_keep_i (mac_rx_keep),
      .mac_rx_last_i (mac_rx_last),
      .mac_rx_error_i(mac_rx_error),
      .idle_o        (idle_o[e]),
      .up_o          (up_o[e]),
      .events_o      (events_o[4*e+:4]),
      .counters_o    (counters_o[384*e+:384])
    );

    gs_mac_model #(
      .BitsPerKilocycle(BitsPerKilocycle),
      .Flight          (Flight),
      .Seed            (2 * Seed + e)
    ) u_wire (
      .clk_i,
      .rst_ni   (rst_ni && begun_q),
      .loss_i,
      .damage_i,
      .cut_i    (cut_i[e]),
      .valid_i  (tx_valid[e]),
      .ready_o  (tx_ready[e]),
      .data_i   (tx_data[e]),
      .keep_i   (tx_keep[e]),
      .last_i   (tx_last[e]),
      .valid_o  (rx_valid[1-e]),
      .data_o   (rx_data[1-e]),
      .keep_o   (rx_keep[1-e]),
      .last_o   (rx_last[1-e]),
      .error_o  (rx_error[1-e]),
      .lost_o   (wire_lost_o[32*e+:32]),
      .damaged_o(wire_damaged_o[32*e+:32])
    );

    // Flits that this end accepted and has not yet sent, that it received and has not yet delivered, and that are in
    // flight from the input of this end to the output of the other.
    logic [31:0] pending_q, received_q, in_flight_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || !end_rst_ni[e] || !begun_q) {pending_q, received_q} <= '0;
      else begin
        pending_q  <= pending_q + 32'(u_link.tx_push != '0) - 32'(u_link.tx_pop);
        received_q <= received_q + 32'(u_link.rx_push != '0) - 32'(u_link.rx_pop);
      end
      if (!rst_ni || !begun_q || restarted_q) in_flight_q <= '0;
      else in_flight_q <= in_flight_q + 32'(u_link.tx_push != '0) - 32'(rx_valid_o[8*(1-e)+:8] != '0);
    end
    `GS_ASSERT_NOW(end_with_unsent_flits_is_not_idle, pending_q == '0 || !idle_o[e])
    `GS_ASSERT_NOW(end_with_undelivered_flits_is_not_idle, received_q == '0 || !idle_o[e])
    `GS_ASSERT_NOW(not_both_ends_are_idle_while_flits_are_in_flight, in_flight_q == '0 || idle_o != '1)

    assign mac_valid_o[e]        = tx_valid[e] && tx_ready[e];
    assign mac_data_o[64*e+:64]  = tx_data[e];
    assign mac_keep_o[8*e+:8]    = tx_keep[e];
    assign mac_last_o[e]         = tx_last[e];
  end
endmodule
