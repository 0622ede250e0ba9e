// SPDX-License-Identifier: Apache-2.0
// A simulated board without its tiles. Paths are relative to rtl/, except those of sim/, relative to the checkout.
-f fabric/fabric.f
memory/gs_mem_pkg.sv
cache/gs_cache_pkg.sv
core/gs_core_pkg.sv
core/gs_thread_pkg.sv
+incdir+cache
+incdir+memory
tile/gs_tile_pkg.sv
-f board/board.f
-f sim/memory/sim_memory.f
sim/board/gs_board_memories.sv
sim/board/gs_sim_board_uncore.sv
