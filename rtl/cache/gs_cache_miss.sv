// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Miss unit of a cache: turns misses and flushes, one at a time, into write-backs and fills.
///
/// A thread whose last write-back has not been acknowledged is requeued at the tail. So a fill can never overtake the
/// write-back of its own line, even if memory reorders requests. A flush is done when no request of its thread is in
/// flight.
module gs_cache_miss
  import gs_cache_pkg::*;
#(
  // as in gs_cache
  parameter  int unsigned Threads       = 64,
  parameter  int unsigned Ways          = 4,
  parameter  int unsigned SetsPerThread = 2,
  parameter  int unsigned LineBytes     = 32,
  parameter  int unsigned PortBytes     = 32,
  parameter  int unsigned Inflight      = 32,
  parameter  int unsigned AddrW         = 32,
  parameter  type         cache_req_t   = gs_cache_pkg::cache_req_t,
  parameter  type         cache_rsp_t   = gs_cache_pkg::cache_rsp_t,
  parameter  type         mem_req_t     = gs_mem_pkg::mem_req_t,
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
  // from the tags: always accepted
  input  logic                   miss_valid_i,
  input  logic [ThreadW-1:0]     miss_thread_i,
  input  miss_t                  miss_i,
  // from the fill unit: a write-back was acknowledged, a fill is complete
  input  logic                   ack_valid_i,
  input  logic [ThreadW-1:0]     ack_thread_i,
  input  logic                   fill_done_i,
  // wide port of the data RAM: a read in a granted cycle returns data two cycles later
  output logic                   read_en_o,
  input  logic                   read_grant_i,
  output logic [WideW-1:0]       read_addr_o,
  input  logic [8*PortBytes-1:0] read_data_i,
  output logic                   mem_req_valid_o,
  input  logic                   mem_req_ready_i,
  output mem_req_t               mem_req_o,
  // the next line of a flush, replayed to the tags
  output logic                   replay_valid_o,
  input  logic                   replay_ready_i,
  output cache_req_t             replay_o,
  // a flush is done
  output logic                   done_valid_o,
  input  logic                   done_ready_i,
  output cache_rsp_t             done_o,
  output logic                   writeback_o,
  output logic [ThreadW-1:0]     writeback_thread_o
);
  localparam int unsigned OutDepth = 4;
  localparam int unsigned QueueW = $clog2(Threads + 1);
  localparam int unsigned OpenW = $clog2(Inflight + 1);
  localparam int unsigned BeatW = (LogBeats > 0) ? LogBeats : 1;
  localparam int unsigned LineW = AddrW - OffW;

  typedef enum logic [2:0] {
    StIdle,
    StFetch,
    StLook,
    StRetry,
    StWrite,
    StRead,
    StReplay,
    StDone
  } state_e;

  // A miss or flush. The store's data are in the fill unit's record.
  typedef struct packed {
    cache_op_e           op;
    logic                indexed;
    logic                space;
    logic [AddrW-1:0]    addr;
    logic [LogWays:0]    way;
    logic                dirty;
    logic                old_space;
    logic [LineW-1:0]    old_line;
  } record_t;

  typedef struct packed {
    logic               write;
    logic               last;
    logic               space;
    logic [ThreadW-1:0] thread;
    logic [LineW-1:0]   line;
  } beat_t;

  state_e             state_q, state_d;
  logic [ThreadW-1:0] thread_q, thread_d, queue_thread, push_thread;
  logic               queue_valid, queue_pop, push_valid, push_ready;
  logic [QueueW-1:0]  queue_count;
  record_t            record_in, record;
  logic [Threads-1:0] pending_q;
  logic               pending_this_q, pending_set;
  logic [OpenW-1:0]   open_q, open_d;
  logic [BeatW-1:0]   beat_q, beat_d;
  logic               issue, issue_space, flush_op, last_beat;
  beat_t              issue_beat, p1_q, p2_q;
  logic               p1_valid_q, p2_valid_q;
  logic [2:0]         out_count;
  logic               out_space;
  mem_req_t           out_req;
  logic [ThreadW+LogSets-1:0] set;

  assign record_in = '{
    op: miss_i.op,
    indexed: miss_i.op == CacheFlushAll || miss_i.funct3[0],
    space: miss_i.space,
    addr: miss_i.addr,
    way: (LogWays + 1)'(miss_i.way),
    dirty: miss_i.dirty,
    old_space: miss_i.tag[$bits(miss_i.tag)-1],
    // The old line's tag, and the set number, which is the same for both lines.
    old_line: (LineW'(miss_i.tag) << LogSets) | (LineW'(miss_i.addr >> OffW) & LineW'(SetsPerThread - 1))
  };

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
    .re_i   (queue_pop),
    .raddr_i(queue_thread),
    .rdata_o(record)
  );

  // Queue of waiting threads. A new miss has priority over a retry, because the tags cannot stall.
  assign push_valid  = miss_valid_i || state_q == StRetry;
  assign push_thread = miss_valid_i ? miss_thread_i : thread_q;

  gs_fifo #(
    .data_t(logic [ThreadW-1:0]),
    .Depth (Threads),
    .Block (Threads > 64)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (push_valid),
    .in_ready_o (push_ready),
    .in_data_i  (push_thread),
    .out_valid_o(queue_valid),
    .out_ready_i(queue_pop),
    .out_data_o (queue_thread),
    .count_o    (queue_count)
  );

  assign flush_op   = record.op == CacheFlushLine || record.op == CacheFlushAll;
  assign last_beat  = beat_q == BeatW'(Beats - 1);
  // The output queue must have a free slot for each beat in flight in the RAM.
  assign issue_space = 4'(out_count) + 4'(p1_valid_q) + 4'(p2_valid_q) < 4'(OutDepth);
  assign queue_pop   = state_q == StIdle && queue_valid && open_q != OpenW'(Inflight);
  assign set         = ((ThreadW + LogSets)'(thread_q) << LogSets)
                      | ((ThreadW + LogSets)'(record.addr >> OffW) & (ThreadW + LogSets)'(SetsPerThread - 1));
  assign read_addr_o = (((WideW'(set) << LogWays) | WideW'(record.way)) << LogBeats)
                       | WideW'(beat_q & BeatW'(Beats - 1));

  // A flush that wrote its line back is retried: it finds the line clean and waits for the acknowledgement.
  // A flush of all lines then advances to the next index: the way counts in the low bits of the address, then the set.
  logic [OffW+LogSets-1:0] line_index, next_line_index;
  logic                    next_wraps, way_last;
  assign line_index = (OffW + LogSets)'(record.addr);
  assign way_last   = (line_index & (OffW + LogSets)'(LineBytes - 1)) == (OffW + LogSets)'(Ways - 1);
  always_comb begin
    next_line_index = line_index + (OffW + LogSets)'(1);
    if (way_last) next_line_index = line_index + (OffW + LogSets)'(LineBytes - (Ways - 1));
    next_wraps = way_last && next_line_index[OffW+LogSets-1:0] == '0;
  end

  always_comb begin
    state_d     = state_q;
    thread_d    = thread_q;
    beat_d      = beat_q;
    issue       = 1'b0;
    read_en_o   = 1'b0;
    pending_set = 1'b0;
    issue_beat  = '{write: 1'b0, last: 1'b1, space: record.space, thread: thread_q, line: LineW'(record.addr >> OffW)};
    unique case (state_q)
      StIdle: begin
        thread_d = queue_thread;
        if (queue_pop) state_d = StFetch;
      end
      StFetch: begin
        beat_d  = '0;
        state_d = StLook;
      end
      StLook: begin
        if (pending_this_q) state_d = StRetry;
        else if (record.dirty) state_d = StWrite;
        else if (!flush_op) state_d = StRead;
        else if (record.op == CacheFlushAll && !next_wraps) state_d = StReplay;
        else state_d = StDone;
      end
      StRetry: if (!miss_valid_i) state_d = StIdle;
      StWrite: begin
        issue_beat = '{
          write: 1'b1, last: last_beat, space: record.old_space, thread: thread_q, line: record.old_line
        };
        if (read_grant_i && issue_space) begin
          issue       = 1'b1;
          read_en_o   = 1'b1;
          beat_d      = beat_q + BeatW'(1);
          pending_set = last_beat;
          if (last_beat) state_d = flush_op ? StReplay : StRead;
        end
      end
      StRead: begin
        if (issue_space) begin
          issue   = 1'b1;
          state_d = StIdle;
        end
      end
      StReplay: if (replay_ready_i) state_d = StIdle;
      StDone: if (done_ready_i) state_d = StIdle;
      default: state_d = StIdle;
    endcase
  end

  always_comb begin
    replay_o        = '0;
    replay_o.op     = record.op;
    replay_o.funct3 = {2'b00, record.indexed};
    replay_o.thread = thread_q;
    replay_o.space  = record.space;
    replay_o.addr   = (record.op == CacheFlushAll && !record.dirty) ? AddrW'(next_line_index) : record.addr;
  end
  assign replay_valid_o     = state_q == StReplay;
  assign done_valid_o       = state_q == StDone;
  assign done_o             = '{thread: thread_q, data: 32'd0};
  assign writeback_o        = pending_set;
  assign writeback_thread_o = thread_q;

  always_comb begin
    open_d = open_q;
    if (state_q == StRead && issue) open_d += OpenW'(1);
    if (fill_done_i) open_d -= OpenW'(1);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= StIdle;
      open_q     <= '0;
      pending_q  <= '0;
      p1_valid_q <= 1'b0;
      p2_valid_q <= 1'b0;
    end else begin
      state_q    <= state_d;
      open_q     <= open_d;
      p1_valid_q <= issue;
      p2_valid_q <= p1_valid_q;
      if (pending_set) pending_q[thread_q] <= 1'b1;
      if (ack_valid_i) pending_q[ack_thread_i] <= 1'b0;
    end
    thread_q       <= thread_d;
    beat_q         <= beat_d;
    pending_this_q <= pending_q[thread_q];
    p1_q           <= issue_beat;
    p2_q           <= p1_q;
  end

  assign out_req = '{
    write: p2_q.write, last: p2_q.last, space: p2_q.space, id: p2_q.thread,
    addr: AddrW'(p2_q.line) << OffW, data: read_data_i
  };

  gs_fifo #(
    .data_t(mem_req_t),
    .Depth (OutDepth)
  ) u_out (
    .clk_i,
    .rst_ni,
    .in_valid_i (p2_valid_q),
    .in_ready_o (out_space),
    .in_data_i  (out_req),
    .out_valid_o(mem_req_valid_o),
    .out_ready_i(mem_req_ready_i),
    .out_data_o (mem_req_o),
    .count_o    (out_count)
  );

  `GS_ASSERT_NOW(thread_queue_never_overflows, !push_valid || push_ready)
  `GS_ASSERT_NOW(output_queue_accepts_every_beat, !p2_valid_q || out_space)
  `GS_ASSERT(thread_has_at_most_one_write_back_in_flight, pending_set |-> !pending_q[thread_q])
  `GS_ASSUME(an_acknowledgement_was_waited_for, ack_valid_i |-> pending_q[ack_thread_i])

  // The queue's count is not needed; the fill unit stores the data of stores.
  logic unused;
  assign unused = ^{queue_count, miss_i.data, miss_i.funct3};

  `GS_ASSERT_NOW(record_is_not_read_while_it_is_written, !u_records.collides)
endmodule
