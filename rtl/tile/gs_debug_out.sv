// SPDX-License-Identifier: Apache-2.0

/// Queue of reports to the debug bus, and their way out byte by byte.
module gs_debug_out
  import gossamer_pkg::*;
#(
  /// reports that can wait, more than 8; in distributed RAM, since a tile is short of blocks
  parameter int unsigned Depth  = 32,
  /// first arguments of identity: hash of the configuration
  parameter logic [31:0] Hash   = '0,
  /// and what the tile has: instruction memories, threads of a core, threads
  parameter logic [23:0] Counts = '0
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic          in_valid_i,
  output logic          in_ready_o,
  input  debug_report_e in_code_i,
  /// first argument
  input  logic [7:0]    in_first_i,
  /// the others, or all if there is no such first one
  input  logic [63:0]   in_rest_i,
  /// so few places are left that reports which can wait should
  output logic          nearly_full_o,
  output logic          out_valid_o,
  output logic [7:0]    out_data_o,
  input  logic          out_ready_i,
  /// reports are under way
  output logic          busy_o
);
  typedef struct packed {
    debug_report_e code;
    logic [7:0]    first;
    logic [63:0]   rest;
  } report_t;

  localparam int unsigned CountW = $clog2(Depth + 1);

  if (Depth <= 8) begin : gen_illegal_depth
    $fatal(1, "gs_debug_out: Depth is %0d; it must be more than 8, which are kept for reports that cannot wait", Depth);
  end

  report_t head;
  logic head_valid, load;
  logic [CountW-1:0] count;
  // Bytes under way, the next in the low bits, and how many there are behind it.
  logic [103:0] bytes_q, bytes;
  logic [3:0] left_q;
  logic busy_q;

  gs_fifo #(
    .data_t(report_t),
    .Depth (Depth)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o,
    .in_data_i  ({in_code_i, in_first_i, in_rest_i}),
    .out_valid_o(head_valid),
    .out_ready_i(load),
    .out_data_o (head),
    .count_o    (count)
  );

  always_comb begin
    bytes = {24'd0, head.rest, head.first, head.code};
    unique case (head.code)
      DebugReportData: bytes = {64'd0, head.rest[31:0], head.code};
      DebugReportTrap: begin
        // {value, pc, cause}: a pc that is not known is all ones, whatever its width here.
        bytes = {16'd0, head.rest[63:32], (head.rest[31:6] == '1) ? 32'hFFFF_FFFF : {6'd0, head.rest[31:6]},
                 2'd0, head.rest[5:0], head.first, head.code};
      end
      DebugReportIdentity: bytes = {Counts, 8'(DebugVersion), Hash, 32'(DebugMagic), head.code};
      default: ;
    endcase
  end

  assign load          = head_valid && (!busy_q || (out_ready_i && left_q == '0));
  assign out_valid_o   = busy_q;
  assign busy_o        = busy_q || count != '0;
  assign out_data_o    = bytes_q[7:0];
  assign nearly_full_o = count >= CountW'(Depth - 8);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) busy_q <= 1'b0;
    else if (load) busy_q <= 1'b1;
    else if (out_ready_i && left_q == '0) busy_q <= 1'b0;
    if (load) begin
      bytes_q <= bytes;
      left_q  <= head.code[7:4];
    end else if (busy_q && out_ready_i) begin
      bytes_q <= bytes_q >> 8;
      left_q  <= left_q - 4'd1;
    end
  end
endmodule
