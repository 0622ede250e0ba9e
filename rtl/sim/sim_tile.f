// SPDX-License-Identifier: Apache-2.0
// One tile with memories of its own, for simulation. Paths are relative to rtl/.
-f tile/tile.f
-f memory/memory.f
sim/gs_mem_model.sv
sim/gs_sim_memory.sv
sim/gs_sim_tile.sv
sim/gs_dram_checker.cc
sim/gs_dram_controller.cc
sim/gs_mem_dpi.cc
sim/gs_sram_model.cc
