// SPDX-License-Identifier: Apache-2.0

/// Output pin with double data rate: `first_i` while `clk_i` is high, then `second_i`, one cycle after they are read.
///
///     clk_i     __/~~\__/~~\__/~~\__
///     first_i   _X  a  X  c  X
///     second_i  _X  b  X  d  X
///     pin_o     ________X a X b X c X d
module gs_eth_ddr_out #(
  /// primitives of Lattice's ECP5; for any device and for simulation otherwise
  parameter bit Ecp5 = 1'b0
) (
  input  logic clk_i,
  input  logic first_i,
  input  logic second_i,
  output logic pin_o
);
  if (Ecp5) begin : gen_ecp5
    ODDRX1F u_ddr (
      .SCLK(clk_i),
      .RST (1'b0),
      .D0  (first_i),
      .D1  (second_i),
      .Q   (pin_o)
    );
  end else begin : gen_generic
    logic first_q, second_q;
    always_ff @(posedge clk_i) begin
      first_q  <= first_i;
      second_q <= second_i;
    end
    assign pin_o = clk_i ? first_q : second_q;
  end
endmodule
