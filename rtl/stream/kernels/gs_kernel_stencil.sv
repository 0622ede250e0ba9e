// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// One step of a 4-point stencil over a tile, row by row, one point per cycle: 0.25 * ((north + south) + (west + east))
/// in IEEE single, with each sum and the product rounded separately.
///
///     points --+--> row delay --> centre --> row delay --+
///              |                   |  west, east         | north
///        south |                   v                     v
///              +-----------------> + + + --> * 0.25 --> queue --+--> points of the next step
///     halos of four neighbours ----^                            +--> borders to four neighbours
///
/// A pass is one step: the tile streams in and out. The borders of its result are the neighbours' halos of the next
/// pass, so no rank waits until a neighbour has finished its pass. The first pass of a run copies the tile (`copy`) and
/// so produces the first halos; the last pass sends no borders (`last`). A side without a neighbour is an edge of the
/// whole domain: its points keep their values.
///
/// The halo queues hold two passes. A rank that is not ahead of its neighbours has all halos that it needs, and its
/// borders find free space there; so some rank can always proceed, however little is buffered between the ranks.
module gs_kernel_stencil #(
  /// maximum number of columns; length of the longest border, in rows or columns
  parameter int unsigned Columns = 1024,
  parameter int unsigned Border  = 1024,
  /// results in flight or queued: 26 for one point per cycle
  parameter int unsigned Queue   = 32
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // Starts a pass after the last point of the previous one has been computed: rows and columns are 1 or more
  input  logic              start_valid_i,
  output logic              start_ready_o,
  input  logic [15:0]       rows_i,
  input  logic [15:0]       columns_i,
  /// sides with a neighbour: north, south, west, east from bit 0
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
  /// Travels with a point
  typedef struct packed {
    logic       valid;
    /// the point keeps its value
    logic       keep;
    /// borders that the point belongs to
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
  logic top, bottom, left, right, loading, step, has_all, has_slot, result_fire;
  logic [CountW-1:0] reserved_q;
  assign start_ready_o = !busy_q;
  assign top    = row_q == '0;
  assign bottom = row_q + 16'd1 == rows_q;
  assign left   = column_q == '0;
  assign right  = column_q + 16'd1 == columns_q;
  // The first row is loaded before the first point has its south neighbour.
  assign loading  = busy_q && filled_q != columns_q;
  assign has_slot = 32'(reserved_q) < Queue;

  // -------------------------------------------------------- operands of a point
  logic a_valid, a_ready, a_pop, b_valid, b_ready, centre_valid_q, load_centre;
  word_t a, b, centre_q, west_q;
  logic [3:0] halo_valid, halo_pop, halo_needed;
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

  // A halo is consumed whole, even at points that keep their values.
  assign halo_needed = copy_q ? '0 : sides_q & {right, left, bottom, top};
  assign has_all = (halo_needed & ~halo_valid) == '0 && centre_valid_q && (top || b_valid) && (right || a_valid)
                   && (bottom || in_valid_i);
  assign step = busy_q && !loading && has_slot && has_all;
  assign halo_pop = step ? halo_needed : '0;
  assign in_ready_o = busy_q && a_ready && (loading || (step && !bottom));
  assign load_centre = a_valid && (!centre_valid_q || step);
  assign a_pop       = load_centre;

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
    .in_valid_i (step && !bottom),
    .in_ready_o (b_ready),
    .in_data_i  (centre_q),
    .out_valid_o(b_valid),
    .out_ready_i(step && !top),
    .out_data_o (b),
    .count_o    (unused_b_count)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q         <= 1'b0;
      centre_valid_q <= 1'b0;
      reserved_q     <= '0;
    end else begin
      if (!busy_q) busy_q <= start_valid_i;
      else if (step && bottom && right) busy_q <= 1'b0;
      centre_valid_q <= load_centre || (centre_valid_q && !step);
      reserved_q     <= reserved_q + CountW'(step) - CountW'(result_fire);
    end
    if (load_centre) centre_q <= a;
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
    if (loading && in_valid_i && in_ready_o) filled_q <= filled_q + 16'd1;
    if (step) begin
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
      valid: step,
      keep: copy_q || ({right, left, bottom, top} & ~sides_q) != '0,
      sides: last_q ? '0 : {right, left, bottom, top} & sides_q,
      value: centre_q
    };
  end
  always_ff @(posedge clk_i) begin
    point_q    <= point;
    north_q    <= top ? halo[North] : b;
    south_q    <= bottom ? halo[South] : in_i;
    left_of_q  <= left ? halo[West] : west_q;
    right_of_q <= right ? halo[East] : a;
    along_q    <= {along_q[Delay-2:0], point_q};
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

  // ------------------------------------------------- results to their receivers
  result_t found, result;
  logic result_valid, queue_ready, unused;
  logic [4:0] requests, delivered_q, takes;
  logic [CountW-1:0] unused_count;
  assign found = '{sides: along_q[Delay-1].sides, value: along_q[Delay-1].keep ? along_q[Delay-1].value : product};
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
    .out_ready_i(result_fire),
    .out_data_o (result),
    .count_o    (unused_count)
  );
  // Each receiver takes a result once; the result leaves the queue when all have taken it.
  assign requests = result_valid ? {1'b1, result.sides} & ~delivered_q : '0;
  assign takes       = requests & {out_ready_i, border_ready_i};
  assign result_fire = result_valid && requests == takes;
  assign {out_valid_o, border_valid_o} = requests;
  assign out_o = result.value;
  assign border_o = {4{result.value}};
  always_ff @(posedge clk_i) begin
    if (!rst_ni || result_fire) delivered_q <= '0;
    else delivered_q <= delivered_q | takes;
  end
  assign unused = ^{product_valid, queue_ready, b_ready};

  `GS_ASSERT_NOW(tile_size_within_limits, !start_valid_i || (rows_i != '0 && columns_i != '0
                 && 32'(columns_i) <= Columns && 32'(columns_i) <= Border && 32'(rows_i) <= Border))
  `GS_ASSERT_NOW(tag_matches_product, product_valid == along_q[Delay-1].valid)
  `GS_ASSERT_NOW(result_queue_never_overflows, !along_q[Delay-1].valid || queue_ready)
  `GS_ASSERT_NOW(row_delays_never_overflow, !step || bottom || (a_ready && b_ready))
endmodule
