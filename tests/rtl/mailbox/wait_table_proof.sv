// SPDX-License-Identifier: Apache-2.0

/// Proof of the wait table: a wait ends once, when it should, with the right result.
///
/// The reference model has a state for each thread: it runs, waits, is in idle, or has been freed and its completion is
/// not yet accepted. A thread makes requests only while it runs; internal requests arrive at any time, for any thread.
/// A release occurs at any time except during another, and frees exactly the threads in idle.
module wait_table_proof
  import gs_mailbox_pkg::*;
#(
  // None affects the proof; the tests set the first for all proofs.
  parameter  bit          Multicast = 1'b1,
  parameter  int unsigned Threads   = 4,
  parameter  int unsigned CoreBits  = 1,
  localparam int unsigned ThreadW   = $clog2(Threads)
) (
  input logic               clk_i,
  input logic               a_valid_i,
  input logic               a_go_i,
  input logic [2:0]         a_kind_i,
  input logic [ThreadW-1:0] a_thread_i,
  input logic [1:0]         a_events_i,
  input logic               a_vote_i,
  input logic [1:0]         a_now_i,
  input logic               release_i,
  input logic               agreed_i,
  input logic               free_ready_i
);
  logic started_q = 1'b0;
  logic rst_ni;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // After reset the threads are initialized one by one.
  logic [ThreadW:0] walk_q;
  logic clear;
  assign clear = !walk_q[ThreadW];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) walk_q <= '0;
    else if (clear) walk_q <= walk_q + 1'b1;
  end

  logic a_valid, a_go, release_all, agreed_q, settles, want_we, want_message, want_send, enter, leave, vote, releasing;
  logic free_valid, free_ready, free_waits, freed, freed_vote, busy, internal, own, waits, unused;
  logic [1:0] woken, ended, free_result;
  logic [ThreadW-1:0] free_thread, want_thread;
  act_e act;

  assign a_valid     = a_valid_i && !clear && rst_ni;
  assign a_go        = a_valid && a_go_i;
  assign release_all = release_i && !clear && rst_ni && !releasing;
  assign free_ready  = free_ready_i && free_valid;
  always_comb begin
    act = ActState;
    unique case (a_kind_i)
      3'd0:    act = ActWait;
      3'd1:    act = ActIdle;
      3'd2:    act = ActWake;
      3'd3:    act = ActEnd;
      default: ;
    endcase
  end
  assign internal = act inside {ActWake, ActEnd};
  assign waits  = act inside {ActWait, ActIdle};
  assign own    = !internal;
  assign unused = ^{Multicast, free_waits};
  always_ff @(posedge clk_i) if (release_all) agreed_q <= agreed_i;

  gs_mailbox_wait_table #(
    .Threads (Threads),
    .CoreBits(CoreBits)
  ) u_waits (
    .clk_i,
    .rst_ni,
    .clear_i         (clear),
    .clear_thread_i  (walk_q[ThreadW-1:0]),
    .a_valid_i       (a_valid),
    .a_go_i          (a_go),
    .a_act_i         (act),
    .a_thread_i,
    .a_events_i,
    .a_vote_i,
    .a_now_i,
    .a_settles_o     (settles),
    .a_woken_o       (woken),
    .a_ended_o       (ended),
    .want_we_o       (want_we),
    .want_thread_o   (want_thread),
    .want_message_o  (want_message),
    .want_send_o     (want_send),
    .enter_o         (enter),
    .leave_o         (leave),
    .vote_o          (vote),
    .release_i       (release_all),
    .agreed_i        (agreed_q),
    .releasing_o     (releasing),
    .free_valid_o    (free_valid),
    .free_ready_i    (free_ready),
    .free_thread_o   (free_thread),
    .free_result_o   (free_result),
    .free_waits_o    (free_waits),
    .freed_o         (freed),
    .freed_vote_o    (freed_vote),
    .busy_o          (busy)
  );

  // ---- The reference model ----
  typedef enum logic [1:0] {
    Runs,
    Waits,
    Idles,
    Freed
  } doing_e;
  doing_e doing_q[Threads];
  logic [1:0] registered_q[Threads];   // events, or bit 0 the vote
  logic [1:0] ended_q[Threads];  // result of the last wait
  // The result is known: the thread has waited since reset, and no release occurred since its last wait ended.
  logic [Threads-1:0] known_q, due_q;
  // Registered for an event, one cycle later: an event of the thread is to be reported to A.
  logic [Threads-1:0] wanted_q, wanted;
  logic should_want_q, runs_on_q;
  logic [1:0] should_events_q;
  logic [ThreadW-1:0] registered_thread_q;
  always_comb begin
    wanted = wanted_q;
    if (want_we) wanted[want_thread] = want_message || want_send;
  end
  logic begins, event_here, decides, should_enter_q, should_leave_q, should_free_q, should_vote_q, should_free_vote_q;
  logic [ThreadW-1:0] decided;

  assign begins     = (act == ActWait) ? (a_events_i & a_now_i) == '0 : !a_now_i[1];
  assign event_here = (doing_q[a_thread_i] == Waits) ? (registered_q[a_thread_i] & a_now_i) != '0
      : doing_q[a_thread_i] == Idles && a_now_i[1];
  assign decides    = u_waits.scan_go && u_waits.scan_found;
  assign decided    = u_waits.scan_thread;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      known_q        <= '0;
      due_q          <= '0;
      wanted_q       <= '0;
      should_enter_q <= 1'b0;
      should_leave_q <= 1'b0;
      should_free_q  <= 1'b0;
      should_want_q  <= 1'b0;
      runs_on_q      <= 1'b0;
      for (int unsigned t = 0; t < Threads; t++) doing_q[t] <= Runs;
    end else begin
      if (release_all) begin
        known_q <= '0;
        for (int unsigned t = 0; t < Threads; t++) due_q[t] <= doing_q[t] == Idles;
      end
      if (a_go && own && waits) begin
        if (begins) begin
          doing_q[a_thread_i]      <= (act == ActWait) ? Waits : Idles;
          registered_q[a_thread_i] <= (act == ActWait) ? a_events_i : {1'b0, a_vote_i};
        end
        known_q[a_thread_i] <= !begins;
        ended_q[a_thread_i] <= woken;
      end
      if (a_go && internal && settles) begin
        doing_q[a_thread_i] <= Runs;
        due_q[a_thread_i]   <= 1'b0;
        known_q[a_thread_i] <= 1'b1;
        ended_q[a_thread_i] <= woken;
      end
      if (decides) begin
        doing_q[decided] <= Freed;
        due_q[decided]   <= 1'b0;
        known_q[decided] <= 1'b1;
        ended_q[decided] <= free_result;
      end
      if (free_ready) doing_q[free_thread] <= Runs;
      wanted_q <= wanted;
      should_want_q <= a_go && waits && begins;
      runs_on_q     <= a_go && own && !(waits && begins);
      should_enter_q <= a_go && act == ActIdle && begins;
      should_leave_q <= a_go && internal && settles && doing_q[a_thread_i] == Idles;
      should_free_q  <= decides;
    end
    should_events_q     <= (act == ActIdle) ? 2'd2 : a_events_i;
    registered_thread_q <= a_thread_i;
    should_vote_q       <= (act == ActIdle) ? a_vote_i : registered_q[a_thread_i][0];
    should_free_vote_q  <= registered_q[decided][0];
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) assume (!a_valid || !own || doing_q[a_thread_i] == Runs);
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && !clear) begin
      waits_end_when_their_event_occurs: assert (!a_valid || !internal || settles == event_here);
      waits_end_at_once_if_the_event_has_occurred: assert (!a_valid || !waits || settles == !begins);
      other_requests_complete: assert (!a_valid || internal || waits || settles);
      only_threads_in_idle_are_freed: assert (!decides || doing_q[decided] == Idles);
      freed_threads_complete_once: assert (!free_valid || doing_q[free_thread] == Freed);
      result_of_a_wait_is_kept: assert (!a_valid || !known_q[a_thread_i] || doing_q[a_thread_i] != Runs
                                   || ended == ended_q[a_thread_i]);
      counts_are_exact: assert (enter == should_enter_q && leave == should_leave_q && freed == should_free_q);
      votes_are_exact: assert ((!(enter || leave) || vote == should_vote_q)
                               && (!freed || freed_vote == should_free_vote_q));
      releases_free_all_threads_in_idle: assert (releasing || due_q == '0);
      waits_are_registered: assert (!should_want_q || (want_we && want_thread == registered_thread_q
                                                 && {want_message, want_send} == should_events_q));
      running_threads_are_not_registered: assert (!runs_on_q || !wanted[registered_thread_q]);
      idle_only_without_work: assert (busy || !(enter || leave || freed || free_valid));
      c_freed_then_woken: cover (a_go && internal && !settles && known_q[a_thread_i] && ended == 2'd2
                                 && u_waits.a_freed);
      c_in_a_when_it_would_be_freed:
      cover (releasing && a_valid && a_thread_i == u_waits.scan_thread && u_waits.scan_found);
      c_again_in_idle_while_others_are_freed: cover (a_go && act == ActIdle && begins && releasing && u_waits.a_freed);
      c_freed_thread_had_to_wait: cover (free_waits && free_ready);
    end
  end

`ifdef INDUCTION
  // Invariants between the memories and the reference model.
  logic [1:0] state[Threads];
  logic [Threads-1:0] phase;
  for (genvar t = 0; t < int'(Threads); t++) begin : gen_thread
    logic [1:0] remembered;
    logic [2:0] copy;
    logic late;
    assign late                   = u_waits.late_we_q && 32'(u_waits.late_thread_q) == t;
    assign {state[t], remembered} = late ? u_waits.late_q : u_waits.u_waits.mem[t];
    assign copy                   = late ? {u_waits.late_q.state, u_waits.late_q.remembered[0]}
        : u_waits.u_idle_states.mem[t];
    assign phase[t]                = u_waits.gen_side[0].u_phase.mem[t];
    // The thread's position in the order of a release.
    localparam int unsigned Position = (t % (Threads >> CoreBits) << CoreBits) | t / (Threads >> CoreBits);
    always_ff @(posedge clk_i) begin
      if (rst_ni && 32'(walk_q) > t) begin
        assert (u_waits.gen_side[1].u_phase.mem[t] == phase[t]);
        assert (copy == {state[t], remembered[0]});
        assert ((doing_q[t] == Idles) == (state[t] == {1'b1, phase[t]}));
        assert ((doing_q[t] == Waits) == (state[t] == 2'd1));
        assert (!(doing_q[t] inside {Waits, Idles}) || remembered == registered_q[t]);
        assert (!known_q[t] || !(doing_q[t] inside {Runs, Freed})
                || ended_q[t] == ((state[t] == {1'b1, !phase[t]}) ? free_result : remembered));
        assert ((doing_q[t] == Freed) == (free_valid && 32'(free_thread) == t));
        assert (!wanted[t] || state[t] != '0);
        assert (!due_q[t] || (doing_q[t] == Idles && releasing && Position >= 32'(u_waits.scan_q)));
      end
      if (rst_ni && clear) assert (doing_q[t] == Runs && !known_q[t] && !due_q[t] && !wanted_q[t]);
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (32'(walk_q) <= Threads);
      assert (!clear || (!releasing && !free_valid && !enter && !leave && !freed && u_waits.scan_q == '0));
      assert (releasing || u_waits.scan_q == '0);
    end
  end
`endif
endmodule
