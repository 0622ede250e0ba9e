// SPDX-License-Identifier: Apache-2.0
// Ethernet MAC. Paths are relative to rtl/.
-f common/common.f
-f common/cdc.f
shell/gs_eth_pkg.sv
shell/gs_eth_rx.sv
shell/gs_eth_tx.sv
shell/gs_eth_pause_rx.sv
shell/gs_eth_pause.sv
shell/gs_eth_mac.sv
