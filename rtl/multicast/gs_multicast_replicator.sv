// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Makes copies of messages by their records; passes every other packet as it is.
///
///     flits -> two places for payloads ----------------------------> flits
///     beats -> records, one at a time -> copy: destination, head --/
///
/// A message's first copy leaves while the rest of it still comes, and the next message comes while copies leave. A
/// copy is a head flit, where its kind has one, and the payload, of which the record may replace the first words. An
/// indirection is the last record of its key. A key without a payload is a message to nobody; of a packet that is
/// longer than any message the end is dropped, and mailboxes refuse the rest as too long.
module gs_multicast_replicator
  import gs_multicast_pkg::*;
  import gossamer_pkg::*;
#(
  /// flits of a payload; a power of two
  parameter int unsigned MaxFlits = PlaceFlits
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [11:0] board_i,
  /// this board's colour of each job's messages
  input  logic [31:0] wave_i,
  // Packets, in order; those with a key head flit are expanded
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  flit_t       in_i,
  // Beats of their keys (0) and of indirections (1); keys of indirections
  input  logic [1:0]  beat_valid_i,
  output logic [1:0]  beat_ready_o,
  input  beat_t       beat_i[2],
  output logic        indirect_valid_o,
  input  logic        indirect_ready_i,
  output route_key_t  indirect_o,
  // Copies and other packets
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output flit_t       out_o,
  // For idle detection: a copy has been made, a message has been consumed; whose (job), and its wave
  output logic        sent_o,
  output logic        received_o,
  output job_tag_t    sent_tag_o,
  output job_tag_t    received_tag_o,
  // A record that its beat does not have whole (it is left out), too many of them, records behind an indirection, a
  // circle; a key without a payload, a packet that is too long
  output logic        bad_o,
  /// no packet is inside
  output logic        empty_o
);
  localparam int unsigned PlaceW = $clog2(MaxFlits);
  typedef logic [PlaceW:0] count_t;

  // ----------------------------------------------- payloads, in two places
  // A packet that is not expanded is its own payload, head flit included.
  logic [1:0] open_q, whole_q;          // a place is taken; all its flits are there
  logic [1:0] fresh_q, expand_q;        // its records have not been read; it has some
  count_t [1:0] flits_q;
  route_key_t [1:0] key_q;
  flit_t [1:0] about_q;                 // a flit of the packet: network, job, epoch
  logic put_q, inside_q;                // place that is filled; a packet is under way
  logic over_q;                         // the end of a packet that is too long is under way
  logic takes, takes_key, cuts, empty_key, done, place, read_ends;
  logic record_q;                       // place whose records are read
  flit_t kept, stored;
  count_t at_q, at_d;

  assign in_ready_o = over_q || inside_q || !open_q[put_q];
  assign takes = in_valid_i && in_ready_o && !over_q;
  assign takes_key = takes && !inside_q && in_i.kind == FlitKindKey && in_i.vnet == VnetMailbox;
  assign empty_key = takes_key && in_i.last;
  assign cuts = takes && inside_q && flits_q[put_q] == count_t'(MaxFlits - 1) && !in_i.last;
  always_comb begin
    kept      = in_i;
    kept.last = in_i.last || cuts;
  end

  gs_ram_sdp #(
    .Width  ($bits(flit_t)),
    .Depth  (2 * MaxFlits),
    .Latency(0),
    .Style  ("distributed")
  ) u_payload (
    .clk_i,
    .we_i   (takes && !takes_key),
    .wstrb_i(1'b1),
    .waddr_i({put_q, inside_q ? flits_q[put_q][PlaceW-1:0] : PlaceW'(0)}),
    .wdata_i(kept),
    .re_i   (1'b1),
    .raddr_i({place, at_q[PlaceW-1:0]}),
    .rdata_o(stored)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q   <= '0;
      whole_q  <= '0;
      fresh_q  <= '0;
      put_q    <= 1'b0;
      inside_q <= 1'b0;
      over_q   <= 1'b0;
    end else begin
      over_q <= (over_q || cuts) && !(in_valid_i && in_i.last);
      if (done) begin
        open_q[place]  <= 1'b0;
        whole_q[place] <= 1'b0;
      end
      if (read_ends) fresh_q[record_q] <= 1'b0;
      if (takes) begin
        inside_q      <= !kept.last;
        open_q[put_q] <= 1'b1;
        if (!inside_q) fresh_q[put_q] <= 1'b1;
        if (kept.last) begin
          whole_q[put_q] <= 1'b1;
          put_q          <= !put_q;
        end
      end
    end
    if (takes) begin
      if (!inside_q) begin
        expand_q[put_q] <= takes_key;
        key_q[put_q]    <= empty_key ? '0 : in_i.payload[31:0];
        flits_q[put_q]  <= takes_key ? '0 : count_t'(1);
        about_q[put_q]  <= in_i;
      end else begin
        flits_q[put_q] <= flits_q[put_q] + count_t'(1);
      end
    end
  end

  // -------------------------------------------------------------- records
  // They become work for the output: a packet as it is, a copy, or the mere end of a message that ends with none.
  typedef struct packed {
    logic  place;
    logic  plain;
    logic  has_copy;
    logic  last;
    copy_t copy;
  } work_t;

  logic sourced_q;                      // the records of a message are being read
  logic line_q;                         // 1: they come by an indirection
  logic [4:0] beats_q;                  // beats of the key that are still to come
  logic [BeatBits-17:0] records_q;      // records of the beat under way, the next in the low bits
  logic [2:0] count_q, room_q;          // records and places of 48 bits that are left of it
  logic indirect_q;                     // an indirection waits for what is left of its key, then to be taken
  logic [11:0] chain_q;                 // indirections of this message: tables may hold a circle
  route_beat_t beat;
  copy_t copy;
  work_t work, work_q;
  logic work_valid_q, work_takes, work_done;
  logic drop, usable, copy_takes, closes, indirect_begins, skips, beat_takes, begins, plain, ends;
  logic at, line;
  logic [4:0] beats;

  assign copy = copy_of(records_q[95:0], board_i);
  // A record can be used: its beat has it whole.
  assign drop = count_q != '0 && room_q < (copy.wide ? 3'd2 : 3'd1);
  assign usable = count_q != '0 && !drop && !indirect_q;
  assign indirect_begins = usable && copy.indirect;
  assign copy_takes = usable && !copy.indirect && (!work_valid_q || work_done);
  // The message's last copy; then the next message begins in the same cycle.
  assign closes = copy_takes && count_q == 3'd1 && beats_q == '0;
  assign at = record_q ^ closes;
  assign begins = (closes || !sourced_q) && fresh_q[at] && expand_q[at];
  assign beats = begins ? key_q[at].beats : (sourced_q && !closes) ? beats_q : '0;
  assign line = !begins && line_q;
  assign beat = beat_i[line];
  assign beat_takes = beats != '0 && beat_valid_i[line] && !indirect_q && !indirect_begins &&
                      (count_q == '0 || drop || (count_q == 3'd1 && copy_takes));
  // What follows an indirection is read past.
  assign skips = indirect_q && beats_q != '0 && beat_valid_i[line_q];
  always_comb begin
    beat_ready_o       = '0;
    beat_ready_o[line] = beat_takes || skips;
  end
  assign ends = sourced_q && beats_q == '0 && count_q == '0 && !indirect_q && (!work_valid_q || work_done);
  assign plain = !sourced_q && fresh_q[record_q] && !expand_q[record_q] && (!work_valid_q || work_done);
  assign read_ends = closes || ends || plain;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sourced_q  <= 1'b0;
      record_q   <= 1'b0;
      count_q    <= '0;
      indirect_q <= 1'b0;
    end else begin
      if (begins) sourced_q <= 1'b1;
      else if (read_ends) sourced_q <= 1'b0;
      record_q <= record_q ^ read_ends;
      if (beat_takes) count_q <= (beat.count > 16'(BeatRecords)) ? 3'd0 : 3'(beat.count);
      else if (drop || indirect_begins) count_q <= '0;
      else if (copy_takes) count_q <= count_q - 3'd1;
      if (indirect_begins) indirect_q <= copy.head_data[4:0] != '0 && chain_q != '1;
      else if (indirect_valid_o && indirect_ready_i) indirect_q <= 1'b0;
    end
    if (indirect_valid_o && indirect_ready_i) begin
      beats_q <= indirect_o.beats;
      line_q  <= 1'b1;
    end else begin
      beats_q <= (skips ? beats_q : beats) - 5'(beat_takes || skips);
      if (begins) line_q <= 1'b0;
    end
    if (beat_takes) begin
      records_q <= beat.records;
      room_q    <= 3'(BeatRecords);
    end else if (copy_takes) begin
      records_q <= copy.wide ? records_q >> 96 : records_q >> 48;
      room_q    <= room_q - (copy.wide ? 3'd2 : 3'd1);
    end
    if (indirect_begins) indirect_o <= copy.head_data[31:0];
    if (begins) chain_q <= '0;
    else if (indirect_begins) chain_q <= chain_q + 12'd1;
  end
  assign indirect_valid_o = indirect_q && beats_q == '0;

  assign work_takes = copy_takes || ends || plain;
  assign work = '{place: record_q, plain: plain, has_copy: copy_takes, last: closes || ends, copy: copy};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) work_valid_q <= 1'b0;
    else work_valid_q <= work_takes || (work_valid_q && !work_done);
    if (work_takes) work_q <= work;
  end

  // ---------------------------------------------------------------- flits
  logic body_q;                         // the copy's head flit, if it has one, has been sent
  logic sends, has_head, head_now, last_flit;
  assign place = work_q.place;
  assign has_head = !work_q.plain && work_q.copy.head != FlitKindBody;
  assign head_now = has_head && !body_q;

  always_comb begin
    out_o       = stored;
    out_valid_o = work_valid_q && (work_q.plain || work_q.has_copy) && (head_now || at_q < flits_q[place]);
    if (!work_q.plain) begin
      out_o.dest = work_q.copy.dest;
      out_o.kind = FlitKindBody;
      if (head_now) begin
        out_o         = about_q[place];
        out_o.kind    = work_q.copy.head;
        out_o.last    = 1'b0;
        out_o.dest    = work_q.copy.dest;
        out_o.payload = 128'(work_q.copy.head_data);
      end else if (at_q == '0) begin
        case (work_q.copy.patch)
          PatchHalf:   out_o.payload[15:0] = work_q.copy.words[15:0];
          PatchWord:   out_o.payload[31:0] = work_q.copy.words[31:0];
          PatchDouble: out_o.payload[63:0] = work_q.copy.words;
          default:     ;
        endcase
      end
      // A copy is sent by this board, which may have reported already.
      out_o.wave = wave_i[out_o.job];
    end
  end
  assign sends = out_valid_o && out_ready_i;
  assign last_flit = sends && !head_now && stored.last;
  // A message that ends without a copy waits for the rest of its payload.
  assign work_done = (work_q.plain || work_q.has_copy) ? last_flit : whole_q[place];
  assign done = work_valid_q && work_done && (work_q.plain || work_q.last);

  always_comb begin
    at_d = at_q;
    if (last_flit) at_d = '0;
    else if (sends && !head_now) at_d = at_q + count_t'(1);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      at_q   <= '0;
      body_q <= 1'b0;
    end else begin
      at_q <= at_d;
      if (last_flit) body_q <= 1'b0;
      else if (sends && head_now) body_q <= 1'b1;
    end
  end

  // ---------------------------------------------------------- accounting
  // A copy counts as sent before its first flit leaves, a message as received when all copies have.
  always_ff @(posedge clk_i) begin
    sent_o     <= rst_ni && copy_takes;
    received_o <= rst_ni && done && !work_q.plain;
    sent_tag_o     <= '{job: about_q[record_q].job, epoch: about_q[record_q].epoch};
    received_tag_o <= '{job: about_q[place].job, epoch: about_q[place].epoch};
    bad_o      <= rst_ni && (drop || skips || (beat_takes && beat.count > 16'(BeatRecords)) || empty_key || cuts ||
                            (indirect_begins && (count_q != 3'd1 || chain_q == '1)));
  end

  assign empty_o = open_q == '0;

  logic unused;
  assign unused = ^{work_q.copy.indirect, work_q.copy.wide};

  `GS_ASSERT_NOW(no_flit_is_put_behind_a_place, !takes || !inside_q || flits_q[put_q] < count_t'(MaxFlits))
  `GS_ASSERT_NOW(a_place_is_filled_when_it_is_free, !takes || inside_q || !open_q[put_q])
endmodule
