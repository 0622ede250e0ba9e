// SPDX-License-Identifier: Apache-2.0
// A router of the mesh alone. Paths are relative to rtl/.
-f common/common.f
-f fabric/fabric.f
noc/gs_noc_pkg.sv
noc/gs_vnet_buffer.sv
noc/gs_mesh_input.sv
noc/gs_mesh_output.sv
noc/gs_mesh_router.sv
