// SPDX-License-Identifier: Apache-2.0

/// The reliable link: sizes, packet headers, CRC-32C.
///
/// Layouts are stored most significant byte first, and are sent in that order. A word of 8 bytes has its first byte in
/// the low bits, as at the MAC and in the payload of a flit.
package gs_link_pkg;
  import gossamer_pkg::*;

  /// virtual channels of a virtual network
  localparam int unsigned LinkVcs = 1 << SwitchVcBits;
  /// channels: vnet * LinkVcs + vc
  localparam int unsigned Channels = (32'd1 << $bits(vnet_e)) * LinkVcs;
  localparam int unsigned ChannelW = $clog2(Channels);
  /// flits of the longest packet: 32 of payload and one header
  localparam int unsigned MaxFlits = FabricMaxFlits;
  localparam int unsigned CountW = $clog2(MaxFlits + 1);
  /// version of the link protocol
  localparam logic [7:0] Version = 8'd1;

  localparam int unsigned SeqW = 8;
  localparam int unsigned StampW = 10;
  localparam int unsigned LimitW = 12;
  /// packets of a frame: the shortest packet has a header of 3 bytes and one flit
  localparam int unsigned PacketsW = $clog2(8 * LinkRingWords / 2 / 19 + 1);
  /// frames after a gap that a map can name
  localparam int unsigned Slots = LinkSlots;
  localparam int unsigned SlotW = $clog2(Slots);

  typedef logic [63:0] word_t;
  typedef logic [ChannelW-1:0] channel_t;
  typedef logic [CountW-1:0] count_t;
  typedef logic [SeqW-1:0] seq_t;
  typedef logic [StampW-1:0] stamp_t;
  typedef logic [LimitW-1:0] limit_t;
  typedef logic [LimitW-1:0] free_t;
  typedef logic [Slots-1:0] slots_t;

  /// Sizes of a link. Both ends must have the same frame_bytes, window, and channels.
  typedef struct packed {
    /// longest frame, without the bytes that the MAC adds [bytes]
    int unsigned frame_bytes;
    /// shortest frame that the MAC accepts [bytes; 4 more than a multiple of 8]
    int unsigned least_bytes;
    /// unacknowledged frames in flight, at most [a power of two, 2 to 64]
    int unsigned window;
    /// received frames that wait for the frame that fills a gap or for the decoder, at most [2 to window]
    int unsigned rx_buffers;
    /// words of sent frames that are kept until they are acknowledged [a power of two, two frames or more]
    int unsigned tx_words;
    /// flits of a channel that wait to be sent [a power of two, 64 or more]
    int unsigned tx_flits;
    /// flits of a channel that wait at the receiver [a power of two, 64 to 2,048]
    int unsigned rx_flits;
    /// cycles between frames that open a session
    int unsigned hello_cycles;
    /// cycles without a sent frame before a frame that requests an acknowledgement
    int unsigned probe_cycles;
    /// cycles without a sent frame before a keep-alive frame
    int unsigned keep_cycles;
    /// cycles without a good frame before the link is down
    int unsigned dead_cycles;
  } shape_t;

  // A narrow link has a short flight and little memory: a ring of four frames.
  localparam int unsigned NarrowRingWords = 32'd1 << $clog2(4 * ((LinksFrameBytes - 20) / 8));

  localparam shape_t DefaultShape = '{
    frame_bytes: LinksFrameBytes,
    least_bytes: 60,
    window: LinksWindowFrames,
    rx_buffers: (LinksWindowFrames < 16) ? LinksWindowFrames : 16,
    tx_words: (LinksDatapathBytes == 2) ? NarrowRingWords : LinkRingWords,
    tx_flits: 64,
    rx_flits: (LinksDatapathBytes == 2) ? 128 : 512,
    hello_cycles: 256,
    probe_cycles: 64,
    keep_cycles: 512,
    dead_cycles: 6000
  };

  /// Words of the longest body: the frame also holds the head, a map of frames and the checksum.
  function automatic int unsigned body_words(shape_t shape);
    return (shape.frame_bytes - 20) / 8;
  endfunction

  /// Events of a link, each set for one cycle.
  typedef struct packed {
    /// the session is open and good frames arrive
    logic up;
    /// no good frame was received for dead_cycles cycles
    logic silent;
    /// the other end has restarted: unacknowledged packets are lost and counted
    logic restarted;
    /// the other end has another version, or other sizes
    logic mismatch;
  } events_t;

  /// Counters of a link since reset, modulo 2^32.
  typedef struct packed {
    logic [31:0] tx_frames;
    logic [31:0] tx_bytes;
    logic [31:0] tx_packets;
    logic [31:0] resends;
    logic [31:0] rx_frames;
    logic [31:0] rx_bytes;
    logic [31:0] rx_packets;
    /// frames that arrived damaged
    logic [31:0] damaged;
    /// good frames with data that were received before, or found no buffer; packets of good frames that violate the
    /// protocol
    logic [31:0] dropped;
    /// cycles in which a packet waited for credits and nothing else could be packed
    logic [31:0] stalls;
    /// packets abandoned when the other end restarted: it may or may not have received them
    logic [31:0] lost;
    logic [31:0] restarts;
  } counters_t;

  /// The bytes of a word in the other order.
  function automatic word_t flip(word_t word);
    for (int i = 0; i < 8; i++) flip[8*i+:8] = word[8*(7-i)+:8];
  endfunction

  // ---------------------------------------------------------------- checksum

  // Row i marks the bits of a word, combined with the state in its low half, whose sum is bit i of the next state.
  typedef logic [31:0][63:0] matrix_t;

  function automatic matrix_t crc_matrix();
    automatic matrix_t matrix;
    automatic logic [31:0] state;
    matrix = '0;
    for (int bit_in = 0; bit_in < 64; bit_in++) begin
      // The effect of this one bit alone: the bits before it leave the state at 0.
      state = '0;
      for (int i = bit_in; i < 64; i++) begin
        state = (state[0] ^ (i == bit_in)) ? (state >> 1) ^ 32'h82F6_3B78 : state >> 1;
      end
      for (int i = 0; i < 32; i++) matrix[i][bit_in] = state[i];
    end
    return matrix;
  endfunction

  localparam matrix_t CrcMatrix = crc_matrix();
  localparam logic [31:0] CrcStart = '1;

  /// The state of CRC-32C (Castagnoli, reflected) after 8 more bytes. The checksum is the inverted state.
  function automatic logic [31:0] crc_next(logic [31:0] state, word_t word);
    automatic word_t sum;
    sum = word ^ {32'd0, state};
    for (int i = 0; i < 32; i++) crc_next[i] = ^(sum & CrcMatrix[i]);
  endfunction

  /// The state of CRC-32C after 2 more bytes.
  function automatic logic [31:0] crc_beat(logic [31:0] state, logic [15:0] beat);
    automatic logic [31:0] next;
    next = state ^ {16'd0, beat};
    for (int i = 0; i < 16; i++) next = next[0] ? (next >> 1) ^ 32'h82F6_3B78 : next >> 1;
    return next;
  endfunction

  // ------------------------------------------------------------------ headers

  /// The fields that a header of the form `again` leaves out.
  typedef struct packed {
    logic        valid;
    logic [11:0] board;
    logic [4:0]  job;
    logic [1:0]  epoch;
    logic        wave;
    logic [1:0]  vc;
  } context_t;

  /// An encoded header.
  typedef struct packed {
    /// its first 8 bytes, the first in the high bits
    word_t      bytes;
    /// number of these bytes
    logic [3:0] size;
    /// the header contains the packet's first flit
    logic       absorbs;
    /// 8 more bytes follow: the low half of that flit, most significant byte first
    logic       extra;
    /// flits that follow the header
    count_t     flits;
  } header_t;

  /// The context after a packet with this first flit.
  function automatic context_t context_after(context_t last, flit_t flit, logic [1:0] vc, link_form_e form);
    automatic address_thread_t dest;
    dest = flit.dest;
    context_after = last;
    if (!(form inside {LinkFormThread, LinkFormAgain})) return context_after;
    context_after.valid = 1'b1;
    context_after.board = dest.board;
    context_after.job   = flit.job;
    context_after.epoch = flit.epoch;
    context_after.wave  = flit.wave;
    context_after.vc    = vc;
  endfunction

  /// The shortest form that can encode a packet without loss.
  function automatic link_form_e form_of(flit_t flit, logic [1:0] vc, vnet_e vnet, context_t last);
    automatic address_thread_t thread;
    automatic address_stream_t stream;
    automatic stream_header_t header;
    automatic link_form_e form;
    automatic logic first, upper, low;
    thread = flit.dest;
    stream = flit.dest;
    header = flit.payload[31:0];
    first  = flit.kind == FlitKindBody;
    upper  = flit.payload[127:64] == '0 && !flit.last && thread.spare == '0;
    low    = upper && flit.payload[63:32] == '0;
    form   = LinkFormWhole;
    case (thread.kind)
      EndpointThread:
        if (first && vnet == VnetMailbox && thread.spare == '0) begin
          form = LinkFormThread;
          if (last == context_after(last, flit, vc, LinkFormThread)) form = LinkFormAgain;
        end
      EndpointTile:
        if (flit.kind == FlitKindMask && vnet == VnetMailbox && upper && thread.thread == '0) form = LinkFormTile;
      EndpointKey:
        if (flit.kind == FlitKindKey && vnet == VnetMailbox && low && flit.dest[13:0] == '0) form = LinkFormKey;
      EndpointStream:
        if (flit.kind == FlitKindHeader && vnet == VnetRequest && low && stream.spare_low == '0
            && stream.port == header.port) form = LinkFormStream;
      EndpointMatch: if (flit.kind == FlitKindHeader && vnet == VnetRequest && upper) form = LinkFormMatch;
      EndpointHost:
        if (first && vnet == VnetReply && thread.spare == '0 && flit.dest[13:0] == '0) form = LinkFormHost;
      default: ;
    endcase
    return form;
  endfunction

  /// The header of a packet of `flits` flits.
  function automatic header_t encode(link_form_e form, flit_t flit, logic [1:0] vc, vnet_e vnet, count_t flits);
    automatic header_t header;
    automatic address_thread_t thread;
    automatic address_match_t rank;
    automatic address_host_t host;
    automatic logic [19:0] common;
    thread         = flit.dest;
    rank           = flit.dest;
    host           = flit.dest;
    header.extra   = form inside {LinkFormTile, LinkFormMatch};
    header.absorbs = form inside {LinkFormTile, LinkFormMatch, LinkFormKey, LinkFormStream};
    header.flits   = header.absorbs ? flits - count_t'(1) : flits;
    common         = {form, count_t'(header.flits - count_t'(1)), flit.job, flit.epoch, flit.wave, vc};
    case (form)
      LinkFormThread: begin
        header.size  = 4'd6;
        header.bytes = {common, thread.board, thread.tile_y, thread.tile_x, thread.thread, 18'd0};
      end
      LinkFormAgain: begin
        header.size  = 4'd3;
        header.bytes = {common[19:10], thread.tile_y, thread.tile_x, thread.thread, 40'd0};
      end
      LinkFormTile: begin
        header.size  = 4'd6;
        header.bytes = {common, thread.board, thread.tile_y, thread.tile_x, 24'd0};
      end
      LinkFormKey, LinkFormStream: begin
        header.size  = 4'd8;
        header.bytes = {common, thread.board, flit.payload[31:0]};
      end
      LinkFormMatch: begin
        header.size  = 4'd6;
        header.bytes = {common, rank.board, rank.rank, 18'd0};
      end
      LinkFormHost: begin
        header.size  = 4'd4;
        header.bytes = {common, host.host, 32'd0};
      end
      default: begin
        header.size  = 4'd7;
        header.bytes = {common, vnet, flit.kind, flit.dest, 8'd0};
      end
    endcase
    return header;
  endfunction

  /// Bytes of a header before the extra 8 bytes, by its form; 0 if the form is unknown.
  function automatic logic [3:0] header_size(logic [3:0] form);
    case (form)
      LinkFormThread, LinkFormTile, LinkFormMatch: return 4'd6;
      LinkFormAgain:                               return 4'd3;
      LinkFormKey, LinkFormStream:                 return 4'd8;
      LinkFormHost:                                return 4'd4;
      LinkFormWhole:                               return 4'd7;
      default:                                     return 4'd0;
    endcase
  endfunction

  /// A decoded header: the first flit of its packet, without a payload that follows.
  typedef struct packed {
    flit_t      flit;
    logic [1:0] vc;
    logic       absorbs;
    logic       extra;
    /// flits that follow, minus one
    count_t     more;
  } packet_t;

  /// Decodes a header; `bytes` as in header_t. The other flits of the packet equal the first, with kind body.
  function automatic packet_t decode(word_t bytes, context_t last);
    automatic packet_t packet;
    automatic link_thread_t thread;
    automatic link_again_t again;
    automatic link_match_t match;
    automatic link_whole_t whole;
    automatic stream_header_t header;
    automatic link_form_e form;
    automatic flit_t flit;
    form         = link_form_e'(bytes[63:60]);
    thread       = bytes[63:16];
    again        = bytes[63:40];
    match        = {bytes, 48'd0};
    whole        = bytes[63:8];
    header       = bytes[31:0];
    flit         = '0;
    flit.kind    = FlitKindBody;
    flit.vnet    = VnetMailbox;
    flit.job     = thread.job;
    flit.epoch   = thread.epoch;
    flit.wave    = thread.wave;
    packet.vc    = thread.vc;
    packet.more  = thread.flits;
    packet.extra = form inside {LinkFormTile, LinkFormMatch};
    packet.absorbs = form inside {LinkFormTile, LinkFormMatch, LinkFormKey, LinkFormStream};
    case (form)
      LinkFormThread: flit.dest = {EndpointThread, 3'd0, thread.board, thread.tile_y, thread.tile_x, thread.thread};
      LinkFormAgain: begin
        flit.job   = last.job;
        flit.epoch = last.epoch;
        flit.wave  = last.wave;
        flit.dest  = {EndpointThread, 3'd0, last.board, again.tile_y, again.tile_x, again.thread};
        packet.vc  = last.vc;
      end
      LinkFormTile: begin
        flit.kind = FlitKindMask;
        flit.dest = {EndpointTile, 3'd0, thread.board, thread.tile_y, thread.tile_x, 6'd0};
      end
      LinkFormKey: begin
        flit.kind          = FlitKindKey;
        flit.dest          = {EndpointKey, 3'd0, thread.board, 14'd0};
        flit.payload[31:0] = bytes[31:0];
      end
      LinkFormStream: begin
        flit.kind          = FlitKindHeader;
        flit.vnet          = VnetRequest;
        flit.dest          = {EndpointStream, 3'd0, thread.board, 6'd0, header.port};
        flit.payload[31:0] = bytes[31:0];
      end
      LinkFormMatch: begin
        flit.kind = FlitKindHeader;
        flit.vnet = VnetRequest;
        flit.dest = {EndpointMatch, 3'd0, match.board, match.rank};
      end
      LinkFormHost: begin
        flit.vnet = VnetReply;
        flit.dest = {EndpointHost, 3'd0, thread.board, 14'd0};
      end
      default: begin
        flit.kind = whole.kind;
        flit.vnet = whole.vnet;
        flit.dest = whole.dest;
      end
    endcase
    packet.flit = flit;
    return packet;
  endfunction
endpackage
