// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// What is proved of gs_report_queue: every report has a place, whatever threads and host do and however long nobody
/// reads.
///
/// Threads run, wait for their report, or are off. One that runs may make a report that it waits for, start another
/// thread and report that, or end and report it; a report may come late behind what it tells, but nothing of another
/// thread comes between. The host may start a thread while `starts_o`; its start is done some time later, and no thread
/// ends or starts another meanwhile. A thread that waits goes on once its report has been read.
///
/// Beside the queue stands a list of the reports in it. Why there are never too many: behind the host's last start each
/// thread makes one report at most that it waits for, so N of them start N threads at most, and no more reports of ends
/// come than threads that run then or are started.
module report_queue_proof
  import gs_control_pkg::*;
  import gs_tile_pkg::*;
#(
  localparam int unsigned N = 1 << ThreadW,
  localparam int unsigned Places = 4 * N,
  localparam int unsigned Deep = 8 * N
) (
  input logic               clk_i,
  input logic               rst_ni,
  /// what happens: a report that a thread waits for, a start by a thread, an end, a start by the host
  input logic [3:0]         happens_i,
  input logic [ThreadW-1:0] thread_i,
  input logic [ThreadW-1:0] other_i,
  input logic [ThreadW-1:0] host_thread_i,
  /// the host's start is done; what has happened is reported
  input logic               done_i,
  input logic               told_i,
  input logic               out_ready_i
);
  typedef enum logic [1:0] {Waits, Starts, Ends} kind_e;

  logic in_valid, in_ready, out_valid, starts, unused_busy;
  report_word_t unused_out;
  logic [N-1:0] alive_q, waiting_q;
  // Happened, and not reported yet, maybe before the host's last start; and the host's start that is under way
  logic owed_q, owed_old_q, host_q;
  kind_e owed_kind_q, kind;
  logic [ThreadW-1:0] owed_thread_q, host_thread_q, thread;

  gs_report_queue u_reports (
    .clk_i,
    .rst_ni,
    .in_valid_i (in_valid),
    .in_ready_o (in_ready),
    .in_i       ('0),
    .out_valid_o(out_valid),
    .out_ready_i,
    .out_o      (unused_out),
    .starts_o   (starts),
    .busy_o     (unused_busy)
  );

  // ---- The list: the oldest first. `old_q` of them were there at the host's last start ----
  typedef struct packed {
    kind_e              kind;
    logic [ThreadW-1:0] thread;
  } entry_t;
  entry_t [Places:0] list_q, list_d;
  int count_q, old_q;
  // The first word of the oldest has been read.
  logic half_q;

  // ---- What threads and host do ----
  logic runs, waits, starts_other, ends, host_starts, host_done, push, pop;
  assign runs         = alive_q[thread_i] && !waiting_q[thread_i] && !owed_q;
  assign waits        = runs && happens_i[0] && in_ready;
  assign starts_other = runs && happens_i[1] && !waits && !host_q && !alive_q[other_i];
  assign ends         = runs && happens_i[2] && !waits && !starts_other && !host_q;
  // The host's start and what a thread asks for take turns.
  assign host_starts  = happens_i[3] && starts && !host_q && !starts_other && !ends && !alive_q[host_thread_i];
  assign host_done    = host_q && done_i;
  assign push         = waits || (owed_q && told_i && in_ready);
  assign in_valid     = push;
  assign thread       = owed_q ? owed_thread_q : thread_i;
  assign kind         = owed_q ? owed_kind_q : Waits;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      alive_q   <= '0;
      waiting_q <= '0;
      owed_q    <= 1'b0;
      owed_old_q <= 1'b0;
      host_q    <= 1'b0;
    end else begin
      if (starts_other || ends) begin
        owed_q        <= 1'b1;
        owed_kind_q   <= ends ? Ends : Starts;
        owed_thread_q <= thread_i;
      end else if (push) begin
        owed_q <= 1'b0;
      end
      if (starts_other) alive_q[other_i] <= 1'b1;
      if (ends) alive_q[thread_i] <= 1'b0;
      owed_old_q <= owed_q && !push && (owed_old_q || host_done);
      if (host_starts) begin
        host_q        <= 1'b1;
        host_thread_q <= host_thread_i;
      end else if (host_done) begin
        host_q <= 1'b0;
        alive_q[host_thread_q] <= 1'b1;
      end
      if (push && kind != Ends) waiting_q[thread] <= 1'b1;
      if (pop && list_q[0].kind != Ends) waiting_q[list_q[0].thread] <= 1'b0;
    end
  end

  // ---- The list, as it goes on ----
  assign pop = out_valid && out_ready_i && half_q;
  always_comb begin
    list_d = list_q;
    if (pop) list_d = list_q >> $bits(entry_t);
    for (int i = 0; i <= Places; i++) begin
      if (push && i == count_q - 32'(pop)) list_d[i] = '{kind: kind, thread: thread};
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= 0;
      old_q   <= 0;
      half_q  <= 1'b0;
    end else begin
      count_q <= count_q + 32'(push) - 32'(pop);
      if (host_done || (push && owed_old_q)) old_q <= count_q + 32'(push) - 32'(pop);
      else if (pop && old_q != 0) old_q <= old_q - 1;
      if (out_valid && out_ready_i) half_q <= !half_q;
    end
    list_q <= list_d;
  end

  `GS_ASSERT_NOW(every_report_has_a_place, count_q <= Places)
  `GS_ASSERT_NOW(words_are_those_of_the_reports,
                 32'(u_reports.count) == 2 * count_q - 32'(u_reports.second_q) - 32'(half_q))

  // ---- Why, for induction ----
  // Reports of the list from `i` on: of ends, and of starts, with the one that is owed.
  int ends_from[Places+2], starts_from[Places+2], waits_all, alive, ends_old;
  always_comb begin
    ends_from[Places+1]   = 32'(owed_q && !owed_old_q && owed_kind_q == Ends);
    starts_from[Places+1] = 32'(owed_q && !owed_old_q && owed_kind_q == Starts);
    waits_all = 0;
    ends_old  = 32'(owed_old_q && owed_kind_q == Ends);
    for (int i = Places; i >= 0; i--) begin
      ends_from[i]   = ends_from[i+1] + 32'(i < count_q && list_q[i].kind == Ends);
      starts_from[i] = starts_from[i+1] + 32'(i < count_q && list_q[i].kind == Starts);
      waits_all += 32'(i < count_q && list_q[i].kind != Ends);
      ends_old  += 32'(i < old_q && i < count_q && list_q[i].kind == Ends);
    end
    alive = 0;
    for (int t = 0; t < N; t++) alive += 32'(alive_q[t]);
  end

  `GS_ASSERT_NOW(counts_are_in_range, count_q >= 0 && old_q >= 0 && old_q <= count_q)
  `GS_ASSERT_NOW(who_waits_runs_nowhere_else, (waiting_q & ~alive_q) == '0)
  `GS_ASSERT_NOW(a_thread_that_is_owed_a_report_does_not_wait, !owed_q || !waiting_q[owed_thread_q])
  `GS_ASSERT_NOW(who_has_started_another_runs, !owed_q || owed_kind_q == Ends || alive_q[owed_thread_q])
  `GS_ASSERT_NOW(the_host_starts_who_is_off, !host_q || !alive_q[host_thread_q])
  `GS_ASSERT_NOW(nothing_comes_behind_what_is_owed_from_before, !owed_old_q || (owed_q && old_q == count_q))
  `GS_ASSERT_NOW(ends_and_starts_are_owed, !owed_q || owed_kind_q inside {Starts, Ends})
  `GS_ASSERT_NOW(each_that_waits_has_its_report, $countones(waiting_q) == waits_all)
  for (genvar t = 0; t < N; t++) begin : gen_thread
    int own;
    always_comb begin
      own = 0;
      for (int i = 0; i <= Places; i++) own += 32'(i < count_q && list_q[i].kind != Ends && 32'(list_q[i].thread) == t);
    end
    `GS_ASSERT_NOW(one_report_for_each_that_waits, own == 32'(waiting_q[t]))
  end
  for (genvar i = 0; i <= Places; i++) begin : gen_suffix
    `GS_ASSERT_NOW(ends_are_of_threads_that_ran_or_were_started,
                   i < old_q || i > count_q || ends_from[i] + alive <= N + starts_from[i])
  end
  `GS_ASSERT_NOW(the_host_starts_only_while_few_have_ended, ends_old <= 2 * N)
  `GS_ASSERT_NOW(few_have_ended_while_the_host_starts,
                 !host_q || ends_from[0] + 32'(owed_old_q && owed_kind_q == Ends) <= 2 * N)
  // Of the words the queue knows as many.
  `GS_ASSERT_NOW(a_word_comes_from_the_list, !out_valid || u_reports.count != 0)
  `GS_ASSERT_NOW(half_of_a_report_is_of_one, !(half_q || u_reports.second_q) || count_q > 0)
  `GS_ASSERT_NOW(a_report_is_read_when_it_is_whole, !(half_q && u_reports.second_q) || count_q > 1)
  logic [$clog2(Deep+1)-1:0] stored;
  assign stored = u_reports.count - $bits(stored)'(u_reports.u_queue.gen_block.out_q)
                - $bits(stored)'(u_reports.u_queue.gen_block.read_q);
  `GS_ASSERT_NOW(the_queue_knows_when_it_is_full, u_reports.u_queue.gen_block.ready_q == (32'(u_reports.count) != Deep))
  `GS_ASSERT_NOW(the_queue_knows_when_it_is_empty, u_reports.u_queue.some_q == (stored != '0) && 32'(stored) <= Deep)
  `GS_ASSERT_NOW(pointers_are_as_far_apart_as_words,
                 u_reports.u_queue.rptr_q + $clog2(Deep)'(stored) == u_reports.u_queue.wptr_q)
  // Starts are allowed by the count of the cycle before.
  `GS_ASSERT_NOW(starts_are_allowed_while_there_are_few_words, !starts || 32'(u_reports.count) < 4 * N - 4 + 1)

  logic unused;
  assign unused = ^{host_starts, host_done};

  `GS_COVER_NOW(a_thread_starts_another, owed_q && owed_kind_q == Starts && push)
  `GS_COVER_NOW(a_report_of_an_end_waits_behind_one_of_a_start,
                 count_q >= 2 && list_q[0].kind == Starts && list_q[1].kind == Ends)
  `GS_COVER_NOW(a_thread_that_waited_goes_on, pop && list_q[0].kind == Waits)
  `GS_COVER_NOW(the_host_may_start_none, !starts && count_q > 1)
  `GS_COVER_NOW(the_host_starts_while_reports_wait, host_done && count_q > 1)
endmodule
