// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Merges streams of flits of several virtual networks into one output, one flit a cycle.
///
/// The flits of a packet are contiguous within their network; packets of different networks interleave. Arbitration is
/// round-robin for each flit. A network that is not ready blocks only its own packets: an input is granted only if its
/// flit can be sent in this cycle.
///
///     a (mailbox)  =A0=A1=====A2=        ready[mailbox]  ~~~~\_/~~
///     b (request)  =B0=====B1====        out             =A0=B0=A1=B1=A2=
module gs_packet_arbiter
  import gossamer_pkg::*;
#(
  /// inputs
  parameter int unsigned N = 2
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic  [N-1:0] in_valid_i,
  output logic  [N-1:0] in_ready_o,
  input  flit_t         in_i[N],
  /// one-hot: the network of the flit at the output; 0 if there is no flit
  output logic  [3:0]   out_valid_o,
  /// does not depend on out_valid_o
  input  logic  [3:0]   out_ready_i,
  output flit_t         out_o
);
  localparam int unsigned IdxW = (N > 1) ? $clog2(N) : 1;
  // Within a packet only its input may send to its network.
  logic [3:0][N-1:0] open_q;
  logic [N-1:0] request;
  logic [IdxW-1:0] unused_idx;

  for (genvar i = 0; i < N; i++) begin : gen_in
    assign request[i] = in_valid_i[i] && out_ready_i[in_i[i].vnet] && open_q[in_i[i].vnet][i];
  end

  gs_arbiter #(.N(N)) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (request),
    .gnt_o    (in_ready_o),
    .idx_o    (unused_idx),
    .advance_i(1'b1)
  );

  always_comb begin
    out_o = '0;
    for (int unsigned i = 0; i < N; i++) if (in_ready_o[i]) out_o |= in_i[i];
    out_valid_o = (request != '0) ? 4'b0001 << out_o.vnet : '0;
  end

  for (genvar v = 0; v < 4; v++) begin : gen_network
    always_ff @(posedge clk_i) begin
      if (!rst_ni) open_q[v] <= '1;
      else if (out_valid_o[v]) open_q[v] <= out_o.last ? '1 : in_ready_o;
    end
  end

  `GS_ASSERT_NOW(flit_is_sent_only_to_a_ready_network, (out_valid_o & ~out_ready_i) == '0)
endmodule
