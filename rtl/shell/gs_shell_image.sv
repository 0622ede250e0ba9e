// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Guards the image that is received: it is given to the configuration port only if each of its blocks was hashed in
/// memory, agrees with the manifest, and was not written since; and the manifest agrees with the root. Whatever the
/// firmware asks for, no image with a missing or a foreign byte is loaded.
///
///     write of a chunk --> allowed only in blocks that are not verified, nor being hashed
///     check of a block --> read its hash in the manifest, hash the block, compare --> mark as verified
///     load             --> allowed only if all blocks are verified --> body to the configuration port
///
/// Offsets are those of the image: the manifest begins at 0, the body at `body_at`, a multiple of 64. It reads memory
/// with a reader of its own choice of destination.
module gs_shell_image #(
  /// logarithm of the most blocks of 64 KiB
  parameter  int unsigned BlocksLog2 = 11,
  localparam int unsigned OffsetW    = BlocksLog2 + 17
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  /// a new image: all that was verified is forgotten. The sizes are those of docs/hardware/shell.md
  input  logic                begin_i,
  input  logic [OffsetW-1:0]  body_at_i,
  input  logic [31:0]         manifest_bytes_i,
  input  logic [31:0]         body_bytes_i,
  input  logic [7:0][31:0]    root_i,
  /// no image any more
  input  logic                discard_i,
  // Writes: a chunk that is about to be written; the answer is valid in the cycle of write_done_o
  input  logic                write_i,
  input  logic [OffsetW-1:0]  write_at_i,
  input  logic [16:0]         write_bytes_i,
  output logic                write_done_o,
  output logic                write_allowed_o,
  /// a write that was allowed is not in memory yet
  input  logic                writing_i,
  // Checks of a block, or of the manifest; check_good_o is valid with check_done_o
  input  logic                check_i,
  input  logic                check_manifest_i,
  input  logic [BlocksLog2-1:0] check_block_i,
  output logic                check_done_o,
  output logic                check_good_o,
  /// loads the body; refused unless all is verified
  input  logic                load_i,
  output logic                load_done_o,
  output logic                load_refused_o,
  /// a check or a load is running
  output logic                busy_o,
  output logic                verified_o,
  /// blocks that are verified
  output logic [BlocksLog2:0] good_o,
  // Reader of memory: words to one of three destinations
  output logic                read_o,
  output logic [OffsetW-1:0]  read_at_o,
  output logic [31:0]         read_bytes_o,
  input  logic                read_ended_i,
  input  logic                read_failed_i,
  output logic                to_hash_o,
  output logic                to_expected_o,
  output logic                to_config_o,
  // Words for to_expected_o
  input  logic                word_valid_i,
  input  logic [31:0]         word_i,
  // The digest of the words for to_hash_o
  input  logic                hashed_i,
  input  logic [7:0][31:0]    digest_i
);
  typedef logic [BlocksLog2-1:0] block_t;
  typedef logic [BlocksLog2:0]   count_t;
  typedef enum logic [2:0] {Closed, Clear, Idle, Look, Expect, Hash, Load} state_e;

  state_e             state_q;
  block_t             block_q;         // that is cleared, or checked
  logic               manifest_q;      // the check is that of the manifest
  logic               manifest_good_q;
  count_t             good_q;
  logic [OffsetW-1:0] body_at_q;
  logic [31:0]        manifest_bytes_q, body_bytes_q;
  logic [7:0][31:0]   root_q;
  logic [3:0][31:0]   expected_q;

  count_t blocks;
  assign blocks = count_t'((33'(body_bytes_q) + 33'h0FFFF) >> 16);

  // -------------------------------------------------------------------------------------------- verified blocks
  logic   mark, mark_value, is_good;
  block_t mark_at, look_at;
  gs_ram_sdp #(
    .Width  (1),
    .Depth  (1 << BlocksLog2),
    .Style  ("block")
  ) i_good (
    .clk_i,
    .we_i   (mark),
    .wstrb_i(1'b1),
    .waddr_i(mark_at),
    .wdata_i(mark_value),
    .re_i   (1'b1),
    .raddr_i(look_at),
    .rdata_o(is_good)
  );

  // -------------------------------------------------------------------------------------------- writes
  logic hashing;
  assign hashing = state_q == Expect || state_q == Hash;
  // First and Last look at the marks of the first and of the last block; the marks come a cycle later.
  typedef enum logic [2:0] {None, First, Last, Judge, Answer} write_e;
  write_e             write_q;
  logic               allowed_q;
  logic [OffsetW-1:0] in_body_first, in_body_last;
  logic               in_manifest_q, in_image_q;
  logic               clash_q;           // the block that was looked at was being hashed
  block_t             first_q, last_q;   // blocks of the write
  logic [OffsetW:0]   write_end;
  assign write_end     = {1'b0, write_at_i} + (OffsetW + 1)'(write_bytes_i);
  assign in_body_first = write_at_i - body_at_q;
  assign in_body_last  = in_body_first + OffsetW'(write_bytes_i) - 1'b1;
  assign look_at       = write_q == First ? first_q : write_q == Last ? last_q : check_block_i;
  always_ff @(posedge clk_i) begin
    in_manifest_q <= write_end <= {1'b0, body_at_q};
    in_image_q    <= write_at_i >= body_at_q && 33'(write_end - {1'b0, body_at_q}) <= 33'(body_bytes_q);
    first_q       <= in_body_first[16+:BlocksLog2];
    last_q        <= in_body_last[16+:BlocksLog2];
    // A mark that is written in this cycle may be read as either value.
    clash_q       <= state_q == Clear || hashing && (manifest_q ? in_manifest_q : !in_manifest_q && block_q == look_at);
  end

  logic unused;
  assign unused = ^{in_body_last[OffsetW-1:16+BlocksLog2], in_body_last[15:0], in_body_first[OffsetW-1:16+BlocksLog2],
      in_body_first[15:0]};

  assign write_done_o    = write_q == Answer;
  assign write_allowed_o = allowed_q;

  // -------------------------------------------------------------------------------------------- checks and loads
  logic start_check, start_load, refuse, known;
  // A check waits for writes, so that it reads what they have written, and for their look at the marks.
  assign start_check = state_q == Idle && check_i && !writing_i && write_q == None && !write_i;
  assign known       = manifest_q ? manifest_good_q : is_good;
  assign start_load  = state_q == Idle && load_i && !check_i && !writing_i && write_q == None && !write_i;
  assign verified_o  = state_q != Closed && state_q != Clear && manifest_good_q && good_q == blocks;
  assign refuse      = !verified_o;

  // Sizes whose blocks have no place here, or whose hashes the manifest does not cover, open no image.
  logic fits_q;
  always_ff @(posedge clk_i)
    fits_q <= body_bytes_q != '0 && body_bytes_q <= 32'h10000 << BlocksLog2 &&
        manifest_bytes_q >= 32'({blocks, 4'd0}) && manifest_bytes_q <= 32'(body_at_q);

  logic   same, agree;
  assign same  = manifest_q ? digest_i == root_q : digest_i[3:0] == expected_q;
  assign agree = state_q == Hash && hashed_i && same && !read_failed_i;

  assign to_expected_o = state_q == Expect;
  assign to_hash_o     = state_q == Hash;
  assign to_config_o   = state_q == Load;
  assign busy_o        = hashing || state_q == Load || state_q == Clear;
  assign good_o        = good_q;

  logic [31:0] block_at, block_bytes;
  assign block_at    = {16'(block_q), 16'd0};
  assign block_bytes = body_bytes_q - block_at < 32'h10000 ? body_bytes_q - block_at : 32'h10000;

  logic asked_q;       // the reader has the request of this state
  always_comb begin
    read_o       = !asked_q;
    read_at_o    = '0;
    read_bytes_o = manifest_bytes_q;
    case (state_q)
      Expect: begin
        read_at_o    = OffsetW'({block_q, 4'd0});
        read_bytes_o = 32'd16;
      end
      Hash:
      if (!manifest_q) begin
        read_at_o    = body_at_q + OffsetW'(block_at);
        read_bytes_o = block_bytes;
      end
      Load: begin
        read_at_o    = body_at_q;
        read_bytes_o = body_bytes_q;
      end
      default: read_o = 1'b0;
    endcase
  end

  assign mark       = state_q == Clear || (agree && !manifest_q);
  assign mark_value = state_q != Clear;
  assign mark_at    = block_q;

  always_ff @(posedge clk_i) begin
    check_done_o   <= 1'b0;
    check_good_o   <= 1'b0;
    load_done_o    <= 1'b0;
    load_refused_o <= 1'b0;
    if (read_o) asked_q <= 1'b1;
    if (word_valid_i && state_q == Expect) expected_q <= {word_i, expected_q[3:1]};
    case (state_q)
      Clear: begin
        block_q <= block_q + 1'b1;
        if (&block_q) state_q <= fits_q ? Idle : Closed;
      end
      Idle: begin
        asked_q <= 1'b0;
        if (start_check) begin
          manifest_q <= check_manifest_i;
          block_q    <= check_block_i;
          state_q    <= Look;
        end else if (start_load) begin
          if (refuse) {load_done_o, load_refused_o} <= '1;
          else state_q <= Load;
        end
      end
      Look: begin
        state_q <= manifest_q ? Hash : Expect;
        if (known || (!manifest_q && (!manifest_good_q || count_t'(block_q) >= blocks))) begin
          state_q      <= Idle;
          check_done_o <= 1'b1;
          check_good_o <= known;
        end
      end
      Expect:
      if (read_ended_i) begin
        state_q      <= read_failed_i ? Idle : Hash;
        asked_q      <= 1'b0;
        check_done_o <= read_failed_i;
      end
      Hash:
      if (hashed_i) begin
        state_q      <= Idle;
        check_done_o <= 1'b1;
        check_good_o <= agree;
        if (agree && manifest_q) manifest_good_q <= 1'b1;
        if (agree && !manifest_q) good_q <= good_q + 1'b1;
      end
      Load:
      if (read_ended_i) begin
        state_q        <= Closed;
        load_done_o    <= 1'b1;
        load_refused_o <= read_failed_i;
      end
      default: ;  // Closed
    endcase
    case (write_q)
      None: if (write_i) write_q <= First;
      First: write_q <= Last;
      Last: begin
        allowed_q <= state_q != Closed && state_q != Clear && state_q != Load && !load_done_o && !clash_q &&
            (in_manifest_q ? !manifest_good_q : in_image_q && !is_good);
        write_q <= Judge;
      end
      Judge: begin
        if (clash_q || (!in_manifest_q && is_good) || (in_manifest_q && manifest_good_q)) allowed_q <= 1'b0;
        write_q <= Answer;
      end
      default: write_q <= None;
    endcase
    if (begin_i && !hashing && state_q != Load) begin
      state_q          <= Clear;
      block_q          <= '0;
      good_q           <= '0;
      manifest_good_q  <= 1'b0;
      body_at_q        <= body_at_i;
      manifest_bytes_q <= manifest_bytes_i;
      body_bytes_q     <= body_bytes_i;
      root_q           <= root_i;
    end else if (discard_i && !hashing && state_q != Load) begin
      state_q <= Closed;
    end
    if (!rst_ni) begin
      state_q         <= Closed;
      write_q         <= None;
      manifest_good_q <= 1'b0;
      check_done_o    <= 1'b0;
      load_done_o     <= 1'b0;
      load_refused_o  <= 1'b0;
    end
  end

  `GS_ASSERT_NOW(mark_that_is_used_is_defined, !i_good.undefined || clash_q || in_manifest_q ||
      !(state_q == Look || write_q == Last || write_q == Judge))
  `GS_ASSERT_NOW(only_a_verified_image_is_loaded, state_q != Load || (manifest_good_q && good_q == blocks))
endmodule
