// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Output queues of a mailbox, one for each way out; a flit in and a flit out in a cycle.
///
/// Whoever writes has reserved room for the whole packet before (take_i), so a flit always finds its place and no way
/// out holds up another. A packet's flits come one a cycle; once it has begun to leave, it has the turn as long as its
/// receiver takes a flit a cycle. So a packet pauses only after its receiver did.
///
/// The network has a memory of its own. This tile's threads and all that goes far share one, by turns. Their receivers
/// answer late, so a flit is read for a way before it is known whether its output register becomes free: if it does
/// not, the pointer stays, and the flit is read again. A way whose receiver did not take in the last cycle tries after
/// the other one.
///
///     in ->[ ring ]--------------------->[ flit ]-> net
///       `->[ ring, ring ]-> one of them ->[ flit ]-> local
///                                       `>[ flit ]-> far
module gs_mailbox_out
  import gs_mailbox_pkg::*;
#(
  /// one flit with what goes beside it; bit 0 says that it is the last of its packet
  parameter  type         data_t    = logic [31:0],
  /// flits of the longest packet
  parameter  int unsigned MaxPacket = 5,
  localparam int unsigned SizeW     = $clog2(MaxPacket + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  /// ways with room for a longest packet; room is taken for one of some flits
  output logic [Routes-1:0] room_o,
  input  logic              take_i,
  input  route_e            take_route_i,
  input  logic [SizeW-1:0]  take_size_i,
  /// a flit of a packet that has room
  input  logic              in_valid_i,
  input  route_e            in_route_i,
  input  data_t             in_data_i,
  output logic [Routes-1:0] out_valid_o,
  input  logic [Routes-1:0] out_ready_i,
  output data_t             out_data_o[Routes],
  /// a packet has room taken, or its flits are here
  output logic              busy_o
);
  // The network has a memory, as it must stream; the other ways have half of one each, with room for a packet.
  localparam int unsigned HalfW = ($clog2(MaxPacket) > 3) ? $clog2(MaxPacket) : 3;
  localparam int unsigned AddrW = HalfW + 1;
  localparam int unsigned PtrW = AddrW + 1;

  logic [Routes-1:0] some_q, free, grant, go, back_q, valid_q;
  // Of the ways that share a memory, local and far
  logic [1:0] wants, stopped_q, ended_q;
  logic far_q, far;
  logic [Routes-1:0][PtrW-1:0] wptr_q, rptr_q, room_q;
  logic [AddrW-1:0] waddr, raddr;
  logic net_write;
  logic [Routes-1:0][AddrW-1:0] wplace, rplace;
  data_t net_data, other_data;
  logic [Routes-1:0] full_room;

  // A pointer counts once more than its ring has places; this is the place.
  function automatic logic [AddrW-1:0] place(int unsigned r, logic [AddrW-1:0] pointer);
    if (r == 32'(RouteNet)) place = pointer;
    else place = {r == 32'(RouteFar), pointer[HalfW-1:0]};
  endfunction

  for (genvar r = 0; r < int'(Routes); r++) begin : gen_route
    localparam int unsigned Depth = (r == int'(RouteNet)) ? 2 << HalfW : 1 << HalfW;
    localparam int unsigned RingW = $clog2(Depth) + 1;
    logic take;
    logic [RingW-1:0] room_d;

    assign free[r]      = !valid_q[r] || out_ready_i[r];
    assign go[r]        = some_q[r] && grant[r] && free[r];
    assign take         = take_i && take_route_i == route_e'(r);
    assign room_d       = room_q[r][RingW-1:0] - (take ? RingW'(take_size_i) : '0) + RingW'(back_q[r]);
    assign full_room[r] = room_q[r][RingW-1:0] == RingW'(Depth);
    assign room_o[r]    = room_q[r][RingW-1:0] >= RingW'(MaxPacket);
    assign wplace[r]    = place(r, wptr_q[r][AddrW-1:0]);
    assign rplace[r]    = place(r, rptr_q[r][AddrW-1:0]);

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        wptr_q[r] <= '0;
        rptr_q[r] <= '0;
        room_q[r] <= PtrW'(Depth);
        some_q[r] <= 1'b0;
      end else begin
        if (in_valid_i && in_route_i == route_e'(r)) wptr_q[r] <= PtrW'(RingW'(wptr_q[r] + PtrW'(1)));
        if (go[r]) rptr_q[r] <= PtrW'(RingW'(rptr_q[r] + PtrW'(1)));
        room_q[r] <= PtrW'(room_d);
        // A flit that is written now is seen a cycle later.
        some_q[r] <= go[r] ? wptr_q[r] != PtrW'(RingW'(rptr_q[r] + PtrW'(1))) : wptr_q[r] != rptr_q[r];
      end
    end

    `GS_ASSERT_NOW(room_is_taken_where_it_is, !take || RingW'(take_size_i) <= room_q[r][RingW-1:0])
    `GS_ASSERT_NOW(a_flit_has_its_place,
                   !(in_valid_i && in_route_i == route_e'(r))
                   || RingW'(wptr_q[r][RingW-1:0] - rptr_q[r][RingW-1:0]) < RingW'(Depth))
  end

  // Of the two that share a memory, the one that went last keeps its turn unless that flit ended its packet, which is
  // known a cycle later: to ask the flit as it is read would make the longest way a step longer. With nothing else to
  // do it is tried even if its receiver has just stopped.
  assign wants = {some_q[RouteFar], some_q[RouteLocal]} & ~stopped_q;
  assign far   = far_q ? !wants[0] || (wants[1] && !ended_q[1]) : wants[1] && (!wants[0] || ended_q[0]);
  always_comb begin
    grant             = '0;
    grant[RouteLocal] = !far;
    grant[RouteNet]   = 1'b1;
    grant[RouteFar]   = far;
  end

  assign net_write = in_route_i == RouteNet;
  assign waddr     = (in_route_i == RouteFar) ? wplace[RouteFar] : wplace[RouteLocal];
  assign raddr     = far ? rplace[RouteFar] : rplace[RouteLocal];
  gs_ram_sdp #(
    .Width  ($bits(data_t)),
    .Depth  (1 << AddrW),
    .Latency(0),
    .Style  ("distributed")
  ) u_net (
    .clk_i,
    .we_i   (in_valid_i && net_write),
    .wstrb_i(1'b1),
    .waddr_i(wplace[RouteNet]),
    .wdata_i(in_data_i),
    .re_i   (1'b1),
    .raddr_i(rplace[RouteNet]),
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
      back_q    <= '0;
      far_q     <= 1'b0;
      ended_q   <= '1;
    end else begin
      valid_q   <= go | (valid_q & ~out_ready_i);
      stopped_q <= {valid_q[RouteFar] && !out_ready_i[RouteFar], valid_q[RouteLocal] && !out_ready_i[RouteLocal]};
      back_q    <= go;
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
  assign busy_o      = full_room != '1 || valid_q != '0;

  `GS_ASSERT_NOW(a_memory_is_read_for_one, !(go[RouteLocal] && go[RouteFar]))
endmodule
