// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Reads memory from any byte on, and gives it in flits of 16 bytes.
///
/// As many lines are asked for as the ring has free places; a line's place is its id, so they may come in any order.
///
///     memory ->[ ring, 16 lines ]-> row of 16 bytes -+-----------> shift by bytes -> flit
///                                                    +->[ the row before ]-^
module gs_dma_read
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  /// while nothing is busy: that many flits from this byte on; 1 flit or more, all in one window of memory
  input  logic         start_i,
  input  logic [31:0]  from_i,
  input  logic [27:0]  flits_i,
  /// what has not been given out is dropped
  input  logic         stop_i,
  output logic         busy_o,
  output logic         valid_o,
  input  logic         ready_i,
  output logic [127:0] data_o,
  /// memory; responses are always taken
  output logic         mem_req_valid_o,
  input  logic         mem_req_ready_i,
  output mem_req_t     mem_req_o,
  input  logic         mem_rsp_valid_i,
  input  mem_rsp_t     mem_rsp_i
);
  localparam int unsigned Places = 16;
  localparam int unsigned LineFlits = CacheLineBytes / 16;
  localparam int unsigned SubW = (LineFlits > 1) ? $clog2(LineFlits) : 1;
  localparam int unsigned LineBeats = CacheLineBytes / DramPortBytes;
  localparam int unsigned BeatW = (LineBeats > 1) ? $clog2(LineBeats) : 1;
  localparam int unsigned RowBytes = (DramPortBytes > 16) ? DramPortBytes : 16;
  localparam int unsigned RowWords = RowBytes / 4;
  localparam int unsigned RowFlits = RowBytes / 16;
  localparam int unsigned Rows = Places * CacheLineBytes / RowBytes;
  localparam int unsigned RowW = $clog2(Rows);

  if (CacheLineBytes < 16) begin : gen_illegal_line
    $fatal(1, "gs_dma_read: a line has %0d bytes; it must have 16 or more", CacheLineBytes);
  end

  // ---------------------------------------------------------------- asking
  // Lines that are still to be asked for, the next one, and its place; places that are free; lines that will come.
  logic [28:0] ask_q;
  logic [31:0] line_q;
  logic [3:0] place_q;
  logic [4:0] free_q, coming_q;
  logic asks, came, frees;
  logic [32:0] behind;

  assign asks   = mem_req_valid_o && mem_req_ready_i;
  assign came   = mem_rsp_valid_i && mem_rsp_i.last;
  assign behind = {1'b0, from_i} + {1'b0, flits_i, 4'd0} + 33'(CacheLineBytes - 1);

  assign mem_req_valid_o = ask_q != '0 && free_q != '0;
  assign mem_req_o       = '{
    write: 1'b0, last: 1'b1, space: is_sram(line_q[31:30]), id: AcceleratorId | MemIdW'(place_q),
    addr: physical(line_q), data: '0
  };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ask_q    <= '0;
      free_q   <= '0;
      coming_q <= '0;
    end else begin
      coming_q <= coming_q + 5'(asks) - 5'(came);
      if (start_i) begin
        ask_q  <= 29'(behind >> Log2LineBytes) - 29'(from_i >> Log2LineBytes);
        free_q <= 5'(Places);
      end else begin
        // A request that waits stays: it is asked for, and dropped when it comes.
        if (stop_i) ask_q <= (mem_req_valid_o && !asks) ? 29'd1 : '0;
        else if (asks) ask_q <= ask_q - 29'd1;
        free_q <= free_q - 5'(asks) + 5'(frees);
      end
    end
    if (start_i) begin
      line_q  <= from_i & ~32'(CacheLineBytes - 1);
      place_q <= '0;
    end else if (asks) begin
      line_q  <= line_q + CacheLineBytes;
      place_q <= place_q + 4'd1;
    end
  end

  // ------------------------------------------------------------------ ring
  logic [Places-1:0] there_q;
  logic [BeatW-1:0] back_q;
  logic [9:0] put;
  logic [3:0] get_q;
  logic [SubW-1:0] sub_q;
  logic [8*RowBytes-1:0] row;
  logic [127:0] now, before_q;

  // Numbers of words of the ring
  assign put = 10'(32'(mem_rsp_i.id[3:0]) * (CacheLineBytes / 4) + 32'(back_q) * (DramPortBytes / 4));
  logic [9:0] taken;
  assign taken = 10'(32'(get_q) * (CacheLineBytes / 4) + 32'(sub_q) * 4);

  gs_ram_sdp #(
    .Width   (8 * RowBytes),
    .Depth   (Rows),
    .ByteBits(32),
    .Latency (0),
    .Style   ("distributed")
  ) u_ring (
    .clk_i,
    .we_i   (mem_rsp_valid_i),
    .wstrb_i(RowWords'((33'd1 << (DramPortBytes / 4)) - 33'd1) << (put & 10'(RowWords - 1))),
    .waddr_i(RowW'(put / RowWords)),
    .wdata_i({(RowBytes / DramPortBytes) {mem_rsp_i.data}}),
    .re_i   (1'b1),
    .raddr_i(RowW'(taken / RowWords)),
    .rdata_o(row)
  );
  assign now = row[128*((taken/4)&10'(RowFlits-1))+:128];

  // ------------------------------------------------------------------ flits
  // A flit that does not begin with a row is made of two, so the first row only waits for the second.
  logic [27:0] left_q;
  logic [3:0] shift_q;
  logic primes_q, have, takes, line_ends;

  assign have      = there_q[get_q] && left_q != '0;
  assign valid_o   = have && !primes_q;
  assign takes     = have && (primes_q || ready_i);
  assign line_ends = 32'(sub_q) == LineFlits - 1;
  assign frees     = takes && line_ends;
  assign data_o    = (shift_q == '0) ? now : 128'({now, before_q} >> {shift_q, 3'd0});
  assign busy_o    = left_q != '0 || ask_q != '0 || coming_q != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      there_q <= '0;
      left_q  <= '0;
      back_q  <= '0;
    end else begin
      if (mem_rsp_valid_i) back_q <= mem_rsp_i.last ? '0 : back_q + BeatW'(1);
      if (frees) there_q[get_q] <= 1'b0;
      if (came) there_q[mem_rsp_i.id[3:0]] <= 1'b1;
      if (takes && !primes_q) left_q <= left_q - 28'd1;
      if (stop_i) left_q <= '0;
      if (start_i) begin
        there_q <= '0;
        left_q  <= flits_i;
      end
    end
    if (takes) begin
      before_q <= now;
      primes_q <= 1'b0;
      sub_q    <= line_ends ? '0 : sub_q + SubW'(1);
      if (line_ends) get_q <= get_q + 4'd1;
    end
    if (start_i) begin
      shift_q  <= from_i[3:0];
      primes_q <= from_i[3:0] != '0;
      sub_q    <= SubW'((from_i & 32'(CacheLineBytes - 1)) >> 4);
      get_q    <= '0;
    end
  end

  logic unused;
  assign unused = ^{mem_rsp_i.id, mem_rsp_i.ack};

  `GS_ASSERT_NOW(it_starts_at_rest, !start_i || !busy_o)
  `GS_ASSERT_NOW(lines_come_only_when_asked_for, !mem_rsp_valid_i || (coming_q != '0 && !mem_rsp_i.ack))
  `GS_ASSERT_NOW(a_line_has_a_place, !came || !there_q[mem_rsp_i.id[3:0]])
  `GS_ASSERT_HOLD(payload_is_stable_while_it_waits, valid_o, ready_i || stop_i, data_o)
  `GS_ASSERT_HOLD(a_request_is_stable_while_it_waits, mem_req_valid_o, mem_req_ready_i, mem_req_o)
endmodule
