// SPDX-License-Identifier: Apache-2.0
// The mailbox of a tile. Paths are relative to rtl/.
-f common/common.f
-f fabric/fabric.f
mailbox/gs_mailbox_pkg.sv
mailbox/gs_mailbox_scratch.sv
mailbox/gs_mailbox_refs.sv
mailbox/gs_mailbox_set.sv
mailbox/gs_mailbox_queues.sv
mailbox/gs_mailbox_decode.sv
mailbox/gs_mailbox_threads.sv
mailbox/gs_mailbox_ends.sv
mailbox/gs_mailbox_waits.sv
mailbox/gs_mailbox_outcomes.sv
mailbox/gs_mailbox_requests.sv
mailbox/gs_mailbox_order.sv
mailbox/gs_mailbox_out.sv
mailbox/gs_mailbox_tx.sv
mailbox/gs_mailbox_rx.sv
mailbox/gs_mailbox_idle.sv
mailbox/gs_mailbox_reduce.sv
mailbox/gs_mailbox.sv
