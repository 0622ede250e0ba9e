// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Executes the frames that need no decision: authentic `write` commands with the expected number, to the role's
/// memory, and the packets and credits of a run. The processor handles all other frames, in the order of their arrival.
///
///     gs_shell_tag -> compare words 0 to 12 -+-> gs_shell_writer            (write: the firmware does not see it)
///                                            +-> gs_shell_writer, processor (write that is answered)
///                                            +-> gs_shell_messages, writer  (packet or credit)
///                                            +-> gs_shell_links             (link frame)
///                                            +-> processor                  (any other frame)
///
/// While the processor has a frame that it decides about, this block waits. While the processor answers a write that
/// is executed already, this block executes the next ones.
///
/// A header takes about 17 cycles; the memory writer copies the previous payload meanwhile.
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
  /// packets and credits are handled: a run exists
  input  logic                 messages_i,
  /// headers of the session's writes and of the run's packets: words with the first byte in the highest bits. Words 0
  /// to 2, 6 and 7 are those of both, 3 and 4 those of writes, 10 and 11 those of packets
  input  logic                 pattern_set_i,
  input  logic [3:0]           pattern_at_i,
  input  logic [31:0]          pattern_i,
  /// number of the next command; set only while enable_i is 0 or the processor decides about a frame
  input  logic                 expected_set_i,
  input  logic [31:0]          expected_i,
  output logic [31:0]          expected_o,
  input  logic [31:0]          memory_bytes_i,
  /// EtherType of messages; streams of the role, at most 4; the most bytes of a packet
  input  logic [15:0]          message_type_i,
  input  logic [2:0]           streams_i,
  input  logic [15:0]          most_i,
  // Frames whose tag is known
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  ptr_t                 in_start_i,
  input  logic [15:0]          in_length_i,
  input  logic                 in_authentic_i,
  input  logic                 in_link_i,
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
  // gs_shell_messages: a packet or credit, with write_from_o and write_bytes_o
  output logic                 message_o,
  output logic                 message_packet_o,
  output logic [1:0]           message_stream_o,
  output logic [31:0]          message_seq_o,
  output logic [31:0]          message_acknowledge_o,
  // gs_shell_links: the frame is a link frame; held until it is done
  output logic                 link_o,
  input  logic                 link_done_i,
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
  import gossamer_shell_pkg::*;
  import gs_shell_frame_pkg::*;

  /// Words of a header from 0 to that of the acknowledgement
  localparam int unsigned Words = 13;

  typedef enum logic [1:0] {Idle, Check, Judge, Link} state_e;
  state_e      state_q;
  logic [3:0]  ask_q;            // next word to read
  logic [3:0]  at_q;             // word in read_data_i, if coming_q
  logic        coming_q;
  logic        match_q;          // the words so far are those of a write
  logic        message_q;        // the words so far are those of a packet or a credit
  logic        packet_q;
  logic        wants_answer_q;
  logic [31:0] address_q, seq_q, acknowledge_q;
  logic [31:0] expected_q;
  ptr_t        released_q;
  logic        out_valid_q, out_stored_q, out_authentic_q;
  ptr_t        out_start_q;

  // The pattern of the word that the ring returns
  logic [31:0] pattern, word, mask, wanted;
  logic        read;
  gs_ram_sdp #(
    .Width(32),
    .Depth(16),
    .Style("distributed")
  ) i_pattern (
    .clk_i,
    .we_i   (pattern_set_i),
    .wstrb_i(1'b1),
    .waddr_i(pattern_at_i),
    .wdata_i(pattern_i),
    .re_i   (read),
    .raddr_i(ask_q),
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
      4'd9, 4'd10, 4'd11, 4'd12: mask = '0;
      default: ;
    endcase
  end
  logic differs, message_differs, is_packet;
  assign differs   = ((word ^ wanted) & mask) != '0;
  assign is_packet = word[31:24] == ShellKindPacket;
  always_comb begin
    message_differs = word != pattern;
    case (at_q)
      4'd3: message_differs = word[31:12] != {message_type_i, 4'(ShellVersion)};
      4'd4: message_differs = !is_packet && word[31:24] != ShellKindCredit;
      4'd8: message_differs = word != '0;
      4'd9: message_differs = word >= 32'(streams_i);
      4'd5, 4'd12: message_differs = 1'b0;
      default: ;
    endcase
  end

  // Of the memory, and not the last number: after it, none is expected.
  logic        inside_q, usable_q;
  logic [32:0] stop;
  assign stop = 33'(address_q) + 33'(in_length_i);

  // The firmware may disable this block at any time; the number that it reads then includes the last write.
  logic own, own_message, free, commit, commit_message, pass, active;
  assign active         = (enable_i || messages_i) && in_authentic_i;
  assign link_o         = state_q == Link;
  assign own            = state_q == Judge && match_q && inside_q && usable_q && enable_i;
  assign own_message    = state_q == Judge && message_q && in_length_i <= most_i && messages_i;
  assign free           = !out_valid_q;
  assign commit         = own && !writer_busy_i && (!wants_answer_q || free);
  assign commit_message = own_message && !writer_busy_i;
  assign pass           = free && ((state_q == Idle && in_valid_i && !active && !in_link_i) ||
                                   (state_q == Judge && !own && !own_message));

  logic judged_q;                // the sums of Judge are those of this frame
  logic to_processor;
  assign in_ready_o    = ((commit || commit_message) && judged_q) || (pass && (state_q == Idle || judged_q)) ||
                         (link_o && link_done_i);
  assign to_processor  = in_ready_o && !link_o && !message_o && (!write_o || wants_answer_q);
  assign message_o             = commit_message && judged_q;
  assign message_packet_o      = packet_q;
  assign message_stream_o      = address_q[1:0];
  assign message_seq_o         = seq_q;
  assign message_acknowledge_o = acknowledge_q;
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
      if (message_differs) message_q <= 1'b0;
      case (at_q)
        4'd3: wants_answer_q <= word[11];
        4'd4: packet_q <= is_packet;
        4'd5: seq_q <= word;
        4'd9: address_q <= word;
        4'd12: acknowledge_q <= word;
        default: ;
      endcase
    end
    // What the header is compared with may change while this block is disabled.
    if (!enable_i) match_q <= 1'b0;
    if (!messages_i) message_q <= 1'b0;
    inside_q <= stop <= 33'(memory_bytes_i);
    usable_q <= expected_q != '1;
    judged_q <= state_q == Judge && !in_ready_o;
    case (state_q)
      Idle:
      // A frame that the processor decides about may change what this block, or gs_shell_links, compares with.
      if (in_valid_i && (active || in_link_i) && (!out_valid_q || out_stored_q)) begin
        state_q   <= in_link_i ? Link : Check;
        ask_q     <= '0;
        match_q   <= enable_i;
        message_q <= messages_i;
      end
      Check: if (coming_q && at_q == 4'(Words - 1)) state_q <= Judge;
      Link: if (link_done_i) state_q <= Idle;
      default: if (in_ready_o) state_q <= Idle;
    endcase
    if (out_ready_i) out_valid_q <= 1'b0;
    if (in_ready_o) begin
      released_q <= in_start_i + ptr_t'((32'(HeadBytes) + 32'(in_length_i) + 32'd3) >> 2);
      if (to_processor) begin
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

  `GS_ASSERT_NOW(the_processor_has_one_frame, !to_processor || !out_valid_q)
  `GS_ASSERT_NOW(a_frame_is_of_one_kind, !(write_o && message_o))
  `GS_ASSERT_NOW(a_write_is_in_the_memory, !write_o || stop <= 33'(memory_bytes_i))
  `GS_ASSERT_NOW(pattern_is_not_read_while_it_is_written, !i_pattern.collides)
endmodule
