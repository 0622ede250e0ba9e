// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Output queues of a mailbox, one per route; one flit enters and one leaves each queue in a cycle.
///
/// The writer reserves space for the whole packet first (reserve_i), so every flit finds a free entry and no route
/// blocks another. A packet's flits arrive one a cycle. A packet that has begun to leave keeps its grant as long as its
/// receiver accepts a flit a cycle. So a packet pauses only after its receiver did.
///
/// The network has its own memory. The routes to this tile's threads (local) and to other networks (far) share
/// one. Receivers are ready late, so a flit is read for a route before it is known whether its output register becomes
/// free: if it does not, the pointer stays, and the flit is read again. A route whose receiver did not accept in the
/// last cycle has lower priority than the other one.
///
///     in ->[ ring ]--------------------->[ flit ]-> net
///       `->[ ring, ring ]-> one of them ->[ flit ]-> local
///                                       `>[ flit ]-> far
module gs_mailbox_out
  import gs_mailbox_pkg::*;
#(
  /// one flit and its side data; bit 0 marks the last flit of a packet
  parameter  type         data_t    = logic [31:0],
  /// flits of the longest packet
  parameter  int unsigned MaxPacket = 5,
  localparam int unsigned SizeW     = $clog2(MaxPacket + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  /// routes with space for the longest packet; space is reserved for a packet of some flits
  output logic [Routes-1:0] space_o,
  input  logic              reserve_i,
  input  route_e            reserve_route_i,
  input  logic [SizeW-1:0]  reserve_size_i,
  /// a flit of a packet that has space reserved
  input  logic              in_valid_i,
  input  route_e            in_route_i,
  input  data_t             in_data_i,
  output logic [Routes-1:0] out_valid_o,
  input  logic [Routes-1:0] out_ready_i,
  output data_t             out_data_o[Routes],
  /// a packet has space reserved, or its flits are here
  output logic              busy_o
);
  // The network has a full memory, as it must stream; the other routes have half a memory each, for one packet.
  localparam int unsigned HalfW = ($clog2(MaxPacket) > 3) ? $clog2(MaxPacket) : 3;
  localparam int unsigned AddrW = HalfW + 1;
  localparam int unsigned PtrW = AddrW + 1;

  logic [Routes-1:0] some_q, free, grant, go, freed_q, valid_q;
  // The routes that share a memory: bit 0 local, bit 1 far
  logic [1:0] requests, stopped_q, ended_q;
  logic far_q, far;
  logic [Routes-1:0][PtrW-1:0] wptr_q, rptr_q, space_q;
  logic [AddrW-1:0] waddr, raddr;
  logic net_write;
  logic [Routes-1:0][AddrW-1:0] route_waddr, route_raddr;
  data_t net_data, other_data;
  logic [Routes-1:0] unused;

  // A pointer has one more bit than an address of its ring; this function makes the address.
  function automatic logic [AddrW-1:0] address(int unsigned r, logic [AddrW-1:0] pointer);
    if (r == 32'(RouteNet)) address = pointer;
    else address = {r == 32'(RouteFar), pointer[HalfW-1:0]};
  endfunction

  for (genvar r = 0; r < int'(Routes); r++) begin : gen_route
    localparam int unsigned Depth = (r == int'(RouteNet)) ? 2 << HalfW : 1 << HalfW;
    localparam int unsigned RingW = $clog2(Depth) + 1;
    logic reserve;
    logic [RingW-1:0] space_d;

    assign free[r]        = !valid_q[r] || out_ready_i[r];
    assign go[r]          = some_q[r] && grant[r] && free[r];
    assign reserve        = reserve_i && reserve_route_i == route_e'(r);
    assign space_d        = space_q[r][RingW-1:0] - (reserve ? RingW'(reserve_size_i) : '0) + RingW'(freed_q[r]);
    assign unused[r]      = space_q[r][RingW-1:0] == RingW'(Depth);
    assign space_o[r]     = space_q[r][RingW-1:0] >= RingW'(MaxPacket);
    assign route_waddr[r] = address(r, wptr_q[r][AddrW-1:0]);
    assign route_raddr[r] = address(r, rptr_q[r][AddrW-1:0]);

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        wptr_q[r]  <= '0;
        rptr_q[r]  <= '0;
        space_q[r] <= PtrW'(Depth);
        some_q[r]  <= 1'b0;
      end else begin
        if (in_valid_i && in_route_i == route_e'(r)) wptr_q[r] <= PtrW'(RingW'(wptr_q[r] + PtrW'(1)));
        if (go[r]) rptr_q[r] <= PtrW'(RingW'(rptr_q[r] + PtrW'(1)));
        space_q[r] <= PtrW'(space_d);
        // A flit that is written now is visible one cycle later.
        some_q[r]  <= go[r] ? wptr_q[r] != PtrW'(RingW'(rptr_q[r] + PtrW'(1))) : wptr_q[r] != rptr_q[r];
      end
    end

    `GS_ASSERT_NOW(only_free_space_is_reserved, !reserve || RingW'(reserve_size_i) <= space_q[r][RingW-1:0])
    `GS_ASSERT_NOW(flits_find_a_free_entry,
                   !(in_valid_i && in_route_i == route_e'(r))
                   || RingW'(wptr_q[r][RingW-1:0] - rptr_q[r][RingW-1:0]) < RingW'(Depth))
  end

  // Of the two routes that share a memory, the last one served keeps its grant unless that flit ended its packet, which
  // is known a cycle later: testing the flit as it is read would lengthen the longest path. If no other route requests,
  // a route is tried even if its receiver has just stopped.
  assign requests = {some_q[RouteFar], some_q[RouteLocal]} & ~stopped_q;
  assign far      = far_q ? !requests[0] || (requests[1] && !ended_q[1]) : requests[1] && (!requests[0] || ended_q[0]);
  always_comb begin
    grant             = '0;
    grant[RouteLocal] = !far;
    grant[RouteNet]   = 1'b1;
    grant[RouteFar]   = far;
  end

  assign net_write = in_route_i == RouteNet;
  assign waddr     = (in_route_i == RouteFar) ? route_waddr[RouteFar] : route_waddr[RouteLocal];
  assign raddr     = far ? route_raddr[RouteFar] : route_raddr[RouteLocal];
  gs_ram_sdp #(
    .Width  ($bits(data_t)),
    .Depth  (1 << AddrW),
    .Latency(0),
    .Style  ("distributed")
  ) u_net (
    .clk_i,
    .we_i   (in_valid_i && net_write),
    .wstrb_i(1'b1),
    .waddr_i(route_waddr[RouteNet]),
    .wdata_i(in_data_i),
    .re_i   (1'b1),
    .raddr_i(route_raddr[RouteNet]),
    .rdata_o(net_data)
  );
  gs_ram_sdp #(
    .Width  ($bits(data_t)),
    .Depth  (1 << AddrW),
    .Latency(0),
    .Style  ("distributed")
  ) u_others (
    .clk_i,
    .we_i   (in_valid_i && !net_write),
    .wstrb_i(1'b1),
    .waddr_i(waddr),
    .wdata_i(in_data_i),
    .re_i   (1'b1),
    .raddr_i(raddr),
    .rdata_o(other_data)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q   <= '0;
      stopped_q <= '0;
      freed_q   <= '0;
      far_q     <= 1'b0;
      ended_q   <= '1;
    end else begin
      valid_q   <= go | (valid_q & ~out_ready_i);
      stopped_q <= {valid_q[RouteFar] && !out_ready_i[RouteFar], valid_q[RouteLocal] && !out_ready_i[RouteLocal]};
      freed_q   <= go;
      if (go[RouteLocal] || go[RouteFar]) far_q <= far;
      if (go[RouteLocal]) ended_q[0] <= 1'(other_data);
      if (go[RouteFar]) ended_q[1] <= 1'(other_data);
    end
  end

  for (genvar r = 0; r < int'(Routes); r++) begin : gen_out
    data_t data_q;
    always_ff @(posedge clk_i) if (go[r]) data_q <= (r == int'(RouteNet)) ? net_data : other_data;
    assign out_data_o[r] = data_q;
  end
  assign out_valid_o = valid_q;
  assign busy_o      = unused != '1 || valid_q != '0;

  `GS_ASSERT_NOW(shared_memory_is_read_for_one_route, !(go[RouteLocal] && go[RouteFar]))
endmodule
