// SPDX-License-Identifier: Apache-2.0
`include "gs_mem_types.svh"

/// Memory payloads of a tile's caches; those of the tile itself have longer ids (gs_tile_pkg).
package gs_tile_cache_pkg;
  `GS_MEM_TYPES(gossamer_pkg::DramPortBytes, gs_tile_pkg::CacheThreadW, 32)
endpackage
