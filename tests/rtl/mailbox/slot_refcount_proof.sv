// SPDX-License-Identifier: Apache-2.0

/// Proof of the accounting of slots: no slot is lost, none becomes free twice, and none becomes free while a thread has
/// still to receive or to release its message.
///
/// The reference model has no pipeline: for each slot it has the threads that have still to receive its message, those
/// that hold it, whether a message is being written into it, whether it is free. Threads release and send from any slot
/// at any time, and receive any message that is for them; messages arrive in any slot that is free.
module slot_refcount_proof #(
  parameter  bit          Multicast      = 1'b1,
  parameter  int unsigned Threads        = 4,
  parameter  int unsigned SlotsPerThread = 1,
  localparam int unsigned ThreadW        = $clog2(Threads),
  localparam int unsigned Slots          = Threads * SlotsPerThread,
  localparam int unsigned SlotW          = $clog2(Slots)
) (
  input logic               clk_i,
  input logic               a_release_i,
  input logic               a_receive_i,
  input logic [SlotW-1:0]   a_slot_i,
  input logic [ThreadW-1:0] a_thread_i,
  input logic [SlotW-1:0]   c_receive_slot_i,
  input logic               hold_i,
  input logic [SlotW-1:0]   hold_slot_i,
  input logic [Threads-1:0] hold_mask_i,
  input logic               take_i,
  input logic [SlotW-1:0]   take_slot_i
);
  // Some threads begin with one slot, the others with none.
  localparam int unsigned SendSlots = (SlotsPerThread > 1) ? 1 : 0;

  logic started_q = 1'b0;
  logic rst_ni;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Requests in flight to C. No thread has two.
  typedef struct packed {
    logic               release_it;
    logic               receive;
    logic [SlotW-1:0]   slot;
    logic [ThreadW-1:0] thread;
  } step_t;
  step_t a, b_q, c_q;
  logic ready, held, free_valid;
  logic [SlotW-1:0] free_slot;

  assign a = '{
      release_it: a_release_i && !a_receive_i && ready,
      receive: a_receive_i && ready,
      slot: a_slot_i,
      thread: a_thread_i
  };
  always_ff @(posedge clk_i) begin
    b_q <= a;
    c_q <= b_q;
    if (!rst_ni) begin
      b_q.release_it <= 1'b0;
      b_q.receive    <= 1'b0;
      c_q.release_it <= 1'b0;
      c_q.receive    <= 1'b0;
    end
  end

  function automatic logic [ThreadW:0] count(logic [Threads-1:0] mask);
    count = '0;
    for (int unsigned t = 0; t < Threads; t++) count = count + (ThreadW + 1)'(mask[t]);
  endfunction

  logic [SlotW-1:0] c_slot;
  assign c_slot = c_q.receive ? c_receive_slot_i : c_q.slot;

  gs_mailbox_slot_refcount #(
    .Threads       (Threads),
    .SlotsPerThread(SlotsPerThread),
    .SendSlots     (SendSlots),
    .Multicast     (Multicast),
    .Banks         (2)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .a_slot_i        (a.slot),
    .a_thread_i      (a.thread),
    .c_held_o        (held),
    .c_release_i     (c_q.release_it),
    .c_receive_i     (c_q.receive),
    .c_receive_slot_i,
    .hold_i,
    .hold_slot_i,
    .hold_count_i    (ThreadW'(count(hold_mask_i))),
    .free_valid_o    (free_valid),
    .free_slot_o     (free_slot),
    .ready_o         (ready)
  );

  // The reference model. A slot that is not yet initialized is in none of the states.
  logic [Threads-1:0] queued_q[Slots];
  logic [Threads-1:0] holders_q[Slots];
  logic [Slots-1:0] freed_q, free_q, filling_q, known_q;
  logic should_free, will_free_q;
  logic [SlotW-1:0] will_slot_q;
  logic [Threads-1:0] me, rest;

  assign me          = Threads'(1) << c_q.thread;
  assign rest        = (holders_q[c_slot] | queued_q[c_slot]) & ~me;
  assign should_free = c_q.release_it && (holders_q[c_slot] & me) != '0 && rest == '0;

  // Initialization: the state of a slot is known when its last bit is written.
  localparam int unsigned Steps = Threads / 2;
  logic [SlotW+ThreadW-1:0] walk_q;
  logic walking, walk_known, walk_held;
  logic [SlotW-1:0] walk_slot;
  assign walking    = 32'(walk_q) < Slots * Steps;
  assign walk_slot  = SlotW'(32'(walk_q) / Steps);
  assign walk_known = walking && 32'(walk_q) % Steps == Steps - 1;
  assign walk_held  = 32'(walk_slot) % SlotsPerThread < SendSlots;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      freed_q     <= '0;
      free_q      <= '0;
      filling_q   <= '0;
      known_q     <= '0;
      walk_q      <= '0;
      will_free_q <= 1'b0;
      for (int unsigned s = 0; s < Slots; s++) begin
        holders_q[s] <= '0;
        queued_q[s]  <= '0;
      end
    end else begin
      if (walking) walk_q <= walk_q + 1'b1;
      will_free_q <= should_free || (walk_known && !walk_held);
      if (walk_known) begin
        known_q[walk_slot] <= 1'b1;
        if (walk_held) holders_q[walk_slot] <= Threads'(1) << (32'(walk_slot) / SlotsPerThread);
        else freed_q[walk_slot] <= 1'b1;
      end
      if (c_q.release_it) holders_q[c_slot] <= holders_q[c_slot] & ~me;
      if (c_q.receive) begin
        queued_q[c_slot]  <= queued_q[c_slot] & ~me;
        holders_q[c_slot] <= holders_q[c_slot] | me;
      end
      if (should_free) freed_q[c_slot] <= 1'b1;
      if (hold_i) begin
        queued_q[hold_slot_i]  <= hold_mask_i;
        filling_q[hold_slot_i] <= 1'b0;
      end
      if (take_i) begin
        free_q[take_slot_i]    <= 1'b0;
        filling_q[take_slot_i] <= 1'b1;
      end
      if (free_valid) begin
        freed_q[free_slot] <= 1'b0;
        free_q[free_slot]  <= 1'b1;
      end
    end
    will_slot_q <= walking ? walk_slot : c_slot;
  end

  // Assumptions about the environment.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      no_thread_has_two_requests: assume (a.thread != b_q.thread && a.thread != c_q.thread);
      only_queued_messages_are_received: assume (!c_q.receive || (queued_q[c_slot] & me) != '0);
      only_free_slots_are_taken: assume (!take_i || free_q[take_slot_i]);
      only_taken_slots_are_filled: assume (!hold_i || (ready && filling_q[hold_slot_i] && hold_mask_i != '0));
      if (!Multicast) assume (!hold_i || count(hold_mask_i) == 1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      ready_after_initialization: assert (ready == !walking);
      held_is_exact: assert (!ready || !known_q[c_q.slot] || c_q.receive || !c_q.release_it
                                           || held == ((holders_q[c_slot] & me) != '0));
      // The slots that become free are exactly the right ones: so none is lost and none is freed twice.
      slots_become_free_at_the_right_time: assert (free_valid == will_free_q);
      right_slot_becomes_free: assert (!free_valid || free_slot == will_slot_q);
      free_slots_are_not_freed: assert (!free_valid || (freed_q[free_slot] && !free_q[free_slot]));
      for (int unsigned s = 0; s < Slots; s++) begin
        // Each slot is in one state. (A label would have to be the same for all slots.)
        assert (32'(freed_q[s]) + 32'(free_q[s]) + 32'(filling_q[s]) + 32'((holders_q[s] | queued_q[s]) != '0)
                == 32'(known_q[s]));
        assert ((holders_q[s] & queued_q[s]) == '0);
      end

      // Covers: the last holder releases a slot after two others in consecutive cycles, and the slot is filled again.
      if (Multicast) begin
        c_three_release: cover (will_free_q && $past(c_q.release_it && held, 1) && $past(c_q.release_it && held, 2)
                                && $past(c_q.release_it && held, 3) && $past(c_q.slot, 2) == free_slot
                                && $past(c_q.slot, 3) == free_slot);
      end
      c_early: cover (ready && c_q.release_it && (queued_q[c_slot] & me) != '0);
      c_again: cover (hold_i && $past(free_valid && free_slot == hold_slot_i, 2));
    end
  end

`ifdef INDUCTION
  // Invariants between the memories and the reference model.
  localparam int unsigned BitW = SlotW + ThreadW - 1;
  function automatic logic [BitW-1:0] bit_address(logic [SlotW-1:0] slot, logic [ThreadW-1:0] thread);
    return {slot, thread[ThreadW-1:1]};
  endfunction
  logic b_bit, c_bit, b_read, c_read;
  assign b_bit  = b_q.thread[0] ? u_dut.gen_bank[1].u_bits.mem[bit_address(b_q.slot, b_q.thread)]
                                : u_dut.gen_bank[0].u_bits.mem[bit_address(b_q.slot, b_q.thread)];
  assign c_bit  = c_q.thread[0] ? u_dut.gen_bank[1].u_bits.mem[bit_address(c_q.slot, c_q.thread)]
                                : u_dut.gen_bank[0].u_bits.mem[bit_address(c_q.slot, c_q.thread)];
  assign b_read = b_q.thread[0] ? u_dut.gen_bank[1].u_bits.gen_registered.first_q
                                : u_dut.gen_bank[0].u_bits.gen_registered.first_q;
  assign c_read = held;
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (u_dut.walk_q == (BitW + 1)'(walk_q) || !walking);
      assert (32'(walk_q) <= Slots * Steps);
      assert (!walking || (!a.release_it && !a.receive && !b_q.release_it && !b_q.receive && !c_q.release_it
                           && !c_q.receive));
      if (b_q.release_it || b_q.receive) assert (u_dut.b_slot_q == b_q.slot && u_dut.b_thread_q == b_q.thread);
      if (c_q.release_it || c_q.receive) assert (u_dut.c_slot_q == c_q.slot && u_dut.c_thread_q == c_q.thread);
      assert (!(b_q.release_it && b_q.receive) && !(c_q.release_it && c_q.receive));
      if (b_q.release_it || b_q.receive) begin
        assert (!(c_q.release_it || c_q.receive) || b_q.thread != c_q.thread);
        assert (b_read == b_bit);
      end
      if (c_q.release_it) assert (c_read == c_bit);
      for (int unsigned s = 0; s < Slots; s++) begin
        assert (known_q[s] == (s < 32'(walk_q) / Steps));
        if (!Multicast) assert (count(holders_q[s] | queued_q[s]) <= 1);
        for (int unsigned t = 0; t < Threads; t++) begin
          if (known_q[s]) begin
            if (t % 2 == 0) begin
              assert (u_dut.gen_bank[0].u_bits.mem[bit_address(SlotW'(s), ThreadW'(t))] == holders_q[s][t]);
            end else begin
              assert (u_dut.gen_bank[1].u_bits.mem[bit_address(SlotW'(s), ThreadW'(t))] == holders_q[s][t]);
            end
          end else if (walking && s == 32'(walk_q) / Steps && t / 2 < 32'(walk_q) % Steps) begin
            if (t % 2 == 0) begin
              assert (u_dut.gen_bank[0].u_bits.mem[bit_address(SlotW'(s), ThreadW'(t))]
                      == (walk_held && t == s / SlotsPerThread));
            end else begin
              assert (u_dut.gen_bank[1].u_bits.mem[bit_address(SlotW'(s), ThreadW'(t))]
                      == (walk_held && t == s / SlotsPerThread));
            end
          end
        end
      end
    end
  end
  if (Multicast) begin : gen_counts
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        for (int unsigned s = 0; s < Slots; s++) begin
          if (known_q[s]) begin
            if ((holders_q[s] | queued_q[s]) != '0) begin
              assert (ThreadW'((ThreadW + 1)'(u_dut.gen_count.u_released.mem[s]) + count(holders_q[s] | queued_q[s]))
                      == u_dut.gen_count.u_counts.mem[s]);
              assert (32'(u_dut.gen_count.u_released.mem[s]) + 32'(count(holders_q[s] | queued_q[s])) <= Threads);
            end else begin
              assert (u_dut.gen_count.u_released.mem[s] == '0);
            end
          end else if (walking && s == 32'(walk_q) / Steps && 32'(walk_q) % Steps != 0) begin
            assert (u_dut.gen_count.u_released.mem[s] == '0 && u_dut.gen_count.u_counts.mem[s] == ThreadW'(1));
          end
        end
        if (c_q.release_it) assert (u_dut.gen_count.released == u_dut.gen_count.u_released.mem[c_q.slot]);
        if (c_q.release_it && held) assert (u_dut.gen_count.counted == u_dut.gen_count.u_counts.mem[c_q.slot]);
        if (u_dut.gen_count.d_change_q) begin
          assert (u_dut.gen_count.d_released_q == u_dut.gen_count.u_released.mem[u_dut.gen_count.d_slot_q]);
        end
        if ((b_q.release_it || b_q.receive) && !u_dut.gen_count.b_after_c && !u_dut.gen_count.b_after_d) begin
          assert (u_dut.gen_count.u_released.gen_registered.first_q == u_dut.gen_count.u_released.mem[b_q.slot]);
        end
        if (b_q.release_it && (holders_q[b_q.slot] & Threads'(1) << b_q.thread) != '0) begin
          assert (u_dut.gen_count.u_counts.gen_registered.first_q == u_dut.gen_count.u_counts.mem[b_q.slot]);
        end
      end
    end
  end
`endif
endmodule
