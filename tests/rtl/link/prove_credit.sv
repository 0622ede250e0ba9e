// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of the credits: whatever limits are lost, a buffer never overflows, and the counts agree.
///
/// One end sends packets and limits to itself. Flits are in flight for any time, and so is one limit, which may be
/// lost. The limits of all channels are sent; only one channel has traffic, since all are alike.
module prove_credit
  import gs_link_pkg::*;
#(
  parameter int unsigned Depth = 64
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic                   take_i,
  input count_t  [Channels-1:0] flits_i,
  input logic    [Channels-1:0] push_i,
  input logic    [Channels-1:0] pop_i,
  input logic                   send_limit_i,
  input logic                   deliver_limit_i,
  input logic                   lose_limit_i,
  input logic    [Channels-1:0] limit_requests_i
);
  localparam logic [7:0] Most = 8'(Depth);

  channel_t limit_channel;
  limit_t limit;
  logic [Channels-1:0] enough, take, push, pop;
  logic urgent, send_limit, deliver_limit;
  free_t [Channels-1:0] free;
  // The limit that is in flight.
  logic limit_in_flight_q;
  channel_t flight_channel_q;
  limit_t flight_limit_q;
  // Flits of a channel that are in flight, and flits that wait in the buffer.
  logic [7:0] flying_q[Channels];
  logic [7:0] held_q[Channels];

  assign send_limit    = send_limit_i && !limit_in_flight_q;
  assign deliver_limit = limit_in_flight_q && deliver_limit_i;

  always_comb begin
    for (int unsigned i = 0; i < Channels; i++) begin
      take[i] = take_i && i == 0 && enough[i] && flits_i[i] != '0;
      push[i] = push_i[i] && i == 0 && flying_q[i] != '0;
      pop[i]  = pop_i[i] && i == 0 && held_q[i] != '0;
    end
  end

  gs_link_credit #(
    .Depth(Depth)
  ) u_credit (
    .clk_i,
    .rst_ni,
    .clear_i        (1'b0),
    .limit_valid_i  (deliver_limit && !lose_limit_i),
    .limit_channel_i(flight_channel_q),
    .limit_i        (flight_limit_q),
    .take_i         (take),
    .flits_i,
    .enough_o       (enough),
    .limit_requests_i,
    .push_i         (push),
    .pop_i          (pop),
    .free_o         (free),
    .limit_channel_o(limit_channel),
    .limit_o        (limit),
    .limit_sent_i   (send_limit),
    .urgent_o       (urgent)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      limit_in_flight_q <= 1'b0;
      for (int unsigned i = 0; i < Channels; i++) begin
        flying_q[i] <= '0;
        held_q[i]   <= '0;
      end
    end else begin
      if (send_limit) limit_in_flight_q <= 1'b1;
      else if (deliver_limit) limit_in_flight_q <= 1'b0;
      for (int unsigned i = 0; i < Channels; i++) begin
        flying_q[i] <= flying_q[i] + (take[i] ? 8'(flits_i[i]) : '0) - 8'(push[i]);
        held_q[i]   <= held_q[i] + 8'(push[i]) - 8'(pop[i]);
      end
    end
    if (send_limit) begin
      flight_channel_q <= limit_channel;
      flight_limit_q   <= limit;
    end
  end

  for (genvar i = 0; i < 1; i++) begin : gen_check
    `GS_ASSERT_NOW(buffer_never_overflows, flying_q[i] + held_q[i] <= Most)
    // Invariants for the induction.
    `GS_ASSERT_NOW(counts_do_not_wrap, flying_q[i] <= Most && held_q[i] <= Most)
    `GS_ASSERT_NOW(unused_credits_equal_free_space,
        limit_t'(u_credit.grant_q[i] - u_credit.sent_q[i])
        == limit_t'(Most) - limit_t'(flying_q[i]) - limit_t'(held_q[i]))
    `GS_ASSERT_NOW(known_limit_is_at_most_the_granted_limit,
        limit_t'(u_credit.limit_q[i] - u_credit.sent_q[i]) <= limit_t'(u_credit.grant_q[i] - u_credit.sent_q[i]))
    `GS_ASSERT_NOW(limit_in_flight_is_at_least_the_known_limit,
        !limit_in_flight_q || flight_channel_q != channel_t'(i)
        || (limit_t'(flight_limit_q - u_credit.limit_q[i]) <= limit_t'(u_credit.grant_q[i] - u_credit.limit_q[i])))
    `GS_ASSERT_NOW(buffer_count_is_exact, 8'(u_credit.held_q[i]) == held_q[i])
    `GS_ASSERT_NOW(free_space_is_exact, free[i] == free_t'(Most) - free_t'(held_q[i]))
  end

  `GS_COVER_NOW(limit_is_lost, deliver_limit && lose_limit_i)
  `GS_COVER_NOW(packet_waits_for_credits,
      take_i && flits_i[0] == count_t'(33) && !enough[0] && u_credit.sent_q[0] != '0)
  `GS_COVER_NOW(buffer_is_emptied, pop[0] && held_q[0] == 8'd1)

  logic unused;
  assign unused = ^{urgent, free};
endmodule
