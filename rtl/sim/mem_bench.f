// SPDX-License-Identifier: Apache-2.0
// The memory benchmark: threads that increment arrays, in front of the real caches. Paths are relative to rtl/.
-f memory/memory.f
-f cache/cache.f
+incdir+sim
sim/gs_mem_bench.vlt
sim/gs_mem_model.sv
sim/gs_sim_memory.sv
sim/gs_mem_totals.sv
sim/gs_mem_bench_core.sv
sim/gs_mem_bench.sv
