// SPDX-License-Identifier: Apache-2.0

/// Queue from one clock to another, with pointers in Gray code. The clocks have any ratio and phase. It accepts and
/// delivers one item a cycle; an item is at the output three to four cycles of the reader after it arrived.
///
/// Both sides are in reset at the same time, each for at least four cycles of both clocks; reset is synchronous to the
/// clock of its side.
module gs_fifo_async #(
  /// payload
  parameter type         data_t = logic [31:0],
  /// logarithm of the capacity in items, 1 or more
  parameter int unsigned DepthLog2 = 4
) (
  input  logic  wclk_i,
  input  logic  wrst_ni,
  input  logic  in_valid_i,
  output logic  in_ready_o,
  input  data_t in_data_i,

  input  logic  rclk_i,
  input  logic  rrst_ni,
  output logic  out_valid_o,
  input  logic  out_ready_i,
  output data_t out_data_o
);
  if (DepthLog2 < 1) begin : gen_illegal_depth
    $fatal(1, "gs_fifo_async: DepthLog2 is %0d; it must be 1 or more", DepthLog2);
  end

  // One bit more than an address: equal pointers are an empty queue, pointers a whole depth apart a full one.
  typedef logic [DepthLog2:0] ptr_t;
  function automatic ptr_t gray(ptr_t binary);
    return binary ^ (binary >> 1);
  endfunction

  (* ram_style = "distributed" *)
  logic [$bits(data_t)-1:0] mem[1 << DepthLog2];

  // Writer
  ptr_t wptr_q, wptr_d, wgray_q, rgray_w;
  logic push;
  assign push       = in_valid_i && in_ready_o;
  assign wptr_d     = wptr_q + ptr_t'(push);
  // Full: the Gray code of a pointer that is a depth ahead differs in its two upper bits.
  localparam ptr_t Ahead = ptr_t'(3) << (DepthLog2 - 1);
  always_ff @(posedge wclk_i) begin
    wptr_q     <= wptr_d;
    wgray_q    <= gray(wptr_d);
    in_ready_o <= gray(wptr_d) != (rgray_w ^ Ahead);
    if (push) mem[wptr_q[DepthLog2-1:0]] <= in_data_i;
    if (!wrst_ni) begin
      wptr_q     <= '0;
      wgray_q    <= '0;
      in_ready_o <= 1'b0;
    end
  end

  // Reader
  ptr_t rptr_q, rptr_d, rgray_q, wgray_r;
  logic pop, some;
  assign some   = rgray_q != wgray_r;
  assign pop    = some && (!out_valid_o || out_ready_i);
  assign rptr_d = rptr_q + ptr_t'(pop);
  always_ff @(posedge rclk_i) begin
    rptr_q  <= rptr_d;
    rgray_q <= gray(rptr_d);
    if (pop) out_data_o <= data_t'(mem[rptr_q[DepthLog2-1:0]]);
    if (!out_valid_o || out_ready_i) out_valid_o <= pop;
    if (!rrst_ni) begin
      rptr_q      <= '0;
      rgray_q     <= '0;
      out_valid_o <= 1'b0;
    end
  end

  gs_sync #(.Width(DepthLog2 + 1)) u_sync_read (
    .clk_i(wclk_i), .rst_ni(wrst_ni), .data_i(rgray_q), .data_o(rgray_w)
  );
  gs_sync #(.Width(DepthLog2 + 1)) u_sync_write (
    .clk_i(rclk_i), .rst_ni(rrst_ni), .data_i(wgray_q), .data_o(wgray_r)
  );
endmodule
