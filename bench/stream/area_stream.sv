// SPDX-License-Identifier: Apache-2.0

/// SMI's transport without the links themselves, which the paper leaves to its board support package: endpoint, board
/// switch, and what joins the switch with links. For its area.
module area_stream
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
  import gs_switch_pkg::*;
#(
  parameter  int unsigned Links    = 1,
  parameter  int unsigned PortBits = 0,
  localparam int unsigned Bytes    = 4,
  localparam int unsigned TableW   = 6,
  localparam int unsigned Ports    = 1 << PortBits,
  localparam int unsigned Ends     = 1 + Links
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [11:0]                   board_i,
  input  logic [7:0]                    burst_i,
  output logic                          ready_o,
  input  logic                          table_we_i,
  input  logic [TableW-1:0]             table_index_i,
  input  switch_entry_t                 table_entry_i,
  input  logic [Ports-1:0]              send_bind_valid_i,
  input  send_bind_t [Ports-1:0]        send_bind_i,
  input  logic [Ports-1:0]              recv_bind_valid_i,
  input  recv_bind_t [Ports-1:0]        recv_bind_i,
  input  logic [Ports-1:0]              send_open_valid_i,
  output logic [Ports-1:0]              send_open_ready_o,
  input  send_open_t [Ports-1:0]        send_open_i,
  input  logic [Ports-1:0]              s_axis_tvalid_i,
  output logic [Ports-1:0]              s_axis_tready_o,
  input  logic [Ports-1:0][8*Bytes-1:0] s_axis_tdata_i,
  input  logic [Ports-1:0]              recv_open_valid_i,
  output logic [Ports-1:0]              recv_open_ready_o,
  input  recv_open_t [Ports-1:0]        recv_open_i,
  output logic [Ports-1:0]              m_axis_tvalid_o,
  input  logic [Ports-1:0]              m_axis_tready_i,
  output logic [Ports-1:0][8*Bytes-1:0] m_axis_tdata_o,
  output logic [Ports-1:0][Bytes-1:0]   m_axis_tkeep_o,
  output logic [Ports-1:0]              m_axis_tlast_o,
  output logic                          report_valid_o,
  input  logic                          report_ready_i,
  output stream_report_t                report_o,
  output logic                          refused_o,
  output channels_t                     tx_valid_o[Links],
  input  channels_t                     tx_ready_i[Links],
  output flit_t                         tx_flit_o[Links],
  input  channels_t                     rx_valid_i[Links],
  output channels_t                     rx_ready_o[Links],
  input  flit_t                         rx_flit_i[Links],
  output logic [Ends-1:0]               nobody_o,
  output logic [31:0]                   nobody_dest_o[Ends],
  output logic                          empty_o
);
  localparam home_t Home = '{
    stream: '{first: 8'd0, count: 8'd1}, link: '{first: 8'd1, count: 8'(Links)}, default: '0
  };
  localparam logic [Ends-1:0] Virtual = Ends'(((64'd1 << Links) - 64'd1) << 1);
  channels_t in_valid[Ends], in_credit[Ends], out_valid[Ends], out_credit[Ends];
  flit_t in[Ends];
  flit_t out[Ends];

  gs_stream_endpoint #(.Ports(Ports), .Bytes(Bytes), .Depth(512), .Packet(30)) u_streams (
    .job_i      (5'd0),
    .sw_valid_i (out_valid[0]),
    .sw_i       (out[0]),
    .sw_credit_o(out_credit[0]),
    .sw_valid_o (in_valid[0]),
    .sw_o       (in[0]),
    .sw_credit_i(in_credit[0]),
    .*
  );
  for (genvar l = 0; l < Links; l++) begin : gen_link
    gs_link_ingress u_ingress (
      .clk_i,
      .rst_ni,
      .rx_valid_i  (rx_valid_i[l]),
      .rx_ready_o  (rx_ready_o[l]),
      .rx_flit_i   (rx_flit_i[l]),
      .out_valid_o (in_valid[1+l]),
      .out_o       (in[1+l]),
      .out_credit_i(in_credit[1+l])
    );
    gs_link_egress u_egress (
      .clk_i,
      .rst_ni,
      .in_valid_i (out_valid[1+l]),
      .in_i       (out[1+l]),
      .in_credit_o(out_credit[1+l]),
      .tx_valid_o (tx_valid_o[l]),
      .tx_ready_i (tx_ready_i[l]),
      .tx_flit_o  (tx_flit_o[l])
    );
  end
  gs_switch #(.Ports(Ends), .Virtual(Virtual), .Home(Home), .StreamBits(PortBits), .TableW(TableW)) u_switch (
    .in_valid_i  (in_valid),
    .in_i        (in),
    .in_credit_o (in_credit),
    .out_valid_o (out_valid),
    .out_o       (out),
    .out_credit_i(out_credit),
    .*
  );
endmodule
