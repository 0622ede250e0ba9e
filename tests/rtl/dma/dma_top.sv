// SPDX-License-Identifier: Apache-2.0

/// Two tiles without cores: switch, loader, match engine and DMA engine of each, and the network between them, which
/// the test can stall. The test models mailbox and memory. Bit or element t belongs to tile t. test can hold up. What
/// stands in for mailbox and memory is the test's. Bit or element t is tile t's.
module dma_top
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [1:0][4:0]   job_i,
  // packets from the mailbox to the own accelerator, and packets to the mailbox
  input  logic [1:0]        far_valid_i,
  output logic [1:0]        far_ready_o,
  input  flit_t [1:0]       far_i,
  output logic [1:0]        box_valid_o,
  input  logic [1:0]        box_ready_i,
  output flit_t [1:0]       box_o,
  // memory
  output logic [1:0]        mem_req_valid_o,
  input  logic [1:0]        mem_req_ready_i,
  output mem_req_t [1:0]    mem_req_o,
  input  logic [1:0]        mem_rsp_valid_i,
  input  mem_rsp_t [1:0]    mem_rsp_i,
  // networks that currently accept no flits of a tile
  input  logic [1:0][3:0]   stall_i,
  // a host's flit to tile 1, sent instead of tile 0's flits, which stall; flits that tile 1 sends
  input  logic [3:0]        host_valid_i,
  output logic [3:0]        host_ready_o,
  input  flit_t             host_i,
  output logic [3:0]        sent_valid_o,
  output flit_t             sent_o,
  output logic [1:0]        busy_o
);
  logic [1:0][3:0] out_valid, out_ready, in_ready;
  flit_t [1:0] out;
  logic [1:0][3:0] arrive_valid;
  flit_t [1:0] come;

  assign arrive_valid   = {(host_valid_i != '0) ? host_valid_i : out_valid[0], out_valid[1]};
  assign come         = {(host_valid_i != '0) ? host_i : out[0], out[1]};
  assign host_ready_o = in_ready[1];
  assign sent_valid_o = out_valid[1];
  assign sent_o       = out[1];

  for (genvar t = 0; t < 2; t++) begin : gen_tile
    logic load_in_valid, load_in_ready, load_out_valid, load_out_ready, acc_in_valid, acc_in_ready, acc_out_valid;
    logic acc_out_ready, move_valid, move_ready, reply_valid, unit_busy, load_busy, switch_busy;
    flit_t load_in, load_out, acc_in, acc_out, move, reply;
    logic [1:0] direct_valid, direct_ready;
    mem_req_t direct[2];
    logic unused_rejected, unused_dropped, unused_fault, unused_own, unused_box;
    logic [1:0] unused_switch;
    gs_idle_pkg::idle_drop_t unused_drop;
    logic [InstrMems-1:0] unused_instr_valid;
    instr_access_t unused_instr;

    assign out_ready[t] = in_ready[1-t] & ~stall_i[t];

    gs_tile_switch #(.Accelerator(1'b1), .Dma(1'b1)) u_switch (
      .clk_i, .rst_ni,
      .board_i('0), .tile_y_i('0), .tile_x_i(4'(t)), .job_i(job_i[t]), .epoch_i('0), .wave_i('0),
      .cluster_i('{routers: 1'b0, boards: 13'd1, hosts: 13'd1}),
      .net_in_valid_i(arrive_valid[t]), .net_in_ready_o(in_ready[t]), .net_in_i(come[t]),
      .net_out_valid_o(out_valid[t]), .net_out_ready_i(out_ready[t]), .net_out_o(out[t]),
      .box_in_valid_o(box_valid_o[t]), .box_in_ready_i(box_ready_i[t]), .box_in_o(box_o[t]),
      .box_out_valid_i(1'b0), .box_out_ready_o(unused_box), .box_out_i('0),
      .far_out_valid_i(far_valid_i[t]), .far_out_ready_o(far_ready_o[t]), .far_out_i(far_i[t]),
      .load_in_valid_o(load_in_valid), .load_in_ready_i(load_in_ready), .load_in_o(load_in),
      .load_out_valid_i(load_out_valid), .load_out_ready_o(load_out_ready), .load_out_i(load_out),
      .acc_in_valid_o(acc_in_valid), .acc_in_ready_i(acc_in_ready), .acc_in_o(acc_in),
      .acc_out_valid_i(acc_out_valid), .acc_out_ready_o(acc_out_ready), .acc_out_i(acc_out),
      .fault_valid_i(1'b0), .fault_ready_o(unused_fault), .fault_i('0),
      .dma_valid_i(move_valid), .dma_ready_o(move_ready), .dma_i(move),
      .dma_reply_valid_o(reply_valid), .dma_reply_o(reply),
      .busy_o(switch_busy), .acc_dropped_o(unused_dropped), .dropped_o(unused_switch), .dropped_own_o(unused_own),
      .drop_o(unused_drop)
    );

    gs_tile_rma u_load (
      .clk_i, .rst_ni, .job_i(job_i[t]),
      .in_valid_i(load_in_valid), .in_ready_o(load_in_ready), .in_i(load_in),
      .out_valid_o(load_out_valid), .out_ready_i(load_out_ready), .out_o(load_out),
      .mem_req_valid_o(direct_valid[0]), .mem_req_ready_i(direct_ready[0]), .mem_req_o(direct[0]),
      .mem_rsp_valid_i(mem_rsp_valid_i[t] && !mem_rsp_i[t].id[4]), .mem_rsp_i(mem_rsp_i[t]),
      .instr_valid_o(unused_instr_valid), .instr_o(unused_instr), .instr_ready_i(1'b1), .instr_rvalid_i(1'b0),
      .instr_rdata_i('0), .rejected_o(unused_rejected), .busy_o(load_busy)
    );

    gs_match_unit #(.Dma(1'b1)) u_unit (
      .clk_i, .rst_ni,
      .board_i('0), .tile_y_i('0), .tile_x_i(4'(t)), .job_i(job_i[t]),
      .cluster_i('{routers: 1'b0, boards: 13'd1, hosts: 13'd1}),
      .in_valid_i(acc_in_valid), .in_ready_o(acc_in_ready), .in_i(acc_in),
      .out_valid_o(acc_out_valid), .out_ready_i(acc_out_ready), .out_o(acc_out),
      .move_valid_o(move_valid), .move_ready_i(move_ready), .move_o(move),
      .move_reply_valid_i(reply_valid), .move_reply_i(reply),
      .mem_req_valid_o(direct_valid[1]), .mem_req_ready_i(direct_ready[1]), .mem_req_o(direct[1]),
      .mem_rsp_valid_i(mem_rsp_valid_i[t] && mem_rsp_i[t].id[4]), .mem_rsp_i(mem_rsp_i[t]),
      .busy_o(unit_busy)
    );

    gs_mem_arbiter #(.N(2), .data_t(mem_req_t)) u_memory (
      .clk_i, .rst_ni,
      .in_valid_i(direct_valid), .in_ready_o(direct_ready), .in_last_i({direct[1].last, direct[0].last}),
      .in_data_i(direct),
      .out_valid_o(mem_req_valid_o[t]), .out_ready_i(mem_req_ready_i[t]), .out_data_o(mem_req_o[t])
    );
    assign busy_o[t] = unit_busy || load_busy || switch_busy || load_in_valid || move_valid;
  end
endmodule
