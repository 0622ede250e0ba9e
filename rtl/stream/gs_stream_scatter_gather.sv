// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Scatter, gather and allgather: each rank has a part, and all parts pass in the order of ranks, one at a time, along
/// one tree that serves all roots.
///
///     scatter    root's kernel, or edge to the root --> beat --> kernel of the rank, or edge to it
///     gather     kernel of the rank, or edge to it  --> beat --> root's kernel, or edge to the root
///     allgather  kernel of the rank, or edge to it  --> beat --> kernel, and all other edges
///
/// A part is a message of its own on each edge, so none is cut or joined. A table says which edge leads to each rank;
/// parts that do not pass this rank are left out. Since all ranks take parts in one order, the first part that is not
/// through yet finds all ranks on its way waiting for it: docs/hardware/stream.md has the argument.
module gs_stream_scatter_gather
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// edges, each a streaming port: 1 to 8; bytes of a beat; ranks, a power of two, 2 to 256
  parameter  int unsigned Edges = 4,
  parameter  int unsigned Bytes = 8,
  parameter  int unsigned Ranks = 16,
  localparam int unsigned RankW = $clog2(Ranks)
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  /// ends a fault, and whatever is open
  input  logic                          clear_i,
  // Members of the tree and the edges that lead to them, while no collective is open; and the other ends of edges
  input  logic                          way_we_i,
  input  logic [RankW-1:0]              way_rank_i,
  input  way_t                          way_i,
  input  neighbour_t [Edges-1:0]        edges_i,
  output logic                          fault_o,
  // Kernel: parts in the order of ranks, each begins with a beat of its own, and tlast ends each
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
  typedef enum logic [2:0] {
    Idle,
    Look,   // through the table: is it whole, which edges does the tree have here
    Find,   // the next part that passes here
    Pass,
    Fault
  } state_e;

  if (Edges < 1 || Edges > MaxEdges) begin : gen_illegal_edges
    $fatal(1, "gs_stream_scatter_gather: Edges is %0d; it must be from 1 to %0d", Edges, MaxEdges);
  end
  if (Ranks < 2 || Ranks > 256 || (Ranks & (Ranks - 1)) != 0) begin : gen_illegal_ranks
    $fatal(1, "gs_stream_scatter_gather: Ranks is %0d; it must be a power of two from 2 to 256", Ranks);
  end

  state_e state_q, state_d;
  collective_open_t opened_q;
  logic [RankW-1:0] rank_q;
  logic takes, known, steps;
  assign known = open_i.kind inside {SmiCollectiveScatter, SmiCollectiveGather, SmiCollectiveAllgather}
                 && (32'd1 << log_bytes(open_i.element)) <= Bytes
                 && 32'(open_i.root) < Ranks && 32'(open_i.own) < Ranks;
  assign open_ready_o = state_q == Idle && !clear_i;
  assign takes = open_valid_i && open_ready_o;

  // --------------------------------------------------------------- table
  logic [Ranks-1:0] members_q;
  edge_t via, parent_q;
  logic member, own_part, is_root, is_last, good;
  logic [Edges-1:0] towards, parent, root_edge, uses_q;
  gs_ram_sdp #(
    .Width  ($bits(edge_t)),
    .Depth  (Ranks),
    .Latency(0),
    .Style  ("distributed")
  ) u_ways (
    .clk_i,
    .we_i   (way_we_i),
    .wstrb_i(1'b1),
    .waddr_i(way_rank_i),
    .wdata_i(way_i.via),
    .re_i   (1'b1),
    .raddr_i(rank_q),
    .rdata_o(via)
  );
  assign member = members_q[rank_q];
  assign own_part = 8'(rank_q) == opened_q.own;
  assign is_root = opened_q.own == opened_q.root;
  assign is_last = 32'(rank_q) == Ranks - 1;
  assign towards = own_part ? '0 : Edges'(1) << via;
  assign parent = is_root ? '0 : Edges'(1) << parent_q;
  // The root may be the last that is looked up.
  assign root_edge = (8'(rank_q) == opened_q.root) ? towards : parent;
  // Own rank and root are members, and each member is behind an edge that there is.
  assign good = member ? own_part || 32'(via) < Edges : !own_part && 8'(rank_q) != opened_q.root;

  // What the ports are used for, from the cycle in which the first of them may be opened.
  logic [15:0] number_q;
  logic watched_q;
  logic [Edges-1:0] uses, to_some_q, from_some_q;
  collective_open_t watch_q;
  stream_tag_t tag_q;
  assign uses = uses_q | (member ? towards : '0);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      watched_q <= 1'b0;
      number_q  <= '0;
    end else if (state_q == Look && is_last) begin
      watched_q <= 1'b1;
      number_q  <= number_q + 16'd1;
    end
    if (state_q == Look && is_last) begin
      watch_q <= opened_q;
      tag_q   <= '{number: number_q, group: '0, kind: opened_q.kind, op: opened_q.op, root: opened_q.root};
      unique case (opened_q.kind)
        SmiCollectiveScatter: {to_some_q, from_some_q} <= {uses & ~root_edge, root_edge};
        SmiCollectiveGather:  {to_some_q, from_some_q} <= {root_edge, uses & ~root_edge};
        default:              {to_some_q, from_some_q} <= {uses, uses};
      endcase
    end
  end

  // ---------------------------------------------------------------- part
  logic passes, from_kernel, from_kernel_q, to_kernel, to_kernel_q;
  logic [Edges-1:0] from, from_q, to, to_q;
  always_comb begin
    passes = member && (is_root || own_part || via != parent_q);
    unique case (opened_q.kind)
      SmiCollectiveScatter: begin
        from_kernel = is_root;
        from        = parent;
        to_kernel   = own_part;
        to          = towards;
      end
      SmiCollectiveGather: begin
        from_kernel = own_part;
        from        = towards;
        to_kernel   = is_root;
        to          = parent;
      end
      default: begin
        passes      = member;
        from_kernel = own_part;
        from        = towards;
        to_kernel   = 1'b1;
        to          = uses_q & ~towards;
      end
    endcase
  end

  // ---------------------------------------------------------------- data
  // One beat, and who has it. The kernel is the last of those who want it.
  logic [Edges-1:0] sends_q, recvs_q;
  logic [Edges:0] wanted, got_q, gets;
  logic wants, in_valid, in_ready, valid_q, goes, through;
  bytes_t left_q, bytes_q;
  beat_t from_edge, beat_q;
  always_comb begin
    from_edge = '0;
    for (int unsigned e = 0; e < Edges; e++) if (from_q[e]) from_edge |= pop_data_i[e];
  end
  assign wants = state_q == Pass && left_q != '0;
  assign in_valid = wants && (from_kernel_q ? s_axis_tvalid_i : (pop_valid_i & from_q) != '0);
  assign s_axis_tready_o = wants && from_kernel_q && in_ready;
  assign pop_ready_o = (wants && in_ready) ? from_q : '0;
  assign wanted = {to_kernel_q, to_q};
  assign gets = {m_axis_tready_i, push_ready_i};
  assign goes = (wanted & ~got_q & ~gets) == '0;
  assign in_ready = !valid_q || goes;
  assign push_valid_o = valid_q ? to_q & ~got_q[Edges-1:0] : '0;
  assign push_data_o = {Edges{beat_q}};
  assign m_axis_tvalid_o = valid_q && to_kernel_q && !got_q[Edges];
  assign m_axis_tdata_o = beat_q;
  assign m_axis_tlast_o = bytes_q <= bytes_t'(Bytes);
  always_comb for (int unsigned b = 0; b < Bytes; b++) m_axis_tkeep_o[b] = bytes_q > bytes_t'(b);
  assign through = left_q == '0 && (!valid_q || goes) && sends_q == '0 && recvs_q == '0;

  // -------------------------------------------------------------- states
  assign steps = state_q == Look || (state_q == Find && !passes) || (state_q == Pass && through);
  always_comb begin
    state_d = state_q;
    case (state_q)
      Idle: if (takes) state_d = known ? Look : Fault;
      Look: begin
        if (is_last) state_d = Find;
        if (!good) state_d = Fault;
      end
      Find:    if (passes) state_d = Pass;
               else if (is_last) state_d = Idle;
      Pass:    if (through) state_d = is_last ? Idle : Find;
      default: ;
    endcase
    if (clear_i) state_d = Idle;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      members_q <= '0;
      sends_q   <= '0;
      recvs_q   <= '0;
      valid_q   <= 1'b0;
      got_q     <= '0;
    end else begin
      state_q <= state_d;
      if (way_we_i) members_q[way_rank_i] <= way_i.member;
      sends_q <= sends_q & ~send_open_ready_i;
      recvs_q <= recvs_q & ~recv_open_ready_i;
      if (state_q == Find && passes) begin
        sends_q <= to;
        recvs_q <= from;
      end
      if (in_ready) valid_q <= in_valid;
      got_q <= (valid_q && !goes) ? got_q | (wanted & gets) : '0;
      if (clear_i) begin
        sends_q <= '0;
        recvs_q <= '0;
        valid_q <= 1'b0;
        got_q   <= '0;
      end
    end
    if (takes) opened_q <= open_i;
    // Behind the last rank it is 0 again.
    if (state_q == Idle) rank_q <= '0;
    else if (steps) rank_q <= rank_q + RankW'(1);
    if (state_q == Idle) uses_q <= '0;
    else if (state_q == Look) uses_q <= uses;
    if (state_q == Look && 8'(rank_q) == opened_q.root) parent_q <= via;
    if (state_q == Find) begin
      from_q        <= from;
      from_kernel_q <= from_kernel;
      to_q          <= to;
      to_kernel_q   <= to_kernel;
      left_q        <= message_bytes(opened_q.element, opened_q.count);
    end else if (in_valid && in_ready) begin
      left_q <= left_q > bytes_t'(Bytes) ? left_q - bytes_t'(Bytes) : '0;
    end
    if (in_valid && in_ready) begin
      beat_q  <= from_kernel_q ? s_axis_tdata_i : from_edge;
      bytes_q <= left_q;
    end
  end
  assign fault_o = state_q == Fault;
  assign send_open_valid_o = sends_q;
  assign recv_open_valid_o = recvs_q;
  for (genvar e = 0; e < Edges; e++) begin : gen_edge
    assign watch_o[e] = '{
      valid:   watched_q,
      sends:   to_some_q[e],
      recvs:   from_some_q[e],
      own:     watch_q.own,
      element: watch_q.element,
      count:   watch_q.count,
      tag:     tag_q
    };
    assign send_open_o[e] = '{
      rank: edges_i[e].rank, element: opened_q.element, own: opened_q.own, dest: edges_i[e].dest,
      count: opened_q.count
    };
    assign recv_open_o[e] = '{
      element: opened_q.element, own: opened_q.own, source: edges_i[e].rank, count: opened_q.count
    };
  end

  logic unused;
  assign unused = ^watch_q;

  `GS_ASSERT_NOW(the_table_is_written_while_no_collective_is_open, !way_we_i || state_q inside {Idle, Fault})
  `GS_ASSERT_NOW(a_part_does_not_go_back_where_it_came_from, state_q != Pass || (from_q & to_q) == '0)
  `GS_ASSERT_NOW(a_part_comes_from_one_place, state_q != Pass || (from_kernel_q == (from_q == '0)))
  `GS_ASSERT(elements_are_stable_while_they_wait,
             m_axis_tvalid_o && !m_axis_tready_i && !clear_i
             |=> m_axis_tvalid_o && $stable({m_axis_tdata_o, m_axis_tkeep_o, m_axis_tlast_o}))
endmodule
