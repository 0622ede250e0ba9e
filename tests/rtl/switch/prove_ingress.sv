// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Unbounded proof that an ingress of the switch does not starve a channel: a head for which there is space is offered
/// after at most one candidate of every other channel, the arbiter advances in each cycle in which no packet is in
/// flight, and a head that waits while its window is open is shown.
///
/// Flits, space and grants are arbitrary; `watched_q` may be any channel. No assumption bounds the length of packets: a
/// packet in flight ends because its remaining length decreases.
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
  input channels_t [1:0] space_i,
  input channel_t        window_i,
  input logic            opens_i
);
  localparam int unsigned Lanes = SwitchChannels;
  localparam home_t Home = '{stream: '{first: 8'd0, count: 8'd2}, default: '0};

  channels_t unused_credit, space[2];
  flit_t in, unused_data;
  waiting_t unused_offer;
  shown_t shown;
  logic offer_valid, shown_valid, unused_unroutable, unused_empty;
  logic [31:0] unused_dest;
  assign in = '{kind: FlitKindBody, last: last_i, vnet: vnet_i, dest: dest_i, default: '0};
  assign space[0] = space_i[0];
  assign space[1] = space_i[1];

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
    .board_i          ('0),
    .clearing_i       (1'b0),
    .table_we_i       (1'b0),
    .table_index_i    ('0),
    .table_entry_i    ('0),
    .valid_i,
    .flit_i           (in),
    .credit_o         (unused_credit),
    .window_i,
    .opens_i,
    .space_i          (space),
    .offer_valid_o    (offer_valid),
    .offer_o          (unused_offer),
    .grant_i,
    .shown_valid_o    (shown_valid),
    .shown_o          (shown),
    .data_o           (unused_data),
    .unroutable_o     (unused_unroutable),
    .unroutable_dest_o(unused_dest),
    .unroutable_message_o(),
    .unroutable_job_o(),
    .empty_o          (unused_empty)
  );

  // An arbitrary constant: a register without an initial value that holds its value.
  channel_t watched_q, window_q;
  logic waiting, was_candidate_q, shows_q;
  int waited_q, pointer, distance;
  logic [SwitchLengthW-1:0] left_before_q;

  assign waiting = u_ingress.others[watched_q];
  always_comb begin
    pointer = 0;
    for (int i = Lanes - 1; i >= 0; i--) if (u_ingress.u_others.ahead_q[i]) pointer = i;
    distance = 32'(watched_q) - pointer + ((32'(watched_q) < pointer) ? int'(Lanes) : 0);
  end
  always_ff @(posedge clk_i) begin
    watched_q <= watched_q;
    window_q  <= window_i;
    if (!rst_ni || !waiting || (u_ingress.advance && u_ingress.other_at == watched_q)) waited_q <= 0;
    else if (u_ingress.advance) waited_q <= waited_q + 1;
    was_candidate_q <= rst_ni && u_ingress.candidate_valid_q && u_ingress.candidate_at_q == watched_q &&
                       u_ingress.space_q[watched_q] && u_ingress.left_q != '0;
    left_before_q   <= rst_ni ? u_ingress.left_q : '0;
    if (!rst_ni || u_ingress.leaves[watched_q]) shows_q <= 1'b0;
    else if (opens_i) begin
      shows_q <= window_i == watched_q && u_ingress.head_valid_q[watched_q] && !u_ingress.head_q[watched_q].unroutable;
    end
  end

  `GS_ASSUME_NOW(only_offers_are_granted, !grant_i || offer_valid)
  `GS_ASSUME_NOW(windows_stay_open, opens_i || window_i == window_q)

  `GS_ASSERT_NOW(at_most_all_other_channels_go_first, waited_q >= 0 && waited_q < int'(Lanes))
  `GS_ASSERT_NOW(arbiter_advances_without_a_packet_in_flight, u_ingress.left_q != '0 || u_ingress.advance)
  `GS_ASSERT_NOW(packets_in_flight_end, left_before_q == '0 || u_ingress.left_q == left_before_q - SwitchLengthW'(1))
  `GS_ASSERT_NOW(candidate_with_space_stays_until_it_is_offered,
                 !was_candidate_q || (u_ingress.candidate_valid_q && u_ingress.candidate_at_q == watched_q))
  `GS_ASSERT_NOW(candidates_are_offered, u_ingress.left_q != '0 || !u_ingress.candidate_valid_q || offer_valid ||
                 u_ingress.drop)
  `GS_ASSERT_NOW(waiting_head_is_shown_in_its_window,
                 !shows_q || opens_i || (shown_valid && shown.channel == u_ingress.head_q[watched_q].channel &&
                                         shown.port == u_ingress.head_q[watched_q].port))
  // Invariants of the internal state, for the induction.
  `GS_ASSERT_NOW(pointer_approaches_the_watched_channel, !waiting || waited_q + distance < int'(Lanes))
  `GS_ASSERT_NOW(shown_packet_is_a_head, !shows_q || (u_ingress.head_valid_q[watched_q] && (window_q == watched_q)))
  for (genvar i = 1; i < Lanes; i++) begin : gen_ahead
    `GS_ASSERT_NOW(ahead_mask_is_a_thermometer_code,
                   !u_ingress.u_others.ahead_q[i-1] || u_ingress.u_others.ahead_q[i])
  end

  `GS_COVER_NOW(head_waits_for_two_others, waiting && waited_q == 2)
  `GS_COVER_NOW(candidate_is_kept, was_candidate_q && offer_valid)
  `GS_COVER_NOW(head_is_shown, shown_valid && shown.channel == watched_q)
endmodule
