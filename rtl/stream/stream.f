// SPDX-License-Identifier: Apache-2.0
// Streaming ports. Paths are relative to rtl/.
-f common/common.f
-f fabric/fabric.f
noc/gs_noc_pkg.sv
switch/gs_switch_pkg.sv
stream/gs_stream_pkg.sv
stream/gs_stream_push.sv
stream/gs_stream_voq.sv
stream/gs_stream_send.sv
stream/gs_stream_pop.sv
stream/gs_stream_endpoint.sv
