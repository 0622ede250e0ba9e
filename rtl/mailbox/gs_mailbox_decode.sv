// SPDX-License-Identifier: Apache-2.0

/// Decodes a request to the mailbox, and checks all conditions that do not depend on state.
module gs_mailbox_decode
  import gs_mailbox_pkg::*;
  import gossamer_pkg::address_thread_t;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter int unsigned Threads   = 64,
  /// slots of the tile, a power of two
  parameter int unsigned Slots     = 1024,
  /// bytes of a slot, a power of two
  parameter int unsigned SlotBytes = 64,
  /// longest message in flits
  parameter int unsigned MaxFlits  = 4,
  /// first address of the scratchpad, a multiple of its size
  parameter logic [31:0] Base      = 32'h0010_0000,
  /// 1: messages with a mask are supported
  parameter bit          Multicast = 1'b1,
  /// 1: barriers that reduce words, which are stored in the masks, are supported
  parameter bit          Reduce    = 1'b1,
  /// 1: the tile has no network; sends to other tiles trap
  parameter bit          Alone     = 1'b0,
  /// columns and rows of a board's mesh
  parameter int unsigned MeshWidth  = gossamer_pkg::MeshWidth,
  parameter int unsigned MeshHeight = gossamer_pkg::MeshHeight,
  /// bits of thread, column and row of a tile in a program's addresses (gs_address_pkg)
  parameter int unsigned ThreadBits = 6,
  parameter int unsigned XBits      = 4,
  parameter int unsigned YBits      = 4
) (
  input  mailbox_req_t             req_i,
  /// address of this tile; its kind is ignored
  input  logic [31:0]              tile_i,
  input  gs_address_pkg::cluster_t cluster_i,
  output decoded_t                 decoded_o
);
  localparam int unsigned ByteW = $clog2(SlotBytes);
  localparam int unsigned SpaceW = $clog2(Slots * SlotBytes);

  address_thread_t dest, here;
  logic slot_ok, is_here, in_cluster, is_write, is_read, legal;
  logic [11:0] number;
  logic [12:0] limit;

  assign dest     = gs_address_pkg::gs_wire_address(req_i.data, ThreadBits, XBits, YBits);
  assign here     = tile_i;
  assign number   = req_i.addr[11:0];
  assign is_write = req_i.funct3[0];
  assign is_read  = !is_write;
  assign slot_ok  = req_i.data[ByteW-1:0] == '0 && req_i.data[31:SpaceW] == Base[31:SpaceW];
  assign is_here  = dest.board == here.board && dest.tile_y == here.tile_y && dest.tile_x == here.tile_x;
  // A host's number is in the field where other addresses have the board's number.
  assign limit      = (dest.kind == gossamer_pkg::EndpointHost) ? cluster_i.hosts : cluster_i.boards;
  assign in_cluster = dest.spare == '0 && 13'(dest.board) < limit
      && (!gs_address_pkg::names_tile(dest.kind)
          || (5'(dest.tile_y) < 5'(MeshHeight) && 5'(dest.tile_x) < 5'(MeshWidth)));
  assign legal      = (is_write && gossamer_pkg::csr_writable(number))
      || (is_read && gossamer_pkg::csr_readable(number));

  logic unused;
  assign unused = &{1'b0, here.kind, here.spare, here.thread, req_i.funct3[2:1], req_i.thread, req_i.addr[31:12]};

  always_comb begin
    decoded_o = '{
        act: ActState,
        state: StateNone,
        write: is_write,
        ok: 1'b1,
        cause: gossamer_pkg::TrapBadDestination,
        kind: gossamer_pkg::FlitKindBody,
        route: is_here ? RouteLocal : RouteNet
    };
    unique case (req_i.op)
      MailboxLoad:  decoded_o.act = ActLoad;
      MailboxStore: decoded_o.act = ActStore;
      default: begin
        unique case (number)
          gossamer_pkg::CsrSendDest: begin
            decoded_o.act = ActSend;
            unique case (dest.kind)
              gossamer_pkg::EndpointThread:
                decoded_o.ok = in_cluster && 7'(dest.thread) < 7'(Threads) && (is_here || !Alone);
              gossamer_pkg::EndpointAccelerator: decoded_o.ok = in_cluster && (is_here || !Alone);
              gossamer_pkg::EndpointHost:        decoded_o.ok = in_cluster;
              // Match engines at boards: the engine's board checks the rank.
              gossamer_pkg::EndpointMatch:       decoded_o.ok = gossamer_pkg::MatchOnBoard > 0 && in_cluster && !Alone;
              // This includes a board's control unit: it obeys every sender, so only hosts and boards may send to it.
              default:                           decoded_o.ok = 1'b0;
            endcase
            if (dest.kind != gossamer_pkg::EndpointThread) decoded_o.route = RouteFar;
          end
          gossamer_pkg::CsrSendTile: begin
            decoded_o.act  = ActSend;
            decoded_o.kind = gossamer_pkg::FlitKindMask;
            decoded_o.ok   = in_cluster && dest.kind == gossamer_pkg::EndpointTile && dest.thread == '0
                && (is_here || !Alone);
          end
          gossamer_pkg::CsrSendKey: begin
            decoded_o.act   = ActSend;
            decoded_o.kind  = gossamer_pkg::FlitKindKey;
            decoded_o.route = RouteNet;
            decoded_o.ok    = req_i.data[4:0] != '0 && !Alone && cluster_i.routers;
            decoded_o.cause = gossamer_pkg::TrapBadKey;
          end
          gossamer_pkg::CsrSendSlot: begin
            decoded_o.state = StateSlot;
            decoded_o.ok    = slot_ok;
            decoded_o.cause = gossamer_pkg::TrapBadSlot;
          end
          gossamer_pkg::CsrSendLength: begin
            decoded_o.state = StateLength;
            decoded_o.ok    = req_i.data < MaxFlits;
            decoded_o.cause = gossamer_pkg::TrapBadLength;
          end
          gossamer_pkg::CsrSendMaskLow:  decoded_o.state = StateMaskLow;
          gossamer_pkg::CsrSendMaskHigh: decoded_o.state = StateMaskHigh;
          gossamer_pkg::CsrRelease: begin
            decoded_o.act   = ActRelease;
            decoded_o.ok    = slot_ok;
            decoded_o.cause = gossamer_pkg::TrapBadSlot;
          end
          gossamer_pkg::CsrWait: decoded_o.act = ActWait;
          gossamer_pkg::CsrIdle: begin
            if (is_write) decoded_o.act = ActIdle;
            decoded_o.state = StateIdle;
          end
          gossamer_pkg::CsrReduce: begin
            decoded_o.act   = ActReduce;
            decoded_o.ok    = req_i.data[31:3] == '0;
            decoded_o.cause = gossamer_pkg::TrapBadRegister;
          end
          gossamer_pkg::CsrReducedLow, gossamer_pkg::CsrReducedHigh, gossamer_pkg::CsrReduced1Low,
          gossamer_pkg::CsrReduced1High: decoded_o.state = StateReduced;
          gossamer_pkg::CsrReceive:    decoded_o.act = ActReceive;
          gossamer_pkg::CsrCanSend:    decoded_o.state = StateCanSend;
          gossamer_pkg::CsrCanReceive: decoded_o.state = StateCanReceive;
          default:       decoded_o.act = ActIllegal;
        endcase
        // The access rights of a register are declared in its description (config/constants) alone.
        if (!legal || (!Multicast && number inside {
              gossamer_pkg::CsrSendTile, gossamer_pkg::CsrSendMaskLow, gossamer_pkg::CsrSendMaskHigh
            }) || (!Reduce && number inside {
              gossamer_pkg::CsrReduce, gossamer_pkg::CsrReducedLow, gossamer_pkg::CsrReducedHigh,
              gossamer_pkg::CsrReduced1Low, gossamer_pkg::CsrReduced1High
            })) begin
          decoded_o.act = ActIllegal;
        end
      end
    endcase
  end
endmodule
