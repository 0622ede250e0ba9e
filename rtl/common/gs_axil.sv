// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Registers behind AXI4-Lite: 64 words of 32 bits, one access of each kind at a time.
///
/// Whoever has the registers says in the cycle of an access whether there is such a word. What there is not, and a
/// write of less than a word, is answered with SLVERR and does nothing.
module gs_axil (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        s_axil_awvalid_i,
  output logic        s_axil_awready_o,
  input  logic [7:0]  s_axil_awaddr_i,
  input  logic        s_axil_wvalid_i,
  output logic        s_axil_wready_o,
  input  logic [31:0] s_axil_wdata_i,
  input  logic [3:0]  s_axil_wstrb_i,
  output logic        s_axil_bvalid_o,
  input  logic        s_axil_bready_i,
  output logic [1:0]  s_axil_bresp_o,
  input  logic        s_axil_arvalid_i,
  output logic        s_axil_arready_o,
  input  logic [7:0]  s_axil_araddr_i,
  output logic        s_axil_rvalid_o,
  input  logic        s_axil_rready_i,
  output logic [31:0] s_axil_rdata_o,
  output logic [1:0]  s_axil_rresp_o,
  /// a word is written, which is for one cycle; whether the word of that number can be
  output logic        write_o,
  output logic [5:0]  write_word_o,
  output logic [31:0] write_data_o,
  input  logic        write_ok_i,
  /// a word is read, for one cycle, if there is one: what stands at its number, and whether there is one
  output logic        read_o,
  output logic [5:0]  read_word_o,
  input  logic [31:0] read_data_i,
  input  logic        read_ok_i
);
  localparam logic [1:0] Okay = 2'b00, SlaveError = 2'b10;

  logic writes, bvalid_q, rvalid_q;
  logic [1:0] bresp_q, rresp_q;
  logic [31:0] rdata_q;

  assign writes           = s_axil_awvalid_i && s_axil_wvalid_i && !bvalid_q;
  assign write_o          = writes && write_ok_i && s_axil_wstrb_i == '1;
  assign write_word_o     = s_axil_awaddr_i[7:2];
  assign write_data_o     = s_axil_wdata_i;
  assign s_axil_awready_o = writes;
  assign s_axil_wready_o  = writes;
  assign s_axil_bvalid_o  = bvalid_q;
  assign s_axil_bresp_o   = bresp_q;

  assign read_o           = s_axil_arvalid_i && !rvalid_q;
  assign read_word_o      = s_axil_araddr_i[7:2];
  assign s_axil_arready_o = read_o;
  assign s_axil_rvalid_o  = rvalid_q;
  assign s_axil_rdata_o   = rdata_q;
  assign s_axil_rresp_o   = rresp_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      bvalid_q <= 1'b0;
      rvalid_q <= 1'b0;
    end else begin
      bvalid_q <= writes || (bvalid_q && !s_axil_bready_i);
      rvalid_q <= read_o || (rvalid_q && !s_axil_rready_i);
    end
    if (writes) bresp_q <= write_o ? Okay : SlaveError;
    if (read_o) begin
      rresp_q <= read_ok_i ? Okay : SlaveError;
      rdata_q <= read_data_i;
    end
  end

  logic unused;
  assign unused = ^{s_axil_awaddr_i[1:0], s_axil_araddr_i[1:0]};

  `GS_ASSERT_HOLD(what_is_read_is_stable_while_it_waits, s_axil_rvalid_o, s_axil_rready_i,
                  {s_axil_rdata_o, s_axil_rresp_o})
endmodule
