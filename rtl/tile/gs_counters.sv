// SPDX-License-Identifier: Apache-2.0

/// Wide event counters in one small RAM.
///
/// Each counter has a few low bits in registers, which count freely. The words of one counter after the other are
/// visited, the low word first, and increased by what the registers have gained on them. So a count is a round of
/// visits old at most, and nothing is lost. Each sum shows at the output when it is made: a reader waits for it there.
///
///     visit ->[ low bits, word ]-> - ->[ gain, word ]-> + ->[ sum ]-> RAM, word_o
module gs_counters #(
  /// counters, 4 or more
  parameter  int unsigned Slots = 32,
  /// the most events of one cycle, for each counter, 15 at most; 0: it stays 0
  parameter  logic [Slots-1:0][3:0] Most = '1,
  /// counters that may be cleared
  parameter  logic [Slots-1:0] Clears = '1,
  localparam int unsigned IdxW  = $clog2(Slots)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  /// events of this cycle
  input  logic [Slots-1:0][3:0] inc_i,
  /// sets a counter to 0
  input  logic [Slots-1:0]      clear_i,
  /// this counter's low or high word
  output logic [IdxW-1:0]       idx_o,
  output logic                  high_o,
  output logic [31:0]           word_o
);
  if (Slots < 4) begin : gen_illegal_slots
    $fatal(1, "gs_counters: Slots is %0d; it must be 4 or more", Slots);
  end

  // Fewer events than the low bits can tell come in a round of visits, two cycles each.
  localparam int unsigned Round = 2 * Slots;
  localparam int unsigned LowW = $clog2(Round * 15 + 1);

  function automatic int unsigned low_bits(int unsigned most);
    return $clog2(Round * most + 1);
  endfunction

  typedef struct packed {
    logic [IdxW-1:0] idx;
    logic            high;
  } place_t;

  logic [Slots-1:0][LowW-1:0] low;
  logic [Slots-1:0] clear_q;
  // The word that is read, that has been read, that is increased, that is written
  place_t read_q, got_q, add_q, write_q;
  // After reset every counter begins with 0.
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
    if (Most[i] != '0) begin : gen_used
      localparam int unsigned W = low_bits(32'(Most[i]));
      logic [W-1:0] events_q;
      always_ff @(posedge clk_i) begin
        if (!rst_ni || (Clears[i] && clear_i[i])) events_q <= '0;
        else events_q <= events_q + W'(inc_i[i] & 4'((32'd1 << $clog2(32'(Most[i]) + 1)) - 1));
      end
      assign low[i]   = LowW'(events_q);
      assign masks[i] = LowW'((64'd1 << W) - 1);
    end else begin : gen_none
      assign low[i]   = '0;
      assign masks[i] = '0;
    end
    if (Clears[i]) begin : gen_clears
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
    // Both words are cleared, or none.
    if (!read_q.high) got_clear_q <= clear;
    word_q      <= got_clear_q ? '0 : word;
    // The word comes late in a cycle: which bits of the difference count is seen in the next.
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
endmodule
