// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Buffers of all channels of a port in one distributed RAM: one flit enters and one leaves a cycle.
///
/// The flit of the channel selected by `at_i` is at the output in the same cycle; `pop_i` removes it.
module gs_channel_buffer
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  /// flits that a channel can hold, a power of two: the sender's initial credits
  parameter int unsigned Window = 8
) (
  input  logic      clk_i,
  input  logic      rst_ni,
  input  channels_t in_valid_i,
  input  flit_t     in_i,
  output channels_t in_credit_o,
  /// channels that hold a flit
  output channels_t some_o,
  input  channel_t  at_i,
  output flit_t     flit_o,
  input  logic      pop_i
);
  localparam int unsigned SlotW = $clog2(Window);

  if (Window != 1 << SlotW) begin : gen_illegal_window
    $fatal(1, "gs_channel_buffer: Window is %0d; it must be a power of two", Window);
  end

  logic [SwitchChannels-1:0][SlotW-1:0] write_q, read_q;
  channels_t pops;
  channel_t in_at;

  always_comb begin
    in_at = '0;
    pops  = '0;
    for (int unsigned c = 0; c < SwitchChannels; c++) begin
      if (in_valid_i[c]) in_at |= channel_t'(c);
      pops[c] = pop_i && at_i == channel_t'(c);
    end
  end

  gs_ram_sdp #(
    .Width  ($bits(flit_t)),
    .Depth  (SwitchChannels * Window),
    .Latency(0),
    .Style  ("distributed")
  ) u_flits (
    .clk_i,
    .we_i   (in_valid_i != '0),
    .wstrb_i(1'b1),
    .waddr_i({in_at, write_q[in_at]}),
    .wdata_i(in_i),
    .re_i   (1'b1),
    .raddr_i({at_i, read_q[at_i]}),
    .rdata_o(flit_o)
  );

  for (genvar c = 0; c < SwitchChannels; c++) begin : gen_channel
    logic [SlotW:0] count_q;
    assign some_o[c] = count_q != '0;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        count_q    <= '0;
        write_q[c] <= '0;
        read_q[c]  <= '0;
      end else begin
        count_q <= count_q + (SlotW + 1)'(in_valid_i[c]) - (SlotW + 1)'(pops[c]);
        if (in_valid_i[c]) write_q[c] <= write_q[c] + SlotW'(1);
        if (pops[c]) read_q[c] <= read_q[c] + SlotW'(1);
      end
    end
    `GS_ASSERT_NOW(full_channels_receive_no_flits, !in_valid_i[c] || count_q != (SlotW + 1)'(Window))
    `GS_ASSERT_NOW(empty_channels_are_never_popped, !pops[c] || some_o[c])
  end
  always_ff @(posedge clk_i) in_credit_o <= rst_ni ? pops : '0;

  `GS_ASSERT_NOW(at_most_one_channel_pushes, (in_valid_i & (in_valid_i - channels_t'(1))) == '0)
endmodule
