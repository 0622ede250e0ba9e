// SPDX-License-Identifier: Apache-2.0
// The memory benchmark with whole tiles. Paths are relative to this folder, to rtl/, or to the checkout.
-f tile/tile.f
-f sim/memory/sim_memory.f
gs_mem_tiles.vlt
gs_mem_totals.sv
gs_mem_tiles.sv
