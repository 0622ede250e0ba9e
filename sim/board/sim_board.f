// SPDX-License-Identifier: Apache-2.0
// A whole simulated board in one model. Paths are relative to rtl/, those of sim/ to the checkout.
-f sim/board/board_tile.f
-f sim/board/board_uncore.f
sim/board/gs_sim_board.sv
