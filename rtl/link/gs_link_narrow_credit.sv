// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Credits by channel as in gs_link_credit, one channel a cycle: counts are in distributed RAM.
///
///     sender    limit, sent   -> enough or short, a bit each, of the channel that is examined
///     receiver  popped, start -> its limit -> dirty, urgent, a bit each; every other cycle: the limit to be sent next
///
/// The limit of a channel is the number of flits that have left the buffer since the session began, plus its size. When
/// a session begins, and after reset, all channels are initialised, one a cycle; `ready_o` is 0 until then. No flit
/// arrives in these cycles: the shortest frame takes longer.
module gs_link_narrow_credit
  import gs_link_pkg::*;
#(
  /// flits of a channel that the receiver can buffer, a power of two
  parameter int unsigned Depth = 128
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  /// a session begins
  input  logic                  clear_i,
  /// limits are known: frames may be sent
  output logic                  ready_o,
  // Sender.
  input  logic                  limit_valid_i,
  input  channel_t              limit_channel_i,
  input  limit_t                limit_i,
  /// channels with a complete packet
  input  logic   [Channels-1:0] waiting_i,
  /// a packet is taken from a channel to be sent; at most one bit is set
  input  logic   [Channels-1:0] take_i,
  /// reads the length of a channel's first packet: the taken one, or the one to be examined; one cycle later
  output channel_t              channel_o,
  input  count_t                flits_i,
  /// the channel has credits for its first packet; it has not
  output logic   [Channels-1:0] enough_o,
  output logic   [Channels-1:0] short_o,
  /// the other end has no credits for a packet of the channel: it may have missed a limit
  input  logic   [Channels-1:0] limit_requests_i,
  // Receiver.
  /// flits that enter and leave the buffers; at most one bit of each is set
  input  logic   [Channels-1:0] push_i,
  input  logic   [Channels-1:0] pop_i,
  /// free space of a channel in the buffers, while none of its flits enters
  input  channel_t              free_channel_i,
  output free_t                 free_o,
  /// the limit to be sent next
  output channel_t              limit_channel_o,
  output limit_t                limit_o,
  /// the limit is sent
  input  logic                  limit_sent_i,
  /// a limit has grown so much that it should be sent soon
  output logic                  urgent_o
);
  if (Depth < 64 || 2 * Depth > (32'd1 << LimitW) || (Depth & (Depth - 1)) != 0) begin : gen_illegal_depth
    $fatal(1, "gs_link_narrow_credit: Depth is %0d; it must be a power of two, 64 to %0d", Depth, 1 << (LimitW - 1));
  end

  function automatic channel_t index_of(logic [Channels-1:0] one_hot);
    index_of = '0;
    for (int unsigned i = 0; i < Channels; i++) if (one_hot[i]) index_of |= channel_t'(i);
  endfunction

  // ------------------------------------------------------------ initialisation
  logic sweep_q, zero_q;  // zero_q: after reset
  channel_t sweep_at_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      sweep_q    <= 1'b1;
      sweep_at_q <= '0;
      zero_q     <= !rst_ni || (zero_q && sweep_q);
    end else if (sweep_q) begin
      sweep_at_q <= sweep_at_q + 1'b1;
      if (sweep_at_q == '1) sweep_q <= 1'b0;
    end
  end

  // ------------------------------------------------------------------ sending
  // The length of the examined or taken channel's packet is known one cycle later.
  logic took_q, examined_q;
  channel_t next_q, at_q;
  logic [Channels-1:0] enough_q, short_q;
  limit_t sent, known;
  logic fits;

  assign channel_o = (take_i != '0) ? index_of(take_i) : next_q;
  gs_ram_sdp #(
    .Width  (LimitW),
    .Depth  (Channels),
    .Latency(0),
    .Style  ("distributed")
  ) u_sent (
    .clk_i,
    .we_i   (sweep_q || took_q),
    .wstrb_i(1'b1),
    .waddr_i(sweep_q ? sweep_at_q : at_q),
    .wdata_i(sweep_q ? '0 : sent + limit_t'(flits_i)),
    .re_i   (1'b1),
    .raddr_i(at_q),
    .rdata_o(sent)
  );
  gs_ram_sdp #(
    .Width  (LimitW),
    .Depth  (Channels),
    .Latency(0),
    .Style  ("distributed")
  ) u_limits (
    .clk_i,
    .we_i   (sweep_q || limit_valid_i),
    .wstrb_i(1'b1),
    .waddr_i(sweep_q ? sweep_at_q : limit_channel_i),
    .wdata_i(sweep_q ? '0 : limit_i),
    .re_i   (1'b1),
    .raddr_i(at_q),
    .rdata_o(known)
  );
  assign fits = limit_t'(known - sent) >= limit_t'(flits_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i || sweep_q) begin
      enough_q   <= '0;
      short_q    <= '0;
      took_q     <= 1'b0;
      examined_q <= 1'b0;
    end else begin
      took_q     <= take_i != '0;
      examined_q <= take_i == '0 && waiting_i[next_q];
      if (examined_q) begin
        enough_q[at_q] <= fits;
        short_q[at_q]  <= !fits;
      end
      // The next packet is examined anew.
      for (int unsigned i = 0; i < Channels; i++) begin
        if (take_i[i]) begin
          enough_q[i] <= 1'b0;
          short_q[i]  <= 1'b0;
        end
      end
    end
    if (!rst_ni) next_q <= '0;
    else if (take_i == '0) next_q <= next_q + 1'b1;
    at_q <= channel_o;
  end
  assign enough_o = enough_q;
  assign short_o = short_q;

  // ---------------------------------------------------------------- receiving
  // Flits that have entered and left each buffer since reset; those that had entered when the session began; the limit
  // that was sent last.
  channel_t push_at, pop_at, look_at, look_q, entered_at, choice_q, dirty_idx, rr_q;
  limit_t entered, left, left_free, start, last, now, grown;
  logic pops, looks, phase_q, choice_is_rr_q, limit_is_rr_q, known_q;
  logic [Channels-1:0] dirty_q, urgent_q, unused_gnt;
  channel_t limit_channel_q;
  limit_t limit_q;
  // Frames since the last one of the round robin, up to 3.
  logic [1:0] since_q;

  assign push_at    = index_of(push_i);
  assign pop_at     = index_of(pop_i);
  assign pops       = pop_i != '0;
  assign entered_at = sweep_q ? sweep_at_q : (push_i != '0) ? push_at : free_channel_i;
  gs_ram_sdp #(
    .Width  (LimitW),
    .Depth  (Channels),
    .Latency(0),
    .Style  ("distributed")
  ) u_entered (
    .clk_i,
    .we_i   ((sweep_q && zero_q) || push_i != '0),
    .wstrb_i(1'b1),
    .waddr_i(entered_at),
    .wdata_i((sweep_q && zero_q) ? '0 : entered + limit_t'(1)),
    .re_i   (1'b1),
    .raddr_i(entered_at),
    .rdata_o(entered)
  );
  gs_ram_sdp #(
    .Width  (LimitW),
    .Depth  (Channels),
    .Latency(0),
    .Style  ("distributed")
  ) u_start (
    .clk_i,
    .we_i   (sweep_q),
    .wstrb_i(1'b1),
    .waddr_i(sweep_at_q),
    .wdata_i(zero_q ? '0 : entered),
    .re_i   (1'b1),
    .raddr_i(look_at),
    .rdata_o(start)
  );
  // While a flit leaves, its channel is looked at.
  assign look_at = pops ? pop_at : phase_q ? choice_q : look_q;
  for (genvar g = 0; g < 2; g++) begin : gen_left
    // The first copy counts, the second one is for free_o.
    limit_t value;
    gs_ram_sdp #(
      .Width  (LimitW),
      .Depth  (Channels),
      .Latency(0),
      .Style  ("distributed")
    ) u_left (
      .clk_i,
      .we_i   ((sweep_q && zero_q) || pops),
      .wstrb_i(1'b1),
      .waddr_i((sweep_q && zero_q) ? sweep_at_q : pop_at),
      .wdata_i((sweep_q && zero_q) ? '0 : left + limit_t'(1)),
      .re_i   (1'b1),
      .raddr_i(g == 0 ? look_at : free_channel_i),
      .rdata_o(value)
    );
  end
  assign left = gen_left[0].value;
  assign left_free = gen_left[1].value;
  gs_ram_sdp #(
    .Width  (LimitW),
    .Depth  (Channels),
    .Latency(0),
    .Style  ("distributed")
  ) u_last (
    .clk_i,
    .we_i   (limit_sent_i),
    .wstrb_i(1'b1),
    .waddr_i(limit_channel_q),
    .wdata_i(limit_q),
    .re_i   (1'b1),
    .raddr_i(look_at),
    .rdata_o(last)
  );
  assign free_o = free_t'(Depth) - (entered - left_free);
  assign now    = left - start + limit_t'(Depth);
  assign grown  = now - last;
  assign looks  = !pops && !sweep_q;

  gs_arbiter #(
    .N(Channels)
  ) u_dirty (
    .clk_i,
    .rst_ni,
    .req_i    (dirty_q),
    .gnt_o    (unused_gnt),
    .idx_o    (dirty_idx),
    .advance_i(limit_sent_i)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      dirty_q  <= '1;
      urgent_q <= '1;
      known_q  <= 1'b0;
    end else begin
      if (looks && !phase_q && !(limit_sent_i && look_q == limit_channel_q)) begin
        if (grown != '0) dirty_q[look_q] <= 1'b1;
        if (grown >= limit_t'(Depth / 4)) urgent_q[look_q] <= 1'b1;
      end
      if (limit_sent_i) begin
        dirty_q[limit_channel_q]  <= 1'b0;
        urgent_q[limit_channel_q] <= 1'b0;
      end
      for (int unsigned i = 0; i < Channels; i++) begin
        if (limit_requests_i[i]) begin
          dirty_q[i]  <= 1'b1;
          urgent_q[i] <= 1'b1;
        end
      end
      if (looks && phase_q) known_q <= 1'b1;
    end
    if (!rst_ni) begin
      phase_q        <= 1'b0;
      look_q         <= '0;
      rr_q           <= '0;
      choice_q       <= '0;
      choice_is_rr_q <= 1'b1;
      since_q        <= '0;
    end else begin
      if (looks) phase_q <= !phase_q;
      if (looks && !phase_q) begin
        look_q         <= look_q + 1'b1;
        choice_is_rr_q <= dirty_q == '0 || since_q == '1;
        choice_q       <= (dirty_q != '0 && since_q != '1) ? dirty_idx : rr_q;
      end
      if (limit_sent_i) begin
        if (limit_is_rr_q) rr_q <= rr_q + 1'b1;
        if (limit_is_rr_q) since_q <= '0;
        else if (since_q != '1) since_q <= since_q + 1'b1;
      end
    end
    if (looks && phase_q) begin
      limit_channel_q <= choice_q;
      limit_q         <= now;
      limit_is_rr_q   <= choice_is_rr_q;
    end
  end
  assign limit_channel_o = limit_channel_q;
  assign limit_o = limit_q;
  assign urgent_o = urgent_q != '0;
  assign ready_o = known_q && !sweep_q;

  `GS_ASSERT_NOW(packets_are_taken_only_with_credits, (take_i & ~enough_q) == '0)
  `GS_ASSERT_NOW(taken_packets_were_examined, !took_q || fits)
  `GS_ASSERT_NOW(no_flit_enters_while_a_session_begins, push_i == '0 || !sweep_q)
  `GS_ASSERT_NOW(limits_are_sent_only_when_known, !limit_sent_i || ready_o)
endmodule
