// SPDX-License-Identifier: Apache-2.0

/// The proofs of all arbiters in one design. All inputs are unconstrained.
module prove_arbiters (
  input logic            clk_i,
  input logic            rst_ni,
  input logic [4:0]      req_i,
  input logic [2:0]      advance_i,
  input logic [2:0]      valid_i,
  input logic [2:0][2:0] data_i,
  input logic            ready_i
);
  prove_arbiter #(.N(5)) u_five (.clk_i, .rst_ni, .req_i, .advance_i(advance_i[0]));
  prove_arbiter #(.N(4)) u_four (.clk_i, .rst_ni, .req_i(req_i[3:0]), .advance_i(advance_i[1]));
  prove_arbiter #(.N(2)) u_two (.clk_i, .rst_ni, .req_i(req_i[1:0]), .advance_i(advance_i[2]));
  prove_arbiter_lrg #(.N(5)) u_turns (.clk_i, .rst_ni, .req_i);
  prove_arbiter_lrg #(.N(4)) u_four_turns (.clk_i, .rst_ni, .req_i(req_i[3:0]));
  prove_rr_arbiter u_streams (
    .clk_i, .rst_ni, .in_valid_i(valid_i), .in_data_i(data_i), .out_ready_i(ready_i)
  );
endmodule
