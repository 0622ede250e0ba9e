// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"
`include "gs_undefined.svh"

/// Memory with one write port and one read port (simple dual port), one clock.
///
/// The result of a registered read that coincides with a write to the same address is undefined; in simulation it is
/// random, so that a design that uses it fails. A combinational read (Latency 0) gives the old word in that cycle.
/// Modules that instantiate it assert about `collides` and `undefined` that they use no such word
/// (docs/hardware/testing.md). The output keeps its value while `re_i` is 0. Contents are not reset. The data are valid
/// Latency edges after `re_i`:
///
///     clk_i    __/~~\__/~~\__/~~\__
///     raddr_i  ==< a >=============      (re_i = 1)
///     rdata_o  =======< m[a] >======     Latency 1
///     rdata_o  =============< m[a] >=    Latency 2: registered after the RAM, for speed
module gs_ram_sdp #(
  /// bits of a word
  parameter  int unsigned Width    = 32,
  /// words, 2 or more
  parameter  int unsigned Depth    = 512,
  /// bits that a write strobe covers; divides Width
  parameter  int unsigned ByteBits = Width,
  /// clock edges from address to data: 0 (distributed only: combinational), 1 or 2
  parameter  int unsigned Latency  = 1,
  /// kind of RAM: "auto", "block" or "distributed"
  parameter  string       Style    = "auto",
  localparam int unsigned AddrW    = $clog2(Depth),
  localparam int unsigned StrbW    = Width / ByteBits
) (
  input  logic             clk_i,
  input  logic             we_i,
  input  logic [StrbW-1:0] wstrb_i,
  input  logic [AddrW-1:0] waddr_i,
  input  logic [Width-1:0] wdata_i,
  input  logic             re_i,
  input  logic [AddrW-1:0] raddr_i,
  output logic [Width-1:0] rdata_o
);
  if (Width % ByteBits != 0) begin : gen_illegal_byte
    $fatal(1, "gs_ram_sdp: ByteBits (%0d) does not divide Width (%0d)", ByteBits, Width);
  end
  if (Depth < 2) begin : gen_illegal_depth
    $fatal(1, "gs_ram_sdp: Depth is %0d; it must be 2 or more words", Depth);
  end
  if (Latency > 2 || (Latency == 0 && Style != "distributed")) begin : gen_illegal_latency
    $fatal(1, "gs_ram_sdp: Latency is %0d; it is 1 or 2, or 0 with Style distributed", Latency);
  end

  (* ram_style = Style, no_rw_check *)
  logic [Width-1:0] mem[Depth];

  always_ff @(posedge clk_i) begin
    if (we_i) begin
      for (int unsigned i = 0; i < StrbW; i++) begin
        if (wstrb_i[i]) mem[waddr_i][i*ByteBits+:ByteBits] <= wdata_i[i*ByteBits+:ByteBits];
      end
    end
  end

`ifdef GS_ASSERTIONS
  // A registered read meets a write of its address; the word at the output is from such a read.
  logic collides, undefined, unused_checks;
  assign unused_checks = collides ^ undefined;
`endif

  if (Latency == 0) begin : gen_now
    assign rdata_o = mem[raddr_i];
    // A combinational read has no register to enable.
    logic unused_re;
    assign unused_re = re_i;
`ifdef GS_ASSERTIONS
    assign collides  = 1'b0;
    assign undefined = 1'b0;
`endif
  end else begin : gen_registered
    logic [Width-1:0] first_q;
    always_ff @(posedge clk_i) begin
      if (re_i) first_q <= mem[raddr_i];
`ifdef GS_UNDEFINED_READS
      if (re_i && we_i && raddr_i == waddr_i) first_q <= `GS_COLLISION(Width, mem[raddr_i], wdata_i);
`endif
    end
`ifdef GS_ASSERTIONS
    logic [1:0] undefined_q = '0;
    assign collides  = re_i && we_i && raddr_i == waddr_i;
    assign undefined = undefined_q[Latency-1];
    always_ff @(posedge clk_i) begin
      if (re_i) undefined_q[0] <= collides;
      undefined_q[1] <= undefined_q[0];
    end
`endif
    if (Latency == 1) begin : gen_one
      assign rdata_o = first_q;
    end else begin : gen_two
      logic [Width-1:0] second_q;
      always_ff @(posedge clk_i) second_q <= first_q;
      assign rdata_o = second_q;
    end
  end
endmodule
