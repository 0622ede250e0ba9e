// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Scatter, gather and allgather: each rank owns a segment of elements. All segments are transferred in the order of
/// ranks, one at a time, along one tree that serves all roots.
///
///     scatter    root's kernel, or edge to the root --> beat --> kernel of the rank, or edge to it
///     gather     kernel of the rank, or edge to it  --> beat --> root's kernel, or edge to the root
///     allgather  kernel of the rank, or edge to it  --> beat --> kernel, and all other edges
///
/// A segment is a separate message on each edge, so segments are neither split nor merged. A table stores the edge
/// that leads to each rank; segments whose path does not include this rank are skipped. Since all ranks process
/// segments in the same order, all ranks on the path of the first unfinished segment are ready for it:
/// docs/hardware/stream.md has the proof.
module gs_stream_scatter_gather
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// edges, each a streaming port: 1 to 8; bytes of a beat; ranks, a power of two, 2 to 256
  parameter  int unsigned Edges = 4,
  parameter  int unsigned Bytes = 8,
  parameter  int unsigned Ranks = 16,
  /// as in gs_stream_push
  parameter  bit          ElementBeats = 0,
  localparam int unsigned RankW = $clog2(Ranks)
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  /// ends a fault, and closes everything that is open
  input  logic                          clear_i,
  // Members of the tree and the edges towards them, written while no collective is open; the other ends of edges
  input  logic                          rank_edge_we_i,
  input  logic [RankW-1:0]              rank_edge_rank_i,
  input  rank_edge_t                    rank_edge_i,
  input  neighbour_t [Edges-1:0]        edges_i,
  output logic                          fault_o,
  // Kernel: segments in the order of ranks; each begins with a new beat and ends with tlast
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
    Look,   // scans the table: checks it, and collects the edges of the tree at this rank
    Find,   // the next segment that passes this rank
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
  logic accept, supported, steps;
  assign supported = open_i.kind inside {SmiCollectiveScatter, SmiCollectiveGather, SmiCollectiveAllgather}
                 && (32'd1 << log_bytes(open_i.element)) <= Bytes
                 && 32'(open_i.root) < Ranks && 32'(open_i.own) < Ranks;
  assign open_ready_o = state_q == Idle && !clear_i;
  assign accept = open_valid_i && open_ready_o;

  // --------------------------------------------------------------- table
  logic [Ranks-1:0] members_q;
  edge_t via, parent_q;
  logic member, own_segment, is_root, is_last, valid_entry;
  logic [Edges-1:0] edge_to_rank, parent, root_edge, used_edges_q;
  gs_ram_sdp #(
    .Width  ($bits(edge_t)),
    .Depth  (Ranks),
    .Latency(0),
    .Style  ("distributed")
  ) u_rank_edges (
    .clk_i,
    .we_i   (rank_edge_we_i),
    .wstrb_i(1'b1),
    .waddr_i(rank_edge_rank_i),
    .wdata_i(rank_edge_i.via),
    .re_i   (1'b1),
    .raddr_i(rank_q),
    .rdata_o(via)
  );
  assign member = members_q[rank_q];
  assign own_segment = 8'(rank_q) == opened_q.own;
  assign is_root      = opened_q.own == opened_q.root;
  assign is_last      = 32'(rank_q) == Ranks - 1;
  assign edge_to_rank = own_segment ? '0 : Edges'(1) << via;
  assign parent = is_root ? '0 : Edges'(1) << parent_q;
  // The root may be the last rank looked up.
  assign root_edge = (8'(rank_q) == opened_q.root) ? edge_to_rank : parent;
  // This rank and the root must be members, and each member must be reached over an existing edge.
  assign valid_entry = member ? own_segment || 32'(via) < Edges : !own_segment && 8'(rank_q) != opened_q.root;

  // Uses of the ports, valid from the cycle in which the first of them may be opened.
  logic [15:0] number_q;
  logic watched_q;
  logic [Edges-1:0] used_edges, sends_on_q, receives_on_q;
  collective_open_t watch_q;
  stream_tag_t tag_q;
  assign used_edges = used_edges_q | (member ? edge_to_rank : '0);
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
        SmiCollectiveScatter: {sends_on_q, receives_on_q} <= {used_edges & ~root_edge, root_edge};
        SmiCollectiveGather:  {sends_on_q, receives_on_q} <= {root_edge, used_edges & ~root_edge};
        default:              {sends_on_q, receives_on_q} <= {used_edges, used_edges};
      endcase
    end
  end

  // --------------------------------------------------------------- segment
  logic passes, from_kernel, from_kernel_q, to_kernel, to_kernel_q;
  logic [Edges-1:0] from, from_q, to, to_q;
  always_comb begin
    passes = member && (is_root || own_segment || via != parent_q);
    unique case (opened_q.kind)
      SmiCollectiveScatter: begin
        from_kernel = is_root;
        from        = parent;
        to_kernel   = own_segment;
        to          = edge_to_rank;
      end
      SmiCollectiveGather: begin
        from_kernel = own_segment;
        from        = edge_to_rank;
        to_kernel   = is_root;
        to          = parent;
      end
      default: begin
        passes      = member;
        from_kernel = own_segment;
        from        = edge_to_rank;
        to_kernel   = 1'b1;
        to          = used_edges_q & ~edge_to_rank;
      end
    endcase
  end

  // ---------------------------------------------------------------- data
  // One beat, and the receivers that have taken it. The kernel is the highest bit.
  logic [Edges-1:0] sends_q, recvs_q;
  logic [Edges:0] wanted, taken_q, takes;
  logic accepts, in_valid, in_ready, valid_q, all_taken, done;
  bytes_t left_q, bytes_q, beat_bytes;
  beat_t from_edge, beat_q;
  always_comb begin
    from_edge = '0;
    for (int unsigned e = 0; e < Edges; e++) if (from_q[e]) from_edge |= pop_data_i[e];
  end
  assign beat_bytes = beat_size(ElementBeats, Bytes, opened_q.element);
  assign accepts = state_q == Pass && left_q != '0;
  assign in_valid = accepts && (from_kernel_q ? s_axis_tvalid_i : (pop_valid_i & from_q) != '0);
  assign s_axis_tready_o = accepts && from_kernel_q && in_ready;
  assign pop_ready_o = (accepts && in_ready) ? from_q : '0;
  assign wanted = {to_kernel_q, to_q};
  assign takes     = {m_axis_tready_i, push_ready_i};
  assign all_taken = (wanted & ~taken_q & ~takes) == '0;
  assign in_ready = !valid_q || all_taken;
  assign push_valid_o = valid_q ? to_q & ~taken_q[Edges-1:0] : '0;
  assign push_data_o = {Edges{beat_q}};
  assign m_axis_tvalid_o = valid_q && to_kernel_q && !taken_q[Edges];
  assign m_axis_tdata_o = beat_q;
  assign m_axis_tlast_o = bytes_q <= beat_bytes;
  always_comb begin
    for (int unsigned b = 0; b < Bytes; b++) m_axis_tkeep_o[b] = bytes_t'(b) < beat_bytes && bytes_q > bytes_t'(b);
  end
  assign done = left_q == '0 && (!valid_q || all_taken) && sends_q == '0 && recvs_q == '0;

  // -------------------------------------------------------------- states
  assign steps = state_q == Look || (state_q == Find && !passes) || (state_q == Pass && done);
  always_comb begin
    state_d = state_q;
    case (state_q)
      Idle: if (accept) state_d = supported ? Look : Fault;
      Look: begin
        if (is_last) state_d = Find;
        if (!valid_entry) state_d = Fault;
      end
      Find:    if (passes) state_d = Pass;
               else if (is_last) state_d = Idle;
      Pass:    if (done) state_d = is_last ? Idle : Find;
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
      taken_q   <= '0;
    end else begin
      state_q <= state_d;
      if (rank_edge_we_i) members_q[rank_edge_rank_i] <= rank_edge_i.member;
      sends_q <= sends_q & ~send_open_ready_i;
      recvs_q <= recvs_q & ~recv_open_ready_i;
      if (state_q == Find && passes) begin
        sends_q <= to;
        recvs_q <= from;
      end
      if (in_ready) valid_q <= in_valid;
      taken_q <= (valid_q && !all_taken) ? taken_q | (wanted & takes) : '0;
      if (clear_i) begin
        sends_q <= '0;
        recvs_q <= '0;
        valid_q <= 1'b0;
        taken_q <= '0;
      end
    end
    if (accept) opened_q <= open_i;
    // After the last rank it wraps to 0.
    if (state_q == Idle) rank_q <= '0;
    else if (steps) rank_q <= rank_q + RankW'(1);
    if (state_q == Idle) used_edges_q <= '0;
    else if (state_q == Look) used_edges_q <= used_edges;
    if (state_q == Look && 8'(rank_q) == opened_q.root) parent_q <= via;
    if (state_q == Find) begin
      from_q        <= from;
      from_kernel_q <= from_kernel;
      to_q          <= to;
      to_kernel_q   <= to_kernel;
      left_q        <= message_bytes(opened_q.element, opened_q.count);
    end else if (in_valid && in_ready) begin
      left_q <= left_q > beat_bytes ? left_q - beat_bytes : '0;
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
      sends:   sends_on_q[e],
      recvs:   receives_on_q[e],
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

  `GS_ASSERT_NOW(table_written_only_while_idle, !rank_edge_we_i || state_q inside {Idle, Fault})
  `GS_ASSERT_NOW(segment_not_returned_to_its_source_edge, state_q != Pass || (from_q & to_q) == '0)
  `GS_ASSERT_NOW(segment_has_one_source, state_q != Pass || (from_kernel_q == (from_q == '0)))
  `GS_ASSERT(elements_stable_while_stalled,
             m_axis_tvalid_o && !m_axis_tready_i && !clear_i
             |=> m_axis_tvalid_o && $stable({m_axis_tdata_o, m_axis_tkeep_o, m_axis_tlast_o}))
endmodule
