// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Buffers of the four virtual networks in one distributed RAM, a flit in and a flit read a cycle.
///
/// The sender counts places by credits. Reading is apart from removing: `rdata_o` are the flits at an address of
/// `first_o` or `second_o`, which may come from a register.
module gs_vnet_buffer
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
#(
  /// flits of each virtual network
  parameter  int unsigned Depth = MeshBufferFlits,
  /// bits of a place; not to be set
  localparam int unsigned PtrW  = $clog2(Depth)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  /// one-hot or none: a flit of this network comes
  input  logic  [Vnets-1:0]          in_valid_i,
  input  flit_t                      in_i,
  /// one-hot or none: the first flit of this network goes
  input  logic  [Vnets-1:0]          pop_i,
  /// there is a flit; there is a second one
  output logic  [Vnets-1:0]          some_o,
  output logic  [Vnets-1:0]          more_o,
  /// place of the first flit, of the second, and of the next that comes
  output logic  [Vnets-1:0][PtrW-1:0] first_o,
  output logic  [Vnets-1:0][PtrW-1:0] second_o,
  output logic  [Vnets-1:0][PtrW-1:0] last_o,
  input  logic  [PtrW+1:0]           raddr_i,
  output flit_t                      rdata_o
);
  if (Depth < 2) begin : gen_illegal_depth
    $fatal(1, "gs_vnet_buffer: Depth is %0d; it must be 2 or more flits", Depth);
  end

  localparam logic [PtrW-1:0] Top = PtrW'(Depth - 1);
  localparam bit Even = (32'd1 << PtrW) == Depth;

  logic [Vnets-1:0] some_q;
  logic [Vnets-1:0][PtrW-1:0] first_q, second_q, last_q;
  logic [PtrW+1:0] waddr;

  function automatic logic [PtrW-1:0] next(logic [PtrW-1:0] place);
    return (!Even && place == Top) ? '0 : place + PtrW'(1);
  endfunction

  assign some_o   = some_q;
  assign first_o  = first_q;
  assign second_o = second_q;
  assign last_o   = last_q;

  always_comb begin
    waddr = '0;
    for (int unsigned v = 0; v < Vnets; v++) begin
      more_o[v] = some_q[v] && second_q[v] != last_q[v];
      if (in_valid_i[v]) waddr |= {2'(v), last_q[v]};
    end
  end

  for (genvar v = 0; v < Vnets; v++) begin : gen_vnet
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        some_q[v]   <= 1'b0;
        first_q[v]  <= '0;
        second_q[v] <= PtrW'(1);
        last_q[v]   <= '0;
      end else begin
        if (in_valid_i[v]) last_q[v] <= next(last_q[v]);
        if (pop_i[v]) begin
          first_q[v]  <= second_q[v];
          second_q[v] <= next(second_q[v]);
        end
        some_q[v] <= in_valid_i[v] || (pop_i[v] ? more_o[v] : some_q[v]);
      end
    end
    `GS_ASSERT_NOW(only_a_flit_that_is_there_goes, !pop_i[v] || some_q[v])
    `GS_ASSERT_NOW(a_flit_comes_only_where_there_is_room,
                   !(in_valid_i[v] && some_q[v] && first_q[v] == last_q[v]))
  end

  gs_ram_sdp #(
    .Width  ($bits(flit_t)),
    .Depth  (Vnets << PtrW),
    .Latency(0),
    .Style  ("distributed")
  ) u_ram (
    .clk_i,
    .we_i   (in_valid_i != '0),
    .wstrb_i(1'b1),
    .waddr_i(waddr),
    .wdata_i(in_i),
    .re_i   (1'b1),
    .raddr_i,
    .rdata_o
  );

  `GS_ASSERT_NOW(a_flit_is_of_one_network, $onehot0(in_valid_i))
endmodule
