// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Receives frames from a MAC, one byte a cycle, into a ring of words. Only whole, undamaged frames of the shell's
/// EtherTypes for this board or for a group stay in the ring; others leave no trace but a count.
///
///     data_i --> byte to word --> ring (write port)
///            \-> EtherType, address, length, CRC --> verdict: commit the words, or forget them
///
/// Frames may follow each other without a gap. Bytes after the payload are padding and are not stored. A frame starts
/// at a word; byte 0 of the frame is in the lowest bits.
module gs_shell_rx #(
  /// logarithm of the ring's words of 32 bits
  parameter int unsigned WordsLog2 = 12,
  /// the shell's EtherTypes (config/constants/shell, ethertype); the last one is that of links
  parameter int unsigned Types     = 9,
  localparam type ptr_t = logic [WordsLog2:0]
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  /// this board's address, first byte in the highest bits
  input  logic [47:0]            mac_i,
  input  logic [Types-1:0][15:0] types_i,
  // Frames of the MAC, without preamble and checksum; error_i with the last byte: the frame is damaged
  input  logic [7:0]             data_i,
  input  logic                   valid_i,
  input  logic                   last_i,
  input  logic                   error_i,
  // Write port of the ring
  output logic                   wvalid_o,
  output logic [WordsLog2-1:0]   waddr_o,
  output logic [31:0]            wdata_o,
  /// end of the words that are in use: word pointers, with a bit more than an address
  input  ptr_t                   tail_i,
  // Frames in the ring; valid for one cycle
  output logic                   frame_valid_o,
  output ptr_t                   frame_start_o,
  output logic [15:0]            frame_length_o,
  /// the frame's kind is one with a tag of the session's key
  output logic                   frame_tagged_o,
  /// the frame is a link frame: EtherType, version and kind are right
  output logic                   frame_link_o,
  /// 0 if there is no place for another frame in the queue behind
  input  logic                   frame_room_i,
  // Events, one cycle each
  /// a frame of a shell's EtherType
  output logic                   seen_o,
  /// it was dropped: too short, cut, or with a wrong checksum
  output logic                   bad_o,
  /// it was dropped because the ring is full
  output logic                   overrun_o
);
  import gossamer_shell_pkg::*;
  import gs_shell_frame_pkg::*;

  // A byte waits for one cycle, so that the CRC is the only logic behind its register.
  logic [7:0] byte_q;
  logic       valid_q, last_q, error_q;
  always_ff @(posedge clk_i) begin
    byte_q  <= data_i;
    last_q  <= last_i;
    error_q <= error_i;
    valid_q <= valid_i && rst_ni;
  end

  logic [15:0] at_q;              // number of the byte in byte_q
  logic [31:0] crc_q, check_q;
  logic [15:0] length_q;
  logic [7:0]  type_q;            // first byte of the EtherType
  logic [7:0]  kind_q;
  logic        mac_q, group_q;    // the address so far is this board's; its first bit says group
  logic        whole_q;           // all bytes of the payload are there
  logic        full_q;            // a word found no room
  logic        ending_q, damaged_q;
  logic [23:0] part_q;            // bytes of the word that is not complete
  ptr_t        base_q, base_d;    // start of the current frame

  logic [15:0] end_at;            // the number of the byte after the payload
  logic        in_frame;            // the byte belongs to headers or payload
  assign end_at = 16'(HeadBytes) + length_q;
  assign in_frame = at_q < 16'(HeadBytes) || at_q < end_at;

  logic [7:0] covered;
  assign covered = at_q >= 16'(CheckAt) && at_q < 16'(TagAt) ? 8'd0 : byte_q;

  logic link_q;                   // EtherType and version are those of link frames
  logic is_type, is_type_q;       // the EtherType whose second byte is in byte_q
  always_comb begin
    is_type = 1'b0;
    for (int unsigned i = 0; i < Types; i++) if (types_i[i] == {type_q, byte_q}) is_type = 1'b1;
  end

  // Verdict, in the cycle after the last byte
  logic ours, complete, commit;
  logic short_q;
  assign ours     = ending_q && !damaged_q && is_type_q;
  assign complete = !short_q && whole_q && ~crc_q == check_q;
  assign seen_o   = ours;
  assign bad_o    = ours && !complete;
  assign commit   = ours && complete && (mac_q || group_q) && !full_q && frame_room_i;
  assign overrun_o = ours && complete && (mac_q || group_q) && (full_q || !frame_room_i);

  ptr_t words;
  assign words          = ptr_t'((32'(HeadBytes) + 32'(length_q) + 32'd3) >> 2);
  assign base_d         = commit ? base_q + words : base_q;
  assign frame_valid_o  = commit;
  assign frame_start_o  = base_q;
  assign frame_length_o = length_q;
  assign frame_tagged_o = session_tagged(kind_q);
  assign frame_link_o   = link_q && kind_q == ShellKindLinkFrame;

  logic [4:0][7:0] mac_bytes;  // bytes 1 to 5
  assign mac_bytes = mac_i[39:0];

  logic write, room;
  ptr_t at_word, used;
  // The first word of the next frame comes after base_q has followed this one's verdict.
  assign at_word = base_q + ptr_t'(at_q >> 2);
  assign used    = at_word - tail_i;
  assign room    = !used[WordsLog2];
  assign write   = valid_q && in_frame && (at_q[1:0] == 2'd3 || (at_q >= 16'(HeadBytes) && at_q + 16'd1 == end_at));
  always_comb begin
    wdata_o = '0;
    case (at_q[1:0])
      2'd0: wdata_o[7:0]  = byte_q;
      2'd1: wdata_o[15:0] = {byte_q, part_q[7:0]};
      2'd2: wdata_o[23:0] = {byte_q, part_q[15:0]};
      default: wdata_o    = {byte_q, part_q[23:0]};
    endcase
  end
  assign waddr_o  = at_word[WordsLog2-1:0];
  assign wvalid_o = write && room;

  always_ff @(posedge clk_i) begin
    base_q    <= base_d;
    ending_q  <= valid_q && last_q;
    damaged_q <= error_q;
    short_q   <= at_q < 16'(HeadBytes) - 16'd1;
    if (valid_q) begin
      at_q <= last_q ? 16'd0 : at_q + 16'(at_q != '1);
      if (at_q == '0) begin
        crc_q   <= crc32_byte('1, byte_q);
        group_q <= byte_q[0];
        mac_q   <= byte_q == mac_i[47:40];
        full_q  <= 1'b0;
        whole_q <= 1'b0;
        is_type_q <= 1'b0;         // a frame that ends before its EtherType has none
      end else begin
        if (in_frame) crc_q <= crc32_byte(crc_q, covered);
        if (at_q >= 16'(HeadBytes) - 16'd1 && at_q + 16'd1 == end_at) whole_q <= 1'b1;
      end
      if (at_q > 16'd0 && at_q < 16'd6 && byte_q != mac_bytes[3'd5-at_q[2:0]]) mac_q <= 1'b0;
      if (write && !room) full_q <= 1'b1;
      case (at_q[1:0])
        2'd0: part_q[7:0]   <= byte_q;
        2'd1: part_q[15:8]  <= byte_q;
        default: part_q[23:16] <= byte_q;
      endcase
      case (at_q)
        16'(TypeAt):       type_q         <= byte_q;
        16'(TypeAt) + 1: begin
          is_type_q <= is_type;
          link_q    <= types_i[Types-1] == {type_q, byte_q};
        end
        16'(TypeAt) + 2:   if (byte_q[7:4] != 4'(ShellVersion)) link_q <= 1'b0;
        16'(KindAt):       kind_q         <= byte_q;
        16'(LengthAt):     length_q[15:8] <= byte_q;
        16'(LengthAt) + 1: length_q[7:0]  <= byte_q;
        16'(CheckAt):      check_q[31:24] <= byte_q;
        16'(CheckAt) + 1:  check_q[23:16] <= byte_q;
        16'(CheckAt) + 2:  check_q[15:8]  <= byte_q;
        16'(CheckAt) + 3:  check_q[7:0]   <= byte_q;
        default: ;
      endcase
    end
    if (!rst_ni) begin
      at_q     <= '0;
      base_q   <= '0;
      ending_q <= 1'b0;
    end
  end

  `GS_ASSERT_NOW(the_ring_is_not_overwritten, ptr_t'(base_q - tail_i) <= ptr_t'(1 << WordsLog2))
endmodule
