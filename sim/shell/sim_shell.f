// SPDX-License-Identifier: Apache-2.0
// The Ethernet shell with its firmware, for simulation.
-f shell/shell.f
-f shell/config_mux.f
sim/shell/gs_sim_shell.sv
