// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Ingress of the board switch: stores packets by channel until they are complete, and offers one at a time.
///
///     flit -> RAM, a region a channel ---------------------------------> data
///         \-> route -> queue of packets, a channel -> head -> candidate -> offer, grant
///
///     cycle 0  the last flit is at the input         2  its packet is offered; if it is granted, the RAM is read
///     cycle 1  its route is known                    3  the first flit is at the output
///
/// A candidate that is not granted is replaced by the head of another channel, so that a channel whose egress is full
/// blocks no other. While a packet is sent the next candidate is kept, so that heads are offered round-robin, whatever
/// the lengths of the others. In its channel's window a head is also shown, whatever is offered. A packet without a
/// route is read and dropped.
module gs_switch_ingress
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  /// ports of the switch
  parameter int unsigned Ports   = 4,
  /// log2 of the routing table's entries
  parameter int unsigned TableW  = 10,
  /// ports of the board's own endpoints
  parameter home_t       Home    = '0,
  /// log2 of the streaming ports that share one port of the switch
  parameter int unsigned StreamBits = 0,
  /// virtual channels that arrive here: 1 or SwitchVcs
  parameter int unsigned Vcs     = SwitchVcs,
  /// flits of the longest packet
  parameter int unsigned MaxFlits = FabricMaxFlits,
  /// flits that a channel can hold: a power of two, at least MaxFlits + Window
  parameter int unsigned Region  = 64,
  /// packets that a channel's queue can hold, more than Window
  parameter int unsigned Packets = 32,
  /// initial credits of the sender, for each channel
  parameter int unsigned Window  = 8,
  /// circuits are supported
  parameter bit          Circuits = 0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [11:0]        board_i,
  // Table
  input  logic               clearing_i,
  input  logic               table_we_i,
  input  logic [TableW-1:0]  table_index_i,
  input  switch_entry_t      table_entry_i,
  // Flits, at most one a cycle; one credit pulse for each further flit that may be sent
  input  channels_t          valid_i,
  input  flit_t              flit_i,
  output channels_t          credit_o,
  // The channel whose head is shown now, and the first cycle of its window
  input  channel_t           window_i,
  input  logic               opens_i,
  // Space for the longest packet, by the port and channel through which the packet leaves
  input  channels_t          space_i[Ports],
  // A complete packet; its flits follow the grant from the next cycle on
  output logic               offer_valid_o,
  output waiting_t           offer_o,
  input  logic               grant_i,
  // The head of the window's channel, if it has waited since the window opened
  output logic               shown_valid_o,
  output shown_t             shown_o,
  output flit_t              data_o,
  // A packet without a route was dropped: its head flit's destination
  output logic               unroutable_o,
  output logic [31:0]        unroutable_dest_o,
  // It was a message, which idle detection counts, of this job
  output logic               unroutable_message_o,
  output logic [4:0]         unroutable_job_o,
  // No flit is inside
  output logic               empty_o
);
  localparam int unsigned RegionW = $clog2(Region);
  localparam int unsigned Lanes = 4 * Vcs;
  localparam int unsigned LaneW = $clog2(Lanes);
  localparam int unsigned CountW = $clog2(Packets + 1);

  if (Region != 1 << RegionW || Region < MaxFlits + Window) begin : gen_illegal_region
    $fatal(1, "gs_switch_ingress: Region is %0d; it must be a power of two of at least %0d flits", Region,
           MaxFlits + Window);
  end
  if (Packets <= Window) begin : gen_illegal_packets
    $fatal(1, "gs_switch_ingress: Packets is %0d; it must be more than Window (%0d)", Packets, Window);
  end
  if (Vcs != 1 && Vcs != SwitchVcs) begin : gen_illegal_vcs
    $fatal(1, "gs_switch_ingress: Vcs is %0d; it must be 1 or %0d", Vcs, SwitchVcs);
  end

  typedef logic [LaneW-1:0] lane_t;

  // A lane is a channel as stored here: without virtual channels all channels of a network share one lane.
  function automatic logic [Lanes-1:0] lanes_of(channels_t channels);
    logic [Lanes-1:0] lanes;
    for (int unsigned p = 0; p < Lanes; p++) lanes[p] = channels[p*(SwitchVcs/Vcs)];
    return lanes;
  endfunction

  logic [Lanes-1:0] arrives;
  lane_t arrives_at;
  assign arrives = lanes_of(valid_i);
  always_comb begin
    arrives_at = '0;
    for (int unsigned p = 0; p < Lanes; p++) if (arrives[p]) arrives_at |= lane_t'(p);
  end

  // The clock stops while no flit arrives and no packet inside is complete: then no register changes.
  logic clk, busy;
  gs_clock_gate u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(valid_i != '0 || table_we_i || busy),
    .clk_o (clk)
  );

  // ------------------------------------------------------------- storage
  logic [Lanes-1:0][RegionW-1:0] write_q, read_q;
  logic [Lanes-1:0] inside_q;  // the channel's next flit is not a head
  logic [Lanes-1:0][SwitchLengthW-1:0] length_q;
  logic sending;
  lane_t sending_at;

  gs_ram_sdp #(
    .Width($bits(flit_t)),
    .Depth(Lanes * Region),
    .Style("block")
  ) u_flits (
    .clk_i  (clk),
    .we_i   (arrives != '0),
    .wstrb_i(1'b1),
    .waddr_i({arrives_at, write_q[arrives_at]}),
    .wdata_i(flit_i),
    .re_i   (1'b1),
    .raddr_i({sending_at, read_q[sending_at]}),
    .rdata_o(data_o)
  );

  // ---------------------------------------------------------------- route
  logic head;
  logic unroutable;
  logic [SwitchPortW-1:0] port;
  logic [SwitchVcBits-1:0] vc;
  assign head = arrives != '0 && !inside_q[arrives_at];

  gs_switch_route #(
    .Ports     (Ports),
    .TableW    (TableW),
    .Home      (Home),
    .StreamBits(StreamBits)
  ) u_route (
    .clk_i       (clk),
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

  // State of the packet whose flit arrived in the last cycle.
  logic arrived_q, arrived_head_q, arrived_last_q, arrived_circuit_q, arrived_more_q;
  lane_t arrived_at_q;
  vnet_e arrived_vnet_q;
  logic [SwitchLengthW-1:0] arrived_length_q;
  waiting_t [Lanes-1:0] begun_q;
  waiting_t route, pushed;
  logic push;
  always_comb begin
    route         = begun_q[arrived_at_q];
    if (arrived_head_q) begin
      route.unroutable = unroutable;
      route.port       = port;
      route.channel    = {arrived_vnet_q, vc};
      route.circuit    = Circuits && arrived_circuit_q;
      route.more       = Circuits && arrived_more_q;
    end
    pushed       = route;
    pushed.flits = arrived_length_q;
    push         = arrived_q && arrived_last_q;
  end

  always_ff @(posedge clk) begin
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
        length_q[arrives_at] <= flit_i.last ? '0 : length_q[arrives_at] + SwitchLengthW'(1);
      end
    end
    if (arrives != '0) begin
      arrived_head_q    <= head;
      arrived_last_q    <= flit_i.last;
      arrived_at_q      <= arrives_at;
      arrived_vnet_q    <= flit_i.vnet;
      arrived_circuit_q <= is_circuit(flit_i.vnet, flit_i.dest[31:29], flit_i.epoch[0]);
      arrived_more_q    <= flit_i.wave;
      arrived_length_q  <= length_q[arrives_at] + SwitchLengthW'(1);
    end
    if (arrived_q) begun_q[arrived_at_q] <= route;
  end

  // ------------------------------------------------- packets, by channel
  logic [Lanes-1:0] queued, pop, head_valid_q, space_q, next_valid;
  waiting_t queue[Lanes];
  waiting_t next[Lanes];
  waiting_t [Lanes-1:0] head_q;
  logic [Lanes-1:0] unused_queue_ready;
  logic [Lanes-1:0][CountW-1:0] queue_count;
  logic [Lanes-1:0] leaves;  // the head is granted, or dropped
  for (genvar p = 0; p < Lanes; p++) begin : gen_lane
    logic push_here, direct, space;
    always_comb begin
      space = head_q[p].unroutable;
      for (int unsigned o = 0; o < Ports; o++) begin
        if (32'(head_q[p].port) == o) space |= space_i[o][head_q[p].channel];
      end
    end
    assign push_here = push && arrived_at_q == lane_t'(p);
    // A packet becomes the head at once if its queue is empty.
    assign next_valid[p] = queued[p] || push_here;
    assign next[p] = queued[p] ? queue[p] : pushed;
    assign pop[p] = queued[p] && (leaves[p] || !head_valid_q[p]);
    assign direct = push_here && !queued[p] && (leaves[p] || !head_valid_q[p]);
    gs_fifo #(
      .data_t(waiting_t),
      .Depth (Packets)
    ) u_packets (
      .clk_i      (clk),
      .rst_ni,
      .in_valid_i (push_here && !direct),
      .in_ready_o (unused_queue_ready[p]),
      .in_data_i  (pushed),
      .out_valid_o(queued[p]),
      .out_ready_i(pop[p]),
      .out_data_o (queue[p]),
      .count_o    (queue_count[p])
    );
    always_ff @(posedge clk) begin
      if (!rst_ni) head_valid_q[p] <= 1'b0;
      else if (leaves[p] || !head_valid_q[p]) head_valid_q[p] <= next_valid[p];
      if ((leaves[p] || !head_valid_q[p]) && next_valid[p]) head_q[p] <= next[p];
      // The value of the last cycle is accurate enough for a choice.
      space_q[p] <= space;
    end
    `GS_ASSERT_NOW(packet_queue_has_space, !(push_here && !direct) || unused_queue_ready[p])
  end

  // ------------------------------------------------------------ candidate
  logic candidate_valid_q, drop, granted, other_valid, advance;
  lane_t candidate_at_q, other_at;
  waiting_t candidate_q;
  logic [Lanes-1:0] others, other;
  logic [SwitchLengthW-1:0] left_q;  // flits of the packet in flight that are still to be read
  lane_t in_flight_q;

  always_comb begin
    others = head_valid_q & space_q;
    if (candidate_valid_q) others[candidate_at_q] = 1'b0;
  end
  gs_arbiter #(.N(Lanes)) u_others (
    .clk_i    (clk),
    .rst_ni,
    .req_i    (others),
    .gnt_o    (other),
    .idx_o    (other_at),
    .advance_i(advance)
  );
  assign other_valid = other != '0;
  // A candidate that cannot be offered yet is kept if there is space for it: otherwise it would be offered in some
  // cycles only, and the packets of another channel could always be granted in these.
  assign advance = granted || !candidate_valid_q || left_q == '0 || !space_q[candidate_at_q];

  assign drop = candidate_valid_q && candidate_q.unroutable && left_q == '0;
  assign granted = grant_i || drop;
  assign offer_valid_o = candidate_valid_q && !candidate_q.unroutable && left_q == '0;
  assign offer_o = candidate_q;
  always_comb begin
    leaves = '0;
    if (granted) leaves[candidate_at_q] = 1'b1;
  end

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      candidate_valid_q <= 1'b0;
    end else if (granted || !candidate_valid_q || (advance && other_valid)) begin
      if (other_valid) begin
        candidate_valid_q <= 1'b1;
        candidate_at_q    <= other_at;
        candidate_q       <= head_q[other_at];
      end else if (granted) begin
        candidate_valid_q <= next_valid[candidate_at_q];
        candidate_q       <= next[candidate_at_q];
      end else begin
        // No packet waits: a packet that is just complete becomes the candidate without a cycle in the queue.
        candidate_valid_q <= push && !head_valid_q[arrived_at_q] && !queued[arrived_at_q];
        candidate_at_q    <= arrived_at_q;
        candidate_q       <= pushed;
      end
    end
  end

  // ---------------------------------------------------------------- shown
  lane_t show_at;
  assign show_at = lane_t'(Vcs == 1 ? window_i >> SwitchVcBits : window_i);
  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      shown_valid_o <= 1'b0;
    end else if (opens_i) begin
      // Without virtual channels a network's lane is shown in the window of its first channel.
      shown_valid_o <= head_valid_q[show_at] && !head_q[show_at].unroutable && !leaves[show_at] &&
                       (Vcs != 1 || 32'(window_i) % SwitchVcs == 0);
    end else if (leaves[show_at]) begin
      shown_valid_o <= 1'b0;
    end
    if (opens_i) shown_o <= '{port: head_q[show_at].port, channel: head_q[show_at].channel};
  end

  // ----------------------------------------------------------------- read
  assign sending = granted || left_q != '0;
  assign sending_at = left_q != '0 ? in_flight_q : candidate_at_q;
  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      left_q <= '0;
      read_q <= '0;
    end else begin
      if (granted) left_q <= candidate_q.flits - SwitchLengthW'(1);
      else if (left_q != '0) left_q <= left_q - SwitchLengthW'(1);
      if (sending) read_q[sending_at] <= read_q[sending_at] + RegionW'(1);
    end
    if (granted) in_flight_q <= candidate_at_q;
  end

  logic dropped_q;
  always_ff @(posedge clk) dropped_q <= rst_ni && drop;
  assign unroutable_o = dropped_q;
  assign unroutable_dest_o = data_o.dest;
  assign unroutable_message_o = dropped_q && data_o.kind != FlitKindHeader && data_o.vnet != VnetControl;
  assign unroutable_job_o = data_o.job;

  // -------------------------------------------------------------- credits
  logic [Lanes-1:0] returns;
  // The queue of packets may fill before the buffer of flits. A packet of the last cycle is not yet in the queue.
  for (genvar p = 0; p < Lanes; p++) begin : gen_credit
    gs_credit_return #(
      .Depth (Region),
      .Window(Window)
    ) u_credit_return (
      .clk_i   (clk),
      .rst_ni,
      .enters_i(arrives[p]),
      .leaves_i(sending && sending_at == lane_t'(p)),
      .allow_i (queue_count[p] < CountW'(Packets - Window)),
      .credit_o(returns[p])
    );
  end

  always_comb begin
    credit_o = '0;
    for (int unsigned p = 0; p < Lanes; p++) credit_o[p*(SwitchVcs/Vcs)] = returns[p];
  end
  assign busy = arrived_q || head_valid_q != '0 || left_q != '0;
  always_ff @(posedge clk) begin
    empty_o  <= rst_ni && inside_q == '0 && arrives == '0 && !busy;
  end

  `GS_ASSERT_NOW(at_most_one_channel_sends, (valid_i & (valid_i - channels_t'(1))) == '0)
  `GS_ASSERT_NOW(channel_belongs_to_the_flits_network,
                 valid_i == '0 || (valid_i >> (SwitchVcs * 32'(flit_i.vnet)) & channels_t'((1 << SwitchVcs) - 1)) != '0)
  `GS_ASSERT_NOW(packets_have_at_most_maxflits_flits,
                 arrives == '0 || flit_i.last || length_q[arrives_at] < SwitchLengthW'(MaxFlits - 1))
  `GS_ASSERT_NOW(shown_packet_is_a_waiting_head, opens_i || !shown_valid_o ||
                 (head_valid_q[show_at] && {head_q[show_at].port, head_q[show_at].channel} == shown_o))
  `GS_ASSERT_NOW(only_offers_are_granted, !grant_i || offer_valid_o)
  `GS_ASSERT_NOW(candidate_is_a_waiting_head,
                 !candidate_valid_q || (head_valid_q[candidate_at_q] && head_q[candidate_at_q] == candidate_q))
  `GS_ASSERT_NOW(forwarded_flit_is_not_being_written, !(u_flits.collides && sending))
endmodule
