// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Reads memory, starting at any byte, and outputs flits of 16 bytes.
///
/// It requests as many lines as the ring has free slots. A line's slot number is its request id, so responses may
/// arrive in any order.
///
///     memory ->[ ring, 16 lines ]-> row of 16 bytes -+-----------> shift by bytes -> flit
///                                                    +->[ previous row ]--^
module gs_dma_read
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  /// while idle: reads this number of flits from this byte on; at least 1 flit, all in one window of memory
  input  logic         start_i,
  input  logic [31:0]  from_i,
  input  logic [27:0]  flits_i,
  /// drops all data that have not been output
  input  logic         stop_i,
  output logic         busy_o,
  output logic         valid_o,
  input  logic         ready_i,
  output logic [127:0] data_o,
  /// memory; responses are always accepted
  output logic         mem_req_valid_o,
  input  logic         mem_req_ready_i,
  output mem_req_t     mem_req_o,
  input  logic         mem_rsp_valid_i,
  input  mem_rsp_t     mem_rsp_i
);
  localparam int unsigned Slots = 16;
  localparam int unsigned LineFlits = CacheLineBytes / 16;
  localparam int unsigned SubW = (LineFlits > 1) ? $clog2(LineFlits) : 1;
  localparam int unsigned LineBeats = CacheLineBytes / DramPortBytes;
  localparam int unsigned BeatW = (LineBeats > 1) ? $clog2(LineBeats) : 1;
  localparam int unsigned RowBytes = (DramPortBytes > 16) ? DramPortBytes : 16;
  localparam int unsigned RowWords = RowBytes / 4;
  localparam int unsigned RowFlits = RowBytes / 16;
  localparam int unsigned Rows = Slots * CacheLineBytes / RowBytes;
  localparam int unsigned RowW = $clog2(Rows);

  if (CacheLineBytes < 16) begin : gen_illegal_line
    $fatal(1, "gs_dma_read: a line has %0d bytes; it must have 16 or more", CacheLineBytes);
  end

  // -------------------------------------------------------------- requests
  // Lines still to be requested; address and slot of the next one; free slots; lines in flight.
  logic [28:0] unrequested_q;
  logic [31:0] line_q;
  logic [3:0] slot_q;
  logic [4:0] free_q, in_flight_q;
  logic request_fire, line_done, slot_free;
  logic [32:0] end_address;

  assign request_fire = mem_req_valid_o && mem_req_ready_i;
  assign line_done    = mem_rsp_valid_i && mem_rsp_i.last;
  assign end_address  = {1'b0, from_i} + {1'b0, flits_i, 4'd0} + 33'(CacheLineBytes - 1);

  assign mem_req_valid_o = unrequested_q != '0 && free_q != '0;
  assign mem_req_o       = '{
    write: 1'b0, last: 1'b1, space: is_sram(line_q[31:30]), id: AcceleratorId | MemIdW'(slot_q),
    addr: physical(line_q), data: '0
  };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      unrequested_q <= '0;
      free_q        <= '0;
      in_flight_q   <= '0;
    end else begin
      in_flight_q <= in_flight_q + 5'(request_fire) - 5'(line_done);
      if (start_i) begin
        unrequested_q <= 29'(end_address >> Log2LineBytes) - 29'(from_i >> Log2LineBytes);
        free_q        <= 5'(Slots);
      end else begin
        // A stalled request must stay valid: it completes, and its response is dropped.
        if (stop_i) unrequested_q <= (mem_req_valid_o && !request_fire) ? 29'd1 : '0;
        else if (request_fire) unrequested_q <= unrequested_q - 29'd1;
        free_q <= free_q - 5'(request_fire) + 5'(slot_free);
      end
    end
    if (start_i) begin
      line_q <= from_i & ~32'(CacheLineBytes - 1);
      slot_q <= '0;
    end else if (request_fire) begin
      line_q <= line_q + CacheLineBytes;
      slot_q <= slot_q + 4'd1;
    end
  end

  // ------------------------------------------------------------------ ring
  logic [Slots-1:0] valid_q;
  logic [BeatW-1:0] back_q;
  logic [9:0] put;
  logic [3:0] get_q;
  logic [SubW-1:0] sub_q;
  logic [8*RowBytes-1:0] row;
  logic [127:0] row_flit, previous_q;

  // Word addresses in the ring
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
  assign row_flit = row[128*((taken/4)&10'(RowFlits-1))+:128];

  // ------------------------------------------------------------------ flits
  // A flit that is not aligned to a row combines two rows, so the first row only waits for the second.
  logic [27:0] left_q;
  logic [3:0] shift_q;
  logic first_row_q, have, read_fire, line_ends;

  assign have      = valid_q[get_q] && left_q != '0;
  assign valid_o   = have && !first_row_q;
  assign read_fire = have && (first_row_q || ready_i);
  assign line_ends = 32'(sub_q) == LineFlits - 1;
  assign slot_free = read_fire && line_ends;
  assign data_o    = (shift_q == '0) ? row_flit : 128'({row_flit, previous_q} >> {shift_q, 3'd0});
  assign busy_o    = left_q != '0 || unrequested_q != '0 || in_flight_q != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
      left_q  <= '0;
      back_q  <= '0;
    end else begin
      if (mem_rsp_valid_i) back_q <= mem_rsp_i.last ? '0 : back_q + BeatW'(1);
      if (slot_free) valid_q[get_q] <= 1'b0;
      if (line_done) valid_q[mem_rsp_i.id[3:0]] <= 1'b1;
      if (read_fire && !first_row_q) left_q <= left_q - 28'd1;
      if (stop_i) left_q <= '0;
      if (start_i) begin
        valid_q <= '0;
        left_q  <= flits_i;
      end
    end
    if (read_fire) begin
      previous_q  <= row_flit;
      first_row_q <= 1'b0;
      sub_q       <= line_ends ? '0 : sub_q + SubW'(1);
      if (line_ends) get_q <= get_q + 4'd1;
    end
    if (start_i) begin
      shift_q     <= from_i[3:0];
      first_row_q <= from_i[3:0] != '0;
      sub_q       <= SubW'((from_i & 32'(CacheLineBytes - 1)) >> 4);
      get_q       <= '0;
    end
  end

  logic unused;
  assign unused = ^{mem_rsp_i.id, mem_rsp_i.ack};

  `GS_ASSERT_NOW(starts_only_while_idle, !start_i || !busy_o)
  `GS_ASSERT_NOW(responses_only_to_requests, !mem_rsp_valid_i || (in_flight_q != '0 && !mem_rsp_i.ack))
  `GS_ASSERT_NOW(ring_slot_is_free, !line_done || !valid_q[mem_rsp_i.id[3:0]])
  `GS_ASSERT_HOLD(payload_stable_while_stalled, valid_o, ready_i || stop_i, data_o)
  `GS_ASSERT_HOLD(request_stable_while_stalled, mem_req_valid_o, mem_req_ready_i, mem_req_o)
endmodule
