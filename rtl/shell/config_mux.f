// SPDX-License-Identifier: Apache-2.0
// The multiplexer of the configuration port. Paths are relative to rtl/.
-f common/common.f
shell/gs_config_mux.sv
