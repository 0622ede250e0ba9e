// SPDX-License-Identifier: Apache-2.0

/// The memories of rtl/common, one for each latency. Ports are named <block>_<port>.
module ram_top (
  input  logic         clk_i,
  input  logic         rst_ni,

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
  logic unused;
  assign unused = rst_ni;

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
