// SPDX-License-Identifier: Apache-2.0

/// Counters of events that several sources may raise in one cycle, each with ports of plain vectors: of a link, of a
/// multicast router for idle detection, of the messages that tiles drop, and of a board's control unit.
module events_top
  import gossamer_pkg::*;
  import gs_idle_pkg::*;
#(
  localparam int unsigned Vcs     = 4,
  localparam int unsigned Links   = 2,
  localparam int unsigned Jobs    = 2,
  localparam int unsigned Ports   = 4,
  localparam int unsigned Routers = 2
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // gs_link_counters: frames sent, received, resent; packets sent, received; damaged, dropped, violation, stall,
  // restart
  input  logic [9:0]           lnk_events_i,
  input  logic                 lnk_clear_i,
  input  logic [15:0]          lnk_amount_i,
  output logic [383:0]         lnk_counters_o,
  // gs_multicast_idle
  input  logic [Vcs-1:0]       mcs_entered_i,
  input  logic [Vcs-1:0]       mcs_sent_i,
  input  logic [Vcs-1:0]       mcs_received_i,
  /// set: of the job that is counted
  input  logic [Vcs-1:0]       mcs_own_i,
  output logic                 mcs_idle_o,
  output logic [31:0]          mcs_sent_o,
  output logic [31:0]          mcs_received_o,
  // gs_board_drop_report: two of each tile
  input  logic [2*Tiles-1:0]   drp_valid_i,
  input  logic                 drp_reported_i,
  output logic                 drp_valid_o,
  output logic [31:0]          drp_count_o,
  // gs_board_control
  input  logic [Ports-1:0]     ctl_unroutable_i,
  input  logic [4*Routers-1:0] ctl_bad_i,
  input  logic [Ports-1:0]     ctl_entered_i,
  input  logic [Jobs-1:0]      ctl_dropped_i,
  /// packets of one flit that are rejected: without a receiver, of a broadcast, of control
  input  logic [2:0]           ctl_packet_i,
  output logic [31:0]          ctl_unroutable_o,
  output logic [31:0]          ctl_records_o,
  output logic [31:0]          ctl_entered_o,
  output logic [31:0]          ctl_rejected_o
);
  gs_link_pkg::counters_t link;
  gs_link_counters u_link (
    .clk_i,
    .rst_ni,
    .tx_frame_i (lnk_events_i[0]),
    .tx_bytes_i (lnk_amount_i),
    .tx_packet_i(lnk_events_i[3]),
    .resend_i   (lnk_events_i[2]),
    .rx_frame_i (lnk_events_i[1]),
    .rx_bytes_i (lnk_amount_i),
    .rx_packet_i(lnk_events_i[4]),
    .damaged_i  (lnk_events_i[5]),
    .dropped_i  (lnk_events_i[6]),
    .violation_i(lnk_events_i[7]),
    .stall_i    (lnk_events_i[8]),
    .restart_i  (lnk_events_i[9]),
    .clear_i    (lnk_clear_i),
    .lost_i     (lnk_amount_i),
    .counters_o (link)
  );
  assign lnk_counters_o = link;

  job_tag_t [Vcs-1:0] tags;
  for (genvar v = 0; v < Vcs; v++) begin : gen_vc
    assign tags[v] = '{job: mcs_own_i[v] ? 5'd3 : 5'd7, default: '0};
  end
  idle_status_t router;
  gs_multicast_idle #(.Vcs(Vcs)) u_router (
    .clk_i,
    .rst_ni,
    .job_i         (5'd3),
    .clear_i       (1'b0),
    .entered_i     (mcs_entered_i),
    .entered_tag_i (tags),
    .sent_i        (mcs_sent_i),
    .sent_tag_i    (tags),
    .received_i    (mcs_received_i),
    .received_tag_i(tags),
    .status_o      (router)
  );
  assign mcs_idle_o     = router.idle;
  assign mcs_sent_o     = router.sent;
  assign mcs_received_o = router.received;

  idle_drop_t [Tiles-1:0][1:0] drops;
  gs_board_pkg::reported_drop_t unused_drop;
  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    for (genvar k = 0; k < 2; k++) begin : gen_side
      assign drops[t][k] = '{valid: drp_valid_i[2*t+k], why: 4'd1, job: 5'(t)};
    end
  end
  gs_board_drop_report u_drops (
    .clk_i,
    .rst_ni,
    .drops_i   (drops),
    .valid_o   (drp_valid_o),
    .reported_i(drp_reported_i && drp_valid_o),
    .drop_o    (unused_drop),
    .count_o   (drp_count_o)
  );

  // Each network has its own channel; the flits arrive one cycle apart at most.
  gs_switch_pkg::channels_t valid, unused_credit, unused_valid;
  flit_t flit;
  always_comb begin
    valid = '0;
    flit  = '{kind: FlitKindBody, vnet: VnetMailbox, last: 1'b1, default: '0};
    for (int unsigned n = 0; n < 3; n++) begin
      automatic vnet_e vnet;
      vnet = VnetControl;
      if (n == 0) vnet = VnetMailbox;
      if (n == 1) vnet = VnetRequest;
      if (ctl_packet_i[n]) begin
        valid[32'(vnet)*gs_switch_pkg::SwitchVcs] = 1'b1;
        flit.vnet = vnet;
      end
    end
  end
  gs_link_pkg::events_t events[Links];
  gs_link_pkg::counters_t links[Links];
  logic [31:0] dest[Ports];
  flit_t idle_out[Jobs];
  assign events   = '{default: '0};
  assign links    = '{default: '0};
  assign dest     = '{default: '0};
  assign idle_out = '{default: '0};
  gs_board_control #(
    .Links   (Links),
    .Jobs    (Jobs),
    .TableW  (4),
    .Ports   (Ports),
    .Routers (Routers),
    .HostPort(3)
  ) u_control (
    .clk_i,
    .rst_ni,
    .board_i          (12'd5),
    .in_valid_i       (valid),
    .in_i             (flit),
    .in_credit_o      (unused_credit),
    .out_valid_o      (unused_valid),
    .out_o            (),
    .out_credit_i     (unused_valid),
    .table_ready_i    (1'b1),
    .table_we_o       (),
    .table_index_o    (),
    .table_entry_o    (),
    .host_here_o      (),
    .slot_o           (),
    .clear_o          (),
    .clear_tiles_o    (),
    .job_o            (),
    .host_o           (),
    .clear_streams_o  (),
    .stream_job_o     (),
    .cut_o            (),
    .register_o       (),
    .register_i       ('0),
    .cluster_o        (),
    .burst_o          (),
    .flush_o          (),
    .expected_o       (),
    .debug_in_valid_o (),
    .debug_in_data_o  (),
    .debug_in_ready_i ('1),
    .debug_out_valid_i('0),
    .debug_out_data_i ('{default: '0}),
    .debug_out_ready_o(),
    .idle_valid_o     (),
    .idle_packet_o    (),
    .idle_tree_ready_i('1),
    .idle_dropped_i   (ctl_dropped_i),
    .idle_out_valid_i ('0),
    .idle_out_ready_o (),
    .idle_out_i       (idle_out),
    .events_i         (events),
    .links_i          (links),
    .up_i             ('0),
    .unroutable_i     (ctl_unroutable_i),
    .unroutable_dest_i(dest),
    .bad_i            (ctl_bad_i),
    .host_sent_i      ('0),
    .host_received_i  ('0),
    .stray_i          (1'b0),
    .stray_job_i      ('0),
    .drops_i          ('0),
    .stream_drops_i   ('0),
    .stream_i         ('0),
    .stream_value_i   ('0),
    .stream_reported_o(),
    .match_drops_i    ('0),
    .match_i          ('0),
    .match_value_i    ('0),
    .match_reported_o (),
    .entered_i        (ctl_entered_i),
    .in_flight_i      ('0)
  );
  assign ctl_unroutable_o = u_control.counts_q.unroutable;
  assign ctl_records_o    = u_control.counts_q.records;
  assign ctl_entered_o    = u_control.counts_q.entered;
  assign ctl_rejected_o   = u_control.counts_q.rejected;

  logic unused;
  assign unused = ^{router, unused_drop, unused_credit};
endmodule
