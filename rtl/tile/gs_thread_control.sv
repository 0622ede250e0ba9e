// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Sends operations on threads (gs_thread_pkg) to the cores, one at a time: those of threads, those of the debug bus,
/// and its own, which detect parked threads. It counts the threads that are users of the tile.
///
/// A requester holds its operation until `ready`; in that cycle `allowed_o` is 1 if the operation took effect.
module gs_thread_control
  import gs_tile_pkg::*;
  import gs_thread_pkg::*;
(
  input  logic                    clk_i,
  input  logic                    rst_ni,
  /// from a thread's request: start another thread, end or trap this one
  input  logic                    req_valid_i,
  output logic                    req_ready_o,
  input  thread_op_e              req_op_i,
  input  logic [ThreadW-1:0]      req_thread_i,
  /// from the debug bus
  input  logic                    cmd_valid_i,
  output logic                    cmd_ready_o,
  input  thread_op_e              cmd_op_i,
  input  logic [ThreadW-1:0]      cmd_thread_i,
  output logic                    allowed_o,
  /// threads may not start other threads: a thread's cache partition is being flushed, and the thread must not run
  input  logic                    hold_i,
  /// this thread becomes a user, and will be started
  input  logic                    activate_valid_i,
  output logic                    activate_ready_o,
  input  logic [ThreadW-1:0]      activate_thread_i,
  /// threads that are started and have neither ended nor trapped
  output logic [ThreadW:0]        started_o,
  /// threads that have parked since they were halted
  output logic                    parked_valid_o,
  input  logic                    parked_ready_i,
  output logic [ThreadW-1:0]      parked_thread_o,
  // Cores; park_i: a thread of the core parks
  output logic [TileCores-1:0]    ctl_valid_o,
  input  logic [TileCores-1:0]    ctl_ready_i,
  output thread_op_e              ctl_op_o,
  output logic [TidW-1:0]         ctl_tid_o,
  input  logic [TileCores-1:0]    ctl_allowed_i,
  input  logic [TileCores-1:0]    ctl_trapped_i,
  input  logic [TileCores-1:0]    park_i,
  // An operation is in progress
  output logic                    busy_o
);
  localparam int unsigned AllThreads = 1 << ThreadW;

  typedef enum logic [1:0] {FromRequest, FromCommand, FromSearch} from_e;

  // The operation in progress, and the cycle in which it is done
  logic [TileCores-1:0] valid_q;
  logic done_q, allowed_q, trapped_q, last_request_q;
  from_e from_q, from_d;
  thread_op_e op_q;
  logic [ThreadW-1:0] thread_q, thread_d;
  logic free, some, search, request;

  // A thread becomes a user or stops being one; whether it was one before. After reset no thread is a user.
  logic clearing_q, change_q, becomes_q, was;
  logic [ThreadW-1:0] changes_q;
  logic [ThreadW:0] started_q;

  // After each halt, and each time that a thread parks, a search visits all threads once.
  logic [ThreadW:0] left_q;
  logic [ThreadW-1:0] search_q, parked_thread_q;
  logic parked_valid_q;

  assign free    = valid_q == '0 && !done_q;
  assign search  = left_q != '0 && !parked_valid_q;
  assign request = req_valid_i && !(hold_i && req_op_i == ThreadStart);
  assign some    = request || cmd_valid_i || search;

  always_comb begin
    from_d   = FromSearch;
    thread_d = search_q;
    if (cmd_valid_i && (!request || last_request_q)) begin
      from_d   = FromCommand;
      thread_d = cmd_thread_i;
    end else if (request) begin
      from_d   = FromRequest;
      thread_d = req_thread_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q        <= '0;
      done_q         <= 1'b0;
      last_request_q <= 1'b0;
      parked_valid_q <= 1'b0;
      left_q         <= '0;
      clearing_q     <= 1'b1;
      change_q       <= 1'b1;
      becomes_q      <= 1'b0;
      changes_q      <= '0;
      started_q      <= '0;
    end else begin
      valid_q <= '0;
      if (free && some) begin
        for (int unsigned c = 0; c < TileCores; c++) valid_q[c] <= (thread_d >> TidW) == ThreadW'(c);
        last_request_q <= from_d == FromRequest;
      end else if ((valid_q & ctl_ready_i) == '0) begin
        valid_q <= valid_q;
      end
      done_q <= (valid_q & ctl_ready_i) != '0;

      if (park_i != '0 || (done_q && op_q == ThreadHalt)) left_q <= (ThreadW + 1)'(AllThreads);
      else if (done_q && from_q == FromSearch) left_q <= left_q - (ThreadW + 1)'(1);
      if (done_q && from_q == FromSearch && allowed_q) parked_valid_q <= 1'b1;
      else if (parked_ready_i) parked_valid_q <= 1'b0;

      // If a start is rejected because of an injected instruction, a trapped thread does not become a user.
      if (clearing_q) begin
        clearing_q <= changes_q != '1;
        change_q   <= changes_q != '1;
        changes_q  <= changes_q + ThreadW'(1);
      end else begin
        change_q  <= done_q ? op_q inside {ThreadStart, ThreadEnd, ThreadTrap} : activate_valid_i;
        changes_q <= done_q ? thread_q : activate_thread_i;
        becomes_q <= !done_q || (op_q == ThreadStart && (allowed_q || !trapped_q));
        if (change_q && becomes_q != was) started_q <= becomes_q ? started_q + 1'b1 : started_q - 1'b1;
      end
    end
    if (free) begin
      from_q   <= from_d;
      thread_q <= thread_d;
      op_q     <= (from_d == FromCommand) ? cmd_op_i : (from_d == FromRequest) ? req_op_i : ThreadReportParked;
    end
    allowed_q <= (valid_q & ctl_allowed_i) != '0;
    trapped_q <= (valid_q & ctl_trapped_i) != '0;
    if (done_q && from_q == FromSearch) begin
      search_q        <= search_q + ThreadW'(1);
      parked_thread_q <= search_q;
    end
    if (!rst_ni) search_q <= '0;
  end

  gs_ram_sdp #(
    .Width(1), .Depth(AllThreads), .Latency(0), .Style("distributed")
  ) u_users (
    .clk_i,
    .we_i   (change_q),
    .wstrb_i(1'b1),
    .waddr_i(changes_q),
    .wdata_i(becomes_q),
    .re_i   (1'b1),
    .raddr_i(changes_q),
    .rdata_o(was)
  );

  assign activate_ready_o = !done_q && !clearing_q;
  assign req_ready_o     = done_q && from_q == FromRequest;
  assign cmd_ready_o     = done_q && from_q == FromCommand;
  assign allowed_o       = allowed_q;
  assign ctl_valid_o     = valid_q;
  assign ctl_op_o        = op_q;
  assign ctl_tid_o       = thread_q[TidW-1:0];
  assign started_o       = started_q;
  assign parked_valid_o  = parked_valid_q;
  assign parked_thread_o = parked_thread_q;
  assign busy_o          = req_valid_i || some || !free || parked_valid_q || park_i != '0 || change_q;

  `GS_ASSERT_NOW(no_user_changes_before_reset_clears_all,
                 !clearing_q || !done_q || !(op_q inside {ThreadStart, ThreadEnd, ThreadTrap}))
  `GS_ASSERT_NOW(end_and_trap_are_always_allowed, !done_q || allowed_q || !(op_q inside {ThreadEnd, ThreadTrap}))
endmodule
