// SPDX-License-Identifier: Apache-2.0
// The DMA engine of a tile. Paths are relative to rtl/.
-f common/common.f
-f fabric/fabric.f
-f cache/cache.f
-f core/core.f
tile/gs_tile_pkg.sv
dma/gs_dma_read.sv
dma/gs_dma.sv
