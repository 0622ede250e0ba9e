// SPDX-License-Identifier: Apache-2.0

/// Queue from one clock to another, with pointers in Gray code. The clocks have any ratio and phase. It accepts and
/// delivers one item a cycle; an item is at the output three to four cycles of the reader after it arrived, one more
/// with `Block`.
///
/// Both sides are in reset at the same time, each for at least four cycles of both clocks; reset is synchronous to the
/// clock of its side.
module gs_fifo_async #(
  /// payload
  parameter type         data_t = logic [31:0],
  /// logarithm of the capacity in items, 1 or more
  parameter int unsigned DepthLog2 = 4,
  /// items are stored in block RAM; in distributed RAM otherwise
  parameter bit          Block = 1'b0
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

  // Each side has its pointer, the pointer's Gray code, and the Gray code of the next one, so that no sum lies in the
  // path of a handshake.
  localparam ptr_t One = ptr_t'(1);

  // Writer
  ptr_t wptr_q, wgray_q, wnext_q, wgray_d, rgray_w;
  logic push, pop;
  assign push    = in_valid_i && in_ready_o;
  assign wgray_d = push ? wnext_q : wgray_q;
  // Full: the Gray code of a pointer that is a depth ahead differs in its two upper bits.
  localparam ptr_t Ahead = ptr_t'(3) << (DepthLog2 - 1);
  always_ff @(posedge wclk_i) begin
    wgray_q <= wgray_d;
    if (push) begin
      wptr_q  <= wptr_q + One;
      wnext_q <= gray(wptr_q + ptr_t'(2));
    end
    in_ready_o <= push ? wnext_q != (rgray_w ^ Ahead) : wgray_q != (rgray_w ^ Ahead);
    if (!wrst_ni) begin
      wptr_q     <= '0;
      wgray_q    <= '0;
      wnext_q    <= gray(One);
      in_ready_o <= 1'b0;
    end
  end

  // Reader
  ptr_t rptr_q, rgray_q, rnext_q, wgray_r;
  logic some, take;
  assign some = rgray_q != wgray_r;
  assign take = !out_valid_o || out_ready_i;
  always_ff @(posedge rclk_i) begin
    if (pop) begin
      rptr_q  <= rptr_q + One;
      rgray_q <= rnext_q;
      rnext_q <= gray(rptr_q + ptr_t'(2));
    end
    if (!rrst_ni) begin
      rptr_q  <= '0;
      rgray_q <= '0;
      rnext_q <= gray(One);
    end
  end

  // Items. The reader reads no item that is being written: its pointer arrives two cycles after the item.
  if (Block) begin : gen_block
    // A block of 16 Kbit has a lane of the items, as wide as fits: no multiplexer of several blocks lies in the path
    // from the RAM, which is slow, to the register after it.
    localparam int unsigned Bits = $bits(data_t);
    localparam int unsigned Lane = DepthLog2 < 12 ? Bits : DepthLog2 == 12 ? 4 : DepthLog2 == 13 ? 2 : 1;
    localparam int unsigned Lanes = (Bits + Lane - 1) / Lane;
    logic [Lanes*Lane-1:0] written, read_q;
    logic                  read_valid_q;
    assign pop     = some && (!read_valid_q || take);
    assign written = (Lanes * Lane)'(in_data_i);
    for (genvar i = 0; i < Lanes; i++) begin : gen_lane
      (* ram_style = "block" *)
      logic [Lane-1:0] mem[1 << DepthLog2];
      always_ff @(posedge wclk_i) if (push) mem[wptr_q[DepthLog2-1:0]] <= written[i*Lane+:Lane];
      always_ff @(posedge rclk_i) if (pop) read_q[i*Lane+:Lane] <= mem[rptr_q[DepthLog2-1:0]];
    end
    always_ff @(posedge rclk_i) begin
      if (take) out_data_o <= data_t'(read_q[Bits-1:0]);
      if (take) out_valid_o <= read_valid_q;
      if (!read_valid_q || take) read_valid_q <= pop;
      if (!rrst_ni) begin
        read_valid_q <= 1'b0;
        out_valid_o  <= 1'b0;
      end
    end
  end else begin : gen_distributed
    (* ram_style = "distributed" *)
    logic [$bits(data_t)-1:0] mem[1 << DepthLog2];
    assign pop = some && take;
    always_ff @(posedge wclk_i) if (push) mem[wptr_q[DepthLog2-1:0]] <= in_data_i;
    always_ff @(posedge rclk_i) begin
      if (pop) out_data_o <= data_t'(mem[rptr_q[DepthLog2-1:0]]);
      if (take) out_valid_o <= pop;
      if (!rrst_ni) out_valid_o <= 1'b0;
    end
  end

  gs_sync #(.Width(DepthLog2 + 1)) u_sync_read (
    .clk_i(wclk_i), .rst_ni(wrst_ni), .data_i(rgray_q), .data_o(rgray_w)
  );
  gs_sync #(.Width(DepthLog2 + 1)) u_sync_write (
    .clk_i(rclk_i), .rst_ni(rrst_ni), .data_i(wgray_q), .data_o(wgray_r)
  );
endmodule
