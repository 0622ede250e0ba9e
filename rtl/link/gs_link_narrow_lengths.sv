// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Lengths of the packets that wait to be sent, one queue per channel, in one block RAM: a channel's first length is
/// read in one cycle.
module gs_link_narrow_lengths
  import gs_link_pkg::*;
#(
  /// packets of a channel that wait, a power of two
  parameter int unsigned Depth = 16
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  /// incoming flits; at most one bit is set
  input  logic [Channels-1:0] flit_i,
  input  logic                last_i,
  /// the queue has no free entry
  output logic [Channels-1:0] full_o,
  /// a complete packet waits
  output logic [Channels-1:0] valid_o,
  /// the length of the channel's first packet, one cycle later
  input  channel_t            channel_i,
  output count_t              flits_o,
  /// the packet is taken; at most one bit is set
  input  logic [Channels-1:0] take_i
);
  localparam int unsigned PtrW = $clog2(Depth);

  logic [Channels-1:0][PtrW:0] write_q, first_q;
  logic [Channels-1:0] inside_q;  // the channel's next flit is not a head
  logic [PtrW:0] write;
  channel_t in_idx;
  count_t earlier, length;
  logic store;

  always_comb begin
    in_idx = '0;
    for (int unsigned i = 0; i < Channels; i++) if (flit_i[i]) in_idx |= channel_t'(i);
  end

  // Flits of the incoming packet before the present one. The RAM is not reset.
  gs_ram_sdp #(
    .Width  (CountW),
    .Depth  (Channels),
    .Latency(0),
    .Style  ("distributed")
  ) u_counts (
    .clk_i,
    .we_i   (flit_i != '0),
    .wstrb_i(1'b1),
    .waddr_i(in_idx),
    .wdata_i(length),
    .re_i   (1'b1),
    .raddr_i(in_idx),
    .rdata_o(earlier)
  );
  assign length = (inside_q[in_idx] ? earlier : '0) + count_t'(1);
  assign store  = flit_i != '0 && last_i;
  assign write  = write_q[in_idx];

  for (genvar i = 0; i < int'(Channels); i++) begin : gen_channel
    assign valid_o[i] = write_q[i] != first_q[i];
    assign full_o[i] = write_q[i] == {!first_q[i][PtrW], first_q[i][PtrW-1:0]};
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        write_q[i]  <= '0;
        first_q[i]  <= '0;
        inside_q[i] <= 1'b0;
      end else begin
        if (flit_i[i] && last_i) write_q[i] <= write + 1'b1;
        if (flit_i[i]) inside_q[i] <= !last_i;
        if (take_i[i]) first_q[i] <= first_q[i] + 1'b1;
      end
    end
  end

  gs_ram_sdp #(
    .Width(CountW),
    .Depth(Channels * Depth),
    .Style("block")
  ) u_queue (
    .clk_i,
    .we_i   (store),
    .wstrb_i(1'b1),
    .waddr_i({in_idx, write[PtrW-1:0]}),
    .wdata_i(length),
    .re_i   (1'b1),
    .raddr_i({channel_i, first_q[channel_i][PtrW-1:0]}),
    .rdata_o(flits_o)
  );

  `GS_ASSERT_NOW(only_complete_packets_are_taken, (take_i & ~valid_o) == '0)
  `GS_ASSERT_NOW(full_channels_receive_no_flits, (flit_i & full_o) == '0)
  `GS_ASSERT_NOW(packets_have_at_most_maxflits_flits, flit_i == '0 || 32'(length) <= MaxFlits)
endmodule
