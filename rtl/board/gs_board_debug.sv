// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// The debug buses of a board's tiles, carried by packets.
///
///     control_debug -> queue of each tile, in one RAM -> a byte every other cycle -> debug bus of that tile
///     debug bus of a tile -> bytes, up to 12 -> control_report -> host of the tile's job
///
/// A host has at most `DebugWindow` packets to a tile in flight; a report returns the credits of those whose bytes the
/// tile has accepted. So the queues never overflow, and a tile that accepts nothing holds up no other tile. Bytes of a
/// tile enter a report while one follows another within `Gap` cycles. Reports wait while no host is known: a thread
/// that writes text waits then, and nothing else does.
module gs_board_debug
  import gs_board_pkg::*;
  import gossamer_pkg::*;
#(
  /// cycles without a byte that end a report
  parameter int unsigned Gap = 4
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [11:0]            board_i,
  /// a host is known; the host of each tile's job
  input  logic                   enable_i,
  input  logic [Tiles-1:0][31:0] host_i,
  // A packet for a tile whose queue has space, one cycle
  input  logic                   valid_i,
  input  control_debug_t         packet_i,
  output logic [Tiles-1:0]       space_o,
  // Debug buses: to a tile, valid for a cycle in which it is ready; from a tile. All outputs are registered.
  output logic [Tiles-1:0]       in_valid_o,
  output logic [7:0]             in_data_o,
  input  logic [Tiles-1:0]       in_ready_i,
  input  logic [Tiles-1:0]       out_valid_i,
  input  logic [7:0]             out_data_i[Tiles],
  output logic [Tiles-1:0]       out_ready_o,
  // To the reply network
  output logic                   report_valid_o,
  input  logic                   report_ready_i,
  output flit_t                  report_o
);
  localparam int unsigned TileW = (Tiles > 1) ? $clog2(Tiles) : 1;
  localparam int unsigned PlaceW = $clog2(DebugWindow);
  localparam int unsigned CountW = $clog2(DebugWindow + 1);
  localparam int unsigned GapW = $clog2(Gap + 1);
  localparam int unsigned Bytes = DebugPacketBytes;
  if (DebugWindow < 2 || (DebugWindow & (DebugWindow - 1)) != 0) begin : gen_illegal_window
    $fatal(1, "gs_board_debug: DebugWindow is %0d; it must be a power of two above 1", DebugWindow);
  end

  typedef struct packed {
    logic [3:0]         count;
    logic [8*Bytes-1:0] bytes;
  } entry_t;

  // ------------------------------------------------------- bytes to the tiles
  typedef enum logic [1:0] {Pick, Load, Send, Sent} to_e;
  to_e to_q, to_d;

  logic [Tiles-1:0][CountW-1:0] waiting_q;
  logic [Tiles-1:0][PlaceW-1:0] head_q;
  /// bytes of the first packet that the tile has accepted
  logic [Tiles-1:0][3:0] sent_q;
  logic [Tiles-1:0] wants, picked;
  logic [TileW-1:0] pick, to_tile_q;
  logic [3:0] at_q;
  logic moves, ends, ended_q, accepts;
  entry_t entry;

  always_comb begin
    for (int unsigned t = 0; t < Tiles; t++) begin
      wants[t]   = waiting_q[t] != '0 && in_ready_i[t];
      space_o[t] = waiting_q[t] != CountW'(DebugWindow);
    end
  end
  gs_arbiter #(.N(Tiles)) u_pick (
    .clk_i,
    .rst_ni,
    .req_i    (wants),
    .gnt_o    (picked),
    .idx_o    (pick),
    .advance_i(to_q == Pick)
  );

  gs_ram_sdp #(
    .Width(4 + 8 * Bytes),
    .Depth(DebugWindow << TileW)
  ) u_queue (
    .clk_i,
    .we_i   (valid_i),
    .wstrb_i(1'b1),
    .waddr_i({packet_i.tile[TileW-1:0],
              head_q[packet_i.tile[TileW-1:0]] + PlaceW'(waiting_q[packet_i.tile[TileW-1:0]])}),
    .wdata_i({packet_i.count, packet_i.bytes}),
    .re_i   (to_q == Pick && wants != '0),
    .raddr_i({pick, head_q[pick]}),
    .rdata_o(entry)
  );

  // A tile becomes busy only by a byte: one that is ready takes the byte of the next cycle, and shows one cycle later
  // whether it takes another.
  assign accepts = in_ready_i[to_tile_q];
  assign moves   = to_q == Send && accepts;
  assign ends    = moves && at_q == entry.count - 4'd1;
  always_comb begin
    to_d = to_q;
    unique case (to_q)
      Pick:    if (wants != '0) to_d = Load;
      Load:    to_d = Send;
      Send:    to_d = accepts ? Sent : Pick;
      default: to_d = ended_q ? Pick : Send;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      to_q       <= Pick;
      waiting_q  <= '0;
      head_q     <= '0;
      sent_q     <= '0;
      in_valid_o <= '0;
    end else begin
      to_q       <= to_d;
      in_valid_o <= '0;
      if (moves) in_valid_o[to_tile_q] <= 1'b1;
      for (int unsigned t = 0; t < Tiles; t++) begin
        waiting_q[t] <= waiting_q[t] + CountW'(valid_i && 32'(packet_i.tile) == t)
                        - CountW'(ends && 32'(to_tile_q) == t);
      end
      if (ends) begin
        head_q[to_tile_q] <= head_q[to_tile_q] + PlaceW'(1);
        sent_q[to_tile_q] <= '0;
      end else if (to_q == Send && !accepts) begin
        sent_q[to_tile_q] <= at_q;
      end
    end
    for (int unsigned b = 0; b < Bytes; b++) if (at_q == 4'(b)) in_data_o <= entry.bytes[8*b+:8];
    ended_q <= ends;
    if (to_q == Pick) to_tile_q <= pick;
    if (to_q == Load) at_q <= sent_q[to_tile_q];
    else if (moves) at_q <= at_q + 4'd1;
  end

  // --------------------------------------------- bytes and credits of the tiles
  typedef enum logic [1:0] {Choose, Gather, Report} from_e;
  from_e from_q, from_d;

  logic [Tiles-1:0][CountW-1:0] credits_q;
  logic [Tiles-1:0] offers, chosen;
  logic [TileW-1:0] choice, from_tile_q;
  logic [3:0] count_q;
  logic [GapW-1:0] quiet_q;
  logic [8*Bytes-1:0] bytes_q;
  logic [CountW-1:0] credits;
  logic [31:0] host;
  logic takes, closes;

  always_comb begin
    for (int unsigned t = 0; t < Tiles; t++) offers[t] = out_valid_i[t] || credits_q[t] != '0;
  end
  gs_arbiter #(.N(Tiles)) u_choose (
    .clk_i,
    .rst_ni,
    .req_i    (offers),
    .gnt_o    (chosen),
    .idx_o    (choice),
    .advance_i(from_q == Choose && enable_i)
  );

  assign takes  = from_q == Gather && out_valid_i[from_tile_q];
  assign closes = takes ? count_q == 4'(Bytes - 1) : quiet_q == GapW'(Gap - 1);
  always_comb begin
    out_ready_o              = '0;
    out_ready_o[from_tile_q] = from_q == Gather;
    from_d = from_q;
    unique case (from_q)
      Choose:  if (enable_i && offers != '0) from_d = Gather;
      Gather:  if (closes) from_d = Report;
      default: if (report_ready_i) from_d = Choose;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      from_q    <= Choose;
      credits_q <= '0;
    end else begin
      from_q <= from_d;
      // The credits of the chosen tile leave with its report.
      for (int unsigned t = 0; t < Tiles; t++) begin
        credits_q[t] <= ((from_q == Gather && closes && 32'(from_tile_q) == t) ? '0 : credits_q[t])
                        + CountW'(ends && 32'(to_tile_q) == t);
      end
    end
    if (from_q == Choose) begin
      from_tile_q <= choice;
      count_q     <= '0;
      quiet_q     <= '0;
    end else if (from_q == Gather) begin
      quiet_q <= takes ? '0 : quiet_q + GapW'(1);
      if (takes) begin
        for (int unsigned b = 0; b < Bytes; b++) if (count_q == 4'(b)) bytes_q[8*b+:8] <= out_data_i[from_tile_q];
        count_q <= count_q + 4'd1;
      end
      credits <= credits_q[from_tile_q];
      host    <= host_i[from_tile_q];
    end
  end

  control_report_t report;
  assign report = '{
      bytes: bytes_q, credits: 3'(credits), count: count_q, tile: 6'(from_tile_q), board: board_i,
      op_code: ControlOpReport, default: '0
    };
  assign report_valid_o = from_q == Report;
  assign report_o = '{kind: FlitKindHeader, last: 1'b1, vnet: VnetReply, dest: host, payload: report, default: '0};

  logic unused;
  assign unused = ^{picked, chosen, packet_i.spare, packet_i.op_code, packet_i.tile};

  `GS_ASSERT_NOW(packets_find_space, !valid_i || (32'(packet_i.tile) < Tiles && space_o[packet_i.tile[TileW-1:0]]))
  `GS_ASSERT_NOW(packets_have_bytes, !valid_i || (packet_i.count != '0 && 32'(packet_i.count) <= Bytes))
  `GS_ASSERT_NOW(a_byte_finds_its_tile_ready, (in_valid_o & ~in_ready_i) == '0)
  `GS_ASSERT_NOW(queue_is_not_read_while_it_is_written, !(u_queue.collides && to_q == Load))
  `GS_ASSERT_HOLD(waiting_reports_are_stable, report_valid_o, report_ready_i, report_o)
endmodule
