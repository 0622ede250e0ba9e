// SPDX-License-Identifier: Apache-2.0

/// One instance of each block of rtl/common (and a second one if a parameter selects another design), for cocotb.
/// Ports are named <block>_<port>.
module common_top (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic         gate_busy_i,
  output logic [31:0]  gate_edges_o,

  input  logic         skid_in_valid_i,
  output logic         skid_in_ready_o,
  input  logic [31:0]  skid_in_data_i,
  output logic         skid_out_valid_o,
  input  logic         skid_out_ready_i,
  output logic [31:0]  skid_out_data_o,

  input  logic         sort_in_valid_i,
  output logic         sort_in_ready_o,
  input  logic [2:0]   sort_in_to_i,
  input  logic [31:0]  sort_in_data_i,
  output logic [2:0]   sort_out_valid_o,
  input  logic [2:0]   sort_out_ready_i,
  output logic [31:0]  sort_out_data_o,

  input  logic         fifo_in_valid_i,
  output logic         fifo_in_ready_o,
  input  logic [31:0]  fifo_in_data_i,
  output logic         fifo_out_valid_o,
  input  logic         fifo_out_ready_i,
  output logic [31:0]  fifo_out_data_o,
  output logic [4:0]   fifo_count_o,

  input  logic         odd_in_valid_i,
  output logic         odd_in_ready_o,
  input  logic [31:0]  odd_in_data_i,
  output logic         odd_out_valid_o,
  input  logic         odd_out_ready_i,
  output logic [31:0]  odd_out_data_o,
  output logic [2:0]   odd_count_o,

  input  logic         block_in_valid_i,
  output logic         block_in_ready_o,
  input  logic [31:0]  block_in_data_i,
  output logic         block_out_valid_o,
  input  logic         block_out_ready_i,
  output logic [31:0]  block_out_data_o,
  output logic [5:0]   block_count_o,

  input  logic [4:0]   arbiter_req_i,
  output logic [4:0]   arbiter_gnt_o,
  output logic [2:0]   arbiter_idx_o,
  input  logic         arbiter_advance_i,

  input  logic [2:0]       merge_in_valid_i,
  output logic [2:0]       merge_in_ready_o,
  input  logic [2:0][31:0] merge_in_data_i,
  output logic             merge_out_valid_o,
  input  logic             merge_out_ready_i,
  output logic [31:0]      merge_out_data_o,
  output logic [1:0]       merge_out_idx_o
);
  typedef struct packed {
    logic [7:0]  tag;
    logic [23:0] data;
  } item_t;

  logic gate_clk;
  gs_clock_gate #(.Linger(3)) u_gate (.clk_i, .rst_ni, .busy_i(gate_busy_i), .clk_o(gate_clk));
  always_ff @(posedge gate_clk) begin
    if (!rst_ni) gate_edges_o <= '0;
    else gate_edges_o <= gate_edges_o + 32'd1;
  end

  gs_skid #(.data_t(item_t)) u_skid (
    .clk_i, .rst_ni,
    .in_valid_i(skid_in_valid_i), .in_ready_o(skid_in_ready_o), .in_data_i(skid_in_data_i),
    .out_valid_o(skid_out_valid_o), .out_ready_i(skid_out_ready_i), .out_data_o(skid_out_data_o)
  );

  gs_steer_queue #(.N(3), .data_t(item_t)) u_sort (
    .clk_i, .rst_ni,
    .in_valid_i(sort_in_valid_i), .in_ready_o(sort_in_ready_o), .in_to_i(sort_in_to_i), .in_data_i(sort_in_data_i),
    .out_valid_o(sort_out_valid_o), .out_ready_i(sort_out_ready_i), .out_data_o(sort_out_data_o)
  );

  gs_fifo #(.data_t(item_t)) u_fifo (
    .clk_i, .rst_ni,
    .in_valid_i(fifo_in_valid_i), .in_ready_o(fifo_in_ready_o), .in_data_i(fifo_in_data_i),
    .out_valid_o(fifo_out_valid_o), .out_ready_i(fifo_out_ready_i), .out_data_o(fifo_out_data_o),
    .count_o(fifo_count_o)
  );

  gs_fifo #(.data_t(item_t), .Depth(5)) u_odd (
    .clk_i, .rst_ni,
    .in_valid_i(odd_in_valid_i), .in_ready_o(odd_in_ready_o), .in_data_i(odd_in_data_i),
    .out_valid_o(odd_out_valid_o), .out_ready_i(odd_out_ready_i), .out_data_o(odd_out_data_o),
    .count_o(odd_count_o)
  );

  gs_fifo #(.data_t(item_t), .Depth(33), .Block(1'b1)) u_block (
    .clk_i, .rst_ni,
    .in_valid_i(block_in_valid_i), .in_ready_o(block_in_ready_o), .in_data_i(block_in_data_i),
    .out_valid_o(block_out_valid_o), .out_ready_i(block_out_ready_i), .out_data_o(block_out_data_o),
    .count_o(block_count_o)
  );

  gs_arbiter #(.N(5)) u_arbiter (
    .clk_i, .rst_ni,
    .req_i(arbiter_req_i), .gnt_o(arbiter_gnt_o), .idx_o(arbiter_idx_o), .advance_i(arbiter_advance_i)
  );

  item_t merge_items[3];
  for (genvar i = 0; i < 3; i++) begin : gen_merge
    assign merge_items[i] = merge_in_data_i[i];
  end
  gs_rr_arbiter #(.N(3), .data_t(item_t)) u_merge (
    .clk_i, .rst_ni,
    .in_valid_i(merge_in_valid_i), .in_ready_o(merge_in_ready_o), .in_data_i(merge_items),
    .out_valid_o(merge_out_valid_o), .out_ready_i(merge_out_ready_i), .out_data_o(merge_out_data_o),
    .out_idx_o(merge_out_idx_o)
  );
endmodule
