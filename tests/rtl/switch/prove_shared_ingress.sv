// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Unbounded proof of an ingress of the shared-datapath switch, for one lane `lane_q` of the solver's choice: its flits
/// are read once, unchanged, in order and in the packets in which they arrived, with the route that was found for their
/// head; nothing overflows; a complete packet is the lane's head in bounded time.
///
/// The proof keeps its own copy of the lane: a shift register of all flits that arrived and were not read. The
/// invariants say which part of the ingress holds each of them.
///
/// Senders respect their credits and the longest packet. Heads are granted and read at any time. All that the other
/// lanes do is arbitrary.
module prove_shared_ingress
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  parameter int unsigned MaxFlits = 2,
  parameter int unsigned Region   = 4,
  parameter int unsigned Window   = 2
) (
  input logic          clk_i,
  input logic          rst_ni,
  input logic [11:0]   board_i,
  input logic          table_we_i,
  input logic [1:0]    table_index_i,
  input switch_entry_t table_entry_i,
  input channels_t     valid_i,
  input flit_t         flit_i,
  input logic [3:0]    grant_i,
  input logic [3:0]    read_i,
  input logic [1:0]    lane_i
);
  localparam int unsigned Ports = 3;
  localparam int unsigned Lanes = 4;
  localparam int unsigned RegionW = $clog2(Region);
  localparam logic [Ports-1:0] Virtual = 3'b010;
  localparam home_t Home = '{stream: '{first: 8'd0, count: 8'd3}, default: '0};
  // Cycles from the last flit of a packet to its head, if no packet is before it: one each to count and to ask, up to
  // as many as there are lanes to be fetched, and three through the registers.
  localparam int unsigned Wait = 4 + Lanes;
  typedef logic [RegionW:0] count_t;
  typedef logic [SwitchLengthW-1:0] length_t;

  // The lane is chosen in reset.
  logic [1:0] lane_q;
  always_ff @(posedge clk_i) if (!rst_ni) lane_q <= lane_i;

  channels_t credit;
  logic [Lanes-1:0] head_valid, granted, settled;
  shared_route_t [Lanes-1:0] head;
  length_t [Lanes-1:0] left;
  logic last, empty;
  flit_t data;
  gs_shared_ingress #(
    .Ports     (Ports),
    .Virtual   (Virtual),
    .TableW    (2),
    .Home      (Home),
    .StreamBits(0),
    .Vcs       (1),
    .MaxFlits  (MaxFlits),
    .Region    (Region),
    .Window    (Window)
  ) u_ingress (
    .clk_i,
    .rst_ni,
    .board_i,
    .clearing_i   (1'b0),
    .table_we_i,
    .table_index_i,
    .table_entry_i,
    .valid_i,
    .flit_i,
    .credit_o     (credit),
    .head_valid_o (head_valid),
    .granted_o    (granted),
    .head_o       (head),
    .left_o       (left),
    .settled_o    (settled),
    .grant_i,
    .read_i,
    .last_o       (last),
    .data_o       (data),
    .empty_o      (empty)
  );

  // ------------------------------------------------------------ the lane
  logic arrives, reads, head_is, granted_is, next_is, lands, fetched, asks;
  shared_route_t head_route, next_route;
  length_t head_left, next_flits, length;
  count_t packets;
  assign arrives = valid_i[{lane_q, 1'b0}];
  assign reads = read_i[lane_q];
  assign head_is = head_valid[lane_q];
  assign granted_is = granted[lane_q];
  assign head_route = head[lane_q];
  assign head_left = left[lane_q];
  assign next_is = u_ingress.next_valid_q[lane_q];
  assign next_route = u_ingress.next_q[lane_q].route;
  assign next_flits = u_ingress.next_q[lane_q].flits;
  assign lands = u_ingress.landing_q && u_ingress.landing_at_q == lane_q;
  assign fetched = u_ingress.fetches[lane_q];
  assign asks = u_ingress.wants_q[lane_q] && !lands;
  assign length = u_ingress.length_q[lane_q];
  assign packets = u_ingress.push_q[lane_q] - u_ingress.fetch_q[lane_q];

  // ------------------------------------------------------- the environment
  logic [$clog2(Window+1)-1:0] credits_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) credits_q <= ($clog2(Window+1))'(Window);
    else credits_q <= credits_q + ($clog2(Window+1))'(credit[{lane_q, 1'b0}]) - ($clog2(Window+1))'(arrives);
  end
  `GS_ASSUME_NOW(one_channel_sends,
                 (valid_i & (valid_i - 1'b1)) == '0 && (valid_i & 8'b10101010) == '0)
  `GS_ASSUME_NOW(channel_belongs_to_its_network, valid_i == '0 || valid_i[{flit_i.vnet, 1'b0}])
  `GS_ASSUME_NOW(sender_respects_its_credits, !arrives || credits_q != '0)
  `GS_ASSUME_NOW(packets_end, !arrives || flit_i.last || 32'(length) + 1 < MaxFlits)
  `GS_ASSUME_NOW(one_lane_is_read, (read_i & (read_i - 1'b1)) == '0)
  `GS_ASSUME_NOW(waiting_heads_are_granted, !grant_i[lane_q] || (head_is && !granted_is && !head_route.unroutable))
  `GS_ASSUME_NOW(granted_heads_are_read, !reads || (head_is && (granted_is || head_route.unroutable)))

  // ---------------------------------------------- the copy of the lane
  flit_t flits_q[Region];
  shared_route_t routes_q[Region];
  shared_route_t open_route_q, route;
  count_t count_q;
  logic arrived_q, arrived_head_q, open_q, read_q;
  flit_t read_flit_q;
  // The route of a head is known in the cycle after it.
  assign route = arrived_head_q ? u_ingress.route : open_route_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q   <= '0;
      arrived_q <= 1'b0;
      open_q    <= 1'b0;
      read_q    <= 1'b0;
    end else begin
      count_q   <= count_q + count_t'(arrives) - count_t'(reads);
      arrived_q <= arrives;
      if (arrives) open_q <= !flit_i.last;
      read_q    <= reads;
    end
    arrived_head_q <= !open_q;
    read_flit_q    <= flits_q[0];
    if (arrived_q) open_route_q <= route;
    for (int unsigned o = 0; o < Region; o++) begin
      if (arrives && 32'(count_q) == o + 32'(reads)) flits_q[o] <= flit_i;
      else if (reads && o + 1 < Region) flits_q[o] <= flits_q[o+1];
      if (arrived_q && 32'(count_q) == o + 1 + 32'(reads)) routes_q[o] <= route;
      else if (reads && o + 1 < Region) routes_q[o] <= routes_q[o+1];
    end
  end

  // -------------------------------------------------------- the properties
  // What prove_shared_datapath assumes of the heads.
  logic kept_q, was_granted_q;
  shared_route_t was_route_q;
  length_t was_left_q;
  always_ff @(posedge clk_i) begin
    kept_q        <= rst_ni && head_is && !(reads && head_left == length_t'(1));
    was_granted_q <= granted_is || grant_i[lane_q];
    was_route_q   <= head_route;
    was_left_q    <= head_left - length_t'(reads);
  end
  function automatic logic is_legal(shared_route_t one);
    return one.unroutable || (32'(one.port) < Ports && (one.vc == '0 || Virtual[one.port[1:0]]));
  endfunction
  `GS_ASSERT_NOW(heads_stay_until_they_end, !kept_q || (head_is && head_route == was_route_q &&
                                                        head_left == was_left_q && granted_is == was_granted_q))
  `GS_ASSERT_NOW(new_heads_are_not_granted, kept_q || !granted_is)
  `GS_ASSERT_NOW(heads_have_flits, !head_is || head_left != '0)
  `GS_ASSERT_NOW(routes_lead_to_lanes, !head_is || is_legal(head_route))
  `GS_ASSERT_NOW(last_flits_are_announced,
                 (!reads || last == (head_left == length_t'(1))) && (read_i != '0 || !last))
  `GS_ASSERT_NOW(flits_are_read_once_unchanged_in_order, !read_q || data == read_flit_q)
  `GS_ASSERT_NOW(only_stored_flits_are_read, !reads || count_q != '0)
  `GS_ASSERT_NOW(region_does_not_overflow, !arrives || 32'(count_q) < Region)
  `GS_ASSERT_NOW(packets_end_with_their_last_flit, !reads || last == flits_q[0].last)
  `GS_ASSERT_NOW(packets_leave_by_their_route, !reads || head_route == routes_q[0])
  `GS_ASSERT_NOW(route_is_known, !reads || !arrived_q || count_q != count_t'(1))
  `GS_ASSERT_NOW(grant_lasts_for_its_packet, !granted_is || (head_is && !head_route.unroutable))
  `GS_ASSERT_NOW(lane_that_holds_a_flit_is_not_empty, count_q == '0 || !empty)
  // An independent statement about the route: streams of this board leave by the port with their number.
  logic [11:0] board_q;
  flit_t newest;
  always_ff @(posedge clk_i) board_q <= board_i;
  assign newest = flits_q[RegionW'(count_q-1'b1)];
  `GS_ASSERT_NOW(streams_leave_by_their_port,
                 !(arrived_q && arrived_head_q) || newest.dest[31:29] != EndpointStream ||
                 newest.dest[25:14] != board_q ||
                 (newest.dest[7:0] < 8'd3 ? !route.unroutable && route.port == newest.dest[4:0] : route.unroutable))

  // ------------------------------------------------- where each flit is
  // Position after the first last flit at `from` or later; 0: there is none.
  logic [Region-1:0] lasts;
  for (genvar o = 0; o < Region; o++) begin : gen_lasts
    assign lasts[o] = flits_q[o].last && o < 32'(count_q);
  end
  function automatic count_t end_of(logic [Region-1:0] of, count_t from);
    end_of = '0;
    for (int unsigned o = Region; o > 0; o--) if (of[o-1] && o > 32'(from)) end_of = count_t'(o);
  endfunction

  // Packets begin at start[k]: head, next, fetched, as many as the RAM may have, the one that enters the RAM.
  localparam int unsigned Places = Region + 4;
  logic [Places-1:0] used;
  length_t [Places-1:0] flits;
  shared_route_t [Places-1:0] routes;
  count_t [Places:0] start;
  logic [Places-1:0] agrees;
  logic enters;
  logic [RegionW-1:0] push_at;
  shared_route_t push_route;
  assign enters = arrived_q && u_ingress.arrived_last_q;
  assign push_at = u_ingress.push_q[lane_q][RegionW-1:0];
  assign push_route = u_ingress.u_packets.mem[{lane_q, push_at}][u_ingress.HalfW+:$bits(shared_route_t)];
  assign used[0] = head_is;
  assign used[1] = next_is;
  assign used[2] = lands;
  assign {flits[0], routes[0]} = {head_left, head_route};
  assign {flits[1], routes[1]} = {next_flits, next_route};
  assign {flits[2], routes[2]} = {u_ingress.landed.flits, u_ingress.landed.route};
  for (genvar k = 0; k < Region; k++) begin : gen_stored
    logic [RegionW-1:0] at;
    assign at = u_ingress.fetch_q[lane_q][RegionW-1:0] + RegionW'(k);
    assign used[3+k] = k < 32'(packets);
    assign flits[3+k] = u_ingress.u_packets.mem[{lane_q, at}][SwitchLengthW-1:0];
    assign routes[3+k] = u_ingress.u_packets.mem[{lane_q, at}][u_ingress.HalfW+:$bits(shared_route_t)];
  end
  assign used[Places-1] = enters;
  assign flits[Places-1] = u_ingress.arrived_length_q;
  assign routes[Places-1] = u_ingress.arrived_head_q ? u_ingress.route : push_route;

  assign start[0] = '0;
  for (genvar k = 0; k < Places; k++) begin : gen_place
    count_t ends;
    shared_route_t its_route;
    assign ends = end_of(lasts, start[k]);
    assign start[k+1] = used[k] ? ends : start[k];
    // The route of the flit that arrived last is being determined.
    assign its_route = (arrived_q && count_q == start[k] + 1'b1) ? route : routes_q[start[k][RegionW-1:0]];
    assign agrees[k] = !used[k] || (ends != '0 && 32'(flits[k]) + 32'(start[k]) == 32'(ends) && routes[k] == its_route);
    `GS_ASSERT_NOW(packet_is_in_its_place, agrees[k])
  end
  `GS_ASSERT_NOW(all_other_flits_are_of_the_packet_that_arrives,
                 end_of(lasts, start[Places]) == '0 && 32'(start[Places]) + 32'(length) == 32'(count_q))
  `GS_ASSERT_NOW(packets_fit, 32'(packets) <= Region && 32'(count_q) <= Region)
  `GS_ASSERT_NOW(packets_are_open_from_their_first_flit_to_their_last,
                 open_q == (length != '0) && u_ingress.inside_q[lane_q] == open_q)
  `GS_ASSERT_NOW(arrivals_agree,
                 (u_ingress.arrived_q && u_ingress.arrived_at_q == lane_q) == arrived_q &&
                 (!arrived_q || (count_q != '0 && u_ingress.arrived_last_q == lasts[RegionW'(count_q-1'b1)] &&
                                 u_ingress.arrived_head_q == arrived_head_q && open_q == !u_ingress.arrived_last_q)))
  `GS_ASSERT_NOW(arriving_packets_have_their_length, !arrived_q || u_ingress.arrived_last_q ||
                 u_ingress.arrived_length_q == length)
  `GS_ASSERT_NOW(arriving_packets_begin_once, !arrived_q || arrived_head_q == (u_ingress.arrived_length_q == 1))
  // The route of the packet that arrives is in the RAM, unless its head has just arrived.
  logic written;
  assign written = (open_q || enters) && !(arrived_q && arrived_head_q);
  `GS_ASSERT_NOW(route_waits_for_the_last_flit, !written || push_route == open_route_q)
  `GS_ASSERT_NOW(newest_route_is_legal, !(open_q || arrived_q) || is_legal(route))
  for (genvar o = 0; o < Region; o++) begin : gen_flit
    `GS_ASSERT_NOW(routes_are_legal,
                   o >= 32'(count_q) || (arrived_q && 32'(count_q) == o + 1) || is_legal(routes_q[o]))
    logic [RegionW-1:0] at;
    assign at = u_ingress.read_q[lane_q] + RegionW'(o);
    `GS_ASSERT_NOW(flit_is_in_its_place,
                   o >= 32'(count_q) || u_ingress.u_flits.mem[{lane_q, at}] == flits_q[o])
    if (o != 0) begin : gen_route
      `GS_ASSERT_NOW(flits_of_a_packet_have_one_route, o >= 32'(count_q) || lasts[o-1] ||
                     (arrived_q && 32'(count_q) == o + 1) || routes_q[o] == (routes_q[o-1]))
    end
    `GS_ASSERT_NOW(open_packets_have_their_route, !written || o < 32'(start[Places-1]) || o >= 32'(count_q) ||
                   (arrived_q && 32'(count_q) == o + 1) || routes_q[o] == open_route_q)
  end
  `GS_ASSERT_NOW(flits_are_written_after_the_last_one,
                 u_ingress.write_q[lane_q] == u_ingress.read_q[lane_q] + RegionW'(count_q))

  // -------------------------------------------------------------- credits
  logic [Lanes-1:0][RegionW:0] spare;
  logic [Lanes-1:0][$clog2(Window+1)-1:0] owed;
  for (genvar p = 0; p < Lanes; p++) begin : gen_credit
    assign spare[p] = u_ingress.gen_credit[p].spare_q;
    assign owed[p] = u_ingress.gen_credit[p].owed_q;
  end
  `GS_ASSERT_NOW(credits_are_neither_lost_nor_added,
                 32'(credits_q) + 32'(credit[{lane_q, 1'b0}]) + 32'(owed[lane_q]) == Window)
  `GS_ASSERT_NOW(slots_are_neither_lost_nor_added,
                 32'(count_q) + 32'(spare[lane_q]) + Window == Region + 32'(owed[lane_q]))
  `GS_ASSERT_NOW(packets_are_short, 32'(length) < MaxFlits)
  // So a packet always becomes complete: its sender has a credit, or gets one in two cycles.
  `GS_ASSERT_NOW(packet_that_arrives_never_waits_for_itself,
                 lasts != '0 || credits_q != '0 || credit[{lane_q, 1'b0}] || spare[lane_q] != '0)

  // ------------------------------------------------------- bounded waiting
  // Cycles in which the lane has a complete packet and no head, or in which the packet after its head is not known;
  // and how many more there are at most.
  logic [Lanes-1:0] ahead;
  int waited_q, preferred, remaining;
  logic waits, unsettled;
  int unsettled_q;
  assign ahead = u_ingress.u_fetch.ahead_q;
  assign waits = lasts != '0 && !head_is;
  assign unsettled = !settled[lane_q];
  // Lanes that the arbiter prefers.
  always_comb begin
    preferred = ahead[lane_q] ? 0 : 32'(lane_q);
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (ahead[i] && (!ahead[lane_q] || i < 32'(lane_q))) preferred = preferred + 1;
    end
    if (next_is) remaining = 0;
    else if (lands) remaining = 1;
    else if (asks) remaining = 2 + preferred;
    else if (packets != '0) remaining = 2 + Lanes;
    else remaining = 3 + Lanes;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !waits) waited_q <= 0;
    else waited_q <= waited_q + 1;
    if (!rst_ni || !unsettled) unsettled_q <= 0;
    else unsettled_q <= unsettled_q + 1;
  end
  `GS_ASSERT_NOW(next_packet_is_known, unsettled_q >= 0 && unsettled_q <= int'(Wait))
  `GS_ASSERT_NOW(search_ends, !unsettled || unsettled_q + remaining < int'(Wait))
  `GS_ASSERT_NOW(complete_packet_becomes_the_head, waited_q >= 0 && waited_q <= int'(Wait))
  `GS_ASSERT_NOW(wait_ends, !waits || waited_q + remaining < int'(Wait))
  // A lane that is preferred is followed by preferred ones.
  `GS_ASSERT_NOW(preference_is_for_the_lanes_after_a_grant, ((ahead << 1) & ~ahead) == '0)
  `GS_ASSERT_NOW(lanes_that_ask_have_a_packet, !asks || (packets != '0 && !next_is))
  `GS_ASSERT_NOW(fetched_packet_has_a_place, !(lands && next_is))
  `GS_ASSERT_NOW(settled_lanes_know_their_next_packet, settled[lane_q] == (next_is || (packets == '0 && !lands)))

  `GS_COVER_NOW(all_slots_are_used, 32'(count_q) == Region)
  `GS_COVER_NOW(next_packet_is_the_head_at_once, reads && last && next_is && lasts[1])
  `GS_COVER_NOW(packet_without_a_route_is_read, reads && head_route.unroutable && !last)
  `GS_COVER_NOW(packet_waits, waited_q == int'(Lanes) + 1)
  `GS_COVER_NOW(region_is_used_again, reads && u_ingress.read_q[lane_q] == '1 && count_q > 2)
endmodule
