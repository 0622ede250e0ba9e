// SPDX-License-Identifier: Apache-2.0

/// A whole mesh without tiles: routers, local adapters, exits at the northern rim. The fields of a flit besides
/// destination, end and payload are functions of the payload, so that the test can check all bits of a flit.
module mesh_top
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
#(
  parameter int unsigned Ports = RouterMeshPorts
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [11:0]  board_i,
  // Tiles, row by row: valid and ready
  input  logic [3:0]   tile_valid_i[Tiles],
  output logic [3:0]   tile_ready_o[Tiles],
  input  logic [32:0]  tile_head_i[Tiles],
  input  logic [127:0] tile_data_i[Tiles],
  output logic [3:0]   tile_valid_o[Tiles],
  input  logic [3:0]   tile_ready_i[Tiles],
  output logic [33:0]  tile_head_o[Tiles],
  output logic [127:0] tile_data_o[Tiles],
  // Exits: valid and credits
  input  logic [3:0]   link_valid_i[Ports],
  output logic [3:0]   link_credit_o[Ports],
  input  logic [32:0]  link_head_i[Ports],
  input  logic [127:0] link_data_i[Ports],
  output logic [3:0]   link_valid_o[Ports],
  input  logic [3:0]   link_credit_i[Ports],
  output logic [33:0]  link_head_o[Ports],
  output logic [127:0] link_data_o[Ports]
);
  // Inputs are random before the first clock edge of a scrambled start.
  logic begun_q, rst_n;
  always_ff @(posedge clk_i) begun_q <= begun_q || !rst_ni;
  initial begun_q = 1'b0;
  assign rst_n = rst_ni && begun_q;

  function automatic flit_t flit_of(logic [3:1] valid, logic [32:0] head, logic [127:0] data);
    automatic flit_t flit;
    flit         = '1;
    flit.kind    = flit_kind_e'(data[97:96]);
    flit.job     = data[102:98];
    flit.epoch   = data[104:103];
    flit.vnet    = vnet_e'({|valid[3:2], valid[3] | valid[1]});
    {flit.last, flit.dest} = head;
    flit.payload = data;
    return flit;
  endfunction
  function automatic logic [33:0] head_of(logic [3:0] valid, flit_t flit);
    return {valid[flit.vnet] && flit == flit_of(valid[3:1], {flit.last, flit.dest}, flit.payload),
            flit.last, flit.dest};
  endfunction

  // The exit of a column; Ports if it has none. Written independently, so that an error of the package is detected.
  function automatic int unsigned exit_of(int unsigned x);
    for (int unsigned e = 0; e < Ports; e++) if ((2 * e + 1) * MeshWidth / (2 * Ports) == x) return e;
    return Ports;
  endfunction

  // By tile, in and out as seen from the router
  logic  [Tiles-1:0][Directions-1:0][Vnets-1:0] in_valid, in_credit, out_valid, out_credit;
  flit_t [Tiles-1:0][Directions-1:0] in, out;

  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    localparam int unsigned X = t % MeshWidth;
    localparam int unsigned Y = t / MeshWidth;
    flit_t flit;

    gs_mesh_router u_router (
      .clk_i,
      .rst_ni      (rst_n),
      .board_i,
      .tile_y_i    (4'(Y)),
      .tile_x_i    (4'(X)),
      .in_valid_i  (in_valid[t]),
      .in_i        (in[t]),
      .in_credit_o (in_credit[t]),
      .out_valid_o (out_valid[t]),
      .out_o       (out[t]),
      .out_credit_i(out_credit[t])
    );
    gs_mesh_local u_local (
      .clk_i,
      .rst_ni      (rst_n),
      .tile_valid_i(tile_valid_i[t]),
      .tile_ready_o(tile_ready_o[t]),
      .tile_i      (flit_of(tile_valid_i[t][3:1], tile_head_i[t], tile_data_i[t])),
      .tile_valid_o(tile_valid_o[t]),
      .tile_ready_i(tile_ready_i[t]),
      .tile_o      (flit),
      .out_valid_o (in_valid[t][Local]),
      .out_o       (in[t][Local]),
      .out_credit_i(in_credit[t][Local]),
      .in_valid_i  (out_valid[t][Local]),
      .in_i        (out[t][Local]),
      .in_credit_o (out_credit[t][Local])
    );
    assign tile_head_o[t] = head_of(tile_valid_o[t], flit);
    assign tile_data_o[t] = flit.payload;

    // Neighbours
    if (X > 0) begin : gen_west
      assign in_valid[t][West]   = out_valid[t-1][East];
      assign in[t][West]         = out[t-1][East];
      assign out_credit[t][West] = in_credit[t-1][East];
    end else begin : gen_no_west
      assign {in_valid[t][West], in[t][West], out_credit[t][West]} = '0;
    end
    if (X < MeshWidth - 1) begin : gen_east
      assign in_valid[t][East]   = out_valid[t+1][West];
      assign in[t][East]         = out[t+1][West];
      assign out_credit[t][East] = in_credit[t+1][West];
    end else begin : gen_no_east
      assign {in_valid[t][East], in[t][East], out_credit[t][East]} = '0;
    end
    if (Y > 0) begin : gen_south
      assign in_valid[t][South]   = out_valid[t-MeshWidth][North];
      assign in[t][South]         = out[t-MeshWidth][North];
      assign out_credit[t][South] = in_credit[t-MeshWidth][North];
    end else begin : gen_no_south
      assign {in_valid[t][South], in[t][South], out_credit[t][South]} = '0;
    end
    if (Y < MeshHeight - 1) begin : gen_north
      assign in_valid[t][North]   = out_valid[t+MeshWidth][South];
      assign in[t][North]         = out[t+MeshWidth][South];
      assign out_credit[t][North] = in_credit[t+MeshWidth][South];
    end else begin : gen_rim
      localparam int unsigned Exit = exit_of(X);
      if (Exit < Ports) begin : gen_exit
        assign in_valid[t][North]   = link_valid_i[Exit];
        assign in[t][North]         = flit_of(link_valid_i[Exit][3:1], link_head_i[Exit], link_data_i[Exit]);
        assign out_credit[t][North] = link_credit_i[Exit];
        assign link_credit_o[Exit]  = in_credit[t][North];
        assign link_valid_o[Exit]   = out_valid[t][North];
        assign link_head_o[Exit]    = head_of(out_valid[t][North], out[t][North]);
        assign link_data_o[Exit]    = out[t][North].payload;
      end else begin : gen_no_exit
        assign {in_valid[t][North], in[t][North], out_credit[t][North]} = '0;
      end
    end
  end
endmodule
