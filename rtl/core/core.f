// SPDX-License-Identifier: Apache-2.0
// The barrel core and its instruction memory. Paths are relative to rtl/.
common/common.f
core/gs_core_pkg.sv
core/gs_decode_pkg.sv
core/gs_thread_pkg.sv
core/gs_instr_mem.sv
core/gs_decode_rom.sv
core/gs_core_sched.sv
core/gs_core_fetch.sv
core/gs_core_decode.sv
core/gs_core_regs.sv
core/gs_core_read.sv
core/gs_core_operands.sv
core/gs_core_execute.sv
core/gs_core_mul.sv
core/gs_core_resolve.sv
core/gs_core_div.sv
core/gs_core_requests.sv
core/gs_core_fcsr.sv
core/gs_core_results.sv
core/gs_core_trace.sv
core/gs_instret.sv
core/gs_core.sv
