// SPDX-License-Identifier: Apache-2.0

/// Synchronizer of bits that come from another clock: two flip-flops that a metastable value has a cycle to leave.
///
/// Several bits are synchronized each on its own: at most one of them may change in a cycle of the source (Gray code),
/// or the reader waits until the word is stable. The instances are called `u_sync*`, so that constraints find their
/// first flip-flops (docs/hardware/ethernet-mac.md).
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
  // Wires of different length: each bit of the last change of the source is seen zero to three cycles late, on its own.
  // Changes before the last one have arrived. Words that are not in Gray code are thus seen, for several cycles, as
  // words that were never sent.
  logic [Width-1:0]      now, old, seen;
  logic [Width-1:0][1:0] late, late_q, drawn_q;
  int unsigned           changes, changes_q;
  always @(data_i) begin
    old     = now;
    now     = data_i;
    changes = changes + 1;
  end
  assign late = changes != changes_q ? drawn_q : late_q;
  for (genvar i = 0; i < Width; i++) begin : gen_seen
    assign seen[i] = late[i] != '0 ? old[i] : data_i[i];
    always_ff @(posedge clk_i) begin
      drawn_q[i] <= 2'($urandom);
      late_q[i]  <= late[i] - 2'(late[i] != '0);
    end
  end
  always_ff @(posedge clk_i) changes_q <= changes;
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
