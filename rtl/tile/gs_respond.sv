// SPDX-License-Identifier: Apache-2.0

/// Brings the units' answers back to those who asked, any number of them in the same cycle.
///
/// A destination takes one answer a cycle, always; units that have one for the same destination take turns.
/// The debug bus and the accelerator borrow a thread's number: while they wait for an answer, it is theirs.
///
///     units ==>[ two places ]==> round robin ==>[ register ]==> cores, debug bus, accelerator
module gs_respond
  import gs_tile_pkg::*;
#(
  /// units that answer
  parameter  int unsigned Units        = 3,
  /// who asks beside the cores
  parameter  int unsigned Borrowers    = 2,
  /// all who get answers: cores first; not to be set
  localparam int unsigned Destinations = TileCores + Borrowers
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic    [Units-1:0]                 in_valid_i,
  output logic    [Units-1:0]                 in_ready_o,
  input  answer_t                             in_i[Units],
  /// a borrower waits for an answer, to this thread
  input  logic    [Borrowers-1:0]             borrowed_i,
  input  logic    [Borrowers-1:0][ThreadW-1:0] borrowed_thread_i,
  output logic    [Destinations-1:0]          out_valid_o,
  output answer_t                             out_o[Destinations]
);
  localparam int unsigned UnitW = (Units > 1) ? $clog2(Units) : 1;

  logic    [Units-1:0][Destinations-1:0] wants, granted;
  answer_t                               answer[Units];

  for (genvar u = 0; u < Units; u++) begin : gen_unit
    logic [Borrowers-1:0] borrowed;
    logic [Destinations-1:0] to;

    for (genvar b = 0; b < Borrowers; b++) begin : gen_borrower
      assign borrowed[b] = borrowed_i[b] && in_i[u].thread == borrowed_thread_i[b];
    end
    assign to[Destinations-1:TileCores] = borrowed;
    for (genvar c = 0; c < TileCores; c++) begin : gen_core
      assign to[c] = borrowed == '0 && (in_i[u].thread >> TidW) == ThreadW'(c);
    end

    gs_sort_queue #(
      .N     (Destinations),
      .data_t(answer_t)
    ) u_sorted (
      .clk_i,
      .rst_ni,
      .in_valid_i (in_valid_i[u]),
      .in_ready_o (in_ready_o[u]),
      .in_to_i    (to),
      .in_data_i  (in_i[u]),
      .out_valid_o(wants[u]),
      .out_ready_i(granted[u]),
      .out_data_o (answer[u])
    );
  end

  for (genvar d = 0; d < Destinations; d++) begin : gen_destination
    logic [Units-1:0] valid, ready;
    logic [UnitW-1:0] unused_idx;
    logic some;
    answer_t chosen;

    for (genvar u = 0; u < Units; u++) begin : gen_valid
      assign valid[u]      = wants[u][d];
      assign granted[u][d] = ready[u];
    end

    gs_stream_arbiter #(
      .N     (Units),
      .data_t(answer_t)
    ) u_arbiter (
      .clk_i,
      .rst_ni,
      .in_valid_i (valid),
      .in_ready_o (ready),
      .in_data_i  (answer),
      .out_valid_o(some),
      .out_ready_i(1'b1),
      .out_data_o (chosen),
      .out_idx_o  (unused_idx)
    );

    always_ff @(posedge clk_i) begin
      if (!rst_ni) out_valid_o[d] <= 1'b0;
      else out_valid_o[d] <= some;
      out_o[d] <= chosen;
    end
  end
endmodule
