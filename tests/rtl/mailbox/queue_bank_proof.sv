// SPDX-License-Identifier: Apache-2.0

/// What is proved of a set of pointer queues: each pointer comes out of each of its queues once and in order, and no
/// thread that waits for a pointer misses one.
///
/// Of all queues one is watched, any: beside it stands a queue in plain words, filled when a job for it is taken. A
/// pointer may be in the job's registers or in the RAM; the plain queue has both. The thread of each queue
/// receives only while it does not wait, and begins to wait only when it is told that nothing comes, as A does.
module set_proof #(
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

  // The queue that is watched: any, the same for ever.
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

  logic job_valid, job_ready, pop, pop_some, pop_coming, want_we, want, wake_valid, wake_ready, busy, wake_here;
  logic [SlotW-1:0] pop_slot;
  logic [QueueW-1:0] wake_queue;
  logic waiting_q, masked, for_watched, begins;

  assign job_valid = job_valid_i && !clear;
  assign masked    = Multicast && job_masked_i;
  // A thread that waits does nothing else. What it is woken by is looked at again: there must be a pointer.
  assign begins    = wait_i && !clear && !pop_i && !(waiting_q && pop_queue == watched) && !pop_coming && !wake_ready;
  assign wake_here = wake_ready && wake_valid && wake_queue == watched;
  assign pop       = pop_i && !clear && !(waiting_q && pop_queue == watched);
  // The wake-up goes through A, so the port is at its thread.
  assign wake_ready = wake_ready_i && !clear && wake_valid && pop_queue == wake_queue && !pop;
  // Wishes come a cycle later, as A's do; after reset nobody has one.
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
  ) u_set (
    .clk_i,
    .rst_ni,
    .clear_i     (clear),
    .clear_queue_i(walk_q[QueueW-1:0]),
    .job_valid_i (job_valid),
    .job_ready_o (job_ready),
    .job_slot_i,
    .job_masked_i(masked),
    .job_queue_i,
    .job_mask_i,
    .pop_i       (pop),
    .pop_queue_i (pop_queue),
    .pop_some_o  (pop_some),
    .pop_coming_o(pop_coming),
    .pop_slot_o  (pop_slot),
    .want_we_i   (want_we),
    .want_queue_i(want_queue),
    .want_i      (want),
    .wake_valid_o(wake_valid),
    .wake_ready_i(wake_ready),
    .wake_queue_o(wake_queue),
    .busy_o      (busy)
  );

  // The watched queue in plain words: what is in the RAM and what is on its way, the oldest at 0.
  localparam int unsigned Places = Depth + 2;
  logic [SlotW-1:0] plain_q[Places];
  logic [2:0] count_q, in_ram_q;
  logic takes, gives, enters;
  assign for_watched = masked ? job_mask_i[watched] : job_queue_i == watched;
  assign takes  = job_valid && job_ready && for_watched;
  assign gives  = pop && pop_some && pop_queue == watched;
  assign enters = u_set.push_go && u_set.push_queue_q == watched;

  logic [1:0] came_q;
  logic [SlotW-1:0] should_1_q, should_2_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q   <= '0;
      in_ram_q  <= '0;
      came_q    <= '0;
      waiting_q <= 1'b0;
    end else begin
      count_q  <= count_q + 3'(takes) - 3'(gives);
      in_ram_q <= in_ram_q + 3'(enters) - 3'(gives);
      came_q   <= {came_q[0], gives};
      for (int unsigned i = 0; i < Places; i++) begin
        if (gives && i + 1 < Places) plain_q[i] <= plain_q[i+1];
        if (takes && 3'(i) == count_q - 3'(gives)) plain_q[i] <= job_slot_i;
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
      what_comes_out_is_the_oldest: assert (!came_q[1] || pop_slot == should_2_q);
      some_is_exact: assert (clear || pop_queue != watched || pop_some == (in_ram_q != '0));
      no_pointer_is_lost: assert (count_q >= in_ram_q && 32'(count_q) <= Places && 32'(in_ram_q) <= Depth);
      nothing_is_in_flight_when_it_is_quiet: assert (busy || count_q == in_ram_q);
      // The wake-up that must not be lost: a thread waits, its pointer is there, and it is told of it.
      a_thread_that_waits_is_woken: assert (!(waiting_q && in_ram_q != '0) || (wake_valid && wake_queue == watched));
      c_full: cover (32'(count_q) == Places && 32'(in_ram_q) == Depth);
      c_push_meets_the_last_pop: cover (enters && gives && in_ram_q == 3'd1);
      c_woken: cover (wake_here && pop_some);
      c_waits_as_the_last_leaves: cover (begins && pop_queue == watched && $past(gives));
      c_woken_by_a_wish_that_is_not_written: cover (enters && want_we && want && want_queue == watched
                                                    && !u_set.kept_want);
      c_two_wait_for_one_wake: cover (u_set.push_valid_q && u_set.wanted && wake_valid && !wake_ready);
    end
  end

`ifdef INDUCTION
  // What the registers have to do with the words.
  logic [$clog2(Depth):0] front, back;
  logic todo_here, push_here;
  logic [2:0] used;
  assign front     = u_set.gen_side[0].u_front.mem[watched];
  assign back      = u_set.gen_side[0].u_back.mem[watched];
  assign used      = 3'(($clog2(Depth) + 1)'(back - front));
  assign push_here = u_set.push_valid_q && u_set.push_queue_q == watched;
  if (Multicast) begin : gen_todo
    assign todo_here = u_set.todo_valid_q
        && (u_set.gen_mask.todo_masked_q ? u_set.gen_mask.todo_mask_q[watched] : u_set.todo_queue_q == watched);
    always_ff @(posedge clk_i) begin
      if (rst_ni) assert (!u_set.todo_valid_q || !u_set.gen_mask.todo_masked_q || u_set.gen_mask.todo_mask_q != '0);
    end
  end else begin : gen_todo_one
    assign todo_here = u_set.todo_valid_q && u_set.todo_queue_q == watched;
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (32'(walk_q) <= Queues);
      assert (!clear || (!u_set.todo_valid_q && !u_set.push_valid_q && !wake_valid && count_q == '0 && !waiting_q));
      for (int unsigned q = 0; q < Queues; q++) begin
        assert (u_set.gen_side[0].u_front.mem[q] == u_set.gen_side[1].u_front.mem[q] || 32'(walk_q) <= q);
        assert (u_set.gen_side[0].u_back.mem[q] == u_set.gen_side[1].u_back.mem[q] || 32'(walk_q) <= q);
        if (32'(walk_q) > q) begin
          assert (32'(($clog2(Depth) + 1)'(u_set.gen_side[0].u_back.mem[q] - u_set.gen_side[0].u_front.mem[q]))
                  <= Depth);
        end
      end
      if (32'(walk_q) > 32'(watched)) begin
        assert (used == in_ram_q);
        assert (((want_we && want_queue == watched) ? want : u_set.u_wants.mem[watched]) == waiting_q
                || 32'(walk_q) <= 32'(watched));
      end
      assert (count_q == in_ram_q + 3'(push_here) + 3'(todo_here));
      for (int unsigned i = 0; i < Depth; i++) begin
        if (3'(i) < in_ram_q) begin
          assert (u_set.u_pointers.mem[u_set.place(watched, front + ($clog2(Depth) + 1)'(i))] == plain_q[i]);
        end
      end
      if (push_here) assert (u_set.push_slot_q == plain_q[in_ram_q]);
      if (todo_here) assert (u_set.todo_slot_q == plain_q[in_ram_q + 3'(push_here)]);
      if (came_q[0]) assert (u_set.u_pointers.gen_registered.first_q == should_1_q);
    end
  end
`endif
endmodule
