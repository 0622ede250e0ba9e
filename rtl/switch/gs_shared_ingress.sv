// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Ingress of the shared-datapath switch: stores flits by lane, and shows the first complete packet of every lane.
///
///     flit -> RAM, a region a lane ----------------------------------------------> data
///         \-> route -> RAM of complete packets -> next, a register a lane -> head, a register a lane
///
/// A packet enters the RAM of packets with its last flit. The packet after the head is fetched in advance: when the
/// last flit of a head is read, the next packet of the lane is the head in the next cycle. A head is granted once, and
/// then its flits are read one at a time. A head without a route needs no grant.
module gs_shared_ingress
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  /// ports of the switch, and those with virtual channels
  parameter  int unsigned      Ports      = 4,
  parameter  logic [Ports-1:0] Virtual    = '1,
  /// log2 of the routing table's entries
  parameter  int unsigned      TableW     = 10,
  /// ports of the board's own endpoints
  parameter  home_t            Home       = '0,
  /// log2 of the streaming ports that share one port of the switch
  parameter  int unsigned      StreamBits = 0,
  /// virtual channels that arrive here: 1 or SwitchVcs
  parameter  int unsigned      Vcs        = SwitchVcs,
  /// flits of the longest packet
  parameter  int unsigned      MaxFlits   = FabricMaxFlits,
  /// flits and packets that a lane can hold: a power of two, at least MaxFlits + Window
  parameter  int unsigned      Region     = 64,
  /// initial credits of the sender, for each channel
  parameter  int unsigned      Window     = 8,
  localparam int unsigned      Lanes      = 4 * Vcs
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [11:0]         board_i,
  // Table
  input  logic                clearing_i,
  input  logic                table_we_i,
  input  logic [TableW-1:0]   table_index_i,
  input  switch_entry_t       table_entry_i,
  // Flits, at most one a cycle; one credit pulse for each further flit that may be sent
  input  channels_t           valid_i,
  input  flit_t               flit_i,
  output channels_t           credit_o,
  // The head of each lane: it exists, was granted, its route and length; one or two flits of it are left
  output logic    [Lanes-1:0] head_valid_o,
  output logic    [Lanes-1:0] granted_o,
  output shared_route_t [Lanes-1:0] head_o,
  output logic    [Lanes-1:0][SwitchLengthW-1:0] left_o,
  /// the last flit may be read: the packet after it is known, or does not exist
  output logic    [Lanes-1:0] settled_o,
  input  logic    [Lanes-1:0] grant_i,
  // Reads a flit of a head, at most one a cycle; it is at the output in the next cycle
  input  logic    [Lanes-1:0] read_i,
  output logic                last_o,
  output flit_t               data_o,
  output logic                empty_o
);
  localparam int unsigned RegionW = $clog2(Region);
  localparam int unsigned LaneW = $clog2(Lanes);
  localparam int unsigned OwedW = $clog2(Window + 1);

  if (Region != 1 << RegionW || Region < MaxFlits + Window) begin : gen_illegal_region
    $fatal(1, "gs_shared_ingress: Region is %0d; it must be a power of two of at least %0d flits", Region,
           MaxFlits + Window);
  end

  typedef logic [LaneW-1:0] lane_t;
  typedef logic [SwitchLengthW-1:0] length_t;
  typedef struct packed {
    shared_route_t route;
    length_t       flits;
  } entry_t;

  function automatic lane_t index_of(logic [Lanes-1:0] one_hot);
    index_of = '0;
    for (int unsigned p = 0; p < Lanes; p++) if (one_hot[p]) index_of |= lane_t'(p);
  endfunction

  // Without virtual channels all channels of a network share one lane.
  logic [Lanes-1:0] arrives;
  lane_t arrives_at, reads_at;
  for (genvar p = 0; p < Lanes; p++) begin : gen_arrives
    assign arrives[p] = valid_i[p*(SwitchVcs/Vcs)];
  end
  assign arrives_at = index_of(arrives);
  assign reads_at = index_of(read_i);

  // ---------------------------------------------------------------- flits
  logic [Lanes-1:0][RegionW-1:0] write_q, read_q;
  logic [Lanes-1:0] inside_q;  // the lane's next flit is not a head
  length_t [Lanes-1:0] length_q;

  gs_ram_sdp #(
    .Width($bits(flit_t)),
    .Depth(Lanes * Region),
    .Style("block")
  ) u_flits (
    .clk_i,
    .we_i   (arrives != '0),
    .wstrb_i(1'b1),
    .waddr_i({arrives_at, write_q[arrives_at]}),
    .wdata_i(flit_i),
    .re_i   (1'b1),
    .raddr_i({reads_at, read_q[reads_at]}),
    .rdata_o(data_o)
  );

  // ---------------------------------------------------------------- route
  logic head, unroutable;
  logic [SwitchPortW-1:0] port;
  logic [SwitchVcBits-1:0] vc;
  assign head = arrives != '0 && !inside_q[arrives_at];

  gs_switch_route #(
    .Ports     (Ports),
    .TableW    (TableW),
    .Home      (Home),
    .StreamBits(StreamBits)
  ) u_route (
    .clk_i,
    .rst_ni,
    .board_i,
    .clearing_i,
    .table_we_i,
    .table_index_i,
    .table_entry_i,
    .valid_i     (head),
    .flit_i,
    .unroutable_o(unroutable),
    .port_o      (port),
    .vc_o        (vc)
  );

  logic arrived_q, arrived_head_q, arrived_last_q, push;
  lane_t arrived_at_q;
  length_t arrived_length_q;
  shared_route_t route;
  always_comb begin
    route = '{unroutable: unroutable, port: port, vc: '0};
    for (int unsigned o = 0; o < Ports; o++) if (Virtual[o] && 32'(port) == o) route.vc = vc;
  end
  assign push = arrived_q && arrived_last_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      arrived_q <= 1'b0;
      inside_q  <= '0;
      write_q   <= '0;
      length_q  <= '0;
    end else begin
      arrived_q <= arrives != '0;
      if (arrives != '0) begin
        inside_q[arrives_at] <= !flit_i.last;
        write_q[arrives_at]  <= write_q[arrives_at] + RegionW'(1);
        length_q[arrives_at] <= flit_i.last ? '0 : length_q[arrives_at] + length_t'(1);
      end
    end
    arrived_head_q   <= head;
    arrived_last_q   <= flit_i.last;
    arrived_at_q     <= arrives_at;
    arrived_length_q <= length_q[arrives_at] + length_t'(1);
  end

  // -------------------------------------------------------------- packets
  // A lane has as many entries as flits, so this RAM is never full before that of flits. The route is written with the
  // head flit, the length with the last one.
  localparam int unsigned HalfW = ($bits(shared_route_t) > SwitchLengthW) ? $bits(shared_route_t) : SwitchLengthW;
  logic [Lanes-1:0][RegionW:0] push_q, fetch_q;
  logic [Lanes-1:0] queued, next_valid_q, fetching, wants_q, fetch, fetches;
  logic landing_q;
  lane_t landing_at_q, fetch_at;
  entry_t landed;
  logic [2*HalfW-1:0] stored;
  assign landed = '{route: stored[HalfW+:$bits(shared_route_t)], flits: stored[SwitchLengthW-1:0]};
  entry_t [Lanes-1:0] next_q;

  gs_ram_sdp #(
    .Width   (2 * HalfW),
    .Depth   (Lanes * Region),
    .ByteBits(HalfW),
    .Style   ("block")
  ) u_packets (
    .clk_i,
    .we_i   (arrived_q),
    .wstrb_i({arrived_head_q, arrived_last_q}),
    .waddr_i({arrived_at_q, push_q[arrived_at_q][RegionW-1:0]}),
    .wdata_i({HalfW'(route), HalfW'(arrived_length_q)}),
    .re_i   (1'b1),
    .raddr_i({fetch_at, fetch_q[fetch_at][RegionW-1:0]}),
    .rdata_o(stored)
  );

  for (genvar p = 0; p < Lanes; p++) begin : gen_queue
    assign queued[p] = push_q[p] != fetch_q[p];
    assign fetching[p] = landing_q && landing_at_q == lane_t'(p);
    // A lane that was fetched in the last cycle still asks.
    always_ff @(posedge clk_i) wants_q[p] <= rst_ni && queued[p] && !next_valid_q[p] && !fetching[p];
    assign fetch[p] = wants_q[p] && !fetching[p];
  end
  gs_arbiter #(.N(Lanes)) u_fetch (
    .clk_i,
    .rst_ni,
    .req_i    (fetch),
    .gnt_o    (fetches),
    .idx_o    (fetch_at),
    .advance_i(1'b1)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      push_q    <= '0;
      fetch_q   <= '0;
      landing_q <= 1'b0;
    end else begin
      landing_q <= fetches != '0;
      if (push) push_q[arrived_at_q] <= push_q[arrived_at_q] + (RegionW + 1)'(1);
      if (fetches != '0) fetch_q[fetch_at] <= fetch_q[fetch_at] + (RegionW + 1)'(1);
    end
    landing_at_q <= fetch_at;
  end

  // ---------------------------------------------------------------- heads
  logic [Lanes-1:0] head_valid_q, granted_q, last, ends, free;
  shared_route_t [Lanes-1:0] head_q;
  length_t [Lanes-1:0] left_q;
  for (genvar p = 0; p < Lanes; p++) begin : gen_head
    assign last[p] = left_q[p] == length_t'(1);
    assign ends[p] = read_i[p] && last[p];
    assign free[p] = !head_valid_q[p] || ends[p];
    assign settled_o[p] = next_valid_q[p] || !(queued[p] || fetching[p]);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        head_valid_q[p] <= 1'b0;
        next_valid_q[p] <= 1'b0;
        granted_q[p]    <= 1'b0;
      end else begin
        if (free[p]) head_valid_q[p] <= next_valid_q[p];
        if (fetching[p]) next_valid_q[p] <= 1'b1;
        else if (free[p]) next_valid_q[p] <= 1'b0;
        if (ends[p]) granted_q[p] <= 1'b0;
        else if (grant_i[p]) granted_q[p] <= 1'b1;
      end
      if (free[p]) head_q[p] <= next_q[p].route;
      if (free[p]) left_q[p] <= next_q[p].flits;
      else if (read_i[p]) left_q[p] <= left_q[p] - length_t'(1);
      if (fetching[p]) next_q[p] <= landed;
    end
    `GS_ASSERT_NOW(only_queued_packets_are_fetched, !fetches[p] || (queued[p] && !next_valid_q[p]))
    `GS_ASSERT_NOW(fetched_packet_has_a_register, !fetching[p] || !next_valid_q[p])
    `GS_ASSERT_NOW(only_waiting_heads_are_granted,
                   !grant_i[p] || (head_valid_q[p] && !granted_q[p] && !head_q[p].unroutable))
    `GS_ASSERT_NOW(only_granted_heads_are_read,
                   !read_i[p] || (head_valid_q[p] && (granted_q[p] || head_q[p].unroutable) && left_q[p] != '0))
  end
  assign head_valid_o = head_valid_q;
  assign granted_o = granted_q;
  assign head_o = head_q;
  assign left_o = left_q;
  assign last_o = ends != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) read_q <= '0;
    else if (read_i != '0) read_q[reads_at] <= read_q[reads_at] + RegionW'(1);
  end

  // -------------------------------------------------------------- credits
  // A credit is returned as soon as the region has space for all flits that the sender could still send. `spare` slots
  // are neither used nor promised.
  logic [Lanes-1:0] returns;
  for (genvar p = 0; p < Lanes; p++) begin : gen_credit
    logic [RegionW:0] spare_q;
    logic [OwedW-1:0] owed_q;
    logic back;
    assign back = owed_q != '0 && spare_q != '0;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        spare_q    <= (RegionW + 1)'(Region - Window);
        owed_q     <= '0;
        returns[p] <= 1'b0;
      end else begin
        if (read_i[p] && !back) spare_q <= spare_q + (RegionW + 1)'(1);
        if (!read_i[p] && back) spare_q <= spare_q - (RegionW + 1)'(1);
        if (arrives[p] && !back) owed_q <= owed_q + OwedW'(1);
        if (!arrives[p] && back) owed_q <= owed_q - OwedW'(1);
        returns[p] <= back;
      end
    end
    `GS_ASSERT_NOW(sender_respects_its_credits, !arrives[p] || owed_q != OwedW'(Window))
    `GS_ASSERT_NOW(slots_are_all_accounted_for, 32'(spare_q) + Window <= Region + 32'(owed_q))
  end
  always_comb begin
    credit_o = '0;
    for (int unsigned p = 0; p < Lanes; p++) credit_o[p*(SwitchVcs/Vcs)] = returns[p];
  end

  assign empty_o = inside_q == '0 && arrives == '0 && !arrived_q && queued == '0 && !landing_q &&
                   next_valid_q == '0 && head_valid_q == '0;

  logic unused;
  assign unused = ^{flit_i.kind, stored};

  `GS_ASSERT_NOW(at_most_one_channel_sends, (valid_i & (valid_i - channels_t'(1))) == '0)
  `GS_ASSERT_NOW(at_most_one_lane_is_read, (read_i & (read_i - Lanes'(1))) == '0)
  `GS_ASSERT_NOW(channel_belongs_to_the_flits_network,
                 valid_i == '0 || (valid_i >> (SwitchVcs * 32'(flit_i.vnet)) & channels_t'((1 << SwitchVcs) - 1)) != '0)
  `GS_ASSERT_NOW(packets_have_at_most_maxflits_flits,
                 arrives == '0 || flit_i.last || length_q[arrives_at] < length_t'(MaxFlits - 1))
  `GS_ASSERT_NOW(forwarded_flit_is_not_being_written, !(u_flits.collides && read_i != '0))
  `GS_ASSERT_NOW(fetched_packet_is_not_being_written, !(u_packets.collides && fetches != '0))
endmodule
