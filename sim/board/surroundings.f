// SPDX-License-Identifier: Apache-2.0
// Models around a board. Paths are relative to rtl/, those of sim/ to the checkout.
-f board/uncore.f
-f sim/memory/sim_memory.f
sim/link/gs_mac_model.sv
sim/link/gs_mac_beats.sv
sim/board/gs_sim_surroundings.sv
