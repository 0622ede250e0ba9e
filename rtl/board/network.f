// SPDX-License-Identifier: Apache-2.0
// The network of a board beyond its mesh. Paths are relative to rtl/.
-f link/link.f
-f multicast/multicast.f
link/gs_link_cut.sv
board/gs_board_network.sv
