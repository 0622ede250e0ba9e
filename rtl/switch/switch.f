// SPDX-License-Identifier: Apache-2.0
// The board switch. Paths are relative to rtl/.
-f common/common.f
-f fabric/fabric.f
noc/gs_noc_pkg.sv
switch/gs_switch_pkg.sv
switch/gs_credit_return.sv
switch/gs_circuit.sv
switch/gs_channel_buffer.sv
switch/gs_switch_route.sv
switch/gs_switch_ingress.sv
switch/gs_switch_starvation_guard.sv
switch/gs_switch_egress.sv
switch/gs_link_ingress.sv
switch/gs_link_egress.sv
switch/gs_switch_crossbar.sv
switch/gs_shared_select.sv
switch/gs_shared_allocator.sv
switch/gs_shared_ingress.sv
switch/gs_switch_shared.sv
switch/gs_switch.sv
