// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Order of the sends of a tile's threads: one queue of threads per route, all in one memory.
///
/// A thread is in at most one queue, so each queue is a linked list: the memory has the successor of each thread.
module gs_mailbox_send_queues
  import gs_mailbox_pkg::*;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads = 64,
  /// bits of the size that is stored with each thread
  parameter  int unsigned SizeW   = 3,
  localparam int unsigned ThreadW = $clog2(Threads)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// a thread joins a queue
  input  logic               push_i,
  input  route_e             push_route_i,
  input  logic [ThreadW-1:0] push_thread_i,
  input  logic [SizeW-1:0]   push_size_i,
  /// queues that are not empty
  output logic [Routes-1:0]  some_o,
  /// the first thread of the queue of pop_route_i, and its removal
  input  route_e             pop_route_i,
  input  logic               pop_i,
  output logic [ThreadW-1:0] pop_thread_o,
  output logic [SizeW-1:0]   pop_size_o
);
  logic [Routes-1:0] some_q, single, push, pop;
  logic [Routes-1:0][ThreadW-1:0] head_q, tail_q;
  logic [ThreadW-1:0] successor;

  assign some_o       = some_q;
  assign pop_thread_o = head_q[pop_route_i];

  gs_ram_sdp #(
    .Width  (ThreadW),
    .Depth  (Threads),
    .Latency(0),
    .Style  ("distributed")
  ) u_successors (
    .clk_i,
    // The tail of an empty queue may be in another queue by now.
    .we_i   (push_i && some_q[push_route_i]),
    .wstrb_i(1'b1),
    .waddr_i(tail_q[push_route_i]),
    .wdata_i(push_thread_i),
    .re_i   (1'b1),
    .raddr_i(pop_thread_o),
    .rdata_o(successor)
  );

  gs_ram_sdp #(
    .Width  (SizeW),
    .Depth  (Threads),
    .Latency(0),
    .Style  ("distributed")
  ) u_sizes (
    .clk_i,
    .we_i   (push_i),
    .wstrb_i(1'b1),
    .waddr_i(push_thread_i),
    .wdata_i(push_size_i),
    .re_i   (1'b1),
    .raddr_i(pop_thread_o),
    .rdata_o(pop_size_o)
  );

  for (genvar r = 0; r < int'(Routes); r++) begin : gen_route
    assign single[r] = head_q[r] == tail_q[r];
    assign push[r]   = push_i && push_route_i == route_e'(r);
    assign pop[r]    = pop_i && pop_route_i == route_e'(r);

    always_ff @(posedge clk_i) begin
      if (!rst_ni) some_q[r] <= 1'b0;
      else if (push[r]) some_q[r] <= 1'b1;
      else if (pop[r] && single[r]) some_q[r] <= 1'b0;
      // A queue that is empty, or whose only thread leaves in this cycle, begins with the pushed thread.
      if (!some_q[r] || (pop[r] && single[r])) head_q[r] <= push_thread_i;
      else if (pop[r]) head_q[r] <= successor;
      if (push[r]) tail_q[r] <= push_thread_i;
    end
  end

  `GS_ASSERT_NOW(empty_queues_are_never_popped, !pop_i || some_q[pop_route_i])
endmodule
