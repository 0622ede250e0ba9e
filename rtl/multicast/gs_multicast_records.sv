// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Fetches the beats of keys, in order, through a cache; many reads are in flight at once.
///
///     key -> beat by beat -> tags, data --hit--> slot ---> beats of the key, in order
///                                 \--miss--> memory --^
///
/// There are two streams of keys: those of arriving messages, which are prefetched, and those of indirections, which
/// belong to the message that is copied now and have priority. Each has its own slots, so that neither waits for the
/// other. The cache is direct-mapped, one beat a line; it is cleared after reset and by `flush_i`.
module gs_multicast_records
  import gs_multicast_pkg::*;
  import gossamer_pkg::*;
#(
  /// log2 of the beats in the cache, 1 to 16
  parameter  int unsigned CacheW = 9,
  /// log2 of the slots of each stream of keys
  parameter  int unsigned SlotW  = 4,
  /// bits of a tag at the memory; not to be set
  localparam int unsigned TagW   = SlotW + 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 flush_i,
  // Keys: of messages (0), of indirections (1). A key without beats is not offered.
  input  logic [1:0]           key_valid_i,
  output logic [1:0]           key_ready_o,
  input  route_key_t           key_i[2],
  // Beats, in the order of the keys
  output logic [1:0]           beat_valid_o,
  input  logic [1:0]           beat_ready_i,
  output beat_t                beat_o[2],
  // Memory: a read of a beat, answered in any order
  output logic                 req_valid_o,
  input  logic                 req_ready_i,
  output logic [BeatAddrW-1:0] req_beat_o,
  output logic [TagW-1:0]      req_tag_o,
  input  logic                 rsp_valid_i,
  output logic                 rsp_ready_o,
  input  logic [TagW-1:0]      rsp_tag_i,
  input  beat_t                rsp_i,
  // Counted: lookups, and cache hits
  output logic                 lookup_o,
  output logic                 hit_o,
  /// beats of a key are read, or the cache is cleared
  output logic                 busy_o
);
  localparam int unsigned Slots = 1 << SlotW;
  localparam int unsigned LineW = BeatAddrW - CacheW;
  typedef logic [SlotW-1:0] slot_t;

  if (CacheW < 1 || CacheW > 16) begin : gen_illegal_cache
    $fatal(1, "gs_multicast_records: CacheW is %0d; it must be 1 to 16", CacheW);
  end

  // ------------------------------------------------- keys, beat by beat
  // A slot is allocated when its beat is looked up, and released when the beat is read.
  logic [1:0] busy_q, space, requests;
  logic [1:0][BeatAddrW-1:0] next_q;
  logic [1:0][4:0] left_q;
  slot_t [1:0] put_q, get_q;
  logic [1:0][SlotW:0] used_q;
  logic lookup, stream, stall;
  logic [BeatAddrW-1:0] lookup_beat;

  always_comb begin
    for (int unsigned l = 0; l < 2; l++) begin
      space[l]    = used_q[l] != (SlotW + 1)'(Slots);
      requests[l] = busy_q[l] && space[l];
    end
    stream      = requests[1];
    lookup      = requests != '0 && !stall;
    lookup_beat = next_q[stream];
  end
  assign key_ready_o = ~busy_q;

  for (genvar l = 0; l < 2; l++) begin : gen_stream
    logic looks_up, reads;
    assign looks_up = lookup && stream == 1'(l);
    assign reads    = beat_valid_o[l] && beat_ready_i[l];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        busy_q[l] <= 1'b0;
        put_q[l]  <= '0;
        get_q[l]  <= '0;
        used_q[l] <= '0;
      end else begin
        if (!busy_q[l]) busy_q[l] <= key_valid_i[l];
        else if (looks_up && left_q[l] == 5'd1) busy_q[l] <= 1'b0;
        if (looks_up) put_q[l] <= put_q[l] + slot_t'(1);
        if (reads) get_q[l] <= get_q[l] + slot_t'(1);
        used_q[l] <= used_q[l] + (SlotW + 1)'(looks_up) - (SlotW + 1)'(reads);
      end
      if (!busy_q[l]) begin
        next_q[l] <= key_i[l].beat;
        left_q[l] <= key_i[l].beats;
      end else if (looks_up) begin
        next_q[l] <= next_q[l] + BeatAddrW'(1);
        left_q[l] <= left_q[l] - 5'd1;
      end
    end
    `GS_ASSERT_NOW(keys_have_beats, !key_valid_i[l] || key_i[l].beats != '0)
  end

  // ---------------------------------------------------------------- cache
  logic looked_q, looked_stream_q, stored_valid;
  slot_t looked_slot_q;
  logic [BeatAddrW-1:0] looked_beat_q;
  logic [LineW-1:0] stored_line;
  beat_t stored;
  logic hit, miss, fill, clearing_q;
  logic [CacheW-1:0] clear_q;
  logic [BeatAddrW-1:0] fill_beat;

  gs_ram_sdp #(
    .Width(1 + LineW),
    .Depth(1 << CacheW)
  ) u_tags (
    .clk_i,
    .we_i   (clearing_q || fill),
    .wstrb_i(1'b1),
    .waddr_i(clearing_q ? clear_q : fill_beat[CacheW-1:0]),
    .wdata_i(clearing_q ? '0 : {1'b1, fill_beat[BeatAddrW-1:CacheW]}),
    .re_i   (lookup),
    .raddr_i(lookup_beat[CacheW-1:0]),
    .rdata_o({stored_valid, stored_line})
  );
  gs_ram_sdp #(
    .Width(BeatBits),
    .Depth(1 << CacheW),
    .Style("block")
  ) u_data (
    .clk_i,
    .we_i   (fill),
    .wstrb_i(1'b1),
    .waddr_i(fill_beat[CacheW-1:0]),
    .wdata_i(rsp_i),
    .re_i   (lookup),
    .raddr_i(lookup_beat[CacheW-1:0]),
    .rdata_o(stored)
  );

  // A read that collides with a write of its line is undefined: it counts as a miss.
  logic clash_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      looked_q   <= 1'b0;
      clearing_q <= 1'b1;
      clear_q    <= '0;
    end else begin
      looked_q <= lookup || (looked_q && stall);
      if (flush_i) clearing_q <= 1'b1;
      else if (clearing_q && clear_q == '1) clearing_q <= 1'b0;
      clear_q   <= (clearing_q && !flush_i) ? clear_q + CacheW'(1) : '0;
    end
    if (!stall) begin
      looked_stream_q <= stream;
      looked_slot_q   <= put_q[stream];
      looked_beat_q   <= lookup_beat;
      clash_q         <= clearing_q || (fill && fill_beat[CacheW-1:0] == lookup_beat[CacheW-1:0]);
    end else begin
      // A miss that waits for the memory stays a miss: clearing may have caused it, and may end while it waits.
      clash_q         <= 1'b1;
    end
  end
  assign hit  = looked_q && stored_valid && stored_line == looked_beat_q[BeatAddrW-1:CacheW] && !clash_q &&
                !clearing_q;
  assign miss = looked_q && !hit;
  // A hit goes to its slot, a miss to the memory; a miss that the memory does not accept yet stalls the lookups.
  assign stall       = miss && !req_ready_i;
  assign req_valid_o = miss;
  assign req_beat_o  = looked_beat_q;
  assign req_tag_o   = {looked_stream_q, looked_slot_q};
  assign lookup_o    = looked_q && !stall;
  assign busy_o      = clearing_q || busy_q != '0 || used_q != '0 || looked_q;
  assign hit_o       = hit;

  // The beat that a slot waits for, from which the tag of its cache line is made.
  logic [BeatAddrW-1:0] slot_beat;
  gs_ram_sdp #(
    .Width  (BeatAddrW),
    .Depth  (2 * Slots),
    .Latency(0),
    .Style  ("distributed")
  ) u_slot_beats (
    .clk_i,
    .we_i   (miss && req_ready_i),
    .wstrb_i(1'b1),
    .waddr_i({looked_stream_q, looked_slot_q}),
    .wdata_i(looked_beat_q),
    .re_i   (1'b1),
    .raddr_i(rsp_tag_i),
    .rdata_o(slot_beat)
  );
  assign fill_beat   = slot_beat;
  assign rsp_ready_o = !hit;
  // Reads that were issued before a flush may return old data, which must not enter the cache.
  logic [2*Slots-1:0] old_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) old_q <= '0;
    else if (flush_i) old_q <= '1;
    else if (miss && req_ready_i) old_q[req_tag_o] <= 1'b0;
  end
  assign fill = rsp_valid_i && rsp_ready_o && !clearing_q && !old_q[rsp_tag_i];

  // ---------------------------------------------------------------- slots
  logic write;
  logic [TagW-1:0] write_tag;
  logic [1:0][Slots-1:0] full_q;
  assign write     = hit || (rsp_valid_i && rsp_ready_o);
  assign write_tag = hit ? {looked_stream_q, looked_slot_q} : rsp_tag_i;

  for (genvar l = 0; l < 2; l++) begin : gen_slots
    gs_ram_sdp #(
      .Width  (BeatBits),
      .Depth  (Slots),
      .Latency(0),
      .Style  ("distributed")
    ) u_slots (
      .clk_i,
      .we_i   (write && write_tag[SlotW] == 1'(l)),
      .wstrb_i(1'b1),
      .waddr_i(write_tag[SlotW-1:0]),
      .wdata_i(hit ? stored : rsp_i),
      .re_i   (1'b1),
      .raddr_i(get_q[l]),
      .rdata_o(beat_o[l])
    );
    assign beat_valid_o[l] = full_q[l][get_q[l]];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        full_q[l] <= '0;
      end else begin
        if (beat_valid_o[l] && beat_ready_i[l]) full_q[l][get_q[l]] <= 1'b0;
        if (write && write_tag[SlotW] == 1'(l)) full_q[l][write_tag[SlotW-1:0]] <= 1'b1;
      end
    end
    `GS_ASSERT_NOW(slots_are_filled_once,
                   !(write && write_tag[SlotW] == 1'(l)) || !full_q[l][write_tag[SlotW-1:0]])
  end


  `GS_ASSERT_HOLD(stalled_reads_are_stable, req_valid_o, req_ready_i, {req_beat_o, req_tag_o})
  `GS_ASSERT_NOW(hit_has_a_defined_tag, !(u_tags.undefined && hit))
  `GS_ASSERT_NOW(hit_has_a_defined_beat, !(u_data.undefined && hit))
endmodule
