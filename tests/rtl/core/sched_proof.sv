// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of the core's scheduler: every thread is in exactly one place at any time, whatever instructions, answers and
/// control do. So none is lost, and none is twice in the pipeline or the queue.
module sched_proof #(
  /// threads
  parameter  int unsigned ThreadsPerCore = 4,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore)
) (
  input logic                      clk_i,
  input logic                      rst_ni,
  input logic                      block_i,
  input logic                      start_valid_i,
  input logic [TidW-1:0]           start_tid_i,
  input logic                      inject_valid_i,
  input logic [TidW-1:0]           inject_tid_i,
  input logic [ThreadsPerCore-1:0] halt_i,
  input logic                      c1_again_i,
  input logic                      c6_stays_i,
  input logic                      c7_trap_i,
  // What suspends or traps stops for ever, if this is set.
  input logic                      stops_i,
  input logic                      rsp_valid_i,
  input logic [TidW-1:0]           rsp_tid_i,
  input logic                      div_valid_i,
  input logic [TidW-1:0]           div_tid_i
);
  logic [ThreadsPerCore-1:0] parked;
  logic start_ready, inject_ready, rsp_take, div_take, c7_back, c0_start, c0_inject;
  logic [TidW-1:0] c0_tid, c7_wtid;
  logic [7:1] valid;
  logic [7:1][TidW-1:0] tid;

  gs_core_sched #(
    .ThreadsPerCore(ThreadsPerCore)
  ) u_sched (
    .clk_i,
    .rst_ni,
    .block_i,
    .start_valid_i,
    .start_tid_i,
    .start_ready_o (start_ready),
    .inject_valid_i,
    .inject_tid_i,
    .inject_ready_o(inject_ready),
    .halt_i,
    .parked_o      (parked),
    .c0_tid_o      (c0_tid),
    .c0_start_o    (c0_start),
    .c0_inject_o   (c0_inject),
    .c1_again_i,
    .valid_o       (valid),
    .tid_o         (tid),
    .c6_stays_i,
    .c7_trap_i,
    .rsp_valid_i,
    .rsp_tid_i,
    .rsp_take_o    (rsp_take),
    .div_valid_i,
    .div_tid_i,
    .div_take_o    (div_take),
    .c7_back_o     (c7_back),
    .c7_wtid_o     (c7_wtid)
  );

  // The two places outside: stopped (all are, at first), and waiting for an answer.
  logic [ThreadsPerCore-1:0] stopped_q, stopped_d, waiting_q, waiting_d;

  always_comb begin
    stopped_d = stopped_q;
    waiting_d = waiting_q;
    if (rsp_take) waiting_d[rsp_tid_i] = 1'b0;
    if (div_take) waiting_d[div_tid_i] = 1'b0;
    if (valid[7] && u_sched.c7_stays_q) begin
      if (stops_i) stopped_d[tid[7]] = 1'b1;
      else waiting_d[tid[7]] = 1'b1;
    end else if (valid[7] && c7_trap_i) begin
      stopped_d[tid[7]] = 1'b1;
    end
    if (start_valid_i && start_ready) stopped_d[start_tid_i] = 1'b0;
    if (inject_valid_i && inject_ready) stopped_d[inject_tid_i] = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      stopped_q <= '1;
      waiting_q <= '0;
    end else begin
      stopped_q <= stopped_d;
      waiting_q <= waiting_d;
    end
  end

  // Control: a stopped thread is started; one that is stopped, or halted and parked, gets an instruction.
  `GS_ASSUME_NOW(only_the_stopped_are_started, !start_valid_i || stopped_q[start_tid_i])
  `GS_ASSUME_NOW(only_who_stands_is_injected, !inject_valid_i || stopped_q[inject_tid_i] || (parked[inject_tid_i] &&
      halt_i[inject_tid_i]))
  `GS_ASSUME_NOW(not_both_of_one_thread, !start_valid_i || !inject_valid_i || start_tid_i != inject_tid_i)
  `GS_ASSUME_HOLD(a_start_waits, start_valid_i, start_ready, start_tid_i)
  `GS_ASSUME_HOLD(an_injection_waits, inject_valid_i, inject_ready, inject_tid_i)
  `GS_ASSUME_NOW(answers_are_for_who_waits, !rsp_valid_i || waiting_q[rsp_tid_i])
  `GS_ASSUME_NOW(quotients_are_for_who_waits, !div_valid_i || waiting_q[div_tid_i])
  `GS_ASSUME_NOW(one_answer_each, !rsp_valid_i || !div_valid_i || rsp_tid_i != div_tid_i)

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
    logic [7:0] places;
    always_comb begin
      places = 8'(parked[t]) + 8'(stopped_q[t]) + 8'(waiting_q[t]);
      if (c7_back && c7_wtid == TidW'(t)) places = places + 8'd1;
      // Whom control has sent leaves its old place behind C1.
      if (valid[1] && !u_sched.c1_ctl_q && tid[1] == TidW'(t)) places = places + 8'd1;
      for (int unsigned i = 2; i <= 7; i++) if (valid[i] && tid[i] == TidW'(t)) places = places + 8'd1;
      for (int unsigned i = 0; i < ThreadsPerCore; i++) begin
        if (used[i] && u_sched.u_queue.u_ram.mem[i] == TidW'(t)) places = places + 8'd1;
      end
    end
    `GS_ASSERT_NOW(a_thread_is_in_one_place, places == 8'd1)
  end

  // What induction has to know besides.
  `GS_ASSERT_NOW(a_control_request_stands, !u_sched.ctl_valid_q ||
      (u_sched.ctl_start_q ? start_valid_i && u_sched.ctl_tid_q == start_tid_i :
      u_sched.ctl_inject_q ? inject_valid_i && u_sched.ctl_tid_q == inject_tid_i : parked[u_sched.ctl_tid_q]))
  `GS_ASSERT_NOW(a_control_request_still_stands, !u_sched.c1_ctl_q || (valid[1] && !u_sched.ctl_valid_q &&
      (u_sched.c1_start_q ? start_valid_i && tid[1] == start_tid_i :
      u_sched.c1_inject_q ? inject_valid_i && tid[1] == inject_tid_i : parked[tid[1]])))
  `GS_ASSERT_NOW(what_is_sent_is_one, !u_sched.c1_ctl_q || !u_sched.c1_start_q || !u_sched.c1_inject_q)
  `GS_ASSERT_NOW(a_control_request_is_one, !u_sched.ctl_start_q || !u_sched.ctl_inject_q)
  `GS_ASSERT_NOW(a_place_is_not_used_twice, !c7_back || !valid[7] || u_sched.c7_stays_q)
  `GS_ASSERT_NOW(who_writes_back_is_who_is_there, c7_back || !valid[7] || c7_wtid == tid[7])
  `GS_ASSERT_NOW(queue_is_full_or_not, !u_sched.u_queue.gen_distributed.full_q || wptr == rptr)
  `GS_ASSERT_NOW(queue_has_something,
                 u_sched.u_queue.some_q == (wptr != rptr || u_sched.u_queue.gen_distributed.full_q))

  logic unused;
  assign unused = ^{c0_tid, c0_start, c0_inject};
endmodule
