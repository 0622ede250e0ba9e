// SPDX-License-Identifier: Apache-2.0

/// Types of the Ethernet MAC: results of frames, counters, and the CRC of IEEE 802.3.
package gs_eth_pkg;
  /// Result of a received frame; each frame has one, the first of this list that applies.
  typedef enum logic [2:0] {
    /// bytes were lost, because the reader did not accept them in time
    Overrun = 3'd0,
    /// longer than the maximum
    TooLong = 3'd1,
    /// shorter than 64 bytes, or without a start delimiter
    TooShort = 3'd2,
    /// the PHY reported an error within the frame
    CodeError = 3'd3,
    /// wrong frame check sequence
    CrcError = 3'd4,
    Good = 3'd5
  } result_e;

  /// Counters of frames. They wrap around.
  typedef struct packed {
    logic [31:0] rx_good;
    logic [31:0] rx_crc_error;
    logic [31:0] rx_code_error;
    logic [31:0] rx_too_short;
    logic [31:0] rx_too_long;
    logic [31:0] rx_overrun;
    /// frames accepted for transmission
    logic [31:0] tx_good;
    /// frames that were longer than the maximum; they are sent with an error
    logic [31:0] tx_too_long;
    /// good pause frames; they are counted in rx_good too
    logic [31:0] rx_pause;
  } counters_t;

  /// Code of the speed of a link, as in the status that RGMII carries between frames.
  typedef enum logic [1:0] {
    Speed10 = 2'b00,
    Speed100 = 2'b01,
    Speed1000 = 2'b10
  } speed_e;

  /// The CRC-32 register, least significant bit first, after a further byte. It begins with all ones.
  function automatic logic [31:0] crc_next(logic [31:0] crc, logic [7:0] data);
    logic [31:0] next;
    next = crc ^ {24'b0, data};
    for (int i = 0; i < 8; i++) next = (next >> 1) ^ (next[0] ? 32'hEDB8_8320 : 32'b0);
    return next;
  endfunction

  /// Destination of pause frames; their EtherType and opcode (IEEE 802.3, annex 31B).
  localparam logic [47:0] PauseAddress = 48'h0180_C200_0001;
  localparam logic [31:0] PauseControl = 32'h8808_0001;

  /// The CRC-32 register after a frame and its correct frame check sequence.
  localparam logic [31:0] Residue = 32'hDEBB_20E3;
endpackage
