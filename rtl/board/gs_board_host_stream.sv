// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// The host port of a board as message streams of the shell, between their clocks. A stream to the board has the flits
/// of one virtual network, so no network waits for another. All flits from the board are on stream 0, in their order.
///
///     s_axis -> gs_host_stream_in  -> host_in     by network: queue of words, crossing, flit
///     m_axis <- gs_host_stream_out <- host_out    records, crossing of words; packets of several records
///
/// A packet to the board has whole flits, 24 bytes each: the bits of `flit_t` from the lowest on. The end of a packet
/// that is no whole flit is dropped, and so is a packet to a stream that is none. A packet from the board has records
/// of 32 bytes: a flit, and the board's cycle in which it left the port. Flits of one packet on the board may be in
/// several packets of a stream, and reverse.
module gs_board_host_stream
  import gs_noc_pkg::Vnets;
  import gossamer_pkg::*;
#(
  /// most flits of a packet of the host
  parameter int unsigned InFlits     = 60,
  /// most flits of a packet to the host
  parameter int unsigned OutFlits    = 43,
  /// cycles of clk_i for which a packet to the host waits for a further flit
  parameter int unsigned Linger      = 32
) (
  // Shell
  input  logic             clk_i,
  /// resets both sides; a packet that is being sent is cut
  input  logic             rst_ni,
  /// no packet begins; the one that is being sent ends with its present flit
  input  logic             stop_i,
  /// no packet is being sent
  output logic             idle_o,
  /// for one cycle: a packet, or its end, was dropped
  output logic             malformed_o,
  // Packets, AXI4-Stream: all words but the last of a packet have four bytes
  /// streams for which a packet is accepted
  output logic [Vnets-1:0] wanted_o,
  input  logic             s_axis_tvalid_i,
  output logic             s_axis_tready_o,
  input  logic [31:0]      s_axis_tdata_i,
  input  logic [3:0]       s_axis_tkeep_i,
  input  logic             s_axis_tlast_i,
  input  logic [7:0]       s_axis_tdest_i,
  output logic             m_axis_tvalid_o,
  input  logic             m_axis_tready_i,
  output logic [31:0]      m_axis_tdata_o,
  output logic [3:0]       m_axis_tkeep_o,
  output logic             m_axis_tlast_o,
  output logic [7:0]       m_axis_tdest_o,
  // Board
  input  logic             board_clk_i,
  /// the board's reset
  output logic             board_rst_no,
  /// the board is in reset, and the shell's side too; in clk_i
  output logic             in_reset_o,
  // Host port, as at gs_host_port
  output logic [Vnets-1:0] host_in_valid_o,
  input  logic [Vnets-1:0] host_in_ready_i,
  output flit_t            host_in_o,
  input  logic [Vnets-1:0] host_out_valid_i,
  output logic [Vnets-1:0] host_out_ready_o,
  input  flit_t            host_out_i
);
  logic rst_n, crossing_rst_n, other_rst_n;
  gs_reset_cdc u_reset (
    .clk_i,
    .rst_ni,
    .rst_no         (rst_n),
    .crossing_rst_no(crossing_rst_n),
    .other_clk_i    (board_clk_i),
    .other_rst_no   (other_rst_n)
  );
  assign board_rst_no = other_rst_n;
  assign in_reset_o   = !crossing_rst_n;

  gs_host_stream_in #(
    .PacketFlits(InFlits)
  ) u_in (
    .clk_i,
    .rst_ni         (rst_n),
    .crossing_rst_ni(crossing_rst_n),
    .malformed_o,
    .wanted_o,
    .s_axis_tvalid_i,
    .s_axis_tready_o,
    .s_axis_tdata_i,
    .s_axis_tkeep_i,
    .s_axis_tlast_i,
    .s_axis_tdest_i,
    .board_clk_i,
    .board_rst_ni   (other_rst_n),
    .host_in_valid_o,
    .host_in_ready_i,
    .host_in_o
  );

  gs_host_stream_out #(
    .PacketFlits(OutFlits),
    .Linger     (Linger)
  ) u_out (
    .clk_i,
    .rst_ni         (rst_n),
    .crossing_rst_ni(crossing_rst_n),
    .stop_i,
    .idle_o,
    .m_axis_tvalid_o,
    .m_axis_tready_i,
    .m_axis_tdata_o,
    .m_axis_tkeep_o,
    .m_axis_tlast_o,
    .m_axis_tdest_o,
    .board_clk_i,
    .board_rst_ni   (other_rst_n),
    .host_out_valid_i,
    .host_out_ready_o,
    .host_out_i
  );
endmodule
