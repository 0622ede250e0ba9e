// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Makes copies of messages by their records; passes every other packet unchanged.
///
///     flits -> two buffers for payloads ---------------------------> flits
///     beats -> records, one at a time -> copy: destination, head --/
///
/// A message's first copy leaves while the rest of the message still arrives, and the next message arrives while copies
/// leave. A copy consists of a head flit, if its kind has one, and the payload, whose first words the record may
/// replace. An indirection is the last record of its key. A key without a payload is a message without receivers. A
/// packet longer than any message is truncated, and mailboxes drop the rest as too long.
module gs_multicast_replicator
  import gs_multicast_pkg::*;
  import gossamer_pkg::*;
#(
  /// flits of a payload; a power of two
  parameter int unsigned MaxFlits = MaxPayloadFlits
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [11:0] board_i,
  /// colour of the messages that this board sends, by job
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
  // For idle detection: a copy was made, a message was consumed; their jobs and epochs
  output logic        sent_o,
  output logic        received_o,
  output job_tag_t    sent_tag_o,
  output job_tag_t    received_tag_o,
  // Number of errors in a cycle: a record that extends beyond its beat (it is left out), too many records in a beat,
  // records after an indirection, a cycle of indirections, a key without a payload, a packet that is too long
  output faults_t     bad_o,
  /// no packet is inside
  output logic        empty_o
);
  localparam int unsigned PayloadW = $clog2(MaxFlits);
  typedef logic [PayloadW:0] count_t;

  // --------------------------------------------- payloads, in two buffers
  // A packet that is not expanded is stored whole, including its head flit.
  logic [1:0] open_q, whole_q;          // a buffer is in use; it has all flits of its packet
  logic [1:0] fresh_q, expand_q;        // the packet's records are not yet read; it has records
  count_t [1:0] flits_q;
  route_key_t [1:0] key_q;
  flit_t [1:0] about_q;                 // a flit of the packet: network, job, epoch
  logic put_q, inside_q;                // buffer that is being filled; a packet is incomplete
  logic over_q;                         // the end of a packet that is too long is being dropped
  logic accepts, accepts_key, truncates, empty_key, done, buffer, read_ends;
  logic record_q;                       // buffer whose records are read
  flit_t kept, stored;
  count_t at_q, at_d;

  assign in_ready_o = over_q || inside_q || !open_q[put_q];
  assign accepts = in_valid_i && in_ready_o && !over_q;
  assign accepts_key = accepts && !inside_q && in_i.kind == FlitKindKey && in_i.vnet == VnetMailbox;
  assign empty_key = accepts_key && in_i.last;
  assign truncates = accepts && inside_q && flits_q[put_q] == count_t'(MaxFlits - 1) && !in_i.last;
  always_comb begin
    kept      = in_i;
    kept.last = in_i.last || truncates;
  end

  gs_ram_sdp #(
    .Width  ($bits(flit_t)),
    .Depth  (2 * MaxFlits),
    .Latency(0),
    .Style  ("distributed")
  ) u_payload (
    .clk_i,
    .we_i   (accepts && !accepts_key),
    .wstrb_i(1'b1),
    .waddr_i({put_q, inside_q ? flits_q[put_q][PayloadW-1:0] : PayloadW'(0)}),
    .wdata_i(kept),
    .re_i   (1'b1),
    .raddr_i({buffer, at_q[PayloadW-1:0]}),
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
      over_q <= (over_q || truncates) && !(in_valid_i && in_i.last);
      if (done) begin
        open_q[buffer]  <= 1'b0;
        whole_q[buffer] <= 1'b0;
      end
      if (read_ends) fresh_q[record_q] <= 1'b0;
      if (accepts) begin
        inside_q      <= !kept.last;
        open_q[put_q] <= 1'b1;
        if (!inside_q) fresh_q[put_q] <= 1'b1;
        if (kept.last) begin
          whole_q[put_q] <= 1'b1;
          put_q          <= !put_q;
        end
      end
    end
    if (accepts) begin
      if (!inside_q) begin
        expand_q[put_q] <= accepts_key;
        key_q[put_q]    <= empty_key ? '0 : in_i.payload[31:0];
        flits_q[put_q]  <= accepts_key ? '0 : count_t'(1);
        about_q[put_q]  <= in_i;
      end else begin
        flits_q[put_q] <= flits_q[put_q] + count_t'(1);
      end
    end
  end

  // -------------------------------------------------------------- records
  // Records become work for the output: a packet to pass, a copy, or the end of a message whose last record is no copy.
  typedef struct packed {
    logic  buffer;
    logic  plain;
    logic  has_copy;
    logic  last;
    copy_t copy;
  } work_t;

  logic sourced_q;                      // the records of a message are being read
  logic stream_q;                         // 1: they are those of an indirection
  logic [4:0] beats_q;                  // beats of the key that have not arrived
  logic [BeatBits-17:0] records_q;      // remaining records of the current beat, the next in the low bits
  logic [2:0] count_q, fields_q;          // remaining records and 48-bit fields of the current beat
  logic indirect_q;                     // an indirection waits for the rest of its key, then for its acceptance
  logic [11:0] chain_q;                 // indirections of this message, counted since tables may contain a cycle
  route_beat_t beat;
  copy_t copy;
  work_t work, work_q;
  logic work_valid_q, work_accepted, work_done;
  logic drop, usable, copy_accepted, closes, indirect_begins, skips, beat_accepted, begins, plain, ends;
  logic at, stream;
  logic [4:0] beats;

  assign copy = copy_of(records_q[95:0], board_i);
  // A record is usable if its beat contains all of it.
  assign drop = count_q != '0 && fields_q < (copy.wide ? 3'd2 : 3'd1);
  assign usable = count_q != '0 && !drop && !indirect_q;
  assign indirect_begins = usable && copy.indirect;
  assign copy_accepted = usable && !copy.indirect && (!work_valid_q || work_done);
  // The message's last copy; the next message begins in the same cycle.
  assign closes = copy_accepted && count_q == 3'd1 && beats_q == '0;
  assign at = record_q ^ closes;
  assign begins = (closes || !sourced_q) && fresh_q[at] && expand_q[at];
  assign beats = begins ? key_q[at].beats : (sourced_q && !closes) ? beats_q : '0;
  assign stream = !begins && stream_q;
  assign beat = beat_i[stream];
  assign beat_accepted = beats != '0 && beat_valid_i[stream] && !indirect_q && !indirect_begins &&
                      (count_q == '0 || drop || (count_q == 3'd1 && copy_accepted));
  // Records after an indirection are read and discarded.
  assign skips = indirect_q && beats_q != '0 && beat_valid_i[stream_q];
  always_comb begin
    beat_ready_o         = '0;
    beat_ready_o[stream] = beat_accepted || skips;
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
      if (beat_accepted) count_q <= (beat.count > 16'(BeatRecords)) ? 3'd0 : 3'(beat.count);
      else if (drop || indirect_begins) count_q <= '0;
      else if (copy_accepted) count_q <= count_q - 3'd1;
      if (indirect_begins) indirect_q <= copy.head_data[4:0] != '0 && chain_q != '1;
      else if (indirect_valid_o && indirect_ready_i) indirect_q <= 1'b0;
    end
    if (indirect_valid_o && indirect_ready_i) begin
      beats_q  <= indirect_o.beats;
      stream_q <= 1'b1;
    end else begin
      beats_q <= (skips ? beats_q : beats) - 5'(beat_accepted || skips);
      if (begins) stream_q <= 1'b0;
    end
    if (beat_accepted) begin
      records_q <= beat.records;
      fields_q  <= 3'(BeatRecords);
    end else if (copy_accepted) begin
      records_q <= copy.wide ? records_q >> 96 : records_q >> 48;
      fields_q  <= fields_q - (copy.wide ? 3'd2 : 3'd1);
    end
    if (indirect_begins) indirect_o <= copy.head_data[31:0];
    if (begins) chain_q <= '0;
    else if (indirect_begins) chain_q <= chain_q + 12'd1;
  end
  assign indirect_valid_o = indirect_q && beats_q == '0;

  assign work_accepted = copy_accepted || ends || plain;
  assign work = '{buffer: record_q, plain: plain, has_copy: copy_accepted, last: closes || ends, copy: copy};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) work_valid_q <= 1'b0;
    else work_valid_q <= work_accepted || (work_valid_q && !work_done);
    if (work_accepted) work_q <= work;
  end

  // ---------------------------------------------------------------- flits
  logic body_q;                         // the copy's head flit, if any, has been sent
  logic sends, has_head, head_now, last_flit;
  assign buffer = work_q.buffer;
  assign has_head = !work_q.plain && work_q.copy.head != FlitKindBody;
  assign head_now = has_head && !body_q;

  always_comb begin
    out_o       = stored;
    out_valid_o = work_valid_q && (work_q.plain || work_q.has_copy) && (head_now || at_q < flits_q[buffer]);
    if (!work_q.plain) begin
      out_o.dest = work_q.copy.dest;
      out_o.kind = FlitKindBody;
      if (head_now) begin
        out_o         = about_q[buffer];
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
      // A copy is sent by this board, whose report may already have been made.
      out_o.wave = wave_i[out_o.job];
    end
  end
  assign sends = out_valid_o && out_ready_i;
  assign last_flit = sends && !head_now && stored.last;
  // A message that ends without a copy waits for the rest of its payload.
  assign work_done = (work_q.plain || work_q.has_copy) ? last_flit : whole_q[buffer];
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
  // A copy counts as sent before its first flit leaves, a message as received after all its copies have left.
  always_ff @(posedge clk_i) begin
    sent_o     <= rst_ni && copy_accepted;
    received_o <= rst_ni && done && !work_q.plain;
    sent_tag_o     <= '{job: about_q[record_q].job, epoch: about_q[record_q].epoch};
    received_tag_o <= '{job: about_q[buffer].job, epoch: about_q[buffer].epoch};
    // Several may occur at once: packets arrive while records are read.
    bad_o      <= !rst_ni ? '0 : faults_t'(drop) + faults_t'(skips) + faults_t'(empty_key || truncates)
                                 + faults_t'(beat_accepted && beat.count > 16'(BeatRecords))
                                 + faults_t'(indirect_begins && (count_q != 3'd1 || chain_q == '1));
  end

  assign empty_o = open_q == '0;

  logic unused;
  assign unused = ^{work_q.copy.indirect, work_q.copy.wide};

  `GS_ASSERT_NOW(payloads_fit_into_their_buffer, !accepts || !inside_q || flits_q[put_q] < count_t'(MaxFlits))
  `GS_ASSERT_NOW(only_free_buffers_are_filled, !accepts || inside_q || !open_q[put_q])
endmodule
