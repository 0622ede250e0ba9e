// SPDX-License-Identifier: Apache-2.0

/// Marks the last flit of each message in a stream of flits. Packets of different virtual networks may be interleaved;
/// a packet that begins with a header is not a message.
module gs_packet_delimiter
  import gs_noc_pkg::Vnets;
  import gossamer_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,
  /// one-hot or zero: a flit of this network passes
  input  logic  [Vnets-1:0] valid_i,
  input  flit_t             flit_i,
  /// the flit is the last of a message
  output logic              message_o
);
  logic [Vnets-1:0] first_q, header_q, header;

  always_comb begin
    for (int unsigned v = 0; v < Vnets; v++) begin
      header[v] = first_q[v] ? flit_i.kind == FlitKindHeader : header_q[v];
    end
    message_o = (valid_i & ~header) != '0 && flit_i.last;
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned v = 0; v < Vnets; v++) begin
      if (!rst_ni) first_q[v] <= 1'b1;
      else if (valid_i[v]) first_q[v] <= flit_i.last;
      if (valid_i[v]) header_q[v] <= header[v];
    end
  end

  logic unused;
  assign unused = ^{flit_i.vnet, flit_i.job, flit_i.epoch, flit_i.wave, flit_i.dest, flit_i.payload};
endmodule
