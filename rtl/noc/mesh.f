// SPDX-License-Identifier: Apache-2.0
// Routers of the mesh, and their adapters to tiles. Paths are relative to rtl/.
-f noc/router.f
noc/gs_mesh_local.sv
