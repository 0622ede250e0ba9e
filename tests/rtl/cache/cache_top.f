// SPDX-License-Identifier: Apache-2.0
// Caches of every kind, for their test.
-f cache/cache.f
cache_port.sv
cache_top.sv
