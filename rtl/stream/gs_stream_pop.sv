// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Receiving half of a streaming port: packets in, elements out, and credits for what was taken out.
///
///     packets -> buffer of flits -> lanes -> elements
///                   \-> room -> credits
///
/// The buffer takes whatever comes: nothing comes without a credit. A byte stands in the lane of its number modulo 16,
/// so a packet that ends within a flit is continued there by the next. What is read of a flit that is not whole yet is
/// read as far as it goes, and the rest later.
///
/// A message of one beat that waits when its channel is opened goes to the kernel's queue at once, and the next channel
/// may be opened when the kernel takes it: such messages take a cycle each.
///
/// A port is bound to one sender that has the whole buffer as standing credits (eager); or it gives credits to who
/// asks, when a channel is open for it: exactly as many as the message has flits, so none are left over.
module gs_stream_pop
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// bytes that the kernel takes a cycle: 1 to 16, a power of two; a message's last beat may be shorter
  parameter int unsigned Bytes = 4,
  /// flits of the buffer, a power of two, 4 or more
  parameter int unsigned Depth = 64,
  /// ranks that may ask, a power of two, 2 or more
  parameter int unsigned Ranks = 16
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  /// number of this port, and the job of its packets
  input  logic [7:0]           port_i,
  input  logic [4:0]           job_i,
  // Binding; ends a fault and a channel that is open, and empties the buffer
  input  logic                 bind_valid_i,
  input  recv_bind_t           bind_i,
  // Kernel: a channel is opened, and closes itself behind its last element
  input  logic                 open_valid_i,
  output logic                 open_ready_o,
  input  recv_open_t           open_i,
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output logic [8*Bytes-1:0]   out_data_o,
  output logic [Bytes-1:0]     out_keep_o,
  output logic                 out_last_o,
  /// the collective that this port is used by
  input  watch_t               watch_i,
  // Flits of packets with elements: header and tag of their packet beside each. Not taken if refused
  input  logic                 in_valid_i,
  input  logic                 in_last_i,
  input  stream_header_t       in_header_i,
  input  stream_tag_t          in_tag_i,
  input  logic [127:0]         in_data_i,
  /// packets with this header are refused
  output logic                 refuse_o,
  // Packets that ask
  input  logic                 ask_valid_i,
  input  stream_ask_t          ask_i,
  output logic                 ask_refused_o,
  // Credits: packets of one flit
  output logic                 credit_valid_o,
  input  logic                 credit_ready_i,
  output flit_t                credit_o,
  // A fault, until it is taken: also behind a binding
  output logic                 report_valid_o,
  input  logic                 report_ready_i,
  output stream_report_t       report_o
);
  localparam int unsigned PlaceW = $clog2(Depth);
  localparam int unsigned RankW = $clog2(Ranks);
  localparam int unsigned BeatW = $clog2(Bytes);
  localparam int unsigned Reads = 4;
  localparam int unsigned FewW = $clog2(Reads + 1);
  typedef logic [PlaceW:0] place_t;
  /// flits that a message still needs credits for
  typedef logic [BytesW-LaneW:0] need_t;

  if (Bytes < 1 || Bytes > FlitBytes || (Bytes & (Bytes - 1)) != 0) begin : gen_illegal_bytes
    $fatal(1, "gs_stream_pop: Bytes is %0d; it must be 1, 2, 4, 8 or 16", Bytes);
  end
  if (Depth != 1 << PlaceW || Depth < 4 || PlaceW >= CreditW) begin : gen_illegal_depth
    $fatal(1, "gs_stream_pop: Depth is %0d; it must be a power of two from 4 to 32,768", Depth);
  end
  if (Ranks < 2 || Ranks > 256 || (Ranks & (Ranks - 1)) != 0) begin : gen_illegal_ranks
    $fatal(1, "gs_stream_pop: Ranks is %0d; it must be a power of two from 2 to 256", Ranks);
  end

  typedef enum logic [1:0] {
    Idle,
    Wait,   // for the sender to ask
    Run,
    Fault
  } state_e;

  state_e state_q, state_d;
  recv_bind_t bind_q;
  recv_open_t open_q;

  // ------------------------------------------------------------- arrivals
  /// flit and lane where the next element goes
  place_t write_q;
  lane_t lane_q;
  logic [FlitBytes-1:0] strobes;
  end_t until_lane;
  logic closes, whole, full;
  /// what is known of a flit beside its bytes
  typedef struct packed {
    logic      close;
    end_t      until_lane;
    smi_type_e element;
    stream_tag_t tag;
  } mark_t;
  mark_t mark, mark_read;
  logic [127:0] data_read;
  place_t read_q, read_at;
  logic issues, peeks, direct, opens;

  assign until_lane = in_last_i ? in_header_i.valid : 5'd16;
  assign closes = in_last_i && in_header_i.op == StreamOpClose;
  assign whole = until_lane[LaneW] || closes;
  assign strobes = FlitBytes'((17'd1 << until_lane) - 17'd1) & FlitBytes'(17'h1FFFF << lane_q);
  assign mark = '{close: closes, until_lane: until_lane, element: in_header_i.element, tag: in_tag_i};
  assign full = write_q - read_q == place_t'(Depth);

  gs_ram_sdp #(
    .Width   (128),
    .Depth   (Depth),
    .ByteBits(8),
    .Style   ("block")
  ) u_flits (
    .clk_i,
    .we_i   (in_valid_i),
    .wstrb_i(strobes),
    .waddr_i(write_q[PlaceW-1:0]),
    .wdata_i(in_data_i),
    .re_i   (issues || peeks),
    .raddr_i(read_at[PlaceW-1:0]),
    .rdata_o(data_read)
  );
  gs_ram_sdp #(
    .Width($bits(mark_t)),
    .Depth(Depth)
  ) u_marks (
    .clk_i,
    .we_i   (in_valid_i),
    .wstrb_i(1'b1),
    .waddr_i(write_q[PlaceW-1:0]),
    .wdata_i(mark),
    .re_i   (issues || peeks),
    .raddr_i(read_at[PlaceW-1:0]),
    .rdata_o(mark_read)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni || bind_valid_i) begin
      write_q <= '0;
      lane_q  <= '0;
    end else if (in_valid_i) begin
      if (whole) write_q <= write_q + place_t'(1);
      lane_q <= whole ? '0 : until_lane[LaneW-1:0];
    end
  end

  // ------------------------------------------------- who may send, who asks
  logic granted_q;
  logic [7:0] granted_source_q;
  logic [31:0] reply_q;
  always_comb begin
    refuse_o = in_header_i.account != bind_q.account;
    if (bind_q.eager) refuse_o |= in_header_i.source != bind_q.source;
    else refuse_o |= !granted_q || in_header_i.source != granted_source_q;
  end

  typedef struct packed {
    logic [31:0] reply;
    logic [31:0] count;
    smi_type_e   element;
  } asked_t;
  asked_t asked;
  stream_header_t ask_header;
  assign ask_header = ask_i.header;
  logic [Ranks-1:0] asks_q;
  logic [RankW-1:0] ask_at, source_at;
  logic ask_takes, meets, agrees;
  assign ask_at = ask_header.source[RankW-1:0];
  assign source_at = open_q.source[RankW-1:0];
  assign ask_takes = ask_valid_i && !bind_q.eager && 32'(ask_header.source) < Ranks && !asks_q[ask_at]
                     && ask_header.account == bind_q.account;
  assign ask_refused_o = ask_valid_i && !ask_takes;
  gs_ram_sdp #(
    .Width  ($bits(asked_t)),
    .Depth  (Ranks),
    .Latency(0),
    .Style  ("distributed")
  ) u_asks (
    .clk_i,
    .we_i   (ask_takes),
    .wstrb_i(1'b1),
    .waddr_i(ask_at),
    .wdata_i({ask_i.reply, ask_i.count, ask_header.element}),
    .re_i   (1'b1),
    .raddr_i(source_at),
    .rdata_o(asked)
  );
  assign meets = state_q == Wait && asks_q[source_at];
  assign agrees = asked.count == open_q.count && asked.element == open_q.element;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || bind_valid_i) begin
      asks_q    <= '0;
      granted_q <= 1'b0;
    end else begin
      if (ask_takes) asks_q[ask_at] <= 1'b1;
      if (meets) asks_q[source_at] <= 1'b0;
      if (meets && agrees) granted_q <= 1'b1;
      else if (state_q == Idle) granted_q <= 1'b0;
    end
    if (meets) granted_source_q <= open_q.source;
    if (bind_valid_i) reply_q <= bind_i.reply;
    else if (meets) reply_q <= asked.reply;
  end

  // ---------------------------------------------------------------- reads
  // A range of lanes of one flit a cycle, to the queue in front of the kernel.
  typedef struct packed {
    lane_t from_lane;
    end_t  until_lane;
    /// the message's last
    logic  last;
    /// its flit will not grow
    logic  whole;
    /// the message's first
    logic  first;
  } range_t;
  typedef struct packed {
    range_t       range;
    mark_t        mark;
    logic [127:0] data;
  } item_t;

  bytes_t left_q;
  lane_t at_q;
  end_t have, wanted;
  range_t range, range_q;
  logic issued_q, frees, room, more, goes_on;
  /// all of the message is read; nothing of it is
  logic over_q, fresh_q;
  /// of which collective it is
  stream_tag_t tag_q;
  logic [FewW-1:0] queued;

  always_comb begin
    wanted = (left_q > bytes_t'(FlitBytes) - bytes_t'(at_q)) ? 5'd16 : end_t'(at_q) + end_t'(left_q);
    // Of a flit that grows, whole beats.
    have = {1'b0, lane_q & ~lane_t'(Bytes - 1)};
    if (write_q != read_q) have = wanted;
    range = '{
      from_lane:  at_q,
      until_lane: have,
      last:       left_q == bytes_t'(have) - bytes_t'(at_q),
      whole:      write_q != read_q,
      first:      fresh_q
    };
    more = have > end_t'(at_q) || (left_q == '0 && write_q != read_q);
    // The flit that should be the last has all that was wanted, and is to be continued.
    goes_on = write_q == read_q && !over_q && left_q != '0
              && left_q == bytes_t'(wanted) - bytes_t'(at_q) && end_t'(lane_q) >= wanted;
  end
  // The bytes of a flit are not read while others of it are written.
  assign issues = state_q == Run && more && !goes_on && !over_q && room && !(in_valid_i && write_q == read_q);
  assign frees = (issues && (range.last || have[LaneW])) || direct;
  assign room = 32'(queued) + 32'(issued_q) < Reads;

  item_t pushed, item;
  logic item_valid, item_pop, unused_room;
  always_comb begin
    pushed = '{range: range_q, mark: mark_read, data: data_read};
    if (direct) begin
      pushed.range = '{from_lane: '0, until_lane: mark_read.until_lane, last: 1'b1, whole: 1'b1, first: 1'b1};
    end
  end
  gs_fifo #(
    .data_t(item_t),
    .Depth (Reads)
  ) u_items (
    .clk_i,
    .rst_ni     (rst_ni && !bind_valid_i),
    .in_valid_i (issued_q || direct),
    .in_ready_o (unused_room),
    .in_data_i  (pushed),
    .out_valid_o(item_valid),
    .out_ready_i(item_pop),
    .out_data_o (item),
    .count_o    (queued)
  );

  // --------------------------------------------------------------- kernel
  lane_t out_q;
  logic out_begun_q, bad_tag, bad_type, bad_count, bad, fails, ends;
  lane_t from_lane;
  end_t beat_end;
  /// bytes that the kernel has taken
  bytes_t taken_q;
  assign from_lane = out_begun_q ? out_q : item.range.from_lane;
  assign beat_end = end_t'(from_lane) + end_t'(Bytes);
  // Only a long packet has a tag, and a message with a tag begins with one.
  assign bad_tag = item.range.first && item.mark.tag != tag_q;
  assign bad_type = item.mark.element != open_q.element;
  // The flit that ends the message here must end it there, in the same lane; no other must.
  assign bad_count = item.range.whole
                     && (item.mark.close != item.range.last
                         || (item.mark.close && item.mark.until_lane != item.range.until_lane));
  assign bad = item_valid && (bad_tag || bad_type || bad_count) && state_q == Run;
  assign fails = bad || (state_q == Run && goes_on);
  assign out_valid_o = item_valid && !bad && item.range.until_lane != '0 && state_q == Run;
  assign out_last_o = item.range.last && beat_end >= item.range.until_lane;
  always_comb begin
    out_data_o = '0;
    for (int unsigned at = 0; at < FlitBytes / Bytes; at++) begin
      if (32'(from_lane) >> BeatW == at) out_data_o |= item.data[8*Bytes*at+:8*Bytes];
    end
    for (int unsigned b = 0; b < Bytes; b++) out_keep_o[b] = end_t'(from_lane) + end_t'(b) < item.range.until_lane;
  end
  assign item_pop = item_valid && !bad && state_q == Run
                    && ((out_ready_i && beat_end >= item.range.until_lane) || item.range.until_lane == '0);
  assign ends = item_pop && item.range.last;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || bind_valid_i) out_begun_q <= 1'b0;
    else if (item_pop) out_begun_q <= 1'b0;
    else if (out_valid_o && out_ready_i) out_begun_q <= 1'b1;
    if (out_valid_o && out_ready_i) out_q <= beat_end[LaneW-1:0];
    if (state_q == Idle || ends) taken_q <= '0;
    else if (out_valid_o && out_ready_i) taken_q <= taken_q + bytes_t'(Bytes);
  end

  // ---------------------------------------------- messages that wait
  // When all of a message has been read, the first flit of the next one is (`peeked_q`), again if it has grown
  // (`ahead_q`: it is whole). If it is all of a message of one beat, it needs no more than a channel that is opened.
  logic peeked_q, ahead_q, arrived, strays;
  bytes_t open_bytes;
  assign open_bytes = message_bytes(open_i.element, open_i.count);
  assign direct = opens && ahead_q && bind_q.eager && open_i.source == bind_q.source && !watch_i.valid
                  && mark_read.close && open_bytes <= bytes_t'(Bytes) && mark_read.until_lane == end_t'(open_bytes)
                  && open_bytes != '0;
  assign read_at = read_q + place_t'(direct);
  assign arrived = write_q != read_at;
  always_comb begin
    peeks = (state_q == Idle && !open_valid_i) || (state_q == Run && over_q);
    peeks = peeks && (!peeked_q || (!ahead_q && arrived)) && (arrived || (lane_q != '0 && !in_valid_i));
    if (direct) peeks = arrived;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni || bind_valid_i) peeked_q <= 1'b0;
    else peeked_q <= peeks || (peeked_q && !issues && !direct);
    if (!rst_ni || bind_valid_i) ahead_q <= 1'b0;
    else ahead_q <= peeks ? arrived : ahead_q && !issues && !direct;
  end

  // With no channel open, the tag of the first message that waits: it may be of a collective that this end has not come
  // to. If it has, it must be the same, and receive here; that it will be opened does not say when.
  assign strays = state_q == Idle && peeked_q && bind_q.eager && watch_i.valid
                  && (mark_read.tag.kind == SmiCollectiveNone
                      || (mark_read.tag.group == watch_i.tag.group
                          && reached(mark_read.tag.number, watch_i.tag.number)))
                  && !(watch_i.recvs && mark_read.tag == watch_i.tag);

  // Who has waited long for a message of a collective tells the other end of it, once, with a credit.
  localparam int unsigned Patience = 256;
  logic [$clog2(Patience)-1:0] waited_q;
  logic [15:0] messages_q;
  logic waits, told_q, tells, gives;
  assign waits = state_q == Run && fresh_q && bind_q.eager && tag_q.kind != SmiCollectiveNone && !more;
  assign tells = waits && !told_q && &waited_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || bind_valid_i) messages_q <= '0;
    else if (ends) messages_q <= messages_q + 16'd1;
    if (!waits) waited_q <= '0;
    else if (!(&waited_q)) waited_q <= waited_q + 1'b1;
    told_q <= waits && (told_q || (tells && gives));
  end

  // --------------------------------------------------------------- states
  logic tells_q;
  // Nobody can ask as a rank that is out of the table.
  logic stranger;
  assign stranger = bind_q.eager ? open_i.source != bind_q.source : 32'(open_i.source) >= Ranks;
  // An end without collectives opens the next channel while the last element of the one before goes.
  assign open_ready_o = !bind_valid_i
                        && (state_q == Idle ? !strays
                                            : ends && bind_q.eager && !watch_i.valid && open_i.source == bind_q.source);
  assign opens = open_valid_i && open_ready_o;
  always_comb begin
    state_d = state_q;
    case (state_q)
      Idle: begin
        if (open_valid_i) state_d = stranger ? Fault : (bind_q.eager ? Run : Wait);
        if (strays) state_d = Fault;
      end
      Wait: if (meets) state_d = agrees ? Run : Fault;
      Run: begin
        if (fails) state_d = Fault;
        else if (ends && !opens) state_d = Idle;
      end
      default: ;
    endcase
    if (bind_valid_i) state_d = Idle;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= Idle;
      bind_q     <= '0;
      issued_q   <= 1'b0;
      tells_q    <= 1'b0;
      read_q     <= '0;
    end else begin
      state_q    <= state_d;
      issued_q   <= issues && !bind_valid_i;
      tells_q    <= (state_q != Fault && state_d == Fault) || (tells_q && !report_ready_i);
      if (bind_valid_i) bind_q <= bind_i;
      if (bind_valid_i) read_q <= '0;
      else if (frees) read_q <= read_q + place_t'(1);
    end
    range_q <= range;
    if (opens) begin
      open_q  <= open_i;
      tag_q   <= watch_i.valid ? watch_i.tag : '0;
      left_q  <= open_bytes;
      at_q    <= '0;
      over_q  <= direct;
      fresh_q <= !direct;
    end else if (issues) begin
      fresh_q <= 1'b0;
      left_q <= left_q - (bytes_t'(have) - bytes_t'(at_q));
      at_q   <= have[LaneW-1:0];
      over_q <= over_q || range.last;
    end
  end

  // -------------------------------------------------------------- credits
  /// flits of the buffer that no credit is out for; and those that the message needs more
  place_t room_q;
  need_t need_q;
  credits_t amount;
  logic credit_valid_q;
  flit_t credit_q, credit_flit;
  stream_credit_t credit;
  stream_header_t credit_header;
  assign amount = (!bind_q.eager && need_q < need_t'(room_q)) ? credits_t'(need_q) : credits_t'(room_q);
  // Many at once, or all that the message needs more.
  assign gives = !credit_valid_q
                 && (tells || (amount != '0
                               && (room_q >= place_t'(Depth / 4) || (!bind_q.eager && need_q <= need_t'(room_q)))
                               && (bind_q.eager || (granted_q && state_q == Run))));
  assign credit_valid_o = credit_valid_q;
  assign credit_o = credit_q;
  always_comb begin
    credit_header = '{
      source:  open_q.own,
      element: open_q.element,
      account: bind_q.account,
      port:    reply_q[7:0],
      op:      StreamOpCredit,
      valid:   '0
    };
    credit = '{
      spare: '0, message: tells ? messages_q : '0, tag: tells ? tag_q : '0, flits: amount, header: credit_header
    };
    credit_flit = '{
      kind:    FlitKindHeader,
      last:    1'b1,
      vnet:    VnetReply,
      job:     job_i,
      epoch:   '0,
      wave:    1'b0,
      dest:    reply_q,
      payload: credit
    };
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) credit_valid_q <= 1'b0;
    else credit_valid_q <= gives || (credit_valid_q && !credit_ready_i);
    if (gives) credit_q <= credit_flit;
    if (!rst_ni) begin
      room_q <= place_t'(Depth);
    end else if (bind_valid_i) begin
      room_q <= bind_i.eager ? '0 : place_t'(Depth);
    end else begin
      room_q <= room_q + place_t'(frees) - (gives ? place_t'(amount) : '0);
    end
    if (state_q == Wait) need_q <= need_t'((left_q + bytes_t'(16'd15)) >> LaneW) + need_t'(left_q == '0);
    else if (gives) need_q <= need_q - need_t'(amount);
  end

  // --------------------------------------------------------------- faults
  assign report_valid_o = tells_q;
  stream_report_t report_q;
  assign report_o = report_q;
  always_ff @(posedge clk_i) begin
    if (state_q != Fault && (!tells_q || report_ready_i)) begin
      report_q.port     <= port_i;
      report_q.own      <= open_q.own;
      report_q.peer     <= open_q.source;
      report_q.mine     <= open_q.element;
      report_q.my_count <= open_q.count;
      report_q.my_tag   <= tag_q;
      report_q.their_tag <= item.mark.tag;
      if (strays) begin
        report_q.fault       <= StreamFaultCollective;
        report_q.own         <= watch_i.own;
        report_q.peer        <= bind_q.source;
        report_q.mine        <= watch_i.element;
        report_q.theirs      <= mark_read.element;
        report_q.my_count    <= watch_i.count;
        report_q.their_count <= '0;
        report_q.my_tag      <= watch_i.tag;
        report_q.their_tag   <= mark_read.tag;
      end else if (state_q == Idle) begin
        report_q.fault       <= StreamFaultPeer;
        report_q.own         <= open_i.own;
        report_q.peer        <= open_i.source;
        report_q.mine        <= open_i.element;
        report_q.theirs      <= open_i.element;
        report_q.my_count    <= 32'(open_i.source);
        report_q.their_count <= bind_q.eager ? 32'(bind_q.source) : Ranks;
      end else if (state_q == Wait) begin
        report_q.fault       <= asked.element != open_q.element ? StreamFaultElement : StreamFaultCount;
        report_q.theirs      <= asked.element;
        report_q.their_count <= asked.count;
      end else begin
        report_q.fault       <= bad_type ? StreamFaultElement : StreamFaultCount;
        if (item_valid && bad_tag) report_q.fault <= StreamFaultCollective;
        report_q.theirs      <= item.mark.element;
        // As many as had come; one more, if the other end goes on.
        if (goes_on && !bad) report_q.their_count <= open_q.count + 32'd1;
        else report_q.their_count <= 32'((taken_q + bytes_t'(item.mark.until_lane) - bytes_t'(from_lane))
                                    >> log_bytes(item.mark.element)) + 32'(!item.mark.close);
      end
    end
  end

  logic unused;
  assign unused = ^{unused_room, in_header_i.port, in_header_i.op, ask_i.spare, ask_header.op,
                    ask_header.port, ask_header.valid, bind_q.reply, watch_i};

  `GS_ASSERT_NOW(the_buffer_never_overflows, !in_valid_i || !full)
  `GS_ASSERT_NOW(only_what_may_come_comes, !in_valid_i || !refuse_o)
  `GS_ASSERT_NOW(no_more_room_than_there_is, room_q <= place_t'(Depth))
  `GS_ASSERT_HOLD(elements_are_stable_while_they_wait, out_valid_o, out_ready_i || bind_valid_i,
                  {out_data_o, out_keep_o, out_last_o})
  `GS_ASSERT_NOW(an_element_fits_into_a_beat,
                 !(open_valid_i && open_ready_o) || (32'd1 << log_bytes(open_i.element)) <= Bytes)
endmodule
