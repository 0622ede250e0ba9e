// SPDX-License-Identifier: Apache-2.0
// Channels opened by rank. Paths are relative to rtl/.
-f common/common.f
-f fabric/fabric.f
stream/gs_stream_pkg.sv
stream/gs_stream_address.sv
