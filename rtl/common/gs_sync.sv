// SPDX-License-Identifier: Apache-2.0

/// Synchronizer of bits that come from another clock: two flip-flops that a metastable value has a cycle to leave.
///
/// Several bits are synchronized each on its own: at most one of them may change in a cycle of the source (Gray code).
/// The instances are called `u_sync*`, so that constraints find their first flip-flops (docs/hardware/shell.md).
module gs_sync #(
  /// bits
  parameter int unsigned        Width = 1,
  /// value in reset
  parameter logic [Width-1:0]   Reset = '0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] data_i,
  output logic [Width-1:0] data_o
);
  (* async_reg = "true", keep *)
  logic [Width-1:0] meta_q, sync_q;

`ifdef VERILATOR
  // A bit that changes near the clock edge is seen before or after its change, each bit on its own: bits that are not
  // in Gray code give words that were never sent.
  logic [Width-1:0] last_q, late_q, seen;
  always_ff @(posedge clk_i) last_q <= data_i;
  assign seen = data_i ^ ((data_i ^ last_q) & late_q);
  always_ff @(posedge clk_i) for (int unsigned i = 0; i < Width; i++) late_q[i] <= 1'($urandom);
`else
  logic [Width-1:0] seen;
  assign seen = data_i;
`endif

  always_ff @(posedge clk_i) begin
    meta_q <= seen;
    sync_q <= meta_q;
    if (!rst_ni) begin
      meta_q <= Reset;
      sync_q <= Reset;
    end
  end
  assign data_o = sync_q;
endmodule
