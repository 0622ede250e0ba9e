// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Scheduler of a barrel core: who issues, where everybody's instruction is, who comes back.
///
/// A thread is in one place: run queue, pipeline, suspended (waiting for its answer), parked, or stopped.
/// A suspending instruction leaves the last stages of its place in the pipeline unused; an answer takes such a
/// place, or an empty one, for its write-back and its way into the run queue. There are as many such places as
/// answers, so answers take no issue slot; one that still waits for 8 cycles gets an empty place made for it.
///
///     run queue --> C0 --> C1 --> ... --> C6 --> C7 --> run queue
///      control --^                         ^answers
module gs_core_sched #(
  /// threads, 2 to 32
  parameter  int unsigned ThreadsPerCore = 16,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // The instruction memory is being written: nothing issues.
  input  logic                      block_i,
  // Control: start at pc 0, inject an instruction, park.
  input  logic                      start_valid_i,
  input  logic [TidW-1:0]           start_tid_i,
  output logic                      start_ready_o,
  input  logic                      inject_valid_i,
  input  logic [TidW-1:0]           inject_tid_i,
  output logic                      inject_ready_o,
  input  logic [ThreadsPerCore-1:0] halt_i,
  output logic [ThreadsPerCore-1:0] parked_o,
  // Stage C0: who issues
  output logic [TidW-1:0]           c0_tid_o,
  output logic                      c0_start_o,
  output logic                      c0_inject_o,
  // The thread in C1 is between the two passes of a divide: it does not park here.
  input  logic                      c1_again_i,
  // Threads of the stages; in C1 also one that will park
  output logic [7:1]                valid_o,
  output logic [7:1][TidW-1:0]      tid_o,
  // The instruction in C6 suspends or stops its thread; the one in C7 traps after all.
  input  logic                      c6_stays_i,
  input  logic                      c7_trap_i,
  // Answers: of the tile, of the divider
  input  logic                      rsp_valid_i,
  input  logic [TidW-1:0]           rsp_tid_i,
  output logic                      rsp_take_o,
  input  logic                      div_valid_i,
  input  logic [TidW-1:0]           div_tid_i,
  output logic                      div_take_o,
  // Stage C7: an answer has this place; who writes back here
  output logic                      c7_back_o,
  output logic [TidW-1:0]           c7_wtid_o
);
  localparam logic [2:0] Patience = 3'd7;

  logic head_valid, pop, push, sent, park, bubble;
  logic [TidW-1:0] head_tid;

  // Control requests wait in one register, so that they are off the issue's path.
  logic ctl_valid_q, ctl_start_q, ctl_inject_q, ctl_go;
  logic [TidW-1:0] ctl_tid_q;
  // A finger runs over the threads, looking for one that is parked and no longer halted.
  logic [TidW-1:0] scan_q;
  logic wake;

  logic [ThreadsPerCore-1:0] parked_q;
  logic c1_ctl_q, c1_start_q, c1_inject_q;
  logic [7:1] valid_q;
  logic [7:1][TidW-1:0] tid_q;
  logic c7_stays_q, c7_back_q;
  logic [TidW-1:0] c7_wtid_q;
  logic [2:0] wait_q;
  logic free, waits;

  // C0
  assign bubble = wait_q == Patience;
  assign ctl_go = ctl_valid_q && !block_i;
  assign pop    = head_valid && !ctl_valid_q && !block_i && !bubble;

  assign c0_tid_o       = ctl_valid_q ? ctl_tid_q : head_tid;
  assign c0_start_o     = ctl_valid_q && ctl_start_q;
  assign c0_inject_o    = ctl_valid_q && ctl_inject_q;

  // C1: who is halted parks, or stays parked if it was halted again on its way; but what control has sent goes on.
  assign sent           = c1_ctl_q && (c1_start_q || c1_inject_q);
  assign park           = valid_q[1] && !sent && halt_i[tid_q[1]] && !c1_again_i;
  assign start_ready_o  = c1_ctl_q && c1_start_q;
  assign inject_ready_o = c1_ctl_q && c1_inject_q;
  assign parked_o       = parked_q;

  assign wake = parked_q[scan_q] && !halt_i[scan_q];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ctl_valid_q  <= 1'b0;
      ctl_start_q  <= 1'b0;
      ctl_inject_q <= 1'b0;
      c1_ctl_q     <= 1'b0;
      scan_q       <= '0;
      parked_q     <= '0;
    end else begin
      // What is in C1 still stands at our door.
      if (ctl_valid_q) ctl_valid_q <= !ctl_go;
      else ctl_valid_q <= (start_valid_i || inject_valid_i || wake) && !c1_ctl_q;
      c1_ctl_q <= ctl_go;
      if (!ctl_valid_q) begin
        ctl_start_q  <= start_valid_i;
        ctl_inject_q <= inject_valid_i && !start_valid_i;
      end
      if (!wake) scan_q <= scan_q + TidW'(1);
      if (c1_ctl_q || park) parked_q[tid_q[1]] <= park;
    end
    c1_start_q  <= ctl_start_q;
    c1_inject_q <= ctl_inject_q;
    if (!ctl_valid_q) ctl_tid_q <= start_valid_i ? start_tid_i : (inject_valid_i ? inject_tid_i : scan_q);
  end

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
      valid_q   <= {valid_q[6:2], valid_q[1] && !park, ctl_go || pop};
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
