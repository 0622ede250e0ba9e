// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Unbounded proof of the shared-datapath switch between its ingresses and its ports, for an incoming lane `in_q` and
/// an outgoing lane `out_q` of a network `network_q`, all of the solver's choice: each flit that is read leaves once,
/// unchanged, two cycles later, in the lane of its head's route and with a credit; an outgoing lane sends the flits of
/// one packet at a time; a packet without a route is dropped and reported once; each lane is served in bounded time.
///
/// The outputs of the ingresses are cut. What is assumed of the heads of `network_q` is what prove_shared_ingress
/// proves; those of the other networks do anything. In turn this proof shows what that one assumes: grants and reads.
module prove_shared_datapath
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  parameter  int unsigned Window  = 2,
  localparam int unsigned Ports   = 3,
  localparam int unsigned N       = Ports * SwitchVcs,
  localparam int unsigned IdxW    = $clog2(N),
  localparam int unsigned CreditW = $clog2(Window + 1)
) (
  input logic                        clk_i,
  input logic                        rst_ni,
  input logic [7:0]                  burst_i,
  input logic [Ports-1:0][SwitchChannels-1:0] credit_i,
  input logic [1:0]                  network_i,
  input logic [IdxW-1:0]             in_i,
  input logic [IdxW-1:0]             out_i
);
  localparam logic [Ports-1:0] Virtual = 3'b010;
  typedef logic [IdxW-1:0] idx_t;
  typedef logic [SwitchLengthW-1:0] length_t;

  // The lanes are chosen in reset.
  logic [1:0] network_q;
  idx_t in_q, out_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      network_q <= network_i;
      in_q      <= in_i;
      out_q     <= out_i;
    end
  end
  function automatic logic exists(idx_t lane);
    return 32'(lane) < N && (!lane[0] || Virtual[lane[IdxW-1:1]]);
  endfunction
  `GS_ASSUME_NOW(lanes_exist, exists(in_q) && exists(out_q))

  channels_t in_valid[Ports], in_credit[Ports], out_valid[Ports], out_credit[Ports];
  flit_t in[Ports], out[Ports];
  logic [Ports-1:0] unroutable_at, unroutable_message;
  logic [Ports-1:0][4:0] unroutable_job;
  logic [31:0] unroutable_dest[Ports];
  logic empty;
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign in_valid[p] = '0;
    assign in[p] = '0;
    assign out_credit[p] = credit_i[p];
  end
  gs_switch_shared #(
    .Ports     (Ports),
    .Virtual   (Virtual),
    .Home      ('0),
    .StreamBits(0),
    .TableW    (2),
    .MaxFlits  (2),
    .InRegion  (4),
    .Window    (Window)
  ) u_switch (
    .clk_i,
    .rst_ni,
    .board_i             ('0),
    .burst_i,
    .clearing_i          (1'b0),
    .table_we_i          (1'b0),
    .table_index_i       ('0),
    .table_entry_i       ('0),
    .in_valid_i          (in_valid),
    .in_i                (in),
    .in_credit_o         (in_credit),
    .out_valid_o         (out_valid),
    .out_o               (out),
    .out_credit_i        (out_credit),
    .unroutable_o        (unroutable_at),
    .unroutable_dest_o   (unroutable_dest),
    .unroutable_message_o(unroutable_message),
    .unroutable_job_o    (unroutable_job),
    .empty_o             (empty)
  );

  // ----------------------------------------- the heads, as an ingress shows them
  logic [N-1:0] head, granted, unroutable, grant, reads, ends;
  logic [N-1:0][IdxW-1:0] to;
  length_t [N-1:0] left;
  logic [3:0][N-1:0] all_reads;
  assign all_reads = u_switch.send_q;
  assign head = u_switch.head_valid[network_q];
  assign granted = u_switch.granted[network_q];
  assign unroutable = u_switch.unroutable[network_q];
  assign grant = u_switch.allocate[network_q];
  assign reads = all_reads[network_q];
  assign to = u_switch.to[network_q];
  assign left = u_switch.left[network_q];

  logic [N-1:0] kept_q, was_granted_q, was_unroutable_q;
  logic [N-1:0][IdxW-1:0] was_to_q;
  length_t [N-1:0] was_left_q;
  always_ff @(posedge clk_i) begin
    kept_q           <= rst_ni ? head & ~ends : '0;
    was_granted_q    <= granted | grant;
    was_unroutable_q <= unroutable;
    was_to_q         <= to;
    for (int unsigned i = 0; i < N; i++) was_left_q[i] <= left[i] - length_t'(reads[i]);
  end
  for (genvar i = 0; i < N; i++) begin : gen_head
    assign ends[i] = reads[i] && left[i] == length_t'(1);
    `GS_ASSUME_NOW(heads_stay_until_they_end, !kept_q[i] ||
                   (head[i] && to[i] == was_to_q[i] && unroutable[i] == was_unroutable_q[i] &&
                    left[i] == was_left_q[i] && granted[i] == was_granted_q[i]))
    `GS_ASSUME_NOW(new_heads_are_not_granted, kept_q[i] || !granted[i])
    `GS_ASSUME_NOW(granted_heads_have_a_route, !granted[i] || (head[i] && !unroutable[i]))
    `GS_ASSUME_NOW(heads_have_flits, !head[i] || left[i] != '0)
    `GS_ASSUME_NOW(routes_lead_to_lanes, !head[i] || unroutable[i] || exists(to[i]))
    `GS_ASSUME_NOW(an_ingress_with_a_head_is_not_empty, !head[i] || !u_switch.in_empty[i/SwitchVcs])
    `GS_ASSUME_NOW(last_flits_are_announced, !reads[i] || u_switch.last[i/SwitchVcs] == ends[i])
  end
  for (genvar p = 0; p < Ports; p++) begin : gen_last
    logic [3:0] some;
    for (genvar v = 0; v < 4; v++) begin : gen_network
      assign some[v] = all_reads[v][p*SwitchVcs+:SwitchVcs] != '0;
    end
    `GS_ASSUME_NOW(last_flits_are_read, !u_switch.last[p] || some != '0)
  end

  // ------------------------------------------ what the ingresses assume of grants and reads
  `GS_ASSERT_NOW(one_flit_is_read, (all_reads & (all_reads - 1'b1)) == '0)
  `GS_ASSERT_NOW(granted_heads_are_read, !reads[in_q] || (head[in_q] && (granted[in_q] || unroutable[in_q])))
  // The outgoing lane that grants is the watched one, which may be any.
  `GS_ASSERT_NOW(waiting_heads_are_granted, !grant[in_q] || u_switch.u_allocator.choose_to_q != out_q ||
                 (head[in_q] && !granted[in_q] && !unroutable[in_q] && to[in_q] == out_q))

  // ------------------------------------------------- flits that are read leave
  // A read of the lane, and one and two cycles after it; and of any lane.
  logic [1:0] read_q, any_q, drops_q, first_q;
  idx_t [1:0] to_q;
  logic inside_q;  // a flit of the head was read before
  flit_t data_q;
  logic [Ports-1:0] expected_at;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q   <= '0;
      any_q    <= '0;
      inside_q <= 1'b0;
    end else begin
      read_q <= {read_q[0], reads[in_q]};
      any_q  <= {any_q[0], all_reads != '0};
      if (reads[in_q]) inside_q <= !ends[in_q];
    end
    drops_q <= {drops_q[0], unroutable[in_q]};
    first_q <= {first_q[0], !inside_q};
    to_q    <= {to_q[0], to[in_q]};
    data_q  <= u_switch.data[in_q[IdxW-1:1]];
  end
  assign expected_at = Ports'(read_q[1] && drops_q[1] && first_q[1]) << in_q[IdxW-1:1];
  for (genvar p = 0; p < Ports; p++) begin : gen_out
    for (genvar c = 0; c < SwitchChannels; c++) begin : gen_channel
      localparam idx_t Lane = idx_t'(p * SwitchVcs + c % SwitchVcs);
      `GS_ASSERT_NOW(flits_leave_once_in_their_lane, !read_q[1] || out_valid[p][c] ==
                     (!drops_q[1] && to_q[1] == Lane && 32'(network_q) == c / SwitchVcs))
      `GS_ASSERT_NOW(only_flits_that_were_read_leave, any_q[1] || !out_valid[p][c])
      `GS_ASSERT_NOW(lane_of_the_flit_is_known, read_q[0] ? u_switch.lane_q[p][c] ==
                     (!drops_q[0] && to_q[0] == Lane && 32'(network_q) == c / SwitchVcs)
                     : any_q[0] || !u_switch.lane_q[p][c])
    end
    `GS_ASSERT_NOW(flits_leave_unchanged, !read_q[1] || out[p] == data_q)
    `GS_ASSERT_NOW(packets_without_a_route_are_reported_once, !read_q[1] || unroutable_at[p] == expected_at[p])
    `GS_ASSERT_NOW(nothing_else_is_reported, any_q[1] || !unroutable_at[p])
    `GS_ASSERT_NOW(reports_name_the_packet, !expected_at[p] ||
                   (unroutable_dest[p] == data_q.dest && unroutable_job[p] == data_q.job &&
                    unroutable_message[p] == (data_q.kind != FlitKindHeader && data_q.vnet != VnetControl)))
  end
  // Invariants of the registers between.
  `GS_ASSERT_NOW(reads_are_of_some_lane, (read_q & ~any_q) == '0 && u_switch.read_q == any_q[0] &&
                 u_switch.sends_q == (all_reads != '0))
  `GS_ASSERT_NOW(read_flit_is_selected, !read_q[0] ||
                 (u_switch.from_q == in_q[IdxW-1:1] && u_switch.dropped_q == drops_q[0] &&
                  (!drops_q[0] || u_switch.first_q == first_q[0])))
  `GS_ASSERT_NOW(nothing_else_is_dropped, (any_q[0] || !u_switch.dropped_q) && (any_q[1] || !u_switch.out_dropped_q))
  `GS_ASSERT_NOW(sent_flit_is_from_its_port, !read_q[1] || (u_switch.out_from_q == in_q[IdxW-1:1] &&
                 u_switch.out_dropped_q == (drops_q[1] && first_q[1])))
  `GS_ASSERT_NOW(dropped_packets_are_remembered,
                 (head[in_q] || !inside_q) && u_switch.dropping_q[network_q][in_q] == (inside_q && unroutable[in_q]))
  `GS_ASSERT_NOW(switch_with_a_packet_is_not_empty, !empty || (!reads[in_q] && read_q == '0))

  // -------------------------------------------------- packets are not interleaved
  logic [CreditW-1:0] credits;
  assign credits = u_switch.credits_q[network_q][out_q];
  // Heads that own the outgoing lane; whether one of its packets has begun to leave, and from where.
  logic [N-1:0] owns, sends_here;
  logic open_q;
  idx_t from_q;
  always_comb begin
    for (int unsigned i = 0; i < N; i++) begin
      owns[i]       = granted[i] && to[i] == out_q;
      sends_here[i] = reads[i] && !unroutable[i] && to[i] == out_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) open_q <= 1'b0;
    else if (sends_here != '0) open_q <= (sends_here & ends) == '0;
    for (int unsigned i = 0; i < N; i++) if (sends_here[i]) from_q <= idx_t'(i);
  end
  `GS_ASSERT_NOW(a_lane_has_one_owner, (owns & (owns - 1'b1)) == '0)
  `GS_ASSERT_NOW(only_the_owner_sends, (sends_here & ~owns) == '0)
  `GS_ASSERT_NOW(packets_are_not_interleaved, !open_q || (sends_here & ~(N'(1) << from_q)) == '0)
  `GS_ASSERT_NOW(open_packet_owns_its_lane, !open_q || (owns != '0 && owns == N'(1) << from_q))
  logic wanted, picked, chooses, busy;
  assign wanted = u_switch.u_allocator.wanted_q[network_q][out_q];
  assign picked = u_switch.u_allocator.picked_q && u_switch.u_allocator.network_q == network_q &&
                  u_switch.u_allocator.to_q == out_q;
  assign chooses = u_switch.u_allocator.chooses_q && u_switch.u_allocator.choose_network_q == network_q &&
                   u_switch.u_allocator.choose_to_q == out_q;
  assign busy = u_switch.u_allocator.busy_q[network_q][out_q];
  `GS_ASSERT_NOW(a_lane_has_one_state, 32'(wanted) + 32'(picked) + 32'(chooses) + 32'(owns != '0) <= 1)
  `GS_ASSERT_NOW(lane_is_busy_from_its_choice_on, (picked || chooses || owns != '0) ? busy : 1'b1)
  `GS_ASSERT_NOW(busy_lane_is_not_wanted, !wanted || !busy)
  // A busy lane is being given to a head or belongs to one: no lane is lost.
  `GS_ASSERT_NOW(busy_lane_has_an_owner_or_gets_one, !busy || picked || chooses || owns != '0)
  `GS_ASSERT_NOW(chosen_lane_gets_an_owner, !chooses || grant != '0)
  logic [N-1:0] waits_here;
  always_comb begin
    for (int unsigned i = 0; i < N; i++) waits_here[i] = head[i] && !granted[i] && !unroutable[i] && to[i] == out_q;
  end
  `GS_ASSERT_NOW(wanted_lane_has_a_waiting_head, !(wanted || picked || chooses) || waits_here != '0)
  logic [N-1:0] candidates;
  assign candidates = u_switch.u_allocator.candidates_q;
  `GS_ASSERT_NOW(candidates_wait_for_the_lane, !chooses || (candidates != '0 && (candidates & ~waits_here) == '0))
  // Other outgoing lanes, too, grant only heads that ask for them.
  logic any_picked, any_chooses;
  assign any_picked = u_switch.u_allocator.picked_q && u_switch.u_allocator.network_q == network_q;
  assign any_chooses = u_switch.u_allocator.chooses_q && u_switch.u_allocator.choose_network_q == network_q;
  `GS_ASSERT_NOW(lanes_that_grant_exist, (!any_picked || exists(u_switch.u_allocator.to_q)) &&
                 (!any_chooses || exists(u_switch.u_allocator.choose_to_q)))
  for (genvar i = 0; i < N; i++) begin : gen_state
    `GS_ASSERT_NOW(candidates_wait, !any_chooses || !candidates[i] ||
                   (head[i] && !unroutable[i] && to[i] == u_switch.u_allocator.choose_to_q))
    `GS_ASSERT_NOW(wanted_lanes_exist, !u_switch.u_allocator.wanted_q[network_q][i] || exists(idx_t'(i)))
    logic chosen;
    assign chosen = reads[i] || u_switch.sendable_q[network_q][i];
    `GS_ASSERT_NOW(chosen_heads_can_be_read, !chosen || (head[i] && (granted[i] || unroutable[i])))
    `GS_ASSERT_NOW(chosen_flits_have_a_credit, !chosen || to[i] != out_q || unroutable[i] || credits != '0)
    for (genvar v = 0; v < 4; v++) begin : gen_read
      `GS_ASSERT_NOW(reads_agree, all_reads[v][i] ==
                     (u_switch.sends_q && u_switch.network_q == 2'(v) && u_switch.idx_q == idx_t'(i)))
    end
  end

  // -------------------------------------------------------------- credits
  // Flits of the lane that its receiver has or that are on their way; a receiver returns only credits of those.
  logic [CreditW-1:0] held_q;
  logic [1:0] away_q;
  logic returns, leaves;
  assign returns = credit_i[out_q[IdxW-1:1]][{network_q, out_q[0]}];
  assign leaves = out_valid[out_q[IdxW-1:1]][{network_q, out_q[0]}];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      held_q <= '0;
      away_q <= '0;
    end else begin
      held_q <= held_q + CreditW'(leaves) - CreditW'(returns);
      away_q <= {away_q[0], sends_here != '0};
    end
  end
  `GS_ASSUME_NOW(receivers_return_what_they_have, !returns || held_q != '0)
  `GS_ASSERT_NOW(flits_leave_with_a_credit, !leaves || 32'(held_q) < Window)
  `GS_ASSERT_NOW(credits_are_neither_lost_nor_added,
                 32'(credits) + 32'(away_q[0]) + 32'(away_q[1]) + 32'(held_q) == Window)
  `GS_ASSERT_NOW(flits_on_their_way_are_counted, leaves == away_q[1] &&
                 u_switch.lane_q[out_q[IdxW-1:1]][{network_q, out_q[0]}] == away_q[0])

  // ------------------------------------------------------- bounded waiting
  // Of requests that are asserted until they are served, each is served within this many cycles: round-robin among four
  // networks, and among the lanes of each.
  localparam int unsigned Wait = 4 * N;
  logic [3:0] net_ahead, pick_net_ahead;
  logic [3:0][N-1:0] lanes_ahead, pick_lanes_ahead;
  for (genvar v = 0; v < 4; v++) begin : gen_ahead
    assign lanes_ahead[v] = u_switch.u_select.gen_network[v].u_lanes.ahead_q;
    assign pick_lanes_ahead[v] = u_switch.u_allocator.u_pick.gen_network[v].u_lanes.ahead_q;
  end
  assign net_ahead = u_switch.u_select.u_networks.ahead_q;
  assign pick_net_ahead = u_switch.u_allocator.u_pick.u_networks.ahead_q;
  // Requesters that an arbiter prefers to `one`.
  function automatic int preferred(logic [N-1:0] ahead, idx_t one);
    preferred = ahead[one] ? 0 : 32'(one);
    for (int unsigned i = 0; i < N; i++) if (ahead[i] && (!ahead[one] || i < 32'(one))) preferred = preferred + 1;
  endfunction
  logic asks, picks;
  int waited_q, pick_waited_q, remaining, pick_remaining;
  assign asks = u_switch.sendable_q[network_q][in_q] && !reads[in_q];
  assign picks = u_switch.u_allocator.picks[network_q][out_q];
  assign remaining = 4 * preferred(lanes_ahead[network_q], in_q) + preferred(N'(net_ahead), idx_t'(network_q));
  assign pick_remaining = 4 * preferred(pick_lanes_ahead[network_q], out_q) +
                          preferred(N'(pick_net_ahead), idx_t'(network_q));
  always_ff @(posedge clk_i) begin
    waited_q      <= (rst_ni && asks && !u_switch.send[network_q][in_q]) ? waited_q + 1 : 0;
    pick_waited_q <= (rst_ni && wanted && !picks) ? pick_waited_q + 1 : 0;
  end
  `GS_ASSERT_NOW(lane_that_can_send_is_served, waited_q >= 0 && waited_q < int'(Wait))
  `GS_ASSERT_NOW(free_lane_that_is_wanted_is_picked, pick_waited_q >= 0 && pick_waited_q < int'(Wait))
  `GS_ASSERT_NOW(wait_ends, !asks || waited_q + remaining < int'(Wait))
  `GS_ASSERT_NOW(wait_for_the_choice_ends, !wanted || pick_waited_q + pick_remaining < int'(Wait))
  `GS_ASSERT_NOW(wanted_lane_is_wanted_until_it_is_picked, wanted || pick_waited_q == 0)
  // A head that waits for a free lane asks for it, and one that can send is considered, in the next cycle.
  logic waited_for_q, can_send, could_send_q;
  assign can_send = head[in_q] && !reads[in_q] &&
                    ((granted[in_q] && u_switch.credits_q[network_q][to[in_q]] != '0) || unroutable[in_q]) &&
                    (left[in_q] != length_t'(1) || u_switch.settled[network_q][in_q]);
  always_ff @(posedge clk_i) begin
    waited_for_q <= rst_ni && waits_here != '0 && !busy && !picks;
    could_send_q <= rst_ni && can_send;
  end
  `GS_ASSERT_NOW(free_lane_is_wanted_if_a_head_waits, !waited_for_q || wanted)
  `GS_ASSERT_NOW(head_that_can_send_asks, !could_send_q || asks || reads[in_q])
  for (genvar v = 0; v < 4; v++) begin : gen_preference
    `GS_ASSERT_NOW(preference_is_for_the_lanes_after_a_grant,
                   ((lanes_ahead[v] << 1) & ~lanes_ahead[v]) == '0 &&
                   ((pick_lanes_ahead[v] << 1) & ~pick_lanes_ahead[v]) == '0)
  end
  `GS_ASSERT_NOW(preference_is_for_the_networks_after_a_grant,
                 ((net_ahead << 1) & ~net_ahead) == '0 && ((pick_net_ahead << 1) & ~pick_net_ahead) == '0)

  logic was_owned_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) was_owned_q <= 1'b0;
    else if ((sends_here & ends) != '0) was_owned_q <= 1'b1;
  end

  `GS_COVER_NOW(another_head_waits_for_the_lane,
                open_q && sends_here != '0 && from_q != in_q && waits_here[in_q])
  `GS_COVER_NOW(packet_of_two_flits_leaves, open_q && (sends_here & ends) != '0)
  `GS_COVER_NOW(lane_is_without_credits, credits == '0 && open_q)
  `GS_COVER_NOW(packet_without_a_route_is_dropped, expected_at != '0 && inside_q)
  `GS_COVER_NOW(lane_waits_for_the_datapath, waited_q == 3)
  `GS_COVER_NOW(lane_waits_to_be_picked, pick_waited_q == 3)
  `GS_COVER_NOW(lane_is_wanted_again, was_owned_q && wanted)
endmodule
