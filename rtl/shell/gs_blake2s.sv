// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// The compression function of BLAKE2s (RFC 7693): one block of 64 bytes every 41 cycles.
///
/// A round has four half-steps of four parallel mixings: both halves of the columns, both halves of the diagonals. Each
/// has hardware and registers of its own, so that no multiplexer for rotations is in the path; the state goes round
/// them, ten times for a block. The words of the next block are collected meanwhile. The chaining value goes in and
/// comes out in full, so that one core serves several hashes, and the block of a key is hashed once:
///
///     clk_i         __/~~\__/~~\__  ...  __/~~\__/~~\__
///     word_valid_i  __________/~~~~ ... ~~~~~~~~~\____     the next block's words
///     valid_i       __/~~~~~\_______________________
///     ready_o       ~~~~~~~~\_______ ... ________/~~~~     its words are there, and the core is free
///     valid_o       _________________ ... _____/~~~~~\     h_o is valid, and stays until the next block begins
module gs_blake2s (
  input  logic              clk_i,
  input  logic              rst_ni,
  // The 16 words of the next block, first word first
  input  logic              word_valid_i,
  output logic              word_ready_o,
  input  logic [31:0]       word_i,
  /// compresses that block; the chaining value before it
  input  logic              valid_i,
  output logic              ready_o,
  input  logic [7:0][31:0]  h_i,
  /// bytes of the hash up to the end of this block
  input  logic [63:0]       count_i,
  /// 1 for the last block of a hash
  input  logic              last_i,
  /// 1 for one cycle when h_o is the chaining value after the block
  output logic              valid_o,
  output logic [7:0][31:0]  h_o
);
  localparam logic [7:0][31:0] Initial = {
    32'h5BE0CD19, 32'h1F83D9AB, 32'h9B05688C, 32'h510E527F, 32'hA54FF53A, 32'h3C6EF372, 32'hBB67AE85, 32'h6A09E667
  };
  // Words of the message in the order of their use; ten rounds, first use in the lowest bits (RFC 7693, 2.7).
  localparam logic [9:0][15:0][3:0] Order = {
    64'h0DC3E9BF5167482A, 64'h5A417D2C803B9EF6, 64'hA2684F05931CE7BD, 64'hB8293670A4DEF15C, 64'h91EF57D438B0A6C2,
    64'hD386CB1EFA427509, 64'h8F04A562EBCD1397, 64'h491763EADF250C8B, 64'h357B20C16DF984AE, 64'hFEDCBA9876543210
  };

  localparam logic [5:0] Steps = 6'd40;

  // The number of the word that a lane adds in a half-step: four half-steps a round.
  function automatic logic [3:0] word_of(logic [5:0] step, logic [1:0] lane);
    return Order[step[5:2]][{step[1], lane, step[0]}];
  endfunction

  // ------------------------------------------------------------------------------------------------ words
  logic [3:0]  count_q;
  logic        full_q;       // the next block's words are there
  logic        bank_q;       // where they are; the running block's are in the other bank
  logic        loaded_q;     // x_q has the words of the next block's first half-step
  logic        busy_q, done_q;
  logic        ahead_q;      // the next block's first words are read, no more the running one's
  logic [5:0]  read_q;       // half-step whose words are read
  logic        take;
  logic [3:0][31:0] x, x_q;  // of the half-step that follows the current one
  assign word_ready_o = !full_q;
  assign ready_o      = loaded_q && !busy_q;
  assign take         = valid_i && ready_o;
  for (genvar i = 0; i < 4; i++) begin : gen_words
    gs_ram_sdp #(
      .Width  (32),
      .Depth  (32),
      .Latency(0),
      .Style  ("distributed")
    ) i_words (
      .clk_i,
      .we_i   (word_valid_i && word_ready_o),
      .wstrb_i(1'b1),
      .waddr_i({bank_q, count_q}),
      .wdata_i(word_i),
      .re_i   (1'b1),
      .raddr_i({bank_q ^ !ahead_q, word_of(read_q, 2'(i))}),
      .rdata_o(x[i])
    );
  end

  // ------------------------------------------------------------------------------------------------ mixing
  // Inputs of each half-step, by lane: the word is already added to the first row. a_q is that row after a round.
  logic [3:0][3:0][31:0] ax_q, b_q, c_q, d_q;
  logic [3:0][31:0]      a_q;
  logic [3:0][3:0][31:0] sum, ax_d, total, d_new, b_new;
  for (genvar k = 0; k < 4; k++) begin : gen_half
    for (genvar i = 0; i < 4; i++) begin : gen_lane
      logic [31:0] turned, mixed;
      assign sum[k][i]   = ax_q[k][i] + b_q[k][i];
      assign ax_d[k][i]  = sum[k][i] + x_q[i];
      assign turned      = d_q[k][i] ^ sum[k][i];
      assign d_new[k][i] = k[0] ? {turned[7:0], turned[31:8]} : {turned[15:0], turned[31:16]};
      assign total[k][i] = c_q[k][i] + d_new[k][i];
      assign mixed       = b_q[k][i] ^ total[k][i];
      assign b_new[k][i] = k[0] ? {mixed[6:0], mixed[31:7]} : {mixed[11:0], mixed[31:12]};
    end
  end

  logic [3:0][31:0] begun;   // the last row at the beginning
  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begun[i] = Initial[4+i];
    begun[0] ^= count_i[31:0];
    begun[1] ^= count_i[63:32];
    if (last_i) begun[2] = ~begun[2];
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) begin
      // The lanes of the diagonals are the columns of rows that are rotated, and back.
      ax_q[1][i] <= ax_d[0][i];
      b_q[1][i]  <= b_new[0][i];
      c_q[1][i]  <= total[0][i];
      d_q[1][i]  <= d_new[0][i];
      ax_q[2][i] <= ax_d[1][i];
      b_q[2][i]  <= b_new[1][(i+1)%4];
      c_q[2][i]  <= total[1][(i+2)%4];
      d_q[2][i]  <= d_new[1][(i+3)%4];
      ax_q[3][i] <= ax_d[2][i];
      b_q[3][i]  <= b_new[2][i];
      c_q[3][i]  <= total[2][i];
      d_q[3][i]  <= d_new[2][i];
      a_q[i]     <= sum[3][i];
      ax_q[0][i] <= take ? h_i[i] + x_q[i] : ax_d[3][i];
      b_q[0][i]  <= take ? h_i[4+i] : b_new[3][(i+3)%4];
      c_q[0][i]  <= take ? Initial[i] : total[3][(i+2)%4];
      d_q[0][i]  <= take ? begun[i] : d_new[3][(i+1)%4];
    end
    if (!loaded_q || take) x_q <= x;
  end

  // ------------------------------------------------------------------------------------------------ control
  logic [5:0] step_q;
  always_ff @(posedge clk_i) begin
    if (word_valid_i && word_ready_o) begin
      count_q <= count_q + 4'd1;
      full_q  <= &count_q;
    end
    loaded_q <= ahead_q && full_q;
    ahead_q  <= ahead_q || read_q == Steps - 6'd1;
    read_q   <= ahead_q ? {5'd0, full_q} : read_q == Steps - 6'd1 ? '0 : read_q + 6'd1;
    step_q   <= step_q + 6'd1;
    done_q  <= busy_q && !done_q && step_q == Steps - 6'd1;
    valid_o <= done_q;
    if (done_q) begin
      busy_q <= 1'b0;
      for (int unsigned i = 0; i < 4; i++) begin
        h_o[i]   <= h_o[i] ^ a_q[i] ^ c_q[0][i];
        h_o[4+i] <= h_o[4+i] ^ b_q[0][i] ^ d_q[0][i];
      end
    end
    if (take) begin
      h_o      <= h_i;
      busy_q   <= 1'b1;
      step_q   <= '0;
      read_q   <= 6'd2;
      ahead_q  <= 1'b0;
      full_q   <= 1'b0;
      loaded_q <= 1'b0;
      bank_q   <= !bank_q;
    end
    if (!rst_ni) begin
      count_q  <= '0;
      full_q   <= 1'b0;
      loaded_q <= 1'b0;
      bank_q   <= 1'b0;
      ahead_q  <= 1'b1;
      read_q   <= '0;
      busy_q   <= 1'b0;
      done_q   <= 1'b0;
      valid_o  <= 1'b0;
    end
  end

  `GS_ASSERT_HOLD(block_waits_until_it_is_taken, valid_i, ready_o, {h_i, count_i, last_i})
  `GS_ASSERT_HOLD(word_waits_until_it_is_taken, word_valid_i, word_ready_o, word_i)
endmodule
