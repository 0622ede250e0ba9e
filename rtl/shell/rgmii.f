// SPDX-License-Identifier: Apache-2.0
// Ethernet MAC with RGMII. Paths are relative to rtl/.
-f shell/eth.f
shell/gs_eth_ddr_in.sv
shell/gs_eth_ddr_out.sv
shell/gs_eth_rgmii.sv
shell/gs_eth_mac_rgmii.sv
