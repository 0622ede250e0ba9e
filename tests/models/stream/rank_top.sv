// SPDX-License-Identifier: Apache-2.0

/// A board that is one rank: two support blocks of collectives at its streaming ports, its links, and the outgoing
/// wires. The harness (ranks.cc) connects several of these boards. Ports: those of the first block, then those of the
/// second.
module rank_top
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
  import gs_switch_pkg::*;
#(
  /// 0: broadcast and reduction; 1: allreduce, which also reduces, and barrier; 2: two scatter/gather blocks
  parameter  int unsigned Set      = 0,
  parameter  int unsigned Links    = 4,
  parameter  int unsigned Bytes    = 8,
  parameter  int unsigned Depth    = 256,
  parameter  int unsigned Packet   = 30,
  parameter  int unsigned LineRate = 40_000,
  parameter  int unsigned Flight   = 100,
  localparam int unsigned Kinds    = 2,
  localparam int unsigned PortBits = $clog2(Kinds * Links),
  localparam int unsigned Ports    = 1 << PortBits
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic [31:0]                    seed_i,
  input  logic [20:0]                    loss_i,
  input  logic [20:0]                    damage_i,
  input  logic [11:0]                    board_i,
  output logic                           ready_o,
  output logic [Links-1:0]               up_o,
  input  logic                           table_we_i,
  input  logic [5:0]                     table_index_i,
  input  logic [7:0]                     table_entry_i,
  // Binds all ports with this account number; clears the report
  input  logic                           bind_i,
  input  logic [4:0]                     account_i,
  input  logic                           clear_report_i,
  // The far ends of links: board and its link
  input  logic [Links-1:0][7:0]          far_i,
  input  logic [Links-1:0][7:0]          far_link_i,
  // By kind, in the order of Set
  input  logic [Kinds-1:0]               clear_i,
  input  logic [Kinds-1:0]               tree_we_i,
  input  logic [3:0]                     tree_root_i,
  input  logic [14:0]                    tree_entry_i,
  input  logic [Kinds-1:0]               open_valid_i,
  output logic [Kinds-1:0]               open_ready_o,
  input  logic [55:0]                    open_i[Kinds],
  input  logic [Kinds-1:0]               s_valid_i,
  output logic [Kinds-1:0]               s_ready_o,
  input  logic [63:0]                    s_data_i[Kinds],
  output logic [Kinds-1:0]               m_valid_o,
  input  logic [Kinds-1:0]               m_ready_i,
  output logic [63:0]                    m_data_o[Kinds],
  output logic [7:0]                     m_keep_o[Kinds],
  output logic [Kinds-1:0]               m_last_o,
  /// faults of blocks; sticky: an unroutable packet, or a packet dropped under the first binding
  output logic [Kinds-1:0]               block_fault_o,
  output logic                           fault_o,
  /// the first report of a port, in the order of stream_report_t
  output logic                           report_valid_o,
  output logic [32:0]                    report_ends_o,
  output logic [31:0]                    report_mine_o,
  output logic [31:0]                    report_theirs_o,
  output logic [31:0]                    report_my_tag_o,
  output logic [31:0]                    report_their_tag_o,
  // Frames after the outgoing wires; frames from other boards' wires
  output logic [Links-1:0]               away_valid_o,
  output logic [63:0]                    away_data_o[Links],
  output logic [7:0]                     away_keep_o[Links],
  output logic [Links-1:0]               away_last_o,
  output logic [Links-1:0]               away_error_o,
  input  logic [Links-1:0]               rx_valid_i,
  input  logic [63:0]                    rx_data_i[Links],
  input  logic [7:0]                     rx_keep_i[Links],
  input  logic [Links-1:0]               rx_last_i,
  input  logic [Links-1:0]               rx_error_i,
  output logic [31:0]                    lost_o
);
  logic [Links-1:0] tx_valid, tx_ready, tx_last;
  logic [Links-1:0][63:0] tx_data, rx_data;
  logic [Links-1:0][7:0] tx_keep, rx_keep;
  logic [31:0] lost[Links];
  logic report_valid, dropped, fault_q;
  logic [Ports-1:0] send_open_valid, send_open_ready, s_valid, s_ready, recv_open_valid, recv_open_ready;
  logic [Ports-1:0] m_valid, m_ready, unused_last;
  send_bind_t [Ports-1:0] send_bind;
  recv_bind_t [Ports-1:0] recv_bind;
  send_open_t [Ports-1:0] send_open;
  watch_t [Ports-1:0] watch;
  recv_open_t [Ports-1:0] recv_open;
  logic [Ports-1:0][8*Bytes-1:0] s_data, m_data;
  logic [Ports-1:0][Bytes-1:0] unused_keep;
  neighbour_t [Kinds-1:0][Links-1:0] edges;
  stream_report_t report, report_q;
  logic report_valid_q;
  channels_t unused_own_credit, unused_own_valid;
  flit_t unused_own;
  logic [1+Links:0] unroutable;
  logic [Links-1:0] unused_tx_fire, unused_rx_fire;
  logic unused_empty;

  if (Ports != Kinds * Links) begin : gen_illegal_links
    $fatal(1, "rank_top: Links is %0d; it must be a power of two", Links);
  end

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    neighbour_t edge_here;
    assign edge_here.rank = far_i[p%Links];
    assign edge_here.dest = {
      EndpointStream, 3'd0, 12'(far_i[p%Links]), 6'd0, 8'((p / Links) * Links) + far_link_i[p%Links]
    };
    assign edges[p/Links][p%Links] = edge_here;
    assign send_bind[p] = '{eager: 1'b1, account: account_i, dest: edge_here.dest, flits: credits_t'(Depth)};
    assign recv_bind[p] = '{eager: 1'b1, account: account_i, source: edge_here.rank, reply: edge_here.dest};
  end

`define RANK_KERNEL(KIND) \
    .open_valid_i   (open_valid_i[KIND]), \
    .open_ready_o   (open_ready_o[KIND]), \
    .open_i         (open_i[KIND]), \
    .s_axis_tvalid_i(s_valid_i[KIND]), \
    .s_axis_tready_o(s_ready_o[KIND]), \
    .s_axis_tdata_i (s_data_i[KIND]), \
    .m_axis_tvalid_o(m_valid_o[KIND]), \
    .m_axis_tready_i(m_ready_i[KIND]), \
    .m_axis_tdata_o (m_data_o[KIND]), \
    .m_axis_tkeep_o (m_keep_o[KIND]), \
    .m_axis_tlast_o (m_last_o[KIND]),
`define RANK_PORTS(KIND) \
    .watch_o          (watch[KIND*Links+:Links]), \
    .send_open_valid_o(send_open_valid[KIND*Links+:Links]), \
    .send_open_ready_i(send_open_ready[KIND*Links+:Links]), \
    .send_open_o      (send_open[KIND*Links+:Links]), \
    .push_valid_o     (s_valid[KIND*Links+:Links]), \
    .push_ready_i     (s_ready[KIND*Links+:Links]), \
    .push_data_o      (s_data[KIND*Links+:Links]), \
    .recv_open_valid_o(recv_open_valid[KIND*Links+:Links]), \
    .recv_open_ready_i(recv_open_ready[KIND*Links+:Links]), \
    .recv_open_o      (recv_open[KIND*Links+:Links]), \
    .pop_valid_i      (m_valid[KIND*Links+:Links]), \
    .pop_ready_o      (m_ready[KIND*Links+:Links])
`define RANK_COMMON(KIND) \
    .clk_i, \
    .rst_ni, \
    .clear_i(clear_i[KIND]), \
    .edges_i(edges[KIND]), \
    .fault_o(block_fault_o[KIND]),
`define RANK_TREE(KIND) \
    `RANK_COMMON(KIND) \
    .tree_we_i(tree_we_i[KIND]), \
    .tree_root_i, \
    .tree_entry_i,
`define RANK_COMMA ,
`define RANK_BLOCK(MODULE, KIND, MORE = ) \
  MODULE #( \
    MORE \
    .Edges(Links), \
    .Bytes(Bytes) \
  ) u_``MODULE ( \
    `RANK_TREE(KIND) \
    `RANK_KERNEL(KIND) \
    `RANK_PORTS(KIND), \
    .pop_data_i(m_data[KIND*Links+:Links]) \
  );
  if (Set == 0) begin : gen_bcast_reduce
    `RANK_BLOCK(gs_stream_bcast, 0)
    `RANK_BLOCK(gs_stream_reduce, 1, .Types(Integers | Floats)`RANK_COMMA)
  end else if (Set == 1) begin : gen_allreduce_barrier
    `RANK_BLOCK(gs_stream_allreduce, 0, .Reduces(1)`RANK_COMMA)
    // The harness sees a barrier as one element of value 0.
    gs_stream_barrier #(
      .Edges(Links),
      .Bytes(Bytes)
    ) u_barrier (
      `RANK_TREE(1)
      .arrive_valid_i (open_valid_i[1]),
      .arrive_ready_o (open_ready_o[1]),
      .own_i          (8'(board_i)),
      .release_valid_o(m_valid_o[1]),
      .release_ready_i(m_ready_i[1]),
      `RANK_PORTS(1)
    );
    assign s_ready_o[1] = 1'b0;
    assign m_data_o[1] = '0;
    assign m_keep_o[1] = 8'h0F;
    assign m_last_o[1] = 1'b1;
    logic unused_barrier;
    assign unused_barrier = ^{s_valid_i[1], m_data[Links+:Links]};
  end else begin : gen_scatter_gather
    for (genvar k = 0; k < Kinds; k++) begin : gen_block
      gs_stream_scatter_gather #(
        .Edges(Links),
        .Bytes(Bytes)
      ) u_scatter_gather (
        `RANK_COMMON(k)
        .rank_edge_we_i  (tree_we_i[k]),
        .rank_edge_rank_i(tree_root_i),
        .rank_edge_i     (tree_entry_i[3:0]),
        `RANK_KERNEL(k)
        `RANK_PORTS(k),
        .pop_data_i(m_data[k*Links+:Links])
      );
    end
    logic unused_entry;
    assign unused_entry = ^tree_entry_i[14:4];
  end

  gs_stream_board #(
    .Links   (Links),
    .PortBits(PortBits),
    .Bytes   (Bytes),
    .Depth   (Depth),
    .Packet  (Packet)
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
    .send_bind_valid_i({Ports{bind_i}}),
    .send_bind_i      (send_bind),
    .recv_bind_valid_i({Ports{bind_i}}),
    .recv_bind_i      (recv_bind),
    .send_open_valid_i(send_open_valid),
    .send_open_ready_o(send_open_ready),
    .send_open_i      (send_open),
    .s_axis_tvalid_i  (s_valid),
    .s_axis_tready_o  (s_ready),
    .s_axis_tdata_i   (s_data),
    .recv_open_valid_i(recv_open_valid),
    .recv_open_ready_o(recv_open_ready),
    .recv_open_i      (recv_open),
    .m_axis_tvalid_o  (m_valid),
    .m_axis_tready_i  (m_ready),
    .m_axis_tdata_o   (m_data),
    .m_axis_tkeep_o   (unused_keep),
    .m_axis_tlast_o   (unused_last),
    .watch_i          (watch),
    .report_valid_o   (report_valid),
    .report_ready_i   (1'b1),
    .report_o         (report),
    .dropped_o        (dropped),
    .sent_o(),
    .received_o(),
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
    .tx_fire_o        (unused_tx_fire),
    .rx_fire_o        (unused_rx_fire),
    .empty_o          (unused_empty)
  );

  for (genvar l = 0; l < Links; l++) begin : gen_wire
    logic [31:0] unused_damaged;
    assign rx_data[l] = rx_data_i[l];
    assign rx_keep[l] = rx_keep_i[l];
    gs_mac_model #(
      .BitsPerKilocycle(LineRate),
      .Flight          (Flight)
    ) u_wire (
      .clk_i,
      .rst_ni,
      .seed_i   (seed_i + Links * 32'(board_i) + 32'(l)),
      .loss_i,
      .damage_i,
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
      .lost_o   (lost[l]),
      .damaged_o(unused_damaged)
    );
  end

  always_comb begin
    lost_o = '0;
    for (int unsigned l = 0; l < Links; l++) lost_o += lost[l];
  end
  always_ff @(posedge clk_i) begin
    fault_q <= rst_ni && (fault_q || (dropped && account_i == '0) || unroutable != '0);
    report_valid_q <= rst_ni && !clear_report_i && (report_valid_q || report_valid);
    if (!report_valid_q) report_q <= report;
  end
  assign report_valid_o = report_valid_q;
  assign {report_ends_o, report_mine_o, report_theirs_o, report_my_tag_o, report_their_tag_o} = report_q;
  assign fault_o = fault_q;
endmodule
