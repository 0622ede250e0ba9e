// SPDX-License-Identifier: Apache-2.0
// The PTRANS role behind the Ethernet shell. Paths are relative to rtl/.
-f common/common.f
-f fpu/fpu.f
-f common/axil.f
role/gs_role_ptrans.sv
