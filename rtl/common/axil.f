// SPDX-License-Identifier: Apache-2.0
// Register access through AXI4-Lite. Paths are relative to rtl/.
common/gs_axil.sv
