// SPDX-License-Identifier: Apache-2.0

/// Bounded proof about a request that waits to enter stage A of the mailbox (gs_mailbox_requests): internal requests,
/// which have priority, overtake it at most three times for each other thread, and once for its own. So it enters,
/// provided that completions are accepted.
///
/// Reason: a wake-up for a message consumes a registration of its thread, and one more may have been in flight
/// (gs_mailbox_queue_bank); an end consumes a send. Only a request creates a registration or a send, and while one
/// waits here none enters.
///
/// The environment models gs_mailbox_queues, with each thread in a bank of its own. Arbitrary are: arrivals of
/// messages, ends of sends, acceptance of completions, releases. A thread has one request in flight.
module requests_proof
  import gs_mailbox_pkg::*;
#(
  // Does not affect the proof; the tests set it for all proofs.
  parameter  bit          Multicast = 1'b1,
  parameter  int unsigned Threads   = 2,
  localparam int unsigned ThreadW   = $clog2(Threads),
  localparam int unsigned Most      = 3 * Threads - 2
) (
  input logic               clk_i,
  input logic               req_valid_i,
  input logic [2:0]         act_i,
  input logic [ThreadW-1:0] req_thread_i,
  input logic [1:0]         value_i,
  input logic               rsp_ready_i,
  input logic               trap_ready_i,
  input logic [Threads-1:0] message_i,
  input logic               done_i,
  input logic [ThreadW-1:0] done_thread_i,
  input logic               release_i,
  input logic               agreed_i,
  input logic               held_i
);
  // Four cycles of reset, as many as a mailbox needs whose registers start with random values.
  logic [2:0] started_q = '0;
  logic rst_ni;
  always_ff @(posedge clk_i) if (!started_q[2]) started_q <= started_q + 3'd1;
  assign rst_ni = started_q[2];

  // After reset the threads are initialized one by one.
  logic [ThreadW:0] walk_q;
  logic clear;
  assign clear = !walk_q[ThreadW];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) walk_q <= '0;
    else if (clear) walk_q <= walk_q + 1'b1;
  end

  logic req_valid, req_ready, rsp_valid, trap_valid, wake_valid, wake_ready, releasing, agreed_q, release_all;
  logic a_pop, want_we, want, done_valid, done_ready, send, busy;
  mailbox_rsp_t rsp;
  mailbox_trap_t trap;
  logic [ThreadW-1:0] wake_thread, a_thread, send_thread, want_thread;
  logic [Threads-1:0] busy_q, registered_q, registered, message_q, wake_pending_q, sends_q;

  // Requests that change A's state of a thread; loads, stores and the rest only pass.
  localparam logic [31:0] Base = 32'h0010_0000;
  mailbox_req_t req;
  always_comb begin
    req = '{op: MailboxCsr, funct3: 3'b001, thread: 6'(req_thread_i), addr: '0, data: 32'(value_i)};
    unique case (act_i)
      3'd0, 3'd1: req.addr = 32'(gossamer_pkg::CsrWait);
      3'd2:       req.addr = 32'(gossamer_pkg::CsrIdle);
      3'd3, 3'd4: begin
        req.addr = 32'(gossamer_pkg::CsrSendDest);
        req.data = 32'(req_thread_i);
      end
      3'd5: begin
        req.addr = 32'(gossamer_pkg::CsrRelease);
        req.data = Base | 32'(value_i) << 4;
      end
      3'd6:       begin
        req.addr   = 32'(gossamer_pkg::CsrReceive);
        req.funct3 = 3'b010;
      end
      default:    begin
        req.addr = 32'(gossamer_pkg::CsrSendSlot);
        req.data = Base | 32'(value_i) << 4;
      end
    endcase
  end
  assign req_valid = req_valid_i && !busy_q[req_thread_i];
  assign done_valid = done_i && done_ready && sends_q[done_thread_i];
  assign release_all = release_i && !clear && !releasing;
  assign wake_valid = wake_pending_q != '0;
  always_comb begin
    wake_thread = '0;
    for (int t = int'(Threads) - 1; t >= 0; t--) if (wake_pending_q[t]) wake_thread = ThreadW'(t);
  end

  gs_mailbox_requests #(
    .Threads       (Threads),
    .CoreBits      (0),
    .SlotsPerThread(2),
    .SlotBytes     (16),
    .Base          (Base),
    .MaxFlits      (1),
    .Multicast     (1'b0),
    .Reduce        (1'b0),
    .Alone         (1'b1)
  ) u_requests (
    .clk_i,
    .rst_ni,
    .tile_i        ('0),
    .cluster_i     ('{routers: 1'b0, boards: 13'd1, hosts: 13'd1}),
    .clear_i       (clear),
    .clear_thread_i(walk_q[ThreadW-1:0]),
    .ready_i       (!clear),
    .req_valid_i   (req_valid),
    .req_ready_o   (req_ready),
    .req_i         (req),
    .rsp_valid_o   (rsp_valid),
    .rsp_ready_i,
    .rsp_o         (rsp),
    .trap_valid_o  (trap_valid),
    .trap_ready_i,
    .trap_o        (trap),
    .wake_valid_i  (wake_valid),
    .wake_ready_o  (wake_ready),
    .wake_thread_i (wake_thread),
    .release_i     (release_all),
    .agreed_i      (agreed_q),
    .releasing_o   (releasing),
    .a_thread_o    (a_thread),
    .a_pop_o       (a_pop),
    .a_some_i      (message_q[a_thread]),
    .a_arriving_i  (message_q[a_thread]),
    .c_popped_i    ('0),
    .want_we_o     (want_we),
    .want_thread_o (want_thread),
    .want_o        (want),
    .b_enter_o     (),
    .b_leave_o     (),
    .b_vote_o      (),
    .freed_o       (),
    .freed_vote_o  (),
    .a_core_valid_o(),
    .a_core_we_o   (),
    .a_core_strb_o (),
    .a_core_word_o (),
    .a_core_wdata_o(),
    .c_core_rdata_i('0),
    .a_slot_o      (),
    .c_held_i      (held_i),
    .c_release_o   (),
    .c_receive_o   (),
    .send_o        (send),
    .send_thread_o (send_thread),
    .send_slot_o   (),
    .send_length_o (),
    .send_kind_o   (),
    .send_route_o  (),
    .send_dest_o   (),
    .send_head_o   (),
    .a_half_o      (),
    .a_reduced_i   ('0),
    .give_o        (),
    .give_code_o   (),
    .done_valid_i  (done_valid),
    .done_ready_o  (done_ready),
    .done_thread_i,
    .busy_o        (busy)
  );

  // ---- Threads, their messages, and their sends ----
  always_comb begin
    registered = registered_q;
    if (want_we) registered[want_thread] = want;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q         <= '0;
      registered_q   <= '0;
      message_q      <= '0;
      wake_pending_q <= '0;
      sends_q        <= '0;
    end else begin
      if (req_valid && req_ready) busy_q[req_thread_i] <= 1'b1;
      if (rsp_valid && rsp_ready_i) busy_q[rsp.thread[ThreadW-1:0]] <= 1'b0;
      if (trap_valid && trap_ready_i) busy_q[trap.thread[ThreadW-1:0]] <= 1'b0;
      registered_q <= registered;
      // It may be set again at once; a message for a thread whose wake-up is pending waits.
      if (a_pop) message_q[a_thread] <= 1'b0;
      if (wake_valid && wake_ready) wake_pending_q[wake_thread] <= 1'b0;
      for (int unsigned t = 0; t < Threads; t++) begin
        if (message_i[t] && !clear && !(registered[t] && wake_pending_q[t])) begin
          message_q[t] <= 1'b1;
          if (registered[t]) wake_pending_q[t] <= 1'b1;
        end
      end
      if (send) sends_q[send_thread] <= 1'b1;
      if (done_valid) sends_q[done_thread_i] <= 1'b0;
    end
    if (release_all) agreed_q <= agreed_i;
  end

  // ---- The waiting request ----
  logic [7:0] overtaken_q;
  logic waiting, overtakes, ended_q;
  assign waiting   = u_requests.req_valid_q && !u_requests.req_ready;
  assign overtakes = u_requests.internal && u_requests.a_free;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !waiting) overtaken_q <= '0;
    else if (overtakes) overtaken_q <= overtaken_q + 8'd1;
    ended_q <= rst_ni && waiting && (ended_q || (overtakes && u_requests.internal_act == ActEnd));
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && !clear) begin
      waiting_request_enters: assert (32'(overtaken_q) <= Most);
      request_waits_only_for_internal_requests:
      assert (!u_requests.req_valid_q || u_requests.req_ready || u_requests.internal || !u_requests.a_free);
      c_overtaken_by_two_wakes: cover (overtaken_q == 8'd2 && !ended_q);
      c_overtaken_by_a_wake_and_an_end: cover (overtaken_q == 8'd2 && ended_q);
    end
  end

  logic unused;
  assign unused = ^{Multicast, busy, rsp.data, trap.cause, trap.addr};
endmodule
