// SPDX-License-Identifier: Apache-2.0

/// Proof of gs_fifo_async, for any edges of both clocks: every item leaves once, in order and unchanged, and no item
/// leaves that did not enter. The proof watches any one item. Each pointer that crosses changes one bit at a time, so a
/// synchronizer that sees a changing bit before or after its change sees a pointer that was sent.
///
/// The clocks are inputs: a step of the solver has an edge of either clock, of both or of none (clk2fflogic).
module prove_fifo_async #(
  parameter int unsigned DepthLog2 = 2,
  parameter bit          Block = 1'b0
) (
  input logic wclk_i,
  input logic in_valid_i,
  input logic in_data_i,
  /// watch the item that enters in this cycle
  input logic watch_i,
  input logic rclk_i,
  input logic out_ready_i
);
  localparam int unsigned Depth = 1 << DepthLog2;
  typedef logic [DepthLog2:0] ptr_t;

  // Both sides begin in reset, until each had four edges of its clock.
  logic [2:0] wedges_q = '0, redges_q = '0;
  logic       run;
  assign run = wedges_q[2] && redges_q[2];
  always_ff @(posedge wclk_i) if (!wedges_q[2]) wedges_q <= wedges_q + 1'b1;
  always_ff @(posedge rclk_i) if (!redges_q[2]) redges_q <= redges_q + 1'b1;

  logic in_ready, out_valid, out_data, push, pop;
  gs_fifo_async #(
    .data_t   (logic),
    .DepthLog2(DepthLog2),
    .Block    (Block)
  ) u_fifo (
    .wclk_i,
    .wrst_ni    (run),
    .in_valid_i,
    .in_ready_o (in_ready),
    .in_data_i,
    .rclk_i,
    .rrst_ni    (run),
    .out_valid_o(out_valid),
    .out_ready_i,
    .out_data_o (out_data)
  );
  assign push = in_valid_i && in_ready;
  assign pop  = out_valid && out_ready_i;

  // Numbers of the next item that enters and of the next one that leaves; twice as many as a FIFO has pointers.
  logic [DepthLog2+1:0] in_q = '0, out_q = '0, number_q, count;
  logic                 watch_q = 1'b0, left_q = 1'b0, item_q;
  assign count = in_q - out_q;
  always_ff @(posedge wclk_i) begin
    if (run) begin
      in_q <= in_q + (DepthLog2 + 2)'(push);
      if (push && watch_i && !watch_q) begin
        watch_q  <= 1'b1;
        number_q <= in_q;
        item_q   <= in_data_i;
      end
    end
  end
  always_ff @(posedge rclk_i) begin
    if (run) begin
      out_q <= out_q + (DepthLog2 + 2)'(pop);
      if (pop && watch_q && out_q == number_q) left_q <= 1'b1;
    end
  end

  // Pointers, as the two sides know them: all of them are between the reader's and the writer's.
  function automatic ptr_t binary(ptr_t gray);
    ptr_t value;
    value[DepthLog2] = gray[DepthLog2];
    for (int i = int'(DepthLog2) - 1; i >= 0; i--) value[i] = gray[i] ^ value[i+1];
    return value;
  endfunction
  ptr_t w, r, behind_w_meta, behind_w, behind_r, behind_r_meta, behind_r_sync, stored;
  assign w             = u_fifo.wptr_q;
  assign r             = u_fifo.rptr_q;
  assign behind_w_meta = w - binary(u_fifo.u_sync_write.meta_q);
  assign behind_w      = w - binary(u_fifo.u_sync_write.sync_q);
  assign behind_r      = w - r;
  assign behind_r_meta = w - binary(u_fifo.u_sync_read.meta_q);
  assign behind_r_sync = w - binary(u_fifo.u_sync_read.sync_q);

  // Items in the registers after the memory.
  logic             held_valid, held_data;
  logic [Depth-1:0] memory;
  if (Block) begin : gen_block
    assign held_valid = u_fifo.gen_block.read_valid_q;
    assign held_data  = u_fifo.gen_block.read_q;
    for (genvar i = 0; i < Depth; i++) begin : gen_slot
      assign memory[i] = u_fifo.gen_block.gen_lane[0].mem[i];
    end
  end else begin : gen_distributed
    assign held_valid = 1'b0;
    assign held_data  = 1'b0;
    for (genvar i = 0; i < Depth; i++) begin : gen_slot
      assign memory[i] = u_fifo.gen_distributed.mem[i];
    end
  end
  assign stored = ptr_t'(32'(count) - 32'(out_valid) - 32'(held_valid));

  logic watching;
  logic [DepthLog2+1:0] ahead;
  assign watching = watch_q && !left_q;
  assign ahead    = number_q - out_q;

  always_comb begin
    if (run) begin
      no_item_is_lost_or_invented: assert (32'(count) <= Depth + (Block ? 2 : 1) && (!out_valid || count != 0));
      watched_item_leaves_unchanged: assert (!watching || !out_valid || ahead != 0 || out_data == item_q);
      watched_item_is_inside: assert (!watching || ahead < count);
      // Invariants for the induction.
      pointer_counts_items: assert (w == in_q[DepthLog2:0] && behind_r == stored);
      items_are_counted: assert (32'(count) == 32'(behind_r) + 32'(out_valid) + 32'(held_valid));
      pointers_are_in_order: assert (behind_w_meta <= behind_w && behind_w <= behind_r && behind_r <= behind_r_meta
                                     && behind_r_meta <= behind_r_sync && 32'(behind_r_sync) <= Depth);
      gray_code_is_that_of_the_pointer: assert (binary(u_fifo.wgray_q) == w && binary(u_fifo.rgray_q) == r
          && binary(u_fifo.wnext_q) == ptr_t'(w + 1) && binary(u_fifo.rnext_q) == ptr_t'(r + 1));
      ready_only_with_free_space: assert (!in_ready || 32'(behind_r_sync) < Depth);
      watched_item_is_held: assert (!watching || !held_valid || 32'(ahead) != 32'(out_valid) || held_data == item_q);
    end else begin
      nothing_is_watched_in_reset: assert (!watch_q && !left_q && in_q == 0 && out_q == 0);
      writer_is_reset: assert (wedges_q == 0 || (w == 0 && u_fifo.wgray_q == 0 && u_fifo.wnext_q == 1 && !in_ready
                               && u_fifo.u_sync_read.meta_q == 0 && u_fifo.u_sync_read.sync_q == 0));
      reader_is_reset: assert (redges_q == 0 || (r == 0 && u_fifo.rgray_q == 0 && u_fifo.rnext_q == 1 && !out_valid
                               && !held_valid
                               && u_fifo.u_sync_write.meta_q == 0 && u_fifo.u_sync_write.sync_q == 0));
    end
    edges_are_counted: assert (wedges_q <= 4 && redges_q <= 4);
    if (run) begin
      queue_is_full: cover (32'(behind_r) == Depth && !in_ready);
      watched_item_leaves: cover (watching && ahead == 0 && out_valid && out_ready_i && w != 0);
    end
  end
  for (genvar i = 0; i < Depth; i++) begin : gen_slot
    always_comb
      if (run && watching && 32'(ahead) >= 32'(out_valid) + 32'(held_valid)
          && 32'(number_q[DepthLog2-1:0]) == i)
        watched_item_is_at_its_address: assert (memory[i] == item_q);
  end

  // One bit of a crossing pointer changes at a time.
  ptr_t wgray_last_q = '0, rgray_last_q = '0;
  always_ff @(posedge wclk_i) if (run) wgray_last_q <= u_fifo.wgray_q;
  always_ff @(posedge rclk_i) if (run) rgray_last_q <= u_fifo.rgray_q;
  always_comb begin
    if (run) begin
      writer_changes_one_bit: assert ($countones(wgray_last_q ^ u_fifo.wgray_q) <= 1);
      reader_changes_one_bit: assert ($countones(rgray_last_q ^ u_fifo.rgray_q) <= 1);
    end else begin
      pointers_begin_at_zero: assert (wgray_last_q == 0 && rgray_last_q == 0);
    end
  end
endmodule
