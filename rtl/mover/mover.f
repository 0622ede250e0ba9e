// SPDX-License-Identifier: Apache-2.0
// The data mover of a tile. Paths are relative to rtl/.
-f common/common.f
-f fabric/fabric.f
-f cache/cache.f
-f core/core.f
tile/gs_tile_pkg.sv
mover/gs_mover_read.sv
mover/gs_mover.sv
