// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Allocator of the shared-datapath switch: gives each lane that leaves the switch to one waiting packet at a time.
///
///     cycle 0  outgoing lanes for which heads wait    2  the heads that wait for it
///     cycle 1  one of them that is free               3  one of these, round-robin: the grant
///
/// An outgoing lane is free when the last flit of its packet has been read. An incoming lane that keeps asking keeps
/// the outgoing lane for `burst_i` flits (R of the SMI paper); then the next one is served. So a head waits for at most
/// one burst of every other incoming lane, whatever their timing: all heads are compared at once. Lanes are numbered
/// port * SwitchVcs + virtual channel within their network, and no packet changes its network.
module gs_shared_allocator
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  /// lanes of a network in each direction, 2 or more
  parameter  int unsigned N    = 8,
  localparam int unsigned IdxW = $clog2(N)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  /// flits for which an incoming lane keeps an outgoing one; 0 as 1
  input  logic [7:0]              burst_i,
  // Heads that wait, with the outgoing lane and the length of each
  input  logic [3:0][N-1:0]       req_i,
  input  logic [3:0][N-1:0][IdxW-1:0] to_i,
  input  logic [3:0][N-1:0][SwitchLengthW-1:0] flits_i,
  output logic [3:0][N-1:0]       grant_o,
  // The last flit of a packet is read: its outgoing lane is free
  input  logic                    done_i,
  input  logic [1:0]              done_network_i,
  input  logic [IdxW-1:0]         done_to_i,
  /// no outgoing lane is allocated
  output logic                    idle_o
);
  typedef logic [IdxW-1:0] idx_t;
  typedef logic [SwitchLengthW-1:0] length_t;
  // Of an outgoing lane: the incoming lane with the highest priority, and the flits of its burst so far.
  typedef struct packed {
    idx_t       first;
    logic [7:0] burst;
  } order_t;

  // --------------------------------------------- a free outgoing lane that a head waits for
  logic [3:0][N-1:0] wanted, wanted_q, busy_q, picks;
  logic pick;
  logic [1:0] pick_network;
  idx_t pick_to;

  always_comb begin
    wanted = '0;
    for (int unsigned v = 0; v < 4; v++) begin
      for (int unsigned o = 0; o < N; o++) begin
        for (int unsigned i = 0; i < N; i++) if (req_i[v][i] && 32'(to_i[v][i]) == o) wanted[v][o] = 1'b1;
      end
    end
  end
  gs_shared_select #(.N(N)) u_pick (
    .clk_i,
    .rst_ni,
    .req_i    (wanted_q),
    .valid_o  (pick),
    .gnt_o    (picks),
    .network_o(pick_network),
    .idx_o    (pick_to)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wanted_q <= '0;
      busy_q   <= '0;
    end else begin
      wanted_q <= wanted & ~busy_q & ~picks;
      busy_q   <= busy_q | picks;
      if (done_i) busy_q[done_network_i][done_to_i] <= 1'b0;
    end
  end

  // --------------------------------------------------------- the head that gets it
  logic picked_q, chooses_q, granted_q, writes_q;
  logic [1:0] network_q, choose_network_q, grant_network_q, write_network_q;
  idx_t to_q, choose_to_q, grant_to_q, write_to_q, chosen, chosen_q, write_chosen_q;
  logic [N-1:0] candidates, candidates_q, ahead, best, below;
  order_t order, order_q, after;
  logic [7:0] burst_q, write_burst_q;
  length_t flits_q;
  logic [8:0] burst;

  // The RAM is not reset: of a lane that was never allocated, any order will do.
  gs_ram_sdp #(
    .Width  ($bits(order_t)),
    .Depth  (4 << IdxW),
    .Latency(0),
    .Style  ("distributed")
  ) u_orders (
    .clk_i,
    .we_i   (writes_q),
    .wstrb_i(1'b1),
    .waddr_i({write_network_q, write_to_q}),
    .wdata_i(after),
    .re_i   (1'b1),
    .raddr_i({network_q, to_q}),
    .rdata_o(order)
  );

  always_comb begin
    for (int unsigned i = 0; i < N; i++) candidates[i] = req_i[network_q][i] && to_i[network_q][i] == to_q;
  end

  always_comb begin
    for (int unsigned i = 0; i < N; i++) ahead[i] = candidates_q[i] && 32'(order_q.first) <= i;
    best  = (ahead != '0) ? ahead : candidates_q;
    below = '0;
    for (int unsigned i = 1; i < N; i++) below[i] = below[i-1] || best[i-1];
    chosen = '0;
    for (int unsigned i = 0; i < N; i++) if (best[i] && !below[i]) chosen |= idx_t'(i);
    grant_o = '0;
    for (int unsigned v = 0; v < 4; v++) if (chooses_q && 32'(choose_network_q) == v) grant_o[v] = best & ~below;
  end

  // The burst of the grantee goes on, or another one begins.
  always_comb begin
    burst = 9'(write_burst_q) + 9'(flits_q);
    after = '{first: write_chosen_q, burst: 8'(burst)};
    if (burst >= 9'(burst_i)) begin
      after = '{first: (write_chosen_q == idx_t'(N - 1)) ? '0 : write_chosen_q + idx_t'(1), burst: '0};
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      picked_q  <= 1'b0;
      chooses_q <= 1'b0;
      granted_q <= 1'b0;
      writes_q  <= 1'b0;
    end else begin
      picked_q  <= pick;
      chooses_q <= picked_q;
      granted_q <= chooses_q;
      writes_q  <= granted_q;
    end
    network_q        <= pick_network;
    to_q             <= pick_to;
    choose_network_q <= network_q;
    choose_to_q      <= to_q;
    candidates_q     <= candidates;
    order_q          <= order;
    grant_network_q  <= choose_network_q;
    grant_to_q       <= choose_to_q;
    chosen_q         <= chosen;
    burst_q          <= (chosen == order_q.first) ? order_q.burst : '0;
    // The head is read two cycles after its grant at the earliest: its length has not changed yet.
    flits_q          <= flits_i[grant_network_q][chosen_q];
    write_network_q  <= grant_network_q;
    write_to_q       <= grant_to_q;
    write_chosen_q   <= chosen_q;
    write_burst_q    <= burst_q;
  end

  assign idle_o = busy_q == '0;

  `GS_ASSERT_NOW(picked_lane_has_a_waiting_head, !chooses_q || candidates_q != '0)
  `GS_ASSERT_NOW(only_allocated_lanes_become_free, !done_i || busy_q[done_network_i][done_to_i])
  `GS_ASSERT_NOW(allocated_lane_is_not_picked, (picks & busy_q) == '0)
endmodule
