// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Turns of an egress: no packet is passed over for ever, however the offers of others fall.
///
/// An ingress offers one packet at a time and gives way to its other channels, so that an egress may be busy, or a
/// channel full, whenever a packet happens to be offered. Therefore every ingress shows what waits in a channel in the
/// channel's window. Of those that still wait at its end, the first one behind the last turn has the turn. If it is
/// passed over by as many bursts as there are ingresses, which the egress' own order never does to one that always
/// offers, the channel is kept for it: nobody else is granted a packet of this channel, and, once there is room, nobody
/// any packet, until it has been served.
///
///     shown as a window closes -> waits -> passed over Ports times: kept -> room: due -> granted
module gs_switch_starvation_guard
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  /// ingresses
  parameter  int unsigned Ports  = 4,
  /// channels of the egress: 4 or SwitchChannels
  parameter  int unsigned Places = SwitchChannels,
  /// bits of an ingress' number, and of a channel's; not to be set
  localparam int unsigned PortW  = (Ports > 1) ? $clog2(Ports) : 1,
  localparam int unsigned PlaceW = $clog2(Places)
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  // The network whose heads are shown now, and the last cycle of its window
  input  vnet_e                        network_i,
  input  logic                         closes_i,
  // Who shows a packet for here, and for which channel each ingress' packet is
  input  logic [Ports-1:0]             shown_i,
  input  logic [Ports-1:0][PlaceW-1:0] at_i,
  // Channels with room for the longest packet
  input  logic [Places-1:0]            room_i,
  // Channels that a circuit has: nobody's turn comes there
  input  logic [Places-1:0]            held_i,
  // A packet is granted
  input  logic                         granted_i,
  input  logic [PortW-1:0]             from_i,
  input  logic [PlaceW-1:0]            to_i,
  // ... with which somebody's burst ends
  input  logic                         passes_i,
  // Channels in which only the one that is due is granted anything, and who that is
  output logic [Places-1:0]            kept_o,
  output logic                         due_o,
  output logic [PortW-1:0]             due_from_o,
  output logic [PlaceW-1:0]            due_place_o,
  // Somebody has waited here
  output logic                         busy_o
);
  localparam int unsigned Vcs = Places / 4;

  localparam int unsigned PassedW = $clog2(Ports + 1);

  logic [Places-1:0] waits_q;
  logic [Places-1:0][PortW-1:0] turn_q;
  logic [Places-1:0][PassedW-1:0] passed_q;

  // Only channels of the window's network are shown: one search for each of its virtual channels.
  logic [Vcs-1:0] some;
  logic [Vcs-1:0][PortW-1:0] first;
  for (genvar v = 0; v < Vcs; v++) begin : gen_vc
    logic [Ports-1:0] here, behind;
    logic [PortW-1:0] turn;
    assign turn = turn_q[Vcs*32'(network_i)+v];
    always_comb begin
      for (int unsigned i = 0; i < Ports; i++) begin
        // What is granted just now is shown for a cycle more.
        here[i]   = shown_i[i] && 32'(at_i[i]) % Vcs == v &&
                    !(granted_i && from_i == PortW'(i) && to_i == at_i[i]);
        behind[i] = here[i] && PortW'(i) >= turn;
      end
      first[v] = '0;
      for (int unsigned i = Ports; i > 0; i--) begin
        if (behind[i-1] || (behind == '0 && here[i-1])) first[v] = PortW'(i - 1);
      end
    end
    assign some[v] = here != '0;
  end

  for (genvar p = 0; p < Places; p++) begin : gen_place
    logic served, taken;
    assign kept_o[p] = waits_q[p] && passed_q[p] == PassedW'(Ports) && !held_i[p];
    assign served = granted_i && from_i == turn_q[p] && to_i == PlaceW'(p);
    assign taken = closes_i && 32'(network_i) == p / Vcs && some[p%Vcs];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        waits_q[p] <= 1'b0;
        turn_q[p]  <= '0;
      end else if (waits_q[p] && served) begin
        waits_q[p] <= 1'b0;
        turn_q[p]  <= turn_q[p] == PortW'(Ports - 1) ? '0 : turn_q[p] + PortW'(1);
      end else if (!waits_q[p] && taken) begin
        waits_q[p] <= 1'b1;
        turn_q[p]  <= first[p%Vcs];
      end
      if (!rst_ni || !waits_q[p]) passed_q[p] <= '0;
      else if (passes_i && passed_q[p] != PassedW'(Ports)) passed_q[p] <= passed_q[p] + PassedW'(1);
    end
    `GS_ASSERT_NOW(a_kept_channel_is_its_turns,
                   !granted_i || to_i != PlaceW'(p) || !kept_o[p] || (due_o && from_i == turn_q[p]))
  end

  // One at a time. Room in a channel that is kept stays until it is used.
  logic [Places-1:0] ripe, picked;
  logic [PlaceW-1:0] pick;
  assign ripe = kept_o & room_i;
  gs_arbiter #(.N(Places)) u_ripe (
    .clk_i,
    .rst_ni,
    .req_i    (ripe),
    .gnt_o    (picked),
    .idx_o    (pick),
    .advance_i(!due_o)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) due_o <= 1'b0;
    else due_o <= due_o ? !granted_i : picked != '0;
    if (!due_o) begin
      due_from_o  <= turn_q[pick];
      due_place_o <= pick;
    end
  end

  assign busy_o = waits_q != '0 || due_o;

  `GS_ASSERT_NOW(what_is_due_is_kept_and_has_room,
                 !due_o || (kept_o[due_place_o] && room_i[due_place_o] && turn_q[due_place_o] == due_from_o))
  `GS_ASSERT_NOW(only_what_is_due_is_granted,
                 !due_o || !granted_i || (from_i == due_from_o && to_i == due_place_o))
  for (genvar i = 0; i < Ports; i++) begin : gen_shown
    `GS_ASSERT_NOW(what_is_shown_is_of_the_windows_network,
                   !closes_i || !shown_i[i] || 32'(at_i[i]) / Vcs == 32'(network_i))
  end
endmodule
