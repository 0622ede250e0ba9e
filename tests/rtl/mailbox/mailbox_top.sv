// SPDX-License-Identifier: Apache-2.0

/// A mailbox and the idle detector of a tile alone, for the tests: its structures as plain fields.
module mailbox_top
  import gs_mailbox_pkg::*;
#(
  parameter int unsigned Threads        = 64,
  parameter int unsigned SlotsPerThread = 16,
  parameter int unsigned SlotBytes      = 64,
  parameter int unsigned MaxFlits       = 4,
  parameter int unsigned QueueDepth     = 16,
  parameter int unsigned SendSlots      = 2,
  parameter bit          Multicast      = 1'b1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [31:0]        tile_i,
  input  logic [6:0]         job_i,
  output logic               ready_o,
  input  logic               req_valid_i,
  output logic               req_ready_o,
  input  logic [1:0]         req_op_i,
  input  logic [2:0]         req_funct3_i,
  input  logic [5:0]         req_thread_i,
  input  logic [31:0]        req_addr_i,
  input  logic [31:0]        req_data_i,
  output logic               rsp_valid_o,
  input  logic               rsp_ready_i,
  output logic [5:0]         rsp_thread_o,
  output logic [31:0]        rsp_data_o,
  output logic               trap_valid_o,
  input  logic               trap_ready_i,
  output logic [5:0]         trap_thread_o,
  output logic [5:0]         trap_cause_o,
  output logic [31:0]        trap_addr_o,
  output logic               out_valid_o,
  input  logic               out_ready_i,
  output logic [1:0]         out_kind_o,
  output logic               out_last_o,
  output logic [8:0]         out_tags_o,
  output logic [31:0]        out_dest_o,
  output logic [127:0]       out_payload_o,
  input  logic               in_valid_i,
  output logic               in_ready_o,
  input  logic [1:0]         in_kind_i,
  input  logic               in_last_i,
  input  logic [31:0]        in_dest_i,
  input  logic [127:0]       in_payload_i,
  input  logic [63:0]        active_i,
  input  logic               detect_i,
  output logic               idle_all_o,
  output logic               idle_votes_o,
  output logic               release_o,
  output logic               sent_o,
  output logic               received_o,
  output logic               dropped_o,
  /// the harness's own messages that left or came, so that the detector knows them
  input  logic               outside_sent_i,
  input  logic               outside_received_i
);
  mailbox_rsp_t rsp;
  mailbox_trap_t trap;
  gossamer_pkg::flit_t net_out, net_in;
  logic agreed, unused_active;
  assign unused_active = ^active_i;

  assign rsp_thread_o  = rsp.thread;
  assign rsp_data_o    = rsp.data;
  assign trap_thread_o = trap.thread;
  assign trap_cause_o  = trap.cause;
  assign trap_addr_o   = trap.addr;
  assign out_kind_o    = net_out.kind;
  assign out_last_o    = net_out.last;
  assign out_tags_o    = {net_out.vnet, net_out.job, net_out.epoch};
  assign out_dest_o    = net_out.dest;
  assign out_payload_o = net_out.payload;
  assign net_in        = '{
          kind: gossamer_pkg::flit_kind_e'(in_kind_i),
          last: in_last_i,
          vnet: gossamer_pkg::VnetMailbox,
          job: '0,
          epoch: '0,
          dest: in_dest_i,
          payload: in_payload_i
      };

  // It sleeps as it does in a tile.
  logic clk, busy;
  logic [63:0] active_q;
  always_ff @(posedge clk_i) active_q <= active_i;
  gs_clock_gate u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(busy || req_valid_i || in_valid_i || release_o || active_i != active_q),
    .clk_o (clk)
  );

  gs_mailbox #(
    .Threads       (Threads),
    .SlotsPerThread(SlotsPerThread),
    .SlotBytes     (SlotBytes),
    .MaxFlits      (MaxFlits),
    .QueueDepth    (QueueDepth),
    .SendSlots     (SendSlots),
    .Multicast     (Multicast)
  ) u_mailbox (
    .clk_i         (clk),
    .rst_ni,
    .tile_i,
    .job_i,
    .ready_o,
    .req_valid_i,
    .req_ready_o,
    .req_i         ('{
        op: mailbox_op_e'(req_op_i),
        funct3: req_funct3_i,
        thread: req_thread_i,
        addr: req_addr_i,
        data: req_data_i
    }),
    .rsp_valid_o,
    .rsp_ready_i,
    .rsp_o         (rsp),
    .trap_valid_o,
    .trap_ready_i,
    .trap_o        (trap),
    .net_valid_o   (out_valid_o),
    .net_ready_i   (out_ready_i),
    .net_o         (net_out),
    .net_valid_i   (in_valid_i),
    .net_ready_o   (in_ready_o),
    .net_i         (net_in),
    .active_i      (active_i[Threads-1:0]),
    .idle_all_o,
    .idle_votes_o,
    .idle_release_i(release_o),
    .idle_agreed_i (agreed),
    .sent_o,
    .received_o,
    .dropped_o,
    .busy_o        (busy)
  );

  gs_idle_single #(
    .Sources(2)
  ) u_idle (
    .clk_i,
    .rst_ni,
    .idle_all_i  (idle_all_o),
    .idle_votes_i(idle_votes_o),
    .busy_i      (!detect_i),
    .sent_i      ({outside_sent_i, sent_o}),
    .received_i  ({outside_received_i, received_o}),
    .dropped_i   ({1'b0, dropped_o}),
    .release_o,
    .agreed_o    (agreed)
  );
endmodule
