// SPDX-License-Identifier: Apache-2.0

/// The switch as a board with all its links has it: exits of the mesh, links, control unit, host. For its area.
module area_switch
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  parameter  bit          Shared = 0,
  localparam int unsigned TableW = 10,
  localparam int unsigned Ports  = RouterMeshPorts + LinkCount + 2
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [11:0]       board_i,
  input  logic [7:0]        burst_i,
  output logic              ready_o,
  input  logic              table_we_i,
  input  logic [TableW-1:0] table_index_i,
  input  switch_entry_t     table_entry_i,
  input  channels_t         in_valid_i[Ports],
  input  flit_t             in_i[Ports],
  output channels_t         in_credit_o[Ports],
  output channels_t         out_valid_o[Ports],
  output flit_t             out_o[Ports],
  input  channels_t         out_credit_i[Ports],
  output logic [Ports-1:0]  unroutable_o,
  output logic [31:0]       unroutable_dest_o[Ports],
  output logic [Ports-1:0]  unroutable_message_o,
  output logic [Ports-1:0][4:0] unroutable_job_o,
  output logic              empty_o
);
  // As gs_board_network has it.
  localparam logic [Ports-1:0] Virtual = Ports'(((64'd1 << LinkCount) - 64'd1) << RouterMeshPorts);
  localparam home_t Home = '{
    mesh:    '{first: 8'd0, count: 8'(RouterMeshPorts)},
    link:    '{first: 8'(RouterMeshPorts), count: 8'(LinkCount)},
    control: '{first: 8'(RouterMeshPorts + LinkCount), count: 8'd1},
    stream:  '0,
    match:   '0
  };
  gs_switch #(
    .Ports  (Ports),
    .Virtual(Virtual),
    .Home   (Home),
    .TableW (TableW),
    .Shared (Shared)
  ) u_switch (
    .*
  );
endmodule
