// SPDX-License-Identifier: Apache-2.0
// The match engine in a tile's accelerator slot. Paths are relative to rtl/.
-f match/match.f
match/gs_match_response_queue.sv
match/gs_match_slot.sv
