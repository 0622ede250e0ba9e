// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Packs packets into frames: chooses the next packet, writes its header, and packs its bytes into words without gaps.
///
/// A frame is closed when the next packet does not fit, or after any packet if the sender is idle; then it is sent at
/// once, however short. So frames are short and have a low latency under light traffic, and are long under heavy
/// traffic. At most one closed frame waits.
///
///     flits -> header, halves of flits -> bytes in words -> ring of words
///              (chunk_q: 8 bytes)         (rest_q: 7 bytes)
module gs_link_pack
  import gossamer_pkg::*;
  import gs_link_pkg::*;
#(
  /// words of the longest body
  parameter  int unsigned BodyWords = 185,
  /// words of the ring, a power of two
  parameter  int unsigned RingWords = 2048,
  localparam int unsigned AddrW     = $clog2(RingWords),
  localparam int unsigned WordsW    = $clog2(BodyWords + 1)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  /// a session begins: all frames are dropped
  input  logic                   clear_i,
  /// the session is open
  input  logic                   up_i,
  /// no packet is in flight
  output logic                   quiescent_o,
  // Packets that wait, and have credits.
  input  logic    [Channels-1:0] ready_i,
  input  count_t  [Channels-1:0] flits_i,
  output logic    [Channels-1:0] take_o,
  output channel_t               channel_o,
  /// the channel's next flit, if one is available
  input  logic                   flit_valid_i,
  input  flit_t                  flit_i,
  output logic                   pop_o,
  // The ring.
  output logic                   we_o,
  output logic    [AddrW-1:0]    waddr_o,
  output word_t                  wdata_o,
  /// first word that must be kept
  input  logic    [AddrW-1:0]    kept_i,
  // Frames.
  /// the sender is idle
  input  logic                   idle_i,
  /// a frame is open: it is closed when the sender becomes idle
  output logic                   open_o,
  /// frames may be opened: the window is not full
  input  logic                   window_i,
  /// A closed frame: first word, words, packets. Its last word may be written in the first cycle of valid.
  output logic                   frame_valid_o,
  input  logic                   frame_ready_i,
  output logic    [AddrW-1:0]    frame_start_o,
  output logic    [WordsW-1:0]   frame_words_o,
  output logic    [PacketsW-1:0] frame_packets_o
);
  localparam int unsigned BytesW = $clog2(8 * BodyWords + 1) + 1;

  typedef enum logic [1:0] {Pick, Head, Extra, Body} state_e;

  state_e state_q, state_d;
  channel_t channel_q, pick_idx;
  count_t flits_q, left_q, left_d;
  logic high_q, high_d, open_q, open_d;
  logic [Channels-1:0] pick_gnt;
  logic pick, done, fits, may, close;
  // Bytes of the frame so far; bytes of the frame including this packet.
  logic [BytesW-1:0] bytes_q, bytes_d, grown;
  logic [PacketsW-1:0] packets_q, packets_d;
  context_t context_q, context_d;
  link_form_e form;
  header_t header;
  logic [1:0] vc;
  vnet_e vnet;

  // A chunk of 1 to 8 bytes, or none with `close`.
  typedef struct packed {
    word_t      bytes;
    logic [3:0] size;
    logic       close;
  } chunk_t;
  chunk_t chunk_q, chunk_d;

  // ------------------------------------------------------------ the next packet

  // Channels have equal shares of the line in flits, not in packets.
  logic [Channels-1:0] candidates;

  gs_turn #(
    .N     (Channels),
    .Limit (MaxFlits),
    .CountW(CountW)
  ) u_turn (
    .clk_i,
    .rst_ni,
    .req_i  (ready_i),
    .req_o  (candidates),
    .grant_i(pick),
    .idx_i  (pick_idx),
    .flits_i(flits_q)
  );

  gs_arbiter #(
    .N(Channels)
  ) u_pick (
    .clk_i,
    .rst_ni,
    .req_i    (candidates),
    .gnt_o    (pick_gnt),
    .idx_o    (pick_idx),
    .advance_i(pick)
  );

  assign pick      = up_i && ready_i != '0 && (state_q == Pick || done);
  assign take_o    = pick ? pick_gnt : '0;
  assign channel_o = channel_q;
  assign vnet      = vnet_e'(channel_q[ChannelW-1-:2]);
  assign vc        = 2'(channel_q[ChannelW-3:0]);
  assign form      = form_of(flit_i, vc, vnet, context_q);
  assign header    = encode(form, flit_i, vc, vnet, flits_q);
  assign grown     = bytes_q + BytesW'(header.size) + (header.extra ? BytesW'(8) : '0)
                     + BytesW'({header.flits, 4'd0});
  assign done      = state_q == Body && flit_valid_i && high_q && left_q == count_t'(1);
  assign fits      = grown <= BytesW'(8 * BodyWords);

  // The ring has space for one more frame of any size.
  logic [AddrW-1:0] waddr_q, used;
  logic ring_space_q;
  assign used = waddr_q - kept_i;

  // A frame may be opened once the previous one is taken and its last word is written.
  logic frame_valid_q, frame_valid_d, rest_left;
  assign may = open_q ? fits : (window_i && ring_space_q && !frame_valid_q && !chunk_q.close && !rest_left);

  always_comb begin
    state_d      = state_q;
    left_d       = left_q;
    high_d       = high_q;
    open_d       = open_q;
    bytes_d      = bytes_q;
    packets_d    = packets_q;
    context_d    = context_q;
    chunk_d      = '{bytes: flip(header.bytes), size: '0, close: 1'b0};
    pop_o        = 1'b0;
    close        = 1'b0;
    case (state_q)
      // An empty chunk closes the frame if nothing follows.
      Pick: close = open_q && !frame_valid_q && idle_i;
      Head: begin
        // The rest of an old session is packed and discarded.
        if (flit_valid_i && (may || !up_i)) begin
          chunk_d.size = header.size;
          context_d    = context_after(context_q, flit_i, vc, form);
          open_d       = open_q || up_i;
          bytes_d      = grown;
          packets_d    = packets_q + 1'b1;
          left_d       = header.flits;
          high_d       = 1'b0;
          pop_o        = header.absorbs && !header.extra;
          state_d      = header.extra ? Extra : Body;
        end else begin
          close = flit_valid_i && open_q;
        end
      end
      // The mask or envelope is in the flit that was seen with the header.
      Extra: begin
        chunk_d.bytes = flip(flit_i.payload[63:0]);
        chunk_d.size  = 4'd8;
        pop_o         = 1'b1;
        state_d       = Body;
      end
      default: begin
        chunk_d.bytes = high_q ? flit_i.payload[127:64] : flit_i.payload[63:0];
        if (flit_valid_i) begin
          chunk_d.size = 4'd8;
          high_d       = !high_q;
          pop_o        = high_q;
          if (high_q) left_d = left_q - 1'b1;
          if (done) state_d = Pick;
        end
      end
    endcase
    if (done && idle_i && !frame_valid_q) close = 1'b1;
    if (pick) state_d = Head;
    if (close) begin
      chunk_d.close = 1'b1;
      open_d        = 1'b0;
      bytes_d       = '0;
      packets_d     = '0;
      context_d     = '0;
    end
  end

  // ------------------------------------------------------------ bytes in words

  word_t rest_q, rest_d;
  logic [2:0] held_q, held_d;
  logic [3:0] total;
  logic [127:0] joined;
  logic we, flush_q, flush_d;
  logic [WordsW-1:0] words_q, words_d, close_words;
  logic [AddrW-1:0] start_q, frame_start_q;
  logic [WordsW-1:0] frame_words_q;
  logic [PacketsW-1:0] frame_packets_q;

  assign joined    = ({64'd0, chunk_q.bytes & ~({64{1'b1}} << {chunk_q.size, 3'd0})} << {held_q, 3'd0})
                     | {64'd0, rest_q};
  assign total     = {1'b0, held_q} + chunk_q.size;
  assign rest_left = flush_q;
  assign wdata_o   = joined[63:0];
  assign waddr_o   = waddr_q;
  assign we_o      = we;

  always_comb begin
    // A full word leaves the bytes after it; the rest of a closed frame is written in the next cycle.
    rest_d  = total[3] ? joined[127:64] : joined[63:0];
    held_d  = total[2:0];
    flush_d = chunk_q.close && total[3] && total[2:0] != '0;
    we      = total[3] || ((chunk_q.close || flush_q) && total != '0);
    if (flush_q || (chunk_q.close && !flush_d)) begin
      rest_d = '0;
      held_d = '0;
    end
    words_d     = words_q + WordsW'(we);
    close_words = words_d + WordsW'(flush_d);
    if (flush_q || (chunk_q.close && !flush_d)) words_d = '0;
  end

  always_comb begin
    frame_valid_d = frame_valid_q && !frame_ready_i;
    if (chunk_q.close) frame_valid_d = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      state_q       <= Pick;
      open_q        <= 1'b0;
      bytes_q       <= '0;
      packets_q     <= '0;
      context_q     <= '0;
      chunk_q.size  <= '0;
      chunk_q.close <= 1'b0;
      held_q        <= '0;
      rest_q        <= '0;
      flush_q       <= 1'b0;
      words_q       <= '0;
      waddr_q       <= '0;
      start_q       <= '0;
      ring_space_q  <= 1'b0;
      frame_valid_q <= 1'b0;
    end else begin
      state_q       <= state_d;
      open_q        <= open_d;
      bytes_q       <= bytes_d;
      packets_q     <= packets_d;
      context_q     <= context_d;
      chunk_q       <= chunk_d;
      held_q        <= held_d;
      rest_q        <= rest_d;
      flush_q       <= flush_d;
      words_q       <= words_d;
      waddr_q       <= waddr_q + AddrW'(we);
      if (flush_q || (chunk_q.close && !flush_d)) start_q <= waddr_q + AddrW'(we);
      ring_space_q  <= 32'(used) + BodyWords + 8 < RingWords;
      frame_valid_q <= frame_valid_d;
    end
    left_q <= left_d;
    high_q <= high_d;
    if (pick) begin
      channel_q <= pick_idx;
      flits_q   <= flits_i[pick_idx];
    end
    if (chunk_q.close) begin
      frame_start_q   <= start_q;
      frame_words_q   <= close_words;
    end
    if (close) frame_packets_q <= packets_q;
  end

  assign open_o          = open_q || chunk_q.close;
  assign frame_valid_o   = frame_valid_q;
  assign frame_start_o   = frame_start_q;
  assign frame_words_o   = frame_words_q;
  assign frame_packets_o = frame_packets_q;
  assign quiescent_o     = state_q == Pick && chunk_q.size == '0 && !chunk_q.close && !flush_q;

  `GS_ASSERT_NOW(frame_is_closed_only_after_previous_one_is_taken, !chunk_q.close || !frame_valid_q || !up_i)
  `GS_ASSERT_NOW(closed_frame_is_not_empty, !chunk_q.close || close_words != '0)
  `GS_ASSERT_NOW(frame_has_at_most_bodywords_words, 32'(words_q) <= BodyWords || !up_i)
  `GS_ASSERT_NOW(no_chunk_arrives_during_flush, !flush_q || chunk_q.size == '0 || !up_i)
  `GS_ASSERT_NOW(packet_fits_into_empty_frame, state_q != Head || !flit_valid_i || open_q || fits)
  `GS_ASSERT_NOW(last_flit_matches_packet_length,
      !(state_q == Body && high_q && flit_valid_i) || flit_i.last == (left_q == count_t'(1)))
endmodule
