// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Receiver of an Ethernet MAC: from GMII or MII to a stream of bytes without preamble and frame check sequence (FCS).
///
/// A frame begins after the start delimiter. A wrong FCS, an error of the PHY, less than 64 or more than `MaxBytes`
/// bytes with FCS make it bad: its last byte has `out_error_o`. A frame that is too long ends after `MaxBytes` - 4
/// bytes. The wire cannot wait: a byte that is offered and not accepted is lost, with the rest of its frame, and the
/// frame ends with an item with `out_last_o` and `out_error_o` as soon as the reader accepts one. Frames of which no
/// byte was accepted leave no trace in the stream. After reset, the receiver ignores the rest of a frame in flight.
///
///     rx_dv_i      __/~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\________
///     rxd_i        __X 55 ... D5 X d0 X ... dn X FCS X_______
///     out_valid_o  ____________________/~~~~~~~~~~~~~~~~\____   five byte times and two cycles after a byte
///     out_last_o   ___________________________________/~\____
module gs_eth_rx #(
  /// longest frame in bytes, with FCS: 64 to 16383
  parameter int unsigned MaxBytes = 9018
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  /// GMII; at 10 and 100 Mb/s (`nibble_i`) the lower four bits. The inputs are read in cycles with `ce_i`.
  input  logic                ce_i,
  input  logic                nibble_i,
  input  logic [7:0]          rxd_i,
  input  logic                rx_dv_i,
  input  logic                rx_er_i,

  output logic                out_valid_o,
  input  logic                out_ready_i,
  output logic [7:0]          out_data_o,
  output logic                out_last_o,
  /// the frame is bad; with `out_last_o`
  output logic                out_error_o,

  /// one cycle for each frame
  output logic                result_valid_o,
  output gs_eth_pkg::result_e result_o
);
  import gs_eth_pkg::*;

  if (MaxBytes < 64 || MaxBytes > 16383) begin : gen_illegal_max
    $fatal(1, "gs_eth_rx: MaxBytes is %0d; it must be 64 to 16383", MaxBytes);
  end

  typedef logic [13:0] length_t;
  // The FCS and one more byte, so that the last byte of a frame is known as such.
  localparam int unsigned Held = 5;

  typedef enum logic [1:0] {
    /// after reset or the end of a frame that is not read on: until the end of the carrier
    Skip,
    Idle,
    Preamble,
    Data
  } state_e;

  // Inputs
  logic [7:0] rxd_q;
  logic       dv_q, er_q, ce_q;
  always_ff @(posedge clk_i) begin
    ce_q <= ce_i;
    if (ce_i) begin
      rxd_q <= rxd_i;
      dv_q  <= rx_dv_i;
      er_q  <= rx_er_i;
    end
  end

  // Bytes
  state_e                 state_q, state_d;
  logic                   half_q, half_d, code_q, code_d;
  logic [3:0]             low_q;
  logic [7:0]             data;
  logic                   some, ends, long;
  logic [Held-1:0][7:0]   held_q;
  logic [2:0]             fill_q;
  logic [31:0]            crc_q;
  length_t                length_q;
  result_e                result;
  logic                   result_valid;

  assign data = nibble_i ? {rxd_q[3:0], low_q} : rxd_q;
  assign long = length_q == length_t'(MaxBytes);

  always_comb begin
    state_d      = state_q;
    half_d       = half_q;
    code_d       = code_q;
    some         = 1'b0;
    ends         = 1'b0;
    result_valid = 1'b0;
    result       = Good;
    if (ce_q) begin
      code_d = code_q || (dv_q && er_q);
      unique case (state_q)
        Skip: begin
          code_d = 1'b0;
          if (!dv_q) state_d = Idle;
        end
        Idle, Preamble: begin
          half_d = 1'b0;
          if (!dv_q) begin
            state_d      = Idle;
            code_d       = 1'b0;
            result_valid = state_q == Preamble;
            result       = TooShort;
          end else if (nibble_i ? rxd_q[3:0] == 4'h5 : rxd_q == 8'h55) begin
            state_d = Preamble;
          end else if (nibble_i ? rxd_q[3:0] == 4'hD && state_q == Preamble : rxd_q == 8'hD5) begin
            state_d = Data;
          end else begin
            state_d      = Skip;
            code_d       = 1'b0;
            result_valid = 1'b1;
            result       = TooShort;
          end
        end
        Data: begin
          half_d = nibble_i && !half_q;
          some   = dv_q && (!nibble_i || half_q) && !long;
          // A nibble after the last whole byte is ignored.
          ends   = !dv_q || ((!nibble_i || half_q) && long);
          if (ends) begin
            state_d      = dv_q ? Skip : Idle;
            code_d       = 1'b0;
            result_valid = 1'b1;
            if (dv_q) result = TooLong;
            else if (length_q < 64) result = TooShort;
            else if (code_q) result = CodeError;
            else if (crc_q != Residue) result = CrcError;
          end
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    state_q <= state_d;
    half_q  <= half_d;
    code_q  <= code_d;
    if (ce_q) low_q <= rxd_q[3:0];
    if (some) begin
      held_q   <= {held_q[Held-2:0], data};
      crc_q    <= crc_next(crc_q, data);
      length_q <= length_q + 1'b1;
      if (fill_q != 3'(Held)) fill_q <= fill_q + 1'b1;
    end
    if (state_q != Data) begin
      crc_q    <= '1;
      length_q <= '0;
      fill_q   <= '0;
    end
    if (!rst_ni) begin
      state_q <= Skip;
      code_q  <= 1'b0;
    end
  end

  // The item of this cycle; the second stage decides whether it is accepted.
  logic       valid_q, last_q, error_q, result_valid_q;
  logic [7:0] data_q;
  result_e    result_q;
  always_ff @(posedge clk_i) begin
    valid_q        <= (some || ends) && fill_q == 3'(Held);
    data_q         <= held_q[Held-1];
    last_q         <= ends;
    error_q        <= result != Good;
    result_valid_q <= result_valid;
    result_q       <= result;
    if (!rst_ni) begin
      valid_q        <= 1'b0;
      result_valid_q <= 1'b0;
    end
  end

  // Overrun: `begun_q`, the reader has bytes of a frame without its end; `mark_q`, the end is owed; `drop_q`, the rest
  // of the frame in flight is lost.
  logic begun_q, mark_q, drop_q, lost;
  assign lost        = valid_q && !drop_q && (mark_q || !out_ready_i);
  assign out_valid_o = mark_q || (valid_q && !drop_q);
  assign out_data_o  = data_q;
  assign out_last_o  = mark_q || last_q;
  assign out_error_o = mark_q || error_q;
  always_ff @(posedge clk_i) begin
    if (out_valid_o && out_ready_i) begin
      begun_q <= !out_last_o;
      mark_q  <= 1'b0;
    end
    if (lost && begun_q && !mark_q) mark_q <= 1'b1;
    if (valid_q) drop_q <= (drop_q || lost) && !last_q;
    if (!rst_ni) begin
      begun_q <= 1'b0;
      mark_q  <= 1'b0;
      drop_q  <= 1'b0;
    end
  end

  assign result_valid_o = result_valid_q;
  assign result_o       = valid_q && (drop_q || lost) ? Overrun : result_q;

  `GS_ASSERT(frame_that_ends_has_a_result, valid_q && last_q |-> result_valid_q)
  `GS_ASSERT(owed_end_belongs_to_a_begun_frame, mark_q |-> begun_q)
  `GS_COVER(frame_is_good, result_valid_o && result_o == Good)
endmodule
