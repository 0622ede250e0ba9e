// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Where the unacknowledged frames are in the ring, and how many packets they contain.
module gs_link_unacked
  import gs_link_pkg::*;
#(
  /// frames, a power of two
  parameter  int unsigned Window    = 64,
  /// words of the longest body
  parameter  int unsigned BodyWords = 185,
  /// words of the ring, a power of two
  parameter  int unsigned RingWords = 2048,
  localparam int unsigned AddrW     = $clog2(RingWords),
  localparam int unsigned WordsW    = $clog2(BodyWords + 1),
  localparam int unsigned PtrW      = $clog2(Window)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  /// a session begins
  input  logic              clear_i,
  // A new frame.
  input  logic              put_i,
  input  logic [PtrW-1:0]   put_seq_i,
  input  logic [AddrW-1:0]  put_start_i,
  input  logic [WordsW-1:0] put_words_i,
  input  logic [PacketsW-1:0] put_packets_i,
  // A frame that is resent.
  input  logic [PtrW-1:0]   get_seq_i,
  output logic [AddrW-1:0]  get_start_o,
  output logic [WordsW-1:0] get_words_o,
  // A frame that is acknowledged and no longer kept.
  input  logic              free_i,
  input  logic [PtrW-1:0]   free_seq_i,
  /// oldest word of the ring that is still needed
  output logic [AddrW-1:0]  kept_o,
  /// a packet is taken to be sent
  input  logic              packet_i,
  /// packets that are taken and unacknowledged
  output logic [15:0]       packets_o
);
  typedef struct packed {
    logic [AddrW-1:0]  start;
    logic [WordsW-1:0] words;
    logic [PacketsW-1:0] packets;
  } frame_t;

  frame_t put, get, freed;
  logic [AddrW-1:0] kept_q;
  logic [15:0] packets_q;

  assign put         = '{start: put_start_i, words: put_words_i, packets: put_packets_i};
  assign get_start_o = get.start;
  assign get_words_o = get.words;
  assign kept_o      = kept_q;
  assign packets_o   = packets_q;

  gs_ram_sdp #(
    .Width  ($bits(frame_t)),
    .Depth  (Window),
    .Latency(0),
    .Style  ("distributed")
  ) u_get (
    .clk_i,
    .we_i   (put_i),
    .wstrb_i(1'b1),
    .waddr_i(put_seq_i),
    .wdata_i(put),
    .re_i   (1'b1),
    .raddr_i(get_seq_i),
    .rdata_o(get)
  );

  gs_ram_sdp #(
    .Width  ($bits(frame_t)),
    .Depth  (Window),
    .Latency(0),
    .Style  ("distributed")
  ) u_free (
    .clk_i,
    .we_i   (put_i),
    .wstrb_i(1'b1),
    .waddr_i(put_seq_i),
    .wdata_i(put),
    .re_i   (1'b1),
    .raddr_i(free_seq_i),
    .rdata_o(freed)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      kept_q    <= '0;
      packets_q <= '0;
    end else begin
      if (free_i) kept_q <= freed.start + AddrW'(freed.words);
      packets_q <= packets_q + 16'(packet_i) - (free_i ? 16'(freed.packets) : '0);
    end
  end

  logic unused;
  assign unused = ^get.packets;

  `GS_ASSERT_NOW(only_sent_packets_are_acknowledged, !free_i || packets_q >= 16'(freed.packets))
  `GS_ASSERT_NOW(frames_are_contiguous_in_the_ring, !free_i || freed.start == kept_q)
endmodule
