// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_report_queue: the queue never overflows, for any behaviour of threads and host, however long the host
/// reads no report.
///
/// Threads run, wait for their report, or are off. A running thread may send a report that it waits for, start another
/// thread and report that, or end and report it; a report may follow its event late, but no event of another thread
/// occurs between. The host may start a thread while `starts_o`; its start is done some time later, and no thread ends
/// or starts another meanwhile. A waiting thread resumes when its report has been read.
///
/// The model is a list of the reports in the queue. The bound: after the host's last start each thread sends at most
/// one report that it waits for, so N threads start at most N threads, and the number of end reports is at most that
/// of threads that run then or are started.
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
  /// events: a report that a thread waits for, a start by a thread, an end, a start by the host
  input logic [3:0]         happens_i,
  input logic [ThreadW-1:0] thread_i,
  input logic [ThreadW-1:0] other_i,
  input logic [ThreadW-1:0] host_thread_i,
  /// the host's start is done; the event is reported
  input logic               done_i,
  input logic               told_i,
  input logic               out_ready_i
);
  typedef enum logic [1:0] {Waits, Starts, Ends} kind_e;

  logic in_valid, in_ready, out_valid, starts, unused_busy;
  report_word_t unused_out;
  logic [N-1:0] alive_q, waiting_q;
  // An unreported event, maybe before the host's last start; and the host's start in progress
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

  // ---- The list, the oldest report first. `old_q` of them were queued at the host's last start ----
  typedef struct packed {
    kind_e              kind;
    logic [ThreadW-1:0] thread;
  } entry_t;
  entry_t [Places:0] list_q, list_d;
  int count_q, old_q;
  // The first word of the oldest report has been read.
  logic half_q;

  // ---- Events of threads and host ----
  logic runs, waits, starts_other, ends, host_starts, host_done, push, pop;
  assign runs         = alive_q[thread_i] && !waiting_q[thread_i] && !owed_q;
  assign waits        = runs && happens_i[0] && in_ready;
  assign starts_other = runs && happens_i[1] && !waits && !host_q && !alive_q[other_i];
  assign ends         = runs && happens_i[2] && !waits && !starts_other && !host_q;
  // The host's start and a thread's request never overlap.
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

  // ---- Updates of the list ----
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

  `GS_ASSERT_NOW(report_queue_never_overflows, count_q <= Places)
  `GS_ASSERT_NOW(words_match_the_reports,
                 32'(u_reports.count) == 2 * count_q - 32'(u_reports.second_q) - 32'(half_q))

  // ---- Invariants for the induction ----
  // Reports of ends and of starts in the list from `i` on, including the owed one.
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
  `GS_ASSERT_NOW(waiting_threads_are_alive, (waiting_q & ~alive_q) == '0)
  `GS_ASSERT_NOW(thread_with_an_owed_report_does_not_wait, !owed_q || !waiting_q[owed_thread_q])
  `GS_ASSERT_NOW(thread_that_started_another_is_alive, !owed_q || owed_kind_q == Ends || alive_q[owed_thread_q])
  `GS_ASSERT_NOW(host_starts_only_stopped_threads, !host_q || !alive_q[host_thread_q])
  `GS_ASSERT_NOW(owed_old_report_follows_all_old_reports, !owed_old_q || (owed_q && old_q == count_q))
  `GS_ASSERT_NOW(owed_reports_are_ends_or_starts, !owed_q || owed_kind_q inside {Starts, Ends})
  `GS_ASSERT_NOW(waiting_threads_equal_their_reports, $countones(waiting_q) == waits_all)
  for (genvar t = 0; t < N; t++) begin : gen_thread
    int own;
    always_comb begin
      own = 0;
      for (int i = 0; i <= Places; i++) own += 32'(i < count_q && list_q[i].kind != Ends && 32'(list_q[i].thread) == t);
    end
    `GS_ASSERT_NOW(waiting_thread_has_exactly_one_report, own == 32'(waiting_q[t]))
  end
  for (genvar i = 0; i <= Places; i++) begin : gen_suffix
    `GS_ASSERT_NOW(ends_are_bounded_by_starts,
                   i < old_q || i > count_q || ends_from[i] + alive <= N + starts_from[i])
  end
  `GS_ASSERT_NOW(old_ends_are_bounded, ends_old <= 2 * N)
  `GS_ASSERT_NOW(ends_are_bounded_during_a_host_start,
                 !host_q || ends_from[0] + 32'(owed_old_q && owed_kind_q == Ends) <= 2 * N)
  // The queue's word count matches the list.
  `GS_ASSERT_NOW(output_word_is_of_the_list, !out_valid || u_reports.count != 0)
  `GS_ASSERT_NOW(half_report_implies_a_report, !(half_q || u_reports.second_q) || count_q > 0)
  `GS_ASSERT_NOW(report_is_read_after_both_words, !(half_q && u_reports.second_q) || count_q > 1)
  logic [$clog2(Deep+1)-1:0] stored;
  assign stored = u_reports.count - $bits(stored)'(u_reports.u_queue.gen_block.out_q)
                - $bits(stored)'(u_reports.u_queue.gen_block.read_q);
  `GS_ASSERT_NOW(ready_flag_is_correct, u_reports.u_queue.gen_block.ready_q == (32'(u_reports.count) != Deep))
  `GS_ASSERT_NOW(nonempty_flag_is_correct, u_reports.u_queue.some_q == (stored != '0) && 32'(stored) <= Deep)
  `GS_ASSERT_NOW(pointer_distance_equals_word_count,
                 u_reports.u_queue.rptr_q + $clog2(Deep)'(stored) == u_reports.u_queue.wptr_q)
  // The count of the previous cycle allows starts.
  `GS_ASSERT_NOW(starts_are_allowed_only_below_the_limit, !starts || 32'(u_reports.count) < 4 * N - 4 + 1)

  logic unused;
  assign unused = ^{host_starts, host_done};

  `GS_COVER_NOW(thread_starts_another, owed_q && owed_kind_q == Starts && push)
  `GS_COVER_NOW(end_report_follows_a_start_report,
                 count_q >= 2 && list_q[0].kind == Starts && list_q[1].kind == Ends)
  `GS_COVER_NOW(waiting_thread_resumes, pop && list_q[0].kind == Waits)
  `GS_COVER_NOW(host_start_is_blocked, !starts && count_q > 1)
  `GS_COVER_NOW(host_starts_while_reports_are_queued, host_done && count_q > 1)
endmodule
