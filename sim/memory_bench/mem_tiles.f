// SPDX-License-Identifier: Apache-2.0
// The memory benchmark with whole tiles. Paths are relative to rtl/, those of sim/ to the checkout.
-f tile/tile.f
-f sim/memory/sim_memory.f
sim/memory_bench/gs_mem_tiles.vlt
sim/memory_bench/gs_mem_totals.sv
sim/memory_bench/gs_mem_tiles.sv
