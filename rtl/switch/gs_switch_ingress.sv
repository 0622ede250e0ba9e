// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Ingress of the board switch: keeps packets by channel until they are complete, and offers one at a time.
///
///     flit -> RAM, a region a channel ---------------------------------> data
///         \-> route -> queue of packets, a channel -> head -> candidate -> offer, grant
///
///     cycle 0  the last flit is at the input         2  its packet is offered; if it is granted, the RAM is read
///     cycle 1  its way is known                      3  the first flit is at the output
///
/// A candidate that is not granted gives way to the head of another channel, so that a channel whose egress is full
/// holds up no other. While a packet is sent the next candidate is kept, so that each head is offered in its turn,
/// whatever the lengths of the others. In its channel's window a head is shown, too, whatever else is offered. A packet
/// for nobody is read and dropped.
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
  /// log2 of the streaming ports that one port of the switch leads to
  parameter int unsigned StreamBits = 0,
  /// virtual channels that arrive here: 1 or SwitchVcs
  parameter int unsigned Vcs     = SwitchVcs,
  /// flits of the longest packet
  parameter int unsigned MaxFlits = FabricMaxFlits,
  /// flits that a channel holds: a power of two, at least MaxFlits + Window
  parameter int unsigned Region  = 64,
  /// packets that a channel's queue holds, more than Window
  parameter int unsigned Packets = 32,
  /// credits that the sender begins with, a channel
  parameter int unsigned Window  = 8,
  /// there are circuits
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
  // Flits, at most one a cycle; a pulse for each that may follow
  input  channels_t          valid_i,
  input  flit_t              flit_i,
  output channels_t          credit_o,
  // The channel whose head is shown now, and the cycle in which that begins
  input  channel_t           window_i,
  input  logic               opens_i,
  // Room for a packet of any length, by the port and channel that it leaves by
  input  channels_t          room_i[Ports],
  // A packet that is complete; its flits follow the grant from the next cycle on
  output logic               offer_valid_o,
  output waiting_t           offer_o,
  input  logic               grant_i,
  // What has waited in the window's channel since that began
  output logic               shown_valid_o,
  output shown_t             shown_o,
  output flit_t              data_o,
  // A packet for nobody has gone: its head flit's destination
  output logic               unroutable_o,
  output logic [31:0]        unroutable_dest_o,
  // Nothing is inside
  output logic               empty_o
);
  localparam int unsigned RegionW = $clog2(Region);
  localparam int unsigned Places = 4 * Vcs;
  localparam int unsigned PlaceW = $clog2(Places);
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

  typedef logic [PlaceW-1:0] place_t;

  // A channel's place in what is kept here; without virtual channels there is one for each virtual network.
  function automatic logic [Places-1:0] places_of(channels_t channels);
    logic [Places-1:0] here;
    for (int unsigned p = 0; p < Places; p++) here[p] = channels[p*(SwitchVcs/Vcs)];
    return here;
  endfunction

  logic [Places-1:0] arrives;
  place_t arrives_at;
  assign arrives = places_of(valid_i);
  always_comb begin
    arrives_at = '0;
    for (int unsigned p = 0; p < Places; p++) if (arrives[p]) arrives_at |= place_t'(p);
  end

  // It sleeps while nothing comes and no packet inside is complete: then no register changes.
  logic clk, waits;
  gs_clock_gate u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(valid_i != '0 || table_we_i || waits),
    .clk_o (clk)
  );

  // ------------------------------------------------------------- storage
  logic [Places-1:0][RegionW-1:0] write_q, read_q;
  logic [Places-1:0] inside_q;  // the channel's next flit is not a head
  logic [Places-1:0][SwitchLengthW-1:0] length_q;
  logic sending;
  place_t sending_at;

  gs_ram_sdp #(
    .Width($bits(flit_t)),
    .Depth(Places * Region),
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
  logic nobody;
  logic [SwitchPortW-1:0] port;
  logic [SwitchVcBits-1:0] vc;
  assign head = arrives != '0 && !inside_q[arrives_at];

  gs_switch_route #(
    .Ports     (Ports),
    .TableW    (TableW),
    .Home      (Home),
    .StreamBits(StreamBits)
  ) u_route (
    .clk_i   (clk),
    .rst_ni,
    .board_i,
    .clearing_i,
    .table_we_i,
    .table_index_i,
    .table_entry_i,
    .valid_i (head),
    .flit_i,
    .unroutable_o(nobody),
    .port_o  (port),
    .vc_o    (vc)
  );

  // The flit of the last cycle: what is known of its packet now.
  logic came_q, came_head_q, came_last_q, came_circuit_q, came_more_q;
  place_t came_at_q;
  vnet_e came_vnet_q;
  logic [SwitchLengthW-1:0] came_length_q;
  waiting_t [Places-1:0] begun_q;
  waiting_t way, pushed;
  logic push;
  always_comb begin
    way         = begun_q[came_at_q];
    if (came_head_q) begin
      way.nobody  = nobody;
      way.port    = port;
      way.channel = {came_vnet_q, vc};
      way.circuit = Circuits && came_circuit_q;
      way.more    = Circuits && came_more_q;
    end
    pushed       = way;
    pushed.flits = came_length_q;
    push         = came_q && came_last_q;
  end

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      came_q   <= 1'b0;
      inside_q <= '0;
      write_q  <= '0;
      length_q <= '0;
    end else begin
      came_q <= arrives != '0;
      if (arrives != '0) begin
        inside_q[arrives_at] <= !flit_i.last;
        write_q[arrives_at]  <= write_q[arrives_at] + RegionW'(1);
        length_q[arrives_at] <= flit_i.last ? '0 : length_q[arrives_at] + SwitchLengthW'(1);
      end
    end
    if (arrives != '0) begin
      came_head_q    <= head;
      came_last_q    <= flit_i.last;
      came_at_q      <= arrives_at;
      came_vnet_q    <= flit_i.vnet;
      came_circuit_q <= is_circuit(flit_i.vnet, flit_i.dest[31:29], flit_i.epoch[0]);
      came_more_q    <= flit_i.wave;
      came_length_q  <= length_q[arrives_at] + SwitchLengthW'(1);
    end
    if (came_q) begun_q[came_at_q] <= way;
  end

  // ------------------------------------------------- packets, by channel
  logic [Places-1:0] queued, pop, head_valid_q, room_q, next_valid;
  waiting_t queue[Places];
  waiting_t next[Places];
  waiting_t [Places-1:0] head_q;
  logic [Places-1:0] unused_queue_ready;
  logic [Places-1:0][CountW-1:0] queue_count;
  logic [Places-1:0] leaves;  // the head is granted, or dropped
  for (genvar p = 0; p < Places; p++) begin : gen_place
    logic push_here, direct, room;
    always_comb begin
      room = head_q[p].nobody;
      for (int unsigned o = 0; o < Ports; o++) begin
        if (32'(head_q[p].port) == o) room |= room_i[o][head_q[p].channel];
      end
    end
    assign push_here = push && came_at_q == place_t'(p);
    // A packet that finds nobody before it goes to the head at once.
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
      // As it was in the last cycle, which is near enough for a choice.
      room_q[p] <= room;
    end
    `GS_ASSERT_NOW(there_is_a_place_for_every_packet, !(push_here && !direct) || unused_queue_ready[p])
  end

  // ------------------------------------------------------------ candidate
  logic candidate_valid_q, drop, granted, other_valid, turns;
  place_t candidate_at_q, other_at;
  waiting_t candidate_q;
  logic [Places-1:0] others, other;
  logic [SwitchLengthW-1:0] left_q;  // flits of the packet under way that are still to be read
  place_t in_flight_q;

  always_comb begin
    others = head_valid_q & room_q;
    if (candidate_valid_q) others[candidate_at_q] = 1'b0;
  end
  gs_arbiter #(.N(Places)) u_others (
    .clk_i    (clk),
    .rst_ni,
    .req_i    (others),
    .gnt_o    (other),
    .idx_o    (other_at),
    .advance_i(turns)
  );
  assign other_valid = other != '0;
  // What cannot be offered yet is kept, if there is room for it: else it would be offered in some cycles alone, which
  // another channel's packets could always take.
  assign turns = granted || !candidate_valid_q || left_q == '0 || !room_q[candidate_at_q];

  assign drop = candidate_valid_q && candidate_q.nobody && left_q == '0;
  assign granted = grant_i || drop;
  assign offer_valid_o = candidate_valid_q && !candidate_q.nobody && left_q == '0;
  assign offer_o = candidate_q;
  always_comb begin
    leaves = '0;
    if (granted) leaves[candidate_at_q] = 1'b1;
  end

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      candidate_valid_q <= 1'b0;
    end else if (granted || !candidate_valid_q || (turns && other_valid)) begin
      if (other_valid) begin
        candidate_valid_q <= 1'b1;
        candidate_at_q    <= other_at;
        candidate_q       <= head_q[other_at];
      end else if (granted) begin
        candidate_valid_q <= next_valid[candidate_at_q];
        candidate_q       <= next[candidate_at_q];
      end else begin
        // Nothing waits: a packet that is complete just now needs not wait for the next cycle.
        candidate_valid_q <= push && !head_valid_q[came_at_q] && !queued[came_at_q];
        candidate_at_q    <= came_at_q;
        candidate_q       <= pushed;
      end
    end
  end

  // ---------------------------------------------------------------- shown
  place_t show_at;
  assign show_at = place_t'(Vcs == 1 ? window_i >> SwitchVcBits : window_i);
  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      shown_valid_o <= 1'b0;
    end else if (opens_i) begin
      // Without virtual channels a network's place is shown in the window of its first one.
      shown_valid_o <= head_valid_q[show_at] && !head_q[show_at].nobody && !leaves[show_at] &&
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

  // -------------------------------------------------------------- credits
  logic [Places-1:0] gives;
  // Long packets do not fit into the window. A packet of the last cycle is in no queue yet.
  for (genvar p = 0; p < Places; p++) begin : gen_credit
    gs_credit_return #(
      .Depth (Region),
      .Window(Window)
    ) u_credit_return (
      .clk_i   (clk),
      .rst_ni,
      .takes_i (arrives[p]),
      .leaves_i(sending && sending_at == place_t'(p)),
      .allow_i (queue_count[p] < CountW'(Packets - Window)),
      .credit_o(gives[p])
    );
  end

  always_comb begin
    credit_o = '0;
    for (int unsigned p = 0; p < Places; p++) credit_o[p*(SwitchVcs/Vcs)] = gives[p];
  end
  assign waits = came_q || head_valid_q != '0 || left_q != '0;
  always_ff @(posedge clk) begin
    empty_o  <= rst_ni && inside_q == '0 && arrives == '0 && !waits;
  end

  `GS_ASSERT_NOW(a_flit_is_in_one_channel, (valid_i & (valid_i - channels_t'(1))) == '0)
  `GS_ASSERT_NOW(a_channel_is_of_the_flits_network,
                 valid_i == '0 || (valid_i >> (SwitchVcs * 32'(flit_i.vnet)) & channels_t'((1 << SwitchVcs) - 1)) != '0)
  `GS_ASSERT_NOW(no_packet_is_longer_than_the_longest,
                 arrives == '0 || flit_i.last || length_q[arrives_at] < SwitchLengthW'(MaxFlits - 1))
  `GS_ASSERT_NOW(what_is_shown_waits, opens_i || !shown_valid_o ||
                 (head_valid_q[show_at] && {head_q[show_at].port, head_q[show_at].channel} == shown_o))
  `GS_ASSERT_NOW(a_grant_is_for_an_offer, !grant_i || offer_valid_o)
  `GS_ASSERT_NOW(the_candidate_is_a_head,
                 !candidate_valid_q || (head_valid_q[candidate_at_q] && head_q[candidate_at_q] == candidate_q))
endmodule
