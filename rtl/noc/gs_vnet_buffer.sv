// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Buffers of the four virtual networks in one distributed RAM: one flit is written and one is read a cycle.
///
/// The sender counts free slots by credits. Reading is independent of removing: `rdata_o` is the flit at an address
/// made from `first_o` or `second_o`, which may be registered.
module gs_vnet_buffer
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
#(
  /// flits of each virtual network
  parameter  int unsigned Depth = MeshBufferFlits,
  /// bits of a slot number; not to be set
  localparam int unsigned PtrW  = $clog2(Depth)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  /// one-hot or zero: a flit of this network arrives
  input  logic  [Vnets-1:0]          in_valid_i,
  input  flit_t                      in_i,
  /// one-hot or zero: the first flit of this network is removed
  input  logic  [Vnets-1:0]          pop_i,
  /// the network has a flit; it has a second one
  output logic  [Vnets-1:0]          some_o,
  output logic  [Vnets-1:0]          more_o,
  /// slot of the first flit, of the second, and of the next flit to arrive
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

  function automatic logic [PtrW-1:0] next(logic [PtrW-1:0] slot);
    return (!Even && slot == Top) ? '0 : slot + PtrW'(1);
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
    `GS_ASSERT_NOW(empty_networks_are_never_popped, !pop_i[v] || some_q[v])
    `GS_ASSERT_NOW(full_networks_receive_no_flits,
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

  `GS_ASSERT_NOW(at_most_one_network_pushes, $onehot0(in_valid_i))
endmodule
