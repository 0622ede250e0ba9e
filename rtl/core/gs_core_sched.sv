// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Scheduler of a barrel core: which thread issues, where each thread's instruction is, which one comes back.
///
/// A thread is in one place: run queue, pipeline, suspended (waiting for its answer), parked, or stopped.
/// A suspending instruction leaves the last stages of its place in the pipeline unused; an answer takes such a
/// place, or an empty one, for its write-back and its way into the run queue. There are as many such places as
/// answers, so answers take no issue slot; one that still waits for 8 cycles gets an empty place made for it.
///
///     run queue --> C0 --> C1 --> ... --> C6 --> C7 --> run queue
///      control --^                         ^answers
///
/// The threads' states (gs_thread_pkg) are in a RAM, which is read in C0 and written in C1. Control operations go
/// that way one by one, behind an empty place; no thread leaves the run queue meanwhile, so no state is read before it
/// is written.
module gs_core_sched
  import gs_thread_pkg::*;
#(
  /// threads, 2 to 32
  parameter  int unsigned ThreadsPerCore = 16,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // The instruction memory is in use: nothing issues.
  input  logic                 block_i,
  // Control operations; in the cycle of `ready`, whether the operation was allowed, and whether the thread has
  // trapped since its last start
  input  logic                 ctl_valid_i,
  output logic                 ctl_ready_o,
  input  thread_op_e           ctl_op_i,
  input  logic [TidW-1:0]      ctl_tid_i,
  output logic                 ctl_allowed_o,
  output logic                 ctl_trapped_o,
  // The thread in C1 parks.
  output logic                 park_o,
  // Stage C0: the thread that issues, from pc 0, or an instruction of control
  output logic [TidW-1:0]      c0_tid_o,
  output logic                 c0_start_o,
  output logic                 c0_inject_o,
  // The thread in C1 is between the two passes of a divide: it does not park here.
  input  logic                 c1_again_i,
  // Threads of the stages; in C1 also one that will park
  output logic [7:1]           valid_o,
  output logic [7:1][TidW-1:0] tid_o,
  // The instruction in C6 suspends or stops its thread; the one in C7 traps after all.
  input  logic                 c6_stays_i,
  input  logic                 c7_trap_i,
  // Answers: of the tile, of the divider
  input  logic                 rsp_valid_i,
  input  logic [TidW-1:0]      rsp_tid_i,
  output logic                 rsp_take_o,
  input  logic                 div_valid_i,
  input  logic [TidW-1:0]      div_tid_i,
  output logic                 div_take_o,
  // Stage C7: an answer has this place; the thread that writes back here
  output logic                 c7_back_o,
  output logic [TidW-1:0]      c7_wtid_o
);
  localparam logic [2:0] Patience = 3'd7;

  logic head_valid, pop, push, park, bubble;
  logic [TidW-1:0] head_tid;

  // A control operation waits in one register, so that it is off the issue's path. After reset every thread's state
  // is cleared by one.
  logic ctl_valid_q, ctl_alone_q, ctl_busy_q, ctl_go, clearing_q;
  thread_op_e ctl_op_q;
  logic [TidW-1:0] ctl_tid_q;
  thread_state_t c0_state;
  thread_step_t c0_step;

  logic c1_ctl_q, c1_allowed_q, c1_parks_q;
  thread_state_t c1_state_q;
  logic [7:1] valid_q;
  logic [7:1][TidW-1:0] tid_q;
  logic c7_stays_q, c7_back_q;
  logic [TidW-1:0] c7_wtid_q;
  logic [2:0] wait_q;
  logic free, waits;

  // C0
  assign bubble = wait_q == Patience;
  assign ctl_go = ctl_alone_q && !block_i;
  assign pop    = head_valid && !ctl_busy_q && !block_i && !bubble;

  assign c0_tid_o    = ctl_valid_q ? ctl_tid_q : head_tid;
  assign c0_start_o  = ctl_valid_q && ctl_op_q == ThreadStart;
  assign c0_inject_o = ctl_valid_q && ctl_op_q == ThreadInject;

  gs_ram_sdp #(
    .Width  ($bits(thread_state_t)),
    .Depth  (ThreadsPerCore),
    .Latency(0),
    .Style  ("distributed")
  ) u_states (
    .clk_i,
    .we_i   (c1_ctl_q || park),
    .wstrb_i(1'b1),
    .waddr_i(tid_q[1]),
    .wdata_i(c1_state_q),
    .re_i   (1'b1),
    .raddr_i(c0_tid_o),
    .rdata_o(c0_state)
  );

  assign c0_step = thread_step(ctl_op_q, c0_state);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ctl_valid_q <= 1'b0;
      ctl_alone_q <= 1'b0;
      ctl_busy_q  <= 1'b0;
      ctl_op_q    <= ThreadForget;
      ctl_tid_q   <= '0;
      clearing_q  <= 1'b1;
      c1_ctl_q    <= 1'b0;
    end else begin
      // The operation in C1 is still offered.
      ctl_valid_q <= ctl_valid_q ? !ctl_go : (clearing_q || ctl_valid_i) && !c1_ctl_q;
      // The thread that left the run queue just before has parked or gone on.
      ctl_alone_q <= ctl_valid_q && !ctl_go;
      ctl_busy_q  <= ctl_valid_q || ((clearing_q || ctl_valid_i) && !c1_ctl_q);
      c1_ctl_q    <= ctl_go;
      if (clearing_q) begin
        if (c1_ctl_q) {clearing_q, ctl_tid_q} <= {ctl_tid_q != '1, ctl_tid_q + TidW'(1)};
      end else if (!ctl_valid_q) begin
        ctl_op_q  <= ctl_op_i;
        ctl_tid_q <= ctl_tid_i;
      end
    end
    c1_allowed_q <= c0_step.allowed;
    c1_parks_q   <= c0_state.halted || c0_state.trapped;
    c1_state_q   <= c0_step.state;
    if (!ctl_valid_q) c1_state_q <= '{place: PlaceParked, halted: c0_state.halted, trapped: c0_state.trapped,
                                      told: c0_state.told};
  end

  // C1: a halted thread parks, but not what control has sent.
  assign park          = valid_q[1] && !c1_ctl_q && c1_parks_q && !c1_again_i;
  assign park_o        = park;
  assign ctl_ready_o   = c1_ctl_q && !clearing_q;
  assign ctl_allowed_o = c1_allowed_q;
  assign ctl_trapped_o = c1_state_q.trapped;

  // C1 to C7
  assign free       = !valid_q[6] || c6_stays_i;
  assign div_take_o = div_valid_i && free;
  assign rsp_take_o = rsp_valid_i && free && !div_valid_i;
  assign waits      = (rsp_valid_i || div_valid_i) && !free;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q   <= '0;
      c7_back_q <= 1'b0;
      wait_q    <= '0;
    end else begin
      valid_q   <= {valid_q[6:2], valid_q[1] && !park, (ctl_go && c0_step.issues) || pop};
      c7_back_q <= div_take_o || rsp_take_o;
      wait_q    <= (waits && !bubble) ? wait_q + 3'd1 : 3'd0;
    end
    tid_q      <= {tid_q[6:1], c0_tid_o};
    c7_stays_q <= c6_stays_i;
    c7_wtid_q  <= div_take_o ? div_tid_i : (rsp_take_o ? rsp_tid_i : tid_q[6]);
  end

  assign push      = c7_back_q || (valid_q[7] && !c7_stays_q && !c7_trap_i);
  assign valid_o   = valid_q;
  assign tid_o     = tid_q;
  assign c7_back_o = c7_back_q;
  assign c7_wtid_o = c7_wtid_q;

  logic unused_ready;
  logic [$clog2(ThreadsPerCore+1)-1:0] unused_count;

  gs_fifo #(
    .data_t(logic [TidW-1:0]),
    .Depth (ThreadsPerCore)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (push),
    .in_ready_o (unused_ready),
    .in_data_i  (c7_wtid_q),
    .out_valid_o(head_valid),
    .out_ready_i(pop),
    .out_data_o (head_tid),
    .count_o    (unused_count)
  );

  `GS_ASSERT_NOW(the_run_queue_has_room, !push || unused_ready)
endmodule
