// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Merges streams of flits into virtual networks that share one output, a flit a cycle.
///
/// Within a network a packet has the output to itself from its first flit to its last; packets of different networks
/// interleave. Inputs take turns flit by flit. A network that does not take flits holds up its own packets alone: an
/// input is chosen only if its flit can leave in this cycle.
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
  /// one of them is 1 if there is a flit: its network
  output logic  [3:0]   out_valid_o,
  /// does not depend on out_valid_o
  input  logic  [3:0]   out_ready_i,
  output flit_t         out_o
);
  localparam int unsigned IdxW = (N > 1) ? $clog2(N) : 1;
  // Inside a packet only the input that began it goes on in its network.
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

  `GS_ASSERT_NOW(a_flit_leaves_only_where_it_is_taken, (out_valid_o & ~out_ready_i) == '0)
endmodule
