// SPDX-License-Identifier: Apache-2.0
// A board without its tiles and its memory. Paths are relative to rtl/.
-f board/network.f
-f noc/router.f
-f idle/idle.f
noc/gs_mesh_local.sv
-f stream/stream.f
-f stream/collective.f
board/gs_board_pkg.sv
board/gs_board_csr.sv
board/gs_board_reports.sv
board/gs_board_drop_report.sv
board/gs_board_broadcast.sv
board/gs_board_debug.sv
board/gs_board_control.sv
board/gs_board_job.sv
board/gs_host_port.sv
board/gs_board_collectives.sv
board/gs_board_packet_drops.sv
board/gs_board_streams.sv
-f match/slot.f
tile/gs_packet_arbiter.sv
board/gs_board_match_engine.sv
board/gs_board_match.sv
board/gs_board_fabric.sv
