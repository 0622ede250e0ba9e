// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Sending half of a streaming port: packs elements into packets and sends them as far as credits allow.
///
///     elements -> lanes of a buffer of flits -> packets
///                                                 ^ credits
///
/// Byte n of a message is stored in lane n modulo 16, whichever packet carries it. So every flit of the receiver's
/// buffer is filled, and a message uses exactly one credit per flit. A packet is sent when it has reached its maximum
/// length, when the message is complete, when credits allow no more, or when no element has arrived for `Linger`
/// cycles: pushed elements reach the receiver even if nothing more is pushed.
///
/// One message at a time. A message of a few bytes is one flit, which holds header and data. A message of a collective
/// begins with a long packet, whose header flit has space for the collective's tag. A one-beat message that is
/// available when its channel is opened bypasses the buffer: such messages take one cycle each.
///
/// A message that asked for credits, and is complete before a credit arrives, may be moved to the virtual output queue
/// (gs_stream_voq); the next message can then be opened. While the queue of its rank holds messages, a message does not
/// ask, but waits until it is queued as well or the queue is empty.
///
/// A binding closes the open channel, including a message that would wait for credits forever. The rest of a packet in
/// flight is sent before another channel can be opened.
module gs_stream_push
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// bytes that the kernel supplies per cycle: 1 to 16, a power of two; a message's last beat may be shorter
  parameter int unsigned Bytes  = 4,
  /// flits of the buffer, a power of two
  parameter int unsigned Depth  = 64,
  /// flits of payload in the longest packet, at most half the buffer
  parameter int unsigned Packet = 32,
  /// cycles without a new element after which waiting elements are sent
  parameter int unsigned Linger = 16,
  /// sends messages as circuits (gs_circuit)
  parameter bit          Circuit = 0,
  /// a beat has one element of the message's type, in its low bytes, instead of Bytes bytes
  parameter bit          ElementBeats = 0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  /// address of this port, and the job of its packets
  input  logic [31:0]          own_i,
  input  logic [4:0]           job_i,
  // Binding: ends a fault, and closes an open channel
  input  logic                 bind_valid_i,
  input  send_bind_t           bind_i,
  // Kernel: opens a channel, which closes after its last element
  input  logic                 open_valid_i,
  output logic                 open_ready_o,
  input  send_open_t           open_i,
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  logic [8*Bytes-1:0]   in_data_i,
  /// the collective that uses this port
  input  watch_t               watch_i,
  // Credits received
  input  logic                 credit_valid_i,
  input  stream_credit_t       credit_i,
  /// credits of another binding are dropped
  output logic                 credit_dropped_o,
  // Virtual output queue: the message's rank, whether its queue holds messages; a complete message and its bytes; its
  // flits, starting in the cycle in which it is accepted; credits of this binding, which may be for queued messages
  output logic [7:0]           rank_o,
  input  logic                 voq_nonempty_i,
  output logic                 offer_valid_o,
  output send_open_t           offer_o,
  output bytes_t               offer_bytes_o,
  output logic [127:0]         offer_flit_o,
  input  logic                 voq_accept_i,
  input  logic                 in_head_i,
  output account_t             account_o,
  output logic                 credit_valid_o,
  input  logic                 credit_voq_i,
  // Packets
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output flit_t                out_o,
  // A fault, valid for one cycle
  output logic                 report_valid_o,
  output stream_report_t       report_o
);
  localparam int unsigned PtrW = $clog2(Depth);
  localparam int unsigned PosW = PtrW + 1 + LaneW;
  localparam int unsigned FlitsW = $clog2(Packet + 1);
  localparam int unsigned SizeW = $clog2(FlitBytes * Packet + 1);
  localparam int unsigned LingerW = $clog2(Linger + 1);
  typedef logic [PosW-1:0] pos_t;
  typedef logic [FlitsW-1:0] flits_t;
  typedef logic [PtrW:0] count_t;
  typedef logic [SizeW-1:0] size_t;

  if (Bytes < 1 || Bytes > FlitBytes || (Bytes & (Bytes - 1)) != 0) begin : gen_illegal_bytes
    $fatal(1, "gs_stream_push: Bytes is %0d; it must be 1, 2, 4, 8 or 16", Bytes);
  end
  if (Depth != 1 << PtrW || Packet < 1 || 2 * Packet > Depth) begin : gen_illegal_depth
    $fatal(1, "gs_stream_push: Depth is %0d; it must be a power of two, at least two packets of %0d flits", Depth,
           Packet);
  end
  if (Packet + 1 > FabricMaxFlits) begin : gen_illegal_packet
    $fatal(1, "gs_stream_push: Packet is %0d; with its header it must have at most %0d flits", Packet, FabricMaxFlits);
  end

  typedef enum logic [2:0] {
    Idle,
    Hold,  // the virtual output queue of this rank holds messages
    Ask,   // the packet that asks for credits
    Gap,   // between packets
    Body,
    ToVoq, // flits enter the virtual output queue
    Fault
  } state_e;

  state_e state_q, state_d;
  send_bind_t bind_q;
  send_open_t open_q;
  /// bytes of the message still to be received
  bytes_t left_q;
  /// bytes received, and bytes sent, from the message's start, modulo twice the buffer
  pos_t received_q, sent_q, until_q;
  credits_t credits_q;
  stream_header_t credit_header;
  logic credit_accept;
  stream_tag_t credit_tag;
  assign credit_header = credit_i.header;
  assign credit_tag = credit_i.tag;
  assign credit_valid_o = credit_valid_i && credit_header.account == bind_q.account;
  assign credit_accept = credit_valid_o && !credit_voq_i;
  assign credit_dropped_o = credit_valid_i && !credit_valid_o;
  logic [LingerW-1:0] linger_q;
  /// flits still to be read, of the current packet or for the virtual output queue, and their address
  count_t body_q;
  logic [PtrW-1:0] read_q;
  /// the current packet is the message's last
  logic last_q;
  /// part of the message has been sent
  logic begun_q;
  stream_tag_t tag_q;

  /// bound during a packet: that packet is completed, and no other follows
  logic ending_q;

  logic open, accept, out_free, packet_start, complete, may_send, empty_packet, wrong_peer;
  logic wrong_collective, opened_wrong_collective, direct, bypass;
  end_t accepted_bytes, beat_bytes;

  // ------------------------------------------------------------ elements
  pos_t held;
  assign held = received_q - {sent_q[PosW-1:LaneW], {LaneW{1'b0}}};
  assign open = state_q inside {Hold, Ask, Gap, Body} && !ending_q;
  assign in_ready_o = (open && left_q != '0 && !held[PosW-1]) || direct;
  assign accept = in_valid_i && in_ready_o && open;
  assign beat_bytes = ElementBeats ? element_bytes(open_q.element) : end_t'(Bytes);
  assign accepted_bytes = left_q < bytes_t'(beat_bytes) ? end_t'(left_q) : beat_bytes;
  assign complete = left_q == '0;

  logic [FlitBytes-1:0] strobes;
  logic [8*FlitBytes-1:0] read, copies;
  assign strobes = FlitBytes'(((17'd1 << beat_bytes) - 17'd1) << received_q[LaneW-1:0]);
  // Copies of the beat in all lanes that it may be written to
  always_comb begin
    for (int unsigned b = 0; b < FlitBytes; b++) begin
      copies[8*b+:8] = in_data_i[8*(b%Bytes)+:8];
      for (int unsigned size = 1; size < Bytes; size *= 2) begin
        if (ElementBeats && 32'(beat_bytes) == size) copies[8*b+:8] = in_data_i[8*(b%size)+:8];
      end
    end
  end
  gs_ram_sdp #(
    .Width   (8 * FlitBytes),
    .Depth   (Depth),
    .ByteBits(8),
    .Latency (0),
    .Style   ("distributed")
  ) u_flits (
    .clk_i,
    .we_i   (accept),
    .wstrb_i(strobes),
    .waddr_i(received_q[PosW-2:LaneW]),
    .wdata_i(copies),
    .re_i   (1'b1),
    .raddr_i(state_q inside {Body, ToVoq} ? read_q : sent_q[PosW-2:LaneW]),
    .rdata_o(read)
  );

  // ------------------------------------------------- how much may be sent
  // All in bytes from the last byte sent; credits for more than a packet do not matter.
  lane_t lane;
  pos_t unsent;
  size_t most, allowed, size;
  flits_t flits, usable, credits_used;
  logic is_short, is_last;
  assign lane = sent_q[LaneW-1:0];
  assign unsent = received_q - sent_q;
  always_comb begin
    usable   = 32'(credits_q) > Packet ? flits_t'(Packet) : flits_t'(credits_q);
    most     = size_t'(FlitBytes * Packet) - size_t'(lane);
    allowed  = lane == '0 ? {usable, 4'd0} : {usable, 4'd0} + size_t'(FlitBytes) - size_t'(lane);
    size     = allowed < most ? allowed : most;
    may_send = size != '0;
    if (unsent < pos_t'(size)) begin
      size = size_t'(unsent);
      // An empty packet is the message without elements.
      may_send = complete || (linger_q == LingerW'(Linger) && unsent != '0);
      if (unsent == '0 && usable == '0) may_send = 1'b0;
    end
    is_last      = complete && unsent == pos_t'(size);
    flits        = flits_t'((size_t'(lane) + size + size_t'(FlitBytes - 1)) >> LaneW);
    empty_packet = size == '0;
    credits_used = empty_packet ? flits_t'(1) : flits - flits_t'(lane != '0);
    is_short     = lane == '0 && size <= size_t'(ShortBytes) && (begun_q || tag_q.kind == SmiCollectiveNone);
  end
  assign packet_start = state_q == Gap && may_send && out_free && !bind_valid_i && !opened_wrong_collective;

  // A complete message without a credit
  logic to_voq;
  assign rank_o = state_q == Idle ? open_i.rank : open_q.rank;
  assign offer_valid_o = complete && !bind_q.eager && !begun_q && tag_q.kind == SmiCollectiveNone && !bind_valid_i
                         && ((state_q == Hold && voq_nonempty_i) || (state_q == Gap && credits_q == '0));
  assign offer_o = open_q;
  assign offer_bytes_o = bytes_t'(received_q);
  assign offer_flit_o = read;
  assign account_o = bind_q.account;
  assign to_voq = offer_valid_o && voq_accept_i;

  // A one-beat message passes from the kernel into the packet. If its element is not available yet, the channel is
  // opened normally.
  localparam int unsigned DirectBytes = Bytes < ShortBytes ? Bytes : ShortBytes;
  bytes_t open_bytes;
  assign open_bytes = message_bytes(open_i.element, open_i.count);
  assign direct = open_valid_i && open_ready_o && bind_q.eager && !wrong_peer && credits_q != '0 && out_free
                  && !watch_i.valid && open_bytes != '0 && open_bytes <= bytes_t'(DirectBytes)
                  && (!ElementBeats || open_i.count == 32'd1);
  assign bypass = direct && in_valid_i;

  // ---------------------------------------------------------------- flits
  stream_header_t header, ask_header, direct_header;
  stream_short_t short_head, direct_head;
  stream_long_t long_head;
  stream_ask_t ask;
  flit_t flit, flit_q;
  logic out_valid_q, out_write;
  lane_t final_lane;
  assign final_lane = lane_t'(lane + size[LaneW-1:0]);
  always_comb begin
    header = '{
      source:  open_q.own,
      element: open_q.element,
      account: bind_q.account,
      port:    open_q.dest[7:0],
      op:      is_last ? StreamOpClose : StreamOpData,
      valid:   (final_lane == '0 && !empty_packet) ? 5'd16 : {1'b0, final_lane}
    };
    short_head = '{data: read[8*ShortBytes-1:0], header: header};
    long_head  = '{spare: '0, tag: tag_q, header: header};
    ask_header = '{
      source: open_q.own, element: open_q.element, account: bind_q.account, port: open_q.dest[7:0], op: StreamOpAsk,
      valid: '0
    };
    direct_header = '{
      source: open_i.own, element: open_i.element, account: bind_q.account, port: open_i.dest[7:0], op: StreamOpClose,
      valid: 5'(open_bytes)
    };
    direct_head = '{data: (8 * ShortBytes)'(in_data_i), header: direct_header};
    ask = '{spare: '0, reply: own_i, count: open_q.count, header: ask_header};

    flit = '{
      kind:    FlitKindHeader,
      last:    is_short,
      vnet:    VnetRequest,
      job:     job_i,
      epoch:   {1'b0, Circuit && state_q == Gap},
      wave:    Circuit && state_q == Gap && !is_last,
      dest:    open_q.dest,
      payload: is_short ? short_head : long_head
    };
    out_write = packet_start;
    if (state_q == Ask) begin
      flit.last    = 1'b1;
      flit.payload = ask;
      out_write    = 1'b1;
    end else if (state_q == Body) begin
      flit.kind    = FlitKindBody;
      flit.last    = body_q == count_t'(1);
      flit.payload = read;
      out_write    = 1'b1;
    end else if (state_q == Idle) begin
      flit.last    = 1'b1;
      flit.dest    = open_i.dest;
      flit.payload = direct_head;
      out_write    = bypass;
    end
  end
  assign out_free = !out_valid_q || out_ready_i;
  assign out_valid_o = out_valid_q;
  assign out_o = flit_q;

  // ---------------------------------------------------------------- states
  logic message_done;
  assign wrong_peer = bind_q.eager && open_i.dest != bind_q.dest;
  assign message_done = out_free && ((packet_start && is_short && is_last)
                                     || (state_q == Body && body_q == count_t'(1) && last_q));
  assign open_ready_o = state_q == Idle && !bind_valid_i && !wrong_collective;
  always_comb begin
    state_d = state_q;
    case (state_q)
      Idle:  begin
        if (open_valid_i && !bypass) begin
          state_d = wrong_peer ? Fault : (bind_q.eager ? Gap : (voq_nonempty_i ? Hold : Ask));
        end
        if (wrong_collective) state_d = Fault;
      end
      Hold:  if (!voq_nonempty_i) state_d = Ask;
      Ask:   if (out_free) state_d = Gap;
      Gap:   if (packet_start && !is_short) state_d = Body;
      ToVoq: if (body_q == count_t'(1)) state_d = Idle;
      Body:  if (out_free && body_q == count_t'(1)) state_d = (ending_q || bind_valid_i) ? Idle : Gap;
      default: ;
    endcase
    if (to_voq) state_d = in_head_i ? Idle : ToVoq;
    if (opened_wrong_collective) state_d = Fault;
    if (message_done || (bind_valid_i && state_q != Body)) state_d = Idle;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      bind_q      <= '0;
      credits_q   <= '0;
      ending_q    <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      state_q  <= state_d;
      ending_q <= state_d == Body && (ending_q || bind_valid_i);
      if (out_free) out_valid_q <= out_write;
      credits_q <= credits_q - (packet_start ? credits_t'(credits_used) : credits_t'(bypass))
                   + (credit_accept ? credit_i.flits : '0);
      if (bind_valid_i) begin
        bind_q    <= bind_i;
        credits_q <= bind_i.eager ? bind_i.flits : '0;
      end
    end
    if (out_free) flit_q <= flit;
    if (packet_start) begun_q <= 1'b1;
    if (state_q == Idle) begin
      begun_q    <= 1'b0;
      tag_q      <= watch_i.valid ? watch_i.tag : '0;
      open_q     <= open_i;
      left_q     <= message_bytes(open_i.element, open_i.count);
      received_q <= '0;
      sent_q     <= '0;
      linger_q   <= '0;
    end else begin
      if (accept) begin
        received_q <= received_q + pos_t'(accepted_bytes);
        left_q     <= left_q - bytes_t'(accepted_bytes);
      end
      if (packet_start && is_short) sent_q <= sent_q + pos_t'(size);
      // Flits that were read stay in the buffer until the packet has been sent.
      if (state_q == Body && out_free) begin
        read_q <= read_q + PtrW'(1);
        body_q <= body_q - count_t'(1);
        if (body_q == count_t'(1)) sent_q <= until_q;
      end
      if (state_q == ToVoq) begin
        read_q <= read_q + PtrW'(1);
        body_q <= body_q - count_t'(1);
      end
      if (to_voq) begin
        read_q <= '0;
        body_q <= count_t'((received_q + pos_t'(FlitBytes - 1)) >> LaneW);
      end
      if (packet_start) begin
        body_q  <= empty_packet ? count_t'(1) : count_t'(flits);
        read_q  <= sent_q[PosW-2:LaneW];
        until_q <= sent_q + pos_t'(size);
        last_q  <= is_last;
      end
      if (accept || packet_start) linger_q <= '0;
      else if (linger_q != LingerW'(Linger)) linger_q <= linger_q + LingerW'(1);
    end
  end

  // ------------------------------------------- requests for this end's message
  // The other end waits for a message of a collective: the next message after those opened here, or the last of these.
  // If this end has reached that collective, the tags must be equal and this end must send here. An open message must
  // have that tag too, since its elements may never arrive. Once the message has begun, its own tag identifies it.
  logic [15:0] message_count_q;
  logic want_valid_q, opens;
  stream_credit_t want_q;
  stream_header_t want_header;
  stream_tag_t want_tag;
  assign want_header = want_q.header;
  assign want_tag = want_q.tag;
  assign wrong_collective = state_q == Idle && want_valid_q && want_q.message == message_count_q && watch_i.valid
                  && want_tag.group == watch_i.tag.group && reached(want_tag.number, watch_i.tag.number)
                  && !(watch_i.sends && want_tag == watch_i.tag);
  assign opened_wrong_collective = state_q == Gap && !begun_q && want_valid_q
                                   && want_q.message == message_count_q - 16'd1
                                   && want_tag != tag_q;
  assign opens = open_valid_i && open_ready_o;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || bind_valid_i) begin
      message_count_q <= '0;
      want_valid_q    <= 1'b0;
    end else begin
      message_count_q <= message_count_q + 16'(opens);
      // A message that has begun is in flight. If the request were kept, the wrapped counter would match it again.
      want_valid_q <= (credit_accept && credit_tag.kind != SmiCollectiveNone)
                      || (want_valid_q && !(packet_start || bypass));
    end
    if (credit_accept && credit_tag.kind != SmiCollectiveNone) want_q <= credit_i;
  end

  // ---------------------------------------------------------------- fault
  assign report_valid_o = !bind_valid_i
                          && (wrong_collective || opened_wrong_collective
                              || (state_q == Idle && open_valid_i && wrong_peer));
  always_comb begin
    report_o = '{
      fault:       StreamFaultPeer,
      port:        own_i[7:0],
      own:         open_i.own,
      peer:        '0,
      mine:        open_i.element,
      theirs:      open_i.element,
      my_count:    open_i.dest,
      their_count: bind_q.dest,
      my_tag:      watch_i.tag,
      their_tag:   want_tag
    };
    if (wrong_collective || opened_wrong_collective) begin
      report_o.fault       = StreamFaultCollective;
      report_o.own         = watch_i.own;
      report_o.peer        = want_header.source;
      report_o.mine        = watch_i.element;
      report_o.theirs      = want_header.element;
      report_o.my_count    = watch_i.count;
      report_o.their_count = '0;
    end
    if (opened_wrong_collective) report_o.my_tag = tag_q;
  end

  logic unused;
  assign unused = ^{bind_q.flits, credit_header, credit_tag, want_header, want_q.spare, want_q.flits, watch_i};

  `GS_ASSERT_NOW(packet_is_sent_whole, state_q != Body || state_d == Body || (out_free && body_q == count_t'(1)))
  `GS_ASSERT_NOW(credits_never_exceeded, !packet_start || credits_q >= credits_t'(credits_used))
  `GS_ASSERT_NOW(buffer_never_overflows, !open || held <= pos_t'(FlitBytes * Depth))
  `GS_ASSERT_NOW(sends_only_received_bytes, !packet_start || pos_t'(size) <= unsent)
  `GS_ASSERT_HOLD(flit_stable_while_stalled, out_valid_o, out_ready_i, out_o)
  `GS_ASSERT_NOW(element_fits_into_beat,
                 !(open_valid_i && open_ready_o) || (32'd1 << log_bytes(open_i.element)) <= Bytes)
endmodule
