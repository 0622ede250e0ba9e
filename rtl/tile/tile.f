// SPDX-License-Identifier: Apache-2.0
// A tile with all its blocks. Paths are relative to rtl/.
-f common/common.f
-f core/core.f
-f fpu/fpu.f
-f cache/cache.f
-f fabric/fabric.f
-f mailbox/mailbox.f
-f dma/dma.f
-f match/slot.f
memory/gs_mem_arbiter.sv
tile/gs_tile_cache_pkg.sv
tile/gs_tile_req_decode.sv
tile/gs_tile_req_arbiter.sv
tile/gs_tile_req_demux.sv
tile/gs_tile_rsp_mux.sv
tile/gs_control_pkg.sv
tile/gs_counters.sv
tile/gs_tile_counters.sv
tile/gs_debug_in.sv
tile/gs_debug_out.sv
tile/gs_report_queue.sv
tile/gs_debug_command.sv
tile/gs_instr_access.sv
tile/gs_thread_control.sv
tile/gs_control_decode.sv
tile/gs_control.sv
tile/gs_packet_arbiter.sv
match/gs_match_unit.sv
tile/gs_tile_switch.sv
tile/gs_acc_memory.sv
tile/gs_acc_sum.sv
tile/gs_tile_rma.sv
tile/gs_tile_cores.sv
tile/gs_tile_memory.sv
tile/gs_tile.sv
