// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Scheduler of a barrel core: selects the thread that issues, tracks the stage of each thread's instruction, and
/// selects the thread that returns to the run queue.
///
/// A thread is in exactly one of: run queue, pipeline, suspended (waiting for its response), parked, stopped.
/// A suspending instruction leaves the last stages of its pipeline slot unused. A response uses such a slot, or an
/// empty one, to write back and to return its thread to the run queue. As many slots become unused as responses
/// arrive, so responses cost no issue slot. For a response that waits 8 cycles the scheduler inserts a bubble.
///
///     run queue --> Pick --> Fetch --> ... --> Exec --> Resolve --> run queue
///      control --^                         ^responses
///
/// The threads' states (gs_thread_pkg) are in a RAM, which is read in Pick and written in Fetch. Control operations use
/// the same path one at a time, each after a bubble. No thread leaves the run queue meanwhile, so no state is read
/// before it is written.
module gs_core_sched
  import gs_core_pkg::*;
  import gs_thread_pkg::*;
#(
  /// threads, 2 to 32
  parameter  int unsigned ThreadsPerCore = 16,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore)
) (
  input  logic                                     clk_i,
  input  logic                                     rst_ni,
  // The instruction memory is in use: no thread issues.
  input  logic                                     block_i,
  // Control operations. In the cycle of `ready`, ctl_allowed_o reports whether the operation was allowed, and
  // ctl_trapped_o whether the thread has trapped since its last start.
  input  logic                                     ctl_valid_i,
  output logic                                     ctl_ready_o,
  input  thread_op_e                               ctl_op_i,
  input  logic [TidW-1:0]                          ctl_tid_i,
  output logic                                     ctl_allowed_o,
  output logic                                     ctl_trapped_o,
  // The thread in Fetch parks.
  output logic                                     park_o,
  // Pick: the thread that issues; it starts from pc 0; it executes an instruction of control
  output logic [TidW-1:0]                          pick_tid_o,
  output logic                                     pick_start_o,
  output logic                                     pick_inject_o,
  // The thread in Fetch is between the two passes of a divide: it does not park here.
  input  logic                                     fetch_again_i,
  // Threads of the stages; in Fetch also a thread that parks, and that of an operation that does not issue
  output logic [ResolveStage:FetchStage]           valid_o,
  output logic [ResolveStage:FetchStage][TidW-1:0] tid_o,
  // The instruction in Exec suspends or stops its thread; the one in Resolve traps.
  input  logic                                     exec_stays_i,
  input  logic                                     resolve_trap_i,
  // Responses of the tile and of the divider
  input  logic                                     rsp_valid_i,
  input  logic [TidW-1:0]                          rsp_tid_i,
  output logic                                     rsp_take_o,
  input  logic                                     div_valid_i,
  input  logic [TidW-1:0]                          div_tid_i,
  output logic                                     div_take_o,
  // Resolve: a response uses this pipeline slot; the thread that writes back in this slot
  output logic                                     resolve_back_o,
  output logic [TidW-1:0]                          resolve_wtid_o
);
  // cycles that a response waits before the scheduler inserts a bubble for it
  localparam logic [2:0] Patience = 3'd7;

  logic head_valid, pop, push, park, bubble;
  logic [TidW-1:0] head_tid;

  // A control operation waits in a register, to keep it off the issue path. After reset such operations clear every
  // thread's state.
  logic ctl_valid_q, ctl_alone_q, ctl_busy_q, ctl_go, clearing_q;
  thread_op_e ctl_op_q;
  logic [TidW-1:0] ctl_tid_q;
  thread_state_t pick_state;

  logic fetch_ctl_q, idles;
  thread_state_t fetch_old_q, fetch_state;
  thread_step_t fetch_step;
  logic [ResolveStage:FetchStage] valid_q;
  logic [ResolveStage:FetchStage][TidW-1:0] tid_q;
  logic resolve_stays_q, resolve_back_q;
  logic [TidW-1:0] resolve_wtid_q;
  logic [2:0] wait_q;
  logic free, waits;

  assign bubble = wait_q == Patience;
  assign ctl_go = ctl_alone_q && !block_i;
  assign pop    = head_valid && !ctl_busy_q && !block_i && !bubble;

  assign pick_tid_o    = ctl_valid_q ? ctl_tid_q : head_tid;
  assign pick_start_o  = ctl_valid_q && ctl_op_q == ThreadStart;
  assign pick_inject_o = ctl_valid_q && ctl_op_q == ThreadInject;

  gs_ram_sdp #(
    .Width  ($bits(thread_state_t)),
    .Depth  (ThreadsPerCore),
    .Latency(0),
    .Style  ("distributed")
  ) u_states (
    .clk_i,
    .we_i   (fetch_ctl_q || park),
    .wstrb_i(1'b1),
    .waddr_i(tid_q[FetchStage]),
    .wdata_i(fetch_state),
    .re_i   (1'b1),
    .raddr_i(pick_tid_o),
    .rdata_o(pick_state)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ctl_valid_q <= 1'b0;
      ctl_alone_q <= 1'b0;
      ctl_busy_q  <= 1'b0;
      ctl_op_q    <= ThreadClear;
      ctl_tid_q   <= '0;
      clearing_q  <= 1'b1;
      fetch_ctl_q <= 1'b0;
    end else begin
      // In Fetch, ctl_valid_i still offers the operation.
      ctl_valid_q <= ctl_valid_q ? !ctl_go : (clearing_q || ctl_valid_i) && !fetch_ctl_q;
      // The thread that left the run queue in the cycle before has parked or entered the pipeline.
      ctl_alone_q <= ctl_valid_q && !ctl_go;
      ctl_busy_q  <= ctl_valid_q || ((clearing_q || ctl_valid_i) && !fetch_ctl_q);
      fetch_ctl_q <= ctl_go;
      if (clearing_q) begin
        if (fetch_ctl_q) {clearing_q, ctl_tid_q} <= {ctl_tid_q != '1, ctl_tid_q + TidW'(1)};
      end else if (!ctl_valid_q) begin
        ctl_op_q  <= ctl_op_i;
        ctl_tid_q <= ctl_tid_i;
      end
    end
    fetch_old_q <= pick_state;
  end

  // Fetch: a control operation takes effect, and issues or does not; a halted thread parks.
  assign fetch_step = thread_step(ctl_op_q, fetch_old_q);
  always_comb begin
    fetch_state       = fetch_old_q;
    fetch_state.phase = PhaseParked;
    if (fetch_ctl_q) fetch_state = fetch_step.state;
  end

  assign park          = valid_q[FetchStage] && !fetch_ctl_q && (fetch_old_q.halted || fetch_old_q.trapped) &&
      !fetch_again_i;
  assign idles         = park || (fetch_ctl_q && !fetch_step.issues);
  assign park_o        = park;
  assign ctl_ready_o   = fetch_ctl_q && !clearing_q;
  assign ctl_allowed_o = fetch_step.allowed;
  assign ctl_trapped_o = fetch_step.state.trapped;

  // Fetch to Resolve
  assign free       = !valid_q[ExecStage] || exec_stays_i;
  assign div_take_o = div_valid_i && free;
  assign rsp_take_o = rsp_valid_i && free && !div_valid_i;
  assign waits      = (rsp_valid_i || div_valid_i) && !free;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q        <= '0;
      resolve_back_q <= 1'b0;
      wait_q         <= '0;
    end else begin
      valid_q        <= {valid_q[ExecStage:WordStage], valid_q[FetchStage] && !idles, ctl_go || pop};
      resolve_back_q <= div_take_o || rsp_take_o;
      wait_q         <= (waits && !bubble) ? wait_q + 3'd1 : 3'd0;
    end
    tid_q           <= {tid_q[ExecStage:FetchStage], pick_tid_o};
    resolve_stays_q <= exec_stays_i;
    resolve_wtid_q  <= div_take_o ? div_tid_i : (rsp_take_o ? rsp_tid_i : tid_q[ExecStage]);
  end

  assign push           = resolve_back_q || (valid_q[ResolveStage] && !resolve_stays_q && !resolve_trap_i);
  assign valid_o        = valid_q;
  assign tid_o          = tid_q;
  assign resolve_back_o = resolve_back_q;
  assign resolve_wtid_o = resolve_wtid_q;

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
    .in_data_i  (resolve_wtid_q),
    .out_valid_o(head_valid),
    .out_ready_i(pop),
    .out_data_o (head_tid),
    .count_o    (unused_count)
  );

  `GS_ASSERT_NOW(run_queue_never_overflows, !push || unused_ready)
endmodule
