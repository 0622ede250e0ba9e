// SPDX-License-Identifier: Apache-2.0
// Basic blocks of all other designs. Paths are relative to rtl/.
+incdir+common
common/gs_word_pkg.sv
common/gs_clock_gate.sv
common/gs_skid.sv
common/gs_arbiter.sv
common/gs_turn.sv
common/gs_arbiter_lrg.sv
common/gs_rr_pick.sv
common/gs_rr_arbiter.sv
common/gs_ram_sdp.sv
common/gs_ram_tdp.sv
common/gs_ram_mixed.sv
common/gs_fifo.sv
common/gs_steer_queue.sv
