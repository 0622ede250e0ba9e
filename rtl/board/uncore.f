// SPDX-License-Identifier: Apache-2.0
// A board without its tiles. Paths are relative to rtl/.
-f fabric/fabric.f
memory/gs_mem_pkg.sv
cache/gs_cache_pkg.sv
core/gs_core_pkg.sv
core/gs_thread_pkg.sv
+incdir+cache
+incdir+memory
tile/gs_tile_pkg.sv
-f memory/memory.f
-f board/fabric.f
board/gs_board_memory_pkg.sv
board/gs_board_memory.sv
board/gs_board_records.sv
board/gs_board_uncore.sv
