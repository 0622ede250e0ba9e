// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Which threads wait, for what, and how their waits end: by an event, in A, or by a release of all, beside A.
///
/// The state of a thread in idle holds one bit, its turn; the thread is in idle while that is equal to the turn in a
/// memory of its own, which releases alone write. So a release frees a thread without a slot of A. The state, which A
/// alone writes, is then out of date; the next request in A for that thread, whatever it is, writes it anew.
///
///     release -> thread by thread: in idle, not in A? -> turn its bit -> [ out ] -> outcomes
///
/// What A decides stands in a register for a cycle before it is written, since the way from a queue of messages to a
/// decision is long. Whoever looks meanwhile is told what is about to be written.
///
/// Threads are freed in the order of their numbers within their cores, so that cores take turns, and threads whose
/// numbers differ in their low bits, by which programs often choose their partners, do as well.
module gs_mailbox_wait_table
  import gs_mailbox_pkg::*;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads  = 64,
  /// bits of a thread's number that say its core: its highest
  parameter  int unsigned CoreBits = 2,
  localparam int unsigned ThreadW  = $clog2(Threads)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// after reset: no thread waits
  input  logic               clear_i,
  input  logic [ThreadW-1:0] clear_thread_i,
  /// A: the request there, and whether it goes; a vote or events, from what it writes
  input  logic               a_valid_i,
  input  logic               a_go_i,
  input  act_e               a_act_i,
  input  logic [ThreadW-1:0] a_thread_i,
  input  logic [1:0]         a_events_i,
  input  logic               a_vote_i,
  /// A: events as they are now: a message, no send
  input  logic [1:0]         a_now_i,
  /// A: the request of a wait has an outcome: which
  output logic               a_settles_o,
  output logic [1:0]         a_woken_o,
  /// A: how the thread's last wait ended
  output logic [1:0]         a_ended_o,
  /// one cycle later: a thread has begun to wait for a message or for the end of its send, or does so no more; after
  /// reset it does not; the thread that was in A is told in any case
  output logic               want_we_o,
  output logic [ThreadW-1:0] want_thread_o,
  output logic               want_message_o,
  output logic               want_send_o,
  /// one cycle later: a thread has begun to wait in idle, or was woken there by a message; its vote
  output logic               enter_o,
  output logic               leave_o,
  output logic               vote_o,
  /// release of all in idle, one cycle; from the next cycle on: whether all agreed
  input  logic               release_i,
  input  logic               agreed_i,
  /// threads are being freed
  output logic               releasing_o,
  /// a thread that is free, and its outcome; free_waits_o: it had to wait, so A should pause
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
    // in idle, and its turn
    Idle0,
    Idle1
  } state_e;
  typedef struct packed {
    state_e     state;
    // what the thread waits for, or its vote in idle; afterwards how the wait ended
    logic [1:0] remembered;
  } wait_t;
  wait_t a_wait, a_wait_next, a_kept, late_q;
  logic a_turn, a_idle, a_freed, a_hit, a_begins, a_inside, a_waits, a_we;
  logic late_we_q, late_message_q, late_send_q;
  logic [ThreadW-1:0] late_thread_q;
  logic [1:0] result;

  assign result     = agreed_i ? gossamer_pkg::IdleResultAgreed : gossamer_pkg::IdleResultIdle;
  assign a_idle     = a_wait.state[1] && a_wait.state[0] == a_turn;
  assign a_freed    = a_wait.state[1] && a_wait.state[0] != a_turn;
  assign a_ended_o  = a_freed ? result : a_wait.remembered;
  assign a_inside   = a_act_i inside {ActWake, ActEnd};
  assign a_waits    = a_act_i inside {ActWait, ActIdle};

  always_comb begin
    // From inside: does the wait end?
    a_woken_o = a_wait.remembered & a_now_i;
    a_hit     = a_wait.state == Waits && a_woken_o != '0;
    if (a_idle) begin
      a_hit     = a_now_i[1];
      a_woken_o = gossamer_pkg::IdleResultMessage;
    end
    // Of the thread: does it begin?
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
      a_wait_next.state      = (a_act_i == ActWait) ? Waits : a_turn ? Idle1 : Idle0;
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
  assign a_wait         = (late_we_q && late_thread_q == a_thread_i) ? late_q : a_kept;

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
    .rdata_o(a_kept)
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
    logic turn;
    logic vote;
  } place_t;
  place_t scan_place;
  logic scanning_q, scan_turn, scan_found, scan_go, out_valid_q, out_late_q, freed_q, freed_vote_q;
  logic [ThreadW-1:0] scan_q, scan_thread, out_thread_q;

  // The core in the low bits.
  assign scan_thread = scan_q >> CoreBits | scan_q << (ThreadW - CoreBits);
  assign scan_found = scan_place.idle && scan_place.turn == scan_turn;
  // A thread that A looks at, or has looked at just now, is left to A for this cycle.
  assign scan_go    = scanning_q && !(a_valid_i && a_thread_i == scan_thread)
      && !(late_we_q && late_thread_q == scan_thread) && (!out_valid_q || free_ready_i);

  gs_ram_sdp #(
    .Width  ($bits(place_t)),
    .Depth  (Threads),
    .Latency(0),
    .Style  ("distributed")
  ) u_places (
    .clk_i,
    .we_i   (late_we_q),
    .wstrb_i(1'b1),
    .waddr_i(late_thread_q),
    .wdata_i({late_q.state, late_q.remembered[0]}),
    .re_i   (1'b1),
    .raddr_i(scan_thread),
    .rdata_o(scan_place)
  );

  for (genvar side = 0; side < 2; side++) begin : gen_turn
    logic turn;
    gs_ram_sdp #(
      .Width  (1),
      .Depth  (Threads),
      .Latency(0),
      .Style  ("distributed")
    ) u_turn (
      .clk_i,
      .we_i   ((scan_go && scan_found) || clear_i),
      .wstrb_i(1'b1),
      .waddr_i(clear_i ? clear_thread_i : scan_thread),
      .wdata_i(!clear_i && !scan_turn),
      .re_i   (1'b1),
      .raddr_i(side == 0 ? a_thread_i : scan_thread),
      .rdata_o(turn)
    );
  end
  assign a_turn    = gen_turn[0].turn;
  assign scan_turn = gen_turn[1].turn;

  assign releasing_o   = scanning_q;
  assign free_valid_o  = out_valid_q;
  assign free_thread_o = out_thread_q;
  assign free_result_o = result;
  assign free_waits_o  = out_late_q;
  assign freed_o       = freed_q;
  assign freed_vote_o  = freed_vote_q;
  assign busy_o        = enter_q || leave_q || scanning_q || out_valid_q || freed_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      scanning_q  <= 1'b0;
      scan_q      <= '0;
      out_valid_q <= 1'b0;
      out_late_q  <= 1'b0;
      freed_q     <= 1'b0;
    end else begin
      if (release_i) scanning_q <= 1'b1;
      else if (scan_go && scan_q == '1) scanning_q <= 1'b0;
      if (scan_go) scan_q <= scan_q + ThreadW'(1);
      if (!out_valid_q || free_ready_i) out_valid_q <= scan_go && scan_found;
      out_late_q <= out_valid_q && !free_ready_i;
      freed_q    <= scan_go && scan_found;
    end
    if (!out_valid_q || free_ready_i) out_thread_q <= scan_thread;
    freed_vote_q <= scan_place.vote;
  end

  `GS_ASSERT_NOW(a_release_ends_before_the_next, !release_i || !scanning_q)
  `GS_ASSERT_NOW(a_wait_ends_once, !(scan_go && scan_found && a_go_i && a_thread_i == scan_thread))
endmodule
