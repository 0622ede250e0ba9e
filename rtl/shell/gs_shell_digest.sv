// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Computes the tags of frames in a buffer of words: reads a frame's headers and payload into the hasher, with check
/// and tag as zeros. It returns the digest's first two words, and whether they are the frame's tag.
///
///     start_i -> [ read into the hasher ] -> [ wait for the digest ] -> done_o
///
/// While one frame waits for its digest, the next one is read, so that the hasher is always busy: a frame of n bytes
/// takes 43 cycles for each 64 of them, and about 60 more if no other follows.
module gs_shell_digest #(
  /// bits of a word address
  parameter int unsigned AddrW = 12
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  /// begins if ready_o is 1; the inputs are constant for a cycle more
  input  logic             start_i,
  output logic             ready_o,
  input  logic [AddrW-1:0] at_i,
  /// bytes of headers and payload; behind them, the last word has zeros
  input  logic [15:0]      bytes_i,
  /// for one cycle
  output logic             done_o,
  output logic [1:0][31:0] digest_o,
  /// they are the words of the tag in the buffer
  output logic             agrees_o,
  // Read port of the buffer; data in the cycle after the grant
  output logic             read_valid_o,
  input  logic             read_ready_i,
  output logic [AddrW-1:0] read_addr_o,
  input  logic [31:0]      read_data_i,
  // Hasher
  output logic             hash_valid_o,
  input  logic             hash_ready_i,
  output logic [31:0]      hash_word_o,
  output logic             hash_first_o,
  output logic [31:0]      hash_count_o,
  output logic             hash_last_o,
  input  logic             hash_done_i,
  input  logic [7:0][31:0] hash_h_i
);
  import gs_shell_frame_pkg::*;

  logic        busy_q;         // a frame is read
  logic        wait_q;         // the hasher has all of a frame
  logic [1:0][31:0] tag_q, wait_tag_q;
  logic [AddrW-1:0] at_q;
  logic        fed;
  assign ready_o = !busy_q;
  logic [14:0] word_q;         // the next word to read
  logic [14:0] given_q;        // words that the hasher has, zeros behind the end included
  logic        have_q;         // word given_q is in read_data_i, or kept
  logic        kept_valid_q;
  logic [31:0] kept_q;

  // Known a cycle after the start, so that no sum is in front of the comparisons.
  logic        ready_q;        // the numbers below are those of this frame
  logic [15:0] bytes_q;
  logic [14:0] words_q, all_words_q;
  logic        more_q;         // not all words are given
  logic        past_end_q;     // word given_q is behind the end

  logic [31:0] data;
  assign data = kept_valid_q ? kept_q : read_data_i;

  logic past_end, give;
  assign past_end     = past_end_q;
  assign hash_valid_o = ready_q && more_q && (past_end || have_q);
  assign hash_word_o  =
      past_end || (given_q >= 15'(CheckAt / 4) && given_q < 15'(HeadBytes / 4)) ? 32'd0 : data;
  assign hash_first_o = given_q < 15'd16;
  logic [16:0] block_end;
  assign block_end    = {(given_q | 15'd15) + 15'd1, 2'd0};
  assign hash_last_o  = block_end >= 17'(bytes_q);
  // The block of the key comes before; the count does not include the zeros.
  assign hash_count_o = 32'd64 + (hash_last_o ? 32'(bytes_q) : 32'(block_end));
  assign give         = hash_valid_o && hash_ready_i;

  // The hasher has all words; the digest of the frame before may be missing still.
  assign fed = ready_q && !more_q && (!wait_q || hash_done_i);

  // The next word is read when the previous one leaves.
  logic read;
  assign read_valid_o = ready_q && word_q < words_q && (!have_q || give);
  assign read_addr_o  = at_q + AddrW'(word_q);
  assign read         = read_valid_o && read_ready_i;

  always_ff @(posedge clk_i) begin
    done_o      <= 1'b0;
    ready_q     <= busy_q;
    words_q     <= 15'((17'(bytes_q) + 17'd3) >> 2);
    all_words_q <= 15'((17'(bytes_q) + 17'd63) >> 6) << 4;
    more_q      <= !ready_q || (give ? given_q + 15'd1 : given_q) < all_words_q;
    past_end_q  <= ready_q && (give ? given_q + 15'd1 : given_q) >= words_q;
    if (busy_q) begin
      if (read) word_q <= word_q + 15'd1;
      have_q <= read || (have_q && !give);
      // Others use the port: a word that waits is kept.
      if (have_q && !kept_valid_q) kept_q <= read_data_i;
      kept_valid_q <= have_q && !give;
      if (give) begin
        given_q <= given_q + 15'd1;
        if (given_q == 15'(TagAt / 4)) tag_q[0] <= data;
        if (given_q == 15'(TagAt / 4) + 15'd1) tag_q[1] <= data;
      end
      if (fed) begin
        busy_q  <= 1'b0;
        ready_q <= 1'b0;
      end
    end else if (start_i) begin
      busy_q       <= 1'b1;
      at_q         <= at_i;
      bytes_q      <= bytes_i;
      word_q       <= '0;
      given_q      <= '0;
      have_q       <= 1'b0;
      kept_valid_q <= 1'b0;
    end
    if (hash_done_i) begin
      wait_q   <= 1'b0;
      done_o   <= 1'b1;
      digest_o <= hash_h_i[1:0];
      agrees_o <= hash_h_i[1:0] == wait_tag_q;
    end
    if (fed) begin
      wait_q     <= 1'b1;
      wait_tag_q <= tag_q;
    end
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      wait_q  <= 1'b0;
      ready_q <= 1'b0;
      done_o  <= 1'b0;
    end
  end
  logic unused_h;
  assign unused_h = ^hash_h_i[7:2];

  `GS_ASSERT_NOW(a_digest_has_a_frame, !hash_done_i || wait_q)
  `GS_ASSERT_NOW(a_frame_has_headers, !(start_i && !busy_q) || bytes_i >= 16'(HeadBytes))
endmodule
