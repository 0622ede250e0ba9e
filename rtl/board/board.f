// SPDX-License-Identifier: Apache-2.0
// Idle detection and the host at the rim of a single board. Paths are relative to rtl/.
-f noc/router.f
-f idle/idle.f
noc/gs_mesh_local.sv
board/gs_packet_delimiter.sv
board/gs_board_idle.sv
board/gs_board_host.sv
