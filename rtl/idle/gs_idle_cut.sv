// SPDX-License-Identifier: Apache-2.0

/// The cut of a board's endpoints: a tree with four branches per level and a register after each level.
///
/// All endpoints have the same latency to the root, so the output is the state of all in one cycle, Latency cycles ago.
/// Endpoints that are not members are ignored.
module gs_idle_cut
  import gs_idle_pkg::*;
#(
  /// endpoints, 1 or more
  parameter  int unsigned Endpoints = 16,
  /// registers between the endpoints and the output
  localparam int unsigned Latency   = (Endpoints > 1) ? ($clog2(Endpoints) + 1) / 2 : 0
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic         [Endpoints-1:0] member_i,
  input  idle_status_t [Endpoints-1:0] status_i,
  /// operations on the words while they are scanned
  input  logic [IdleWords-1:0][1:0]    op_i,
  output idle_cut_t                    cut_o
);
  localparam int unsigned Leaves = 1 << (2 * Latency);
  localparam idle_cut_t Nothing = '{idle: 1'b1, vote: 1'b1, default: '0};
  localparam int unsigned ChunkW = $clog2(64 / IdleChunk);
  localparam int unsigned CountW = $clog2(IdleWords) + ChunkW;

  // Nodes are numbered level by level: leaves first.
  localparam int unsigned Nodes = (4 * Leaves - 1) / 3;
  idle_cut_t [Nodes-1:0] cut;

  for (genvar i = 0; i < int'(Leaves); i++) begin : gen_leaf
    if (i < int'(Endpoints)) begin : gen_endpoint
      idle_status_t status;
      assign status     = status_i[i];
      assign cut[i]     = member_i[i] ? '{
          idle: status.idle, vote: status.vote, started: status.started, count: status.sent - status.received,
          given: status.given, chunk_valid: status.chunk_valid, chunk: status.chunk
        } : Nothing;
      logic unused;
      assign unused = ^{status.epoch, status.drops};
    end else begin : gen_nothing
      assign cut[i]     = Nothing;
    end
  end

  // First node of level l: after the Leaves + Leaves/4 + ... nodes below.
  function automatic int unsigned base(int unsigned level);
    automatic int unsigned at = 0;
    for (int unsigned l = 0; l < level; l++) at += Leaves >> (2 * l);
    return at;
  endfunction

  for (genvar l = 1; l <= int'(Latency); l++) begin : gen_level
    for (genvar i = 0; i < int'(Leaves >> (2 * l)); i++) begin : gen_node
      localparam int unsigned From = base(l - 1) + 4 * i;
      idle_cut_t sum_d, sum_q;
      logic [CountW-1:0] chunk_q;
      logic first, valid;
      logic [1:0] op;
      logic [IdleChunk-1:0] low, high, both;

      logic [3:0] chunk_valid;
      for (genvar k = 0; k < 4; k++) begin : gen_chunk_valid
        assign chunk_valid[k] = cut[From+k].chunk_valid;
      end
      assign valid = chunk_valid != '0;
      assign first = chunk_q[ChunkW-1:0] == '0;
      assign op    = op_i[chunk_q[CountW-1:ChunkW]];
      always_ff @(posedge clk_i) begin
        if (!rst_ni || !valid) chunk_q <= '0;
        else chunk_q <= chunk_q + CountW'(1);
      end

      gs_idle_reduce_op #(.Chunk(IdleChunk)) u_low (
        .clk_i, .valid_i(valid), .first_i(first), .op_i(op),
        .a_present_i(chunk_valid[0]), .b_present_i(chunk_valid[1]),
        .a_i(cut[From].chunk), .b_i(cut[From+1].chunk), .out_o(low)
      );
      gs_idle_reduce_op #(.Chunk(IdleChunk)) u_high (
        .clk_i, .valid_i(valid), .first_i(first), .op_i(op),
        .a_present_i(chunk_valid[2]), .b_present_i(chunk_valid[3]),
        .a_i(cut[From+2].chunk), .b_i(cut[From+3].chunk), .out_o(high)
      );
      gs_idle_reduce_op #(.Chunk(IdleChunk)) u_both (
        .clk_i, .valid_i(valid), .first_i(first), .op_i(op),
        .a_present_i(chunk_valid[1:0] != '0), .b_present_i(chunk_valid[3:2] != '0),
        .a_i(low), .b_i(high), .out_o(both)
      );

      always_comb begin
        sum_d             = Nothing;
        sum_d.chunk_valid = valid;
        sum_d.chunk       = both;
        for (int unsigned k = 0; k < 4; k++) begin
          sum_d.idle    &= cut[From+k].idle;
          sum_d.vote    &= cut[From+k].vote;
          sum_d.started |= cut[From+k].started;
          sum_d.count   += cut[From+k].count;
          sum_d.given   |= cut[From+k].given;
        end
      end
      always_ff @(posedge clk_i) begin
        sum_q <= sum_d;
        if (!rst_ni) sum_q.idle <= 1'b0;
        if (!rst_ni) sum_q.chunk_valid <= 1'b0;
      end
      assign cut[base(l)+i] = sum_q;
    end
  end
  assign cut_o = cut[Nodes-1];

  if (Latency == 0) begin : gen_alone
    logic unused;
    assign unused = ^{clk_i, rst_ni, op_i};
  end
endmodule
