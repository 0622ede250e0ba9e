// SPDX-License-Identifier: Apache-2.0
// All collectives over streaming ports. Paths are relative to rtl/.
-f stream/barrier.f
-f stream/allreduce.f
-f stream/scatter_gather.f
