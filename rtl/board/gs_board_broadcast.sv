// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Broadcast: stores a packet for loaders, and sends a copy to each child board and to tiles of the packet's job.
///
///     request network ->[ two buffers of 17 flits ]->[ check ]-> children's control units, tiles
///
/// Code is sent to each tile; memory accesses to the first tile of each DRAM. The next packet arrives while copies of
/// the previous one leave: the relay waits only for space for its copies. The header is forwarded unchanged, so each
/// loader answers to the header's reply address.
module gs_board_broadcast
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
  // Copies; a packet is sent without pauses
  output logic                      out_valid_o,
  input  logic                      out_ready_i,
  output flit_t                     out_o,
  // one cycle each: a packet was relayed, or rejected and why, and its first word
  output logic                      broadcast_o,
  output logic                      rejected_o,
  output logic       [3:0]          reason_o,
  output logic       [31:0]         word_o
);
  localparam int unsigned MaxFlits = 17;
  localparam int unsigned CountW = $clog2(MaxFlits + 2);
  localparam int unsigned AddrW = $clog2(MaxFlits);
  localparam int unsigned Targets = Children + Tiles;
  localparam int unsigned TargetW = $clog2(Targets);
  localparam int unsigned TileCaches = Caches / Tiles;

  typedef enum logic [1:0] {Plan, Choose, Send} state_e;
  state_e state_q;

  // State of the packet in a buffer
  typedef struct packed {
    load_header_t      header;
    flit_kind_e        kind;
    logic [4:0]        job;
    logic [1:0]        epoch;
    logic              wave;
    logic [CountW-1:0] flits;
  } about_t;

  about_t [1:0] about_q;
  about_t about;
  logic [1:0] full_q;        // the buffer's packet is complete
  logic put_q, from_q, take, ends;
  logic [CountW-1:0] count_q, count_d;
  assign about      = about_q[from_q];
  assign in_ready_o = !full_q[put_q];
  assign take       = in_valid_i && in_ready_o;
  assign count_d    = (count_q == CountW'(MaxFlits + 1)) ? count_q : count_q + CountW'(1);

  // ---------------------------------------------------------------- buffers
  logic [AddrW-1:0] get_q;
  logic [127:0] payload;
  gs_ram_sdp #(
    .Width  (128),
    .Depth  (2 << AddrW),
    .Latency(0),
    .Style  ("distributed")
  ) u_buffers (
    .clk_i,
    .we_i   (take && count_q < CountW'(MaxFlits)),
    .wstrb_i(1'b1),
    .waddr_i({put_q, AddrW'(count_q)}),
    .wdata_i(in_i.payload),
    .re_i   (1'b1),
    .raddr_i({from_q, get_q}),
    .rdata_o(payload)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q  <= '0;
      put_q   <= 1'b0;
      from_q  <= 1'b0;
      count_q <= '0;
    end else begin
      if (take) count_q <= in_i.last ? '0 : count_d;
      if (take && in_i.last) begin
        full_q[put_q] <= 1'b1;
        put_q         <= !put_q;
      end
      if (ends) begin
        full_q[from_q] <= 1'b0;
        from_q         <= !from_q;
      end
    end
    if (take && count_q == '0) begin
      about_q[put_q].header <= in_i.payload;
      about_q[put_q].kind   <= in_i.kind;
      about_q[put_q].job    <= in_i.job;
      about_q[put_q].epoch  <= in_i.epoch;
      about_q[put_q].wave   <= in_i.wave;
    end
    if (take) about_q[put_q].flits <= count_d;
  end

  // ---------------------------------------------------------------- targets
  logic [Targets-1:0] targets, left_q, lowest;
  logic [Tiles-1:0] members, firsts;
  logic [TargetW-1:0] lowest_at;
  logic [31:0] dest_q;
  logic [3:0] reason;
  always_comb begin
    firsts = '0;
    for (int unsigned t = 0; t < Tiles; t++) members[t] = job_i[t] == about.job;
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
    targets[Children+:Tiles] = (about.header.op == LoadOpWriteInstr) ? members : firsts;
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
    reason = '0;
    if (about.kind != FlitKindHeader || about.header.op > LoadOpReadInstr) reason = RejectionKind;
    else if (about.flits > CountW'(MaxFlits)) reason = RejectionLength;
  end

  logic sent;
  assign sent = out_valid_o && out_ready_i;
  assign ends = (state_q == Plan && full_q[from_q] && reason != '0) || (state_q == Choose && left_q == '0);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= Plan;
      get_q     <= '0;
      left_q    <= '0;
      broadcast_o <= 1'b0;
      rejected_o <= 1'b0;
    end else begin
      broadcast_o <= 1'b0;
      rejected_o <= 1'b0;
      unique case (state_q)
        Plan: if (full_q[from_q]) begin
          left_q    <= targets;
          broadcast_o <= reason == '0;
          rejected_o <= reason != '0;
          if (reason == '0) state_q <= Choose;
        end
        Choose: begin
          left_q  <= left_q & ~lowest;
          state_q <= (left_q == '0) ? Plan : Send;
        end
        default: if (sent) begin
          get_q <= out_o.last ? '0 : get_q + AddrW'(1);
          if (out_o.last) state_q <= Choose;
        end
      endcase
    end
    dest_q   <= (state_q == Choose) ? address_of(lowest_at, children_i, board_i) : dest_q;
    reason_o <= reason;
    word_o   <= about.header[31:0];
  end

  assign out_valid_o = state_q == Send;
  assign out_o = '{
      kind: (get_q == '0) ? FlitKindHeader : FlitKindBody, last: CountW'(get_q) == about.flits - CountW'(1),
      vnet: VnetRequest, job: about.job, epoch: about.epoch, wave: about.wave, dest: dest_q, payload: payload
    };

  logic unused;
  assign unused = ^{in_i.vnet, in_i.dest, about.header};

  `GS_ASSERT_HOLD(stalled_flits_are_stable, out_valid_o, out_ready_i, out_o)
endmodule
