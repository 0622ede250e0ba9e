// SPDX-License-Identifier: Apache-2.0
// The control processor of the Ethernet shell with its RAM. Paths are relative to rtl/.
-f common/common.f
shell/gs_rv32.sv
shell/gs_rv32_ram.sv
