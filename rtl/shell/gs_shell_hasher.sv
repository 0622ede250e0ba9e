// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// One BLAKE2s core (gs_blake2s) for several users. Each hashes blocks of 64 bytes, given as 16 words; the chaining
/// value of each user is kept here. While the core compresses a block, the next one is collected, so that the core
/// is never idle when words are there.
///
///     user 0 words --\
///     user 1 words ---+-> collect 16 words --> core (42 cycles) --> chaining value of the user
///     user 2 words --/
module gs_shell_hasher #(
  /// users
  parameter  int unsigned Users = 3,
  localparam int unsigned UserW = Users > 1 ? $clog2(Users) : 1
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  // Words of blocks; a user that has begun a block keeps the others waiting until its 16th word
  input  logic [Users-1:0]             valid_i,
  output logic [Users-1:0]             ready_o,
  input  logic [Users-1:0][31:0]       word_i,
  /// the hash begins with h_i; otherwise it continues with the chaining value of the user's previous block
  input  logic [Users-1:0]             first_i,
  input  logic [Users-1:0][7:0][31:0]  h_i,
  // With the last word of a block:
  /// bytes of the hash up to the block's end, and whether it is the last one
  input  logic [Users-1:0][31:0]       count_i,
  input  logic [Users-1:0]             last_i,
  /// done_o comes after each block of this user; constant
  input  logic [Users-1:0]             single_i,
  /// the user's last block is hashed: for one cycle
  output logic [Users-1:0]             done_o,
  /// chaining value of each user after its last block: the digest, first byte in the lowest bits of word 0
  output logic [Users-1:0][7:0][31:0]  h_o
);
  typedef logic [UserW-1:0] user_t;

  logic [Users-1:0][7:0][31:0] h_q;
  logic [4:0]                  held_q;       // words that are collected
  user_t                       user_q;       // whose words are taken
  user_t                       block_user_q; // whose block is collected
  user_t                       running_q;    // whose block is in the core
  logic                        busy_q, running_last_q;
  logic                        first_q, last_q;
  logic [31:0]                 count_q;

  // Before a block, one cycle chooses the user: the first that has a word. So no user's ready depends on the others'
  // valid.
  user_t pick;
  logic  granted_q;
  always_comb begin
    pick = '0;
    for (int unsigned i = Users; i-- > 0;) if (valid_i[i]) pick = user_t'(i);
  end

  logic full, core_ready, core_done, launch;
  assign full = held_q[4];
  always_comb begin
    ready_o         = '0;
    ready_o[user_q] = granted_q && !full;
  end
  logic take;
  assign take   = valid_i[user_q] && granted_q && !full;
  // A block follows its user's previous one, whose result must be there; the first one of a hash follows none.
  assign launch = full && core_ready && (!busy_q || first_q);
  logic core_room;

  logic [7:0][31:0] core_h;
  gs_blake2s i_core (
    .clk_i,
    .rst_ni,
    .word_valid_i(take),
    .word_ready_o(core_room),
    .word_i      (word_i[user_q]),
    .valid_i(launch),
    .ready_o(core_ready),
    .h_i    (first_q ? h_i[block_user_q] : h_q[block_user_q]),
    .count_i({32'd0, count_q}),
    .last_i (last_q),
    .valid_o(core_done),
    .h_o    (core_h)
  );

  always_ff @(posedge clk_i) begin
    done_o <= '0;
    if (!granted_q) begin
      user_q    <= pick;
      granted_q <= |valid_i && !full;
    end else if (take && held_q == 5'd15) begin
      granted_q <= 1'b0;
    end
    if (take) begin
      first_q <= first_i[user_q];
      count_q <= count_i[user_q];
      last_q  <= last_i[user_q];
      block_user_q <= user_q;
    end
    if (launch) held_q <= '0;
    else if (take) held_q <= held_q + 5'd1;
    if (launch) begin
      busy_q         <= 1'b1;
      running_q      <= block_user_q;
      running_last_q <= last_q;
    end else if (core_done) begin
      busy_q <= 1'b0;
    end
    if (core_done) begin
      h_q[running_q]    <= core_h;
      done_o[running_q] <= running_last_q || single_i[running_q];
    end
    if (!rst_ni) begin
      granted_q <= 1'b0;
      held_q <= '0;
      busy_q <= 1'b0;
      done_o <= '0;
    end
  end
  assign h_o = h_q;

  `GS_ASSERT_NOW(core_has_room_for_the_block_that_is_collected, !take || core_room)
endmodule
