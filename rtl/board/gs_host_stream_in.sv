// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Packets of message streams as flits to a board's host port (gs_board_host_stream).
///
///     s_axis ->[ words ]->[ crossing ]-> flit ->+-> host_in     by network
module gs_host_stream_in
  import gs_noc_pkg::Vnets;
  import gossamer_pkg::*;
#(
  /// most flits of a packet
  parameter int unsigned PacketFlits = 60
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  /// reset of this side of the crossing
  input  logic             crossing_rst_ni,
  output logic             malformed_o,
  output logic [Vnets-1:0] wanted_o,
  input  logic             s_axis_tvalid_i,
  output logic             s_axis_tready_o,
  input  logic [31:0]      s_axis_tdata_i,
  input  logic [3:0]       s_axis_tkeep_i,
  input  logic             s_axis_tlast_i,
  input  logic [7:0]       s_axis_tdest_i,
  input  logic             board_clk_i,
  input  logic             board_rst_ni,
  output logic [Vnets-1:0] host_in_valid_o,
  input  logic [Vnets-1:0] host_in_ready_i,
  output flit_t            host_in_o
);
  localparam int unsigned FlitWords = ($bits(flit_t) + 31) / 32;
  localparam logic [2:0] LastWord = 3'(FlitWords - 1);
  localparam int unsigned Most = PacketFlits * FlitWords;
  localparam int unsigned Depth = 1 << $clog2(Most + 1);
  localparam int unsigned CountW = $clog2(Depth + 1);
  localparam int unsigned VnetW = $clog2(Vnets);

  typedef struct packed {
    /// the flit that began before this word is not whole: it is dropped, with this word
    logic        cut;
    logic [31:0] data;
  } word_t;

  // A packet may have any length: words after the last whole flit are dropped.
  logic [2:0] at_q;              // number of the next word in its flit
  logic       good, ends, cut;
  assign good = s_axis_tdest_i < 8'(Vnets);
  assign ends = s_axis_tvalid_i && s_axis_tready_o && s_axis_tlast_i;
  assign cut  = s_axis_tkeep_i != '1 || (s_axis_tlast_i && at_q != LastWord);

  logic [Vnets-1:0] room;
  assign s_axis_tready_o = rst_ni && (!good || room[s_axis_tdest_i[VnetW-1:0]]);
  always_ff @(posedge clk_i) begin
    // An empty packet has no flit, and nothing to drop.
    malformed_o <= ends && (!good || (cut && !(s_axis_tkeep_i == '0 && at_q == '0)));
    if (s_axis_tvalid_i && s_axis_tready_o) at_q <= s_axis_tlast_i || cut || at_q == LastWord ? '0 : at_q + 3'd1;
    if (!rst_ni) begin
      at_q        <= '0;
      malformed_o <= 1'b0;
    end
  end

  logic  [Vnets-1:0] ready, taken;
  flit_t             flit[Vnets];
  for (genvar v = 0; v < Vnets; v++) begin : gen_vnet
    logic              valid, take, cross_valid, cross_ready, valid_board;
    word_t             word, crossed;
    logic [CountW-1:0] count;
    assign valid       = s_axis_tvalid_i && s_axis_tdest_i == 8'(v) && rst_ni;
    assign wanted_o[v] = rst_ni && count <= CountW'(Depth - Most);
    gs_fifo #(
      .data_t(word_t),
      .Depth (Depth),
      .Block (1'b1)
    ) u_words (
      .clk_i,
      .rst_ni,
      .in_valid_i (valid),
      .in_ready_o (room[v]),
      .in_data_i  (word_t'{cut: cut, data: s_axis_tdata_i}),
      .out_valid_o(cross_valid),
      .out_ready_i(cross_ready),
      .out_data_o (word),
      .count_o    (count)
    );
    gs_fifo_async #(
      .data_t   (word_t),
      .DepthLog2(3)
    ) u_crossing (
      .wclk_i     (clk_i),
      .wrst_ni    (crossing_rst_ni),
      .in_valid_i (cross_valid),
      .in_ready_o (cross_ready),
      .in_data_i  (word),
      .rclk_i     (board_clk_i),
      .rrst_ni    (board_rst_ni),
      .out_valid_o(valid_board),
      .out_ready_i(take),
      .out_data_o (crossed)
    );

    // Board's clock
    logic [2:0]                      words_q;
    logic [FlitWords-1:0][31:0]      flit_q;
    logic [32*FlitWords-$bits(flit_t)-1:0] unused;
    assign ready[v] = words_q == 3'(FlitWords);
    assign take     = !ready[v] || taken[v];
    assign {unused, flit[v]} = flit_q;
    always_ff @(posedge board_clk_i) begin
      if (taken[v]) words_q <= '0;
      if (valid_board && take) begin
        flit_q  <= {crossed.data, flit_q[FlitWords-1:1]};
        words_q <= crossed.cut ? '0 : taken[v] ? 3'd1 : words_q + 3'd1;
      end
      if (!board_rst_ni) words_q <= '0;
    end
  end

  // The port accepts one flit a cycle, of a network that is ready.
  logic             any;
  logic [VnetW-1:0] chosen;
  gs_arbiter #(
    .N(Vnets)
  ) u_arbiter (
    .clk_i    (board_clk_i),
    .rst_ni   (board_rst_ni),
    .req_i    (ready & host_in_ready_i),
    .gnt_o    (taken),
    .idx_o    (chosen),
    .advance_i(any)
  );
  assign any             = taken != '0;
  assign host_in_valid_o = taken;
  assign host_in_o       = flit[chosen];

  `GS_ASSERT_NOW(a_packet_has_room, !(s_axis_tvalid_i && rst_ni && good) || s_axis_tready_o)
endmodule
