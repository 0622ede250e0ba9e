// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of the credits: whatever limits are lost on the way, a buffer never overflows, and counts agree.
///
/// One end sends packets and tells its limits to itself: flits are on their way for any time, and so is one limit,
/// which may be lost. Limits of all channels are told in turns; one channel has traffic, as all are alike.
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
  input logic                   tell_i,
  input logic                   told_i,
  input logic                   lose_i,
  input logic    [Channels-1:0] asked_i
);
  localparam logic [7:0] Most = 8'(Depth);

  channel_t limit_channel;
  limit_t limit;
  logic [Channels-1:0] enough, take, push, pop;
  logic urgent, tell, told;
  // The limit that is on its way.
  logic waits_q;
  channel_t way_channel_q;
  limit_t way_q;
  // Flits of a channel that are sent and have not come, and that wait.
  logic [7:0] flying_q[Channels];
  logic [7:0] held_q[Channels];

  assign tell = tell_i && !waits_q;
  assign told = waits_q && told_i;

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
    .limit_valid_i  (told && !lose_i),
    .limit_channel_i(way_channel_q),
    .limit_i        (way_q),
    .take_i         (take),
    .flits_i,
    .enough_o       (enough),
    .asked_i,
    .push_i         (push),
    .pop_i          (pop),
    .limit_channel_o(limit_channel),
    .limit_o        (limit),
    .limit_sent_i   (tell),
    .urgent_o       (urgent)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waits_q <= 1'b0;
      for (int unsigned i = 0; i < Channels; i++) begin
        flying_q[i] <= '0;
        held_q[i]   <= '0;
      end
    end else begin
      if (tell) waits_q <= 1'b1;
      else if (told) waits_q <= 1'b0;
      for (int unsigned i = 0; i < Channels; i++) begin
        flying_q[i] <= flying_q[i] + (take[i] ? 8'(flits_i[i]) : '0) - 8'(push[i]);
        held_q[i]   <= held_q[i] + 8'(push[i]) - 8'(pop[i]);
      end
    end
    if (tell) begin
      way_channel_q <= limit_channel;
      way_q         <= limit;
    end
  end

  for (genvar i = 0; i < 1; i++) begin : gen_check
    `GS_ASSERT_NOW(a_buffer_never_overflows, flying_q[i] + held_q[i] <= Most)
    // What induction needs to know.
    `GS_ASSERT_NOW(no_count_wraps_around, flying_q[i] <= Most && held_q[i] <= Most)
    `GS_ASSERT_NOW(the_room_is_what_is_not_used,
        limit_t'(u_credit.grant_q[i] - u_credit.sent_q[i])
        == limit_t'(Most) - limit_t'(flying_q[i]) - limit_t'(held_q[i]))
    `GS_ASSERT_NOW(no_limit_is_beyond_the_grant,
        limit_t'(u_credit.limit_q[i] - u_credit.sent_q[i]) <= limit_t'(u_credit.grant_q[i] - u_credit.sent_q[i]))
    `GS_ASSERT_NOW(a_limit_on_its_way_is_no_lower_than_that_before,
        !waits_q || way_channel_q != channel_t'(i)
        || (limit_t'(way_q - u_credit.limit_q[i]) <= limit_t'(u_credit.grant_q[i] - u_credit.limit_q[i])))
    `GS_ASSERT_NOW(the_buffer_counts_what_it_holds, 8'(u_credit.held_q[i]) == held_q[i])
  end

  `GS_COVER_NOW(a_limit_is_lost, told && lose_i)
  `GS_COVER_NOW(a_packet_waits_for_credits,
      take_i && flits_i[0] == count_t'(33) && !enough[0] && u_credit.sent_q[0] != '0)
  `GS_COVER_NOW(a_buffer_is_emptied, pop[0] && held_q[0] == 8'd1)

  logic unused;
  assign unused = urgent;
endmodule
