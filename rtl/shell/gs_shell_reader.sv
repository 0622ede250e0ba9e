// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Reads bytes of memory at any address as a stream of words: AXI4 bursts of at most 64 bytes that do not cross a
/// multiple of 64. A word leaves in each cycle in which the beats are there; the last one has zeros behind the end.
module gs_shell_reader #(
  parameter int unsigned AddrW     = 32,
  /// logarithm of the beats of eight bytes that may wait; 4 or more
  parameter int unsigned BeatsLog2 = 5
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  /// begins; bytes_i is 1 or more
  input  logic             start_i,
  input  logic [AddrW-1:0] address_i,
  input  logic [31:0]      bytes_i,
  output logic             busy_o,
  /// the last read had an error response
  output logic             fail_o,
  // Words, first byte in the lowest bits
  output logic             word_valid_o,
  input  logic             word_ready_i,
  output logic [31:0]      word_o,
  output logic             word_last_o,
  /// bytes of the word: 4, or fewer in the last one
  output logic [2:0]       word_bytes_o,
  // AXI4 read channels
  output logic             ar_valid_o,
  input  logic             ar_ready_i,
  output logic [AddrW-1:0] ar_addr_o,
  /// beats less one
  output logic [7:0]       ar_len_o,
  input  logic             r_valid_i,
  output logic             r_ready_o,
  input  logic [63:0]      r_data_i,
  input  logic             r_error_i
);
  typedef logic [AddrW-4:0] beat_t;
  typedef logic [BeatsLog2:0] count_t;

  logic   busy_q, fail_q;
  beat_t  next_q;            // the next beat to ask for
  beat_t  beats_q;           // beats that have not been asked for
  logic   popped_q;
  count_t promised_q;        // beats that are asked for or wait in the queue
  logic   ar_q;
  beat_t  ar_beat_q;
  logic [2:0] ar_len_q;

  // Bursts end at multiples of 64 bytes.
  logic [3:0] to_edge, burst;
  assign to_edge = 4'd8 - {1'b0, next_q[2:0]};
  assign burst   = beats_q < beat_t'(to_edge) ? beats_q[3:0] : to_edge;
  logic ask;
  assign ask = busy_q && !ar_q && beats_q != '0 && promised_q <= count_t'((1 << BeatsLog2) - 8);

  assign ar_valid_o = ar_q;
  assign ar_addr_o  = {ar_beat_q, 3'd0};
  assign ar_len_o   = {5'd0, ar_len_q};

  logic        head_valid, pop;
  logic [63:0] head;
  gs_fifo #(
    .data_t(logic [63:0]),
    .Depth (1 << BeatsLog2)
  ) i_beats (
    .clk_i,
    .rst_ni,
    .in_valid_i (r_valid_i),
    .in_ready_o (r_ready_o),
    .in_data_i  (r_data_i),
    .out_valid_o(head_valid),
    .out_ready_i(pop),
    .out_data_o (head),
    .count_o    ()
  );

  // A word lies in one beat, or in the one before and the head of the queue.
  logic [63:0] beat_q;
  logic        have_q;         // beat_q is valid
  logic [2:0]  lane_q;         // place of the word's first byte in beat_q
  logic [31:0] left_q;         // bytes that have not left
  logic [2:0]  count;
  logic [3:0]  end_lane;
  logic [31:0] pair;
  logic        crosses, fire, last;
  assign count        = left_q >= 32'd4 ? 3'd4 : left_q[2:0];
  assign end_lane     = {1'b0, lane_q} + {1'b0, count};
  assign crosses      = end_lane > 4'd8;
  assign last         = left_q <= 32'd4;
  assign pair         = 32'({head[31:0], beat_q} >> {lane_q, 3'd0});
  always_comb begin
    word_o = pair;
    for (int unsigned i = 0; i < 4; i++) if (i >= 32'(count)) word_o[8*i+:8] = '0;
  end
  assign word_valid_o = busy_q && have_q && left_q != '0 && (!crosses || head_valid);
  assign word_last_o  = last;
  assign word_bytes_o = count;
  assign fire         = word_valid_o && word_ready_i;
  assign pop          = head_valid && busy_q && (!have_q || (fire && (crosses || (end_lane[3] && !last))));

  assign busy_o = busy_q;
  assign fail_o = fail_q;
  always_ff @(posedge clk_i) begin
    if (ar_ready_i) ar_q <= 1'b0;
    if (ask) begin
      ar_q      <= 1'b1;
      ar_beat_q <= next_q;
      ar_len_q  <= 3'(burst - 4'd1);
      next_q    <= next_q + beat_t'(burst);
      beats_q   <= beats_q - beat_t'(burst);
    end
    // A beat that leaves is counted a cycle later, which is safe and keeps the sum short.
    popped_q   <= pop;
    promised_q <= promised_q + (ask ? count_t'(burst) : '0) - count_t'(popped_q);
    if (r_valid_i && r_ready_o && r_error_i) fail_q <= 1'b1;
    if (pop) begin
      beat_q <= head;
      have_q <= 1'b1;
    end else if (fire && end_lane[3]) begin
      have_q <= 1'b0;
    end
    if (fire) begin
      lane_q <= end_lane[2:0];
      left_q <= left_q - 32'(count);
      if (last) busy_q <= 1'b0;
    end
    if (start_i && !busy_q) begin
      busy_q  <= 1'b1;
      fail_q  <= 1'b0;
      have_q  <= 1'b0;
      next_q  <= address_i[AddrW-1:3];
      lane_q  <= address_i[2:0];
      left_q  <= bytes_i;
      beats_q <= beat_t'((33'(bytes_i) + 33'(address_i[2:0]) + 33'd7) >> 3);
    end
    if (!rst_ni) begin
      busy_q     <= 1'b0;
      ar_q       <= 1'b0;
      have_q     <= 1'b0;
      popped_q   <= 1'b0;
      promised_q <= '0;
    end
  end

  `GS_ASSERT_NOW(a_read_has_bytes, !(start_i && !busy_q) || bytes_i != '0)
  // All beats that were asked for have left when the last word does.
  `GS_ASSERT_NOW(the_queue_is_empty_at_the_end, busy_q || promised_q == count_t'(popped_q))
endmodule
