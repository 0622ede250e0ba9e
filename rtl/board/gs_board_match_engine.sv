// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// A match engine at the board, for the threads of some tiles (gs_match_slot): its queue, its owner, its clears.
///
///     whole packets => [ queue ] => epoch of the job? => gs_match_slot => packets to the tiles' threads
///
/// A packet of the job's next epoch waits in the queue until that epoch begins on this board: its answer would have the
/// old epoch, and its thread would drop it. A release uses the control network, so it never waits for this queue.
///
/// `owner_i` changes only with `flush_i`, which discards the queue and then clears the engine; `clear_i` clears the
/// engine alone, between two packets. A clear waits until the packet that is leaving has left.
module gs_board_match_engine
  import gossamer_pkg::*;
#(
  /// threads that it serves, 2 to 256
  parameter  int unsigned Receivers = 32,
  /// number of the first of them on the board
  parameter  int unsigned First     = 0,
  localparam int unsigned RankW     = Log2ThreadsPerTile + Log2MeshWidth + Log2MeshHeight
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [11:0] board_i,
  /// job, its epoch and the colour of its messages
  input  logic [4:0]  owner_i,
  input  logic [1:0]  epoch_i,
  input  logic        wave_i,
  input  logic        flush_i,
  input  logic        clear_i,
  /// secret of the hash, with clear_i
  input  logic [63:0] seed_i,
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  flit_t       in_i,
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output flit_t       out_o,
  /// a packet has entered the engine; a packet has left it
  output logic        received_o,
  output logic        sent_o,
  /// a packet or an answer is in the engine, or it is being cleared; packets in the queue do not count
  output logic        busy_o,
  output logic [31:0] receives_o,
  output logic [31:0] messages_o
);
  localparam int unsigned ThreadBits = (RankW > 6) ? RankW : 6;
  typedef struct packed {
    logic         body;
    logic         last;
    logic [1:0]   epoch;
    logic [9:0]   thread;
    logic [127:0] payload;
  } item_t;

  // ---------------------------------------------------------------- queue
  item_t item_in, item;
  logic item_valid, item_ready, early, inside_q;
  assign item_in = '{
    body: in_i.kind == FlitKindBody, last: in_i.last, epoch: in_i.epoch,
    thread: 10'(in_i.dest[RankW-1:0] - RankW'(First)), payload: in_i.payload
  };
  gs_fifo #(
    .data_t(item_t),
    .Depth (2 * MailboxMaxFlits)
  ) u_queue (
    .clk_i,
    .rst_ni     (rst_ni && !flush_i),
    .in_valid_i,
    .in_ready_o,
    .in_data_i  (item_in),
    .out_valid_o(item_valid),
    .out_ready_i(item_ready),
    .out_data_o (item),
    .count_o    ()
  );

  // ---------------------------------------------------------------- clears
  // A flush has discarded the rest of a packet that the engine has received in part.
  logic flush_q, clear_q, resets, slot_rst_n, leaving_q, slot_valid, slot_ready, out_valid, out_ready, slot_busy;
  logic [63:0] seed_q;
  flit_t slot_in, slot_out;
  assign early      = !inside_q && item.epoch == epoch_i + 2'd1;
  assign resets     = (flush_q || (clear_q && !inside_q)) && !leaving_q;
  assign slot_rst_n = rst_ni && !resets;
  assign slot_valid = item_valid && !flush_q && !(clear_q && !inside_q) && !early;
  assign item_ready = slot_ready && !flush_q && !(clear_q && !inside_q) && !early;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      flush_q   <= 1'b0;
      clear_q   <= 1'b0;
      inside_q  <= 1'b0;
      leaving_q <= 1'b0;
      seed_q    <= '0;
    end else begin
      flush_q <= flush_i || (flush_q && !resets);
      clear_q <= clear_i || (clear_q && !resets);
      if (flush_i) inside_q <= 1'b0;
      else if (item_valid && item_ready) inside_q <= !item.last;
      if (out_valid_o && out_ready_i) leaving_q <= !slot_out.last;
      if (flush_i) seed_q <= '0;
      else if (clear_i) seed_q <= seed_i;
    end
  end

  // ---------------------------------------------------------------- engine
  address_thread_t dest;
  logic [RankW-1:0] rank;
  assign slot_in = '{
    kind: item.body ? FlitKindBody : FlitKindHeader, last: item.last, vnet: VnetRequest, dest: 32'(item.thread),
    payload: item.payload, default: '0
  };
  gs_match_slot #(
    .Receivers (Receivers),
    .ThreadBits(ThreadBits),
    .MaxFlits  (MailboxMaxFlits),
    .CamEntries(MatchCamEntries),
    .Entries   (MatchListEntries),
    .Receives  (MatchReceives),
    .Eager     (MatchEager),
    .Announced (MatchAnnounced),
    .Window    (MatchWindow),
    .DropLong  (1'b1)
  ) u_slot (
    .clk_i,
    .rst_ni     (slot_rst_n),
    .seed_i     (seed_q),
    .board_i,
    .tile_y_i   ('0),
    .tile_x_i   ('0),
    .in_valid_i (slot_valid),
    .in_ready_o (slot_ready),
    .in_i       (slot_in),
    .out_valid_o(out_valid),
    .out_ready_i(out_ready),
    .out_o      (slot_out),
    .busy_o     (slot_busy),
    .receives_o,
    .messages_o
  );

  // No packet begins to leave while a clear is pending: in the cycle of a flush the owner is already the new one. All
  // flits of a packet have the job of the first.
  logic holds;
  logic [4:0] job_q;
  logic [1:0] of_epoch_q;
  logic of_wave_q;
  assign holds       = (flush_i || flush_q || clear_q) && !leaving_q;
  always_ff @(posedge clk_i) if (!leaving_q) {job_q, of_epoch_q, of_wave_q} <= {owner_i, epoch_i, wave_i};
  assign out_valid_o = out_valid && !holds;
  assign out_ready   = out_ready_i && !holds;
  assign rank        = RankW'(slot_out.dest[ThreadBits-1:0]) + RankW'(First);
  assign dest        = gs_address_pkg::gs_wire_address(
      {EndpointThread, 29'(rank)}, Log2ThreadsPerTile, Log2MeshWidth, Log2MeshHeight);
  always_comb begin
    out_o       = slot_out;
    out_o.job   = leaving_q ? job_q : owner_i;
    out_o.epoch = leaving_q ? of_epoch_q : epoch_i;
    out_o.wave  = leaving_q ? of_wave_q : wave_i;
    out_o.dest  = {EndpointThread, 3'd0, board_i, dest.tile_y, dest.tile_x, dest.thread};
  end
  assign received_o = slot_valid && slot_ready && item.last;
  assign sent_o     = out_valid_o && out_ready_i && slot_out.last;
  assign busy_o     = slot_busy || flush_q || clear_q;

  logic unused;
  assign unused = ^{in_i.kind, in_i.vnet, in_i.job, in_i.wave, in_i.dest, dest, slot_out.dest, slot_out.vnet};

  `GS_ASSERT_NOW(packets_of_ended_epochs_never_wait, !item_valid || inside_q || flush_q || item.epoch - epoch_i <= 2'd1)
endmodule
