// SPDX-License-Identifier: Apache-2.0

/// Pointer queues of all threads of a tile: banks of virtual queues, each of which accepts a pointer a cycle.
///
/// Thread t has queue t / Banks of bank t mod Banks, so that neighbouring threads are served in parallel.
module gs_mailbox_queues #(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads   = 64,
  /// messages that can wait for a thread, a power of two
  parameter  int unsigned Depth     = 16,
  /// bits of a slot's number
  parameter  int unsigned SlotW     = 10,
  /// 1: a message may be for several threads
  parameter  bit          Multicast = 1'b1,
  localparam int unsigned ThreadW   = $clog2(Threads)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// messages in their slots, each for one thread, or for several by a mask that is never 0
  input  logic               in_valid_i,
  output logic               in_ready_o,
  input  logic [SlotW-1:0]   in_slot_i,
  input  logic               in_masked_i,
  input  logic [ThreadW-1:0] in_thread_i,
  input  logic [Threads-1:0] in_mask_i,
  /// pops the next message of a thread: pop_some_o in the same cycle, pop_slot_o two clock edges later; pop_arriving_o:
  /// a message is queued, or will be in the next cycle
  input  logic               pop_i,
  input  logic [ThreadW-1:0] pop_thread_i,
  output logic               pop_some_o,
  output logic               pop_arriving_o,
  output logic [SlotW-1:0]   pop_slot_o,
  /// since the previous cycle a thread waits for a message, or no longer waits
  input  logic               want_we_i,
  input  logic [ThreadW-1:0] want_thread_i,
  input  logic               want_i,
  /// a waiting thread has a message
  output logic               wake_valid_o,
  input  logic               wake_ready_i,
  output logic [ThreadW-1:0] wake_thread_o,
  output logic               busy_o,
  /// after reset: empties the queue of each thread
  input  logic               clear_i,
  input  logic [ThreadW-1:0] clear_thread_i
);
  localparam int unsigned Banks = (Threads >= 8) ? 4 : 1;
  localparam int unsigned BankW = (Banks > 1) ? $clog2(Banks) : 1;
  localparam int unsigned Queues = Threads / Banks;
  localparam int unsigned QueueW = $clog2(Queues);

  // A message is held here until all its banks have accepted it; the next one arrives meanwhile.
  logic [Banks-1:0] job_ready, in_wanted, wanted_q, pop_some, pop_arriving, busy, wake_valid, wake_first;
  logic [SlotW-1:0] slot_q;
  logic masked_q;
  logic [QueueW-1:0] queue_q, wake_queue[Banks];
  logic [Threads-1:0] mask_q;
  logic [SlotW-1:0] pop_slot[Banks];
  // Only the bits that number the queues of a bank are used.
  logic unused_clear;
  assign unused_clear = ^clear_thread_i;

  logic [BankW-1:0] pop_bank, pop_bank_1_q, pop_bank_2_q;
  logic [QueueW-1:0] pop_queue;

  assign pop_bank    = (Banks > 1) ? pop_thread_i[BankW-1:0] : '0;
  assign pop_queue  = QueueW'(pop_thread_i / ThreadW'(Banks));
  assign in_ready_o = !clear_i && wanted_q == '0;
  assign pop_some_o = pop_some[pop_bank];
  assign pop_arriving_o = pop_arriving[pop_bank];
  assign pop_slot_o = pop_slot[pop_bank_2_q];
  assign busy_o     = |busy || wanted_q != '0;

  // Of several banks with a thread to wake the first is served. None starves: a woken thread must wait again before it
  // can be woken again, and requests are accepted only when no thread is to be woken.
  assign wake_first   = wake_valid & (~wake_valid + Banks'(1));
  assign wake_valid_o = wake_valid != '0;
  always_comb begin
    wake_thread_o = '0;
    for (int unsigned s = 0; s < Banks; s++) begin
      if (wake_first[s]) wake_thread_o |= ThreadW'(32'(wake_queue[s]) * Banks + s);
    end
  end

  always_ff @(posedge clk_i) begin
    pop_bank_1_q <= pop_bank;
    pop_bank_2_q <= pop_bank_1_q;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) wanted_q <= '0;
    else if (in_ready_o) wanted_q <= in_wanted & {Banks{in_valid_i}};
    else wanted_q <= wanted_q & ~job_ready;
    if (in_ready_o) begin
      slot_q   <= in_slot_i;
      masked_q <= in_masked_i;
      queue_q  <= QueueW'(in_thread_i / ThreadW'(Banks));
      mask_q   <= in_mask_i;
    end
  end

  for (genvar s = 0; s < int'(Banks); s++) begin : gen_bank
    logic [Queues-1:0] in_mask, mask;
    for (genvar q = 0; q < int'(Queues); q++) begin : gen_queue
      assign in_mask[q] = in_mask_i[q*int'(Banks)+s];
      assign mask[q]    = mask_q[q*int'(Banks)+s];
    end
    assign in_wanted[s] = (Multicast && in_masked_i) ? |in_mask : in_thread_i % ThreadW'(Banks) == ThreadW'(s);

    gs_mailbox_queue_bank #(
      .Queues   (Queues),
      .Depth    (Depth),
      .SlotW    (SlotW),
      .Multicast(Multicast)
    ) u_bank (
      .clk_i,
      .rst_ni,
      .clear_i,
      .clear_queue_i (QueueW'(clear_thread_i)),
      .job_valid_i   (wanted_q[s]),
      .job_ready_o   (job_ready[s]),
      .job_slot_i    (slot_q),
      .job_masked_i  (masked_q),
      .job_queue_i   (queue_q),
      .job_mask_i    (mask),
      .pop_i         (pop_i && pop_bank == BankW'(s)),
      .pop_queue_i   (pop_queue),
      .pop_some_o    (pop_some[s]),
      .pop_arriving_o(pop_arriving[s]),
      .pop_slot_o    (pop_slot[s]),
      .want_we_i     (want_we_i && (Banks == 1 || want_thread_i[BankW-1:0] == BankW'(s))),
      .want_queue_i  (QueueW'(want_thread_i / ThreadW'(Banks))),
      .want_i,
      .wake_valid_o  (wake_valid[s]),
      .wake_ready_i  (wake_ready_i && wake_first[s]),
      .wake_queue_o  (wake_queue[s]),
      .busy_o        (busy[s])
    );
  end
endmodule
