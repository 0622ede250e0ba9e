// SPDX-License-Identifier: Apache-2.0

/// A mailbox and the idle detector of a tile alone, for the tests: its structures as plain fields.
module mailbox_top
  import gs_mailbox_pkg::*;
#(
  parameter int unsigned Threads        = 64,
  parameter int unsigned CoreBits       = 2,
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
  input  logic [4:0]         job_i,
  input  logic               routers_i,
  input  logic [12:0]        boards_i,
  input  logic [12:0]        hosts_i,
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
  output logic               out_wave_o,
  output logic [31:0]        out_dest_o,
  output logic [127:0]       out_payload_o,
  output logic               far_valid_o,
  input  logic               far_ready_i,
  output logic [1:0]         far_kind_o,
  output logic               far_last_o,
  output logic [8:0]         far_tags_o,
  output logic               far_wave_o,
  output logic [31:0]        far_dest_o,
  output logic [127:0]       far_payload_o,
  input  logic               in_valid_i,
  output logic               in_ready_o,
  input  logic [1:0]         in_kind_i,
  input  logic               in_last_i,
  input  logic [31:0]        in_dest_i,
  input  logic [6:0]         in_tags_i,
  input  logic [127:0]       in_payload_i,
  input  logic [63:0]        active_i,
  input  logic               detect_i,
  /// colour of messages from now on
  input  logic               wave_i,
  /// the tile is assigned a job
  input  logic               clear_i,
  output logic               idle_o,
  output logic               vote_o,
  output logic [1:0]         epoch_o,
  output logic [31:0]        sent_count_o,
  output logic [31:0]        received_count_o,
  output logic               release_o,
  output logic               sent_o,
  output logic               received_o,
  output logic               dropped_o,
  output logic [3:0]         drop_reason_o,
  output logic [4:0]         drop_job_o,
  /// the harness's own messages that left or arrived, which the detector must count
  input  logic               outside_sent_i,
  input  logic [1:0]         outside_received_i
);
  mailbox_rsp_t rsp;
  mailbox_trap_t trap;
  gossamer_pkg::flit_t net_out, far_out, net_in;
  gs_idle_pkg::idle_status_t idle;
  gs_idle_pkg::idle_status_t [0:0] idle_all;
  gs_idle_pkg::idle_command_t [0:0] command;
  gossamer_pkg::rejection_e unused_drop_reason;
  gs_idle_pkg::idle_command_t gated_command;
  logic unused_active;
  always_comb begin
    gated_command       = command[0];
    gated_command.wave  = wave_i;
    gated_command.clear = clear_i;
  end
  assign unused_active = ^active_i;
  assign release_o     = command[0].release_all;

  assign rsp_thread_o  = rsp.thread;
  assign rsp_data_o    = rsp.data;
  assign trap_thread_o = trap.thread;
  assign trap_cause_o  = trap.cause;
  assign trap_addr_o   = trap.addr;
  assign out_kind_o    = net_out.kind;
  assign out_last_o    = net_out.last;
  assign out_tags_o    = {net_out.vnet, net_out.job, net_out.epoch};
  assign out_dest_o    = net_out.dest;
  assign out_wave_o    = net_out.wave;
  assign far_wave_o    = far_out.wave;
  assign out_payload_o = net_out.payload;
  assign far_kind_o       = far_out.kind;
  assign far_last_o       = far_out.last;
  assign far_tags_o       = {far_out.vnet, far_out.job, far_out.epoch};
  assign far_dest_o       = far_out.dest;
  assign far_payload_o    = far_out.payload;
  assign idle_o           = idle.idle;
  assign vote_o           = idle.vote;
  assign epoch_o          = idle.epoch;
  assign sent_count_o     = idle.sent;
  assign received_count_o = idle.received;
  assign drop_reason_o    = idle.drops[0].valid ? idle.drops[0].why : '0;
  assign drop_job_o       = idle.drops[0].job;
  assign net_in        = '{
          kind: gossamer_pkg::flit_kind_e'(in_kind_i),
          last: in_last_i,
          vnet: gossamer_pkg::VnetMailbox,
          job: in_tags_i[6:2],
          epoch: in_tags_i[1:0],
          wave: 1'b0,
          dest: in_dest_i,
          payload: in_payload_i
      };

  // The clock is gated as in a tile.
  logic clk, busy;
  logic [63:0] active_q;
  logic [$clog2(Threads):0] started_q;
  always_ff @(posedge clk_i) begin
    active_q  <= active_i;
    started_q <= rst_ni ? ($clog2(Threads) + 1)'($countones(active_i[Threads-1:0])) : '0;
  end
  gs_clock_gate u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(busy || req_valid_i || in_valid_i || release_o || command[0].scan || command[0].chunk_valid || clear_i
            || active_i != active_q),
    .clk_o (clk)
  );

  gs_mailbox #(
    .Threads       (Threads),
    .CoreBits      (CoreBits),
    .SlotsPerThread(SlotsPerThread),
    .SlotBytes     (SlotBytes),
    .MaxFlits      (MaxFlits),
    .QueueDepth    (QueueDepth),
    .SendSlots     (SendSlots),
    .Multicast     (Multicast),
    .MeshWidth     (12),
    .MeshHeight    (13),
    // Program addresses equal wire addresses.
    .ThreadBits    (6),
    .XBits         (4),
    .YBits         (4)
  ) u_mailbox (
    .clk_i          (clk),
    .rst_ni,
    .tile_i,
    .job_i,
    .cluster_i      ('{routers: routers_i, boards: boards_i, hosts: hosts_i}),
    .ready_o,
    .req_valid_i,
    .req_ready_o,
    .req_i          ('{
        op: mailbox_op_e'(req_op_i),
        funct3: req_funct3_i,
        thread: req_thread_i,
        addr: req_addr_i,
        data: req_data_i
    }),
    .rsp_valid_o,
    .rsp_ready_i,
    .rsp_o          (rsp),
    .trap_valid_o,
    .trap_ready_i,
    .trap_o         (trap),
    .net_out_valid_o(out_valid_o),
    .net_out_ready_i(out_ready_i),
    .net_out_o      (net_out),
    .far_out_valid_o(far_valid_o),
    .far_out_ready_i(far_ready_i),
    .far_out_o      (far_out),
    .net_in_valid_i (in_valid_i),
    .net_in_ready_o (in_ready_o),
    .net_in_i       (net_in),
    .started_i      (started_q),
    .idle_o         (idle),
    .idle_command_i (gated_command),
    .sent_o,
    .received_o,
    .drop_valid_o   (dropped_o),
    .drop_reason_o  (unused_drop_reason),
    .busy_o         (busy)
  );

  // The harness's own messages: it has sent those that arrive, and received those that have left.
  logic [31:0] sent_q, received_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sent_q     <= '0;
      received_q <= '0;
    end else begin
      sent_q     <= sent_q + 32'(outside_sent_i);
      received_q <= received_q + 32'(outside_received_i);
    end
  end
  always_comb begin
    idle_all[0]          = idle;
    idle_all[0].sent     = idle.sent + sent_q;
    idle_all[0].received = idle.received + received_q;
  end

  gs_idle_single u_idle (
    .clk_i,
    .rst_ni,
    .status_i (idle_all),
    .command_o(command),
    .hold_i   (!detect_i),
    .open_o   (),
    .epoch_o  ()
  );
endmodule
