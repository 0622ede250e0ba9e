// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Broadcast: sends the elements of the root's kernel to the kernels of all other ranks, along a tree.
///
///     root's kernel, or parent --> beat --> children
///                                    +----> kernel, except the root's
///
/// A beat is released when all its receivers have taken it. The buffers of the streaming ports decouple the ranks, and
/// each element in flight has a credit of the next rank.
module gs_stream_bcast
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// edges, each a streaming port; bytes of a beat; ranks
  parameter  int unsigned     Edges = 4,
  parameter  int unsigned     Bytes = 8,
  parameter  int unsigned     Ranks = 16,
  /// the collective that kernels open: this one, or the one of which this block is a half
  parameter  smi_collective_e Kind  = SmiCollectiveBcast,
  /// as in gs_stream_push
  parameter  bit              ElementBeats = 0,
  localparam int unsigned     RankW = $clog2(Ranks)
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic                          clear_i,
  // Trees, as in gs_stream_tree
  input  logic                          tree_we_i,
  input  logic [RankW-1:0]              tree_root_i,
  input  tree_entry_t                   tree_entry_i,
  input  neighbour_t [Edges-1:0]        edges_i,
  output logic                          fault_o,
  // Kernel: the root supplies elements, the others receive them
  input  logic                          open_valid_i,
  output logic                          open_ready_o,
  input  collective_open_t              open_i,
  input  logic                          s_axis_tvalid_i,
  output logic                          s_axis_tready_o,
  input  logic [8*Bytes-1:0]            s_axis_tdata_i,
  output logic                          m_axis_tvalid_o,
  input  logic                          m_axis_tready_i,
  output logic [8*Bytes-1:0]            m_axis_tdata_o,
  output logic [Bytes-1:0]              m_axis_tkeep_o,
  output logic                          m_axis_tlast_o,
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
  output logic [Edges-1:0]              pop_ready_o,
  input  logic [Edges-1:0][8*Bytes-1:0] pop_data_i
);
  typedef logic [8*Bytes-1:0] beat_t;

  logic busy, done, fresh_q;
  tree_entry_t entry;
  collective_open_t opened;
  gs_stream_tree #(
    .Edges  (Edges),
    .Ranks  (Ranks),
    .Upwards(0)
  ) u_tree (
    .clk_i,
    .rst_ni,
    .clear_i,
    .tree_we_i,
    .tree_root_i,
    .tree_entry_i,
    .edges_i,
    .open_valid_i,
    .open_ready_o,
    .open_i,
    .supported_i      (open_i.kind == Kind && (32'd1 << log_bytes(open_i.element)) <= Bytes),
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

  // ---------------------------------------------------------------- input
  logic [Edges-1:0] parent;
  logic in_valid, in_ready, accepts;
  beat_t from_parent;
  bytes_t left_q;
  assign parent = entry.root ? '0 : Edges'(1) << entry.parent;
  always_comb begin
    from_parent = '0;
    for (int unsigned e = 0; e < Edges; e++) if (parent[e]) from_parent |= pop_data_i[e];
  end
  // Bytes still to be received; the first cycle of a collective initializes the count.
  assign accepts = busy && !fresh_q && left_q != '0;
  assign in_valid = accepts && (entry.root ? s_axis_tvalid_i : (pop_valid_i & parent) != '0);
  assign s_axis_tready_o = accepts && entry.root && in_ready;
  assign pop_ready_o = (accepts && in_ready) ? parent : '0;

  // --------------------------------------------------------------- output
  // One beat, and the receivers that have taken it. The kernel is the highest bit.
  logic [Edges:0] wanted, taken_q, takes;
  logic valid_q, all_taken;
  bytes_t bytes_q, beat_bytes;
  beat_t beat_q;
  assign beat_bytes = beat_size(ElementBeats, Bytes, opened.element);
  assign wanted = {!entry.root, entry.children[Edges-1:0]};
  assign takes = {m_axis_tready_i, push_ready_i};
  assign all_taken = (wanted & ~taken_q & ~takes) == '0;
  assign in_ready = !valid_q || all_taken;
  assign push_valid_o = valid_q ? wanted[Edges-1:0] & ~taken_q[Edges-1:0] : '0;
  assign push_data_o = {Edges{beat_q}};
  assign m_axis_tvalid_o = valid_q && wanted[Edges] && !taken_q[Edges];
  assign m_axis_tdata_o = beat_q;
  assign m_axis_tlast_o = bytes_q <= beat_bytes;
  always_comb begin
    for (int unsigned b = 0; b < Bytes; b++) m_axis_tkeep_o[b] = bytes_t'(b) < beat_bytes && bytes_q > bytes_t'(b);
  end
  assign done = !fresh_q && left_q == '0 && (!valid_q || all_taken);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      valid_q <= 1'b0;
      taken_q <= '0;
    end else begin
      if (in_ready) valid_q <= in_valid;
      taken_q <= (valid_q && !all_taken) ? taken_q | (wanted & takes) : '0;
    end
    fresh_q <= open_ready_o;
    if (fresh_q) left_q <= message_bytes(opened.element, opened.count);
    else if (in_valid && in_ready) left_q <= left_q > beat_bytes ? left_q - beat_bytes : '0;
    if (in_valid && in_ready) begin
      beat_q  <= entry.root ? s_axis_tdata_i : from_parent;
      bytes_q <= left_q;
    end
  end

  logic unused;
  assign unused = ^{opened, entry.group};

  `GS_ASSERT(elements_stable_while_stalled,
             m_axis_tvalid_o && !m_axis_tready_i && !clear_i
             |=> m_axis_tvalid_o && $stable({m_axis_tdata_o, m_axis_tkeep_o, m_axis_tlast_o}))
endmodule
