// SPDX-License-Identifier: Apache-2.0

/// The mesh on chip: directions, exits to the rim, and the route of a packet.
///
/// x grows to the east, y to the north; tile (0, 0) is the south-west corner. A packet for a tile of this board is
/// routed along x first, then along y. Every other packet is routed along x to the nearest exit column, then north to
/// the rim, where the board switch and the multicast router are.
package gs_noc_pkg;
  import gossamer_pkg::*;

  /// Ports of a router
  typedef enum logic [2:0] {
    North = 3'd0,
    South = 3'd1,
    East  = 3'd2,
    West  = 3'd3,
    Local = 3'd4
  } dir_e;
  localparam int unsigned Directions = 5;
  localparam int unsigned Vnets = 4;
  /// One bit a direction, dir_e as index
  typedef logic [Directions-1:0] dirs_t;

  /// Bits of a coordinate in the mesh that may be 1. Ignoring the others makes routes ready sooner.
  localparam logic [3:0] RowBits = 4'((1 << $clog2(MeshHeight)) - 1);
  localparam logic [3:0] ColumnBits = 4'((1 << $clog2(MeshWidth)) - 1);

  /// The column of an exit; exits are numbered from the west.
  function automatic int unsigned exit_column(int unsigned number);
    return (2 * number + 1) * MeshWidth / (2 * RouterMeshPorts);
  endfunction

  /// The nearest exit of a column; ties are resolved to the west. Columns outside the mesh have a nearest exit as well.
  function automatic int unsigned nearest_exit(logic [3:0] x);
    automatic int unsigned best, distance, column, apart;
    best     = 0;
    distance = 255;
    for (int unsigned e = 0; e < RouterMeshPorts; e++) begin
      column = exit_column(e);
      apart  = (column > 32'(x)) ? column - 32'(x) : 32'(x) - column;
      if (apart < distance) begin
        distance = apart;
        best     = e;
      end
    end
    return best;
  endfunction

  /// The direction from a column to its nearest exit: West, East, or North in the exit's column.
  function automatic dirs_t toward_exit(logic [3:0] x);
    automatic int unsigned column;
    automatic dirs_t out;
    column = exit_column(nearest_exit(x));
    out    = '0;
    if (column > 32'(x)) out[East] = 1'b1;
    else if (column < 32'(x)) out[West] = 1'b1;
    else out[North] = 1'b1;
    return out;
  endfunction

  /// Outputs that a packet from an input may use. A packet may turn from y to x only in the northernmost row.
  function automatic dirs_t turns(dir_e from, logic top);
    automatic dirs_t out;
    out       = '1;
    out[from] = from == Local;
    if (from == South || (from == North && !top)) begin
      out[East] = 1'b0;
      out[West] = 1'b0;
    end
    return out;
  endfunction

  /// The output for a packet at the router (y, x), one-hot; `home`: its destination is tile (dest_y, dest_x) of this
  /// board. A tile outside the mesh is treated as the one at the edge. A packet that would have to make an illegal turn
  /// is sent to Local, where it is dropped and counted.
  function automatic dirs_t route(logic home, logic [3:0] dest_y, logic [3:0] dest_x, logic [3:0] y, logic [3:0] x,
                                  dirs_t to_exit, dir_e from);
    automatic dirs_t out;
    out = '0;
    if (!home) out = to_exit;
    else if (dest_x > x && 32'(x) != MeshWidth - 1) out[East] = 1'b1;
    else if (dest_x < x) out[West] = 1'b1;
    else if (dest_y > y && 32'(y) != MeshHeight - 1) out[North] = 1'b1;
    else if (dest_y < y) out[South] = 1'b1;
    out        = out & turns(from, 32'(y) == MeshHeight - 1);
    out[Local] = out[West:North] == '0;
    return out;
  endfunction
endpackage
