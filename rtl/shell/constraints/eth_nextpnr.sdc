# SPDX-License-Identifier: Apache-2.0
# Clocks of gs_eth_mac_rgmii, for nextpnr (--sdc). nextpnr reports the longest path of each pair of clocks and
# constrains none; a test requires that the routed crossings are shorter than a period.
create_clock -period 8.0 -name rgmii_rxc [get_ports rgmii_rxc_i]
