// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of the longest waits for the core's scheduler, for any behaviour of instructions, responses and control: of a
/// response for its pipeline slot, of the first thread of the run queue for its issue, of a control operation until it
/// is done. In cycles without issue, because the instruction memory is in use, only the wait of responses counts. For
/// the first thread only the cycles count that control leaves to threads, one after each operation. The run queue is in
/// order, so a thread issues after at most `Issue` + 1 such cycles for itself and for each thread before it.
module sched_wait_proof
  import gs_core_pkg::*;
  import gs_thread_pkg::*;
#(
  /// threads; the pipeline has seven slots, so slots are scarce from eight threads on
  parameter  int unsigned ThreadsPerCore = 16,
  /// maximum wait of each in cycles
  parameter  int unsigned Answer         = 13,
  parameter  int unsigned Issue          = 1,
  parameter  int unsigned Operation      = 3,
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

  gs_core_sched #(
    .ThreadsPerCore(ThreadsPerCore)
  ) u_sched (
    .clk_i,
    .rst_ni,
    .block_i,
    .ctl_valid_i,
    .ctl_ready_o  (ctl_ready),
    .ctl_op_i     (thread_op_e'(ctl_op_i)),
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

  // The scheduler's own proof shows that no thread is in the queue twice: the queue never overflows.
  `GS_ASSUME_NOW(run_queue_never_overflows, !u_sched.push || u_sched.unused_ready)
  `GS_ASSUME_HOLD(operation_is_stable_while_it_waits, ctl_valid_i, ctl_ready, {ctl_op_i, ctl_tid_i})
  `GS_ASSUME_HOLD(response_is_stable_while_it_waits, rsp_valid_i, rsp_take, rsp_tid_i)
  `GS_ASSUME_HOLD(quotient_is_stable_while_it_waits, div_valid_i, div_take, div_tid_i)

  // Cycles of each wait so far. Responses and quotients share pipeline slots; a quotient has priority.
  logic [4:0] answer_q, issue_q, operation_q;
  // An operation was in Fetch.
  logic after_q;
  always_ff @(posedge clk_i) begin
    after_q <= rst_ni && u_sched.fetch_ctl_q;
    if (!rst_ni) begin
      answer_q    <= '0;
      issue_q     <= '0;
      operation_q <= '0;
    end else begin
      answer_q <= ((rsp_valid_i || div_valid_i) && !rsp_take && !div_take) ? answer_q + 5'd1 : '0;
      if (!u_sched.head_valid || u_sched.pop) issue_q <= '0;
      else if (!block_i && !u_sched.ctl_busy_q) issue_q <= issue_q + 5'd1;
      if (!ctl_valid_i || ctl_ready || u_sched.clearing_q) operation_q <= '0;
      else if (!block_i) operation_q <= operation_q + 5'd1;
    end
  end

  `GS_ASSERT_NOW(response_wait_is_bounded, 32'(answer_q) <= Answer)
  `GS_ASSERT_NOW(issue_wait_is_bounded, 32'(issue_q) <= Issue)
  `GS_ASSERT_NOW(operation_wait_is_bounded, 32'(operation_q) <= Operation)
  `GS_ASSERT_NOW(operation_is_followed_by_a_free_cycle, !after_q || !u_sched.ctl_busy_q)
  `GS_COVER_NOW(response_wait_reaches_its_bound, 32'(answer_q) == Answer)
  `GS_COVER_NOW(issue_wait_reaches_its_bound, 32'(issue_q) == Issue)
  `GS_COVER_NOW(operation_wait_reaches_its_bound, 32'(operation_q) == Operation)

  // Invariants for the induction.
  `GS_ASSERT_NOW(operation_makes_progress, 32'(operation_q) <= (u_sched.fetch_ctl_q ? Operation
      : u_sched.ctl_alone_q ? Operation - 1 : u_sched.ctl_valid_q ? Operation - 2 : 0))
  `GS_ASSERT_NOW(wait_counter_matches_the_wait, u_sched.wait_q == answer_q[2:0])
  `GS_ASSERT_NOW(operation_issues_after_a_bubble, !u_sched.ctl_alone_q || (u_sched.ctl_valid_q && !valid[FetchStage]))
  `GS_ASSERT_NOW(busy_flag_covers_the_operation, u_sched.ctl_busy_q == (u_sched.ctl_valid_q || u_sched.fetch_ctl_q))
  `GS_ASSERT_NOW(one_operation_at_a_time, !u_sched.ctl_valid_q || !u_sched.fetch_ctl_q)
  `GS_ASSERT_NOW(full_flag_implies_equal_pointers, !u_sched.u_queue.gen_distributed.full_q
                 || u_sched.u_queue.wptr_q == u_sched.u_queue.rptr_q)
  `GS_ASSERT_NOW(nonempty_flag_is_correct, u_sched.u_queue.some_q
                 == (u_sched.u_queue.wptr_q != u_sched.u_queue.rptr_q || u_sched.u_queue.gen_distributed.full_q))
  `GS_ASSERT_NOW(operation_in_progress_is_offered, !u_sched.ctl_busy_q || u_sched.clearing_q || ctl_valid_i)

  logic unused;
  assign unused = ^{pick_tid, pick_start, pick_inject, allowed, trapped, park, resolve_back, resolve_wtid, tid};
endmodule
