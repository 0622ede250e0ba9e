// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Threads that wait for an event of the mailbox, and whether all wait in idle.
///
/// A row of 8 threads at a time is looked at; those whose event is there are woken one after the other, then comes the
/// next row. So nobody is passed over, and a wake-up comes a few cycles after its event. While there is no event at
/// all, nothing moves.
/// A release of the idle threads goes once over all rows and wakes those that were idle when their row came.
module gs_mailbox_events #(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads = 64,
  localparam int unsigned ThreadW = $clog2(Threads)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// a thread begins to wait, for any of these
  input  logic               wait_i,
  input  logic [ThreadW-1:0] wait_thread_i,
  input  logic               wait_send_i,
  input  logic               wait_receive_i,
  input  logic               wait_idle_i,
  /// threads with a send under way, and threads that a message waits for
  input  logic [Threads-1:0] sending_i,
  input  logic [Threads-1:0] some_i,
  /// a thread whose event is there, or that a release found idle
  output logic               wake_valid_o,
  input  logic               wake_ready_i,
  output logic [ThreadW-1:0] wake_thread_o,
  output logic               wake_release_o,
  /// how many threads are started, and nothing is under way in the mailbox
  input  logic [ThreadW:0]   started_i,
  input  logic               quiet_i,
  /// all threads that count are in idle, no message waits for them, nothing is under way
  output logic               idle_all_o,
  /// one cycle: all that are in idle return
  input  logic               release_i,
  /// threads are about to be woken
  output logic               busy_o
);
  localparam int unsigned RowThreads = (Threads < 8) ? Threads : 8;
  localparam int unsigned RowW = $clog2(RowThreads);
  localparam int unsigned Rows = Threads / RowThreads;
  localparam int unsigned RowsW = (Rows > 1) ? $clog2(Rows) : 1;

  logic [Threads-1:0] send_q, receive_q, idle_q, set, clear, due;
  logic [RowThreads-1:0] row_q, row_first, row_next, row_new;
  logic [RowsW-1:0] at_q, at_next;
  logic [RowW-1:0] row_thread;
  // A release: asked for; on its way over the rows, with as many to come after this.
  logic asked_q, going_q, row_release_q;
  logic [RowsW-1:0] left_q;
  logic wake, load, some_row, any_q;

  // Who is in idle waits for messages, too.
  assign due = (send_q & ~sending_i) | (receive_q & some_i);

  logic wake_valid_q, wake_release_q;
  logic [ThreadW-1:0] wake_thread_q;

  // The row in work.
  assign row_first      = row_q & ~row_next;
  assign row_next       = row_q & (row_q - RowThreads'(1));
  assign some_row       = row_q != '0;
  assign wake           = some_row && (!wake_valid_q || wake_ready_i);
  assign load           = !some_row && any_q;
  assign busy_o         = any_q || some_row || wake_valid_q || asked_q || going_q;
  assign at_next        = (Rows == 1) ? '0 : at_q + RowsW'(1);

  always_comb begin
    row_thread = '0;
    for (int unsigned i = 0; i < RowThreads; i++) if (row_first[i]) row_thread |= RowW'(i);
    row_new = '0;
    for (int unsigned r = 0; r < Rows; r++) begin
      if (at_next == RowsW'(r)) begin
        row_new = (going_q || asked_q) ? idle_q[r*RowThreads+:RowThreads] : due[r*RowThreads+:RowThreads];
      end
    end
  end

  // The thread that is woken stands in a register.
  assign wake_valid_o   = wake_valid_q;
  assign wake_thread_o  = wake_thread_q;
  assign wake_release_o = wake_release_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) wake_valid_q <= 1'b0;
    else if (!wake_valid_q || wake_ready_i) wake_valid_q <= some_row;
    if (!wake_valid_q || wake_ready_i) begin
      wake_thread_q  <= ThreadW'({at_q, row_thread});
      wake_release_q <= row_release_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      any_q         <= 1'b0;
      row_q         <= '0;
      at_q          <= '0;
      asked_q       <= 1'b0;
      going_q       <= 1'b0;
      row_release_q <= 1'b0;
      left_q        <= '0;
    end else begin
      any_q <= due != '0 || asked_q || going_q || row_release_q;
      if (load) begin
        row_q         <= row_new;
        at_q          <= at_next;
        row_release_q <= going_q || asked_q;
        if (going_q) begin
          left_q  <= left_q - RowsW'(1);
          going_q <= left_q != RowsW'(1);
        end else if (asked_q) begin
          left_q  <= RowsW'(Rows - 1);
          going_q <= Rows > 1;
        end
        if (!going_q) asked_q <= 1'b0;
      end else if (wake) begin
        row_q <= row_next;
      end
      if (release_i) asked_q <= 1'b1;
    end
  end

  // Who waits.
  for (genvar t = 0; t < int'(Threads); t++) begin : gen_thread
    assign set[t]   = wait_i && wait_thread_i == ThreadW'(t);
    assign clear[t] = wake && row_first[t%int'(RowThreads)] && at_q == RowsW'(t / int'(RowThreads));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      send_q    <= '0;
      receive_q <= '0;
      idle_q    <= '0;
    end else begin
      send_q    <= (send_q | (set & {Threads{wait_send_i}})) & ~clear;
      receive_q <= (receive_q | (set & {Threads{wait_receive_i || wait_idle_i}})) & ~clear;
      idle_q    <= (idle_q | (set & {Threads{wait_idle_i}})) & ~clear;
    end
  end

  // Idleness. Once it is there, it stays until a release or something from outside.
  logic idle_all_q;
  assign idle_all_o = idle_all_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      idle_all_q <= 1'b0;
    end else begin
      idle_all_q <= (ThreadW + 1)'($countones(idle_q & ~some_i)) == started_i && quiet_i
          && !release_i && !asked_q && !going_q && !row_release_q;
    end
  end

  `GS_ASSERT_NOW(nobody_waits_twice, !wait_i || !(send_q[wait_thread_i] || receive_q[wait_thread_i]
                                                  || idle_q[wait_thread_i]))
endmodule
