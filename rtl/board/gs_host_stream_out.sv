// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Flits of a board's host port as packets of message streams (gs_board_host_stream).
///
///     host_out ->[ flits ]-> words ->[ crossing ]->+-> m_axis     by network
///
/// A packet takes the flits of one network that follow each other within `Linger` cycles, at most `PacketFlits`.
module gs_host_stream_out
  import gs_noc_pkg::Vnets;
  import gossamer_pkg::*;
#(
  parameter int unsigned PacketFlits = 59,
  parameter int unsigned Linger      = 32
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  /// reset of this side of the crossing
  input  logic             crossing_rst_ni,
  input  logic             stop_i,
  output logic             idle_o,
  output logic             m_axis_tvalid_o,
  input  logic             m_axis_tready_i,
  output logic [31:0]      m_axis_tdata_o,
  output logic [3:0]       m_axis_tkeep_o,
  output logic             m_axis_tlast_o,
  output logic [7:0]       m_axis_tdest_o,
  input  logic             board_clk_i,
  input  logic             board_rst_ni,
  input  logic [Vnets-1:0] host_out_valid_i,
  output logic [Vnets-1:0] host_out_ready_o,
  input  flit_t            host_out_i
);
  localparam int unsigned FlitWords = ($bits(flit_t) + 31) / 32;
  localparam logic [2:0] LastWord = 3'(FlitWords - 1);
  localparam int unsigned VnetW = $clog2(Vnets);
  localparam int unsigned Depth = 8;
  localparam int unsigned CountW = $clog2(Depth + 1);
  localparam int unsigned FlitsW = $clog2(PacketFlits + 1);
  localparam int unsigned LingerW = $clog2(Linger + 1);

  logic [Vnets-1:0]       valid, take;
  logic [Vnets-1:0][31:0] word;
  for (genvar v = 0; v < Vnets; v++) begin : gen_vnet
    // Board's clock. A flit may come in the cycle after the port was ready, and another in this one.
    logic                       flit_valid, flit_ready, room, cross_ready, moves;
    flit_t                      flit;
    logic [CountW-1:0]          count;
    logic [2:0]                 at_q;
    logic [FlitWords-1:0][31:0] words;
    assign host_out_ready_o[v] = board_rst_ni && count <= CountW'(Depth - 3);
    gs_fifo #(
      .data_t(flit_t),
      .Depth (Depth)
    ) u_flits (
      .clk_i      (board_clk_i),
      .rst_ni     (board_rst_ni),
      .in_valid_i (host_out_valid_i[v]),
      .in_ready_o (room),
      .in_data_i  (host_out_i),
      .out_valid_o(flit_valid),
      .out_ready_i(flit_ready),
      .out_data_o (flit),
      .count_o    (count)
    );
    assign words      = (32 * FlitWords)'(flit);
    assign moves      = flit_valid && cross_ready;
    assign flit_ready = cross_ready && at_q == LastWord;
    always_ff @(posedge board_clk_i) begin
      if (moves) at_q <= at_q == LastWord ? '0 : at_q + 3'd1;
      if (!board_rst_ni) at_q <= '0;
    end
    gs_fifo_async #(
      .data_t   (logic [31:0]),
      .DepthLog2(4)
    ) u_crossing (
      .wclk_i     (board_clk_i),
      .wrst_ni    (board_rst_ni),
      .in_valid_i (flit_valid),
      .in_ready_o (cross_ready),
      .in_data_i  (words[at_q]),
      .rclk_i     (clk_i),
      .rrst_ni    (crossing_rst_ni),
      .out_valid_o(valid[v]),
      .out_ready_i(take[v]),
      .out_data_o (word[v])
    );
    logic unused;
    assign unused = room;
  end
  always_ff @(posedge board_clk_i) begin
    if (board_rst_ni) assert (host_out_valid_i == '0 || $onehot(host_out_valid_i));
  end

  // A packet. Its last word waits in front of the output until it is known that a flit follows, or that none does.
  logic               open_q;     // words of a packet have been taken, and its last one has not been sent
  logic [VnetW-1:0]   vnet_q, chosen;
  logic [2:0]         word_q;     // number of the next word in its flit
  logic [FlitsW-1:0]  flits_q;    // flits that are taken
  logic [LingerW-1:0] linger_q;
  logic               held_q;     // a word waits for its end to be known
  logic [31:0]        held_data_q;
  logic               held_end_q; // it is the last one of a flit
  logic [Vnets-1:0]   grant;
  logic               begins, next, follows, ends, send, free;
  gs_arbiter #(
    .N(Vnets)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (stop_i || open_q ? '0 : valid),
    .gnt_o    (grant),
    .idx_o    (chosen),
    .advance_i(begins)
  );
  assign begins  = grant != '0 && rst_ni;
  assign next    = open_q && valid[vnet_q];
  assign free    = !m_axis_tvalid_o || m_axis_tready_i;
  // The held word's end: it is within a flit; a flit follows; or the packet ends.
  assign follows = next && !(held_end_q && (flits_q == FlitsW'(PacketFlits) || stop_i));
  assign ends    = held_end_q && !follows && (flits_q == FlitsW'(PacketFlits) || stop_i || linger_q == '0);
  assign send    = held_q && (follows || ends) && free;
  always_comb begin
    take = '0;
    if (begins) take = grant;
    else if (open_q && follows && (send || !held_q)) take[vnet_q] = 1'b1;
  end

  logic taken;
  assign taken = (take & valid) != '0;
  always_ff @(posedge clk_i) begin
    if (m_axis_tready_i) m_axis_tvalid_o <= 1'b0;
    if (send) begin
      m_axis_tvalid_o <= 1'b1;
      m_axis_tdata_o  <= held_data_q;
      m_axis_tlast_o  <= ends;
      m_axis_tdest_o  <= 8'(vnet_q);
      held_q          <= 1'b0;
      if (ends) open_q <= 1'b0;
    end
    if (taken) begin
      held_q      <= 1'b1;
      held_data_q <= begins ? word[chosen] : word[vnet_q];
      held_end_q  <= !begins && word_q == LastWord;
      word_q      <= begins ? 3'd1 : word_q == LastWord ? '0 : word_q + 3'd1;
      if (!begins && word_q == LastWord) flits_q <= flits_q + 1'b1;
    end
    if (begins) begin
      open_q  <= 1'b1;
      vnet_q  <= chosen;
      flits_q <= '0;
    end
    if (taken) linger_q <= LingerW'(Linger);
    else if (linger_q != '0) linger_q <= linger_q - 1'b1;
    if (!rst_ni) begin
      m_axis_tvalid_o <= 1'b0;
      open_q          <= 1'b0;
      held_q          <= 1'b0;
    end
  end
  assign m_axis_tkeep_o = '1;
  assign idle_o         = !open_q && !m_axis_tvalid_o;

  `GS_ASSERT_HOLD(word_to_the_host_is_stable, m_axis_tvalid_o, m_axis_tready_i, {m_axis_tdata_o, m_axis_tlast_o})
endmodule
