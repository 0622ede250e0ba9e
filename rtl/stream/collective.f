// SPDX-License-Identifier: Apache-2.0
// The support block of any kind of collective. Paths are relative to rtl/.
-f stream/collectives.f
stream/gs_stream_collective.sv
