// SPDX-License-Identifier: Apache-2.0
// The mesh on chip, with a tile at each router. Paths are relative to rtl/.
-f tile/tile.f
-f noc/mesh.f
noc/gs_mesh_tile.sv
