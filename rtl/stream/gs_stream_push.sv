// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Sending half of a streaming port: elements in, packets out, as many as the receiver has given credits for.
///
///     elements -> lanes of a buffer of flits -> packets
///                                                 ^ credits
///
/// A byte of a message stands in lane (its number modulo 16), whatever packets it travels in; so every flit of the
/// receiver's buffer is filled, and a message takes exactly as many credits as it has flits. A packet goes when it is
/// as long as it may be, when the message is complete, when no credit is left for more, or when no element has come
/// for `Linger` cycles: what was pushed arrives, even if nothing more is pushed.
///
/// One message at a time. A message of a few bytes is one flit, its header beside the data; one of a collective begins
/// with a long packet, which has room for the collective's tag. A message of one beat that is there when its channel is
/// opened goes at once, past the buffer: such messages take a cycle each.
///
/// A message that asks, and is complete before a credit comes, may be set aside (gs_stream_voq): then the next one
/// can be opened. While messages to its rank are set aside, a message does not ask, but waits until it is set aside too
/// or they have gone.
///
/// A binding ends whatever is open: a message that waits for credits for ever is ended so. Of a packet under way the
/// rest goes out before another channel can be opened.
module gs_stream_push
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// bytes that the kernel gives a cycle: 1 to 16, a power of two; a message's last beat may be shorter
  parameter int unsigned Bytes  = 4,
  /// flits of the buffer, a power of two
  parameter int unsigned Depth  = 64,
  /// flits of payload in the longest packet, at most half the buffer
  parameter int unsigned Packet = 32,
  /// cycles without an element after which those that wait are sent
  parameter int unsigned Linger = 16,
  /// messages go as circuits (gs_circuit)
  parameter bit          Circuit = 0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  /// address of this port, and the job of its packets
  input  logic [31:0]          own_i,
  input  logic [4:0]           job_i,
  // Binding; ends a fault, and a channel that is open
  input  logic                 bind_valid_i,
  input  send_bind_t           bind_i,
  // Kernel: a channel is opened, and closes itself behind its last element
  input  logic                 open_valid_i,
  output logic                 open_ready_o,
  input  send_open_t           open_i,
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  logic [8*Bytes-1:0]   in_data_i,
  /// the collective that this port is used by
  input  watch_t               watch_i,
  // Credits that came
  input  logic                 credit_valid_i,
  input  stream_credit_t       credit_i,
  /// they are of another binding, and dropped
  output logic                 credit_refused_o,
  // Setting aside: the rank of the message, whether messages to it are set aside; a message that is complete, and its
  // bytes; its flits, from the cycle on in which it is taken; credits of this binding, which may be for those
  output logic [7:0]           rank_o,
  input  logic                 holds_i,
  output logic                 offer_valid_o,
  output send_open_t           offer_o,
  output bytes_t               offer_bytes_o,
  output logic [127:0]         offer_flit_o,
  input  logic                 takes_i,
  input  logic                 in_head_i,
  output account_t             account_o,
  output logic                 credit_valid_o,
  input  logic                 credit_voq_i,
  // Packets
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output flit_t                out_o,
  // A fault, for a cycle
  output logic                 report_valid_o,
  output stream_report_t       report_o
);
  localparam int unsigned PlaceW = $clog2(Depth);
  localparam int unsigned PosW = PlaceW + 1 + LaneW;
  localparam int unsigned FlitsW = $clog2(Packet + 1);
  localparam int unsigned SizeW = $clog2(FlitBytes * Packet + 1);
  localparam int unsigned LingerW = $clog2(Linger + 1);
  typedef logic [PosW-1:0] pos_t;
  typedef logic [FlitsW-1:0] flits_t;
  typedef logic [PlaceW:0] count_t;
  typedef logic [SizeW-1:0] size_t;

  if (Bytes < 1 || Bytes > FlitBytes || (Bytes & (Bytes - 1)) != 0) begin : gen_illegal_bytes
    $fatal(1, "gs_stream_push: Bytes is %0d; it must be 1, 2, 4, 8 or 16", Bytes);
  end
  if (Depth != 1 << PlaceW || Packet < 1 || 2 * Packet > Depth) begin : gen_illegal_depth
    $fatal(1, "gs_stream_push: Depth is %0d; it must be a power of two, at least two packets of %0d flits", Depth,
           Packet);
  end
  if (Packet + 1 > FabricMaxFlits) begin : gen_illegal_packet
    $fatal(1, "gs_stream_push: Packet is %0d; with its header it must have at most %0d flits", Packet, FabricMaxFlits);
  end

  typedef enum logic [2:0] {
    Idle,
    Hold,  // messages to this rank are set aside
    Ask,   // the packet that asks for credits
    Gap,   // no packet is under way
    Body,
    ToVoq, // flits enter the virtual output queue
    Fault
  } state_e;

  state_e state_q, state_d;
  send_bind_t bind_q;
  send_open_t open_q;
  /// bytes of the message that have not come yet
  bytes_t left_q;
  /// bytes that have come, and that have been sent, from the message's begin, modulo twice the buffer
  pos_t put_q, sent_q, until_q;
  credits_t credits_q;
  stream_header_t credit_header;
  logic credit_takes;
  stream_tag_t credit_tag;
  assign credit_header = credit_i.header;
  assign credit_tag = credit_i.tag;
  assign credit_valid_o = credit_valid_i && credit_header.account == bind_q.account;
  assign credit_takes = credit_valid_o && !credit_voq_i;
  assign credit_refused_o = credit_valid_i && !credit_valid_o;
  logic [LingerW-1:0] linger_q;
  /// flits of the packet under way, or of what goes aside, that are still to be read, and where
  count_t body_q;
  logic [PlaceW-1:0] read_q;
  /// the packet under way is the message's last
  logic last_q;
  /// some of the message has been sent
  logic begun_q;
  stream_tag_t tag_q;

  /// it was bound in a packet: that one ends, and no other follows
  logic leaves_q;

  logic open, put, out_free, starts, complete, sends, none, stranger, strays, opened_strays, direct, passes;
  end_t taken;

  // ------------------------------------------------------------ elements
  pos_t held;
  assign held = put_q - {sent_q[PosW-1:LaneW], {LaneW{1'b0}}};
  assign open = state_q inside {Hold, Ask, Gap, Body} && !leaves_q;
  assign in_ready_o = (open && left_q != '0 && !held[PosW-1]) || direct;
  assign put = in_valid_i && in_ready_o && open;
  assign taken = left_q < bytes_t'(Bytes) ? end_t'(left_q) : end_t'(Bytes);
  assign complete = left_q == '0;

  logic [FlitBytes-1:0] strobes;
  logic [8*FlitBytes-1:0] read;
  assign strobes = FlitBytes'(((1 << Bytes) - 1) << put_q[LaneW-1:0]);
  gs_ram_sdp #(
    .Width   (8 * FlitBytes),
    .Depth   (Depth),
    .ByteBits(8),
    .Latency (0),
    .Style   ("distributed")
  ) u_flits (
    .clk_i,
    .we_i   (put),
    .wstrb_i(strobes),
    .waddr_i(put_q[PosW-2:LaneW]),
    .wdata_i({FlitBytes / Bytes{in_data_i}}),
    .re_i   (1'b1),
    .raddr_i(state_q inside {Body, ToVoq} ? read_q : sent_q[PosW-2:LaneW]),
    .rdata_o(read)
  );

  // ------------------------------------------------- how much may be sent
  // All in bytes from the last one that was sent; credits beyond a packet do not matter.
  lane_t lane;
  pos_t waits;
  size_t most, allowed, size;
  flits_t flits, usable, used;
  logic is_short, tail;
  assign lane = sent_q[LaneW-1:0];
  assign waits = put_q - sent_q;
  always_comb begin
    usable  = 32'(credits_q) > Packet ? flits_t'(Packet) : flits_t'(credits_q);
    most    = size_t'(FlitBytes * Packet) - size_t'(lane);
    allowed = lane == '0 ? {usable, 4'd0} : {usable, 4'd0} + size_t'(FlitBytes) - size_t'(lane);
    size    = allowed < most ? allowed : most;
    sends   = size != '0;
    if (waits < pos_t'(size)) begin
      size  = size_t'(waits);
      // Nothing at all is the message of no elements.
      sends = complete || (linger_q == LingerW'(Linger) && waits != '0);
      if (waits == '0 && usable == '0) sends = 1'b0;
    end
    tail     = complete && waits == pos_t'(size);
    flits    = flits_t'((size_t'(lane) + size + size_t'(FlitBytes - 1)) >> LaneW);
    none     = size == '0;
    used     = none ? flits_t'(1) : flits - flits_t'(lane != '0);
    is_short = lane == '0 && size <= size_t'(ShortBytes) && (begun_q || tag_q.kind == SmiCollectiveNone);
  end
  assign starts = state_q == Gap && sends && out_free && !bind_valid_i && !opened_strays;

  // A message without a credit, of which all has come
  logic to_voq;
  assign rank_o = state_q == Idle ? open_i.rank : open_q.rank;
  assign offer_valid_o = complete && !bind_q.eager && !begun_q && tag_q.kind == SmiCollectiveNone && !bind_valid_i
                         && ((state_q == Hold && holds_i) || (state_q == Gap && credits_q == '0));
  assign offer_o = open_q;
  assign offer_bytes_o = bytes_t'(put_q);
  assign offer_flit_o = read;
  assign account_o = bind_q.account;
  assign to_voq = offer_valid_o && takes_i;

  // A message of one beat goes from the kernel into the packet. If its element is not there yet, the channel is opened
  // as any other.
  localparam int unsigned DirectBytes = Bytes < ShortBytes ? Bytes : ShortBytes;
  bytes_t open_bytes;
  assign open_bytes = message_bytes(open_i.element, open_i.count);
  assign direct = open_valid_i && open_ready_o && bind_q.eager && !stranger && credits_q != '0 && out_free
                  && !watch_i.valid && open_bytes != '0 && open_bytes <= bytes_t'(DirectBytes);
  assign passes = direct && in_valid_i;

  // ---------------------------------------------------------------- flits
  stream_header_t header, ask_header, direct_header;
  stream_short_t short_head, direct_head;
  stream_long_t long_head;
  stream_ask_t ask;
  flit_t flit, flit_q;
  logic out_valid_q, gives;
  lane_t final_lane;
  assign final_lane = lane_t'(lane + size[LaneW-1:0]);
  always_comb begin
    header = '{
      source:  open_q.own,
      element: open_q.element,
      account: bind_q.account,
      port:    open_q.dest[7:0],
      op:      tail ? StreamOpClose : StreamOpData,
      valid:   (final_lane == '0 && !none) ? 5'd16 : {1'b0, final_lane}
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
    ask  = '{spare: '0, reply: own_i, count: open_q.count, header: ask_header};

    flit = '{
      kind:    FlitKindHeader,
      last:    is_short,
      vnet:    VnetRequest,
      job:     job_i,
      epoch:   {1'b0, Circuit && state_q == Gap},
      wave:    Circuit && state_q == Gap && !tail,
      dest:    open_q.dest,
      payload: is_short ? short_head : long_head
    };
    gives = starts;
    if (state_q == Ask) begin
      flit.last    = 1'b1;
      flit.payload = ask;
      gives        = 1'b1;
    end else if (state_q == Body) begin
      flit.kind    = FlitKindBody;
      flit.last    = body_q == count_t'(1);
      flit.payload = read;
      gives        = 1'b1;
    end else if (state_q == Idle) begin
      flit.last    = 1'b1;
      flit.dest    = open_i.dest;
      flit.payload = direct_head;
      gives        = passes;
    end
  end
  assign out_free = !out_valid_q || out_ready_i;
  assign out_valid_o = out_valid_q;
  assign out_o = flit_q;

  // ---------------------------------------------------------------- states
  logic ends;
  assign stranger = bind_q.eager && open_i.dest != bind_q.dest;
  assign ends = out_free && ((starts && is_short && tail) || (state_q == Body && body_q == count_t'(1) && last_q));
  assign open_ready_o = state_q == Idle && !bind_valid_i && !strays;
  always_comb begin
    state_d = state_q;
    case (state_q)
      Idle:  begin
        if (open_valid_i && !passes) state_d = stranger ? Fault : (bind_q.eager ? Gap : (holds_i ? Hold : Ask));
        if (strays) state_d = Fault;
      end
      Hold:  if (!holds_i) state_d = Ask;
      Ask:   if (out_free) state_d = Gap;
      Gap:   if (starts && !is_short) state_d = Body;
      ToVoq: if (body_q == count_t'(1)) state_d = Idle;
      Body:  if (out_free && body_q == count_t'(1)) state_d = (leaves_q || bind_valid_i) ? Idle : Gap;
      default: ;
    endcase
    if (to_voq) state_d = in_head_i ? Idle : ToVoq;
    if (opened_strays) state_d = Fault;
    if (ends || (bind_valid_i && state_q != Body)) state_d = Idle;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      bind_q      <= '0;
      credits_q   <= '0;
      leaves_q    <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      state_q  <= state_d;
      leaves_q <= state_d == Body && (leaves_q || bind_valid_i);
      if (out_free) out_valid_q <= gives;
      credits_q <= credits_q - (starts ? credits_t'(used) : credits_t'(passes))
                   + (credit_takes ? credit_i.flits : '0);
      if (bind_valid_i) begin
        bind_q    <= bind_i;
        credits_q <= bind_i.eager ? bind_i.flits : '0;
      end
    end
    if (out_free) flit_q <= flit;
    if (starts) begun_q <= 1'b1;
    if (state_q == Idle) begin
      begun_q  <= 1'b0;
      tag_q    <= watch_i.valid ? watch_i.tag : '0;
      open_q   <= open_i;
      left_q   <= message_bytes(open_i.element, open_i.count);
      put_q    <= '0;
      sent_q   <= '0;
      linger_q <= '0;
    end else begin
      if (put) begin
        put_q  <= put_q + pos_t'(taken);
        left_q <= left_q - bytes_t'(taken);
      end
      if (starts && is_short) sent_q <= sent_q + pos_t'(size);
      // What is read must stay until it was read.
      if (state_q == Body && out_free) begin
        read_q <= read_q + PlaceW'(1);
        body_q <= body_q - count_t'(1);
        if (body_q == count_t'(1)) sent_q <= until_q;
      end
      if (state_q == ToVoq) begin
        read_q <= read_q + PlaceW'(1);
        body_q <= body_q - count_t'(1);
      end
      if (to_voq) begin
        read_q <= '0;
        body_q <= count_t'((put_q + pos_t'(FlitBytes - 1)) >> LaneW);
      end
      if (starts) begin
        body_q  <= none ? count_t'(1) : count_t'(flits);
        read_q  <= sent_q[PosW-2:LaneW];
        until_q <= sent_q + pos_t'(size);
        last_q  <= tail;
      end
      if (put || starts) linger_q <= '0;
      else if (linger_q != LingerW'(Linger)) linger_q <= linger_q + LingerW'(1);
    end
  end

  // ----------------------------------------------------- what is waited for
  // The other end waits for a message of a collective: the one that follows those that were opened here, or the last of
  // these. If this end has come to that collective, it must be the same, and send here. A message that is open must be
  // of that one, too: its elements may never come. Once it has begun its own tag says so.
  logic [15:0] messages_q;
  logic wanted_q, opens;
  stream_credit_t want_q;
  stream_header_t want_header;
  stream_tag_t want_tag;
  assign want_header = want_q.header;
  assign want_tag = want_q.tag;
  assign strays = state_q == Idle && wanted_q && want_q.message == messages_q && watch_i.valid
                  && want_tag.group == watch_i.tag.group && reached(want_tag.number, watch_i.tag.number)
                  && !(watch_i.sends && want_tag == watch_i.tag);
  assign opened_strays = state_q == Gap && !begun_q && wanted_q && want_q.message == messages_q - 16'd1
                         && want_tag != tag_q;
  assign opens = open_valid_i && open_ready_o;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || bind_valid_i) begin
      messages_q <= '0;
      wanted_q   <= 1'b0;
    end else begin
      messages_q <= messages_q + 16'(opens);
      // What has begun is on its way; the count would come to it again once around.
      wanted_q   <= (credit_takes && credit_tag.kind != SmiCollectiveNone) || (wanted_q && !(starts || passes));
    end
    if (credit_takes && credit_tag.kind != SmiCollectiveNone) want_q <= credit_i;
  end

  // ---------------------------------------------------------------- fault
  assign report_valid_o = !bind_valid_i
                          && (strays || opened_strays || (state_q == Idle && open_valid_i && stranger));
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
    if (strays || opened_strays) begin
      report_o.fault       = StreamFaultCollective;
      report_o.own         = watch_i.own;
      report_o.peer        = want_header.source;
      report_o.mine        = watch_i.element;
      report_o.theirs      = want_header.element;
      report_o.my_count    = watch_i.count;
      report_o.their_count = '0;
    end
    if (opened_strays) report_o.my_tag = tag_q;
  end

  logic unused;
  assign unused = ^{bind_q.flits, credit_header, credit_tag, want_header, want_q.spare, want_q.flits, watch_i};

  `GS_ASSERT_NOW(no_packet_is_cut_off, state_q != Body || state_d == Body || (out_free && body_q == count_t'(1)))
  `GS_ASSERT_NOW(credits_are_never_exceeded, !starts || credits_q >= credits_t'(used))
  `GS_ASSERT_NOW(the_buffer_holds_what_came, !open || held <= pos_t'(FlitBytes * Depth))
  `GS_ASSERT_NOW(only_what_came_is_sent, !starts || pos_t'(size) <= waits)
  `GS_ASSERT_HOLD(a_flit_is_stable_while_it_waits, out_valid_o, out_ready_i, out_o)
  `GS_ASSERT_NOW(an_element_fits_into_a_beat,
                 !(open_valid_i && open_ready_o) || (32'd1 << log_bytes(open_i.element)) <= Bytes)
endmodule
