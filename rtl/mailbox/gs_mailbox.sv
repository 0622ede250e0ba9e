// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Mailbox of a tile: scratchpad with message slots, sends, receive queues of all threads, waits, idleness.
///
/// One request a cycle goes through a pipeline that never stops behind A:
///
///     request -> A: state of the thread, checks, pointer queue   B   C: scratchpad, masks, pointer   D: result
///             -> queue of outcomes -> response or trap
///
/// A wait ends by a request from inside, which takes the same way. Sends leave D for gs_mailbox_tx; messages come in
/// through gs_mailbox_rx. gs_mailbox_refs says who holds which slot. docs/hardware/mailbox.md has the picture.
module gs_mailbox
  import gs_mailbox_pkg::*;
  import gs_word_pkg::*;
  import gs_idle_pkg::idle_status_t, gs_address_pkg::cluster_t;
  import gossamer_pkg::flit_t, gossamer_pkg::flit_kind_e, gossamer_pkg::refusal_e;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter int unsigned Threads        = 64,
  /// slots of a thread, a power of two
  parameter int unsigned SlotsPerThread = 16,
  /// bytes of a slot, a power of two, 16 or more
  parameter int unsigned SlotBytes      = 64,
  /// longest message in flits
  parameter int unsigned MaxFlits       = 4,
  /// messages that can wait for a thread, a power of two
  parameter int unsigned QueueDepth     = 16,
  /// slots that a thread holds after reset; the rest receive
  parameter int unsigned SendSlots      = 2,
  /// banks of the scratchpad, 2 or 4: with 4 fewer flits meet, but a small scratchpad fills less of its block RAMs
  parameter int unsigned Banks          = (Threads * SlotsPerThread * SlotBytes >= 65536) ? 4 : 2,
  /// first address of the scratchpad, a multiple of its size
  parameter logic [31:0] Base           = 32'h0010_0000,
  /// 1: messages to any set of threads of a tile; 0 leaves that out
  parameter bit          Multicast      = 1'b1,
  /// 1: the tile has no network; who sends to anything else is stopped
  parameter bit          Alone          = 1'b0,
  /// bits of thread, column and row of a tile in a program's addresses (gs_address_pkg)
  parameter int unsigned ThreadBits     = 6,
  parameter int unsigned XBits          = 4,
  parameter int unsigned YBits          = 4,
  localparam int unsigned ThreadW       = $clog2(Threads)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// wire address of this tile (only board, tile_y and tile_x count), its job, the size of the cluster
  input  logic [31:0]        tile_i,
  input  logic [4:0]         job_i,
  input  cluster_t           cluster_i,
  /// the walk over all slots after reset is over; requests and flits wait for it
  output logic               ready_o,
  /// threads
  input  logic               req_valid_i,
  output logic               req_ready_o,
  input  mailbox_req_t       req_i,
  output logic               rsp_valid_o,
  input  logic               rsp_ready_i,
  output mailbox_rsp_t       rsp_o,
  output logic               trap_valid_o,
  input  logic               trap_ready_i,
  output mailbox_trap_t      trap_o,
  /// mailbox network
  output logic               net_out_valid_o,
  input  logic               net_out_ready_i,
  output flit_t              net_out_o,
  input  logic               net_in_valid_i,
  output logic               net_in_ready_o,
  input  flit_t              net_in_i,
  /// all other virtual networks; the flit says which. Neither this stream nor net_out waits for the other
  output logic               far_out_valid_o,
  input  logic               far_out_ready_i,
  output flit_t              far_out_o,
  /// idleness: how many threads are started; all fields of the status are of the same cycle
  input  logic [ThreadW:0]   started_i,
  output idle_status_t       idle_o,
  /// one cycle: all threads in idle return, and learn whether all voted yes; the next epoch begins
  input  logic               idle_release_i,
  input  logic               idle_agreed_i,
  /// one cycle each: a message was sent; one arrived for its threads, however many
  output logic               sent_o,
  output logic               received_o,
  /// one cycle: a packet from the network was refused, and why
  output logic               refused_valid_o,
  output refusal_e           refused_o,
  /// something is under way; what waits for an event from outside is not
  output logic               busy_o
);
  localparam int unsigned Slots = Threads * SlotsPerThread;
  localparam int unsigned SlotW = $clog2(Slots);
  localparam int unsigned SlotFlits = SlotBytes / 16;
  localparam int unsigned ByteW = $clog2(SlotBytes);
  localparam int unsigned LinW = $clog2(Slots * SlotFlits);
  // Enough of an address for a place in the scratchpad or the number of a CSR.
  localparam int unsigned AddrW = (LinW + 4 > 12) ? LinW + 4 : 12;
  localparam int unsigned LengthW = (MaxFlits > 1) ? $clog2(MaxFlits) : 1;

  if (Threads < 2 || Threads > 64 || Threads != 1 << ThreadW) begin : gen_illegal_threads
    $fatal(1, "gs_mailbox: Threads is %0d; it must be a power of two from 2 to 64", Threads);
  end
  if (MaxFlits < 1 || MaxFlits * 16 > SlotBytes) begin : gen_illegal_flits
    $fatal(1, "gs_mailbox: %0d flits of 16 bytes do not fit in a slot of %0d bytes", MaxFlits, SlotBytes);
  end
  if ((Base & 32'(Slots * SlotBytes - 1)) != '0) begin : gen_illegal_base
    $fatal(1, "gs_mailbox: Base is %0d; it must be a multiple of the %0d bytes of the scratchpad", Base,
           Slots * SlotBytes);
  end

  function automatic logic [31:0] slot_address(logic [SlotW-1:0] slot);
    return Base | (32'(slot) << ByteW);
  endfunction

  // After reset: what threads begin with.
  logic [ThreadW:0] walk_q;
  logic walking, refs_ready, queues_ready, ready_q;
  logic [ThreadW-1:0] walk_thread;
  assign walking     = !walk_q[ThreadW];
  assign walk_thread = walk_q[ThreadW-1:0];
  assign ready_o     = ready_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      walk_q  <= '0;
      ready_q <= 1'b0;
    end else begin
      if (walking) walk_q <= walk_q + 1'b1;
      ready_q <= !walking && refs_ready && queues_ready;
    end
  end

  // ---- Into A: a wake-up, or a request ----
  typedef struct packed {
    act_e               act;
    state_e             state;
    logic               write;
    logic               ok;
    flit_kind_e         kind;
    logic               to_local;
    logic [5:0]         cause;
    logic [2:0]         funct3;
    logic [ThreadW-1:0] thread;
    logic [AddrW-1:0]   addr;
    logic [31:0]        data;
    logic               release_all;
  } a_t;

  logic skid_valid, skid_ready;
  mailbox_req_t skid;
  a_t request, a_q;
  logic [31:0] request_dest;
  logic a_valid_q, a_go, a_free;
  logic wake_valid, wake_ready, wake_release;
  logic [ThreadW-1:0] wake_thread;

  gs_skid #(
    .data_t(mailbox_req_t)
  ) u_skid (
    .clk_i,
    .rst_ni,
    .in_valid_i (req_valid_i),
    .in_ready_o (req_ready_o),
    .in_data_i  (req_i),
    .out_valid_o(skid_valid),
    .out_ready_i(skid_ready),
    .out_data_o (skid)
  );

  gs_mailbox_decode #(
    .Threads  (Threads),
    .Slots    (Slots),
    .SlotBytes(SlotBytes),
    .MaxFlits (MaxFlits),
    .Base     (Base),
    .Multicast(Multicast),
    .Alone    (Alone),
    .ThreadBits(ThreadBits),
    .XBits    (XBits),
    .YBits    (YBits)
  ) u_decode (
    .req_i  (skid),
    .tile_i,
    .act_o  (request.act),
    .state_o(request.state),
    .write_o(request.write),
    .ok_o   (request.ok),
    .kind_o (request.kind),
    .local_o(request.to_local),
    .dest_o (request_dest),
    .cause_o(request.cause)
  );
  logic unused_skid;
  assign unused_skid         = &{1'b0, skid.op, skid.thread, skid.addr};
  assign request.funct3      = skid.funct3;
  assign request.thread      = skid.thread[ThreadW-1:0];
  assign request.addr        = skid.addr[AddrW-1:0];
  assign request.data        = request_dest;
  assign request.release_all = wake_release;

  assign a_free     = !a_valid_q || a_go;
  assign wake_ready = a_free;
  assign skid_ready = a_free && !wake_valid && ready_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) a_valid_q <= 1'b0;
    else if (a_free) a_valid_q <= wake_valid || (skid_valid && ready_q);
    if (a_free) begin
      a_q <= request;
      if (wake_valid) begin
        a_q.act    <= ActWake;
        a_q.thread <= wake_thread;
      end
    end
  end

  // ---- A: state of the thread ----
  logic [Threads-1:0] sending_q, some;
  logic a_sending, a_some;
  logic [SlotW-1:0] a_slot, own_slot, own_slot_next, sending_slot_next, ref_slot_q;
  logic [LengthW-1:0] own_length, own_length_next;
  logic same_slot_q, sending_next;
  logic [ThreadW-1:0] next_thread;
  logic a_waits_idle;
  logic [1:0] a_waits_for, a_remember, a_woken;
  logic a_send, a_defer, a_need_refs, refs_wait;
  logic agreed_q;
  logic room, a_settles, outcome_pop, popped_q;

  assign a_slot    = a_q.data[ByteW+:SlotW];

  // What a thread set stands in registers when its request comes to A: nobody but the thread changes it, and
  // the thread waits. Its send may end at any time; the register follows.
  logic done1_valid_q, done2_valid_q, done1_go, done2_go, done2_late, note;
  logic [ThreadW-1:0] done1_thread_q, done2_thread_q;
  assign next_thread  = wake_valid ? wake_thread : request.thread;
  assign sending_next = sending_q[next_thread] && !(done1_go && done1_thread_q == next_thread);
  always_ff @(posedge clk_i) begin
    if (a_free) begin
      own_slot    <= own_slot_next;
      own_length  <= own_length_next;
      same_slot_q <= sending_slot_next == request_dest[ByteW+:SlotW];
      ref_slot_q  <= (request.act == ActSend) ? own_slot_next : request_dest[ByteW+:SlotW];
      a_sending   <= sending_next;
    end else if (done1_go && done1_thread_q == a_q.thread) begin
      a_sending <= 1'b0;
    end
  end

  // CSRs that are read where they are checked. The masks are in a block RAM, and come in C.
  logic slot_we, length_we;
  assign slot_we   = a_go && a_q.act == ActState && a_q.state == StateSlot && a_q.write && a_q.ok;
  assign length_we = a_go && a_q.act == ActState && a_q.state == StateLength && a_q.write && a_q.ok;

  gs_ram_sdp #(
    .Width  (SlotW),
    .Depth  (Threads),
    .Latency(0),
    .Style  ("distributed")
  ) u_slot (
    .clk_i,
    .we_i   (walking || slot_we),
    .wstrb_i(1'b1),
    .waddr_i(walking ? walk_thread : a_q.thread),
    .wdata_i(walking ? SlotW'(32'(walk_thread) * SlotsPerThread) : a_slot),
    .re_i   (1'b1),
    .raddr_i(request.thread),
    .rdata_o(own_slot_next)
  );

  gs_ram_sdp #(
    .Width  (LengthW),
    .Depth  (Threads),
    .Latency(0),
    .Style  ("distributed")
  ) u_length (
    .clk_i,
    .we_i   (walking || length_we),
    .wstrb_i(1'b1),
    .waddr_i(walking ? walk_thread : a_q.thread),
    .wdata_i(walking ? '0 : a_q.data[LengthW-1:0]),
    .re_i   (1'b1),
    .raddr_i(request.thread),
    .rdata_o(own_length_next)
  );

  // A release of the slot that the thread's own send stands in waits for the end of the send: it is noted, and
  // whoever ends the send finds the note. The send is no longer under way when the note is read, so none comes late.
  logic tx_done_valid;
  logic [ThreadW-1:0] tx_done_thread;
  logic [SlotW-1:0] tx_done_slot, done1_slot_q, done2_slot_q;
  logic late_ready;

  gs_ram_sdp #(
    .Width  (SlotW),
    .Depth  (Threads),
    .Latency(0),
    .Style  ("distributed")
  ) u_sending_slot (
    .clk_i,
    .we_i   (a_go && a_send),
    .wstrb_i(1'b1),
    .waddr_i(a_q.thread),
    .wdata_i(own_slot),
    .re_i   (1'b1),
    .raddr_i(request.thread),
    .rdata_o(sending_slot_next)
  );

  gs_ram_sdp #(
    .Width  (1),
    .Depth  (Threads),
    .Latency(0),
    .Style  ("distributed")
  ) u_note (
    .clk_i,
    .we_i   (a_go && (a_send || a_defer)),
    .wstrb_i(1'b1),
    .waddr_i(a_q.thread),
    .wdata_i(a_defer),
    .re_i   (1'b1),
    .raddr_i(done2_thread_q),
    .rdata_o(note)
  );

  assign a_send  = a_valid_q && a_q.act == ActSend && a_q.ok && !a_sending;
  assign a_defer = a_valid_q && a_q.act == ActRelease && a_q.ok && a_sending && same_slot_q;
  assign a_need_refs = a_send || (a_valid_q && a_q.act == ActRelease && a_q.ok && !a_defer);
  assign a_settles   = a_q.act != ActWait && a_q.act != ActIdle;
  // Whether a request goes on depends on registers alone.
  assign a_go        = a_valid_q && room && !refs_wait && !(done2_valid_q && done2_thread_q == a_q.thread);

  assign done1_go   = done1_valid_q && !done2_valid_q;
  assign done2_late = done2_valid_q && note;
  assign done2_go   = done2_valid_q && (!note || late_ready);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      done1_valid_q <= 1'b0;
      done2_valid_q <= 1'b0;
    end else begin
      if (tx_done_valid) done1_valid_q <= 1'b1;
      else if (done1_go) done1_valid_q <= 1'b0;
      if (done1_go) done2_valid_q <= 1'b1;
      else if (done2_go) done2_valid_q <= 1'b0;
    end
    if (tx_done_valid) begin
      done1_thread_q <= tx_done_thread;
      done1_slot_q   <= tx_done_slot;
    end
    if (done1_go) begin
      done2_thread_q <= done1_thread_q;
      done2_slot_q   <= done1_slot_q;
    end
  end

  // What a thread waits for, or the vote of one in idle; afterwards, how idle ended.
  assign a_woken = !a_waits_idle ? {a_waits_for[1] && a_some, a_waits_for[0] && !a_sending}
      : a_q.release_all ? (agreed_q ? gossamer_pkg::IdleResultAgreed : gossamer_pkg::IdleResultIdle)
      : gossamer_pkg::IdleResultMessage;
  always_comb begin
    a_remember = a_woken;
    if (a_q.act == ActWait) a_remember = a_q.data[1:0];
    if (a_q.act == ActIdle) a_remember = {1'b0, a_q.data != '0};
  end

  gs_ram_sdp #(
    .Width  (3),
    .Depth  (Threads),
    .Latency(0),
    .Style  ("distributed")
  ) u_waits (
    .clk_i,
    .we_i   (a_go && (!a_settles || a_q.act == ActWake)),
    .wstrb_i(1'b1),
    .waddr_i(a_q.thread),
    .wdata_i({a_q.act == ActIdle, a_remember}),
    .re_i   (1'b1),
    .raddr_i(a_q.thread),
    .rdata_o({a_waits_idle, a_waits_for})
  );

  // Threads in idle that voted no.
  logic [ThreadW:0] no_q;
  logic no_comes, no_goes, no_votes;
  assign no_comes     = a_go && a_q.act == ActIdle && a_q.data == '0;
  assign no_goes      = a_go && a_q.act == ActWake && a_waits_idle && !a_waits_for[0];
  assign no_votes = no_q == '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      no_q     <= '0;
      agreed_q <= 1'b0;
    end else begin
      if (no_comes) no_q <= no_q + 1'b1;
      if (no_goes) no_q <= no_q - 1'b1;
      if (idle_release_i) agreed_q <= idle_agreed_i;
    end
  end

  // ---- A to B: what can be said now ----
  typedef struct packed {
    act_e               act;
    state_e             state;
    logic               is_trap;
    logic [5:0]         cause;
    flit_kind_e         kind;
    logic               to_local;
    logic [2:0]         funct3;
    logic [1:0]         offset;
    logic [ThreadW-1:0] thread;
    logic [SlotW-1:0]   slot;
    logic [LengthW-1:0] length;
    logic [31:0]        data;
  } step_t;
  step_t a_step, b_q, c_q;
  logic b_valid_q, c_valid_q;

  always_comb begin
    a_step = '{
        act: a_q.act,
        state: a_q.state,
        is_trap: !a_q.ok,
        cause: a_q.cause,
        kind: a_q.kind,
        to_local: a_q.to_local,
        funct3: a_q.funct3,
        offset: a_q.addr[1:0],
        thread: a_q.thread,
        slot: own_slot,
        length: own_length,
        data: a_q.data
    };
    unique case (a_q.act)
      ActState: begin
        // A wrong value is a trap only if it is written.
        a_step.is_trap = !a_q.ok && a_q.write;
        if (!a_step.is_trap) begin
          unique case (a_q.state)
            StateSlot:       a_step.data = slot_address(own_slot);
            StateLength:     a_step.data = 32'(own_length);
            StateCanSend:    a_step.data = 32'(!a_sending);
            StateCanReceive: a_step.data = 32'(a_some);
            StateIdle:       a_step.data = 32'(a_waits_for);
            StateNone:       a_step.data = '0;
            default:         ;
          endcase
        end
      end
      ActSend: begin
        if (a_q.ok && a_sending) begin
          a_step.is_trap = 1'b1;
          a_step.cause   = gossamer_pkg::TrapSendNotReady;
        end
      end
      ActReceive: begin
        a_step.is_trap = !a_some;
        a_step.cause   = gossamer_pkg::TrapNothingToReceive;
        a_step.data    = '0;
      end
      ActWake: begin
        a_step.is_trap = 1'b0;
        a_step.data    = 32'(a_woken);
      end
      ActIllegal: begin
        a_step.is_trap = 1'b1;
        a_step.cause   = gossamer_pkg::TrapIllegalInstruction;
        a_step.data    = 32'(a_q.addr[11:0]);
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      b_valid_q <= 1'b0;
      c_valid_q <= 1'b0;
    end else begin
      b_valid_q <= a_go && a_settles;
      c_valid_q <= b_valid_q;
    end
    b_q <= a_step;
    c_q <= b_q;
  end

  // ---- C: what the RAMs answered ----
  typedef struct packed {
    logic               is_send;
    logic               is_trap;
    logic [5:0]         cause;
    flit_kind_e         kind;
    logic               to_local;
    logic [ThreadW-1:0] thread;
    logic [SlotW-1:0]   slot;
    logic [LengthW-1:0] length;
    logic [31:0]        data;
  } last_t;
  last_t d_q;

  logic [63:0] masks;
  if (Multicast) begin : gen_masks
    logic mask_we_q;
    logic [ThreadW-1:0] mask_waddr;
    // Written in B: the old value is read in A, which must not meet the write.
    always_ff @(posedge clk_i) mask_we_q <= a_go && a_q.act == ActState && a_q.write;
    assign mask_waddr = walking ? walk_thread : b_q.thread;
    gs_ram_sdp #(
      .Width   (64),
      .Depth   (Threads),
      .ByteBits(32),
      .Latency (2),
      .Style   ("block")
    ) u_masks (
      .clk_i,
      .we_i   (1'b1),
      .wstrb_i({
        walking || (mask_we_q && b_q.state == StateMaskHigh), walking || (mask_we_q && b_q.state == StateMaskLow)
      }),
      .waddr_i(mask_waddr),
      .wdata_i(walking ? '0 : {2{b_q.data}}),
      .re_i   (1'b1),
      .raddr_i(a_q.thread),
      .rdata_o(masks)
    );
  end else begin : gen_no_masks
    assign masks = '0;
  end

  logic [31:0] core_rdata;
  logic [SlotW-1:0] popped;
  logic empty_mask;
  last_t c_last;
  logic d_valid_q;
  logic [63:0] d_head_q;

  // Bits of a mask beyond the threads of this tile name nobody.
  always_comb begin
    empty_mask = masks == '0;
    for (int unsigned t = Threads; t < 64; t++) if (masks[t] && c_q.to_local) empty_mask = 1'b1;
  end

  always_comb begin
    c_last = '{
        is_send: c_q.act == ActSend,
        is_trap: c_q.is_trap,
        cause: c_q.cause,
        kind: c_q.kind,
        to_local: c_q.to_local,
        thread: c_q.thread,
        slot: c_q.slot,
        length: c_q.length,
        data: c_q.data
    };
    unique case (c_q.act)
      ActLoad:    c_last.data = load_value(core_rdata, c_q.funct3, c_q.offset);
      ActReceive: if (!c_q.is_trap) c_last.data = slot_address(popped);
      ActState: begin
        if (c_q.state == StateMaskLow) c_last.data = masks[31:0];
        if (c_q.state == StateMaskHigh) c_last.data = masks[63:32];
      end
      ActSend: if (c_q.kind == gossamer_pkg::FlitKindMask && empty_mask) c_last.is_trap = 1'b1;
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) d_valid_q <= 1'b0;
    else d_valid_q <= c_valid_q;
    d_q      <= c_last;
    d_head_q <= (c_q.kind == gossamer_pkg::FlitKindKey) ? 64'(c_q.data) : masks;
  end

  // ---- D: sends are on their way, outcomes wait to be fetched ----
  typedef struct packed {
    logic               is_trap;
    logic [ThreadW-1:0] thread;
    logic [5:0]         cause;
    logic [31:0]        data;
  } outcome_t;
  outcome_t d_outcome, outcome;
  logic held, commit, outcome_valid, outcome_ready_unused;
  logic [31:0] d_dest;

  assign commit = d_valid_q && d_q.is_send && !d_q.is_trap && held;

  always_comb begin
    d_outcome = '{is_trap: d_q.is_trap, thread: d_q.thread, cause: d_q.cause, data: d_q.data};
    if (d_q.is_send && !d_q.is_trap && !held) begin
      d_outcome.is_trap = 1'b1;
      d_outcome.cause   = gossamer_pkg::TrapNotReceived;
      d_outcome.data    = slot_address(d_q.slot);
    end
    d_dest = d_q.data;
    // A key goes to the router of this board.
    if (d_q.kind == gossamer_pkg::FlitKindKey) begin
      d_dest = {gossamer_pkg::EndpointKey, 3'd0, tile_i[25:14], 14'd0};
    end
  end

  // As many requests are under way as outcomes have room.
  localparam int unsigned Outcomes = 16;
  logic [4:0] room_q;
  logic [$clog2(Outcomes+1)-1:0] outcome_count_unused;
  assign room = room_q != '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      room_q   <= 5'(Outcomes);
      popped_q <= 1'b0;
    end else begin
      popped_q <= outcome_pop;
      if (a_go && a_settles && !popped_q) room_q <= room_q - 5'd1;
      else if (popped_q && !(a_go && a_settles)) room_q <= room_q + 5'd1;
    end
  end

  outcome_t last_q;
  logic last_valid_q, outcome_free;

  gs_fifo #(
    .data_t(outcome_t),
    .Depth (Outcomes)
  ) u_outcomes (
    .clk_i,
    .rst_ni,
    .in_valid_i (d_valid_q),
    .in_ready_o (outcome_ready_unused),
    .in_data_i  (d_outcome),
    .out_valid_o(outcome_valid),
    .out_ready_i(outcome_free),
    .out_data_o (outcome),
    .count_o    (outcome_count_unused)
  );

  // The queue's RAM is not to stand before what comes behind the mailbox.
  assign outcome_free = !last_valid_q || (last_q.is_trap ? trap_ready_i : rsp_ready_i);
  assign outcome_pop  = outcome_valid && outcome_free;
  assign rsp_valid_o  = last_valid_q && !last_q.is_trap;
  assign rsp_o        = '{thread: 6'(last_q.thread), data: last_q.data};
  assign trap_valid_o = last_valid_q && last_q.is_trap;
  assign trap_o       = '{thread: 6'(last_q.thread), cause: last_q.cause, addr: last_q.data};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) last_valid_q <= 1'b0;
    else if (outcome_free) last_valid_q <= outcome_valid;
    if (outcome_free) last_q <= outcome;
  end

  // Never the same thread in one cycle: it has one send under way at most.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sending_q <= '0;
    end else begin
      if (done1_go) sending_q[done1_thread_q] <= 1'b0;
      if (commit) sending_q[d_q.thread] <= 1'b1;
    end
  end

  // ---- The parts ----
  logic read_valid, read_ready, write_valid, write_ready;
  logic [LinW-1:0] read_flit, write_flit;
  logic [127:0] read_data, write_data;

  gs_mailbox_scratch #(
    .Slots    (Slots),
    .SlotFlits(SlotFlits),
    .Banks    (Banks)
  ) u_scratch (
    .clk_i,
    .rst_ni,
    // One that waits in A does the same again: nobody has seen it yet.
    .core_valid_i(a_valid_q && (a_q.act == ActLoad || a_q.act == ActStore)),
    .core_we_i   (a_q.act == ActStore),
    .core_strb_i (store_strobe(a_q.funct3[1:0], a_q.addr[1:0])),
    .core_word_i (a_q.addr[LinW+3:2]),
    .core_wdata_i(store_data(a_q.data, a_q.funct3[1:0])),
    .core_rdata_o(core_rdata),
    .out_valid_i (read_valid),
    .out_ready_o (read_ready),
    .out_flit_i  (read_flit),
    .out_data_o  (read_data),
    .in_valid_i  (write_valid),
    .in_ready_o  (write_ready),
    .in_flit_i   (write_flit),
    .in_data_i   (write_data)
  );

  logic message_valid, message_ready, message_go, hold_ready, queues_free;
  logic [SlotW-1:0] message_slot, freed_slot, free_slot;
  logic [Threads-1:0] message_mask;
  logic freed_valid, freed_ready_unused, free_valid, free_ready;

  // A message goes to the accounting and the pointer queues in one cycle, so no thread has it before it is counted.
  assign message_ready = hold_ready && queues_free;
  assign message_go    = message_valid && message_ready;

  gs_mailbox_refs #(
    .Threads       (Threads),
    .SlotsPerThread(SlotsPerThread),
    .SendSlots     (SendSlots),
    .Multicast     (Multicast)
  ) u_refs (
    .clk_i,
    .rst_ni,
    .thread_valid_i(a_go && a_need_refs),
    .thread_wait_o (refs_wait),
    .thread_op_i   (a_q.act == ActSend ? RefCheck : RefRelease),
    .thread_slot_i (ref_slot_q),
    .thread_i      (a_q.thread),
    .held_o        (held),
    .late_valid_i  (done2_late),
    .late_ready_o  (late_ready),
    .late_slot_i   (done2_slot_q),
    .late_thread_i (done2_thread_q),
    .hold_valid_i  (message_valid && queues_free),
    .hold_ready_o  (hold_ready),
    .hold_slot_i   (message_slot),
    .hold_mask_i   (message_mask),
    .free_valid_o  (freed_valid),
    .free_slot_o   (freed_slot),
    .ready_o       (refs_ready)
  );

  logic [$clog2(Slots+1)-1:0] free_count_unused;
  gs_fifo #(
    .data_t(logic [SlotW-1:0]),
    .Depth (Slots),
    .Block (1'b1)
  ) u_free (
    .clk_i,
    .rst_ni,
    .in_valid_i (freed_valid),
    .in_ready_o (freed_ready_unused),
    .in_data_i  (freed_slot),
    .out_valid_o(free_valid),
    .out_ready_i(free_ready),
    .out_data_o (free_slot),
    .count_o    (free_count_unused)
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
    .in_valid_i  (message_go),
    .in_ready_o  (queues_free),
    .in_slot_i   (message_slot),
    .in_mask_i   (message_mask),
    .pop_i       (a_go && a_q.act == ActReceive),
    .pop_thread_i(a_q.thread),
    .pop_some_o  (a_some),
    .pop_slot_o  (popped),
    .some_o      (some),
    .busy_o      (queues_busy),
    .ready_o     (queues_ready)
  );

  logic [1:0] epoch_q;
  flit_t tx_flit, tx_net, local_flit;
  logic tx_net_valid, tx_net_ready;
  logic local_valid, local_ready, tx_busy;
  gs_mailbox_tx #(
    .Threads  (Threads),
    .Slots    (Slots),
    .SlotFlits(SlotFlits),
    .LengthW  (LengthW),
    .Multicast(Multicast)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .send_i       (commit),
    .send_thread_i(d_q.thread),
    .send_slot_i  (d_q.slot),
    .send_length_i(d_q.length),
    .send_kind_i  (d_q.kind),
    .send_local_i (d_q.to_local),
    .send_dest_i  (d_dest),
    .send_head_i  (d_head_q),
    .read_valid_o (read_valid),
    .read_ready_i (read_ready),
    .read_flit_o  (read_flit),
    .read_data_i  (read_data),
    .done_valid_o (tx_done_valid),
    .done_ready_i (!done1_valid_q),
    .done_thread_o(tx_done_thread),
    .done_slot_o  (tx_done_slot),
    .net_valid_o  (tx_net_valid),
    .net_ready_i  (tx_net_ready),
    .local_valid_o(local_valid),
    .local_ready_i(local_ready),
    .flit_o       (tx_flit),
    .busy_o       (tx_busy)
  );

  always_comb begin
    tx_net       = tx_flit;
    tx_net.job   = job_i;
    tx_net.epoch = epoch_q;
    tx_net.vnet  = gs_address_pkg::vnet_of(gossamer_pkg::endpoint_e'(tx_flit.dest[31:29]));
    local_flit  = tx_flit;
  end
  assign net_out_o       = tx_net;
  assign far_out_o       = tx_net;
  assign net_out_valid_o = tx_net_valid && tx_net.vnet == gossamer_pkg::VnetMailbox;
  assign far_out_valid_o = tx_net_valid && tx_net.vnet != gossamer_pkg::VnetMailbox;
  assign tx_net_ready    = (tx_net.vnet == gossamer_pkg::VnetMailbox) ? net_out_ready_i : far_out_ready_i;

  logic rx_busy, net_ready, sent_q, received_q;
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
    .net_valid_i    (net_in_valid_i && ready_q),
    .net_ready_o    (net_ready),
    .net_i          (net_in_i),
    .local_valid_i  (local_valid),
    .local_ready_o  (local_ready),
    .local_i        (local_flit),
    .free_valid_i   (free_valid),
    .free_ready_o   (free_ready),
    .free_slot_i    (free_slot),
    .write_valid_o  (write_valid),
    .write_ready_i  (write_ready),
    .write_flit_o   (write_flit),
    .write_data_o   (write_data),
    .message_valid_o(message_valid),
    .message_ready_i(message_ready),
    .message_slot_o (message_slot),
    .message_mask_o (message_mask),
    .dropped_o      (refused_valid_o),
    .busy_o         (rx_busy)
  );

  logic events_busy, idle_all;
  gs_mailbox_events #(
    .Threads(Threads)
  ) u_events (
    .clk_i,
    .rst_ni,
    .wait_i        (a_go && !a_settles),
    .wait_thread_i (a_q.thread),
    .wait_send_i   (a_q.act == ActWait && a_q.data[0]),
    .wait_receive_i(a_q.act == ActWait && a_q.data[1]),
    .wait_idle_i   (a_q.act == ActIdle),
    .sending_i     (sending_q),
    .some_i        (some),
    .wake_valid_o  (wake_valid),
    .wake_ready_i  (wake_ready),
    .wake_thread_o (wake_thread),
    .wake_release_o(wake_release),
    .started_i,
    .quiet_i       (sending_q == '0 && !tx_busy && !rx_busy && !queues_busy),
    .idle_all_o    (idle_all),
    .release_i     (idle_release_i),
    .busy_o        (events_busy)
  );

  assign busy_o = !ready_q || skid_valid || a_valid_q || room_q != 5'(Outcomes) || last_valid_q || done1_valid_q
      || done2_valid_q || tx_busy || rx_busy || queues_busy || events_busy || sent_q || received_q;

  logic [31:0] sent_count_q, received_count_q;
  assign refused_o = gossamer_pkg::RefusalPlace;
  assign idle_o    = '{
          idle: idle_all && !sent_q && !received_q,
          vote: no_votes,
          epoch: epoch_q,
          sent: sent_count_q,
          received: received_count_q
      };
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      epoch_q          <= '0;
      sent_count_q     <= '0;
      received_count_q <= '0;
    end else begin
      if (idle_release_i) epoch_q <= epoch_q + 2'd1;
      if (commit) sent_count_q <= sent_count_q + 32'd1;
      if (message_go) received_count_q <= received_count_q + 32'd1;
    end
  end

  logic unused_cluster;
  assign unused_cluster = &{1'b0, cluster_i};

  assign sent_o     = sent_q;
  assign received_o = received_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sent_q     <= 1'b0;
      received_q <= 1'b0;
    end else begin
      sent_q     <= commit;
      received_q <= message_go;
    end
  end

  `GS_ASSERT_NOW(outcomes_have_room, !d_valid_q || outcome_ready_unused)
  `GS_ASSERT_NOW(every_slot_has_its_place_among_the_free_ones, !freed_valid || freed_ready_unused)
  `GS_ASSERT_NOW(the_end_of_a_send_is_not_missed, !a_valid_q || a_sending == sending_q[a_q.thread])
  `GS_ASSERT_NOW(a_message_is_dealt_out_once, message_go == (message_valid && message_ready))
endmodule
