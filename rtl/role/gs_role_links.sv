// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Links of a board on the virtual links of its shell: `gs_link_mac` for each, with the shell's clock as the MAC's.
///
///     board's links <=> gs_link_mac <=> frames one after the other => shell
///                                   <== a queue per link           <= shell, without back-pressure
///
/// A frame of which bytes found no room, since the board is slower than the shell, ends with an error. A reset of the
/// board reaches the shell's clock only in gs_link_mac, by a handshake: a second reset of the shell's side would take
/// effect at another time, with a clock that stands still at any time later, and would cut frames that gs_link_mac has
/// begun. So the queues keep their frames, and gs_link_mac drops those that meet its reset.
module gs_role_links #(
  /// links, 1 to 4
  parameter int unsigned Links = 2,
  /// bytes of a beat of a link
  parameter int unsigned Bytes = gossamer_pkg::LinksDatapathBytes,
  /// bytes that wait for the board, for each link
  parameter int unsigned Depth = 512
) (
  // Shell, as at gs_shell
  input  logic             clk_i,
  output logic [15:0]      role_links_o,
  input  logic             link_valid_i,
  input  logic [7:0]       link_data_i,
  input  logic             link_last_i,
  input  logic             link_error_i,
  input  logic [1:0]       link_dest_i,
  output logic             link_valid_o,
  input  logic             link_ready_i,
  output logic [7:0]       link_data_o,
  output logic             link_last_o,
  output logic [1:0]       link_dest_o,
  // Board, as at gs_board
  input  logic             board_clk_i,
  input  logic             board_rst_ni,
  input  logic [Links-1:0] mac_tx_valid_i,
  output logic [Links-1:0] mac_tx_ready_o,
  input  logic [8*Bytes-1:0] mac_tx_data_i[Links],
  input  logic [Bytes-1:0] mac_tx_keep_i[Links],
  input  logic [Links-1:0] mac_tx_last_i,
  output logic [Links-1:0] mac_rx_valid_o,
  output logic [8*Bytes-1:0] mac_rx_data_o[Links],
  output logic [Bytes-1:0] mac_rx_keep_o[Links],
  output logic [Links-1:0] mac_rx_last_o,
  output logic [Links-1:0] mac_rx_error_o
);
  localparam int unsigned LinkW = Links > 1 ? $clog2(Links) : 1;
  if (Links < 1 || Links > 4) begin : gen_illegal_links
    $fatal(1, "gs_role_links: Links is %0d; a shell has 1 to 4 virtual links", Links);
  end
  assign role_links_o = 16'(Links);

  typedef struct packed {
    logic       error;
    logic       last;
    logic [7:0] data;
  } byte_t;

  // The shell's side begins once, when the role is loaded.
  logic [1:0] begun_q;
  logic       rst_n;
  initial begun_q = '0;
  always_ff @(posedge clk_i) begun_q <= {begun_q[0], 1'b1};
  assign rst_n = begun_q[1];

  logic [Links-1:0]      tx_valid, tx_ready, tx_last, unused_rst;
  logic [Links-1:0][7:0] tx_data;
  for (genvar l = 0; l < Links; l++) begin : gen_link
    logic  comes, room, lost_q, ends_q, valid, ready;
    byte_t in, out;
    // Bytes of a frame that has lost one are dropped. Its end is put into the queue as soon as there is room, before
    // bytes of the next frame: if these come first, that frame is lost as well.
    assign comes = link_valid_i && link_dest_i == 2'(l);
    assign in    = ends_q ? byte_t'{error: 1'b1, last: 1'b1, data: '0}
                          : byte_t'{error: link_error_i, last: link_last_i, data: link_data_i};
    gs_fifo #(
      .data_t(byte_t),
      .Depth (Depth),
      .Block (1'b1)
    ) u_bytes (
      .clk_i,
      .rst_ni     (rst_n),
      .in_valid_i (ends_q || (comes && !lost_q)),
      .in_ready_o (room),
      .in_data_i  (in),
      .out_valid_o(valid),
      .out_ready_i(ready),
      .out_data_o (out),
      .count_o    ()
    );
    always_ff @(posedge clk_i) begin
      if (ends_q && room) ends_q <= 1'b0;
      if (comes && (lost_q || ends_q || !room)) begin
        lost_q <= !link_last_i;
        ends_q <= link_last_i;
      end
      if (!rst_n) begin
        lost_q <= 1'b0;
        ends_q <= 1'b0;
      end
    end

    gs_link_mac #(
      .Bytes(Bytes)
    ) u_mac (
      .clk_i           (board_clk_i),
      .rst_ni          (board_rst_ni),
      .rst_no          (unused_rst[l]),
      .tx_valid_i      (mac_tx_valid_i[l]),
      .tx_ready_o      (mac_tx_ready_o[l]),
      .tx_data_i       (mac_tx_data_i[l]),
      .tx_keep_i       (mac_tx_keep_i[l]),
      .tx_last_i       (mac_tx_last_i[l]),
      .rx_valid_o      (mac_rx_valid_o[l]),
      .rx_data_o       (mac_rx_data_o[l]),
      .rx_keep_o       (mac_rx_keep_o[l]),
      .rx_last_o       (mac_rx_last_o[l]),
      .rx_error_o      (mac_rx_error_o[l]),
      .mac_clk_i       (clk_i),
      .tx_axis_tdata_o (tx_data[l]),
      .tx_axis_tvalid_o(tx_valid[l]),
      .tx_axis_tready_i(tx_ready[l]),
      .tx_axis_tlast_o (tx_last[l]),
      .rx_axis_tdata_i (out.data),
      .rx_axis_tvalid_i(valid),
      .rx_axis_tready_o(ready),
      .rx_axis_tlast_i (out.last),
      .rx_axis_tuser_i (out.error)
    );
  end

  // Frames to the shell: a link keeps its turn to the end of its frame.
  logic [Links-1:0] grant;
  logic [LinkW-1:0] turn, turn_q, now;
  logic             inside_q, moves;
  // A frame that a reset cuts is ended by gs_link_mac: its turn lasts until then.
  initial inside_q = 1'b0;
  gs_arbiter #(
    .N(Links)
  ) u_arbiter (
    .clk_i,
    .rst_ni   (rst_n),
    .req_i    (tx_valid),
    .gnt_o    (grant),
    .idx_o    (turn),
    .advance_i(moves && !inside_q)
  );
  assign now          = inside_q ? turn_q : turn;
  assign link_valid_o = tx_valid[now];
  assign link_data_o  = tx_data[now];
  assign link_last_o  = tx_last[now];
  assign link_dest_o  = 2'(now);
  assign moves        = link_valid_o && link_ready_i;
  always_comb begin
    tx_ready      = '0;
    tx_ready[now] = link_ready_i;
  end
  always_ff @(posedge clk_i) begin
    if (moves) begin
      inside_q <= !link_last_o;
      turn_q   <= now;
    end
  end
  logic unused;
  assign unused = ^{grant, unused_rst};
endmodule
