// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Credits by channel, for both directions: how many flits this end may send, and how many it lets the other end send.
///
/// A limit is the number of flits that a channel may have sent since the session began, modulo 2^LimitW. Losing a limit
/// is harmless: the next one is at least as high. Every frame carries one limit. Channels whose limit has changed have
/// priority, but one frame in four follows a round robin over all channels. So channels whose limits change all the
/// time cannot keep a lost limit from being sent again. A sender without credits for a packet requests its limit
/// (gs_link), and the receiver sends it soon.
module gs_link_credit
  import gs_link_pkg::*;
#(
  /// flits of a channel that the receiver can buffer, a power of two
  parameter int unsigned Depth = 512
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  /// a session begins
  input  logic                  clear_i,
  // Sender.
  input  logic                  limit_valid_i,
  input  channel_t              limit_channel_i,
  input  limit_t                limit_i,
  /// a packet is taken from a channel to be sent; at most one bit is set
  input  logic   [Channels-1:0] take_i,
  /// flits of the first packet of each channel
  input  count_t [Channels-1:0] flits_i,
  /// the channel has credits for its first packet
  output logic   [Channels-1:0] enough_o,
  /// the other end has no credits for a packet of the channel: it may have missed a limit
  input  logic   [Channels-1:0] limit_requests_i,
  // Receiver.
  /// flits that enter and leave the buffers; at most one bit of each is set
  input  logic   [Channels-1:0] push_i,
  input  logic   [Channels-1:0] pop_i,
  /// free space of each channel in the buffers
  output free_t  [Channels-1:0] free_o,
  /// the limit to be sent next
  output channel_t              limit_channel_o,
  output limit_t                limit_o,
  /// the limit is sent
  input  logic                  limit_sent_i,
  /// a limit has grown so much that it should be sent soon
  output logic                  urgent_o
);
  if (Depth < 64 || 2 * Depth > (32'd1 << LimitW) || (Depth & (Depth - 1)) != 0) begin : gen_illegal_depth
    $fatal(1, "gs_link_credit: Depth is %0d; it must be a power of two, 64 to %0d", Depth, 1 << (LimitW - 1));
  end

  // Dirty and urgent limits are sent one after the other, and the clock runs until all are sent.
  logic clk;
  logic [Channels-1:0] dirty_q, dirty_gnt, urgent_q;
  gs_clock_gate #(.Linger(4)) u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(clear_i || limit_valid_i || take_i != '0 || limit_requests_i != '0 || push_i != '0 || pop_i != '0 ||
            limit_sent_i || dirty_q != '0 || urgent_q != '0),
    .clk_o (clk)
  );

  // ------------------------------------------------------------------ sending

  limit_t limit_q[Channels];
  limit_t sent_q[Channels];

  always_comb begin
    for (int unsigned i = 0; i < Channels; i++) enough_o[i] = limit_t'(limit_q[i] - sent_q[i]) >= limit_t'(flits_i[i]);
  end

  always_ff @(posedge clk) begin
    for (int unsigned i = 0; i < Channels; i++) begin
      if (!rst_ni || clear_i) begin
        limit_q[i] <= '0;
        sent_q[i]  <= '0;
      end else begin
        if (limit_valid_i && limit_channel_i == channel_t'(i)) limit_q[i] <= limit_i;
        if (take_i[i]) sent_q[i] <= sent_q[i] + limit_t'(flits_i[i]);
      end
    end
  end

  // ---------------------------------------------------------------- receiving

  localparam int unsigned HeldW = $clog2(Depth) + 1;
  // Flits in the buffers; the limit; by how much the limit that the other end has lags it.
  logic [HeldW-1:0] held_q[Channels];
  limit_t grant_q[Channels];
  logic [HeldW-1:0] lag_q[Channels];
  channel_t dirty_idx, rr_q, next_q;
  logic next_valid, next_is_rr_q;
  // Frames since the last one of the round robin, up to 3.
  logic [1:0] since_q;

  gs_arbiter #(
    .N(Channels)
  ) u_dirty (
    .clk_i    (clk),
    .rst_ni,
    .req_i    (dirty_q),
    .gnt_o    (dirty_gnt),
    .idx_o    (dirty_idx),
    .advance_i(1'b1)
  );

  always_comb for (int unsigned i = 0; i < Channels; i++) free_o[i] = free_t'(Depth) - free_t'(held_q[i]);

  assign next_valid      = dirty_gnt != '0;
  assign limit_channel_o = next_q;
  assign limit_o         = grant_q[next_q];
  assign urgent_o        = urgent_q != '0;

  always_ff @(posedge clk) begin
    for (int unsigned i = 0; i < Channels; i++) begin
      if (!rst_ni) begin
        held_q[i] <= '0;
      end else begin
        if (push_i[i] && !pop_i[i]) held_q[i] <= held_q[i] + 1'b1;
        if (!push_i[i] && pop_i[i]) held_q[i] <= held_q[i] - 1'b1;
      end
      if (!rst_ni || clear_i) begin
        // No flit arrives while a session begins.
        grant_q[i]  <= rst_ni ? limit_t'(Depth) - limit_t'(held_q[i]) + limit_t'(pop_i[i]) : limit_t'(Depth);
        lag_q[i]    <= HeldW'(Depth / 4);
        dirty_q[i]  <= 1'b1;
        urgent_q[i] <= 1'b1;
      end else begin
        if (pop_i[i]) grant_q[i] <= grant_q[i] + 1'b1;
        // A limit that is sent in the cycle in which it grows lags by one.
        if (limit_sent_i && next_q == channel_t'(i)) begin
          lag_q[i]    <= HeldW'(pop_i[i]);
          dirty_q[i]  <= pop_i[i];
          urgent_q[i] <= 1'b0;
        end else begin
          // A requested limit counts as lagging by a quarter of the buffer, so that it is sent soon.
          if (limit_requests_i[i] && lag_q[i] < HeldW'(Depth / 4)) lag_q[i] <= HeldW'(Depth / 4);
          else if (pop_i[i] && lag_q[i] != HeldW'(Depth)) lag_q[i] <= lag_q[i] + 1'b1;
          if (pop_i[i] || limit_requests_i[i]) dirty_q[i] <= 1'b1;
          urgent_q[i] <= lag_q[i] >= HeldW'(Depth / 4);
        end
      end
    end
    if (!rst_ni) begin
      rr_q         <= '0;
      next_q       <= '0;
      next_is_rr_q <= 1'b1;
      since_q      <= '0;
    end else begin
      if (limit_sent_i) begin
        if (next_is_rr_q) rr_q <= rr_q + 1'b1;
        if (next_is_rr_q) since_q <= '0;
        else if (since_q != '1) since_q <= since_q + 1'b1;
      end
      next_is_rr_q <= !next_valid || since_q == '1;
      next_q       <= (next_valid && since_q != '1) ? dirty_idx : rr_q;
    end
  end

  for (genvar i = 0; i < int'(Channels); i++) begin : gen_check
    `GS_ASSERT_NOW(packets_are_taken_only_with_credits, !take_i[i] || enough_o[i])
    `GS_ASSERT_NOW(buffers_never_overflow, !push_i[i] || held_q[i] < HeldW'(Depth))
    `GS_ASSERT_NOW(empty_buffers_are_never_popped, !pop_i[i] || held_q[i] != '0)
  end
endmodule
