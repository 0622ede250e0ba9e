// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// AXI4-Lite access to 64 registers of 32 bits, one read and one write at a time.
///
/// The parent stores the registers, and reports in the cycle of an access whether the word exists. An access to a word
/// that does not exist and a write of less than a word return SLVERR and have no effect.
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
  /// a pulse of one cycle: a word is written; write_ok_i is 1 if the word can be written
  output logic        write_o,
  output logic [5:0]  write_word_o,
  output logic [31:0] write_data_o,
  input  logic        write_ok_i,
  /// a pulse of one cycle: a word is read; its value, and whether it exists
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

  `GS_ASSERT_HOLD(read_data_is_stable_while_it_waits, s_axil_rvalid_o, s_axil_rready_i,
                  {s_axil_rdata_o, s_axil_rresp_o})
endmodule
