// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Executes the frames that need no decision: authentic `write` commands with the expected number, to the role's
/// memory. The processor handles all other frames, in the order of their arrival.
///
///     gs_shell_tag -> compare words 0 to 9 -+-> gs_shell_writer            (write: the firmware does not see it)
///                                           +-> gs_shell_writer, processor (write that is answered)
///                                           +-> processor                  (any other frame)
///
/// While the processor has a frame that it decides about, this block waits. While the processor answers a write that
/// is executed already, this block executes the next ones.
///
/// A header takes about 14 cycles; the memory writer copies the previous payload meanwhile.
module gs_shell_fast #(
  /// logarithm of the ring's words
  parameter  int unsigned WordsLog2 = 12,
  localparam type ptr_t = logic [WordsLog2:0]
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // The firmware's settings
  /// the state allows writes; a write that is executed in the same cycle is valid
  input  logic                 enable_i,
  /// headers of the session's writes: words 0 to 7 with the first byte in the highest bits (word 5 is not used)
  input  logic                 pattern_set_i,
  input  logic [2:0]           pattern_at_i,
  input  logic [31:0]          pattern_i,
  /// number of the next command; set only while enable_i is 0 or the processor decides about a frame
  input  logic                 expected_set_i,
  input  logic [31:0]          expected_i,
  output logic [31:0]          expected_o,
  input  logic [31:0]          memory_bytes_i,
  // Frames whose tag is known
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  ptr_t                 in_start_i,
  input  logic [15:0]          in_length_i,
  input  logic                 in_authentic_i,
  // Read port of the ring; data in the cycle after the grant
  output logic                 read_valid_o,
  input  logic                 read_ready_i,
  output logic [WordsLog2-1:0] read_addr_o,
  input  logic [31:0]          read_data_i,
  // Memory writer: it begins in the cycle of write_o
  input  logic                 writer_busy_i,
  output logic                 write_o,
  output logic [WordsLog2-1:0] write_from_o,
  output logic [31:0]          write_to_o,
  output logic [15:0]          write_bytes_o,
  // The frame of the processor
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output ptr_t                 out_start_o,
  output logic                 out_authentic_o,
  /// its write is executed: only the answer is missing
  output logic                 out_stored_o,
  /// words before this one are not needed once the writer is idle
  output ptr_t                 released_o
);
  import gs_shell_frame_pkg::*;

  /// Words of a header from 0 to the one with the lower half of the address
  localparam int unsigned Words = 10;

  typedef enum logic [1:0] {Idle, Check, Judge} state_e;
  state_e      state_q;
  logic [3:0]  ask_q;            // next word to read
  logic [3:0]  at_q;             // word in read_data_i, if coming_q
  logic        coming_q;
  logic        match_q;
  logic        wants_answer_q;
  logic [31:0] address_q;
  logic [31:0] expected_q;
  ptr_t        released_q;
  logic        out_valid_q, out_stored_q, out_authentic_q;
  ptr_t        out_start_q;

  // The pattern of the word that the ring returns
  logic [31:0] pattern, word, mask, wanted;
  logic        read;
  gs_ram_sdp #(
    .Width(32),
    .Depth(8),
    .Style("distributed")
  ) i_pattern (
    .clk_i,
    .we_i   (pattern_set_i),
    .wstrb_i(1'b1),
    .waddr_i(pattern_at_i),
    .wdata_i(pattern_i),
    .re_i   (read && !ask_q[3]),
    .raddr_i(ask_q[2:0]),
    .rdata_o(pattern)
  );
  assign read_valid_o = state_q == Check && ask_q != 4'(Words);
  assign read_addr_o  = in_start_i[WordsLog2-1:0] + WordsLog2'(ask_q);
  assign read         = read_valid_o && read_ready_i;

  assign word = swap(read_data_i);
  always_comb begin
    wanted = pattern;
    mask   = '1;
    case (at_q)
      4'd3: mask = 32'hFFFF_F000;                // EtherType, version
      4'd4: mask = 32'hFF00_0000;                // kind
      4'd5: wanted = expected_q;
      4'd8: wanted = '0;                         // upper half of the address
      4'd9: mask = '0;
      default: ;
    endcase
  end
  logic differs;
  assign differs = ((word ^ wanted) & mask) != '0;

  // Of the memory, and not the last number: after it, none is expected.
  logic        inside_q, usable_q;
  logic [32:0] stop;
  assign stop = 33'(address_q) + 33'(in_length_i);

  // The firmware may disable this block at any time; the number that it reads then includes the last write.
  logic own, free, commit, pass;
  assign own    = state_q == Judge && match_q && inside_q && usable_q && enable_i;
  assign free   = !out_valid_q;
  assign commit = own && !writer_busy_i && (!wants_answer_q || free);
  assign pass   = free && ((state_q == Idle && in_valid_i && !(enable_i && in_authentic_i)) ||
                           (state_q == Judge && !own));

  logic judged_q;                // the sums of Judge are those of this frame
  assign in_ready_o    = (commit && judged_q) || (pass && (state_q == Idle || judged_q));
  assign write_o       = commit && judged_q;
  assign write_from_o  = in_start_i[WordsLog2-1:0] + WordsLog2'(HeadBytes / 4);
  assign write_to_o    = address_q;
  assign write_bytes_o = in_length_i;
  assign expected_o      = expected_q;
  assign out_valid_o     = out_valid_q;
  assign out_start_o     = out_start_q;
  assign out_authentic_o = out_authentic_q;
  assign out_stored_o    = out_stored_q;
  // The processor reads its frame until it is done.
  assign released_o      = out_valid_q ? out_start_q : released_q;

  always_ff @(posedge clk_i) begin
    coming_q <= read;
    at_q     <= ask_q;
    if (read) ask_q <= ask_q + 4'd1;
    if (coming_q) begin
      if (differs) match_q <= 1'b0;
      if (at_q == 4'd3) wants_answer_q <= word[11];
      if (at_q == 4'd9) address_q <= word;
    end
    // What the header is compared with may change while this block is disabled.
    if (!enable_i) match_q <= 1'b0;
    inside_q <= stop <= 33'(memory_bytes_i);
    usable_q <= expected_q != '1;
    judged_q <= state_q == Judge && !in_ready_o;
    case (state_q)
      Idle:
      // A frame that the processor decides about may change what this block compares with.
      if (in_valid_i && enable_i && in_authentic_i && (!out_valid_q || out_stored_q)) begin
        state_q <= Check;
        ask_q   <= '0;
        match_q <= 1'b1;
      end
      Check: if (coming_q && at_q == 4'(Words - 1)) state_q <= Judge;
      default: if (in_ready_o) state_q <= Idle;
    endcase
    if (out_ready_i) out_valid_q <= 1'b0;
    if (in_ready_o) begin
      released_q <= in_start_i + ptr_t'((32'(HeadBytes) + 32'(in_length_i) + 32'd3) >> 2);
      if (!write_o || wants_answer_q) begin
        out_valid_q     <= 1'b1;
        out_start_q     <= in_start_i;
        out_authentic_q <= in_authentic_i;
        out_stored_q    <= write_o;
      end
    end
    if (write_o) expected_q <= expected_q + 32'd1;
    if (expected_set_i) expected_q <= expected_i;
    if (!rst_ni) begin
      state_q     <= Idle;
      coming_q    <= 1'b0;
      judged_q    <= 1'b0;
      out_valid_q <= 1'b0;
      released_q  <= '0;
      expected_q  <= '0;
    end
  end

  `GS_ASSERT_NOW(the_processor_has_one_frame, !(in_ready_o && (!write_o || wants_answer_q)) || !out_valid_q)
  `GS_ASSERT_NOW(a_write_is_in_the_memory, !write_o || stop <= 33'(memory_bytes_i))
  `GS_ASSERT_NOW(pattern_is_not_read_while_it_is_written, !i_pattern.collides)
endmodule
