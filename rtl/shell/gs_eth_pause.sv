// SPDX-License-Identifier: Apache-2.0

/// Flow control of a full-duplex link by pause frames (IEEE 802.3, annex 31B), in the clock of the transmitter: makes
/// the frames that stop the peer and let it continue, and counts the time for which the peer has stopped this station.
///
///     pause_i   __/~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\_________
///     frames      [Quanta]      [Quanta]          [0]         the second after half of the time of the first
module gs_eth_pause #(
  /// time that a frame asks for, in units of 512 bits, 2 or more
  parameter logic [15:0] Quanta = 16'hFFFF
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  /// 1 for a cycle in each byte time
  input  logic        tick_i,
  /// this station's address, first byte in the highest bits
  input  logic [47:0] mac_i,
  /// the peer must not begin a frame
  input  logic        pause_i,
  // Of a received pause frame
  input  logic        quanta_valid_i,
  input  logic [15:0] quanta_i,
  /// this station must not begin a frame, except for pause frames
  output logic        paused_o,
  // Transmitter: a frame without padding and FCS begins with begin_i; ready_i takes a byte
  output logic        start_o,
  input  logic        begin_i,
  input  logic        ready_i,
  output logic [7:0]  data_o,
  output logic        last_o
);
  localparam int unsigned Bytes = 18;

  // The peer's request
  logic [15:0] left_q;
  logic [5:0]  byte_q;           // bytes of the unit that has begun
  assign paused_o = left_q != '0;
  always_ff @(posedge clk_i) begin
    if (quanta_valid_i) begin
      left_q <= quanta_i;
      byte_q <= '0;
    end else if (tick_i && paused_o) begin
      byte_q <= byte_q + 1'b1;
      if (&byte_q) left_q <= left_q - 1'b1;
    end
    if (!rst_ni) left_q <= '0;
  end

  // Requests to the peer
  logic        told_q;           // what the last frame has asked for
  logic [21:0] again_q;          // bytes until it is repeated
  logic [15:0] quanta_q;
  logic [4:0]  at_q;
  assign start_o = pause_i != told_q || (told_q && again_q == '0);
  assign last_o  = at_q == 5'(Bytes - 1);
  logic [Bytes-1:0][7:0] frame;
  assign frame  = {gs_eth_pkg::PauseAddress, mac_i, gs_eth_pkg::PauseControl, quanta_q};
  assign data_o = frame[5'(Bytes-1)-at_q];
  always_ff @(posedge clk_i) begin
    if (tick_i && again_q != '0) again_q <= again_q - 1'b1;
    if (ready_i && !last_o) at_q <= at_q + 1'b1;
    if (begin_i) begin
      told_q   <= pause_i;
      again_q  <= {1'b0, Quanta[15:1], 6'd0};
      quanta_q <= pause_i ? Quanta : '0;
      at_q     <= '0;
    end
    if (!rst_ni) told_q <= 1'b0;
  end
endmodule
