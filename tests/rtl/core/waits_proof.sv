// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of how long anything waits for the core's scheduler, whatever instructions, answers and control do: an answer
/// for its place in the pipeline, the first thread of the run queue for its issue, an operation of control until it is
/// done. Where nothing issues, since the instruction memory is in use, answers alone wait on. For the first thread
/// those cycles count that control leaves it, one behind each operation. The run queue is in order, so a thread issues
/// after at most `Issue` + 1 of these for itself and for each thread before it.
module waits_proof
  import gs_core_pkg::*;
  import gs_thread_pkg::*;
#(
  /// threads; the pipeline has room for seven, so places are scarce from eight on
  parameter  int unsigned ThreadsPerCore = 16,
  /// most cycles that each waits
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

  // As the scheduler's own proof shows, no thread is in the queue twice: it has room.
  `GS_ASSUME_NOW(the_queue_has_room, !u_sched.push || u_sched.unused_ready)
  `GS_ASSUME_HOLD(an_operation_waits, ctl_valid_i, ctl_ready, {ctl_op_i, ctl_tid_i})
  `GS_ASSUME_HOLD(an_answer_waits, rsp_valid_i, rsp_take, rsp_tid_i)
  `GS_ASSUME_HOLD(a_quotient_waits, div_valid_i, div_take, div_tid_i)

  // Cycles of each wait up to now. Answers and quotients share their places; a quotient goes first.
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

  `GS_ASSERT_NOW(an_answer_finds_its_place, 32'(answer_q) <= Answer)
  `GS_ASSERT_NOW(the_first_of_the_queue_issues, 32'(issue_q) <= Issue)
  `GS_ASSERT_NOW(an_operation_is_done, 32'(operation_q) <= Operation)
  `GS_ASSERT_NOW(behind_an_operation_there_is_room, !after_q || !u_sched.ctl_busy_q)
  `GS_COVER_NOW(an_answer_waits_so_long, 32'(answer_q) == Answer)
  `GS_COVER_NOW(the_first_of_the_queue_waits_so_long, 32'(issue_q) == Issue)
  `GS_COVER_NOW(an_operation_waits_so_long, 32'(operation_q) == Operation)

  // What the induction has to know besides.
  `GS_ASSERT_NOW(an_operation_goes_on, 32'(operation_q) <= (u_sched.fetch_ctl_q ? Operation
      : u_sched.ctl_alone_q ? Operation - 1 : u_sched.ctl_valid_q ? Operation - 2 : 0))
  `GS_ASSERT_NOW(patience_counts_the_wait, u_sched.wait_q == answer_q[2:0])
  `GS_ASSERT_NOW(an_operation_is_alone, !u_sched.ctl_alone_q || (u_sched.ctl_valid_q && !valid[FetchStage]))
  `GS_ASSERT_NOW(an_operation_keeps_others_out, u_sched.ctl_busy_q == (u_sched.ctl_valid_q || u_sched.fetch_ctl_q))
  `GS_ASSERT_NOW(one_operation_at_a_time, !u_sched.ctl_valid_q || !u_sched.fetch_ctl_q)
  `GS_ASSERT_NOW(queue_is_full_or_not, !u_sched.u_queue.gen_distributed.full_q
                 || u_sched.u_queue.wptr_q == u_sched.u_queue.rptr_q)
  `GS_ASSERT_NOW(queue_has_something, u_sched.u_queue.some_q
                 == (u_sched.u_queue.wptr_q != u_sched.u_queue.rptr_q || u_sched.u_queue.gen_distributed.full_q))
  `GS_ASSERT_NOW(an_operation_is_offered, !u_sched.ctl_busy_q || u_sched.clearing_q || ctl_valid_i)

  logic unused;
  assign unused = ^{pick_tid, pick_start, pick_inject, allowed, trapped, park, resolve_back, resolve_wtid, tid};
endmodule
