// SPDX-License-Identifier: Apache-2.0
// A tile of a simulated board. Paths are relative to rtl/, except those of sim/, which are relative to the checkout.
-f noc/noc.f
sim/tile/gs_sim_mailbox.sv
sim/host/queues.vlt
sim/board/gs_sim_mesh_tile.sv
