// SPDX-License-Identifier: Apache-2.0
// Crossbar, scheduler and AXI4 port for their test.
-f memory/memory.f
memory_top.sv
