// SPDX-License-Identifier: Apache-2.0

/// gs_acc_memory with the fields of its structs as ports.
module acc_memory_top
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic [31:0]                here_i,
  input  logic [31:0]                host_i,
  input  logic [4:0]                 job_i,
  input  logic                       req_valid_i,
  output logic                       req_ready_o,
  input  logic [1:0]                 req_op_i,
  input  logic [2:0]                 req_funct3_i,
  input  logic [31:0]                req_addr_i,
  input  logic [31:0]                req_data_i,
  output logic                       ans_valid_o,
  output logic [31:0]                ans_data_o,
  output logic [4:0]                 ans_flags_o,
  output logic                       mem_valid_o,
  input  logic                       mem_ready_i,
  output logic                       mem_write_o,
  output logic                       mem_last_o,
  output logic                       mem_space_o,
  output logic [31:0]                mem_addr_o,
  output logic [8*DramPortBytes-1:0] mem_data_o,
  input  logic                       rsp_valid_i,
  input  logic                       rsp_ack_i,
  input  logic                       rsp_last_i,
  input  logic [8*DramPortBytes-1:0] rsp_data_i,
  output logic                       fault_valid_o,
  input  logic                       fault_ready_i,
  // kind, last, virtual network, job
  output logic [31:0]                fault_head_o,
  output logic [31:0]                fault_dest_o,
  output logic [127:0]               fault_payload_o
);
  mem_req_t mem;
  answer_t answer;
  flit_t fault;
  logic unused;

  gs_acc_memory u_memory (
    .clk_i,
    .rst_ni,
    .here_i,
    .host_i,
    .job_i,
    .request_valid_i(req_valid_i),
    .request_ready_o(req_ready_o),
    .request_i      ('{op: x_op_e'(req_op_i), funct3: req_funct3_i, thread: '0, addr: req_addr_i, data: req_data_i}),
    .answer_valid_o (ans_valid_o),
    .answer_o       (answer),
    .mem_req_valid_o(mem_valid_o),
    .mem_req_ready_i(mem_ready_i),
    .mem_req_o      (mem),
    .mem_rsp_valid_i(rsp_valid_i),
    .mem_rsp_i      ('{ack: rsp_ack_i, last: rsp_last_i, id: AcceleratorId, data: rsp_data_i}),
    .fault_valid_o,
    .fault_ready_i,
    .fault_o        (fault)
  );

  assign {ans_data_o, ans_flags_o}               = {answer.data, answer.flags};
  assign {mem_write_o, mem_last_o, mem_space_o}  = {mem.write, mem.last, mem.space};
  assign {mem_addr_o, mem_data_o}                = {mem.addr, mem.data};
  assign fault_head_o    = {8'(fault.kind), 8'(fault.last), 8'(fault.vnet), 8'(fault.job)};
  assign fault_dest_o    = fault.dest;
  assign fault_payload_o = fault.payload;
  assign unused          = ^{answer.thread, mem.id, fault.epoch, fault.wave};
endmodule
