// SPDX-License-Identifier: Apache-2.0
// The rest of a simulated board of a cluster. Paths are relative to rtl/.
-f sim/board/board_rest.f
sim/link/gs_mac_model.sv
-f board/fabric.f
sim/memory/gs_sim_records.sv
sim/board/gs_sim_multicast.sv
sim/host/queues.vlt
sim/board/gs_cluster_rest.sv
