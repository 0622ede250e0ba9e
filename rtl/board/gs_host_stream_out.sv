// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Flits of a board's host port as packets of message stream 0 (gs_board_host_stream).
///
///     host_out ->[ records ]-> words ->[ crossing ]-> m_axis
///
/// A record is a flit and the cycle of the board's clock, since its reset, in which the flit left the port. A packet
/// has the records that follow each other within `Linger` cycles, at most `PacketFlits`.
module gs_host_stream_out
  import gs_noc_pkg::Vnets;
  import gossamer_pkg::*;
#(
  parameter int unsigned PacketFlits = 43,
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
  localparam int unsigned Words = FlitWords + 2;
  localparam logic [2:0] LastWord = 3'(Words - 1);
  localparam int unsigned Depth = 8;
  localparam int unsigned CountW = $clog2(Depth + 1);
  localparam int unsigned FlitsW = $clog2(PacketFlits + 1);
  localparam int unsigned LingerW = $clog2(Linger + 1);
  if (Words != 8) begin : gen_illegal_words
    $fatal(1, "gs_host_stream_out: a record has %0d words; it must have 8", Words);
  end

  typedef struct packed {
    logic [63:0] cycle;
    flit_t       flit;
  } record_t;

  // Board's clock. A flit may come in the cycle after the port was ready, and another in this one.
  logic        valid, take;
  logic [31:0] word;
  logic        record_valid, record_ready, room, cross_ready, moves;
  record_t     record;
  logic [CountW-1:0]      count;
  logic [2:0]             at_q;
  logic [Words-1:0][31:0] words;
  logic [63:0]            cycle_q;
  assign host_out_ready_o = board_rst_ni && count <= CountW'(Depth - 3) ? '1 : '0;
  gs_fifo #(
    .data_t(record_t),
    .Depth (Depth)
  ) u_records (
    .clk_i      (board_clk_i),
    .rst_ni     (board_rst_ni),
    .in_valid_i (host_out_valid_i != '0),
    .in_ready_o (room),
    .in_data_i  (record_t'{cycle: cycle_q, flit: host_out_i}),
    .out_valid_o(record_valid),
    .out_ready_i(record_ready),
    .out_data_o (record),
    .count_o    (count)
  );
  assign words        = {record.cycle, (32 * FlitWords)'(record.flit)};
  assign moves        = record_valid && cross_ready;
  assign record_ready = cross_ready && at_q == LastWord;
  always_ff @(posedge board_clk_i) begin
    cycle_q <= cycle_q + 64'd1;
    if (moves) at_q <= at_q + 3'd1;
    if (!board_rst_ni) begin
      at_q    <= '0;
      cycle_q <= '0;
    end
  end
  gs_fifo_async #(
    .data_t   (logic [31:0]),
    .DepthLog2(4)
  ) u_crossing (
    .wclk_i     (board_clk_i),
    .wrst_ni    (board_rst_ni),
    .in_valid_i (record_valid),
    .in_ready_o (cross_ready),
    .in_data_i  (words[at_q]),
    .rclk_i     (clk_i),
    .rrst_ni    (crossing_rst_ni),
    .out_valid_o(valid),
    .out_ready_i(take),
    .out_data_o (word)
  );
  always_ff @(posedge board_clk_i) begin
    if (board_rst_ni) assert (host_out_valid_i == '0 || $onehot(host_out_valid_i));
  end

  // A packet. Its last word waits in front of the output until it is known that a record follows, or that none does.
  logic               open_q;     // words of a packet have been taken, and its last one has not been sent
  logic [2:0]         word_q;     // number of the next word in its record
  logic [FlitsW-1:0]  flits_q;    // records that are taken
  logic [LingerW-1:0] linger_q;
  logic               held_q;     // a word waits for its end to be known
  logic [31:0]        held_data_q;
  logic               held_end_q; // it is the last one of a record
  logic               begins, next, follows, ends, send, free;
  assign begins  = valid && !stop_i && !open_q && rst_ni;
  assign next    = open_q && valid;
  assign free    = !m_axis_tvalid_o || m_axis_tready_i;
  // The held word's end: it is within a record; a record follows; or the packet ends.
  assign follows = next && !(held_end_q && (flits_q == FlitsW'(PacketFlits) || stop_i));
  assign ends    = held_end_q && !follows && (flits_q == FlitsW'(PacketFlits) || stop_i || linger_q == '0);
  assign send    = held_q && (follows || ends) && free;
  assign take    = begins || (open_q && follows && (send || !held_q));

  logic taken;
  assign taken = take && valid;
  always_ff @(posedge clk_i) begin
    if (m_axis_tready_i) m_axis_tvalid_o <= 1'b0;
    if (send) begin
      m_axis_tvalid_o <= 1'b1;
      m_axis_tdata_o  <= held_data_q;
      m_axis_tlast_o  <= ends;
      held_q          <= 1'b0;
      if (ends) open_q <= 1'b0;
    end
    if (taken) begin
      held_q      <= 1'b1;
      held_data_q <= word;
      held_end_q  <= !begins && word_q == LastWord;
      word_q      <= begins ? 3'd1 : word_q + 3'd1;
      if (!begins && word_q == LastWord) flits_q <= flits_q + 1'b1;
    end
    if (begins) begin
      open_q  <= 1'b1;
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
  assign m_axis_tdest_o = '0;
  assign idle_o         = !open_q && !m_axis_tvalid_o;
  logic unused;
  assign unused = room;

  `GS_ASSERT_HOLD(word_to_the_host_is_stable, m_axis_tvalid_o, m_axis_tready_i, {m_axis_tdata_o, m_axis_tlast_o})
endmodule
