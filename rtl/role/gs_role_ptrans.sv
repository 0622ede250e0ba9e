// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// PTRANS of the HPC Challenge as a role of the Ethernet shell: C = B + transpose of A, in single precision.
///
/// C and B have `rows` x `columns` elements, A has `columns` x `rows`; all are stored by rows. The role works by tiles
/// of Tile x Tile elements. It reads a tile of A into RAM by rows, then the same tile of B by rows, adds to each beat
/// the column of A, and writes a row of C as a burst. So each access to memory is a burst, and the read channel is
/// never idle: a beat of two elements is read in each cycle, two beats for each two elements of C.
///
///     read     | A tile 0 | B tile 0 | A tile 1 | B tile 1 | ...
///     RAM      |  write   |   read   |  write   |   read   | ...
///     write               |  C tile 0          |  C tile 1 ...
///
/// One tile of RAM is enough, since beats arrive in order: A of the next tile is written after the last column of this
/// one was read. The RAM has four banks, by the parities of row and column: a beat of A has two columns of one row, and
/// a beat of C needs two rows of one column.
///
/// Registers, by byte address:
///
///     00 04  address of A, low and high word      18  rows of C       20  bytes between rows of A
///     08 0C  address of B                         1C  columns of C    24  bytes between rows of B
///     10 14  address of C                         2C  repetitions     28  bytes between rows of C
///
/// Rows and columns are multiples of Tile, addresses and distances multiples of a burst's bytes. Repetitions 0 counts
/// as 1. C may be B, with one repetition; otherwise it overlaps neither. Kernel 0 is the only one.
///
/// `done_o` pulses once for each start; with it `code_o` is 0 done, 1 no such kernel, 2 wrong registers, 3 the memory
/// reported an error, or 4 stopped. After `stop_i` it pulses when the memory has answered all requests.
module gs_role_ptrans
  import gs_fpu_pkg::*;
#(
  /// elements of a side of a tile: a power of two, 4 to 128
  parameter int unsigned Tile        = 32,
  /// bits of addresses at the memory, 32 to 64
  parameter int unsigned AddrBits    = 40,
  /// bursts that are requested and not answered, 2 or more
  parameter int unsigned Outstanding = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // Kernel control, from the shell.
  input  logic                start_i,
  input  logic [31:0]         kernel_i,
  input  logic                stop_i,
  output logic                done_o,
  output logic [31:0]         code_o,
  output logic [63:0]         result_address_o,
  output logic [63:0]         result_bytes_o,

  // Registers, AXI4-Lite.
  input  logic                s_axil_awvalid_i,
  output logic                s_axil_awready_o,
  input  logic [7:0]          s_axil_awaddr_i,
  input  logic                s_axil_wvalid_i,
  output logic                s_axil_wready_o,
  input  logic [31:0]         s_axil_wdata_i,
  input  logic [3:0]          s_axil_wstrb_i,
  output logic                s_axil_bvalid_o,
  input  logic                s_axil_bready_i,
  output logic [1:0]          s_axil_bresp_o,
  input  logic                s_axil_arvalid_i,
  output logic                s_axil_arready_o,
  input  logic [7:0]          s_axil_araddr_i,
  output logic                s_axil_rvalid_o,
  input  logic                s_axil_rready_i,
  output logic [31:0]         s_axil_rdata_o,
  output logic [1:0]          s_axil_rresp_o,

  // Memory, AXI4, 64 bits: bursts of a tile's row, one identifier.
  output logic                m_axi_awvalid_o,
  input  logic                m_axi_awready_i,
  output logic [AddrBits-1:0] m_axi_awaddr_o,
  output logic [7:0]          m_axi_awlen_o,
  output logic [2:0]          m_axi_awsize_o,
  output logic [1:0]          m_axi_awburst_o,
  output logic                m_axi_wvalid_o,
  input  logic                m_axi_wready_i,
  output logic [63:0]         m_axi_wdata_o,
  output logic [7:0]          m_axi_wstrb_o,
  output logic                m_axi_wlast_o,
  input  logic                m_axi_bvalid_i,
  output logic                m_axi_bready_o,
  input  logic [1:0]          m_axi_bresp_i,
  output logic                m_axi_arvalid_o,
  input  logic                m_axi_arready_i,
  output logic [AddrBits-1:0] m_axi_araddr_o,
  output logic [7:0]          m_axi_arlen_o,
  output logic [2:0]          m_axi_arsize_o,
  output logic [1:0]          m_axi_arburst_o,
  input  logic                m_axi_rvalid_i,
  output logic                m_axi_rready_o,
  input  logic [63:0]         m_axi_rdata_i,
  input  logic [1:0]          m_axi_rresp_i,
  input  logic                m_axi_rlast_i
);
  if (Tile < 4 || Tile > 128 || (Tile & (Tile - 1)) != 0) begin : gen_illegal_tile
    $fatal(1, "gs_role_ptrans: Tile is %0d; it must be a power of two from 4 to 128", Tile);
  end
  if (AddrBits < 32 || AddrBits > 64) begin : gen_illegal_address
    $fatal(1, "gs_role_ptrans: AddrBits is %0d; it must be 32 to 64", AddrBits);
  end
  if (Outstanding < 2) begin : gen_illegal_outstanding
    $fatal(1, "gs_role_ptrans: Outstanding is %0d; it must be 2 or more bursts", Outstanding);
  end

  localparam int unsigned TileW = $clog2(Tile);
  localparam int unsigned BeatW = TileW - 1;         // of a row's beat
  localparam int unsigned RowBytes = 4 * Tile;
  localparam int unsigned BankW = 2 * (TileW - 1);   // of a bank's word
  localparam int unsigned CountW = 32 - TileW;       // of tiles in a direction
  localparam int unsigned OutW = $clog2(Outstanding + 1);
  localparam int unsigned AddCycles = 12;            // of gs_fpu_fma
  localparam int unsigned FifoDepth = 2 * Tile;
  localparam int unsigned FifoW = $clog2(FifoDepth + 1);

  typedef logic [AddrBits-1:0] addr_t;
  typedef enum logic [31:0] {
    CodeDone    = 32'd0,
    CodeKernel  = 32'd1,
    CodeSetting = 32'd2,
    CodeMemory  = 32'd3,
    CodeStopped = 32'd4
  } code_e;
  typedef enum logic [1:0] {Idle, Check, Work, Report} state_e;

  /// Place of a burst in the job: row of the tile, tile, repetition.
  typedef struct packed {
    logic [TileW-1:0]  row;
    logic [CountW-1:0] across;
    logic [CountW-1:0] down;
    logic [31:0]       pass;
  } place_t;

  // ---- registers

  localparam int unsigned Words = 12;
  logic [Words-1:0][31:0] word_q;
  logic writes, reads, write_ok, read_ok;
  logic [5:0] waddr, raddr;
  logic [31:0] wdata, rdata;
  state_e state_q;

  gs_axil u_axil (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i,
    .s_axil_awready_o,
    .s_axil_awaddr_i,
    .s_axil_wvalid_i,
    .s_axil_wready_o,
    .s_axil_wdata_i,
    .s_axil_wstrb_i,
    .s_axil_bvalid_o,
    .s_axil_bready_i,
    .s_axil_bresp_o,
    .s_axil_arvalid_i,
    .s_axil_arready_o,
    .s_axil_araddr_i,
    .s_axil_rvalid_o,
    .s_axil_rready_i,
    .s_axil_rdata_o,
    .s_axil_rresp_o,
    .write_o     (writes),
    .write_word_o(waddr),
    .write_data_o(wdata),
    .write_ok_i  (write_ok),
    .read_o      (reads),
    .read_word_o (raddr),
    .read_data_i (rdata),
    .read_ok_i   (read_ok)
  );

  // A register keeps its value while a kernel runs.
  assign write_ok = waddr < 6'(Words) && state_q == Idle;
  assign read_ok  = raddr < 6'(Words);
  assign rdata    = read_ok ? word_q[raddr[3:0]] : '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) word_q <= '0;
    else if (writes) word_q[waddr[3:0]] <= wdata;
  end

  addr_t a_first, b_first, c_first, a_step, b_step, c_step;
  logic [31:0] rows, columns;
  logic [CountW-1:0] last_down, last_across;
  logic [31:0] last_pass;
  assign a_first     = AddrBits'({word_q[1], word_q[0]});
  assign b_first     = AddrBits'({word_q[3], word_q[2]});
  assign c_first     = AddrBits'({word_q[5], word_q[4]});
  assign rows        = word_q[6];
  assign columns     = word_q[7];
  assign a_step      = AddrBits'(word_q[8]);
  assign b_step      = AddrBits'(word_q[9]);
  assign c_step      = AddrBits'(word_q[10]);
  assign last_down   = rows[31:TileW] - CountW'(1);
  assign last_across = columns[31:TileW] - CountW'(1);
  assign last_pass   = word_q[11] == '0 ? '0 : word_q[11] - 32'd1;

  logic setting_ok;
  always_comb begin
    setting_ok = rows != '0 && columns != '0 && rows[TileW-1:0] == '0 && columns[TileW-1:0] == '0;
    // A burst of an aligned row crosses no boundary of 4 KiB.
    foreach (word_q[i]) begin
      if (i inside {0, 2, 4, 8, 9, 10} && word_q[i][TileW+1:0] != '0) setting_ok = 1'b0;
    end
    if (AddrBits < 64) begin
      if (({word_q[1], word_q[0]} >> AddrBits) != '0) setting_ok = 1'b0;
      if (({word_q[3], word_q[2]} >> AddrBits) != '0) setting_ok = 1'b0;
      if (({word_q[5], word_q[4]} >> AddrBits) != '0) setting_ok = 1'b0;
    end
  end

  /// The place of the next burst of one operand.
  function automatic place_t next_place(place_t place, logic [CountW-1:0] last_x, logic [CountW-1:0] last_y);
    place_t next = place;
    next.row = place.row + TileW'(1);
    if (place.row == '1) begin
      next.across = place.across + CountW'(1);
      if (place.across == last_x) begin
        next.across = '0;
        next.down   = place.down + CountW'(1);
        if (place.down == last_y) begin
          next.down = '0;
          next.pass = place.pass + 32'd1;
        end
      end
    end
    return next;
  endfunction

  // ---- state

  logic stopping_q, failed_q, begins, drained;
  code_e code_q;
  assign begins = state_q == Check && code_q == CodeDone && setting_ok;

  // ---- requests to read: a tile of A, then the same tile of B

  place_t ar_q;
  logic   ar_b_q, ar_done_q, ar_fires, arvalid_q;
  addr_t  a_q, a_tile_q, a_column_q;   // next row; first row of the tile; of the first tile in this row of tiles of C
  addr_t  b_q, b_tile_q, b_line_q;
  logic [OutW-1:0] reads_q;
  logic   r_last;

  assign m_axi_arvalid_o = arvalid_q;
  assign m_axi_araddr_o  = ar_b_q ? b_q : a_q;
  assign m_axi_arlen_o   = 8'(Tile / 2 - 1);
  assign m_axi_arsize_o  = 3'd3;
  assign m_axi_arburst_o = 2'b01;
  assign ar_fires        = arvalid_q && m_axi_arready_i;

  logic   ar_end;   // the last burst of all
  place_t ar_next;
  logic [OutW-1:0] reads_d;
  assign ar_next = next_place(ar_q, last_across, last_down);
  assign ar_end  = ar_b_q && ar_q.row == '1 && ar_q.across == last_across && ar_q.down == last_down
                   && ar_q.pass == last_pass;
  assign reads_d = reads_q + OutW'(ar_fires) - OutW'(r_last);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      arvalid_q <= 1'b0;
      ar_done_q <= 1'b1;
      reads_q   <= '0;
    end else begin
      reads_q <= reads_d;
      if (begins) ar_done_q <= 1'b0;
      else if ((ar_fires && ar_end) || ((stopping_q || failed_q) && (!arvalid_q || ar_fires))) ar_done_q <= 1'b1;
      // A request stays until it is taken; the next needs a free place.
      if (!arvalid_q || ar_fires) begin
        arvalid_q <= state_q == Work && !ar_done_q && !(ar_fires && ar_end) && !stopping_q && !failed_q
                     && reads_d < OutW'(Outstanding);
      end
    end
    if (begins) begin
      ar_q       <= '0;
      ar_b_q     <= 1'b0;
      a_q        <= a_first;
      a_tile_q   <= a_first;
      a_column_q <= a_first;
      b_q        <= b_first;
      b_tile_q   <= b_first;
      b_line_q   <= b_first;
    end else if (ar_fires && !ar_b_q) begin
      a_q <= a_q + a_step;
      if (ar_q.row == '1) begin
        ar_b_q <= 1'b1;
        ar_q.row <= '0;
        // The tile across in C is the tile down in A.
        a_tile_q <= a_tile_q + (a_step << TileW);
        a_q      <= a_tile_q + (a_step << TileW);
        if (ar_q.across == last_across) begin
          a_column_q <= a_column_q + AddrBits'(RowBytes);
          a_tile_q   <= a_column_q + AddrBits'(RowBytes);
          a_q        <= a_column_q + AddrBits'(RowBytes);
          if (ar_q.down == last_down) begin
            a_column_q <= a_first;
            a_tile_q   <= a_first;
            a_q        <= a_first;
          end
        end
      end else begin
        ar_q.row <= ar_q.row + TileW'(1);
      end
    end else if (ar_fires) begin
      ar_q <= ar_next;
      b_q  <= b_q + b_step;
      if (ar_q.row == '1) begin
        ar_b_q   <= 1'b0;
        b_tile_q <= b_tile_q + AddrBits'(RowBytes);
        b_q      <= b_tile_q + AddrBits'(RowBytes);
        if (ar_q.across == last_across) begin
          b_line_q <= b_line_q + (b_step << TileW);
          b_tile_q <= b_line_q + (b_step << TileW);
          b_q      <= b_line_q + (b_step << TileW);
          if (ar_q.down == last_down) begin
            b_line_q <= b_first;
            b_tile_q <= b_first;
            b_q      <= b_first;
          end
        end
      end
    end
  end

  // ---- data that were read: A into the banks, B into the adders

  logic             r_b_q, r_fires, en;
  logic [TileW-1:0] r_row_q;
  logic [BeatW-1:0] r_beat_q;
  // A run that ends early discards what it still receives, since the queue may be full.
  assign m_axi_rready_o = !r_b_q || en || stopping_q || failed_q;
  assign r_fires        = m_axi_rvalid_i && m_axi_rready_o;
  assign r_last         = r_fires && m_axi_rlast_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || begins) begin
      r_b_q    <= 1'b0;
      r_row_q  <= '0;
      r_beat_q <= '0;
    end else if (r_fires) begin
      r_beat_q <= r_beat_q + BeatW'(1);
      if (r_beat_q == '1) begin
        r_row_q <= r_row_q + TileW'(1);
        if (r_row_q == '1) r_b_q <= !r_b_q;
      end
    end
  end

  logic             add_q;      // a beat of B, while its column of A is read
  logic             column_q;   // parity of the column
  logic [63:0]      b_beat_q;
  logic [1:0][1:0][31:0] bank;  // by parity of row and column of A
  for (genvar row = 0; row < 2; row++) begin : gen_row
    for (genvar column = 0; column < 2; column++) begin : gen_column
      gs_ram_sdp #(
        .Width(32),
        .Depth(1 << BankW)
      ) u_bank (
        .clk_i,
        .we_i   (r_fires && !r_b_q && r_row_q[0] == 1'(row)),
        .wstrb_i(1'b1),
        .waddr_i({r_row_q[TileW-1:1], r_beat_q}),
        .wdata_i(m_axi_rdata_i[32*column+:32]),
        .re_i   (r_fires && r_b_q),
        .raddr_i({r_beat_q, r_row_q[TileW-1:1]}),
        .rdata_o(bank[row][column])
      );
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || begins) add_q <= 1'b0;
    else if (en) add_q <= r_fires && r_b_q;
    if (r_fires && r_b_q) begin
      b_beat_q <= m_axi_rdata_i;
      column_q <= r_row_q[0];
    end
  end

  logic [63:0] sum;
  logic [AddCycles-1:0] adding_q;
  for (genvar lane = 0; lane < 2; lane++) begin : gen_lane
    logic unused_lane;
    logic valid, slow_start, slow_entering, slow_sqrt, slow_take, id;
    logic signed [9:0] slow_exponent;
    logic [23:0] slow_a, slow_b;
    flags_t flags;
    gs_fpu_fma #(.IdW(1)) u_add (
      .clk_i,
      .rst_ni,
      .en_i           (en),
      .valid_i        (add_q),
      .op_i           (OpAdd),
      .rm_i           (RmNearestEven),
      .id_i           (1'b0),
      .a_i            (bank[lane][column_q]),
      .b_i            (b_beat_q[32*lane+:32]),
      .c_i            (32'd0),
      .slow_start_o   (slow_start),
      .slow_entering_o(slow_entering),
      .slow_sqrt_o    (slow_sqrt),
      .slow_exponent_o(slow_exponent),
      .slow_a_o       (slow_a),
      .slow_b_o       (slow_b),
      .slow_valid_i   (1'b0),
      .slow_exponent_i('0),
      .slow_q_i       ('0),
      .slow_sticky_i  (1'b0),
      .slow_take_o    (slow_take),
      .valid_o        (valid),
      .id_o           (id),
      .data_o         (sum[32*lane+:32]),
      .flags_o        (flags)
    );
    assign unused_lane = ^{valid, slow_start, slow_entering, slow_sqrt, slow_take, id, slow_exponent, slow_a, slow_b,
                           flags};
  end

  // The adders may hold values of a run that was stopped, so validity is counted here.
  logic sum_valid, fifo_ready, out_valid, out_ready;
  logic [63:0] out_data;
  logic [FifoW-1:0] held;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || begins) adding_q <= '0;
    else if (en) adding_q <= {adding_q[AddCycles-2:0], add_q};
  end
  assign sum_valid = adding_q[AddCycles-1];
  assign en        = !sum_valid || fifo_ready;

  gs_fifo #(
    .data_t(logic [63:0]),
    .Depth (FifoDepth)
  ) u_out (
    .clk_i,
    // What a stopped run leaves here is discarded.
    .rst_ni     (rst_ni && !begins),
    .in_valid_i (sum_valid),
    .in_ready_o (fifo_ready),
    .in_data_i  (sum),
    .out_valid_o(out_valid),
    .out_ready_i(out_ready),
    .out_data_o (out_data),
    .count_o    (held)
  );

  // ---- writes: a row of C is announced when the queue has all of it

  place_t aw_q, aw_next;
  addr_t  c_q, c_tile_q, c_line_q, c_end_q;
  logic   awvalid_q, aw_fires, aw_done_q, aw_end, w_fires;
  logic [FifoW-1:0] owed_q, owed_d;   // beats announced and not sent
  logic [BeatW-1:0] w_beat_q;
  logic [OutW-1:0]  writes_q, writes_d;

  assign m_axi_awvalid_o = awvalid_q;
  assign m_axi_awaddr_o  = c_q;
  assign m_axi_awlen_o   = 8'(Tile / 2 - 1);
  assign m_axi_awsize_o  = 3'd3;
  assign m_axi_awburst_o = 2'b01;
  assign m_axi_wvalid_o  = out_valid && owed_q != '0;
  assign m_axi_wdata_o   = out_data;
  assign m_axi_wstrb_o   = '1;
  assign m_axi_wlast_o   = w_beat_q == '1;
  assign m_axi_bready_o  = 1'b1;
  assign out_ready       = m_axi_wready_i && owed_q != '0;
  assign aw_fires        = awvalid_q && m_axi_awready_i;
  assign w_fires         = m_axi_wvalid_o && m_axi_wready_i;
  assign aw_next         = next_place(aw_q, last_across, last_down);
  assign aw_end          = aw_q.row == '1 && aw_q.across == last_across && aw_q.down == last_down
                           && aw_q.pass == last_pass;
  assign owed_d          = owed_q + (aw_fires ? FifoW'(Tile / 2) : '0) - FifoW'(w_fires);
  assign writes_d        = writes_q + OutW'(aw_fires) - OutW'(m_axi_bvalid_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      awvalid_q <= 1'b0;
      aw_done_q <= 1'b1;
      owed_q    <= '0;
      w_beat_q  <= '0;
      writes_q  <= '0;
    end else begin
      owed_q   <= owed_d;
      writes_q <= writes_d;
      w_beat_q <= w_beat_q + BeatW'(w_fires);
      if (begins) aw_done_q <= 1'b0;
      else if (aw_fires && aw_end) aw_done_q <= 1'b1;
      // `held` counts the beats that are owed too; those that leave now were owed.
      if (!awvalid_q || aw_fires) begin
        awvalid_q <= state_q == Work && !aw_done_q && !(aw_fires && aw_end) && !stopping_q && !failed_q
                     && writes_d < OutW'(Outstanding)
                     && held >= owed_q + FifoW'(Tile / 2) + (aw_fires ? FifoW'(Tile / 2) : '0);
      end
    end
    if (begins) begin
      aw_q     <= '0;
      c_q      <= c_first;
      c_tile_q <= c_first;
      c_line_q <= c_first;
    end else if (aw_fires) begin
      aw_q    <= aw_next;
      c_end_q <= c_q + AddrBits'(RowBytes);
      c_q     <= c_q + c_step;
      if (aw_q.row == '1) begin
        c_tile_q <= c_tile_q + AddrBits'(RowBytes);
        c_q      <= c_tile_q + AddrBits'(RowBytes);
        if (aw_q.across == last_across) begin
          c_line_q <= c_line_q + (c_step << TileW);
          c_tile_q <= c_line_q + (c_step << TileW);
          c_q      <= c_line_q + (c_step << TileW);
          if (aw_q.down == last_down) begin
            c_line_q <= c_first;
            c_tile_q <= c_first;
            c_q      <= c_first;
          end
        end
      end
    end
  end

  // ---- control

  assign drained = !arvalid_q && reads_q == '0 && !awvalid_q && owed_q == '0 && writes_q == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= Idle;
      stopping_q <= 1'b0;
      failed_q   <= 1'b0;
      code_q     <= CodeDone;
    end else begin
      if (state_q != Idle && stop_i) stopping_q <= 1'b1;
      if ((r_fires && m_axi_rresp_i[1]) || (m_axi_bvalid_i && m_axi_bresp_i[1])) failed_q <= 1'b1;
      unique case (state_q)
        Idle: begin
          stopping_q <= 1'b0;
          failed_q   <= 1'b0;
          code_q     <= kernel_i == '0 ? CodeDone : CodeKernel;
          if (start_i) state_q <= Check;
        end
        Check: begin
          if (begins) begin
            state_q <= Work;
          end else begin
            state_q <= Report;
            if (code_q == CodeDone) code_q <= CodeSetting;
          end
        end
        Work: begin
          // In the first cycle nothing is in flight either, but neither is the work done.
          if (drained && ((ar_done_q && aw_done_q) || stopping_q || failed_q)) begin
            state_q <= Report;
            code_q  <= failed_q ? CodeMemory : stopping_q ? CodeStopped : CodeDone;
          end
        end
        default: state_q <= Idle;
      endcase
    end
  end

  assign done_o           = state_q == Report;
  assign code_o           = code_q;
  assign result_address_o = 64'(c_first);
  assign result_bytes_o   = code_q == CodeDone ? 64'(c_end_q - c_first) : '0;

  logic unused;
  assign unused = ^{reads, m_axi_rresp_i[0], m_axi_bresp_i[0]};

  // So a run that is stopped can send all that it has announced.
  `GS_ASSERT_NOW(queue_has_a_whole_row_before_it_is_announced, !awvalid_q || held >= owed_q + FifoW'(Tile / 2))
  `GS_ASSERT_HOLD(read_request_is_stable_while_it_waits, m_axi_arvalid_o, m_axi_arready_i, m_axi_araddr_o)
  `GS_ASSERT_HOLD(write_request_is_stable_while_it_waits, m_axi_awvalid_o, m_axi_awready_i, m_axi_awaddr_o)
  `GS_ASSERT_HOLD(write_data_is_stable_while_it_waits, m_axi_wvalid_o, m_axi_wready_i,
                  {m_axi_wdata_o, m_axi_wlast_o})
endmodule
