// SPDX-License-Identifier: Apache-2.0
// Crossings between a board's clock and those of its shell and of the MACs of its links. Paths are relative to rtl/.
-f common/common.f
-f common/cdc.f
-f noc/router.f
board/gs_host_stream_in.sv
board/gs_host_stream_out.sv
board/gs_board_host_stream.sv
link/gs_link_mac.sv
