// SPDX-License-Identifier: Apache-2.0
// From AXI4 to lines of a memory in another clock. Paths are relative to rtl/.
-f common/common.f
-f common/cdc.f
+incdir+memory
memory/gs_axi4_lines.sv
