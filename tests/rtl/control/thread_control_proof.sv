// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_thread_control: every requested operation is executed once, at the core of its thread, and its requester
/// learns whether it was allowed; requests and commands alternate; the counted users are the threads that run and those
/// that are about to run; every parked thread is reported, once for each halt.
///
/// The model is the status of each thread. A running thread may request its end, a trap, or the start of another one; a
/// halted one parks some time later. The debug bus halts and resumes threads, injects instructions into trapped ones,
/// and starts threads, after it has activated the last of them. Cores have random delays; a core in which an operation
/// is done parks no thread in that cycle (gs_core_sched).
module thread_control_proof
  import gs_thread_pkg::*;
  import gs_tile_pkg::*;
#(
  localparam int unsigned N = 1 << ThreadW
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 asks_i,
  input logic [1:0]           ask_op_i,
  input logic [ThreadW-1:0]   ask_by_i,
  input logic [TidW-1:0]      ask_other_i,
  input logic                 commands_i,
  input logic [2:0]           command_op_i,
  input logic [ThreadW-1:0]   command_thread_i,
  input logic                 activates_i,
  input logic                 hold_i,
  input logic [TileCores-1:0] ready_i,
  input logic [N-1:0]         parks_i,
  input logic                 parked_ready_i
);
  // The source of the operation in progress, as in gs_thread_control
  localparam logic [1:0] FromRequest = 2'd0, FromCommand = 2'd1, FromSearch = 2'd2;

  // ---- Threads ----
  typedef enum logic [2:0] {Off, Runs, Parked, Trapped, Does, Shown} status_e;  // Does, Shown: trapped, an instruction
  status_e [N-1:0] status_q;
  logic [N-1:0] halted_q, told_q;

  // A thread's request is stable until it is done.
  logic req_q, cmd_q;
  thread_op_e req_op_q, cmd_op_q;
  logic [ThreadW-1:0] req_thread_q, cmd_thread_q, by_q;
  // The thread that the debug bus has activated will be started.
  logic named_q;
  logic [ThreadW-1:0] named_thread_q;

  logic req_ready, cmd_ready, allowed, activate, activate_ready, parked_valid, busy;
  logic [ThreadW:0] started;
  logic [ThreadW-1:0] parked_thread, thread;
  logic [TileCores-1:0] ctl_valid, ctl_ready, ctl_allowed, ctl_trapped, park;
  thread_op_e op;
  logic [TidW-1:0] tid;

  assign activate  = activates_i && !named_q && !cmd_q;
  assign ctl_ready = ctl_valid & ready_i;

  gs_thread_control u_threads (
    .clk_i,
    .rst_ni,
    .req_valid_i      (req_q),
    .req_ready_o      (req_ready),
    .req_op_i         (req_op_q),
    .req_thread_i     (req_thread_q),
    .cmd_valid_i      (cmd_q),
    .cmd_ready_o      (cmd_ready),
    .cmd_op_i         (cmd_op_q),
    .cmd_thread_i     (cmd_thread_q),
    .allowed_o        (allowed),
    .hold_i,
    .activate_valid_i (activate),
    .activate_ready_o (activate_ready),
    .activate_thread_i(command_thread_i),
    .started_o        (started),
    .parked_valid_o   (parked_valid),
    .parked_ready_i,
    .parked_thread_o  (parked_thread),
    .ctl_valid_o      (ctl_valid),
    .ctl_ready_i      (ctl_ready),
    .ctl_op_o         (op),
    .ctl_tid_o        (tid),
    .ctl_allowed_i    (ctl_allowed),
    .ctl_trapped_i    (ctl_trapped),
    .park_i           (park),
    .busy_o           (busy)
  );

  // ---- Cores: the effect of an operation in the model ----
  logic does, may;
  logic [N-1:0] parks;
  assign does = ctl_ready != '0;
  always_comb begin
    thread = ThreadW'(tid);
    for (int unsigned c = 0; c < TileCores; c++) if (ctl_ready[c]) thread = ThreadW'(c << TidW) | ThreadW'(tid);
    for (int unsigned t = 0; t < N; t++) begin
      parks[t] = parks_i[t] && !ctl_ready[t >> TidW]
          && ((status_q[t] == Runs && halted_q[t]) || status_q[t] == Does);
    end
    for (int unsigned c = 0; c < TileCores; c++) park[c] = parks[c<<TidW+:1<<TidW] != '0;
    unique case (op)
      ThreadStart:  may = status_q[thread] inside {Off, Trapped, Shown};
      ThreadInject: may = status_q[thread] inside {Parked, Trapped, Shown};
      ThreadReportParked:   may = status_q[thread] == Parked && !told_q[thread];
      ThreadCheckIdle:  may = !(status_q[thread] inside {Runs, Does});
      default:      may = 1'b1;
    endcase
    ctl_allowed = may ? '1 : '0;
    // The status after the operation.
    ctl_trapped = (status_q[thread] inside {Trapped, Does, Shown} && !(op == ThreadStart && may)) ? '1 : '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      status_q <= '0;
      halted_q <= '0;
      told_q   <= '0;
    end else begin
      for (int unsigned t = 0; t < N; t++) if (parks[t]) status_q[t] <= (status_q[t] == Does) ? Shown : Parked;
      if (does && may) begin
        unique case (op)
          ThreadEnd:   status_q[thread] <= Off;
          ThreadTrap:  status_q[thread] <= Trapped;
          ThreadStart: status_q[thread] <= Runs;
          ThreadInject: status_q[thread] <= (status_q[thread] == Parked) ? Runs : Does;
          ThreadHalt: begin
            halted_q[thread] <= 1'b1;
            told_q[thread]   <= 1'b0;
          end
          ThreadResume: begin
            halted_q[thread] <= 1'b0;
            if (status_q[thread] == Parked) status_q[thread] <= Runs;
          end
          ThreadReportParked: told_q[thread] <= 1'b1;
          default: ;
        endcase
      end
    end
  end

  // ---- Requests and commands ----
  thread_op_e command;
  always_comb begin
    unique case (command_op_i)
      3'd0: command = ThreadHalt;
      3'd1: command = ThreadResume;
      3'd2: command = ThreadInject;
      3'd3: command = ThreadCheckIdle;
      default: command = ThreadStart;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      req_q   <= 1'b0;
      cmd_q   <= 1'b0;
      named_q <= 1'b0;
    end else begin
      if (!req_q) begin
        // Trapped threads that execute an injected instruction may send requests as well.
        req_q <= asks_i && status_q[ask_by_i] inside {Runs, Does} && !parks[ask_by_i];
        by_q  <= ask_by_i;
        unique case (ask_op_i)
          2'd0: {req_op_q, req_thread_q} <= {ThreadEnd, ask_by_i};
          2'd1: {req_op_q, req_thread_q} <= {ThreadTrap, ask_by_i};
          default: {req_op_q, req_thread_q} <=
              {ThreadStart, ThreadW'(ask_by_i >> TidW << TidW) | ThreadW'(ask_other_i)};
        endcase
      end else if (req_ready) begin
        req_q <= 1'b0;
      end
      if (!cmd_q) begin
        cmd_q        <= commands_i && !activate && (command != ThreadStart || named_q);
        cmd_op_q     <= command;
        cmd_thread_q <= command_thread_i;
      end else if (cmd_ready) begin
        cmd_q <= 1'b0;
        if (cmd_op_q == ThreadStart && cmd_thread_q == named_thread_q) named_q <= 1'b0;
      end
      if (activate && activate_ready) begin
        named_q        <= 1'b1;
        named_thread_q <= command_thread_i;
      end
    end
  end
  // A thread that waits for its request neither parks nor acts.
  `GS_ASSUME_NOW(requesting_thread_does_not_park, !req_q || !parks[by_q])

  // ---- Each operation is executed once, at its core, and reported ----
  logic does_q, may_q, trapped_q;
  thread_op_e op_q;
  logic [ThreadW-1:0] thread_q;
  always_ff @(posedge clk_i) begin
    does_q   <= rst_ni && does;
    may_q    <= may;
    trapped_q <= ctl_trapped[0];
    op_q     <= op;
    thread_q <= thread;
  end
  `GS_ASSERT_NOW(at_most_one_core_gets_an_operation, $onehot0(ctl_valid))
  `GS_ASSERT_NOW(operation_is_reported_once,
                 does_q == (req_ready || cmd_ready || (u_threads.from_q == FromSearch && u_threads.done_q)))
  `GS_ASSERT_NOW(operation_is_reported_to_one_requester, !(req_ready && cmd_ready))
  `GS_ASSERT_NOW(request_is_executed_unchanged,
                 !req_ready || (req_q && {op_q, thread_q} == {req_op_q, req_thread_q} && allowed == may_q))
  `GS_ASSERT_NOW(command_is_executed_unchanged,
                 !cmd_ready || (cmd_q && {op_q, thread_q} == {cmd_op_q, cmd_thread_q} && allowed == may_q))
  `GS_ASSERT_NOW(unrequested_operation_only_reports_parked,
                 !does_q || req_ready || cmd_ready || op_q == ThreadReportParked)
  `GS_ASSERT_NOW(no_thread_starts_another_during_a_flush,
                 !(hold_i && u_threads.free && u_threads.from_d == FromRequest && req_op_q == ThreadStart))

  // ---- Fairness: operations of others while one waits ----
  logic [2:0] before_req_q, before_cmd_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !req_q || req_ready || (hold_i && req_op_q == ThreadStart)) before_req_q <= '0;
    else if (does_q) before_req_q <= before_req_q + 3'd1;
    if (!rst_ni || !cmd_q || cmd_ready) before_cmd_q <= '0;
    else if (does_q) before_cmd_q <= before_cmd_q + 3'd1;
  end
  logic in_flight;
  assign in_flight = u_threads.valid_q != '0 || u_threads.done_q;
  `GS_ASSERT_NOW(request_waits_for_at_most_one_other, before_req_q <= 3'd1)
  `GS_ASSERT_NOW(command_waits_for_at_most_two_others, before_cmd_q <= 3'd2)
  `GS_ASSERT_NOW(request_is_next_after_one_other,
                 before_req_q == '0 || (in_flight ? u_threads.from_q == FromRequest : !u_threads.last_request_q))
  `GS_ASSERT_NOW(command_is_next_after_two_others,
                 before_cmd_q <= 3'd1 || (in_flight ? u_threads.from_q == FromCommand : u_threads.last_request_q))
  `GS_ASSERT_NOW(no_search_while_a_command_waits,
                 before_cmd_q == '0 || !in_flight || u_threads.from_q != FromSearch)
  `GS_ASSERT_NOW(operation_source_is_legal, !in_flight || u_threads.from_q <= FromSearch)
  `GS_ASSERT_NOW(priority_flag_matches_the_last_source,
                 !in_flight || u_threads.last_request_q == (u_threads.from_q == FromRequest))

  // ---- Users ----
  logic [N-1:0] users;
  int counted, to_count;
  always_comb begin
    for (int unsigned t = 0; t < N; t++) users[t] = u_threads.u_users.mem[t];
    // The pending change: the cycle after an operation, or after an activation.
    if (u_threads.change_q) users[u_threads.changes_q] = u_threads.becomes_q;
    counted = 32'(started);
    if (!u_threads.clearing_q && u_threads.change_q && u_threads.becomes_q != u_threads.was) begin
      counted += u_threads.becomes_q ? 1 : -1;
    end
    to_count = $countones(users);
  end
  `GS_ASSERT_NOW(started_equals_the_number_of_users, u_threads.clearing_q || counted == to_count)
  `GS_ASSERT_NOW(no_user_before_reset_clears_all,
                 !u_threads.clearing_q || (started == '0 && !named_q && status_q == '0 && u_threads.change_q
                 && !u_threads.becomes_q))
  for (genvar t = 0; t < N; t++) begin : gen_thread
    // A done operation changes its user in the next cycle.
    logic later;
    assign later = u_threads.done_q && u_threads.thread_q == ThreadW'(t)
        && u_threads.op_q inside {ThreadStart, ThreadEnd, ThreadTrap};
    `GS_ASSERT_NOW(running_threads_are_users,
                   u_threads.clearing_q || later || !(status_q[t] inside {Runs, Parked}) || users[t])
    `GS_ASSERT_NOW(users_run_or_are_activated,
                   u_threads.clearing_q || later || !users[t] || status_q[t] inside {Runs, Parked}
                   || (named_q && named_thread_q == ThreadW'(t)))
    `GS_ASSERT_NOW(cleared_threads_are_not_users,
                   !u_threads.clearing_q || t >= 32'(u_threads.changes_q) || !u_threads.u_users.mem[t])

    // ---- Parked threads: the search has yet to visit all unreported ones ----
    logic [ThreadW-1:0] ahead;
    assign ahead = ThreadW'(t) - u_threads.search_q;
    `GS_ASSERT_NOW(unreported_parked_thread_is_searched,
                   !(status_q[t] == Parked && halted_q[t] && !told_q[t]) || 32'(ahead) < 32'(u_threads.left_q)
                   || (u_threads.done_q && u_threads.op_q == ThreadHalt))
    `GS_ASSERT_NOW(status_is_legal, status_q[t] <= Shown)
    `GS_ASSERT_NOW(parked_thread_was_halted, status_q[t] != Parked || halted_q[t])
  end
  `GS_ASSERT_NOW(reported_thread_is_or_was_parked,
                 !u_threads.done_q || u_threads.from_q != FromSearch || u_threads.thread_q == u_threads.search_q)
  `GS_ASSERT_NOW(search_length_is_at_most_all_threads, 32'(u_threads.left_q) <= N)

  // A found thread is reported until the report is accepted; no other thread is reported.
  logic found_q, tells_q;
  logic [ThreadW-1:0] found_thread_q;
  always_ff @(posedge clk_i) begin
    found_q <= rst_ni && does_q && op_q == ThreadReportParked && may_q;
    tells_q <= rst_ni && parked_valid && !parked_ready_i;
    if (does_q) found_thread_q <= thread_q;
  end
  `GS_ASSERT_NOW(parked_thread_is_reported_once, parked_valid == (found_q || tells_q))
  `GS_ASSERT_NOW(report_names_the_parked_thread, !found_q || parked_thread == found_thread_q)
  `GS_ASSERT_HOLD(parked_report_is_stable_while_it_waits, parked_valid, parked_ready_i, parked_thread)

  // ---- A sleeping block does not change ----
  logic rests_q;
  always_ff @(posedge clk_i) rests_q <= rst_ni && !busy && !activate;
  `GS_ASSERT_NOW(sleeping_state_does_not_change,
                 !rests_q || (ctl_valid == '0 && !u_threads.done_q && !u_threads.change_q && !parked_valid))

  // ---- Invariants for the induction ----
  `GS_ASSERT_NOW(operation_is_in_flight_or_done, !(u_threads.valid_q != '0 && u_threads.done_q))
  `GS_ASSERT_NOW(done_follows_an_operation, u_threads.done_q == does_q)
  `GS_ASSERT_NOW(operation_is_at_the_core_of_its_thread,
                 u_threads.valid_q == '0 || u_threads.valid_q == (TileCores'(1) << (32'(u_threads.thread_q) >> TidW)))
  `GS_ASSERT_NOW(request_in_flight_is_the_waiting_one,
                 (u_threads.valid_q == '0 && !u_threads.done_q) || u_threads.from_q != FromRequest
                 || (req_q && {u_threads.op_q, u_threads.thread_q} == {req_op_q, req_thread_q}))
  `GS_ASSERT_NOW(command_in_flight_is_the_waiting_one,
                 (u_threads.valid_q == '0 && !u_threads.done_q) || u_threads.from_q != FromCommand
                 || (cmd_q && {u_threads.op_q, u_threads.thread_q} == {cmd_op_q, cmd_thread_q}))
  `GS_ASSERT_NOW(search_operation_only_reports_parked,
                 (u_threads.valid_q == '0 && !u_threads.done_q) || u_threads.from_q != FromSearch
                 || (u_threads.op_q == ThreadReportParked && u_threads.thread_q == u_threads.search_q
                     && !u_threads.parked_valid_q && u_threads.left_q != '0))
  `GS_ASSERT_NOW(requesting_thread_runs,
                 !req_q || status_q[by_q] inside {Runs, Does} || (u_threads.done_q && req_ready))
  `GS_ASSERT_NOW(thread_ends_only_itself, !req_q || req_op_q == ThreadStart || req_thread_q == by_q)
  `GS_ASSERT_NOW(requests_are_starts_ends_or_traps, !req_q || req_op_q inside {ThreadStart, ThreadEnd, ThreadTrap})
  `GS_ASSERT_NOW(commands_are_legal,
                 !cmd_q || cmd_op_q inside {ThreadHalt, ThreadResume, ThreadInject, ThreadCheckIdle, ThreadStart})
  `GS_ASSERT_NOW(commanded_starts_are_activated, !cmd_q || cmd_op_q != ThreadStart || named_q)
  `GS_ASSERT_NOW(allowed_flag_is_stored,
                 !u_threads.done_q || {u_threads.allowed_q, u_threads.trapped_q} == {may_q, trapped_q})
  logic is_trapped;
  assign is_trapped = status_q[u_threads.thread_q] inside {Trapped, Does, Shown};
  `GS_ASSERT_NOW(started_thread_runs,
                 !u_threads.done_q || u_threads.op_q != ThreadStart
                 || (may_q ? status_q[thread_q] == Runs
                     : trapped_q == is_trapped && status_q[thread_q] inside {Runs, Parked, Does}))
  `GS_ASSERT_NOW(found_parked_thread_is_reported,
                 !u_threads.done_q || u_threads.op_q != ThreadReportParked || status_q[thread_q] != Parked
                 || told_q[thread_q])
  `GS_ASSERT_NOW(ended_thread_is_off, !u_threads.done_q || u_threads.op_q != ThreadEnd || status_q[thread_q] == Off)
  `GS_ASSERT_NOW(trapped_thread_has_trapped,
                 !u_threads.done_q || u_threads.op_q != ThreadTrap || status_q[thread_q] == Trapped)
  `GS_ASSERT_NOW(done_operation_is_stored, !does_q || {op_q, thread_q} == {u_threads.op_q, u_threads.thread_q})

  `GS_COVER_NOW(thread_starts_another, req_ready && op_q == ThreadStart && may_q)
  `GS_COVER_NOW(start_of_a_running_thread_is_rejected, req_ready && op_q == ThreadStart && !may_q)
  `GS_COVER_NOW(start_waits_for_the_end_of_a_flush, req_q && req_op_q == ThreadStart && hold_i && u_threads.free)
  `GS_COVER_NOW(activated_thread_ends_meanwhile,
                 named_q && req_ready && op_q == ThreadEnd && thread_q == named_thread_q)
  `GS_COVER_NOW(command_waits_for_two_others, before_cmd_q == 3'd2)
  `GS_COVER_NOW(parked_thread_is_reported, parked_valid && parked_ready_i)
  `GS_COVER_NOW(trapped_thread_executes_an_injection, |{status_q[0] == Shown, status_q[N-1] == Shown})
  `GS_COVER_NOW(all_threads_run, 32'(started) == N && !u_threads.change_q)
endmodule
