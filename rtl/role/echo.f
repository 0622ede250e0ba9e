// SPDX-License-Identifier: Apache-2.0
// The loopback role of message streams. Paths are relative to rtl/.
-f common/common.f
-f common/axil.f
role/gs_role_echo.sv
