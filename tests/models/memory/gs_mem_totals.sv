// SPDX-License-Identifier: Apache-2.0

/// Totals of a memory benchmark over a board: lines fetched, lines written back, instructions.
module gs_mem_totals #(
  parameter int unsigned Caches    = 1,
  parameter int unsigned Cores     = 1,
  /// payload: GS_MEM_TYPES
  parameter type         mem_rsp_t = logic
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  /// a cache accepts this beat
  input  logic     [Caches-1:0] rsp_taken_i,
  input  mem_rsp_t [Caches-1:0] rsp_i,
  input  logic     [Cores-1:0]  issue_i,
  output logic     [63:0]       fills_o,
  output logic     [63:0]       writebacks_o,
  output logic     [63:0]       instructions_o
);
  // A line counts when its last beat has arrived, or when its write-back is acknowledged.
  logic [Caches-1:0] fill, writeback;
  for (genvar c = 0; c < Caches; c++) begin : gen_cache
    assign fill[c]      = rsp_taken_i[c] && rsp_i[c].last && !rsp_i[c].ack;
    assign writeback[c] = rsp_taken_i[c] && rsp_i[c].ack;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fills_o        <= '0;
      writebacks_o   <= '0;
      instructions_o <= '0;
    end else begin
      fills_o        <= fills_o + 64'($countones(fill));
      writebacks_o   <= writebacks_o + 64'($countones(writeback));
      instructions_o <= instructions_o + 64'($countones(issue_i));
    end
  end
endmodule
