// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Receiving side of a mailbox: writes packets of the network and of this tile, alternately, into free slots.
///
/// A packet from the network is checked before any part of it takes effect; a bad packet is dropped whole and takes no
/// slot. A packet of the next epoch waits at the input. A packet of this tile was checked when it was sent.
/// An accepted packet is written into the next free slot. When its last flit is written, slot and threads are held in a
/// register until the pointer queues accept them; meanwhile the flits of the next packet are written.
///
///     network ->[ flit ]--+--checks-->[ flit, verdict ]-> scratchpad ... ->[ message ]-> queues
///     this tile ----------+
module gs_mailbox_rx
  import gossamer_pkg::flit_t, gossamer_pkg::rejection_e, gossamer_pkg::address_thread_t;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads   = 64,
  /// slots of the tile, a power of two
  parameter  int unsigned Slots     = 1024,
  /// flits that a slot can hold, a power of two
  parameter  int unsigned SlotFlits = 4,
  /// longest message in flits
  parameter  int unsigned MaxFlits  = 4,
  /// 1: messages with a mask are supported
  parameter  bit          Multicast = 1'b1,
  localparam int unsigned ThreadW   = $clog2(Threads),
  localparam int unsigned SlotW     = $clog2(Slots),
  localparam int unsigned LinW      = $clog2(Slots * SlotFlits)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// required destination of a packet from the network; kind and thread are ignored
  input  logic [31:0]        tile_i,
  input  logic [4:0]         job_i,
  input  logic [1:0]         epoch_i,
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
  /// messages in their slots: for one thread, or for the threads of a mask
  output logic               message_valid_o,
  input  logic               message_ready_i,
  output logic [SlotW-1:0]   message_slot_o,
  output logic               message_masked_o,
  output logic [ThreadW-1:0] message_thread_o,
  output logic [Threads-1:0] message_mask_o,
  /// number of threads, modulo Threads: 0 is all of them
  output logic [ThreadW-1:0] message_count_o,
  /// one cycle: a packet was dropped
  output logic               drop_valid_o,
  output rejection_e         drop_reason_o,
  output logic [4:0]         drop_job_o,
  /// work is in progress; a packet that waits for the next epoch is not counted
  output logic               busy_o
);
  localparam int unsigned FlitW = LinW - SlotW;
  localparam int unsigned IndexW = $clog2(MaxFlits + 1);

  // A flit of the network is registered first, so that its checks start at a register.
  flit_t net_q;
  logic net_valid_q, net_go;
  assign net_ready_o = !net_valid_q || net_go;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) net_valid_q <= 1'b0;
    else if (net_ready_o) net_valid_q <= net_valid_i;
    if (net_ready_o) net_q <= net_i;
  end

  // Checks of a packet's first flit from the network.
  address_thread_t net_dest, here;
  logic net_to_thread, net_to_mask, net_next_epoch, net_rejected;
  logic [127:0] net_unknown;
  rejection_e net_rejection;

  assign net_dest       = net_q.dest;
  assign here           = tile_i;
  assign net_to_thread  = net_dest.kind == gossamer_pkg::EndpointThread && net_q.kind == gossamer_pkg::FlitKindBody;
  assign net_to_mask    = Multicast && net_dest.kind == gossamer_pkg::EndpointTile
      && net_q.kind == gossamer_pkg::FlitKindMask;
  assign net_next_epoch = net_q.job == job_i && net_q.epoch == epoch_i + 2'd1;
  // Bits of a mask above the threads of this tile.
  assign net_unknown    = 128'(net_q.payload[63:0] >> Threads);

  always_comb begin
    net_rejected  = 1'b1;
    net_rejection = gossamer_pkg::RejectionJob;
    if (net_q.job != job_i) net_rejection = gossamer_pkg::RejectionJob;
    else if (net_q.epoch != epoch_i) net_rejection = gossamer_pkg::RejectionEpoch;
    else if (!net_to_thread && !net_to_mask) net_rejection = gossamer_pkg::RejectionKind;
    else if ({net_dest.spare, net_dest.board, net_dest.tile_y, net_dest.tile_x}
             != {3'd0, here.board, here.tile_y, here.tile_x}) net_rejection = gossamer_pkg::RejectionPlace;
    else if (net_to_thread && 7'(net_dest.thread) >= 7'(Threads)) net_rejection = gossamer_pkg::RejectionThread;
    else if (net_to_mask && (net_q.payload[Threads-1:0] == '0 || net_unknown != '0))
      net_rejection = gossamer_pkg::RejectionMask;
    else if (net_to_mask && net_q.last) net_rejection = gossamer_pkg::RejectionLength;
    else net_rejected = 1'b0;
  end

  // The source of the next flit, from registers alone. It stays the same within a packet. Between packets it changes if
  // the other source has a packet and the present one has ended its packet or has none. So the sources alternate, and a
  // source that begins to send while the other is silent waits one cycle.
  logic inside_q, local_q, first, net_open, net_offers, offered, other_offers, load, front_free;
  logic [IndexW-1:0] next_index_q;
  flit_t next;

  assign first         = !inside_q;
  // Only packets of the job's next epoch wait.
  assign net_open      = net_valid_q && !net_next_epoch;
  assign net_offers    = inside_q ? net_valid_q : net_open;
  assign offered       = local_q ? local_valid_i : net_offers;
  assign other_offers  = local_q ? net_open : local_valid_i;
  assign next          = local_q ? local_i : net_q;
  assign net_go        = front_free && !local_q && net_offers;
  assign local_ready_o = front_free && local_q;
  assign load          = front_free && offered;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      local_q  <= 1'b0;
    end else begin
      if (load) inside_q <= !next.last;
      if (other_offers && (load ? next.last : first && !offered)) local_q <= !local_q;
    end
  end

  // The decision on the flit.
  logic is_head, drop, writes, drop_q;
  rejection_e rejection, rejection_q;

  assign is_head = Multicast && first && next.kind == gossamer_pkg::FlitKindMask;
  always_comb begin
    drop      = drop_q;
    rejection = rejection_q;
    if (first) begin
      drop      = net_rejected && !local_q;
      rejection = net_rejection;
    end else if (!drop_q && !local_q) begin
      drop      = net_q.kind != gossamer_pkg::FlitKindBody || next_index_q == IndexW'(MaxFlits);
      rejection = (net_q.kind != gossamer_pkg::FlitKindBody)
                      ? gossamer_pkg::RejectionKind : gossamer_pkg::RejectionLength;
    end
  end
  assign writes = !is_head && !drop;

  // The flit with its verdict, before it enters the scratchpad.
  logic front_valid_q, front_go, last_q, writes_q, ends, message_free, masked_q;
  logic [IndexW-1:0] index_q;
  logic [127:0] data_q;
  logic [ThreadW-1:0] thread_q;
  logic [4:0] packet_job_q;

  assign front_go   = front_valid_q && (!writes_q || (free_valid_i && write_ready_i && (!last_q || message_free)));
  assign front_free = !front_valid_q || front_go;
  assign ends       = writes_q && last_q;

  assign write_valid_o = front_valid_q && writes_q && free_valid_i && (!last_q || message_free);
  assign write_flit_o  = (LinW'(free_slot_i) << FlitW) | LinW'(index_q);
  assign write_data_o  = data_q;
  assign free_ready_o  = front_go && ends;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      front_valid_q <= 1'b0;
      next_index_q  <= '0;
    end else begin
      if (front_free) front_valid_q <= offered;
      if (load && next.last) next_index_q <= '0;
      else if (load && writes) next_index_q <= next_index_q + IndexW'(1);
    end
    // Whether there is a flit is known late: without one, the loaded values are ignored.
    if (front_free) begin
      data_q      <= next.payload;
      last_q      <= next.last;
      writes_q    <= writes;
      rejection_q <= rejection;
      index_q     <= next_index_q;
    end
    if (load) drop_q <= drop;
    // The first flit names the receivers.
    if (front_free && first) begin
      thread_q     <= next.dest[ThreadW-1:0];
      masked_q     <= is_head;
      packet_job_q <= next.job;
    end
  end

  // The message that waits for the pointer queues.
  logic message_q, message_masked_q;
  logic [SlotW-1:0] message_slot_q;
  logic [ThreadW-1:0] message_thread_q;
  assign message_free     = !message_q;
  assign message_valid_o  = message_q;
  assign message_slot_o   = message_slot_q;
  assign message_masked_o = message_masked_q;
  assign message_thread_o = message_thread_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) message_q <= 1'b0;
    else if (message_free) message_q <= front_go && ends;
    else if (message_ready_i) message_q <= 1'b0;
    if (message_free) begin
      message_slot_q   <= free_slot_i;
      message_thread_q <= thread_q;
      message_masked_q <= masked_q;
    end
  end

  if (Multicast) begin : gen_mask
    // The threads are counted in two steps, since the message is complete at least one cycle after its mask.
    logic [Threads-1:0] head_q, mask_q;
    logic [5:0][3:0] counts_q;
    logic [ThreadW-1:0] count_q;
    assign message_mask_o  = mask_q;
    assign message_count_o = count_q;
    always_ff @(posedge clk_i) begin
      if (front_free && first) head_q <= next.payload[Threads-1:0];
      counts_q <= gs_mailbox_pkg::bit_counts(64'(head_q));
      if (message_free) begin
        mask_q  <= head_q;
        count_q <= masked_q ? ThreadW'(gs_mailbox_pkg::bit_count(counts_q)) : ThreadW'(1);
      end
    end
  end else begin : gen_one
    assign message_mask_o  = '0;
    assign message_count_o = ThreadW'(1);
  end

  // A dropped packet is reported when its last flit has passed.
  logic drop_valid_q;
  rejection_e drop_reason_q;
  logic [4:0] drop_job_q;
  assign drop_valid_o  = drop_valid_q;
  assign drop_reason_o = drop_reason_q;
  assign drop_job_o    = drop_job_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) drop_valid_q <= 1'b0;
    else drop_valid_q <= front_go && last_q && drop_q;
    drop_reason_q <= rejection_q;
    drop_job_q    <= packet_job_q;
  end

  assign busy_o = inside_q || net_open || local_valid_i || front_valid_q || message_q || drop_valid_q;

  logic unused;
  assign unused = &{1'b0, here.kind, here.spare, here.thread, next.vnet, next.epoch, next.wave,
                    next.dest[31:ThreadW]};

  `GS_ASSERT_NOW(masks_are_not_empty, !message_q || !message_masked_q || message_mask_o != '0)
  `GS_ASSERT_NOW(messages_fit_into_their_slot, !write_valid_o || 32'(index_q) < MaxFlits)
endmodule
