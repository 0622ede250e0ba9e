// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Decodes the body of a frame as gs_link_unpack does, two bytes a cycle.
///
/// A packet that violates the protocol is dropped whole: one without credits, one longer than the longest packet, one
/// that its frame cuts short.
///
///     buffer -> [read] -> an odd byte -> 2 bytes at any offset -> header_q, payload_q -> flit
module gs_link_narrow_unpack
  import gossamer_pkg::*;
  import gs_link_pkg::*;
#(
  /// words of a buffer
  parameter  int unsigned BodyWords = 185,
  /// buffers
  parameter  int unsigned Buffers   = 4,
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
  // Its buffer, in beats.
  output logic                re_o,
  output logic [AddrW+1:0]    raddr_o,
  input  logic [15:0]         rdata_i,
  // Flits, by channel.
  /// free space of this channel in the store, one cycle after push_o [flits]
  output channel_t            channel_o,
  input  free_t               free_i,
  output logic [Channels-1:0] push_o,
  output flit_t               flit_o,
  /// a packet is decoded
  output logic                packet_o,
  /// a packet that violates the protocol is dropped
  output logic                violation_o,
  /// no flit is in flight
  output logic                quiescent_o
);
  localparam int unsigned BeatsW = WordsW + 2;
  typedef enum logic [1:0] {Head, Decide, Extra, Body} state_e;

  // ------------------------------------------------------------------ beats

  logic [BeatsW-1:0] issued_q, beats;
  logic read_q, more, taken, odd_q, uses_one, uses_two, available, done;
  logic [7:0] byte_q;
  logic [15:0] bytes;

  assign beats     = {words_i, 2'd0};
  assign more      = issued_q != beats;
  assign re_o      = frame_valid_i && more && (!read_q || taken) && !done;
  assign raddr_o   = {AddrW'(32'(buffer_i) * BodyWords) + AddrW'(issued_q[BeatsW-1:2]), issued_q[1:0]};
  assign bytes     = odd_q ? {rdata_i[7:0], byte_q} : rdata_i;
  // An odd byte at the end of a frame can only be a filling one.
  assign available = read_q;
  assign taken     = uses_two || (uses_one && !odd_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || done) begin
      issued_q <= '0;
      read_q   <= 1'b0;
      odd_q    <= 1'b0;
    end else begin
      if (re_o) issued_q <= issued_q + 1'b1;
      if (re_o) read_q <= 1'b1;
      else if (taken) read_q <= 1'b0;
      if (uses_one) odd_q <= !odd_q;
    end
    if (taken) byte_q <= rdata_i[15:8];
  end

  // ---------------------------------------------------------------- packets

  state_e state_q, state_d;
  logic [2:0] at_q, at_d;
  logic [3:0] form, size;
  word_t header_q;
  logic [127:0] payload_q;
  packet_t packet;
  context_t context_q;
  count_t left_q;
  logic first_q, push_q, push_d, last_q, drop, drop_q;
  logic [ChannelW-1:0] channel;
  logic [BeatsW-1:0] rest;
  logic [BeatsW:0] needed;
  count_t flits;

  assign form    = (at_q == '0) ? bytes[7:4] : header_q[63:60];
  assign size    = header_size(form);
  assign packet  = decode(header_q, context_q);
  assign channel = {packet.flit.vnet, packet.vc[ChannelW-3:0]};
  assign flits   = packet.more + count_t'(1);

  // A packet is accepted or dropped when its header is known, and the flits of earlier packets are counted.
  assign rest   = beats - issued_q + BeatsW'(read_q);
  assign needed = (BeatsW + 1)'({flits, 3'd0}) + (packet.extra ? (BeatsW + 1)'(4) : '0);
  assign drop   = 32'(packet.more) + 32'd1 + 32'(packet.absorbs) > MaxFlits || (BeatsW + 1)'(rest) < needed ||
                  32'(free_i) < 32'(packet.more) + 32'd1 + 32'(packet.absorbs);

  always_comb begin
    state_d  = state_q;
    at_d     = at_q;
    uses_one = 1'b0;
    uses_two = 1'b0;
    push_d   = 1'b0;
    done     = 1'b0;
    unique case (state_q)
      Head: begin
        if (available && size == '0) begin
          done = 1'b1;
        end else if (available) begin
          uses_one = size == 4'(2 * at_q) + 4'd1;
          uses_two = !uses_one;
          at_d     = at_q + 1'b1;
          if (size <= 4'(2 * at_q) + 4'd2) begin
            at_d    = '0;
            state_d = Decide;
          end
        end
      end
      Decide: begin
        push_d  = packet.absorbs && !packet.extra;
        state_d = packet.extra ? Extra : Body;
      end
      Extra: begin
        if (available) begin
          uses_two = 1'b1;
          at_d     = at_q + 1'b1;
          if (at_q == 3'd3) begin
            at_d    = '0;
            push_d  = 1'b1;
            state_d = Body;
          end
        end
      end
      Body: begin
        if (available) begin
          uses_two = 1'b1;
          at_d     = at_q + 1'b1;
          push_d   = at_q == '1;
          if (at_q == '1 && left_q == count_t'(1)) state_d = Head;
        end
      end
    endcase
    // All beats are used: a frame of this version never ends within a packet.
    if (!more && !read_q && state_q != Decide) done = 1'b1;
    if (!frame_valid_i) done = 1'b0;
    if (done) begin
      state_d = Head;
      at_d    = '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= Head;
      at_q      <= '0;
      context_q <= '0;
      push_q    <= 1'b0;
    end else begin
      state_q <= state_d;
      at_q    <= at_d;
      push_q  <= push_d && !(state_q == Decide ? drop : drop_q);
      if (done) context_q <= '0;
      else if (state_q == Decide) begin
        context_q <= context_after(context_q, packet.flit, packet.vc, link_form_e'(header_q[63:60]));
      end
    end
    if (state_q == Head && available) begin
      for (int unsigned i = 0; i < 4; i++) if (at_q == 3'(i)) header_q[48-16*i+:16] <= {bytes[7:0], bytes[15:8]};
    end
    if (state_q == Decide) begin
      first_q <= 1'b1;
      drop_q  <= drop;
      left_q  <= flits;
    end else begin
      if (push_q) first_q <= 1'b0;
      if (state_q == Body && available && at_q == '1) left_q <= left_q - 1'b1;
    end
    if (state_q == Decide) begin
      payload_q <= 128'(header_q[31:0] & {32{packet.absorbs && !packet.extra}});
    end else if (state_q == Extra && available) begin
      for (int unsigned i = 0; i < 4; i++) if (at_q == 3'(i)) payload_q[48-16*i+:16] <= {bytes[7:0], bytes[15:8]};
    end else if (state_q == Body && available) begin
      for (int unsigned i = 0; i < 8; i++) if (at_q == 3'(i)) payload_q[16*i+:16] <= bytes;
    end
    last_q <= state_q == Body && left_q == count_t'(1);
  end

  // The header stays until that of the next packet, at least a cycle longer than its last flit.
  always_comb begin
    flit_o         = packet.flit;
    flit_o.payload = payload_q;
    flit_o.last    = last_q;
    if (!first_q) flit_o.kind = FlitKindBody;
  end

  assign done_o      = done;
  assign channel_o   = channel;
  assign push_o      = Channels'(push_q) << channel;
  assign packet_o    = push_q && last_q;
  assign violation_o = state_q == Decide && drop;
  assign quiescent_o = !frame_valid_i && !push_q;

  `GS_ASSERT_NOW(frames_end_at_packet_boundaries, !done_o || state_q == Head || drop_q)
endmodule
