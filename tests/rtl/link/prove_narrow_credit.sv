// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of the credits of a link with a narrow datapath, as prove_credit for a wide one: whatever limits are lost, a
/// buffer never overflows, and a packet is taken only with credits for all of it.
///
/// One end sends packets and limits to itself. Flits are in flight for any time, and so is one limit, which may be
/// lost. Only channel 0 has traffic, since all are alike.
module prove_narrow_credit
  import gs_link_pkg::*;
#(
  parameter int unsigned Depth = 64
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic                   waits_i,
  input count_t                 length_i,
  input count_t                 other_length_i,
  input logic                   take_i,
  input logic                   push_i,
  input logic                   pop_i,
  input logic                   send_limit_i,
  input logic                   deliver_limit_i,
  input logic                   lose_limit_i,
  input channel_t               free_channel_i,
  input logic    [Channels-1:0] limit_requests_i
);
  localparam limit_t Most = limit_t'(Depth);

  channel_t limit_channel, length_of;
  limit_t limit;
  free_t free;
  logic [Channels-1:0] enough, short;
  logic ready, urgent, take, push, pop, send_limit, deliver_limit;

  // The first packet of channel 0.
  logic waits_q;
  count_t length_q, read_q;
  assign take = take_i && waits_q && enough[0];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) waits_q <= 1'b0;
    else if (take || !waits_q) waits_q <= waits_i;
    if (take || !waits_q) length_q <= length_i;
    read_q <= (length_of == '0) ? length_q : other_length_i;
  end
  `GS_ASSUME_NOW(lengths_are_those_of_packets, length_i != '0 && 32'(length_i) <= MaxFlits)

  // The limit that is in flight; flits in flight, and flits that wait in the buffer.
  logic flight_q;
  channel_t flight_channel_q;
  limit_t flight_limit_q;
  logic [7:0] flying_q, held_q;
  assign push          = push_i && flying_q != '0;
  assign pop           = pop_i && held_q != '0;
  assign send_limit    = send_limit_i && ready && !flight_q;
  assign deliver_limit = flight_q && deliver_limit_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      flight_q <= 1'b0;
      flying_q <= '0;
      held_q   <= '0;
    end else begin
      flight_q <= send_limit || (flight_q && !deliver_limit);
      flying_q <= flying_q + (take ? 8'(length_q) : '0) - 8'(push);
      held_q   <= held_q + 8'(push) - 8'(pop);
    end
    if (send_limit) begin
      flight_channel_q <= limit_channel;
      flight_limit_q   <= limit;
    end
  end

  gs_link_narrow_credit #(
    .Depth(Depth)
  ) u_credit (
    .clk_i,
    .rst_ni,
    .clear_i         (1'b0),
    .ready_o         (ready),
    .limit_valid_i   (deliver_limit && !lose_limit_i),
    .limit_channel_i (flight_channel_q),
    .limit_i         (flight_limit_q),
    .waiting_i       (Channels'(waits_q)),
    .take_i          (Channels'(take)),
    .channel_o       (length_of),
    .flits_i         (read_q),
    .enough_o        (enough),
    .short_o         (short),
    .limit_requests_i,
    .push_i          (Channels'(push)),
    .pop_i           (Channels'(pop)),
    .free_channel_i,
    .free_o          (free),
    .limit_channel_o (limit_channel),
    .limit_o         (limit),
    .limit_sent_i    (send_limit),
    .urgent_o        (urgent)
  );

  // Counts of channel 0. A packet that was just taken is counted one cycle later.
  limit_t sent, known, granted, entered, left, start;
  logic took, examined;
  assign took     = u_credit.took_q && u_credit.at_q == '0;
  assign examined = u_credit.examined_q && u_credit.at_q == '0;
  assign sent     = u_credit.u_sent.mem[0] + (took ? limit_t'(read_q) : '0);
  assign known    = u_credit.u_limits.mem[0];
  assign entered  = u_credit.u_entered.mem[0];
  assign left     = u_credit.gen_left[0].u_left.mem[0];
  assign start    = u_credit.u_start.mem[0];
  assign granted  = left - start + Most;

  `GS_ASSERT_NOW(buffer_never_overflows, 32'(flying_q) + 32'(held_q) <= Depth)
  `GS_ASSERT_NOW(packets_are_taken_with_credits, !take || limit_t'(known - sent) >= limit_t'(length_q))
  `GS_ASSERT_NOW(free_space_is_exact,
                 u_credit.sweep_q || push || free_channel_i != '0 || 32'(free) == Depth - 32'(held_q))
  // Invariants for the induction.
  `GS_ASSERT_NOW(nothing_moves_in_the_sweep, !u_credit.sweep_q ||
                 (u_credit.zero_q && !ready && !u_credit.known_q && flying_q == '0 && held_q == '0 && !flight_q &&
                  !u_credit.took_q && !u_credit.examined_q && enough == '0))
  `GS_ASSERT_NOW(swept_counts_are_zero, !u_credit.sweep_q || u_credit.sweep_at_q == '0 ||
                 (sent == '0 && known == '0 && entered == '0 && left == '0 && start == '0))
  `GS_ASSERT_NOW(no_session_begins_again, u_credit.zero_q)
  `GS_ASSERT_NOW(copies_are_equal, (u_credit.sweep_q && u_credit.sweep_at_q == '0) ||
                 left == u_credit.gen_left[1].u_left.mem[0])
  `GS_ASSERT_NOW(flits_are_counted, u_credit.sweep_q || limit_t'(entered - left) == limit_t'(held_q))
  `GS_ASSERT_NOW(unused_credits_equal_free_space, u_credit.sweep_q ||
                 limit_t'(granted - sent) == Most - limit_t'(flying_q) - limit_t'(held_q))
  `GS_ASSERT_NOW(known_limit_is_at_most_the_granted_limit, u_credit.sweep_q ||
                 limit_t'(known - sent) <= limit_t'(granted - sent))
  `GS_ASSERT_NOW(limit_in_flight_is_between,
                 !flight_q || flight_channel_q != '0 || limit_t'(flight_limit_q - known) <= limit_t'(granted - known))
  `GS_ASSERT_NOW(limit_to_be_sent_is_between, u_credit.sweep_q || !u_credit.known_q ||
                 u_credit.limit_channel_q != '0 ||
                 (limit_t'(u_credit.limit_q - known) <= limit_t'(granted - known) &&
                  (!flight_q || flight_channel_q != '0 ||
                   limit_t'(flight_limit_q - known) <= limit_t'(u_credit.limit_q - known))))
  `GS_ASSERT_NOW(enough_means_enough, u_credit.sweep_q || !enough[0] ||
                 (waits_q && !took && limit_t'(known - sent) >= limit_t'(length_q)))
  `GS_ASSERT_NOW(examined_length_is_that_of_the_packet, !examined || (waits_q && read_q == length_q))
  `GS_ASSERT_NOW(taken_packet_had_credits, !took || limit_t'(known - u_credit.u_sent.mem[0]) >= limit_t'(read_q))
  `GS_ASSERT_NOW(either_taken_or_examined, !(u_credit.took_q && u_credit.examined_q))
  `GS_ASSERT_NOW(only_this_channel_has_packets, (enough & ~Channels'(1)) == '0 && (!u_credit.took_q || took) &&
                 (!u_credit.examined_q || examined))
  `GS_ASSERT_NOW(lengths_are_valid, !waits_q || (length_q != '0 && 32'(length_q) <= MaxFlits))

  `GS_COVER_NOW(limit_is_lost, deliver_limit && lose_limit_i && flight_channel_q == '0)
  `GS_COVER_NOW(packet_waits_for_credits, short[0] && sent != '0)
  `GS_COVER_NOW(buffer_is_emptied, pop && held_q == 8'd1)

  logic unused;
  assign unused = ^{urgent, short};
endmodule
