// SPDX-License-Identifier: Apache-2.0

/// Crossing of pulses: each cycle with `pulse_i` becomes one cycle with `pulse_o` in the other clock, also for pulses
/// in successive cycles and at any ratio of the clocks. Up to 2 ** CountBits - 1 pulses may be in flight; `full_o`
/// tells the sender that no further pulse is accepted.
module gs_pulse_cdc #(
  /// bits of the count of pulses
  parameter int unsigned CountBits = 4
) (
  input  logic wclk_i,
  input  logic wrst_ni,
  input  logic pulse_i,
  /// no further pulse is accepted
  output logic full_o,

  input  logic rclk_i,
  input  logic rrst_ni,
  output logic pulse_o
);
  // The count of pulses crosses in Gray code; the other side makes one pulse for each step that it has not made yet.
  typedef logic [CountBits-1:0] count_t;
  function automatic count_t gray(count_t binary);
    return binary ^ (binary >> 1);
  endfunction

  count_t sent_q, sent_d, sent_gray_q, done_gray_w;
  assign sent_d = sent_q + count_t'(pulse_i);
  always_ff @(posedge wclk_i) begin
    sent_q      <= sent_d;
    sent_gray_q <= gray(sent_d);
    // A further pulse would make the counts equal, as if there were none; one may be sent before this is seen.
    full_o      <= gray(sent_d + count_t'(1)) == done_gray_w || gray(sent_d + count_t'(2)) == done_gray_w;
    if (!wrst_ni) begin
      sent_q      <= '0;
      sent_gray_q <= '0;
      full_o      <= 1'b0;
    end
  end

  count_t done_q, done_d, done_gray_q, sent_gray_r;
  logic   step;
  assign step   = done_gray_q != sent_gray_r;
  assign done_d = done_q + count_t'(step);
  always_ff @(posedge rclk_i) begin
    done_q      <= done_d;
    done_gray_q <= gray(done_d);
    pulse_o     <= step;
    if (!rrst_ni) begin
      done_q      <= '0;
      done_gray_q <= '0;
      pulse_o     <= 1'b0;
    end
  end

  gs_sync #(.Width(CountBits)) u_sync_done (
    .clk_i(wclk_i), .rst_ni(wrst_ni), .data_i(done_gray_q), .data_o(done_gray_w)
  );
  gs_sync #(.Width(CountBits)) u_sync_sent (
    .clk_i(rclk_i), .rst_ni(rrst_ni), .data_i(sent_gray_q), .data_o(sent_gray_r)
  );
endmodule
