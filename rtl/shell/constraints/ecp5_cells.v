// SPDX-License-Identifier: Apache-2.0
// Ports of the ECP5 primitives of gs_eth_ddr_in and gs_eth_ddr_out, for Yosys' read_slang. Lattice's tools have their
// own.
(* blackbox *)
module DELAYG (input A, output Z);
  parameter DEL_MODE = "USER_DEFINED";
  parameter DEL_VALUE = 0;
endmodule

(* blackbox *)
module IDDRX1F (input SCLK, input RST, input D, output Q0, output Q1);
endmodule

(* blackbox *)
module ODDRX1F (input SCLK, input RST, input D0, input D1, output Q);
endmodule
