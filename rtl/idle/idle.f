// SPDX-License-Identifier: Apache-2.0
// Idle detection. Paths are relative to rtl/.
-f common/common.f
-f fabric/fabric.f
idle/gs_idle_reduce_op.sv
idle/gs_idle_cut.sv
idle/gs_idle_board.sv
idle/gs_idle_single.sv
idle/gs_idle_verdict.sv
idle/gs_idle_inbox.sv
idle/gs_idle.sv
idle/gs_idle_begun.sv
