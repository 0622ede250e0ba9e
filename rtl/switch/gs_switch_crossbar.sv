// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// The crossbar of the board switch (gs_switch): all ingresses and egresses move a flit a cycle at once.
///
///                  +--------------------------------------------+
///     port 0 in -> | ingress 0: queues, route     egress 0      | -> port 0 out
///     port 1 in -> | ingress 1            \  X  /  egress 1     | -> port 1 out
///        ...       |                 offers, grants, flits      |      ...
///                  +--------------------------------------------+
///
/// A packet's first flit reaches an egress five cycles after its last flit reached an ingress, if it does not wait.
/// No packet starves if its receiver returns credits (gs_switch_starvation_guard).
module gs_switch_crossbar
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  /// ports
  parameter int unsigned       Ports     = 4,
  /// one bit per port: the port has virtual channels, as those of links do
  parameter logic [Ports-1:0]  Virtual   = '1,
  /// ports of the board's own endpoints
  parameter home_t             Home      = '0,
  /// log2 of the streaming ports that share one port of the switch: streaming port n is at Home's port n >> StreamBits
  parameter int unsigned       StreamBits = 0,
  /// log2 of the routing table's entries, for boards and hosts
  parameter int unsigned       TableW    = 10,
  /// flits of the longest packet
  parameter int unsigned       MaxFlits  = FabricMaxFlits,
  /// flits that a channel can hold at an ingress, and at an egress
  parameter int unsigned       InRegion  = 64,
  parameter int unsigned       OutRegion = 64,
  /// packets that a channel's queue at an ingress can hold, more than Window
  parameter int unsigned       Packets   = 32,
  /// credits of a channel, at ingresses and egresses
  parameter int unsigned       Window    = 8,
  /// streams may be sent as circuits (gs_circuit)
  parameter bit                Circuits  = 0
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [11:0]       board_i,
  /// flits for which an ingress keeps an egress (R of the SMI paper)
  input  logic [7:0]        burst_i,
  // Table; while it is being cleared, no destination has a route
  input  logic              clearing_i,
  input  logic              table_we_i,
  input  logic [TableW-1:0] table_index_i,
  input  switch_entry_t     table_entry_i,
  // Ports
  input  channels_t         in_valid_i[Ports],
  input  flit_t             in_i[Ports],
  output channels_t         in_credit_o[Ports],
  output channels_t         out_valid_o[Ports],
  output flit_t             out_o[Ports],
  input  channels_t         out_credit_i[Ports],
  // A packet without a route entered by this port
  output logic [Ports-1:0]  unroutable_o,
  output logic [31:0]       unroutable_dest_o[Ports],
  // It was a message, which idle detection counts, of this job
  output logic [Ports-1:0]  unroutable_message_o,
  output logic [Ports-1:0][4:0] unroutable_job_o,
  /// no packet is inside: the table may be replaced by any other
  output logic              empty_o
);
  // log2 of a window's cycles: long enough that a shown packet is more likely to be passed over than in flight
  localparam int unsigned ShowW = $clog2(MaxFlits);

  // ---------------------------------------------------------------- ports
  logic [Ports-1:0] offer_valid, granted, in_empty, out_empty;
  waiting_t offer[Ports];
  channels_t space[Ports];
  flit_t data[Ports];
  logic [Ports-1:0][Ports-1:0] grant;  // [egress][ingress]

  // -------------------------------------------------------------- windows
  // Channels have windows in rotation. In a channel's window every ingress shows the channel's head packet. So egresses
  // learn which packets are passed over.
  logic [ShowW+SwitchChannelW-1:0] time_q;
  logic [Ports-1:0] shown_valid;
  shown_t shown[Ports];
  channel_t window;
  logic opens, closes;
  assign window = channel_t'(time_q >> ShowW);
  assign opens = time_q[ShowW-1:0] == '0;
  assign closes = time_q[ShowW-1:0] == '1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) time_q <= '0;
    else time_q <= time_q + (ShowW + SwitchChannelW)'(1);
  end

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    gs_switch_ingress #(
      .Ports     (Ports),
      .TableW    (TableW),
      .Home      (Home),
      .StreamBits(StreamBits),
      .Vcs       (Virtual[p] ? SwitchVcs : 1),
      .MaxFlits  (MaxFlits),
      .Region    (InRegion),
      .Packets   (Packets),
      .Window    (Window),
      .Circuits  (Circuits)
    ) u_ingress (
      .clk_i,
      .rst_ni,
      .board_i,
      .clearing_i,
      .table_we_i,
      .table_index_i,
      .table_entry_i,
      .valid_i          (in_valid_i[p]),
      .flit_i           (in_i[p]),
      .credit_o         (in_credit_o[p]),
      .window_i         (window),
      .opens_i          (opens),
      .space_i          (space),
      .offer_valid_o    (offer_valid[p]),
      .shown_valid_o    (shown_valid[p]),
      .shown_o          (shown[p]),
      .offer_o          (offer[p]),
      .grant_i          (granted[p]),
      .data_o           (data[p]),
      .unroutable_o     (unroutable_o[p]),
      .unroutable_dest_o(unroutable_dest_o[p]),
      .unroutable_message_o(unroutable_message_o[p]),
      .unroutable_job_o (unroutable_job_o[p]),
      .empty_o          (in_empty[p])
    );

    gs_switch_egress #(
      .Ports   (Ports),
      .Here    (p),
      .Vcs     (Virtual[p] ? SwitchVcs : 1),
      .MaxFlits(MaxFlits),
      .Region  (OutRegion),
      .Window  (Window),
      .Circuits(Circuits)
    ) u_egress (
      .clk_i,
      .rst_ni,
      .burst_i,
      .window_i     (window),
      .closes_i     (closes),
      .offer_valid_i(offer_valid),
      .offer_i      (offer),
      .shown_valid_i(shown_valid),
      .shown_i      (shown),
      .grant_o      (grant[p]),
      .space_o      (space[p]),
      .data_i       (data),
      .valid_o      (out_valid_o[p]),
      .flit_o       (out_o[p]),
      .credit_i     (out_credit_i[p]),
      .empty_o      (out_empty[p])
    );
  end

  always_comb begin
    granted = '0;
    for (int unsigned o = 0; o < Ports; o++) granted |= grant[o];
  end
  assign empty_o = &in_empty && &out_empty;

  for (genvar i = 0; i < Ports; i++) begin : gen_once
    logic [Ports-1:0] by;
    for (genvar o = 0; o < Ports; o++) begin : gen_egress
      assign by[o] = grant[o][i];
    end
    `GS_ASSERT_NOW(offers_are_granted_once, (by & (by - Ports'(1))) == '0)
  end
endmodule
