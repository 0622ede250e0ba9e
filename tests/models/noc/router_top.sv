// SPDX-License-Identifier: Apache-2.0

/// A router alone, at any position: five links. The ports are those of mesh_top's exits, with dir_e as index.
module router_top
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
#(
  parameter int unsigned Ports = Directions
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [11:0]  board_i,
  input  logic [3:0]   tile_y_i,
  input  logic [3:0]   tile_x_i,
  input  logic [3:0]   link_valid_i[Ports],
  output logic [3:0]   link_credit_o[Ports],
  input  logic [32:0]  link_head_i[Ports],
  input  logic [127:0] link_data_i[Ports],
  output logic [3:0]   link_valid_o[Ports],
  input  logic [3:0]   link_credit_i[Ports],
  output logic [33:0]  link_head_o[Ports],
  output logic [127:0] link_data_o[Ports]
);
  logic begun_q, rst_n;
  always_ff @(posedge clk_i) begun_q <= begun_q || !rst_ni;
  initial begun_q = 1'b0;
  assign rst_n = rst_ni && begun_q;

  logic  [Directions-1:0][Vnets-1:0] in_valid, in_credit, out_valid, out_credit;
  flit_t [Directions-1:0] in, out;

  for (genvar d = 0; d < Directions; d++) begin : gen_link
    always_comb begin
      in[d]         = '1;
      in[d].kind    = flit_kind_e'(link_data_i[d][97:96]);
      in[d].job     = link_data_i[d][102:98];
      in[d].epoch   = link_data_i[d][104:103];
      in[d].vnet    = vnet_e'({|link_valid_i[d][3:2], link_valid_i[d][3] | link_valid_i[d][1]});
      in[d].last    = link_head_i[d][32];
      in[d].dest    = link_head_i[d][31:0];
      in[d].payload = link_data_i[d];
    end
    assign in_valid[d]      = link_valid_i[d];
    assign out_credit[d]    = link_credit_i[d];
    assign link_credit_o[d] = in_credit[d];
    assign link_valid_o[d]  = out_valid[d];
    assign link_data_o[d]   = out[d].payload;
    assign link_head_o[d]   = {out[d].kind == out[d].payload[97:96] && out[d].job == out[d].payload[102:98]
                               && out[d].epoch == out[d].payload[104:103] && out_valid[d] == 4'd1 << out[d].vnet,
                               out[d].last, out[d].dest};
  end

  gs_mesh_router u_router (
    .clk_i,
    .rst_ni      (rst_n),
    .board_i,
    .tile_y_i,
    .tile_x_i,
    .in_valid_i  (in_valid),
    .in_i        (in),
    .in_credit_o (in_credit),
    .out_valid_o (out_valid),
    .out_o       (out),
    .out_credit_i(out_credit)
  );
endmodule
