// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Reliable link: carries the flits of several channels over frames that may be lost or damaged but arrive in order.
///
/// The link delivers every accepted packet exactly once, unchanged and in the order of its channel, as long as neither
/// end restarts. A channel whose receiver does not read does not block the others. See docs/hardware/link.md.
///
///     tx -> store -> pack -> ring ------> send -----------> MAC
///             ^ credits       ^ window <---- heads ---.
///     rx <- store <- unpack <- buffers <- receive <--------- MAC
module gs_link
  import gossamer_pkg::*;
  import gs_link_pkg::*;
#(
  /// sizes of the link
  parameter shape_t      Shape = DefaultShape,
  /// bytes that the link and its MAC move in a cycle: 2 or 8
  parameter int unsigned Bytes = LinksDatapathBytes
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // Chip. At most one bit of each valid is set; ready does not depend on valid. Packets are always completed.
  input  logic [Channels-1:0] tx_valid_i,
  output logic [Channels-1:0] tx_ready_o,
  input  flit_t               tx_flit_i,
  /// set for a channel only if it is ready
  output logic [Channels-1:0] rx_valid_o,
  input  logic [Channels-1:0] rx_ready_i,
  output flit_t               rx_flit_o,
  // MAC: a beat of `Bytes` bytes a cycle, the first in the low bits. A sent frame has no gaps.
  output logic                mac_tx_valid_o,
  input  logic                mac_tx_ready_i,
  output logic [8*Bytes-1:0]  mac_tx_data_o,
  output logic [Bytes-1:0]    mac_tx_keep_o,
  output logic                mac_tx_last_o,
  input  logic                mac_rx_valid_i,
  input  logic [8*Bytes-1:0]  mac_rx_data_i,
  input  logic [Bytes-1:0]    mac_rx_keep_i,
  input  logic                mac_rx_last_i,
  /// with the last word: the frame is damaged
  input  logic                mac_rx_error_i,
  /// no packet waits here, is in flight and unacknowledged, or is received and waits for the chip
  output logic                idle_o,
  /// the session is open, and a good frame was received within the last `dead_cycles` cycles
  output logic                up_o,
  output events_t             events_o,
  output counters_t           counters_o
);
  localparam int unsigned BodyWords = body_words(Shape);
  localparam int unsigned WordsW = $clog2(BodyWords + 1);
  localparam int unsigned RingW = $clog2(Shape.tx_words);
  localparam int unsigned SlotIdx = $clog2(Shape.window);
  localparam int unsigned BufferW = $clog2(Shape.rx_buffers);
  localparam int unsigned BufferWords = Shape.rx_buffers * BodyWords;
  // Memories of words hold beats.
  localparam int unsigned BeatsW = $clog2(8 / Bytes);
  typedef logic [8*Bytes-1:0] beat_t;

  if (Bytes != 2 && Bytes != 8) begin : gen_illegal_bytes
    $fatal(1, "gs_link: Bytes is %0d; it must be 2 or 8", Bytes);
  end

  if (Shape.tx_words < 2 * BodyWords + 16 || (Shape.tx_words & (Shape.tx_words - 1)) != 0) begin : gen_illegal_ring
    $fatal(1, "gs_link: tx_words is %0d; it must be a power of two, two frames of %0d words or more", Shape.tx_words,
           BodyWords);
  end
  if (Channels != SeqW) begin : gen_illegal_channels
    $fatal(1, "gs_link: a head has %0d bits for the credit requests of %0d channels", SeqW, Channels);
  end
  if (Shape.tx_flits < 64) begin : gen_illegal_tx_flits
    $fatal(1, "gs_link: tx_flits is %0d; the longest packet of %0d flits must fit", Shape.tx_flits, MaxFlits);
  end

  logic open, clear, quiescent, pack_quiescent, send_quiescent, unpack_quiescent;

  // ------------------------------------------------------- packets to send

  logic [Channels-1:0] store_ready, lengths_full, tx_push, waiting_packet, enough, take, elig_q, flit_there;
  // Lengths of the first packets; with a narrow datapath flits[0] is that of `length_of`, one cycle later.
  count_t [Channels-1:0] flits;
  channel_t length_of;
  channel_t tx_channel;
  flit_t tx_flit;
  logic tx_pop;

  assign tx_ready_o = store_ready & ~lengths_full;
  assign tx_push    = tx_valid_i & tx_ready_o;

  if (Bytes == 8) begin : gen_tx_store
    gs_link_store #(
      .data_t(flit_t),
      .Depth (Shape.tx_flits)
    ) u_tx_store (
      .clk_i,
      .rst_ni,
      .in_valid_i   (tx_push),
      .in_ready_o   (store_ready),
      .in_data_i    (tx_flit_i),
      .out_valid_o  (flit_there),
      .out_channel_i(tx_channel),
      .out_data_o   (tx_flit),
      .out_pop_i    (tx_pop)
    );
  end else begin : gen_narrow_tx_store
    gs_link_narrow_store #(
      .data_t(flit_t),
      .Depth (Shape.tx_flits)
    ) u_tx_store (
      .clk_i,
      .rst_ni,
      .in_valid_i(tx_push),
      .in_ready_o(store_ready),
      .in_data_i (tx_flit_i),
      .some_o    (flit_there),
      .read_i    (tx_pop),
      .channel_i (tx_channel),
      .data_o    (tx_flit),
      .pop_i     (Channels'(tx_pop) << tx_channel)
    );
  end

  if (Bytes == 8) begin : gen_lengths
    gs_link_lengths u_lengths (
      .clk_i,
      .rst_ni,
      .flit_i (tx_push),
      .last_i (tx_flit_i.last),
      .full_o (lengths_full),
      .valid_o(waiting_packet),
      .flits_o(flits),
      .take_i (take)
    );
    assign length_of = '0;
  end else begin : gen_narrow_lengths
    gs_link_narrow_lengths u_lengths (
      .clk_i,
      .rst_ni,
      .flit_i   (tx_push),
      .last_i   (tx_flit_i.last),
      .full_o   (lengths_full),
      .valid_o  (waiting_packet),
      .channel_i(length_of),
      .flits_o  (flits[0]),
      .take_i   (take)
    );
    assign flits[Channels-1:1] = '0;
  end

  // A channel that waits for credits asks the other end for its limit: the frame that carried it may have been lost.
  logic [Channels-1:0] starved, starved_q, limit_requests;
  logic limits_known;
  always_ff @(posedge clk_i) starved_q <= starved;

  // A complete packet that has its credits may be taken.
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear) elig_q <= '0;
    else elig_q <= waiting_packet & enough & ~take;
  end

  // ------------------------------------------------------------------ sending

  logic ring_we, ring_re, frame_valid, frame_ready, frame_open, send_idle, window_space;
  logic [RingW+BeatsW-1:0] ring_waddr, ring_raddr;
  logic [RingW-1:0] kept, frame_start, lost_start;
  logic [WordsW-1:0] frame_words, lost_words;
  beat_t ring_wdata, ring_rdata;
  logic [PacketsW-1:0] frame_packets;
  seq_t next, lost_seq, sent_seq, want;
  logic lost, free, sent, sent_hello, sent_data, sent_new, unacknowledged, hello, plain, ended;
  stamp_t stamp, echo_q;
  slots_t map;
  link_hello_t hello_word;
  logic [7:0] tag;
  logic [SlotIdx-1:0] free_slot;
  logic [15:0] packets_out, tx_bytes;
  channel_t limit_channel;
  limit_t limit;

  if (Bytes == 8) begin : gen_pack
    gs_link_pack #(
      .BodyWords(BodyWords),
      .RingWords(Shape.tx_words)
    ) u_pack (
      .clk_i,
      .rst_ni,
      .clear_i        (clear),
      .up_i           (open),
      .quiescent_o    (pack_quiescent),
      .ready_i        (elig_q),
      .flits_i        (flits),
      .take_o         (take),
      .channel_o      (tx_channel),
      .flit_valid_i   (flit_there[tx_channel]),
      .flit_i         (tx_flit),
      .pop_o          (tx_pop),
      .we_o           (ring_we),
      .waddr_o        (ring_waddr),
      .wdata_o        (ring_wdata),
      .kept_i         (kept),
      .idle_i         (send_idle),
      .open_o         (frame_open),
      .window_i       (window_space),
      .frame_valid_o  (frame_valid),
      .frame_ready_i  (frame_ready),
      .frame_start_o  (frame_start),
      .frame_words_o  (frame_words),
      .frame_packets_o(frame_packets)
    );
  end else begin : gen_narrow_pack
    gs_link_narrow_pack #(
      .BodyWords(BodyWords),
      .RingWords(Shape.tx_words)
    ) u_pack (
      .clk_i,
      .rst_ni,
      .clear_i        (clear),
      .up_i           (open),
      .quiescent_o    (pack_quiescent),
      .ready_i        (elig_q),
      .flits_i        (flits[0]),
      .take_o         (take),
      .channel_o      (tx_channel),
      .flit_i         (tx_flit),
      .pop_o          (tx_pop),
      .we_o           (ring_we),
      .waddr_o        (ring_waddr),
      .wdata_o        (ring_wdata),
      .kept_i         (kept),
      .idle_i         (send_idle),
      .open_o         (frame_open),
      .window_i       (window_space),
      .frame_valid_o  (frame_valid),
      .frame_ready_i  (frame_ready),
      .frame_start_o  (frame_start),
      .frame_words_o  (frame_words),
      .frame_packets_o(frame_packets)
    );
  end

  gs_ram_sdp #(
    .Width(8 * Bytes),
    .Depth(Shape.tx_words * 8 / Bytes),
    .Style("block")
  ) u_ring (
    .clk_i,
    .we_i   (ring_we),
    .wstrb_i(1'b1),
    .waddr_i(ring_waddr),
    .wdata_i(ring_wdata),
    .re_i   (ring_re),
    .raddr_i(ring_raddr),
    .rdata_o(ring_rdata)
  );

  gs_link_unacked #(
    .Window   (Shape.window),
    .BodyWords(BodyWords),
    .RingWords(Shape.tx_words)
  ) u_frames (
    .clk_i,
    .rst_ni,
    .clear_i      (clear),
    .put_i        (sent_data && sent_new),
    .put_seq_i    (next[SlotIdx-1:0]),
    .put_start_i  (frame_start),
    .put_words_i  (frame_words),
    .put_packets_i(frame_packets),
    .get_seq_i    (lost_seq[SlotIdx-1:0]),
    .get_start_o  (lost_start),
    .get_words_o  (lost_words),
    .free_i       (free),
    .free_seq_i   (free_slot),
    .kept_o       (kept),
    .packet_i     (take != '0),
    .packets_o    (packets_out)
  );

  if (Bytes == 8) begin : gen_send
    gs_link_send #(
      .BodyWords (BodyWords),
      .RingWords (Shape.tx_words),
      .LeastBytes(Shape.least_bytes)
    ) u_send (
      .clk_i,
      .rst_ni,
      .up_i         (open),
      .hello_i      (hello),
      .plain_i      (plain && !frame_open),
      .lost_i       (lost),
      .lost_seq_i   (lost_seq),
      .lost_start_i (lost_start),
      .lost_words_i (lost_words),
      .frame_valid_i(frame_valid),
      .frame_ready_o(frame_ready),
      .frame_start_i(frame_start),
      .frame_words_i(frame_words),
      .idle_o       (send_idle),
      .next_i       (next),
      .want_i       (want),
      .map_i        (map),
      .echo_i       (echo_q),
      .channel_i    (limit_channel),
      .limit_i      (limit),
      .starved_i    (starved_q),
      .tag_i        (tag),
      .hello_word_i (hello_word),
      .sent_o       (sent),
      .sent_hello_o (sent_hello),
      .sent_data_o  (sent_data),
      .sent_new_o   (sent_new),
      .sent_seq_o   (sent_seq),
      .stamp_o      (stamp),
      .ended_o      (ended),
      .bytes_o      (tx_bytes),
      .quiescent_o  (send_quiescent),
      .re_o         (ring_re),
      .raddr_o      (ring_raddr),
      .rdata_i      (ring_rdata),
      .mac_valid_o  (mac_tx_valid_o),
      .mac_ready_i  (mac_tx_ready_i),
      .mac_data_o   (mac_tx_data_o),
      .mac_keep_o   (mac_tx_keep_o),
      .mac_last_o   (mac_tx_last_o)
    );
  end else begin : gen_narrow_send
    gs_link_narrow_send #(
      .BodyWords (BodyWords),
      .RingWords (Shape.tx_words),
      .LeastBytes(Shape.least_bytes)
    ) u_send (
      .clk_i,
      .rst_ni,
      .up_i         (open && limits_known),
      .hello_i      (hello),
      // A frame that waits for the window must not delay limits and acknowledgements.
      .plain_i      (plain && !(frame_open && window_space)),
      .lost_i       (lost),
      .lost_seq_i   (lost_seq),
      .lost_start_i (lost_start),
      .lost_words_i (lost_words),
      .frame_valid_i(frame_valid && window_space),
      .frame_ready_o(frame_ready),
      .frame_start_i(frame_start),
      .frame_words_i(frame_words),
      .idle_o       (send_idle),
      .next_i       (next),
      .want_i       (want),
      .map_i        (map),
      .echo_i       (echo_q),
      .channel_i    (limit_channel),
      .limit_i      (limit),
      .starved_i    (starved_q),
      .tag_i        (tag),
      .hello_word_i (hello_word),
      .sent_o       (sent),
      .sent_hello_o (sent_hello),
      .sent_data_o  (sent_data),
      .sent_new_o   (sent_new),
      .sent_seq_o   (sent_seq),
      .stamp_o      (stamp),
      .ended_o      (ended),
      .bytes_o      (tx_bytes),
      .quiescent_o  (send_quiescent),
      .re_o         (ring_re),
      .raddr_o      (ring_raddr),
      .rdata_i      (ring_rdata),
      .mac_valid_o  (mac_tx_valid_o),
      .mac_ready_i  (mac_tx_ready_i),
      .mac_data_o   (mac_tx_data_o),
      .mac_keep_o   (mac_tx_keep_o),
      .mac_last_o   (mac_tx_last_o)
    );
  end

  // ---------------------------------------------------------------- receiving

  logic buffer_we, buffer_re, buffer_valid, good, ours, damaged, stored, dropped, data, read_valid, read_done, packet;
  logic [$clog2(BufferWords)+BeatsW-1:0] buffer_waddr, buffer_raddr;
  beat_t buffer_wdata, buffer_rdata;
  word_t second;
  logic [BufferW-1:0] buffer, read_buffer;
  logic [WordsW-1:0] rx_words, read_words;
  logic [15:0] rx_bytes;
  link_frame_t head;
  logic [Channels-1:0] rx_push, rx_there, rx_gnt;
  flit_t rx_push_flit;
  channel_t rx_channel;
  logic rx_pop, violation;
  // Free space; with a narrow datapath rx_free[0] is that of `rx_unpacked`.
  free_t [Channels-1:0] rx_free;
  channel_t rx_unpacked;

  if (Bytes == 8) begin : gen_receive
    gs_link_receive #(
      .BodyWords(BodyWords),
      .Buffers  (Shape.rx_buffers)
    ) u_receive (
      .clk_i,
      .rst_ni,
      .mac_valid_i   (mac_rx_valid_i),
      .mac_data_i    (mac_rx_data_i),
      .mac_keep_i    (mac_rx_keep_i),
      .mac_last_i    (mac_rx_last_i),
      .mac_error_i   (mac_rx_error_i),
      .buffer_valid_i(buffer_valid),
      .buffer_i      (buffer),
      .we_o          (buffer_we),
      .waddr_o       (buffer_waddr),
      .wdata_o       (buffer_wdata),
      .good_o        (good),
      .head_o        (head),
      .second_o      (second),
      .words_o       (rx_words),
      .stored_o      (stored),
      .bytes_o       (rx_bytes),
      .damaged_o     (damaged)
    );
  end else begin : gen_narrow_receive
    gs_link_narrow_receive #(
      .BodyWords(BodyWords),
      .Buffers  (Shape.rx_buffers)
    ) u_receive (
      .clk_i,
      .rst_ni,
      .mac_valid_i   (mac_rx_valid_i),
      .mac_data_i    (mac_rx_data_i),
      .mac_keep_i    (mac_rx_keep_i),
      .mac_last_i    (mac_rx_last_i),
      .mac_error_i   (mac_rx_error_i),
      .buffer_valid_i(buffer_valid),
      .buffer_i      (buffer),
      .we_o          (buffer_we),
      .waddr_o       (buffer_waddr),
      .wdata_o       (buffer_wdata),
      .good_o        (good),
      .head_o        (head),
      .second_o      (second),
      .words_o       (rx_words),
      .stored_o      (stored),
      .bytes_o       (rx_bytes),
      .damaged_o     (damaged)
    );
  end

  assign data = ours && head.kind == LinkFrameKindData;

  gs_link_reorder #(
    .Window   (Shape.window),
    .Buffers  (Shape.rx_buffers),
    .BodyWords(BodyWords)
  ) u_order (
    .clk_i,
    .rst_ni,
    .clear_i       (clear),
    .frame_i       (data),
    .seq_i         (head.seq),
    .words_i       (rx_words),
    .stored_i      (stored),
    .dropped_o     (dropped),
    .buffer_valid_o(buffer_valid),
    .buffer_o      (buffer),
    .want_o        (want),
    .map_o         (map),
    .read_valid_o  (read_valid),
    .read_buffer_o (read_buffer),
    .read_words_o  (read_words),
    .read_done_i   (read_done)
  );

  gs_ram_sdp #(
    .Width(8 * Bytes),
    .Depth(BufferWords * 8 / Bytes),
    .Style("block")
  ) u_buffers (
    .clk_i,
    .we_i   (buffer_we),
    .wstrb_i(1'b1),
    .waddr_i(buffer_waddr),
    .wdata_i(buffer_wdata),
    .re_i   (buffer_re),
    .raddr_i(buffer_raddr),
    .rdata_o(buffer_rdata)
  );

  if (Bytes == 8) begin : gen_unpack
    gs_link_unpack #(
      .BodyWords(BodyWords),
      .Buffers  (Shape.rx_buffers)
    ) u_unpack (
      .clk_i,
      .rst_ni,
      .frame_valid_i(read_valid),
      .buffer_i     (read_buffer),
      .words_i      (read_words),
      .done_o       (read_done),
      .re_o         (buffer_re),
      .raddr_o      (buffer_raddr),
      .rdata_i      (buffer_rdata),
      .free_i       (rx_free),
      .push_o       (rx_push),
      .flit_o       (rx_push_flit),
      .packet_o     (packet),
      .violation_o  (violation),
      .quiescent_o  (unpack_quiescent)
    );
  end else begin : gen_narrow_unpack
    gs_link_narrow_unpack #(
      .BodyWords(BodyWords),
      .Buffers  (Shape.rx_buffers)
    ) u_unpack (
      .clk_i,
      .rst_ni,
      .frame_valid_i(read_valid),
      .buffer_i     (read_buffer),
      .words_i      (read_words),
      .done_o       (read_done),
      .re_o         (buffer_re),
      .raddr_o      (buffer_raddr),
      .rdata_i      (buffer_rdata),
      .channel_o    (rx_unpacked),
      .free_i       (rx_free[0]),
      .push_o       (rx_push),
      .flit_o       (rx_push_flit),
      .packet_o     (packet),
      .violation_o  (violation),
      .quiescent_o  (unpack_quiescent)
    );
  end

  logic [Channels-1:0] unused_ready;

  if (Bytes == 8) begin : gen_rx
    gs_link_store #(
      .data_t(flit_t),
      .Depth (Shape.rx_flits)
    ) u_rx_store (
      .clk_i,
      .rst_ni,
      .in_valid_i   (rx_push),
      .in_ready_o   (unused_ready),
      .in_data_i    (rx_push_flit),
      .out_valid_o  (rx_there),
      .out_channel_i(rx_channel),
      .out_data_o   (rx_flit_o),
      .out_pop_i    (rx_pop)
    );

    // A granted channel keeps its grant until its packet ends, unless it must wait.
    gs_arbiter #(
      .N(Channels)
    ) u_rx_arbiter (
      .clk_i,
      .rst_ni,
      .req_i    (rx_there & rx_ready_i),
      .gnt_o    (rx_gnt),
      .idx_o    (rx_channel),
      .advance_i(rx_flit_o.last)
    );

    assign rx_pop = rx_gnt != '0;
  end else begin : gen_narrow_rx
    // A flit is read for a channel that is ready, and delivered in the next cycle if the channel still is.
    logic [Channels-1:0] rx_next;
    channel_t rx_next_at, rx_at_q;
    logic rx_read_q, rx_inside_q, rx_stays;
    gs_link_narrow_store #(
      .data_t(flit_t),
      .Depth (Shape.rx_flits)
    ) u_rx_store (
      .clk_i,
      .rst_ni,
      .in_valid_i(rx_push),
      .in_ready_o(unused_ready),
      .in_data_i (rx_push_flit),
      .some_o    (rx_there),
      .read_i    (!rx_read_q && rx_next != '0),
      .channel_i (rx_channel),
      .data_o    (rx_flit_o),
      .pop_i     (rx_gnt)
    );
    gs_arbiter #(
      .N(Channels)
    ) u_rx_arbiter (
      .clk_i,
      .rst_ni,
      .req_i    (rx_there & rx_ready_i),
      .gnt_o    (rx_next),
      .idx_o    (rx_next_at),
      .advance_i(!rx_read_q && !rx_stays)
    );
    // A granted channel keeps its grant until its packet ends, unless it must wait.
    assign rx_stays = rx_inside_q && rx_there[rx_at_q] && rx_ready_i[rx_at_q];
    assign rx_channel = rx_stays ? rx_at_q : rx_next_at;
    assign rx_gnt = Channels'(rx_read_q) << rx_at_q & rx_ready_i;
    assign rx_pop = rx_gnt != '0;
    always_ff @(posedge clk_i) begin
      rx_read_q <= rst_ni && !rx_read_q && rx_next != '0;
      if (!rst_ni) rx_inside_q <= 1'b0;
      else if (rx_pop) rx_inside_q <= !rx_flit_o.last;
      if (!rx_read_q && rx_next != '0) rx_at_q <= rx_channel;
    end
  end
  assign rx_valid_o = rx_gnt;

  // ------------------------------------------------- contents of received heads

  logic answer, urgent;
  slots_t ack_map;

  assign ack_map        = head.selective ? second : '0;
  assign answer         = data;
  assign limit_requests = (ours && head.kind == LinkFrameKindPlain) ? head.seq : '0;
  assign quiescent      = pack_quiescent && send_quiescent && unpack_quiescent;

  always_ff @(posedge clk_i) if (good) echo_q <= head.stamp;

  gs_link_window #(
    .Window(Shape.window)
  ) u_window (
    .clk_i,
    .rst_ni,
    .clear_i      (clear),
    .ack_valid_i  (ours),
    .acknowledge_i(head.acknowledge),
    .map_i        (ack_map),
    .echo_i       (head.echo),
    .next_o       (next),
    .space_o      (window_space),
    .send_i       (sent_data),
    .send_new_i   (sent_new),
    .send_seq_i   (sent_seq),
    .stamp_i      (stamp),
    .lost_o       (lost),
    .lost_seq_o   (lost_seq),
    .free_o       (free),
    .free_slot_o  (free_slot),
    .waiting_o    (unacknowledged)
  );

  if (Bytes == 8) begin : gen_credit
    gs_link_credit #(
      .Depth(Shape.rx_flits)
    ) u_credit (
      .clk_i,
      .rst_ni,
      .clear_i         (clear),
      .limit_valid_i   (ours),
      .limit_channel_i (head.channel[ChannelW-1:0]),
      .limit_i         (head.limit),
      .take_i          (take),
      .flits_i         (flits),
      .enough_o        (enough),
      .limit_requests_i(limit_requests),
      .push_i          (rx_push),
      .pop_i           (rx_gnt),
      .free_o          (rx_free),
      .limit_channel_o (limit_channel),
      .limit_o         (limit),
      .limit_sent_i    (sent && !sent_hello),
      .urgent_o        (urgent)
    );
    assign starved      = waiting_packet & ~enough;
    assign limits_known = 1'b1;
    assign rx_unpacked  = '0;
  end else begin : gen_narrow_credit
    gs_link_narrow_credit #(
      .Depth(Shape.rx_flits)
    ) u_credit (
      .clk_i,
      .rst_ni,
      .clear_i         (clear),
      .ready_o         (limits_known),
      .limit_valid_i   (ours),
      .limit_channel_i (head.channel[ChannelW-1:0]),
      .limit_i         (head.limit),
      .waiting_i       (waiting_packet),
      .take_i          (take),
      .channel_o       (length_of),
      .flits_i         (flits[0]),
      .enough_o        (enough),
      .short_o         (starved),
      .limit_requests_i(limit_requests),
      .push_i          (rx_push),
      .pop_i           (rx_gnt),
      .free_channel_i  (rx_unpacked),
      .free_o          (rx_free[0]),
      .limit_channel_o (limit_channel),
      .limit_o         (limit),
      .limit_sent_i    (sent && !sent_hello),
      .urgent_o        (urgent)
    );
    assign rx_free[Channels-1:1] = '0;
  end

  gs_link_session #(
    .Window     (Shape.window),
    .BodyWords  (BodyWords),
    .HelloCycles(Shape.hello_cycles),
    .ProbeCycles(Shape.probe_cycles),
    .KeepCycles (Shape.keep_cycles),
    .DeadCycles (Shape.dead_cycles)
  ) u_session (
    .clk_i,
    .rst_ni,
    .good_i      (good),
    .kind_i      (head.kind),
    .tag_i       (head.tag),
    .second_i    (second),
    .ours_o      (ours),
    .sent_i      (sent),
    .sent_hello_i(sent_hello),
    .hello_o     (hello),
    .hello_word_o(hello_word),
    .tag_o       (tag),
    .plain_o     (plain),
    .waiting_i   (unacknowledged || starved_q != '0),
    .answer_i    (answer),
    .urgent_i    (urgent),
    .quiescent_i (quiescent),
    .open_o      (open),
    .clear_o     (clear),
    .alive_o     (up_o),
    .events_o    (events_o)
  );

  gs_link_counters u_counters (
    .clk_i,
    .rst_ni,
    .tx_frame_i (ended),
    .tx_bytes_i (tx_bytes),
    .tx_packet_i(take != '0),
    .resend_i   (sent_data && !sent_new),
    .rx_frame_i (good),
    .rx_bytes_i (rx_bytes),
    .rx_packet_i(packet),
    .damaged_i  (damaged),
    .dropped_i  (dropped),
    .violation_i(violation),
    .stall_i    (open && starved != '0 && elig_q == '0 && pack_quiescent),
    .restart_i  (events_o.restarted),
    .clear_i    (clear),
    .lost_i     (packets_out),
    .counters_o
  );

  // A store hides a waiting flit for at most one cycle (tests/rtl/link/prove_store.sv). An incoming flit counts in the
  // cycle in which it arrives, so that no flit between two blocks is missed.
  logic busy, busy_q;
  assign busy = tx_push != '0 || flit_there != '0 || waiting_packet != '0 || elig_q != '0 || frame_open || frame_valid
             || unacknowledged || !pack_quiescent || !unpack_quiescent || rx_there != '0;
  always_ff @(posedge clk_i) begin
    busy_q <= busy || !rst_ni;
    idle_o <= !(busy || busy_q);
  end

  // A wide link uses all lengths and free spaces, a narrow one the first of each.
  logic unused;
  assign unused = ^{head.spare, length_of, limits_known, rx_unpacked, flits, rx_free};

  `GS_ASSERT_NOW(received_flits_always_have_free_space, (rx_push & ~unused_ready) == '0)
  `GS_ASSERT_NOW(ring_word_is_not_read_while_it_is_written, !u_ring.collides)
  `GS_ASSERT_NOW(buffer_word_is_not_read_while_it_is_written, !u_buffers.collides)
endmodule
