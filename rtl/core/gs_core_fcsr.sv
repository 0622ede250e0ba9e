// SPDX-License-Identifier: Apache-2.0

/// Floating-point control and status of all threads: rounding mode and accrued exceptions.
/// CSR instructions and the flags of results change it in stage C8, one thread a cycle.
module gs_core_fcsr #(
  /// threads, 2 to 32
  parameter  int unsigned ThreadsPerCore = 16,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore)
) (
  input  logic            clk_i,
  // C5: rounding mode of a thread
  input  logic [TidW-1:0] c5_tid_i,
  output logic [2:0]      c5_frm_o,
  // C7: a change: 1 write, 2 set, 3 clear; 0 set, and nobody reads it
  input  logic            c7_en_i,
  input  logic [1:0]      c7_how_i,
  // 1 fflags, 2 frm, 3 both
  input  logic [1:0]      c7_which_i,
  input  logic [7:0]      c7_data_i,
  input  logic [TidW-1:0] c7_tid_i,
  // C9: what it was before; 0 if nobody reads it
  output logic [7:0]      c9_old_o
);
  logic c8_en_q;
  logic [1:0] c8_how_q, c8_which_q;
  logic [7:0] c8_data_q, old, operand, changed, c9_old_q;
  logic [TidW-1:0] c8_tid_q;

  always_comb begin
    operand = c8_data_q;
    changed = 'x;
    if (c8_en_q) begin
      if (c8_which_q == 2'd2) operand[7:5] = c8_data_q[2:0];
      case (c8_how_q)
        2'd1:    changed = operand;
        2'd3:    changed = old & ~operand;
        default: changed = old | operand;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    c8_en_q    <= c7_en_i;
    if (c7_en_i) begin
      c8_how_q   <= c7_how_i;
      c8_which_q <= c7_which_i;
      c8_data_q  <= c7_data_i;
      c8_tid_q   <= c7_tid_i;
    end
    c9_old_q   <= '0;
    if (c8_en_q && c8_how_q != 2'd0) begin
      c9_old_q <= (c8_which_q == 2'd2) ? {5'd0, old[7:5]} : {c8_which_q[1] ? old[7:5] : 3'd0, old[4:0]};
    end
  end

  assign c9_old_o = c9_old_q;

  gs_ram_sdp #(
    .Width  (5),
    .Depth  (ThreadsPerCore),
    .Latency(0),
    .Style  ("distributed")
  ) u_flags (
    .clk_i,
    .we_i   (c8_en_q && c8_which_q[0]),
    .wstrb_i(1'b1),
    .waddr_i(c8_tid_q),
    .wdata_i(changed[4:0]),
    .re_i   (1'b1),
    .raddr_i(c8_tid_q),
    .rdata_o(old[4:0])
  );

  gs_ram_sdp #(
    .Width  (3),
    .Depth  (ThreadsPerCore),
    .Latency(0),
    .Style  ("distributed")
  ) u_mode (
    .clk_i,
    .we_i   (c8_en_q && c8_which_q[1]),
    .wstrb_i(1'b1),
    .waddr_i(c8_tid_q),
    .wdata_i(changed[7:5]),
    .re_i   (1'b1),
    .raddr_i(c8_tid_q),
    .rdata_o(old[7:5])
  );

  // The same again, to be read at issue.
  gs_ram_sdp #(
    .Width  (3),
    .Depth  (ThreadsPerCore),
    .Latency(0),
    .Style  ("distributed")
  ) u_mode_c5 (
    .clk_i,
    .we_i   (c8_en_q && c8_which_q[1]),
    .wstrb_i(1'b1),
    .waddr_i(c8_tid_q),
    .wdata_i(changed[7:5]),
    .re_i   (1'b1),
    .raddr_i(c5_tid_i),
    .rdata_o(c5_frm_o)
  );
endmodule
