// SPDX-License-Identifier: Apache-2.0

/// Types of the multicast router.
package gs_multicast_pkg;
  import gossamer_pkg::*;

  localparam int unsigned BeatBits = 256;
  localparam int unsigned BeatBytes = BeatBits / 8;
  localparam int unsigned BeatRecords = 5;
  localparam int unsigned BeatAddrW = 27;
  typedef logic [BeatBits-1:0] beat_t;

  /// Flits of the longest payload that is stored whole, a power of two: at least a head flit, the longest message and
  /// one more flit. So a payload that is cut there is still too long for any mailbox, which drops it.
  localparam int unsigned MaxPayloadFlits = 32'd1 << $clog2(MailboxMaxFlits + 2);

  /// Errors of one cycle: of a virtual channel, whose records and packets are independent; of a router
  typedef logic [2:0] faults_t;
  typedef logic [3:0] router_faults_t;

  /// Which part of the payload's first two words is replaced
  typedef enum logic [1:0] {
    PatchNone,
    PatchHalf,
    PatchWord,
    PatchDouble
  } patch_e;

  /// A copy to be sent: head flit, destination, replaced first words
  typedef struct packed {
    /// not a copy, but a further key for this router
    logic        indirect;
    logic [31:0] dest;
    /// mask, key or none (body)
    flit_kind_e  head;
    logic [63:0] head_data;
    patch_e      patch;
    logic [63:0] words;
    /// the record has 96 bits instead of 48
    logic        wide;
  } copy_t;

  /// Decodes the record in the low bits into a copy.
  function automatic copy_t copy_of(logic [95:0] bits, logic [11:0] board);
    copy_t copy;
    route_thread_t thread;
    route_thread_word_t word;
    route_thread_double_t double;
    route_tile_t tile;
    route_router_t router;
    route_indirect_t indirect;
    address_thread_t dest;
    address_key_t link;
    thread   = bits[47:0];
    router   = bits[47:0];
    indirect = bits[47:0];
    word     = bits;
    double   = bits;
    tile     = bits;
    copy     = '{head: FlitKindBody, patch: PatchNone, default: '0};
    dest    = '{kind: EndpointThread, board: board, default: '0};
    link     = '{kind: EndpointKey, default: '0};
    dest.tile_y = thread.tile_y;
    dest.tile_x = thread.tile_x;
    case (thread.kind)
      RouteRecordThread, RouteRecordThreadHalf: begin
        dest.thread = thread.thread;
        copy.dest   = dest;
        copy.patch  = thread.kind == RouteRecordThreadHalf ? PatchHalf : PatchNone;
        copy.words  = 64'(thread.word);
      end
      RouteRecordThreadWord: begin
        dest.thread = thread.thread;
        copy.dest   = dest;
        copy.patch  = PatchWord;
        copy.words  = 64'(word.word);
        copy.wide   = 1'b1;
      end
      RouteRecordThreadDouble: begin
        dest.thread = thread.thread;
        copy.dest   = dest;
        copy.patch  = PatchDouble;
        copy.words  = {double.words_high, double.words_low};
        copy.wide   = 1'b1;
      end
      RouteRecordTile, RouteRecordTileHalf: begin
        dest.kind      = EndpointTile;
        copy.dest      = dest;
        copy.head      = FlitKindMask;
        copy.head_data = {tile.mask_high, tile.mask_low};
        copy.patch     = tile.kind == RouteRecordTileHalf ? PatchHalf : PatchNone;
        copy.words     = 64'(tile.word);
        copy.wide      = 1'b1;
      end
      RouteRecordRouter: begin
        link.vc        = router.vc;
        link.link      = 6'(router.link) + 6'd1;
        copy.dest      = link;
        copy.head      = FlitKindKey;
        copy.head_data = 64'(router.key);
      end
      default: begin
        copy.indirect  = 1'b1;
        copy.head_data = 64'(indirect.key);
      end
    endcase
    return copy;
  endfunction
endpackage
