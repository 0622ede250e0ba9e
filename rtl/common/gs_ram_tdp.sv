// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"
`include "gs_undefined.svh"

/// Memory with two ports that each read or write (true dual port), one clock.
///
/// The output keeps its value while the port is not enabled. After a write it is undefined, as is the result of a read
/// that coincides with a write of the other port to the same address. Two writes to one address in one cycle leave
/// undefined contents. In simulation, undefined values are random, so that a design that uses one fails;
/// modules that instantiate it assert about `collides` and `undefined` that they use none.
module gs_ram_tdp #(
  /// bits of a word
  parameter  int unsigned Width    = 32,
  /// words, 2 or more
  parameter  int unsigned Depth    = 1024,
  /// bits that a write strobe covers; divides Width
  parameter  int unsigned ByteBits = Width,
  /// clock edges from address to data: 1, or 2 (registered after the RAM, for speed)
  parameter  int unsigned Latency  = 1,
  localparam int unsigned AddrW    = $clog2(Depth),
  localparam int unsigned StrbW    = Width / ByteBits
) (
  input  logic             clk_i,
  input  logic             a_en_i,
  input  logic             a_we_i,
  input  logic [StrbW-1:0] a_strb_i,
  input  logic [AddrW-1:0] a_addr_i,
  input  logic [Width-1:0] a_wdata_i,
  output logic [Width-1:0] a_rdata_o,
  input  logic             b_en_i,
  input  logic             b_we_i,
  input  logic [StrbW-1:0] b_strb_i,
  input  logic [AddrW-1:0] b_addr_i,
  input  logic [Width-1:0] b_wdata_i,
  output logic [Width-1:0] b_rdata_o
);
  if (Width % ByteBits != 0) begin : gen_illegal_byte
    $fatal(1, "gs_ram_tdp: ByteBits (%0d) does not divide Width (%0d)", ByteBits, Width);
  end
  if (Depth < 2) begin : gen_illegal_depth
    $fatal(1, "gs_ram_tdp: Depth is %0d; it must be 2 or more words", Depth);
  end
  if (Latency < 1 || Latency > 2) begin : gen_illegal_latency
    $fatal(1, "gs_ram_tdp: Latency is %0d; it is 1 or 2", Latency);
  end

  (* ram_style = "block", no_rw_check *)
  logic [Width-1:0] mem[Depth];
  logic [Width-1:0] a_first_q, b_first_q;
`ifdef GS_UNDEFINED_READS
  logic meet;
  assign meet = a_en_i && b_en_i && a_addr_i == b_addr_i;
`endif
`ifdef GS_ASSERTIONS
  // Both ports access a word, and one of them writes it; the words at the outputs of the ports are undefined.
  logic collides;
  logic [1:0] a_undefined_q = '0, b_undefined_q = '0;
  logic a_undefined, b_undefined, unused_checks;
  assign unused_checks = ^{collides, a_undefined, b_undefined};
  assign collides    = a_en_i && b_en_i && a_addr_i == b_addr_i && (a_we_i || b_we_i);
  assign a_undefined = a_undefined_q[Latency-1];
  assign b_undefined = b_undefined_q[Latency-1];
  always_ff @(posedge clk_i) begin
    if (a_en_i) a_undefined_q[0] <= a_we_i || collides;
    if (b_en_i) b_undefined_q[0] <= b_we_i || collides;
    a_undefined_q[1] <= a_undefined_q[0];
    b_undefined_q[1] <= b_undefined_q[0];
  end
`endif

  // Two processes, like the two ports of a RAM block: in one process one port would have priority.
  always @(posedge clk_i) begin
    if (a_en_i) begin
      if (a_we_i) begin
        for (int unsigned i = 0; i < StrbW; i++) begin
          if (a_strb_i[i]) mem[a_addr_i][i*ByteBits+:ByteBits] <= a_wdata_i[i*ByteBits+:ByteBits];
        end
      end
      a_first_q <= a_we_i ? 'x : mem[a_addr_i];
`ifdef GS_UNDEFINED_READS
      if (a_we_i) a_first_q <= `GS_COLLISION(Width, mem[a_addr_i], a_wdata_i);
      else if (meet && b_we_i) a_first_q <= `GS_COLLISION(Width, mem[a_addr_i], b_wdata_i);
`endif
    end
  end

  always @(posedge clk_i) begin
    if (b_en_i) begin
      if (b_we_i) begin
        for (int unsigned i = 0; i < StrbW; i++) begin
          if (b_strb_i[i]) mem[b_addr_i][i*ByteBits+:ByteBits] <= b_wdata_i[i*ByteBits+:ByteBits];
        end
      end
      b_first_q <= b_we_i ? 'x : mem[b_addr_i];
`ifdef GS_UNDEFINED_READS
      if (b_we_i) b_first_q <= `GS_COLLISION(Width, mem[b_addr_i], b_wdata_i);
      else if (meet && a_we_i) b_first_q <= `GS_COLLISION(Width, mem[b_addr_i], a_wdata_i);
      if (meet && a_we_i && b_we_i) begin
        for (int unsigned i = 0; i < StrbW; i++) begin
          if (a_strb_i[i] && b_strb_i[i]) mem[b_addr_i][i*ByteBits+:ByteBits] <= `GS_UNDEFINED(ByteBits);
        end
      end
`endif
    end
  end

  if (Latency == 1) begin : gen_one
    assign a_rdata_o = a_first_q;
    assign b_rdata_o = b_first_q;
  end else begin : gen_two
    logic [Width-1:0] a_second_q, b_second_q;
    always_ff @(posedge clk_i) begin
      a_second_q <= a_first_q;
      b_second_q <= b_first_q;
    end
    assign a_rdata_o = a_second_q;
    assign b_rdata_o = b_second_q;
  end
endmodule
