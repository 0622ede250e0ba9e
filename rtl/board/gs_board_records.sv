// SPDX-License-Identifier: Apache-2.0

/// Reads multicast records through one more cache port of a memory: the DRAM stores a beat at address 32 * beat.
///
/// A requester has free space for every response, so responses of the memory are always accepted: at most one waits
/// here.
module gs_board_records
  import gs_multicast_pkg::*;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// bits of a reader's tag
  parameter int unsigned TagW = 8
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 req_valid_i,
  output logic                 req_ready_o,
  input  logic [BeatAddrW-1:0] req_beat_i,
  input  logic [TagW-1:0]      req_tag_i,
  output logic                 rsp_valid_o,
  input  logic                 rsp_ready_i,
  output logic [TagW-1:0]      rsp_tag_o,
  output beat_t                rsp_o,
  // To the memory
  output logic                 mem_valid_o,
  input  logic                 mem_ready_i,
  output mem_req_t             mem_req_o,
  input  logic                 mem_valid_i,
  output logic                 mem_ready_o,
  input  mem_rsp_t             mem_rsp_i
);
  localparam int unsigned Ids = 32'd1 << MemIdW;
  localparam int unsigned LineBits = 8 * CacheLineBytes;
  localparam int unsigned PortBits = 8 * DramPortBytes;
  localparam int unsigned Held = (LineBits > BeatBits) ? LineBits : BeatBits;
  if (CacheLineBytes < BeatBytes) begin : gen_illegal_lines
    $fatal(1, "gs_board_records: CacheLineBytes is %0d; a line must hold a beat of records", CacheLineBytes);
  end

  // Slots for outstanding reads, each with its reader's tag and the requested address.
  logic [Ids-1:0] busy_q;
  logic [TagW-1:0] tag_q[Ids];
  logic [31:0] address_q[Ids];
  logic [MemIdW-1:0] slot;
  logic free, done_q;
  logic [Held-1:0] line_q;
  logic [MemIdW-1:0] done_id_q;

  always_comb begin
    slot = '0;
    free = 1'b0;
    for (int unsigned i = 0; i < Ids; i++) begin
      if (!free && !busy_q[i]) begin
        slot = MemIdW'(i);
        free = 1'b1;
      end
    end
  end

  assign mem_valid_o = req_valid_i && free;
  assign req_ready_o = mem_ready_i && free;
  always_comb begin
    mem_req_o      = '0;
    mem_req_o.last = 1'b1;
    mem_req_o.id   = slot;
    mem_req_o.addr = {req_beat_i, 5'd0} & ~32'(CacheLineBytes - 1);
  end

  assign mem_ready_o = !done_q || rsp_ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= '0;
      done_q <= 1'b0;
    end else begin
      if (mem_valid_o && mem_ready_i) begin
        busy_q[slot]    <= 1'b1;
        tag_q[slot]     <= req_tag_i;
        address_q[slot] <= {req_beat_i, 5'd0};
      end
      if (rsp_ready_i) done_q <= 1'b0;
      // The slot is busy until the response is accepted, because it stores the reader's tag.
      if (done_q && rsp_ready_i) busy_q[done_id_q] <= 1'b0;
      if (mem_valid_i && mem_ready_o) begin
        // Beats of a line arrive in order.
        line_q <= Held'({mem_rsp_i.data, line_q} >> PortBits);
        if (mem_rsp_i.last) begin
          done_q    <= 1'b1;
          done_id_q <= mem_rsp_i.id;
        end
      end
    end
  end

  assign rsp_valid_o = done_q;
  assign rsp_tag_o = tag_q[done_id_q];
  assign rsp_o = BeatBits'(line_q >> (8 * (address_q[done_id_q] & 32'(CacheLineBytes - 1))));

  logic unused;
  assign unused = mem_rsp_i.ack;
endmodule
