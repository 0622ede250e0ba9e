// SPDX-License-Identifier: Apache-2.0

/// Which tiles of a run have begun: each tile whose threads the host starts must have had a started thread before a
/// release. `expected_i` is 0 for at least one cycle between two runs, so that a tile that began in one run does not
/// count as begun in the next.
module gs_idle_begun #(
  /// tiles
  parameter int unsigned Tiles = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // Of each tile: it has a started thread; the host starts threads of it
  input  logic [Tiles-1:0] started_i,
  input  logic [Tiles-1:0] expected_i,
  // It is expected, and has had a started thread; one cycle later: the release need not wait for it
  output logic [Tiles-1:0] begun_o,
  output logic [Tiles-1:0] done_o
);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      begun_o <= '0;
      done_o  <= '0;
    end else begin
      begun_o <= (begun_o | started_i) & expected_i;
      done_o  <= begun_o | ~expected_i;
    end
  end
endmodule
