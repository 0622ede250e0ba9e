// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Connects a tile's network port, with valid and ready, to the local port of its router, with credits.
///
///     tile  =>[ register ]=> router          one cycle; ready while credits are left
///     router =>[ buffers ]=>[ register ]=> tile     two cycles
///
/// Towards the tile a flit is offered as long as no other network has a flit that the tile would accept. So a network
/// whose flits the tile does not accept blocks no other network.
module gs_mesh_local
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
#(
  /// flits of each virtual network that a receiver can buffer, in both directions: the initial number of credits
  parameter int unsigned Depth = MeshBufferFlits
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // From the tile; a flit is valid only if it is accepted
  input  logic  [Vnets-1:0] tile_valid_i,
  output logic  [Vnets-1:0] tile_ready_o,
  input  flit_t             tile_i,
  // To the tile; ready does not depend on the offered flit
  output logic  [Vnets-1:0] tile_valid_o,
  input  logic  [Vnets-1:0] tile_ready_i,
  output flit_t             tile_o,
  // To the router
  output logic  [Vnets-1:0] out_valid_o,
  output flit_t             out_o,
  input  logic  [Vnets-1:0] out_credit_i,
  // From the router
  input  logic  [Vnets-1:0] in_valid_i,
  input  flit_t             in_i,
  output logic  [Vnets-1:0] in_credit_o
);
  localparam int unsigned CountW = $clog2(Depth + 1);
  localparam int unsigned PtrW = $clog2(Depth);

  // ------------------------------------------------------------- to router
  logic [Vnets-1:0] out_valid_q, ready_q;
  flit_t out_q;

  for (genvar v = 0; v < Vnets; v++) begin : gen_credit
    logic [CountW-1:0] count_q, count_d;
    assign count_d = count_q - CountW'(tile_valid_i[v]) + CountW'(out_credit_i[v]);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        count_q    <= CountW'(Depth);
        ready_q[v] <= 1'b0;
      end else begin
        count_q    <= count_d;
        ready_q[v] <= count_d != '0;
      end
    end
    `GS_ASSERT_NOW(only_used_credits_return, count_q < CountW'(Depth) || !out_credit_i[v])
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) out_valid_q <= '0;
    else out_valid_q <= tile_valid_i;
    out_q <= tile_i;
  end
  assign tile_ready_o = ready_q;
  assign out_valid_o  = out_valid_q;
  assign out_o        = out_q;

  // --------------------------------------------------------------- to tile
  logic [Vnets-1:0] fire, some, more, ready_before_q, offered_q, offered_d, other, credit_q;
  logic [Vnets-1:0][PtrW-1:0] first, second, unused_newest;
  logic valid_q, valid_d, load;
  logic [PtrW+1:0] raddr;
  flit_t flit_q, flit;

  // `offered_q`: the network whose first flit is offered, if valid_q.
  assign tile_valid_o = fire;
  assign tile_o       = flit_q;
  assign in_credit_o  = credit_q;
  assign fire         = valid_q ? offered_q & tile_ready_i : '0;

  gs_vnet_buffer #(.Depth(Depth)) u_buffer (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_i,
    .pop_i   (fire),
    .some_o  (some),
    .more_o  (more),
    .first_o (first),
    .second_o(second),
    .last_o  (unused_newest),
    .raddr_i (raddr),
    .rdata_o (flit)
  );

  gs_rr_pick #(.N(Vnets)) u_next (
    .clk_i,
    .rst_ni,
    .current_i(offered_q),
    .req_i    (some & ready_before_q),
    .next_o   (other)
  );

  // The address does not depend on whether the tile accepts the flit: that is known late.
  always_comb begin
    offered_d = (other != '0) ? other : offered_q;
    raddr     = '0;
    valid_d   = 1'b0;
    for (int unsigned v = 0; v < Vnets; v++) begin
      if (offered_d[v]) begin
        if (other == '0 && valid_q) begin
          raddr |= {2'(v), second[v]};
          valid_d |= more[v];
        end else begin
          raddr |= {2'(v), first[v]};
          valid_d |= some[v];
        end
      end
    end
    load = other != '0 || !valid_q || fire != '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q        <= 1'b0;
      offered_q      <= Vnets'(1);
      ready_before_q <= '0;
      credit_q       <= '0;
    end else begin
      if (load) begin
        valid_q   <= valid_d;
        offered_q <= offered_d;
      end
      ready_before_q <= tile_ready_i;
      credit_q       <= fire;
    end
    if (load) flit_q <= flit;
  end

  `GS_ASSERT_NOW(tile_sends_only_when_ready, (tile_valid_i & ~tile_ready_o) == '0)
  `GS_ASSERT_NOW(tile_sends_at_most_one_flit, $onehot0(tile_valid_i))
endmodule
