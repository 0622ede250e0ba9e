// SPDX-License-Identifier: Apache-2.0
// A board of streaming ports for co-simulation with kernels of the emulator. Paths are relative to rtl/, those of sim/
// to the checkout.
-f stream/board.f
-f stream/collectives.f
-f sim/link/mac.f
sim/stream/gs_sim_stream.sv
