// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Messages of a port that wait for their receivers, set aside so that those behind them can go: a queue for each rank.
///
///     gs_stream_push: a complete message without a credit --> queue of its rank --> packets, when credits come
///                                                                        \--> asks for the next one in the queue
///
/// A message is set aside whole: a head, then its flits; one of up to 8 bytes has them in its head. For the first
/// message of an empty queue gs_stream_push has asked; when it has gone, the next one asks. So a receiver has one ask
/// of a port at most, and messages to a rank go in their order. Credits of a rank that has messages here are for the
/// first one.
module gs_stream_voq
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// ranks that may be sent to, a power of two, 2 or more; flits of a rank's queue, a power of two, 4 or more
  parameter  int unsigned Ranks  = 16,
  parameter  int unsigned Flits  = 16,
  /// flits of payload in the longest packet
  parameter  int unsigned Packet = 32,
  localparam int unsigned PlaceW = $clog2(Flits)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  /// address of the port, and the job of its packets
  input  logic [31:0]         own_i,
  input  logic [4:0]          job_i,
  /// number of the binding; a new one: whatever is here is given up
  input  account_t            account_i,
  input  logic                clear_i,
  // A message that is complete, and its rank; its flits, the first with `takes_o`, if that is not its head. `holds_o`:
  // the rank has messages here
  input  logic                offer_valid_i,
  input  send_open_t          offer_i,
  input  logic [BytesW-1:0]   bytes_i,
  input  logic [127:0]        flit_i,
  output logic                takes_o,
  output logic                in_head_o,
  input  logic [7:0]          rank_i,
  output logic                holds_o,
  // Credits of this binding; whether they are for a message here
  input  logic                credit_valid_i,
  input  logic [7:0]          credit_rank_i,
  input  credits_t            credit_flits_i,
  output logic                credit_here_o,
  // Packets
  output logic                out_valid_o,
  input  logic                out_ready_i,
  output flit_t               out_o
);
  localparam int unsigned RankW = $clog2(Ranks);
  localparam int unsigned InHead = 8;
  localparam int unsigned SizeW = PlaceW + LaneW;
  typedef logic [RankW-1:0] rank_t;
  typedef logic [PlaceW-1:0] place_t;
  typedef logic [PlaceW:0] count_t;
  typedef logic [SizeW-1:0] size_t;

  if (Ranks < 2 || Ranks > 256 || (Ranks & (Ranks - 1)) != 0) begin : gen_illegal_ranks
    $fatal(1, "gs_stream_voq: Ranks is %0d; it must be a power of two from 2 to 256", Ranks);
  end
  if (Flits < 4 || Flits > 4096 || (Flits & (Flits - 1)) != 0) begin : gen_illegal_flits
    $fatal(1, "gs_stream_voq: Flits is %0d; it must be a power of two from 4 to 4,096", Flits);
  end

  /// What stands in a message's head
  typedef struct packed {
    smi_type_e   element;
    logic [7:0]  own;
    logic [31:0] dest;
    logic [15:0] bytes;
    logic [8*InHead-1:0] data;
  } head_t;
  /// A rank's queue: where the next message goes, where the first one is, and its flits that have gone
  typedef struct packed {
    place_t put;
    place_t first;
    place_t sent;
    count_t held;
  } queue_t;

  typedef enum logic [2:0] {
    Idle,
    Take,   // flits of a message come
    Look,   // the head of a queue's first message is there
    Start,  // a packet begins
    Body,   // its flits
    Next,   // the head of the message behind is there
    Ask
  } state_e;
  state_e state_q, state_d;

  /// ranks that have messages here, and of those that have credits
  logic [Ranks-1:0] holds_q, some_q;
  /// the rank that is served, and its queue
  rank_t at_q;
  queue_t queue_q;
  head_t head_q;
  /// where the flit that was read stands, or the next one that comes goes; flits that are still to be sent or to come
  place_t place_q;
  count_t left_q;
  /// flits of the packet; the message's last
  place_t packet_q;
  logic last_q;
  /// it was cleared in a packet: that one ends, and nothing else counts
  logic leaves_q;
  logic out_free;

  // ---------------------------------------------------------------- offers
  // A queue without messages begins anew. What did not fit is looked at again when something else has gone.
  queue_t queue, offered, queue_d;
  count_t flits, needs;
  logic refused_q, looks, fits, queue_we;
  rank_t ready_at;
  logic [Ranks-1:0] ready, unused_grant;
  logic picks;

  gs_ram_sdp #(
    .Width  ($bits(queue_t)),
    .Depth  (Ranks),
    .Latency(0),
    .Style  ("distributed")
  ) u_queues (
    .clk_i,
    .we_i   (queue_we),
    .wstrb_i(1'b1),
    .waddr_i(takes_o ? rank_t'(rank_i) : at_q),
    .wdata_i(queue_d),
    .re_i   (1'b1),
    .raddr_i(looks ? rank_t'(rank_i) : ready_at),
    .rdata_o(queue)
  );
  assign holds_o = 32'(rank_i) < Ranks && holds_q[rank_t'(rank_i)];
  assign looks = state_q == Idle && offer_valid_i && !refused_q;
  assign offered = holds_o ? queue : '0;
  assign in_head_o = bytes_i <= bytes_t'(InHead);
  assign flits = in_head_o ? '0 : count_t'((32'(bytes_i) + FlitBytes - 1) >> LaneW);
  assign needs = count_t'(1) + flits;
  assign fits = 32'(rank_i) < Ranks && (bytes_i >> SizeW) == '0 && 32'(offered.held) + 32'(needs) <= Flits;
  // A credit in this cycle may be for the message that is offered.
  assign takes_o = looks && fits && !credit_valid_i && !clear_i;

  assign ready = holds_q & some_q;
  assign picks = state_q == Idle && !looks && ready != '0 && !clear_i;
  gs_arbiter #(.N(Ranks)) u_ready (
    .clk_i,
    .rst_ni,
    .req_i    (ready),
    .gnt_o    (unused_grant),
    .idx_o    (ready_at),
    .advance_i(picks)
  );

  // -------------------------------------------------------------- messages
  head_t offered_head;
  logic [127:0] read;
  logic reads;
  logic [RankW+PlaceW-1:0] read_at;
  assign offered_head = '{
    element: offer_i.element,
    own:     offer_i.own,
    dest:    offer_i.dest,
    bytes:   16'(bytes_i),
    data:    flit_i[8*InHead-1:0]
  };
  gs_ram_sdp #(
    .Width(128),
    .Depth(Ranks * Flits),
    .Style("block")
  ) u_messages (
    .clk_i,
    .we_i   (takes_o || state_q == Take),
    .wstrb_i(1'b1),
    .waddr_i(takes_o ? {rank_t'(rank_i), offered.put} : {at_q, place_q}),
    .wdata_i(takes_o ? 128'(offered_head) : flit_i),
    .re_i   (reads),
    .raddr_i(read_at),
    .rdata_o(read)
  );

  // --------------------------------------------------------------- credits
  credits_t credits;
  count_t packet;
  logic starts;
  assign credit_here_o = 32'(credit_rank_i) < Ranks && holds_q[rank_t'(credit_rank_i)];
  gs_ram_sdp #(
    .Width  (CreditW),
    .Depth  (Ranks),
    .Latency(0),
    .Style  ("distributed")
  ) u_credits (
    .clk_i,
    .we_i   ((credit_valid_i && credit_here_o) || starts),
    .wstrb_i(1'b1),
    .waddr_i(credit_valid_i ? rank_t'(credit_rank_i) : at_q),
    .wdata_i(credit_valid_i ? (some_q[rank_t'(credit_rank_i)] ? credits : '0) + credit_flits_i
                            : credits - credits_t'(packet)),
    .re_i   (1'b1),
    .raddr_i(credit_valid_i ? rank_t'(credit_rank_i) : at_q),
    .rdata_o(credits)
  );

  // --------------------------------------------------------------- packets
  head_t head;
  count_t all, left, after;
  logic in_head, last, ends, done;
  stream_header_t header, ask_header;
  stream_short_t short_head;
  stream_long_t long_head;
  stream_ask_t ask;
  flit_t flit, flit_q;
  logic out_valid_q, gives;
  assign head = read[$bits(head_t)-1:0];
  assign in_head = head_q.bytes <= 16'(InHead);
  // Of the message: flits behind its head, and those that have not gone.
  assign all = in_head ? '0 : count_t'((32'(head_q.bytes) + FlitBytes - 1) >> LaneW);
  assign left = in_head ? count_t'(1) : all - count_t'(queue_q.sent);
  always_comb begin
    packet = left;
    if (32'(packet) > Packet) packet = count_t'(Packet);
    if (32'(packet) > 32'(credits)) packet = count_t'(credits);
  end
  assign last = packet == left;
  assign starts = state_q == Start && out_free && !credit_valid_i && !clear_i;
  // The packet, and the message, end.
  assign ends = (starts && in_head) || (state_q == Body && out_free && left_q == count_t'(1));
  assign done = ends && (in_head || last_q) && !leaves_q && !clear_i;
  assign after = queue_q.held - (count_t'(1) + all);

  always_comb begin
    header = '{
      source:  head_q.own,
      element: head_q.element,
      account: account_i,
      port:    head_q.dest[7:0],
      op:      last ? StreamOpClose : StreamOpData,
      valid:   in_head ? 5'(head_q.bytes)
                       : (last && head_q.bytes[LaneW-1:0] != '0) ? {1'b0, head_q.bytes[LaneW-1:0]} : 5'd16
    };
    short_head = '{data: (8 * ShortBytes)'(head_q.data), header: header};
    long_head  = '{spare: '0, tag: '0, header: header};
    ask_header = '{
      source: head_q.own, element: head_q.element, account: account_i, port: head_q.dest[7:0], op: StreamOpAsk,
      valid: '0
    };
    ask  = '{
      spare: '0, reply: own_i, count: 32'(head_q.bytes) >> log_bytes(head_q.element), header: ask_header
    };
    flit = '{
      kind:    FlitKindHeader,
      last:    in_head,
      vnet:    VnetRequest,
      job:     job_i,
      epoch:   '0,
      wave:    1'b0,
      dest:    head_q.dest,
      payload: in_head ? short_head : long_head
    };
    gives = starts;
    if (state_q == Body) begin
      flit.kind    = FlitKindBody;
      flit.last    = left_q == count_t'(1);
      flit.payload = read;
      gives        = 1'b1;
    end else if (state_q == Ask) begin
      flit.last    = 1'b1;
      flit.payload = ask;
      gives        = !clear_i;
    end
  end
  assign out_free = !out_valid_q || out_ready_i;
  assign out_valid_o = out_valid_q;
  assign out_o = flit_q;

  // ---------------------------------------------------------------- states
  place_t behind;
  assign behind = queue_q.first + place_t'(1) + place_t'(all);
  always_comb begin
    state_d = state_q;
    reads   = 1'b0;
    read_at = {at_q, place_q};
    case (state_q)
      Idle: begin
        if (takes_o && !in_head_o) state_d = Take;
        if (picks) state_d = Look;
        reads   = picks;
        read_at = {ready_at, queue.first};
      end
      Take: if (left_q == count_t'(1)) state_d = Idle;
      Look: begin
        state_d = Start;
        reads   = 1'b1;
      end
      Start: if (starts && !in_head) state_d = Body;
      Body: begin
        reads   = out_free;
        read_at = {at_q, place_q + place_t'(1)};
      end
      Next: state_d = Ask;
      Ask: if (out_free) state_d = Idle;
      default: state_d = Idle;
    endcase
    if (ends) state_d = Idle;
    if (done && after != '0) begin
      state_d = Next;
      reads   = 1'b1;
      read_at = {at_q, behind};
    end
    if (clear_i && !(state_q == Body && !ends)) state_d = Idle;
  end
  always_comb begin
    queue_we = takes_o || (ends && !leaves_q);
    queue_d  = queue_q;
    if (takes_o) begin
      queue_d.put   = offered.put + place_t'(needs);
      queue_d.first = offered.first;
      queue_d.sent  = offered.sent;
      queue_d.held  = offered.held + needs;
    end else if (done) begin
      queue_d.first = behind;
      queue_d.sent  = '0;
      queue_d.held  = after;
    end else begin
      queue_d.sent = queue_q.sent + packet_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      holds_q     <= '0;
      some_q      <= '0;
      refused_q   <= 1'b0;
      leaves_q    <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      state_q   <= state_d;
      leaves_q  <= state_d == Body && (leaves_q || clear_i);
      refused_q <= offer_valid_i && state_q == Idle && (refused_q || (looks && !fits));
      if (out_free) out_valid_q <= gives;
      if (takes_o) holds_q[rank_t'(rank_i)] <= 1'b1;
      if (done && after == '0) holds_q[at_q] <= 1'b0;
      if (starts) some_q[at_q] <= credits != credits_t'(packet);
      if (credit_valid_i && credit_here_o) some_q[rank_t'(credit_rank_i)] <= 1'b1;
      if (clear_i) begin
        holds_q <= '0;
        some_q  <= '0;
      end
    end
    if (out_free) flit_q <= flit;
    if (takes_o || picks) at_q <= takes_o ? rank_t'(rank_i) : ready_at;
    if (picks) queue_q <= queue;
    if (done) queue_q <= queue_d;
    if (state_q == Look || state_q == Next) head_q <= head;
    if (takes_o) begin
      place_q <= offered.put + place_t'(1);
      left_q  <= flits;
    end else if (picks) begin
      place_q <= queue.first + place_t'(1) + queue.sent;
    end else if (state_q == Take || (state_q == Body && out_free)) begin
      place_q <= place_q + place_t'(1);
      left_q  <= left_q - count_t'(1);
    end
    if (starts) begin
      left_q   <= packet;
      packet_q <= place_t'(packet);
      last_q   <= last;
    end
  end

  logic unused;
  assign unused = ^{offer_i.rank, offer_i.count, unused_grant};

  `GS_ASSERT_NOW(a_packet_has_credits, !starts || (packet != '0 && credits >= credits_t'(packet)))
  `GS_ASSERT_NOW(no_credit_is_left_over, !done || (in_head ? credits == credits_t'(1) : !some_q[at_q]))
  `GS_ASSERT_NOW(a_queue_is_as_long_as_it_may_be, !queue_we || 32'(queue_d.held) <= Flits)
  `GS_ASSERT_HOLD(a_flit_is_stable_while_it_waits, out_valid_o, out_ready_i, out_o)
endmodule
