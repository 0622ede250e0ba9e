// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof, for ever, that an egress of the switch passes nobody over: of a channel, every other ingress has at most one
/// turn before an ingress that shows a packet for it in each of the channel's windows; a turn that is passed over as
/// often as there are ingresses keeps its channel, unless a circuit has it; and what is due is granted when it is
/// offered, and nothing else.
///
/// Ingresses offer and show whatever they like, but that one of them, `who_q`, which may be any, waits in channel
/// `where_q`: it shows its packet in the channel's windows until that is granted.
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
  channels_t unused_room, unused_valid;
  flit_t data[Ports];
  flit_t unused_flit;
  logic unused_empty;
  waiting_t offer[Ports];
  shown_t shown[Ports];

  // Any of them: registers without a first value that hold themselves.
  logic [1:0] who_q;
  channel_t where_q;
  logic waits_q, closed_q, granted;
  int turns_q, passed_q;
  always_ff @(posedge clk_i) begin
    who_q   <= who_q;
    where_q <= where_q;
  end
  `GS_ASSUME_NOW(it_is_one_of_them, 32'(who_q) < Ports)

  for (genvar i = 0; i < Ports; i++) begin : gen_ingress
    assign data[i] = '0;
    assign offer[i] = '{nobody: 1'b0, port: offer_here_i[i] ? SwitchPortW'(Here) : '0, channel: offer_channel_i[i],
                        flits: offer_long_i[i] ? SwitchLengthW'(MaxFlits) : SwitchLengthW'(1),
                        circuit: offer_circuit_i[i], more: offer_more_i[i]};
    assign shown[i] = '{port: shown_here_i[i] ? SwitchPortW'(Here) : '0,
                        channel: {window_i[SwitchChannelW-1:SwitchVcBits], shown_vc_i[i]}};
    `GS_ASSUME_NOW(who_waits_is_shown, !waits_q || who_q != 2'(i) || !closes_i ||
                   window_i / SwitchVcs != where_q / SwitchVcs ||
                   (shown_valid_i[i] && shown_here_i[i] && shown[i].channel == where_q))
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
    .offer_i      (offer),
    .shown_valid_i,
    .shown_i      (shown),
    .grant_o      (grant),
    .room_o       (unused_room),
    .data_i       (data),
    .valid_o      (unused_valid),
    .flit_o       (unused_flit),
    .credit_i,
    .empty_o      (unused_empty)
  );
  for (genvar c = 0; c < SwitchChannels; c++) begin : gen_channel
    `GS_ASSUME_NOW(credits_come_back_once, !credit_i[c] || u_egress.credits_q[c] != 2'(Window))
  end

  // ---------------------------------------------------------------- turns
  logic [1:0] turn;
  logic served, mine, moves;
  int distance;
  assign turn = u_egress.u_starvation_guard.turn_q[where_q];
  assign distance = 32'(who_q) - 32'(turn) + (who_q < turn ? int'(Ports) : 0);
  assign granted = grant != '0;
  assign mine = grant[who_q] && u_egress.chosen_place == where_q;
  assign served = granted && u_egress.chosen == turn && u_egress.chosen_place == where_q;
  // A turn ends.
  assign moves = served && u_egress.u_starvation_guard.waits_q[where_q];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) waits_q <= 1'b0;
    else waits_q <= (waits_q || begins_i) && !mine;
    if (!rst_ni || !waits_q || mine) turns_q <= 0;
    else if (moves) turns_q <= turns_q + 1;
    closed_q <= rst_ni && waits_q && !mine && closes_i && window_i / SwitchVcs == where_q / SwitchVcs && !moves;
    if (!rst_ni || !u_egress.u_starvation_guard.waits_q[where_q]) passed_q <= 0;
    else if (granted && passed_q < int'(Ports) &&
             (u_egress.advance || (u_egress.chosen != u_egress.owner_q && u_egress.burst_q != '0))) begin
      passed_q <= passed_q + 1;
    end
  end

  `GS_ASSERT_NOW(everybody_else_has_one_turn_at_most, turns_q >= 0 && turns_q < Ports)
  `GS_ASSERT_NOW(a_window_that_closes_begins_a_turn, !closed_q || u_egress.u_starvation_guard.waits_q[where_q])
  `GS_ASSERT_NOW(a_turn_that_is_passed_over_keeps_its_channel,
                 u_egress.kept[where_q] == (u_egress.u_starvation_guard.waits_q[where_q] && passed_q >= int'(Ports) &&
                                            !(u_egress.held && u_egress.held_at == where_q)))
  `GS_ASSERT_NOW(while_something_is_due_nothing_else_is_granted,
                 !u_egress.due || !granted ||
                 (u_egress.chosen == u_egress.due_from && u_egress.chosen_place == u_egress.due_place))
  `GS_ASSERT_NOW(a_kept_channel_loses_no_room, !u_egress.kept[where_q] || u_egress.due || !granted ||
                 u_egress.chosen_place != where_q)
  `GS_ASSERT_NOW(what_is_due_is_the_turns, !u_egress.due || u_egress.due_place != where_q || u_egress.due_from == turn)
  // What induction needs to know of the inside.
  `GS_ASSERT_NOW(the_turn_comes_nearer, !waits_q || turns_q + distance < Ports)
  `GS_ASSERT_NOW(turns_are_ingresses, 32'(turn) < Ports)
  `GS_ASSERT_NOW(passes_are_counted, !u_egress.u_starvation_guard.waits_q[where_q] ||
                 32'(u_egress.u_starvation_guard.passed_q[where_q]) == passed_q)

  `GS_COVER_NOW(who_waits_is_due, waits_q && u_egress.due && u_egress.due_from == who_q && turns_q == 1)
  `GS_COVER_NOW(another_one_is_due_first, waits_q && turns_q == 0 && u_egress.due && u_egress.due_from != who_q &&
                u_egress.due_place == where_q)
endmodule
