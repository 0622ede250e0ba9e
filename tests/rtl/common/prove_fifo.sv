// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_fifo: every item leaves once, in order and unchanged; the queue accepts exactly its capacity; no item
/// stays forever. The proof watches any one item.
module prove_fifo #(
  parameter int unsigned Depth = 4,
  parameter bit          Block = 1'b0
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       in_valid_i,
  input logic [2:0] in_data_i,
  input logic       out_ready_i,
  /// watch the item that enters in this cycle
  input logic       watch_i
);
  localparam int unsigned CountW = $clog2(Depth + 1);

  logic              in_ready, out_valid, push, pop;
  logic [2:0]        out_data;
  logic [CountW-1:0] count;

  gs_fifo #(
    .data_t(logic [2:0]),
    .Depth (Depth),
    .Block (Block)
  ) u_fifo (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o (in_ready),
    .in_data_i,
    .out_valid_o(out_valid),
    .out_ready_i,
    .out_data_o (out_data),
    .count_o    (count)
  );

  assign push = in_valid_i && in_ready;
  assign pop  = out_valid && out_ready_i;

  // The model: number of items; the watched item, and the number of items before it.
  int         inside_q, ahead_q, still_q;
  logic       watching_q;
  logic [2:0] item_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q   <= 0;
      watching_q <= 1'b0;
      still_q    <= 0;
    end else begin
      inside_q <= inside_q + 32'(push) - 32'(pop);
      still_q  <= (inside_q != 0 && !out_valid) ? still_q + 1 : 0;
      if (watching_q && pop) begin
        ahead_q <= ahead_q - 1;
        if (ahead_q == 0) watching_q <= 1'b0;
      end
      if (!watching_q && watch_i && push) begin
        watching_q <= 1'b1;
        item_q     <= in_data_i;
        ahead_q    <= inside_q - 32'(pop);
      end
    end
  end

  `GS_ASSERT_NOW(count_equals_the_number_of_items, 32'(count) == inside_q)
  `GS_ASSERT_NOW(ready_while_not_full, in_ready == (inside_q < Depth))
  `GS_ASSERT_NOW(empty_queue_offers_no_item, !out_valid || inside_q > 0)
  `GS_ASSERT_NOW(watched_item_leaves_unchanged, !watching_q || ahead_q != 0 || !out_valid || out_data == item_q)
  `GS_ASSERT_NOW(item_reaches_the_output_within_the_latency, still_q < (Block ? 2 : 1) + 1)

  // Invariants for the induction.
  `GS_ASSERT_NOW(watched_item_is_in_the_queue, !watching_q || (ahead_q >= 0 && ahead_q < inside_q))
  `GS_ASSERT_NOW(pointers_are_in_range, 32'(u_fifo.wptr_q) < Depth && 32'(u_fifo.rptr_q) < Depth)

  // RAM address of the n-th item.
  function automatic int address_of(int n);
    return 32'(u_fifo.rptr_q) + n - ((32'(u_fifo.rptr_q) + n >= Depth) ? Depth : 0);
  endfunction

  if (!Block) begin : gen_distributed
    `GS_ASSERT_NOW(nonempty_flag_is_correct, u_fifo.some_q == (inside_q != 0))
    `GS_ASSERT_NOW(full_flag_is_correct, u_fifo.gen_distributed.full_q == (inside_q == Depth))
    `GS_ASSERT_NOW(pointer_distance_equals_item_count, address_of(inside_q) == 32'(u_fifo.wptr_q))
    `GS_ASSERT_NOW(no_item_waits_inside, still_q == 0)
    for (genvar i = 0; i < Depth; i++) begin : gen_slot
      `GS_ASSERT_NOW(watched_item_is_at_its_address,
                     !watching_q || address_of(ahead_q) != i || u_fifo.u_ram.mem[i] == item_q)
    end
  end else begin : gen_block
    logic in_out, in_read;
    int   stored;
    assign in_out  = u_fifo.gen_block.out_q;
    assign in_read = u_fifo.gen_block.read_q;
    assign stored  = inside_q - 32'(in_out) - 32'(in_read);

    `GS_ASSERT_NOW(nonempty_flag_is_correct, stored >= 0 && u_fifo.some_q == (stored != 0))
    `GS_ASSERT_NOW(pointer_distance_equals_item_count, address_of(stored) == 32'(u_fifo.wptr_q))
    `GS_ASSERT_NOW(item_is_in_the_output_registers, inside_q == 0 || still_q == 0 || in_read || in_out)
    `GS_ASSERT_NOW(watched_item_is_in_the_output_registers,
        !watching_q || !in_read || ahead_q != 32'(in_out) || u_fifo.u_ram.gen_registered.first_q == item_q)
    for (genvar i = 0; i < Depth; i++) begin : gen_slot
      `GS_ASSERT_NOW(watched_item_is_at_its_address,
          !watching_q || ahead_q < 32'(in_out) + 32'(in_read) || address_of(ahead_q - 32'(in_out) - 32'(in_read)) != i
          || u_fifo.u_ram.mem[i] == item_q)
    end
  end

  `GS_COVER_NOW(queue_is_full, inside_q == Depth && !in_ready)
  `GS_COVER_NOW(watched_item_leaves_after_a_wrap, watching_q && ahead_q == 0 && pop && u_fifo.wptr_q == '0)
  `GS_COVER_NOW(queue_is_empty_again, inside_q == 0 && u_fifo.wptr_q != '0)
endmodule
