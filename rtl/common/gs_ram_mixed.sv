// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Memory with a narrow and a wide port, each of which reads or writes, one clock: one side accesses words, the other
/// flits.
///
/// Built of WideBits/NarrowBits parallel true dual-port memories. Narrow word 0 is the low end of a wide word.
/// Collisions behave as in gs_ram_tdp: after a write the port's output is undefined, as is the result of a read while
/// the other port writes the same word.
module gs_ram_mixed #(
  /// bits of the narrow port
  parameter  int unsigned NarrowBits = 32,
  /// bits of the wide port: NarrowBits times a power of two, at least 2
  parameter  int unsigned WideBits   = 128,
  /// words of the wide port, 2 or more
  parameter  int unsigned WideDepth  = 256,
  /// bits that a write strobe covers; divides NarrowBits
  parameter  int unsigned ByteBits   = 8,
  /// clock edges from address to data: 1, or 2 (registered after the RAM, for speed)
  parameter  int unsigned Latency    = 1,
  localparam int unsigned Lanes      = WideBits / NarrowBits,
  localparam int unsigned LaneW      = $clog2(Lanes),
  localparam int unsigned WideAddrW  = $clog2(WideDepth),
  localparam int unsigned AddrW      = WideAddrW + LaneW,
  localparam int unsigned NarrowStrb = NarrowBits / ByteBits,
  localparam int unsigned WideStrb   = WideBits / ByteBits
) (
  input  logic                  clk_i,
  input  logic                  n_en_i,
  input  logic                  n_we_i,
  input  logic [NarrowStrb-1:0] n_strb_i,
  input  logic [AddrW-1:0]      n_addr_i,
  input  logic [NarrowBits-1:0] n_wdata_i,
  output logic [NarrowBits-1:0] n_rdata_o,
  input  logic                  w_en_i,
  input  logic                  w_we_i,
  input  logic [WideStrb-1:0]   w_strb_i,
  input  logic [WideAddrW-1:0]  w_addr_i,
  input  logic [WideBits-1:0]   w_wdata_i,
  output logic [WideBits-1:0]   w_rdata_o
);
  if (Lanes < 2 || NarrowBits << LaneW != WideBits) begin : gen_illegal_width
    $fatal(1, "gs_ram_mixed: WideBits (%0d) is not NarrowBits (%0d) times 2, 4, 8, ...", WideBits, NarrowBits);
  end

  logic [Lanes-1:0][NarrowBits-1:0] lane_rdata;
  logic [LaneW-1:0] lane, lane_q;

  assign lane = n_addr_i[LaneW-1:0];
`ifdef GS_ASSERTIONS
  // As in gs_ram_tdp.
  logic collides, n_undefined, w_undefined, unused_checks;
  assign unused_checks = ^{collides, n_undefined, w_undefined};
  logic [Lanes-1:0] lane_collides, lane_n_undefined, lane_w_undefined;
  assign collides    = lane_collides != '0;
  assign n_undefined = lane_n_undefined[lane_q];
  assign w_undefined = lane_w_undefined != '0;
`endif

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    gs_ram_tdp #(
      .Width   (NarrowBits),
      .Depth   (WideDepth),
      .ByteBits(ByteBits),
      .Latency (Latency)
    ) u_ram (
      .clk_i,
      .a_en_i   (n_en_i && lane == LaneW'(i)),
      .a_we_i   (n_we_i),
      .a_strb_i (n_strb_i),
      .a_addr_i (n_addr_i[AddrW-1:LaneW]),
      .a_wdata_i(n_wdata_i),
      .a_rdata_o(lane_rdata[i]),
      .b_en_i   (w_en_i),
      .b_we_i   (w_we_i),
      .b_strb_i (w_strb_i[i*NarrowStrb+:NarrowStrb]),
      .b_addr_i (w_addr_i),
      .b_wdata_i(w_wdata_i[i*NarrowBits+:NarrowBits]),
      .b_rdata_o(w_rdata_o[i*NarrowBits+:NarrowBits])
    );
`ifdef GS_ASSERTIONS
    assign lane_collides[i]    = u_ram.collides;
    assign lane_n_undefined[i] = u_ram.a_undefined;
    assign lane_w_undefined[i] = u_ram.b_undefined;
`endif
  end

  // The lane of the last read, delayed as its data are.
  if (Latency == 1) begin : gen_one
    always_ff @(posedge clk_i) if (n_en_i && !n_we_i) lane_q <= lane;
  end else begin : gen_two
    logic [LaneW-1:0] first_q;
    always_ff @(posedge clk_i) begin
      if (n_en_i && !n_we_i) first_q <= lane;
      lane_q <= first_q;
    end
  end

  assign n_rdata_o = lane_rdata[lane_q];
endmodule
