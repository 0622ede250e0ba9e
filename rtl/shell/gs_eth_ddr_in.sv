// SPDX-License-Identifier: Apache-2.0

/// Input pin with double data rate: `first_o` is the value at the rising edge of `clk_i`, `second_o` that at the next
/// falling edge. Both change at rising edges.
///
///     clk_i     __/~~\__/~~\__/~~\__
///     pin_i     XX a X b X c X d X
///     first_o   __________X  a  X  c
///     second_o  __________X  b  X  d
module gs_eth_ddr_in #(
  /// primitives of Lattice's ECP5; for any device and for simulation otherwise
  parameter bit          Ecp5  = 1'b0,
  /// delay of the pin on ECP5, in steps of about 25 ps, 0 to 127
  parameter int unsigned Delay = 0
) (
  input  logic clk_i,
  input  logic pin_i,
  output logic first_o,
  output logic second_o
);
  if (Delay > 127) begin : gen_illegal_delay
    $fatal(1, "gs_eth_ddr_in: Delay is %0d; it must be 0 to 127", Delay);
  end
  if (Ecp5) begin : gen_ecp5
    logic delayed;
    DELAYG #(
      .DEL_MODE ("USER_DEFINED"),
      .DEL_VALUE(Delay)
    ) u_delay (
      .A(pin_i),
      .Z(delayed)
    );
    IDDRX1F u_ddr (
      .SCLK(clk_i),
      .RST (1'b0),
      .D   (delayed),
      .Q0  (first_o),
      .Q1  (second_o)
    );
  end else begin : gen_generic
    logic rise_q, fall_q;
    always_ff @(negedge clk_i) fall_q <= pin_i;
    always_ff @(posedge clk_i) begin
      rise_q   <= pin_i;
      first_o  <= rise_q;
      second_o <= fall_q;
    end
  end
endmodule
