// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// From a link to an ingress of the switch: converts ready to credits. One register in each direction.
module gs_link_ingress
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  /// initial credits of a channel
  parameter int unsigned Window = 8
) (
  input  logic      clk_i,
  input  logic      rst_ni,
  // From the link; valid only if the channel is ready
  input  channels_t rx_valid_i,
  output channels_t rx_ready_o,
  input  flit_t     rx_flit_i,
  // To the switch
  output channels_t out_valid_o,
  output flit_t     out_o,
  input  channels_t out_credit_i
);
  localparam int unsigned CountW = $clog2(Window + 1);

  for (genvar c = 0; c < SwitchChannels; c++) begin : gen_channel
    logic [CountW-1:0] count_q, count_d;
    assign count_d = count_q - CountW'(rx_valid_i[c]) + CountW'(out_credit_i[c]);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        count_q       <= CountW'(Window);
        rx_ready_o[c] <= 1'b0;
      end else begin
        count_q       <= count_d;
        rx_ready_o[c] <= count_d != '0;
      end
    end
    `GS_ASSERT_NOW(only_used_credits_return, count_q < CountW'(Window) || !out_credit_i[c])
  end

  always_ff @(posedge clk_i) begin
    out_valid_o <= rst_ni ? rx_valid_i : '0;
    out_o       <= rx_flit_i;
  end

  `GS_ASSERT_NOW(link_sends_only_when_ready, (rx_valid_i & ~rx_ready_o) == '0)
endmodule
