// SPDX-License-Identifier: Apache-2.0
// Blocks of the Ethernet shell. Paths are relative to rtl/.
-f common/common.f
shell/gs_blake2s.sv
