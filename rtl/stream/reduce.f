// SPDX-License-Identifier: Apache-2.0
// Reduction over streaming ports. Paths are relative to rtl/.
-f common/common.f
-f fabric/fabric.f
stream/gs_stream_pkg.sv
stream/gs_stream_tree.sv
stream/gs_stream_fadd.sv
stream/gs_stream_lane.sv
stream/gs_stream_reduce_op.sv
stream/gs_stream_reduce.sv
