// SPDX-License-Identifier: Apache-2.0
// A simulated board of a cluster without its tiles. Paths are relative to rtl/, those of sim/ to the checkout.
-f sim/board/board_uncore.f
sim/link/gs_mac_model.sv
-f board/fabric.f
sim/memory/gs_sim_records.sv
sim/board/gs_sim_multicast.sv
sim/host/queues.vlt
sim/board/gs_sim_uncore.sv
