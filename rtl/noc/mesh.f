// SPDX-License-Identifier: Apache-2.0
// Routers of the mesh, and what joins them with tiles. Paths are relative to rtl/.
-f noc/router.f
noc/gs_mesh_local.sv
