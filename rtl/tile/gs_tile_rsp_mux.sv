// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Returns the units' responses to the cores, over two buses that connect to every core.
///
/// Units share a bus by round-robin arbitration. A core always accepts one response a cycle. If both buses have one for
/// the same core, one bus waits a cycle, alternately.
///
///     caches, control ==[ round robin ]==[ register ]==+==> every core: [ register ]
///     FPUs, mailbox   ==[ round robin ]==[ register ]==+
module gs_tile_rsp_mux
  import gs_tile_pkg::*;
#(
  /// units of the first bus and of the second
  parameter  int unsigned UnitsA = 2,
  parameter  int unsigned UnitsB = 2,
  /// all units, those of the first bus first; not to be set
  localparam int unsigned Units  = UnitsA + UnitsB
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic    [Units-1:0]     in_valid_i,
  output logic    [Units-1:0]     in_ready_o,
  input  answer_t                 in_i[Units],
  output logic    [TileCores-1:0] out_valid_o,
  output answer_t                 out_o[TileCores]
);
  logic    [1:0] bus_valid_q, bus_valid, waits;
  answer_t       bus_q[2], bus[2];
  // Bus B has priority in the next conflict.
  logic          prefer_b_q, conflict;

  assign conflict = bus_valid_q == '1 && bus_q[0].thread >> TidW == bus_q[1].thread >> TidW;
  assign waits    = {conflict && !prefer_b_q, conflict && prefer_b_q};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) prefer_b_q <= 1'b0;
    else if (conflict) prefer_b_q <= !prefer_b_q;
  end

  for (genvar b = 0; b < 2; b++) begin : gen_bus
    localparam int unsigned From = (b == 0) ? 0 : UnitsA;
    localparam int unsigned N = (b == 0) ? UnitsA : UnitsB;
    localparam int unsigned IdxW = (N > 1) ? $clog2(N) : 1;
    answer_t of_units[N];
    logic ready;
    logic [IdxW-1:0] unused_idx;

    for (genvar u = 0; u < N; u++) begin : gen_unit
      assign of_units[u] = in_i[From+u];
    end
    assign ready = !waits[b];

    gs_rr_arbiter #(
      .N     (N),
      .data_t(answer_t)
    ) u_arbiter (
      .clk_i,
      .rst_ni,
      .in_valid_i (in_valid_i[From+:N]),
      .in_ready_o (in_ready_o[From+:N]),
      .in_data_i  (of_units),
      .out_valid_o(bus_valid[b]),
      .out_ready_i(ready),
      .out_data_o (bus[b]),
      .out_idx_o  (unused_idx)
    );

    always_ff @(posedge clk_i) begin
      if (!rst_ni) bus_valid_q[b] <= 1'b0;
      else if (ready) bus_valid_q[b] <= bus_valid[b];
      if (ready && bus_valid[b]) bus_q[b] <= bus[b];
    end
  end

  for (genvar c = 0; c < TileCores; c++) begin : gen_core
    logic [1:0] bus_hit;
    for (genvar b = 0; b < 2; b++) begin : gen_bus_hit
      assign bus_hit[b] = bus_valid_q[b] && !waits[b] && (bus_q[b].thread >> TidW) == ThreadW'(c);
    end
    always_ff @(posedge clk_i) begin
      out_valid_o[c] <= bus_hit != '0 && rst_ni;
      if (bus_hit != '0) out_o[c] <= bus_hit[1] ? bus_q[1] : bus_q[0];
    end
    `GS_ASSERT_NOW(core_receives_at_most_one_response_a_cycle, bus_hit != '1)
  end
endmodule
