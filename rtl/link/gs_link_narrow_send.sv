// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Sends frames as gs_link_send does, two bytes a cycle: four beats a word, two for the checksum.
///
///     choice -> head_q, second_q, ring -> beat_q, crc_q -> MAC
module gs_link_narrow_send
  import gossamer_pkg::*;
  import gs_link_pkg::*;
#(
  /// words of the longest body
  parameter  int unsigned BodyWords  = 185,
  /// words of the ring, a power of two
  parameter  int unsigned RingWords  = 512,
  /// bytes of the shortest frame: 4 more than a multiple of 8
  parameter  int unsigned LeastBytes = 60,
  localparam int unsigned AddrW      = $clog2(RingWords),
  localparam int unsigned WordsW     = $clog2(BodyWords + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // Frames to send.
  input  logic              up_i,
  input  logic              hello_i,
  input  logic              plain_i,
  input  logic              lost_i,
  input  seq_t              lost_seq_i,
  input  logic [AddrW-1:0]  lost_start_i,
  input  logic [WordsW-1:0] lost_words_i,
  input  logic              frame_valid_i,
  output logic              frame_ready_o,
  input  logic [AddrW-1:0]  frame_start_i,
  input  logic [WordsW-1:0] frame_words_i,
  /// a new frame could begin soon
  output logic              idle_o,
  // Fields of the head.
  input  seq_t              next_i,
  input  seq_t              want_i,
  input  slots_t            map_i,
  input  stamp_t            echo_i,
  input  channel_t          channel_i,
  input  limit_t            limit_i,
  /// channels whose packets wait for credits, sent in a plain frame
  input  seq_t              starved_i,
  input  logic [7:0]        tag_i,
  input  link_hello_t       hello_word_i,
  // The frame that begins in this cycle.
  output logic              sent_o,
  output logic              sent_hello_o,
  output logic              sent_data_o,
  output logic              sent_new_o,
  output seq_t              sent_seq_o,
  output stamp_t            stamp_o,
  /// a frame of `bytes_o` bytes has ended
  output logic              ended_o,
  output logic [15:0]       bytes_o,
  /// no beat is in flight
  output logic              quiescent_o,
  // The ring, in beats.
  output logic              re_o,
  output logic [AddrW+1:0]  raddr_o,
  input  logic [15:0]       rdata_i,
  // MAC.
  output logic              mac_valid_o,
  input  logic              mac_ready_i,
  output logic [15:0]       mac_data_o,
  output logic [1:0]        mac_keep_o,
  output logic              mac_last_o
);
  if (LeastBytes % 8 != 4 || LeastBytes < 20) begin : gen_illegal_least
    $fatal(1, "gs_link_narrow_send: LeastBytes is %0d; it must be 4 more than a multiple of 8, and at least 20",
           LeastBytes);
  end

  // Fewest words between the head and the checksum.
  localparam int unsigned Least = (LeastBytes - 12) / 8;
  localparam int unsigned CountWords = WordsW + 1;

  typedef enum logic [2:0] {Idle, Head, Second, Body, Pad, Check} phase_e;
  typedef enum logic [1:0] {Ring, Immediate, Sum} source_e;

  phase_e phase_q, phase_d;
  logic go, take, step;
  logic [1:0] at_q, at_d;
  logic [WordsW-1:0] left_q, left_d;
  logic [CountWords-1:0] done_q, done_d;
  logic [AddrW-1:0] addr_q, addr_d;
  word_t head_q, second_q, imm_word;
  stamp_t stamp_q;
  link_frame_t head;
  logic data, fresh, again, has_second_q;

  // Pipeline between the choice and the MAC.
  logic valid1_q, first1_q, valid2_q, first2_q, sum2_q, last1_q, last2_q;
  source_e source1_q, source1_d;
  logic [15:0] imm_q, beat_q;
  logic [31:0] crc_q;

  assign go    = !valid2_q || mac_ready_i;
  assign again = up_i && lost_i;
  assign fresh = up_i && !lost_i && frame_valid_i;
  assign data  = again || fresh;
  assign take  = phase_q == Idle && go && (hello_i || data || (up_i && plain_i));

  always_comb begin
    head             = '0;
    head.kind        = hello_i ? LinkFrameKindHello : data ? LinkFrameKindData : LinkFrameKindPlain;
    head.stamp       = stamp_q;
    head.tag         = tag_i;
    if (!hello_i) begin
      head.selective   = map_i != '0;
      head.channel     = 4'(channel_i);
      head.limit       = limit_i;
      head.echo        = echo_i;
      head.seq         = again ? lost_seq_i : fresh ? next_i : starved_i;
      head.acknowledge = want_i;
    end
  end

  assign frame_ready_o = take && !hello_i && fresh;
  assign sent_o        = take;
  assign sent_hello_o  = hello_i;
  assign sent_data_o   = take && !hello_i && data;
  assign sent_new_o    = fresh;
  assign sent_seq_o    = head.seq;
  assign stamp_o       = stamp_q;
  assign idle_o        = phase_q inside {Idle, Check};

  assign step = at_q == '1;
  always_comb begin
    phase_d   = phase_q;
    at_d      = at_q + 1'b1;
    left_d    = left_q;
    done_d    = done_q;
    addr_d    = addr_q;
    source1_d = Immediate;
    re_o      = 1'b0;
    unique case (phase_q)
      Idle: begin
        at_d    = '0;
        addr_d  = again ? lost_start_i : frame_start_i;
        left_d  = (hello_i || !data) ? '0 : again ? lost_words_i : frame_words_i;
        done_d  = '0;
        if (take) phase_d = Head;
      end
      Head: if (step) phase_d = has_second_q ? Second : (left_q != '0) ? Body : Pad;
      Second: begin
        if (step) begin
          done_d  = done_q + 1'b1;
          phase_d = (left_q != '0) ? Body : (Least > 1) ? Pad : Check;
        end
      end
      Body: begin
        source1_d = Ring;
        re_o      = go;
        if (step) begin
          addr_d = addr_q + 1'b1;
          left_d = left_q - 1'b1;
          done_d = done_q + 1'b1;
          if (left_q == WordsW'(1)) phase_d = (32'(done_d) < Least) ? Pad : Check;
        end
      end
      Pad: begin
        if (step) begin
          done_d = done_q + 1'b1;
          if (32'(done_d) >= Least) phase_d = Check;
        end
      end
      default: begin
        source1_d = Sum;
        if (at_q[0]) phase_d = Idle;
      end
    endcase
  end

  assign raddr_o     = {addr_q, at_q};
  assign ended_o     = phase_q == Check && at_q[0] && go;
  assign bytes_o     = 16'({done_q, 3'd0}) + 16'd12;
  assign quiescent_o = phase_q == Idle && !valid1_q && !valid2_q;
  assign imm_word    = (phase_q == Second) ? second_q : head_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      phase_q  <= Idle;
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
      stamp_q  <= '0;
    end else if (go) begin
      phase_q  <= phase_d;
      valid1_q <= phase_q != Idle;
      valid2_q <= valid1_q;
      if (take) stamp_q <= stamp_q + 1'b1;
    end
    // Acknowledgement and map are those of one cycle.
    if (take) begin
      head_q       <= flip(head);
      second_q     <= hello_i ? flip(hello_word_i) : flip(map_i);
      has_second_q <= hello_i || map_i != '0;
    end
    if (go) begin
      at_q      <= at_d;
      left_q    <= left_d;
      done_q    <= done_d;
      addr_q    <= addr_d;
      first1_q  <= phase_q == Head && at_q == '0;
      last1_q   <= phase_q == Check && at_q[0];
      source1_q <= source1_d;
      imm_q     <= (phase_q inside {Head, Second}) ? imm_word[16*at_q+:16] : '0;
      first2_q  <= first1_q;
      last2_q   <= last1_q;
      sum2_q    <= source1_q == Sum;
      beat_q    <= (source1_q == Ring) ? rdata_i : imm_q;
      if (valid2_q && !sum2_q) crc_q <= crc_beat(first2_q ? CrcStart : crc_q, beat_q);
    end
  end

  assign mac_valid_o = valid2_q;
  assign mac_data_o  = !sum2_q ? beat_q : last2_q ? ~crc_q[31:16] : ~crc_q[15:0];
  assign mac_keep_o  = 2'b11;
  assign mac_last_o  = last2_q;

  `GS_ASSERT_HOLD(stalled_beats_are_stable, mac_valid_o, mac_ready_i, {mac_data_o, mac_keep_o, mac_last_o})
  `GS_ASSERT_NOW(frames_have_no_gap, !valid2_q || last2_q || valid1_q)
  `GS_ASSERT_NOW(data_frames_have_words, !(phase_q == Body) || left_q != '0)
endmodule
