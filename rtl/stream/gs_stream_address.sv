// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Opens the sending half of a port by rank. A table of rank locations, written at run time, supplies the address of
/// the port with the same number at the receiving rank.
///
///     kernel: rank, count --> location of the rank --> board, port --> gs_stream_push
///
/// A rank without a location is a fault: the channel is not opened, and the fault persists until the location is
/// written.
module gs_stream_address
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// ranks, a power of two, 2 to 256
  parameter int unsigned Ranks   = 16,
  /// type of the elements
  parameter smi_type_e   Element = SmiTypeInt,
  /// port numbers of each rank of a board; index of this port among them
  parameter int unsigned Stride  = 1,
  parameter int unsigned Index   = 0
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  // Locations of ranks
  input  logic           rank_we_i,
  input  logic [7:0]     rank_i,
  input  rank_location_t location_i,
  /// this rank
  input  logic [7:0]     own_i,
  // Kernel: receiving rank, number of elements
  input  logic           s_axis_tvalid_i,
  output logic           s_axis_tready_o,
  input  logic [39:0]    s_axis_tdata_i,
  // Sending half of the port
  output logic           open_valid_o,
  input  logic           open_ready_i,
  output send_open_t     open_o,
  output logic           fault_o
);
  localparam int unsigned RankW = $clog2(Ranks);
  logic [7:0] dest_rank;
  logic [31:0] count;
  logic [Ranks-1:0] located_q;
  logic located;
  rank_location_t location;

  if (Ranks < 2 || Ranks > 256 || (Ranks & (Ranks - 1)) != 0) begin : gen_illegal_ranks
    $fatal(1, "gs_stream_address: Ranks is %0d; it must be a power of two from 2 to 256", Ranks);
  end

  assign {dest_rank, count} = s_axis_tdata_i;
  gs_ram_sdp #(
    .Width  ($bits(rank_location_t)),
    .Depth  (Ranks),
    .Latency(0),
    .Style  ("distributed")
  ) u_locations (
    .clk_i,
    .we_i   (rank_we_i && 32'(rank_i) < Ranks),
    .wstrb_i(1'b1),
    .waddr_i(rank_i[RankW-1:0]),
    .wdata_i(location_i),
    .re_i   (1'b1),
    .raddr_i(dest_rank[RankW-1:0]),
    .rdata_o(location)
  );
  assign located = 32'(dest_rank) < Ranks && located_q[dest_rank[RankW-1:0]];
  assign open_valid_o = s_axis_tvalid_i && located;
  assign s_axis_tready_o = open_ready_i && located;
  assign open_o = '{
    rank: dest_rank, element: Element, own: own_i, dest: port_address(location, Stride, Index), count: count
  };
  assign fault_o = s_axis_tvalid_i && !located;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) located_q <= '0;
    else if (rank_we_i && 32'(rank_i) < Ranks) located_q[rank_i[RankW-1:0]] <= 1'b1;
  end
endmodule
