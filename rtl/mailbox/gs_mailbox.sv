// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Mailbox of a tile: scratchpad with message slots, sends, receive queues of all threads, waits, idle detection.
///
/// Requests of threads pass through gs_mailbox_requests. Sends go from there to gs_mailbox_tx; messages arrive in
/// gs_mailbox_rx and are distributed to the threads' queues; gs_mailbox_slot_refcount records which threads hold each
/// slot. docs/hardware/mailbox.md has a block diagram. The parameters default to the configuration; tests and
/// benchmarks set other values.
module gs_mailbox
  import gs_mailbox_pkg::*;
  import gs_idle_pkg::idle_status_t, gs_idle_pkg::idle_command_t, gs_idle_pkg::idle_given_t;
  import gs_address_pkg::cluster_t;
  import gossamer_pkg::flit_t, gossamer_pkg::flit_kind_e, gossamer_pkg::rejection_e;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads        = gossamer_pkg::ThreadsPerTile,
  /// number of high bits of a thread's number that select its core
  parameter  int unsigned CoreBits       = gossamer_pkg::Log2CoresPerMailbox,
  /// slots of a thread, a power of two
  parameter  int unsigned SlotsPerThread = gossamer_pkg::SlotsPerThread,
  /// bytes of a slot, a power of two, 16 or more
  parameter  int unsigned SlotBytes      = gossamer_pkg::MailboxSlotBytes,
  /// longest message in flits
  parameter  int unsigned MaxFlits       = gossamer_pkg::MailboxMaxFlits,
  /// messages that can wait for a thread, a power of two
  parameter  int unsigned QueueDepth     = gossamer_pkg::MailboxQueueDepth,
  /// slots that a thread holds after reset; the others are free to receive messages
  parameter  int unsigned SendSlots      = 2,
  /// first address of the scratchpad, a multiple of its size
  parameter  logic [31:0] Base           = gossamer_pkg::ScratchpadBase,
  /// 1: messages to any set of threads of a tile are supported
  parameter  bit          Multicast      = 1'b1,
  /// 1: barriers that reduce words of threads are supported; requires Multicast, whose masks hold the words
  parameter  bit          Reduce         = Multicast,
  /// 1: the tile has no network; a send to another tile traps
  parameter  bit          Alone          = 1'b0,
  /// columns and rows of a board's mesh
  parameter  int unsigned MeshWidth      = gossamer_pkg::MeshWidth,
  parameter  int unsigned MeshHeight     = gossamer_pkg::MeshHeight,
  /// bits of thread, column and row of a tile in a program's addresses (gs_address_pkg)
  parameter  int unsigned ThreadBits     = gossamer_pkg::Log2ThreadsPerTile,
  parameter  int unsigned XBits          = gossamer_pkg::Log2MeshWidth,
  parameter  int unsigned YBits          = gossamer_pkg::Log2MeshHeight,
  localparam int unsigned ThreadW        = $clog2(Threads)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  /// wire address of this tile (only board, tile_y and tile_x are used), its job, the size of the cluster
  input  logic [31:0]      tile_i,
  input  logic [4:0]       job_i,
  input  cluster_t         cluster_i,
  /// the initialization of all slots after reset is finished; requests and flits wait for it
  output logic             ready_o,
  /// threads
  input  logic             req_valid_i,
  output logic             req_ready_o,
  input  mailbox_req_t     req_i,
  output logic             rsp_valid_o,
  input  logic             rsp_ready_i,
  output mailbox_rsp_t     rsp_o,
  output logic             trap_valid_o,
  input  logic             trap_ready_i,
  output mailbox_trap_t    trap_o,
  /// mailbox network
  output logic             net_out_valid_o,
  input  logic             net_out_ready_i,
  output flit_t            net_out_o,
  input  logic             net_in_valid_i,
  output logic             net_in_ready_o,
  input  flit_t            net_in_i,
  /// all other virtual networks, by the flit's vnet. Neither this stream nor net_out waits for the other
  output logic             far_out_valid_o,
  input  logic             far_out_ready_i,
  output flit_t            far_out_o,
  /// idle detection: number of started threads; all fields of the status are of the same cycle
  input  logic [ThreadW:0] started_i,
  output idle_status_t     idle_o,
  /// release of all threads in idle, colour of messages, words of barriers
  input  idle_command_t    idle_command_i,
  /// one cycle each: a message was sent; a message arrived, for any number of threads
  output logic             sent_o,
  output logic             received_o,
  /// one cycle: a packet from the network was dropped, and why
  output logic             drop_valid_o,
  output rejection_e       drop_reason_o,
  /// work is in progress; a thread that waits for an external event is not counted
  output logic             busy_o
);
  localparam int unsigned Slots = Threads * SlotsPerThread;
  localparam int unsigned SlotW = $clog2(Slots);
  localparam int unsigned SlotFlits = SlotBytes / 16;
  localparam int unsigned LinW = $clog2(Slots * SlotFlits);
  localparam int unsigned WordW = LinW + 2;
  localparam int unsigned LengthW = (MaxFlits > 1) ? $clog2(MaxFlits) : 1;

  if (Threads < 2 || Threads > 64 || Threads != 1 << ThreadW) begin : gen_illegal_threads
    $fatal(1, "gs_mailbox: Threads is %0d; it must be a power of two from 2 to 64", Threads);
  end
  if (CoreBits > ThreadW) begin : gen_illegal_cores
    $fatal(1, "gs_mailbox: CoreBits is %0d; a thread's number has %0d bits", CoreBits, ThreadW);
  end
  if (MaxFlits < 1 || MaxFlits * 16 > SlotBytes) begin : gen_illegal_flits
    $fatal(1, "gs_mailbox: %0d flits of 16 bytes do not fit in a slot of %0d bytes", MaxFlits, SlotBytes);
  end
  if ((Base & 32'(Slots * SlotBytes - 1)) != '0) begin : gen_illegal_base
    $fatal(1, "gs_mailbox: Base is %0d; it must be a multiple of the %0d bytes of the scratchpad", Base,
           Slots * SlotBytes);
  end

  // The initialization after reset sets the initial state of threads.
  logic walking, slot_refcount_ready, ready_q;
  logic [ThreadW-1:0] walk_thread;
  assign walking = !slot_refcount_ready;
  assign ready_o = ready_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ready_q <= 1'b0;
    else ready_q <= slot_refcount_ready;
  end

  // ---- Requests of threads ----
  logic wake_valid, wake_ready, releasing, agreed, requests_busy;
  logic [ThreadW-1:0] wake_thread, a_thread, want_thread;
  logic a_pop, a_some, a_arriving, want_we, want, b_enter, b_leave, b_vote, freed, freed_vote;
  logic a_core_valid, a_core_we, c_held, c_release, c_receive;
  logic [3:0] a_core_strb;
  logic [WordW-1:0] a_core_word;
  logic [31:0] a_core_wdata, c_core_rdata;
  logic [SlotW-1:0] a_slot, c_popped;
  logic send, done_valid, done_ready;
  logic [ThreadW-1:0] send_thread, done_thread;
  logic [SlotW-1:0] send_slot;
  logic [LengthW-1:0] send_length;
  flit_kind_e send_kind;
  route_e send_route;
  logic [31:0] send_dest;
  logic [63:0] send_head;
  logic [1:0] a_half;
  logic [31:0] a_reduced;
  logic give, reduce_busy, chunk_valid;
  logic [2:0] give_code;
  logic [gs_idle_pkg::IdleChunk-1:0] chunk;
  idle_given_t given;
  idle_status_t idle;
  logic [4:0] drop_job;

  gs_mailbox_requests #(
    .Threads       (Threads),
    .CoreBits      (CoreBits),
    .SlotsPerThread(SlotsPerThread),
    .SlotBytes     (SlotBytes),
    .MaxFlits      (MaxFlits),
    .Base          (Base),
    .Multicast     (Multicast),
    .Reduce        (Reduce),
    .Alone         (Alone),
    .MeshWidth     (MeshWidth),
    .MeshHeight    (MeshHeight),
    .ThreadBits    (ThreadBits),
    .XBits         (XBits),
    .YBits         (YBits)
  ) u_requests (
    .clk_i,
    .rst_ni,
    .tile_i,
    .cluster_i,
    .clear_i       (walking),
    .clear_thread_i(walk_thread),
    .ready_i       (ready_q),
    .req_valid_i,
    .req_ready_o,
    .req_i,
    .rsp_valid_o,
    .rsp_ready_i,
    .rsp_o,
    .trap_valid_o,
    .trap_ready_i,
    .trap_o,
    .wake_valid_i  (wake_valid),
    .wake_ready_o  (wake_ready),
    .wake_thread_i (wake_thread),
    .release_i     (idle_command_i.release_all),
    .agreed_i      (agreed),
    .releasing_o   (releasing),
    .a_thread_o    (a_thread),
    .a_pop_o       (a_pop),
    .a_some_i      (a_some),
    .a_arriving_i  (a_arriving),
    .c_popped_i    (c_popped),
    .want_we_o     (want_we),
    .want_thread_o (want_thread),
    .want_o        (want),
    .b_enter_o     (b_enter),
    .b_leave_o     (b_leave),
    .b_vote_o      (b_vote),
    .freed_o       (freed),
    .freed_vote_o  (freed_vote),
    .a_core_valid_o(a_core_valid),
    .a_core_we_o   (a_core_we),
    .a_core_strb_o (a_core_strb),
    .a_core_word_o (a_core_word),
    .a_core_wdata_o(a_core_wdata),
    .c_core_rdata_i(c_core_rdata),
    .a_slot_o      (a_slot),
    .c_held_i      (c_held),
    .c_release_o   (c_release),
    .c_receive_o   (c_receive),
    .send_o        (send),
    .send_thread_o (send_thread),
    .send_slot_o   (send_slot),
    .send_length_o (send_length),
    .send_kind_o   (send_kind),
    .send_route_o  (send_route),
    .send_dest_o   (send_dest),
    .send_head_o   (send_head),
    .a_half_o      (a_half),
    .a_reduced_i   (a_reduced),
    .give_o        (give),
    .give_code_o   (give_code),
    .done_valid_i  (done_valid),
    .done_ready_o  (done_ready),
    .done_thread_i (done_thread),
    .busy_o        (requests_busy)
  );

  // ---- Slots ----
  logic read_valid, write_valid, write_ready;
  logic [LinW-1:0] read_flit, write_flit;
  logic [127:0] read_data, write_data;

  gs_mailbox_scratch #(
    .Slots    (Slots),
    .SlotFlits(SlotFlits)
  ) u_scratch (
    .clk_i,
    .rst_ni,
    .core_valid_i(a_core_valid),
    .core_we_i   (a_core_we),
    .core_strb_i (a_core_strb),
    .core_word_i (a_core_word),
    .core_wdata_i(a_core_wdata),
    .core_rdata_o(c_core_rdata),
    .out_valid_i (read_valid),
    .out_flit_i  (read_flit),
    .out_data_o  (read_data),
    .in_valid_i  (write_valid),
    .in_ready_o  (write_ready),
    .in_flit_i   (write_flit),
    .in_data_i   (write_data)
  );

  logic message_valid, message_ready, message_go, message_masked, queues_free;
  logic [SlotW-1:0] message_slot, freed_slot, free_slot;
  logic [ThreadW-1:0] message_thread, message_count;
  logic [Threads-1:0] message_mask;
  logic freed_valid, freed_ready, slot_valid, slot_ready;

  // A message is recorded and distributed in one cycle, so no thread has it before it is counted; and not while a
  // release is delivered to the threads.
  assign message_ready = queues_free && !releasing;
  assign message_go    = message_valid && message_ready;

  gs_mailbox_slot_refcount #(
    .Threads       (Threads),
    .SlotsPerThread(SlotsPerThread),
    .SendSlots     (SendSlots),
    .Multicast     (Multicast)
  ) u_slot_refcount (
    .clk_i,
    .rst_ni,
    .a_slot_i        (a_slot),
    .a_thread_i      (a_thread),
    .c_held_o        (c_held),
    .c_release_i     (c_release),
    .c_receive_i     (c_receive),
    .c_receive_slot_i(c_popped),
    .hold_i          (message_go),
    .hold_slot_i     (message_slot),
    .hold_count_i    (message_count),
    .free_valid_o    (freed_valid),
    .free_slot_o     (freed_slot),
    .ready_o         (slot_refcount_ready),
    .walk_thread_o   (walk_thread)
  );

  logic [$clog2(Slots+1)-1:0] slots_unused;
  gs_fifo #(
    .data_t(logic [SlotW-1:0]),
    .Depth (Slots),
    .Block (1'b1)
  ) u_free (
    .clk_i,
    .rst_ni,
    .in_valid_i (freed_valid),
    .in_ready_o (freed_ready),
    .in_data_i  (freed_slot),
    .out_valid_o(slot_valid),
    .out_ready_i(slot_ready),
    .out_data_o (free_slot),
    .count_o    (slots_unused)
  );

  logic queues_busy;
  gs_mailbox_queues #(
    .Threads  (Threads),
    .Depth    (QueueDepth),
    .SlotW    (SlotW),
    .Multicast(Multicast)
  ) u_queues (
    .clk_i,
    .rst_ni,
    .in_valid_i    (message_go),
    .in_ready_o    (queues_free),
    .in_slot_i     (message_slot),
    .in_masked_i   (message_masked),
    .in_thread_i   (message_thread),
    .in_mask_i     (message_mask),
    .pop_i         (a_pop),
    .pop_thread_i  (a_thread),
    .pop_some_o    (a_some),
    .pop_arriving_o(a_arriving),
    .pop_slot_o    (c_popped),
    .want_we_i     (want_we),
    .want_thread_i (want_thread),
    .want_i        (want),
    .wake_valid_o  (wake_valid),
    .wake_ready_i  (wake_ready),
    .wake_thread_o (wake_thread),
    .busy_o        (queues_busy),
    .clear_i       (walking),
    .clear_thread_i(walk_thread)
  );

  // ---- Flits ----
  logic [Routes-1:0] out_valid, out_ready;
  flit_t out[Routes];
  logic tx_busy, rx_busy, net_ready, local_ready;
  logic [1:0] epoch;

  gs_mailbox_tx #(
    .Threads  (Threads),
    .Slots    (Slots),
    .SlotFlits(SlotFlits),
    .MaxFlits (MaxFlits),
    .Multicast(Multicast)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .send_i       (send),
    .send_thread_i(send_thread),
    .send_slot_i  (send_slot),
    .send_length_i(send_length),
    .send_kind_i  (send_kind),
    .send_route_i (send_route),
    .send_dest_i  (send_dest),
    .send_head_i  (send_head),
    .read_valid_o (read_valid),
    .read_flit_o  (read_flit),
    .read_data_i  (read_data),
    .done_valid_o (done_valid),
    .done_ready_i (done_ready),
    .done_thread_o(done_thread),
    .out_valid_o  (out_valid),
    .out_ready_i  (out_ready),
    .out_o        (out),
    .busy_o       (tx_busy)
  );

  assign out_ready[RouteLocal] = local_ready;
  assign out_ready[RouteNet]   = net_out_ready_i;
  assign out_ready[RouteFar]   = far_out_ready_i;
  assign net_out_valid_o       = out_valid[RouteNet];
  assign far_out_valid_o       = out_valid[RouteFar];

  always_comb begin
    net_out_o       = out[RouteNet];
    far_out_o       = out[RouteFar];
    net_out_o.job   = job_i;
    far_out_o.job   = job_i;
    net_out_o.epoch = epoch;
    far_out_o.epoch = epoch;
    net_out_o.wave  = idle_command_i.wave;
    far_out_o.wave  = idle_command_i.wave;
  end

  assign net_in_ready_o = net_ready && ready_q;
  gs_mailbox_rx #(
    .Threads  (Threads),
    .Slots    (Slots),
    .SlotFlits(SlotFlits),
    .MaxFlits (MaxFlits),
    .Multicast(Multicast)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .tile_i,
    .job_i,
    .epoch_i         (epoch),
    .net_valid_i     (net_in_valid_i && ready_q),
    .net_ready_o     (net_ready),
    .net_i           (net_in_i),
    .local_valid_i   (out_valid[RouteLocal]),
    .local_ready_o   (local_ready),
    .local_i         (out[RouteLocal]),
    .free_valid_i    (slot_valid),
    .free_ready_o    (slot_ready),
    .free_slot_i     (free_slot),
    .write_valid_o   (write_valid),
    .write_ready_i   (write_ready),
    .write_flit_o    (write_flit),
    .write_data_o    (write_data),
    .message_valid_o (message_valid),
    .message_ready_i (message_ready),
    .message_slot_o  (message_slot),
    .message_masked_o(message_masked),
    .message_thread_o(message_thread),
    .message_mask_o  (message_mask),
    .message_count_o (message_count),
    .drop_valid_o,
    .drop_reason_o,
    .drop_job_o      (drop_job),
    .busy_o          (rx_busy)
  );

  // ---- Idle detection ----
  logic in_flight;
  assign in_flight = !ready_q || requests_busy || tx_busy || rx_busy || queues_busy;

  gs_mailbox_idle #(
    .Threads(Threads)
  ) u_idle (
    .clk_i,
    .rst_ni,
    .enter_i     (b_enter),
    .leave_i     (b_leave),
    .vote_i      (b_vote),
    .freed_i     (freed),
    .freed_vote_i(freed_vote),
    .sent_i      (send),
    .received_i  (message_go),
    // A packet of another job does not count for this job.
    .dropped_i   (drop_valid_o && drop_reason_o != gossamer_pkg::RejectionJob),
    .started_i,
    .quiescent_i (!in_flight),
    .idle_o      (idle),
    .release_i   (idle_command_i.release_all),
    .agreed_i    (idle_command_i.agreed),
    .releasing_i (releasing),
    .clear_i     (idle_command_i.clear),
    .epoch_o     (epoch),
    .agreed_o    (agreed)
  );

  always_comb begin
    idle_o             = idle;
    idle_o.drops[0]    = '{valid: drop_valid_o, why: drop_reason_o, job: drop_job};
    idle_o.given       = given;
    idle_o.chunk_valid = chunk_valid;
    idle_o.chunk       = chunk;
  end

  if (Reduce && !Multicast) begin : gen_illegal_reduce
    $fatal(1, "gs_mailbox: Reduce is 1, but Multicast is 0; the words are stored in the masks");
  end
  if (Reduce) begin : gen_reduce
    gs_mailbox_reduce u_reduce (
      .clk_i,
      .rst_ni,
      .give_i       (give),
      .give_word_i  (give_code[2]),
      .give_op_i    (give_code[1:0]),
      .give_value_i (send_head),
      .command_i    (idle_command_i),
      .given_o      (given),
      .chunk_valid_o(chunk_valid),
      .chunk_o      (chunk),
      .half_i       (a_half),
      .result_o     (a_reduced),
      .busy_o       (reduce_busy)
    );
  end else begin : gen_no_reduce
    assign given       = '0;
    assign chunk_valid = 1'b0;
    assign chunk       = '0;
    assign a_reduced   = '0;
    assign reduce_busy = 1'b0;
    logic unused_reduce;
    assign unused_reduce = ^{give, give_code, a_half, idle_command_i};
  end

  logic sent_q, received_q;
  assign sent_o     = sent_q;
  assign received_o = received_q;
  assign busy_o     = in_flight || releasing || reduce_busy || sent_q || received_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sent_q     <= 1'b0;
      received_q <= 1'b0;
    end else begin
      sent_q     <= send;
      received_q <= message_go;
    end
  end

  `GS_ASSERT_NOW(free_slot_queue_has_space, !freed_valid || freed_ready)
  `GS_ASSERT_NOW(bit_of_a_sent_slot_is_not_read_while_it_is_written,
                 !(u_slot_refcount.undefined != '0 && u_requests.c_valid_q && u_requests.c_q.what.act == ActSend))
endmodule
