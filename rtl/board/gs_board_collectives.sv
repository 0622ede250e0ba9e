// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Support blocks of collectives (gs_stream_collective) of a board, their registers and their owners.
///
///     control unit: roles, tables => gs_stream_collective <=> kernels
///                                           <=> streaming ports, StreamBlockEdges of each block
///
/// A block belongs to the job that has all of its streaming ports. Only packets of that job write its registers, tables
/// only while it is idle. A block whose ports change their job has no role, and neighbours and tables that its next job
/// must write. The kernel of a block without a job waits.
module gs_board_collectives
  import gs_board_pkg::*;
  import gs_stream_pkg::recv_open_t;
  import gs_stream_pkg::send_open_t;
  import gs_stream_pkg::watch_t;
  import gossamer_pkg::*;
#(
  localparam int unsigned Blocks = CollectiveLanes,
  localparam int unsigned Edges  = StreamBlockEdges,
  localparam int unsigned Bytes  = StreamWidthBytes,
  localparam int unsigned Ports  = Blocks * Edges
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // As at gs_board_streams
  input  logic [Ports-1:0][4:0]         job_i,
  input  logic [Ports-1:0]              clear_i,
  input  register_request_t             register_i,
  output register_response_t            register_o,
  input  collective_in_t [Blocks-1:0]   collective_i,
  output collective_out_t [Blocks-1:0]  collective_o,
  // Streaming ports, those of a block one after the other
  output watch_t [Ports-1:0]            watch_o,
  output logic [Ports-1:0]              send_open_valid_o,
  input  logic [Ports-1:0]              send_open_ready_i,
  output send_open_t [Ports-1:0]        send_open_o,
  output logic [Ports-1:0]              push_valid_o,
  input  logic [Ports-1:0]              push_ready_i,
  output logic [Ports-1:0][8*Bytes-1:0] push_data_o,
  output logic [Ports-1:0]              recv_open_valid_o,
  input  logic [Ports-1:0]              recv_open_ready_i,
  output recv_open_t [Ports-1:0]        recv_open_o,
  input  logic [Ports-1:0]              pop_valid_i,
  output logic [Ports-1:0]              pop_ready_o,
  input  logic [Ports-1:0][8*Bytes-1:0] pop_data_i
);
  localparam int unsigned BlockW = (Blocks > 1) ? $clog2(Blocks) : 1;
  localparam int unsigned RankW = $clog2(StreamRanks);
  localparam logic [7:0] Kinds = 8'(StreamBlockKinds);

  // ------------------------------------------------------------- registers
  logic [Blocks-1:0][4:0] owner;
  logic [Blocks-1:0] owned, idle, fault, clear_q, tree_we_q, rank_edge_we_q;
  smi_collective_e [Blocks-1:0] role_q;
  gs_stream_pkg::neighbour_t [Blocks-1:0][Edges-1:0] edges_q;
  register_address_t address;
  collective_state_t state;
  collective_tree_t tree, tree_q;
  collective_rank_edge_t rank_edge, rank_edge_q;
  collective_neighbour_t neighbour;
  logic [BlockW-1:0] unit;
  logic hit, writes, foreign;
  logic [3:0] rejection;
  assign address   = register_i.address;
  assign unit      = BlockW'(address.unit);
  assign hit       = register_i.valid && address.block == RegisterBlockCollective && 32'(address.unit) < Blocks;
  assign tree      = register_i.value;
  assign rank_edge = register_i.value;
  assign neighbour = register_i.value;
  assign state     = '{
    fault: fault[unit], idle: idle[unit], role: role_q[unit], job: owner[unit], default: '0
  };
  assign foreign   = !owned[unit] || register_i.job != owner[unit];

  always_comb begin
    rejection = '0;
    if (!register_i.write) begin
      if (address.number != CollectiveRegisterState) rejection = RejectionAddress;
    end else begin
      unique case (address.number)
        // A role without a block
        CollectiveRegisterRole: begin
          if (register_i.value >= 64'd8 || (register_i.value != '0 && !Kinds[register_i.value[2:0]])) begin
            rejection = RejectionKind;
          end
        end
        CollectiveRegisterTree:     if (32'(tree.root) >= StreamRanks) rejection = RejectionAddress;
        CollectiveRegisterRankEdge: if (32'(rank_edge.rank) >= StreamRanks) rejection = RejectionAddress;
        CollectiveRegisterNeighbour: if (32'(neighbour.edge_number) >= Edges) rejection = RejectionAddress;
        default: rejection = RejectionAddress;
      endcase
      if (rejection == '0 && foreign) rejection = RejectionJob;
      if (rejection == '0 && address.number != CollectiveRegisterRole && !idle[unit]) rejection = RejectionRoom;
    end
  end
  assign writes = hit && register_i.write && rejection == '0;

  always_ff @(posedge clk_i) begin
    register_o <= '0;
    if (rst_ni && hit) begin
      register_o <= '{hit: 1'b1, rejection: rejection, value: (register_i.write || rejection != '0) ? '0 : state};
    end
    tree_q      <= tree;
    rank_edge_q <= rank_edge;
  end

  // ---------------------------------------------------------------- blocks
  for (genvar b = 0; b < Blocks; b++) begin : gen_block
    localparam int unsigned At = b * Edges;
    logic here;
    gs_stream_pkg::tree_entry_t entry;
    gs_stream_pkg::rank_edge_t towards;
    assign here     = writes && 32'(unit) == b;
    assign owner[b] = owned[b] ? job_i[At] : NoJob;
    assign owned[b] = job_i[At] != NoJob && job_i[At+:Edges] == {Edges{job_i[At]}};
    assign entry    = '{group: tree_q.group, root: tree_q.is_root, parent: tree_q.parent, children: tree_q.children};
    assign towards  = '{member: rank_edge_q.member, via: rank_edge_q.via};

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        clear_q[b]        <= 1'b0;
        role_q[b]         <= SmiCollectiveNone;
        tree_we_q[b]      <= 1'b0;
        rank_edge_we_q[b] <= 1'b0;
      end else begin
        clear_q[b]        <= clear_i[At+:Edges] != '0 || (here && address.number == CollectiveRegisterRole);
        tree_we_q[b]      <= here && address.number == CollectiveRegisterTree;
        rank_edge_we_q[b] <= here && address.number == CollectiveRegisterRankEdge;
        if (here && address.number == CollectiveRegisterRole) role_q[b] <= smi_collective_e'(register_i.value[2:0]);
        if (clear_i[At+:Edges] != '0) role_q[b] <= SmiCollectiveNone;
      end
      if (here && address.number == CollectiveRegisterNeighbour) begin
        for (int unsigned e = 0; e < Edges; e++) begin
          if (32'(neighbour.edge_number) == e) edges_q[b][e] <= '{rank: neighbour.rank, dest: neighbour.dest};
        end
      end
    end

    logic open_ready;
    gs_stream_collective #(
      .Edges       (Edges),
      .Bytes       (Bytes),
      .Ranks       (StreamRanks),
      .Kinds       (StreamBlockKinds),
      .Types       (8'(StreamBlockTypes)),
      .ElementBeats(StreamElementBeats)
    ) u_block (
      .clk_i,
      .rst_ni,
      .clear_i          (clear_q[b]),
      .role_i           (role_q[b]),
      .tree_we_i        (tree_we_q[b]),
      .rank_edge_we_i   (rank_edge_we_q[b]),
      .rank_i           (tree_we_q[b] ? RankW'(tree_q.root) : RankW'(rank_edge_q.rank)),
      .tree_entry_i     (entry),
      .rank_edge_i      (towards),
      .edges_i          (edges_q[b]),
      .idle_o           (idle[b]),
      .fault_o          (fault[b]),
      .open_valid_i     (collective_i[b].open_valid && owned[b]),
      .open_ready_o     (open_ready),
      .open_i           (collective_i[b].open),
      .s_axis_tvalid_i  (collective_i[b].give_valid),
      .s_axis_tready_o  (collective_o[b].give_ready),
      .s_axis_tdata_i   (collective_i[b].give),
      .m_axis_tvalid_o  (collective_o[b].take_valid),
      .m_axis_tready_i  (collective_i[b].take_ready),
      .m_axis_tdata_o   (collective_o[b].take),
      .m_axis_tkeep_o   (collective_o[b].keep),
      .m_axis_tlast_o   (collective_o[b].last),
      .watch_o          (watch_o[At+:Edges]),
      .send_open_valid_o(send_open_valid_o[At+:Edges]),
      .send_open_ready_i(send_open_ready_i[At+:Edges]),
      .send_open_o      (send_open_o[At+:Edges]),
      .push_valid_o     (push_valid_o[At+:Edges]),
      .push_ready_i     (push_ready_i[At+:Edges]),
      .push_data_o      (push_data_o[At+:Edges]),
      .recv_open_valid_o(recv_open_valid_o[At+:Edges]),
      .recv_open_ready_i(recv_open_ready_i[At+:Edges]),
      .recv_open_o      (recv_open_o[At+:Edges]),
      .pop_valid_i      (pop_valid_i[At+:Edges]),
      .pop_ready_o      (pop_ready_o[At+:Edges]),
      .pop_data_i       (pop_data_i[At+:Edges])
    );
    assign collective_o[b].open_ready = open_ready && owned[b];
  end

  logic unused;
  assign unused = ^{address, tree.spare, tree_q, rank_edge, rank_edge_q, neighbour.spare};

  `GS_ASSERT_NOW(tables_are_written_only_while_idle, ((tree_we_q | rank_edge_we_q) & ~idle & ~clear_q) == '0)
endmodule
