// SPDX-License-Identifier: Apache-2.0

/// The floating-point unit of four cores of 16 threads, with its structs as plain ports for a C++ harness.
module gs_fpu_bench (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [3:0]        f_valid_i,
  output logic [3:0]        f_ready_o,
  input  logic [4:0]        op_i [4],
  input  logic [2:0]        rm_i [4],
  input  logic [3:0]        tid_i [4],
  input  logic [31:0]       a_i [4],
  input  logic [31:0]       b_i [4],
  input  logic [31:0]       c_i [4],
  output logic              rsp_valid_o,
  input  logic              rsp_ready_i,
  output logic [1:0]        rsp_core_o,
  output logic [3:0]        rsp_tid_o,
  output logic [31:0]       rsp_data_o,
  output logic [4:0]        rsp_flags_o
);
  logic [3:0][108-1:0] requests;

  for (genvar i = 0; i < 4; i++) begin : gen_request
    assign requests[i] = 108'({op_i[i], rm_i[i], tid_i[i], a_i[i], b_i[i], c_i[i]});
  end

  gs_fpu #(
    .NCores        (4),
    .ThreadsPerCore(16)
  ) u_fpu (
    .clk_i,
    .rst_ni,
    .f_valid_i,
    .f_ready_o,
    .f_req_i    (requests),
    .rsp_valid_o,
    .rsp_ready_i,
    .rsp_o      ({rsp_core_o, rsp_tid_o, rsp_data_o, rsp_flags_o}),
    .busy_o     ()
  );
endmodule
