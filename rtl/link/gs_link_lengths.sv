// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Lengths of the packets that wait to be sent, one queue per channel. The first length of a channel is in a register
/// one cycle after its packet is complete.
module gs_link_lengths
  import gs_link_pkg::*;
#(
  /// packets of a channel that wait after the first, a power of two
  parameter int unsigned Depth = 16
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  /// incoming flits; at most one bit is set
  input  logic    [Channels-1:0] flit_i,
  input  logic                   last_i,
  /// the queue has no free entry
  output logic    [Channels-1:0] full_o,
  /// a complete packet waits, and its number of flits
  output logic    [Channels-1:0] valid_o,
  output count_t  [Channels-1:0] flits_o,
  /// the packet is taken; at most one bit is set
  input  logic    [Channels-1:0] take_i
);
  localparam int unsigned PtrW = $clog2(Depth);

  count_t [Channels-1:0] first_q;
  // Flits of the incoming packet before the present one.
  count_t count_q[Channels];
  logic [PtrW-1:0] wptr_q[Channels];
  logic [PtrW-1:0] rptr_q[Channels];
  logic [Channels-1:0] valid_q, some_q, full_q, store, fill, direct;
  channel_t in_idx, fill_idx;
  count_t length, next;
  logic found, clk;

  gs_clock_gate #(.Linger(2)) u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(flit_i != '0 || valid_q != '0 || some_q != '0),
    .clk_o (clk)
  );

  always_comb begin
    in_idx = '0;
    for (int unsigned i = 0; i < Channels; i++) if (flit_i[i]) in_idx |= channel_t'(i);
  end
  assign length = count_q[in_idx] + count_t'(1);

  always_comb begin
    fill_idx = '0;
    found    = 1'b0;
    for (int unsigned i = 0; i < Channels; i++) begin
      direct[i] = flit_i[i] && last_i && !valid_q[i] && !some_q[i];
      store[i]  = flit_i[i] && last_i && !direct[i];
      fill[i]   = !valid_q[i] && some_q[i] && !found;
      if (fill[i]) begin
        fill_idx = channel_t'(i);
        found    = 1'b1;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      valid_q <= '0;
      some_q  <= '0;
      full_q  <= '0;
      for (int unsigned i = 0; i < Channels; i++) begin
        count_q[i] <= '0;
        wptr_q[i]  <= '0;
        rptr_q[i]  <= '0;
      end
    end else begin
      for (int unsigned i = 0; i < Channels; i++) begin
        if (flit_i[i]) count_q[i] <= last_i ? '0 : count_q[i] + 1'b1;
        if (store[i]) wptr_q[i] <= wptr_q[i] + 1'b1;
        if (fill[i]) rptr_q[i] <= rptr_q[i] + 1'b1;
        if (take_i[i]) valid_q[i] <= 1'b0;
        else if (direct[i] || fill[i]) valid_q[i] <= 1'b1;
        if (store[i]) some_q[i] <= 1'b1;
        else if (fill[i]) some_q[i] <= PtrW'(rptr_q[i] + 1'b1) != wptr_q[i];
        if (fill[i]) full_q[i] <= 1'b0;
        else if (store[i]) full_q[i] <= PtrW'(wptr_q[i] + 1'b1) == rptr_q[i];
      end
    end
    for (int unsigned i = 0; i < Channels; i++) begin
      if (direct[i]) first_q[i] <= length;
      else if (fill[i]) first_q[i] <= next;
    end
  end

  gs_ram_sdp #(
    .Width  (CountW),
    .Depth  (Channels * Depth),
    .Latency(0),
    .Style  ("distributed")
  ) u_queue (
    .clk_i  (clk),
    .we_i   (store != '0),
    .wstrb_i(1'b1),
    .waddr_i({in_idx, wptr_q[in_idx]}),
    .wdata_i(length),
    .re_i   (1'b1),
    .raddr_i({fill_idx, rptr_q[fill_idx]}),
    .rdata_o(next)
  );

  assign full_o  = full_q;
  assign valid_o = valid_q;
  assign flits_o = first_q;

  `GS_ASSERT_NOW(only_complete_packets_are_taken, (take_i & ~valid_q) == '0)
  `GS_ASSERT_NOW(full_channels_receive_no_flits, (flit_i & full_q) == '0)
  `GS_ASSERT_NOW(packets_have_at_most_maxflits_flits, flit_i == '0 || 32'(length) <= MaxFlits)
endmodule
