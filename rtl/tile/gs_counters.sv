// SPDX-License-Identifier: Apache-2.0

/// Wide event counters in one small RAM.
///
/// Each counter has a narrow accumulator. One counter after the other is visited, and its accumulator added to its
/// two words in the RAM through one adder, the low word first. So a count is a round of visits old at most, and
/// nothing is lost. Each sum shows at the output when it is made: a reader waits for it there.
///
///     visit ->[ accumulator, word ]-> + ->[ sum ]-> RAM, word_o
module gs_counters #(
  /// counters, a power of two, 4 or more
  parameter  int unsigned Slots = 32,
  /// bits of the events of one cycle, for each counter; 0: there is none
  parameter  logic [Slots-1:0][2:0] IncWidths = '1,
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
  // All events of a round of visits, two cycles each, fit.
  localparam int unsigned RoundW = IdxW + 1;
  localparam int unsigned AccW = 4 + RoundW;

  logic [Slots-1:0][AccW-1:0] acc;
  logic [Slots-1:0] clear_q;
  // The word that is read; the one that is added to; the one that is written
  logic [RoundW-1:0] read_q, add_q, write_q;
  logic [AccW-1:0] acc_q;
  logic add_clear_q, carry_q;
  logic [31:0] word, sum_q;
  logic [32:0] sum;

  gs_ram_sdp #(
    .Width(32), .Depth(2 * Slots), .Latency(1), .Style("block")
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

  for (genvar i = 0; i < int'(Slots); i++) begin : gen_slot
    if (IncWidths[i] != '0) begin : gen_used
      localparam int unsigned Inc = 32'(IncWidths[i]);
      logic [Inc+RoundW-1:0] events_q;
      always_ff @(posedge clk_i) begin
        if (!rst_ni) events_q <= '0;
        else events_q <= ((read_q == {IdxW'(i), 1'b0} || clear_i[i]) ? '0 : events_q) + (Inc + RoundW)'(inc_i[i][Inc-1:0]);
      end
      assign acc[i] = AccW'(events_q);
      if (Inc < 4) begin : gen_narrow
        logic unused;
        assign unused = ^inc_i[i];
      end
    end else begin : gen_none
      assign acc[i] = '0;
      logic unused;
      assign unused = ^inc_i[i];
    end
  end

  // The low word is increased by the events, the high one by the carry.
  assign sum = (add_clear_q ? '0 : {1'b0, word}) + (add_q[0] ? 33'(carry_q) : 33'(acc_q));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      // After reset every counter is cleared in its first visit.
      clear_q <= '1;
      read_q  <= '0;
    end else begin
      read_q  <= read_q + RoundW'(1);
      clear_q <= (clear_q & ~(Slots'(!read_q[0]) << read_q[RoundW-1:1])) | clear_i;
    end
    acc_q       <= acc[read_q[RoundW-1:1]];
    // Both words are cleared, or none.
    if (!read_q[0]) add_clear_q <= clear_q[read_q[RoundW-1:1]];
    add_q       <= read_q;
    write_q     <= add_q;
    sum_q       <= sum[31:0];
    carry_q     <= sum[32];
  end

  assign {idx_o, high_o} = write_q;
  assign word_o          = sum_q;
endmodule
