// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of the core's scheduler: every thread is in exactly one place at any time, whatever instructions, answers and
/// control do. So none is lost, and none is twice in the pipeline or the queue. Control may ask for anything at any
/// time, but for the end of a thread that has not asked for it. Covers show what can happen, and so that the
/// assumptions leave room for it.
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

  // The place outside: waiting for an answer, or for its end.
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

  // Control: an operation is offered until it is done; only what follows on a reset forgets threads. A thread has one
  // request under way, which ends in an answer or in its end.
  `GS_ASSUME_HOLD(an_operation_waits, ctl_valid_i, ctl_ready, {ctl_op_i, ctl_tid_i})
  `GS_ASSUME_NOW(nothing_is_forgotten, !ctl_valid_i || op != ThreadClear)
  `GS_ASSUME_NOW(operations_are_known, !ctl_valid_i || op <= ThreadCheckIdle)
  `GS_ASSUME_NOW(threads_end_that_wait, !ends || waiting_q[ctl_tid_i])
  `GS_ASSUME_NOW(answers_are_for_threads_that_wait, !rsp_valid_i || waiting_q[rsp_tid_i])
  `GS_ASSUME_NOW(quotients_are_for_threads_that_wait, !div_valid_i || waiting_q[div_tid_i])
  `GS_ASSUME_NOW(one_answer_each, !rsp_valid_i || !div_valid_i || rsp_tid_i != div_tid_i)
  `GS_ASSUME_NOW(no_answer_to_an_end, !ends || !((rsp_valid_i && rsp_tid_i == ctl_tid_i) || (div_valid_i && div_tid_i
      == ctl_tid_i)))

  // Places of the queue that are in use.
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
    logic [7:0] places;
    logic left;
    // A thread that control sends leaves its old place behind Fetch. While states are cleared there are no threads.
    assign state = u_sched.u_states.mem[t];
    assign left  = !u_sched.clearing_q;
    always_comb begin
      places = 8'(!left || state.phase == PhaseStopped) + 8'(left && state.phase == PhaseParked) + 8'(waiting_q[t]);
      if (resolve_back && resolve_wtid == TidW'(t)) places = places + 8'd1;
      if (valid[FetchStage] && !u_sched.fetch_ctl_q && tid[FetchStage] == TidW'(t)) places = places + 8'd1;
      for (int unsigned i = 2; i <= 7; i++) if (valid[i] && tid[i] == TidW'(t)) places = places + 8'd1;
      for (int unsigned i = 0; i < ThreadsPerCore; i++) begin
        if (used[i] && u_sched.u_queue.u_ram.mem[i] == TidW'(t)) places = places + 8'd1;
      end
    end
    `GS_ASSERT_NOW(a_thread_is_in_one_place, places == 8'd1)
    `GS_ASSERT_NOW(a_parked_thread_was_halted_or_has_trapped, u_sched.clearing_q || state.phase != PhaseParked
                   || state.halted || state.trapped)
    // Whoever is told that a thread rests may rely on it: it is parked, or nowhere.
    logic stands;
    assign stands = ctl_ready && op == ThreadCheckIdle && ctl_tid_i == TidW'(t);
    `GS_ASSERT_NOW(a_thread_that_rests_has_nothing_in_flight,
                   !stands || allowed == (state.phase == PhaseStopped || state.phase == PhaseParked))
    // What induction has to know besides.
    `GS_ASSERT_NOW(a_place_is_known, u_sched.clearing_q || state.phase inside {PhaseStopped, PhaseActive, PhaseParked})
    `GS_ASSERT_NOW(states_are_cleared_in_order, !u_sched.clearing_q || TidW'(t) >= u_sched.ctl_tid_q || state == '0)
  end

  `GS_ASSERT_NOW(clearing_is_alone, !u_sched.clearing_q || (u_sched.ctl_op_q == ThreadClear && valid[7:2] == '0
      && !resolve_back && (!valid[FetchStage] || u_sched.fetch_ctl_q) && used == '0))
  `GS_ASSERT_NOW(an_operation_is_alone, !u_sched.ctl_alone_q || (u_sched.ctl_valid_q && !valid[FetchStage]))
  `GS_ASSERT_NOW(an_operation_keeps_others_out, u_sched.ctl_busy_q == (u_sched.ctl_valid_q || u_sched.fetch_ctl_q))
  `GS_ASSERT_NOW(one_operation_at_a_time, !u_sched.ctl_valid_q || !u_sched.fetch_ctl_q)
  `GS_ASSERT_NOW(an_operation_is_offered, !u_sched.ctl_busy_q || u_sched.clearing_q
      || (ctl_valid_i && u_sched.ctl_op_q == op && u_sched.ctl_tid_q == ctl_tid_i))
  // The state that was read in Pick is still the thread's in Fetch.
  `GS_ASSERT_NOW(a_state_does_not_change_between, !valid[FetchStage]
      || u_sched.fetch_old_q == u_sched.u_states.mem[tid[FetchStage]])
  `GS_ASSERT_NOW(an_operation_is_in_its_place, !u_sched.fetch_ctl_q
      || (valid[FetchStage] && tid[FetchStage] == u_sched.ctl_tid_q))
  `GS_ASSERT_NOW(an_active_thread_left_the_queue, !valid[FetchStage] || u_sched.fetch_ctl_q
      || u_sched.fetch_old_q.phase == PhaseActive)
  `GS_ASSERT_NOW(a_place_is_not_used_twice, !resolve_back || !valid[ResolveStage] || u_sched.resolve_stays_q)
  `GS_ASSERT_NOW(the_thread_there_writes_back, resolve_back || !valid[ResolveStage]
      || resolve_wtid == tid[ResolveStage])
  `GS_ASSERT_NOW(queue_is_full_or_not, !u_sched.u_queue.gen_distributed.full_q || wptr == rptr)
  `GS_ASSERT_NOW(queue_has_something,
                 u_sched.u_queue.some_q == (wptr != rptr || u_sched.u_queue.gen_distributed.full_q))

`ifdef FORMAL
  // What is to be seen at least once.
  logic done;
  assign done = rst_ni && ctl_ready;
  // The thread of an operation before it
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
    a_thread_starts : cover (done && op == ThreadStart && allowed);
    a_start_of_a_thread_that_runs_is_refused : cover (done && op == ThreadStart && !allowed);
    a_thread_starts_again_after_its_end : cover (done && op == ThreadStart && allowed && again_q);
    a_thread_starts_again_after_a_trap : cover (done && op == ThreadStart && trapped_q && allowed);
    a_thread_that_runs_gets_no_instruction : cover (done && op == ThreadInject && !allowed && active_q);
    a_parked_thread_gets_an_instruction : cover (done && op == ThreadInject && allowed && !trapped);
    a_trapped_thread_gets_an_instruction : cover (done && op == ThreadInject && allowed && trapped);
    a_thread_parks : cover (rst_ni && park);
    a_parked_thread_goes_on : cover (done && op == ThreadResume && !u_sched.idles);
    a_thread_is_told_of : cover (done && op == ThreadReportParked && allowed);
    a_thread_is_told_of_once : cover (done && op == ThreadReportParked && !allowed && parked_q);
    a_thread_rests : cover (done && op == ThreadCheckIdle && allowed);
    a_thread_does_not_rest : cover (done && op == ThreadCheckIdle && !allowed);
    a_divide_does_not_park : cover (rst_ni && valid[FetchStage] && u_sched.fetch_old_q.halted && !u_sched.fetch_ctl_q
        && !park);
    the_queue_is_full : cover (rst_ni && u_sched.u_queue.gen_distributed.full_q);
  end
`endif

  logic unused;
  assign unused = ^{pick_tid, pick_start, pick_inject};
endmodule
