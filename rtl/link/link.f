// SPDX-License-Identifier: Apache-2.0
// The reliable link. Paths are relative to rtl/; gossamer_pkg must be read first.
-f common/common.f
-f fabric/fabric.f
link/gs_link_pkg.sv
link/gs_link_store.sv
link/gs_link_lengths.sv
link/gs_link_credit.sv
link/gs_link_pack.sv
link/gs_link_window.sv
link/gs_link_unacked.sv
link/gs_link_send.sv
link/gs_link_receive.sv
link/gs_link_reorder.sv
link/gs_link_unpack.sv
link/gs_link_session.sv
link/gs_link_counters.sv
link/gs_link_narrow_store.sv
link/gs_link_narrow_lengths.sv
link/gs_link_narrow_credit.sv
link/gs_link_narrow_pack.sv
link/gs_link_narrow_send.sv
link/gs_link_narrow_receive.sv
link/gs_link_narrow_unpack.sv
link/gs_link.sv
