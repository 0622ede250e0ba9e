// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Decodes the body of a frame: headers and payloads into flits, 8 bytes a cycle.
///
/// The store has space for the flits of a packet: the sender had credits for them. A packet of a sender that violates
/// the protocol is dropped whole: one without credits, one longer than the longest packet, one that its frame cuts
/// short. So every packet that enters the chip is complete and fits into each buffer for packets.
///
///     buffer -> [read] -> two words -> 8 bytes at any offset -> header or half a flit -> flit_q
module gs_link_unpack
  import gossamer_pkg::*;
  import gs_link_pkg::*;
#(
  /// words of a buffer
  parameter  int unsigned BodyWords = 185,
  /// buffers
  parameter  int unsigned Buffers   = 16,
  localparam int unsigned AddrW     = $clog2(Buffers * BodyWords),
  localparam int unsigned WordsW    = $clog2(BodyWords + 1),
  localparam int unsigned BufferW   = $clog2(Buffers)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // The frame.
  input  logic                frame_valid_i,
  input  logic [BufferW-1:0]  buffer_i,
  input  logic [WordsW-1:0]   words_i,
  /// the frame is decoded
  output logic                done_o,
  // Its buffer.
  output logic                re_o,
  output logic [AddrW-1:0]    raddr_o,
  input  word_t               rdata_i,
  // Flits, by channel.
  /// free space of each channel in the store, one cycle after push_o [flits]
  input  free_t [Channels-1:0] free_i,
  output logic [Channels-1:0] push_o,
  output flit_t               flit_o,
  /// a packet is decoded
  output logic                packet_o,
  /// a packet that violates the protocol is dropped
  output logic                violation_o,
  /// no flit is in flight
  output logic                quiescent_o
);
  typedef enum logic [1:0] {Head, Extra, Low, High} state_e;

  state_e state_q, state_d;
  logic [WordsW-1:0] issued_q;
  logic read_q, read_taken, more;
  word_t word_q[2];
  logic [1:0] held_q, held_left;
  logic [2:0] offset_q, offset_d;
  logic [3:0] used, size;
  logic [4:0] avail;
  word_t bytes, low_q;
  logic shift, done;
  packet_t packet, packet_q, packet_d;
  context_t context_q, context_d;
  logic push, push_q;
  flit_t flit, flit_q;
  logic [ChannelW-1:0] channel, channel_q;
  logic begins_q, drop, drop_q, pushed;
  count_t more_flits;
  logic [WordsW+3:0] left, needed;

  // ------------------------------------------------------------------ words

  assign more       = issued_q != words_i;
  assign re_o       = frame_valid_i && more && (!read_q || read_taken) && !done;
  assign raddr_o    = AddrW'(32'(buffer_i) * BodyWords) + AddrW'(issued_q);
  assign held_left  = held_q - 2'(shift);
  assign read_taken = read_q && held_left != 2'd2;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || done) begin
      issued_q <= '0;
      read_q   <= 1'b0;
      held_q   <= '0;
      offset_q <= '0;
    end else begin
      if (re_o) issued_q <= issued_q + 1'b1;
      if (re_o) read_q <= 1'b1;
      else if (read_taken) read_q <= 1'b0;
      held_q   <= held_left + 2'(read_taken);
      offset_q <= offset_d;
    end
    if (shift) word_q[0] <= word_q[1];
    if (read_taken) word_q[held_left[0]] <= rdata_i;
  end

  assign bytes = 64'({word_q[1], word_q[0]} >> {offset_q, 3'd0});
  assign avail  = {held_q, 3'd0} - {2'd0, offset_q};
  assign {shift, offset_d} = {1'b0, offset_q} + used;

  // ---------------------------------------------------------------- packets

  assign size   = header_size(bytes[7:4]);
  assign packet = decode(flip(bytes), context_q);

  always_comb begin
    state_d   = state_q;
    used      = '0;
    packet_d  = packet_q;
    context_d = context_q;
    push      = 1'b0;
    flit      = packet_q.flit;
    channel   = {packet_q.flit.vnet, packet_q.vc[ChannelW-3:0]};
    done      = 1'b0;
    unique case (state_q)
      Head: begin
        flit    = packet.flit;
        channel = {packet.flit.vnet, packet.vc[ChannelW-3:0]};
        if (avail != '0 && size == '0) begin
          done = 1'b1;
        end else if (avail != '0 && avail >= {1'b0, size}) begin
          used      = size;
          packet_d  = packet;
          context_d = context_after(context_q, packet.flit, packet.vc, link_form_e'(bytes[7:4]));
          push      = packet.absorbs && !packet.extra;
          if (push) packet_d.flit.kind = FlitKindBody;
          state_d = packet.extra ? Extra : Low;
        end
      end
      Extra: begin
        flit.payload = {64'd0, flip(bytes)};
        if (avail >= 5'd8) begin
          used               = 4'd8;
          push               = 1'b1;
          packet_d.flit.kind = FlitKindBody;
          state_d            = Low;
        end
      end
      Low: begin
        if (avail >= 5'd8) begin
          used    = 4'd8;
          state_d = High;
        end
      end
      High: begin
        flit.payload = {bytes, low_q};
        flit.last    = packet_q.more == '0;
        if (avail >= 5'd8) begin
          used               = 4'd8;
          push               = 1'b1;
          packet_d.more      = packet_q.more - 1'b1;
          packet_d.flit.kind = FlitKindBody;
          state_d            = (packet_q.more == '0) ? Head : Low;
        end
      end
    endcase
    // All words are used, or the remaining bytes are too few: a frame of this version never ends within a packet.
    if (frame_valid_i && !more && !read_q && used == '0 && held_q != 2'd2) done = 1'b1;
    if (!frame_valid_i) done = 1'b0;
    if (done) begin
      state_d   = Head;
      context_d = '0;
    end
  end

  // In the cycle after its header, when the flits of earlier packets are counted, a packet is accepted or dropped.
  assign more_flits = packet_q.more;
  assign left       = {WordsW'(words_i - issued_q), 3'd0} + (WordsW + 4)'({2'(held_q) + 2'(read_q), 3'd0})
                      - (WordsW + 4)'(offset_q);
  assign needed     = {(WordsW)'(more_flits), 4'd0} + (WordsW + 4)'(16) + (state_q == Extra ? (WordsW + 4)'(8) : '0);
  always_comb begin
    drop = drop_q;
    if (begins_q) begin
      drop = 32'(more_flits) + 32'd1 + 32'(packet_q.absorbs) > MaxFlits || left < needed
             || 32'(free_i[channel_q]) < 32'(more_flits) + 32'd1 + 32'(packet_q.absorbs);
    end
  end
  assign pushed = push_q && !drop;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= Head;
      context_q <= '0;
      push_q    <= 1'b0;
      begins_q  <= 1'b0;
      drop_q    <= 1'b0;
    end else begin
      state_q   <= state_d;
      context_q <= context_d;
      push_q    <= push;
      begins_q  <= state_q == Head && state_d != Head;
      drop_q    <= drop;
    end
    packet_q  <= packet_d;
    flit_q    <= flit;
    channel_q <= channel;
    if (state_q == Low) low_q <= bytes;
  end

  assign done_o      = done;
  assign push_o      = Channels'(pushed) << channel_q;
  assign flit_o      = flit_q;
  assign packet_o    = pushed && flit_q.last;
  assign violation_o = begins_q && drop;
  assign quiescent_o = !frame_valid_i && !push_q;

  `GS_ASSERT_NOW(frames_end_at_packet_boundaries, !done_o || state_q == Head || drop)
endmodule
