// SPDX-License-Identifier: Apache-2.0
// The match engine with AXI ports, for third-party designs. Paths are relative to rtl/.
-f match/match.f
-f common/axil.f
match/gs_match_axi.sv
