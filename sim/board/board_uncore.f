// SPDX-License-Identifier: Apache-2.0
// A simulated board without its tiles, and its surroundings. Paths are relative to rtl/, those of sim/ to the checkout.
-f board/uncore.f
-f sim/board/surroundings.f
sim/board/gs_sim_multicast.sv
sim/host/queues.vlt
sim/board/gs_sim_uncore.sv
