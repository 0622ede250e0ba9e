// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Wait states of threads: which threads wait, for what, and how their waits end: by an event, in A, or by a release of
/// all threads, outside A.
///
/// The state of a thread in idle includes one bit, its phase; the thread is in idle while this bit equals the phase in
/// a separate memory, which only releases write. So a release frees a thread without a slot of A. The state, which only
/// A writes, is then out of date; the next request of that thread in A, of any kind, rewrites it.
///
///     release -> thread by thread: in idle, not in A? -> flip its phase -> [ out ] -> completions
///
/// A decision of A is registered for one cycle before it is written, since the path from a queue of messages to a
/// decision is long. Readers in that cycle see the value that is about to be written.
///
/// Threads are freed in the order of their numbers within their cores, so that cores alternate, and so do threads whose
/// numbers differ in their low bits, by which programs often choose their partners.
module gs_mailbox_wait_table
  import gs_mailbox_pkg::*;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads  = 64,
  /// number of high bits of a thread's number that select its core
  parameter  int unsigned CoreBits = 2,
  localparam int unsigned ThreadW  = $clog2(Threads)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// after reset: no thread waits
  input  logic               clear_i,
  input  logic [ThreadW-1:0] clear_thread_i,
  /// A: the request there, and whether it goes; a vote or events, from the written value
  input  logic               a_valid_i,
  input  logic               a_go_i,
  input  act_e               a_act_i,
  input  logic [ThreadW-1:0] a_thread_i,
  input  logic [1:0]         a_events_i,
  input  logic               a_vote_i,
  /// A: present events: a message, no send
  input  logic [1:0]         a_now_i,
  /// A: the request of a wait has a completion, and its result
  output logic               a_settles_o,
  output logic [1:0]         a_woken_o,
  /// A: result of the thread's last wait
  output logic [1:0]         a_ended_o,
  /// one cycle later: a thread has begun to wait for a message or for the end of its send, or no longer waits; after
  /// reset it does not; valid for the thread that was in A in any case
  output logic               want_we_o,
  output logic [ThreadW-1:0] want_thread_o,
  output logic               want_message_o,
  output logic               want_send_o,
  /// one cycle later: a thread has entered idle, or was woken there by a message; its vote
  output logic               enter_o,
  output logic               leave_o,
  output logic               vote_o,
  /// release of all threads in idle, one cycle; from the next cycle on: whether all agreed
  input  logic               release_i,
  input  logic               agreed_i,
  /// threads are being freed
  output logic               releasing_o,
  /// a freed thread, and its result; free_waits_o: it had to wait, so A should pause
  output logic               free_valid_o,
  input  logic               free_ready_i,
  output logic [ThreadW-1:0] free_thread_o,
  output logic [1:0]         free_result_o,
  output logic               free_waits_o,
  /// one cycle later: that thread has left idle; its vote
  output logic               freed_o,
  output logic               freed_vote_o,
  output logic               busy_o
);
  // ---- State of the thread in A ----
  typedef enum logic [1:0] {
    Awake,
    Waits,
    // in idle, by phase
    Idle0,
    Idle1
  } state_e;
  typedef struct packed {
    state_e     state;
    // the events that the thread waits for, or its vote in idle; afterwards the result of the wait
    logic [1:0] remembered;
  } wait_t;
  wait_t a_wait, a_wait_next, a_stored, late_q;
  logic a_phase, a_idle, a_freed, a_hit, a_begins, a_inside, a_waits, a_we;
  logic late_we_q, late_message_q, late_send_q;
  logic [ThreadW-1:0] late_thread_q;
  logic [1:0] result;

  assign result     = agreed_i ? gossamer_pkg::IdleResultAgreed : gossamer_pkg::IdleResultIdle;
  assign a_idle     = a_wait.state[1] && a_wait.state[0] == a_phase;
  assign a_freed    = a_wait.state[1] && a_wait.state[0] != a_phase;
  assign a_ended_o  = a_freed ? result : a_wait.remembered;
  assign a_inside   = a_act_i inside {ActWake, ActEnd};
  assign a_waits    = a_act_i inside {ActWait, ActIdle};

  always_comb begin
    // Internal request: does the wait end?
    a_woken_o = a_wait.remembered & a_now_i;
    a_hit     = a_wait.state == Waits && a_woken_o != '0;
    if (a_idle) begin
      a_hit     = a_now_i[1];
      a_woken_o = gossamer_pkg::IdleResultMessage;
    end
    // Request of the thread: does a wait begin?
    a_begins = 1'b0;
    if (a_act_i == ActWait) begin
      a_woken_o = a_events_i & a_now_i;
      a_begins  = a_woken_o == '0;
    end
    if (a_act_i == ActIdle) begin
      a_woken_o = gossamer_pkg::IdleResultMessage;
      a_begins  = !a_now_i[1];
    end
    a_settles_o = a_inside ? a_hit : !a_begins;
    a_we        = a_go_i && (a_freed || a_waits || (a_inside && a_hit));
    a_wait_next = '{state: Awake, remembered: (a_waits || a_hit) ? a_woken_o : a_ended_o};
    if (a_begins) begin
      a_wait_next.state      = (a_act_i == ActWait) ? Waits : a_phase ? Idle1 : Idle0;
      a_wait_next.remembered = (a_act_i == ActWait) ? a_events_i : {1'b0, a_vote_i};
    end
  end

  always_ff @(posedge clk_i) begin
    late_we_q      <= a_we || clear_i;
    late_thread_q  <= clear_i ? clear_thread_i : a_thread_i;
    late_q         <= clear_i ? '0 : a_wait_next;
    late_message_q <= !clear_i && a_begins && (a_act_i == ActIdle || a_events_i[1]);
    late_send_q    <= !clear_i && a_begins && a_act_i == ActWait && a_events_i[0];
  end
  assign want_we_o      = late_we_q;
  assign want_thread_o  = late_thread_q;
  assign want_message_o = late_message_q;
  assign want_send_o    = late_send_q;
  assign a_wait         = (late_we_q && late_thread_q == a_thread_i) ? late_q : a_stored;

  gs_ram_sdp #(
    .Width  ($bits(wait_t)),
    .Depth  (Threads),
    .Latency(0),
    .Style  ("distributed")
  ) u_waits (
    .clk_i,
    .we_i   (late_we_q),
    .wstrb_i(1'b1),
    .waddr_i(late_thread_q),
    .wdata_i(late_q),
    .re_i   (1'b1),
    .raddr_i(a_thread_i),
    .rdata_o(a_stored)
  );

  logic enter_q, leave_q, vote_q;
  assign enter_o = enter_q;
  assign leave_o = leave_q;
  assign vote_o  = vote_q;
  always_ff @(posedge clk_i) begin
    enter_q <= rst_ni && a_go_i && a_act_i == ActIdle && a_begins;
    leave_q <= rst_ni && a_go_i && a_inside && a_idle && a_hit;
    vote_q  <= (a_act_i == ActIdle) ? a_vote_i : a_wait.remembered[0];
  end

  // ---- Release ----
  typedef struct packed {
    logic idle;
    logic phase;
    logic vote;
  } idle_state_t;
  idle_state_t scan_state;
  logic scanning_q, scan_phase, scan_found, scan_go, out_valid_q, out_waited_q, freed_q, freed_vote_q;
  logic [ThreadW-1:0] scan_q, scan_thread, out_thread_q;

  // The core's number is in the low bits.
  assign scan_thread = scan_q >> CoreBits | scan_q << (ThreadW - CoreBits);
  assign scan_found = scan_state.idle && scan_state.phase == scan_phase;
  // A thread that is in A, or was in the last cycle, is left to A for this cycle.
  assign scan_go    = scanning_q && !(a_valid_i && a_thread_i == scan_thread)
      && !(late_we_q && late_thread_q == scan_thread) && (!out_valid_q || free_ready_i);

  gs_ram_sdp #(
    .Width  ($bits(idle_state_t)),
    .Depth  (Threads),
    .Latency(0),
    .Style  ("distributed")
  ) u_idle_states (
    .clk_i,
    .we_i   (late_we_q),
    .wstrb_i(1'b1),
    .waddr_i(late_thread_q),
    .wdata_i({late_q.state, late_q.remembered[0]}),
    .re_i   (1'b1),
    .raddr_i(scan_thread),
    .rdata_o(scan_state)
  );

  for (genvar side = 0; side < 2; side++) begin : gen_side
    logic phase;
    gs_ram_sdp #(
      .Width  (1),
      .Depth  (Threads),
      .Latency(0),
      .Style  ("distributed")
    ) u_phase (
      .clk_i,
      .we_i   ((scan_go && scan_found) || clear_i),
      .wstrb_i(1'b1),
      .waddr_i(clear_i ? clear_thread_i : scan_thread),
      .wdata_i(!clear_i && !scan_phase),
      .re_i   (1'b1),
      .raddr_i(side == 0 ? a_thread_i : scan_thread),
      .rdata_o(phase)
    );
  end
  assign a_phase    = gen_side[0].phase;
  assign scan_phase = gen_side[1].phase;

  assign releasing_o   = scanning_q;
  assign free_valid_o  = out_valid_q;
  assign free_thread_o = out_thread_q;
  assign free_result_o = result;
  assign free_waits_o  = out_waited_q;
  assign freed_o       = freed_q;
  assign freed_vote_o  = freed_vote_q;
  assign busy_o        = enter_q || leave_q || scanning_q || out_valid_q || freed_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      scanning_q   <= 1'b0;
      scan_q       <= '0;
      out_valid_q  <= 1'b0;
      out_waited_q <= 1'b0;
      freed_q      <= 1'b0;
    end else begin
      if (release_i) scanning_q <= 1'b1;
      else if (scan_go && scan_q == '1) scanning_q <= 1'b0;
      if (scan_go) scan_q <= scan_q + ThreadW'(1);
      if (!out_valid_q || free_ready_i) out_valid_q <= scan_go && scan_found;
      out_waited_q <= out_valid_q && !free_ready_i;
      freed_q      <= scan_go && scan_found;
    end
    if (!out_valid_q || free_ready_i) out_thread_q <= scan_thread;
    freed_vote_q <= scan_state.vote;
  end

  `GS_ASSERT_NOW(releases_do_not_overlap, !release_i || !scanning_q)
  `GS_ASSERT_NOW(waits_end_once, !(scan_go && scan_found && a_go_i && a_thread_i == scan_thread))
endmodule
