// SPDX-License-Identifier: Apache-2.0

/// A router of the mesh: five ports, four virtual networks, wormhole, dimension order.
///
/// All links have the same signals in both directions: a registered flit with its virtual network (one-hot), and a
/// registered credit for each buffer slot that becomes free. A hop without contention takes three cycles:
///
///     flit      [ link ][ buffer: choice ][ RAM, crossbar ][ link ]
///     cycle        0            1                 2           3
module gs_mesh_router
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // Position of the tile; constant
  input  logic  [11:0]                      board_i,
  input  logic  [3:0]                       tile_y_i,
  input  logic  [3:0]                       tile_x_i,
  // Links in: dir_e as index
  input  logic  [Directions-1:0][Vnets-1:0] in_valid_i,
  input  flit_t [Directions-1:0]            in_i,
  output logic  [Directions-1:0][Vnets-1:0] in_credit_o,
  // Links out
  output logic  [Directions-1:0][Vnets-1:0] out_valid_o,
  output flit_t [Directions-1:0]            out_o,
  input  logic  [Directions-1:0][Vnets-1:0] out_credit_i
);
  if (RouterMeshPorts > MeshWidth) begin : gen_illegal_ports
    $fatal(1, "gs_mesh_router: router.mesh_ports is %0d, but the mesh has %0d columns", RouterMeshPorts, MeshWidth);
  end

  dirs_t [Directions-1:0][Vnets-1:0] want, may_want;
  logic [Directions-1:0][Vnets-1:0] last, pick, able;
  // By output, then by input
  logic [Directions-1:0][Directions-1:0][Vnets-1:0] out_want, out_may_want, out_able;
  dirs_t [Directions-1:0] out_grant;
  dirs_t grant, to_exit_q;
  flit_t [Directions-1:0] data;

  // Without flits and credits no register changes once the last flit has left. Position and exit are constant.
  logic clk;
  gs_clock_gate #(.Linger(6)) u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(in_valid_i != '0 || out_credit_i != '0 || want != '0),
    .clk_o (clk)
  );

  always_ff @(posedge clk) to_exit_q <= toward_exit(tile_x_i);

  for (genvar i = 0; i < Directions; i++) begin : gen_in
    gs_mesh_input #(.From(dir_e'(i))) u_input (
      .clk_i      (clk),
      .rst_ni,
      .board_i,
      .tile_y_i,
      .tile_x_i,
      .to_exit_i  (to_exit_q),
      .in_valid_i (in_valid_i[i]),
      .in_i       (in_i[i]),
      .in_credit_o(in_credit_o[i]),
      .want_o     (want[i]),
      .last_o     (last[i]),
      .may_want_o (may_want[i]),
      .able_i     (able[i]),
      .pick_o     (pick[i]),
      .grant_i    (grant[i]),
      .out_o      (data[i])
    );
    always_comb begin
      able[i]  = '0;
      grant[i] = 1'b0;
      for (int unsigned o = 0; o < Directions; o++) begin
        able[i] |= out_able[o][i];
        grant[i] |= out_grant[o][i];
      end
    end
    for (genvar o = 0; o < Directions; o++) begin : gen_turn
      // Turns that no packet makes cost no logic: x after y except in the northernmost row, and U-turns.
      localparam dirs_t Turns = turns(dir_e'(i), 1'b1);
      localparam bit Legal = Turns[o];
      for (genvar v = 0; v < Vnets; v++) begin : gen_vnet
        assign out_want[o][i][v]     = Legal && want[i][v][o];
        assign out_may_want[o][i][v] = Legal && may_want[i][v][o];
      end
    end
  end

  for (genvar o = 0; o < Directions; o++) begin : gen_out
    gs_mesh_output u_output (
      .clk_i       (clk),
      .rst_ni,
      .want_i      (out_want[o]),
      .may_want_i  (out_may_want[o]),
      .last_i      (last),
      .able_o      (out_able[o]),
      .pick_i      (pick),
      .grant_o     (out_grant[o]),
      .data_i      (data),
      .out_valid_o (out_valid_o[o]),
      .out_o       (out_o[o]),
      .out_credit_i(out_credit_i[o])
    );
  end
endmodule
