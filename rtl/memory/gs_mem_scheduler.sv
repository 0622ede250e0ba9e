// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// DRAM scheduler: reorders the requests of thousands of independent threads for row hits and few bus turnarounds.
///
///     in ->[ sort ]-> queues of reads:  bank 0: group 0..G-1 ... bank B-1: group 0..G-1  \
///              |                                                                          >[ pick ]-> out
///              +----> queues of writes: the same, and a RAM for their data               /
///
/// A group holds the requests to the rows of a bank whose numbers are equal in their low bits: mostly one row. Picks
/// rotate over the banks, so that the next rows open while data are transferred. Within a bank, up to Run consecutive
/// picks are from one group, to use an open row fully. Reads and writes are batched, because a turnaround of the data
/// bus costs time. No request starves: batches and runs are bounded, and banks and groups are served round-robin.
///
/// Requests of one group and direction keep their order. A write and a read of the same line are never in the scheduler
/// together, because no cache requests a line whose write-back is not acknowledged (gs_mem_types.svh). The downstream
/// controller sends the acknowledgements, once it guarantees the order.
module gs_mem_scheduler #(
  /// bits of an id, bytes of a line and of a beat, bits of an address
  parameter  int unsigned IdW        = 9,
  parameter  int unsigned LineBytes  = 32,
  parameter  int unsigned PortBytes  = 32,
  parameter  int unsigned AddrW      = 32,
  /// banks of the DRAM, a power of two, 2 or more
  parameter  int unsigned Banks      = 8,
  /// bytes of a row, a power of two
  parameter  int unsigned RowBytes   = 8192,
  /// bank interleave in bytes, a power of two from LineBytes to RowBytes
  parameter  int unsigned BankBytes  = 1024,
  /// 1: a bank's number is XORed with its row's, as in the controller
  parameter  bit          BankHash   = 1'b1,
  /// groups of rows of a bank, a power of two, 2 or more
  parameter  int unsigned RowGroups  = 4,
  /// requests that each group can queue in each direction, a power of two, 2 or more
  parameter  int unsigned QueueDepth = 16,
  /// lines that can wait to be written, 4 or more
  parameter  int unsigned WriteSlots = 64,
  /// consecutive picks from a group before the bank's next group
  parameter  int unsigned Run        = 16,
  /// picks in one direction while the other waits
  parameter  int unsigned Batch      = 32,
  /// payload: GS_MEM_TYPES(PortBytes, IdW, AddrW)
  parameter  type         mem_req_t  = logic
) (
  input  logic     clk_i,
  input  logic     rst_ni,
  input  logic     in_valid_i,
  output logic     in_ready_o,
  input  mem_req_t in_i,
  output logic     out_valid_o,
  input  logic     out_ready_i,
  output mem_req_t out_o
);
  if (Banks < 2 || 1 << $clog2(Banks) != Banks) begin : gen_illegal_banks
    $fatal(1, "gs_mem_scheduler: Banks is %0d; it must be a power of two, 2 or more", Banks);
  end
  if (RowGroups < 2 || 1 << $clog2(RowGroups) != RowGroups) begin : gen_illegal_groups
    $fatal(1, "gs_mem_scheduler: RowGroups is %0d; it must be a power of two, 2 or more", RowGroups);
  end
  if (BankBytes < LineBytes || BankBytes > RowBytes) begin : gen_illegal_interleave
    $fatal(1, "gs_mem_scheduler: BankBytes (%0d) is not between a line (%0d) and a row (%0d)",
           BankBytes, LineBytes, RowBytes);
  end

  localparam int unsigned OffW = $clog2(LineBytes);
  localparam int unsigned LineW = AddrW - OffW;
  localparam int unsigned Beats = LineBytes / PortBytes;
  localparam int unsigned LogBeats = $clog2(Beats);
  localparam int unsigned BeatW = (LogBeats > 0) ? LogBeats : 1;
  localparam int unsigned BankW = $clog2(Banks);
  localparam int unsigned GroupW = $clog2(RowGroups);
  localparam int unsigned RowShift = $clog2(RowBytes) + BankW;
  localparam int unsigned RowW = AddrW - RowShift;
  localparam int unsigned Queues = Banks * RowGroups;
  localparam int unsigned QueueW = BankW + GroupW;
  localparam int unsigned PtrW = $clog2(QueueDepth);
  localparam int unsigned SlotW = $clog2(WriteSlots);
  localparam int unsigned DataDepth = (WriteSlots << LogBeats);
  localparam int unsigned RunW = $clog2(Run + 1);
  localparam int unsigned BatchW = $clog2(Batch + 1);
  localparam int unsigned TotalW = $clog2(Queues * QueueDepth + 1);
  localparam int unsigned OutDepth = 8;

  typedef struct packed {
    logic [LineW-1:0] line;
    logic [IdW-1:0]   id;
    logic             space;
    logic [SlotW-1:0] slot;
  } entry_t;

  // The queue of a line. Folding the whole row number into the bank spreads every power-of-two stride.
  function automatic logic [QueueW-1:0] queue_of(logic [AddrW-1:0] addr);
    logic [BankW-1:0] bank;
    logic [RowW-1:0]  row;
    bank = BankW'(addr >> $clog2(BankBytes));
    row  = RowW'(addr >> RowShift);
    queue_of[GroupW-1:0] = GroupW'(row);
    if (BankHash) begin
      for (int unsigned i = 0; i < RowW; i += BankW) bank ^= BankW'(row >> i);
    end
    queue_of[QueueW-1:GroupW] = bank;
  endfunction

  // Sort: one register, then the queue of the request's direction, bank and group.
  logic                in_valid_q, in_fire, in_write_first_q;
  mem_req_t            in_q;
  logic [QueueW-1:0]   in_queue_q;
  logic [BeatW-1:0]    in_beat_q;
  logic                slot_valid, slot_take;
  logic [SlotW-1:0]    slot, slot_q, in_slot;
  logic                in_push;
  entry_t              in_entry;

  // Queues: index {write, bank, group}.
  logic [2*Queues-1:0]           nonempty_q, full_q;
  logic [PtrW-1:0]               head_q[2*Queues], tail_q[2*Queues];
  logic [PtrW-1:0]               pick_head, push_tail;
  logic [QueueW:0]               push_idx, pick_idx;
  logic                          pick;

  assign in_ready_o       = !in_valid_q || in_fire;
  assign in_write_first_q = in_q.write && in_beat_q == '0;
  assign in_slot          = in_write_first_q ? slot : slot_q;
  assign push_idx         = {in_q.write, in_queue_q};
  // The first beat of a write allocates a slot for the whole line.
  assign in_fire          = in_valid_q && (in_q.write ? (!in_write_first_q || slot_valid) : 1'b1) && !full_q[push_idx];
  assign in_push          = in_fire && in_q.last;
  assign slot_take        = in_fire && in_write_first_q;
  assign in_entry         = '{line: LineW'(in_q.addr >> OffW), id: in_q.id, space: in_q.space, slot: in_slot};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_valid_q <= 1'b0;
      in_beat_q  <= '0;
    end else begin
      if (in_ready_o) in_valid_q <= in_valid_i;
      if (in_fire && in_q.write) in_beat_q <= in_q.last ? '0 : in_beat_q + BeatW'(1);
    end
    if (in_ready_o && in_valid_i) begin
      in_q       <= in_i;
      in_queue_q <= queue_of(in_i.addr);
    end
    if (slot_take) slot_q <= slot;
  end

  // Slots of the write data: each is first allocated from a counter, and later from the queue of freed slots.
  logic             fresh_q, freed_valid, freed_space, free_valid;
  logic [SlotW-1:0] fresh_slot_q, freed_slot, free_slot;
  logic [$clog2(WriteSlots+1)-1:0] unused_free_count;

  assign slot_valid = fresh_q || free_valid;
  assign slot       = fresh_q ? fresh_slot_q : free_slot;

  gs_fifo #(
    .data_t(logic [SlotW-1:0]),
    .Depth (WriteSlots)
  ) u_free (
    .clk_i,
    .rst_ni,
    .in_valid_i (freed_valid),
    .in_ready_o (freed_space),
    .in_data_i  (freed_slot),
    .out_valid_o(free_valid),
    .out_ready_i(slot_take && !fresh_q),
    .out_data_o (free_slot),
    .count_o    (unused_free_count)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fresh_q      <= 1'b1;
      fresh_slot_q <= '0;
    end else if (slot_take && fresh_q) begin
      fresh_slot_q <= fresh_slot_q + SlotW'(1);
      fresh_q      <= fresh_slot_q != SlotW'(WriteSlots - 1);
    end
  end

  // Pick: the direction.
  logic              writing_q, turnaround, has_reads, has_writes, other_waits, many_writes, pick_space;
  logic [BatchW-1:0] batch_q;
  logic [TotalW-1:0] writes_q;

  assign has_reads   = nonempty_q[Queues-1:0] != '0;
  assign has_writes  = nonempty_q[2*Queues-1:Queues] != '0;
  assign many_writes = writes_q >= TotalW'(WriteSlots / 2);
  assign other_waits = writing_q ? has_reads : has_writes;
  // Writes wait until many are queued, or the read batch is complete, or no read is queued.
  always_comb begin
    if (writing_q) turnaround = !has_writes || batch_q == BatchW'(Batch);
    else turnaround = !has_reads || batch_q == BatchW'(Batch) || (many_writes && batch_q >= BatchW'(Batch / 2));
    if (!other_waits) turnaround = 1'b0;
  end

  // Pick: the group of each bank, then the bank.
  logic [Queues-1:0]               nonempty;
  logic [GroupW-1:0]               group_q[Banks], bank_group[Banks];
  logic [RunW-1:0]                 run_q[Banks];
  logic [Banks-1:0]                bank_has, unused_grant, bank_stays;
  logic [BankW-1:0]                bank;

  assign nonempty = writing_q ? nonempty_q[2*Queues-1:Queues] : nonempty_q[Queues-1:0];

  always_comb begin
    bank_has   = '0;
    bank_stays = '0;
    for (int unsigned b = 0; b < Banks; b++) begin
      automatic logic [RowGroups-1:0] groups = nonempty[b*RowGroups+:RowGroups];
      bank_group[b] = group_q[b];
      if (groups != '0) begin
        bank_has[b]   = 1'b1;
        bank_stays[b] = groups[group_q[b]] && run_q[b] != RunW'(Run);
      end
      if (groups != '0 && !bank_stays[b]) begin
        // The next nonempty group, cyclically. The loop runs from far to near, so that the nearest one wins.
        for (int unsigned g = RowGroups - 1; g > 0; g--) begin
          if (groups[GroupW'(32'(group_q[b]) + g)]) bank_group[b] = GroupW'(32'(group_q[b]) + g);
        end
      end
    end
  end

  gs_arbiter #(
    .N(Banks)
  ) u_banks (
    .clk_i,
    .rst_ni,
    .req_i    (bank_has),
    .gnt_o    (unused_grant),
    .idx_o    (bank),
    .advance_i(pick)
  );

  assign pick     = bank_has != '0 && pick_space && !turnaround;
  assign pick_idx = {writing_q, bank, bank_group[bank]};

  assign pick_head = head_q[pick_idx] + PtrW'(1);
  assign push_tail = tail_q[push_idx] + PtrW'(1);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      nonempty_q <= '0;
      full_q     <= '0;
      head_q     <= '{default: '0};
      tail_q     <= '{default: '0};
      writing_q  <= 1'b0;
      batch_q    <= '0;
      writes_q   <= '0;
      group_q    <= '{default: '0};
      run_q      <= '{default: '0};
    end else begin
      if (pick) begin
        head_q[pick_idx]     <= pick_head;
        full_q[pick_idx]     <= 1'b0;
        nonempty_q[pick_idx] <= pick_head != tail_q[pick_idx];
      end
      if (in_push) begin
        tail_q[push_idx]     <= push_tail;
        nonempty_q[push_idx] <= 1'b1;
        if (!(pick && pick_idx == push_idx)) full_q[push_idx] <= push_tail == head_q[push_idx];
      end
      if (turnaround) begin
        writing_q <= !writing_q;
        batch_q   <= '0;
      end else if (pick && batch_q != BatchW'(Batch)) begin
        batch_q <= batch_q + BatchW'(1);
      end
      writes_q <= writes_q + TotalW'(in_push && in_q.write) - TotalW'(pick && writing_q);
      if (pick) begin
        group_q[bank] <= bank_group[bank];
        run_q[bank]   <= bank_stays[bank] ? run_q[bank] + RunW'(1) : RunW'(1);
      end
    end
  end

  // The queues' RAM. A request is picked no earlier than the cycle after its arrival, when it is in the RAM.
  entry_t p2_entry, next;
  logic   p1_valid_q, p2_valid_q, p1_write_q, p2_write_q;
  logic   next_valid, next_write, next_ready, next_space;
  logic [3:0] next_count;
  logic [$bits(entry_t)-1:0] p2_bits;

  gs_ram_sdp #(
    .Width  ($bits(entry_t)),
    .Depth  (2 * Queues * QueueDepth),
    .Latency(2),
    .Style  ("block")
  ) u_queues (
    .clk_i,
    .we_i   (in_push),
    .wstrb_i(1'b1),
    .waddr_i({push_idx, tail_q[push_idx]}),
    .wdata_i(in_entry),
    .re_i   (pick),
    .raddr_i({pick_idx, head_q[pick_idx]}),
    .rdata_o(p2_bits)
  );
  assign p2_entry = entry_t'(p2_bits);

  // The queue downstream must have a free slot for each pick in flight.
  assign pick_space = next_count + 4'(p1_valid_q) + 4'(p2_valid_q) < 4'(OutDepth - 1);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      p1_valid_q <= 1'b0;
      p2_valid_q <= 1'b0;
    end else begin
      p1_valid_q <= pick;
      p2_valid_q <= p1_valid_q;
    end
    p1_write_q <= writing_q;
    p2_write_q <= p1_write_q;
  end

  gs_fifo #(
    .data_t(logic [$bits(entry_t):0]),
    .Depth (OutDepth)
  ) u_next (
    .clk_i,
    .rst_ni,
    .in_valid_i (p2_valid_q),
    .in_ready_o (next_space),
    .in_data_i  ({p2_write_q, p2_entry}),
    .out_valid_o(next_valid),
    .out_ready_i(next_ready),
    .out_data_o ({next_write, next}),
    .count_o    (next_count)
  );

  // Output: one beat a cycle; a write's data are read from their RAM here.
  typedef struct packed {
    logic             write, last, space;
    logic [IdW-1:0]   id;
    logic [AddrW-1:0] addr;
  } head_t;

  logic             e1_valid_q, e2_valid_q, e_issue, e_last, out_space, e_space;
  head_t            e_beat, e1_q, e2_q;
  mem_req_t         e2_full;
  logic [BeatW-1:0] e_beat_q;
  logic [8*PortBytes-1:0] data;
  logic [3:0]       out_count;

  assign e_space    = out_count + 4'(e1_valid_q) + 4'(e2_valid_q) < 4'(OutDepth - 1);
  assign e_issue    = next_valid && e_space;
  assign e_last     = !next_write || e_beat_q == BeatW'(Beats - 1);
  assign next_ready = e_space && e_last;
  assign e_beat     = '{
    write: next_write, last: e_last, space: next.space, id: next.id, addr: AddrW'(next.line) << OffW
  };
  assign freed_valid = e_issue && e_last && next_write;
  assign freed_slot  = next.slot;

  gs_ram_sdp #(
    .Width  (8 * PortBytes),
    .Depth  (DataDepth),
    .Latency(2),
    .Style  ("block")
  ) u_data (
    .clk_i,
    .we_i   (in_fire && in_q.write),
    .wstrb_i(1'b1),
    .waddr_i(($clog2(DataDepth))'(({{BeatW{1'b0}}, in_slot} << LogBeats) | (SlotW + BeatW)'(in_beat_q))),
    .wdata_i(in_q.data),
    .re_i   (e_issue),
    .raddr_i(($clog2(DataDepth))'(({{BeatW{1'b0}}, next.slot} << LogBeats) | (SlotW + BeatW)'(e_beat_q))),
    .rdata_o(data)
  );

  assign e2_full = '{
    write: e2_q.write, last: e2_q.last, space: e2_q.space, id: e2_q.id, addr: e2_q.addr, data: data
  };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      e1_valid_q <= 1'b0;
      e2_valid_q <= 1'b0;
      e_beat_q   <= '0;
    end else begin
      e1_valid_q <= e_issue;
      e2_valid_q <= e1_valid_q;
      if (e_issue) e_beat_q <= e_last ? '0 : e_beat_q + BeatW'(1);
    end
    if (e_issue) e1_q <= e_beat;
    if (e1_valid_q) e2_q <= e1_q;
  end

  gs_fifo #(
    .data_t(mem_req_t),
    .Depth (OutDepth)
  ) u_out (
    .clk_i,
    .rst_ni,
    .in_valid_i (e2_valid_q),
    .in_ready_o (out_space),
    .in_data_i  (e2_full),
    .out_valid_o(out_valid_o),
    .out_ready_i(out_ready_i),
    .out_data_o (out_o),
    .count_o    (out_count)
  );

`ifndef SYNTHESIS
  // Independent record of the picks: each bank's last group, the length of its run, the batch so far, the queued
  // writes.
  logic [GroupW-1:0] seen_group_q[Banks], seen_group, picked_group;
  logic [RunW-1:0]   seen_run_q[Banks];
  logic [BatchW-1:0] seen_batch_q;
  logic [TotalW-1:0] seen_writes_q;
  logic              seen_stays, round_robin, batch_complete;

  always_comb begin
    automatic logic [RowGroups-1:0] groups = nonempty[bank*RowGroups+:RowGroups];
    seen_group   = seen_group_q[bank];
    picked_group = bank_group[bank];
    seen_stays   = groups[seen_group] && seen_run_q[bank] != RunW'(Run);
    // The bank stays in its group, or moves to the next nonempty group, cyclically; its own group is the last choice.
    round_robin  = seen_stays ? picked_group == seen_group : groups[picked_group];
    for (int unsigned g = 1; g < RowGroups; g++) begin
      if (!seen_stays && groups[GroupW'(32'(seen_group) + g)]
          && GroupW'(picked_group - seen_group - GroupW'(1)) > GroupW'(g - 1)) begin
        round_robin = 1'b0;
      end
    end
    batch_complete = seen_batch_q == BatchW'(Batch) || !(writing_q ? has_writes : has_reads) ||
        (!writing_q && seen_writes_q >= TotalW'(WriteSlots / 2) && seen_batch_q >= BatchW'(Batch / 2));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      seen_group_q  <= '{default: '0};
      seen_run_q    <= '{default: '0};
      seen_batch_q  <= '0;
      seen_writes_q <= '0;
    end else begin
      if (turnaround) begin
        seen_batch_q <= '0;
      end else if (pick) begin
        seen_group_q[bank] <= picked_group;
        seen_run_q[bank]   <= seen_stays ? seen_run_q[bank] + RunW'(1) : RunW'(1);
        if (seen_batch_q != BatchW'(Batch)) seen_batch_q <= seen_batch_q + BatchW'(1);
      end
      if (in_push && in_q.write && !(pick && writing_q)) seen_writes_q <= seen_writes_q + TotalW'(1);
      if (!(in_push && in_q.write) && pick && writing_q) seen_writes_q <= seen_writes_q - TotalW'(1);
    end
  end

  `GS_ASSERT_NOW(groups_of_a_bank_are_served_round_robin, !pick || round_robin)
  `GS_ASSERT_NOW(turnaround_only_if_the_other_direction_waits, !turnaround || (writing_q ? has_reads : has_writes))
  `GS_ASSERT_NOW(turnaround_only_after_a_complete_batch, !turnaround || batch_complete)
  `GS_ASSERT_NOW(full_flag_implies_equal_pointers, !full_q[push_idx] || tail_q[push_idx] == head_q[push_idx])
  `GS_ASSERT_NOW(full_queue_accepts_no_request,
                 !in_push || !nonempty_q[push_idx] || tail_q[push_idx] != head_q[push_idx])
`endif
  `GS_ASSERT_NOW(free_slot_queue_never_overflows, !freed_valid || freed_space)
  `GS_ASSERT_NOW(pick_queue_never_overflows, !p2_valid_q || next_space)
  `GS_ASSERT_NOW(output_queue_never_overflows, !e2_valid_q || out_space)
  `GS_ASSERT_NOW(pick_is_from_a_nonempty_queue, !pick || nonempty_q[pick_idx])
  `GS_ASSERT_NOW(no_pick_in_a_turnaround, !pick || !turnaround)
  `GS_ASSUME_HOLD(request_is_stable_while_it_waits, in_valid_i, in_ready_o, in_i)
  `GS_ASSERT_NOW(picked_request_is_not_read_while_it_is_written, !u_queues.collides)
  // A read request has no data: its slot is any.
  `GS_ASSERT_NOW(written_data_are_not_read_while_they_are_stored, !(u_data.undefined && e2_valid_q && e2_q.write))
endmodule
