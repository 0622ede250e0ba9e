// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Unbounded proof that an egress of the switch does not starve an ingress. Of one channel, every other ingress becomes
/// the waiter at most once before an ingress that shows a packet for it in each of the channel's windows. A waiter that
/// is passed over as often as there are ingresses reserves its channel, unless a circuit holds it. A due packet is
/// granted when it is offered, and no other packet is.
///
/// Ingresses offer and show arbitrary packets, except that one of them, `watched_q`, which is arbitrary, waits in
/// channel `channel_q`: it shows its packet in the channel's windows until the packet is granted.
module prove_egress
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  parameter int unsigned Ports = 3,
  parameter bit          Circuits = 0
) (
  input logic                            clk_i,
  input logic                            rst_ni,
  input logic [7:0]                      burst_i,
  input channel_t                        window_i,
  input logic                            closes_i,
  input logic                            begins_i,
  input logic [Ports-1:0]                offer_valid_i,
  input logic [Ports-1:0]                offer_here_i,
  input logic [Ports-1:0][SwitchChannelW-1:0] offer_channel_i,
  input logic [Ports-1:0]                offer_long_i,
  input logic [Ports-1:0]                offer_circuit_i,
  input logic [Ports-1:0]                offer_more_i,
  input logic [Ports-1:0]                shown_valid_i,
  input logic [Ports-1:0]                shown_here_i,
  input logic [Ports-1:0]                shown_vc_i,
  input channels_t                       credit_i
);
  localparam int unsigned MaxFlits = 2, Window = 2, Here = 1;

  logic [Ports-1:0] grant;
  channels_t unused_space, unused_valid;
  flit_t data[Ports];
  flit_t unused_flit;
  logic unused_empty;
  waiting_t offer[Ports];
  shown_t shown[Ports];

  // Arbitrary constants: registers without an initial value that hold their value.
  logic [1:0] watched_q;
  channel_t channel_q;
  logic waiting_q, closed_q, granted;
  int waiters_q, passed_q;
  always_ff @(posedge clk_i) begin
    watched_q <= watched_q;
    channel_q <= channel_q;
  end
  `GS_ASSUME_NOW(watched_ingress_exists, 32'(watched_q) < Ports)

  for (genvar i = 0; i < Ports; i++) begin : gen_ingress
    assign data[i] = '0;
    assign offer[i] = '{unroutable: 1'b0, port: offer_here_i[i] ? SwitchPortW'(Here) : '0, channel: offer_channel_i[i],
                        flits: offer_long_i[i] ? SwitchLengthW'(MaxFlits) : SwitchLengthW'(1),
                        circuit: offer_circuit_i[i], more: offer_more_i[i]};
    assign shown[i] = '{port: shown_here_i[i] ? SwitchPortW'(Here) : '0,
                        channel: {window_i[SwitchChannelW-1:SwitchVcBits], shown_vc_i[i]}};
    `GS_ASSUME_NOW(watched_packet_is_shown, !waiting_q || watched_q != 2'(i) || !closes_i ||
                   window_i / SwitchVcs != channel_q / SwitchVcs ||
                   (shown_valid_i[i] && shown_here_i[i] && shown[i].channel == channel_q))
  end

  gs_switch_egress #(
    .Ports   (Ports),
    .Here    (Here),
    .MaxFlits(MaxFlits),
    .Region  (4),
    .Window  (Window),
    .Circuits(Circuits)
  ) u_egress (
    .clk_i,
    .rst_ni,
    .burst_i,
    .window_i,
    .closes_i,
    .offer_valid_i,
    .offer_i(offer),
    .shown_valid_i,
    .shown_i(shown),
    .grant_o(grant),
    .space_o(unused_space),
    .data_i (data),
    .valid_o(unused_valid),
    .flit_o (unused_flit),
    .credit_i,
    .empty_o(unused_empty)
  );
  for (genvar c = 0; c < SwitchChannels; c++) begin : gen_channel
    `GS_ASSUME_NOW(credits_return_once, !credit_i[c] || u_egress.credits_q[c] != 2'(Window))
  end

  // -------------------------------------------------------------- waiters
  logic [1:0] waiter;
  logic served, mine, moves;
  int distance;
  assign waiter = u_egress.u_starvation_guard.waiter_q[channel_q];
  assign distance = 32'(watched_q) - 32'(waiter) + (watched_q < waiter ? int'(Ports) : 0);
  assign granted = grant != '0;
  assign mine = grant[watched_q] && u_egress.chosen_lane == channel_q;
  assign served = granted && u_egress.chosen == waiter && u_egress.chosen_lane == channel_q;
  // The present waiter is served.
  assign moves = served && u_egress.u_starvation_guard.waiting_q[channel_q];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) waiting_q <= 1'b0;
    else waiting_q <= (waiting_q || begins_i) && !mine;
    if (!rst_ni || !waiting_q || mine) waiters_q <= 0;
    else if (moves) waiters_q <= waiters_q + 1;
    closed_q <= rst_ni && waiting_q && !mine && closes_i && window_i / SwitchVcs == channel_q / SwitchVcs && !moves;
    if (!rst_ni || !u_egress.u_starvation_guard.waiting_q[channel_q]) passed_q <= 0;
    else if (granted && passed_q < int'(Ports) &&
             (u_egress.advance || (u_egress.chosen != u_egress.owner_q && u_egress.burst_q != '0))) begin
      passed_q <= passed_q + 1;
    end
  end

  `GS_ASSERT_NOW(every_other_ingress_waits_at_most_once_before, waiters_q >= 0 && waiters_q < Ports)
  `GS_ASSERT_NOW(closing_window_selects_a_waiter, !closed_q || u_egress.u_starvation_guard.waiting_q[channel_q])
  `GS_ASSERT_NOW(passed_over_waiter_reserves_its_channel,
                 u_egress.reserved[channel_q] ==
                 (u_egress.u_starvation_guard.waiting_q[channel_q] && passed_q >= int'(Ports) &&
                  !(u_egress.held && u_egress.held_at == channel_q)))
  `GS_ASSERT_NOW(only_the_due_packet_is_granted,
                 !u_egress.due || !granted ||
                 (u_egress.chosen == u_egress.due_from && u_egress.chosen_lane == u_egress.due_lane))
  `GS_ASSERT_NOW(reserved_channel_loses_no_space, !u_egress.reserved[channel_q] || u_egress.due || !granted ||
                 u_egress.chosen_lane != channel_q)
  `GS_ASSERT_NOW(due_ingress_is_the_waiter,
                 !u_egress.due || u_egress.due_lane != channel_q || u_egress.due_from == waiter)
  // Invariants of the internal state, for the induction.
  `GS_ASSERT_NOW(waiter_order_approaches_the_watched_ingress, !waiting_q || waiters_q + distance < Ports)
  `GS_ASSERT_NOW(waiters_are_ingresses, 32'(waiter) < Ports)
  `GS_ASSERT_NOW(passes_are_counted, !u_egress.u_starvation_guard.waiting_q[channel_q] ||
                 32'(u_egress.u_starvation_guard.passed_q[channel_q]) == passed_q)

  `GS_COVER_NOW(watched_ingress_is_due, waiting_q && u_egress.due && u_egress.due_from == watched_q && waiters_q == 1)
  `GS_COVER_NOW(another_ingress_is_due_first,
                waiting_q && waiters_q == 0 && u_egress.due && u_egress.due_from != watched_q &&
                u_egress.due_lane == channel_q)
endmodule
