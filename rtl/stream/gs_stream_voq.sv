// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Virtual output queues of a port, one for each rank: messages that wait for their receiver do not block later ones.
///
///     gs_stream_push: a complete message without a credit --> queue of its rank --> packets, when credits arrive
///                                                                        \--> ask for the next message in the queue
///
/// A message is queued whole: a head, then its flits; a message of up to 8 bytes has its data in the head. For the
/// first message of an empty queue gs_stream_push has already asked; once it has been sent, the queue asks for the next
/// one. So a port has at most one ask pending per receiver, and messages to a rank stay in order. Credits of a rank
/// with queued messages are for its first one.
module gs_stream_voq
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// destination ranks, a power of two, 2 or more; flits of a rank's queue, a power of two, 4 or more
  parameter  int unsigned Ranks  = 16,
  parameter  int unsigned Flits  = 16,
  /// flits of payload in the longest packet
  parameter  int unsigned Packet = 32,
  localparam int unsigned PtrW = $clog2(Flits)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  /// address of the port, and the job of its packets
  input  logic [31:0]         own_i,
  input  logic [4:0]          job_i,
  /// number of the binding; a new binding discards all queued messages
  input  account_t            account_i,
  input  logic                clear_i,
  // A complete message and its rank; its flits, the first one with `accept_o`, unless the message fits into its head.
  // `nonempty_o`: the rank has queued messages
  input  logic                offer_valid_i,
  input  send_open_t          offer_i,
  input  logic [BytesW-1:0]   bytes_i,
  input  logic [127:0]        flit_i,
  output logic                accept_o,
  output logic                in_head_o,
  input  logic [7:0]          rank_i,
  output logic                nonempty_o,
  // Credits of this binding; whether they are for a queued message
  input  logic                credit_valid_i,
  input  logic [7:0]          credit_rank_i,
  input  credits_t            credit_flits_i,
  output logic                credit_for_voq_o,
  // Packets
  output logic                out_valid_o,
  input  logic                out_ready_i,
  output flit_t               out_o
);
  localparam int unsigned RankW = $clog2(Ranks);
  localparam int unsigned InHead = 8;
  localparam int unsigned SizeW = PtrW + LaneW;
  typedef logic [RankW-1:0] rank_t;
  typedef logic [PtrW-1:0] ptr_t;
  typedef logic [PtrW:0] count_t;
  typedef logic [SizeW-1:0] size_t;

  if (Ranks < 2 || Ranks > 256 || (Ranks & (Ranks - 1)) != 0) begin : gen_illegal_ranks
    $fatal(1, "gs_stream_voq: Ranks is %0d; it must be a power of two from 2 to 256", Ranks);
  end
  if (Flits < 4 || Flits > 4096 || (Flits & (Flits - 1)) != 0) begin : gen_illegal_flits
    $fatal(1, "gs_stream_voq: Flits is %0d; it must be a power of two from 4 to 4,096", Flits);
  end

  /// Head of a message
  typedef struct packed {
    smi_type_e   element;
    logic [7:0]  own;
    logic [31:0] dest;
    logic [15:0] bytes;
    logic [8*InHead-1:0] data;
  } head_t;
  /// A rank's queue: address of the next message, address of the first message, its flits already sent, flits in use
  typedef struct packed {
    ptr_t put;
    ptr_t first;
    ptr_t sent;
    count_t held;
  } queue_t;

  typedef enum logic [2:0] {
    Idle,
    Take,   // flits of a message arrive
    Look,   // the head of a queue's first message is read
    Start,  // a packet begins
    Body,   // its flits
    Next,   // the head of the following message is read
    Ask
  } state_e;
  state_e state_q, state_d;

  /// ranks with queued messages; ranks of these with credits
  logic [Ranks-1:0] nonempty_q, has_credits_q;
  /// the rank that is served, and its queue
  rank_t rank_q;
  queue_t queue_q;
  head_t head_q;
  /// address of the flit being read, or of the next flit to be written; flits still to be sent or received
  ptr_t ptr_q;
  count_t left_q;
  /// flits of the packet; it is the message's last
  ptr_t packet_q;
  logic last_q;
  /// cleared during a packet: that packet is completed, and has no further effect
  logic ending_q;
  logic out_free;

  // ---------------------------------------------------------------- offers
  // An empty queue restarts at address 0. A message that did not fit is retried after another one has been sent.
  queue_t queue, offered, queue_d;
  count_t flits, needed;
  logic no_fit_q, try_offer, fits, queue_we;
  rank_t ready_at;
  logic [Ranks-1:0] ready, unused_grant;
  logic pick;

  gs_ram_sdp #(
    .Width  ($bits(queue_t)),
    .Depth  (Ranks),
    .Latency(0),
    .Style  ("distributed")
  ) u_queues (
    .clk_i,
    .we_i   (queue_we),
    .wstrb_i(1'b1),
    .waddr_i(accept_o ? rank_t'(rank_i) : rank_q),
    .wdata_i(queue_d),
    .re_i   (1'b1),
    .raddr_i(try_offer ? rank_t'(rank_i) : ready_at),
    .rdata_o(queue)
  );
  assign nonempty_o = 32'(rank_i) < Ranks && nonempty_q[rank_t'(rank_i)];
  assign try_offer = state_q == Idle && offer_valid_i && !no_fit_q;
  assign offered = nonempty_o ? queue : '0;
  assign in_head_o = bytes_i <= bytes_t'(InHead);
  assign flits  = in_head_o ? '0 : count_t'((32'(bytes_i) + FlitBytes - 1) >> LaneW);
  assign needed = count_t'(1) + flits;
  assign fits = 32'(rank_i) < Ranks && (bytes_i >> SizeW) == '0 && 32'(offered.held) + 32'(needed) <= Flits;
  // A credit in this cycle may be for the offered message.
  assign accept_o = try_offer && fits && !credit_valid_i && !clear_i;

  assign ready = nonempty_q & has_credits_q;
  assign pick  = state_q == Idle && !try_offer && ready != '0 && !clear_i;
  gs_arbiter #(.N(Ranks)) u_ready (
    .clk_i,
    .rst_ni,
    .req_i    (ready),
    .gnt_o    (unused_grant),
    .idx_o    (ready_at),
    .advance_i(pick)
  );

  // -------------------------------------------------------------- messages
  head_t offered_head;
  logic [127:0] read;
  logic reads;
  logic [RankW+PtrW-1:0] read_at;
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
    .we_i   (accept_o || state_q == Take),
    .wstrb_i(1'b1),
    .waddr_i(accept_o ? {rank_t'(rank_i), offered.put} : {rank_q, ptr_q}),
    .wdata_i(accept_o ? 128'(offered_head) : flit_i),
    .re_i   (reads),
    .raddr_i(read_at),
    .rdata_o(read)
  );

  // --------------------------------------------------------------- credits
  credits_t credits;
  count_t packet;
  logic packet_start;
  assign credit_for_voq_o = 32'(credit_rank_i) < Ranks && nonempty_q[rank_t'(credit_rank_i)];
  gs_ram_sdp #(
    .Width  (CreditW),
    .Depth  (Ranks),
    .Latency(0),
    .Style  ("distributed")
  ) u_credits (
    .clk_i,
    .we_i   ((credit_valid_i && credit_for_voq_o) || packet_start),
    .wstrb_i(1'b1),
    .waddr_i(credit_valid_i ? rank_t'(credit_rank_i) : rank_q),
    .wdata_i(credit_valid_i ? (has_credits_q[rank_t'(credit_rank_i)] ? credits : '0) + credit_flits_i
                            : credits - credits_t'(packet)),
    .re_i   (1'b1),
    .raddr_i(credit_valid_i ? rank_t'(credit_rank_i) : rank_q),
    .rdata_o(credits)
  );

  // --------------------------------------------------------------- packets
  head_t head;
  count_t all_flits, left, held_after;
  logic in_head, last, packet_done, message_done;
  stream_header_t header, ask_header;
  stream_short_t short_head;
  stream_long_t long_head;
  stream_ask_t ask;
  flit_t flit, flit_q;
  logic out_valid_q, out_write;
  assign head = read[$bits(head_t)-1:0];
  assign in_head = head_q.bytes <= 16'(InHead);
  // Flits of the message after its head; flits of it still to be sent
  assign all_flits = in_head ? '0 : count_t'((32'(head_q.bytes) + FlitBytes - 1) >> LaneW);
  assign left = in_head ? count_t'(1) : all_flits - count_t'(queue_q.sent);
  always_comb begin
    packet = left;
    if (32'(packet) > Packet) packet = count_t'(Packet);
    if (32'(packet) > 32'(credits)) packet = count_t'(credits);
  end
  assign last = packet == left;
  assign packet_start = state_q == Start && out_free && !credit_valid_i && !clear_i;
  // End of the packet; end of the message
  assign packet_done  = (packet_start && in_head) || (state_q == Body && out_free && left_q == count_t'(1));
  assign message_done = packet_done && (in_head || last_q) && !ending_q && !clear_i;
  assign held_after = queue_q.held - (count_t'(1) + all_flits);

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
    ask = '{
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
    out_write = packet_start;
    if (state_q == Body) begin
      flit.kind    = FlitKindBody;
      flit.last    = left_q == count_t'(1);
      flit.payload = read;
      out_write    = 1'b1;
    end else if (state_q == Ask) begin
      flit.last    = 1'b1;
      flit.payload = ask;
      out_write    = !clear_i;
    end
  end
  assign out_free = !out_valid_q || out_ready_i;
  assign out_valid_o = out_valid_q;
  assign out_o = flit_q;

  // ---------------------------------------------------------------- states
  ptr_t next_first;
  assign next_first = queue_q.first + ptr_t'(1) + ptr_t'(all_flits);
  always_comb begin
    state_d = state_q;
    reads   = 1'b0;
    read_at = {rank_q, ptr_q};
    case (state_q)
      Idle: begin
        if (accept_o && !in_head_o) state_d = Take;
        if (pick) state_d = Look;
        reads   = pick;
        read_at = {ready_at, queue.first};
      end
      Take: if (left_q == count_t'(1)) state_d = Idle;
      Look: begin
        state_d = Start;
        reads   = 1'b1;
      end
      Start: if (packet_start && !in_head) state_d = Body;
      Body: begin
        reads   = out_free;
        read_at = {rank_q, ptr_q + ptr_t'(1)};
      end
      Next: state_d = Ask;
      Ask: if (out_free) state_d = Idle;
      default: state_d = Idle;
    endcase
    if (packet_done) state_d = Idle;
    if (message_done && held_after != '0) begin
      state_d = Next;
      reads   = 1'b1;
      read_at = {rank_q, next_first};
    end
    if (clear_i && !(state_q == Body && !packet_done)) state_d = Idle;
  end
  always_comb begin
    queue_we = accept_o || (packet_done && !ending_q);
    queue_d  = queue_q;
    if (accept_o) begin
      queue_d.put   = offered.put + ptr_t'(needed);
      queue_d.first = offered.first;
      queue_d.sent  = offered.sent;
      queue_d.held  = offered.held + needed;
    end else if (message_done) begin
      queue_d.first = next_first;
      queue_d.sent  = '0;
      queue_d.held  = held_after;
    end else begin
      queue_d.sent = queue_q.sent + packet_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q       <= Idle;
      nonempty_q    <= '0;
      has_credits_q <= '0;
      no_fit_q      <= 1'b0;
      ending_q      <= 1'b0;
      out_valid_q   <= 1'b0;
    end else begin
      state_q  <= state_d;
      ending_q <= state_d == Body && (ending_q || clear_i);
      no_fit_q <= offer_valid_i && state_q == Idle && (no_fit_q || (try_offer && !fits));
      if (out_free) out_valid_q <= out_write;
      if (accept_o) nonempty_q[rank_t'(rank_i)] <= 1'b1;
      if (message_done && held_after == '0) nonempty_q[rank_q] <= 1'b0;
      if (packet_start) has_credits_q[rank_q] <= credits != credits_t'(packet);
      if (credit_valid_i && credit_for_voq_o) has_credits_q[rank_t'(credit_rank_i)] <= 1'b1;
      if (clear_i) begin
        nonempty_q    <= '0;
        has_credits_q <= '0;
      end
    end
    if (out_free) flit_q <= flit;
    if (accept_o || pick) rank_q <= accept_o ? rank_t'(rank_i) : ready_at;
    if (pick) queue_q <= queue;
    if (message_done) queue_q <= queue_d;
    if (state_q == Look || state_q == Next) head_q <= head;
    if (accept_o) begin
      ptr_q  <= offered.put + ptr_t'(1);
      left_q <= flits;
    end else if (pick) begin
      ptr_q <= queue.first + ptr_t'(1) + queue.sent;
    end else if (state_q == Take || (state_q == Body && out_free)) begin
      ptr_q  <= ptr_q + ptr_t'(1);
      left_q <= left_q - count_t'(1);
    end
    if (packet_start) begin
      left_q   <= packet;
      packet_q <= ptr_t'(packet);
      last_q   <= last;
    end
  end

  logic unused;
  assign unused = ^{offer_i.rank, offer_i.count, unused_grant};

  `GS_ASSERT_NOW(packet_has_credits, !packet_start || (packet != '0 && credits >= credits_t'(packet)))
  `GS_ASSERT_NOW(message_uses_all_its_credits,
                 !message_done || (in_head ? credits == credits_t'(1) : !has_credits_q[rank_q]))
  `GS_ASSERT_NOW(queue_within_depth, !queue_we || 32'(queue_d.held) <= Flits)
  `GS_ASSERT_HOLD(flit_stable_while_stalled, out_valid_o, out_ready_i, out_o)
  `GS_ASSERT_NOW(flit_is_not_read_while_it_is_written, !u_messages.collides)
endmodule
