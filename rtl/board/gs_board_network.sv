// SPDX-License-Identifier: Apache-2.0

/// The network of a board beyond its mesh: a multicast router at each exit and link, the board switch, the links.
///
///     exits  <=> multicast routers <=> switch <=> local ports: host, control unit, streams, match engines
///     links  <=> multicast routers <=>
///
/// Ports of the switch: exits of the mesh from 0, then links, then local ports. `Keyed` of these have multicast routers
/// as well: a host sends keys. Records of all routers are read through one port of the memory, whose
/// answers a router never blocks: it has space for all records that it has requested. Without `Multicast` the routers
/// are omitted, and the switch rejects messages by key as unroutable.
module gs_board_network
  import gs_idle_pkg::*;
  import gs_multicast_pkg::*;
  import gs_switch_pkg::*;
  import gossamer_pkg::*;
#(
  /// links, 1 to 8
  parameter  int unsigned Links    = 4,
  /// local ports, 1 or more, and the endpoints that they serve: numbers are those of the switch
  parameter  int unsigned Locals   = 2,
  /// local ports with multicast routers, and the first of them
  parameter  int unsigned Keyed    = 0,
  parameter  int unsigned FirstKeyed = Locals - Keyed,
  /// 1: multicast routers
  parameter  bit          Multicast = 1'b1,
  parameter  range_t      Control  = '{first: 8'(RouterMeshPorts + Links), count: 8'd1},
  parameter  range_t      Streams  = '0,
  /// log2 of the streaming ports that share one port of the switch
  parameter  int unsigned StreamBits = 0,
  parameter  range_t      Matches  = '0,
  /// jobs that idle detection observes
  parameter  int unsigned Jobs     = 1,
  /// log2 of the routing table's entries
  parameter  int unsigned TableW   = SwitchTableBits,
  /// log2 of the beats in each channel's cache of records
  parameter  int unsigned CacheW   = 9,
  /// sizes of the links
  parameter  gs_link_pkg::shape_t Shape = gs_link_pkg::DefaultShape,
  localparam int unsigned Exits    = RouterMeshPorts,
  localparam int unsigned Routers  = Exits + Links + Keyed,
  localparam int unsigned Ports    = Exits + Links + Locals,
  localparam int unsigned SlotW    = 4,
  localparam int unsigned RouterW  = $clog2(Routers),
  localparam int unsigned TagW     = RouterW + SlotW + 1 + SwitchVcBits
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic      [11:0]          board_i,
  /// jobs that idle detection observes, and the board's colour of each job's messages
  input  logic      [Jobs-1:0][4:0] job_i,
  input  logic      [31:0]          wave_i,
  /// one cycle: this job restarts
  input  logic      [Jobs-1:0]      clear_i,
  /// 1 and the number of the host at a local port, or 0
  input  logic      [12:0]          host_i,
  /// flits for which an ingress keeps an egress (R of the SMI paper)
  input  logic      [7:0]           burst_i,
  /// records in memory have changed
  input  logic                      flush_i,
  /// links that are cut: they send and receive no frames
  input  logic      [Links-1:0]     cut_i,
  // Routing table; ready after it has been cleared following reset
  output logic                      ready_o,
  input  logic                      table_we_i,
  input  logic      [TableW-1:0]    table_index_i,
  input  switch_entry_t             table_entry_i,
  // Exits of the mesh
  input  logic      [3:0]           mesh_in_valid_i[Exits],
  input  flit_t                     mesh_in_i[Exits],
  output logic      [3:0]           mesh_in_credit_o[Exits],
  output logic      [3:0]           mesh_out_valid_o[Exits],
  output flit_t                     mesh_out_o[Exits],
  input  logic      [3:0]           mesh_out_credit_i[Exits],
  // Local ports
  input  channels_t                 local_in_valid_i[Locals],
  input  flit_t                     local_in_i[Locals],
  output channels_t                 local_in_credit_o[Locals],
  output channels_t                 local_out_valid_o[Locals],
  output flit_t                     local_out_o[Locals],
  input  channels_t                 local_out_credit_i[Locals],
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
  output gs_link_pkg::events_t      events_o[Links],
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
  // Idle detection, by job: the routers' state, and messages that enter over the links
  output idle_status_t [Jobs-1:0][Routers-1:0] idle_o,
  output idle_entry_t  [Jobs-1:0][Links-1:0] entry_o,
  // Unroutable packets, by port; number of invalid records, by router
  output logic      [Ports-1:0]     unroutable_o,
  output logic      [31:0]          unroutable_dest_o[Ports],
  // It was a message, which idle detection counts, of this job
  output logic      [Ports-1:0]     unroutable_message_o,
  output logic      [Ports-1:0][4:0] unroutable_job_o,
  output gs_multicast_pkg::router_faults_t [Routers-1:0] bad_o,
  /// a packet has entered the switch by this port; control packets and answers are not counted
  output logic      [Ports-1:0]     entered_o,
  /// packets are in the switch; in multicast routers; in links or unacknowledged
  output logic      [2:0]           in_flight_o,
  /// no packet is in the switch
  output logic                      empty_o
);
  localparam logic [Ports-1:0] Virtual = Ports'(((64'd1 << Links) - 64'd1) << Exits);
  localparam home_t Home = '{
    mesh:    '{first: 8'd0, count: 8'(Exits)},
    link:    '{first: 8'(Exits), count: 8'(Links)},
    control: Control,
    stream:  Streams,
    match:   Matches
  };

  if (FirstKeyed + Keyed > Locals) begin : gen_illegal_keyed
    $fatal(1, "gs_board_network: Keyed is %0d from %0d; there are %0d local ports", Keyed, FirstKeyed, Locals);
  end
  if (Links < 1 || Links > 8) begin : gen_illegal_links
    $fatal(1, "gs_board_network: Links is %0d; it must be 1 to 8", Links);
  end

  // Into and out of the switch; into the routers
  channels_t in_valid[Ports], in_credit[Ports], out_valid[Ports], out_credit[Ports];
  flit_t in[Ports], out[Ports];
  channels_t raw_valid[Routers], raw_credit[Routers];
  flit_t raw[Routers];

  logic [Links-1:0] link_busy;
  logic [Routers-1:0] router_empty;

  // ---------------------------------------------------------------- ports
  for (genvar e = 0; e < Exits; e++) begin : gen_exit
    assign raw_valid[e] = spread(mesh_in_valid_i[e]);
    assign mesh_in_credit_o[e] = gather(raw_credit[e]);
    assign mesh_out_valid_o[e] = gather(out_valid[e]);
    assign out_credit[e] = spread(mesh_out_credit_i[e]);
    assign raw[e] = mesh_in_i[e];
    assign mesh_out_o[e] = out[e];
  end

  for (genvar l = 0; l < Links; l++) begin : gen_link
    localparam int unsigned Port = Exits + l;
    channels_t tx_valid, tx_ready, rx_valid, rx_ready;
    logic idle, empty, mac_tx_valid, mac_tx_ready, mac_rx_valid;
    flit_t tx, rx;
    assign link_busy[l] = !idle || !empty || rx_valid != '0;

    gs_link #(.Shape(Shape)) u_link (
      .clk_i,
      .rst_ni,
      .tx_valid_i    (tx_valid),
      .tx_ready_o    (tx_ready),
      .tx_flit_i     (tx),
      .rx_valid_o    (rx_valid),
      .rx_ready_i    (rx_ready),
      .rx_flit_o     (rx),
      .mac_tx_valid_o(mac_tx_valid),
      .mac_tx_ready_i(mac_tx_ready),
      .mac_tx_data_o (mac_tx_data_o[l]),
      .mac_tx_keep_o (mac_tx_keep_o[l]),
      .mac_tx_last_o (mac_tx_last_o[l]),
      .mac_rx_valid_i(mac_rx_valid),
      .mac_rx_data_i (mac_rx_data_i[l]),
      .mac_rx_keep_i (mac_rx_keep_i[l]),
      .mac_rx_last_i (mac_rx_last_i[l]),
      .mac_rx_error_i(mac_rx_error_i[l]),
      .idle_o        (idle),
      .up_o          (up_o[l]),
      .events_o      (events_o[l]),
      .counters_o    (counters_o[l])
    );
    gs_link_cut u_cut (
      .clk_i,
      .rst_ni,
      .cut_i         (cut_i[l]),
      .tx_valid_i    (mac_tx_valid),
      .tx_ready_o    (mac_tx_ready),
      .tx_last_i     (mac_tx_last_o[l]),
      .mac_tx_valid_o(mac_tx_valid_o[l]),
      .mac_tx_ready_i(mac_tx_ready_i[l]),
      .mac_rx_valid_i(mac_rx_valid_i[l]),
      .mac_rx_last_i (mac_rx_last_i[l]),
      .rx_valid_o    (mac_rx_valid)
    );
    gs_link_ingress u_ingress (
      .clk_i,
      .rst_ni,
      .rx_valid_i  (rx_valid),
      .rx_ready_o  (rx_ready),
      .rx_flit_i   (rx),
      .out_valid_o (raw_valid[Port]),
      .out_o       (raw[Port]),
      .out_credit_i(raw_credit[Port])
    );
    gs_link_egress u_egress (
      .clk_i,
      .rst_ni,
      .in_valid_i (out_valid[Port]),
      .in_i       (out[Port]),
      .in_credit_o(out_credit[Port]),
      .empty_o    (empty),
      .tx_valid_o (tx_valid),
      .tx_ready_i (tx_ready),
      .tx_flit_o  (tx)
    );

    // Messages for this board, by their head flits, before any endpoint has received them.
    address_thread_t dest;
    channels_t inside_q;
    logic first, here, entered_q;
    job_tag_t tag_q;
    logic wave_q;
    assign dest = raw[Port].dest;
    assign first = (raw_valid[Port] & ~inside_q) != '0;
    always_comb begin
      unique case (dest.kind)
        EndpointKey:     here = 1'b1;
        EndpointHost:    here = {1'b1, dest.board} == host_i;
        EndpointControl: here = 1'b0;
        default:         here = dest.board == board_i;
      endcase
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) inside_q <= '0;
      else inside_q <= raw[Port].last ? inside_q & ~raw_valid[Port] : inside_q | raw_valid[Port];
      entered_q <= rst_ni && first && raw[Port].kind != FlitKindHeader && here;
      tag_q     <= '{job: raw[Port].job, epoch: raw[Port].epoch};
      wave_q    <= raw[Port].wave;
    end
    for (genvar j = 0; j < Jobs; j++) begin : gen_entry
      assign entry_o[j][l] = '{valid: entered_q && tag_q.job == job_i[j], epoch: tag_q.epoch, wave: wave_q};
    end

    logic unused_dest;
    assign unused_dest = ^{dest.spare, dest.tile_y, dest.tile_x, dest.thread};
  end

  for (genvar l = 0; l < Locals; l++) begin : gen_local
    localparam int unsigned Port = Exits + Links + l;
    if (l >= FirstKeyed && l < FirstKeyed + Keyed) begin : gen_keyed
      localparam int unsigned Router = Port - FirstKeyed;
      assign raw_valid[Router] = local_in_valid_i[l];
      assign raw[Router] = local_in_i[l];
      assign local_in_credit_o[l] = raw_credit[Router];
    end else begin : gen_plain
      assign in_valid[Port] = local_in_valid_i[l];
      assign in[Port] = local_in_i[l];
      assign local_in_credit_o[l] = in_credit[Port];
    end
    assign local_out_valid_o[l] = out_valid[Port];
    assign local_out_o[l] = out[Port];
    assign out_credit[Port] = local_out_credit_i[l];
  end

  // ------------------------------------------------------------ multicast
  typedef struct packed {
    logic [BeatAddrW-1:0] beat;
    logic [TagW-1:0]      tag;
  } read_t;
  read_t read[Routers];
  read_t read_req;
  logic [Routers-1:0] read_valid, read_ready, answer_ready;
  logic [RouterW-1:0] unused_router;

  for (genvar r = 0; r < Routers; r++) begin : gen_straight
    localparam int unsigned Port = (r < Exits + Links) ? r : r + FirstKeyed;
    if (!Multicast) begin : gen_port
      assign in_valid[Port]   = raw_valid[r];
      assign in[Port]         = raw[r];
      assign raw_credit[r]    = in_credit[Port];
      assign bad_o[r]         = '0;
      assign router_empty[r]  = 1'b1;
      assign read_valid[r]    = 1'b0;
      assign read[r]          = '0;
      assign answer_ready[r]  = 1'b1;
      for (genvar j = 0; j < Jobs; j++) begin : gen_job
        assign idle_o[j][r] = '{idle: 1'b1, vote: 1'b1, default: '0};
      end
      logic unused;
      assign unused = ^{read_ready[r]};
    end
  end
  if (!Multicast) begin : gen_no_multicast
    logic unused;
    assign unused = ^{wave_i, clear_i, flush_i, rsp_valid_i, rsp_tag_i, rsp_i};
  end

  for (genvar r = 0; Multicast && r < Routers; r++) begin : gen_router
    localparam int unsigned Vcs = (r < Exits || r >= Exits + Links) ? 1 : SwitchVcs;
    localparam int unsigned Port = (r < Exits + Links) ? r : r + FirstKeyed;
    logic     [Vcs-1:0] entered, sent, received, unused_lookup, unused_hit;
    gs_multicast_pkg::faults_t [Vcs-1:0] bad;
    job_tag_t [Vcs-1:0] entered_tag, sent_tag, received_tag;
    logic [TagW-RouterW-1:0] tag;
    assign read[r].tag = {RouterW'(r), tag};
    always_comb begin
      bad_o[r] = '0;
      for (int unsigned v = 0; v < Vcs; v++) bad_o[r] += gs_multicast_pkg::router_faults_t'(bad[v]);
    end

    gs_multicast #(
      .Vcs   (Vcs),
      .CacheW(CacheW),
      .SlotW (SlotW)
    ) u_router (
      .clk_i,
      .rst_ni,
      .board_i,
      .wave_i,
      .flush_i,
      .in_valid_i    (raw_valid[r]),
      .in_i          (raw[r]),
      .in_credit_o   (raw_credit[r]),
      .out_valid_o   (in_valid[Port]),
      .out_o         (in[Port]),
      .out_credit_i  (in_credit[Port]),
      .req_valid_o   (read_valid[r]),
      .req_ready_i   (read_ready[r]),
      .req_beat_o    (read[r].beat),
      .req_tag_o     (tag),
      .rsp_valid_i   (rsp_valid_i && rsp_tag_i[TagW-1-:RouterW] == RouterW'(r)),
      .rsp_ready_o   (answer_ready[r]),
      .rsp_tag_i     (rsp_tag_i[TagW-RouterW-1:0]),
      .rsp_i,
      .entered_o     (entered),
      .entered_tag_o (entered_tag),
      .sent_o        (sent),
      .received_o    (received),
      .sent_tag_o    (sent_tag),
      .received_tag_o(received_tag),
      .bad_o         (bad),
      .lookup_o      (unused_lookup),
      .hit_o         (unused_hit),
      .empty_o       (router_empty[r])
    );
    for (genvar j = 0; j < Jobs; j++) begin : gen_job
      gs_multicast_idle #(.Vcs(Vcs)) u_idle (
        .clk_i,
        .rst_ni,
        .job_i         (job_i[j]),
        .clear_i       (clear_i[j]),
        .entered_i     (entered),
        .entered_tag_i (entered_tag),
        .sent_i        (sent),
        .sent_tag_i    (sent_tag),
        .received_i    (received),
        .received_tag_i(received_tag),
        .status_o      (idle_o[j][r])
      );
    end
  end

  gs_rr_arbiter #(
    .N     (Routers),
    .data_t(read_t)
  ) u_reads (
    .clk_i,
    .rst_ni,
    .in_valid_i (read_valid),
    .in_ready_o (read_ready),
    .in_data_i  (read),
    .out_valid_o(req_valid_o),
    .out_ready_i(req_ready_i),
    .out_data_o (read_req),
    .out_idx_o  (unused_router)
  );
  assign req_beat_o = read_req.beat;
  assign req_tag_o = read_req.tag;
  always_comb begin
    rsp_ready_o = 1'b0;
    for (int unsigned r = 0; r < Routers; r++) begin
      if (rsp_tag_i[TagW-1-:RouterW] == RouterW'(r)) rsp_ready_o = answer_ready[r];
    end
  end

  // --------------------------------------------------------------- switch
  gs_switch #(
    .Ports  (Ports),
    .Virtual(Virtual),
    .Home   (Home),
    .StreamBits(StreamBits),
    .TableW (TableW)
  ) u_switch (
    .clk_i,
    .rst_ni,
    .board_i,
    .burst_i,
    .ready_o,
    .table_we_i,
    .table_index_i,
    .table_entry_i,
    .in_valid_i   (in_valid),
    .in_i         (in),
    .in_credit_o  (in_credit),
    .out_valid_o  (out_valid),
    .out_o        (out),
    .out_credit_i (out_credit),
    .unroutable_o,
    .unroutable_dest_o,
    .unroutable_message_o,
    .unroutable_job_o,
    .empty_o
  );

  // ------------------------------------------------------ packets in flight
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Ports; p++) begin
      entered_o[p] <= rst_ni && in_valid[p] != '0 && in[p].last && in[p].vnet != VnetControl
          && !(in[p].vnet == VnetReply && in[p].kind == FlitKindHeader);
    end
    in_flight_o <= {link_busy != '0, router_empty != '1, !empty_o};
  end
endmodule
