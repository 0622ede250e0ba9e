// SPDX-License-Identifier: Apache-2.0

/// A board that is one rank of co-simulated kernels: streaming ports, blocks of collectives, a barrier, links, and the
/// outgoing wires. The harness (src/smi/rtl/fabric.cc) connects several of these boards.
///
///     kernels of the emulator <=> ports <=> gs_stream_board <=> links => wires => other boards
///                             <=> barrier, blocks <=> a port of its own for each link
///
/// Ports are as wide as their elements: first the ports of 8 bytes, then of 4, 2 and 1, then the barrier's, then those
/// of each block. Port n of a rank sends to port n of another rank. Kernels' ports ask for credits; ports of the
/// barrier and of blocks are bound to neighbours.
module gs_sim_stream
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
  import gs_switch_pkg::*;
#(
  /// kernels' ports by element size, at least one in all; 1: there is a barrier
  parameter  int unsigned Eights   = 0,
  parameter  int unsigned Fours    = 1,
  parameter  int unsigned Twos     = 0,
  parameter  int unsigned Ones     = 0,
  parameter  bit          Barrier  = 1,
  /// blocks of collectives, 0 to 15; for each block, two bits from the low end: 0 broadcast, 1 reduction, 2 allreduce,
  /// 3 scatter, gather and allgather; log2 of its elements' bytes
  parameter  int unsigned Blocks   = 5,
  parameter  int unsigned Kinds    = 'b10_11_10_01_00,
  parameter  int unsigned Logs     = 'b10_11_10_10_00,
  /// a bit for each block: an allreduce that also reduces, along the path of ranks in rank order
  parameter  int unsigned Ordered  = 'b1_0000,
  parameter  int unsigned Links    = 4,
  /// ranks, a power of two, at least 16
  parameter  int unsigned Ranks    = 16,
  /// as in gs_stream_endpoint and gs_mac_model
  parameter  int unsigned Depth    = 1024,
  parameter  int unsigned Packet   = 30,
  parameter  int unsigned Send     = 64,
  parameter  int unsigned VoqDepth    = 16,
  parameter  int unsigned LineRate = 40_000,
  parameter  int unsigned Flight   = 100,
  localparam int unsigned Kernels  = Eights + Fours + Twos + Ones,
  localparam int unsigned BlockPorts    = (Blocks == 0) ? 1 : Blocks,
  localparam int unsigned First    = Kernels + 32'(Barrier) * Links,
  localparam int unsigned PortBits = $clog2(First + Blocks * Links),
  localparam int unsigned Ports    = 1 << PortBits,
  localparam int unsigned TableW   = $clog2(Ranks)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [11:0]       board_i,
  output logic              ready_o,
  output logic [Links-1:0]  up_o,
  input  logic              table_we_i,
  input  logic [TableW-1:0] table_index_i,
  input  logic [7:0]        table_entry_i,
  // Binds edges to neighbours; writes this rank's entry in the tree of a root (barrier and allreduce use the last one
  // written) or in the path of ranks (`order`), or the link that leads to a rank (`rank_edge`); the far ends of links:
  // board and its link
  input  logic              bind_i,
  input  logic              tree_we_i,
  input  logic              rank_edge_we_i,
  input  logic              order_we_i,
  input  logic [TableW-1:0] tree_root_i,
  input  logic [11:0]       tree_entry_i,
  input  logic [7:0]        far_i[Links],
  input  logic [7:0]        far_link_i[Links],
  // Kernels, by port: channels to a rank, channels from a rank, and elements
  input  logic              send_valid_i[Kernels],
  output logic              send_ready_o[Kernels],
  input  logic [2:0]        send_element_i[Kernels],
  input  logic [7:0]        send_rank_i[Kernels],
  input  logic [31:0]       send_count_i[Kernels],
  input  logic              s_valid_i[Kernels],
  output logic              s_ready_o[Kernels],
  input  logic [63:0]       s_data_i[Kernels],
  input  logic              recv_valid_i[Kernels],
  output logic              recv_ready_o[Kernels],
  input  logic [2:0]        recv_element_i[Kernels],
  input  logic [7:0]        recv_rank_i[Kernels],
  input  logic [31:0]       recv_count_i[Kernels],
  output logic              m_valid_o[Kernels],
  input  logic              m_ready_i[Kernels],
  output logic [63:0]       m_data_o[Kernels],
  // Kernels, by block: collectives, elements that kernels supply, results that they receive
  input  logic              open_valid_i[BlockPorts],
  output logic              open_ready_o[BlockPorts],
  input  logic [2:0]        open_kind_i[BlockPorts],
  input  logic [2:0]        open_element_i[BlockPorts],
  input  logic [1:0]        open_op_i[BlockPorts],
  input  logic [7:0]        open_root_i[BlockPorts],
  input  logic [31:0]       open_count_i[BlockPorts],
  input  logic              give_valid_i[BlockPorts],
  output logic              give_ready_o[BlockPorts],
  input  logic [63:0]       give_data_i[BlockPorts],
  output logic              take_valid_o[BlockPorts],
  input  logic              take_ready_i[BlockPorts],
  output logic [63:0]       take_data_o[BlockPorts],
  input  logic              arrive_valid_i,
  output logic              arrive_ready_o,
  output logic              release_valid_o,
  input  logic              release_ready_i,
  /// sticky: a report, a fault of the barrier or a block, a dropped or unroutable packet
  output logic              fault_o,
  // Flits enter links, flits leave links; the switch is empty
  output logic [Links-1:0]  tx_fire_o,
  output logic [Links-1:0]  rx_fire_o,
  output logic              empty_o,
  // Frames after the outgoing wires; frames from other boards' wires
  output logic [Links-1:0]  away_valid_o,
  output logic [63:0]       away_data_o[Links],
  output logic [7:0]        away_keep_o[Links],
  output logic [Links-1:0]  away_last_o,
  output logic [Links-1:0]  away_error_o,
  input  logic [Links-1:0]  rx_valid_i,
  input  logic [63:0]       rx_data_i[Links],
  input  logic [7:0]        rx_keep_i[Links],
  input  logic [Links-1:0]  rx_last_i,
  input  logic [Links-1:0]  rx_error_i
);
  localparam int unsigned Bytes = 8;

  function automatic logic [Ports-1:0][4:0] widths();
    for (int p = 0; p < int'(Ports); p++) begin
      if (p < int'(Eights)) widths[p] = 5'd8;
      else if (p < int'(Eights + Fours)) widths[p] = 5'd4;
      else if (p < int'(Eights + Fours + Twos)) widths[p] = 5'd2;
      else if (p < int'(First) || p >= int'(First + Blocks * Links)) widths[p] = 5'd1;
      else widths[p] = 5'(1 << log_bytes_of((p - int'(First)) / int'(Links)));
    end
  endfunction
  function automatic logic [1:0] kind_of(int block);
    return 2'(Kinds >> (2 * block));
  endfunction
  function automatic logic [1:0] log_bytes_of(int block);
    return 2'(Logs >> (2 * block));
  endfunction

  if (Kernels < 1 || Ports > 256) begin : gen_illegal_ports
    $fatal(1, "gs_sim_stream: %0d ports and %0d blocks with %0d links; a board has 1 to 256 ports in total", Kernels,
           Blocks, Links);
  end

  logic [Links-1:0] tx_valid, tx_ready, tx_last;
  logic [Links-1:0][63:0] tx_data, rx_data;
  logic [Links-1:0][7:0] tx_keep, rx_keep;
  logic report, dropped, fault_q, barrier_fault;
  logic [BlockPorts-1:0] block_fault;
  logic [Ports-1:0] send_valid, send_ready, s_valid, s_ready, recv_valid, recv_ready, m_valid, m_ready, binds;
  logic [Ports-1:0] unused_last;
  send_bind_t [Ports-1:0] send_bind;
  recv_bind_t [Ports-1:0] recv_bind;
  send_open_t [Ports-1:0] send_open;
  recv_open_t [Ports-1:0] recv_open;
  watch_t [Ports-1:0] watch;
  logic [Ports-1:0][8*Bytes-1:0] s_data, m_data;
  logic [Ports-1:0][Bytes-1:0] unused_keep;
  stream_report_t unused_report;
  channels_t unused_own_credit, unused_own_valid;
  flit_t unused_own;
  logic [1+Links:0] unroutable;

  for (genvar p = 0; p < Kernels; p++) begin : gen_kernel
    assign binds[p] = 1'b0;
    assign send_bind[p] = '0;
    assign recv_bind[p] = '0;
    assign watch[p] = '0;
    assign send_valid[p] = send_valid_i[p];
    assign send_ready_o[p] = send_ready[p];
    assign send_open[p] = '{
      rank:    send_rank_i[p],
      element: smi_type_e'(send_element_i[p]),
      own:     8'(board_i),
      dest:    {EndpointStream, 3'd0, 12'(send_rank_i[p]), 6'd0, 8'(p)},
      count:   send_count_i[p]
    };
    assign s_valid[p] = s_valid_i[p];
    assign s_ready_o[p] = s_ready[p];
    assign s_data[p] = s_data_i[p];
    assign recv_valid[p] = recv_valid_i[p];
    assign recv_ready_o[p] = recv_ready[p];
    assign recv_open[p] = '{
      element: smi_type_e'(recv_element_i[p]), own: 8'(board_i), source: recv_rank_i[p], count: recv_count_i[p]
    };
    assign m_valid_o[p] = m_valid[p];
    assign m_ready[p] = m_ready_i[p];
    assign m_data_o[p] = m_data[p];
  end

  // The far end of a link, where the ports of all links are numbered from `first` on
  function automatic neighbour_t neighbour(logic [7:0] far, logic [7:0] far_link, logic [7:0] first);
    return '{rank: far, dest: {EndpointStream, 3'd0, 12'(far), 6'd0, first + far_link}};
  endfunction

  if (Barrier) begin : gen_barrier
    neighbour_t [Links-1:0] edges;
    logic [Links-1:0][7:0] token;
    for (genvar l = 0; l < Links; l++) begin : gen_edge
      localparam int unsigned At = Kernels + l;
      assign edges[l] = neighbour(far_i[l], far_link_i[l], 8'(Kernels));
      assign binds[At] = bind_i;
      assign send_bind[At] = '{eager: 1'b1, account: '0, dest: edges[l].dest, flits: credits_t'(Depth)};
      assign recv_bind[At] = '{eager: 1'b1, account: '0, source: edges[l].rank, reply: edges[l].dest};
      assign s_data[At] = 64'(token[l]);
    end
    gs_stream_barrier #(
      .Edges(Links),
      .Bytes(1)
    ) u_barrier (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .tree_we_i,
      .tree_root_i('0),
      // all ranks are in one group
      .tree_entry_i     (tree_entry_t'(tree_entry_i)),
      .edges_i          (edges),
      .fault_o          (barrier_fault),
      .arrive_valid_i,
      .arrive_ready_o,
      .own_i            (8'(board_i)),
      .release_valid_o,
      .release_ready_i,
      .watch_o          (watch[Kernels+:Links]),
      .send_open_valid_o(send_valid[Kernels+:Links]),
      .send_open_ready_i(send_ready[Kernels+:Links]),
      .send_open_o      (send_open[Kernels+:Links]),
      .push_valid_o     (s_valid[Kernels+:Links]),
      .push_ready_i     (s_ready[Kernels+:Links]),
      .push_data_o      (token),
      .recv_open_valid_o(recv_valid[Kernels+:Links]),
      .recv_open_ready_i(recv_ready[Kernels+:Links]),
      .recv_open_o      (recv_open[Kernels+:Links]),
      .pop_valid_i      (m_valid[Kernels+:Links]),
      .pop_ready_o      (m_ready[Kernels+:Links])
    );
  end else begin : gen_no_barrier
    logic unused;
    assign arrive_ready_o = 1'b0;
    assign release_valid_o = 1'b0;
    assign barrier_fault = 1'b0;
    assign unused = ^{arrive_valid_i, release_ready_i, bind_i, far_i[0], far_link_i[0]};
  end

`define SIM_KERNEL \
      .open_valid_i   (open_valid_i[b]), \
      .open_ready_o   (open_ready_o[b]), \
      .open_i         (open), \
      .s_axis_tvalid_i(give_valid_i[b]), \
      .s_axis_tready_o(give_ready_o[b]), \
      .s_axis_tdata_i (give_data_i[b][8*Size-1:0]), \
      .m_axis_tvalid_o(take_valid_o[b]), \
      .m_axis_tready_i(take_ready_i[b]), \
      .m_axis_tdata_o (taken), \
      .m_axis_tkeep_o (unused_taken_keep), \
      .m_axis_tlast_o (unused_taken_last),
`define SIM_EDGES \
      .watch_o          (watch[At+:Links]), \
      .send_open_valid_o(send_valid[At+:Links]), \
      .send_open_ready_i(send_ready[At+:Links]), \
      .send_open_o      (send_open[At+:Links]), \
      .push_valid_o     (s_valid[At+:Links]), \
      .push_ready_i     (s_ready[At+:Links]), \
      .push_data_o      (pushed), \
      .recv_open_valid_o(recv_valid[At+:Links]), \
      .recv_open_ready_i(recv_ready[At+:Links]), \
      .recv_open_o      (recv_open[At+:Links]), \
      .pop_valid_i      (m_valid[At+:Links]), \
      .pop_ready_o      (m_ready[At+:Links]), \
      .pop_data_i       (popped)
`define SIM_TYPES .Types(types_of_size(log_bytes_of(b))),
`define SIM_ORDER .Types(types_of_size(log_bytes_of(b))), .Reduces(InOrder),
`define SIM_TREE(MODULE, TYPES = ) \
    MODULE #( \
      TYPES \
      .Edges(Links), \
      .Bytes(Size), \
      .Ranks(Ranks) \
    ) u_block ( \
      .clk_i, \
      .rst_ni, \
      .clear_i  (1'b0), \
      .tree_we_i(InOrder ? order_we_i : tree_we_i), \
      .tree_root_i, \
      .tree_entry_i(tree_entry_t'(tree_entry_i)), \
      .edges_i     (edges), \
      .fault_o     (block_fault[b]), \
      `SIM_KERNEL \
      `SIM_EDGES \
    );
  for (genvar b = 0; b < Blocks; b++) begin : gen_block
    localparam logic [1:0] Kind = kind_of(b);
    localparam bit InOrder = Ordered[b];
    localparam int unsigned Size = 1 << log_bytes_of(b);
    localparam int unsigned At = First + b * Links;
    neighbour_t [Links-1:0] edges;
    logic [Links-1:0][8*Size-1:0] pushed, popped;
    logic [8*Size-1:0] taken;
    logic [Size-1:0] unused_taken_keep;
    logic unused_taken_last;
    collective_open_t open;
    assign open = '{
      kind:    smi_collective_e'(open_kind_i[b]),
      element: smi_type_e'(open_element_i[b]),
      op:      smi_op_e'(open_op_i[b]),
      own:     8'(board_i),
      root:    open_root_i[b],
      count:   open_count_i[b]
    };
    assign take_data_o[b] = 64'(taken);
    for (genvar l = 0; l < Links; l++) begin : gen_edge
      // In the path, edge 0 leads to the previous rank, which has it as edge 1, and edge 1 to the next rank. With one
      // link there are two ranks, and one edge between them.
      if (InOrder && Links == 1) begin : gen_two
        assign edges[l] = neighbour(8'(board_i) ^ 8'd1, 8'd0, 8'(At));
      end else if (InOrder) begin : gen_order
        assign edges[l] = neighbour(8'(board_i) + (l == 0 ? 8'hFF : 8'h01), l == 0 ? 8'd1 : 8'd0, 8'(At));
      end else begin : gen_link
        assign edges[l] = neighbour(far_i[l], far_link_i[l], 8'(At));
      end
      assign binds[At+l] = bind_i;
      assign send_bind[At+l] = '{eager: 1'b1, account: '0, dest: edges[l].dest, flits: credits_t'(Depth)};
      assign recv_bind[At+l] = '{eager: 1'b1, account: '0, source: edges[l].rank, reply: edges[l].dest};
      assign s_data[At+l] = 64'(pushed[l]);
      assign popped[l] = m_data[At+l][8*Size-1:0];
    end
    if (Kind == 2'd0) begin : gen_bcast
      `SIM_TREE(gs_stream_bcast)
    end else if (Kind == 2'd1) begin : gen_reduce
      `SIM_TREE(gs_stream_reduce, `SIM_TYPES)
    end else if (Kind == 2'd2) begin : gen_allreduce
      `SIM_TREE(gs_stream_allreduce, `SIM_ORDER)
    end else begin : gen_scatter_gather
      gs_stream_scatter_gather #(
        .Edges(Links),
        .Bytes(Size),
        .Ranks(Ranks)
      ) u_block (
        .clk_i,
        .rst_ni,
        .clear_i         (1'b0),
        .rank_edge_we_i,
        .rank_edge_rank_i(tree_root_i),
        .rank_edge_i     (tree_entry_i[3:0]),
        .edges_i         (edges),
        .fault_o         (block_fault[b]),
        `SIM_KERNEL
        `SIM_EDGES
      );
    end
  end
`undef SIM_KERNEL
`undef SIM_EDGES
`undef SIM_TYPES
`undef SIM_ORDER
`undef SIM_TREE
  if (Blocks == 0) begin : gen_no_block
    logic unused;
    assign open_ready_o[0] = 1'b0;
    assign give_ready_o[0] = 1'b0;
    assign take_valid_o[0] = 1'b0;
    assign take_data_o[0] = '0;
    assign block_fault = '0;
    assign unused = ^{open_valid_i[0], open_kind_i[0], open_element_i[0], open_op_i[0], open_root_i[0],
                      open_count_i[0], give_valid_i[0], give_data_i[0], take_ready_i[0]};
  end

  for (genvar p = First + Blocks * Links; p < Ports; p++) begin : gen_spare
    assign binds[p] = 1'b0;
    assign send_bind[p] = '0;
    assign recv_bind[p] = '0;
    assign watch[p] = '0;
    assign send_valid[p] = 1'b0;
    assign send_open[p] = '0;
    assign s_valid[p] = 1'b0;
    assign s_data[p] = '0;
    assign recv_valid[p] = 1'b0;
    assign recv_open[p] = '0;
    assign m_ready[p] = 1'b0;
  end
  logic unused_ports, unused_tables;
  assign unused_ports = ^{send_ready, s_ready, recv_ready, m_valid, m_data};
  // Without a scatter/gather block rank edges are unused, and without any other block trees are unused.
  assign unused_tables = ^{tree_we_i, rank_edge_we_i, order_we_i, tree_root_i, tree_entry_i};

  gs_stream_board #(
    .Links   (Links),
    .PortBits(PortBits),
    .Bytes   (Bytes),
    .Depth   (Depth),
    .Packet  (Packet),
    .Ranks   (Ranks),
    .TableW  (TableW),
    // Ports of collectives never ask.
    .VoqDepths((16 * Ports)'({Kernels{16'(VoqDepth)}})),
    .Send     (Send),
    .Widths   (widths())
  ) u_board (
    .clk_i,
    .rst_ni,
    .board_i,
    .job_i            (5'd1),
    .burst_i          (8'd8),
    .ready_o,
    .table_we_i,
    .table_index_i,
    .table_entry_i,
    .send_bind_valid_i(binds),
    .send_bind_i      (send_bind),
    .recv_bind_valid_i(binds),
    .recv_bind_i      (recv_bind),
    .watch_i          (watch),
    .send_open_valid_i(send_valid),
    .send_open_ready_o(send_ready),
    .send_open_i      (send_open),
    .s_axis_tvalid_i  (s_valid),
    .s_axis_tready_o  (s_ready),
    .s_axis_tdata_i   (s_data),
    .recv_open_valid_i(recv_valid),
    .recv_open_ready_o(recv_ready),
    .recv_open_i      (recv_open),
    .m_axis_tvalid_o  (m_valid),
    .m_axis_tready_i  (m_ready),
    .m_axis_tdata_o   (m_data),
    .m_axis_tkeep_o   (unused_keep),
    .m_axis_tlast_o   (unused_last),
    .report_valid_o   (report),
    .report_ready_i   (1'b1),
    .report_o         (unused_report),
    .dropped_o        (dropped),
    .own_valid_i      ('0),
    .own_i            ('0),
    .own_credit_o     (unused_own_credit),
    .own_valid_o      (unused_own_valid),
    .own_o            (unused_own),
    .own_credit_i     ('0),
    .mac_tx_valid_o   (tx_valid),
    .mac_tx_ready_i   (tx_ready),
    .mac_tx_data_o    (tx_data),
    .mac_tx_keep_o    (tx_keep),
    .mac_tx_last_o    (tx_last),
    .mac_rx_valid_i   (rx_valid_i),
    .mac_rx_data_i    (rx_data),
    .mac_rx_keep_i    (rx_keep),
    .mac_rx_last_i    (rx_last_i),
    .mac_rx_error_i   (rx_error_i),
    .up_o,
    .unroutable_o     (unroutable),
    .tx_fire_o,
    .rx_fire_o,
    .empty_o
  );

  for (genvar l = 0; l < Links; l++) begin : gen_wire
    logic [31:0] unused_lost, unused_damaged;
    assign rx_data[l] = rx_data_i[l];
    assign rx_keep[l] = rx_keep_i[l];
    gs_mac_model #(
      .BitsPerKilocycle(LineRate),
      .Flight          (Flight)
    ) u_wire (
      .clk_i,
      .rst_ni,
      .loss_i   ('0),
      .damage_i ('0),
      .cut_i    (1'b0),
      .valid_i  (tx_valid[l]),
      .ready_o  (tx_ready[l]),
      .data_i   (tx_data[l]),
      .keep_i   (tx_keep[l]),
      .last_i   (tx_last[l]),
      .valid_o  (away_valid_o[l]),
      .data_o   (away_data_o[l]),
      .keep_o   (away_keep_o[l]),
      .last_o   (away_last_o[l]),
      .error_o  (away_error_o[l]),
      .lost_o   (unused_lost),
      .damaged_o(unused_damaged)
    );
  end

  always_ff @(posedge clk_i) begin
    fault_q <= rst_ni && (fault_q || report || barrier_fault || block_fault != '0 || dropped || unroutable != '0);
  end
  assign fault_o = fault_q;
endmodule
