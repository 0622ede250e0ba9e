// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Matrix by vector, scaled: y = alpha * (A x) in IEEE single, an element of A a cycle. The inner pipeline of GESUMMV.
///
///     x --> RAM --+
///     A ---------- * --> + --> sum of each row --> * alpha --> queue --> y
///                        ^          |
///                        +----------+
///
/// An adder has five registers, and an element needs its row's last sum. So eight rows are under way at once: A comes
/// in blocks of eight rows (the last may have fewer), of each block column by column. A row is added in the order of
/// its columns, each product and sum rounded by itself: the bits are those of a plain loop.
module gs_kernel_gemv
  import gs_fpu_pkg::*;
#(
  /// columns that there is room for, a power of two
  parameter  int unsigned Columns = 1024,
  /// results that wait for who takes them: 8 or more
  parameter  int unsigned Queue   = 32,
  localparam int unsigned ColumnW = $clog2(Columns)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // A product, when the one before is through: rows and columns, 1 or more
  input  logic             start_valid_i,
  output logic             start_ready_o,
  input  logic [31:0]      rows_i,
  input  logic [ColumnW:0] columns_i,
  input  logic [31:0]      alpha_i,
  // x, then A
  input  logic             x_valid_i,
  output logic             x_ready_o,
  input  logic [31:0]      x_i,
  input  logic             a_valid_i,
  output logic             a_ready_o,
  input  logic [31:0]      a_i,
  // Rows of the result in order
  output logic             y_valid_o,
  input  logic             y_ready_i,
  output logic [31:0]      y_o
);
  localparam int unsigned Rows = 8, RowW = 3, CountW = $clog2(Queue + 1);
  localparam int unsigned Multiply = 12, Add = 5;
  typedef logic [RowW-1:0] row_t;
  typedef enum logic [1:0] {
    Idle,
    Load,
    Run,
    Drain
  } state_e;
  /// What goes along with an element
  typedef struct packed {
    logic valid;
    logic first;
    logic last;
    row_t row;
  } tag_t;

  if (Queue < Rows) begin : gen_illegal_queue
    $fatal(1, "gs_kernel_gemv: Queue is %0d; it must be %0d or more", Queue, Rows);
  end

  // ---------------------------------------------------------------- order
  state_e state_q;
  logic [31:0] left_q, alpha_q;
  logic [ColumnW:0] columns_q, column_q;
  row_t row_q;
  logic [CountW-1:0] taken_q;
  logic here, last_column, room, takes, steps, gives;
  logic [31:0] x;
  assign start_ready_o = state_q == Idle;
  assign x_ready_o     = state_q == Load;
  // Rows that the last block does not have pass empty.
  assign here          = 32'(row_q) < left_q;
  assign last_column   = column_q + (ColumnW+1)'(1) == columns_q;
  // A result has its place in the queue before its last element is taken.
  assign room          = !last_column || 32'(taken_q) < Queue;
  assign a_ready_o     = state_q == Run && here && room;
  assign takes         = a_ready_o && a_valid_i;
  assign steps         = state_q == Run && (takes || !here);
  assign gives         = y_valid_o && y_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      taken_q <= '0;
    end else begin
      taken_q <= taken_q + CountW'(takes && last_column) - CountW'(gives);
      unique case (state_q)
        Idle: if (start_valid_i) state_q <= Load;
        Load: if (x_valid_i && last_column) state_q <= Run;
        Run: if (steps && row_q == '1 && last_column && left_q <= Rows) state_q <= Drain;
        default: if (taken_q == '0) state_q <= Idle;
      endcase
    end
    if (state_q == Idle) begin
      left_q    <= rows_i;
      columns_q <= columns_i;
      alpha_q   <= alpha_i;
      column_q  <= '0;
      row_q     <= '0;
    end
    if (state_q == Load && x_valid_i) column_q <= last_column ? '0 : column_q + (ColumnW+1)'(1);
    if (steps) begin
      row_q <= row_q + row_t'(1);
      if (row_q == '1) begin
        column_q <= last_column ? '0 : column_q + (ColumnW+1)'(1);
        if (last_column) left_q <= left_q - Rows;
      end
    end
  end

  gs_ram_sdp #(
    .Width  (32),
    .Depth  (Columns),
    .Latency(1)
  ) u_x (
    .clk_i,
    .we_i   (state_q == Load && x_valid_i),
    .wstrb_i(1'b1),
    .waddr_i(column_q[ColumnW-1:0]),
    .wdata_i(x_i),
    .re_i   (1'b1),
    .raddr_i(column_q[ColumnW-1:0]),
    .rdata_o(x)
  );

  // ------------------------------------------------------------- pipeline
  tag_t tag_q, product_tag, sum_tag;
  tag_t [Multiply-1:0] multiply_q;
  tag_t [Add-1:0] add_q;
  logic [31:0] a_q, product, sum, result;
  logic [31:0] sums_q[Rows];
  logic product_valid, result_valid;
  always_ff @(posedge clk_i) begin
    tag_q      <= '{valid: takes, first: column_q == '0, last: last_column, row: row_q};
    a_q        <= a_i;
    multiply_q <= {multiply_q[Multiply-2:0], tag_q};
    add_q      <= {add_q[Add-2:0], product_tag};
    if (sum_tag.valid) sums_q[sum_tag.row] <= sum;
    if (!rst_ni) begin
      tag_q.valid <= 1'b0;
      for (int unsigned s = 0; s < Multiply; s++) multiply_q[s].valid <= 1'b0;
      for (int unsigned s = 0; s < Add; s++) add_q[s].valid <= 1'b0;
    end
  end
  assign product_tag = multiply_q[Multiply-1];
  assign sum_tag = add_q[Add-1];

  gs_kernel_multiply u_product (
    .clk_i,
    .rst_ni,
    .valid_i(tag_q.valid),
    .a_i    (a_q),
    .b_i    (x),
    .valid_o(product_valid),
    .data_o (product)
  );
  gs_stream_fadd u_sum (
    .clk_i,
    .advance_i(1'b1),
    .a_i      (product_tag.first ? 32'd0 : sums_q[product_tag.row]),
    .b_i      (product),
    .sum_o    (sum)
  );
  gs_kernel_multiply u_scale (
    .clk_i,
    .rst_ni,
    .valid_i(sum_tag.valid && sum_tag.last),
    .a_i    (alpha_q),
    .b_i    (sum),
    .valid_o(result_valid),
    .data_o (result)
  );

  logic queue_ready, unused;
  assign unused = sum_tag.first;
  logic [CountW-1:0] unused_count;
  gs_fifo #(
    .data_t(logic [31:0]),
    .Depth (Queue)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (result_valid),
    .in_ready_o (queue_ready),
    .in_data_i  (result),
    .out_valid_o(y_valid_o),
    .out_ready_i(y_ready_i),
    .out_data_o (y_o),
    .count_o    (unused_count)
  );

  `GS_ASSERT_NOW(there_is_room_for_all_columns, !start_valid_i || 32'(columns_i) <= Columns)
  `GS_ASSERT_NOW(tags_are_in_step, product_valid == product_tag.valid)
  `GS_ASSERT_NOW(a_result_has_a_place, !result_valid || queue_ready)
endmodule
