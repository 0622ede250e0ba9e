// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Idle detection of a single board: its endpoints are the tiles and the host.
///
/// The states of all tiles and the host's counts are of the same cycle, and pass the same number of registers.
module gs_board_idle
  import gs_idle_pkg::*;
#(
  /// tiles
  parameter int unsigned Tiles = 4
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // Of each tile: its state; it has a started thread
  input  idle_status_t [Tiles-1:0] status_i,
  input  logic         [Tiles-1:0] started_i,
  /// the host starts threads of these tiles: no release before each of them has had a started thread
  input  logic         [Tiles-1:0] expected_i,
  // Messages that entered at the rim, and that left there, delayed like the tiles' states
  input  logic         [31:0]      host_sent_i,
  input  logic         [31:0]      host_received_i,
  // A message of the host waits, or is entering; it may enter, with this epoch
  input  logic                     host_hold_i,
  output logic                     host_open_o,
  output logic         [1:0]       host_epoch_o,
  /// the same for all tiles
  output idle_command_t            command_o
);
  idle_status_t [Tiles:0] status;
  idle_command_t [Tiles:0] command;
  logic [Tiles-1:0] begun, done;

  always_comb begin
    status[Tiles-1:0] = status_i;
    status[Tiles]     = '{idle: 1'b1, vote: 1'b1, sent: host_sent_i, received: host_received_i, default: '0};
  end

  gs_idle_begun #(
    .Tiles(Tiles)
  ) u_begun (
    .clk_i,
    .rst_ni,
    .started_i,
    .expected_i,
    .begun_o   (begun),
    .done_o    (done)
  );

  gs_idle_single #(
    .Endpoints(Tiles + 1),
    .Wires    (1)
  ) u_single (
    .clk_i,
    .rst_ni,
    .status_i (status),
    .command_o(command),
    .hold_i   (done != '1 || host_hold_i),
    .open_o   (host_open_o),
    .epoch_o  (host_epoch_o)
  );
  assign command_o = command[0];

  logic unused;
  assign unused = ^{command, begun};

  `GS_ASSERT_NOW(release_only_after_all_tiles_have_begun,
                 !command_o.release_all || expected_i == '0 || begun == expected_i)
endmodule
