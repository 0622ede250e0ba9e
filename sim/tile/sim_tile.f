// SPDX-License-Identifier: Apache-2.0
// One tile with its memories, for simulation. Paths are relative to rtl/, those of sim/ to the checkout.
-f tile/tile.f
-f idle/idle.f
-f sim/memory/sim_memory.f
sim/tile/gs_sim_mailbox.sv
sim/host/queues.vlt
sim/tile/gs_sim_tile.sv
