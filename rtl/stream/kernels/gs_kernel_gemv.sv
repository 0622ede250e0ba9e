// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Matrix-vector product, scaled: y = alpha * (A x) in IEEE single, one element of A per cycle. Inner pipeline of
/// GESUMMV.
///
///     x --> RAM --+
///     A ---------- * --> + --> sum of each row --> * alpha --> queue --> y
///                        ^          |
///                        +----------+
///
/// The adder has five registers, and each element needs the previous sum of its row. So eight rows are in flight at
/// once: A arrives in blocks of eight rows (the last may have fewer), each block column by column. A row is summed in
/// the order of its columns, with each product and sum rounded separately: the result is bit-identical to a plain loop.
module gs_kernel_gemv
  import gs_fpu_pkg::*;
#(
  /// maximum number of columns, a power of two
  parameter  int unsigned Columns = 1024,
  /// slots of the result queue: 8 or more
  parameter  int unsigned Queue   = 32,
  localparam int unsigned ColumnW = $clog2(Columns)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // Starts a product after the previous one has completed: rows and columns, 1 or more
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
  /// Travels with an element
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
  logic [CountW-1:0] reserved_q;
  logic row_valid, last_column, may_accept, a_fire, step, y_fire;
  logic [31:0] x;
  assign start_ready_o = state_q == Idle;
  assign x_ready_o     = state_q == Load;
  // Rows that the last block lacks pass through empty.
  assign row_valid   = 32'(row_q) < left_q;
  assign last_column = column_q + (ColumnW+1)'(1) == columns_q;
  // A result reserves its queue slot before its last element is accepted.
  assign may_accept = !last_column || 32'(reserved_q) < Queue;
  assign a_ready_o  = state_q == Run && row_valid && may_accept;
  assign a_fire     = a_ready_o && a_valid_i;
  assign step       = state_q == Run && (a_fire || !row_valid);
  assign y_fire     = y_valid_o && y_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= Idle;
      reserved_q <= '0;
    end else begin
      reserved_q <= reserved_q + CountW'(a_fire && last_column) - CountW'(y_fire);
      unique case (state_q)
        Idle: if (start_valid_i) state_q <= Load;
        Load: if (x_valid_i && last_column) state_q <= Run;
        Run: if (step && row_q == '1 && last_column && left_q <= Rows) state_q <= Drain;
        default: if (reserved_q == '0) state_q <= Idle;
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
    if (step) begin
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
    tag_q      <= '{valid: a_fire, first: column_q == '0, last: last_column, row: row_q};
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

  `GS_ASSERT_NOW(columns_fit_into_memory, !start_valid_i || 32'(columns_i) <= Columns)
  `GS_ASSERT_NOW(tag_matches_product, product_valid == product_tag.valid)
  `GS_ASSERT_NOW(result_queue_never_overflows, !result_valid || queue_ready)
  // The vector is read while it is loaded, without effect.
  `GS_ASSERT_NOW(multiplied_element_is_defined, !(u_x.undefined && tag_q.valid))
endmodule
