// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Packs packets into frames as gs_link_pack does, two bytes a cycle.
///
///     flit (in the store's RAM) -> header_q --\
///            \------------------ 16 bits of it -> chunk_q -> byte_q: an odd byte -> ring of beats
///
/// The next packet is picked while the last flit of the present one is packed. So one cycle lies between them, that of
/// its encoding.
///
/// While the window is full, the next frame is opened and grows: acknowledgements arrive in frames of the other end,
/// and these may be long. With few frames in flight, each of them must carry what has waited.
module gs_link_narrow_pack
  import gossamer_pkg::*;
  import gs_link_pkg::*;
#(
  /// words of the longest body
  parameter  int unsigned BodyWords = 185,
  /// words of the ring, a power of two
  parameter  int unsigned RingWords = 512,
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
  output logic    [Channels-1:0] take_o,
  /// the length of the packet that was taken in the last cycle
  input  count_t                 flits_i,
  /// reads the next flit of the channel, and removes it; it is at the input from the next cycle on
  output channel_t               channel_o,
  output logic                   pop_o,
  input  flit_t                  flit_i,
  // The ring, in beats.
  output logic                   we_o,
  output logic    [AddrW+1:0]    waddr_o,
  output logic    [15:0]         wdata_o,
  /// first word that must be kept
  input  logic    [AddrW-1:0]    kept_i,
  // Frames.
  /// the sender is idle
  input  logic                   idle_i,
  /// a frame is open: it is closed when the sender becomes idle
  output logic                   open_o,
  /// an open frame may be closed before it is full: the window is not full
  input  logic                   window_i,
  /// A closed frame: first word, words, packets.
  output logic                   frame_valid_o,
  input  logic                   frame_ready_i,
  output logic    [AddrW-1:0]    frame_start_o,
  output logic    [WordsW-1:0]   frame_words_o,
  output logic    [PacketsW-1:0] frame_packets_o
);
  localparam int unsigned BytesW = $clog2(8 * BodyWords + 1) + 1;

  typedef enum logic [2:0] {Pick, Encode, Head, Extra, Body} state_e;

  state_e state_q, state_d;
  channel_t channel_q, next_channel_q, pick_idx;
  count_t flits_q, next_flits_q, left_q, left_d;
  logic [2:0] at_q, at_d;
  logic open_q, open_d, picked_q, pick, pick_q, get, done, may, close, closing, stays;
  logic [Channels-1:0] pick_gnt;
  // Bytes of the frame so far; bytes of the frame including this packet.
  logic [BytesW-1:0] bytes_q, bytes_d, grown, grown_q;
  logic [PacketsW-1:0] packets_q, packets_d;
  context_t context_q, context_d, after_q;
  link_form_e form;
  header_t header, header_q;
  logic [1:0] vc;
  vnet_e vnet;

  // A chunk of 1 or 2 bytes, the first in the low bits, or none with `close`.
  typedef struct packed {
    logic [15:0] bytes;
    logic [1:0]  size;
    logic        close;
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
    .flits_i
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

  // A packet is picked late, so that the order is that in which packets are packed.
  assign pick      = up_i && ready_i != '0 && !picked_q
                     && (state_q == Pick || (state_q == Body && left_q == count_t'(1) && at_q == 3'd5));
  assign take_o    = pick ? pick_gnt : '0;
  assign done      = state_q == Body && left_q == count_t'(1) && at_q == '1;
  assign get       = picked_q && !pick_q && (state_q == Pick || done);
  assign vnet      = vnet_e'(channel_q[ChannelW-1-:2]);
  assign vc        = 2'(channel_q[ChannelW-3:0]);
  assign form      = form_of(flit_i, vc, vnet, context_q);
  assign header    = encode(form, flit_i, vc, vnet, flits_q);
  assign grown     = bytes_q + BytesW'(header.size) + (header.extra ? BytesW'(8) : '0)
                     + BytesW'({header.flits, 4'd0});

  // The ring has space for one more frame of any size.
  logic [AddrW-1:0] used;
  logic [AddrW+1:0] waddr_q;
  logic ring_space_q;
  assign used = waddr_q[AddrW+1:2] - kept_i;

  // A frame may be opened once the previous one is sent and its last beat is written.
  logic frame_valid_q;
  assign may = open_q ? grown_q <= BytesW'(8 * BodyWords)
                      : (ring_space_q && !frame_valid_q && !closing && !chunk_q.close);

  // The rest of an old session is packed and discarded.
  assign stays = at_q == '0 && !may && up_i;

  always_comb begin
    state_d      = state_q;
    left_d       = left_q;
    at_d         = at_q + 1'b1;
    open_d       = open_q;
    bytes_d      = bytes_q;
    packets_d    = packets_q;
    context_d    = context_q;
    chunk_d      = '{bytes: {header_q.bytes[48-16*at_q[1:0]+:8], header_q.bytes[56-16*at_q[1:0]+:8]}, size: '0,
                     close: 1'b0};
    pop_o        = 1'b0;
    close        = 1'b0;
    case (state_q)
      // An empty chunk closes the frame if nothing follows.
      Pick: close = open_q && !picked_q && idle_i && window_i;
      Encode: begin
        at_d    = '0;
        state_d = Head;
      end
      Head: begin
        chunk_d.size = (header_q.size == 4'(2 * at_q) + 4'd1) ? 2'd1 : 2'd2;
        if (stays) begin
          chunk_d.size = '0;
          at_d         = '0;
          // In another frame the header may need a longer form.
          close = open_q;
          if (open_q) state_d = Encode;
        end else if (at_q == '0) begin
          context_d = after_q;
          open_d    = open_q || up_i;
          bytes_d   = grown_q;
          packets_d = packets_q + 1'b1;
          left_d    = header_q.flits;
        end
        if (!stays && header_q.size <= 4'(2 * at_q) + 4'd2) begin
          at_d    = '0;
          state_d = header_q.extra ? Extra : Body;
          pop_o   = header_q.absorbs && !header_q.extra;
        end
      end
      // The mask or envelope: the low half of the flit, most significant byte first.
      Extra: begin
        chunk_d.bytes = {flit_i.payload[48-16*at_q[1:0]+:8], flit_i.payload[56-16*at_q[1:0]+:8]};
        chunk_d.size  = 2'd2;
        if (at_q[1:0] == '1) begin
          at_d    = '0;
          state_d = Body;
          pop_o   = 1'b1;
        end
      end
      default: begin
        chunk_d.bytes = flit_i.payload[16*at_q+:16];
        chunk_d.size  = 2'd2;
        if (at_q == '1) begin
          left_d = left_q - 1'b1;
          pop_o  = left_q != count_t'(1);
          if (done) state_d = Pick;
        end
      end
    endcase
    if (done && idle_i && window_i && open_q) close = 1'b1;
    if (get) begin
      state_d = Encode;
      pop_o   = 1'b1;
    end
    if (close) begin
      chunk_d.close = 1'b1;
      open_d        = 1'b0;
      bytes_d       = '0;
      packets_d     = '0;
      context_d     = '0;
    end
  end
  assign channel_o = get ? next_channel_q : channel_q;

  // ------------------------------------------------------------ bytes in beats

  logic odd_q, full_beat;
  logic [7:0] byte_q;
  logic [WordsW-1:0] words_q;
  logic [AddrW-1:0] start_q, frame_start_q;
  logic [WordsW-1:0] frame_words_q;
  logic [PacketsW-1:0] frame_packets_q;
  logic aligned, pads;

  // A closed frame is filled with zeros up to a whole word.
  assign full_beat = chunk_q.size == 2'd2 || (chunk_q.size == 2'd1 && odd_q);
  assign aligned   = waddr_q[1:0] == '0 && !odd_q;
  assign pads      = closing && !aligned;
  assign we_o      = full_beat || pads;
  assign waddr_o   = waddr_q;
  assign wdata_o   = odd_q ? {pads ? 8'd0 : chunk_q.bytes[7:0], byte_q} : pads ? 16'd0 : chunk_q.bytes;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      state_q       <= Pick;
      picked_q      <= 1'b0;
      open_q        <= 1'b0;
      bytes_q       <= '0;
      packets_q     <= '0;
      context_q     <= '0;
      chunk_q.size  <= '0;
      chunk_q.close <= 1'b0;
      odd_q         <= 1'b0;
      closing       <= 1'b0;
      words_q       <= '0;
      waddr_q       <= '0;
      start_q       <= '0;
      ring_space_q  <= 1'b0;
      frame_valid_q <= 1'b0;
    end else begin
      state_q       <= state_d;
      picked_q      <= pick || (picked_q && !get);
      open_q        <= open_d;
      bytes_q       <= bytes_d;
      packets_q     <= packets_d;
      context_q     <= context_d;
      chunk_q.size  <= chunk_d.size;
      chunk_q.close <= chunk_d.close;
      ring_space_q  <= 32'(used) + BodyWords + 8 < RingWords;
      if (chunk_q.close) closing <= 1'b1;
      else if (aligned) closing <= 1'b0;
      if (pads) odd_q <= 1'b0;
      else if (chunk_q.size == 2'd1) odd_q <= !odd_q;
      if (we_o) waddr_q <= waddr_q + 1'b1;
      if (we_o && waddr_q[1:0] == '1) words_q <= words_q + 1'b1;
      if (frame_ready_i) frame_valid_q <= 1'b0;
      if (closing && aligned) begin
        frame_valid_q <= 1'b1;
        words_q       <= '0;
        start_q       <= waddr_q[AddrW+1:2];
      end
    end
    chunk_q.bytes <= chunk_d.bytes;
    // The second byte of a full beat that began with an odd one is the next odd one.
    if (chunk_q.size == 2'd2) byte_q <= chunk_q.bytes[15:8];
    else if (chunk_q.size == 2'd1 && !odd_q) byte_q <= chunk_q.bytes[7:0];
    left_q <= left_d;
    at_q   <= at_d;
    pick_q <= pick;
    if (pick) next_channel_q <= pick_idx;
    if (pick_q) next_flits_q <= flits_i;
    if (get) begin
      channel_q <= next_channel_q;
      flits_q   <= next_flits_q;
    end
    if (state_q == Encode) begin
      header_q <= header;
      grown_q  <= grown;
      after_q  <= context_after(context_q, flit_i, vc, form);
    end
    if (closing && aligned) begin
      frame_start_q <= start_q;
      frame_words_q <= words_q;
    end
    if (close) frame_packets_q <= packets_q;
  end

  assign open_o          = open_q || chunk_q.close || closing;
  assign frame_valid_o   = frame_valid_q;
  assign frame_start_o   = frame_start_q;
  assign frame_words_o   = frame_words_q;
  assign frame_packets_o = frame_packets_q;
  assign quiescent_o     = state_q == Pick && !picked_q && chunk_q.size == '0 && !chunk_q.close && !closing;

  `GS_ASSERT_NOW(frame_is_closed_only_after_previous_one_is_taken, !closing || !frame_valid_q || !up_i)
  `GS_ASSERT_NOW(closed_frame_is_not_empty, !(closing && aligned) || words_q != '0 || !up_i)
  `GS_ASSERT_NOW(frame_has_at_most_bodywords_words, 32'(words_q) <= BodyWords || !up_i)
  `GS_ASSERT_NOW(no_chunk_arrives_while_a_frame_is_filled, !closing || chunk_q.size == '0 || !up_i)
  `GS_ASSERT_NOW(packet_fits_into_empty_frame,
                 state_q != Head || at_q != '0 || open_q || grown_q <= BytesW'(8 * BodyWords))
  `GS_ASSERT_NOW(last_flit_matches_packet_length,
      !(state_q == Body && at_q == '1) || flit_i.last == (left_q == count_t'(1)))
endmodule
