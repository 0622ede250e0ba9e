// SPDX-License-Identifier: Apache-2.0
// Crossings between clocks. Separate from common.f, since few blocks have more than one clock. Paths are relative to
// rtl/.
common/gs_sync.sv
common/gs_reset_cdc.sv
common/gs_pulse_cdc.sv
common/gs_fifo_async.sv
