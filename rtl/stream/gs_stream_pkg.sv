// SPDX-License-Identifier: Apache-2.0

/// Types of the streaming ports: how channels are opened, what binds the ends of eager ones, what goes wrong.
package gs_stream_pkg;
  import gossamer_pkg::*;

  localparam int unsigned FlitBytes = 16;
  localparam int unsigned LaneW = 4;
  /// bytes of elements in a short packet's only flit, beside its header
  localparam int unsigned ShortBytes = 12;
  /// bits of a message's bytes: 2^32 - 1 elements of 8 bytes
  localparam int unsigned BytesW = 35;
  localparam int unsigned CreditW = 16;

  typedef logic [LaneW-1:0] lane_t;
  /// an end of elements in a flit: 0 to 16
  typedef logic [LaneW:0] end_t;
  typedef logic [BytesW-1:0] bytes_t;
  typedef logic [CreditW-1:0] credits_t;
  typedef logic [4:0] account_t;

  /// A channel of elements to another port
  typedef struct packed {
    /// rank that receives
    logic [7:0]  rank;
    smi_type_e   element;
    /// rank that sends
    logic [7:0]  own;
    /// address of the port that receives
    logic [31:0] dest;
    /// elements
    logic [31:0] count;
  } send_open_t;

  /// A channel of elements from another port
  typedef struct packed {
    smi_type_e   element;
    /// rank that receives, and that sends
    logic [7:0]  own;
    logic [7:0]  source;
    /// elements
    logic [31:0] count;
  } recv_open_t;

  /// Binds the sending half of a port. Without `eager`, credits are asked for by each message.
  typedef struct packed {
    logic        eager;
    account_t    account;
    /// the only port that may be sent to, if eager
    logic [31:0] dest;
    /// its flits, all of which this sender may fill
    credits_t    flits;
  } send_bind_t;

  /// Binds the receiving half of a port.
  typedef struct packed {
    logic        eager;
    account_t    account;
    /// the only rank that may send, and the address of its port, if eager
    logic [7:0]  source;
    logic [31:0] reply;
  } recv_bind_t;

  /// The collective that a port is used by, or was last: what it opens belongs to it. Without `valid`, to none.
  typedef struct packed {
    logic        valid;
    /// the collective sends and receives at this port
    logic        sends;
    logic        recvs;
    logic [7:0]  own;
    smi_type_e   element;
    logic [31:0] count;
    stream_tag_t tag;
  } watch_t;

  /// What the ends of a channel disagree about
  typedef struct packed {
    stream_fault_e fault;
    logic [7:0]    port;
    logic [7:0]    own;
    logic [7:0]    peer;
    /// what this end opened, and what the other end did; of a message that ends early or late, elements' bytes so far
    smi_type_e     mine;
    smi_type_e     theirs;
    logic [31:0]   my_count;
    logic [31:0]   their_count;
    /// of ends in different collectives
    stream_tag_t   my_tag;
    stream_tag_t   their_tag;
  } stream_report_t;

  /// edges of a tree that a rank may have
  localparam int unsigned MaxEdges = 8;
  typedef logic [MaxEdges-1:0] edges_t;
  typedef logic [$clog2(MaxEdges)-1:0] edge_t;

  /// A collective, as all ranks open it alike but for `own`
  typedef struct packed {
    smi_collective_e kind;
    smi_type_e       element;
    /// of reductions
    smi_op_e         op;
    /// this rank, and the root
    logic [7:0]      own;
    logic [7:0]      root;
    /// elements of each rank
    logic [31:0]     count;
  } collective_open_t;

  /// The place of a rank in the tree of one root. Edges are numbered by their streaming ports at this rank.
  typedef struct packed {
    /// the same for all trees whose ranks open the same collectives
    logic [2:0] group;
    /// this rank is the root: it has no parent
    logic       root;
    edge_t      parent;
    edges_t     children;
  } tree_entry_t;

  /// Where a rank is in the tree of scatter, gather and allgather: it takes part, behind this edge
  typedef struct packed {
    logic  member;
    edge_t via;
  } way_t;

  /// The other end of an edge
  typedef struct packed {
    logic [7:0]  rank;
    /// address of its streaming port
    logic [31:0] dest;
  } neighbour_t;

  /// Where a rank is: on a board, among the ranks of that board
  typedef struct packed {
    logic [11:0] board;
    logic [2:0]  slot;
  } place_t;

  /// The other end of an edge, as hosts write it: a rank, its place, and the number of its edge
  typedef struct packed {
    place_t     place;
    logic [7:0] rank;
    edge_t      number;
  } edge_end_t;

  /// Address of the port `index` of a rank, where each rank of a board has `stride` ports
  function automatic logic [31:0] port_address(place_t place, int unsigned stride, int unsigned index);
    return {EndpointStream, 3'd0, place.board, 6'd0, 8'(32'(place.slot) * stride + index)};
  endfunction

  /// What a support block has to know of an edge's end; `index` is that of its first edge's port
  function automatic neighbour_t neighbour_at(edge_end_t far, int unsigned stride, int unsigned index);
    return '{rank: far.rank, dest: port_address(far.place, stride, index + 32'(far.number))};
  endfunction

  /// Numbers of ports that follow each other
  function automatic logic [255:0][7:0] numbers_from(int unsigned first);
    for (int unsigned p = 0; p < 256; p++) numbers_from[p] = 8'(first + p);
  endfunction

  /// log2 of an element's bytes
  function automatic logic [1:0] log_bytes(smi_type_e element);
    unique case (element)
      SmiTypeShort, SmiTypeHalf:  return 2'd1;
      SmiTypeInt, SmiTypeFloat:   return 2'd2;
      SmiTypeDouble, SmiTypeLong: return 2'd3;
      default:                    return 2'd0;
    endcase
  endfunction

  /// Some types of elements: a bit for each, by its number
  typedef logic [7:0] types_t;
  localparam types_t Integers = 8'((1 << SmiTypeChar) | (1 << SmiTypeShort) | (1 << SmiTypeInt) | (1 << SmiTypeLong));
  localparam types_t Floats = 8'((1 << SmiTypeHalf) | (1 << SmiTypeFloat) | (1 << SmiTypeDouble));

  /// Those of 2^`log` bytes
  function automatic types_t types_of_size(logic [1:0] log);
    for (int unsigned t = 0; t < 8; t++) begin
      types_of_size[t] = log_bytes(smi_type_e'(t)) == log && (Integers[t] || Floats[t]);
    end
  endfunction

  /// What a reduction of some types can do
  function automatic logic reducible(types_t types, smi_type_e element, smi_op_e op);
    return types[element] && op inside {SmiOpAdd, SmiOpMax, SmiOpMin};
  endfunction

  /// Of a group's collectives, this end has come to that of the other end, or past it
  function automatic logic reached(logic [15:0] theirs, logic [15:0] mine);
    return (mine - theirs) < 16'h8000;
  endfunction

  /// Bytes of a message
  function automatic bytes_t message_bytes(smi_type_e element, logic [31:0] count);
    return bytes_t'(count) << log_bytes(element);
  endfunction
endpackage
