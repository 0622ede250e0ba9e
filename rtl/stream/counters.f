// SPDX-License-Identifier: Apache-2.0
// Counters of a generated board's streaming ports. Paths are relative to rtl/.
-f common/common.f
-f fabric/fabric.f
stream/gs_stream_pkg.sv
stream/gs_stream_counters.sv
