// SPDX-License-Identifier: Apache-2.0

/// Small units of a board's control, each with ports of plain vectors: reports to the host, the inbox of idle
/// detection, the host's port with one job, and the execution of control packets.
module units_top
  import gossamer_pkg::*;
  import gs_idle_pkg::*;
#(
  localparam int unsigned Links   = 2,
  localparam int unsigned Ports   = 3,
  localparam int unsigned Routers = 2,
  localparam int unsigned FlitW   = $bits(flit_t)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // gs_board_reports
  input  logic                     rep_answer_valid_i,
  output logic                     rep_answer_ready_o,
  input  logic [63:0]              rep_answer_i,
  input  logic [4*Links-1:0]       rep_links_i,
  input  logic [Ports-1:0]         rep_unroutable_i,
  input  logic [32*Ports-1:0]      rep_dest_i,
  input  logic [Routers-1:0]       rep_bad_i,
  input  logic                     rep_rejected_i,
  input  logic [31:0]              rep_rejected_word_i,
  output logic                     rep_valid_o,
  input  logic                     rep_ready_i,
  output logic [FlitW-1:0]         rep_flit_o,
  // gs_idle_inbox
  input  logic                     inb_valid_i,
  input  logic                     inb_two_i,
  input  logic [127:0]             inb_head_i,
  input  logic [127:0]             inb_words_i,
  output logic                     inb_tree_ready_o,
  output logic                     inb_dropped_o,
  output logic                     inb_valid_o,
  input  logic                     inb_ready_i,
  output logic [FlitW-1:0]         inb_flit_o,
  // gs_host_port
  output logic                     hst_hold_o,
  input  logic                     hst_open_i,
  input  logic [1:0]               hst_epoch_i,
  input  logic                     hst_wave_i,
  output logic [31:0]              hst_sent_o,
  output logic                     hst_stray_o,
  output logic [4:0]               hst_stray_job_o,
  input  gs_switch_pkg::channels_t hst_in_valid_i,
  input  logic [FlitW-1:0]         hst_in_flit_i,
  input  logic [3:0]               hst_valid_i,
  output logic [3:0]               hst_ready_o,
  input  logic [FlitW-1:0]         hst_flit_i,
  output gs_switch_pkg::channels_t hst_valid_o,
  output logic [FlitW-1:0]         hst_flit_o,
  input  gs_switch_pkg::channels_t hst_credit_i,
  // gs_board_csr
  input  logic                     csr_valid_i,
  input  logic [127:0]             csr_head_i,
  input  logic [1:0]               csr_flits_i,
  input  logic [4:0]               csr_job_i,
  output logic                     csr_done_o,
  output logic [3:0]               csr_rejection_o,
  input  logic                     csr_answer_ready_i,
  output logic                     csr_answer_valid_o,
  output logic [3:0]               csr_answer_rejection_o,
  input  logic [1:0]               csr_tree_ready_i,
  output logic [Tiles-1:0]         csr_expected_o,
  input  logic [Tiles-1:0]         csr_debug_space_i,
  output logic                     csr_debug_valid_o,
  output logic [127:0]             csr_debug_o,
  output logic [Links-1:0]         csr_cut_o,
  output logic                     csr_register_valid_o,
  input  logic                     csr_register_hit_i,
  input  logic [3:0]               csr_register_rejection_i,
  input  logic [63:0]              csr_register_value_i,
  output logic [63:0]              csr_answer_value_o,
  output logic [15:0]              csr_answer_address_o
);
  gs_link_pkg::events_t events[Links];
  logic [31:0] dest[Ports];
  for (genvar l = 0; l < Links; l++) begin : gen_link
    assign events[l] = rep_links_i[4*l+:4];
  end
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign dest[p] = rep_dest_i[32*p+:32];
  end
  flit_t reported, answered, passed;
  logic unused_reported;
  assign rep_flit_o = reported;
  assign inb_flit_o = answered;
  assign hst_flit_o = passed;

  gs_board_reports #(
    .Links  (Links),
    .Ports  (Ports),
    .Routers(Routers)
  ) u_reports (
    .clk_i,
    .rst_ni,
    .board_i          (12'd5),
    .reports_i        (32'h8000_0000),
    .answer_valid_i   (rep_answer_valid_i),
    .answer_ready_o   (rep_answer_ready_o),
    .answer_i         ('{value: rep_answer_i, default: '0}),
    .links_i          (events),
    .up_i             ('0),
    .unroutable_i     (rep_unroutable_i),
    .unroutable_dest_i(dest),
    .bad_i            (rep_bad_i),
    .rejected_i       (rep_rejected_i),
    .rejection_i      (4'd0),
    .rejected_word_i  (rep_rejected_word_i),
    .rejected_job_i   ('0),
    .stray_i          (1'b0),
    .stray_job_i      ('0),
    .tile_i           (1'b0),
    .tile_drop_i      ('0),
    .tile_count_i     ('0),
    .tile_reported_o  (unused_reported),
    .stream_i         ('0),
    .stream_value_i   ('0),
    .stream_reported_o(),
    .match_i          ('0),
    .match_value_i    ('0),
    .match_reported_o (),
    .out_valid_o      (rep_valid_o),
    .out_ready_i      (rep_ready_i),
    .out_o            (reported)
  );

  gs_idle_inbox #(
    .Children(3)
  ) u_inbox (
    .clk_i,
    .rst_ni,
    .valid_i     (inb_valid_i),
    .two_i       (inb_two_i),
    .head_i      (inb_head_i),
    .words_i     (inb_words_i),
    .tree_ready_o(inb_tree_ready_o),
    .dropped_o   (inb_dropped_o),
    .out_valid_o (inb_valid_o),
    .out_ready_i (inb_ready_i),
    .out_o       (answered)
  );

  idle_status_t [0:0] status;
  assign hst_sent_o = status[0].sent;
  logic [1:0][31:0] unused_counts;
  logic [3:0] unused_valid;
  flit_t unused_flit;
  gs_switch_pkg::channels_t unused_credit;
  gs_host_port u_host (
    .clk_i,
    .rst_ni,
    .slot_i          ('{default: '1}),
    .clear_i         (1'b0),
    .hold_o          (hst_hold_o),
    .open_i          (hst_open_i),
    .epoch_i         (hst_epoch_i),
    .wave_i          (hst_wave_i),
    .status_o        (status),
    .host_in_valid_i (hst_valid_i),
    .host_in_ready_o (hst_ready_o),
    .host_in_i       (hst_flit_i),
    .host_out_valid_o(unused_valid),
    .host_out_ready_i('1),
    .host_out_o      (unused_flit),
    .out_valid_o     (hst_valid_o),
    .out_o           (passed),
    .out_credit_i    (hst_credit_i),
    .in_valid_i      (hst_in_valid_i),
    .in_i            (hst_in_flit_i),
    .in_credit_o     (unused_credit),
    .sent_o          (unused_counts[0]),
    .received_o      (unused_counts[1]),
    .stray_o         (hst_stray_o),
    .stray_job_o     (hst_stray_job_o)
  );

  gs_board_pkg::control_packet_t packet;
  gs_board_pkg::reply_t answer;
  gs_link_pkg::counters_t links[Links];
  logic [1:0] unused_idle, unused_clear;
  logic unused_we, unused_flush;
  logic [3:0] unused_index;
  switch_entry_t unused_entry;
  logic [12:0] unused_here;
  gs_board_pkg::job_slot_t [1:0] unused_slots;
  logic [Tiles-1:0] unused_tiles;
  logic [Tiles-1:0][4:0] unused_jobs;
  logic [Tiles-1:0][31:0] unused_hosts;
  gs_address_pkg::cluster_t unused_cluster;
  logic [31:0] unused_reports;
  logic [7:0] unused_burst;
  gs_board_pkg::neighbour_t [gs_board_pkg::Children-1:0] unused_children;
  assign packet = '{kind: FlitKindBody, job: csr_job_i, flits: csr_flits_i, head: csr_head_i, words: '0};
  assign csr_answer_rejection_o = answer.rejection;
  assign csr_answer_value_o = answer.value;
  assign csr_answer_address_o = answer.address;
  gs_board_pkg::register_request_t register_o;
  gs_board_pkg::register_response_t register_i;
  assign csr_register_valid_o = register_o.valid;
  assign register_i = '{
    hit: csr_register_hit_i, rejection: csr_register_rejection_i, value: csr_register_value_i
  };
  for (genvar l = 0; l < Links; l++) begin : gen_counters
    assign links[l] = '0;
  end
  gs_board_csr #(
    .Links   (Links),
    .Jobs    (2),
    .TableW  (4),
    .HostPort(2)
  ) u_csr (
    .clk_i,
    .rst_ni,
    .board_i          (12'd5),
    .valid_i          (csr_valid_i),
    .packet_i         (packet),
    .done_o           (csr_done_o),
    .rejection_o      (csr_rejection_o),
    .answer_ready_i   (csr_answer_ready_i),
    .answer_valid_o   (csr_answer_valid_o),
    .answer_o         (answer),
    .idle_valid_o     (unused_idle),
    .idle_tree_ready_i(csr_tree_ready_i),
    .table_we_o       (unused_we),
    .table_index_o    (unused_index),
    .table_entry_o    (unused_entry),
    .host_here_o      (unused_here),
    .slot_o           (unused_slots),
    .clear_o          (unused_clear),
    .clear_tiles_o    (unused_tiles),
    .job_o            (unused_jobs),
    .host_o           (unused_hosts),
    .clear_streams_o  (),
    .stream_job_o     (),
    .cut_o            (csr_cut_o),
    .register_o       (register_o),
    .register_i       (register_i),
    .cluster_o        (unused_cluster),
    .reports_o        (unused_reports),
    .burst_o          (unused_burst),
    .flush_o          (unused_flush),
    .children_o       (unused_children),
    .expected_o       (csr_expected_o),
    .debug_valid_o    (csr_debug_valid_o),
    .debug_o          (csr_debug_o),
    .debug_space_i    (csr_debug_space_i),
    .links_i          (links),
    .up_i             ('0),
    .counts_i         ('0)
  );

  logic unused;
  assign unused = ^{status, unused_counts, unused_valid, unused_flit, unused_credit, unused_idle, unused_clear,
                    unused_we, unused_flush, unused_index, unused_entry, unused_here, unused_slots, unused_tiles,
                    unused_jobs, unused_hosts, unused_cluster, unused_reports, unused_burst, unused_children, answer};
endmodule
