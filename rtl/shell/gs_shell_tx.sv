// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Sends frames: a buffer with a few places, each for a frame of headers and payload. A sealed frame gets its tag, each
/// frame its checksum; then its bytes go to the MAC, one a cycle. While a frame is sent, the next ones are sealed: the
/// hasher gets the next frame's words while it computes the tag of the one before.
///
///     processor, memory reader --> buffer --> tag --> CRC (4 bytes a cycle) --> send (1 byte a cycle)
///
/// Places are used in turn: `place_o` is the one to fill while `free_o` is 1.
module gs_shell_tx #(
  /// logarithm of a place's words of 32 bits
  parameter  int unsigned PlaceLog2  = 9,
  /// logarithm of the places
  parameter  int unsigned PlacesLog2 = 1,
  localparam int unsigned AddrW      = PlaceLog2 + PlacesLog2
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // Words of the place that is filled; byte 0 of the frame is in the lowest bits of word 0
  input  logic                  write_valid_i,
  output logic                  write_ready_o,
  input  logic [PlaceLog2-1:0]  write_addr_i,
  input  logic [31:0]           write_data_i,
  output logic                  free_o,
  output logic [PlacesLog2-1:0] place_o,
  /// sends the place: bytes of the payload, and whether a tag of the session's key is made
  input  logic                  send_i,
  input  logic [15:0]           length_i,
  input  logic                  seal_i,
  // Hasher
  output logic                  hash_valid_o,
  input  logic                  hash_ready_i,
  output logic [31:0]           hash_word_o,
  output logic                  hash_first_o,
  output logic [31:0]           hash_count_o,
  output logic                  hash_last_o,
  input  logic                  hash_done_i,
  input  logic [7:0][31:0]      hash_h_i,
  // To the MAC
  output logic [7:0]            data_o,
  output logic                  valid_o,
  input  logic                  ready_i,
  output logic                  last_o,
  /// a frame has been sent
  output logic                  sent_o
);
  import gs_shell_frame_pkg::*;

  typedef logic [PlacesLog2-1:0] place_t;
  typedef logic [PlacesLog2:0]   count_t;

  typedef struct packed {
    logic [15:0] bytes;
    logic        seal;
  } frame_t;
  frame_t frames_q[1 << PlacesLog2];
  // Places that are filled, hashed, get their tag, get their checksum, are sent
  place_t fill_q, hash_q, tag_q, seal_q, send_q;
  count_t filled_q, hashing_q, tagged_q, sealed_q;   // frames before these steps
  count_t used_q;                        // all that are not free

  assign free_o  = !used_q[PlacesLog2];
  assign place_o = fill_q;

  logic sealed, sent, send;
  assign send   = send_i && free_o;
  assign sent_o = sent;

  // -------------------------------------------------------------------------------------------------- buffer
  logic             patch_valid;
  logic [AddrW-1:0] patch_addr;
  logic [31:0]      patch_data;
  logic             read_valid, tag_read, tag_ready, crc_read, send_read;
  logic [AddrW-1:0] read_addr, tag_addr, crc_addr, send_addr;
  logic [31:0]      read_data;
  gs_ram_sdp #(
    .Width(32),
    .Depth(1 << AddrW),
    .Style("block")
  ) i_buffer (
    .clk_i,
    .we_i   (patch_valid || write_valid_i),
    .wstrb_i(1'b1),
    .waddr_i(patch_valid ? patch_addr : {fill_q, write_addr_i}),
    .wdata_i(patch_valid ? patch_data : write_data_i),
    .re_i   (read_valid),
    .raddr_i(read_addr),
    .rdata_o(read_data)
  );
  assign write_ready_o = !patch_valid;
  // The frame that is sent must not stop; the seal waits.
  assign read_valid = send_read || tag_read || crc_read;
  assign read_addr  = send_read ? send_addr : tag_read ? tag_addr : crc_addr;
  assign tag_ready  = !send_read;

  // -------------------------------------------------------------------------------------------------- seal
  // A frame without a tag waits until those before it have theirs.
  frame_t           hashing;
  logic [15:0]      sealing_bytes;
  logic             start, skip, done, digest_ready, has_tag;
  logic [1:0][31:0] digest;
  logic [1:0]       patch_q;             // words of the tag that are not written: the second, the first
  assign hashing = frames_q[hash_q];
  assign sealing_bytes = frames_q[seal_q].bytes;
  assign start   = filled_q != '0 && hashing.seal && digest_ready;
  assign skip    = filled_q != '0 && !hashing.seal && hashing_q == '0;
  assign has_tag  = patch_q == 2'b10 || skip;
  gs_shell_digest #(
    .AddrW(AddrW)
  ) i_digest (
    .clk_i,
    .rst_ni,
    .start_i     (start),
    .ready_o     (digest_ready),
    .at_i        ({hash_q, PlaceLog2'(0)}),
    .bytes_i     (hashing.bytes),
    .done_o      (done),
    .digest_o    (digest),
    .agrees_o    (),
    .read_valid_o(tag_read),
    .read_ready_i(tag_ready),
    .read_addr_o (tag_addr),
    .read_data_i (read_data),
    .hash_valid_o, .hash_ready_i, .hash_word_o, .hash_first_o, .hash_count_o, .hash_last_o, .hash_done_i, .hash_h_i
  );
  always_ff @(posedge clk_i) begin
    if (done) patch_q <= 2'b11;
    else if (patch_q[0]) patch_q <= 2'b10;
    else patch_q <= '0;
    if (!rst_ni) patch_q <= '0;
  end

  typedef enum logic [1:0] {Idle, Crc, Check} seal_e;
  seal_e              state_q;
  logic [PlaceLog2:0] word_q;       // the next word to read
  logic [16:0]        left_q;       // bytes that are not in crc_word_q yet
  logic               coming_q;     // a word is in read_data
  logic               zero_q;       // it is that of the check
  logic [31:0]        crc_q, crc_word_q;
  logic [2:0]         part_q;       // bytes of crc_word_q that the CRC does not include yet: 4, then the next word's;
                                    // fewer at the frame's end, which are included one by one
  logic               end_q;        // crc_word_q is the frame's last one
  assign crc_read = state_q == Crc && !send_read && !tag_read && 32'(word_q) * 4 < 32'(sealing_bytes);
  assign crc_addr = {seal_q, word_q[PlaceLog2-1:0]};

  always_comb begin
    patch_valid = patch_q != '0 || state_q == Check;
    patch_addr  = {seal_q, PlaceLog2'(CheckAt / 4)};
    patch_data  = swap(~crc_q);
    if (patch_q != '0) begin
      patch_addr = {tag_q, patch_q[0] ? PlaceLog2'(TagAt / 4) : PlaceLog2'(TagAt / 4 + 1)};
      patch_data = patch_q[0] ? digest[0] : digest[1];
    end
  end
  assign sealed = state_q == Check && patch_q == '0;

  always_ff @(posedge clk_i) begin
    coming_q <= crc_read;
    zero_q   <= word_q == (PlaceLog2 + 1)'(CheckAt / 4);
    case (state_q)
      Idle: begin
        word_q <= '0;
        left_q <= 17'(sealing_bytes);
        crc_q  <= '1;
        part_q <= '0;
        end_q  <= 1'b0;
        if (tagged_q != '0) state_q <= Crc;
      end
      Crc: begin
        if (crc_read) word_q <= word_q + 1'b1;
        if (part_q[2]) crc_q <= crc32_word(crc_q, crc_word_q);
        else if (part_q != '0) crc_q <= crc32_byte(crc_q, crc_word_q[7:0]);
        crc_word_q <= crc_word_q >> 8;
        part_q     <= part_q[2] || part_q == '0 ? '0 : part_q - 3'd1;
        if (end_q && (part_q[2] || part_q == 3'd1)) state_q <= Check;
        if (coming_q) begin
          crc_word_q <= zero_q ? 32'd0 : read_data;
          part_q     <= left_q >= 17'd4 ? 3'd4 : left_q[2:0];
          end_q      <= left_q <= 17'd4;
          left_q     <= left_q - 17'd4;
        end
      end
      default: if (sealed) state_q <= Idle;
    endcase
    if (!rst_ni) begin
      state_q  <= Idle;
      coming_q <= 1'b0;
    end
  end

  // -------------------------------------------------------------------------------------------------- send
  logic [15:0]        bytes;
  logic               active_q;
  logic [PlaceLog2:0] fetch_q;                // the next word to fetch
  logic [16:0]        rest_q;                 // bytes that are not sent
  logic               asked_q, next_valid_q, word_valid_q;
  logic [31:0]        next_q, now_q;
  logic [1:0]         byte_q;
  assign bytes     = frames_q[send_q].bytes;
  assign send_addr = {send_q, fetch_q[PlaceLog2-1:0]};
  logic fire, turn;
  assign fire    = valid_o && ready_i;
  assign turn    = fire && (byte_q == 2'd3 || last_o);
  assign valid_o = word_valid_q;
  assign data_o  = now_q[8*byte_q+:8];
  assign last_o  = rest_q == 17'd1;
  assign sent    = fire && last_o;

  // One word is sent, one waits; a third is asked for only when its place is free.
  assign send_read = active_q && !asked_q && !next_valid_q && 32'(fetch_q) * 4 < 32'(bytes);
  logic [31:0] arrived;
  logic        has_next, shift;
  assign arrived  = asked_q ? read_data : next_q;
  assign has_next = asked_q || next_valid_q;
  assign shift    = has_next && (!word_valid_q || turn);
  always_ff @(posedge clk_i) begin
    asked_q <= send_read;
    if (active_q) begin
      if (send_read) fetch_q <= fetch_q + 1'b1;
      next_q       <= arrived;
      next_valid_q <= has_next && !shift;
      if (shift) now_q <= arrived;
      if (shift) word_valid_q <= 1'b1;
      else if (turn) word_valid_q <= 1'b0;
      if (fire) begin
        rest_q <= rest_q - 17'd1;
        byte_q <= byte_q + 2'd1;
      end
      if (sent) begin
        active_q     <= 1'b0;
        word_valid_q <= 1'b0;
        next_valid_q <= 1'b0;
      end
    end else if (sealed_q != '0) begin
      active_q <= 1'b1;
      fetch_q  <= '0;
      byte_q   <= '0;
      rest_q   <= 17'(bytes);
    end
    if (!rst_ni) begin
      active_q     <= 1'b0;
      asked_q      <= 1'b0;
      next_valid_q <= 1'b0;
      word_valid_q <= 1'b0;
    end
  end

  // -------------------------------------------------------------------------------------------------- places
  always_ff @(posedge clk_i) begin
    if (send) begin
      frames_q[fill_q] <= frame_t'{bytes: length_i + 16'(HeadBytes), seal: seal_i};
      fill_q           <= fill_q + 1'b1;
    end
    if (start || skip) hash_q <= hash_q + 1'b1;
    if (has_tag) tag_q <= tag_q + 1'b1;
    if (sealed) seal_q <= seal_q + 1'b1;
    if (sent) send_q <= send_q + 1'b1;
    filled_q  <= filled_q + count_t'(send) - count_t'(start || skip);
    hashing_q <= hashing_q + count_t'(start) - count_t'(has_tag && !skip);
    tagged_q  <= tagged_q + count_t'(has_tag) - count_t'(sealed);
    sealed_q <= sealed_q + count_t'(sealed) - count_t'(sent);
    used_q   <= used_q + count_t'(send) - count_t'(sent);
    if (!rst_ni) begin
      fill_q    <= '0;
      hash_q    <= '0;
      tag_q     <= '0;
      seal_q    <= '0;
      send_q    <= '0;
      filled_q  <= '0;
      hashing_q <= '0;
      tagged_q  <= '0;
      sealed_q  <= '0;
      used_q    <= '0;
    end
  end

  `GS_ASSERT_NOW(a_frame_fits_its_place, !send || 32'(length_i) + HeadBytes <= 4 << PlaceLog2)
  `GS_ASSERT_HOLD(a_byte_waits_for_the_mac, valid_o, ready_i, {data_o, last_o})
  `GS_ASSERT_NOW(place_is_not_read_while_it_is_written, !i_buffer.collides)
endmodule
