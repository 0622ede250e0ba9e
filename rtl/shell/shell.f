// SPDX-License-Identifier: Apache-2.0
// The Ethernet shell. Paths are relative to rtl/.
-f common/common.f
+constants+shell
-f shell/rv32.f
shell/gs_blake2s.sv
shell/gs_shell_frame_pkg.sv
shell/gs_shell_hasher.sv
shell/gs_shell_digest.sv
shell/gs_shell_rx.sv
shell/gs_shell_tag.sv
shell/gs_shell_fast.sv
shell/gs_shell_tx.sv
shell/gs_shell_writer.sv
shell/gs_shell_reader.sv
-f shell/image.f
shell/gs_shell_packets.sv
shell/gs_shell_messages.sv
shell/gs_shell_links_rx.sv
shell/gs_shell_links_tx.sv
shell/gs_shell_links.sv
shell/gs_shell.sv
