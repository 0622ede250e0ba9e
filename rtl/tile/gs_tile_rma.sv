// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Remote memory access (RMA): packets of the request network write, fill and read the tile's memories and its
/// instruction memories; replies are sent in the reply network.
///
///     request ->[ header ]-> check ->[ operation ]-> memory, instruction memories
///                   | data flits          ^ |
///                   +->[ buffer, 16 flits ]<+-> reply
///
/// A packet is checked when its last flit has arrived; a rejected packet has no effect. Packets are executed in order.
/// While one packet's data are written to memory, the next one's arrive. Memory is accessed in whole lines, bypassing
/// the caches. A reply to a DMA engine has the status of its own packet. A reply to a host has the status of the last
/// rejected packet since the host's previous reply, so that a host can request one reply after many packets, and DMA
/// engines never receive the status of a host's packets. The reply never contains an operation code that does not
/// exist: it could be mistaken for an answer or an event of a control unit, or for an accelerator's fault.
module gs_tile_rma
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic [4:0]                job_i,
  // packets for this tile
  input  logic                      in_valid_i,
  output logic                      in_ready_o,
  input  flit_t                     in_i,
  // replies; the flits of a packet are consecutive
  output logic                      out_valid_o,
  input  logic                      out_ready_i,
  output flit_t                     out_o,
  // memory; responses are always accepted. An id contains the line's number within its packet
  output logic                      mem_req_valid_o,
  input  logic                      mem_req_ready_i,
  output mem_req_t                  mem_req_o,
  input  logic                      mem_rsp_valid_i,
  input  mem_rsp_t                  mem_rsp_i,
  // instruction memories: a bit for each to write, or for the one to read; instr_rvalid_i marks the word of a read
  output logic [InstrMems-1:0]      instr_valid_o,
  output instr_access_t             instr_o,
  input  logic                      instr_ready_i,
  input  logic                      instr_rvalid_i,
  input  logic [31:0]               instr_rdata_i,
  // a packet was rejected; a packet is in progress
  output logic                      rejected_o,
  output logic                      busy_o
);
  // The buffer: 64 words in rows as wide as the wider of flit and beat.
  localparam int unsigned BufferFlits = 16;
  localparam int unsigned RowBytes = (DramPortBytes > 16) ? DramPortBytes : 16;
  localparam int unsigned RowWords = RowBytes / 4;
  localparam int unsigned RowFlits = RowBytes / 16;
  localparam int unsigned LogRowWords = $clog2(RowWords);
  localparam int unsigned Rows = 16 * BufferFlits / RowBytes;
  localparam int unsigned RowW = $clog2(Rows);
  localparam int unsigned BeatWords = DramPortBytes / 4;
  localparam int unsigned LineBeats = CacheLineBytes / DramPortBytes;
  localparam int unsigned BeatW = (LineBeats > 1) ? $clog2(LineBeats) : 1;
  localparam int unsigned OffW = Log2LineBytes;
  // Maximum writes in flight, a power of two.
  localparam int unsigned MaxWrites = 64;

  if (CacheLineBytes < 16 || RowBytes > 128) begin : gen_illegal_line
    $fatal(1, "gs_tile_rma: CacheLineBytes (%0d) must be at least 16, and DramPortBytes (%0d) at most 128",
           CacheLineBytes, DramPortBytes);
  end

  if (SramReach != 0 && SramReach != 1 << $clog2(SramReach)) begin : gen_illegal_sram
    $fatal(1, "gs_tile_rma: SramReach is %0d; it must be a power of two", SramReach);
  end

  // Whether an access is within a window of 2^bits bytes; limit is the first byte after the access.
  function automatic logic fits(logic [31:0] first, logic [32:0] limit, logic [31:0] base, int unsigned bits);
    automatic logic [32:0] window, number;
    window = {1'b0, base} >> bits;
    number = limit >> bits;
    return {1'b0, first} >> bits == window
        && (number == window || (number == window + 33'd1 && (limit & ((33'd1 << bits) - 33'd1)) == '0));
  endfunction

  // ------------------------------------------------------------- reception
  typedef enum logic [1:0] {RxHead, RxData, RxCheck} rx_state_e;
  rx_state_e rx_state_q, rx_state_d;
  load_header_t rx_q, rx_head;
  // The header is valid, and its unused fields are 0; all flits after it hold data; the packet is of another job.
  logic rx_kind_q, rx_body_q, rx_job_q;
  // Data flits of this packet; 17 means more than the buffer holds.
  logic [4:0] rx_count_q, rx_count_d;
  // Write pointer and first word of this packet, in words; flits in the buffer.
  logic [5:0] wptr_q, wptr_d, first_q, first_d;
  logic [4:0] fill_q, fill_d;
  logic take, push, accept, reject, head;
  // Every packet begins at a row: empty flits after the arriving packet, and after the one in execution
  logic [3:0] pad, pad_q;

  // The packet's status: the reason of its rejection, or 0; valid in the second cycle of the check.
  logic [3:0] status, check_status_q;
  logic checked_q;
  logic is_memory, has_data, misaligned, fitting;
  // First byte after the access; windows are aligned to their size.
  logic [32:0] end_of;
  logic [InstrMems-1:0] mems;

  typedef enum logic [3:0] {Idle, Write, Read, Collect, WriteInstr, ReadInstr, Settle, Head, Data} state_e;
  state_e state_q, state_d;
  // Registered copies of the state for other blocks.
  logic replying_q, writing_q, requesting_q, sending_q;
  logic [3:0] freed;

  // ready depends on registers only, never on the incoming flit.
  always_comb begin
    in_ready_o = 1'b0;
    unique case (rx_state_q)
      RxHead: in_ready_o = 1'b1;
      // Flits beyond the buffer's capacity are dropped.
      RxData: in_ready_o = !replying_q && (!fill_q[4] || rx_count_q[4]);
      default: ;
    endcase
  end

  assign rx_head = in_i.payload;
  assign take = in_valid_i && in_ready_o;
  assign pad  = 4'((RowFlits - 32'(rx_count_q) % RowFlits) % RowFlits);
  assign head = take && rx_state_q == RxHead;
  assign push = take && rx_state_q == RxData && !rx_count_q[4];

  always_comb begin
    rx_state_d = rx_state_q;
    rx_count_d = rx_count_q;
    wptr_d     = wptr_q;
    first_d    = first_q;
    unique case (rx_state_q)
      RxHead: begin
        rx_count_d = '0;
        if (take) rx_state_d = in_i.last ? RxCheck : RxData;
      end
      RxData: if (take) begin
        if (rx_count_q != 5'd17) rx_count_d = rx_count_q + 5'd1;
        if (push) wptr_d = wptr_q + 6'd4;
        if (in_i.last) rx_state_d = RxCheck;
      end
      default: if (accept) begin
        rx_state_d = RxHead;
        // The data of a rejected packet are discarded.
        if (reject) wptr_d = first_q;
        else wptr_d = wptr_q + 6'({pad, 2'b00});
        first_d = wptr_d;
      end
    endcase
    fill_d = fill_q + 5'(push) - 5'(freed);
    if (accept && !reject) fill_d = fill_d + 5'(pad);
    if (reject) fill_d = fill_d - (rx_count_q[4] ? 5'd16 : rx_count_q);
  end

  // --------------------------------------------------------------- check
  always_comb begin
    is_memory  = rx_q.op inside {LoadOpWrite, LoadOpFill, LoadOpRead};
    has_data   = rx_q.op inside {LoadOpWrite, LoadOpWriteInstr};
    end_of     = {{1'b0, rx_q.address[31:4]} + {1'b0, rx_q.length[31:4]}, 4'd0};
    fitting    = fits(rx_q.address, end_of, 32'd0, Log2InstrWords + 2);
    if (is_memory) begin
      fitting = fits(rx_q.address, end_of, DramBase, DirectW)
          || fits(rx_q.address, end_of, PartitionBase, HalfW)
          || (SramReach != 0 && fits(rx_q.address, end_of, SramBase, $clog2(SramReach)));
    end
    misaligned = is_memory ? {rx_q.address[OffW-1:0], rx_q.length[OffW-1:0]} != '0
                           : {rx_q.address[3:0], rx_q.length[3:0]} != '0;
    status     = '0;
    if (!rx_kind_q || !rx_body_q || rx_q.op > LoadOpReadInstr) status = RejectionKind;
    else if (rx_job_q) status = RejectionJob;
    else if (rx_q.length == '0 || (has_data ? rx_q.length[31:4] != 28'(rx_count_q) || rx_count_q > 5'd16
                                            : rx_count_q != '0)) status = RejectionLength;
    else if (misaligned || !fitting || (!is_memory && mems == '0)) status = RejectionAddress;
  end
  assign accept = checked_q && state_q == Idle;
  assign reject = accept && check_status_q != '0;

  // ----------------------------------------------------------- operation
  load_op_e op_q;
  logic [7:0] tag_q;
  // Status of the last rejected packet since the last reply to a host; this packet's status
  logic [3:0] status_q, own_status_q, group_q;
  logic for_host_q, for_host;
  logic [31:0] address_q, address_d, reply_q;
  logic [31:2] end_q;
  // The current word or line is the last; the operation has ended; a reply is requested; the operation accesses
  // instruction memories.
  logic last_q, ended_q, ended_d, replies_q, words_q, advance;
  // Address of the reply's data.
  logic [31:0] reply_address_q;
  // The next word or line, and the one after it
  logic [31:0] step, address_next;
  logic [31:2] address_after;
  logic [4:0] size_q, size_d;
  // Read pointer in words; words received; beat of a line; lines requested; unacknowledged writes
  logic [5:0] rptr_q, rptr_d;
  logic [6:0] received_q, received_d;
  logic [BeatW-1:0] beat_q, beat_d, rsp_beat_q;
  logic [3:0] line_q, line_d;
  logic [6:0] writes_q;
  logic [InstrMems-1:0] mems_q;
  logic mem_fire, line_ends, acked, line_rsp, out_fire, requested_q, requested_d;
  logic [8*RowBytes-1:0] row;

  assign mem_fire      = mem_req_valid_o && mem_req_ready_i;
  assign line_ends     = beat_q == BeatW'(LineBeats - 1);
  assign step          = words_q ? 32'd4 : CacheLineBytes;
  assign address_next  = address_q + step;
  assign address_after = address_q[31:2] + {step[30:2], 1'b0};
  assign acked         = mem_rsp_valid_i && mem_rsp_i.ack;
  assign line_rsp      = mem_rsp_valid_i && !mem_rsp_i.ack;
  assign out_fire      = out_valid_o && out_ready_i;
  // The status is for the host unless the reply is to a DMA engine. Address 0 means no reply; no DMA engine has it.
  assign for_host      = !rx_kind_q || rx_q.reply[31:29] != EndpointAccelerator;
  // All memories, or those of the mask; a read accesses only the first one.
  assign mems          = (rx_q.op == LoadOpReadInstr) ? InstrMems'(rx_q.group & -rx_q.group)
                       : (rx_q.group == '1) ? '1 : InstrMems'(rx_q.group);

  always_comb begin
    state_d     = state_q;
    address_d   = address_q;
    ended_d     = ended_q;
    size_d      = size_q;
    rptr_d      = rptr_q;
    received_d  = received_q;
    beat_d      = beat_q;
    line_d      = line_q;
    requested_d = requested_q;
    freed       = '0;
    advance     = 1'b0;
    unique case (state_q)
      Idle: begin
        beat_d      = '0;
        received_d  = '0;
        line_d      = '0;
        requested_d = 1'b0;
        size_d      = '0;
        rptr_d      = first_q;
        address_d   = rx_q.address;
        ended_d     = 1'b0;
        if (accept) begin
          unique case (rx_q.op)
            LoadOpWrite, LoadOpFill: state_d = Write;
            LoadOpWriteInstr: state_d = WriteInstr;
            // A read waits for earlier writes, because memory does not order them.
            default: state_d = Settle;
          endcase
          // A flit that is not a header has no valid reply address.
          if (reject) state_d = (rx_q.reply != '0 && rx_kind_q) ? Head : Idle;
        end
      end
      Write: if (mem_fire) begin
        beat_d = line_ends ? '0 : beat_q + BeatW'(1);
        if (op_q == LoadOpWrite) begin
          rptr_d = rptr_q + 6'(BeatWords);
          freed  = (BeatWords >= 4) ? 4'(BeatWords / 4) : 4'((rptr_d & 6'd3) == '0);
        end
        if (line_ends) begin
          advance   = 1'b1;
          address_d = address_next;
          if (last_q) state_d = replies_q ? Settle : Idle;
        end
      end
      WriteInstr: begin
        if (instr_ready_i) begin
          rptr_d    = rptr_q + 6'd1;
          freed     = 4'(rptr_q[1:0] == '1);
          advance   = 1'b1;
          address_d = address_next;
          if (last_q) begin
            freed   = 4'd1 + pad_q;
            state_d = replies_q ? Settle : Idle;
          end
        end
      end
      Settle: begin
        rptr_d = '0;
        if (writes_q == '0) begin
          unique case (op_q)
            LoadOpRead: state_d = Read;
            LoadOpReadInstr: state_d = ReadInstr;
            default: state_d = Head;
          endcase
        end
      end
      // Request the lines of a reply packet, one a cycle.
      Read: if (mem_fire) begin
        line_d    = line_q + 4'd1;
        advance   = 1'b1;
        address_d = address_next;
        ended_d   = last_q;
        size_d    = size_q + 5'(CacheLineBytes / 16);
        if (last_q || size_d == 5'(BufferFlits)) state_d = Collect;
      end
      Collect: if (received_q == {size_q, 2'b00}) state_d = Head;
      ReadInstr: begin
        if (instr_ready_i) requested_d = 1'b1;
        if (instr_rvalid_i) begin
          requested_d = 1'b0;
          advance     = 1'b1;
          address_d   = address_next;
          ended_d     = last_q;
          if (received_q[1:0] == '1) size_d = size_q + 5'd1;
          if (last_q || size_d == 5'(BufferFlits)) state_d = Head;
        end
      end
      Head: begin
        // All words of the reply have arrived, and none arrives before the next packet's lines are requested.
        received_d = '0;
        if (out_fire) begin
          rptr_d  = '0;
          state_d = (size_q != '0) ? Data : Idle;
        end
      end
      Data: if (out_fire) begin
        rptr_d = rptr_q + 6'd4;
        if (out_o.last) begin
          line_d  = '0;
          size_d  = '0;
          state_d = ended_q ? Idle : (op_q == LoadOpRead) ? Read : ReadInstr;
        end
      end
      default: state_d = Idle;
    endcase
    if (line_rsp) received_d = received_q + 7'(BeatWords);
    if (instr_rvalid_i) received_d = received_q + 7'd1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rx_state_q   <= RxHead;
      state_q      <= Idle;
      wptr_q       <= '0;
      first_q      <= '0;
      fill_q       <= '0;
      writes_q     <= '0;
      rsp_beat_q   <= '0;
      status_q     <= '0;
      replying_q   <= 1'b0;
      writing_q    <= 1'b0;
      requesting_q <= 1'b0;
      sending_q    <= 1'b0;
      checked_q    <= 1'b0;
    end else begin
      checked_q    <= rx_state_q == RxCheck && !accept;
      rx_state_q   <= rx_state_d;
      state_q      <= state_d;
      replying_q   <= state_d inside {Read, Collect, ReadInstr, Settle, Head, Data};
      writing_q    <= state_d == Write;
      requesting_q <= state_d == Read;
      sending_q    <= state_d == Head || state_d == Data;
      wptr_q       <= wptr_d;
      first_q      <= first_d;
      fill_q       <= fill_d;
      writes_q     <= writes_q + 7'(mem_fire && state_q == Write && line_ends) - 7'(acked);
      if (line_rsp) rsp_beat_q <= mem_rsp_i.last ? '0 : rsp_beat_q + BeatW'(1);
      if (reject && for_host) status_q <= check_status_q;
      else if (state_q == Head && out_fire && for_host_q) status_q <= '0;
    end
    rx_count_q     <= rx_count_d;
    check_status_q <= status;
    if (head) begin
      rx_q      <= rx_head;
      // Only hosts and DMA engines accept replies.
      rx_kind_q <= in_i.kind == FlitKindHeader && rx_head.spare == '0
                && (rx_head.reply == '0 || rx_head.reply[31:29] inside {EndpointHost, EndpointAccelerator});
      rx_body_q <= 1'b1;
      rx_job_q  <= in_i.job != job_i;
    end else if (take && in_i.kind != FlitKindBody) rx_body_q <= 1'b0;
    if (accept) begin
      op_q         <= (check_status_q == RejectionKind) ? LoadOpWrite : load_op_e'(rx_q.op);
      tag_q        <= rx_q.tag;
      group_q      <= rx_q.group;
      reply_q      <= rx_q.reply;
      for_host_q   <= for_host;
      own_status_q <= check_status_q;
      replies_q    <= rx_q.reply != '0;
      end_q        <= end_of[31:2];
      pad_q        <= pad;
      mems_q       <= mems;
      words_q      <= !is_memory;
      last_q       <= is_memory && rx_q.length == CacheLineBytes;
    end else if (advance) last_q <= address_after == end_q;
    address_q <= address_d;
    ended_q   <= ended_d;
    if (state_q == Idle) reply_address_q <= rx_q.address;
    else if (state_q == Head && out_fire) reply_address_q <= address_q;
    size_q      <= size_d;
    rptr_q      <= rptr_d;
    received_q  <= received_d;
    beat_q      <= beat_d;
    line_q      <= line_d;
    requested_q <= requested_d;
  end

  // -------------------------------------------------------------- buffer
  logic buffer_we;
  logic [5:0] buffer_wptr;
  logic [RowWords-1:0] buffer_strobe;
  logic [8*RowBytes-1:0] buffer_in;
  logic [8*DramPortBytes-1:0] beat;

  always_comb begin
    // Incoming flits and read data never write the buffer in the same phase.
    buffer_we     = push || line_rsp || instr_rvalid_i;
    buffer_wptr   = wptr_q;
    beat          = (state_q == ReadInstr) ? {BeatWords{instr_rdata_i}} : mem_rsp_i.data;
    buffer_in     = replying_q ? {(RowWords / BeatWords) {beat}} : {(RowWords / 4) {in_i.payload}};
    buffer_strobe = RowWords'(4'hF) << (wptr_q & 6'(RowWords - 1));
    if (state_q == Collect || state_q == Read) begin
      buffer_wptr   = 6'(32'(mem_rsp_i.id[3:0]) * (CacheLineBytes / 4) + 32'(rsp_beat_q) * BeatWords);
      buffer_strobe = RowWords'((33'd1 << BeatWords) - 33'd1) << (buffer_wptr & 6'(RowWords - 1));
    end
    if (state_q == ReadInstr) begin
      buffer_wptr   = received_q[5:0];
      buffer_strobe = RowWords'(1) << (buffer_wptr & 6'(RowWords - 1));
    end
  end

  gs_ram_sdp #(
    .Width   (8 * RowBytes),
    .Depth   (Rows),
    .ByteBits(32),
    .Latency (0),
    .Style   ("distributed")
  ) u_buffer (
    .clk_i,
    .we_i   (buffer_we),
    .wstrb_i(buffer_strobe),
    .waddr_i(RowW'(buffer_wptr >> LogRowWords)),
    .wdata_i(buffer_in),
    .re_i   (1'b1),
    .raddr_i(RowW'(rptr_q >> LogRowWords)),
    .rdata_o(row)
  );

  // -------------------------------------------------------------- outputs
  logic [31:0] word;
  assign word = row[32*(rptr_q & 6'(RowWords - 1))+:32];

  always_comb begin
    mem_req_valid_o = (writing_q && !writes_q[$clog2(MaxWrites)]) || requesting_q;
    mem_req_o       = '{
      write: writing_q, last: requesting_q || line_ends, space: is_sram(address_q[31:30]),
      id: DirectId | MemIdW'(line_q), addr: physical(address_q), data: '0
    };
    if (op_q == LoadOpWrite) mem_req_o.data = row[32*(rptr_q & 6'(RowWords - BeatWords))+:8*DramPortBytes];
  end

  assign instr_valid_o = (state_q == WriteInstr || (state_q == ReadInstr && !requested_q)) ? mems_q : '0;
  assign instr_o       = '{write: state_q == WriteInstr, addr: address_q[2+:Log2InstrWords], data: word};

  assign out_valid_o = sending_q;
  always_comb begin
    automatic load_header_t header;
    header = '{reply: '0, length: 32'(size_q) << 4, address: reply_address_q, spare: '0,
               status: for_host_q ? status_q : own_status_q, tag: tag_q, group: group_q, op: op_q};
    out_o  = '{kind: FlitKindHeader, last: size_q == '0, vnet: VnetReply, job: job_i, epoch: '0, wave: '0,
               dest: reply_q, payload: header};
    if (state_q == Data) begin
      out_o.kind    = FlitKindBody;
      out_o.last    = rptr_q[5:2] == 4'(size_q - 5'd1);
      out_o.payload = row[32*(rptr_q & 6'(RowWords - 4))+:128];
    end
  end

  assign rejected_o = reject;
  assign busy_o     = rx_state_q != RxHead || state_q != Idle || writes_q != '0;

  logic unused;
  assign unused = ^{in_i.vnet, in_i.epoch, in_i.wave, in_i.dest, rx_q.spare, rx_q.status, mem_rsp_i.id};

  `GS_ASSERT_NOW(buffer_never_overflows, !push || !fill_q[4])
  `GS_ASSERT_NOW(acknowledgement_has_a_write_in_flight, !acked || writes_q != '0)
  `GS_ASSERT_NOW(read_data_only_after_a_read, !line_rsp || state_q inside {Read, Collect})
  `GS_ASSERT_NOW(instruction_only_after_a_read, !instr_rvalid_i || (state_q == ReadInstr && requested_q))
  `GS_ASSERT_HOLD(payload_is_stable_while_it_waits, out_valid_o, out_ready_i, out_o)
endmodule
