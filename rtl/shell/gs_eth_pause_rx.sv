// SPDX-License-Identifier: Apache-2.0

/// Finds pause frames (IEEE 802.3, annex 31B) among received frames: to 01:80:C2:00:00:01 or to this station, EtherType
/// 8808, opcode 1. Only a good frame counts, which is known with its last byte. It stays in the stream.
module gs_eth_pause_rx (
  input  logic        clk_i,
  input  logic        rst_ni,
  /// this station's address, first byte in the highest bits
  input  logic [47:0] mac_i,
  // A byte of a frame in each cycle with valid_i; error_i with last_i: the frame is bad
  input  logic        valid_i,
  input  logic        last_i,
  input  logic        error_i,
  input  logic [7:0]  data_i,
  /// one cycle for each pause frame: for how many times 512 bits the peer wants nothing
  output logic        quanta_valid_o,
  output logic [15:0] quanta_o
);
  /// Bytes up to the end of the quanta
  localparam logic [4:0] Bytes = 5'd18;

  logic [4:0]       at_q;
  logic             group_q, own_q, control_q;
  logic [15:0]      quanta_q;
  logic [5:0][7:0]  group, own;
  logic [3:0][7:0]  control;
  assign group   = gs_eth_pkg::PauseAddress;
  assign own     = mac_i;
  assign control = gs_eth_pkg::PauseControl;

  always_ff @(posedge clk_i) begin
    quanta_valid_o <= valid_i && last_i && !error_i && at_q >= Bytes - 5'd1 && (group_q || own_q) && control_q;
    quanta_o       <= at_q == Bytes - 5'd1 ? {quanta_q[15:8], data_i} : quanta_q;
    if (valid_i) begin
      at_q <= last_i ? '0 : at_q + 5'(at_q != Bytes);
      if (at_q == '0) {group_q, own_q, control_q} <= '1;
      if (at_q < 5'd6) begin
        if (data_i != group[3'd5-at_q[2:0]]) group_q <= 1'b0;
        if (data_i != own[3'd5-at_q[2:0]]) own_q <= 1'b0;
      end
      if (at_q >= 5'd12 && at_q < 5'd16 && data_i != control[2'd3-at_q[1:0]]) control_q <= 1'b0;
      if (at_q == 5'd16) quanta_q[15:8] <= data_i;
      if (at_q == 5'd17) quanta_q[7:0] <= data_i;
    end
    if (!rst_ni) begin
      at_q           <= '0;
      quanta_valid_o <= 1'b0;
    end
  end
endmodule
