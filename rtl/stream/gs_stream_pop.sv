// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Receiving half of a streaming port: unpacks packets into elements, and returns credits for flits read.
///
///     packets -> flit buffer -> lanes -> elements
///                   \-> free flits -> credits
///
/// Credits guarantee that the buffer has space for every incoming flit. Byte n of a message is stored in lane n modulo
/// 16, so if a packet ends within a flit, the next packet continues in the same flit. The kernel side reads an
/// incomplete flit as far as it is filled, and the rest later.
///
/// A one-beat message that is buffered when its channel is opened is moved to the kernel's queue immediately, and the
/// next channel may be opened when the kernel accepts it: such messages take one cycle each.
///
/// A port is either bound to one sender, which owns credits for the whole buffer permanently (eager), or it grants
/// credits to a requester once a channel is open for it: exactly one per flit of the message, so that none remain.
module gs_stream_pop
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// bytes that the kernel accepts per cycle: 1 to 16, a power of two; a message's last beat may be shorter
  parameter int unsigned Bytes = 4,
  /// flits of the buffer, a power of two, 4 or more
  parameter int unsigned Depth = 64,
  /// ranks that may ask for credits, a power of two, 2 or more
  parameter int unsigned Ranks = 16,
  /// a beat has one element of the message's type, in its low bytes, instead of Bytes bytes
  parameter bit          ElementBeats = 0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  /// number of this port, and the job of its packets
  input  logic [7:0]           port_i,
  input  logic [4:0]           job_i,
  // Binding: ends a fault, closes an open channel, and empties the buffer
  input  logic                 bind_valid_i,
  input  recv_bind_t           bind_i,
  // Kernel: opens a channel, which closes after its last element
  input  logic                 open_valid_i,
  output logic                 open_ready_o,
  input  recv_open_t           open_i,
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output logic [8*Bytes-1:0]   out_data_o,
  output logic [Bytes-1:0]     out_keep_o,
  output logic                 out_last_o,
  /// the collective that uses this port
  input  watch_t               watch_i,
  // Flits of packets with elements, each with its packet's header and tag. Not valid if rejected
  input  logic                 in_valid_i,
  input  logic                 in_last_i,
  input  stream_header_t       in_header_i,
  input  stream_tag_t          in_tag_i,
  input  logic [127:0]         in_data_i,
  /// rejects packets with this header
  output logic                 reject_o,
  // Packets that ask for credits
  input  logic                 ask_valid_i,
  input  stream_ask_t          ask_i,
  output logic                 ask_rejected_o,
  // Credits: packets of one flit
  output logic                 credit_valid_o,
  input  logic                 credit_ready_i,
  output flit_t                credit_o,
  // A fault report, pending until accepted, even after a new binding
  output logic                 report_valid_o,
  input  logic                 report_ready_i,
  output stream_report_t       report_o
);
  localparam int unsigned PtrW = $clog2(Depth);
  localparam int unsigned RankW = $clog2(Ranks);
  localparam int unsigned QueueDepth = 4;
  localparam int unsigned QueuedW = $clog2(QueueDepth + 1);
  typedef logic [PtrW:0] ptr_t;
  /// flits that a message still needs credits for
  typedef logic [BytesW-LaneW:0] need_t;

  if (Bytes < 1 || Bytes > FlitBytes || (Bytes & (Bytes - 1)) != 0) begin : gen_illegal_bytes
    $fatal(1, "gs_stream_pop: Bytes is %0d; it must be 1, 2, 4, 8 or 16", Bytes);
  end
  if (Depth != 1 << PtrW || Depth < 4 || PtrW >= CreditW) begin : gen_illegal_depth
    $fatal(1, "gs_stream_pop: Depth is %0d; it must be a power of two from 4 to 32,768", Depth);
  end
  if (Ranks < 2 || Ranks > 256 || (Ranks & (Ranks - 1)) != 0) begin : gen_illegal_ranks
    $fatal(1, "gs_stream_pop: Ranks is %0d; it must be a power of two from 2 to 256", Ranks);
  end

  typedef enum logic [1:0] {
    Idle,
    Wait,   // until the sender has asked
    Run,
    Fault
  } state_e;

  state_e state_q, state_d;
  recv_bind_t bind_q;
  recv_open_t open_q;
  end_t beat_bytes;
  assign beat_bytes = ElementBeats ? element_bytes(open_q.element) : end_t'(Bytes);

  // ------------------------------------------------------------- arrivals
  /// flit and lane of the next incoming element
  ptr_t write_q;
  lane_t lane_q;
  logic [FlitBytes-1:0] strobes;
  end_t until_lane;
  logic closes_message, completes_flit, full;
  /// metadata of a flit
  typedef struct packed {
    logic      close;
    end_t      until_lane;
    smi_type_e element;
    stream_tag_t tag;
  } mark_t;
  mark_t mark, mark_read;
  logic [127:0] data_read;
  ptr_t read_q, read_at;
  logic issue, peek, direct, opens;

  assign until_lane = in_last_i ? in_header_i.valid : 5'd16;
  assign closes_message = in_last_i && in_header_i.op == StreamOpClose;
  assign completes_flit = until_lane[LaneW] || closes_message;
  assign strobes = FlitBytes'((17'd1 << until_lane) - 17'd1) & FlitBytes'(17'h1FFFF << lane_q);
  assign mark = '{close: closes_message, until_lane: until_lane, element: in_header_i.element, tag: in_tag_i};
  assign full = write_q - read_q == ptr_t'(Depth);

  gs_ram_sdp #(
    .Width   (128),
    .Depth   (Depth),
    .ByteBits(8),
    .Style   ("block")
  ) u_flits (
    .clk_i,
    .we_i   (in_valid_i),
    .wstrb_i(strobes),
    .waddr_i(write_q[PtrW-1:0]),
    .wdata_i(in_data_i),
    .re_i   (issue || peek),
    .raddr_i(read_at[PtrW-1:0]),
    .rdata_o(data_read)
  );
  gs_ram_sdp #(
    .Width($bits(mark_t)),
    .Depth(Depth)
  ) u_marks (
    .clk_i,
    .we_i   (in_valid_i),
    .wstrb_i(1'b1),
    .waddr_i(write_q[PtrW-1:0]),
    .wdata_i(mark),
    .re_i   (issue || peek),
    .raddr_i(read_at[PtrW-1:0]),
    .rdata_o(mark_read)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni || bind_valid_i) begin
      write_q <= '0;
      lane_q  <= '0;
    end else if (in_valid_i) begin
      if (completes_flit) write_q <= write_q + ptr_t'(1);
      lane_q <= completes_flit ? '0 : until_lane[LaneW-1:0];
    end
  end

  // ------------------------------------------------- permitted senders, asks
  logic granted_q;
  logic [7:0] granted_source_q;
  logic [31:0] reply_q;
  always_comb begin
    reject_o = in_header_i.account != bind_q.account;
    if (bind_q.eager) reject_o |= in_header_i.source != bind_q.source;
    else reject_o |= !granted_q || in_header_i.source != granted_source_q;
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
  logic ask_accept, ask_match, agrees;
  assign ask_at = ask_header.source[RankW-1:0];
  assign source_at  = open_q.source[RankW-1:0];
  assign ask_accept = ask_valid_i && !bind_q.eager && 32'(ask_header.source) < Ranks && !asks_q[ask_at]
                     && ask_header.account == bind_q.account;
  assign ask_rejected_o = ask_valid_i && !ask_accept;
  gs_ram_sdp #(
    .Width  ($bits(asked_t)),
    .Depth  (Ranks),
    .Latency(0),
    .Style  ("distributed")
  ) u_asked (
    .clk_i,
    .we_i   (ask_accept),
    .wstrb_i(1'b1),
    .waddr_i(ask_at),
    .wdata_i({ask_i.reply, ask_i.count, ask_header.element}),
    .re_i   (1'b1),
    .raddr_i(source_at),
    .rdata_o(asked)
  );
  assign ask_match = state_q == Wait && asks_q[source_at];
  assign agrees = asked.count == open_q.count && asked.element == open_q.element;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || bind_valid_i) begin
      asks_q    <= '0;
      granted_q <= 1'b0;
    end else begin
      if (ask_accept) asks_q[ask_at] <= 1'b1;
      if (ask_match) asks_q[source_at] <= 1'b0;
      if (ask_match && agrees) granted_q <= 1'b1;
      else if (state_q == Idle) granted_q <= 1'b0;
    end
    if (ask_match) granted_source_q <= open_q.source;
    if (bind_valid_i) reply_q <= bind_i.reply;
    else if (ask_match) reply_q <= asked.reply;
  end

  // ---------------------------------------------------------------- reads
  // Reads a range of lanes of one flit per cycle into the queue upstream of the kernel.
  typedef struct packed {
    lane_t from_lane;
    end_t  until_lane;
    /// contains the message's last byte
    logic  last;
    /// the flit is complete: no further bytes will be added
    logic  completes_flit;
    /// contains the message's first byte
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
  logic issued_q, frees_flit, queue_free, readable, continues;
  /// the whole message is read; none of it is read
  logic all_read_q, fresh_q;
  /// tag of the collective that the channel belongs to
  stream_tag_t tag_q;
  logic [QueuedW-1:0] queued;

  always_comb begin
    wanted = (left_q > bytes_t'(FlitBytes) - bytes_t'(at_q)) ? 5'd16 : end_t'(at_q) + end_t'(left_q);
    // Of a flit that is still being filled, only whole beats.
    have = {1'b0, lane_q & ~lane_t'(beat_bytes - end_t'(1))};
    if (write_q != read_q) have = wanted;
    range = '{
      from_lane:  at_q,
      until_lane: have,
      last:       left_q == bytes_t'(have) - bytes_t'(at_q),
      completes_flit:      write_q != read_q,
      first:      fresh_q
    };
    readable = have > end_t'(at_q) || (left_q == '0 && write_q != read_q);
    // The flit that should be the last has all expected bytes, and more follow.
    continues = write_q == read_q && !all_read_q && left_q != '0
              && left_q == bytes_t'(wanted) - bytes_t'(at_q) && end_t'(lane_q) >= wanted;
  end
  // A flit is not read while bytes of it are written.
  assign issue = state_q == Run && readable && !continues && !all_read_q && queue_free
                 && !(in_valid_i && write_q == read_q);
  assign frees_flit = (issue && (range.last || have[LaneW])) || direct;
  assign queue_free = 32'(queued) + 32'(issued_q) < QueueDepth;

  item_t pushed, item;
  logic item_valid, item_pop, unused_ready;
  always_comb begin
    pushed = '{range: range_q, mark: mark_read, data: data_read};
    if (direct) begin
      pushed.range = '{from_lane: '0, until_lane: mark_read.until_lane, last: 1'b1, completes_flit: 1'b1, first: 1'b1};
    end
  end
  gs_fifo #(
    .data_t(item_t),
    .Depth (QueueDepth)
  ) u_items (
    .clk_i,
    .rst_ni     (rst_ni && !bind_valid_i),
    .in_valid_i (issued_q || direct),
    .in_ready_o (unused_ready),
    .in_data_i  (pushed),
    .out_valid_o(item_valid),
    .out_ready_i(item_pop),
    .out_data_o (item),
    .count_o    (queued)
  );

  // --------------------------------------------------------------- kernel
  lane_t out_q;
  // The least beat that has a byte number b: beats begin in lanes that are multiples of it.
  function automatic int unsigned alignment(int unsigned b);
    return ElementBeats ? 1 << $clog2(b + 1) : Bytes;
  endfunction
  logic out_begun_q, bad_tag, bad_type, bad_count, bad, fails, message_done;
  lane_t from_lane;
  end_t beat_end;
  /// bytes that the kernel has accepted
  bytes_t taken_q;
  assign from_lane = out_begun_q ? out_q : item.range.from_lane;
  assign beat_end = end_t'(from_lane) + beat_bytes;
  // Only a long packet has a tag, and a message with a tag begins with one.
  assign bad_tag = item.range.first && item.mark.tag != tag_q;
  assign bad_type = item.mark.element != open_q.element;
  // The flit that ends the message here must be its last, and end in the same lane; no other flit may be the last.
  assign bad_count = item.range.completes_flit
                     && (item.mark.close != item.range.last
                         || (item.mark.close && item.mark.until_lane != item.range.until_lane));
  assign bad = item_valid && (bad_tag || bad_type || bad_count) && state_q == Run;
  assign fails = bad || (state_q == Run && continues);
  assign out_valid_o = item_valid && !bad && item.range.until_lane != '0 && state_q == Run;
  assign out_last_o = item.range.last && beat_end >= item.range.until_lane;
  always_comb begin
    out_data_o = '0;
    for (int unsigned b = 0; b < Bytes; b++) begin
      for (int unsigned at = 0; at < FlitBytes; at += alignment(b)) begin
        if (32'(b) < 32'(beat_bytes) && 32'(from_lane) / alignment(b) == at / alignment(b)) begin
          out_data_o[8*b+:8] |= item.data[8*(at+b)+:8];
        end
      end
      out_keep_o[b] = b < 32'(beat_bytes) && end_t'(from_lane) + end_t'(b) < item.range.until_lane;
    end
  end
  assign item_pop = item_valid && !bad && state_q == Run
                    && ((out_ready_i && beat_end >= item.range.until_lane) || item.range.until_lane == '0);
  assign message_done = item_pop && item.range.last;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || bind_valid_i) out_begun_q <= 1'b0;
    else if (item_pop) out_begun_q <= 1'b0;
    else if (out_valid_o && out_ready_i) out_begun_q <= 1'b1;
    if (out_valid_o && out_ready_i) out_q <= beat_end[LaneW-1:0];
    if (state_q == Idle || message_done) taken_q <= '0;
    else if (out_valid_o && out_ready_i) taken_q <= taken_q + bytes_t'(beat_bytes);
  end

  // ---------------------------------------------------- waiting messages
  // When all of a message has been read, the first flit of the next one is peeked (`peeked_q`), again if more of it has
  // arrived (`ahead_q`: it is complete). If it is a whole one-beat message, only a matching open is still needed.
  logic peeked_q, ahead_q, arrived, wrong_collective;
  bytes_t open_bytes;
  assign open_bytes = message_bytes(open_i.element, open_i.count);
  assign direct = opens && ahead_q && bind_q.eager && open_i.source == bind_q.source && !watch_i.valid
                  && mark_read.close && open_bytes <= bytes_t'(Bytes) && mark_read.until_lane == end_t'(open_bytes)
                  && open_bytes != '0 && (!ElementBeats || open_i.count == 32'd1);
  assign read_at = read_q + ptr_t'(direct);
  assign arrived = write_q != read_at;
  always_comb begin
    peek = (state_q == Idle && !open_valid_i) || (state_q == Run && all_read_q);
    peek = peek && (!peeked_q || (!ahead_q && arrived)) && (arrived || (lane_q != '0 && !in_valid_i));
    if (direct) peek = arrived;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni || bind_valid_i) peeked_q <= 1'b0;
    else peeked_q <= peek || (peeked_q && !issue && !direct);
    if (!rst_ni || bind_valid_i) ahead_q <= 1'b0;
    else ahead_q <= peek ? arrived : ahead_q && !issue && !direct;
  end

  // While no channel is open, checks the tag of the first waiting message. It may belong to a collective that this end
  // has not reached yet. If this end has reached it, the tags must be equal and this end must receive here: opening the
  // channel later would not resolve a mismatch.
  assign wrong_collective = state_q == Idle && peeked_q && bind_q.eager && watch_i.valid
                  && (mark_read.tag.kind == SmiCollectiveNone
                      || (mark_read.tag.group == watch_i.tag.group
                          && reached(mark_read.tag.number, watch_i.tag.number)))
                  && !(watch_i.recvs && mark_read.tag == watch_i.tag);

  // A port that has waited long for a message of a collective reports that to the sender, once, in a credit packet.
  localparam int unsigned Patience = 256;
  logic [$clog2(Patience)-1:0] waited_q;
  logic [15:0] message_count_q;
  logic waits, wait_reported_q, reports_wait, credit_fire;
  assign waits        = state_q == Run && fresh_q && bind_q.eager && tag_q.kind != SmiCollectiveNone && !readable;
  assign reports_wait = waits && !wait_reported_q && &waited_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || bind_valid_i) message_count_q <= '0;
    else if (message_done) message_count_q <= message_count_q + 16'd1;
    if (!waits) waited_q <= '0;
    else if (!(&waited_q)) waited_q <= waited_q + 1'b1;
    wait_reported_q <= waits && (wait_reported_q || (reports_wait && credit_fire));
  end

  // --------------------------------------------------------------- states
  logic report_pending_q;
  // A rank beyond the table cannot ask.
  logic wrong_peer;
  assign wrong_peer = bind_q.eager ? open_i.source != bind_q.source : 32'(open_i.source) >= Ranks;
  // A port without collectives opens the next channel in the cycle in which the last element of the current one leaves.
  assign open_ready_o = !bind_valid_i
                        && (state_q == Idle ? !wrong_collective
                                            : message_done && bind_q.eager && !watch_i.valid
                                              && open_i.source == bind_q.source);
  assign opens = open_valid_i && open_ready_o;
  always_comb begin
    state_d = state_q;
    case (state_q)
      Idle: begin
        if (open_valid_i) state_d = wrong_peer ? Fault : (bind_q.eager ? Run : Wait);
        if (wrong_collective) state_d = Fault;
      end
      Wait: if (ask_match) state_d = agrees ? Run : Fault;
      Run: begin
        if (fails) state_d = Fault;
        else if (message_done && !opens) state_d = Idle;
      end
      default: ;
    endcase
    if (bind_valid_i) state_d = Idle;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q          <= Idle;
      bind_q           <= '0;
      issued_q         <= 1'b0;
      report_pending_q <= 1'b0;
      read_q           <= '0;
    end else begin
      state_q          <= state_d;
      issued_q         <= issue && !bind_valid_i;
      report_pending_q <= (state_q != Fault && state_d == Fault) || (report_pending_q && !report_ready_i);
      if (bind_valid_i) bind_q <= bind_i;
      if (bind_valid_i) read_q <= '0;
      else if (frees_flit) read_q <= read_q + ptr_t'(1);
    end
    range_q <= range;
    if (opens) begin
      open_q     <= open_i;
      tag_q      <= watch_i.valid ? watch_i.tag : '0;
      left_q     <= open_bytes;
      at_q       <= '0;
      all_read_q <= direct;
      fresh_q    <= !direct;
    end else if (issue) begin
      fresh_q <= 1'b0;
      left_q     <= left_q - (bytes_t'(have) - bytes_t'(at_q));
      at_q       <= have[LaneW-1:0];
      all_read_q <= all_read_q || range.last;
    end
  end

  // -------------------------------------------------------------- credits
  /// flits of the buffer that are free and not covered by a credit; flits that the message still needs
  ptr_t free_q;
  need_t need_q;
  credits_t credit_flits;
  logic credit_valid_q;
  flit_t credit_q, credit_flit;
  stream_credit_t credit;
  stream_header_t credit_header;
  assign credit_flits = (!bind_q.eager && need_q < need_t'(free_q)) ? credits_t'(need_q) : credits_t'(free_q);
  // Returns credits in batches of a quarter of the buffer, or all that the message still needs.
  assign credit_fire = !credit_valid_q
                 && (reports_wait || (credit_flits != '0
                               && (free_q >= ptr_t'(Depth / 4) || (!bind_q.eager && need_q <= need_t'(free_q)))
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
      spare:   '0,
      message: reports_wait ? message_count_q : '0,
      tag:     reports_wait ? tag_q : '0,
      flits:   credit_flits,
      header:  credit_header
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
    else credit_valid_q <= credit_fire || (credit_valid_q && !credit_ready_i);
    if (credit_fire) credit_q <= credit_flit;
    if (!rst_ni) begin
      free_q <= ptr_t'(Depth);
    end else if (bind_valid_i) begin
      free_q <= bind_i.eager ? '0 : ptr_t'(Depth);
    end else begin
      free_q <= free_q + ptr_t'(frees_flit) - (credit_fire ? ptr_t'(credit_flits) : '0);
    end
    if (state_q == Wait) need_q <= need_t'((left_q + bytes_t'(16'd15)) >> LaneW) + need_t'(left_q == '0);
    else if (credit_fire) need_q <= need_q - need_t'(credit_flits);
  end

  // --------------------------------------------------------------- faults
  assign report_valid_o = report_pending_q;
  stream_report_t report_q;
  assign report_o = report_q;
  always_ff @(posedge clk_i) begin
    if (state_q != Fault && (!report_pending_q || report_ready_i)) begin
      report_q.port     <= port_i;
      report_q.own      <= open_q.own;
      report_q.peer     <= open_q.source;
      report_q.mine     <= open_q.element;
      report_q.my_count <= open_q.count;
      report_q.my_tag   <= tag_q;
      report_q.their_tag <= item.mark.tag;
      if (wrong_collective) begin
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
        report_q.fault <= bad_type ? StreamFaultElement : StreamFaultCount;
        if (item_valid && bad_tag) report_q.fault <= StreamFaultCollective;
        report_q.theirs <= item.mark.element;
        // The number received so far; one more if the other end continues.
        if (continues && !bad) report_q.their_count <= open_q.count + 32'd1;
        else report_q.their_count <= 32'((taken_q + bytes_t'(item.mark.until_lane) - bytes_t'(from_lane))
                                    >> log_bytes(item.mark.element)) + 32'(!item.mark.close);
      end
    end
  end

  logic unused;
  assign unused = ^{unused_ready, in_header_i.port, in_header_i.op, ask_i.spare, ask_header.op,
                    ask_header.port, ask_header.valid, bind_q.reply, watch_i};

  `GS_ASSERT_NOW(buffer_never_overflows, !in_valid_i || !full)
  `GS_ASSERT_NOW(rejected_packets_do_not_enter, !in_valid_i || !reject_o)
  `GS_ASSERT_NOW(free_flits_within_depth, free_q <= ptr_t'(Depth))
  `GS_ASSERT_HOLD(elements_stable_while_stalled, out_valid_o, out_ready_i || bind_valid_i,
                  {out_data_o, out_keep_o, out_last_o})
  `GS_ASSERT_NOW(element_fits_into_beat,
                 !(open_valid_i && open_ready_o) || (32'd1 << log_bytes(open_i.element)) <= Bytes)
  `GS_ASSERT_NOW(read_flit_is_not_being_written, !(u_flits.undefined && (issued_q || direct)))
  `GS_ASSERT_NOW(read_mark_is_not_being_written, !(u_marks.undefined && (issued_q || direct)))
endmodule
