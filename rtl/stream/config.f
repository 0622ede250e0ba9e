// SPDX-License-Identifier: Apache-2.0
// What a generated board has beside ports, links and collectives: registers. Paths are relative to rtl/.
-f common/common.f
-f fabric/fabric.f
-f common/axil.f
stream/gs_stream_pkg.sv
stream/gs_stream_config.sv
