// SPDX-License-Identifier: Apache-2.0

/// What a request to the mailbox asks for, and all that can be said about it without any state.
module gs_mailbox_decode
  import gs_mailbox_pkg::*;
  import gossamer_pkg::flit_kind_e;
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
  /// 1: messages with a mask
  parameter bit          Multicast = 1'b1,
  /// 1: the tile has no network; nothing but the tile itself can be sent to
  parameter bit          Alone     = 1'b0,
  /// bits of thread, column and row of a tile in a program's addresses (gs_address_pkg)
  parameter int unsigned ThreadBits = 6,
  parameter int unsigned XBits      = 4,
  parameter int unsigned YBits      = 4
) (
  input  mailbox_req_t  req_i,
  /// address of this tile; its kind does not matter
  input  logic [31:0]   tile_i,
  output act_e          act_o,
  output state_e        state_o,
  output logic          write_o,
  /// what is written, sent to or released makes sense
  output logic          ok_o,
  /// a send: kind of its head flit, for threads of this tile, where to, the trap if it makes no sense
  output flit_kind_e    kind_o,
  output logic          local_o,
  output logic [31:0]   dest_o,
  output logic [5:0]    cause_o
);
  localparam int unsigned ByteW = $clog2(SlotBytes);
  localparam int unsigned SpaceW = $clog2(Slots * SlotBytes);

  gossamer_pkg::address_thread_t dest;
  gossamer_pkg::address_thread_t here;
  logic slot_ok, is_here;
  assign dest    = gs_address_pkg::gs_wire_address(req_i.data, ThreadBits, XBits, YBits);
  assign here    = tile_i;
  assign slot_ok = req_i.data[ByteW-1:0] == '0 && req_i.data[31:SpaceW] == Base[31:SpaceW];
  assign is_here = dest.board == here.board && dest.tile_y == here.tile_y && dest.tile_x == here.tile_x;

  logic unused_here;
  assign unused_here = &{1'b0, here.kind, here.spare, here.thread, req_i.funct3[2:1], req_i.thread, req_i.addr[31:12]};

  always_comb begin
    act_o   = ActState;
    state_o = StateNone;
    write_o = req_i.funct3[0];
    ok_o    = 1'b1;
    kind_o  = gossamer_pkg::FlitKindBody;
    local_o = 1'b0;
    dest_o  = req_i.data;
    cause_o = gossamer_pkg::TrapBadDestination;
    unique case (req_i.op)
      MailboxLoad:  act_o = ActLoad;
      MailboxStore: act_o = ActStore;
      default: begin
        unique case (req_i.addr[11:0])
          gossamer_pkg::CsrSendDest: begin
            if (write_o) act_o = ActSend;
            dest_o  = dest;
            local_o = dest.kind == gossamer_pkg::EndpointThread && is_here;
            unique case (dest.kind)
              gossamer_pkg::EndpointHost: ok_o = dest.spare == '0;
              gossamer_pkg::EndpointControl: ok_o = dest.spare == '0 && !Alone;
              gossamer_pkg::EndpointAccelerator: ok_o = dest.spare == '0 && (is_here || !Alone);
              gossamer_pkg::EndpointThread:
                ok_o = dest.spare == '0 && (is_here ? 32'(dest.thread) < Threads : !Alone);
              default: ok_o = 1'b0;
            endcase
          end
          gossamer_pkg::CsrSendTile: begin
            if (write_o) act_o = Multicast ? ActSend : ActIllegal;
            dest_o  = dest;
            kind_o  = gossamer_pkg::FlitKindMask;
            local_o = is_here;
            ok_o    = dest.spare == '0 && dest.kind == gossamer_pkg::EndpointTile && dest.thread == '0
                      && (is_here || !Alone);
          end
          gossamer_pkg::CsrSendKey: begin
            if (write_o) act_o = ActSend;
            kind_o  = gossamer_pkg::FlitKindKey;
            ok_o    = req_i.data[4:0] != '0 && !Alone;
            cause_o = gossamer_pkg::TrapBadKey;
          end
          gossamer_pkg::CsrSendSlot: begin
            state_o = StateSlot;
            ok_o    = slot_ok;
            cause_o = gossamer_pkg::TrapBadSlot;
          end
          gossamer_pkg::CsrSendLength: begin
            state_o = StateLength;
            ok_o    = req_i.data < MaxFlits;
            cause_o = gossamer_pkg::TrapBadLength;
          end
          gossamer_pkg::CsrSendMaskLow: begin
            if (!Multicast) act_o = ActIllegal;
            state_o = StateMaskLow;
          end
          gossamer_pkg::CsrSendMaskHigh: begin
            if (!Multicast) act_o = ActIllegal;
            state_o = StateMaskHigh;
          end
          gossamer_pkg::CsrRelease: begin
            if (write_o) act_o = ActRelease;
            ok_o    = slot_ok;
            cause_o = gossamer_pkg::TrapBadSlot;
          end
          gossamer_pkg::CsrWait: if (write_o) act_o = ActWait;
          gossamer_pkg::CsrIdle: begin
            if (write_o) act_o = ActIdle;
            state_o = StateIdle;
          end
          gossamer_pkg::CsrReceive: act_o = write_o ? ActIllegal : ActReceive;
          gossamer_pkg::CsrCanSend: begin
            if (write_o) act_o = ActIllegal;
            state_o = StateCanSend;
          end
          gossamer_pkg::CsrCanReceive: begin
            if (write_o) act_o = ActIllegal;
            state_o = StateCanReceive;
          end
          default: act_o = ActIllegal;
        endcase
      end
    endcase
  end
endmodule
