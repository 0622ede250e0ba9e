// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Unbounded proof that the allocator of the shared-datapath switch does not starve a head: for an outgoing lane, every
/// other incoming lane begins at most one burst before a head that waits for it, a burst of R flits ends, and no
/// outgoing lane belongs to two packets.
///
/// Requests and their ends are arbitrary, except that the head of one incoming lane, `watched_q`, waits for `to_q` of
/// network `network_q`, all three arbitrary.
module prove_shared_allocator
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  parameter  int unsigned N    = 3,
  localparam int unsigned IdxW = $clog2(N)
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic [3:0][N-1:0]       req_i,
  input logic [3:0][N-1:0][IdxW-1:0] to_i,
  input logic [3:0][N-1:0][SwitchLengthW-1:0] flits_i,
  input logic                    done_i,
  input logic [1:0]              done_network_i,
  input logic [IdxW-1:0]         done_to_i
);
  logic [3:0][N-1:0] grant;
  logic idle;

  // Arbitrary constants: registers without an initial value that hold their value.
  logic [7:0] burst_q;
  logic [IdxW-1:0] watched_q, to_q;
  logic [1:0] network_q;
  always_ff @(posedge clk_i) begin
    burst_q   <= burst_q;
    watched_q <= watched_q;
    to_q      <= to_q;
    network_q <= network_q;
  end
  `GS_ASSUME_NOW(lanes_exist, 32'(watched_q) < N && 32'(to_q) < N)

  gs_shared_allocator #(.N(N)) u_allocator (
    .clk_i,
    .rst_ni,
    .burst_i       (burst_q),
    .req_i,
    .to_i,
    .flits_i,
    .grant_o       (grant),
    .done_i,
    .done_network_i,
    .done_to_i,
    .idle_o        (idle)
  );

  // A head keeps its request, its destination and its length until it is granted, and for a cycle its length.
  logic [3:0][N-1:0] waits_q, granted_q;
  logic [3:0][N-1:0][IdxW-1:0] held_to_q;
  logic [3:0][N-1:0][SwitchLengthW-1:0] held_flits_q;
  always_ff @(posedge clk_i) begin
    waits_q      <= rst_ni ? req_i & ~grant : '0;
    granted_q    <= rst_ni ? grant : '0;
    held_to_q    <= to_i;
    held_flits_q <= flits_i;
  end
  for (genvar v = 0; v < 4; v++) begin : gen_network
    for (genvar i = 0; i < N; i++) begin : gen_lane
      `GS_ASSUME_NOW(heads_keep_their_requests, !waits_q[v][i] || (req_i[v][i] && to_i[v][i] == held_to_q[v][i]))
      `GS_ASSUME_NOW(lengths_stay, !(waits_q[v][i] || granted_q[v][i]) || flits_i[v][i] == held_flits_q[v][i])
      `GS_ASSUME_NOW(a_granted_head_does_not_ask, !granted_q[v][i] || !req_i[v][i])
      `GS_ASSUME_NOW(outgoing_lanes_exist, 32'(to_i[v][i]) < N && flits_i[v][i] != '0)
    end
  end
  // A packet ends only if its lane is allocated, at least three cycles after its grant.
  logic [3:0][N-1:0] allocated_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      allocated_q <= '0;
    end else begin
      if (u_allocator.writes_q) allocated_q[u_allocator.write_network_q][u_allocator.write_to_q] <= 1'b1;
      if (done_i) allocated_q[done_network_i][done_to_i] <= 1'b0;
    end
  end
  `GS_ASSUME_NOW(only_allocated_lanes_end, !done_i || (32'(done_to_i) < N && allocated_q[done_network_i][done_to_i]))

  // ----------------------------------------------------------- order
  // The incoming lane with the highest priority, as the RAM has it, and the length of its burst so far.
  logic [IdxW-1:0] stored, first;
  logic [7:0] burst;
  logic [N-1:0] waiters;
  always_comb begin
    for (int unsigned i = 0; i < N; i++) waiters[i] = req_i[network_q][i] && to_i[network_q][i] == to_q;
  end
  logic watched_waits, picked, chooses, granted, writes, choose_counts_q, grant_counts_q, write_counts_q;
  int distance, chosen_distance, written_distance, passed_q;
  assign {stored, burst} = u_allocator.u_orders.mem[{network_q, to_q}];
  // The RAM is not reset.
  assign first = 32'(stored) < N ? stored : '0;
  function automatic int distance_from(logic [IdxW-1:0] lane);
    return 32'(watched_q) - 32'(lane) + (watched_q < lane ? int'(N) : 0);
  endfunction
  assign distance = distance_from(first);
  assign chosen_distance = distance_from(u_allocator.chosen_q);
  assign written_distance = distance_from(u_allocator.write_chosen_q);
  assign watched_waits = req_i[network_q][watched_q] && to_i[network_q][watched_q] == to_q;
  // A grant of this outgoing lane: it is picked, a head is chosen, its length is read, the order is written.
  assign picked = u_allocator.picked_q && u_allocator.network_q == network_q && u_allocator.to_q == to_q;
  assign chooses = u_allocator.chooses_q && u_allocator.choose_network_q == network_q &&
                   u_allocator.choose_to_q == to_q;
  assign granted = u_allocator.granted_q && u_allocator.grant_network_q == network_q &&
                   u_allocator.grant_to_q == to_q;
  assign writes = u_allocator.writes_q && u_allocator.write_network_q == network_q &&
                  u_allocator.write_to_q == to_q;

  always_ff @(posedge clk_i) begin
    // The watched head waited when the heads were compared, and another one was granted.
    choose_counts_q <= rst_ni && picked && watched_waits;
    grant_counts_q  <= rst_ni && chooses && choose_counts_q && !grant[network_q][watched_q];
    write_counts_q  <= rst_ni && granted && grant_counts_q;
    // Grants in its presence, after which another lane has priority.
    if (!rst_ni || !watched_waits) passed_q <= 0;
    else if (writes && write_counts_q && u_allocator.after.first != first) passed_q <= passed_q + 1;
  end

  `GS_ASSERT_NOW(first_head_is_granted,
                 !chooses || !choose_counts_q || first != watched_q || grant[network_q][watched_q])
  `GS_ASSERT_NOW(only_waiting_heads_of_the_lane_are_granted,
                 !chooses || !grant[network_q][watched_q] || watched_waits)
  `GS_ASSERT_NOW(one_head_is_granted, !chooses || (grant[network_q] != '0 &&
                 (grant[network_q] & (grant[network_q] - 1'b1)) == '0))
  `GS_ASSERT_NOW(every_other_lane_has_at_most_one_burst_before, passed_q >= 0 && passed_q < int'(N))
  `GS_ASSERT_NOW(a_burst_ends_with_the_packet_that_reaches_r,
                 !writes || (u_allocator.after.first == u_allocator.write_chosen_q &&
                             u_allocator.after.burst < burst_q) ||
                 (u_allocator.after.first != u_allocator.write_chosen_q && u_allocator.after.burst == '0))
  `GS_ASSERT_NOW(a_burst_grows, !writes || stored != u_allocator.write_chosen_q ||
                 u_allocator.after.first != u_allocator.write_chosen_q || u_allocator.after.burst > burst)
  `GS_ASSERT_NOW(an_allocated_lane_is_not_granted_again, !chooses || !allocated_q[network_q][to_q])
  // Invariants of the internal state, for the induction.
  `GS_ASSERT_NOW(priority_approaches_the_watched_head, !watched_waits || passed_q + distance < int'(N))
  `GS_ASSERT_NOW(chosen_lane_precedes_the_watched_one,
                 (!(granted && grant_counts_q) ||
                  (watched_waits && chosen_distance >= 1 && chosen_distance <= distance)) &&
                 (!(writes && write_counts_q) ||
                  (watched_waits && written_distance >= 1 && written_distance <= distance)))
  `GS_ASSERT_NOW(grants_are_counted_from_the_first_one_on,
                 !((chooses && !choose_counts_q) || (granted && !grant_counts_q) || (writes && !write_counts_q)) ||
                 passed_q == 0 || !watched_waits)
  `GS_ASSERT_NOW(the_watched_head_is_a_candidate,
                 !(chooses && choose_counts_q) || (u_allocator.candidates_q[watched_q] && watched_waits))
  for (genvar i = 0; i < N; i++) begin : gen_candidate
    `GS_ASSERT_NOW(candidates_wait, !u_allocator.chooses_q || !u_allocator.candidates_q[i] ||
                   (req_i[u_allocator.choose_network_q][i] &&
                    to_i[u_allocator.choose_network_q][i] == u_allocator.choose_to_q))
  end
  for (genvar v = 0; v < 4; v++) begin : gen_state
    for (genvar o = 0; o < N; o++) begin : gen_to
      logic [3:0] stage;
      assign stage = {u_allocator.picked_q && u_allocator.network_q == 2'(v) && u_allocator.to_q == IdxW'(o),
                      u_allocator.chooses_q && u_allocator.choose_network_q == 2'(v) &&
                      u_allocator.choose_to_q == IdxW'(o),
                      u_allocator.granted_q && u_allocator.grant_network_q == 2'(v) &&
                      u_allocator.grant_to_q == IdxW'(o),
                      u_allocator.writes_q && u_allocator.write_network_q == 2'(v) &&
                      u_allocator.write_to_q == IdxW'(o)};
      `GS_ASSERT_NOW(a_lane_has_one_state, 32'(u_allocator.wanted_q[v][o]) + 32'(stage[0]) + 32'(stage[1]) +
                     32'(stage[2]) + 32'(stage[3]) + 32'(allocated_q[v][o]) <= 1)
      `GS_ASSERT_NOW(lane_is_busy_from_its_choice_on,
                     !(stage != '0 || allocated_q[v][o]) || u_allocator.busy_q[v][o])
      `GS_ASSERT_NOW(busy_lane_is_not_wanted, !u_allocator.wanted_q[v][o] || !u_allocator.busy_q[v][o])
    end
  end
  `GS_ASSERT_NOW(lanes_in_allocation_exist,
                 (!u_allocator.picked_q || 32'(u_allocator.to_q) < N) &&
                 (!u_allocator.chooses_q || 32'(u_allocator.choose_to_q) < N) &&
                 (!u_allocator.granted_q || 32'(u_allocator.grant_to_q) < N) &&
                 (!u_allocator.writes_q || 32'(u_allocator.write_to_q) < N))
  `GS_ASSERT_NOW(order_is_that_of_the_lane, !chooses || u_allocator.order_q == {stored, burst})
  `GS_ASSERT_NOW(chosen_lanes_exist, (!granted || 32'(u_allocator.chosen_q) < N) &&
                 (!writes || 32'(u_allocator.write_chosen_q) < N))
  `GS_ASSERT_NOW(burst_is_that_of_the_chosen_lane,
                 (!granted || u_allocator.burst_q == (stored == u_allocator.chosen_q ? burst : '0)) &&
                 (!writes || u_allocator.write_burst_q == (stored == u_allocator.write_chosen_q ? burst : '0)))
  `GS_ASSERT_NOW(packets_have_flits, !writes || u_allocator.flits_q != '0)
  `GS_ASSERT_NOW(picked_lane_has_a_head,
                 (!picked || waiters != '0) && (!chooses || u_allocator.candidates_q != '0))
  `GS_ASSERT_NOW(wanted_lane_has_a_head, !u_allocator.wanted_q[network_q][to_q] || waiters != '0)
  `GS_COVER_NOW(watched_head_waits_for_two_bursts, passed_q == 2)
  `GS_COVER_NOW(burst_continues, writes && u_allocator.after.first == stored && burst != '0)
endmodule
