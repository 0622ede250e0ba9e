// SPDX-License-Identifier: Apache-2.0
// A board: tiles, memories and fabric. Paths are relative to rtl/.
-f noc/noc.f
-f board/uncore.f
board/gs_board.sv
