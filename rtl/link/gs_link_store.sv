// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Queues of flits, one per channel, in one block RAM. Over all channels, one flit enters and one leaves a cycle.
///
/// The first flits of every channel wait in a small distributed RAM with an asynchronous read. A flit that arrives at
/// an empty channel enters this RAM directly and is at the output one cycle later.
///
///     in ->+-------------------------------->[ front ]-> out
///          +->[ block RAM ]->[ read ]->------^
module gs_link_store
  import gs_link_pkg::*;
#(
  /// payload
  parameter type         data_t = logic [31:0],
  /// items of a channel in the block RAM, a power of two; up to four more wait at the front
  parameter int unsigned Depth  = 64
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  /// at most one bit is set
  input  logic [Channels-1:0] in_valid_i,
  output logic [Channels-1:0] in_ready_o,
  input  data_t               in_data_i,
  output logic [Channels-1:0] out_valid_o,
  /// selects the channel of the item at the output
  input  channel_t            out_channel_i,
  output data_t               out_data_o,
  /// removes the item at the output
  input  logic                out_pop_i
);
  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : gen_illegal_depth
    $fatal(1, "gs_link_store: Depth is %0d; it must be a power of two, and at least 2", Depth);
  end

  localparam int unsigned PtrW = $clog2(Depth);
  localparam int unsigned Front = 4;
  localparam int unsigned FrontW = $clog2(Front);
  localparam int unsigned Width = $bits(data_t);

  logic [Channels-1:0] back_q, back_d, ready_q, ready_d, front_q, front_d;
  logic [PtrW-1:0] wptr_q[Channels];
  logic [PtrW-1:0] rptr_q[Channels];
  // Items at the front, including the one in flight to it; write and read pointer of the front.
  logic [FrontW:0] held_q[Channels];
  logic [FrontW-1:0] fwptr_q[Channels];
  logic [FrontW-1:0] frptr_q[Channels];
  logic [Channels-1:0] fetching, wants, fetch_gnt, store_back, store_front, pop, land;
  channel_t fetch_idx, in_idx, land_q;
  logic fetch, landing_q, clk;
  data_t read_data;

  gs_clock_gate #(.Linger(2)) u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(in_valid_i != '0 || back_q != '0 || landing_q || front_q != '0),
    .clk_o (clk)
  );

  always_comb begin
    in_idx = '0;
    for (int unsigned i = 0; i < Channels; i++) if (in_valid_i[i]) in_idx |= channel_t'(i);
  end

  // An incoming item goes to the front if no item is before it and no item lands at the front in this cycle.
  always_comb begin
    for (int unsigned i = 0; i < Channels; i++) begin
      pop[i]         = out_pop_i && out_channel_i == channel_t'(i);
      land[i]        = landing_q && land_q == channel_t'(i);
      wants[i]       = back_q[i] && held_q[i] != (FrontW + 1)'(Front);
      store_front[i] = in_valid_i[i] && in_ready_o[i] && !back_q[i] && !landing_q && held_q[i] != (FrontW + 1)'(Front);
      store_back[i]  = in_valid_i[i] && in_ready_o[i] && !store_front[i];
    end
  end

  gs_arbiter #(
    .N(Channels)
  ) u_fetch (
    .clk_i    (clk),
    .rst_ni,
    .req_i    (wants),
    .gnt_o    (fetch_gnt),
    .idx_o    (fetch_idx),
    .advance_i(1'b1)
  );

  assign fetch    = fetch_gnt != '0;
  assign fetching = fetch_gnt;

  always_comb begin
    back_d  = back_q;
    ready_d = ready_q;
    front_d = front_q;
    for (int unsigned i = 0; i < Channels; i++) begin
      // Flags: the block RAM holds an item, and has a free entry.
      if (store_back[i]) back_d[i] = 1'b1;
      else if (fetching[i]) back_d[i] = PtrW'(rptr_q[i] + 1'b1) != wptr_q[i];
      if (fetching[i]) ready_d[i] = 1'b1;
      else if (store_back[i]) ready_d[i] = PtrW'(wptr_q[i] + 1'b1) != rptr_q[i];
      if (land[i] || store_front[i]) front_d[i] = 1'b1;
      else if (pop[i]) front_d[i] = FrontW'(frptr_q[i] + 1'b1) != fwptr_q[i];
    end
  end

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      back_q    <= '0;
      ready_q   <= '1;
      front_q   <= '0;
      landing_q <= 1'b0;
      for (int unsigned i = 0; i < Channels; i++) begin
        wptr_q[i]  <= '0;
        rptr_q[i]  <= '0;
        held_q[i]  <= '0;
        fwptr_q[i] <= '0;
        frptr_q[i] <= '0;
      end
    end else begin
      back_q    <= back_d;
      ready_q   <= ready_d;
      front_q   <= front_d;
      landing_q <= fetch;
      for (int unsigned i = 0; i < Channels; i++) begin
        if (store_back[i]) wptr_q[i] <= wptr_q[i] + 1'b1;
        if (fetching[i]) rptr_q[i] <= rptr_q[i] + 1'b1;
        if (land[i] || store_front[i]) fwptr_q[i] <= fwptr_q[i] + 1'b1;
        if (pop[i]) frptr_q[i] <= frptr_q[i] + 1'b1;
        if ((fetching[i] || store_front[i]) && !pop[i]) held_q[i] <= held_q[i] + 1'b1;
        if (!(fetching[i] || store_front[i]) && pop[i]) held_q[i] <= held_q[i] - 1'b1;
      end
    end
    land_q <= fetch_idx;
  end

  gs_ram_sdp #(
    .Width(Width),
    .Depth(Channels * Depth),
    .Style("block")
  ) u_back (
    .clk_i  (clk),
    .we_i   (store_back != '0),
    .wstrb_i(1'b1),
    .waddr_i({in_idx, wptr_q[in_idx]}),
    .wdata_i(in_data_i),
    .re_i   (fetch),
    .raddr_i({fetch_idx, rptr_q[fetch_idx]}),
    .rdata_o(read_data)
  );

  channel_t front_idx;
  assign front_idx = landing_q ? land_q : in_idx;

  gs_ram_sdp #(
    .Width  (Width),
    .Depth  (Channels * Front),
    .Latency(0),
    .Style  ("distributed")
  ) u_front (
    .clk_i  (clk),
    .we_i   (landing_q || store_front != '0),
    .wstrb_i(1'b1),
    .waddr_i({front_idx, fwptr_q[front_idx]}),
    .wdata_i(landing_q ? read_data : in_data_i),
    .re_i   (1'b1),
    .raddr_i({out_channel_i, frptr_q[out_channel_i]}),
    .rdata_o(out_data_o)
  );

  assign in_ready_o  = ready_q;
  assign out_valid_o = front_q;

  `GS_ASSERT_NOW(at_most_one_channel_pushes, (in_valid_i & (in_valid_i - 1'b1)) == '0)
  `GS_ASSERT_NOW(empty_channels_are_never_popped, !out_pop_i || front_q[out_channel_i])
  `GS_ASSERT_NOW(item_is_not_read_while_it_is_written, !u_back.collides)
endmodule
