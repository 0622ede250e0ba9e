// SPDX-License-Identifier: Apache-2.0
// A whole simulated board in one model. Paths are relative to rtl/.
-f sim/board/board_tile.f
-f sim/board/board_rest.f
sim/board/gs_sim_board.sv
