// SPDX-License-Identifier: Apache-2.0
// Allreduce over streaming ports. Paths are relative to rtl/.
-f stream/bcast.f
-f stream/reduce.f
stream/gs_stream_allreduce.sv
