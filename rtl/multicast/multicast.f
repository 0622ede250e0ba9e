// SPDX-License-Identifier: Apache-2.0
// The programmable multicast router of a port. Paths are relative to rtl/.
-f common/common.f
-f fabric/fabric.f
-f switch/switch.f
multicast/gs_multicast_pkg.sv
multicast/gs_multicast_records.sv
multicast/gs_multicast_replicator.sv
multicast/gs_multicast_engine.sv
multicast/gs_multicast_idle.sv
multicast/gs_multicast.sv
