// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Wide event counters in one small RAM.
///
/// The low bits of each counter are in registers, which count freely and wrap. A scan visits the words of all counters,
/// the low word of each first, and adds the increment of the registers since the last visit. So a count is at most one
/// scan old, and no event is lost. Each updated word appears at the output: a reader waits for it there.
///
///     visit ->[ low bits, word ]-> - ->[ gain, word ]-> + ->[ sum ]-> RAM, word_o
module gs_counters #(
  /// counters, 4 or more
  parameter  int unsigned Slots = 32,
  /// maximum events in a cycle, for each counter, at most 15; 0: the counter is always 0
  parameter  logic [Slots-1:0][3:0] MaxEvents = '1,
  /// counters that can be cleared
  parameter  logic [Slots-1:0] Clearable = '1,
  localparam int unsigned IdxW = $clog2(Slots)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  /// events of this cycle
  input  logic [Slots-1:0][3:0] inc_i,
  /// sets a counter to 0
  input  logic [Slots-1:0]      clear_i,
  /// the updated word: its counter, low or high, its value
  output logic [IdxW-1:0]       idx_o,
  output logic                  high_o,
  output logic [31:0]           word_o
);
  if (Slots < 4) begin : gen_illegal_slots
    $fatal(1, "gs_counters: Slots is %0d; it must be 4 or more", Slots);
  end

  // The low bits are wide enough for the events of one scan, which takes two cycles for each counter.
  localparam int unsigned Round = 2 * Slots;
  localparam int unsigned LowW = $clog2(Round * 15 + 1);

  function automatic int unsigned low_bits(int unsigned max_events);
    return $clog2(Round * max_events + 1);
  endfunction

  typedef struct packed {
    logic [IdxW-1:0] idx;
    logic            high;
  } word_id_t;

  logic [Slots-1:0][LowW-1:0] low;
  logic [Slots-1:0] clear_q;
  // Pipeline of the scan: read, word available, add, write
  word_id_t read_q, got_q, add_q, write_q;
  // The first scan after reset clears every counter.
  logic first_q, clear, got_clear_q, carry_q;
  logic [LowW-1:0] low_q, mask_q, gain_q, gain_mask_q, gain;
  logic [31:0] word, word_q, sum_q;
  logic [32:0] sum;

  gs_ram_sdp #(
    .Width(32), .Depth(Round), .Latency(1), .Style("block")
  ) u_words (
    .clk_i,
    .we_i   (1'b1),
    .wstrb_i(1'b1),
    .waddr_i(write_q),
    .wdata_i(sum_q),
    .re_i   (1'b1),
    .raddr_i(read_q),
    .rdata_o(word)
  );

  logic [Slots-1:0][LowW-1:0] masks;
  for (genvar i = 0; i < int'(Slots); i++) begin : gen_slot
    if (MaxEvents[i] != '0) begin : gen_used
      localparam int unsigned W = low_bits(32'(MaxEvents[i]));
      logic [W-1:0] events_q;
      always_ff @(posedge clk_i) begin
        if (!rst_ni || (Clearable[i] && clear_i[i])) events_q <= '0;
        else events_q <= events_q + W'(inc_i[i] & 4'((32'd1 << $clog2(32'(MaxEvents[i]) + 1)) - 1));
      end
      assign low[i]   = LowW'(events_q);
      assign masks[i] = LowW'((64'd1 << W) - 1);
    end else begin : gen_none
      assign low[i]   = '0;
      assign masks[i] = '0;
    end
    if (Clearable[i]) begin : gen_clears
      always_ff @(posedge clk_i) begin
        if (!rst_ni) clear_q[i] <= 1'b0;
        else clear_q[i] <= clear_i[i] || (clear_q[i] && (read_q.high || read_q.idx != IdxW'(i)));
      end
    end else begin : gen_kept
      assign clear_q[i] = 1'b0;
    end
  end

  assign clear = first_q || clear_q[read_q.idx];

  // The low word is increased by the gain, the high one by the carry.
  assign gain = gain_q & gain_mask_q;
  assign sum  = {1'b0, word_q} + 33'({gain[LowW-1:1], gain[0] || (add_q.high && carry_q)});

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q  <= '0;
      first_q <= 1'b1;
    end else begin
      read_q.high <= !read_q.high;
      if (read_q.high) begin
        read_q.idx <= (read_q.idx == IdxW'(Slots - 1)) ? '0 : read_q.idx + IdxW'(1);
        if (read_q.idx == IdxW'(Slots - 1)) first_q <= 1'b0;
      end
    end
    low_q  <= low[read_q.idx];
    mask_q <= masks[read_q.idx];
    // A clear applies to both words or to none.
    if (!read_q.high) got_clear_q <= clear;
    word_q      <= got_clear_q ? '0 : word;
    // The word arrives late in a cycle: the difference is masked in the next.
    gain_q      <= low_q - (got_clear_q ? '0 : word[LowW-1:0]);
    gain_mask_q <= got_q.high ? '0 : mask_q;
    got_q       <= read_q;
    add_q       <= got_q;
    write_q     <= add_q;
    sum_q       <= sum[31:0];
    carry_q     <= sum[32];
  end

  assign {idx_o, high_o} = write_q;
  assign word_o          = sum_q;

  logic unused;
  assign unused = ^{inc_i, clear_i};

  // The first visit after reset reads the word that the scan's idle stages write; it clears the counter.
  `GS_ASSERT_NOW(added_word_is_not_read_while_it_is_written, !u_words.undefined || got_clear_q)
endmodule
