// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Counts the instructions that each thread of a tile has finished, in 64 bits, for the CSRs instret and instreth.
///
/// The cores count in 4 bits a thread. A scan over the threads adds the increment of a thread's 4 bits to its count in
/// a block RAM, before the 4 bits can wrap: a thread finishes at most one instruction every 8 cycles. A count is stored
/// in two words, which pass through one adder, one after the other:
///
///     low:  {bits 31 to 0,  the 4 bits at the last update}
///     high: {bits 63 to 32, 000, bit 31 of the low word at the last update}
///
///     phase     0          1          2    3    4    5    6    7
///     thread    requested  requested  v    v+1  v+2  v+2  v+3  v+4, and so on
///     word      low        high       low  low  low  high low  low
///
/// A requested count is updated as well, and so is exact, but not written back: no read coincides with a write of the
/// same word. Reset does not change the counts.
module gs_instret #(
  /// cores, a power of two
  parameter  int unsigned Cores          = 4,
  /// threads of a core, a power of two; at most 64 in all
  parameter  int unsigned ThreadsPerCore = 16,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore),
  localparam int unsigned ThreadW        = $clog2(Cores * ThreadsPerCore)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  // A thread of a core has finished an instruction
  input  logic [Cores-1:0]           retire_i,
  input  logic [Cores-1:0][TidW-1:0] retire_tid_i,
  // Request for a thread's count, held until valid_o; value_o keeps the count while hold_i is 1, then is 0
  input  logic                       ask_i,
  input  logic                       hold_i,
  input  logic [ThreadW-1:0]         ask_thread_i,
  input  logic                       ask_high_i,
  output logic                       valid_o,
  output logic [31:0]                value_o
);
  // With fewer than four threads the scan includes threads that do not exist: it must not read a word that it writes.
  localparam int unsigned VisitW = (ThreadW < 2) ? 2 : ThreadW;

  if (Cores * ThreadsPerCore > 64) begin : gen_illegal_threads
    $fatal(1, "gs_instret: Cores * ThreadsPerCore is %0d; it must be at most 64", Cores * ThreadsPerCore);
  end

  // The thread and word in each step of the scan: address, the 4 bits, the word, the sum
  typedef struct packed {
    logic              write;
    logic              take;
    logic              high;
    logic [VisitW-1:0] thread;
  } visit_t;

  visit_t v0, v1_q, v2_q, v3_q;
  logic [2:0] phase_q;
  logic [VisitW-1:0] scan_q;
  logic asked_q;
  logic [Cores-1:0][3:0] seen;
  logic [3:0] v1_seen, v2_seen_q, v2_step, v3_last_q;
  logic [31:0] v2_count, v3_count_q;
  logic [3:0] v2_last;

  for (genvar c = 0; c < Cores; c++) begin : gen_core
    // One port to count, one for the scan
    logic [1:0][TidW-1:0] read_tid;
    logic [1:0][3:0] read_count;

    assign read_tid = {v1_q.thread[TidW-1:0], retire_tid_i[c]};
    assign seen[c]  = read_count[1];
    for (genvar i = 0; i < 2; i++) begin : gen_port
      gs_ram_sdp #(
        .Width(4), .Depth(ThreadsPerCore), .Latency(0), .Style("distributed")
      ) u_count (
        .clk_i,
        .we_i   (retire_i[c]),
        .wstrb_i(1'b1),
        .waddr_i(retire_tid_i[c]),
        .wdata_i(read_count[0] + 4'd1),
        .re_i   (1'b1),
        .raddr_i(read_tid[i]),
        .rdata_o(read_count[i])
      );
    end
  end

  if (Cores > 1) begin : gen_cores
    assign v1_seen = seen[v1_q.thread[ThreadW-1:TidW]];
  end else begin : gen_one_core
    assign v1_seen = seen[0];
  end

  always_comb begin
    v0.write  = phase_q[2:1] != 2'd0;
    v0.take   = phase_q[2:1] == 2'd0 && asked_q && phase_q[0] == ask_high_i;
    v0.high   = phase_q[1:0] == 2'd1;
    v0.thread = (phase_q[2:1] == 2'd0) ? VisitW'(ask_thread_i) : scan_q;
  end

  gs_ram_sdp #(
    .Width(36), .Depth(2 << VisitW), .Latency(2), .Style("block")
  ) u_sums (
    .clk_i,
    .we_i   (v3_q.write),
    .wstrb_i(1'b1),
    .waddr_i({v3_q.thread, v3_q.high}),
    .wdata_i({v3_count_q, v3_last_q}),
    .re_i   (1'b1),
    .raddr_i({v0.thread, v0.high}),
    .rdata_o({v2_count, v2_last})
  );

  // The low word of the same thread is updated in the cycle before its high word.
  assign v2_step = v2_q.high ? {3'd0, v2_last[0] && !v3_count_q[31]} : v2_seen_q - v2_last;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      phase_q    <= '0;
      scan_q     <= '0;
      asked_q    <= 1'b0;
      valid_o    <= 1'b0;
      v1_q.write <= 1'b0;
      v2_q.write <= 1'b0;
      v3_q.write <= 1'b0;
      v1_q.take  <= 1'b0;
      v2_q.take  <= 1'b0;
      v3_q.take  <= 1'b0;
    end else begin
      phase_q <= phase_q + 3'd1;
      if (v0.write && phase_q != 3'd4) scan_q <= scan_q + VisitW'(1);
      if (phase_q == 3'd7) asked_q <= ask_i;
      {v1_q.write, v1_q.take} <= {v0.write, v0.take};
      {v2_q.write, v2_q.take} <= {v1_q.write, v1_q.take};
      {v3_q.write, v3_q.take} <= {v2_q.write, v2_q.take};
      valid_o                 <= v3_q.take;
    end
    {v1_q.high, v1_q.thread} <= {v0.high, v0.thread};
    {v2_q.high, v2_q.thread} <= {v1_q.high, v1_q.thread};
    {v3_q.high, v3_q.thread} <= {v2_q.high, v2_q.thread};
    v2_seen_q  <= v1_seen;
    v3_count_q <= v2_count + 32'(v2_step);
    v3_last_q  <= v2_q.high ? {3'd0, v3_count_q[31]} : v2_seen_q;
    if (!hold_i) value_o <= '0;
    else if (v3_q.take) value_o <= v3_count_q;
  end

`ifndef SYNTHESIS
  // Words that have not been written yet may have any value.
  logic [2**VisitW-1:0] known_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) known_q <= '0;
    else if (v3_q.write) known_q[v3_q.thread] <= 1'b1;
  end
  // With 64 threads the scan visits each at least every 104 cycles.
  `GS_ASSERT_NOW(four_bit_count_never_wraps, v2_q.high || !known_q[v2_q.thread] || v2_step < 4'd15)
`endif
  `GS_ASSERT_NOW(updated_word_is_not_read_while_it_is_written, !(u_sums.undefined && (v2_q.write || v2_q.take)))
endmodule
