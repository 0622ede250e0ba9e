// SPDX-License-Identifier: Apache-2.0

/// What is proved of the accounting of slots: none is lost, none becomes free twice.
///
/// Beside it stands what the words say, without any pipeline: for each slot who holds it, whether a message comes
/// into it, whether it is free. Threads ask for anything at any time; messages come into any slot that is free, in
/// any order, which covers every order that a queue could have.
module refs_proof
  import gs_mailbox_pkg::*;
#(
  parameter  bit          Multicast      = 1'b1,
  parameter  int unsigned Threads        = 2,
  parameter  int unsigned SlotsPerThread = 2,
  localparam int unsigned ThreadW        = $clog2(Threads),
  localparam int unsigned Slots          = Threads * SlotsPerThread,
  localparam int unsigned SlotW          = $clog2(Slots)
) (
  input logic               clk_i,
  input logic               thread_valid_i,
  input logic               thread_release_i,
  input logic [SlotW-1:0]   thread_slot_i,
  input logic [ThreadW-1:0] thread_i,
  input logic               late_valid_i,
  input logic [SlotW-1:0]   late_slot_i,
  input logic [ThreadW-1:0] late_thread_i,
  input logic               hold_valid_i,
  input logic [SlotW-1:0]   hold_slot_i,
  input logic [Threads-1:0] hold_mask_i,
  input logic               take_i,
  input logic [SlotW-1:0]   take_slot_i
);
  localparam int unsigned SendSlots = 1;

  logic started_q = 1'b0;
  logic rst_ni;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic thread_valid, thread_wait, late_ready, hold_ready, held, free_valid, ready;
  logic [SlotW-1:0] free_slot;

  // Threads ask whenever they may.
  assign thread_valid = thread_valid_i && ready && !thread_wait;

  gs_mailbox_refs #(
    .Threads       (Threads),
    .SlotsPerThread(SlotsPerThread),
    .SendSlots     (SendSlots),
    .Multicast     (Multicast)
  ) u_refs (
    .clk_i,
    .rst_ni,
    .thread_valid_i(thread_valid),
    .thread_wait_o (thread_wait),
    .thread_op_i   (thread_release_i ? RefRelease : RefCheck),
    .thread_slot_i,
    .thread_i,
    .held_o        (held),
    .late_valid_i,
    .late_ready_o  (late_ready),
    .late_slot_i,
    .late_thread_i,
    .hold_valid_i,
    .hold_ready_o  (hold_ready),
    .hold_slot_i,
    .hold_mask_i,
    .free_valid_o  (free_valid),
    .free_slot_o   (free_slot),
    .ready_o       (ready)
  );

  // What the words say. A slot that the walk has not reached is in none of the states.
  logic [Threads-1:0] holders_q[Slots];
  logic [Slots-1:0] freed_q, free_q, filling_q;
  logic [SlotW:0] walk_q;
  logic walking;
  assign walking = !walk_q[SlotW];

  // What must come out three cycles after what went in.
  logic [2:0] will_free_q, check_q, check_held_q;
  logic [SlotW-1:0] will_slot_q[3];

  logic go_thread, go_late, go_hold, frees;
  logic [SlotW-1:0] slot;
  logic [ThreadW-1:0] who;
  logic [Threads-1:0] rest;
  assign go_late   = late_valid_i && late_ready;
  assign go_thread = thread_valid;
  assign go_hold   = hold_valid_i && hold_ready;

  always_comb begin
    slot      = go_late ? late_slot_i : thread_slot_i;
    who       = go_late ? late_thread_i : thread_i;
    rest      = holders_q[slot];
    rest[who] = 1'b0;
    frees     = (go_late || (go_thread && thread_release_i)) && holders_q[slot][who] && rest == '0;
    if (walking) begin
      slot  = walk_q[SlotW-1:0];
      frees = (32'(slot) % SlotsPerThread) >= SendSlots;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      freed_q     <= '0;
      free_q      <= '0;
      filling_q   <= '0;
      walk_q      <= '0;
      will_free_q <= '0;
      check_q     <= '0;
      for (int unsigned s = 0; s < Slots; s++) holders_q[s] <= '0;
    end else begin
      will_free_q  <= {will_free_q[1:0], frees};
      check_q      <= {check_q[1:0], go_thread && !thread_release_i};
      check_held_q <= {check_held_q[1:0], holders_q[thread_slot_i][thread_i]};
      if (walking) begin
        walk_q <= walk_q + 1'b1;
        if (!frees) holders_q[slot] <= Threads'(1) << (32'(slot) / SlotsPerThread);
      end else if (go_late || (go_thread && thread_release_i)) begin
        holders_q[slot] <= rest;
      end
      if (frees) freed_q[slot] <= 1'b1;
      if (go_hold) begin
        holders_q[hold_slot_i] <= hold_mask_i;
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
    will_slot_q[0] <= slot;
    will_slot_q[1] <= will_slot_q[0];
    will_slot_q[2] <= will_slot_q[1];
  end

  // What the surroundings keep to: only a free slot is taken, a message goes only into a slot that was taken.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assume (!take_i || free_q[take_slot_i]);
      assume (!hold_valid_i || (filling_q[hold_slot_i] && hold_mask_i != '0));
      if (!Multicast) assume ((hold_mask_i & (hold_mask_i - Threads'(1))) == '0);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // Nobody waits for threads more than a cycle.
      others_have_their_turn: assert (!($past(late_valid_i || hold_valid_i) && $past(thread_valid)) || !thread_valid);
      one_request_a_cycle: assert (32'(go_thread) + 32'(go_late) + 32'(go_hold) <= 1);
      requests_wait_for_the_walk: assert (!walking || !(go_thread || go_late || go_hold));
      the_walk_ends: assert (ready == !walking);
      // What becomes free is exactly what should: so none is lost and none comes twice.
      a_slot_becomes_free_when_it_should: assert (free_valid == will_free_q[2]);
      it_is_the_right_slot: assert (!free_valid || free_slot == will_slot_q[2]);
      holding_is_answered_rightly: assert (!check_q[2] || held == check_held_q[2]);
      for (int unsigned s = 0; s < Slots; s++) begin
        // Each slot is in one state. (A label would be the same for all slots.)
        assert (
          32'(freed_q[s]) + 32'(free_q[s]) + 32'(filling_q[s]) + 32'(holders_q[s] != '0)
            == ((SlotW + 1)'(s) < walk_q ? 1 : 0));
      end
      a_free_slot_is_not_freed: assert (!free_valid || (freed_q[free_slot] && !free_q[free_slot]));
    end
  end

`ifdef INDUCTION
  // What holds between the records and the words, for induction: they differ only by what is in the pipeline.
  localparam int unsigned RecordW = Multicast ? Threads : ThreadW + 1;
  logic [Slots-1:0] changing;
  // Without multicast a record is a valid bit and the thread's number.
  function automatic logic [RecordW-1:0] record_of(logic [Threads-1:0] holders);
    logic [ThreadW-1:0] thread;
    thread = '0;
    for (int unsigned t = 0; t < Threads; t++) if (holders[t]) thread |= ThreadW'(t);
    if (Multicast) record_of = RecordW'(holders);
    else record_of = (holders == '0) ? '0 : RecordW'({1'b1, thread});
  endfunction

  // What a request that is under way makes of what was there.
  function automatic logic [RecordW-1:0] after(logic [RecordW-1:0] old, ref_op_e op, logic [Threads-1:0] bits);
    logic [RecordW-1:0] mine;
    mine  = record_of(bits);
    after = old;
    if (op == RefHold) after = mine;
    if (op == RefFree) after = '0;
    if (op == RefRelease) after = Multicast ? old & ~mine : (old == mine) ? '0 : old;
  endfunction

  logic [Threads-1:0] b_bits, c_bits;
  if (Multicast) begin : gen_mask_bits
    assign b_bits = u_refs.gen_mask.b_whole_q ? u_refs.gen_mask.b_mask_q : u_refs.gen_mask.b_bit;
    assign c_bits = u_refs.gen_mask.c_bits_q;
  end else begin : gen_one_bits
    assign b_bits = Threads'(1) << u_refs.gen_one.b_thread_q;
    assign c_bits = Threads'(1) << u_refs.gen_one.c_thread_q;
  end

  // b_now: what the slot of the request in B holds once the one in C is through.
  logic [RecordW-1:0] b_now, c_next;
  assign c_next = after(u_refs.u_records.mem[u_refs.c_slot_q], u_refs.c_op_q, c_bits);
  assign b_now  = (u_refs.c_valid_q && u_refs.c_slot_q == u_refs.b_slot_q) ? c_next
                : u_refs.u_records.mem[u_refs.b_slot_q];

  always_comb begin
    changing = '0;
    if (u_refs.b_valid_q) changing[u_refs.b_slot_q] |= u_refs.b_op_q != RefCheck;
    if (u_refs.c_valid_q) changing[u_refs.c_slot_q] |= u_refs.c_op_q != RefCheck;
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      for (int unsigned s = 0; s < Slots; s++) begin
        if ((SlotW + 1)'(s) < walk_q && !changing[s]) begin
          assert (u_refs.u_records.mem[s] == record_of(holders_q[s]));
        end
        if (!Multicast) assert ((holders_q[s] & (holders_q[s] - Threads'(1))) == '0);
      end
      // A request is judged by what the RAM will hold once those before it are through.
      if (u_refs.c_valid_q && (u_refs.c_op_q == RefCheck || u_refs.c_op_q == RefRelease)) begin
        assert (u_refs.record == u_refs.u_records.mem[u_refs.c_slot_q]);
      end
      if (u_refs.c_change) assert (u_refs.record_next == c_next);
      if (u_refs.d_change_q) assert (u_refs.d_record_q == u_refs.u_records.mem[u_refs.d_slot_q]);
      if (u_refs.b_valid_q && (u_refs.b_op_q == RefCheck || u_refs.b_op_q == RefRelease)
          && !u_refs.b_after_c && !(u_refs.d_change_q && u_refs.d_slot_q == u_refs.b_slot_q)) begin
        assert (u_refs.u_records.gen_registered.first_q == u_refs.u_records.mem[u_refs.b_slot_q]);
      end
      // And with what is under way it is what the words say.
      if (u_refs.c_change && !(u_refs.b_valid_q && u_refs.b_slot_q == u_refs.c_slot_q)) begin
        assert (c_next == record_of(holders_q[u_refs.c_slot_q]));
      end
      if (u_refs.b_valid_q) begin
        assert (after(b_now, u_refs.b_op_q, b_bits) == record_of(holders_q[u_refs.b_slot_q]));
      end
    end
  end
`endif
endmodule
