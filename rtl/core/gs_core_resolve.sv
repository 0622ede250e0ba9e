// SPDX-License-Identifier: Apache-2.0

/// Jumps and traps: a thread's next pc, or its trap cause.
module gs_core_resolve
  import gs_core_pkg::*;
#(
  /// bits of a word's address in the instruction memory
  parameter int unsigned PcW = 11
) (
  // Resolve: an instruction; its sum; pc of the next instruction and of a jump's target
  input  resolve_t       resolve_i,
  input  logic [31:0]    resolve_sum_i,
  input  logic [PcW:0]   resolve_next_i,
  input  logic [PcW-1:0] resolve_target_i,
  // The branch is taken; the instruction traps, and the cause; the thread's next pc
  output logic           resolve_taken_o,
  output logic           resolve_trap_o,
  output logic [3:0]     resolve_cause_o,
  output logic [PcW:0]   resolve_pc_o
);
  logic jumps, bad_mem, bad_jump, odd_jump;
  logic unused_rest;

  assign unused_rest = ^resolve_i;

  always_comb begin
    resolve_taken_o = resolve_i.branch &&
        ((resolve_i.funct3[2] ? resolve_i.less : resolve_i.equal) ^ resolve_i.funct3[0]);
    jumps           = resolve_taken_o || resolve_i.jal;
    bad_mem         = resolve_i.mem && ((resolve_i.funct3[1] && resolve_sum_i[1:0] != '0) ||
                                        (resolve_i.funct3[0] && resolve_sum_i[0]));
    odd_jump        = resolve_i.jalr ? resolve_sum_i[1] : resolve_i.offset;
    bad_jump        = (jumps && (resolve_i.outside || resolve_i.offset)) ||
        (resolve_i.jalr && (resolve_sum_i[31:PcW+2] != '0 || resolve_sum_i[1]));
    resolve_trap_o  = resolve_i.stop || bad_mem || bad_jump;
    resolve_cause_o = odd_jump ? CauseFetchMisaligned : CauseFetchFault;
    if (resolve_i.mem) resolve_cause_o = {2'b01, resolve_i.store, 1'b0};
    if (resolve_i.stop) resolve_cause_o = resolve_i.cause;
    resolve_pc_o = resolve_next_i;
    if (jumps) resolve_pc_o = {1'b0, resolve_target_i};
    if (resolve_i.jalr) resolve_pc_o = {1'b0, resolve_sum_i[PcW+1:2]};
  end
endmodule
