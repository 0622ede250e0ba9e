// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_shell_image for images of one or two blocks: the body goes to the configuration port only if the
/// manifest and each block were hashed and agreed, after the last write to them. Digests, failures of memory and all
/// requests are arbitrary, so this holds for any firmware.
module prove_image (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             begin_i,
  input logic [17:0]      body_at_i,
  input logic [31:0]      body_bytes_i,
  input logic             discard_i,
  input logic             write_i,
  input logic [17:0]      write_at_i,
  input logic [16:0]      write_bytes_i,
  input logic             writing_i,
  input logic             check_i,
  input logic             check_manifest_i,
  input logic             check_block_i,
  input logic             load_i,
  input logic             read_ended_i,
  input logic             read_failed_i,
  input logic             word_valid_i,
  input logic             hashed_i,
  /// whether the digest is the expected one
  input logic             agrees_i
);
  logic write_done, write_allowed, to_hash, to_expected, to_config, verified, read;
  logic [17:0] read_at;
  logic [1:0]  good;

  // The root and the words of the manifest are 0, so the digest alone decides what agrees.
  gs_shell_image #(
    .BlocksLog2(1)
  ) i_image (
    .clk_i,
    .rst_ni,
    .begin_i,
    .body_at_i,
    .manifest_bytes_i(32'd32),
    .body_bytes_i,
    .root_i          ('0),
    .discard_i,
    .write_i,
    .write_at_i,
    .write_bytes_i,
    .write_done_o    (write_done),
    .write_allowed_o (write_allowed),
    .writing_i,
    .check_i,
    .check_manifest_i,
    .check_block_i,
    .check_done_o    (),
    .check_good_o    (),
    .load_i,
    .load_done_o     (),
    .load_refused_o  (),
    .busy_o          (),
    .verified_o      (verified),
    .good_o          (good),
    .read_o          (read),
    .read_at_o       (read_at),
    .read_bytes_o    (),
    .read_ended_i,
    .read_failed_i,
    .to_hash_o       (to_hash),
    .to_expected_o   (to_expected),
    .to_config_o     (to_config),
    .word_valid_i,
    .word_i          ('0),
    .hashed_i,
    .digest_i        (agrees_i ? '0 : '1)
  );

  // What the proof keeps: sizes of the image, and which parts have agreed since they were written.
  logic [17:0] body_at_q;
  logic [31:0] body_bytes_q;
  logic        manifest_q, begun_q, started_q;
  logic [1:0]  agreed_q;
  logic [1:0]  blocks;
  assign blocks = body_bytes_q > 32'h10000 ? 2'd2 : 2'd1;

  // The part that is hashed: the reader's request of this state.
  logic        hash_manifest_q, hash_block_q;
  logic [18:0] from, to;             // of the write, in the body
  assign from = {1'b0, write_at_i} - {1'b0, body_at_q};
  assign to   = from + 19'(write_bytes_i) - 19'd1;
  logic in_manifest;
  assign in_manifest = {1'b0, write_at_i} + 19'(write_bytes_i) <= {1'b0, body_at_q};

  logic [1:0] touches, touched_q;
  logic       touches_manifest, touched_manifest_q;
  assign touches_manifest = write_done && write_allowed && in_manifest;
  always_comb begin
    for (int unsigned b = 0; b < 2; b++)
      touches[b] = write_done && write_allowed && !in_manifest && 32'(from) < (b + 1) << 16 && 32'(to) >= b << 16;
  end

  logic accepted;
  assign accepted = begin_i && !to_hash && !to_expected && !to_config;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (read && to_hash) begin
      hash_manifest_q <= read_at == '0;
      hash_block_q    <= read_at - body_at_q >= 18'h10000;
    end
    // A part that is written while it is hashed has no digest.
    touched_q          <= to_hash || to_expected ? touched_q | touches : '0;
    touched_manifest_q <= (to_hash || to_expected) && (touched_manifest_q || touches_manifest);
    if (to_hash && hashed_i && agrees_i && !read_failed_i) begin
      if (hash_manifest_q) manifest_q <= !touched_manifest_q;
      else agreed_q[hash_block_q] <= !touched_q[hash_block_q];
    end
    if (touches_manifest) manifest_q <= 1'b0;
    for (int unsigned b = 0; b < 2; b++) if (touches[b]) agreed_q[b] <= 1'b0;
    if (accepted) begin
      begun_q      <= 1'b1;
      manifest_q   <= 1'b0;
      agreed_q     <= '0;
      body_at_q    <= body_at_i;
      body_bytes_q <= body_bytes_i;
    end
    if (!rst_ni) begin
      begun_q    <= 1'b0;
      manifest_q <= 1'b0;
      agreed_q   <= '0;
    end
  end

  // Sizes that the control part checks, and how the shell asks.
  logic possible;
  assign possible = body_at_i == 18'd64 && body_bytes_i != '0 && body_bytes_i <= 32'h20000;
  `GS_ASSUME_NOW(sizes_are_possible, !begin_i || possible)
  `GS_ASSUME_NOW(a_write_has_bytes, !write_i || (write_bytes_i != '0 && write_bytes_i <= 17'd9000))
  // A write keeps its place until the answer.
  logic        pending_q;
  logic [17:0] at_q;
  logic [16:0] bytes_q;
  always_ff @(posedge clk_i) begin
    if (write_i && !pending_q) begin
      pending_q <= 1'b1;
      at_q      <= write_at_i;
      bytes_q   <= write_bytes_i;
    end else if (write_done) pending_q <= 1'b0;
    if (!rst_ni) pending_q <= 1'b0;
  end
  `GS_ASSUME_NOW(a_write_is_stable, !pending_q || (write_at_i == at_q && write_bytes_i == bytes_q))
  `GS_ASSUME_NOW(a_hash_ends_after_its_request, !hashed_i || !read)
  `GS_ASSUME_NOW(a_read_ends_after_its_request, !read_ended_i || !read)

  // A read without an error brings all of its words: four of a hash.
  logic [2:0] words_q;
  always_ff @(posedge clk_i) begin
    if (!to_expected) words_q <= '0;
    else if (word_valid_i && words_q != 3'd4) words_q <= words_q + 3'd1;
  end
  `GS_ASSUME_NOW(a_read_is_whole, !(to_expected && read_ended_i && !read_failed_i) || words_q == 3'd4)

  logic whole;
  assign whole = begun_q && manifest_q && agreed_q[0] && (agreed_q[1] || blocks == 2'd1);
  `GS_ASSERT_NOW(no_part_is_missing, !to_config || whole)
  `GS_COVER_NOW(an_image_of_two_blocks_is_loaded, started_q && to_config && blocks == 2'd2)
  `GS_COVER_NOW(a_write_is_refused, write_done && !write_allowed && begun_q)
  logic unused;
  assign unused = ^{verified, good};
endmodule
