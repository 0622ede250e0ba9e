// SPDX-License-Identifier: Apache-2.0

/// Joins a tile's mailbox and accelerator with the network: each of the three sends packets to the other two.
///
///     network ==> mailbox, accelerator      by the kind of address
///     mailbox ==> network, accelerator      an accelerator of this tile never meets the network
///     accelerator ==> network, mailbox
///
/// No two of the paths share a buffer, so none holds up what it waits for.
module gs_tile_switch
  import gossamer_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [11:0] board_i,
  input  logic [3:0]  tile_y_i,
  input  logic [3:0]  tile_x_i,
  /// 0 network, 1 mailbox, 2 accelerator
  input  logic  [2:0] in_valid_i,
  output logic  [2:0] in_ready_o,
  input  flit_t       in_i[3],
  output logic  [2:0] out_valid_o,
  input  logic  [2:0] out_ready_i,
  output flit_t       out_o[3]
);
  // to[i][o]: the packet at input i goes to output o. Kind and place stand in every flit of a packet.
  logic [2:0][2:0] to, take;

  for (genvar i = 0; i < 3; i++) begin : gen_in
    address_accelerator_t addr;
    logic here, accelerator;
    assign addr        = address_accelerator_t'(in_i[i].dest);
    assign here        = {addr.board, addr.tile_y, addr.tile_x} == {board_i, tile_y_i, tile_x_i};
    assign accelerator = addr.kind == EndpointAccelerator;
    if (i == 0) begin : gen_network
      assign to[i] = accelerator ? 3'b100 : 3'b010;
      logic unused_here;
      assign unused_here = here;
    end else if (i == 1) begin : gen_mailbox
      assign to[i] = (accelerator && here) ? 3'b100 : 3'b001;
    end else begin : gen_accelerator
      assign to[i] = (here && addr.kind inside {EndpointThread, EndpointTile}) ? 3'b010 : 3'b001;
    end
    logic unused;
    assign unused        = ^{addr.spare, addr.port, accelerator};
    assign in_ready_o[i] = take[i] != '0;
  end

  for (genvar o = 0; o < 3; o++) begin : gen_out
    // The two others.
    localparam int unsigned A = (o + 1) % 3;
    localparam int unsigned B = (o + 2) % 3;
    logic valid, ready;
    flit_t flit;
    logic [1:0] ready_of;

    assign take[A][o] = ready_of[0];
    assign take[B][o] = ready_of[1];
    assign take[o][o] = 1'b0;

    gs_packet_arbiter #(.N(2)) u_arbiter (
      .clk_i,
      .rst_ni,
      .in_valid_i ({in_valid_i[B] && to[B][o], in_valid_i[A] && to[A][o]}),
      .in_ready_o (ready_of),
      .in_i       ('{in_i[A], in_i[B]}),
      .out_valid_o(valid),
      .out_ready_i(ready),
      .out_o      (flit)
    );

    gs_skid #(.data_t(flit_t)) u_skid (
      .clk_i,
      .rst_ni,
      .in_valid_i (valid),
      .in_ready_o (ready),
      .in_data_i  (flit),
      .out_valid_o(out_valid_o[o]),
      .out_ready_i(out_ready_i[o]),
      .out_data_o (out_o[o])
    );
  end
endmodule
