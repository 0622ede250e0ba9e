// SPDX-License-Identifier: Apache-2.0
// Configuration registers of a generated board. Paths are relative to rtl/.
-f common/common.f
-f fabric/fabric.f
-f common/axil.f
stream/gs_stream_pkg.sv
stream/gs_stream_config.sv
