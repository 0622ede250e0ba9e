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
  output logic [1:0]       merge_out_idx_o,

  input  logic         sdp_we_i,
  input  logic [3:0]   sdp_wstrb_i,
  input  logic [4:0]   sdp_waddr_i,
  input  logic [31:0]  sdp_wdata_i,
  input  logic         sdp_re_i,
  input  logic [4:0]   sdp_raddr_i,
  output logic [31:0]  sdp_rdata0_o,
  output logic [31:0]  sdp_rdata1_o,
  output logic [31:0]  sdp_rdata2_o,

  input  logic         tdp_a_en_i,
  input  logic         tdp_a_we_i,
  input  logic [3:0]   tdp_a_strb_i,
  input  logic [4:0]   tdp_a_addr_i,
  input  logic [31:0]  tdp_a_wdata_i,
  output logic [31:0]  tdp_a_rdata1_o,
  output logic [31:0]  tdp_a_rdata2_o,
  input  logic         tdp_b_en_i,
  input  logic         tdp_b_we_i,
  input  logic [3:0]   tdp_b_strb_i,
  input  logic [4:0]   tdp_b_addr_i,
  input  logic [31:0]  tdp_b_wdata_i,
  output logic [31:0]  tdp_b_rdata1_o,
  output logic [31:0]  tdp_b_rdata2_o,

  input  logic         mixed_n_en_i,
  input  logic         mixed_n_we_i,
  input  logic [3:0]   mixed_n_strb_i,
  input  logic [5:0]   mixed_n_addr_i,
  input  logic [31:0]  mixed_n_wdata_i,
  output logic [31:0]  mixed_n_rdata1_o,
  output logic [31:0]  mixed_n_rdata2_o,
  input  logic         mixed_w_en_i,
  input  logic         mixed_w_we_i,
  input  logic [15:0]  mixed_w_strb_i,
  input  logic [3:0]   mixed_w_addr_i,
  input  logic [127:0] mixed_w_wdata_i,
  output logic [127:0] mixed_w_rdata1_o,
  output logic [127:0] mixed_w_rdata2_o
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

  gs_ram_sdp #(.Width(32), .Depth(32), .ByteBits(8), .Latency(0), .Style("distributed")) u_sdp0 (
    .clk_i, .we_i(sdp_we_i), .wstrb_i(sdp_wstrb_i), .waddr_i(sdp_waddr_i), .wdata_i(sdp_wdata_i),
    .re_i(sdp_re_i), .raddr_i(sdp_raddr_i), .rdata_o(sdp_rdata0_o)
  );
  gs_ram_sdp #(.Width(32), .Depth(32), .ByteBits(8), .Latency(1)) u_sdp1 (
    .clk_i, .we_i(sdp_we_i), .wstrb_i(sdp_wstrb_i), .waddr_i(sdp_waddr_i), .wdata_i(sdp_wdata_i),
    .re_i(sdp_re_i), .raddr_i(sdp_raddr_i), .rdata_o(sdp_rdata1_o)
  );
  gs_ram_sdp #(.Width(32), .Depth(32), .ByteBits(8), .Latency(2), .Style("block")) u_sdp2 (
    .clk_i, .we_i(sdp_we_i), .wstrb_i(sdp_wstrb_i), .waddr_i(sdp_waddr_i), .wdata_i(sdp_wdata_i),
    .re_i(sdp_re_i), .raddr_i(sdp_raddr_i), .rdata_o(sdp_rdata2_o)
  );

  for (genvar latency = 1; latency <= 2; latency++) begin : gen_latency
    logic [31:0] a_rdata, b_rdata, n_rdata;
    logic [127:0] w_rdata;

    gs_ram_tdp #(.Width(32), .Depth(32), .ByteBits(8), .Latency(latency)) u_tdp (
      .clk_i,
      .a_en_i(tdp_a_en_i), .a_we_i(tdp_a_we_i), .a_strb_i(tdp_a_strb_i), .a_addr_i(tdp_a_addr_i),
      .a_wdata_i(tdp_a_wdata_i), .a_rdata_o(a_rdata),
      .b_en_i(tdp_b_en_i), .b_we_i(tdp_b_we_i), .b_strb_i(tdp_b_strb_i), .b_addr_i(tdp_b_addr_i),
      .b_wdata_i(tdp_b_wdata_i), .b_rdata_o(b_rdata)
    );

    gs_ram_mixed #(.WideDepth(16), .Latency(latency)) u_mixed (
      .clk_i,
      .n_en_i(mixed_n_en_i), .n_we_i(mixed_n_we_i), .n_strb_i(mixed_n_strb_i), .n_addr_i(mixed_n_addr_i),
      .n_wdata_i(mixed_n_wdata_i), .n_rdata_o(n_rdata),
      .w_en_i(mixed_w_en_i), .w_we_i(mixed_w_we_i), .w_strb_i(mixed_w_strb_i), .w_addr_i(mixed_w_addr_i),
      .w_wdata_i(mixed_w_wdata_i), .w_rdata_o(w_rdata)
    );
  end

  assign tdp_a_rdata1_o   = gen_latency[1].a_rdata;
  assign tdp_a_rdata2_o   = gen_latency[2].a_rdata;
  assign tdp_b_rdata1_o   = gen_latency[1].b_rdata;
  assign tdp_b_rdata2_o   = gen_latency[2].b_rdata;
  assign mixed_n_rdata1_o = gen_latency[1].n_rdata;
  assign mixed_n_rdata2_o = gen_latency[2].n_rdata;
  assign mixed_w_rdata1_o = gen_latency[1].w_rdata;
  assign mixed_w_rdata2_o = gen_latency[2].w_rdata;
endmodule
