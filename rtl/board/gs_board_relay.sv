// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Broadcast: keeps a packet for loaders, and sends a copy to each child board and to tiles of the packet's job.
///
///     request network ->[ check ]->[ store, 17 flits ]-> children's control units, tiles
///
/// Code goes to each tile; memory accesses to the first tile of each DRAM. The next packet comes in when the last copy
/// has left: the relay waits for nothing but room for its copies. The header goes on as it is, so each loader answers
/// to where the header says.
module gs_board_relay
  import gs_board_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic       [11:0]         board_i,
  input  neighbour_t [Children-1:0] children_i,
  input  logic       [Tiles-1:0][4:0] job_i,
  // Packets of the request network
  input  logic                      in_valid_i,
  output logic                      in_ready_o,
  input  flit_t                     in_i,
  // Copies; a packet does not pause inside
  output logic                      out_valid_o,
  input  logic                      out_ready_i,
  output flit_t                     out_o,
  // a cycle each: a packet was passed on, or refused and why, and its first word
  output logic                      relayed_o,
  output logic                      refused_o,
  output logic       [3:0]          refusal_o,
  output logic       [31:0]         word_o
);
  localparam int unsigned MostFlits = 17;
  localparam int unsigned CountW = $clog2(MostFlits + 2);
  localparam int unsigned PlaceW = $clog2(MostFlits);
  localparam int unsigned Targets = Children + Tiles;
  localparam int unsigned TargetW = $clog2(Targets);
  localparam int unsigned TileCaches = Caches / Tiles;

  typedef enum logic [1:0] {Take, Plan, Choose, Send} state_e;
  state_e state_q;

  load_header_t header, header_q;
  flit_kind_e kind_q;
  logic [4:0] job_q;
  logic [1:0] epoch_q;
  logic wave_q, first, take;
  logic [CountW-1:0] count_q, count_d;
  assign header     = in_i.payload;
  assign in_ready_o = state_q == Take;
  assign take       = in_valid_i && in_ready_o;
  assign first      = count_q == '0;
  assign count_d    = (count_q == CountW'(MostFlits + 1)) ? count_q : count_q + CountW'(1);

  // ------------------------------------------------------------------ store
  logic [PlaceW-1:0] get_q;
  logic [127:0] payload;
  gs_ram_sdp #(
    .Width  (128),
    .Depth  (MostFlits),
    .Latency(0),
    .Style  ("distributed")
  ) u_store (
    .clk_i,
    .we_i   (take && count_q < CountW'(MostFlits)),
    .wstrb_i(1'b1),
    .waddr_i(PlaceW'(count_q)),
    .wdata_i(in_i.payload),
    .re_i   (1'b1),
    .raddr_i(get_q),
    .rdata_o(payload)
  );

  // ---------------------------------------------------------------- targets
  logic [Targets-1:0] targets, left_q, lowest;
  logic [Tiles-1:0] members, firsts;
  logic [TargetW-1:0] lowest_at;
  logic [31:0] dest_q;
  logic [3:0] refusal;
  always_comb begin
    firsts = '0;
    for (int unsigned t = 0; t < Tiles; t++) members[t] = job_i[t] == job_q;
    for (int unsigned d = 0; d < DramCount; d++) begin
      automatic logic found;
      found = 1'b0;
      for (int unsigned t = 0; t < Tiles; t++) begin
        if (t * TileCaches / CachesPerDram == d && members[t]) begin
          firsts[t] = !found;
          found     = 1'b1;
        end
      end
    end
    for (int unsigned i = 0; i < Children; i++) targets[i] = children_i[i].valid;
    targets[Children+:Tiles] = (header_q.op == LoadOpWriteInstr) ? members : firsts;
    lowest    = left_q & (~left_q + Targets'(1));
    lowest_at = '0;
    for (int unsigned i = 0; i < Targets; i++) if (lowest[i]) lowest_at |= TargetW'(i);
  end

  function automatic logic [31:0] address_of(logic [TargetW-1:0] target, neighbour_t [Children-1:0] children,
                                             logic [11:0] board);
    automatic int unsigned tile;
    if (32'(target) < Children) return {EndpointControl, 3'd0, children[target[2:0]].board, 14'd0};
    tile = 32'(target) - Children;
    return {EndpointTile, 3'd0, board, 4'(tile / MeshWidth), 4'(tile % MeshWidth), 6'd0};
  endfunction

  always_comb begin
    refusal = '0;
    if (kind_q != FlitKindHeader || header_q.op > LoadOpReadInstr) refusal = RefusalKind;
    else if (count_q > CountW'(MostFlits)) refusal = RefusalLength;
  end

  logic sent;
  assign sent = out_valid_o && out_ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= Take;
      count_q   <= '0;
      get_q     <= '0;
      left_q    <= '0;
      relayed_o <= 1'b0;
      refused_o <= 1'b0;
    end else begin
      relayed_o <= 1'b0;
      refused_o <= 1'b0;
      unique case (state_q)
        Take: if (take) begin
          count_q <= count_d;
          if (in_i.last) state_q <= Plan;
        end
        Plan: begin
          get_q     <= '0;
          left_q    <= targets;
          relayed_o <= refusal == '0;
          refused_o <= refusal != '0;
          if (refusal != '0) count_q <= '0;
          state_q   <= (refusal != '0) ? Take : Choose;
        end
        Choose: begin
          left_q <= left_q & ~lowest;
          if (left_q == '0) count_q <= '0;
          state_q <= (left_q == '0) ? Take : Send;
        end
        default: if (sent) begin
          get_q <= out_o.last ? '0 : get_q + PlaceW'(1);
          if (out_o.last) state_q <= Choose;
        end
      endcase
    end
    if (take && first) begin
      header_q <= header;
      kind_q   <= in_i.kind;
      job_q    <= in_i.job;
      epoch_q  <= in_i.epoch;
      wave_q   <= in_i.wave;
    end
    dest_q    <= (state_q == Choose) ? address_of(lowest_at, children_i, board_i) : dest_q;
    refusal_o <= refusal;
    word_o    <= header_q[31:0];
  end

  assign out_valid_o = state_q == Send;
  assign out_o = '{
      kind: (get_q == '0) ? FlitKindHeader : FlitKindBody, last: CountW'(get_q) == count_q - CountW'(1),
      vnet: VnetRequest, job: job_q, epoch: epoch_q, wave: wave_q, dest: dest_q, payload: payload
    };

  logic unused;
  assign unused = ^{in_i.vnet, in_i.dest, header_q};

  `GS_ASSERT_HOLD(a_flit_waits_unchanged, out_valid_o, out_ready_i, out_o)
endmodule
