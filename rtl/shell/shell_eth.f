// SPDX-License-Identifier: Apache-2.0
// The Ethernet shell with its MAC. Paths are relative to rtl/.
-f shell/shell.f
-f shell/rgmii.f
shell/gs_shell_eth.sv
