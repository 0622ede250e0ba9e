// SPDX-License-Identifier: Apache-2.0

/// Proof of a bank of pointer queues: each pointer leaves each of its queues once and in order, and no thread that
/// waits for a pointer misses one.
///
/// One arbitrary queue is watched: the reference is a plain queue, filled when a job for it is accepted. A pointer may
/// be in the job's registers or in the RAM; the plain queue has both. The thread of each queue receives only while it
/// does not wait, and begins to wait only when no pointer is arriving, as A does.
module queue_bank_proof #(
  parameter  bit          Multicast = 1'b1,
  parameter  int unsigned Queues    = 4,
  parameter  int unsigned Depth     = 2,
  parameter  int unsigned SlotW     = 2,
  localparam int unsigned QueueW    = $clog2(Queues)
) (
  input logic              clk_i,
  input logic              job_valid_i,
  input logic [SlotW-1:0]  job_slot_i,
  input logic              job_masked_i,
  input logic [QueueW-1:0] job_queue_i,
  input logic [Queues-1:0] job_mask_i,
  input logic              pop_i,
  input logic [QueueW-1:0] pop_queue_i,
  input logic              wait_i,
  input logic              wake_ready_i,
  input logic [QueueW-1:0] watched_i
);
  logic started_q = 1'b0;
  logic rst_ni;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // The watched queue: arbitrary but constant.
  logic [QueueW-1:0] watched;
  always_ff @(posedge clk_i) if (!rst_ni) watched <= watched_i;

  // After reset the queues are emptied one by one.
  logic [QueueW:0] walk_q;
  logic clear;
  logic [QueueW-1:0] pop_queue;
  assign clear     = !walk_q[QueueW];
  assign pop_queue = clear ? walk_q[QueueW-1:0] : pop_queue_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) walk_q <= '0;
    else if (clear) walk_q <= walk_q + 1'b1;
  end

  logic job_valid, job_ready, pop, pop_some, pop_arriving, want_we, want, wake_valid, wake_ready, busy, wake_here;
  logic [SlotW-1:0] pop_slot;
  logic [QueueW-1:0] wake_queue;
  logic waiting_q, masked, for_watched, begins;

  assign job_valid = job_valid_i && !clear;
  assign masked    = Multicast && job_masked_i;
  // A waiting thread does nothing else. A woken thread checks again: there must be a pointer.
  assign begins    = wait_i && !clear && !pop_i && !(waiting_q && pop_queue == watched) && !pop_arriving && !wake_ready;
  assign wake_here = wake_ready && wake_valid && wake_queue == watched;
  assign pop       = pop_i && !clear && !(waiting_q && pop_queue == watched);
  // The wake-up passes through A, so the port is at its thread.
  assign wake_ready = wake_ready_i && !clear && wake_valid && pop_queue == wake_queue && !pop;
  // Registrations arrive one cycle later, as those of A do; after reset no thread is registered.
  logic [QueueW-1:0] want_queue;
  always_ff @(posedge clk_i) begin
    want_we    <= begins || (wake_ready && pop_some) || clear;
    want       <= begins;
    want_queue <= pop_queue;
  end

  gs_mailbox_queue_bank #(
    .Queues   (Queues),
    .Depth    (Depth),
    .SlotW    (SlotW),
    .Multicast(Multicast)
  ) u_bank (
    .clk_i,
    .rst_ni,
    .clear_i       (clear),
    .clear_queue_i (walk_q[QueueW-1:0]),
    .job_valid_i   (job_valid),
    .job_ready_o   (job_ready),
    .job_slot_i,
    .job_masked_i  (masked),
    .job_queue_i,
    .job_mask_i,
    .pop_i         (pop),
    .pop_queue_i   (pop_queue),
    .pop_some_o    (pop_some),
    .pop_arriving_o(pop_arriving),
    .pop_slot_o    (pop_slot),
    .want_we_i     (want_we),
    .want_queue_i  (want_queue),
    .want_i        (want),
    .wake_valid_o  (wake_valid),
    .wake_ready_i  (wake_ready),
    .wake_queue_o  (wake_queue),
    .busy_o        (busy)
  );

  // The reference queue: pointers in the RAM and in flight to it, the oldest at 0.
  localparam int unsigned Capacity = Depth + 2;
  logic [SlotW-1:0] plain_q[Capacity];
  logic [2:0] count_q, in_ram_q;
  logic accepted, popped, written;
  assign for_watched = masked ? job_mask_i[watched] : job_queue_i == watched;
  assign accepted  = job_valid && job_ready && for_watched;
  assign popped  = pop && pop_some && pop_queue == watched;
  assign written = u_bank.push_go && u_bank.push_queue_q == watched;

  logic [1:0] popped_q;
  logic [SlotW-1:0] should_1_q, should_2_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q   <= '0;
      in_ram_q  <= '0;
      popped_q  <= '0;
      waiting_q <= 1'b0;
    end else begin
      count_q  <= count_q + 3'(accepted) - 3'(popped);
      in_ram_q <= in_ram_q + 3'(written) - 3'(popped);
      popped_q <= {popped_q[0], popped};
      for (int unsigned i = 0; i < Capacity; i++) begin
        if (popped && i + 1 < Capacity) plain_q[i] <= plain_q[i+1];
        if (accepted && 3'(i) == count_q - 3'(popped)) plain_q[i] <= job_slot_i;
      end
      if (begins && pop_queue == watched) waiting_q <= 1'b1;
      else if (wake_here && pop_some) waiting_q <= 1'b0;
    end
    should_1_q <= plain_q[0];
    should_2_q <= should_1_q;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) assume (!job_valid || !masked || job_mask_i != '0);
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      popped_pointer_is_the_oldest: assert (!popped_q[1] || pop_slot == should_2_q);
      not_empty_flag_is_exact: assert (clear || pop_queue != watched || pop_some == (in_ram_q != '0));
      no_pointer_is_lost: assert (count_q >= in_ram_q && 32'(count_q) <= Capacity && 32'(in_ram_q) <= Depth);
      idle_only_without_work: assert (busy || count_q == in_ram_q);
      // The wake-up that must not be lost: a thread waits, its pointer is in the RAM, and it is woken.
      waiting_thread_is_woken: assert (!(waiting_q && in_ram_q != '0) || (wake_valid && wake_queue == watched));
      c_queue_is_full: cover (32'(count_q) == Capacity && 32'(in_ram_q) == Depth);
      c_push_coincides_with_the_last_pop: cover (written && popped && in_ram_q == 3'd1);
      c_woken: cover (wake_here && pop_some);
      c_wait_begins_as_the_last_pointer_leaves: cover (begins && pop_queue == watched && $past(popped));
      c_woken_by_a_registration_in_flight: cover (written && want_we && want && want_queue == watched
                                                    && !u_bank.stored_want);
      c_second_wake_up_waits: cover (u_bank.push_valid_q && u_bank.wanted && wake_valid && !wake_ready);
    end
  end

`ifdef INDUCTION
  // Invariants between the registers and the reference queue.
  logic [$clog2(Depth):0] front, back;
  logic todo_here, push_here;
  logic [2:0] used;
  assign front     = u_bank.gen_side[0].u_front.mem[watched];
  assign back      = u_bank.gen_side[0].u_back.mem[watched];
  assign used      = 3'(($clog2(Depth) + 1)'(back - front));
  assign push_here = u_bank.push_valid_q && u_bank.push_queue_q == watched;
  if (Multicast) begin : gen_todo
    assign todo_here = u_bank.todo_valid_q
        && (u_bank.gen_mask.todo_masked_q ? u_bank.gen_mask.todo_mask_q[watched] : u_bank.todo_queue_q == watched);
    always_ff @(posedge clk_i) begin
      if (rst_ni) assert (!u_bank.todo_valid_q || !u_bank.gen_mask.todo_masked_q || u_bank.gen_mask.todo_mask_q != '0);
    end
  end else begin : gen_todo_one
    assign todo_here = u_bank.todo_valid_q && u_bank.todo_queue_q == watched;
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (32'(walk_q) <= Queues);
      assert (!clear || (!u_bank.todo_valid_q && !u_bank.push_valid_q && !wake_valid && count_q == '0 && !waiting_q));
      for (int unsigned q = 0; q < Queues; q++) begin
        assert (u_bank.gen_side[0].u_front.mem[q] == u_bank.gen_side[1].u_front.mem[q] || 32'(walk_q) <= q);
        assert (u_bank.gen_side[0].u_back.mem[q] == u_bank.gen_side[1].u_back.mem[q] || 32'(walk_q) <= q);
        if (32'(walk_q) > q) begin
          assert (32'(($clog2(Depth) + 1)'(u_bank.gen_side[0].u_back.mem[q] - u_bank.gen_side[0].u_front.mem[q]))
                  <= Depth);
        end
      end
      if (32'(walk_q) > 32'(watched)) begin
        assert (used == in_ram_q);
        assert (((want_we && want_queue == watched) ? want : u_bank.u_wants.mem[watched]) == waiting_q
                || 32'(walk_q) <= 32'(watched));
      end
      assert (count_q == in_ram_q + 3'(push_here) + 3'(todo_here));
      for (int unsigned i = 0; i < Depth; i++) begin
        if (3'(i) < in_ram_q) begin
          assert (u_bank.u_pointers.mem[u_bank.pointer_address(watched, front + ($clog2(Depth) + 1)'(i))]
                  == plain_q[i]);
        end
      end
      if (push_here) assert (u_bank.push_slot_q == plain_q[in_ram_q]);
      if (todo_here) assert (u_bank.todo_slot_q == plain_q[in_ram_q + 3'(push_here)]);
      if (popped_q[0]) assert (u_bank.u_pointers.gen_registered.first_q == should_1_q);
    end
  end
`endif
endmodule
