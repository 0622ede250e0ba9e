// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Queue of the threads' reports. It never overflows, so a slow host blocks no request.
///
/// A thread has at most one report that it waits for, and is suspended meanwhile. After the report of its end it can
/// report again only after another start. Another thread starts it, which has a report in the queue and waits for it,
/// or the host, which may do so only while `starts_o`. So two slots for each thread are enough after the host's last
/// start, and as many again before it.
///
///     in ->[ {code, thread, about, pc} ][ data ]-> block RAM -> out, in two words
module gs_report_queue
  import gs_control_pkg::*;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_ni,
  input  logic    in_valid_i,
  output logic    in_ready_o,
  input  report_t in_i,
  /// two words: all fields but the data, then the data in the low bits
  output logic    out_valid_o,
  input  logic    out_ready_i,
  output report_word_t out_o,
  /// the host may start a thread
  output logic    starts_o,
  output logic    busy_o
);
  localparam int unsigned AllThreads = 1 << ThreadW;
  localparam int unsigned Depth = 2 * 4 * AllThreads;

  logic [31:0] data_q;
  logic second_q, push, ready, starts_q;
  report_word_t word;
  logic [$clog2(Depth+1)-1:0] count;

  assign in_ready_o = !second_q;
  assign push       = second_q || in_valid_i;
  assign word       = second_q ? report_word_t'(data_q) : report_word_t'(in_i[32+:HeadW]);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) second_q <= 1'b0;
    else second_q <= !second_q && in_valid_i;
    if (!second_q) data_q <= in_i.data;
    // Two slots fewer than the sum, because the count is one cycle old.
    starts_q <= count < ($clog2(Depth+1))'(2 * (2 * AllThreads - 2));
  end

  gs_fifo #(
    .data_t(report_word_t),
    .Depth (Depth),
    .Block (1'b1)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (push),
    .in_ready_o (ready),
    .in_data_i  (word),
    .out_valid_o,
    .out_ready_i,
    .out_data_o (out_o),
    .count_o    (count)
  );

  assign starts_o = starts_q;
  assign busy_o   = push || count != '0;

  `GS_ASSERT_NOW(report_queue_never_overflows, !push || ready)
endmodule
