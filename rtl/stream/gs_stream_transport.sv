// SPDX-License-Identifier: Apache-2.0

/// Streaming ports, the board switch, and the adapters between switch and links: SMI's transport without the links.
///
///     kernels <=> endpoint <=> switch <=> flits of the links
///                                ^
///                                +=> the integrator's own flits, if Own is 1: messages to tiles of column 0
module gs_stream_transport
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
  import gs_switch_pkg::*;
#(
  /// links; numbers of streaming ports, log2; 1: the switch has the integrator's own port
  parameter  int unsigned Links    = 2,
  parameter  int unsigned PortBits = 1,
  parameter  bit          Own      = 1,
  /// as in gs_stream_endpoint
  parameter  int unsigned Bytes    = 8,
  parameter  int unsigned Send     = 64,
  parameter  int unsigned Depth    = 1024,
  parameter  int unsigned Packet   = 30,
  parameter  int unsigned Ranks    = 16,
  parameter  int unsigned Linger   = 16,
  /// log2 of the routing table's entries
  parameter  int unsigned TableW   = 6,
  /// streaming ports, if fewer than 2^PortBits
  parameter  int unsigned Ports    = 1 << PortBits,
  /// as in gs_stream_endpoint
  parameter  logic [Ports-1:0][4:0] Widths = {Ports{5'(Bytes)}},
  parameter  logic [Ports-1:0][7:0] Numbers = (8 * Ports)'(numbers_from(0)),
  parameter  logic [Ports-1:0]      Sends = '1,
  parameter  logic [Ports-1:0]      Receives = '1,
  parameter  int unsigned VoqDepth    = 0,
  parameter  logic [Ports-1:0][15:0] Depths = {Ports{16'(Depth)}},
  parameter  logic [Ports-1:0][15:0] SendDepths = {Ports{16'(Send)}},
  parameter  logic [Ports-1:0][15:0] VoqDepths = {Ports{16'(VoqDepth)}},
  parameter  logic [Ports-1:0]      Circuits = '0,
  localparam int unsigned Ends     = 32'(Own) + 1 + Links
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [11:0]                   board_i,
  input  logic [4:0]                    job_i,
  input  logic [7:0]                    burst_i,
  // Routing table; ready_o is set once the table has been cleared after reset
  output logic                          ready_o,
  input  logic                          table_we_i,
  input  logic [TableW-1:0]             table_index_i,
  input  switch_entry_t                 table_entry_i,
  // Kernels: as in gs_stream_endpoint
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
  // By port: the collective that uses it, else 0
  input  watch_t [Ports-1:0]            watch_i,
  output logic                          report_valid_o,
  input  logic                          report_ready_i,
  output stream_report_t                report_o,
  output logic                          dropped_o,
  // By port: a packet with elements was sent; one was received
  output logic [Ports-1:0]              sent_o,
  output logic [Ports-1:0]              received_o,
  // The integrator's own port of the switch
  input  channels_t                     own_valid_i,
  input  flit_t                         own_i,
  output channels_t                     own_credit_o,
  output channels_t                     own_valid_o,
  output flit_t                         own_o,
  input  channels_t                     own_credit_i,
  // Links: flits by channel
  output channels_t                     tx_valid_o[Links],
  input  channels_t                     tx_ready_i[Links],
  output flit_t                         tx_flit_o[Links],
  input  channels_t                     rx_valid_i[Links],
  output channels_t                     rx_ready_o[Links],
  input  flit_t                         rx_flit_i[Links],
  // Unroutable packets, by port of the switch: own, streams, links; whether the switch is empty
  output logic [Ends-1:0]               unroutable_o,
  output logic [31:0]                   unroutable_dest_o[Ends],
  output logic                          empty_o
);
  // Ports of the switch
  localparam int unsigned Missing = Own ? 0 : 1;
  localparam int unsigned Streams = 32'(StreamPortStream) - Missing;
  localparam int unsigned First = 32'(StreamPortLink) - Missing;
  localparam home_t Home = '{
    mesh:    '{first: 8'd0, count: 8'(Own)},
    stream:  '{first: 8'(Streams), count: 8'd1},
    link:    '{first: 8'(First), count: 8'(Links)},
    default: '0
  };
  localparam logic [Ends-1:0] Virtual = Ends'(((64'd1 << Links) - 64'd1) << First);

  channels_t in_valid[Ends], in_credit[Ends], out_valid[Ends], out_credit[Ends];
  flit_t in[Ends];
  flit_t out[Ends];

  if (Own) begin : gen_own
    assign in_valid[0] = own_valid_i;
    assign in[0] = own_i;
    assign own_credit_o = in_credit[0];
    assign own_valid_o = out_valid[0];
    assign own_o = out[0];
    assign out_credit[0] = own_credit_i;
  end else begin : gen_not_own
    logic unused_own;
    assign unused_own = ^{own_valid_i, own_i, own_credit_i};
    assign own_credit_o = '0;
    assign own_valid_o = '0;
    assign own_o = '0;
  end

  gs_stream_endpoint #(
    .Ports     (Ports),
    .Bytes     (Bytes),
    .Send      (Send),
    .Depth     (Depth),
    .Packet    (Packet),
    .Ranks     (Ranks),
    .Linger    (Linger),
    .Widths    (Widths),
    .Numbers   (Numbers),
    .Sends     (Sends),
    .Receives  (Receives),
    .VoqDepth  (VoqDepth),
    .Depths    (Depths),
    .SendDepths(SendDepths),
    .VoqDepths (VoqDepths),
    .Circuits  (Circuits)
  ) u_streams (
    .clk_i,
    .rst_ni,
    .board_i,
    .job_i            ({Ports{job_i}}),
    .sw_valid_i       (out_valid[Streams]),
    .sw_i             (out[Streams]),
    .sw_credit_o      (out_credit[Streams]),
    .sw_valid_o       (in_valid[Streams]),
    .sw_o             (in[Streams]),
    .sw_credit_i      (in_credit[Streams]),
    .send_bind_valid_i,
    .send_bind_i,
    .recv_bind_valid_i,
    .recv_bind_i,
    .send_open_valid_i,
    .send_open_ready_o,
    .send_open_i,
    .s_axis_tvalid_i,
    .s_axis_tready_o,
    .s_axis_tdata_i,
    .recv_open_valid_i,
    .recv_open_ready_o,
    .recv_open_i,
    .m_axis_tvalid_o,
    .m_axis_tready_i,
    .m_axis_tdata_o,
    .m_axis_tkeep_o,
    .m_axis_tlast_o,
    .watch_i,
    .report_valid_o,
    .report_ready_i,
    .report_o,
    .dropped_o,
    .sent_o,
    .received_o
  );

  for (genvar l = 0; l < Links; l++) begin : gen_link
    gs_link_ingress u_ingress (
      .clk_i,
      .rst_ni,
      .rx_valid_i  (rx_valid_i[l]),
      .rx_ready_o  (rx_ready_o[l]),
      .rx_flit_i   (rx_flit_i[l]),
      .out_valid_o (in_valid[First+l]),
      .out_o       (in[First+l]),
      .out_credit_i(in_credit[First+l])
    );
    logic unused_empty;
    gs_link_egress u_egress (
      .clk_i,
      .rst_ni,
      .in_valid_i (out_valid[First+l]),
      .in_i       (out[First+l]),
      .in_credit_o(out_credit[First+l]),
      .empty_o    (unused_empty),
      .tx_valid_o (tx_valid_o[l]),
      .tx_ready_i (tx_ready_i[l]),
      .tx_flit_o  (tx_flit_o[l])
    );
  end

  gs_switch #(
    .Ports     (Ends),
    .Virtual   (Virtual),
    .Home      (Home),
    .StreamBits(PortBits),
    .TableW    (TableW),
    .Circuits  (Circuits != '0)
  ) u_switch (
    .clk_i,
    .rst_ni,
    .board_i,
    .burst_i,
    .ready_o,
    .table_we_i,
    .table_index_i,
    .table_entry_i,
    .in_valid_i       (in_valid),
    .in_i             (in),
    .in_credit_o      (in_credit),
    .out_valid_o      (out_valid),
    .out_o            (out),
    .out_credit_i     (out_credit),
    .unroutable_o,
    .unroutable_dest_o,
    .unroutable_message_o(),
    .unroutable_job_o(),
    .empty_o
  );
endmodule
