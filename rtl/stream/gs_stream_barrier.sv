// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Barrier: releases the kernels of all ranks when all of them have arrived. It is a reduction without data to the root
/// of a tree and a broadcast without data from it: one token, an element without meaning, per edge and direction.
///
///     kernel arrived, a token from each child --> token to the parent
///     token from the parent (at the root: all arrived) --> tokens to the children, release of the kernel
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
  // One tree, the last one written. Its root is independent of the kernels.
  input  logic                          tree_we_i,
  input  logic [RankW-1:0]              tree_root_i,
  input  tree_entry_t                   tree_entry_i,
  input  neighbour_t [Edges-1:0]        edges_i,
  output logic                          fault_o,
  // Kernel: arrives; is released
  input  logic                          arrive_valid_i,
  output logic                          arrive_ready_o,
  /// this rank
  input  logic [7:0]                    own_i,
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
  logic busy, done, release_fire;
  tree_entry_t entry;
  collective_open_t open, opened;
  assign open = '{
    kind: SmiCollectiveBarrier, element: SmiTypeChar, op: SmiOpAdd, own: own_i, root: '0, count: 32'd1
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
    .supported_i      (1'b1),
    .fault_o,
    .watch_o,
    .send_open_valid_o,
    .send_open_ready_i,
    .send_open_o,
    .recv_open_valid_o,
    .recv_open_ready_i,
    .recv_open_o,
    .busy_o           (busy),
    .entry_o          (entry),
    .opened_o         (opened),
    .done_i           (done)
  );

  // Edges whose token was received, edges whose token was sent; whether the kernel was released
  logic [Edges-1:0] parent, children, received_q, sent_q, may_send;
  logic released_q, children_arrived, all_arrived;
  assign parent = entry.root ? '0 : Edges'(1) << entry.parent;
  assign children = entry.children[Edges-1:0];
  assign children_arrived = (children & ~received_q) == '0;
  assign all_arrived = children_arrived && (parent & ~received_q) == '0;
  assign may_send = (children_arrived ? parent : '0) | (all_arrived ? children : '0);
  assign push_valid_o = busy ? may_send & ~sent_q : '0;
  assign push_data_o = '0;
  assign pop_ready_o = busy ? (parent | children) & ~received_q : '0;
  assign release_valid_o = busy && all_arrived && !released_q;
  assign release_fire = release_valid_o && release_ready_i;
  assign done = all_arrived && ((parent | children) & ~sent_q) == '0 && released_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || !busy || clear_i) begin
      received_q <= '0;
      sent_q <= '0;
      released_q <= 1'b0;
    end else begin
      received_q <= received_q | (pop_valid_i & pop_ready_o);
      sent_q <= sent_q | (push_valid_o & push_ready_i);
      released_q <= released_q || release_fire;
    end
  end

  logic unused;
  assign unused = ^{tree_root_i, opened, entry.group};

  `GS_ASSERT_NOW(token_to_parent_after_all_children, (push_valid_o & parent) == '0 || children_arrived)
  `GS_ASSERT_NOW(release_after_all_arrived, !release_valid_o || all_arrived)
  `GS_ASSERT(release_stable_while_stalled, release_valid_o && !release_ready_i && !clear_i
             |=> release_valid_o)
endmodule
