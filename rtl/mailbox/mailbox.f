// SPDX-License-Identifier: Apache-2.0
// The mailbox of a tile. Paths are relative to rtl/.
-f common/common.f
-f fabric/fabric.f
mailbox/gs_mailbox_pkg.sv
mailbox/gs_mailbox_scratch.sv
mailbox/gs_mailbox_slot_refcount.sv
mailbox/gs_mailbox_queue_bank.sv
mailbox/gs_mailbox_queues.sv
mailbox/gs_mailbox_decode.sv
mailbox/gs_mailbox_threads.sv
mailbox/gs_mailbox_send_done.sv
mailbox/gs_mailbox_wait_table.sv
mailbox/gs_mailbox_completions.sv
mailbox/gs_mailbox_requests.sv
mailbox/gs_mailbox_send_queues.sv
mailbox/gs_mailbox_out.sv
mailbox/gs_mailbox_tx.sv
mailbox/gs_mailbox_rx.sv
mailbox/gs_mailbox_idle.sv
mailbox/gs_mailbox_reduce.sv
mailbox/gs_mailbox.sv
