// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Transmitter of an Ethernet MAC: from a stream of bytes to GMII or MII, with preamble, padding to 60 bytes, frame
/// check sequence (FCS) and gap.
///
/// A frame begins when `start_i` says that the stream can deliver it without a pause; `begin_o` acknowledges this. A
/// frame that pauses or is longer than `MaxBytes` with FCS is cut: it ends with `tx_er_o` and the complement of the
/// right FCS, and the transmitter discards its rest. Frames that wait follow each other with exactly `GapBytes`.
///
///     start_i   __/~~~~\_______________________________________
///     tx_en_o   ____/~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\_____
///     txd_o     ____X 55 X ... X D5 X d0 X ... X pad X FCS X___
module gs_eth_tx #(
  /// longest frame in bytes, with FCS: 64 to 16383
  parameter int unsigned MaxBytes = 9018,
  /// gap between frames in bytes, 1 to 63
  parameter int unsigned GapBytes = 12
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  /// the stream can deliver a whole frame
  input  logic       start_i,
  output logic       begin_o,
  input  logic       in_valid_i,
  output logic       in_ready_o,
  input  logic [7:0] in_data_i,
  input  logic       in_last_i,

  /// GMII; at 10 and 100 Mb/s (`nibble_i`) the lower four bits. The outputs change in cycles with `ce_i`.
  input  logic       ce_i,
  input  logic       nibble_i,
  output logic [7:0] txd_o,
  output logic       tx_en_o,
  output logic       tx_er_o
);
  import gs_eth_pkg::*;

  if (MaxBytes < 64 || MaxBytes > 16383) begin : gen_illegal_max
    $fatal(1, "gs_eth_tx: MaxBytes is %0d; it must be 64 to 16383", MaxBytes);
  end
  if (GapBytes < 1 || GapBytes > 63) begin : gen_illegal_gap
    $fatal(1, "gs_eth_tx: GapBytes is %0d; it must be 1 to 63", GapBytes);
  end

  typedef logic [13:0] length_t;
  localparam length_t LeastBytes = 60;
  localparam length_t MostBytes = length_t'(MaxBytes - 4);

  typedef enum logic [2:0] {
    Idle,
    Preamble,
    Data,
    Pad,
    Fcs,
    Gap
  } state_e;

  // `step_q` counts the bytes of a state, `length_q` those of the frame without FCS.
  state_e      state_q, state_d;
  logic [5:0]  step_q, step_d;
  length_t     length_q;
  logic [31:0] crc_q;
  logic        half_q, cut_q, cut_d, drain_q, drain_d;
  logic        tick, go, enough;
  logic [7:0]  data;

  // The last cycle of a byte.
  assign tick   = ce_i && (!nibble_i || half_q);
  assign go     = start_i && !drain_q;
  assign enough = length_q >= LeastBytes - 1'b1;

  always_comb begin
    state_d    = state_q;
    step_d     = step_q;
    cut_d      = cut_q;
    drain_d    = drain_q && !(in_valid_i && in_last_i);
    begin_o    = 1'b0;
    in_ready_o = drain_q;
    data       = 8'h55;
    unique case (state_q)
      Idle: begin
        step_d = '0;
        cut_d  = 1'b0;
        if (tick && go) begin
          state_d = Preamble;
          begin_o = 1'b1;
        end
      end
      Preamble: begin
        if (step_q == 7) data = 8'hD5;
        if (tick) begin
          step_d = step_q + 1'b1;
          if (step_q == 7) state_d = Data;
        end
      end
      Data: begin
        data       = in_data_i;
        in_ready_o = tick;
        step_d     = '0;
        if (tick) begin
          if (!in_valid_i || length_q == MostBytes) begin
            state_d = Fcs;
            cut_d   = 1'b1;
            drain_d = !(in_valid_i && in_last_i);
          end else if (in_last_i) begin
            state_d = enough ? Fcs : Pad;
          end
        end
      end
      Pad: begin
        data = 8'h00;
        if (tick && enough) state_d = Fcs;
      end
      Fcs: begin
        data = crc_q[7:0] ^ {8{!cut_q}};
        if (tick) begin
          step_d = step_q + 1'b1;
          if (step_q == 3) begin
            state_d = Gap;
            step_d  = '0;
          end
        end
      end
      default: begin  // Gap
        cut_d = 1'b0;
        if (tick) begin
          step_d = step_q + 1'b1;
          if (step_q == 6'(GapBytes - 1)) begin
            state_d = Idle;
            step_d  = '0;
            if (go) begin
              state_d = Preamble;
              begin_o = 1'b1;
            end
          end
        end
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    state_q <= state_d;
    step_q  <= step_d;
    cut_q   <= cut_d;
    drain_q <= drain_d;
    if (ce_i) half_q <= nibble_i && !half_q;
    if (tick) begin
      if (state_q == Data || state_q == Pad) begin
        crc_q    <= crc_next(crc_q, data);
        length_q <= length_q + 1'b1;
      end else if (state_q == Fcs) begin
        crc_q <= crc_q >> 8;
      end else begin
        crc_q    <= '1;
        length_q <= '0;
      end
    end
    if (ce_i) begin
      txd_o   <= nibble_i ? {4'b0, half_q ? data[7:4] : data[3:0]} : data;
      tx_en_o <= state_q != Idle && state_q != Gap;
      tx_er_o <= cut_d && state_q != Idle && state_q != Gap;
    end
    if (!rst_ni) begin
      // The gap after a frame that the reset has cut.
      state_q <= Gap;
      step_q  <= '0;
      cut_q   <= 1'b0;
      drain_q <= 1'b0;
      half_q  <= 1'b0;
      tx_en_o <= 1'b0;
      tx_er_o <= 1'b0;
    end
  end

  `GS_ASSERT(error_lies_within_a_frame, tx_er_o |-> tx_en_o)
  `GS_ASSERT(discarded_frame_delays_the_next, begin_o |-> !drain_q)
  `GS_COVER(frame_follows_after_the_gap, state_q == Gap && begin_o)
endmodule
