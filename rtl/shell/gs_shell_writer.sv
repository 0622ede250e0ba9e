// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Writes bytes of a source of words to memory at any address: AXI4, one beat of eight bytes a burst, with strobes. The
/// responses of up to `Outstanding` writes may be missing; `done_o` comes when all have arrived.
///
/// Two words take three cycles, since a beat leaves before the next one is collected.
module gs_shell_writer #(
  parameter int unsigned AddrW       = 32,
  /// writes whose response has not arrived
  parameter int unsigned Outstanding = 16
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  /// begins; the inputs are constant until done_o. bytes_i is 1 or more
  input  logic             start_i,
  input  logic [AddrW-1:0] address_i,
  input  logic [16:0]      bytes_i,
  /// for one cycle; fail_o: a response was an error
  output logic             done_o,
  output logic             fail_o,
  // Words, first byte in the lowest bits
  input  logic             word_valid_i,
  output logic             word_ready_o,
  input  logic [31:0]      word_i,
  // AXI4 write channels
  output logic             aw_valid_o,
  input  logic             aw_ready_i,
  output logic [AddrW-1:0] aw_addr_o,
  output logic             w_valid_o,
  input  logic             w_ready_i,
  output logic [63:0]      w_data_o,
  output logic [7:0]       w_strb_o,
  input  logic             b_valid_i,
  input  logic             b_error_i
);
  localparam int unsigned CountW = $clog2(Outstanding + 1);

  logic              busy_q, fail_q;
  logic [AddrW-4:0]  beat_q;        // address of the beat that is collected
  logic [2:0]        lane_q;        // place of its next byte
  logic [16:0]       left_q;        // bytes that have not been taken
  logic [63:0]       data_q;
  logic [7:0]        strb_q;
  logic              aw_q, w_q;     // a beat waits for the address channel, the data channel
  logic [AddrW-4:0]  aw_beat_q;
  logic [63:0]       w_data_q;
  logic [7:0]        w_strb_q;
  logic [CountW-1:0] missing_q;

  logic [2:0]  count;
  logic [95:0] placed;
  logic [11:0] placed_strb;
  assign count       = left_q >= 17'd4 ? 3'd4 : left_q[2:0];
  assign placed      = 96'(word_i) << {lane_q, 3'd0};
  assign placed_strb = 12'((12'd1 << count) - 12'd1) << lane_q;

  logic       take, flush, emit, free;
  logic [3:0] end_lane;
  assign free         = !aw_q && !w_q && missing_q != CountW'(Outstanding);
  assign flush        = busy_q && left_q == '0 && strb_q != '0;   // the end lies in a beat of its own
  assign word_ready_o = busy_q && left_q != '0 && free;
  assign take         = word_valid_i && word_ready_o;
  assign end_lane     = {1'b0, lane_q} + {1'b0, count};
  assign emit         = (take && (end_lane[3] || left_q <= 17'd4)) || (flush && free);

  assign aw_valid_o = aw_q;
  assign aw_addr_o  = {aw_beat_q, 3'd0};
  assign w_valid_o  = w_q;
  assign w_data_o   = w_data_q;
  assign w_strb_o   = w_strb_q;

  logic ended;
  assign ended = busy_q && left_q == '0 && strb_q == '0 && !aw_q && !w_q && missing_q == '0;

  always_ff @(posedge clk_i) begin
    done_o <= ended;
    fail_o <= fail_q;
    if (aw_ready_i) aw_q <= 1'b0;
    if (w_ready_i) w_q <= 1'b0;
    missing_q <= missing_q + CountW'(emit) - CountW'(b_valid_i);
    if (b_valid_i && b_error_i) fail_q <= 1'b1;
    if (take) begin
      left_q <= left_q - 17'(count);
      lane_q <= end_lane[2:0];
      if (end_lane[3]) begin
        data_q <= {32'd0, placed[95:64]};
        strb_q <= {4'd0, placed_strb[11:8]};
      end else begin
        data_q <= data_q | placed[63:0];
        strb_q <= strb_q | placed_strb[7:0];
      end
    end
    if (emit) begin
      aw_q      <= 1'b1;
      w_q       <= 1'b1;
      aw_beat_q <= beat_q;
      w_data_q  <= flush ? data_q : data_q | placed[63:0];
      w_strb_q  <= flush ? strb_q : strb_q | placed_strb[7:0];
      beat_q    <= beat_q + 1'b1;
      if (flush || !end_lane[3]) strb_q <= '0;
      if (flush) data_q <= '0;
    end
    if (ended) busy_q <= 1'b0;
    if (start_i && !busy_q) begin
      busy_q <= 1'b1;
      fail_q <= 1'b0;
      beat_q <= address_i[AddrW-1:3];
      lane_q <= address_i[2:0];
      left_q <= bytes_i;
      data_q <= '0;
      strb_q <= '0;
    end
    if (!rst_ni) begin
      busy_q    <= 1'b0;
      aw_q      <= 1'b0;
      w_q       <= 1'b0;
      missing_q <= '0;
      done_o    <= 1'b0;
    end
  end

  `GS_ASSERT_NOW(a_write_has_bytes, !(start_i && !busy_q) || bytes_i != '0)
  `GS_ASSERT_NOW(a_response_has_a_write, !b_valid_i || missing_q != '0)
endmodule
