// SPDX-License-Identifier: Apache-2.0

/// A board with streaming ports only: transport and links, as an SMI design without tiles needs it. With Own, the
/// switch has one more port, that of the mesh's first exit, for the integrator: it receives messages to tiles of column
/// 0.
///
///     kernels <=> endpoint <=> switch <=> links <=> MACs
///                                ^
///                                +=> the integrator's own flits
module gs_stream_board
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
  import gs_switch_pkg::*;
#(
  /// links; streaming ports, log2
  parameter  int unsigned         Links    = 2,
  parameter  int unsigned         PortBits = 1,
  /// 1: the switch has the integrator's own port
  parameter  bit                  Own      = 1,
  /// as in gs_stream_endpoint
  parameter  int unsigned         Bytes    = 8,
  parameter  int unsigned         Send     = 64,
  parameter  int unsigned         Depth    = 1024,
  parameter  int unsigned         Packet   = 30,
  parameter  int unsigned         Ranks    = 16,
  parameter  int unsigned         Linger   = 16,
  /// log2 of the routing table's entries
  parameter  int unsigned         TableW   = 6,
  parameter  gs_link_pkg::shape_t Shape    = gs_link_pkg::DefaultShape,
  /// streaming ports, if fewer than 2^PortBits
  parameter  int unsigned         Ports    = 1 << PortBits,
  /// as in gs_stream_endpoint
  parameter  logic [Ports-1:0][4:0] Widths = {Ports{5'(Bytes)}},
  parameter  logic [Ports-1:0][7:0] Numbers = (8 * Ports)'(numbers_from(0)),
  parameter  logic [Ports-1:0]      Sends = '1,
  parameter  logic [Ports-1:0]      Receives = '1,
  parameter  int unsigned         VoqDepth    = 0,
  parameter  logic [Ports-1:0][15:0] Depths = {Ports{16'(Depth)}},
  parameter  logic [Ports-1:0][15:0] SendDepths = {Ports{16'(Send)}},
  parameter  logic [Ports-1:0][15:0] VoqDepths = {Ports{16'(VoqDepth)}},
  parameter  logic [Ports-1:0]      Circuits = '0,
  localparam int unsigned         Ends     = 32'(Own) + 1 + Links
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
  // MACs of the links: words of 8 bytes, the first byte in the low bits
  output logic [Links-1:0]              mac_tx_valid_o,
  input  logic [Links-1:0]              mac_tx_ready_i,
  output logic [Links-1:0][63:0]        mac_tx_data_o,
  output logic [Links-1:0][7:0]         mac_tx_keep_o,
  output logic [Links-1:0]              mac_tx_last_o,
  input  logic [Links-1:0]              mac_rx_valid_i,
  input  logic [Links-1:0][63:0]        mac_rx_data_i,
  input  logic [Links-1:0][7:0]         mac_rx_keep_i,
  input  logic [Links-1:0]              mac_rx_last_i,
  input  logic [Links-1:0]              mac_rx_error_i,
  output logic [Links-1:0]              up_o,
  // Unroutable packets, by port of the switch: own, streams, links
  output logic [Ends-1:0]               unroutable_o,
  // A flit enters a link; a flit leaves a link. The switch is empty
  output logic [Links-1:0]              tx_fire_o,
  output logic [Links-1:0]              rx_fire_o,
  output logic                          empty_o
);
  channels_t tx_valid[Links], tx_ready[Links], rx_valid[Links], rx_ready[Links];
  flit_t tx[Links];
  flit_t rx[Links];
  logic [31:0] unused_dest[Ends];

  gs_stream_transport #(
    .Links     (Links),
    .PortBits  (PortBits),
    .Own       (Own),
    .Ports     (Ports),
    .Bytes     (Bytes),
    .Send      (Send),
    .Depth     (Depth),
    .Packet    (Packet),
    .Ranks     (Ranks),
    .Linger    (Linger),
    .TableW    (TableW),
    .Widths    (Widths),
    .Numbers   (Numbers),
    .Sends     (Sends),
    .Receives  (Receives),
    .VoqDepth  (VoqDepth),
    .Depths    (Depths),
    .SendDepths(SendDepths),
    .VoqDepths (VoqDepths),
    .Circuits  (Circuits)
  ) u_transport (
    .clk_i,
    .rst_ni,
    .board_i,
    .job_i,
    .burst_i,
    .ready_o,
    .table_we_i,
    .table_index_i,
    .table_entry_i,
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
    .received_o,
    .own_valid_i,
    .own_i,
    .own_credit_o,
    .own_valid_o,
    .own_o,
    .own_credit_i,
    .tx_valid_o       (tx_valid),
    .tx_ready_i       (tx_ready),
    .tx_flit_o        (tx),
    .rx_valid_i       (rx_valid),
    .rx_ready_o       (rx_ready),
    .rx_flit_i        (rx),
    .unroutable_o,
    .unroutable_dest_o(unused_dest),
    .empty_o
  );

  for (genvar l = 0; l < Links; l++) begin : gen_link
    gs_link_pkg::events_t unused_events;
    logic unused_idle;
    gs_link_pkg::counters_t unused_counters;
    assign tx_fire_o[l] = (tx_valid[l] & tx_ready[l]) != '0;
    assign rx_fire_o[l] = (rx_valid[l] & rx_ready[l]) != '0;
    gs_link #(
      .Shape(Shape),
      .Bytes(8)
    ) u_link (
      .clk_i,
      .rst_ni,
      .tx_valid_i    (tx_valid[l]),
      .tx_ready_o    (tx_ready[l]),
      .tx_flit_i     (tx[l]),
      .rx_valid_o    (rx_valid[l]),
      .rx_ready_i    (rx_ready[l]),
      .rx_flit_o     (rx[l]),
      .mac_tx_valid_o(mac_tx_valid_o[l]),
      .mac_tx_ready_i(mac_tx_ready_i[l]),
      .mac_tx_data_o (mac_tx_data_o[l]),
      .mac_tx_keep_o (mac_tx_keep_o[l]),
      .mac_tx_last_o (mac_tx_last_o[l]),
      .mac_rx_valid_i(mac_rx_valid_i[l]),
      .mac_rx_data_i (mac_rx_data_i[l]),
      .mac_rx_keep_i (mac_rx_keep_i[l]),
      .mac_rx_last_i (mac_rx_last_i[l]),
      .mac_rx_error_i(mac_rx_error_i[l]),
      .idle_o        (unused_idle),
      .up_o          (up_o[l]),
      .events_o      (unused_events),
      .counters_o    (unused_counters)
    );
  end
endmodule
