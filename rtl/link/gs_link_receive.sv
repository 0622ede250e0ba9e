// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Receives frames: stores the body in a buffer and checks CRC-32C over the whole frame. No part of a frame is used
/// before the frame has passed the check.
///
/// A frame is damaged if its checksum is wrong, if the MAC reports an error, if it is too long or too short, or if its
/// last word does not have 4 bytes.
module gs_link_receive
  import gossamer_pkg::*;
  import gs_link_pkg::*;
#(
  /// words of the longest body
  parameter  int unsigned BodyWords = 185,
  /// buffers
  parameter  int unsigned Buffers   = 16,
  localparam int unsigned AddrW     = $clog2(Buffers * BodyWords),
  localparam int unsigned WordsW    = $clog2(BodyWords + 1),
  localparam int unsigned BufferW   = $clog2(Buffers)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // MAC.
  input  logic               mac_valid_i,
  input  logic [63:0]        mac_data_i,
  input  logic [7:0]         mac_keep_i,
  input  logic               mac_last_i,
  input  logic               mac_error_i,
  // The buffer that is being written.
  input  logic               buffer_valid_i,
  input  logic [BufferW-1:0] buffer_i,
  output logic               we_o,
  output logic [AddrW-1:0]   waddr_o,
  output word_t              wdata_o,
  // A good frame was received: its head, the word after the head, the words of its body, and whether a buffer has them.
  output logic               good_o,
  output link_frame_t        head_o,
  output word_t              second_o,
  output logic [WordsW-1:0]  words_o,
  output logic               stored_o,
  output logic [15:0]        bytes_o,
  /// a damaged frame was received
  output logic               damaged_o
);
  logic valid_q, last_q, error_q;
  logic [7:0] keep_q;
  word_t data_q;

  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && mac_valid_i;
    last_q  <= mac_last_i;
    error_q <= mac_error_i;
    keep_q  <= mac_keep_i;
    data_q  <= mac_data_i;
  end

  // Position in the frame: at the head, or at the word after it.
  logic at_head_q, at_second_q, bad_q, good_q, damaged_q, stored_q, full;
  link_frame_t head_q;
  word_t second_q;
  logic [31:0] crc_q;
  logic [WordsW-1:0] words_q;
  logic [15:0] bytes_q;
  logic has_second, in_body, intact;

  assign has_second = head_q.selective || head_q.kind == LinkFrameKindHello;
  assign in_body    = valid_q && !at_head_q && !last_q && !(at_second_q && has_second);
  assign full       = words_q == WordsW'(BodyWords);
  // The CRC does not cover the word with the checksum.
  assign intact     = !at_head_q && !bad_q && !error_q && keep_q == 8'h0F && data_q[31:0] == ~crc_q;

  assign we_o    = in_body && head_q.kind == LinkFrameKindData && !full && (words_q == '0 ? buffer_valid_i : stored_q);
  assign waddr_o = AddrW'(32'(buffer_i) * BodyWords) + AddrW'(words_q);
  assign wdata_o = data_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      at_head_q   <= 1'b1;
      at_second_q <= 1'b0;
      good_q      <= 1'b0;
      damaged_q   <= 1'b0;
    end else begin
      good_q    <= valid_q && last_q && intact;
      damaged_q <= valid_q && last_q && !intact;
      if (valid_q) begin
        at_head_q   <= last_q;
        at_second_q <= at_head_q && !last_q;
      end
    end
    if (valid_q) begin
      crc_q <= crc_next(at_head_q ? CrcStart : crc_q, data_q);
      if (at_head_q) begin
        head_q <= flip(data_q);
        bad_q  <= keep_q != 8'hFF;
      end else if (!last_q && (keep_q != 8'hFF || (in_body && full))) begin
        bad_q <= 1'b1;
      end
      if (at_second_q) second_q <= flip(data_q);
      if (at_head_q) words_q <= '0;
      else if (in_body && !full) words_q <= words_q + 1'b1;
      if (in_body && words_q == '0) stored_q <= buffer_valid_i;
      bytes_q <= at_head_q ? 16'd8 : bytes_q + (last_q ? 16'd4 : 16'd8);
    end
  end

  assign good_o    = good_q && head_q.kind inside {LinkFrameKindHello, LinkFrameKindPlain, LinkFrameKindData};
  assign damaged_o = damaged_q || (good_q && !good_o);
  assign head_o    = head_q;
  assign second_o  = second_q;
  assign words_o   = words_q;
  assign stored_o  = stored_q && words_q != '0;
  assign bytes_o   = bytes_q;

  `GS_ASSERT_NOW(buffer_is_never_overrun, !we_o || words_q < WordsW'(BodyWords))
endmodule
