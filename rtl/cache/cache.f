// SPDX-License-Identifier: Apache-2.0
// Data cache. Paths are relative to rtl/.
+incdir+cache
+incdir+memory
memory/gs_mem_pkg.sv
cache/gs_cache_pkg.sv
cache/gs_cache_lru.sv
cache/gs_cache_miss.sv
cache/gs_cache_fill.sv
cache/gs_cache.sv
