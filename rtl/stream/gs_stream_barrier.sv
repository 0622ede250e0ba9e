// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Barrier: a rank goes on when all ranks have come. A reduction of nothing to the root of a tree, and a broadcast of
/// nothing from there: one element of no meaning goes up each edge, and one down.
///
///     kernel comes, a token of each child --> token to the parent
///     token of the parent (at the root: all have come) --> tokens to children, kernel goes on
module gs_stream_barrier
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// edges, each a streaming port; bytes of its beat; ranks
  parameter  int unsigned Edges = 4,
  parameter  int unsigned Bytes = 8,
  parameter  int unsigned Ranks = 16,
  localparam int unsigned RankW = $clog2(Ranks)
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic                          clear_i,
  // One tree, the last that was written; its root is not the kernel's concern
  input  logic                          tree_we_i,
  input  logic [RankW-1:0]              tree_root_i,
  input  tree_entry_t                   tree_entry_i,
  input  neighbour_t [Edges-1:0]        edges_i,
  output logic                          fault_o,
  // Kernel: comes; and goes on
  input  logic                          arrive_valid_i,
  output logic                          arrive_ready_o,
  /// this rank
  input  logic [7:0]                    come_own_i,
  output logic                          release_valid_o,
  input  logic                          release_ready_i,
  // Streaming ports of the edges
  output watch_t [Edges-1:0]            watch_o,
  output logic [Edges-1:0]              send_open_valid_o,
  input  logic [Edges-1:0]              send_open_ready_i,
  output send_open_t [Edges-1:0]        send_open_o,
  output logic [Edges-1:0]              push_valid_o,
  input  logic [Edges-1:0]              push_ready_i,
  output logic [Edges-1:0][8*Bytes-1:0] push_data_o,
  output logic [Edges-1:0]              recv_open_valid_o,
  input  logic [Edges-1:0]              recv_open_ready_i,
  output recv_open_t [Edges-1:0]        recv_open_o,
  input  logic [Edges-1:0]              pop_valid_i,
  output logic [Edges-1:0]              pop_ready_o
);
  logic busy, through, leaves;
  tree_entry_t place;
  collective_open_t open, opened;
  assign open = '{
    kind: SmiCollectiveBarrier, element: SmiTypeChar, op: SmiOpAdd, own: come_own_i, root: '0, count: 32'd1
  };
  gs_stream_tree #(
    .Edges    (Edges),
    .Ranks    (2),
    .Upwards  (1),
    .Downwards(1)
  ) u_tree (
    .clk_i,
    .rst_ni,
    .clear_i,
    .tree_we_i,
    .tree_root_i      (1'b0),
    .tree_entry_i,
    .edges_i,
    .open_valid_i     (arrive_valid_i),
    .open_ready_o     (arrive_ready_o),
    .open_i           (open),
    .known_i          (1'b1),
    .fault_o,
    .watch_o,
    .send_open_valid_o,
    .send_open_ready_i,
    .send_open_o,
    .recv_open_valid_o,
    .recv_open_ready_i,
    .recv_open_o,
    .busy_o           (busy),
    .place_o          (place),
    .opened_o         (opened),
    .through_i        (through)
  );

  // Edges that a token has come from, and gone to; the kernel has gone on
  logic [Edges-1:0] parent, children, came_q, gone_q, may_send;
  logic left_q, below, all;
  assign parent = place.root ? '0 : Edges'(1) << place.parent;
  assign children = place.children[Edges-1:0];
  assign below = (children & ~came_q) == '0;
  assign all = below && (parent & ~came_q) == '0;
  assign may_send = (below ? parent : '0) | (all ? children : '0);
  assign push_valid_o = busy ? may_send & ~gone_q : '0;
  assign push_data_o = '0;
  assign pop_ready_o = busy ? (parent | children) & ~came_q : '0;
  assign release_valid_o = busy && all && !left_q;
  assign leaves = release_valid_o && release_ready_i;
  assign through = all && ((parent | children) & ~gone_q) == '0 && left_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || !busy || clear_i) begin
      came_q <= '0;
      gone_q <= '0;
      left_q <= 1'b0;
    end else begin
      came_q <= came_q | (pop_valid_i & pop_ready_o);
      gone_q <= gone_q | (push_valid_o & push_ready_i);
      left_q <= left_q || leaves;
    end
  end

  logic unused;
  assign unused = ^{tree_root_i, opened, place.group};

  `GS_ASSERT_NOW(a_token_goes_up_when_all_below_have_come, (push_valid_o & parent) == '0 || below)
  `GS_ASSERT_NOW(nobody_leaves_before_the_root_says_so, !release_valid_o || all)
  `GS_ASSERT(a_kernel_that_may_go_on_waits_for_nothing_else, release_valid_o && !release_ready_i && !clear_i
             |=> release_valid_o)
endmodule
