# SPDX-License-Identifier: Apache-2.0
# Clocks, crossings and pins of gs_eth_mac_rgmii, for tools with Synopsys Design Constraints (Quartus, Vivado, Radiant).
# Names: a top with ports clk125_i (shell and transmitter), clk125_90_i (2 ns later) and the pins of RGMII.
create_clock -name clk -period 8.0 [get_ports clk125_i]
create_clock -name clk90 -period 8.0 -waveform {2.0 6.0} [get_ports clk125_90_i]
create_clock -name rxc -period 8.0 [get_ports rgmii_rxc_i]

# Crossings (gs_sync, gs_fifo_async, gs_pulse_cdc, gs_reset_cdc). The bits of a pointer in Gray code arrive within one
# period of the clock that sends them, so that no two of its steps are in flight; so do the items of a queue in
# distributed RAM. This is a maximum delay, not a false path. Hold does not apply between clocks of any phase.
foreach pair {{clk rxc} {rxc clk}} {
  set_max_delay 8.0 -from [get_clocks [lindex $pair 0]] -to [get_clocks [lindex $pair 1]]
  set_false_path -hold -from [get_clocks [lindex $pair 0]] -to [get_clocks [lindex $pair 1]]
}
