// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Fill unit of a cache: writes beats from memory into the data RAM, merges a store's bytes into them, and responds to
/// the waiting thread when its line is complete.
///
///     response ->[ record's RAM, two cycles ]->[ merge ]-> data RAM
///                                                  |-> word ->[ align ]-> responses
module gs_cache_fill
  import gs_cache_pkg::*;
  import gs_word_pkg::*;
#(
  // as in gs_cache
  parameter  int unsigned Threads       = 64,
  parameter  int unsigned Ways          = 4,
  parameter  int unsigned SetsPerThread = 2,
  parameter  int unsigned LineBytes     = 32,
  parameter  int unsigned PortBytes     = 32,
  parameter  type         cache_rsp_t   = gs_cache_pkg::cache_rsp_t,
  parameter  type         mem_rsp_t     = gs_mem_pkg::mem_rsp_t,
  /// record of a miss or flush, from gs_cache
  parameter  type         miss_t        = logic,
  localparam int unsigned ThreadW       = $clog2(Threads),
  localparam int unsigned LogWays       = $clog2(Ways),
  localparam int unsigned LogSets       = $clog2(SetsPerThread),
  localparam int unsigned OffW          = $clog2(LineBytes),
  localparam int unsigned Beats         = LineBytes / PortBytes,
  localparam int unsigned LogBeats      = $clog2(Beats),
  localparam int unsigned WideW         = ThreadW + LogSets + LogWays + LogBeats
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // from the tags
  input  logic                   miss_valid_i,
  input  logic [ThreadW-1:0]     miss_thread_i,
  input  miss_t                  miss_i,
  input  logic                   mem_rsp_valid_i,
  output logic                   mem_rsp_ready_o,
  input  mem_rsp_t               mem_rsp_i,
  // wide port of the data RAM, with priority over the miss unit
  output logic                   write_o,
  output logic [WideW-1:0]       write_addr_o,
  output logic [8*PortBytes-1:0] write_data_o,
  output logic                   ack_valid_o,
  output logic [ThreadW-1:0]     ack_thread_o,
  output logic                   done_o,
  output logic                   rsp_valid_o,
  input  logic                   rsp_ready_i,
  output cache_rsp_t             rsp_o
);
  localparam int unsigned Depth = 8;
  localparam int unsigned Lanes = PortBytes / 4;
  localparam int unsigned LogLanes = $clog2(Lanes);
  localparam int unsigned LaneW = (LogLanes > 0) ? LogLanes : 1;
  localparam int unsigned BeatW = (LogBeats > 0) ? LogBeats : 1;
  localparam int unsigned SetW = ThreadW + LogSets;

  typedef struct packed {
    logic                      store;
    logic [2:0]                funct3;
    logic [LogSets+OffW-1:0]   set_offset;
    logic [LogWays:0]          way;
    logic [31:0]               data;
  } record_t;

  record_t                record_in, record;
  logic                   accept, f1_valid_q, f2_valid_q, f3_valid_q, ready_q;
  mem_rsp_t               f1_q, f2_q;
  logic [BeatW-1:0]       beat_q, word_beat;
  logic [LaneW-1:0]       word_lane;
  logic                   word_in_beat;
  logic [SetW-1:0]        set;
  logic [31:0]            word, word_q;
  logic [31:0]            store_word;
  logic [3:0]             strobe;
  logic                   f3_load_q;
  logic [2:0]             f3_funct3_q;
  logic [1:0]             f3_offset_q;
  logic [ThreadW-1:0]     f3_thread_q;
  cache_rsp_t             rsp_in;
  logic                   rsp_space;
  logic [3:0]             rsp_count;

  assign record_in = '{
    store: miss_i.op == CacheStore,
    funct3: miss_i.funct3,
    set_offset: (LogSets + OffW)'(miss_i.addr),
    way: (LogWays + 1)'(miss_i.way),
    data: miss_i.data
  };

  assign mem_rsp_ready_o = ready_q;
  assign accept          = mem_rsp_valid_i && ready_q;

  gs_ram_sdp #(
    .Width  ($bits(record_t)),
    .Depth  (Threads),
    .Latency(2),
    .Style  ("block")
  ) u_records (
    .clk_i,
    .we_i   (miss_valid_i),
    .wstrb_i(1'b1),
    .waddr_i(miss_thread_i),
    .wdata_i(record_in),
    .re_i   (accept),
    .raddr_i(mem_rsp_i.id),
    .rdata_o(record)
  );

  assign set          = (SetW'(f2_q.id) << LogSets) | SetW'(record.set_offset >> OffW);
  assign write_o      = f2_valid_q && !f2_q.ack;
  assign write_addr_o = (((WideW'(set) << LogWays) | WideW'(record.way)) << LogBeats)
                       | WideW'(beat_q & BeatW'(Beats - 1));
  // The beat, and the word within it, that the thread requested.
  assign word_beat    = BeatW'((record.set_offset & (LogSets + OffW)'(LineBytes - 1)) >> $clog2(PortBytes));
  assign word_lane    = LaneW'(record.set_offset >> 2) & LaneW'(Lanes - 1);
  assign word_in_beat = word_beat == beat_q;
  assign store_word   = store_data(record.data, record.funct3[1:0]);
  assign strobe       = store_strobe(record.funct3[1:0], record.set_offset[1:0]);

  always_comb begin
    write_data_o = f2_q.data;
    word         = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (word_lane == LaneW'(l)) begin
        word |= f2_q.data[32*l+:32];
        for (int unsigned b = 0; b < 4; b++) begin
          if (record.store && word_in_beat && strobe[b]) write_data_o[32*l+8*b+:8] = store_word[8*b+:8];
        end
      end
    end
  end

  assign ack_valid_o  = f1_valid_q && f1_q.ack;
  assign ack_thread_o = f1_q.id;
  assign done_o       = write_o && f2_q.last;

  assign rsp_in = '{
    thread: f3_thread_q,
    data: f3_load_q ? load_value(word_q, f3_funct3_q, f3_offset_q) : 32'd0
  };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      f1_valid_q <= 1'b0;
      f2_valid_q <= 1'b0;
      f3_valid_q <= 1'b0;
      beat_q     <= '0;
      ready_q    <= 1'b0;
    end else begin
      f1_valid_q <= accept;
      f2_valid_q <= f1_valid_q;
      f3_valid_q <= done_o;
      // Each of the four beats in flight may produce a response.
      ready_q    <= rsp_count < 4'(Depth - 4);
      if (write_o) beat_q <= f2_q.last ? '0 : beat_q + BeatW'(1);
    end
    if (accept) f1_q <= mem_rsp_i;
    if (f1_valid_q) f2_q <= f1_q;
    if (write_o && word_in_beat) word_q <= word;
    if (done_o) begin
      f3_load_q   <= !record.store;
      f3_funct3_q <= record.funct3;
      f3_offset_q <= record.set_offset[1:0];
      f3_thread_q <= f2_q.id;
    end
  end

  gs_fifo #(
    .data_t(cache_rsp_t),
    .Depth (Depth)
  ) u_responses (
    .clk_i,
    .rst_ni,
    .in_valid_i (f3_valid_q),
    .in_ready_o (rsp_space),
    .in_data_i  (rsp_in),
    .out_valid_o(rsp_valid_o),
    .out_ready_i(rsp_ready_i),
    .out_data_o (rsp_o),
    .count_o    (rsp_count)
  );

  `GS_ASSERT_NOW(response_queue_never_overflows, !f3_valid_q || rsp_space)
  `GS_ASSERT(last_marks_the_final_beat_of_a_line, write_o |-> f2_q.last == (beat_q == BeatW'(Beats - 1)))

  // The miss unit uses the line's address in memory and the line that is replaced.
  logic unused;
  assign unused = ^miss_i;

  // An acknowledgement of a write-back may arrive while its thread has the next miss; it uses no record.
  `GS_ASSERT_NOW(filled_line_has_a_defined_record, !(u_records.undefined && write_o))
endmodule
