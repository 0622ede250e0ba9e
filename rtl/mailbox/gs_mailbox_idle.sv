// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Idleness of a mailbox: how many threads wait in idle, votes, counts of messages, the epoch.
///
/// A release begins the next epoch at once. Then gs_mailbox_wait_table frees thread by thread; until the last one no message
/// is dealt out, so all of them learn of the release before any of them sees a message of the new epoch.
module gs_mailbox_idle
  import gs_idle_pkg::idle_status_t;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads = 64,
  localparam int unsigned ThreadW = $clog2(Threads)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// a thread begins to wait in idle, or leaves it; its vote
  input  logic               enter_i,
  input  logic               leave_i,
  input  logic               vote_i,
  /// a release has freed a thread; its vote
  input  logic               freed_i,
  input  logic               freed_vote_i,
  /// a message is on its way; one is in its slot, for its threads; one of this job was refused
  input  logic               sent_i,
  input  logic               received_i,
  input  logic               refused_i,
  /// threads that are started; nothing is under way in the mailbox
  input  logic [ThreadW:0]   started_i,
  input  logic               quiet_i,
  output idle_status_t       idle_o,
  /// one cycle: release of all, and whether all agreed, which stays in agreed_o; then threads are being freed
  input  logic               release_i,
  input  logic               agreed_i,
  input  logic               releasing_i,
  /// the tile gets a job: epoch and counts begin anew
  input  logic               clear_i,
  output logic [1:0]         epoch_o,
  output logic               agreed_o
);
  logic [ThreadW:0] in_idle_q, noes_q, in_idle_d, noes_d;
  logic idle_q, vote_q, started_q, agreed_q;
  logic [1:0] epoch_q;
  logic [31:0] sent_q, received_q;

  assign epoch_o  = epoch_q;
  assign agreed_o = agreed_q;

  /// What changes a count: one more by A, or one less; one less by a release.
  function automatic logic [1:0] change(logic one_more, logic one_less, logic another_less);
    return {(one_less || another_less) && !one_more, one_more ? !another_less : one_less != another_less};
  endfunction

  assign in_idle_d = in_idle_q + (ThreadW + 1)'(signed'(change(enter_i, leave_i, freed_i)));
  assign noes_d    = noes_q
      + (ThreadW + 1)'(signed'(change(enter_i && !vote_i, leave_i && !vote_i, freed_i && !freed_vote_i)));

  // The counts of this cycle and whether all was quiet in it: in a quiet cycle none of them changes.
  assign idle_o = '{
      idle: idle_q, vote: vote_q, started: started_q, epoch: epoch_q, sent: sent_q, received: received_q, default: '0
    };

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      in_idle_q   <= '0;
      noes_q      <= '0;
      idle_q      <= 1'b0;
      vote_q      <= 1'b1;
      started_q   <= 1'b0;
      epoch_q     <= '0;
      sent_q      <= '0;
      received_q  <= '0;
      agreed_q    <= 1'b0;
    end else begin
      in_idle_q  <= in_idle_d;
      noes_q     <= noes_d;
      idle_q     <= in_idle_q == started_i && quiet_i && !release_i && !releasing_i;
      vote_q     <= noes_q == '0;
      started_q  <= started_i != '0;
      sent_q     <= sent_q + 32'(sent_i);
      received_q <= received_q + 32'(2'(received_i) + 2'(refused_i));
      if (release_i) begin
        epoch_q  <= epoch_q + 2'd1;
        agreed_q <= agreed_i;
      end
    end
  end

  `GS_ASSERT_NOW(who_leaves_was_there, in_idle_q >= (ThreadW + 1)'(leave_i) + (ThreadW + 1)'(freed_i))
  `GS_ASSERT_NOW(in_or_out, !(enter_i && leave_i))
  `GS_ASSERT_NOW(a_quiet_cycle_changes_no_count,
                 !quiet_i || !(enter_i || leave_i || freed_i || sent_i || received_i || refused_i))
endmodule
