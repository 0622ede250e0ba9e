// SPDX-License-Identifier: Apache-2.0

/// Floating-point control and status register (fcsr) of all threads: rounding mode and accrued exceptions.
/// CSR instructions and the flags of results change it in Send, for one thread a cycle.
module gs_core_fcsr #(
  /// threads, 2 to 32
  parameter  int unsigned ThreadsPerCore = 16,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore)
) (
  input  logic            clk_i,
  // Operand: rounding mode of a thread
  input  logic [TidW-1:0] operand_tid_i,
  output logic [2:0]      operand_frm_o,
  // Resolve: a change: 1 write, 2 set, 3 clear; 0 set without a read
  input  logic            resolve_en_i,
  input  logic [1:0]      resolve_how_i,
  // 1 fflags, 2 frm, 3 both
  input  logic [1:0]      resolve_which_i,
  input  logic [7:0]      resolve_data_i,
  input  logic [TidW-1:0] resolve_tid_i,
  // Join: the value before the change; 0 without a read
  output logic [7:0]      join_old_o
);
  logic send_en_q;
  logic [1:0] send_how_q, send_which_q;
  logic [7:0] send_data_q, old, operand, changed, join_old_q;
  logic [TidW-1:0] send_tid_q;

  always_comb begin
    operand = send_data_q;
    changed = 'x;
    if (send_en_q) begin
      if (send_which_q == 2'd2) operand[7:5] = send_data_q[2:0];
      case (send_how_q)
        2'd1:    changed = operand;
        2'd3:    changed = old & ~operand;
        default: changed = old | operand;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    send_en_q <= resolve_en_i;
    if (resolve_en_i) begin
      send_how_q   <= resolve_how_i;
      send_which_q <= resolve_which_i;
      send_data_q  <= resolve_data_i;
      send_tid_q   <= resolve_tid_i;
    end
    join_old_q <= '0;
    if (send_en_q && send_how_q != 2'd0) begin
      join_old_q <= (send_which_q == 2'd2) ? {5'd0, old[7:5]} : {send_which_q[1] ? old[7:5] : 3'd0, old[4:0]};
    end
  end

  assign join_old_o = join_old_q;

  gs_ram_sdp #(
    .Width  (5),
    .Depth  (ThreadsPerCore),
    .Latency(0),
    .Style  ("distributed")
  ) u_flags (
    .clk_i,
    .we_i   (send_en_q && send_which_q[0]),
    .wstrb_i(1'b1),
    .waddr_i(send_tid_q),
    .wdata_i(changed[4:0]),
    .re_i   (1'b1),
    .raddr_i(send_tid_q),
    .rdata_o(old[4:0])
  );

  gs_ram_sdp #(
    .Width  (3),
    .Depth  (ThreadsPerCore),
    .Latency(0),
    .Style  ("distributed")
  ) u_mode (
    .clk_i,
    .we_i   (send_en_q && send_which_q[1]),
    .wstrb_i(1'b1),
    .waddr_i(send_tid_q),
    .wdata_i(changed[7:5]),
    .re_i   (1'b1),
    .raddr_i(send_tid_q),
    .rdata_o(old[7:5])
  );

  // A second copy of the rounding modes, for the read in Operand.
  gs_ram_sdp #(
    .Width  (3),
    .Depth  (ThreadsPerCore),
    .Latency(0),
    .Style  ("distributed")
  ) u_mode_operand (
    .clk_i,
    .we_i   (send_en_q && send_which_q[1]),
    .wstrb_i(1'b1),
    .waddr_i(send_tid_q),
    .wdata_i(changed[7:5]),
    .re_i   (1'b1),
    .raddr_i(operand_tid_i),
    .rdata_o(operand_frm_o)
  );
endmodule
