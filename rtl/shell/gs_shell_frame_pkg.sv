// SPDX-License-Identifier: Apache-2.0

/// Functions on frames of the shell that several of its blocks need.
package gs_shell_frame_pkg;
  /// Position of the fields that the hardware reads: bytes of the frame, from the destination's address on.
  localparam int unsigned HeadBytes = 64;
  localparam int unsigned TypeAt    = 12;
  localparam int unsigned KindAt    = 16;
  localparam int unsigned LengthAt  = 18;
  localparam int unsigned CheckAt   = 52;
  localparam int unsigned TagAt     = 56;

  /// CRC-32 of IEEE 802.3, least significant bit first, continued by a byte. It begins with all ones; the checksum is
  /// the complement of the end.
  function automatic logic [31:0] crc32_byte(logic [31:0] crc, logic [7:0] data);
    logic [31:0] next;
    next = crc ^ {24'd0, data};
    for (int unsigned i = 0; i < 8; i++) next = {1'b0, next[31:1]} ^ (next[0] ? 32'hEDB88320 : 32'd0);
    return next;
  endfunction

  /// The same for the four bytes of a word, first byte in the lowest bits.
  function automatic logic [31:0] crc32_word(logic [31:0] crc, logic [31:0] data);
    logic [31:0] next;
    next = crc;
    for (int unsigned i = 0; i < 4; i++) next = crc32_byte(next, data[8*i+:8]);
    return next;
  endfunction

  /// Whether the hardware checks a frame's tag with the session's key. `open` has a tag of the board's key, which the
  /// firmware checks; the rest have none (docs/hardware/shell.md).
  function automatic logic session_tagged(logic [7:0] kind);
    import gossamer_shell_pkg::*;
    case (shell_kind_e'(kind))
      ShellKindAnnounce, ShellKindSolicit, ShellKindOpen, ShellKindAskStatus, ShellKindStatus, ShellKindError,
      ShellKindData, ShellKindRepair, ShellKindQuery, ShellKindFire, ShellKindLinkFrame:
        return 1'b0;
      default: return 1'b1;
    endcase
  endfunction

  /// Bytes of a word in the opposite order: numbers on the wire have their most significant byte first.
  function automatic logic [31:0] swap(logic [31:0] word);
    return {word[7:0], word[15:8], word[23:16], word[31:24]};
  endfunction
endpackage
