// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Support block of any kind of collective, selected at run time by its role: it contains the blocks of `Kinds`, one of
/// which uses the kernel's streams and the streaming ports of the edges.
///
///     kernel <=> block of the role <=> streaming ports of the edges
///
/// A role is a kind of collective: broadcast, reduction, allreduce (which also reduces, along one tree for all roots),
/// scatter, gather and allgather (one block for the three), barrier, or none. With the role of a barrier, a kernel
/// arrives when it opens the collective, and is released by a beat without bytes. The role changes with `clear_i`.
module gs_stream_collective
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// edges, each a streaming port; bytes of a beat; ranks
  parameter  int unsigned Edges = 4,
  parameter  int unsigned Bytes = 8,
  parameter  int unsigned Ranks = 16,
  /// kinds of collectives (bit n is number n of smi_collective), types of reductions
  parameter  int unsigned Kinds = 'hFE,
  parameter  types_t      Types = Integers | Floats,
  /// as in gs_stream_push
  parameter  bit          ElementBeats = 1,
  localparam int unsigned RankW = $clog2(Ranks)
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  /// ends a fault, and closes everything that is open
  input  logic                          clear_i,
  input  smi_collective_e               role_i,
  // Trees, or edges towards ranks, written while the block is idle; the other ends of edges
  input  logic                          tree_we_i,
  input  logic                          rank_edge_we_i,
  input  logic [RankW-1:0]              rank_i,
  input  tree_entry_t                   tree_entry_i,
  input  rank_edge_t                    rank_edge_i,
  input  neighbour_t [Edges-1:0]        edges_i,
  /// no collective is open; the block is halted by a fault
  output logic                          idle_o,
  output logic                          fault_o,
  // Kernel
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
  // Blocks
  localparam int unsigned Bcast = 0, Join = 1, Segments = 2, Barrier = 3, Blocks = 4;
  localparam logic [7:0] JoinKinds = 8'((1 << SmiCollectiveReduce) | (1 << SmiCollectiveAllreduce));
  localparam logic [7:0] SegmentKinds =
      8'((1 << SmiCollectiveScatter) | (1 << SmiCollectiveGather) | (1 << SmiCollectiveAllgather));

  logic [Blocks-1:0] role, opens, ready, fault, s_ready, m_valid, m_last;
  logic [Blocks-1:0][8*Bytes-1:0] m_data;
  logic [Blocks-1:0][Bytes-1:0] m_keep;
  watch_t [Blocks-1:0][Edges-1:0] watch;
  logic [Blocks-1:0][Edges-1:0] send_open_valid, push_valid, recv_open_valid, pop_ready;
  send_open_t [Blocks-1:0][Edges-1:0] send_open;
  recv_open_t [Blocks-1:0][Edges-1:0] recv_open;
  logic [Blocks-1:0][Edges-1:0][8*Bytes-1:0] push_data;
  // A kernel that opens another collective at a barrier halts the block.
  logic wrong_q;

  assign role[Bcast]    = role_i == SmiCollectiveBcast;
  assign role[Join]     = JoinKinds[role_i];
  assign role[Segments] = SegmentKinds[role_i];
  assign role[Barrier]  = role_i == SmiCollectiveBarrier;
  assign opens = open_valid_i && !wrong_q ? role & ~((Blocks)'(open_i.kind != SmiCollectiveBarrier) << Barrier) : '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) wrong_q <= 1'b0;
    else if (open_valid_i && role[Barrier] && open_i.kind != SmiCollectiveBarrier) wrong_q <= 1'b1;
  end

  // A block runs while it is used.
  logic [Blocks-1:0] clk;
  for (genvar b = 0; b < Blocks; b++) begin : gen_gate
    gs_clock_gate u_gate (
      .clk_i,
      .rst_ni,
      .busy_i(opens[b] || !ready[b] || tree_we_i || rank_edge_we_i),
      .clk_o (clk[b])
    );
  end

`define COLLECTIVE_PARAMETERS \
    .Edges       (Edges), \
    .Bytes       (Bytes), \
    .Ranks       (Ranks), \
    .ElementBeats(ElementBeats)
`define COLLECTIVE_TREES \
      .tree_we_i, \
      .tree_root_i (rank_i), \
      .tree_entry_i,
`define COLLECTIVE_KERNEL(B) \
      .open_valid_i   (opens[B]), \
      .open_ready_o   (ready[B]), \
      .open_i, \
      .s_axis_tvalid_i(s_axis_tvalid_i && role[B]), \
      .s_axis_tready_o(s_ready[B]), \
      .s_axis_tdata_i, \
      .m_axis_tvalid_o(m_valid[B]), \
      .m_axis_tready_i, \
      .m_axis_tdata_o (m_data[B]), \
      .m_axis_tkeep_o (m_keep[B]), \
      .m_axis_tlast_o (m_last[B]),
`define COLLECTIVE_EDGES(B) \
      .clk_i            (clk[B]), \
      .rst_ni, \
      .clear_i, \
      .edges_i, \
      .fault_o          (fault[B]), \
      .watch_o          (watch[B]), \
      .send_open_valid_o(send_open_valid[B]), \
      .send_open_ready_i, \
      .send_open_o      (send_open[B]), \
      .push_valid_o     (push_valid[B]), \
      .push_ready_i, \
      .push_data_o      (push_data[B]), \
      .recv_open_valid_o(recv_open_valid[B]), \
      .recv_open_ready_i, \
      .recv_open_o      (recv_open[B]), \
      .pop_valid_i      (role[B] ? pop_valid_i : '0), \
      .pop_ready_o      (pop_ready[B])
`define COLLECTIVE_ABSENT(B) \
    assign ready[B] = 1'b1; \
    assign {fault[B], s_ready[B], m_valid[B], m_last[B], m_data[B], m_keep[B]} = '0; \
    assign {watch[B], send_open_valid[B], push_valid[B], recv_open_valid[B], pop_ready[B]} = '0; \
    assign {send_open[B], recv_open[B], push_data[B]} = '0;

  if ((Kinds >> SmiCollectiveBcast & 1) != 0) begin : gen_bcast
    gs_stream_bcast #(
      `COLLECTIVE_PARAMETERS
    ) u_bcast (
      `COLLECTIVE_TREES
      `COLLECTIVE_KERNEL(Bcast)
      `COLLECTIVE_EDGES(Bcast),
      .pop_data_i
    );
  end else begin : gen_no_bcast
    `COLLECTIVE_ABSENT(Bcast)
  end
  if ((8'(Kinds) & JoinKinds) != '0) begin : gen_join
    gs_stream_allreduce #(
      `COLLECTIVE_PARAMETERS,
      .Types  (Types),
      .Reduces(1),
      .Plain  (1)
    ) u_join (
      .plain_i(role_i == SmiCollectiveReduce),
      `COLLECTIVE_TREES
      `COLLECTIVE_KERNEL(Join)
      `COLLECTIVE_EDGES(Join),
      .pop_data_i
    );
  end else begin : gen_no_join
    `COLLECTIVE_ABSENT(Join)
  end
  if ((8'(Kinds) & SegmentKinds) != '0) begin : gen_segments
    gs_stream_scatter_gather #(
      `COLLECTIVE_PARAMETERS
    ) u_segments (
      .rank_edge_we_i,
      .rank_edge_rank_i(rank_i),
      .rank_edge_i,
      `COLLECTIVE_KERNEL(Segments)
      `COLLECTIVE_EDGES(Segments),
      .pop_data_i
    );
  end else begin : gen_no_segments
    `COLLECTIVE_ABSENT(Segments)
  end
  if ((Kinds >> SmiCollectiveBarrier & 1) != 0) begin : gen_barrier
    assign {s_ready[Barrier], m_data[Barrier], m_keep[Barrier]} = '0;
    assign m_last[Barrier] = 1'b1;
    gs_stream_barrier #(
      .Edges(Edges),
      .Bytes(Bytes),
      .Ranks(Ranks)
    ) u_barrier (
      `COLLECTIVE_TREES
      .arrive_valid_i (opens[Barrier]),
      .arrive_ready_o (ready[Barrier]),
      .own_i          (open_i.own),
      .release_valid_o(m_valid[Barrier]),
      .release_ready_i(m_axis_tready_i),
      `COLLECTIVE_EDGES(Barrier)
    );
  end else begin : gen_no_barrier
    `COLLECTIVE_ABSENT(Barrier)
  end
`undef COLLECTIVE_PARAMETERS
`undef COLLECTIVE_TREES
`undef COLLECTIVE_KERNEL
`undef COLLECTIVE_EDGES
`undef COLLECTIVE_ABSENT

  // Blocks without the role have nothing open.
  always_comb begin
    open_ready_o      = 1'b0;
    s_axis_tready_o   = 1'b0;
    m_axis_tvalid_o   = 1'b0;
    m_axis_tdata_o    = '0;
    m_axis_tkeep_o    = '0;
    m_axis_tlast_o    = 1'b0;
    watch_o           = '0;
    send_open_valid_o = '0;
    send_open_o       = '0;
    push_valid_o      = '0;
    push_data_o       = '0;
    recv_open_valid_o = '0;
    recv_open_o       = '0;
    pop_ready_o       = '0;
    for (int unsigned b = 0; b < Blocks; b++) begin
      if (role[b]) begin
        open_ready_o      = opens[b] && ready[b];
        s_axis_tready_o   = s_ready[b];
        m_axis_tvalid_o   = m_valid[b];
        m_axis_tdata_o    = m_data[b];
        m_axis_tkeep_o    = m_keep[b];
        m_axis_tlast_o    = m_last[b];
        watch_o           = watch[b];
        send_open_valid_o = send_open_valid[b];
        send_open_o       = send_open[b];
        push_valid_o      = push_valid[b];
        push_data_o       = push_data[b];
        recv_open_valid_o = recv_open_valid[b];
        recv_open_o       = recv_open[b];
        pop_ready_o       = pop_ready[b];
      end
    end
  end
  assign idle_o  = &ready;
  assign fault_o = wrong_q || fault != '0;

  // Without the blocks that use them
  logic unused;
  assign unused = ^{tree_entry_i, rank_edge_i, open_i, s_axis_tvalid_i, s_axis_tdata_i, pop_data_i, pop_valid_i,
                    rank_i, edges_i, clk, send_open_ready_i, recv_open_ready_i, push_ready_i, m_axis_tready_i};

  `GS_ASSERT_NOW(only_the_role_is_used, (~role & ~ready) == '0 || clear_i)
endmodule
