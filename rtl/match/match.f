// SPDX-License-Identifier: Apache-2.0
// MPI match engines. Paths are relative to rtl/.
-f common/common.f
match/gs_match_pkg.sv
match/gs_match_cam.sv
match/gs_match_free_list.sv
match/gs_match_completion.sv
match/gs_match_wildcard_lists.sv
match/gs_match_hashed.sv
match/gs_match_list.sv
match/gs_match_queue.sv
match/gs_match_two_level.sv
match/gs_match_rank_counters.sv
match/gs_match.sv
