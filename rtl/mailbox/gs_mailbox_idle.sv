// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Idleness of a mailbox: who waits in idle, votes, counts of messages, the epoch, and the release of all.
///
/// A release begins the next epoch at once. It then asks A once for each thread (ActFree) to let it go if it is in idle;
/// until the last was asked no message is dealt out (releasing_o), so all of them learn of the release
/// before any of them sees a message of the new epoch.
module gs_mailbox_idle
  import gs_idle_pkg::idle_status_t;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads = 64,
  localparam int unsigned ThreadW = $clog2(Threads)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// A goes: a thread begins to wait in idle, or leaves it; its vote
  input  logic               enter_i,
  input  logic               leave_i,
  input  logic               vote_i,
  /// a message is on its way; one is in its slot, for its threads; one of this job was refused
  input  logic               sent_i,
  input  logic               received_i,
  input  logic               refused_i,
  /// threads that are started; nothing is under way in the mailbox
  input  logic [ThreadW:0]   started_i,
  input  logic               quiet_i,
  output idle_status_t       idle_o,
  /// one cycle: release of all, and whether all agreed
  input  logic               release_i,
  input  logic               agreed_i,
  output logic [1:0]         epoch_o,
  output logic               releasing_o,
  output logic               agreed_o,
  /// thread that is to leave idle if it is there
  output logic               free_valid_o,
  input  logic               free_ready_i,
  output logic [ThreadW-1:0] free_thread_o
);
  logic [ThreadW:0] in_idle_q, noes_q, in_idle_d, noes_d;
  logic idle_q, vote_q, releasing_q, agreed_q;
  logic [ThreadW-1:0] scan_q;
  logic [1:0] epoch_q;
  logic [31:0] sent_q, received_q;

  assign epoch_o       = epoch_q;
  assign releasing_o   = releasing_q;
  assign agreed_o      = agreed_q;
  assign free_valid_o  = releasing_q;
  assign free_thread_o = scan_q;

  always_comb begin
    in_idle_d = in_idle_q;
    noes_d    = noes_q;
    // A does one of the two.
    if (enter_i || leave_i) begin
      in_idle_d = in_idle_q + (enter_i ? (ThreadW + 1)'(1) : '1);
      if (!vote_i) noes_d = noes_q + (enter_i ? (ThreadW + 1)'(1) : '1);
    end
  end

  // The counts of this cycle and whether all was quiet in it: in a quiet cycle none of them changes.
  assign idle_o = '{idle: idle_q, vote: vote_q, epoch: epoch_q, sent: sent_q, received: received_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_idle_q   <= '0;
      noes_q      <= '0;
      idle_q      <= 1'b0;
      vote_q      <= 1'b1;
      epoch_q     <= '0;
      sent_q      <= '0;
      received_q  <= '0;
      releasing_q <= 1'b0;
      agreed_q    <= 1'b0;
      scan_q      <= '0;
    end else begin
      in_idle_q  <= in_idle_d;
      noes_q     <= noes_d;
      idle_q     <= in_idle_q == started_i && quiet_i && !release_i && !releasing_q;
      vote_q     <= noes_q == '0;
      sent_q     <= sent_q + 32'(sent_i);
      // Both at once: the second is the adder's carry.
      received_q <= received_q + 32'(received_i) + 32'(refused_i);
      if (release_i) begin
        epoch_q     <= epoch_q + 2'd1;
        agreed_q    <= agreed_i;
        releasing_q <= 1'b1;
      end else if (free_ready_i && scan_q == '1) begin
        releasing_q <= 1'b0;
      end
      if (releasing_q && free_ready_i) scan_q <= scan_q + ThreadW'(1);
    end
  end

  `GS_ASSERT_NOW(a_release_ends_before_the_next, !release_i || !releasing_q)
  `GS_ASSERT_NOW(who_leaves_was_there, !leave_i || in_idle_q != '0)
  `GS_ASSERT_NOW(in_or_out, !(enter_i && leave_i))
  `GS_ASSERT_NOW(a_quiet_cycle_changes_no_count, !quiet_i || !(enter_i || leave_i || sent_i || received_i || refused_i))
endmodule
