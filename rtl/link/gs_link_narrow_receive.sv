// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Receives frames as gs_link_receive does, two bytes a cycle.
///
/// The checksum is verified by the state of CRC-32C after it: the same constant for every intact frame. So the first
/// beat of the checksum may be written behind the body, where no one reads it.
module gs_link_narrow_receive
  import gossamer_pkg::*;
  import gs_link_pkg::*;
#(
  /// words of the longest body
  parameter  int unsigned BodyWords = 185,
  /// buffers
  parameter  int unsigned Buffers   = 4,
  localparam int unsigned AddrW     = $clog2(Buffers * BodyWords),
  localparam int unsigned WordsW    = $clog2(BodyWords + 1),
  localparam int unsigned BufferW   = $clog2(Buffers)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // MAC.
  input  logic               mac_valid_i,
  input  logic [15:0]        mac_data_i,
  input  logic [1:0]         mac_keep_i,
  input  logic               mac_last_i,
  input  logic               mac_error_i,
  // The buffer that is being written, in beats.
  input  logic               buffer_valid_i,
  input  logic [BufferW-1:0] buffer_i,
  output logic               we_o,
  output logic [AddrW+1:0]   waddr_o,
  output logic [15:0]        wdata_o,
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
  // The state after a state's own checksum.
  localparam logic [31:0] Residue = crc_beat(crc_beat(32'd0, 16'hFFFF), 16'hFFFF);

  logic valid_q, last_q, error_q;
  logic [1:0] keep_q;
  logic [15:0] data_q;

  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && mac_valid_i;
    last_q  <= mac_last_i;
    error_q <= mac_error_i;
    keep_q  <= mac_keep_i;
    data_q  <= mac_data_i;
  end

  // Position in the frame: beat of the word; at the head, or at the word after it.
  logic [1:0] at_q;
  logic at_head_q, at_second_q, bad_q, ended_q, stored_q, full, first;
  word_t head_q, second_q;
  link_frame_t head;
  logic [31:0] crc_q;
  logic [WordsW-1:0] words_q;
  logic [13:0] beats_q;
  logic has_second, in_body, good;

  assign head       = flip(head_q);
  assign has_second = head.selective || head.kind == LinkFrameKindHello;
  assign in_body    = valid_q && !at_head_q && !(at_second_q && has_second);
  assign full       = words_q == WordsW'(BodyWords);
  assign first      = at_head_q && at_q == '0;

  assign we_o    = in_body && head.kind == LinkFrameKindData && !full &&
                   (words_q == '0 && at_q == '0 ? buffer_valid_i : stored_q);
  assign waddr_o = {AddrW'(32'(buffer_i) * BodyWords) + AddrW'(words_q), at_q};
  assign wdata_o = data_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      at_q        <= '0;
      at_head_q   <= 1'b1;
      at_second_q <= 1'b0;
      ended_q     <= 1'b0;
    end else begin
      ended_q <= valid_q && last_q;
      if (valid_q) begin
        at_q <= last_q ? '0 : at_q + 1'b1;
        if (last_q) at_head_q <= 1'b1;
        else if (at_q == '1) at_head_q <= 1'b0;
        if (last_q || at_q == '1) at_second_q <= at_head_q && !last_q;
      end
    end
    if (valid_q) begin
      crc_q <= crc_beat(first ? CrcStart : crc_q, data_q);
      // The last beat is the second one of the checksum. A frame has a head, and fits into a buffer.
      bad_q <= (bad_q && !first) || keep_q != '1 || (last_q && (error_q || at_head_q || at_q != 2'd1)) ||
               (in_body && full && at_q == '1);
      if (at_head_q) head_q[16*at_q+:16] <= data_q;
      if (at_second_q) second_q[16*at_q+:16] <= data_q;
      if (first) words_q <= '0;
      else if (in_body && at_q == '1 && !full) words_q <= words_q + 1'b1;
      if (in_body && words_q == '0 && at_q == '0) stored_q <= buffer_valid_i;
      beats_q <= first ? 14'd1 : beats_q + 14'd1;
    end
  end

  assign good      = !bad_q && crc_q == Residue && head.kind inside {LinkFrameKindHello, LinkFrameKindPlain,
                                                                      LinkFrameKindData};
  assign good_o    = ended_q && good;
  assign damaged_o = ended_q && !good;
  assign head_o    = head;
  assign second_o  = flip(second_q);
  assign words_o   = words_q;
  assign stored_o  = stored_q && words_q != '0;
  assign bytes_o   = {1'b0, beats_q, 1'b0};

  `GS_ASSERT_NOW(buffer_is_never_overrun, !we_o || words_q < WordsW'(BodyWords))
endmodule
