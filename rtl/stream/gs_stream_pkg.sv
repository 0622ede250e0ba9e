// SPDX-License-Identifier: Apache-2.0

/// Types of the streaming ports: opening a channel, binding a port, reporting a fault.
package gs_stream_pkg;
  import gossamer_pkg::*;

  localparam int unsigned FlitBytes = 16;
  localparam int unsigned LaneW = 4;
  /// bytes of elements that a short packet's only flit carries next to its header
  localparam int unsigned ShortBytes = 12;
  /// width of a message's byte count: up to 2^32 - 1 elements of 8 bytes
  localparam int unsigned BytesW = 35;
  localparam int unsigned CreditW = 16;

  typedef logic [LaneW-1:0] lane_t;
  /// lane after the last valid byte of a flit: 0 to 16
  typedef logic [LaneW:0] end_t;
  typedef logic [BytesW-1:0] bytes_t;
  typedef logic [CreditW-1:0] credits_t;
  typedef logic [4:0] account_t;

  /// Opens a channel of elements to another port
  typedef struct packed {
    /// receiving rank
    logic [7:0]  rank;
    smi_type_e   element;
    /// sending rank
    logic [7:0]  own;
    /// address of the receiving port
    logic [31:0] dest;
    /// number of elements
    logic [31:0] count;
  } send_open_t;

  /// Opens a channel of elements from another port
  typedef struct packed {
    smi_type_e   element;
    /// receiving rank, sending rank
    logic [7:0]  own;
    logic [7:0]  source;
    /// number of elements
    logic [31:0] count;
  } recv_open_t;

  /// Binds the sending half of a port. Without `eager`, each message asks for credits.
  typedef struct packed {
    logic        eager;
    account_t    account;
    /// the only port that this half may send to, if eager
    logic [31:0] dest;
    /// flits of that port's buffer, which this sender alone may fill
    credits_t    flits;
  } send_bind_t;

  /// Binds the receiving half of a port.
  typedef struct packed {
    logic        eager;
    account_t    account;
    /// the only sending rank and the address of its port, if eager
    logic [7:0]  source;
    logic [31:0] reply;
  } recv_bind_t;

  /// The collective that uses a port, or the last one that did: channels that are opened belong to it. Without `valid`,
  /// channels belong to no collective.
  typedef struct packed {
    logic        valid;
    /// the collective sends at this port, receives at this port
    logic        sends;
    logic        recvs;
    logic [7:0]  own;
    smi_type_e   element;
    logic [31:0] count;
    stream_tag_t tag;
  } watch_t;

  /// Reports a mismatch between the two ends of a channel
  typedef struct packed {
    stream_fault_e fault;
    logic [7:0]    port;
    logic [7:0]    own;
    logic [7:0]    peer;
    /// what this end opened and what the other end opened; for a message that ends early or late, the elements so far
    smi_type_e     mine;
    smi_type_e     theirs;
    logic [31:0]   my_count;
    logic [31:0]   their_count;
    /// tags of both ends, if they are in different collectives
    stream_tag_t   my_tag;
    stream_tag_t   their_tag;
  } stream_report_t;

  /// words of gs_stream_counters for a port
  localparam int unsigned PortCounters = 8;

  /// edges of a tree that one rank may have
  localparam int unsigned MaxEdges = 8;
  typedef logic [MaxEdges-1:0] edges_t;
  typedef logic [$clog2(MaxEdges)-1:0] edge_t;

  /// Opens a collective; all ranks give the same values except `own`
  typedef struct packed {
    smi_collective_e kind;
    smi_type_e       element;
    /// operation of a reduction
    smi_op_e         op;
    /// this rank, and the root
    logic [7:0]      own;
    logic [7:0]      root;
    /// number of elements of each rank
    logic [31:0]     count;
  } collective_open_t;

  /// A rank's entry in the tree of one root. An edge's number is that of its streaming port at this rank.
  typedef struct packed {
    /// the same for all trees whose ranks open the same collectives
    logic [2:0] group;
    /// this rank is the root: it has no parent
    logic       root;
    edge_t      parent;
    edges_t     children;
  } tree_entry_t;

  /// A rank in the tree of scatter, gather and allgather: whether it is a member, and the edge that leads to it
  typedef struct packed {
    logic  member;
    edge_t via;
  } rank_edge_t;

  /// The other end of an edge
  typedef struct packed {
    logic [7:0]  rank;
    /// address of its streaming port
    logic [31:0] dest;
  } neighbour_t;

  /// Location of a rank: its board, and its slot among the ranks of that board
  typedef struct packed {
    logic [11:0] board;
    logic [2:0]  slot;
  } rank_location_t;

  /// The other end of an edge, as hosts write it: rank, location of that rank, and the edge's number there
  typedef struct packed {
    rank_location_t     location;
    logic [7:0] rank;
    edge_t      number;
  } edge_end_t;

  /// Address of the port `index` of a rank, where each rank of a board has `stride` ports
  function automatic logic [31:0] port_address(rank_location_t location, int unsigned stride, int unsigned index);
    return {EndpointStream, 3'd0, location.board, 6'd0, 8'(32'(location.slot) * stride + index)};
  endfunction

  /// The neighbour of an edge as a support block needs it; `index` is the port index of the first edge
  function automatic neighbour_t neighbour_at(edge_end_t far, int unsigned stride, int unsigned index);
    return '{rank: far.rank, dest: port_address(far.location, stride, index + 32'(far.number))};
  endfunction

  /// Consecutive port numbers
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

  /// Bytes of an element
  function automatic end_t element_bytes(smi_type_e element);
    return end_t'(1) << log_bytes(element);
  endfunction

  /// Bytes of a beat: with `elements` those of an element, else `bytes`
  function automatic bytes_t beat_size(bit elements, int unsigned bytes, smi_type_e element);
    return elements ? bytes_t'(element_bytes(element)) : bytes_t'(bytes);
  endfunction

  /// A set of element types: bit n is type number n
  typedef logic [7:0] types_t;
  localparam types_t Integers = 8'((1 << SmiTypeChar) | (1 << SmiTypeShort) | (1 << SmiTypeInt) | (1 << SmiTypeLong));
  localparam types_t Floats = 8'((1 << SmiTypeHalf) | (1 << SmiTypeFloat) | (1 << SmiTypeDouble));

  /// Types whose elements have 2^`log` bytes
  function automatic types_t types_of_size(logic [1:0] log);
    for (int unsigned t = 0; t < 8; t++) begin
      types_of_size[t] = log_bytes(smi_type_e'(t)) == log && (Integers[t] || Floats[t]);
    end
  endfunction

  /// Whether a reduction of `types` supports this element type and operation
  function automatic logic reducible(types_t types, smi_type_e element, smi_op_e op);
    return types[element] && op inside {SmiOpAdd, SmiOpMax, SmiOpMin};
  endfunction

  /// This end has reached the other end's collective of the same group, or a later one
  function automatic logic reached(logic [15:0] theirs, logic [15:0] mine);
    return (mine - theirs) < 16'h8000;
  endfunction

  /// Bytes of a message
  function automatic bytes_t message_bytes(smi_type_e element, logic [31:0] count);
    return bytes_t'(count) << log_bytes(element);
  endfunction
endpackage
