// SPDX-License-Identifier: Apache-2.0
// The memory benchmark with whole tiles. Paths are relative to rtl/.
-f tile/tile.f
-f memory/memory.f
+incdir+sim
sim/gs_mem_tiles.vlt
sim/gs_mem_model.sv
sim/gs_sim_memory.sv
sim/gs_mem_totals.sv
sim/gs_mem_tiles.sv
