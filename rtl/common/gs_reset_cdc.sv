// SPDX-License-Identifier: Apache-2.0

/// Reset of the two sides of a crossing between clocks, from a reset of one of the clocks.
///
/// A handshake resets the other side first and then this side of the crossing (gs_fifo_async, gs_pulse_cdc): the other
/// side never sees pointers that have returned to 0, which it would take for new items. Both sides are in reset at the
/// same time, each for at least four cycles of its clock, at any ratio of the clocks. Logic of this side is in reset
/// from the first cycle to the last (`rst_no`); until then it offers the crossing nothing and takes nothing from it.
///
/// If the other clock does not run, this side stays in reset until it does. `rst_ni` may be as short as one cycle. Both
/// sides begin in reset when the device is configured.
///
///     rst_ni           ~~\_/~~~~~~~~~~~~~~~~~~~~~~~~~~~
///     rst_no           ~~\_________________________/~~~
///     other_rst_no     ~~~~~~~~~\____________/~~~~~~~~~
///     crossing_rst_no  ~~~~~~~~~~~~~~~\____________/~~~
module gs_reset_cdc (
  input  logic clk_i,
  input  logic rst_ni,
  /// reset of the logic of this side, in `clk_i`
  output logic rst_no,
  /// reset of this side of the crossing, in `clk_i`
  output logic crossing_rst_no,
  input  logic other_clk_i,
  /// reset of the other side, in `other_clk_i`
  output logic other_rst_no
);
  // A handshake of four phases: request, acknowledgment, end of each. This side leaves reset after the last one. A
  // reset that comes after a request has ended waits for the end of its acknowledgment: it needs a request of its own.
  logic request_q = 1'b1, again_q = 1'b0, reset_q = 1'b1;
  logic seen;
  always_ff @(posedge clk_i) begin
    request_q <= request_q ? !(seen && rst_ni) : again_q && !seen;
    again_q   <= !request_q && (!rst_ni || (again_q && seen));
    reset_q   <= !rst_ni || again_q || request_q || seen;
  end
  assign rst_no          = rst_ni && !reset_q;
  assign crossing_rst_no = !seen;

  // The request is acknowledged when the other side has been in reset for four cycles.
  logic [3:0] held_q = '1;
  logic       acknowledge_q = 1'b0, other_reset_q = 1'b1;
  logic       request_other;
  always_ff @(posedge other_clk_i) begin
    held_q        <= {held_q[2:0], request_other};
    acknowledge_q <= held_q == '1;
    other_reset_q <= request_other || held_q != '0;
  end
  assign other_rst_no = !other_reset_q;

  gs_sync u_sync_request (.clk_i(other_clk_i), .rst_ni(1'b1), .data_i(request_q), .data_o(request_other));
  gs_sync u_sync_seen (.clk_i, .rst_ni(1'b1), .data_i(acknowledge_q), .data_o(seen));
endmodule
