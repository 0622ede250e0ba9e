// SPDX-License-Identifier: Apache-2.0

/// A board without its tiles and its memory: network, control unit, idle detection, host port, streaming ports.
///
///     exits of the mesh <=> gs_board_network <=> links
///                            ^      ^      ^
///              gs_board_control     |      gs_board_streams <=> kernels; gs_board_match
///                   |         gs_host_port <=> host
///                   |
///     idle detection, a slot for each job => tiles
///
/// After reset the board knows only its number; all settings arrive in packets to its control unit. Ports of the
/// switch: exits of the mesh from 0, then links, then local ports (board_port). Without streaming ports (stream.ports)
/// gs_board_streams and its port of the switch are absent; so is gs_board_match without match engines at the board
/// (match.on_board).
module gs_board_fabric
  import gs_board_pkg::*;
  import gs_idle_pkg::*;
  import gs_multicast_pkg::*;
  import gs_switch_pkg::*;
  import gossamer_pkg::*;
#(
  /// links, 1 to 8
  parameter  int unsigned Links   = 4,
  /// job slots, 1 to 16
  parameter  int unsigned Jobs    = 1,
  /// 1: multicast routers at exits, links and host
  parameter  bit          Multicast = 1'b1,
  /// log2 of the routing table's entries
  parameter  int unsigned TableW  = SwitchTableBits,
  /// log2 of the beats in each channel's cache of records
  parameter  int unsigned CacheW  = 9,
  /// sizes of the links
  parameter  gs_link_pkg::shape_t Shape = gs_link_pkg::DefaultShape,
  localparam int unsigned Exits   = RouterMeshPorts,
  localparam int unsigned Routers = Exits + Links + 1,
  localparam int unsigned TagW    = $clog2(Routers) + 4 + 1 + SwitchVcBits
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic      [11:0]          board_i,
  /// the switch's table has been cleared after reset
  output logic                      ready_o,
  // Tiles, as at gs_mesh_tile: their states one cycle late, their commands one cycle early
  input  idle_status_t  [Tiles-1:0] status_i,
  /// a thread of this tile is started
  input  logic      [Tiles-1:0]     started_i,
  output idle_command_t [Tiles-1:0] command_o,
  output logic      [Tiles-1:0][4:0]  job_o,
  /// address to which the tile reports
  output logic      [Tiles-1:0][31:0] host_o,
  output gs_address_pkg::cluster_t  cluster_o,
  // Debug buses of the tiles: to a tile, valid only while it is ready; from a tile
  output logic      [Tiles-1:0]     debug_in_valid_o,
  output logic      [7:0]           debug_in_data_o,
  input  logic      [Tiles-1:0]     debug_in_ready_i,
  input  logic      [Tiles-1:0]     debug_out_valid_i,
  input  logic      [7:0]           debug_out_data_i[Tiles],
  output logic      [Tiles-1:0]     debug_out_ready_o,
  // Exits of the mesh
  input  logic      [3:0]           mesh_in_valid_i[Exits],
  input  flit_t                     mesh_in_i[Exits],
  output logic      [3:0]           mesh_in_credit_o[Exits],
  output logic      [3:0]           mesh_out_valid_o[Exits],
  output flit_t                     mesh_out_o[Exits],
  input  logic      [3:0]           mesh_out_credit_i[Exits],
  // Host, one bit per virtual network. In: valid, at most one bit, only if it is ready. Out: a flit is valid at most
  // one cycle after its network was ready; all outputs are registered
  input  logic      [3:0]           host_in_valid_i,
  output logic      [3:0]           host_in_ready_o,
  input  flit_t                     host_in_i,
  output logic      [3:0]           host_out_valid_o,
  input  logic      [3:0]           host_out_ready_i,
  output flit_t                     host_out_o,
  // Kernels of the streaming ports, as in gs_stream_endpoint; without streaming ports inputs are unused
  input  logic [StreamLanes-1:0]    send_open_valid_i,
  output logic [StreamLanes-1:0]    send_open_ready_o,
  input  gs_stream_pkg::send_open_t [StreamLanes-1:0] send_open_i,
  input  logic [StreamLanes-1:0]    s_axis_tvalid_i,
  output logic [StreamLanes-1:0]    s_axis_tready_o,
  input  logic [StreamLanes-1:0][8*StreamWidthBytes-1:0] s_axis_tdata_i,
  input  logic [StreamLanes-1:0]    recv_open_valid_i,
  output logic [StreamLanes-1:0]    recv_open_ready_o,
  input  gs_stream_pkg::recv_open_t [StreamLanes-1:0] recv_open_i,
  output logic [StreamLanes-1:0]    m_axis_tvalid_o,
  input  logic [StreamLanes-1:0]    m_axis_tready_i,
  output logic [StreamLanes-1:0][8*StreamWidthBytes-1:0] m_axis_tdata_o,
  output logic [StreamLanes-1:0][StreamWidthBytes-1:0] m_axis_tkeep_o,
  output logic [StreamLanes-1:0]    m_axis_tlast_o,
  // Kernels of the blocks of collectives
  input  collective_in_t  [CollectiveLanes-1:0] collective_i,
  output collective_out_t [CollectiveLanes-1:0] collective_o,
  // MACs of the links: beats of links.datapath_bytes bytes, the first byte in the low bits
  output logic      [Links-1:0]     mac_tx_valid_o,
  input  logic      [Links-1:0]     mac_tx_ready_i,
  output logic      [8*LinksDatapathBytes-1:0] mac_tx_data_o[Links],
  output logic      [LinksDatapathBytes-1:0] mac_tx_keep_o[Links],
  output logic      [Links-1:0]     mac_tx_last_o,
  input  logic      [Links-1:0]     mac_rx_valid_i,
  input  logic      [8*LinksDatapathBytes-1:0] mac_rx_data_i[Links],
  input  logic      [LinksDatapathBytes-1:0] mac_rx_keep_i[Links],
  input  logic      [Links-1:0]     mac_rx_last_i,
  input  logic      [Links-1:0]     mac_rx_error_i,
  output logic      [Links-1:0]     up_o,
  output gs_link_pkg::counters_t    counters_o[Links],
  // Records: a read of a beat, answered in any order
  output logic                      req_valid_o,
  input  logic                      req_ready_i,
  output logic      [BeatAddrW-1:0] req_beat_o,
  output logic      [TagW-1:0]      req_tag_o,
  input  logic                      rsp_valid_i,
  output logic                      rsp_ready_o,
  input  logic      [TagW-1:0]      rsp_tag_i,
  input  beat_t                     rsp_i,
  // For observation: no packet is in the switch
  output logic                      empty_o
);
  localparam int unsigned Ports = Exits + Links + LocalPorts;
  // Local ports, and their numbers at the switch
  localparam int unsigned Control = 32'(BoardPortControl);
  localparam int unsigned Host = 32'(BoardPortHost);
  localparam int unsigned ControlPort = Exits + Links + Control;
  localparam int unsigned HostPort = Exits + Links + Host;
  // Switch port that all match engines at the board share
  localparam int unsigned Matches = (MatchOnBoard > 0) ? 1 : 0;

  channels_t local_in_valid[LocalPorts], local_in_credit[LocalPorts];
  channels_t local_out_valid[LocalPorts], local_out_credit[LocalPorts];
  flit_t local_in[LocalPorts], local_out[LocalPorts];
  gs_link_pkg::events_t events[Links];
  idle_status_t [Jobs-1:0][Routers-1:0] routers;
  idle_entry_t [Jobs-1:0][Links-1:0] entry;
  logic [Ports-1:0] unroutable;
  logic [31:0] unroutable_dest[Ports];
  logic [Ports-1:0] unroutable_message;
  logic [Ports-1:0][4:0] unroutable_job;
  gs_multicast_pkg::router_faults_t [Routers-1:0] bad;

  // Settings of the control unit
  logic table_we, flush;
  logic [TableW-1:0] table_index;
  switch_entry_t table_entry;
  logic [12:0] host_here;
  logic [7:0] burst;
  job_slot_t [Jobs-1:0] slot;
  logic [Tiles-1:0] expected;
  logic [Jobs-1:0] clear;
  logic [Tiles-1:0] clear_tiles;
  idle_drop_t [Tiles-1:0][1:0] drops;
  logic [Ports-1:0] entered;
  logic [2:0] in_flight;
  logic [Links-1:0] cut;

  // Streaming ports
  localparam int unsigned Streams = (StreamPorts > 0) ? 1 : 0;
  logic [StreamEndLanes-1:0] clear_streams;
  logic [StreamEndLanes-1:0][4:0] stream_job;
  register_request_t register_request;
  register_response_t register_response;
  logic [31:0] stream_drops;
  logic [1:0] stream_event, stream_reported;
  logic [1:0][63:0] stream_value;

  // Match engines at the board
  register_response_t stream_response, match_response;
  logic [31:0] match_drops;
  logic match_event, match_reported;
  logic [63:0] match_value;
  idle_status_t [Jobs-1:0] match_status;
  assign register_response = stream_response | match_response;

  // Idle detection, by job slot
  logic [Jobs-1:0][4:0] job;
  logic [31:0] wave;
  logic [Jobs-1:0] job_wave, hold, open, host_wave, idle_valid, idle_tree_ready, idle_dropped, out_valid, out_ready;
  logic [Jobs-1:0][1:0] host_epoch;
  idle_status_t [Jobs-1:0] host_status;
  idle_command_t [Jobs-1:0][Tiles-1:0] command;
  control_packet_t packet;
  flit_t out[Jobs];
  always_comb begin
    wave      = '0;
    command_o = '0;
    for (int unsigned j = 0; j < Jobs; j++) begin
      job[j] = slot[j].job;
      if (slot[j].valid && job_wave[j]) wave[slot[j].job] = 1'b1;
      // A tile is in at most one job slot.
      command_o |= command[j];
    end
    for (int unsigned t = 0; t < Tiles; t++) begin
      command_o[t].clear = clear_tiles[t];
      drops[t]           = status_i[t].drops;
    end
  end

  gs_board_network #(
    .Links  (Links),
    .Locals (LocalPorts),
    .Keyed  (1),
    .FirstKeyed(Host),
    .Streams('{first: 8'(Exits + Links + 32'(BoardPortStream)), count: 8'(Streams)}),
    .StreamBits(8),
    .Matches('{first: 8'(Exits + Links + MatchPort), count: 8'(Matches)}),
    .Multicast(Multicast),
    .Control('{first: 8'(ControlPort), count: 8'd1}),
    .Jobs   (Jobs),
    .TableW (TableW),
    .CacheW (CacheW),
    .Shape  (Shape)
  ) u_network (
    .clk_i,
    .rst_ni,
    .board_i,
    .job_i             (job),
    .wave_i            (wave),
    .clear_i           (clear),
    .host_i            (host_here),
    .burst_i           (burst),
    .flush_i           (flush),
    .cut_i             (cut),
    .ready_o,
    .table_we_i        (table_we),
    .table_index_i     (table_index),
    .table_entry_i     (table_entry),
    .mesh_in_valid_i,
    .mesh_in_i,
    .mesh_in_credit_o,
    .mesh_out_valid_o,
    .mesh_out_o,
    .mesh_out_credit_i,
    .local_in_valid_i  (local_in_valid),
    .local_in_i        (local_in),
    .local_in_credit_o (local_in_credit),
    .local_out_valid_o (local_out_valid),
    .local_out_o       (local_out),
    .local_out_credit_i(local_out_credit),
    .mac_tx_valid_o,
    .mac_tx_ready_i,
    .mac_tx_data_o,
    .mac_tx_keep_o,
    .mac_tx_last_o,
    .mac_rx_valid_i,
    .mac_rx_data_i,
    .mac_rx_keep_i,
    .mac_rx_last_i,
    .mac_rx_error_i,
    .up_o,
    .events_o          (events),
    .counters_o,
    .req_valid_o,
    .req_ready_i,
    .req_beat_o,
    .req_tag_o,
    .rsp_valid_i,
    .rsp_ready_o,
    .rsp_tag_i,
    .rsp_i,
    .idle_o            (routers),
    .entry_o           (entry),
    .unroutable_o      (unroutable),
    .unroutable_dest_o (unroutable_dest),
    .unroutable_message_o(unroutable_message),
    .unroutable_job_o  (unroutable_job),
    .bad_o             (bad),
    .entered_o         (entered),
    .in_flight_o       (in_flight),
    .empty_o
  );

  logic [31:0] host_sent, host_received;
  logic stray;
  logic [4:0] stray_job;
  gs_board_control #(
    .Links   (Links),
    .Jobs    (Jobs),
    .TableW  (TableW),
    .Ports   (Ports),
    .Routers (Routers),
    .HostPort(HostPort),
    .Multicast(Multicast)
  ) u_control (
    .clk_i,
    .rst_ni,
    .board_i,
    .in_valid_i       (local_out_valid[Control]),
    .in_i             (local_out[Control]),
    .in_credit_o      (local_out_credit[Control]),
    .out_valid_o      (local_in_valid[Control]),
    .out_o            (local_in[Control]),
    .out_credit_i     (local_in_credit[Control]),
    .table_ready_i    (ready_o),
    .table_we_o       (table_we),
    .table_index_o    (table_index),
    .table_entry_o    (table_entry),
    .host_here_o      (host_here),
    .slot_o           (slot),
    .clear_o          (clear),
    .clear_tiles_o    (clear_tiles),
    .job_o,
    .host_o,
    .clear_streams_o  (clear_streams),
    .stream_job_o     (stream_job),
    .cut_o            (cut),
    .register_o       (register_request),
    .register_i       (register_response),
    .cluster_o,
    .burst_o          (burst),
    .flush_o          (flush),
    .expected_o       (expected),
    .debug_in_valid_o,
    .debug_in_data_o,
    .debug_in_ready_i,
    .debug_out_valid_i,
    .debug_out_data_i,
    .debug_out_ready_o,
    .idle_valid_o     (idle_valid),
    .idle_packet_o    (packet),
    .idle_tree_ready_i(idle_tree_ready),
    .idle_dropped_i   (idle_dropped),
    .idle_out_valid_i (out_valid),
    .idle_out_ready_o (out_ready),
    .idle_out_i       (out),
    .events_i         (events),
    .links_i          (counters_o),
    .up_i             (up_o),
    .unroutable_i     (unroutable),
    .unroutable_dest_i(unroutable_dest),
    .bad_i            (bad),
    .host_sent_i      (host_sent),
    .host_received_i  (host_received),
    .stray_i          (stray),
    .stray_job_i      (stray_job),
    .drops_i          (drops),
    .stream_drops_i   (stream_drops),
    .stream_i         (stream_event),
    .stream_value_i   (stream_value),
    .stream_reported_o(stream_reported),
    .match_drops_i    (match_drops),
    .match_i          (match_event),
    .match_value_i    (match_value),
    .match_reported_o (match_reported),
    .entered_i        (entered),
    .in_flight_i      (in_flight)
  );

  // Messages that the switch, the streaming ports or the match engines drop
  logic [Ports+Streams+Matches-1:0] lost;
  logic [Ports+Streams+Matches-1:0][4:0] lost_job;
  assign lost[Ports-1:0]     = unroutable_message;
  assign lost_job[Ports-1:0] = unroutable_job;
  if (StreamPorts > 0) begin : gen_streams
    localparam int unsigned Stream = 32'(BoardPortStream);
    gs_board_streams u_streams (
      .clk_i,
      .rst_ni,
      .board_i,
      .job_i           (stream_job),
      .clear_i         (clear_streams),
      .sw_valid_i      (local_out_valid[Stream]),
      .sw_i            (local_out[Stream]),
      .sw_credit_o     (local_out_credit[Stream]),
      .sw_valid_o      (local_in_valid[Stream]),
      .sw_o            (local_in[Stream]),
      .sw_credit_i     (local_in_credit[Stream]),
      .register_i      (register_request),
      .register_o      (stream_response),
      .drops_o         (stream_drops),
      .event_o         (stream_event),
      .event_value_o   (stream_value),
      .event_reported_i(stream_reported),
      .lost_o          (lost[Ports]),
      .lost_job_o      (lost_job[Ports]),
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
      .collective_i,
      .collective_o
    );
  end else begin : gen_no_streams
    assign collective_o = '0;
    assign {send_open_ready_o, s_axis_tready_o, recv_open_ready_o}                  = '0;
    assign {m_axis_tvalid_o, m_axis_tdata_o, m_axis_tkeep_o, m_axis_tlast_o}        = '0;
    assign {stream_drops, stream_event, stream_value, stream_response}              = '0;
    logic unused_streams;
    assign unused_streams = ^{send_open_valid_i, send_open_i, s_axis_tvalid_i, s_axis_tdata_i, recv_open_valid_i,
                              recv_open_i, m_axis_tready_i, collective_i, clear_streams, stream_job, register_request,
                              stream_reported};
  end

  if (MatchOnBoard > 0) begin : gen_match
    gs_board_match #(.Jobs(Jobs)) u_match (
      .clk_i,
      .rst_ni,
      .board_i,
      .job_i           (job_o),
      .clear_tiles_i   (clear_tiles),
      .slot_i          (slot),
      .epoch_i         (host_epoch),
      .wave_i          (host_wave),
      .status_o        (match_status),
      .sw_valid_i      (local_out_valid[MatchPort]),
      .sw_i            (local_out[MatchPort]),
      .sw_credit_o     (local_out_credit[MatchPort]),
      .sw_valid_o      (local_in_valid[MatchPort]),
      .sw_o            (local_in[MatchPort]),
      .sw_credit_i     (local_in_credit[MatchPort]),
      .register_i      (register_request),
      .register_o      (match_response),
      .drops_o         (match_drops),
      .event_o         (match_event),
      .event_value_o   (match_value),
      .event_reported_i(match_reported),
      .lost_o          (lost[Ports+Streams]),
      .lost_job_o      (lost_job[Ports+Streams])
    );
  end else begin : gen_no_match
    assign {match_response, match_drops, match_event, match_value, match_status} = '0;
    logic unused_match;
    assign unused_match = ^{match_reported, match_status};
  end

  // No barrier is released before each tile whose threads the host starts has had a started thread.
  logic [Tiles-1:0] unused_begun, begun;
  gs_idle_begun #(
    .Tiles(Tiles)
  ) u_begun (
    .clk_i,
    .rst_ni,
    .started_i,
    .expected_i(expected),
    .begun_o   (unused_begun),
    .done_o    (begun)
  );

  gs_host_port #(.Jobs(Jobs)) u_host (
    .clk_i,
    .rst_ni,
    .slot_i      (slot),
    .clear_i     (clear),
    .hold_o      (hold),
    .open_i      (open),
    .epoch_i     (host_epoch),
    .wave_i      (host_wave),
    .status_o    (host_status),
    .host_in_valid_i,
    .host_in_ready_o,
    .host_in_i,
    .host_out_valid_o,
    .host_out_ready_i,
    .host_out_o,
    .out_valid_o (local_in_valid[Host]),
    .out_o       (local_in[Host]),
    .out_credit_i(local_in_credit[Host]),
    .in_valid_i  (local_out_valid[Host]),
    .in_i        (local_out[Host]),
    .in_credit_o (local_out_credit[Host]),
    .sent_o      (host_sent),
    .received_o  (host_received),
    .stray_o     (stray),
    .stray_job_o (stray_job)
  );

  for (genvar j = 0; j < Jobs; j++) begin : gen_job
    // The match engines of the job are one more endpoint of its idle detection.
    idle_status_t [Routers+Matches-1:0] endpoints;
    if (MatchOnBoard > 0) begin : gen_match
      assign endpoints = {match_status[j], routers[j]};
    end else begin : gen_no_match
      assign endpoints = routers[j];
    end
    gs_board_job #(
      .Routers(Routers + Matches),
      .Links  (Links),
      .Ports  (Ports + Streams + Matches)
    ) u_job (
      .clk_i,
      .rst_ni,
      .board_i,
      .slot_i        (slot[j]),
      .clear_i       (clear[j]),
      .status_i,
      .begun_i       (begun),
      .command_o     (command[j]),
      .routers_i     (endpoints),
      .wave_o        (job_wave[j]),
      .entry_i       (entry[j]),
      .lost_i        (lost),
      .lost_job_i    (lost_job),
      .host_i        (host_status[j]),
      .hold_i        (hold[j]),
      .open_o        (open[j]),
      .host_epoch_o  (host_epoch[j]),
      .host_wave_o   (host_wave[j]),
      .packet_valid_i(idle_valid[j]),
      .packet_i      (packet),
      .tree_ready_o  (idle_tree_ready[j]),
      .dropped_o     (idle_dropped[j]),
      .out_valid_o   (out_valid[j]),
      .out_ready_i   (out_ready[j]),
      .out_o         (out[j])
    );
  end

  logic unused;
  assign unused = ^unused_begun;
endmodule
