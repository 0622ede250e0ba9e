// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// One set of virtual pointer queues of a mailbox: the queues of several threads in one block RAM.
///
/// A job is a slot and the queues that its number goes into; one of them a cycle, the lowest first. If a queue is
/// full, the job waits, and those behind it.
///
///     job ->[ queues to go ]-> pick ->[ one queue ]-> full? -> RAM ... -> slot
///     pop_i, pop_queue_i: pop_some_o in the same cycle, pop_slot_o two clock edges later
module gs_mailbox_set #(
  /// queues, 2 or more
  parameter  int unsigned Queues    = 16,
  /// messages that can wait in each of them, a power of two
  parameter  int unsigned Depth     = 16,
  /// bits of a slot's number
  parameter  int unsigned SlotW     = 10,
  /// 1: a job can be for several queues
  parameter  bit          Multicast = 1'b1,
  localparam int unsigned QueueW    = $clog2(Queues)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  /// after reset: empties a queue
  input  logic              clear_i,
  input  logic [QueueW-1:0] clear_queue_i,
  /// jobs; the mask is never 0, and has one bit without multicast
  input  logic              job_valid_i,
  output logic              job_ready_o,
  input  logic [SlotW-1:0]  job_slot_i,
  input  logic [Queues-1:0] job_mask_i,
  /// takes the oldest pointer of a queue, if there is one
  input  logic              pop_i,
  input  logic [QueueW-1:0] pop_queue_i,
  output logic              pop_some_o,
  output logic [SlotW-1:0]  pop_slot_o,
  /// queues with something in them
  output logic [Queues-1:0] some_o,
  /// jobs are under way
  output logic              busy_o
);
  if (Depth != 1 << $clog2(Depth)) begin : gen_illegal_depth
    $fatal(1, "gs_mailbox_set: Depth is %0d; it must be a power of two", Depth);
  end

  // Pointers count once more than the queue is deep: front and back are equal when it is empty.
  localparam int unsigned PtrW = $clog2(Depth) + 1;
  localparam int unsigned AddrW = $clog2(Queues * Depth);

  function automatic logic [AddrW-1:0] place(logic [QueueW-1:0] queue, logic [PtrW-1:0] pointer);
    return AddrW'(32'(queue) * Depth + 32'(pointer) % Depth);
  endfunction

  // What is to do, one queue after the other.
  logic todo_valid_q, todo_last, todo_go;
  logic [SlotW-1:0] todo_slot_q;
  logic [QueueW-1:0] todo_queue;
  logic one_valid_q, one_go;
  logic [SlotW-1:0] one_slot_q;
  logic [QueueW-1:0] one_queue_q;

  assign todo_go     = todo_valid_q && (!one_valid_q || one_go);
  assign job_ready_o = !todo_valid_q || (todo_go && todo_last);

  if (Multicast) begin : gen_mask
    logic [Queues-1:0] todo_mask_q, todo_rest;
    assign todo_rest = todo_mask_q & (todo_mask_q - Queues'(1));
    always_comb begin
      todo_queue = '0;
      for (int unsigned i = 0; i < Queues; i++) if (todo_mask_q[i] && !todo_rest[i]) todo_queue |= QueueW'(i);
    end
    assign todo_last = todo_rest == '0;
    always_ff @(posedge clk_i) begin
      if (job_ready_o) todo_mask_q <= job_mask_i;
      else if (todo_go) todo_mask_q <= todo_rest;
    end
  end else begin : gen_one
    logic [QueueW-1:0] job_queue, todo_queue_q;
    always_comb begin
      job_queue = '0;
      for (int unsigned i = 0; i < Queues; i++) if (job_mask_i[i]) job_queue |= QueueW'(i);
    end
    assign todo_queue = todo_queue_q;
    assign todo_last  = 1'b1;
    always_ff @(posedge clk_i) if (job_ready_o) todo_queue_q <= job_queue;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      todo_valid_q <= 1'b0;
      one_valid_q  <= 1'b0;
    end else begin
      if (job_ready_o) todo_valid_q <= job_valid_i;
      if (!one_valid_q || one_go) one_valid_q <= todo_valid_q;
    end
    if (job_ready_o) todo_slot_q <= job_slot_i;
    if (!one_valid_q || one_go) begin
      one_slot_q  <= todo_slot_q;
      one_queue_q <= todo_queue;
    end
  end

  // Front and back of each queue, each with a copy for either side.
  logic pop_go;
  logic [PtrW-1:0] push_front, push_back, pop_front, pop_back, pop_front_next;
  logic front_we, back_we;
  logic [QueueW-1:0] front_waddr, back_waddr;
  logic [PtrW-1:0] front_wdata, back_wdata;

  assign one_go         = one_valid_q && (push_back ^ push_front) != PtrW'(Depth);
  assign pop_some_o     = pop_front != pop_back;
  assign pop_go         = pop_i && pop_some_o;
  assign pop_front_next = pop_front + PtrW'(1);
  assign front_we       = pop_go || clear_i;
  assign front_waddr    = clear_i ? clear_queue_i : pop_queue_i;
  assign front_wdata    = clear_i ? '0 : pop_front_next;
  assign back_we        = one_go || clear_i;
  assign back_waddr     = clear_i ? clear_queue_i : one_queue_q;
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
      .raddr_i(side == 0 ? one_queue_q : pop_queue_i),
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
      .raddr_i(side == 0 ? one_queue_q : pop_queue_i),
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
    .we_i   (one_go),
    .wstrb_i(1'b1),
    .waddr_i(place(one_queue_q, push_back)),
    .wdata_i(one_slot_q),
    .re_i   (pop_i),
    .raddr_i(place(pop_queue_i, pop_front)),
    .rdata_o(pop_slot_o)
  );

  // One flip-flop a queue, for whoever waits.
  logic [Queues-1:0] some_q;
  logic pop_empties;
  assign pop_empties = pop_go && pop_front_next == pop_back;
  assign some_o      = some_q;
  assign busy_o      = todo_valid_q || one_valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      some_q <= '0;
    end else begin
      if (pop_empties) some_q[pop_queue_i] <= 1'b0;
      // One that comes while the last goes is there.
      if (one_go) some_q[one_queue_q] <= 1'b1;
    end
  end

  `GS_ASSERT_NOW(a_job_is_for_somebody, !job_valid_i || job_mask_i != '0)
  `GS_ASSERT_NOW(no_more_pointers_than_fit, !one_valid_q || PtrW'(push_back - push_front) <= PtrW'(Depth))
endmodule
