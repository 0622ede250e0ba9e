// SPDX-License-Identifier: Apache-2.0

/// A link's end at an Ethernet MAC with a clock of its own: beats of the board's clock, bytes of the MAC's.
///
///     link -> beats ->[ crossing ]-> bytes -> MAC   bytes leave with gaps: the MAC stores a frame before it begins
///     link <- beats <-[ crossing ]<- bytes <- MAC   the MAC waits if the board is slower than the line
///
/// `rst_ni` resets both sides. A frame that it cuts on its way to the MAC is ended after its present byte: the link's
/// checksum is wrong, and the receiver drops it. Of a frame that it cuts on its way to the link, the rest is dropped.
module gs_link_mac #(
  /// bytes of a beat of the link
  parameter int unsigned Bytes     = gossamer_pkg::LinksDatapathBytes,
  /// log2 of the beats in each crossing
  parameter int unsigned DepthLog2 = 4
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// the board's side leaves reset with this
  output logic               rst_no,
  // Link, as at gs_link
  input  logic               tx_valid_i,
  output logic               tx_ready_o,
  input  logic [8*Bytes-1:0] tx_data_i,
  input  logic [Bytes-1:0]   tx_keep_i,
  input  logic               tx_last_i,
  output logic               rx_valid_o,
  output logic [8*Bytes-1:0] rx_data_o,
  output logic [Bytes-1:0]   rx_keep_o,
  output logic               rx_last_o,
  output logic               rx_error_o,
  // MAC, as at gs_eth_mac
  input  logic               mac_clk_i,
  output logic [7:0]         tx_axis_tdata_o,
  output logic               tx_axis_tvalid_o,
  input  logic               tx_axis_tready_i,
  output logic               tx_axis_tlast_o,
  input  logic [7:0]         rx_axis_tdata_i,
  input  logic               rx_axis_tvalid_i,
  output logic               rx_axis_tready_o,
  input  logic               rx_axis_tlast_i,
  input  logic               rx_axis_tuser_i
);
  localparam int unsigned AtW = (Bytes > 1) ? $clog2(Bytes) : 1;
  localparam logic [AtW-1:0] LastByte = AtW'(Bytes - 1);

  typedef struct packed {
    logic               last;
    logic [Bytes-1:0]   keep;
    logic [8*Bytes-1:0] data;
  } beat_t;
  typedef struct packed {
    logic  error;
    beat_t beat;
  } received_t;

  logic crossing_rst_n, mac_rst_n;
  gs_reset_cdc u_reset (
    .clk_i,
    .rst_ni,
    .rst_no,
    .crossing_rst_no(crossing_rst_n),
    .other_clk_i    (mac_clk_i),
    .other_rst_no   (mac_rst_n)
  );

  // ------------------------------------------------------------------------------------------------- to the MAC
  logic               beat_ready, send_valid, send_taken, beat_ends;
  beat_t              sends;
  logic [AtW-1:0]     send_q;         // byte of the beat
  logic [Bytes-1:0]   above;          // whether the beat has a byte after this one
  logic               inside_q = 1'b0; // a frame has begun and not ended; kept in reset
  assign tx_ready_o = beat_ready && rst_no;
  gs_fifo_async #(
    .data_t   (beat_t),
    .DepthLog2(DepthLog2)
  ) u_send (
    .wclk_i     (clk_i),
    .wrst_ni    (crossing_rst_n),
    .in_valid_i (tx_valid_i && rst_no),
    .in_ready_o (beat_ready),
    .in_data_i  (beat_t'{last: tx_last_i, keep: tx_keep_i, data: tx_data_i}),
    .rclk_i     (mac_clk_i),
    .rrst_ni    (mac_rst_n),
    .out_valid_o(send_valid),
    .out_ready_i(send_taken),
    .out_data_o (sends)
  );
  assign above            = sends.keep >> 1;
  assign beat_ends        = send_q == LastByte || !above[send_q];
  assign tx_axis_tdata_o  = sends.data[8*send_q+:8];
  // In reset, a byte ends the frame that is cut.
  assign tx_axis_tvalid_o = mac_rst_n ? send_valid : inside_q;
  assign tx_axis_tlast_o  = mac_rst_n ? sends.last && beat_ends : 1'b1;
  assign send_taken       = tx_axis_tready_i && beat_ends && mac_rst_n;
  always_ff @(posedge mac_clk_i) begin
    if (tx_axis_tvalid_o && tx_axis_tready_i) begin
      inside_q <= !tx_axis_tlast_o;
      send_q   <= beat_ends ? '0 : send_q + 1'b1;
    end
    if (!mac_rst_n) send_q <= '0;
  end

  // ------------------------------------------------------------------------------------------------ to the link
  logic               store_ready, whole, arrives, rx_valid;
  logic               within_q = 1'b0; // as inside_q, of the MAC's frames
  logic               skip_q;          // the rest of a frame that began in reset
  logic [AtW-1:0]     place_q;
  logic [8*Bytes-1:0] bytes_q, bytes_d;
  logic [Bytes-1:0]   keep_q, keep_d;
  received_t          arrived;
  always_comb begin
    bytes_d                = bytes_q;
    keep_d                 = keep_q;
    bytes_d[8*place_q+:8]  = rx_axis_tdata_i;
    keep_d[place_q]        = 1'b1;
  end
  assign whole            = place_q == LastByte || rx_axis_tlast_i;
  assign rx_axis_tready_o = !mac_rst_n || skip_q || !whole || store_ready;
  assign arrives          = rx_axis_tvalid_i && rx_axis_tready_o && mac_rst_n && !skip_q;
  always_ff @(posedge mac_clk_i) begin
    if (rx_axis_tvalid_i && rx_axis_tready_o) within_q <= !rx_axis_tlast_i;
    if (arrives) begin
      bytes_q <= bytes_d;
      keep_q  <= whole ? '0 : keep_d;
      place_q <= whole ? '0 : place_q + 1'b1;
    end
    if (rx_axis_tvalid_i && rx_axis_tready_o && rx_axis_tlast_i) skip_q <= 1'b0;
    if (!mac_rst_n) begin
      place_q <= '0;
      keep_q  <= '0;
      skip_q  <= rx_axis_tvalid_i ? !rx_axis_tlast_i : within_q;
    end
  end
  gs_fifo_async #(
    .data_t   (received_t),
    .DepthLog2(DepthLog2)
  ) u_store (
    .wclk_i     (mac_clk_i),
    .wrst_ni    (mac_rst_n),
    .in_valid_i (arrives && whole),
    .in_ready_o (store_ready),
    .in_data_i  ('{error: rx_axis_tuser_i, beat: '{last: rx_axis_tlast_i, keep: keep_d, data: bytes_d}}),
    .rclk_i     (clk_i),
    .rrst_ni    (crossing_rst_n),
    .out_valid_o(rx_valid),
    .out_ready_i(1'b1),
    .out_data_o (arrived)
  );
  assign rx_valid_o = rx_valid && rst_no;
  assign {rx_error_o, rx_last_o, rx_keep_o, rx_data_o} = arrived;
endmodule
