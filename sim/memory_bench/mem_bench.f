// SPDX-License-Identifier: Apache-2.0
// The memory benchmark: threads that increment arrays through the real caches. Paths are relative to rtl/,
// those of sim/ to the checkout.
-f cache/cache.f
-f sim/memory/sim_memory.f
sim/memory_bench/gs_mem_bench.vlt
sim/memory_bench/gs_mem_totals.sv
sim/memory_bench/gs_mem_bench_core.sv
sim/memory_bench/gs_mem_bench.sv
