// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Receiving side of a mailbox: packets of the network and of this tile, by turns, into free slots.
///
/// A packet waits at the door while no slot is free. When its last flit is written, slot and mask stand in a
/// register until the pointer queues take them; meanwhile the flits of the next are written.
/// A packet that is for no thread of this tile is swallowed.
module gs_mailbox_rx
  import gossamer_pkg::flit_t;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads   = 64,
  /// slots of the tile, a power of two
  parameter  int unsigned Slots     = 1024,
  /// flits that a slot has room for, a power of two
  parameter  int unsigned SlotFlits = 4,
  /// longest message in flits
  parameter  int unsigned MaxFlits  = 4,
  /// 1: messages with a mask
  parameter  bit          Multicast = 1'b1,
  localparam int unsigned SlotW     = $clog2(Slots),
  localparam int unsigned LinW      = $clog2(Slots * SlotFlits)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               net_valid_i,
  output logic               net_ready_o,
  input  flit_t              net_i,
  input  logic               local_valid_i,
  output logic               local_ready_o,
  input  flit_t              local_i,
  /// free slots
  input  logic               free_valid_i,
  output logic               free_ready_o,
  input  logic [SlotW-1:0]   free_slot_i,
  /// flits to the scratchpad
  output logic               write_valid_o,
  input  logic               write_ready_i,
  output logic [LinW-1:0]    write_flit_o,
  output logic [127:0]       write_data_o,
  /// messages in their slots
  output logic               message_valid_o,
  input  logic               message_ready_i,
  output logic [SlotW-1:0]   message_slot_o,
  output logic [Threads-1:0] message_mask_o,
  /// a packet was swallowed
  output logic               dropped_o,
  /// something is under way
  output logic               busy_o
);
  localparam int unsigned FlitW = LinW - SlotW;
  localparam int unsigned IndexW = $clog2(MaxFlits + 1);

  // A packet holds the door until its last flit is through.
  logic inside_q, from_local_q, local_next_q, from_local;
  flit_t flit;
  logic valid, ready, first;

  assign from_local = inside_q ? from_local_q : local_valid_i && (local_next_q || !net_valid_i);
  assign flit       = from_local ? local_i : net_i;
  assign valid      = from_local ? local_valid_i : net_valid_i;
  assign first      = !inside_q;
  assign net_ready_o   = ready && !from_local;
  assign local_ready_o = ready && from_local;

  // What it is.
  logic [Threads-1:0] head_mask, one_mask;
  logic is_head, nobody, drop, drop_q;
  logic [IndexW-1:0] index_q;

  assign is_head = Multicast && first && flit.kind == gossamer_pkg::FlitKindMask;
  assign nobody  = is_head ? flit.last || head_mask == '0
                           : one_mask == '0 || flit.kind != gossamer_pkg::FlitKindBody;
  assign drop    = first ? nobody : drop_q;

  always_comb begin
    one_mask = '0;
    for (int unsigned t = 0; t < Threads; t++) one_mask[t] = flit.dest[5:0] == 6'(t);
  end

  // Where it goes. Flits that a message must not have are not written.
  logic writes, last, message_free;
  assign writes        = !drop && !is_head && index_q != IndexW'(MaxFlits);
  assign last          = flit.last && !drop;
  assign write_valid_o = valid && writes && free_valid_i && (!last || message_free);
  assign write_flit_o  = (LinW'(free_slot_i) << FlitW) | LinW'(index_q);
  assign write_data_o  = flit.payload;
  assign ready         = (!writes || (free_valid_i && write_ready_i)) && (!last || message_free);
  assign free_ready_o  = valid && ready && last;

  logic go;
  assign go = valid && ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q     <= 1'b0;
      local_next_q <= 1'b0;
      index_q      <= '0;
    end else if (go) begin
      inside_q <= !flit.last;
      if (flit.last) local_next_q <= !from_local;
      if (flit.last || is_head) index_q <= '0;
      else if (writes) index_q <= index_q + IndexW'(1);
    end
    if (first) from_local_q <= from_local;
    if (go && first) drop_q <= nobody;
  end

  // The message that waits for the pointer queues.
  logic message_q;
  logic [SlotW-1:0] slot_q;
  logic [Threads-1:0] mask_q;
  assign message_free    = !message_q || message_ready_i;
  assign message_valid_o = message_q;
  assign message_slot_o  = slot_q;
  assign message_mask_o  = mask_q;

  if (Multicast) begin : gen_mask
    logic [Threads-1:0] packet_mask_q;
    logic masked_q;
    assign head_mask = flit.payload[Threads-1:0];
    always_ff @(posedge clk_i) begin
      if (go && is_head) packet_mask_q <= head_mask;
      if (go && first) masked_q <= is_head;
      if (go && last) mask_q <= (masked_q && !first) ? packet_mask_q : one_mask;
    end
  end else begin : gen_one
    assign head_mask = '0;
    always_ff @(posedge clk_i) if (go && last) mask_q <= one_mask;
  end

  logic dropped_q;
  assign dropped_o = dropped_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      message_q <= 1'b0;
      dropped_q <= 1'b0;
    end else begin
      if (message_free) message_q <= go && last;
      dropped_q <= go && flit.last && drop;
    end
    if (go && last) slot_q <= free_slot_i;
  end

  assign busy_o = inside_q || message_q || valid || dropped_q;

  logic unused_flit;
  assign unused_flit = &{1'b0, flit.vnet, flit.job, flit.epoch, flit.dest[31:6], flit.payload};

  `GS_ASSERT_NOW(a_message_is_for_somebody, !message_valid_o || message_mask_o != '0)
endmodule
