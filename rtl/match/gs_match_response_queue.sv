// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Packets of the match engine of a tile to its threads, queued until the threads' mailboxes have space. The engine
/// continues meanwhile, so a thread that does not receive does not block others.
///
/// A thread has at most `Window` packets that it has not acknowledged (`taken`); further packets wait here. Messages
/// leave in the order in which they matched their receives: a linked list of the store's slots for each thread. All
/// other packets precede messages, and each kind has one pending bit per thread:
///
///     answer    to a request, of one flit; or the message that a probe has found, which stays in its slot
///     full      a message for this thread was rejected; the first rejection not yet reported
///     bad       a request was rejected because the answer to an earlier one had not left
///     news, cleared
///     reached   after all messages: the counter has reached the value that the thread awaits
///
///     Rest -> Look -> Read -> Send -> Rest      queued packets; threads are served round-robin
///       +-------------^                         a message that may leave at once
module gs_match_response_queue
  import gossamer_pkg::*;
#(
  /// threads, 2 to 256
  parameter  int unsigned Receivers = 16,
  /// bits of a thread's number
  parameter  int unsigned ThreadBits = 6,
  /// flits of the longest message
  parameter  int unsigned MaxFlits  = 4,
  /// slots of the store, a power of two
  parameter  int unsigned Slots     = 256,
  /// packets of a thread that it has not acknowledged, at most; 1 to 255
  parameter  int unsigned Window    = 4,
  localparam int unsigned IdW       = $clog2(Slots),
  localparam int unsigned FlitW     = (MaxFlits > 1) ? $clog2(MaxFlits) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  /// the following inputs are accepted in this cycle
  output logic                 ready_o,
  input  logic [ThreadBits-1:0] thread_i,
  /// an answer's flit; a message's handle of its receive
  input  match_packet_head_t   head_i,
  /// a message: its slot, the number of its last flit, whether it was sent without credit
  input  logic [IdW-1:0]       slot_i,
  input  logic [FlitW-1:0]     last_i,
  input  logic                 announced_i,
  /// sends a message; with found_i to a matched probe
  input  logic                 send_i,
  /// sends an answer; with found_i the message, or the flit if the message is dropped before it has left
  input  logic                 answer_i,
  input  logic                 found_i,
  input  logic                 full_i,
  input  logic                 bad_i,
  input  logic                 news_i,
  /// the packet named the port of a nonexistent thread: `bad` is sent there, where the tile drops and counts it
  input  logic                 stray_i,
  /// sends head_i after this number of further messages has left
  input  logic                 await_i,
  input  logic [31:0]          await_count_i,
  /// the thread has acknowledged this number of packets
  input  logic                 took_i,
  input  logic [7:0]           took_count_i,
  /// drops messages, news, awaited counts and counts of packets; notifies the thread
  input  logic                 clear_i,
  /// threads with an answer that has not left
  output logic [Receivers-1:0] answering_o,
  /// store: the flit being read; its data arrive in the next cycle
  output logic [IdW-1:0]       read_slot_o,
  output logic [FlitW-1:0]     read_flit_o,
  input  logic [127:0]         read_data_i,
  /// the slot is in use, even after a clear
  output logic                 reading_o,
  /// frees the slot of a message that has left
  output logic                 free_o,
  output logic                 free_announced_o,
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output logic                 out_last_o,
  output logic [ThreadBits-1:0] out_thread_o,
  output logic [127:0]         out_data_o,
  output logic                 busy_o
);
  if (Receivers < 2 || Receivers > 256 || Window < 1 || Window > 255) begin : gen_illegal_size
    $fatal(1, "gs_match_response_queue: %0d threads (2 to 256), windows of %0d packets (1 to 255)", Receivers, Window);
  end

  localparam int unsigned ThreadW = $clog2(Receivers);
  localparam int unsigned CountW = $clog2(Window + 1);
  typedef logic [ThreadW-1:0] thread_t;
  typedef logic [Receivers-1:0] threads_t;
  typedef logic [IdW-1:0] id_t;
  typedef logic [FlitW-1:0] flit_nr_t;
  typedef logic [CountW-1:0] count_t;
  typedef struct packed {
    logic        announced;
    logic        found;
    flit_nr_t    last;
    logic [15:0] handle;
  } item_t;
  typedef enum logic [1:0] {Rest, Look, Read, Send} state_e;
  typedef enum logic [2:0] {Message, Answer, Full, Bad, News, Cleared, Reached} what_e;

  state_e state_q, state_d;
  what_e what, what_q;
  thread_t here, at_q, picked;
  threads_t here_bit, at_bit;
  assign here     = thread_t'(thread_i);
  assign here_bit = threads_t'(1) << here;
  assign at_bit   = threads_t'(1) << at_q;

  // ------------------------------------------------- pending packets by thread
  threads_t list_q, answer_q, found_q, full_q, bad_q, news_q, cleared_q, reached_q, await_q, open, waits, unused_grant;
  count_t count_q[Receivers];
  logic serve, direct, select, stray_q;
  logic [ThreadBits-1:0] stray_thread_q;

  always_comb begin
    for (int unsigned t = 0; t < Receivers; t++) open[t] = 32'(count_q[t]) < Window;
  end
  assign waits       = list_q | answer_q | full_q | bad_q | news_q | cleared_q | reached_q;
  assign answering_o = answer_q;
  assign direct      = send_i && state_q == Rest && !stray_q && open[here] && !waits[here];
  assign select      = state_q == Rest && !stray_q && !direct;
  gs_arbiter #(.N(Receivers)) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (waits & (open | cleared_q)),
    .gnt_o    (unused_grant),
    .idx_o    (picked),
    .advance_i(select)
  );

  always_comb begin
    what = Message;
    if (cleared_q[at_q]) what = Cleared;
    else if (answer_q[at_q]) what = Answer;
    else if (full_q[at_q]) what = Full;
    else if (bad_q[at_q]) what = Bad;
    else if (news_q[at_q]) what = News;
    else if (!list_q[at_q]) what = Reached;
  end
  // A clear may have arrived in between.
  assign serve = state_q == Look && waits[at_q];

  // ---------------------------------------------------------------- lists
  logic push, pop, popped_q, pop_last;
  id_t first, end_of_list, following;
  item_t item, pushed, item_q;
  thread_t list_thread;
  assign push        = send_i && !direct;
  assign pop         = serve && what == Message;
  assign pop_last    = first == end_of_list;
  assign pushed      = '{announced: announced_i, found: found_i, last: last_i, handle: head_i.handle};
  assign list_thread = (state_q == Look) ? at_q : here;
  // No insertion during a removal: lists change in the cycle of Look and the next one.
  assign ready_o = state_q != Look && !(state_q == Read && popped_q);

  logic has_next;
  assign has_next = state_q == Read && popped_q && list_q[at_q];
  gs_ram_sdp #(.Width(IdW), .Depth(Receivers), .Latency(0), .Style("distributed")) u_first (
    .clk_i, .we_i(has_next || (push && !list_q[here])), .wstrb_i(1'b1),
    .waddr_i(has_next ? at_q : here), .wdata_i(has_next ? following : slot_i),
    .re_i   (1'b1), .raddr_i(at_q), .rdata_o(first)
  );
  gs_ram_sdp #(.Width(IdW), .Depth(Receivers), .Latency(0), .Style("distributed")) u_last (
    .clk_i, .we_i(push), .wstrb_i(1'b1), .waddr_i(here), .wdata_i(slot_i),
    .re_i(1'b1), .raddr_i(list_thread), .rdata_o(end_of_list)
  );
  gs_ram_sdp #(.Width(IdW), .Depth(Slots)) u_next (
    .clk_i, .we_i(push && list_q[here]), .wstrb_i(1'b1), .waddr_i(end_of_list), .wdata_i(slot_i),
    .re_i(pop), .raddr_i(first), .rdata_o(following)
  );
  gs_ram_sdp #(.Width($bits(item_t)), .Depth(Slots)) u_items (
    .clk_i, .we_i(push), .wstrb_i(1'b1), .waddr_i(slot_i), .wdata_i(pushed),
    .re_i(pop), .raddr_i(first), .rdata_o(item)
  );

  // ------------------------------------------------------- one-flit packets
  // Three rows per thread: an answer, a rejected message, the packet to send when a count is reached.
  match_packet_head_t row;
  logic [1:0] row_in, row_out;
  assign row_in  = await_i ? 2'd2 : full_i ? 2'd1 : 2'd0;
  assign row_out = (what == Reached) ? 2'd2 : (what == Full) ? 2'd1 : 2'd0;
  gs_ram_sdp #(.Width(128), .Depth(4 * Receivers)) u_rows (
    .clk_i, .we_i((answer_i && !answer_q[here]) || (full_i && !full_q[here]) || await_i), .wstrb_i(1'b1),
    .waddr_i({here, row_in}), .wdata_i(head_i), .re_i(serve), .raddr_i({at_q, row_out}), .rdata_o(row)
  );
  id_t found_slot;
  flit_nr_t found_last;
  gs_ram_sdp #(.Width(IdW + FlitW), .Depth(Receivers), .Latency(0), .Style("distributed")) u_found (
    .clk_i, .we_i(answer_i && !answer_q[here]), .wstrb_i(1'b1), .waddr_i(here), .wdata_i({slot_i, last_i}),
    .re_i(1'b1), .raddr_i(at_q), .rdata_o({found_slot, found_last})
  );

  // Messages still to leave before a count is reached
  logic [31:0] left, left_new;
  logic counts;
  assign counts   = send_i && await_q[here];
  assign left_new = await_i ? await_count_i : left - 32'd1;
  gs_ram_sdp #(.Width(32), .Depth(Receivers), .Latency(0), .Style("distributed")) u_left (
    .clk_i, .we_i(await_i || counts), .wstrb_i(1'b1), .waddr_i(here), .wdata_i(left_new),
    .re_i(1'b1), .raddr_i(here), .rdata_o(left)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      list_q    <= '0;
      answer_q  <= '0;
      full_q    <= '0;
      bad_q     <= '0;
      news_q    <= '0;
      cleared_q <= '0;
      reached_q <= '0;
      await_q   <= '0;
      stray_q   <= 1'b0;
    end else begin
      if (serve) begin
        unique case (what)
          Message: if (pop_last) list_q <= list_q & ~at_bit;
          Answer: answer_q <= answer_q & ~at_bit;
          Full: full_q <= full_q & ~at_bit;
          Bad: bad_q <= bad_q & ~at_bit;
          News: news_q <= news_q & ~at_bit;
          Cleared: cleared_q <= cleared_q & ~at_bit;
          default: reached_q <= reached_q & ~at_bit;
        endcase
      end else begin
        if (push) list_q <= list_q | here_bit;
        if (answer_i) begin
          answer_q <= answer_q | here_bit;
          if (answer_q[here]) bad_q <= bad_q | here_bit;
        end
        if (full_i) full_q <= full_q | here_bit;
        if (bad_i) bad_q <= bad_q | here_bit;
        if (news_i) news_q <= news_q | here_bit;
        if (await_i || counts) begin
          await_q   <= (left_new != '0) ? await_q | here_bit : await_q & ~here_bit;
          reached_q <= (left_new == '0) ? reached_q | here_bit : reached_q & ~here_bit;
        end
        if (clear_i) begin
          cleared_q <= cleared_q | here_bit;
          list_q    <= '0;
          news_q    <= '0;
          await_q   <= '0;
          reached_q <= '0;
        end
      end
      if (stray_i) stray_q <= 1'b1;
      else if (state_q == Rest) stray_q <= 1'b0;
    end
    if (clear_i) found_q <= '0;
    else if (answer_i && !answer_q[here]) found_q[here] <= found_i;
    if (stray_i) stray_thread_q <= thread_i;
    for (int unsigned t = 0; t < Receivers; t++) begin
      if (!rst_ni || clear_i) count_q[t] <= '0;
      else if ((serve && at_bit[t] && what != Cleared) || (direct && here_bit[t])) begin
        count_q[t] <= count_q[t] + count_t'(1);
      end else if (took_i && here_bit[t]) begin
        count_q[t] <= (32'(took_count_i) < 32'(count_q[t])) ? count_q[t] - count_t'(took_count_i) : '0;
      end
    end
  end

  // ------------------------------------------------------------------ out
  logic stored_q, frees_q, out_moves, ends;
  id_t slot_q;
  flit_nr_t last_q, flit_q;
  logic [ThreadBits-1:0] thread_q;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Rest: if (stray_q || direct) state_d = Read;
      else if ((waits & (open | cleared_q)) != '0) state_d = Look;
      Look: state_d = serve ? Read : Rest;
      Read: state_d = Send;
      default: if (ends) state_d = Rest;
    endcase
  end
  assign out_valid_o      = state_q == Send;
  assign out_moves        = out_valid_o && out_ready_i;
  assign out_last_o       = flit_q == last_q;
  assign ends             = out_moves && out_last_o;
  assign out_thread_o     = thread_q;
  assign free_o           = ends && frees_q;
  assign free_announced_o = item_q.announced;
  assign read_slot_o      = slot_q;
  assign read_flit_o      = out_moves ? flit_q + flit_nr_t'(1) : flit_q;
  assign reading_o        = stored_q && state_q inside {Read, Send};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Rest;
    else state_q <= state_d;
    if (state_q == Rest) begin
      at_q     <= picked;
      what_q   <= stray_q ? Bad : Message;
      thread_q <= stray_q ? stray_thread_q : thread_i;
      stored_q <= direct;
      popped_q <= 1'b0;
      slot_q   <= slot_i;
      last_q   <= stray_q ? '0 : last_i;
      item_q   <= pushed;
    end
    if (serve) begin
      what_q   <= what;
      thread_q <= ThreadBits'(at_q);
      stored_q <= what == Message || (what == Answer && found_q[at_q]);
      popped_q <= pop;
      slot_q   <= pop ? first : found_slot;
      last_q   <= (what == Answer && found_q[at_q]) ? found_last : '0;
    end
    if (state_q == Read && popped_q) begin
      item_q <= item;
      last_q <= item.last;
    end
    // All slots have already been freed by the clear.
    if (clear_i) frees_q <= 1'b0;
    else if (state_q == Rest) frees_q <= direct;
    else if (serve) frees_q <= pop;
    if (state_q != Send) flit_q <= '0;
    else if (out_moves) flit_q <= flit_q + flit_nr_t'(1);
  end

  match_packet_head_t head;
  always_comb begin
    head = stored_q ? match_packet_head_t'(read_data_i) : row;
    unique case (what_q)
      Message: begin
        head.handle = item_q.handle;
        if (item_q.found) head.kind = head.kind | MatchPacketFound;
      end
      Answer: if (stored_q) begin
        head.handle = row.handle;
        head.kind   = head.kind | MatchPacketFound;
      end
      Bad: head = '{kind: MatchPacketBad, default: '0};
      News: head = '{kind: MatchPacketNews, default: '0};
      Cleared: head = '{kind: MatchPacketCleared, default: '0};
      default: ;
    endcase
    out_data_o = (flit_q == '0) ? head : read_data_i;
  end
  assign busy_o = state_q != Rest || stray_q || waits != '0;

  // last_q holds the number of the last flit.
  logic unused;
  assign unused = ^item_q.last;

  `GS_ASSERT_NOW(one_input_at_a_time,
                 $onehot0({send_i, answer_i, full_i, bad_i, news_i, stray_i, await_i, took_i, clear_i}))
  `GS_ASSERT_NOW(no_input_while_not_ready, ready_o
                 || !(send_i || answer_i || full_i || bad_i || news_i || stray_i || await_i || took_i || clear_i))
  `GS_ASSERT_HOLD(payload_stable_while_stalled, out_valid_o, out_ready_i, {out_last_o, out_thread_o, out_data_o})
  `GS_ASSERT_NOW(link_is_not_read_while_it_is_written, !u_next.collides)
  `GS_ASSERT_NOW(item_is_not_read_while_it_is_written, !u_items.collides)
  `GS_ASSERT_NOW(row_is_not_read_while_it_is_written, !u_rows.collides)
endmodule
