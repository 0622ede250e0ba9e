// SPDX-License-Identifier: Apache-2.0

/// What is shown of a request at the door of the mailbox's stage A (gs_mailbox_requests): requests from inside, which
/// go first, pass it no more than three times for each thread but its own, and once for that. So with outcomes that are
/// taken it gets in.
///
/// Why: a wake for a message takes a wish of its thread, and one more may have been on its way (gs_mailbox_queue_bank); an end
/// takes a send. Only a request gives a thread a wish or a send, and while one waits at the door none gets in.
///
/// Around it stands what gs_mailbox_queues does, with each thread in a set of its own, and free: when messages come,
/// when sends have been read, when outcomes are taken, when a release comes. A thread has one request under way.
module door_proof
  import gs_mailbox_pkg::*;
#(
  // Changes nothing that is proved; tests pass it to all proofs.
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
  // Four cycles of reset, as many as a mailbox needs whose registers begin at random.
  logic [2:0] started_q = '0;
  logic rst_ni;
  always_ff @(posedge clk_i) if (!started_q[2]) started_q <= started_q + 3'd1;
  assign rst_ni = started_q[2];

  // After reset the threads are gone through one by one.
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
  logic [Threads-1:0] busy_q, wants_q, wants, some_q, stands_q, sends_q;

  // What changes what A knows of a thread; loads, stores and the rest only pass.
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
  assign wake_valid = stands_q != '0;
  always_comb begin
    wake_thread = '0;
    for (int t = int'(Threads) - 1; t >= 0; t--) if (stands_q[t]) wake_thread = ThreadW'(t);
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
    .a_some_i      (some_q[a_thread]),
    .a_coming_i    (some_q[a_thread]),
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
    wants = wants_q;
    if (want_we) wants[want_thread] = want;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q   <= '0;
      wants_q  <= '0;
      some_q   <= '0;
      stands_q <= '0;
      sends_q  <= '0;
    end else begin
      if (req_valid && req_ready) busy_q[req_thread_i] <= 1'b1;
      if (rsp_valid && rsp_ready_i) busy_q[rsp.thread[ThreadW-1:0]] <= 1'b0;
      if (trap_valid && trap_ready_i) busy_q[trap.thread[ThreadW-1:0]] <= 1'b0;
      wants_q <= wants;
      // It may be taken again at once; a message for a thread whose wake-up stands waits.
      if (a_pop) some_q[a_thread] <= 1'b0;
      if (wake_valid && wake_ready) stands_q[wake_thread] <= 1'b0;
      for (int unsigned t = 0; t < Threads; t++) begin
        if (message_i[t] && !clear && !(wants[t] && stands_q[t])) begin
          some_q[t] <= 1'b1;
          if (wants[t]) stands_q[t] <= 1'b1;
        end
      end
      if (send) sends_q[send_thread] <= 1'b1;
      if (done_valid) sends_q[done_thread_i] <= 1'b0;
    end
    if (release_all) agreed_q <= agreed_i;
  end

  // ---- The request at the door ----
  logic [7:0] passed_q;
  logic waits, passes, ended_q;
  assign waits  = u_requests.req_valid_q && !u_requests.req_ready;
  assign passes = u_requests.internal && u_requests.a_free;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !waits) passed_q <= '0;
    else if (passes) passed_q <= passed_q + 8'd1;
    ended_q <= rst_ni && waits && (ended_q || (passes && u_requests.internal_act == ActEnd));
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && !clear) begin
      it_gets_in: assert (32'(passed_q) <= Most);
      it_waits_for_what_is_inside_alone: assert (!u_requests.req_valid_q || u_requests.req_ready || u_requests.internal
                                                 || !u_requests.a_free);
      c_passed_by_two_wakes: cover (passed_q == 8'd2 && !ended_q);
      c_passed_by_a_wake_and_an_end: cover (passed_q == 8'd2 && ended_q);
    end
  end

  logic unused;
  assign unused = ^{Multicast, busy, rsp.data, trap.cause, trap.addr};
endmodule
