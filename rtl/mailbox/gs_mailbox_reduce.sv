// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Words that the threads of a tile contribute to a barrier, and the results that a release returns.
///
/// A word is accumulated (sum, minimum, maximum or bitwise or) as it is contributed; all contributions since the last
/// release count, once each. All threads name the same operation for a word in an epoch. The board requests both words
/// (scan); they are sent one chunk a cycle, beginning in the next cycle: minimum and maximum from the highest chunk,
/// other operations from the lowest. Results are received from the lowest chunk on, before the release.
module gs_mailbox_reduce
  import gs_idle_pkg::*;
(
  input  logic                 clk_i,
  input  logic                 rst_ni,
  /// a thread contributes a word
  input  logic                 give_i,
  input  logic                 give_word_i,
  input  logic [1:0]           give_op_i,
  input  logic [63:0]          give_value_i,
  /// from the board
  input  idle_command_t        command_i,
  /// to the board
  output idle_given_t          given_o,
  output logic                 chunk_valid_o,
  output logic [IdleChunk-1:0] chunk_o,
  /// selects half a result: word, then half
  input  logic [1:0]           half_i,
  output logic [31:0]          result_o,
  /// words are being sent
  output logic                 busy_o
);
  localparam int unsigned Chunks = IdleWords * 64 / IdleChunk;
  localparam int unsigned CountW = $clog2(Chunks);
  localparam int unsigned ChunkW = $clog2(64 / IdleChunk);
  localparam int unsigned HalfChunks = 32 / IdleChunk;

  // ---- Contributions ----
  // One adder computes all operations: old + value; old + (value and not old), which is old or value; and old - value,
  // whose sign compares. A bit of a word takes one LUT each for the old word, the operand, the sum and the new word.
  idle_given_t given_q;
  logic [IdleWords-1:0][63:0] word_q;
  logic [63:0] old, operand, sum;
  logic read_word, first, compares, keeps_less, less, replaces;
  assign given_o    = given_q;
  assign old        = word_q[read_word];
  assign first      = !given_q.given[give_word_i];
  assign compares   = give_op_i inside {gossamer_pkg::ReduceOpMin, gossamer_pkg::ReduceOpMax};
  assign keeps_less = give_op_i == gossamer_pkg::ReduceOpMin;
  assign operand    = (give_op_i == gossamer_pkg::ReduceOpOr) ? give_value_i & ~old : give_value_i ^ {64{compares}};
  assign sum        = old + operand + 64'(compares);
  // Signed: signs differ and the old word is negative, or the difference is negative.
  assign less       = (old[63] != give_value_i[63]) ? old[63] : sum[63];
  assign replaces   = first || !compares || less != keeps_less;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || command_i.release_all || command_i.clear) given_q <= '0;
    else if (give_i) begin
      given_q.given[give_word_i] <= 1'b1;
      given_q.op[give_word_i]    <= give_op_i;
    end
    for (int unsigned w = 0; w < IdleWords; w++) begin
      if (give_i && replaces && 32'(give_word_i) == w) word_q[w] <= (first || compares) ? give_value_i : sum;
    end
  end

  // ---- To the board ----
  logic scanning_q;
  logic [CountW-1:0] chunk_q;
  logic [IdleWords-1:0][1:0] op_q;
  logic [CountW-ChunkW-1:0] word;
  logic [ChunkW-1:0] chunk_index;
  logic from_high;
  assign word          = chunk_q[CountW-1:ChunkW];
  assign from_high     = reduce_from_high(op_q[word]);
  assign chunk_index   = from_high ? ~chunk_q[ChunkW-1:0] : chunk_q[ChunkW-1:0];
  assign chunk_valid_o = scanning_q && given_q.given != '0;
  // A chunk that is sent while a thread contributes may be of the wrong word: that thread is not idle, so the board
  // discards this scan.
  assign read_word     = give_i ? give_word_i : word;
  always_comb begin
    chunk_o = old[IdleChunk*chunk_index+:IdleChunk];
    if (!given_q.given[word]) begin
      // The neutral element: the maximum for min, the minimum for max, else 0.
      chunk_o = (op_q[word] == gossamer_pkg::ReduceOpMin) ? '1 : '0;
      if (from_high && chunk_q[ChunkW-1:0] == '0) chunk_o[IdleChunk-1] = !chunk_o[IdleChunk-1];
    end
  end

  // ---- From the board: four chunks make half a result ----
  logic [31-IdleChunk:0] half_q;
  logic half_done;
  assign half_done = command_i.chunk_valid && (chunk_q & CountW'(HalfChunks - 1)) == CountW'(HalfChunks - 1);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || command_i.scan || command_i.release_all) chunk_q <= '0;
    else if (scanning_q || command_i.chunk_valid) chunk_q <= chunk_q + CountW'(1);
    if (!rst_ni) scanning_q <= 1'b0;
    else if (command_i.scan) scanning_q <= 1'b1;
    else if (chunk_q == '1) scanning_q <= 1'b0;
    if (command_i.scan) op_q <= command_i.op;
    if (command_i.chunk_valid) half_q <= {command_i.chunk, half_q[31-IdleChunk:IdleChunk]};
  end

  gs_ram_sdp #(
    .Width  (32),
    .Depth  (4),
    .Latency(0),
    .Style  ("distributed")
  ) u_results (
    .clk_i,
    .we_i   (half_done),
    .wstrb_i(1'b1),
    .waddr_i(chunk_q[CountW-1:CountW-2]),
    .wdata_i({command_i.chunk, half_q}),
    .re_i   (1'b1),
    .raddr_i(half_i),
    .rdata_o(result_o)
  );

  assign busy_o = scanning_q;

  logic unused_command;
  assign unused_command = ^{command_i.agreed, command_i.wave};

  `GS_ASSERT_NOW(words_move_in_one_direction_at_a_time, !(scanning_q && command_i.chunk_valid))
  `GS_ASSERT_NOW(no_contribution_during_a_release, !(give_i && command_i.release_all))
endmodule
