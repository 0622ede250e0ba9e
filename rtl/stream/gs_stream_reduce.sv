// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Reduction: combines the elements of all ranks along a tree and delivers the result to the root's kernel. Sum,
/// maximum or minimum of elements of `Types`, with as many lanes as a beat has elements.
///
///     kernel --> join --> join --> ... --> parent, or the root's kernel
///                  ^        ^
///               edge 0   edge 1            edges to children; the joins of other edges are disabled
///
/// Children are joined in the order of their edges, so that sums of floats depend on the tree alone. A collective
/// starts when all elements of the previous one have left the joins.
module gs_stream_reduce
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// edges, each a streaming port; bytes of a beat; ranks
  parameter  int unsigned     Edges = 4,
  parameter  int unsigned     Bytes = 8,
  parameter  int unsigned     Ranks = 16,
  /// types of elements that kernels may open; each size costs separate lanes
  parameter  types_t          Types = types_of_size(2),
  /// the collective that kernels open: this one, or the one of which this block is a half
  parameter  smi_collective_e Kind  = SmiCollectiveReduce,
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
  // Kernel: all ranks supply elements, the root receives results
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

  for (genvar s = 0; s < 4; s++) begin : gen_size
    if ((Types & types_of_size(s)) != '0 && Bytes < (1 << s)) begin : gen_illegal_bytes
      $fatal(1, "gs_stream_reduce: Bytes is %0d; Types has elements of %0d", Bytes, 1 << s);
    end
  end

  logic busy, done, fresh_q;
  tree_entry_t entry;
  collective_open_t opened;
  gs_stream_tree #(
    .Edges  (Edges),
    .Ranks  (Ranks),
    .Upwards(1)
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
    .supported_i      (open_i.kind == Kind && reducible(Types, open_i.element, open_i.op)),
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

  // --------------------------------------------------------------- joins
  logic [Edges:0] valid, ready;
  beat_t beat[Edges+1];
  logic [Edges-1:0] parent;
  bytes_t in_left_q, out_left_q, beat_bytes;
  logic running, rst_n;
  // clear_i resets everything that holds elements.
  assign rst_n = rst_ni && !clear_i;
  assign running = busy && !fresh_q;
  assign beat_bytes = beat_size(ElementBeats, Bytes, opened.element);
  assign parent = entry.root ? '0 : Edges'(1) << entry.parent;
  assign valid[0] = running && in_left_q != '0 && s_axis_tvalid_i;
  assign s_axis_tready_o = running && in_left_q != '0 && ready[0];
  assign beat[0] = s_axis_tdata_i;
  for (genvar e = 0; e < Edges; e++) begin : gen_edge
    gs_stream_reduce_op #(
      .Bytes       (Bytes),
      .Types       (Types),
      .ElementBeats(ElementBeats)
    ) u_join (
      .clk_i,
      .rst_ni     (rst_n),
      .enable_i   (busy && entry.children[e]),
      .element_i  (opened.element),
      .op_i       (opened.op),
      .a_valid_i  (valid[e]),
      .a_ready_o  (ready[e]),
      .a_i        (beat[e]),
      .b_valid_i  (pop_valid_i[e] && running),
      .b_ready_o  (pop_ready_o[e]),
      .b_i        (pop_data_i[e]),
      .out_valid_o(valid[e+1]),
      .out_ready_i(ready[e+1]),
      .out_o      (beat[e+1])
    );
  end

  // --------------------------------------------------------------- output
  // An extra register stage breaks the combinational path from the kernel to a port.
  logic out_valid, out_ready, out_fire;
  beat_t out;
  gs_skid #(.data_t(beat_t)) u_out (
    .clk_i,
    .rst_ni     (rst_n),
    .in_valid_i (valid[Edges]),
    .in_ready_o (ready[Edges]),
    .in_data_i  (beat[Edges]),
    .out_valid_o(out_valid),
    .out_ready_i(out_ready),
    .out_data_o (out)
  );
  assign push_valid_o = out_valid ? parent : '0;
  assign push_data_o = {Edges{out}};
  assign m_axis_tvalid_o = out_valid && entry.root;
  assign m_axis_tdata_o = out;
  assign m_axis_tlast_o = out_left_q <= beat_bytes;
  always_comb begin
    for (int unsigned b = 0; b < Bytes; b++) m_axis_tkeep_o[b] = bytes_t'(b) < beat_bytes && out_left_q > bytes_t'(b);
  end
  assign out_ready = entry.root ? m_axis_tready_i : (push_ready_i & parent) != '0;
  assign out_fire = out_valid && out_ready;
  assign done = !fresh_q && (out_left_q == '0 || (out_fire && out_left_q <= beat_bytes));

  always_ff @(posedge clk_i) begin
    fresh_q <= open_ready_o;
    if (fresh_q) begin
      in_left_q  <= message_bytes(opened.element, opened.count);
      out_left_q <= message_bytes(opened.element, opened.count);
    end else begin
      if (valid[0] && ready[0]) in_left_q <= in_left_q > beat_bytes ? in_left_q - beat_bytes : '0;
      if (out_fire) out_left_q <= out_left_q > beat_bytes ? out_left_q - beat_bytes : '0;
    end
  end

  logic unused;
  assign unused = ^{opened, entry.group};

  `GS_ASSERT(result_stable_while_stalled,
             m_axis_tvalid_o && !m_axis_tready_i && !clear_i
             |=> m_axis_tvalid_o && $stable({m_axis_tdata_o, m_axis_tkeep_o, m_axis_tlast_o}))
  `GS_ASSERT_NOW(empty_when_collective_ends, busy || !out_valid)
endmodule
