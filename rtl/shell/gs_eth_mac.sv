// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Ethernet MAC between the clock of the shell and the GMII of a PHY, with AXI4-Stream of bytes in both directions.
///
/// Frames on the streams have neither preamble nor frame check sequence (FCS). Received frames are forwarded while they
/// arrive: `rx_axis_tuser_o` at the end of a frame says that it is bad, and the receiver drops it. If the shell accepts
/// bytes too slowly, frames are lost and counted. Frames for transmission are stored before they begin, so that the
/// wire never waits for the shell; those longer than `MaxBytes` - 4 are cut and sent with an error. Both directions
/// have the full rate of the line, if `clk_i` is not slower than the clocks of GMII by more than 200 ppm. `rst_ni`
/// resets all clocks (gs_reset_cdc).
///
/// While `pause_i` is 1, pause frames stop the peer; received ones stop the frames of the shell (gs_eth_pause).
module gs_eth_mac #(
  /// longest frame in bytes, with FCS: 64 to 16383
  parameter int unsigned MaxBytes = 9018,
  /// logarithm of the bytes that the receiver stores while the shell is not ready, 4 or more
  parameter int unsigned RxDepthLog2 = 5,
  /// logarithm of the bytes stored for transmission; a frame of MaxBytes fits
  parameter int unsigned TxDepthLog2 = $clog2(MaxBytes),
  /// time for which a pause frame stops the peer, in units of 512 bits; it is repeated after half of it
  parameter logic [15:0] PauseQuanta = 16'hFFFF
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  output logic [7:0]            rx_axis_tdata_o,
  output logic                  rx_axis_tvalid_o,
  input  logic                  rx_axis_tready_i,
  output logic                  rx_axis_tlast_o,
  /// the frame is bad; with tlast
  output logic                  rx_axis_tuser_o,

  input  logic [7:0]            tx_axis_tdata_i,
  input  logic                  tx_axis_tvalid_i,
  output logic                  tx_axis_tready_o,
  input  logic                  tx_axis_tlast_i,

  /// this station's address, first byte in the highest bits; constant
  input  logic [47:0]           mac_i,
  /// the peer must not send
  input  logic                  pause_i,

  output gs_eth_pkg::counters_t counters_o,

  /// GMII: bytes at 1000 Mb/s, nibbles (`*_nibble_i`) at 100 and 10 Mb/s, in cycles with `*_ce_i`
  input  logic                  gmii_rx_clk_i,
  input  logic                  gmii_rx_ce_i,
  input  logic                  gmii_rx_nibble_i,
  input  logic [7:0]            gmii_rxd_i,
  input  logic                  gmii_rx_dv_i,
  input  logic                  gmii_rx_er_i,

  input  logic                  gmii_tx_clk_i,
  input  logic                  gmii_tx_ce_i,
  input  logic                  gmii_tx_nibble_i,
  output logic [7:0]            gmii_txd_o,
  output logic                  gmii_tx_en_o,
  output logic                  gmii_tx_er_o
);
  import gs_eth_pkg::*;

  if (MaxBytes < 64 || MaxBytes > 16383) begin : gen_illegal_max
    $fatal(1, "gs_eth_mac: MaxBytes is %0d; it must be 64 to 16383", MaxBytes);
  end
  if (RxDepthLog2 < 4) begin : gen_illegal_rx_depth
    $fatal(1, "gs_eth_mac: RxDepthLog2 is %0d; it must be 4 or more", RxDepthLog2);
  end
  if ((1 << TxDepthLog2) < MaxBytes) begin : gen_illegal_tx_depth
    $fatal(1, "gs_eth_mac: TxDepthLog2 is %0d; a frame of %0d bytes does not fit", TxDepthLog2, MaxBytes);
  end

  // Reception
  typedef struct packed {
    logic       last;
    logic       error;
    logic [7:0] data;
  } rx_item_t;

  logic       rx_rst_n, rx_crossing_rst_n, rx_gmii_rst_n, rx_valid, rx_ready, rx_out_valid, result_valid, event_valid;
  rx_item_t   rx_item, rx_out;
  result_e    result;
  logic [2:0] event_code;

  gs_reset_cdc u_rx_reset (
    .clk_i,
    .rst_ni,
    .rst_no         (rx_rst_n),
    .crossing_rst_no(rx_crossing_rst_n),
    .other_clk_i    (gmii_rx_clk_i),
    .other_rst_no   (rx_gmii_rst_n)
  );

  gs_eth_rx #(.MaxBytes(MaxBytes)) u_rx (
    .clk_i         (gmii_rx_clk_i),
    .rst_ni        (rx_gmii_rst_n),
    .ce_i          (gmii_rx_ce_i),
    .nibble_i      (gmii_rx_nibble_i),
    .rxd_i         (gmii_rxd_i),
    .rx_dv_i       (gmii_rx_dv_i),
    .rx_er_i       (gmii_rx_er_i),
    .out_valid_o   (rx_valid),
    .out_ready_i   (rx_ready),
    .out_data_o    (rx_item.data),
    .out_last_o    (rx_item.last),
    .out_error_o   (rx_item.error),
    .result_valid_o(result_valid),
    .result_o      (result)
  );

  gs_fifo_async #(
    .data_t   (rx_item_t),
    .DepthLog2(RxDepthLog2)
  ) u_rx_fifo (
    .wclk_i     (gmii_rx_clk_i),
    .wrst_ni    (rx_gmii_rst_n),
    .in_valid_i (rx_valid),
    .in_ready_o (rx_ready),
    .in_data_i  (rx_item),
    .rclk_i     (clk_i),
    .rrst_ni    (rx_crossing_rst_n),
    .out_valid_o(rx_out_valid),
    .out_ready_i(rx_axis_tready_i),
    .out_data_o (rx_out)
  );
  assign rx_axis_tvalid_o = rx_out_valid && rx_rst_n;
  assign rx_axis_tdata_o  = rx_out.data;
  assign rx_axis_tlast_o  = rx_out.last;
  assign rx_axis_tuser_o  = rx_out.last && rx_out.error;

  // Results follow each other in at least two cycles of GMII, so this queue is never full.
  gs_fifo_async #(
    .data_t   (logic [2:0]),
    .DepthLog2(3)
  ) u_results (
    .wclk_i     (gmii_rx_clk_i),
    .wrst_ni    (rx_gmii_rst_n),
    .in_valid_i (result_valid),
    .in_ready_o (),
    .in_data_i  (result),
    .rclk_i     (clk_i),
    .rrst_ni    (rx_crossing_rst_n),
    .out_valid_o(event_valid),
    .out_ready_i(1'b1),
    .out_data_o (event_code)
  );

  // Pause frames of the peer
  logic        quanta_valid, quanta_arrived;
  logic [15:0] quanta, quanta_out;
  gs_eth_pause_rx u_pause_rx (
    .clk_i,
    .rst_ni        (rx_rst_n),
    .mac_i,
    .valid_i       (rx_axis_tvalid_o && rx_axis_tready_i),
    .last_i        (rx_out.last),
    .error_i       (rx_out.error),
    .data_i        (rx_out.data),
    .quanta_valid_o(quanta_valid),
    .quanta_o      (quanta)
  );

  // Transmission
  typedef struct packed {
    logic       last;
    logic [7:0] data;
  } tx_item_t;
  typedef logic [13:0] length_t;

  logic     tx_rst_n, tx_crossing_rst_n, tx_gmii_rst_n;
  logic     tx_accept, tx_push, tx_fifo_ready, tx_full, tx_too_long, tx_frame;
  tx_item_t tx_item, tx_next;
  logic     tx_valid, tx_ready, tx_arrived, tx_begin, tx_start;

  gs_reset_cdc u_tx_reset (
    .clk_i,
    .rst_ni,
    .rst_no         (tx_rst_n),
    .crossing_rst_no(tx_crossing_rst_n),
    .other_clk_i    (gmii_tx_clk_i),
    .other_rst_no   (tx_gmii_rst_n)
  );

  // A frame that is too long is stored up to its first byte too many, with which the transmitter finds it so.
  length_t tx_length_q;
  logic    tx_discard_q;
  assign tx_too_long      = tx_length_q == length_t'(MaxBytes - 4);
  assign tx_axis_tready_o = tx_rst_n && (tx_discard_q || (tx_fifo_ready && !tx_full));
  assign tx_accept        = tx_axis_tvalid_i && tx_axis_tready_o;
  assign tx_push          = tx_accept && !tx_discard_q;
  assign tx_item.data     = tx_axis_tdata_i;
  assign tx_item.last     = tx_axis_tlast_i || tx_too_long;
  assign tx_frame         = tx_push && tx_item.last;
  always_ff @(posedge clk_i) begin
    if (tx_push) tx_length_q <= tx_item.last ? '0 : tx_length_q + 1'b1;
    if (tx_accept) tx_discard_q <= (tx_discard_q || tx_too_long) && !tx_axis_tlast_i;
    if (!tx_rst_n) begin
      tx_length_q  <= '0;
      tx_discard_q <= 1'b0;
    end
  end

  gs_fifo_async #(
    .data_t   (tx_item_t),
    .DepthLog2(TxDepthLog2),
    .Block    (1'b1)
  ) u_tx_fifo (
    .wclk_i     (clk_i),
    .wrst_ni    (tx_crossing_rst_n),
    .in_valid_i (tx_push),
    .in_ready_o (tx_fifo_ready),
    .in_data_i  (tx_item),
    .rclk_i     (gmii_tx_clk_i),
    .rrst_ni    (tx_gmii_rst_n),
    .out_valid_o(tx_valid),
    .out_ready_i(tx_ready),
    .out_data_o (tx_next)
  );

  gs_pulse_cdc u_tx_frames (
    .wclk_i (clk_i),
    .wrst_ni(tx_crossing_rst_n),
    .pulse_i(tx_frame),
    .full_o (tx_full),
    .rclk_i (gmii_tx_clk_i),
    .rrst_ni(tx_gmii_rst_n),
    .pulse_o(tx_arrived)
  );

  // Pause frames follow each other in more time than a crossing takes, so this queue is never full.
  gs_fifo_async #(
    .data_t   (logic [15:0]),
    .DepthLog2(3)
  ) u_quanta (
    .wclk_i     (clk_i),
    .wrst_ni    (tx_crossing_rst_n),
    .in_valid_i (quanta_valid),
    .in_ready_o (),
    .in_data_i  (quanta),
    .rclk_i     (gmii_tx_clk_i),
    .rrst_ni    (tx_gmii_rst_n),
    .out_valid_o(quanta_arrived),
    .out_ready_i(1'b1),
    .out_data_o (quanta_out)
  );

  logic       pause, paused, pause_start, pause_last, half_q, source_q, tx_in_ready, tx_any_begin;
  logic [7:0] pause_data;
  gs_sync u_sync_pause (
    .clk_i(gmii_tx_clk_i), .rst_ni(tx_gmii_rst_n), .data_i(pause_i), .data_o(pause)
  );
  always_ff @(posedge gmii_tx_clk_i) if (gmii_tx_ce_i) half_q <= gmii_tx_nibble_i && !half_q;
  gs_eth_pause #(.Quanta(PauseQuanta)) u_pause (
    .clk_i         (gmii_tx_clk_i),
    .rst_ni        (tx_gmii_rst_n),
    .tick_i        (gmii_tx_ce_i && (!gmii_tx_nibble_i || half_q)),
    .mac_i,
    .pause_i       (pause),
    .quanta_valid_i(quanta_arrived),
    .quanta_i      (quanta_out),
    .paused_o      (paused),
    .start_o       (pause_start),
    .begin_i       (tx_any_begin && pause_start),
    .ready_i       (tx_in_ready && source_q),
    .data_o        (pause_data),
    .last_o        (pause_last)
  );
  // A pause frame is sent first, also while this station is paused.
  assign tx_begin = tx_any_begin && !pause_start;
  assign tx_ready = tx_in_ready && !source_q;
  always_ff @(posedge gmii_tx_clk_i) begin
    if (tx_any_begin) source_q <= pause_start;
    if (!tx_gmii_rst_n) source_q <= 1'b0;
  end

  // Whole frames in the queue. Pulses and bytes cross separately: the pulse of a frame may arrive a few cycles before
  // its last byte. Its first byte is needed eight byte times after the start.
  logic [TxDepthLog2:0] tx_frames_q;
  always_ff @(posedge gmii_tx_clk_i) begin
    tx_start <= tx_frames_q != '0 && !tx_begin;
    if (tx_arrived != tx_begin) tx_frames_q <= tx_arrived ? tx_frames_q + 1'b1 : tx_frames_q - 1'b1;
    if (!tx_gmii_rst_n) begin
      tx_start    <= 1'b0;
      tx_frames_q <= '0;
    end
  end

  gs_eth_tx #(.MaxBytes(MaxBytes)) u_tx (
    .clk_i     (gmii_tx_clk_i),
    .rst_ni    (tx_gmii_rst_n),
    .start_i   (pause_start || (tx_start && !paused)),
    .begin_o   (tx_any_begin),
    .in_valid_i(source_q || tx_valid),
    .in_ready_o(tx_in_ready),
    .in_data_i (source_q ? pause_data : tx_next.data),
    .in_last_i (source_q ? pause_last : tx_next.last),
    .ce_i      (gmii_tx_ce_i),
    .nibble_i  (gmii_tx_nibble_i),
    .txd_o     (gmii_txd_o),
    .tx_en_o   (gmii_tx_en_o),
    .tx_er_o   (gmii_tx_er_o)
  );

  // Counters
  counters_t counters_q;
  always_ff @(posedge clk_i) begin
    if (event_valid && rx_rst_n) begin
      unique case (event_code)
        Good: counters_q.rx_good <= counters_q.rx_good + 1'b1;
        CrcError: counters_q.rx_crc_error <= counters_q.rx_crc_error + 1'b1;
        CodeError: counters_q.rx_code_error <= counters_q.rx_code_error + 1'b1;
        TooShort: counters_q.rx_too_short <= counters_q.rx_too_short + 1'b1;
        TooLong: counters_q.rx_too_long <= counters_q.rx_too_long + 1'b1;
        default: counters_q.rx_overrun <= counters_q.rx_overrun + 1'b1;
      endcase
    end
    if (quanta_valid) counters_q.rx_pause <= counters_q.rx_pause + 1'b1;
    if (tx_frame) begin
      if (tx_too_long) counters_q.tx_too_long <= counters_q.tx_too_long + 1'b1;
      else counters_q.tx_good <= counters_q.tx_good + 1'b1;
    end
    if (!rst_ni) counters_q <= '0;
  end
  assign counters_o = counters_q;

  `GS_ASSERT_HOLD(received_byte_waits_unchanged, rx_axis_tvalid_o, rx_axis_tready_i, rx_out)
endmodule
