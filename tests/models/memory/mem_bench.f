// SPDX-License-Identifier: Apache-2.0
// The memory benchmark: threads that increment arrays through the real caches. Paths are relative to this folder,
// to rtl/, or to the checkout.
-f cache/cache.f
-f sim/memory/sim_memory.f
gs_mem_bench.vlt
gs_mem_totals.sv
gs_mem_bench_core.sv
gs_mem_bench.sv
