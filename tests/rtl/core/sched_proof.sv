// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of the core's scheduler: every thread is in exactly one location at any time, for any behaviour of
/// instructions, responses and control. So no thread is lost, and none is twice in the pipeline or the queue. Control
/// may request any operation at any time, except the end of a thread that has not requested it. Covers show that the
/// assumptions allow every transition.
module sched_proof
  import gs_core_pkg::*;
  import gs_thread_pkg::*;
#(
  /// threads
  parameter  int unsigned ThreadsPerCore = 4,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore)
) (
  input logic            clk_i,
  input logic            rst_ni,
  input logic            block_i,
  input logic            ctl_valid_i,
  input logic [3:0]      ctl_op_i,
  input logic [TidW-1:0] ctl_tid_i,
  input logic            fetch_again_i,
  input logic            exec_stays_i,
  input logic            resolve_trap_i,
  input logic            rsp_valid_i,
  input logic [TidW-1:0] rsp_tid_i,
  input logic            div_valid_i,
  input logic [TidW-1:0] div_tid_i
);
  logic ctl_ready, allowed, trapped, park, rsp_take, div_take, resolve_back, pick_start, pick_inject;
  logic [TidW-1:0] pick_tid, resolve_wtid;
  logic [ResolveStage:FetchStage] valid;
  logic [ResolveStage:FetchStage][TidW-1:0] tid;
  thread_op_e op;
  assign op = thread_op_e'(ctl_op_i);

  gs_core_sched #(
    .ThreadsPerCore(ThreadsPerCore)
  ) u_sched (
    .clk_i,
    .rst_ni,
    .block_i,
    .ctl_valid_i,
    .ctl_ready_o(ctl_ready),
    .ctl_op_i   (op),
    .ctl_tid_i,
    .ctl_allowed_o(allowed),
    .ctl_trapped_o(trapped),
    .park_o       (park),
    .pick_tid_o   (pick_tid),
    .pick_start_o (pick_start),
    .pick_inject_o(pick_inject),
    .fetch_again_i,
    .valid_o(valid),
    .tid_o  (tid),
    .exec_stays_i,
    .resolve_trap_i,
    .rsp_valid_i,
    .rsp_tid_i,
    .rsp_take_o(rsp_take),
    .div_valid_i,
    .div_tid_i,
    .div_take_o    (div_take),
    .resolve_back_o(resolve_back),
    .resolve_wtid_o(resolve_wtid)
  );

  // Threads outside the scheduler: they wait for a response, or for their end.
  logic [ThreadsPerCore-1:0] waiting_q, waiting_d;
  logic ends;
  assign ends = ctl_valid_i && (op == ThreadEnd || op == ThreadTrap);

  always_comb begin
    waiting_d = waiting_q;
    if (rsp_take) waiting_d[rsp_tid_i] = 1'b0;
    if (div_take) waiting_d[div_tid_i] = 1'b0;
    if (valid[ResolveStage] && (u_sched.resolve_stays_q || resolve_trap_i)) waiting_d[tid[ResolveStage]] = 1'b1;
    if (ends && ctl_ready) waiting_d[ctl_tid_i] = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) waiting_q <= '0;
    else waiting_q <= waiting_d;
  end

  // Control: an operation is offered until it is done; only the reset sequence clears threads. A thread has at most one
  // request in flight, which ends with a response or with the thread's end.
  `GS_ASSUME_HOLD(operation_is_stable_while_it_waits, ctl_valid_i, ctl_ready, {ctl_op_i, ctl_tid_i})
  `GS_ASSUME_NOW(control_clears_no_thread, !ctl_valid_i || op != ThreadClear)
  `GS_ASSUME_NOW(operations_are_legal, !ctl_valid_i || op <= ThreadCheckIdle)
  `GS_ASSUME_NOW(only_waiting_threads_end, !ends || waiting_q[ctl_tid_i])
  `GS_ASSUME_NOW(responses_are_for_waiting_threads, !rsp_valid_i || waiting_q[rsp_tid_i])
  `GS_ASSUME_NOW(quotients_are_for_waiting_threads, !div_valid_i || waiting_q[div_tid_i])
  `GS_ASSUME_NOW(at_most_one_response_per_thread, !rsp_valid_i || !div_valid_i || rsp_tid_i != div_tid_i)
  `GS_ASSUME_NOW(no_response_to_an_ending_thread,
                 !ends || !((rsp_valid_i && rsp_tid_i == ctl_tid_i) || (div_valid_i && div_tid_i == ctl_tid_i)))

  // Slots of the queue that are in use.
  logic [ThreadsPerCore-1:0] used;
  logic [TidW-1:0] wptr, rptr;
  assign wptr = u_sched.u_queue.wptr_q;
  assign rptr = u_sched.u_queue.rptr_q;

  always_comb begin
    for (int unsigned i = 0; i < ThreadsPerCore; i++) begin
      used[i] = TidW'(TidW'(i) - rptr) < TidW'(wptr - rptr) || u_sched.u_queue.gen_distributed.full_q;
    end
  end

  for (genvar t = 0; t < ThreadsPerCore; t++) begin : gen_thread
    thread_state_t state;
    logic [7:0] locations;
    logic left;
    // A thread that control issues leaves its old location after Fetch. While states are cleared there are no threads.
    assign state = u_sched.u_states.mem[t];
    assign left  = !u_sched.clearing_q;
    always_comb begin
      locations = 8'(!left || state.phase == PhaseStopped) + 8'(left && state.phase == PhaseParked) + 8'(waiting_q[t]);
      if (resolve_back && resolve_wtid == TidW'(t)) locations = locations + 8'd1;
      if (valid[FetchStage] && !u_sched.fetch_ctl_q && tid[FetchStage] == TidW'(t)) locations = locations + 8'd1;
      for (int unsigned i = 2; i <= 7; i++) if (valid[i] && tid[i] == TidW'(t)) locations = locations + 8'd1;
      for (int unsigned i = 0; i < ThreadsPerCore; i++) begin
        if (used[i] && u_sched.u_queue.u_ram.mem[i] == TidW'(t)) locations = locations + 8'd1;
      end
    end
    `GS_ASSERT_NOW(thread_is_in_exactly_one_location, locations == 8'd1)
    `GS_ASSERT_NOW(parked_thread_was_halted_or_has_trapped, u_sched.clearing_q || state.phase != PhaseParked
                   || state.halted || state.trapped)
    // If ThreadCheckIdle is allowed, the thread is parked or stopped.
    logic checked;
    assign checked = ctl_ready && op == ThreadCheckIdle && ctl_tid_i == TidW'(t);
    `GS_ASSERT_NOW(idle_thread_has_no_instruction_in_flight,
                   !checked || allowed == (state.phase == PhaseStopped || state.phase == PhaseParked))
    // Invariants for the induction.
    `GS_ASSERT_NOW(phase_is_legal, u_sched.clearing_q || state.phase inside {PhaseStopped, PhaseActive, PhaseParked})
    `GS_ASSERT_NOW(states_are_cleared_in_order, !u_sched.clearing_q || TidW'(t) >= u_sched.ctl_tid_q || state == '0)
  end

  `GS_ASSERT_NOW(no_thread_exists_during_the_reset_sequence,
                 !u_sched.clearing_q || (u_sched.ctl_op_q == ThreadClear && valid[7:2] == '0
      && !resolve_back && (!valid[FetchStage] || u_sched.fetch_ctl_q) && used == '0))
  `GS_ASSERT_NOW(operation_issues_after_a_bubble, !u_sched.ctl_alone_q || (u_sched.ctl_valid_q && !valid[FetchStage]))
  `GS_ASSERT_NOW(busy_flag_covers_the_operation, u_sched.ctl_busy_q == (u_sched.ctl_valid_q || u_sched.fetch_ctl_q))
  `GS_ASSERT_NOW(one_operation_at_a_time, !u_sched.ctl_valid_q || !u_sched.fetch_ctl_q)
  `GS_ASSERT_NOW(operation_in_progress_is_offered, !u_sched.ctl_busy_q || u_sched.clearing_q
      || (ctl_valid_i && u_sched.ctl_op_q == op && u_sched.ctl_tid_q == ctl_tid_i))
  // The state that was read in Pick is current in Fetch.
  `GS_ASSERT_NOW(state_is_unchanged_from_pick_to_fetch, !valid[FetchStage]
      || u_sched.fetch_old_q == u_sched.u_states.mem[tid[FetchStage]])
  `GS_ASSERT_NOW(operation_in_fetch_is_the_registered_one, !u_sched.fetch_ctl_q
      || (valid[FetchStage] && tid[FetchStage] == u_sched.ctl_tid_q))
  `GS_ASSERT_NOW(thread_from_the_queue_is_active, !valid[FetchStage] || u_sched.fetch_ctl_q
      || u_sched.fetch_old_q.phase == PhaseActive)
  `GS_ASSERT_NOW(pipeline_slot_is_used_once, !resolve_back || !valid[ResolveStage] || u_sched.resolve_stays_q)
  `GS_ASSERT_NOW(thread_in_resolve_writes_back, resolve_back || !valid[ResolveStage]
      || resolve_wtid == tid[ResolveStage])
  `GS_ASSERT_NOW(full_flag_implies_equal_pointers, !u_sched.u_queue.gen_distributed.full_q || wptr == rptr)
  `GS_ASSERT_NOW(nonempty_flag_is_correct,
                 u_sched.u_queue.some_q == (wptr != rptr || u_sched.u_queue.gen_distributed.full_q))

`ifdef FORMAL
  // Reachable situations.
  logic done;
  assign done = rst_ni && ctl_ready;
  // The operation's thread before the operation
  logic again_q, trapped_q, active_q, parked_q;
  thread_state_t old;
  logic [ThreadsPerCore-1:0] ended_q;
  assign old = u_sched.u_states.mem[u_sched.ctl_tid_q];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ended_q <= '0;
    else if (done && op == ThreadEnd) ended_q[ctl_tid_i] <= 1'b1;
    again_q   <= ended_q[u_sched.ctl_tid_q];
    trapped_q <= old.trapped && old.phase == PhaseStopped;
    active_q  <= old.phase == PhaseActive;
    parked_q  <= old.phase == PhaseParked;
  end

  always_ff @(posedge clk_i) begin
    thread_starts : cover (done && op == ThreadStart && allowed);
    start_of_a_running_thread_is_rejected : cover (done && op == ThreadStart && !allowed);
    thread_restarts_after_its_end : cover (done && op == ThreadStart && allowed && again_q);
    thread_restarts_after_a_trap : cover (done && op == ThreadStart && trapped_q && allowed);
    injection_into_a_running_thread_is_rejected : cover (done && op == ThreadInject && !allowed && active_q);
    parked_thread_accepts_an_injection : cover (done && op == ThreadInject && allowed && !trapped);
    trapped_thread_accepts_an_injection : cover (done && op == ThreadInject && allowed && trapped);
    thread_parks : cover (rst_ni && park);
    parked_thread_resumes : cover (done && op == ThreadResume && !u_sched.idles);
    parked_thread_is_reported : cover (done && op == ThreadReportParked && allowed);
    parked_thread_is_reported_only_once : cover (done && op == ThreadReportParked && !allowed && parked_q);
    thread_is_idle : cover (done && op == ThreadCheckIdle && allowed);
    thread_is_not_idle : cover (done && op == ThreadCheckIdle && !allowed);
    halted_divide_does_not_park : cover (rst_ni && valid[FetchStage] && u_sched.fetch_old_q.halted
        && !u_sched.fetch_ctl_q && !park);
    queue_is_full : cover (rst_ni && u_sched.u_queue.gen_distributed.full_q);
  end
`endif

  logic unused;
  assign unused = ^{pick_tid, pick_start, pick_inject};
endmodule
