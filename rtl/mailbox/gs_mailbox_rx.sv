// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Receiving side of a mailbox: packets of the network and of this tile, by turns, into free slots.
///
/// A packet waits at the door while no slot is free. When its last flit is written, slot and mask stand in a
/// register until the pointer queues take them; meanwhile the flits of the next are written.
///
///     network, tile ->[ flit ]-> scratchpad ... ->[ message ]-> queues
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

  // The door: a packet holds it until its last flit is through.
  logic inside_q, from_local_q, local_next_q, from_local;
  flit_t door;
  logic door_valid, door_ready, door_go, first;

  assign from_local = inside_q ? from_local_q : local_valid_i && (local_next_q || !net_valid_i);
  assign door       = from_local ? local_i : net_i;
  assign door_valid = from_local ? local_valid_i : net_valid_i;
  assign door_go    = door_valid && door_ready;
  assign first      = !inside_q;
  assign net_ready_o   = door_ready && !from_local;
  assign local_ready_o = door_ready && from_local;

  // What it is.
  logic [Threads-1:0] head_mask;
  logic is_head, nobody, drop, drop_q;

  assign is_head = Multicast && first && door.kind == gossamer_pkg::FlitKindMask;
  assign nobody  = is_head ? door.last || head_mask == '0
                           : 7'(door.dest[5:0]) >= 7'(Threads) || door.kind != gossamer_pkg::FlitKindBody;
  assign drop    = first ? nobody : drop_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q     <= 1'b0;
      local_next_q <= 1'b0;
    end else if (door_go) begin
      inside_q <= !door.last;
      if (door.last) local_next_q <= !from_local;
    end
    if (first) from_local_q <= from_local;
    if (door_go && first) drop_q <= nobody;
  end

  // The flit that is inside.
  localparam int unsigned IndexW = $clog2(MaxFlits + 1);
  logic valid_q, last_q, ends_q, is_head_q, body_q, may_go, go, writes;
  logic [5:0] thread_q;
  logic [127:0] payload_q;
  logic [IndexW-1:0] index_q;
  logic message_free;

  assign door_ready = !valid_q || go;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (door_ready) valid_q <= door_valid;
    if (door_ready) begin
      payload_q <= door.payload;
      thread_q  <= door.dest[5:0];
      is_head_q <= is_head;
      last_q    <= door.last;
      ends_q    <= door.last && !drop;
      body_q    <= !is_head && !drop;
    end
  end

  // Where it goes. Flits that a message must not have are not written.
  assign writes        = body_q && index_q != IndexW'(MaxFlits);
  assign may_go        = valid_q && (!body_q || free_valid_i) && (!ends_q || message_free);
  assign go            = may_go && (!writes || write_ready_i);
  assign write_valid_o = may_go && writes;
  assign write_flit_o  = (LinW'(free_slot_i) << FlitW) | LinW'(index_q);
  assign write_data_o  = payload_q;
  assign free_ready_o  = go && ends_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) index_q <= '0;
    else if (go && (last_q || is_head_q)) index_q <= '0;
    else if (go && writes) index_q <= index_q + IndexW'(1);
  end

  // The message that waits for the pointer queues. Threads take one in two cycles at most, as each takes them two
  // requests; so the register need not be emptied and filled in the same cycle.
  logic message_q;
  logic [SlotW-1:0] slot_q;
  logic [Threads-1:0] mask_q, one_mask;
  assign message_free    = !message_q;
  assign message_valid_o = message_q;
  assign message_slot_o  = slot_q;
  assign message_mask_o  = mask_q;

  always_comb begin
    one_mask = '0;
    for (int unsigned t = 0; t < Threads; t++) one_mask[t] = thread_q == 6'(t);
  end

  if (Multicast) begin : gen_mask
    logic [Threads-1:0] packet_mask_q;
    logic masked_q;
    assign head_mask = door.payload[Threads-1:0];
    always_ff @(posedge clk_i) begin
      if (go && is_head_q) packet_mask_q <= payload_q[Threads-1:0];
      if (go) masked_q <= !last_q && (is_head_q || masked_q);
      if (!rst_ni) masked_q <= 1'b0;
      if (message_free) mask_q <= masked_q ? packet_mask_q : one_mask;
    end
  end else begin : gen_one
    assign head_mask = '0;
    always_ff @(posedge clk_i) if (message_free) mask_q <= one_mask;
  end

  logic dropped_q;
  assign dropped_o = dropped_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      message_q <= 1'b0;
      dropped_q <= 1'b0;
    end else begin
      if (message_free) message_q <= go && ends_q;
      else if (message_ready_i) message_q <= 1'b0;
      dropped_q <= go && last_q && !ends_q;
    end
    if (message_free) slot_q <= free_slot_i;
  end

  assign busy_o = inside_q || net_valid_i || local_valid_i || valid_q || message_q || dropped_q;

  logic unused_flit;
  assign unused_flit = &{1'b0, door.vnet, door.job, door.epoch, door.dest[31:6]};

  `GS_ASSERT_NOW(a_message_is_for_somebody, !message_valid_o || message_mask_o != '0)
endmodule
