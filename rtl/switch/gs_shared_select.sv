// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Round-robin choice among requesters of the four virtual networks, in the same cycle: first of a network, then of a
/// requester within it. A request that is held waits for at most 4 * N - 1 other grants.
module gs_shared_select #(
  /// requesters of a network, 2 or more
  parameter  int unsigned N    = 8,
  localparam int unsigned IdxW = $clog2(N)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [3:0][N-1:0]      req_i,
  output logic                   valid_o,
  output logic [3:0][N-1:0]      gnt_o,
  output logic [1:0]             network_o,
  output logic [IdxW-1:0]        idx_o
);
  logic [3:0] any, network;
  logic [3:0][N-1:0] lane;
  logic [3:0][IdxW-1:0] idx;

  gs_arbiter #(.N(4)) u_networks (
    .clk_i,
    .rst_ni,
    .req_i    (any),
    .gnt_o    (network),
    .idx_o    (network_o),
    .advance_i(1'b1)
  );
  for (genvar v = 0; v < 4; v++) begin : gen_network
    assign any[v] = req_i[v] != '0;
    gs_arbiter #(.N(N)) u_lanes (
      .clk_i,
      .rst_ni,
      .req_i    (req_i[v]),
      .gnt_o    (lane[v]),
      .idx_o    (idx[v]),
      .advance_i(network[v])
    );
    assign gnt_o[v] = network[v] ? lane[v] : '0;
  end
  always_comb begin
    idx_o = '0;
    for (int unsigned v = 0; v < 4; v++) if (network[v]) idx_o |= idx[v];
  end
  assign valid_o = any != '0;
endmodule
