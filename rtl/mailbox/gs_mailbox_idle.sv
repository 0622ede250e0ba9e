// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Idle state of a mailbox: number of threads in idle, votes, counts of messages, the epoch.
///
/// A release begins the next epoch at once. Then gs_mailbox_wait_table frees the threads one by one. No message is
/// distributed before the last thread is free, so all of them are released before any sees a message of the new epoch.
module gs_mailbox_idle
  import gs_idle_pkg::idle_status_t;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads = 64,
  localparam int unsigned ThreadW = $clog2(Threads)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// a thread enters idle, or leaves it; its vote
  input  logic               enter_i,
  input  logic               leave_i,
  input  logic               vote_i,
  /// a release has freed a thread; its vote
  input  logic               freed_i,
  input  logic               freed_vote_i,
  /// a message is sent; one is in its slot, for its threads; one of this job was dropped
  input  logic               sent_i,
  input  logic               received_i,
  input  logic               dropped_i,
  /// threads that are started; the mailbox has no work in progress
  input  logic [ThreadW:0]   started_i,
  input  logic               quiescent_i,
  output idle_status_t       idle_o,
  /// one cycle: release of all threads, and whether all agreed (kept in agreed_o); then threads are being freed
  input  logic               release_i,
  input  logic               agreed_i,
  input  logic               releasing_i,
  /// the tile is assigned a job: epoch and counts restart
  input  logic               clear_i,
  output logic [1:0]         epoch_o,
  output logic               agreed_o
);
  logic [ThreadW:0] in_idle_q, no_votes_q, in_idle_d, no_votes_d;
  logic idle_q, vote_q, started_q, agreed_q;
  logic [1:0] epoch_q;
  logic [31:0] sent_q, received_q;

  assign epoch_o  = epoch_q;
  assign agreed_o = agreed_q;

  /// Change of a count: +1 if one_more, -1 for each of the others.
  function automatic logic [1:0] change(logic one_more, logic one_less, logic another_less);
    return {(one_less || another_less) && !one_more, one_more ? !another_less : one_less != another_less};
  endfunction

  assign in_idle_d  = in_idle_q + (ThreadW + 1)'(signed'(change(enter_i, leave_i, freed_i)));
  assign no_votes_d = no_votes_q
      + (ThreadW + 1)'(signed'(change(enter_i && !vote_i, leave_i && !vote_i, freed_i && !freed_vote_i)));

  // The state of the previous cycle: in a quiescent cycle no count changes.
  assign idle_o = '{
      idle: idle_q, vote: vote_q, started: started_q, epoch: epoch_q, sent: sent_q, received: received_q, default: '0
    };

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      in_idle_q   <= '0;
      no_votes_q      <= '0;
      idle_q      <= 1'b0;
      vote_q      <= 1'b1;
      started_q   <= 1'b0;
      epoch_q     <= '0;
      sent_q      <= '0;
      received_q  <= '0;
      agreed_q    <= 1'b0;
    end else begin
      in_idle_q  <= in_idle_d;
      no_votes_q <= no_votes_d;
      idle_q     <= in_idle_q == started_i && quiescent_i && !release_i && !releasing_i;
      vote_q     <= no_votes_q == '0;
      started_q  <= started_i != '0;
      sent_q     <= sent_q + 32'(sent_i);
      received_q <= received_q + 32'(2'(received_i) + 2'(dropped_i));
      if (release_i) begin
        epoch_q  <= epoch_q + 2'd1;
        agreed_q <= agreed_i;
      end
    end
  end

  `GS_ASSERT_NOW(only_threads_in_idle_leave, in_idle_q >= (ThreadW + 1)'(leave_i) + (ThreadW + 1)'(freed_i))
  `GS_ASSERT_NOW(no_thread_enters_and_leaves_at_once, !(enter_i && leave_i))
  `GS_ASSERT_NOW(counts_are_stable_in_quiescent_cycles,
                 !quiescent_i || !(enter_i || leave_i || freed_i || sent_i || received_i || dropped_i))
endmodule
