// SPDX-License-Identifier: Apache-2.0
// The memories of a port with their models, some in C++, for simulation. Paths are relative to rtl/,
// those of sim/ to the checkout.
-f memory/memory.f
sim/memory/gs_mem_model.sv
sim/memory/gs_sim_memory_models.sv
sim/memory/gs_sim_memory.sv
sim/memory/gs_dram_checker.cc
sim/memory/gs_dram_controller.cc
sim/memory/gs_mem_dpi.cc
sim/memory/gs_sram_model.cc
