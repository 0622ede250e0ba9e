// SPDX-License-Identifier: Apache-2.0
// What is at the rim of a board that is alone, and its idle detection. Paths are relative to rtl/.
-f noc/router.f
-f idle/idle.f
noc/gs_mesh_local.sv
board/gs_packet_delimiter.sv
board/gs_board_idle.sv
board/gs_board_host.sv
