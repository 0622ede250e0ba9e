// SPDX-License-Identifier: Apache-2.0
// A whole simulated board in one model. Paths are relative to rtl/, those of sim/ to the checkout.
-f board/board.f
-f sim/board/surroundings.f
sim/tile/gs_sim_mailbox.sv
sim/host/queues.vlt
sim/board/gs_sim_board.sv
