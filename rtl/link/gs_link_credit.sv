// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Back-pressure by channel, both ends of it: how much this end may send, and how much it lets the other end send.
///
/// A limit is the number of flits that a channel may have sent since the session began, modulo 2^LimitW. A limit that
/// is lost with its frame does no harm: the next one says as much, or more. Every frame carries one; channels whose
/// limit has changed are first, then all take turns, and one frame in four is for these turns in any case: so channels
/// whose limits change all the time do not keep a lost one from being told again. A sender that has no credits for a
/// packet asks (gs_link), and is told soon.
module gs_link_credit
  import gs_link_pkg::*;
#(
  /// flits of a channel that the receiver has room for, a power of two
  parameter int unsigned Depth = 512
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  /// a session begins
  input  logic                  clear_i,
  // Sending.
  input  logic                  limit_valid_i,
  input  channel_t              limit_channel_i,
  input  limit_t                limit_i,
  /// a packet is taken from a channel to be sent; at most one bit is set
  input  logic   [Channels-1:0] take_i,
  /// flits of the first packet of each channel
  input  count_t [Channels-1:0] flits_i,
  /// the channel has credits for it
  output logic   [Channels-1:0] enough_o,
  /// the other end has no credits for a packet of the channel: perhaps it has missed a limit
  input  logic   [Channels-1:0] asked_i,
  // Receiving.
  /// flits that come into and leave the buffers; at most one bit of each is set
  input  logic   [Channels-1:0] push_i,
  input  logic   [Channels-1:0] pop_i,
  /// the limit to be sent next
  output channel_t              limit_channel_o,
  output limit_t                limit_o,
  /// it is sent
  input  logic                  limit_sent_i,
  /// a limit has changed so much that it should be sent soon
  output logic                  urgent_o
);
  if (Depth < 64 || 2 * Depth > (32'd1 << LimitW) || (Depth & (Depth - 1)) != 0) begin : gen_illegal_depth
    $fatal(1, "gs_link_credit: Depth is %0d; it must be a power of two, 64 to %0d", Depth, 1 << (LimitW - 1));
  end

  // What is dirty or urgent is told in turns, until it has been.
  logic clk;
  logic [Channels-1:0] dirty_q, dirty_gnt, urgent_q;
  gs_clock_gate #(.Linger(4)) u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(clear_i || limit_valid_i || take_i != '0 || asked_i != '0 || push_i != '0 || pop_i != '0 || limit_sent_i ||
            dirty_q != '0 || urgent_q != '0),
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
  // What waits in the buffers; what may have been sent; what the other end was told; by how much that is behind.
  logic [HeldW-1:0] held_q[Channels];
  limit_t grant_q[Channels];
  logic [HeldW-1:0] behind_q[Channels];
  channel_t dirty_idx, turn_q, next_q;
  logic next_valid, next_turn_q;
  // Frames since a turn, up to 3.
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
        // Nothing comes while a session begins.
        grant_q[i]  <= rst_ni ? limit_t'(Depth) - limit_t'(held_q[i]) + limit_t'(pop_i[i]) : limit_t'(Depth);
        behind_q[i] <= HeldW'(Depth / 4);
        dirty_q[i]  <= 1'b1;
        urgent_q[i] <= 1'b1;
      end else begin
        if (pop_i[i]) grant_q[i] <= grant_q[i] + 1'b1;
        // A limit that is told while it grows is behind by what has just come.
        if (limit_sent_i && next_q == channel_t'(i)) begin
          behind_q[i] <= HeldW'(pop_i[i]);
          dirty_q[i]  <= pop_i[i];
          urgent_q[i] <= 1'b0;
        end else begin
          // Who asks is as far behind as one who is told soon.
          if (asked_i[i] && behind_q[i] < HeldW'(Depth / 4)) behind_q[i] <= HeldW'(Depth / 4);
          else if (pop_i[i] && behind_q[i] != HeldW'(Depth)) behind_q[i] <= behind_q[i] + 1'b1;
          if (pop_i[i] || asked_i[i]) dirty_q[i] <= 1'b1;
          urgent_q[i] <= behind_q[i] >= HeldW'(Depth / 4);
        end
      end
    end
    if (!rst_ni) begin
      turn_q      <= '0;
      next_q      <= '0;
      next_turn_q <= 1'b1;
      since_q     <= '0;
    end else begin
      if (limit_sent_i) begin
        if (next_turn_q) turn_q <= turn_q + 1'b1;
        if (next_turn_q) since_q <= '0;
        else if (since_q != '1) since_q <= since_q + 1'b1;
      end
      next_turn_q <= !next_valid || since_q == '1;
      next_q      <= (next_valid && since_q != '1) ? dirty_idx : turn_q;
    end
  end

  for (genvar i = 0; i < int'(Channels); i++) begin : gen_check
    `GS_ASSERT_NOW(a_channel_sends_no_more_than_it_may, !take_i[i] || enough_o[i])
    `GS_ASSERT_NOW(buffers_never_overflow, !push_i[i] || held_q[i] < HeldW'(Depth))
    `GS_ASSERT_NOW(nothing_leaves_an_empty_buffer, !pop_i[i] || held_q[i] != '0)
  end
endmodule
