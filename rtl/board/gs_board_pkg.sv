// SPDX-License-Identifier: Apache-2.0

/// What the parts of a board's control unit tell each other (docs/hardware/board.md).
package gs_board_pkg;
  import gossamer_pkg::*;

  /// Counters of a link and of the board are asked for by a unit; this one is the board itself.
  localparam logic [4:0] BoardUnit = 5'd31;

  /// Place of a job on a board
  typedef struct packed {
    logic             valid;
    logic [4:0]       job;
    logic [Tiles-1:0] tiles;
    /// address to which the tiles report
    logic [31:0]      host;
  } place_t;

  /// A packet of the control network
  typedef struct packed {
    flit_kind_e   kind;
    logic [4:0]   job;
    /// flits: 1, 2, or 3 for more
    logic [1:0]   flits;
    logic [127:0] head;
    logic [127:0] words;
  } control_packet_t;

  /// What the control unit answers
  typedef struct packed {
    logic [3:0]  asked;
    logic [4:0]  unit;
    logic [3:0]  counter;
    logic [3:0]  refused;
    logic [63:0] value;
  } reply_t;

  /// The board's own counters
  typedef struct packed {
    logic [31:0] nobody;
    logic [31:0] records;
    logic [31:0] refused;
    logic [31:0] relayed;
    logic [31:0] host_sent;
    logic [31:0] host_received;
    logic [31:0] tile_refused;
    logic [31:0] entered;
    logic [2:0]  in_flight;
  } counts_t;

  /// A message that a tile has refused, as it is told
  typedef struct packed {
    logic [3:0] why;
    logic [4:0] job;
    logic [3:0] tile_y;
    logic [3:0] tile_x;
  } told_refusal_t;

  /// Number of no job: that of tiles without a place
  localparam logic [4:0] NoJob = 5'd31;

  /// Boards by number: a list as control_relay and idle_tree have it
  typedef struct packed {
    logic        valid;
    logic [11:0] board;
  } neighbour_t;
  localparam int unsigned Children = 8;
endpackage
