// SPDX-License-Identifier: Apache-2.0
// A board as a role of the Ethernet shell. Paths are relative to rtl/; gossamer_pkg is read first.
-f common/axil.f
-f board/board.f
-f board/crossings.f
role/gs_role_links.sv
role/gs_role_board.sv
