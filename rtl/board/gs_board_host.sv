// SPDX-License-Identifier: Apache-2.0

/// The host at the rim of a single board: at each exit of the mesh one stream in each direction, and the counts of
/// messages for idle detection.
///
/// The host accepts every flit. A message is a packet whose head flit is not of kind header: loader accesses, their
/// replies and reports of faults do not count. Packets of the host that receivers would count otherwise
/// (`host_may_send`), and messages to hosts and by key, for which a single board has no receiver, are dropped.
module gs_board_host
  import gs_noc_pkg::Vnets;
  import gossamer_pkg::*;
#(
  /// exits of the mesh
  parameter int unsigned Exits = RouterMeshPorts
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  // Links of the mesh, one per exit
  input  logic  [Exits-1:0][Vnets-1:0] mesh_in_valid_i,
  input  flit_t [Exits-1:0]            mesh_in_i,
  output logic  [Exits-1:0][Vnets-1:0] mesh_in_credit_o,
  output logic  [Exits-1:0][Vnets-1:0] mesh_out_valid_o,
  output flit_t [Exits-1:0]            mesh_out_o,
  input  logic  [Exits-1:0][Vnets-1:0] mesh_out_credit_i,
  // Into the mesh: a flit is valid only if it is accepted
  input  logic  [Exits-1:0][Vnets-1:0] host_in_valid_i,
  output logic  [Exits-1:0][Vnets-1:0] host_in_ready_o,
  input  flit_t [Exits-1:0]            host_in_i,
  // Out of the mesh: always accepted
  output logic  [Exits-1:0][Vnets-1:0] host_out_valid_o,
  output flit_t [Exits-1:0]            host_out_o,
  // Messages that the host has sent and received
  output logic  [31:0]                 sent_o,
  output logic  [31:0]                 received_o
);
  logic [Exits-1:0] sent, received;
  logic [31:0] sent_q, received_q;

  for (genvar e = 0; e < Exits; e++) begin : gen_exit
    // Packets that are dropped, by network
    logic [Vnets-1:0] first_q, drop_q, drop, accept_valid;
    endpoint_e dest;
    assign dest         = endpoint_e'(host_in_i[e].dest[31:29]);
    assign accept_valid = host_in_valid_i[e] & ~drop;
    always_comb begin
      for (int unsigned v = 0; v < Vnets; v++) begin
        drop[v] = !first_q[v] ? drop_q[v]
            : !gs_address_pkg::host_may_send(host_in_i[e].kind, vnet_e'(v), dest)
              || (host_in_i[e].kind != FlitKindHeader && dest inside {EndpointHost, EndpointKey})
              || vnet_e'(v) == VnetControl;
      end
    end
    always_ff @(posedge clk_i) begin
      for (int unsigned v = 0; v < Vnets; v++) begin
        if (!rst_ni) first_q[v] <= 1'b1;
        else if (host_in_valid_i[e][v]) first_q[v] <= host_in_i[e].last;
        if (host_in_valid_i[e][v]) drop_q[v] <= drop[v];
      end
    end

    gs_mesh_local u_local (
      .clk_i,
      .rst_ni,
      .tile_valid_i(accept_valid),
      .tile_ready_o(host_in_ready_o[e]),
      .tile_i      (host_in_i[e]),
      .tile_valid_o(host_out_valid_o[e]),
      .tile_ready_i('1),
      .tile_o      (host_out_o[e]),
      .out_valid_o (mesh_out_valid_o[e]),
      .out_o       (mesh_out_o[e]),
      .out_credit_i(mesh_out_credit_i[e]),
      .in_valid_i  (mesh_in_valid_i[e]),
      .in_i        (mesh_in_i[e]),
      .in_credit_o (mesh_in_credit_o[e])
    );
    gs_packet_delimiter u_sent (
      .clk_i, .rst_ni, .valid_i(accept_valid), .flit_i(host_in_i[e]), .message_o(sent[e])
    );
    gs_packet_delimiter u_received (
      .clk_i, .rst_ni, .valid_i(host_out_valid_o[e]), .flit_i(host_out_o[e]), .message_o(received[e])
    );
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sent_q     <= '0;
      received_q <= '0;
    end else begin
      sent_q     <= sent_q + 32'($countones(sent));
      received_q <= received_q + 32'($countones(received));
    end
  end

  // Delayed like the tiles' states, which pass a register at the tile's boundary.
  always_ff @(posedge clk_i) begin
    sent_o     <= rst_ni ? sent_q : '0;
    received_o <= rst_ni ? received_q : '0;
  end
endmodule
