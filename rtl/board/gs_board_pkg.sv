// SPDX-License-Identifier: Apache-2.0

/// Types shared by the submodules of a board's control unit (docs/hardware/board.md).
package gs_board_pkg;
  import gossamer_pkg::*;

  /// A unit number selects the counters of a link or of the board; this number selects the board.
  localparam logic [4:0] BoardUnit = 5'd31;

  /// Length of lists of streaming ports, 1 if the board has none
  localparam int unsigned StreamLanes = (StreamPorts > 0) ? StreamPorts : 1;

  /// Length of lists of support blocks of collectives, 1 if the board has none
  localparam int unsigned CollectiveLanes = (StreamBlocks > 0) ? StreamBlocks : 1;

  /// All streaming ports: those of kernels, then those of each block of collectives
  localparam int unsigned StreamEnds = StreamPorts + StreamBlocks * StreamBlockEdges;
  localparam int unsigned StreamEndLanes = (StreamEnds > 0) ? StreamEnds : 1;

  /// A kernel's side of a block of collectives: signals to it, and from it
  typedef struct packed {
    logic                            open_valid;
    gs_stream_pkg::collective_open_t open;
    logic                            give_valid;
    logic [8*StreamWidthBytes-1:0]   give;
    logic                            take_ready;
  } collective_in_t;
  typedef struct packed {
    logic                            open_ready;
    logic                            give_ready;
    logic                            take_valid;
    logic [8*StreamWidthBytes-1:0]   take;
    logic [StreamWidthBytes-1:0]     keep;
    logic                            last;
  } collective_out_t;

  /// A job's slot on a board
  typedef struct packed {
    logic             valid;
    logic [4:0]       job;
    logic [Tiles-1:0] tiles;
    /// address to which the tiles report
    logic [31:0]      host;
    logic [StreamEndLanes-1:0] streams;
  } job_slot_t;

  /// Bus to the registers of blocks: a request of one cycle, answered in the next one by the block that has the unit
  typedef struct packed {
    logic              valid;
    logic              write;
    register_address_t address;
    logic [63:0]       value;
    /// job of the packet
    logic [4:0]        job;
  } register_request_t;
  /// All fields are 0 unless the block has the unit.
  typedef struct packed {
    logic        hit;
    logic [3:0]  rejection;
    logic [63:0] value;
  } register_response_t;

  /// A packet of the control network
  typedef struct packed {
    flit_kind_e   kind;
    logic [4:0]   job;
    /// flits: 1, 2, or 3 for more
    logic [1:0]   flits;
    logic [127:0] head;
    logic [127:0] words;
  } control_packet_t;

  /// Contents of an answer of the control unit
  typedef struct packed {
    logic [3:0]  asked;
    logic [4:0]  unit;
    logic [3:0]  counter;
    logic [15:0] address;
    logic [3:0]  rejection;
    logic [63:0] value;
  } reply_t;

  /// The board's own counters
  typedef struct packed {
    logic [31:0] unroutable;
    logic [31:0] records;
    logic [31:0] rejected;
    logic [31:0] relayed;
    logic [31:0] host_sent;
    logic [31:0] host_received;
    logic [31:0] tile_drops;
    logic [31:0] entered;
    logic [2:0]  in_flight;
    logic [31:0] stream_drops;
    logic [31:0] match_drops;
  } counts_t;

  /// A message that a tile has dropped, as reported
  typedef struct packed {
    logic [3:0] why;
    logic [4:0] job;
    logic [3:0] tile_y;
    logic [3:0] tile_x;
  } reported_drop_t;

  /// Number of no job: that of tiles and streaming ports without a job
  localparam logic [4:0] NoJob = 5'd31;

  /// A board by number: an element of the lists in control_relay and idle_tree
  typedef struct packed {
    logic        valid;
    logic [11:0] board;
  } neighbour_t;
  localparam int unsigned Children = 8;
endpackage
