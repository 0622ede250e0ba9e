// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Data cache: set-associative, write-back, pseudo-LRU, non-blocking, with separate sets for each thread.
///
/// A thread has at most one outstanding request, and no other thread uses its sets. So no two requests in the cache
/// ever access the same set: no comparison or forwarding between requests is needed, a hit overtakes any number of
/// misses, and a miss can enter its line into the tags before the line has arrived.
///
///     request ->[ tags ]->[ compare ]->[ choose ]->[ data ]->[ align ]-> hits  \
///                  ^                       | miss      |                        > response
///                  | flush of the next     v           | narrow port           /
///                  +--------------- [ gs_cache_miss ] data RAM [ gs_cache_fill ] fills
///                                       | requests     wide port      ^ responses
///                                       v to memory                   |
///
/// Requests have exclusive use of the narrow port of the data RAM; fills and write-backs share the wide one. So a fill
/// uses no request slot. A flush uses one more slot for each line after the first.
module gs_cache
  import gs_cache_pkg::*;
  import gs_word_pkg::*;
#(
  /// threads, a power of two, 2 or more
  parameter  int unsigned Threads       = 64,
  /// lines of a set, 1 to 16, a power of two
  parameter  int unsigned Ways          = 4,
  /// sets of a thread, a power of two
  parameter  int unsigned SetsPerThread = 2,
  /// bytes of a line, 16 to 128, a power of two
  parameter  int unsigned LineBytes     = 32,
  /// bytes of a beat to or from memory, a power of two from 4 to LineBytes
  parameter  int unsigned PortBytes     = 32,
  /// fills that may be outstanding at once, 1 or more
  parameter  int unsigned Inflight      = 32,
  /// bits of a physical address in its space
  parameter  int unsigned AddrW         = 32,
  /// payloads: GS_CACHE_TYPES(ThreadW, AddrW), GS_MEM_TYPES(PortBytes, ThreadW, AddrW)
  parameter  type         cache_req_t   = gs_cache_pkg::cache_req_t,
  parameter  type         cache_rsp_t   = gs_cache_pkg::cache_rsp_t,
  parameter  type         mem_req_t     = gs_mem_pkg::mem_req_t,
  parameter  type         mem_rsp_t     = gs_mem_pkg::mem_rsp_t,
  /// bits of a thread's number; not to be set
  localparam int unsigned ThreadW       = $clog2(Threads)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // requests and responses of threads
  input  logic               req_valid_i,
  output logic               req_ready_o,
  input  cache_req_t         req_i,
  output logic               rsp_valid_o,
  input  logic               rsp_ready_i,
  output cache_rsp_t         rsp_o,
  // memory
  output logic               mem_req_valid_o,
  input  logic               mem_req_ready_i,
  output mem_req_t           mem_req_o,
  input  logic               mem_rsp_valid_i,
  output logic               mem_rsp_ready_o,
  input  mem_rsp_t           mem_rsp_i,
  // for counters: a load or store of event_thread_o hit or missed; a line of writeback_thread_o was written back
  output logic               event_hit_o,
  output logic               event_miss_o,
  output logic [ThreadW-1:0] event_thread_o,
  output logic               event_writeback_o,
  output logic [ThreadW-1:0] writeback_thread_o
);
  if (Threads < 2 || 1 << ThreadW != Threads) begin : gen_illegal_threads
    $fatal(1, "gs_cache: Threads is %0d; it must be a power of two, 2 or more", Threads);
  end
  if (Ways < 1 || Ways > 16 || 1 << $clog2(Ways) != Ways) begin : gen_illegal_ways
    $fatal(1, "gs_cache: Ways is %0d; it must be 1, 2, 4, 8 or 16", Ways);
  end
  if (SetsPerThread < 1 || 1 << $clog2(SetsPerThread) != SetsPerThread) begin : gen_illegal_sets
    $fatal(1, "gs_cache: SetsPerThread is %0d; it must be a power of two", SetsPerThread);
  end
  if (LineBytes < 16 || LineBytes > 128 || 1 << $clog2(LineBytes) != LineBytes) begin : gen_illegal_line
    $fatal(1, "gs_cache: LineBytes is %0d; it must be 16, 32, 64 or 128", LineBytes);
  end
  if (PortBytes < 4 || PortBytes > LineBytes || 1 << $clog2(PortBytes) != PortBytes) begin : gen_illegal_port
    $fatal(1, "gs_cache: PortBytes is %0d; it must be a power of two from 4 to LineBytes (%0d)", PortBytes, LineBytes);
  end
  if (Inflight < 1) begin : gen_illegal_inflight
    $fatal(1, "gs_cache: Inflight is 0; it must be 1 or more fills");
  end

  localparam int unsigned LogWays = $clog2(Ways);
  localparam int unsigned WayW = (Ways > 1) ? LogWays : 1;
  localparam int unsigned TreeW = (Ways > 1) ? Ways - 1 : 1;
  localparam int unsigned LogSets = $clog2(SetsPerThread);
  localparam int unsigned SetW = ThreadW + LogSets;
  localparam int unsigned OffW = $clog2(LineBytes);
  localparam int unsigned WordW = OffW - 2;
  localparam int unsigned LogBeats = $clog2(LineBytes / PortBytes);
  localparam int unsigned TagW = 1 + AddrW - OffW - LogSets;
  localparam int unsigned NarrowW = SetW + LogWays + WordW;
  localparam int unsigned WideW = SetW + LogWays + LogBeats;
  // Hits in flight and waiting; at this depth the pipeline never stalls while responses are accepted.
  localparam int unsigned HitDepth = 16;

  typedef struct packed {
    logic             valid;
    logic             dirty;
    logic [TagW-1:0]  tag;
  } line_t;

  // A miss or flush after detection. `addr` is the byte's address; `tag` that of the line to replace.
  typedef struct packed {
    cache_op_e         op;
    logic [2:0]        funct3;
    logic              space;
    logic [AddrW-1:0]  addr;
    logic [WayW-1:0]   way;
    logic              dirty;
    logic [TagW-1:0]   tag;
    logic [31:0]       data;
  } miss_t;

  function automatic logic [SetW-1:0] set_of(logic [ThreadW-1:0] thread, logic [AddrW-1:0] addr);
    set_of = (SetW'(thread) << LogSets) | (SetW'(addr >> OffW) & SetW'(SetsPerThread - 1));
  endfunction

  // Stage 0: the next line of a flush has priority, then a request if the hit queue has a free slot for its response.
  logic               init_q, init_last;
  logic [SetW-1:0]    init_set_q;
  logic [4:0]         hits_q, hits_d;
  logic               space_q;
  logic               replay_valid, replay_ready;
  cache_req_t         replay, entry;
  logic               entry_valid;
  logic [SetW-1:0]    entry_set;

  assign req_ready_o  = space_q && !replay_valid;
  assign replay_ready = 1'b1;
  assign entry_valid  = replay_valid || (req_valid_i && space_q);
  always_comb begin
    entry = replay_valid ? replay : req_i;
    // A flush of all lines begins at index 0.
    if (!replay_valid && req_i.op == CacheFlushAll) entry.addr = '0;
  end
  assign entry_set    = set_of(entry.thread, entry.addr);

  // Stages 1 and 2: read tags and tree from their RAMs.
  logic               s1_valid_q, s2_valid_q;
  cache_req_t         s1_q, s2_q;
  line_t [Ways-1:0]   s2_line;
  logic [TreeW-1:0]   s2_tree;
  logic [TagW-1:0]    s2_tag;
  logic [Ways-1:0]    s2_hit;

  assign s2_tag = TagW'({s2_q.space, s2_q.addr} >> (OffW + LogSets));
  always_comb begin
    for (int unsigned w = 0; w < Ways; w++) s2_hit[w] = s2_line[w].valid && s2_line[w].tag == s2_tag;
  end

  // Stage 3: select the way and the line to replace.
  logic               s3_valid_q;
  cache_req_t         s3_q;
  line_t [Ways-1:0]   s3_line_q;
  logic [Ways-1:0]    s3_hit_q;
  logic [TreeW-1:0]   s3_tree_q, s3_tree;
  logic [TagW-1:0]    s3_tag_q;
  logic [WayW-1:0]    s3_way, s3_oldest;
  logic               s3_hit, s3_flush, s3_indexed, s3_invalid_found;
  line_t              s3_line;

  assign s3_flush   = s3_q.op == CacheFlushLine || s3_q.op == CacheFlushAll;
  assign s3_indexed = s3_q.op == CacheFlushAll || (s3_q.op == CacheFlushLine && s3_q.funct3[0]);
  assign s3_hit     = s3_hit_q != '0;

  gs_cache_lru #(
    .Ways(Ways)
  ) u_lru (
    .tree_i  (s3_tree_q),
    .oldest_o(s3_oldest),
    .used_i  (s3_way),
    .tree_o  (s3_tree)
  );

  always_comb begin
    s3_way           = '0;
    s3_invalid_found = 1'b0;
    if (s3_indexed) begin
      s3_way = s3_q.addr[WayW-1:0] & WayW'(Ways - 1);
    end else if (s3_hit) begin
      for (int unsigned w = 0; w < Ways; w++) if (s3_hit_q[w]) s3_way |= WayW'(w);
    end else begin
      s3_way = s3_oldest;
      for (int unsigned w = 0; w < Ways; w++) begin
        if (!s3_line_q[w].valid && !s3_invalid_found) begin
          s3_way           = WayW'(w);
          s3_invalid_found = 1'b1;
        end
      end
    end
    s3_line = s3_line_q[s3_way];
  end

  // Stage 4: write tags and tree. A hit proceeds to the data RAM; a miss or flush is passed to the miss unit.
  logic               s4_valid_q, s4_hit_q, s4_flush_q;
  cache_req_t         s4_q;
  logic [WayW-1:0]    s4_way_q;
  logic [TreeW-1:0]   s4_tree_q;
  logic [TagW-1:0]    s4_tag_q;
  line_t              s4_line_q, s4_new;
  logic               s4_serve, s4_miss, s4_write_line;
  logic [SetW-1:0]    s4_set;
  miss_t              s4_record;

  assign s4_set        = set_of(s4_q.thread, s4_q.addr);
  assign s4_serve      = s4_valid_q && s4_hit_q && !s4_flush_q;
  assign s4_miss       = s4_valid_q && !(s4_hit_q && !s4_flush_q);
  // A flush invalidates its line; a miss enters the line that it will fetch; a store marks its line dirty.
  assign s4_write_line = s4_valid_q && (s4_flush_q ? s4_line_q.valid : (!s4_hit_q || s4_q.op == CacheStore));
  assign s4_new        = '{valid: !s4_flush_q, dirty: s4_q.op == CacheStore, tag: s4_tag_q};
  assign s4_record     = '{
    op: s4_q.op, funct3: s4_q.funct3, space: s4_q.space, addr: s4_q.addr, way: s4_way_q,
    dirty: s4_line_q.valid && s4_line_q.dirty, tag: s4_line_q.tag, data: s4_q.data
  };

  // Stages 5 to 7: read the word from the data RAM and align it.
  logic               s5_valid_q, s6_valid_q, s7_valid_q;
  logic               s5_load_q, s6_load_q, s7_load_q;
  logic [2:0]         s5_funct3_q, s6_funct3_q, s7_funct3_q;
  logic [1:0]         s5_offset_q, s6_offset_q, s7_offset_q;
  logic [ThreadW-1:0] s5_thread_q, s6_thread_q, s7_thread_q;
  logic [31:0]        s6_word, s7_word_q;
  logic               hit_valid, hit_ready, hit_take, hit_space;
  cache_rsp_t         hit_in, hit_out;
  logic [$clog2(HitDepth+1)-1:0] hit_count;

  assign hit_in = '{
    thread: s7_thread_q,
    data: s7_load_q ? load_value(s7_word_q, s7_funct3_q, s7_offset_q) : 32'd0
  };
  assign hit_take = hit_valid && hit_ready;

  always_comb begin
    hits_d = hits_q;
    if (entry_valid) hits_d += 5'd1;
    if (hit_take) hits_d -= 5'd1;
    if (s4_miss) hits_d -= 5'd1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      s1_valid_q <= 1'b0;
      s2_valid_q <= 1'b0;
      s3_valid_q <= 1'b0;
      s4_valid_q <= 1'b0;
      s5_valid_q <= 1'b0;
      s6_valid_q <= 1'b0;
      s7_valid_q <= 1'b0;
      hits_q     <= '0;
      space_q    <= 1'b0;
      init_q     <= 1'b1;
      init_set_q <= '0;
    end else begin
      s1_valid_q <= entry_valid;
      s2_valid_q <= s1_valid_q;
      s3_valid_q <= s2_valid_q;
      s4_valid_q <= s3_valid_q;
      s5_valid_q <= s4_serve;
      s6_valid_q <= s5_valid_q;
      s7_valid_q <= s6_valid_q;
      hits_q     <= hits_d;
      // hits_q is one cycle old: it may not include the request that arrives in this cycle.
      space_q    <= hits_q < 5'(HitDepth - 1) && !init_q;
      if (init_q) init_set_q <= init_set_q + SetW'(1);
      if (init_last) init_q <= 1'b0;
    end
    // Stages without a request keep their old contents, which no logic reads.
    if (entry_valid) s1_q <= entry;
    if (s1_valid_q) s2_q <= s1_q;
    if (s2_valid_q) begin
      s3_q      <= s2_q;
      s3_line_q <= s2_line;
      s3_hit_q  <= s2_hit;
      s3_tree_q <= s2_tree;
      s3_tag_q  <= s2_tag;
    end
    if (s3_valid_q) begin
      s4_q       <= s3_q;
      s4_hit_q   <= s3_hit;
      s4_flush_q <= s3_flush;
      s4_way_q   <= s3_way;
      s4_tree_q  <= s3_tree;
      s4_tag_q   <= s3_tag_q;
      // A flush that misses must not invalidate the line of the selected way.
      s4_line_q  <= s3_line;
      if (s3_flush && !s3_indexed && !s3_hit) s4_line_q.valid <= 1'b0;
    end
    if (s4_valid_q) begin
      s5_load_q   <= s4_q.op == CacheLoad;
      s5_funct3_q <= s4_q.funct3;
      s5_offset_q <= s4_q.addr[1:0];
      s5_thread_q <= s4_q.thread;
    end
    if (s5_valid_q) begin
      s6_load_q   <= s5_load_q;
      s6_funct3_q <= s5_funct3_q;
      s6_offset_q <= s5_offset_q;
      s6_thread_q <= s5_thread_q;
    end
    if (s6_valid_q) begin
      s7_load_q   <= s6_load_q;
      s7_funct3_q <= s6_funct3_q;
      s7_offset_q <= s6_offset_q;
      s7_thread_q <= s6_thread_q;
      s7_word_q   <= s6_word;
    end
  end

  // Tags, one RAM for each way. After reset every line is invalidated.
  assign init_last = init_set_q == '1;
  for (genvar w = 0; w < Ways; w++) begin : gen_way
    logic [TagW+1:0] word;
    gs_ram_sdp #(
      .Width  (TagW + 2),
      .Depth  (Threads * SetsPerThread),
      .Latency(2),
      .Style  ("block")
    ) u_tags (
      .clk_i,
      .we_i   (init_q || (s4_write_line && s4_way_q == WayW'(w))),
      .wstrb_i(1'b1),
      .waddr_i(init_q ? init_set_q : s4_set),
      .wdata_i(init_q ? '0 : s4_new),
      .re_i   (entry_valid),
      .raddr_i(entry_set),
      .rdata_o(word)
    );
    assign s2_line[w] = line_t'(word);
    `GS_ASSERT_NOW(tags_are_not_read_while_they_are_written, !u_tags.collides)
  end

  if (Ways > 1) begin : gen_tree
    gs_ram_sdp #(
      .Width  (TreeW),
      .Depth  (Threads * SetsPerThread),
      .Latency(2),
      .Style  ((Threads * SetsPerThread > 128) ? "block" : "distributed")
    ) u_tree (
      .clk_i,
      .we_i   (init_q || (s4_valid_q && !s4_flush_q)),
      .wstrb_i(1'b1),
      .waddr_i(init_q ? init_set_q : s4_set),
      .wdata_i(init_q ? '0 : s4_tree_q),
      .re_i   (entry_valid),
      .raddr_i(entry_set),
      .rdata_o(s2_tree)
    );
    `GS_ASSERT_NOW(tree_is_not_read_while_it_is_written, !u_tree.collides)
  end else begin : gen_no_tree
    assign s2_tree = '0;
    logic unused_tree;
    assign unused_tree = ^s4_tree_q;
  end

  // Data.
  logic                   wide_en, wide_we;
  logic [WideW-1:0]       wide_addr;
  logic [8*PortBytes-1:0] wide_wdata, wide_rdata;
  logic [NarrowW-1:0]     narrow_addr;
  logic [31:0]            narrow_wdata;
  logic [3:0]             narrow_strobe;

  assign narrow_addr   = (((NarrowW'(s4_set) << LogWays) | NarrowW'(s4_way_q)) << WordW)
                         | NarrowW'(s4_q.addr[OffW-1:2]);
  assign narrow_wdata  = store_data(s4_q.data, s4_q.funct3[1:0]);
  assign narrow_strobe = store_strobe(s4_q.funct3[1:0], s4_q.addr[1:0]);

  if (PortBytes > 4) begin : gen_mixed
    gs_ram_mixed #(
      .NarrowBits(32),
      .WideBits  (8 * PortBytes),
      .WideDepth (1 << WideW),
      .ByteBits  (8),
      .Latency   (2)
    ) u_data (
      .clk_i,
      .n_en_i   (s4_serve),
      .n_we_i   (s4_q.op == CacheStore),
      .n_strb_i (narrow_strobe),
      .n_addr_i (narrow_addr),
      .n_wdata_i(narrow_wdata),
      .n_rdata_o(s6_word),
      .w_en_i   (wide_en),
      .w_we_i   (wide_we),
      .w_strb_i ('1),
      .w_addr_i (wide_addr),
      .w_wdata_i(wide_wdata),
      .w_rdata_o(wide_rdata)
    );
    `GS_ASSERT_NOW(data_are_not_read_while_they_are_written, !u_data.collides)
    `GS_ASSERT_NOW(loads_return_defined_words, !(u_data.n_undefined && s6_valid_q && s6_load_q))
  end else begin : gen_even
    gs_ram_tdp #(
      .Width   (32),
      .Depth   (1 << WideW),
      .ByteBits(8),
      .Latency (2)
    ) u_data (
      .clk_i,
      .a_en_i   (s4_serve),
      .a_we_i   (s4_q.op == CacheStore),
      .a_strb_i (narrow_strobe),
      .a_addr_i (narrow_addr),
      .a_wdata_i(narrow_wdata),
      .a_rdata_o(s6_word),
      .b_en_i   (wide_en),
      .b_we_i   (wide_we),
      .b_strb_i ('1),
      .b_addr_i (wide_addr),
      .b_wdata_i(wide_wdata),
      .b_rdata_o(wide_rdata)
    );
    `GS_ASSERT_NOW(data_are_not_read_while_they_are_written, !u_data.collides)
    `GS_ASSERT_NOW(loads_return_defined_words, !(u_data.a_undefined && s6_valid_q && s6_load_q))
  end

  gs_fifo #(
    .data_t(cache_rsp_t),
    .Depth (HitDepth)
  ) u_hits (
    .clk_i,
    .rst_ni,
    .in_valid_i (s7_valid_q),
    .in_ready_o (hit_space),
    .in_data_i  (hit_in),
    .out_valid_o(hit_valid),
    .out_ready_i(hit_ready),
    .out_data_o (hit_out),
    .count_o    (hit_count)
  );

  // Miss unit and fill unit.
  logic               ack_valid, fill_done;
  logic [ThreadW-1:0] ack_thread;
  logic               read_en, fill_write;
  logic [WideW-1:0]   read_addr, fill_addr;
  logic               fill_valid, fill_ready, done_valid, done_ready;
  cache_rsp_t         fill_rsp, done_rsp;

  assign wide_en   = fill_write || read_en;
  assign wide_we   = fill_write;
  assign wide_addr = fill_write ? fill_addr : read_addr;

  gs_cache_miss #(
    .Threads      (Threads),
    .Ways         (Ways),
    .SetsPerThread(SetsPerThread),
    .LineBytes    (LineBytes),
    .PortBytes    (PortBytes),
    .Inflight     (Inflight),
    .AddrW        (AddrW),
    .cache_req_t  (cache_req_t),
    .cache_rsp_t  (cache_rsp_t),
    .mem_req_t    (mem_req_t),
    .miss_t       (miss_t)
  ) u_miss (
    .clk_i,
    .rst_ni,
    .miss_valid_i   (s4_miss),
    .miss_thread_i  (s4_q.thread),
    .miss_i         (s4_record),
    .ack_valid_i    (ack_valid),
    .ack_thread_i   (ack_thread),
    .fill_done_i    (fill_done),
    .read_en_o      (read_en),
    .read_grant_i   (!fill_write),
    .read_addr_o    (read_addr),
    .read_data_i    (wide_rdata),
    .mem_req_valid_o,
    .mem_req_ready_i,
    .mem_req_o,
    .replay_valid_o (replay_valid),
    .replay_ready_i (replay_ready),
    .replay_o       (replay),
    .done_valid_o   (done_valid),
    .done_ready_i   (done_ready),
    .done_o         (done_rsp),
    .writeback_o    (event_writeback_o),
    .writeback_thread_o
  );

  gs_cache_fill #(
    .Threads      (Threads),
    .Ways         (Ways),
    .SetsPerThread(SetsPerThread),
    .LineBytes    (LineBytes),
    .PortBytes    (PortBytes),
    .cache_rsp_t  (cache_rsp_t),
    .mem_rsp_t    (mem_rsp_t),
    .miss_t       (miss_t)
  ) u_fill (
    .clk_i,
    .rst_ni,
    .miss_valid_i (s4_miss),
    .miss_thread_i(s4_q.thread),
    .miss_i       (s4_record),
    .mem_rsp_valid_i,
    .mem_rsp_ready_o,
    .mem_rsp_i,
    .write_o      (fill_write),
    .write_addr_o (fill_addr),
    .write_data_o (wide_wdata),
    .ack_valid_o  (ack_valid),
    .ack_thread_o (ack_thread),
    .done_o       (fill_done),
    .rsp_valid_o  (fill_valid),
    .rsp_ready_i  (fill_ready),
    .rsp_o        (fill_rsp)
  );

  // One response a cycle.
  logic             all_valid, all_ready;
  cache_rsp_t       all_rsp;
  logic [1:0]       all_idx;

  gs_rr_arbiter #(
    .N     (3),
    .data_t(cache_rsp_t)
  ) u_responses (
    .clk_i,
    .rst_ni,
    .in_valid_i ({done_valid, fill_valid, hit_valid}),
    .in_ready_o ({done_ready, fill_ready, hit_ready}),
    .in_data_i  ('{hit_out, fill_rsp, done_rsp}),
    .out_valid_o(all_valid),
    .out_ready_i(all_ready),
    .out_data_o (all_rsp),
    .out_idx_o  (all_idx)
  );

  gs_skid #(
    .data_t(cache_rsp_t)
  ) u_out (
    .clk_i,
    .rst_ni,
    .in_valid_i (all_valid),
    .in_ready_o (all_ready),
    .in_data_i  (all_rsp),
    .out_valid_o(rsp_valid_o),
    .out_ready_i(rsp_ready_i),
    .out_data_o (rsp_o)
  );

  assign event_hit_o    = s4_serve;
  assign event_miss_o   = s4_miss && !s4_flush_q;
  assign event_thread_o = s4_q.thread;

  // The arbiter's index and the queue's count are not needed.
  logic unused;
  assign unused = ^{all_idx, hit_count};

  `GS_ASSERT_NOW(line_is_in_at_most_one_way, !s3_valid_q || (s3_hit_q & (s3_hit_q - Ways'(1))) == '0)
  `GS_ASSERT_NOW(hit_queue_never_overflows, !s7_valid_q || hit_space)
  `GS_ASSUME_HOLD(request_is_stable_while_it_waits, req_valid_i, req_ready_o, req_i)
`ifdef VERILATOR
  // A thread sends its next request only after its response.
  logic [Threads-1:0] outstanding_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      outstanding_q <= '0;
    end else begin
      if (rsp_valid_o && rsp_ready_i) outstanding_q[rsp_o.thread] <= 1'b0;
      if (req_valid_i && req_ready_o) outstanding_q[req_i.thread] <= 1'b1;
    end
  end
  `GS_ASSUME(thread_has_at_most_one_outstanding_request, req_valid_i && req_ready_o |-> !outstanding_q[req_i.thread])
  `GS_ASSERT(response_has_an_outstanding_request, rsp_valid_o |-> outstanding_q[rsp_o.thread])
`endif
endmodule
