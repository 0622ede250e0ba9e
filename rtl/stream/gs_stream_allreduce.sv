// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Allreduce: combines the elements of all ranks along a tree and returns the result to the kernels of all ranks. It is
/// a reduction to the tree's root followed by a broadcast from it, at the same streaming ports: at each edge one of the
/// two uses the sending half and the other the receiving half.
///
///     kernel --> reduction --> parent          parent --> broadcast --> children
///                    ^                                        +-------> kernel
///                 children
///     at the root: kernel --> reduction --+--> broadcast --> children
///                                         +--> kernel
///
/// Elements stream through both phases at once, so a kernel must accept results while it supplies elements. With
/// `Reduces` a kernel may also open a reduction to any rank: the result passes all ranks, and only the root's kernel
/// receives it. If the tree is the path of all ranks in rank order, and ends at its root, elements are added in rank
/// order.
module gs_stream_allreduce
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// edges, each a streaming port; bytes of a beat; ranks
  parameter  int unsigned Edges = 4,
  parameter  int unsigned Bytes = 8,
  parameter  int unsigned Ranks = 16,
  /// types of elements, as in gs_stream_reduce
  parameter  types_t      Types = types_of_size(2),
  /// also supports reductions, to a root that the kernel chooses
  parameter  bit          Reduces = 0,
  /// also supports reductions along the tree of the requested root (plain_i), with Reduces
  parameter  bit          Plain = 0,
  /// as in gs_stream_push
  parameter  bit          ElementBeats = 0,
  localparam int unsigned RankW = $clog2(Ranks)
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic                          clear_i,
  /// reductions travel along the tree of the requested root, and not beyond it; changes with clear_i
  input  logic                          plain_i = 1'b0,
  // One tree, the last one written; with Plain that of root 0, and with plain_i one for each root. Its root is
  // independent of the root that a kernel names, except with plain_i.
  input  logic                          tree_we_i,
  input  logic [RankW-1:0]              tree_root_i,
  input  tree_entry_t                   tree_entry_i,
  input  neighbour_t [Edges-1:0]        edges_i,
  output logic                          fault_o,
  // Kernel: all ranks supply elements and receive results; in a reduction only the root receives them
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
  /// A beat of the result: from the reduction at the root, or to the kernel
  typedef struct packed {
    logic [8*Bytes-1:0] data;
    logic [Bytes-1:0]   keep;
    logic               last;
  } beat_t;

  // Both blocks have one tree, number 0, or with Plain the reduction has one for each root.
  localparam int unsigned Trees = Plain ? Ranks : 2;
  localparam int unsigned TreeW = $clog2(Trees);
  collective_open_t open;
  logic opens, down_opens, up_ready, down_ready, up_fault, down_fault, reduces, kernel_ready;
  /// this rank's kernel receives the result; kind and root for the ports' tag
  logic receives_q;
  smi_collective_e kind_q;
  logic [7:0] root_q;
  logic plain;
  assign plain = Plain && plain_i;
  assign reduces = Reduces && open_i.kind == SmiCollectiveReduce && 32'(open_i.root) < Ranks;
  always_comb begin
    open      = open_i;
    open.root = plain ? open_i.root : '0;
    if (reduces) open.kind = SmiCollectiveAllreduce;
    else if (plain) open.kind = SmiCollectiveNone;
  end
  always_ff @(posedge clk_i) begin
    if (opens) begin
      receives_q <= !reduces || open_i.own == open_i.root;
      kind_q  <= open_i.kind;
      root_q  <= reduces ? open_i.root : '0;
    end
  end
  assign open_ready_o = up_ready && down_ready;
  assign opens = open_valid_i && open_ready_o;
  // A collective that the reduction rejects does not start the broadcast.
  assign down_opens = opens && !plain && open.kind == SmiCollectiveAllreduce
                      && reducible(Types, open_i.element, open_i.op);
  assign fault_o = up_fault || down_fault;

  logic [Edges-1:0] up_send, down_send, up_recv, down_recv, up_push, down_push, up_pop, down_pop;
  send_open_t [Edges-1:0] up_send_open, down_send_open;
  watch_t [Edges-1:0] up_watch, down_watch;
  recv_open_t [Edges-1:0] up_recv_open, down_recv_open;
  logic [Edges-1:0][8*Bytes-1:0] up_push_data, down_push_data;
  logic up_valid, up_advance, down_s_ready, down_valid;
  beat_t up, down;
  /// at the root: kernel (0) and broadcast (1) have taken the current result
  logic [1:0] taken_q, taken;

  gs_stream_reduce #(
    .Edges(Edges),
    .Bytes(Bytes),
    .Ranks(Trees),
    .Types(Types),
    .Kind (SmiCollectiveAllreduce),
    .ElementBeats(ElementBeats)
  ) u_up (
    .clk_i,
    .rst_ni,
    .clear_i,
    .tree_we_i,
    .tree_root_i      (Plain ? TreeW'(tree_root_i) : TreeW'(0)),
    .tree_entry_i,
    .edges_i,
    .fault_o          (up_fault),
    .open_valid_i     (opens),
    .open_ready_o     (up_ready),
    .open_i           (open),
    .s_axis_tvalid_i,
    .s_axis_tready_o,
    .s_axis_tdata_i,
    .m_axis_tvalid_o  (up_valid),
    .m_axis_tready_i  (up_advance),
    .m_axis_tdata_o   (up.data),
    .m_axis_tkeep_o   (up.keep),
    .m_axis_tlast_o   (up.last),
    .watch_o          (up_watch),
    .send_open_valid_o(up_send),
    .send_open_ready_i,
    .send_open_o      (up_send_open),
    .push_valid_o     (up_push),
    .push_ready_i,
    .push_data_o      (up_push_data),
    .recv_open_valid_o(up_recv),
    .recv_open_ready_i,
    .recv_open_o      (up_recv_open),
    .pop_valid_i,
    .pop_ready_o      (up_pop),
    .pop_data_i
  );
  gs_stream_bcast #(
    .Edges(Edges),
    .Bytes(Bytes),
    .Ranks(2),
    .Kind (SmiCollectiveAllreduce),
    .ElementBeats(ElementBeats)
  ) u_down (
    .clk_i,
    .rst_ni,
    .clear_i,
    .tree_we_i,
    .tree_root_i      (1'b0),
    .tree_entry_i,
    .edges_i,
    .fault_o          (down_fault),
    .open_valid_i     (down_opens),
    .open_ready_o     (down_ready),
    .open_i           (open),
    .s_axis_tvalid_i  (up_valid && !taken_q[1]),
    .s_axis_tready_o  (down_s_ready),
    .s_axis_tdata_i   (up.data),
    .m_axis_tvalid_o  (down_valid),
    .m_axis_tready_i  (kernel_ready),
    .m_axis_tdata_o   (down.data),
    .m_axis_tkeep_o   (down.keep),
    .m_axis_tlast_o   (down.last),
    .watch_o          (down_watch),
    .send_open_valid_o(down_send),
    .send_open_ready_i,
    .send_open_o      (down_send_open),
    .push_valid_o     (down_push),
    .push_ready_i,
    .push_data_o      (down_push_data),
    .recv_open_valid_o(down_recv),
    .recv_open_ready_i,
    .recv_open_o      (down_recv_open),
    .pop_valid_i,
    .pop_ready_o      (down_pop),
    .pop_data_i
  );

  // -------------------------------------------------------------- kernel
  // The root drops a result once both have taken it. Other ranks have none. A result without a receiver is dropped.
  assign kernel_ready = m_axis_tready_i || !receives_q;
  assign taken = taken_q | {down_s_ready || plain, kernel_ready};
  assign up_advance = &taken;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) taken_q <= '0;
    else if (up_valid) taken_q <= up_advance ? '0 : taken;
  end
  assign m_axis_tvalid_o = receives_q && ((up_valid && !taken_q[0]) || down_valid);
  assign {m_axis_tdata_o, m_axis_tkeep_o, m_axis_tlast_o} = down_valid ? down : up;

  // --------------------------------------------------------------- ports
  assign send_open_valid_o = up_send | down_send;
  assign recv_open_valid_o = up_recv | down_recv;
  assign push_valid_o = up_push | down_push;
  assign pop_ready_o = up_pop | down_pop;
  for (genvar e = 0; e < Edges; e++) begin : gen_edge
    assign send_open_o[e] = up_send[e] ? up_send_open[e] : down_send_open[e];
    assign recv_open_o[e] = up_recv[e] ? up_recv_open[e] : down_recv_open[e];
    // The counts of collectives of both blocks are equal.
    always_comb begin
      watch_o[e]       = up_watch[e];
      watch_o[e].sends = up_watch[e].sends || down_watch[e].sends;
      watch_o[e].recvs = up_watch[e].recvs || down_watch[e].recvs;
      if (Reduces) begin
        watch_o[e].tag.kind = kind_q;
        watch_o[e].tag.root = root_q;
      end
    end
    assign push_data_o[e] = up_push[e] ? up_push_data[e] : down_push_data[e];
  end

  logic unused;
  assign unused = ^{tree_root_i, open_i.root, down_watch, kind_q, root_q};

  `GS_ASSERT_NOW(each_port_half_has_one_user, ((up_send & down_send) | (up_recv & down_recv)
                 | (up_push & down_push) | (up_pop & down_pop)) == '0)
  `GS_ASSERT_NOW(result_has_one_source, !(up_valid && down_valid))
  `GS_ASSERT(result_stable_while_stalled,
             m_axis_tvalid_o && !m_axis_tready_i && !clear_i
             |=> m_axis_tvalid_o && $stable({m_axis_tdata_o, m_axis_tkeep_o, m_axis_tlast_o}))
endmodule
