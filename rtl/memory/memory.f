// SPDX-License-Identifier: Apache-2.0
// From caches to memories. Paths are relative to rtl/.
+incdir+memory
memory/gs_mem_arbiter.sv
memory/gs_mem_crossbar.sv
memory/gs_mem_scheduler.sv
memory/gs_axi4_port.sv
memory/gs_memory.sv
