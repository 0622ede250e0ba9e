// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Common front end of the support blocks of collectives: selects the tree of the requested root and opens channels
/// over its edges. Trees are registers, one for each root, so the root is chosen when the collective is opened.
///
///     open --> tree[root] --> channels to and from edges --> busy until the block reports that all data have passed
///
/// A root without a tree, or a type that the block does not support, is a fault, which persists until it is cleared.
module gs_stream_tree
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// edges, each a streaming port: 1 to 8; ranks, a power of two, 2 or more
  parameter  int unsigned Edges   = 4,
  parameter  int unsigned Ranks   = 16,
  /// data travel from children to parents; from parents to children; with both, first up, then down
  parameter  bit          Upwards = 0,
  parameter  bit          Downwards = !Upwards,
  localparam int unsigned RankW   = $clog2(Ranks)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  /// ends a fault, and closes everything that is open
  input  logic                    clear_i,
  // Trees, and the other ends of edges
  input  logic                    tree_we_i,
  input  logic [RankW-1:0]        tree_root_i,
  input  tree_entry_t             tree_entry_i,
  input  neighbour_t [Edges-1:0]  edges_i,
  // Kernel
  input  logic                    open_valid_i,
  output logic                    open_ready_o,
  input  collective_open_t        open_i,
  /// the block supports this type
  input  logic                    supported_i,
  output logic                    fault_o,
  // Channels, and the collective that they belong to
  output watch_t [Edges-1:0]      watch_o,
  output logic [Edges-1:0]        send_open_valid_o,
  input  logic [Edges-1:0]        send_open_ready_i,
  output send_open_t [Edges-1:0]  send_open_o,
  output logic [Edges-1:0]        recv_open_valid_o,
  input  logic [Edges-1:0]        recv_open_ready_i,
  output recv_open_t [Edges-1:0]  recv_open_o,
  // Block: the open collective, from the next cycle on; it ends when all data have passed
  output logic                    busy_o,
  output tree_entry_t             entry_o,
  output collective_open_t        opened_o,
  input  logic                    done_i
);
  typedef enum logic [1:0] {
    Idle,
    Busy,
    Fault
  } state_e;
  state_e state_q;
  collective_open_t opened_q;
  tree_entry_t found, entry_q;
  logic [Ranks-1:0] has_tree_q;
  logic [Edges-1:0] sends_q, recvs_q, sends, recvs, parent, children, sends_to_q, receives_from_q;
  /// collectives that each group has opened; number of the last one
  logic [7:0][15:0] numbers_q;
  logic [15:0] number_q;
  logic watched_q;
  logic valid_open, accept;

  if (Edges < 1 || Edges > MaxEdges) begin : gen_illegal_edges
    $fatal(1, "gs_stream_tree: Edges is %0d; it must be from 1 to %0d", Edges, MaxEdges);
  end
  if (Ranks < 2 || Ranks > 256 || (Ranks & (Ranks - 1)) != 0) begin : gen_illegal_ranks
    $fatal(1, "gs_stream_tree: Ranks is %0d; it must be a power of two from 2 to 256", Ranks);
  end

  gs_ram_sdp #(
    .Width  ($bits(tree_entry_t)),
    .Depth  (Ranks),
    .Latency(0),
    .Style  ("distributed")
  ) u_trees (
    .clk_i,
    .we_i   (tree_we_i),
    .wstrb_i(1'b1),
    .waddr_i(tree_root_i),
    .wdata_i(tree_entry_i),
    .re_i   (1'b1),
    .raddr_i(open_i.root[RankW-1:0]),
    .rdata_o(found)
  );
  assign valid_open = supported_i && 32'(open_i.root) < Ranks && has_tree_q[open_i.root[RankW-1:0]]
                && (32'(found.parent) < Edges || found.root) && (32'(found.children) >> Edges) == '0;
  assign open_ready_o = state_q == Idle && !clear_i;
  assign accept = open_valid_i && open_ready_o;
  assign parent = found.root ? '0 : Edges'(1) << found.parent;
  assign children = found.children[Edges-1:0];
  assign sends = (Upwards ? parent : '0) | (Downwards ? children : '0);
  assign recvs = (Upwards ? children : '0) | (Downwards ? parent : '0);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= Idle;
      has_tree_q <= '0;
      sends_q   <= '0;
      recvs_q   <= '0;
      watched_q <= 1'b0;
      numbers_q <= '0;
    end else begin
      sends_q <= sends_q & ~send_open_ready_i;
      recvs_q <= recvs_q & ~recv_open_ready_i;
      if (tree_we_i) has_tree_q[tree_root_i] <= 1'b1;
      if (accept) begin
        state_q <= valid_open ? Busy : Fault;
        sends_q <= valid_open ? sends : '0;
        recvs_q <= valid_open ? recvs : '0;
        watched_q <= valid_open;
        numbers_q[found.group] <= numbers_q[found.group] + 16'd1;
      end
      if (state_q == Busy && done_i && sends_q == '0 && recvs_q == '0) state_q <= Idle;
      if (clear_i) begin
        state_q   <= Idle;
        sends_q   <= '0;
        recvs_q   <= '0;
        watched_q <= 1'b0;
        numbers_q <= '0;
      end
    end
    if (accept) begin
      opened_q        <= open_i;
      entry_q         <= found;
      number_q        <= numbers_q[found.group];
      sends_to_q      <= sends;
      receives_from_q <= recvs;
    end
  end
  assign fault_o = state_q == Fault;
  assign busy_o = state_q == Busy;
  assign entry_o = entry_q;
  assign opened_o = opened_q;
  assign send_open_valid_o = sends_q;
  assign recv_open_valid_o = recvs_q;
  stream_tag_t tag;
  assign tag = '{
    number: number_q, group: entry_q.group, kind: opened_q.kind, op: opened_q.op, root: opened_q.root
  };
  for (genvar e = 0; e < Edges; e++) begin : gen_edge
    assign watch_o[e] = '{
      valid:   watched_q,
      sends:   sends_to_q[e],
      recvs:   receives_from_q[e],
      own:     opened_q.own,
      element: opened_q.element,
      count:   opened_q.count,
      tag:     tag
    };
    assign send_open_o[e] = '{
      rank: edges_i[e].rank, element: opened_q.element, own: opened_q.own, dest: edges_i[e].dest,
      count: opened_q.count
    };
    assign recv_open_o[e] = '{
      element: opened_q.element, own: opened_q.own, source: edges_i[e].rank, count: opened_q.count
    };
  end

  `GS_ASSERT_NOW(tree_written_only_while_idle, !tree_we_i || state_q != Busy)
  `GS_ASSERT_NOW(parent_is_no_child, state_q != Busy || (entry_q.root || !entry_q.children[entry_q.parent]))
endmodule
