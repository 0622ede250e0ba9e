// SPDX-License-Identifier: Apache-2.0

/// Assembles commands from the bytes of the debug bus: a code, whose high half is the number of argument bytes.
module gs_debug_in (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        in_valid_i,
  input  logic [7:0]  in_data_i,
  output logic        in_ready_o,
  /// a command is valid until done_i
  output logic        valid_o,
  output logic [7:0]  code_o,
  /// its arguments, the first in the low bits
  output logic [39:0] args_o,
  input  logic        done_i
);
  logic valid_q, in_args_q;
  logic [7:0] code_q;
  logic [3:0] left_q, kept_q;
  logic [39:0] args_q;

  assign in_ready_o = !valid_q;
  assign valid_o    = valid_q;
  assign code_o     = code_q;
  assign args_o     = args_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q   <= 1'b0;
      in_args_q <= 1'b0;
    end else if (valid_q) begin
      if (done_i) valid_q <= 1'b0;
    end else if (in_valid_i) begin
      if (!in_args_q) begin
        code_q    <= in_data_i;
        left_q    <= in_data_i[7:4];
        kept_q    <= '0;
        in_args_q <= in_data_i[7:4] != '0;
        valid_q   <= in_data_i[7:4] == '0;
      end else begin
        // Only unknown commands have more than five arguments.
        for (int unsigned i = 0; i < 5; i++) if (kept_q == 4'(i)) args_q[8*i+:8] <= in_data_i;
        kept_q    <= kept_q + 4'd1;
        left_q    <= left_q - 4'd1;
        in_args_q <= left_q != 4'd1;
        valid_q   <= left_q == 4'd1;
      end
    end
  end
endmodule
