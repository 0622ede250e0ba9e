// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Messages that tiles of the board have dropped: counts them, and selects those that are reported to the host.
///
/// Reported are the first one of each tile, and those with which the board's count reaches a power of two. So every
/// kind of error is reported, and a flood of errors causes few reports. If a tile drops a message that is to be
/// reported while an earlier one waits, only the later one is reported.
module gs_board_drop_report
  import gs_board_pkg::*;
  import gs_idle_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  idle_drop_t [Tiles-1:0][1:0]     drops_i,
  /// a report is due; it is made
  output logic                            valid_o,
  input  logic                            reported_i,
  output reported_drop_t                  drop_o,
  /// number of dropped messages
  output logic          [31:0]            count_o
);
  localparam int unsigned NewW = $clog2(2 * Tiles + 1);

  logic [31:0] count_q, count_d;
  logic [NewW-1:0] more;
  // By tile: it drops a message now, the first of these; it has dropped one before; a report is due, the next of these.
  logic [Tiles-1:0] drops, first, known_q, due_q, next;
  logic doubles;
  idle_drop_t what[Tiles], what_q[Tiles];

  always_comb begin
    more = '0;
    for (int unsigned t = 0; t < Tiles; t++) begin
      more    += NewW'(drops_i[t][0].valid) + NewW'(drops_i[t][1].valid);
      drops[t] = drops_i[t][0].valid || drops_i[t][1].valid;
      what[t]  = drops_i[t][0].valid ? drops_i[t][0] : drops_i[t][1];
    end
  end
  assign count_d = count_q + 32'(more);
  assign doubles = (count_q ^ count_d) > count_q;
  assign first   = drops & (~drops + Tiles'(1));
  assign next    = due_q & (~due_q + Tiles'(1));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
      known_q <= '0;
      due_q   <= '0;
    end else begin
      count_q <= count_d;
      known_q <= known_q | drops;
      due_q   <= (due_q & ~(reported_i ? next : '0)) | (drops & ~known_q) | (doubles ? first : '0);
    end
    for (int unsigned t = 0; t < Tiles; t++) if (drops[t]) what_q[t] <= what[t];
  end

  assign valid_o = due_q != '0;
  assign count_o = count_q;
  always_comb begin
    drop_o = '0;
    for (int unsigned t = 0; t < Tiles; t++) begin
      if (next[t]) begin
        drop_o = '{
            why: rejection_e'(what_q[t].why), job: what_q[t].job, tile_y: 4'(t / MeshWidth), tile_x: 4'(t % MeshWidth)
          };
      end
    end
  end

  `GS_ASSERT_NOW(only_due_reports_are_made, !reported_i || valid_o)
endmodule
