// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_mailbox_idle: from any state, each cycle changes the counts, the epoch and the votes as the events of
/// the cycle require.
///
/// Without a reset the solver chooses the first state, so a carry between any two bits of a count is one cycle away.
/// The reference adds the events as integers. It copies the state of the block in the first cycle only.
module idle_counts_proof
  import gs_idle_pkg::idle_status_t;
#(
  parameter  int unsigned Threads = 4,
  localparam int unsigned ThreadW = $clog2(Threads)
) (
  input logic             clk_i,
  input logic             enter_i,
  input logic             leave_i,
  input logic             vote_i,
  input logic             freed_i,
  input logic             freed_vote_i,
  input logic             sent_i,
  input logic             received_i,
  input logic             dropped_i,
  input logic [ThreadW:0] started_i,
  input logic             quiescent_i,
  input logic             release_i,
  input logic             agreed_i,
  input logic             releasing_i,
  input logic             clear_i
);
  logic rst_ni;
  assign rst_ni = 1'b1;

  idle_status_t idle;
  logic [1:0] epoch;
  logic agreed;

  gs_mailbox_idle #(.Threads(Threads)) u_idle (
    .clk_i,
    .rst_ni,
    .enter_i,
    .leave_i,
    .vote_i,
    .freed_i,
    .freed_vote_i,
    .sent_i,
    .received_i,
    .dropped_i,
    .started_i,
    .quiescent_i,
    .idle_o     (idle),
    .release_i,
    .agreed_i,
    .releasing_i,
    .clear_i,
    .epoch_o    (epoch),
    .agreed_o   (agreed)
  );

  // ---- The reference model ----
  logic known_q = 1'b0;
  int in_idle_q, against_q, in_idle, against;
  logic [31:0] sent_q, received_q;
  logic [1:0] epoch_q;
  logic idle_q, vote_q, started_q, agreed_q;
  // Before the first edge the reference has the state of the block.
  assign in_idle = known_q ? in_idle_q : int'(u_idle.in_idle_q);
  assign against = known_q ? against_q : int'(u_idle.no_votes_q);

  always_ff @(posedge clk_i) begin
    known_q    <= 1'b1;
    in_idle_q  <= in_idle;
    against_q  <= against;
    sent_q     <= idle.sent;
    received_q <= idle.received;
    epoch_q    <= epoch;
    agreed_q   <= agreed;
    idle_q     <= in_idle == int'(started_i) && quiescent_i && !release_i && !releasing_i;
    vote_q     <= against == 0;
    started_q  <= started_i != '0;
    if (enter_i) in_idle_q <= in_idle + 1 - int'(freed_i);
    else in_idle_q <= in_idle - int'(leave_i) - int'(freed_i);
    if (enter_i) against_q <= against + int'(!vote_i) - int'(freed_i && !freed_vote_i);
    else against_q <= against - int'(leave_i && !vote_i) - int'(freed_i && !freed_vote_i);
    if (sent_i) sent_q <= idle.sent + 32'd1;
    if (received_i && dropped_i) received_q <= idle.received + 32'd2;
    else if (received_i || dropped_i) received_q <= idle.received + 32'd1;
    if (release_i) begin
      epoch_q  <= epoch + 2'd1;
      agreed_q <= agreed_i;
    end
    if (clear_i) begin
      in_idle_q  <= 0;
      against_q  <= 0;
      sent_q     <= '0;
      received_q <= '0;
      epoch_q    <= '0;
      idle_q     <= 1'b0;
      vote_q     <= 1'b1;
      started_q  <= 1'b0;
      agreed_q   <= 1'b0;
    end
  end

  // Threads enter while they run, and leave, with the vote of their entry, while they are in idle.
  `GS_ASSUME_NOW(threads_in_idle_vote, against >= 0 && against <= in_idle && in_idle <= int'(Threads))
  `GS_ASSUME_NOW(running_threads_enter, !enter_i || (in_idle < int'(Threads) && !leave_i))
  `GS_ASSUME_NOW(threads_in_idle_leave, in_idle >= int'(leave_i) + int'(freed_i))
  `GS_ASSUME_NOW(votes_are_those_of_the_entries,
                 against >= int'(leave_i && !vote_i) + int'(freed_i && !freed_vote_i)
                     && in_idle - against >= int'(leave_i && vote_i) + int'(freed_i && freed_vote_i))
  `GS_ASSUME_NOW(quiescent_cycles_have_no_event,
                 !quiescent_i || !(enter_i || leave_i || freed_i || sent_i || received_i || dropped_i))

  `GS_ASSERT_NOW(threads_in_idle_are_counted,
                 in_idle == int'(u_idle.in_idle_q) && against == int'(u_idle.no_votes_q))
  `GS_ASSERT_NOW(sent_messages_are_counted, !known_q || idle.sent == sent_q)
  `GS_ASSERT_NOW(received_and_dropped_messages_are_counted, !known_q || idle.received == received_q)
  `GS_ASSERT_NOW(releases_begin_epochs, !known_q || (epoch == epoch_q && idle.epoch == epoch_q && agreed == agreed_q))
  `GS_ASSERT_NOW(idle_if_all_started_threads_are_idle, !known_q || (idle.idle == idle_q && idle.started == started_q))
  `GS_ASSERT_NOW(votes_are_joined, !known_q || idle.vote == vote_q)
  `GS_COVER_NOW(count_wraps, known_q && idle.sent == '0 && !u_idle.idle_q && epoch_q == 2'd1)
  `GS_COVER_NOW(two_threads_leave_idle, known_q && leave_i && freed_i && !quiescent_i)
  `GS_COVER_NOW(all_are_idle, known_q && idle.idle && idle.started && !idle.vote)

  logic unused;
  assign unused = ^idle;
endmodule
