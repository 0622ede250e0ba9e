// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Requests of a mailbox's threads: a pipeline that never stalls after A.
///
///     request, internal -> A: state of the thread, checks, pointer queue   B   C: scratchpad, masks, pointer, holder
///                       -> D: result, send -> completions -> response or trap
///
/// An internal request checks again whether the event that a thread waits for has occurred: ends of sends (ActEnd,
/// ActWake), messages (ActWake). It has priority. A superfluous one has no effect. A wait whose event has already
/// occurred ends at once; so does idle with a message present. A release frees threads outside A
/// (gs_mailbox_wait_table). A thread has at most one request in flight.
module gs_mailbox_requests
  import gs_mailbox_pkg::*;
  import gs_word_pkg::*;
  import gossamer_pkg::flit_kind_e;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads        = 64,
  /// number of high bits of a thread's number that select its core
  parameter  int unsigned CoreBits       = 2,
  /// slots of a thread, a power of two
  parameter  int unsigned SlotsPerThread = 16,
  /// bytes of a slot, a power of two, 16 or more
  parameter  int unsigned SlotBytes      = 64,
  /// longest message in flits
  parameter  int unsigned MaxFlits       = 4,
  /// first address of the scratchpad, a multiple of its size
  parameter  logic [31:0] Base           = 32'h0010_0000,
  /// 1: messages to any set of threads of a tile are supported
  parameter  bit          Multicast      = 1'b1,
  /// 1: barriers that reduce words are supported
  parameter  bit          Reduce         = 1'b1,
  /// 1: the tile has no network
  parameter  bit          Alone          = 1'b0,
  /// columns and rows of a board's mesh
  parameter  int unsigned MeshWidth      = gossamer_pkg::MeshWidth,
  parameter  int unsigned MeshHeight     = gossamer_pkg::MeshHeight,
  /// bits of thread, column and row of a tile in a program's addresses (gs_address_pkg)
  parameter  int unsigned ThreadBits     = 6,
  parameter  int unsigned XBits          = 4,
  parameter  int unsigned YBits          = 4,
  localparam int unsigned ThreadW        = $clog2(Threads),
  localparam int unsigned SlotW          = $clog2(Threads * SlotsPerThread),
  localparam int unsigned LengthW        = (MaxFlits > 1) ? $clog2(MaxFlits) : 1,
  localparam int unsigned WordW          = $clog2(Threads * SlotsPerThread * SlotBytes / 4)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic [31:0]              tile_i,
  input  gs_address_pkg::cluster_t cluster_i,
  /// after reset: threads are initialized; requests wait
  input  logic                     clear_i,
  input  logic [ThreadW-1:0]       clear_thread_i,
  input  logic                     ready_i,
  /// threads
  input  logic                     req_valid_i,
  output logic                     req_ready_o,
  input  mailbox_req_t             req_i,
  output logic                     rsp_valid_o,
  input  logic                     rsp_ready_i,
  output mailbox_rsp_t             rsp_o,
  output logic                     trap_valid_o,
  input  logic                     trap_ready_i,
  output mailbox_trap_t            trap_o,
  /// internal: messages for threads that wait
  input  logic                     wake_valid_i,
  output logic                     wake_ready_o,
  input  logic [ThreadW-1:0]       wake_thread_i,
  /// release of all threads in idle, one cycle; from the next cycle on: whether all agreed; threads are being freed
  input  logic                     release_i,
  input  logic                     agreed_i,
  output logic                     releasing_o,
  /// A: the thread's queue of messages; a pointer is returned two cycles after its pop
  output logic [ThreadW-1:0]       a_thread_o,
  output logic                     a_pop_o,
  input  logic                     a_some_i,
  input  logic                     a_arriving_i,
  input  logic [SlotW-1:0]         c_popped_i,
  /// B: a thread waits for a message, or no longer waits
  output logic                     want_we_o,
  output logic [ThreadW-1:0]       want_thread_o,
  output logic                     want_o,
  /// B: a thread enters idle, or is woken there; a release has freed a thread; their votes
  output logic                     b_enter_o,
  output logic                     b_leave_o,
  output logic                     b_vote_o,
  output logic                     freed_o,
  output logic                     freed_vote_o,
  /// A: a word of the scratchpad, returned two cycles later
  output logic                     a_core_valid_o,
  output logic                     a_core_we_o,
  output logic [3:0]               a_core_strb_o,
  output logic [WordW-1:0]         a_core_word_o,
  output logic [31:0]              a_core_wdata_o,
  input  logic [31:0]              c_core_rdata_i,
  /// A: the slot that is sent or released; C: the thread held it, and releases it, or has received another
  output logic [SlotW-1:0]         a_slot_o,
  input  logic                     c_held_i,
  output logic                     c_release_o,
  output logic                     c_receive_o,
  /// D: a send
  output logic                     send_o,
  output logic [ThreadW-1:0]       send_thread_o,
  output logic [SlotW-1:0]         send_slot_o,
  output logic [LengthW-1:0]       send_length_o,
  output flit_kind_e               send_kind_o,
  output route_e                   send_route_o,
  output logic [31:0]              send_dest_o,
  output logic [63:0]              send_head_o,
  /// A: half of a barrier's result; D: a word contributed to the barrier, which is send_head_o
  output logic [1:0]               a_half_o,
  input  logic [31:0]              a_reduced_i,
  output logic                     give_o,
  output logic [2:0]               give_code_o,
  /// sends whose flits have all been read
  input  logic                     done_valid_i,
  output logic                     done_ready_o,
  input  logic [ThreadW-1:0]       done_thread_i,
  /// work is in progress; a waiting thread is not counted
  output logic                     busy_o
);
  localparam int unsigned ByteW = $clog2(SlotBytes);
  // Enough bits of an address for a word of the scratchpad or the number of a CSR.
  localparam int unsigned AddrW = (WordW + 2 > 12) ? WordW + 2 : 12;

  function automatic logic [31:0] slot_address(logic [SlotW-1:0] slot);
    return Base | (32'(slot) << ByteW);
  endfunction

  // State that moves from A to B and C.
  typedef struct packed {
    decoded_t           what;
    logic               is_trap;
    logic [2:0]         funct3;
    logic [1:0]         offset;
    logic [ThreadW-1:0] thread;
    logic [SlotW-1:0]   slot;
    logic [LengthW-1:0] length;
    logic [31:0]        data;
  } step_t;
  step_t a_step, b_q, c_q;
  logic b_valid_q, c_valid_q, b_write_q, b_release_q, c_release_q, b_receive_q, c_receive_q, send_done_busy, ends_some;
  logic [63:0] masks;

  typedef struct packed {
    logic               is_send;
    logic               is_give;
    logic               is_trap;
    logic [5:0]         cause;
    flit_kind_e         kind;
    route_e             route;
    logic [ThreadW-1:0] thread;
    logic [SlotW-1:0]   slot;
    logic [LengthW-1:0] length;
    logic [31:0]        data;
  } last_t;
  last_t c_last, d_q;

  // ---- Into A ----
  typedef struct packed {
    decoded_t           what;
    logic [2:0]         funct3;
    logic [ThreadW-1:0] thread;
    logic [AddrW-1:0]   addr;
    logic [31:0]        data;
  } request_t;

  logic req_valid, req_ready, a_valid_q, a_go, a_free, a_space, a_unsure, a_is_end_q, end_valid, end_ready, internal;
  mailbox_req_t req;
  decoded_t decoded;
  request_t a_q;
  act_e end_act, internal_act;
  logic [ThreadW-1:0] end_thread, internal_thread, next_thread;

  // An input register, then A. The ready depends on few registers, since cores and their arbiters wait for it: while
  // the end of a send is processed, a full register accepts no request, as A may stall.
  logic req_valid_q;
  mailbox_req_t req_q;
  assign req_valid   = req_valid_q;
  assign req         = req_q;
  assign req_ready_o = !req_valid_q || (ready_i && !internal && (!a_valid_q || (a_space && !a_unsure)));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) req_valid_q <= 1'b0;
    else if (req_ready_o) req_valid_q <= req_valid_i;
    else if (req_ready) req_valid_q <= 1'b0;
    if (req_ready_o) req_q <= req_i;
  end

  gs_mailbox_decode #(
    .Threads   (Threads),
    .Slots     (Threads * SlotsPerThread),
    .SlotBytes (SlotBytes),
    .MaxFlits  (MaxFlits),
    .Base      (Base),
    .Multicast (Multicast),
    .Reduce    (Reduce),
    .Alone     (Alone),
    .MeshWidth (MeshWidth),
    .MeshHeight(MeshHeight),
    .ThreadBits(ThreadBits),
    .XBits     (XBits),
    .YBits     (YBits)
  ) u_decode (
    .req_i    (req),
    .tile_i,
    .cluster_i,
    .decoded_o(decoded)
  );
  logic unused_req;
  assign unused_req = &{1'b0, req.op, req.thread, req.addr};

  assign internal        = end_valid || wake_valid_i;
  assign internal_act    = end_valid ? end_act : ActWake;
  assign internal_thread = end_valid ? end_thread : wake_thread_i;
  assign a_free          = !a_valid_q || a_go;
  assign end_ready       = a_free;
  assign wake_ready_o    = a_free && !end_valid;
  assign req_ready       = a_free && !internal && ready_i;
  assign next_thread     = internal ? internal_thread : req.thread[ThreadW-1:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) a_valid_q <= 1'b0;
    else if (a_free) a_valid_q <= internal || (req_valid && ready_i);
    if (a_free) begin
      a_q <= '{
          what: decoded,
          funct3: req.funct3,
          thread: next_thread,
          addr: req.addr[AddrW-1:0],
          data: req.data
      };
      if (internal) a_q.what.act <= internal_act;
      a_is_end_q <= internal && internal_act == ActEnd;
    end
  end

  // ---- A ----
  act_e act;
  logic a_hold, a_sending, a_same, a_frees, a_send, a_end, a_release;
  logic [SlotW-1:0] own_slot, sending_slot, named_slot;
  logic [LengthW-1:0] own_length;
  logic after_q, pause_q;
  logic free_waits;

  assign act        = a_q.what.act;
  assign a_thread_o = a_q.thread;
  assign named_slot = a_q.data[ByteW+:SlotW];
  // After the late release of a slot no request may check it until it is written; and threads that a release frees must
  // not starve. Whether a request leaves A depends on registers and on ends of sends alone.
  assign a_go       = a_valid_q && a_space && !a_hold && !pause_q && !free_waits;
  assign a_unsure   = ends_some || pause_q || free_waits || a_is_end_q;
  assign a_send     = a_go && act == ActSend && a_q.what.ok && !a_sending;
  assign a_end      = a_go && act == ActEnd;
  assign a_frees    = a_go && act == ActRelease && a_q.what.ok;
  assign a_same     = sending_slot == named_slot;
  assign a_release  = a_end || (a_frees && !(a_sending && a_same));
  assign a_pop_o    = a_go && act == ActReceive;
  assign a_slot_o   = (act == ActSend) ? own_slot : (act == ActEnd) ? sending_slot : named_slot;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) {pause_q, after_q} <= '0;
    else {pause_q, after_q} <= {a_end || after_q, a_end};
  end

  // A request that stalls in A repeats its access; its result is not yet used.
  assign a_core_valid_o = a_valid_q && act inside {ActLoad, ActStore};
  assign a_core_we_o    = act == ActStore;
  assign a_core_strb_o  = store_strobe(a_q.funct3[1:0], a_q.addr[1:0]);
  assign a_core_word_o  = a_q.addr[WordW+1:2];
  assign a_core_wdata_o = store_data(a_q.data, a_q.funct3[1:0]);

  assign a_half_o = a_q.addr[1:0];

  logic a_settles, want_send, free_valid, free_ready, waits_busy;
  logic [1:0] a_now, a_woken, a_ended, free_result;
  logic [ThreadW-1:0] free_thread;

  // Present events: a message, no send.
  assign a_now       = {(act inside {ActWait, ActIdle}) ? a_arriving_i : a_some_i, !a_sending || act == ActEnd};

  gs_mailbox_wait_table #(
    .Threads (Threads),
    .CoreBits(CoreBits)
  ) u_waits (
    .clk_i,
    .rst_ni,
    .clear_i,
    .clear_thread_i,
    .a_valid_i       (a_valid_q),
    .a_go_i          (a_go),
    .a_act_i         (act),
    .a_thread_i      (a_q.thread),
    .a_events_i      (a_q.data[1:0]),
    .a_vote_i        (a_q.data != '0),
    .a_now_i         (a_now),
    .a_settles_o     (a_settles),
    .a_woken_o       (a_woken),
    .a_ended_o       (a_ended),
    .want_we_o,
    .want_thread_o,
    .want_message_o  (want_o),
    .want_send_o     (want_send),
    .enter_o         (b_enter_o),
    .leave_o         (b_leave_o),
    .vote_o          (b_vote_o),
    .release_i,
    .agreed_i,
    .releasing_o,
    .free_valid_o    (free_valid),
    .free_ready_i    (free_ready),
    .free_thread_o   (free_thread),
    .free_result_o   (free_result),
    .free_waits_o    (free_waits),
    .freed_o,
    .freed_vote_o,
    .busy_o          (waits_busy)
  );

  gs_mailbox_send_done #(
    .Threads(Threads)
  ) u_send_done (
    .clk_i,
    .rst_ni,
    .clear_i,
    .clear_thread_i,
    .a_thread_i       (a_q.thread),
    .a_sending_o      (a_sending),
    .a_send_i         (a_send),
    .a_release_i      (a_frees && a_sending),
    .a_end_i          (a_end),
    .a_same_slot_i    (a_same),
    .a_is_end_i       (a_valid_q && a_is_end_q),
    .late_thread_i    (want_thread_o),
    .want_we_i        (want_we_o),
    .want_i           (want_send),
    .a_hold_o         (a_hold),
    .some_o           (ends_some),
    .commit_i         (send_o),
    .commit_thread_i  (d_q.thread),
    .done_valid_i,
    .done_ready_o,
    .done_thread_i,
    .internal_valid_o (end_valid),
    .internal_ready_i (end_ready),
    .internal_act_o   (end_act),
    .internal_thread_o(end_thread),
    .busy_o           (send_done_busy)
  );

  logic state_we;
  assign state_we = a_go && act == ActState && a_q.what.write && a_q.what.ok;

  gs_mailbox_threads #(
    .Threads       (Threads),
    .SlotsPerThread(SlotsPerThread),
    .LengthW       (LengthW),
    .Multicast     (Multicast)
  ) u_threads (
    .clk_i,
    .clear_i,
    .clear_thread_i,
    .next_i          (a_free),
    .next_thread_i   (next_thread),
    .a_thread_i      (a_q.thread),
    .a_slot_o        (own_slot),
    .a_length_o      (own_length),
    .a_sending_slot_o(sending_slot),
    .a_slot_we_i     (state_we && a_q.what.state == StateSlot),
    .a_length_we_i   (state_we && a_q.what.state == StateLength),
    .a_sending_we_i  (a_send),
    .a_slot_i        (named_slot),
    .a_length_i      (a_q.data[LengthW-1:0]),
    .b_low_we_i      (b_write_q && b_q.what.state == StateMaskLow),
    .b_high_we_i     (b_write_q && b_q.what.state == StateMaskHigh),
    .b_thread_i      (b_q.thread),
    .b_data_i        (b_q.data),
    .c_masks_o       (masks)
  );

  // ---- A to B: results that are known in A ----
  always_comb begin
    a_step = '{
        what: a_q.what,
        is_trap: !a_q.what.ok,
        funct3: a_q.funct3,
        offset: a_q.addr[1:0],
        thread: a_q.thread,
        slot: own_slot,
        length: own_length,
        data: a_q.data
    };
    unique case (act)
      ActState: begin
        // An invalid value traps only if it is written.
        a_step.is_trap = !a_q.what.ok && a_q.what.write;
        if (!a_step.is_trap) begin
          unique case (a_q.what.state)
            StateSlot:       a_step.data = slot_address(own_slot);
            StateLength:     a_step.data = 32'(own_length);
            StateCanSend:    a_step.data = 32'(!a_sending);
            StateCanReceive: a_step.data = 32'(a_some_i);
            StateIdle:       a_step.data = 32'(a_ended);
            StateReduced:    a_step.data = a_reduced_i;
            default:         ;
          endcase
        end
      end
      ActSend: begin
        if (a_q.what.ok && a_sending) begin
          a_step.is_trap    = 1'b1;
          a_step.what.cause = gossamer_pkg::TrapSendNotReady;
        end
      end
      ActReceive: begin
        a_step.is_trap    = !a_some_i;
        a_step.what.cause = gossamer_pkg::TrapNothingToReceive;
        a_step.data       = '0;
      end
      ActWait, ActIdle, ActWake, ActEnd: begin
        a_step.is_trap = 1'b0;
        a_step.data    = 32'(a_woken);
      end
      ActIllegal: begin
        a_step.is_trap    = 1'b1;
        a_step.what.cause = gossamer_pkg::TrapBadRegister;
        a_step.data       = 32'(a_q.addr[11:0]);
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      b_valid_q   <= 1'b0;
      c_valid_q   <= 1'b0;
      b_write_q   <= 1'b0;
      b_release_q <= 1'b0;
      c_release_q <= 1'b0;
      b_receive_q <= 1'b0;
      c_receive_q <= 1'b0;
    end else begin
      b_valid_q   <= a_go && a_settles;
      c_valid_q   <= b_valid_q;
      b_write_q   <= a_go && act == ActState && a_q.what.write;
      b_release_q <= a_release;
      c_release_q <= b_release_q;
      b_receive_q <= a_pop_o && a_some_i;
      c_receive_q <= b_receive_q;
    end
    b_q <= a_step;
    c_q <= b_q;
  end
  assign c_release_o = c_release_q;
  assign c_receive_o = c_receive_q;

  // ---- C: results of the RAMs ----
  logic d_valid_q, empty_mask;
  logic [63:0] d_head_q;

  // Bits of a mask above the number of threads of a tile are invalid.
  always_comb begin
    empty_mask = masks == '0;
    for (int unsigned t = Threads; t < 64; t++) if (masks[t]) empty_mask = 1'b1;
  end

  always_comb begin
    c_last = '{
        is_send: c_q.what.act == ActSend,
        is_give: c_q.what.act == ActReduce,
        is_trap: c_q.is_trap,
        cause: c_q.what.cause,
        kind: c_q.what.kind,
        route: c_q.what.route,
        thread: c_q.thread,
        slot: c_q.slot,
        length: c_q.length,
        data: c_q.data
    };
    unique case (c_q.what.act)
      ActLoad:    c_last.data = load_value(c_core_rdata_i, c_q.funct3, c_q.offset);
      ActReceive: if (!c_q.is_trap) c_last.data = slot_address(c_popped_i);
      ActState: begin
        if (c_q.what.state == StateMaskLow) c_last.data = masks[31:0];
        if (c_q.what.state == StateMaskHigh) c_last.data = masks[63:32];
      end
      ActSend: begin
        if (c_q.what.kind == gossamer_pkg::FlitKindMask && empty_mask) c_last.is_trap = 1'b1;
        else if (!c_q.is_trap && !c_held_i) begin
          c_last.is_trap = 1'b1;
          c_last.cause   = gossamer_pkg::TrapNotReceived;
          c_last.data    = slot_address(c_q.slot);
        end
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) d_valid_q <= 1'b0;
    else d_valid_q <= c_valid_q;
    d_q      <= c_last;
    // The completion of a freed thread uses these registers, and needs zeros.
    if (!c_valid_q) begin
      d_q.is_trap <= 1'b0;
      d_q.data    <= '0;
    end
    d_head_q <= (c_q.what.kind == gossamer_pkg::FlitKindKey) ? 64'(c_q.data) : masks;
  end

  // ---- D: sends are issued, completions are queued ----
  logic completions_busy;

  assign send_o        = d_valid_q && d_q.is_send && !d_q.is_trap;
  assign give_o        = d_valid_q && d_q.is_give && !d_q.is_trap;
  assign give_code_o   = d_q.data[2:0];
  assign send_thread_o = d_q.thread;
  assign send_slot_o   = d_q.slot;
  assign send_length_o = d_q.length;
  assign send_kind_o   = d_q.kind;
  assign send_route_o  = d_q.route;
  assign send_head_o   = d_head_q;
  // A message by key goes to the router of this board.
  assign send_dest_o   = (d_q.kind == gossamer_pkg::FlitKindKey)
      ? {gossamer_pkg::EndpointKey, 3'd0, tile_i[25:14], 14'd0}
      : gs_address_pkg::gs_wire_address(d_q.data, ThreadBits, XBits, YBits);

  gs_mailbox_completions #(
    .ThreadW(ThreadW)
  ) u_completions (
    .clk_i,
    .rst_ni,
    .space_o      (a_space),
    .issued_i     (b_valid_q),
    .in_valid_i   (d_valid_q),
    .in_trap_i    (d_q.is_trap),
    .in_thread_i  (d_q.thread),
    .in_cause_i   (d_q.cause),
    .in_data_i    (d_q.data),
    .free_valid_i (free_valid),
    .free_ready_o (free_ready),
    .free_thread_i(free_thread),
    .free_result_i(free_result),
    .rsp_valid_o,
    .rsp_ready_i,
    .rsp_o,
    .trap_valid_o,
    .trap_ready_i,
    .trap_o,
    .busy_o       (completions_busy)
  );

  assign busy_o = req_valid || a_valid_q || completions_busy || send_done_busy || c_release_q || b_release_q
      || waits_busy;

  `GS_ASSERT_NOW(threads_have_one_request_in_flight,
                 !(a_valid_q && b_valid_q && a_q.thread == b_q.thread && !(act inside {ActWake, ActEnd})))
  `GS_ASSERT_NOW(no_slot_is_checked_while_its_release_is_in_flight,
                 !(a_go && act inside {ActSend, ActRelease}
                   && ((b_release_q && b_q.thread == a_q.thread) || (c_release_q && c_q.thread == a_q.thread))))
  `GS_ASSERT(no_thread_waits_for_an_arriving_message, !(want_we_o && want_o) || !$past(a_arriving_i))
  `GS_ASSERT_NOW(end_flag_matches_the_request, !a_valid_q || a_is_end_q == (act == ActEnd))
  `GS_ASSERT_NOW(accepted_requests_enter_an_empty_register, !req_ready_o || !req_valid_q || req_ready)
  // A request reads the registers of its thread while the previous one writes them.
  `GS_ASSERT_NOW(registers_that_are_read_while_they_are_written_are_forwarded,
                 !u_threads.u_registers.undefined || u_threads.met_q)
  if (Multicast) begin : gen_masks
    logic uses_mask;
    assign uses_mask = c_valid_q && (c_q.what.act == ActSend ? c_q.what.kind == gossamer_pkg::FlitKindMask
                       : c_q.what.act == ActState && c_q.what.state inside {StateMaskLow, StateMaskHigh});
    `GS_ASSERT_NOW(mask_of_a_request_is_not_read_while_it_is_written,
                   !(uses_mask && (u_threads.gen_masks.gen_half[0].u_mask.undefined
                                   || u_threads.gen_masks.gen_half[1].u_mask.undefined)))
  end
endmodule
