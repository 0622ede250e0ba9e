// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Queues of items, one per channel, in one block RAM, for a link with a narrow datapath: one item enters a cycle; an
/// item that is read is at the output one cycle later, and stays there until the next one is read.
///
/// Reading does not remove the item: so a reader may look at an item and leave it.
module gs_link_narrow_store
  import gs_link_pkg::*;
#(
  /// payload
  parameter type         data_t = logic [31:0],
  /// items of a channel, a power of two
  parameter int unsigned Depth  = 64
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  /// at most one bit is set
  input  logic [Channels-1:0] in_valid_i,
  output logic [Channels-1:0] in_ready_o,
  input  data_t               in_data_i,
  /// channels that hold an item
  output logic [Channels-1:0] some_o,
  /// reads the first item of a channel
  input  logic                read_i,
  input  channel_t            channel_i,
  output data_t               data_o,
  /// removes the first item of a channel; at most one bit is set
  input  logic [Channels-1:0] pop_i
);
  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : gen_illegal_depth
    $fatal(1, "gs_link_narrow_store: Depth is %0d; it must be a power of two, and at least 2", Depth);
  end

  localparam int unsigned PtrW = $clog2(Depth);

  logic [Channels-1:0][PtrW:0] write_q, first_q;
  logic [PtrW:0] write;
  channel_t in_idx;
  always_comb begin
    in_idx = '0;
    for (int unsigned i = 0; i < Channels; i++) if (in_valid_i[i]) in_idx |= channel_t'(i);
  end
  assign write = write_q[in_idx];

  for (genvar i = 0; i < int'(Channels); i++) begin : gen_channel
    assign some_o[i] = write_q[i] != first_q[i];
    assign in_ready_o[i] = write_q[i] != {!first_q[i][PtrW], first_q[i][PtrW-1:0]};
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        write_q[i] <= '0;
        first_q[i] <= '0;
      end else begin
        if (in_valid_i[i]) write_q[i] <= write + 1'b1;
        if (pop_i[i]) first_q[i] <= first_q[i] + 1'b1;
      end
    end
    `GS_ASSERT_NOW(full_channels_receive_no_items, !in_valid_i[i] || in_ready_o[i])
    `GS_ASSERT_NOW(empty_channels_are_never_popped, !pop_i[i] || some_o[i])
  end

  gs_ram_sdp #(
    .Width($bits(data_t)),
    .Depth(Channels * Depth),
    .Style("block")
  ) u_items (
    .clk_i,
    .we_i   (in_valid_i != '0),
    .wstrb_i(1'b1),
    .waddr_i({in_idx, write[PtrW-1:0]}),
    .wdata_i(in_data_i),
    .re_i   (read_i),
    .raddr_i({channel_i, first_q[channel_i][PtrW-1:0]}),
    .rdata_o(data_o)
  );

  `GS_ASSERT_NOW(at_most_one_channel_pushes, (in_valid_i & (in_valid_i - 1'b1)) == '0)
  `GS_ASSERT_NOW(only_items_are_read, !read_i || some_o[channel_i])
  `GS_ASSERT_NOW(item_is_not_read_while_it_is_written, !u_items.collides)
endmodule
