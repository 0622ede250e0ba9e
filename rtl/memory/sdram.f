// SPDX-License-Identifier: Apache-2.0
// Controller of an SDR SDRAM. Paths are relative to rtl/; gossamer_pkg is read first.
-f common/common.f
+incdir+memory
memory/gs_sdram.sv
