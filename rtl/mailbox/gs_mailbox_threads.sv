// SPDX-License-Identifier: Apache-2.0

/// Registers of the threads: slot and length of the next send, the slot of the send in flight, and the masks.
///
/// The registers are read for the next request to enter A, and written by the request that leaves A. The masks are read
/// in A, valid in C, and written in B: a swap reads the old value first.
module gs_mailbox_threads #(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads        = 64,
  /// slots of a thread, a power of two
  parameter  int unsigned SlotsPerThread = 16,
  /// bits of a message's length
  parameter  int unsigned LengthW        = 2,
  /// 1: the threads have masks
  parameter  bit          Multicast      = 1'b1,
  localparam int unsigned ThreadW        = $clog2(Threads),
  localparam int unsigned SlotW          = $clog2(Threads * SlotsPerThread)
) (
  input  logic               clk_i,
  /// after reset: the thread's first slot, length 0, empty masks
  input  logic               clear_i,
  input  logic [ThreadW-1:0] clear_thread_i,
  /// the request that enters A at the end of this cycle
  input  logic               next_i,
  input  logic [ThreadW-1:0] next_thread_i,
  /// in A
  input  logic [ThreadW-1:0] a_thread_i,
  output logic [SlotW-1:0]   a_slot_o,
  output logic [LengthW-1:0] a_length_o,
  output logic [SlotW-1:0]   a_sending_slot_o,
  /// the request in A leaves and writes one of them
  input  logic               a_slot_we_i,
  input  logic               a_length_we_i,
  input  logic               a_sending_we_i,
  input  logic [SlotW-1:0]   a_slot_i,
  input  logic [LengthW-1:0] a_length_i,
  /// in B: masks are written
  input  logic               b_low_we_i,
  input  logic               b_high_we_i,
  input  logic [ThreadW-1:0] b_thread_i,
  input  logic [31:0]        b_data_i,
  /// in C
  output logic [63:0]        c_masks_o
);
  typedef struct packed {
    logic [SlotW-1:0]   slot;
    logic [LengthW-1:0] length;
    logic [SlotW-1:0]   sending_slot;
  } thread_t;
  thread_t a_thread, a_written, read, written_q;
  logic write, met_q;
  logic [ThreadW-1:0] write_thread;

  assign a_slot_o         = a_thread.slot;
  assign a_length_o       = a_thread.length;
  assign a_sending_slot_o = a_thread.sending_slot;

  always_comb begin
    a_written = a_thread;
    if (a_slot_we_i) a_written.slot = a_slot_i;
    if (a_length_we_i) a_written.length = a_length_i;
    if (a_sending_we_i) a_written.sending_slot = a_thread.slot;
    if (clear_i) begin
      a_written.slot   = SlotW'(32'(clear_thread_i) * SlotsPerThread);
      a_written.length = '0;
    end
  end

  gs_ram_sdp #(
    .Width  ($bits(thread_t)),
    .Depth  (Threads),
    .Latency(1),
    .Style  ("block")
  ) u_registers (
    .clk_i,
    .we_i   (write),
    .wstrb_i(1'b1),
    .waddr_i(write_thread),
    .wdata_i(a_written),
    .re_i   (next_i),
    .raddr_i(next_thread_i),
    .rdata_o(read)
  );

  // The end of a thread's send may enter A while that thread's request leaves it and writes.
  assign write        = clear_i || a_slot_we_i || a_length_we_i || a_sending_we_i;
  assign write_thread = clear_i ? clear_thread_i : a_thread_i;
  assign a_thread     = met_q ? written_q : read;
  always_ff @(posedge clk_i) begin
    if (next_i) begin
      met_q     <= write && write_thread == next_thread_i;
      written_q <= a_written;
    end
  end

  if (Multicast) begin : gen_masks
    // Two memories of one word each: Cyclone V cannot map one memory with a strobe for each half to a block.
    logic [1:0] we;
    assign we = {b_high_we_i, b_low_we_i};
    for (genvar h = 0; h < 2; h++) begin : gen_half
      gs_ram_sdp #(
        .Width  (32),
        .Depth  (Threads),
        .Latency(2),
        .Style  ("block")
      ) u_mask (
        .clk_i,
        .we_i   (clear_i || we[h]),
        .wstrb_i(1'b1),
        .waddr_i(clear_i ? clear_thread_i : b_thread_i),
        .wdata_i(clear_i ? '0 : b_data_i),
        .re_i   (1'b1),
        .raddr_i(a_thread_i),
        .rdata_o(c_masks_o[h*32+:32])
      );
    end
  end else begin : gen_no_masks
    assign c_masks_o = '0;
    logic unused_masks;
    assign unused_masks = ^{b_low_we_i, b_high_we_i, b_thread_i, b_data_i};
  end
endmodule
