// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Queue of a stream. It accepts and delivers one item a cycle. Both handshake outputs come from flip-flops: a full
/// queue accepts no item in the cycle in which one leaves, and an empty queue has no combinational path.
///
/// Block = 0: distributed RAM; an item is at the output one cycle after it arrived.
/// Block = 1: block RAM and an output register (block RAM alone is too slow for logic at its output); three cycles.
///
///     in ->[ RAM ]-> out                      Block = 0
///     in ->[ RAM ]->[ read ]->[ out ]-> out   Block = 1
module gs_fifo #(
  /// payload
  parameter  type         data_t = logic [31:0],
  /// capacity in items, 2 or more
  parameter  int unsigned Depth  = 16,
  /// 1: block RAM with a registered output, 0: distributed RAM
  parameter  bit          Block  = 1'b0,
  /// bits of the count; not to be set
  localparam int unsigned CountW = $clog2(Depth + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              in_valid_i,
  output logic              in_ready_o,
  input  data_t             in_data_i,
  output logic              out_valid_o,
  input  logic              out_ready_i,
  output data_t             out_data_o,
  /// items in the queue
  output logic [CountW-1:0] count_o
);
  if (Depth < 2) begin : gen_illegal_depth
    $fatal(1, "gs_fifo: Depth is %0d; it must be 2 or more items", Depth);
  end

  localparam int unsigned Width = $bits(data_t);
  localparam int unsigned PtrW = (Depth > 1) ? $clog2(Depth) : 1;
  localparam bit Even = 32'(1) << PtrW == Depth;
  localparam logic [PtrW-1:0] Last = PtrW'(Depth - 1);

  logic [PtrW-1:0] wptr_q, rptr_q, wptr_next, rptr_next;
  // The RAM holds an item. The handshake's outputs come from flip-flops, because this cycle determines their values in
  // the next one.
  logic some_q, some_d;
  logic push, pop;
  logic [Width-1:0] ram_data;

  // With a depth that is a power of two, the pointers wrap around by overflow.
  assign wptr_next = (!Even && wptr_q == Last) ? '0 : wptr_q + PtrW'(1);
  assign rptr_next = (!Even && rptr_q == Last) ? '0 : rptr_q + PtrW'(1);
  assign push      = in_valid_i && in_ready_o;

  always_comb begin
    some_d = some_q;
    if (push) some_d = 1'b1;
    else if (pop) some_d = rptr_next != wptr_q;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wptr_q <= '0;
      rptr_q <= '0;
      some_q <= 1'b0;
    end else begin
      if (push) wptr_q <= wptr_next;
      if (pop) rptr_q <= rptr_next;
      some_q <= some_d;
    end
  end

  gs_ram_sdp #(
    .Width  (Width),
    .Depth  (Depth),
    .Latency(Block ? 1 : 0),
    .Style  (Block ? "block" : "distributed")
  ) u_ram (
    .clk_i,
    .we_i   (push),
    .wstrb_i(1'b1),
    .waddr_i(wptr_q),
    .wdata_i(in_data_i),
    .re_i   (pop),
    .raddr_i(rptr_q),
    .rdata_o(ram_data)
  );

  if (!Block) begin : gen_distributed
    logic full_q, full_d;

    assign in_ready_o  = !full_q;
    assign out_valid_o = some_q;
    assign out_data_o  = data_t'(ram_data);
    assign pop         = out_valid_o && out_ready_i;

    always_comb begin
      full_d = full_q;
      if (pop) full_d = 1'b0;
      if (push && !pop) full_d = wptr_next == rptr_q;
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) full_q <= 1'b0;
      else full_q <= full_d;
    end

    always_comb begin
      count_o = CountW'(PtrW'(wptr_q - rptr_q));
      if (full_q) count_o = CountW'(Depth);
      else if (!Even && wptr_q < rptr_q) count_o = CountW'(wptr_q) + CountW'(Depth) - CountW'(rptr_q);
    end
  end else begin : gen_block
    // Valid bits of the RAM's output register and of the register after it.
    logic read_q, out_q, read_free, out_free;
    logic [CountW-1:0] count_q, count_d;
    logic ready_q, ready_d;
    data_t out_data_q;
    logic take;

    assign in_ready_o  = ready_q;
    assign out_valid_o = out_q;
    assign out_data_o  = out_data_q;
    assign take        = out_q && out_ready_i;
    assign out_free    = !out_q || out_ready_i;
    assign read_free   = !read_q || out_free;
    assign pop         = some_q && read_free;
    assign count_o     = count_q;

    always_comb begin
      count_d = count_q + (push ? CountW'(1) : '1);
      ready_d = !push || count_q != CountW'(Depth - 1);
      if (push == take) begin
        count_d = count_q;
        ready_d = ready_q;
      end
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        read_q  <= 1'b0;
        out_q   <= 1'b0;
        count_q <= '0;
        ready_q <= 1'b1;
      end else begin
        if (read_free) read_q <= some_q;
        if (out_free) out_q <= read_q;
        count_q <= count_d;
        ready_q <= ready_d;
      end
      if (out_free) out_data_q <= data_t'(ram_data);
    end
  end

  `GS_ASSERT_NOW(count_is_at_most_depth, count_o <= CountW'(Depth))
  `GS_ASSERT_NOW(full_queue_accepts_no_item, !push || count_o < CountW'(Depth))
  `GS_ASSERT_HOLD(payload_is_stable_while_it_waits, out_valid_o, out_ready_i, out_data_o)
  `GS_ASSERT_NOW(item_is_not_read_while_it_is_written, !u_ram.collides)
endmodule
