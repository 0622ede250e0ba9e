// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Results: merges those of the pipeline, the tile's responses and the divider's results, and writes registers.
///
///     Resolve: sum, logic, link, response --> Send --> Join: OR, with the divider's --> Write: OR, with product and
///                                                                                       CSRs of the core --> register
///
/// Every source but the result's is 0, so that an OR merges all of them.
module gs_core_results
  import gs_core_pkg::*;
#(
  /// hardware threads, 2 to 32, a power of two
  parameter  int unsigned ThreadsPerCore = 16,
  /// bits of a word's address in the instruction memory
  parameter  int unsigned PcW            = 11,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // Operand: rounding mode of a thread
  input  logic [TidW-1:0] operand_tid_i,
  output logic [2:0]      operand_frm_o,
  // Resolve: an instruction, whether it suspends its thread or traps; its data words
  input  logic            resolve_valid_i,
  input  logic [TidW-1:0] resolve_tid_i,
  input  logic            resolve_x_i,
  input  logic            resolve_f_i,
  input  logic            resolve_fcsr_i,
  input  resolve_t        resolve_i,
  input  logic            resolve_trap_i,
  input  logic [31:0]     resolve_sum_i,
  input  logic [31:0]     resolve_logic_i,
  input  logic [7:0]      resolve_fcsr_data_i,
  input  logic [PcW:0]    resolve_next_i,
  // A response uses this pipeline slot; the thread that writes back in this slot
  input  logic            resolve_back_i,
  input  logic [TidW-1:0] resolve_wtid_i,
  // Responses of the tile: always accepted; offered to the scheduler, which takes them
  input  logic            rsp_valid_i,
  input  logic [TidW-1:0] rsp_tid_i,
  input  rsp_t            rsp_i,
  output logic            rsp_valid_o,
  output logic [TidW-1:0] rsp_tid_o,
  input  logic            rsp_take_i,
  // Result of the divider; halves of the product
  input  logic [31:0]     send_div_data_i,
  output logic            join_low_o,
  output logic            join_high_o,
  input  logic [31:0]     write_low_i,
  input  logic [31:0]     write_high_i,
  // Register write
  output logic            write_en_o,
  output logic [TidW-1:0] write_tid_o,
  output logic [5:0]      write_reg_o,
  output logic [31:0]     write_data_o,
  // This thread has finished an instruction.
  output logic            retire_o
);
  typedef struct packed {
    logic [TidW-1:0] tid;
    rsp_t            rsp;
  } entry_t;

  entry_t entry;
  logic unused_ready;
  logic [$clog2(ThreadsPerCore+1)-1:0] unused_count;

  gs_fifo #(
    .data_t(entry_t),
    .Depth (ThreadsPerCore)
  ) u_rsp_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (rsp_valid_i),
    .in_ready_o (unused_ready),
    .in_data_i  ({rsp_tid_i, rsp_i}),
    .out_valid_o(rsp_valid_o),
    .out_ready_i(rsp_take_i),
    .out_data_o (entry),
    .count_o    (unused_count)
  );

  assign rsp_tid_o = entry.tid;

  // Only an instruction that does not suspend or stop its thread has a result here.
  logic keep, unused_rest;
  assign unused_rest = ^resolve_i;
  assign keep        = resolve_valid_i && !resolve_x_i && !resolve_f_i;

  logic [4:0] resolve_flags_q;
  logic [31:0] resolve_rsp_q, send_rsp_q, send_sum_q, send_logic_q, join_alu_q, write_alu_q;
  logic send_write_q, send_low_q, send_high_q, join_write_q, join_low_q, join_high_q, write_en_q, write_retire_q;
  logic join_counts, join_rd_write;
  logic [5:0] join_rd, write_rd_q;
  logic [7:0] join_fcsr, write_fcsr_q;
  logic [TidW-1:0] send_wtid_q, join_wtid_q, write_wtid_q;

  always_ff @(posedge clk_i) begin
    send_sum_q      <= resolve_sum_i;
    send_logic_q    <= resolve_logic_i;
    if (resolve_i.jal || resolve_i.jalr) begin
      send_sum_q   <= '0;
      send_logic_q <= 32'({resolve_next_i, 2'b00});
    end
    if (resolve_i.slt) send_logic_q[0] <= resolve_i.less;
    if (!keep) begin
      send_sum_q   <= '0;
      send_logic_q <= '0;
    end
    resolve_rsp_q   <= rsp_take_i ? entry.rsp.data : '0;
    resolve_flags_q <= rsp_take_i ? entry.rsp.flags : '0;
    send_rsp_q      <= resolve_rsp_q;
    send_low_q      <= resolve_i.mul_lo && keep;
    send_high_q     <= resolve_i.mul_hi && keep;
    send_write_q    <= resolve_back_i || (keep && !resolve_trap_i);
    send_wtid_q     <= resolve_wtid_i;
    join_alu_q      <= send_sum_q | send_logic_q | send_rsp_q | send_div_data_i;
    join_low_q      <= send_low_q;
    join_high_q     <= send_high_q;
    join_write_q    <= send_write_q;
    join_wtid_q     <= send_wtid_q;
    write_alu_q     <= join_alu_q;
    write_fcsr_q    <= join_fcsr;
    write_en_q      <= join_write_q && join_rd_write;
    write_retire_q  <= join_write_q && join_counts;
    write_rd_q      <= join_rd;
    write_wtid_q    <= join_wtid_q;
  end

  // The destination register of each thread's instruction, also for a result that arrives as a response, and whether
  // the instruction counts.
  gs_ram_sdp #(
    .Width  (8),
    .Depth  (ThreadsPerCore),
    .Latency(0),
    .Style  ("distributed")
  ) u_rd (
    .clk_i,
    .we_i   (resolve_valid_i),
    .wstrb_i(1'b1),
    .waddr_i(resolve_tid_i),
    .wdata_i({resolve_i.counts, resolve_i.write, resolve_i.rd}),
    .re_i   (1'b1),
    .raddr_i(join_wtid_q),
    .rdata_o({join_counts, join_rd_write, join_rd})
  );

  assign join_low_o   = join_low_q;
  assign join_high_o  = join_high_q;
  assign write_en_o   = write_en_q;
  assign write_tid_o  = write_wtid_q;
  assign write_reg_o  = write_rd_q;
  assign write_data_o = write_alu_q | write_low_i | write_high_i | 32'(write_fcsr_q);
  // Each instruction that finishes passes here once: directly, or with its response.
  assign retire_o     = write_retire_q;

  // Floating-point status: a response's flags use the response's pipeline slot.
  logic accrues;
  assign accrues = resolve_back_i && resolve_flags_q != '0;

  gs_core_fcsr #(
    .ThreadsPerCore(ThreadsPerCore)
  ) u_fcsr (
    .clk_i,
    .operand_tid_i,
    .operand_frm_o,
    .resolve_en_i   (resolve_fcsr_i || accrues),
    .resolve_how_i  (resolve_fcsr_i ? resolve_i.funct3[1:0] : 2'd0),
    .resolve_which_i(resolve_fcsr_i ? resolve_i.which : 2'd1),
    .resolve_data_i (resolve_fcsr_i ? resolve_fcsr_data_i : {3'd0, resolve_flags_q}),
    .resolve_tid_i  (resolve_wtid_i),
    .join_old_o     (join_fcsr)
  );

  `GS_ASSERT_NOW(response_queue_never_overflows, unused_ready || !rsp_valid_i)
endmodule
