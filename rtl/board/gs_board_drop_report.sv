// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Messages that tiles of the board have refused: how many, and of which the host is to be told.
///
/// Told are each tile's first, and those with which the number of all reaches a power of two: so nothing that is wrong
/// stays unknown, and a flood of it makes few reports. A tile that is told while an older refusal of its own waits
/// gives that one up.
module gs_board_drop_report
  import gs_board_pkg::*;
  import gs_idle_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  idle_refusal_t [Tiles-1:0][1:0]  refusals_i,
  /// there is one to be told; it is told
  output logic                            valid_o,
  input  logic                            told_i,
  output told_refusal_t                   refusal_o,
  /// all that were refused
  output logic          [31:0]            count_o
);
  localparam int unsigned NewW = $clog2(2 * Tiles + 1);

  logic [31:0] count_q, count_d;
  logic [NewW-1:0] more;
  // Tiles: one has refused something, the first of these, some have been seen to before; one waits to be told, next.
  logic [Tiles-1:0] comes, first, known_q, waits_q, next;
  logic doubles;
  idle_refusal_t what[Tiles], what_q[Tiles];

  always_comb begin
    more = '0;
    for (int unsigned t = 0; t < Tiles; t++) begin
      more    += NewW'(refusals_i[t][0].valid) + NewW'(refusals_i[t][1].valid);
      comes[t] = refusals_i[t][0].valid || refusals_i[t][1].valid;
      what[t]  = refusals_i[t][0].valid ? refusals_i[t][0] : refusals_i[t][1];
    end
  end
  assign count_d = count_q + 32'(more);
  assign doubles = (count_q ^ count_d) > count_q;
  assign first   = comes & (~comes + Tiles'(1));
  assign next    = waits_q & (~waits_q + Tiles'(1));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
      known_q <= '0;
      waits_q <= '0;
    end else begin
      count_q <= count_d;
      known_q <= known_q | comes;
      waits_q <= (waits_q & ~(told_i ? next : '0)) | (comes & ~known_q) | (doubles ? first : '0);
    end
    for (int unsigned t = 0; t < Tiles; t++) if (comes[t]) what_q[t] <= what[t];
  end

  assign valid_o = waits_q != '0;
  assign count_o = count_q;
  always_comb begin
    refusal_o = '0;
    for (int unsigned t = 0; t < Tiles; t++) begin
      if (next[t]) begin
        refusal_o = '{
            why: refusal_e'(what_q[t].why), job: what_q[t].job, tile_y: 4'(t / MeshWidth), tile_x: 4'(t % MeshWidth)
          };
      end
    end
  end

  `GS_ASSERT_NOW(only_what_waits_is_told, !told_i || valid_o)
endmodule
