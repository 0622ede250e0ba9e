// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// A step of a 4-point stencil over a tile, row by row, a point a cycle: 0.25 * ((north + south) + (west + east)) in
/// IEEE single, each sum and the product rounded by itself.
///
///     points --+--> row delay --> centre --> row delay --+
///              |                   |  west, east         | north
///        south |                   v                     v
///              +-----------------> + + + --> * 0.25 --> queue --+--> points of the next step
///     halos of four neighbours ----^                            +--> borders to four neighbours
///
/// A pass is a step: the tile streams in and out. The borders of what it gives are the neighbours' halos of the next
/// pass, so nobody waits for a neighbour's end. The first pass of a run copies (`copy`), and so gives the first halos;
/// the last one gives none (`last`). A side without a neighbour is an edge of the whole domain: its points stay.
///
/// The halos of two passes have room here. A rank that is not ahead of its neighbours has all halos that it needs, and
/// what it gives finds room; so some rank always goes on, however little is between the ranks.
module gs_kernel_stencil #(
  /// columns that there is room for, and the longest border: rows or columns
  parameter int unsigned Columns = 1024,
  parameter int unsigned Border  = 1024,
  /// results on their way or waiting: 26 for a point a cycle
  parameter int unsigned Queue   = 32
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // A pass, when the last point of the one before is computed: rows and columns are 1 or more
  input  logic              start_valid_i,
  output logic              start_ready_o,
  input  logic [15:0]       rows_i,
  input  logic [15:0]       columns_i,
  /// neighbours: north, south, west, east from bit 0
  input  logic [3:0]        sides_i,
  input  logic              copy_i,
  input  logic              last_i,
  // The tile, row by row
  input  logic              in_valid_i,
  output logic              in_ready_o,
  input  logic [31:0]       in_i,
  output logic              out_valid_o,
  input  logic              out_ready_i,
  output logic [31:0]       out_o,
  // From and to neighbours, by side
  input  logic [3:0]        halo_valid_i,
  output logic [3:0]        halo_ready_o,
  input  logic [3:0][31:0]  halo_i,
  output logic [3:0]        border_valid_o,
  input  logic [3:0]        border_ready_i,
  output logic [3:0][31:0]  border_o
);
  localparam int unsigned North = 0, South = 1, West = 2, East = 3;
  localparam int unsigned Add = 5, Multiply = 12, Delay = 2 * Add + Multiply;
  localparam int unsigned CountW = $clog2(Queue + 1);
  typedef logic [31:0] word_t;
  /// What goes along with a point
  typedef struct packed {
    logic       valid;
    /// the value stays
    logic       keeps;
    /// borders that it belongs to
    logic [3:0] sides;
    word_t      value;
  } point_t;
  typedef struct packed {
    logic [3:0] sides;
    word_t      value;
  } result_t;

  // ---------------------------------------------------------------- order
  logic busy_q, copy_q, last_q;
  logic [3:0] sides_q;
  logic [15:0] rows_q, columns_q, row_q, column_q, filled_q;
  logic top, bottom, left, right, fills, steps, has_all, room, gives;
  logic [CountW-1:0] taken_q;
  assign start_ready_o = !busy_q;
  assign top    = row_q == '0;
  assign bottom = row_q + 16'd1 == rows_q;
  assign left   = column_q == '0;
  assign right  = column_q + 16'd1 == columns_q;
  // The first row comes in before a point has its south.
  assign fills  = busy_q && filled_q != columns_q;
  assign room   = 32'(taken_q) < Queue;

  // --------------------------------------------------------- where points are
  logic a_valid, a_ready, a_pop, b_valid, b_ready, centre_valid_q, loads;
  word_t a, b, centre_q, west_q;
  logic [3:0] halo_valid, halo_pop, wants;
  word_t halo[4];
  for (genvar s = 0; s < 4; s++) begin : gen_halo
    logic [$clog2(2*Border+1)-1:0] unused_count;
    gs_fifo #(
      .Depth(2 * Border),
      .Block(1'b1)
    ) u_halo (
      .clk_i,
      .rst_ni,
      .in_valid_i (halo_valid_i[s]),
      .in_ready_o (halo_ready_o[s]),
      .in_data_i  (halo_i[s]),
      .out_valid_o(halo_valid[s]),
      .out_ready_i(halo_pop[s]),
      .out_data_o (halo[s]),
      .count_o    (unused_count)
    );
  end

  // A halo is taken whole, also beside points that stay.
  assign wants = copy_q ? '0 : sides_q & {right, left, bottom, top};
  assign has_all = (wants & ~halo_valid) == '0 && centre_valid_q && (top || b_valid) && (right || a_valid)
                   && (bottom || in_valid_i);
  assign steps = busy_q && !fills && room && has_all;
  assign halo_pop = steps ? wants : '0;
  assign in_ready_o = busy_q && a_ready && (fills || (steps && !bottom));
  assign loads = a_valid && (!centre_valid_q || steps);
  assign a_pop = loads;

  logic [$clog2(Columns+3)-1:0] unused_a_count, unused_b_count;
  gs_fifo #(
    .Depth(Columns + 2),
    .Block(1'b1)
  ) u_centres (
    .clk_i,
    .rst_ni,
    .in_valid_i (in_valid_i && in_ready_o),
    .in_ready_o (a_ready),
    .in_data_i  (in_i),
    .out_valid_o(a_valid),
    .out_ready_i(a_pop),
    .out_data_o (a),
    .count_o    (unused_a_count)
  );
  gs_fifo #(
    .Depth(Columns + 2),
    .Block(1'b1)
  ) u_norths (
    .clk_i,
    .rst_ni,
    .in_valid_i (steps && !bottom),
    .in_ready_o (b_ready),
    .in_data_i  (centre_q),
    .out_valid_o(b_valid),
    .out_ready_i(steps && !top),
    .out_data_o (b),
    .count_o    (unused_b_count)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q         <= 1'b0;
      centre_valid_q <= 1'b0;
      taken_q        <= '0;
    end else begin
      if (!busy_q) busy_q <= start_valid_i;
      else if (steps && bottom && right) busy_q <= 1'b0;
      centre_valid_q <= loads || (centre_valid_q && !steps);
      taken_q        <= taken_q + CountW'(steps) - CountW'(gives);
    end
    if (loads) centre_q <= a;
    if (!busy_q) begin
      rows_q    <= rows_i;
      columns_q <= columns_i;
      sides_q   <= sides_i;
      copy_q    <= copy_i;
      last_q    <= last_i;
      row_q     <= '0;
      column_q  <= '0;
      filled_q  <= '0;
    end
    if (fills && in_valid_i && in_ready_o) filled_q <= filled_q + 16'd1;
    if (steps) begin
      west_q   <= centre_q;
      column_q <= right ? '0 : column_q + 16'd1;
      if (right) row_q <= row_q + 16'd1;
    end
  end

  // ------------------------------------------------------------- pipeline
  point_t point;
  point_t [Delay-1:0] along_q;
  word_t north_q, south_q, left_of_q, right_of_q, upright, level, sum, product;
  logic product_valid;
  point_t point_q;
  always_comb begin
    point = '{
      valid: steps,
      keeps: copy_q || ({right, left, bottom, top} & ~sides_q) != '0,
      sides: last_q ? '0 : {right, left, bottom, top} & sides_q,
      value: centre_q
    };
  end
  always_ff @(posedge clk_i) begin
    point_q       <= point;
    north_q       <= top ? halo[North] : b;
    south_q       <= bottom ? halo[South] : in_i;
    left_of_q     <= left ? halo[West] : west_q;
    right_of_q    <= right ? halo[East] : a;
    along_q       <= {along_q[Delay-2:0], point_q};
    if (!rst_ni) begin
      point_q.valid <= 1'b0;
      for (int unsigned d = 0; d < Delay; d++) along_q[d].valid <= 1'b0;
    end
  end
  gs_stream_fadd u_upright (
    .clk_i,
    .advance_i(1'b1),
    .a_i      (north_q),
    .b_i      (south_q),
    .sum_o    (upright)
  );
  gs_stream_fadd u_level (
    .clk_i,
    .advance_i(1'b1),
    .a_i      (left_of_q),
    .b_i      (right_of_q),
    .sum_o    (level)
  );
  gs_stream_fadd u_sum (
    .clk_i,
    .advance_i(1'b1),
    .a_i      (upright),
    .b_i      (level),
    .sum_o    (sum)
  );
  gs_kernel_multiply u_mean (
    .clk_i,
    .rst_ni,
    .valid_i(along_q[2*Add-1].valid),
    .a_i    (32'h3E80_0000),
    .b_i    (sum),
    .valid_o(product_valid),
    .data_o (product)
  );

  // ----------------------------------------------------- results, to whom
  result_t found, result;
  logic result_valid, queue_ready, unused;
  logic [4:0] asks, done_q, takes;
  logic [CountW-1:0] unused_count;
  assign found = '{sides: along_q[Delay-1].sides, value: along_q[Delay-1].keeps ? along_q[Delay-1].value : product};
  gs_fifo #(
    .data_t(result_t),
    .Depth (Queue)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (along_q[Delay-1].valid),
    .in_ready_o (queue_ready),
    .in_data_i  (found),
    .out_valid_o(result_valid),
    .out_ready_i(gives),
    .out_data_o (result),
    .count_o    (unused_count)
  );
  // Each receiver takes it once; it goes when all have.
  assign asks = result_valid ? {1'b1, result.sides} & ~done_q : '0;
  assign takes = asks & {out_ready_i, border_ready_i};
  assign gives = result_valid && asks == takes;
  assign {out_valid_o, border_valid_o} = asks;
  assign out_o = result.value;
  assign border_o = {4{result.value}};
  always_ff @(posedge clk_i) begin
    if (!rst_ni || gives) done_q <= '0;
    else done_q <= done_q | takes;
  end
  assign unused = ^{product_valid, queue_ready, b_ready};

  `GS_ASSERT_NOW(a_tile_has_points_and_room, !start_valid_i || (rows_i != '0 && columns_i != '0
                 && 32'(columns_i) <= Columns && 32'(columns_i) <= Border && 32'(rows_i) <= Border))
  `GS_ASSERT_NOW(tags_are_in_step, product_valid == along_q[Delay-1].valid)
  `GS_ASSERT_NOW(a_result_has_a_place, !along_q[Delay-1].valid || queue_ready)
  `GS_ASSERT_NOW(a_row_has_a_place, !steps || bottom || (a_ready && b_ready))
endmodule
