// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Starvation guard of an egress: no packet is passed over forever, whatever the timing of the other offers.
///
/// An ingress offers one packet at a time and alternates between its channels. So an egress may be busy, or a channel
/// full, whenever a certain packet is offered. Therefore every ingress shows the head of a channel in the channel's
/// window. Of the ingresses that still wait at the end of the window, the first one in round-robin order becomes the
/// waiter of this channel. If as many bursts as there are ingresses are served before it (the egress's own order never
/// does this to an ingress that always offers), the channel is reserved for it: no other ingress is granted a packet of
/// this channel, and, once there is space, no other packet at all is granted until the waiter is served.
///
///     shown as a window closes -> waiter -> passed over Ports times: reserved -> space: due -> granted
module gs_switch_starvation_guard
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  /// ingresses
  parameter  int unsigned Ports  = 4,
  /// lanes of the egress: 4 or SwitchChannels
  parameter  int unsigned Lanes = SwitchChannels,
  /// bits of an ingress's number, and of a lane's; not to be set
  localparam int unsigned PortW  = (Ports > 1) ? $clog2(Ports) : 1,
  localparam int unsigned LaneW = $clog2(Lanes)
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  // The network whose heads are shown now, and the last cycle of its window
  input  vnet_e                        network_i,
  input  logic                         closes_i,
  // Ingresses that show a packet for this port, and the lane of each such packet
  input  logic [Ports-1:0]             shown_i,
  input  logic [Ports-1:0][LaneW-1:0] at_i,
  // Lanes with space for the longest packet
  input  logic [Lanes-1:0]            space_i,
  // Lanes that a circuit holds: no lane is reserved there
  input  logic [Lanes-1:0]            held_i,
  // A packet is granted
  input  logic                         granted_i,
  input  logic [PortW-1:0]             from_i,
  input  logic [LaneW-1:0]            to_i,
  // ... with which a burst ends
  input  logic                         burst_end_i,
  // Lanes in which only the due ingress is granted a packet; the due ingress and its lane
  output logic [Lanes-1:0]            reserved_o,
  output logic                         due_o,
  output logic [PortW-1:0]             due_from_o,
  output logic [LaneW-1:0]            due_lane_o,
  // A waiter exists
  output logic                         busy_o
);
  localparam int unsigned Vcs = Lanes / 4;

  localparam int unsigned PassedW = $clog2(Ports + 1);

  logic [Lanes-1:0] waiting_q;
  logic [Lanes-1:0][PortW-1:0] waiter_q;
  logic [Lanes-1:0][PassedW-1:0] passed_q;

  // Only channels of the window's network are shown: one search for each of its virtual channels.
  logic [Vcs-1:0] shown_any;
  logic [Vcs-1:0][PortW-1:0] first;
  for (genvar v = 0; v < Vcs; v++) begin : gen_vc
    logic [Ports-1:0] here, after;
    logic [PortW-1:0] pointer;
    assign pointer = waiter_q[Vcs*32'(network_i)+v];
    always_comb begin
      for (int unsigned i = 0; i < Ports; i++) begin
        // A packet that was just granted is shown for one more cycle.
        here[i]   = shown_i[i] && 32'(at_i[i]) % Vcs == v &&
                    !(granted_i && from_i == PortW'(i) && to_i == at_i[i]);
        after[i] = here[i] && PortW'(i) >= pointer;
      end
      first[v] = '0;
      for (int unsigned i = Ports; i > 0; i--) begin
        if (after[i-1] || (after == '0 && here[i-1])) first[v] = PortW'(i - 1);
      end
    end
    assign shown_any[v] = here != '0;
  end

  for (genvar p = 0; p < Lanes; p++) begin : gen_lane
    logic served, taken;
    assign reserved_o[p] = waiting_q[p] && passed_q[p] == PassedW'(Ports) && !held_i[p];
    assign served = granted_i && from_i == waiter_q[p] && to_i == LaneW'(p);
    assign taken = closes_i && 32'(network_i) == p / Vcs && shown_any[p%Vcs];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        waiting_q[p] <= 1'b0;
        waiter_q[p]  <= '0;
      end else if (waiting_q[p] && served) begin
        waiting_q[p] <= 1'b0;
        waiter_q[p]  <= waiter_q[p] == PortW'(Ports - 1) ? '0 : waiter_q[p] + PortW'(1);
      end else if (!waiting_q[p] && taken) begin
        waiting_q[p] <= 1'b1;
        waiter_q[p]  <= first[p%Vcs];
      end
      if (!rst_ni || !waiting_q[p]) passed_q[p] <= '0;
      else if (burst_end_i && passed_q[p] != PassedW'(Ports)) passed_q[p] <= passed_q[p] + PassedW'(1);
    end
    `GS_ASSERT_NOW(reserved_lanes_serve_only_their_waiter,
                   !granted_i || to_i != LaneW'(p) || !reserved_o[p] || (due_o && from_i == waiter_q[p]))
  end

  // One lane at a time is due. Space in a reserved lane remains until it is used.
  logic [Lanes-1:0] ready, picked;
  logic [LaneW-1:0] pick;
  assign ready = reserved_o & space_i;
  gs_arbiter #(.N(Lanes)) u_due (
    .clk_i,
    .rst_ni,
    .req_i    (ready),
    .gnt_o    (picked),
    .idx_o    (pick),
    .advance_i(!due_o)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) due_o <= 1'b0;
    else due_o <= due_o ? !granted_i : picked != '0;
    if (!due_o) begin
      due_from_o <= waiter_q[pick];
      due_lane_o <= pick;
    end
  end

  assign busy_o = waiting_q != '0 || due_o;

  `GS_ASSERT_NOW(due_lane_is_reserved_and_has_space,
                 !due_o || (reserved_o[due_lane_o] && space_i[due_lane_o] && waiter_q[due_lane_o] == due_from_o))
  `GS_ASSERT_NOW(only_the_due_packet_is_granted,
                 !due_o || !granted_i || (from_i == due_from_o && to_i == due_lane_o))
  for (genvar i = 0; i < Ports; i++) begin : gen_shown
    `GS_ASSERT_NOW(shown_packets_belong_to_the_windows_network,
                   !closes_i || !shown_i[i] || 32'(at_i[i]) / Vcs == 32'(network_i))
  end
endmodule
