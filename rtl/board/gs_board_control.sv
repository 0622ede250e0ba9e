// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Control unit of a board: packets to the board itself, and reports of the board.
///
///     control network -> [ packet ] -> gs_board_csr -> tables, job slots, answers
///                                            +-> idle detection of the packet's job -> control network
///                                            +-> registers of other blocks, which answer in the next cycle
///     request network -> gs_board_broadcast ------------------------------------------> request network
///     answers, events -> gs_board_reports -----------------------------------------+-> reply network
///     debug buses of the tiles <-> gs_board_debug ---------------------------------+
///
/// The control network is always drained: a packet is executed or rejected in a bounded number of cycles, whatever the
/// host accepts. Rejected packets are counted and reported. Packets in the other two networks have no receiver here.
module gs_board_control
  import gs_board_pkg::*;
  import gs_noc_pkg::Vnets;
  import gs_switch_pkg::*;
  import gossamer_pkg::*;
#(
  parameter  int unsigned Links    = 2,
  parameter  int unsigned Jobs     = 1,
  parameter  int unsigned TableW   = 10,
  /// ports of the switch, multicast routers, and the host's port
  parameter  int unsigned Ports    = 6,
  parameter  int unsigned Routers  = 5,
  parameter  int unsigned HostPort = 5,
  /// 1: the board has multicast routers
  parameter  bit          Multicast = 1'b1,
  /// credits of a channel, in both directions; a power of two
  parameter  int unsigned Window   = 8
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic       [11:0]         board_i,
  // Switch
  input  channels_t                 in_valid_i,
  input  flit_t                     in_i,
  output channels_t                 in_credit_o,
  output channels_t                 out_valid_o,
  output flit_t                     out_o,
  input  channels_t                 out_credit_i,
  // The switch's table; ready after it has been cleared
  input  logic                      table_ready_i,
  output logic                      table_we_o,
  output logic       [TableW-1:0]   table_index_o,
  output switch_entry_t             table_entry_o,
  // Settings
  output logic       [12:0]         host_here_o,
  output job_slot_t     [Jobs-1:0]     slot_o,
  output logic       [Jobs-1:0]     clear_o,
  output logic       [Tiles-1:0]    clear_tiles_o,
  output logic       [Tiles-1:0][4:0]  job_o,
  output logic       [Tiles-1:0][31:0] host_o,
  output logic       [StreamEndLanes-1:0] clear_streams_o,
  output logic       [StreamEndLanes-1:0][4:0] stream_job_o,
  output logic       [Links-1:0]    cut_o,
  // Registers of other blocks
  output register_request_t         register_o,
  input  register_response_t        register_i,
  output gs_address_pkg::cluster_t  cluster_o,
  output logic       [7:0]          burst_o,
  output logic                      flush_o,
  output logic       [Tiles-1:0]    expected_o,
  // Debug buses of the tiles
  output logic       [Tiles-1:0]    debug_in_valid_o,
  output logic       [7:0]          debug_in_data_o,
  input  logic       [Tiles-1:0]    debug_in_ready_i,
  input  logic       [Tiles-1:0]    debug_out_valid_i,
  input  logic       [7:0]          debug_out_data_i[Tiles],
  output logic       [Tiles-1:0]    debug_out_ready_o,
  // Idle detection, by job slot
  output logic       [Jobs-1:0]     idle_valid_o,
  output control_packet_t           idle_packet_o,
  input  logic       [Jobs-1:0]     idle_tree_ready_i,
  input  logic       [Jobs-1:0]     idle_dropped_i,
  input  logic       [Jobs-1:0]     idle_out_valid_i,
  output logic       [Jobs-1:0]     idle_out_ready_o,
  input  flit_t                     idle_out_i[Jobs],
  // Counted and reported
  input  gs_link_pkg::events_t      events_i[Links],
  input  gs_link_pkg::counters_t    links_i[Links],
  input  logic       [Links-1:0]    up_i,
  input  logic       [Ports-1:0]    unroutable_i,
  input  logic       [31:0]         unroutable_dest_i[Ports],
  input  gs_multicast_pkg::router_faults_t [Routers-1:0] bad_i,
  input  logic       [31:0]         host_sent_i,
  input  logic       [31:0]         host_received_i,
  input  logic                      stray_i,
  input  logic       [4:0]          stray_job_i,
  input  gs_idle_pkg::idle_drop_t [Tiles-1:0][1:0] drops_i,
  // Streaming ports: dropped packets; events, as at gs_board_reports
  input  logic       [31:0]         stream_drops_i,
  input  logic       [1:0]          stream_i,
  input  logic       [1:0][63:0]    stream_value_i,
  output logic       [1:0]          stream_reported_o,
  // Match engines at the board: dropped packets; their event
  input  logic       [31:0]         match_drops_i,
  input  logic                      match_i,
  input  logic       [63:0]         match_value_i,
  output logic                      match_reported_o,
  input  logic       [Ports-1:0]    entered_i,
  input  logic       [2:0]          in_flight_i
);
  // --------------------------------------------------------------- channels
  logic [Vnets-1:0] from_valid, from_credit, to_valid, to_credit, offered, accept, send, space;
  flit_t flit, sent;
  assign from_valid = gather(in_valid_i);
  assign in_credit_o = spread(from_credit);
  assign out_valid_o = spread(to_valid);
  assign to_credit = gather(out_credit_i);
  gs_mesh_local #(.Depth(Window)) u_port (
    .clk_i,
    .rst_ni,
    .tile_valid_i(send),
    .tile_ready_o(space),
    .tile_i      (sent),
    .tile_valid_o(offered),
    .tile_ready_i(accept),
    .tile_o      (flit),
    .out_valid_o (to_valid),
    .out_o,
    .out_credit_i(to_credit),
    .in_valid_i  (from_valid),
    .in_i,
    .in_credit_o (from_credit)
  );

  // ---------------------------------------------------- packets of control
  logic packet_valid_q, done, control_arrives, begun_q;
  control_packet_t packet_q;
  assign control_arrives = offered[VnetControl];
  assign accept[VnetControl] = !packet_valid_q && table_ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      packet_valid_q <= 1'b0;
      begun_q        <= 1'b0;
    end else begin
      if (control_arrives) begin
        packet_valid_q <= flit.last;
        begun_q        <= !flit.last;
      end else if (done) packet_valid_q <= 1'b0;
    end
    if (control_arrives) begin
      if (!begun_q) begin
        packet_q.kind  <= flit.kind;
        packet_q.job   <= flit.job;
        packet_q.head  <= flit.payload;
        packet_q.flits <= 2'd1;
      end else begin
        if (packet_q.flits != 2'd3) packet_q.flits <= packet_q.flits + 2'd1;
        if (packet_q.flits == 2'd1) packet_q.words <= flit.payload;
      end
    end
  end

  // ------------------------------------------ packets without a receiver here
  logic stray, first_mailbox_q, first_reply_q;
  assign accept[VnetMailbox] = 1'b1;
  assign accept[VnetReply]   = 1'b1;
  assign stray = (offered[VnetMailbox] && first_mailbox_q) || (offered[VnetReply] && first_reply_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_mailbox_q <= 1'b1;
      first_reply_q   <= 1'b1;
    end else begin
      if (offered[VnetMailbox]) first_mailbox_q <= flit.last;
      if (offered[VnetReply]) first_reply_q <= flit.last;
    end
  end

  // ------------------------------------------------------------- submodules
  logic answer_valid, answer_ready, relayed, broadcast_rejected, broadcast_valid, broadcast_ready;
  logic debug_valid;
  logic [Tiles-1:0] debug_space;
  control_debug_t debug;
  // Packets to hosts: of gs_board_reports, of gs_board_debug; either
  logic [1:0] reply_valid, reply_ready;
  flit_t replies[2];
  logic report_valid, report_ready, unused_source;
  logic [3:0] rejection, broadcast_reason;
  logic [31:0] broadcast_word, reports;
  reply_t answer;
  neighbour_t [Children-1:0] children;
  flit_t broadcast_flit, report_flit;
  counts_t counts_q;
  logic [31:0] tile_drops;

  gs_board_csr #(
    .Links   (Links),
    .Jobs    (Jobs),
    .TableW  (TableW),
    .HostPort(HostPort),
    .Multicast(Multicast)
  ) u_settings (
    .clk_i,
    .rst_ni,
    .board_i,
    .valid_i       (packet_valid_q),
    .packet_i      (packet_q),
    .done_o        (done),
    .rejection_o   (rejection),
    .answer_ready_i(answer_ready),
    .answer_valid_o(answer_valid),
    .answer_o      (answer),
    .idle_valid_o,
    .idle_tree_ready_i,
    .table_we_o,
    .table_index_o,
    .table_entry_o,
    .host_here_o,
    .slot_o,
    .clear_o,
    .clear_tiles_o,
    .job_o,
    .host_o,
    .clear_streams_o,
    .stream_job_o,
    .cut_o,
    .register_o,
    .register_i,
    .cluster_o,
    .reports_o     (reports),
    .burst_o,
    .flush_o,
    .children_o    (children),
    .expected_o,
    .debug_valid_o (debug_valid),
    .debug_o       (debug),
    .debug_space_i (debug_space),
    .links_i,
    .up_i,
    .counts_i      (counts_q)
  );
  assign idle_packet_o = packet_q;

  gs_board_broadcast u_broadcast (
    .clk_i,
    .rst_ni,
    .board_i,
    .children_i (children),
    .job_i      (job_o),
    .in_valid_i (offered[VnetRequest]),
    .in_ready_o (accept[VnetRequest]),
    .in_i       (flit),
    .out_valid_o(broadcast_valid),
    .out_ready_i(broadcast_ready),
    .out_o      (broadcast_flit),
    .broadcast_o(relayed),
    .rejected_o (broadcast_rejected),
    .reason_o   (broadcast_reason),
    .word_o     (broadcast_word)
  );

  // ------------------------------------------- counts and rejected packets
  logic rejects, rejected_q;
  logic [Routers-1:0] bad;
  logic [$clog2(16 * Routers)-1:0] records;
  always_comb begin
    records = '0;
    for (int unsigned r = 0; r < Routers; r++) begin
      bad[r]   = bad_i[r] != '0;
      records += ($bits(records))'(bad_i[r]);
    end
  end
  logic [3:0] rejection_q;
  logic [4:0] reject_job_q;
  logic [31:0] word_q;
  assign rejects = done && rejection != '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      counts_q   <= '0;
      rejected_q <= 1'b0;
    end else begin
      counts_q.unroutable        <= counts_q.unroutable + 32'($countones(unroutable_i));
      counts_q.records       <= counts_q.records + 32'(records);
      counts_q.relayed       <= counts_q.relayed + 32'(relayed);
      counts_q.rejected      <= counts_q.rejected + 32'(rejects) + 32'(broadcast_rejected) + 32'(stray)
                                + 32'($countones(idle_dropped_i));
      counts_q.host_sent     <= host_sent_i;
      counts_q.host_received <= host_received_i;
      counts_q.tile_drops    <= tile_drops;
      counts_q.entered       <= counts_q.entered + 32'($countones(entered_i));
      counts_q.in_flight     <= in_flight_i;
      counts_q.stream_drops  <= stream_drops_i;
      counts_q.match_drops   <= match_drops_i;
      rejected_q             <= rejects || broadcast_rejected || stray || idle_dropped_i != '0;
    end
    // Of several in one cycle only the first is reported; all are counted.
    if (rejects) {reject_job_q, rejection_q, word_q} <= {packet_q.job, rejection, packet_q.head[31:0]};
    else if (broadcast_rejected) {reject_job_q, rejection_q, word_q} <= {NoJob, broadcast_reason, broadcast_word};
    else if (idle_dropped_i != '0) begin
      {reject_job_q, rejection_q, word_q} <= {packet_q.job, 4'(RejectionRoom), packet_q.head[31:0]};
    end else {reject_job_q, rejection_q, word_q} <= {flit.job, 4'(RejectionKind), flit.payload[31:0]};
  end

  logic reported, report_due;
  reported_drop_t drop;
  gs_board_drop_report u_drop_report (
    .clk_i,
    .rst_ni,
    .drops_i,
    .valid_o   (report_due),
    .reported_i(reported),
    .drop_o    (drop),
    .count_o   (tile_drops)
  );

  gs_board_reports #(
    .Links  (Links),
    .Ports  (Ports),
    .Routers(Routers)
  ) u_reports (
    .clk_i,
    .rst_ni,
    .board_i,
    .reports_i      (reports),
    .answer_valid_i (answer_valid),
    .answer_ready_o (answer_ready),
    .answer_i       (answer),
    .links_i        (events_i),
    .up_i,
    .unroutable_i,
    .unroutable_dest_i,
    .bad_i          (bad),
    .rejected_i     (rejected_q),
    .rejection_i    (rejection_q),
    .rejected_word_i(word_q),
    .rejected_job_i (reject_job_q),
    .stray_i,
    .stray_job_i,
    .tile_i         (report_due),
    .tile_drop_i    (drop),
    .tile_count_i   (tile_drops),
    .tile_reported_o(reported),
    .stream_i,
    .stream_value_i,
    .stream_reported_o,
    .match_i,
    .match_value_i,
    .match_reported_o,
    .out_valid_o    (reply_valid[0]),
    .out_ready_i    (reply_ready[0]),
    .out_o          (replies[0])
  );

  gs_board_debug u_debug (
    .clk_i,
    .rst_ni,
    .board_i,
    .enable_i      (reports != '0),
    .host_i        (host_o),
    .valid_i       (debug_valid),
    .packet_i      (debug),
    .space_o       (debug_space),
    .in_valid_o    (debug_in_valid_o),
    .in_data_o     (debug_in_data_o),
    .in_ready_i    (debug_in_ready_i),
    .out_valid_i   (debug_out_valid_i),
    .out_data_i    (debug_out_data_i),
    .out_ready_o   (debug_out_ready_o),
    .report_valid_o(reply_valid[1]),
    .report_ready_i(reply_ready[1]),
    .report_o      (replies[1])
  );

  gs_rr_arbiter #(
    .N     (2),
    .data_t(flit_t)
  ) u_replies (
    .clk_i,
    .rst_ni,
    .in_valid_i (reply_valid),
    .in_ready_o (reply_ready),
    .in_data_i  (replies),
    .out_valid_o(report_valid),
    .out_ready_i(report_ready),
    .out_data_o (report_flit),
    .out_idx_o  (unused_source)
  );

  // ------------------------------------------------------------------- out
  // Idle detection sends one packet at a time; the networks are served round-robin, one flit each.
  logic idle_valid, idle_ready, idle_lock_q;
  logic [Jobs-1:0] idle_next, idle_now, idle_now_q;
  logic [((Jobs > 1) ? $clog2(Jobs) : 1)-1:0] unused_at;
  flit_t idle_flit;
  gs_arbiter #(.N(Jobs)) u_idle (
    .clk_i,
    .rst_ni,
    .req_i    (idle_out_valid_i),
    .gnt_o    (idle_next),
    .idx_o    (unused_at),
    .advance_i(idle_ready && !idle_lock_q)
  );
  assign idle_now = idle_lock_q ? idle_now_q : idle_next;
  assign idle_valid = (idle_now & idle_out_valid_i) != '0;
  assign idle_out_ready_o = idle_now & {Jobs{idle_ready}};
  always_comb begin
    idle_flit = '0;
    for (int unsigned j = 0; j < Jobs; j++) if (idle_now[j]) idle_flit |= idle_out_i[j];
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) idle_lock_q <= 1'b0;
    else if (idle_valid && idle_ready) idle_lock_q <= !idle_flit.last;
    idle_now_q <= idle_now;
  end

  logic [2:0] requests, grant;
  logic [1:0] unused_idx;
  assign requests = {report_valid && space[VnetReply], broadcast_valid && space[VnetRequest],
                     idle_valid && space[VnetControl]};
  gs_arbiter #(.N(3)) u_out (
    .clk_i,
    .rst_ni,
    .req_i    (requests),
    .gnt_o    (grant),
    .idx_o    (unused_idx),
    .advance_i(1'b1)
  );
  assign {report_ready, broadcast_ready, idle_ready} = grant;
  always_comb begin
    send              = '0;
    send[VnetControl] = grant[0];
    send[VnetRequest] = grant[1];
    send[VnetReply]   = grant[2];
    sent              = ({$bits(flit_t){grant[0]}} & idle_flit) | ({$bits(flit_t){grant[1]}} & broadcast_flit)
                         | ({$bits(flit_t){grant[2]}} & report_flit);
  end

  logic unused;
  assign unused = ^{space[VnetMailbox], unused_source};

  `GS_ASSERT_NOW(no_flit_arrives_while_a_packet_waits, !control_arrives || !packet_valid_q)
endmodule
