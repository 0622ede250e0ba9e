// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Broadcast: what the root's kernel gives reaches the kernels of all other ranks, along a tree.
///
///     root's kernel, or parent --> beat --> children
///                                    +----> kernel, but not the root's
///
/// A beat goes on when all have it; the buffers of the streaming ports lie between ranks, and every element that
/// travels has a credit of the next rank.
module gs_stream_bcast
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// edges, each a streaming port; bytes of a beat; ranks
  parameter  int unsigned     Edges = 4,
  parameter  int unsigned     Bytes = 8,
  parameter  int unsigned     Ranks = 16,
  /// what kernels open: its own kind, or that of which it is a half
  parameter  smi_collective_e Kind  = SmiCollectiveBcast,
  localparam int unsigned     RankW = $clog2(Ranks)
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic                          clear_i,
  // Trees, as gs_stream_tree has them
  input  logic                          tree_we_i,
  input  logic [RankW-1:0]              tree_root_i,
  input  tree_entry_t                   tree_entry_i,
  input  neighbour_t [Edges-1:0]        edges_i,
  output logic                          fault_o,
  // Kernel: a root gives elements, the others take them
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

  logic busy, through, fresh_q;
  tree_entry_t place;
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
    .known_i          (open_i.kind == Kind && (32'd1 << log_bytes(open_i.element)) <= Bytes),
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

  // ------------------------------------------------------------------ in
  logic [Edges-1:0] parent;
  logic in_valid, in_ready, wants;
  beat_t from_parent;
  bytes_t left_q;
  assign parent = place.root ? '0 : Edges'(1) << place.parent;
  always_comb begin
    from_parent = '0;
    for (int unsigned e = 0; e < Edges; e++) if (parent[e]) from_parent |= pop_data_i[e];
  end
  // Bytes that have not come yet; in the first cycle of a collective they are counted.
  assign wants = busy && !fresh_q && left_q != '0;
  assign in_valid = wants && (place.root ? s_axis_tvalid_i : (pop_valid_i & parent) != '0);
  assign s_axis_tready_o = wants && place.root && in_ready;
  assign pop_ready_o = (wants && in_ready) ? parent : '0;

  // ----------------------------------------------------------------- out
  // One beat, and who has it. The kernel is the last of those who want it.
  logic [Edges:0] wanted, got_q, gets;
  logic valid_q, goes;
  bytes_t bytes_q;
  beat_t beat_q;
  assign wanted = {!place.root, place.children[Edges-1:0]};
  assign gets = {m_axis_tready_i, push_ready_i};
  assign goes = (wanted & ~got_q & ~gets) == '0;
  assign in_ready = !valid_q || goes;
  assign push_valid_o = valid_q ? wanted[Edges-1:0] & ~got_q[Edges-1:0] : '0;
  assign push_data_o = {Edges{beat_q}};
  assign m_axis_tvalid_o = valid_q && wanted[Edges] && !got_q[Edges];
  assign m_axis_tdata_o = beat_q;
  assign m_axis_tlast_o = bytes_q <= bytes_t'(Bytes);
  always_comb for (int unsigned b = 0; b < Bytes; b++) m_axis_tkeep_o[b] = bytes_q > bytes_t'(b);
  assign through = !fresh_q && left_q == '0 && (!valid_q || goes);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      valid_q <= 1'b0;
      got_q   <= '0;
    end else begin
      if (in_ready) valid_q <= in_valid;
      got_q <= (valid_q && !goes) ? got_q | (wanted & gets) : '0;
    end
    fresh_q <= open_ready_o;
    if (fresh_q) left_q <= message_bytes(opened.element, opened.count);
    else if (in_valid && in_ready) left_q <= left_q > bytes_t'(Bytes) ? left_q - bytes_t'(Bytes) : '0;
    if (in_valid && in_ready) begin
      beat_q  <= place.root ? s_axis_tdata_i : from_parent;
      bytes_q <= left_q;
    end
  end

  logic unused;
  assign unused = ^{opened, place.group};

  `GS_ASSERT(elements_are_stable_while_they_wait,
             m_axis_tvalid_o && !m_axis_tready_i && !clear_i
             |=> m_axis_tvalid_o && $stable({m_axis_tdata_o, m_axis_tkeep_o, m_axis_tlast_o}))
endmodule
