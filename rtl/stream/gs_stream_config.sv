// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// AXI4-Lite registers of a board of streaming ports. A host writes routes, locations of ranks, trees and bindings
/// before kernels start, and reads fault reports. docs/hardware/stream-top.md describes the registers; register numbers
/// are those of include/gossamer/smi/board.h.
///
/// A write takes effect in the cycle after its handshake. An access to an undefined register returns SLVERR and has no
/// effect.
module gs_stream_config
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// number of the design; lets the host check that its header belongs to this design
  parameter logic [31:0] Design = 0,
  /// streaming ports; links, 1 to 16; ranks of the board, 1 to 8; edges of each, 1 to 8
  parameter int unsigned Ports  = 1,
  parameter int unsigned Links  = 1,
  parameter int unsigned Slots  = 1,
  parameter int unsigned Edges  = 1,
  /// log2 of the routing table's entries
  parameter int unsigned TableW = 6,
  /// 1: the board has gs_stream_counters, and the registers that read it exist
  parameter bit          Counters = 0
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // AXI4-Lite
  input  logic                              s_axil_awvalid_i,
  output logic                              s_axil_awready_o,
  input  logic [7:0]                        s_axil_awaddr_i,
  input  logic                              s_axil_wvalid_i,
  output logic                              s_axil_wready_o,
  input  logic [31:0]                       s_axil_wdata_i,
  input  logic [3:0]                        s_axil_wstrb_i,
  output logic                              s_axil_bvalid_o,
  input  logic                              s_axil_bready_i,
  output logic [1:0]                        s_axil_bresp_o,
  input  logic                              s_axil_arvalid_i,
  output logic                              s_axil_arready_o,
  input  logic [7:0]                        s_axil_araddr_i,
  output logic                              s_axil_rvalid_o,
  input  logic                              s_axil_rready_i,
  output logic [31:0]                       s_axil_rdata_o,
  output logic [1:0]                        s_axil_rresp_o,
  // The board, as in gs_stream_board
  output logic [11:0]                       board_o,
  output logic [4:0]                        job_o,
  output logic [7:0]                        burst_o,
  input  logic                              ready_i,
  input  logic [Links-1:0]                  up_i,
  output logic                              table_we_o,
  output logic [TableW-1:0]                 table_index_o,
  output switch_entry_t                     table_entry_o,
  output logic [Ports-1:0]                  send_bind_valid_o,
  output send_bind_t                        send_bind_o,
  output logic [Ports-1:0]                  recv_bind_valid_o,
  output recv_bind_t                        recv_bind_o,
  // Locations of all ranks; ranks of this board
  output logic                              rank_we_o,
  output logic [7:0]                        rank_o,
  output rank_location_t                            location_o,
  output logic [Slots-1:0][7:0]             own_o,
  // Collectives: by rank of the board, trees and edges towards ranks, the other ends of edges, a pulse that binds them
  output logic [Slots-1:0]                  tree_we_o,
  output logic [Slots-1:0]                  rank_edge_we_o,
  output logic [7:0]                        tree_root_o,
  output tree_entry_t                       tree_entry_o,
  output edge_end_t [Slots-1:0][Edges-1:0]  edges_o,
  output logic [Slots-1:0]                  edge_bind_o,
  output account_t                          edge_account_o,
  output logic [Slots-1:0]                  clear_o,
  // Faults: reports of ports; faults of blocks and addresses; dropped packets; unroutable packets
  input  logic                              report_valid_i,
  output logic                              report_ready_o,
  input  stream_report_t                    report_i,
  input  logic                              fault_i,
  input  logic                              dropped_i,
  input  logic                              unroutable_i,
  // Counters: selects a port; its words
  output logic                              count_select_o,
  output logic [7:0]                        count_port_o,
  input  logic [PortCounters-1:0][31:0]     counts_i
);
  localparam logic [31:0] Identity = 32'h4753_5331;
  localparam logic [5:0] RegIdentity = 6'd0, RegDesign = 6'd1, RegStatus = 6'd2, RegClear = 6'd3, RegBoard = 6'd4;
  localparam logic [5:0] RegRoute = 6'd5, RegRank = 6'd6, RegOwn = 6'd7, RegEdge = 6'd8, RegTree = 6'd9;
  localparam logic [5:0] RegRankEdge = 6'd10, RegBindEdges = 6'd11, RegDest = 6'd12, RegBind = 6'd13;
  localparam logic [5:0] RegCountPort = 6'd14, RegReport = 6'd16, RegCounts = 6'd24;
  localparam int unsigned ReportWords = 6;

  if (Links < 1 || Links > 16) begin : gen_illegal_links
    $fatal(1, "gs_stream_config: Links is %0d; it must be from 1 to 16", Links);
  end
  if (Slots < 1 || Slots > 8 || Edges < 1 || Edges > MaxEdges) begin : gen_illegal_slots
    $fatal(1, "gs_stream_config: %0d ranks with %0d edges each; a board has 1 to 8 ranks with 1 to %0d edges", Slots,
           Edges, MaxEdges);
  end

  // --------------------------------------------------------------- writes
  // Fields of register words
  typedef struct packed {
    edge_t      number;
    logic [7:0] rank;
    rank_location_t     location;
    edge_t      own;
    logic [2:0] slot;
  } edge_word_t;
  typedef struct packed {
    logic [5:0]  spare;
    tree_entry_t entry;
    logic [7:0]  root;
    logic [2:0]  slot;
  } tree_word_t;
  typedef struct packed {
    logic [3:0] spare;
    logic [3:0] log_flits;
    logic [7:0] source;
    account_t   account;
    logic       eager;
    logic       spare_low;
    logic       receives;
    logic [7:0] port;
  } bind_word_t;

  logic write, write_ok, write_q, read, read_ok;
  logic [5:0] waddr, waddr_q, raddr;
  logic [31:0] wdata, rdata, data_q, dest_q;
  edge_word_t edge_word;
  tree_word_t tree_word;
  bind_word_t bind_word;

  gs_axil u_axil (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i,
    .s_axil_awready_o,
    .s_axil_awaddr_i,
    .s_axil_wvalid_i,
    .s_axil_wready_o,
    .s_axil_wdata_i,
    .s_axil_wstrb_i,
    .s_axil_bvalid_o,
    .s_axil_bready_i,
    .s_axil_bresp_o,
    .s_axil_arvalid_i,
    .s_axil_arready_o,
    .s_axil_araddr_i,
    .s_axil_rvalid_o,
    .s_axil_rready_i,
    .s_axil_rdata_o,
    .s_axil_rresp_o,
    .write_o         (write),
    .write_word_o    (waddr),
    .write_data_o    (wdata),
    .write_ok_i      (write_ok),
    .read_o          (read),
    .read_word_o     (raddr),
    .read_data_i     (rdata),
    .read_ok_i       (read_ok)
  );

  assign write_ok  = waddr >= RegClear && waddr <= (Counters ? RegCountPort : RegBind);
  assign edge_word = data_q;
  assign tree_word = data_q;
  assign bind_word = data_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) write_q <= 1'b0;
    else write_q <= write;
    if (write) begin
      waddr_q <= waddr;
      data_q  <= wdata;
    end
  end

  // Decodes the word in data_q, for one cycle. A board number beyond the table's end does not match.
  assign table_we_o    = write_q && waddr_q == RegRoute && (data_q[31:8] >> TableW) == '0;
  assign table_index_o = data_q[8+:TableW];
  assign table_entry_o = data_q[7:0];
  assign rank_we_o     = write_q && waddr_q == RegRank;
  assign rank_o        = data_q[7:0];
  assign location_o    = data_q[8+:$bits(rank_location_t)];
  assign tree_root_o   = tree_word.root;
  assign tree_entry_o  = tree_word.entry;
  assign edge_account_o = data_q[11+:$bits(account_t)];
  for (genvar s = 0; s < Slots; s++) begin : gen_slot
    assign tree_we_o[s]      = write_q && waddr_q == RegTree && 32'(tree_word.slot) == s;
    assign rank_edge_we_o[s] = write_q && waddr_q == RegRankEdge && 32'(tree_word.slot) == s;
    assign edge_bind_o[s]    = write_q && waddr_q == RegBindEdges && data_q[s];
    assign clear_o[s]        = write_q && waddr_q == RegClear && data_q[8+s];
  end
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign send_bind_valid_o[p] = write_q && waddr_q == RegBind && !bind_word.receives && 32'(bind_word.port) == p;
    assign recv_bind_valid_o[p] = write_q && waddr_q == RegBind && bind_word.receives && 32'(bind_word.port) == p;
  end
  assign count_select_o = Counters && write_q && waddr_q == RegCountPort;
  assign count_port_o   = data_q[7:0];
  assign send_bind_o = '{
    eager:   bind_word.eager,
    account: bind_word.account,
    dest:    dest_q,
    flits:   credits_t'(1) << bind_word.log_flits
  };
  assign recv_bind_o = '{
    eager: bind_word.eager, account: bind_word.account, source: bind_word.source, reply: dest_q
  };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      board_o <= '0;
      job_o   <= '0;
      burst_o <= 8'd8;
      own_o   <= '0;
    end else if (write_q) begin
      if (waddr_q == RegBoard) {burst_o, job_o, board_o} <= data_q[24:0];
      for (int unsigned s = 0; s < Slots; s++) begin
        if (waddr_q == RegOwn && 32'(data_q[2:0]) == s) own_o[s] <= data_q[15:8];
      end
    end
    if (write_q) begin
      if (waddr_q == RegDest) dest_q <= data_q;
      for (int unsigned s = 0; s < Slots; s++) begin
        for (int unsigned e = 0; e < Edges; e++) begin
          if (waddr_q == RegEdge && 32'(edge_word.slot) == s && 32'(edge_word.own) == e) begin
            edges_o[s][e] <= '{location: edge_word.location, rank: edge_word.rank, number: edge_word.number};
          end
        end
      end
    end
  end

  // ---------------------------------------------------------------- reads
  logic fault_q, dropped_q, unroutable_q, clear_status;
  logic [ReportWords-1:0][31:0] report;
  assign report = {
    report_i.their_tag, report_i.my_tag, report_i.their_count, report_i.my_count,
    13'd0, report_i.mine, report_i.theirs, report_i.fault, 2'd0, report_i.peer,
    8'd0, report_i.own, 8'd0, report_i.port
  };
  // Reading the last word of a report removes the report.
  assign report_ready_o = read && raddr == RegReport + 6'(ReportWords - 1);
  assign clear_status   = write_q && waddr_q == RegClear && data_q[0];
  always_comb begin
    read_ok = 1'b1;
    rdata   = '0;
    unique case (raddr)
      RegIdentity: rdata = Identity;
      RegDesign: rdata = Design;
      RegStatus: rdata = {16'(up_i), 11'd0, unroutable_q, dropped_q, fault_q, report_valid_i, ready_i};
      default: begin
        read_ok = raddr >= RegReport && raddr < RegReport + 6'(ReportWords) && report_valid_i;
        for (int unsigned w = 0; w < ReportWords; w++) begin
          if (read_ok && raddr == RegReport + 6'(w)) rdata = report[w];
        end
        if (Counters && raddr >= RegCounts && raddr < RegCounts + 6'(PortCounters)) begin
          read_ok = 1'b1;
          rdata   = counts_i[raddr[2:0]];
        end
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fault_q   <= 1'b0;
      dropped_q <= 1'b0;
      unroutable_q <= 1'b0;
    end else begin
      fault_q   <= fault_i || (fault_q && !clear_status);
      dropped_q <= dropped_i || (dropped_q && !clear_status);
      unroutable_q <= unroutable_i || (unroutable_q && !clear_status);
    end
  end

  logic unused;
  assign unused = ^{tree_word.spare, bind_word.spare, bind_word.spare_low, counts_i};

  `GS_ASSERT_NOW(binds_one_half_at_a_time, send_bind_valid_o == '0 || recv_bind_valid_o == '0)
endmodule
