// SPDX-License-Identifier: Apache-2.0
// Collectives, beside streaming ports. Paths are relative to rtl/.
-f stream/bcast.f
-f stream/barrier.f
stream/gs_stream_fadd.sv
stream/gs_stream_lane.sv
stream/gs_stream_join.sv
stream/gs_stream_reduce.sv
