// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Sending side of a mailbox: reads messages out of their slots and makes packets of them.
///
/// A thread has one send under way at most; so the sends wait in a RAM by thread, and a queue of thread numbers
/// keeps their order. The next send is fetched while the flits of one are read.
///
///     order ->[ sends ]->[ entry ]->[ head, flit ]->[ scratchpad ]->[ queue ]-> packet, for others or for this tile
module gs_mailbox_tx
  import gossamer_pkg::flit_t, gossamer_pkg::flit_kind_e;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads   = 64,
  /// slots of the tile, a power of two
  parameter  int unsigned Slots     = 1024,
  /// flits that a slot has room for, a power of two
  parameter  int unsigned SlotFlits = 4,
  /// bits of a message's length
  parameter  int unsigned LengthW   = 2,
  /// 1: messages with a mask
  parameter  bit          Multicast = 1'b1,
  localparam int unsigned ThreadW   = $clog2(Threads),
  localparam int unsigned SlotW     = $clog2(Slots),
  localparam int unsigned LinW      = $clog2(Slots * SlotFlits)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  /// a send; there is always room
  input  logic                    send_i,
  input  logic [ThreadW-1:0]      send_thread_i,
  input  logic [SlotW-1:0]        send_slot_i,
  /// flits less one
  input  logic [LengthW-1:0]      send_length_i,
  /// kind of the head flit; body: there is none
  input  flit_kind_e              send_kind_i,
  /// for threads of this tile
  input  logic                    send_local_i,
  input  logic [31:0]             send_dest_i,
  /// mask or key of the head flit
  input  logic [63:0]             send_head_i,
  /// flits of the scratchpad; data come three clock edges later
  output logic                    read_valid_o,
  input  logic                    read_ready_i,
  output logic [LinW-1:0]         read_flit_o,
  input  logic [127:0]            read_data_i,
  /// the last flit of a send was read
  output logic                    done_valid_o,
  input  logic                    done_ready_i,
  output logic [ThreadW-1:0]      done_thread_o,
  output logic [SlotW-1:0]        done_slot_o,
  /// packets for others, and for this tile
  output logic                    net_valid_o,
  input  logic                    net_ready_i,
  output logic                    local_valid_o,
  input  logic                    local_ready_i,
  /// of either
  output flit_t                   flit_o,
  /// something is under way
  output logic                    busy_o
);
  localparam int unsigned HeadW = Multicast ? 64 : 32;
  localparam int unsigned FlitW = LinW - SlotW;

  typedef struct packed {
    logic [SlotW-1:0]   slot;
    logic [LengthW-1:0] length;
    flit_kind_e         kind;
    logic               to_local;
    logic [31:0]        dest;
    logic [HeadW-1:0]   head;
  } send_t;

  logic unused_head;
  assign unused_head = &{1'b0, send_head_i};

  // The sends and their order.
  send_t send, fetched;
  logic order_valid, fetch;
  logic [ThreadW-1:0] order_thread;

  assign send = '{
          slot: send_slot_i,
          length: send_length_i,
          kind: send_kind_i,
          to_local: send_local_i,
          dest: send_dest_i,
          head: send_head_i[HeadW-1:0]
      };

  gs_ram_sdp #(
    .Width  ($bits(send_t)),
    .Depth  (Threads),
    .Latency(2),
    .Style  ("block")
  ) u_sends (
    .clk_i,
    .we_i   (send_i),
    .wstrb_i(1'b1),
    .waddr_i(send_thread_i),
    .wdata_i(send),
    .re_i   (fetch),
    .raddr_i(order_thread),
    .rdata_o(fetched)
  );

  logic order_ready_unused;
  logic [$clog2(Threads+1)-1:0] order_count_unused;
  gs_fifo #(
    .data_t(logic [ThreadW-1:0]),
    .Depth (Threads)
  ) u_order (
    .clk_i,
    .rst_ni,
    .in_valid_i (send_i),
    .in_ready_o (order_ready_unused),
    .in_data_i  (send_thread_i),
    .out_valid_o(order_valid),
    .out_ready_i(fetch),
    .out_data_o (order_thread),
    .count_o    (order_count_unused)
  );

  // One send on its way out of the RAM, or waiting in its output register; one whose flits are read.
  logic coming_q, come_q, entry_valid_q, entry_load, entry_end;
  logic [ThreadW-1:0] come_thread_q, entry_thread_q;
  send_t entry_q;

  assign entry_load = come_q && (!entry_valid_q || entry_end);
  assign fetch      = order_valid && !coming_q && (!come_q || entry_load);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      coming_q      <= 1'b0;
      come_q        <= 1'b0;
      entry_valid_q <= 1'b0;
    end else begin
      coming_q <= fetch;
      if (coming_q) come_q <= 1'b1;
      else if (entry_load) come_q <= 1'b0;
      if (entry_load) entry_valid_q <= 1'b1;
      else if (entry_end) entry_valid_q <= 1'b0;
    end
    if (fetch) come_thread_q <= order_thread;
    if (entry_load) begin
      entry_q        <= fetched;
      entry_thread_q <= come_thread_q;
    end
  end

  // Flits: the head, if there is one, then those of the slot. As many are under way as the queue has room for.
  localparam int unsigned QueueDepth = 16;
  logic [4:0] room_q;
  logic headed_q, beat, beat_head, beat_last, step_free, out_pop;
  logic [LengthW-1:0] index_q;

  assign beat_head = entry_q.kind != gossamer_pkg::FlitKindBody && !headed_q;
  assign beat_last = !beat_head && index_q == entry_q.length;
  assign beat      = entry_valid_q && room_q != '0 && step_free;
  assign entry_end = beat && beat_last;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      headed_q <= 1'b0;
      index_q  <= '0;
      room_q   <= 5'(QueueDepth);
    end else begin
      if (beat) begin
        headed_q <= beat_head;
        index_q  <= (beat_head || beat_last) ? '0 : index_q + LengthW'(1);
        if (!beat_head && !beat_last) headed_q <= 1'b1;
      end
      if (beat && !out_pop) room_q <= room_q - 5'd1;
      if (!beat && out_pop) room_q <= room_q + 5'd1;
    end
  end

  // One flit at the scratchpad, so that what decides who reads or writes a bank comes from registers; and what goes
  // beside a flit while it is read.
  typedef struct packed {
    logic             is_head;
    flit_kind_e       kind;
    logic             last;
    logic             to_local;
    logic [31:0]      dest;
    logic [HeadW-1:0] head;
  } beside_t;
  typedef struct packed {
    logic [ThreadW-1:0] thread;
    logic [LinW-1:0]    flit;
    beside_t            beside;
  } step_t;
  step_t step_in, step;
  beside_t beside_1_q, beside_2_q, beside_3_q;
  logic step_valid, step_go, step_ready, beside_1_valid_q, beside_2_valid_q, beside_3_valid_q;

  assign step_in = '{
          thread: entry_thread_q,
          flit: (LinW'(entry_q.slot) << FlitW) | LinW'(index_q),
          beside: '{
              is_head: beat_head,
              kind: entry_q.kind,
              last: beat_last,
              to_local: entry_q.to_local,
              dest: entry_q.dest,
              head: entry_q.head
          }
      };

  gs_skid #(
    .data_t(step_t)
  ) u_step (
    .clk_i,
    .rst_ni,
    .in_valid_i (entry_valid_q && room_q != '0),
    .in_ready_o (step_free),
    .in_data_i  (step_in),
    .out_valid_o(step_valid),
    .out_ready_i(step_ready),
    .out_data_o (step)
  );

  assign read_valid_o  = step_valid && !step.beside.is_head && (!step.beside.last || done_ready_i);
  assign read_flit_o   = step.flit;
  assign step_ready    = step.beside.is_head || (read_ready_i && (!step.beside.last || done_ready_i));
  assign step_go       = step_valid && step_ready;
  assign done_valid_o  = step_go && step.beside.last;
  assign done_thread_o = step.thread;
  assign done_slot_o   = SlotW'(step.flit >> FlitW);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beside_1_valid_q <= 1'b0;
      beside_2_valid_q <= 1'b0;
      beside_3_valid_q <= 1'b0;
    end else begin
      beside_1_valid_q <= step_go;
      beside_2_valid_q <= beside_1_valid_q;
      beside_3_valid_q <= beside_2_valid_q;
    end
    beside_1_q <= step.beside;
    beside_2_q <= beside_1_q;
    beside_3_q <= beside_2_q;
  end

  typedef struct packed {
    flit_kind_e   kind;
    logic         last;
    logic         to_local;
    logic [31:0]  dest;
    logic [127:0] payload;
  } out_t;
  out_t out_in, out, out_q;
  logic out_valid, out_valid_q, out_free;

  assign out_in = '{
          kind: beside_3_q.is_head ? beside_3_q.kind : gossamer_pkg::FlitKindBody,
          last: beside_3_q.last,
          to_local: beside_3_q.to_local,
          dest: beside_3_q.dest,
          payload: beside_3_q.is_head ? 128'(beside_3_q.head) : read_data_i
      };

  logic out_ready_unused;
  logic [$clog2(QueueDepth+1)-1:0] out_count_unused;
  gs_fifo #(
    .data_t(out_t),
    .Depth (QueueDepth)
  ) u_out (
    .clk_i,
    .rst_ni,
    .in_valid_i (beside_3_valid_q),
    .in_ready_o (out_ready_unused),
    .in_data_i  (out_in),
    .out_valid_o(out_valid),
    .out_ready_i(out_free),
    .out_data_o (out),
    .count_o    (out_count_unused)
  );

  assign out_free      = !out_valid_q || (out_q.to_local ? local_ready_i : net_ready_i);
  assign out_pop       = out_valid && out_free;
  assign net_valid_o   = out_valid_q && !out_q.to_local;
  assign local_valid_o = out_valid_q && out_q.to_local;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) out_valid_q <= 1'b0;
    else if (out_free) out_valid_q <= out_valid;
    if (out_free) out_q <= out;
  end
  assign flit_o        = '{
          kind: out_q.kind,
          last: out_q.last,
          vnet: gossamer_pkg::VnetMailbox,
          job: '0,
          epoch: '0,
          dest: out_q.dest,
          payload: out_q.payload
      };
  // What stands at the scratchpad has taken room.
  assign busy_o        = order_valid || coming_q || come_q || entry_valid_q || room_q != 5'(QueueDepth)
      || out_valid_q;

  `GS_ASSERT_NOW(the_queue_has_room_for_what_is_read, !beside_3_valid_q || out_ready_unused)
  `GS_ASSERT_NOW(a_thread_has_one_send_under_way, !send_i || order_ready_unused)
endmodule
