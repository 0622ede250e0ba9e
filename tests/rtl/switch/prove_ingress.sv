// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof, for ever, that an ingress of the switch forgets no channel: a head for which there is room is offered after
/// at most one turn of every other channel, a turn ends with each cycle in which no packet is under way, and a head
/// that waits while its window is open is shown.
///
/// Flits, room and grants come as they like; `who_q` may be any channel. That packets are no longer than the longest is
/// in no assumption: a packet under way ends since what is left of it falls.
module prove_ingress
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
(
  input logic            clk_i,
  input logic            rst_ni,
  input channels_t       valid_i,
  input logic            last_i,
  input vnet_e           vnet_i,
  input logic [31:0]     dest_i,
  input logic            grant_i,
  input channels_t [1:0] room_i,
  input channel_t        window_i,
  input logic            opens_i
);
  localparam int unsigned Places = SwitchChannels;
  localparam home_t Home = '{stream: '{first: 8'd0, count: 8'd2}, default: '0};

  channels_t unused_credit, room[2];
  flit_t in, unused_data;
  waiting_t unused_offer;
  shown_t shown;
  logic offer_valid, shown_valid, unused_unroutable, unused_empty;
  logic [31:0] unused_dest;
  assign in = '{kind: FlitKindBody, last: last_i, vnet: vnet_i, dest: dest_i, default: '0};
  assign room[0] = room_i[0];
  assign room[1] = room_i[1];

  gs_switch_ingress #(
    .Ports   (2),
    .TableW  (2),
    .Home    (Home),
    .MaxFlits(2),
    .Region  (4),
    .Packets (4),
    .Window  (2)
  ) u_ingress (
    .clk_i,
    .rst_ni,
    .board_i      ('0),
    .clearing_i   (1'b0),
    .table_we_i   (1'b0),
    .table_index_i('0),
    .table_entry_i('0),
    .valid_i,
    .flit_i       (in),
    .credit_o     (unused_credit),
    .window_i,
    .opens_i,
    .room_i       (room),
    .offer_valid_o(offer_valid),
    .offer_o      (unused_offer),
    .grant_i,
    .shown_valid_o(shown_valid),
    .shown_o      (shown),
    .data_o       (unused_data),
    .unroutable_o     (unused_unroutable),
    .unroutable_dest_o(unused_dest),
    .empty_o      (unused_empty)
  );

  // Any of them: a register without a first value that holds itself.
  channel_t who_q, window_q;
  logic waits, was_candidate_q, shows_q;
  int waited_q, pointer, distance;
  logic [SwitchLengthW-1:0] left_before_q;

  assign waits = u_ingress.others[who_q];
  always_comb begin
    pointer = 0;
    for (int i = Places - 1; i >= 0; i--) if (u_ingress.u_others.ahead_q[i]) pointer = i;
    distance = 32'(who_q) - pointer + ((32'(who_q) < pointer) ? int'(Places) : 0);
  end
  always_ff @(posedge clk_i) begin
    who_q    <= who_q;
    window_q <= window_i;
    if (!rst_ni || !waits || (u_ingress.turns && u_ingress.other_at == who_q)) waited_q <= 0;
    else if (u_ingress.turns) waited_q <= waited_q + 1;
    was_candidate_q <= rst_ni && u_ingress.candidate_valid_q && u_ingress.candidate_at_q == who_q &&
                       u_ingress.room_q[who_q] && u_ingress.left_q != '0;
    left_before_q   <= rst_ni ? u_ingress.left_q : '0;
    if (!rst_ni || u_ingress.leaves[who_q]) shows_q <= 1'b0;
    else if (opens_i) begin
      shows_q <= window_i == who_q && u_ingress.head_valid_q[who_q] && !u_ingress.head_q[who_q].nobody;
    end
  end

  `GS_ASSUME_NOW(a_grant_is_for_an_offer, !grant_i || offer_valid)
  `GS_ASSUME_NOW(a_window_stays_open, opens_i || window_i == window_q)

  `GS_ASSERT_NOW(no_head_waits_for_more_than_all_other_channels, waited_q >= 0 && waited_q < int'(Places))
  `GS_ASSERT_NOW(each_cycle_without_a_packet_in_flight_ends_a_turn, u_ingress.left_q != '0 || u_ingress.turns)
  `GS_ASSERT_NOW(a_packet_in_flight_ends, left_before_q == '0 || u_ingress.left_q == left_before_q - SwitchLengthW'(1))
  `GS_ASSERT_NOW(a_candidate_with_room_stays_until_it_is_offered,
                 !was_candidate_q || (u_ingress.candidate_valid_q && u_ingress.candidate_at_q == who_q))
  `GS_ASSERT_NOW(a_candidate_is_offered, u_ingress.left_q != '0 || !u_ingress.candidate_valid_q || offer_valid ||
                 u_ingress.drop)
  `GS_ASSERT_NOW(a_head_that_waits_is_shown_in_its_window,
                 !shows_q || opens_i || (shown_valid && shown.channel == u_ingress.head_q[who_q].channel &&
                                         shown.port == u_ingress.head_q[who_q].port))
  // What induction needs to know of the inside.
  `GS_ASSERT_NOW(the_pointer_comes_nearer, !waits || waited_q + distance < int'(Places))
  `GS_ASSERT_NOW(what_shows_is_a_head, !shows_q || (u_ingress.head_valid_q[who_q] && (window_q == who_q)))
  for (genvar i = 1; i < Places; i++) begin : gen_ahead
    `GS_ASSERT_NOW(all_behind_the_pointer_are_ahead,
                   !u_ingress.u_others.ahead_q[i-1] || u_ingress.u_others.ahead_q[i])
  end

  `GS_COVER_NOW(a_head_waits_for_two_others, waits && waited_q == 2)
  `GS_COVER_NOW(a_candidate_is_kept, was_candidate_q && offer_valid)
  `GS_COVER_NOW(a_head_is_shown, shown_valid && shown.channel == who_q)
endmodule
