// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// A bank of virtual pointer queues of a mailbox: the queues of several threads in one block RAM.
///
/// A job is a slot and the queues into which its number is pushed: one queue, or several by a mask, one of them a
/// cycle, the lowest first. If a queue is full, the job waits, and so do those after it.
/// A pointer for a thread that waits for one wakes it: the thread's number is output by wake_*.
///
///     job ->[ remaining queues ]-> pick ->[ queue, slot ]-> full? -> RAM ... -> slot
///     pop_i, pop_queue_i: pop_some_o in the same cycle, pop_slot_o two clock edges later
///
/// A thread begins to wait only in a cycle in which pop_arriving_o is 0: no pointer is queued or being written for it.
/// Its registration arrives in the next cycle (want_i), together with the first pointer that could be written for it,
/// and takes effect at once. So no wake-up is lost; a superfluous one may occur.
module gs_mailbox_queue_bank #(
  /// queues, 2 or more
  parameter  int unsigned Queues    = 16,
  /// messages that can wait in each of them, a power of two
  parameter  int unsigned Depth     = 16,
  /// bits of a slot's number
  parameter  int unsigned SlotW     = 10,
  /// 1: a job may be for several queues
  parameter  bit          Multicast = 1'b1,
  localparam int unsigned QueueW    = $clog2(Queues)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  /// after reset: empties a queue
  input  logic              clear_i,
  input  logic [QueueW-1:0] clear_queue_i,
  /// jobs; a mask is never 0
  input  logic              job_valid_i,
  output logic              job_ready_o,
  input  logic [SlotW-1:0]  job_slot_i,
  input  logic              job_masked_i,
  input  logic [QueueW-1:0] job_queue_i,
  input  logic [Queues-1:0] job_mask_i,
  /// pops the oldest pointer of a queue, if any
  input  logic              pop_i,
  input  logic [QueueW-1:0] pop_queue_i,
  output logic              pop_some_o,
  output logic              pop_arriving_o,
  output logic [SlotW-1:0]  pop_slot_o,
  /// since the previous cycle a thread waits for a pointer, or no longer waits
  input  logic              want_we_i,
  input  logic [QueueW-1:0] want_queue_i,
  input  logic              want_i,
  /// a waiting thread has a pointer
  output logic              wake_valid_o,
  input  logic              wake_ready_i,
  output logic [QueueW-1:0] wake_queue_o,
  /// jobs or wake-ups are in progress
  output logic              busy_o
);
  if (Depth != 1 << $clog2(Depth)) begin : gen_illegal_depth
    $fatal(1, "gs_mailbox_queue_bank: Depth is %0d; it must be a power of two", Depth);
  end

  // Pointers have one more bit than the depth needs: front and back are equal when the queue is empty.
  localparam int unsigned PtrW = $clog2(Depth) + 1;
  localparam int unsigned AddrW = $clog2(Queues * Depth);

  function automatic logic [AddrW-1:0] pointer_address(logic [QueueW-1:0] queue, logic [PtrW-1:0] pointer);
    return AddrW'(32'(queue) * Depth + 32'(pointer) % Depth);
  endfunction

  // The job, and the next of its queues.
  logic todo_valid_q, todo_last, todo_go;
  logic [SlotW-1:0] todo_slot_q;
  logic [QueueW-1:0] todo_queue, todo_queue_q;
  logic push_valid_q, push_go;
  logic [SlotW-1:0] push_slot_q;
  logic [QueueW-1:0] push_queue_q;

  assign todo_go     = todo_valid_q && (!push_valid_q || push_go);
  assign job_ready_o = !todo_valid_q || (todo_go && todo_last);

  if (Multicast) begin : gen_mask
    // The lowest queue: first the lowest group of four with a bit set, then the lowest bit of this group.
    localparam int unsigned Fours = (Queues + 3) / 4;
    localparam int unsigned FourW = (Fours > 1) ? $clog2(Fours) : 1;
    logic [Fours*4-1:0] todo_mask_q, lowest_bit;
    logic [Fours-1:0] some, other;
    logic [FourW-1:0] four;
    logic [3:0] bits, lowest_of_four;
    logic [1:0] bit_of_four;
    logic todo_masked_q;

    always_comb begin
      four = '0;
      for (int i = int'(Fours) - 1; i >= 0; i--) begin
        some[i] = todo_mask_q[i*4+:4] != '0;
        if (some[i]) four = FourW'(i);
      end
      bits           = todo_mask_q[four*4+:4];
      lowest_of_four = {bits[3] & ~|bits[2:0], bits[2] & ~|bits[1:0], bits[1] & ~bits[0], bits[0]};
      bit_of_four    = {lowest_of_four[3] | lowest_of_four[2], lowest_of_four[3] | lowest_of_four[1]};
      for (int unsigned i = 0; i < Fours; i++) begin
        other[i]            = some[i] && four != FourW'(i);
        lowest_bit[i*4+:4]  = (four == FourW'(i)) ? lowest_of_four : '0;
      end
    end
    assign todo_queue = todo_masked_q ? QueueW'({four, bit_of_four}) : todo_queue_q;
    assign todo_last  = !todo_masked_q || (other == '0 && bits == lowest_of_four);
    always_ff @(posedge clk_i) begin
      if (job_ready_o) todo_masked_q <= job_masked_i;
      if (job_ready_o) todo_mask_q <= (Fours * 4)'(job_mask_i);
      else if (todo_go) todo_mask_q <= todo_mask_q & ~lowest_bit;
    end
  end else begin : gen_one
    assign todo_queue = todo_queue_q;
    assign todo_last  = 1'b1;
    logic unused_mask;
    assign unused_mask = ^{job_masked_i, job_mask_i};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      todo_valid_q <= 1'b0;
      push_valid_q <= 1'b0;
    end else begin
      if (job_ready_o) todo_valid_q <= job_valid_i;
      if (!push_valid_q || push_go) push_valid_q <= todo_valid_q;
    end
    if (job_ready_o) begin
      todo_slot_q  <= job_slot_i;
      todo_queue_q <= job_queue_i;
    end
    if (!push_valid_q || push_go) begin
      push_slot_q  <= todo_slot_q;
      push_queue_q <= todo_queue;
    end
  end

  // Front and back of each queue, one copy for the push side and one for the pop side.
  logic pop_go, wanted, stored_want, wake_valid_q;
  logic [PtrW-1:0] push_front, push_back, pop_front, pop_back, pop_front_next;
  logic front_we, back_we;
  logic [QueueW-1:0] front_waddr, back_waddr;
  logic [PtrW-1:0] front_wdata, back_wdata;

  assign push_go        = push_valid_q && (push_back ^ push_front) != PtrW'(Depth) && !(wanted && wake_valid_q);
  assign pop_some_o     = pop_front != pop_back;
  assign pop_arriving_o = pop_some_o || (push_valid_q && push_queue_q == pop_queue_i);
  assign pop_go         = pop_i && pop_some_o;
  assign pop_front_next = pop_front + PtrW'(1);
  assign front_we       = pop_go || clear_i;
  assign front_waddr    = clear_i ? clear_queue_i : pop_queue_i;
  assign front_wdata    = clear_i ? '0 : pop_front_next;
  assign back_we        = push_go || clear_i;
  assign back_waddr     = clear_i ? clear_queue_i : push_queue_q;
  assign back_wdata     = clear_i ? '0 : push_back + PtrW'(1);

  for (genvar side = 0; side < 2; side++) begin : gen_side
    logic [PtrW-1:0] front, back;
    gs_ram_sdp #(
      .Width  (PtrW),
      .Depth  (Queues),
      .Latency(0),
      .Style  ("distributed")
    ) u_front (
      .clk_i,
      .we_i   (front_we),
      .wstrb_i(1'b1),
      .waddr_i(front_waddr),
      .wdata_i(front_wdata),
      .re_i   (1'b1),
      .raddr_i(side == 0 ? push_queue_q : pop_queue_i),
      .rdata_o(front)
    );
    gs_ram_sdp #(
      .Width  (PtrW),
      .Depth  (Queues),
      .Latency(0),
      .Style  ("distributed")
    ) u_back (
      .clk_i,
      .we_i   (back_we),
      .wstrb_i(1'b1),
      .waddr_i(back_waddr),
      .wdata_i(back_wdata),
      .re_i   (1'b1),
      .raddr_i(side == 0 ? push_queue_q : pop_queue_i),
      .rdata_o(back)
    );
  end
  assign push_front = gen_side[0].front;
  assign push_back  = gen_side[0].back;
  assign pop_front  = gen_side[1].front;
  assign pop_back   = gen_side[1].back;

  gs_ram_sdp #(
    .Width  (SlotW),
    .Depth  (Queues * Depth),
    .Latency(2),
    .Style  ("block")
  ) u_pointers (
    .clk_i,
    .we_i   (push_go),
    .wstrb_i(1'b1),
    .waddr_i(pointer_address(push_queue_q, push_back)),
    .wdata_i(push_slot_q),
    .re_i   (pop_i),
    .raddr_i(pointer_address(pop_queue_i, pop_front)),
    .rdata_o(pop_slot_o)
  );

  // Threads that wait for a pointer. A wake-up is held in a register; the next one, and its pointer, wait for it.
  logic [QueueW-1:0] wake_queue_q;
  gs_ram_sdp #(
    .Width  (1),
    .Depth  (Queues),
    .Latency(0),
    .Style  ("distributed")
  ) u_wants (
    .clk_i,
    .we_i   (want_we_i),
    .wstrb_i(1'b1),
    .waddr_i(want_queue_i),
    .wdata_i(want_i),
    .re_i   (1'b1),
    .raddr_i(push_queue_q),
    .rdata_o(stored_want)
  );
  assign wanted = (want_we_i && want_queue_i == push_queue_q) ? want_i : stored_want;

  assign wake_valid_o = wake_valid_q;
  assign wake_queue_o = wake_queue_q;
  assign busy_o       = todo_valid_q || push_valid_q || wake_valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) wake_valid_q <= 1'b0;
    else if (push_go && wanted) wake_valid_q <= 1'b1;
    else if (wake_ready_i) wake_valid_q <= 1'b0;
    if (!wake_valid_q) wake_queue_q <= push_queue_q;
  end

  `GS_ASSERT_NOW(masks_are_not_empty, !job_valid_i || !job_masked_i || !Multicast || job_mask_i != '0)
  `GS_ASSERT_NOW(queues_never_overflow, !push_valid_q || PtrW'(push_back - push_front) <= PtrW'(Depth))
  // An empty queue may be popped while its first pointer is written: then the pop has no effect.
  `GS_ASSERT_NOW(popped_pointer_is_not_being_written, !(u_pointers.collides && pop_go))
endmodule
