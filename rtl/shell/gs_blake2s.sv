// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// The compression function of BLAKE2s (RFC 7693): one block of 64 bytes every 41 cycles.
///
/// A round is two steps, the columns and the diagonals, each of four parallel mixings; a step takes two cycles, one
/// for each half of a mixing. A block that follows a running one waits in the requester. The chaining value goes in and
/// comes out in full, so that one core serves several hashes, and the block of a key is hashed once:
///
///     clk_i    __/~~\__/~~\__  ...  __/~~\__/~~\__
///     valid_i  __/~~~~~\_____________________
///     ready_o  ~~~~~~~~\_______ ... ________/~~~~
///     valid_o  _________________ ... _____/~~~~~\     h_o is valid, and stays until the next block begins
module gs_blake2s (
  input  logic              clk_i,
  input  logic              rst_ni,
  /// a block to compress, and the chaining value before it
  input  logic              valid_i,
  output logic              ready_o,
  input  logic [7:0][31:0]  h_i,
  /// words of the message, first word in the lowest bits
  input  logic [15:0][31:0] block_i,
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

  logic [15:0][31:0] v_q, m_q;
  logic [7:0][31:0]  h_q;
  logic [3:0]        round_q;
  logic              busy_q, done_q, diagonal_q, second_q;

  logic [15:0][31:0] v_d;
  logic [15:0][31:0] begun;
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      begun[i]     = h_i[i];
      begun[i + 8] = Initial[i];
    end
    begun[12] ^= count_i[31:0];
    begun[13] ^= count_i[63:32];
    if (last_i) begun[14] = ~begun[14];
  end

  logic [3:0][31:0] sum, b_new, total, d_new;
  // The four mixings of a step. The second step's diagonals are columns of rows that are rotated.
  for (genvar i = 0; i < 4; i++) begin : gen_mix
    logic [31:0] word, b, c, d, turned, mixed;
    assign word = m_q[Order[round_q][{diagonal_q, 2'(i), second_q}]];
    assign b    = diagonal_q ? v_q[4 + (i + 1) % 4] : v_q[4 + i];
    assign c    = diagonal_q ? v_q[8 + (i + 2) % 4] : v_q[8 + i];
    assign d    = diagonal_q ? v_q[12 + (i + 3) % 4] : v_q[12 + i];

    assign sum[i]   = v_q[i] + b + word;
    assign turned   = d ^ sum[i];
    assign d_new[i] = second_q ? {turned[7:0], turned[31:8]} : {turned[15:0], turned[31:16]};
    assign total[i] = c + d_new[i];
    assign mixed    = b ^ total[i];
    assign b_new[i] = second_q ? {mixed[6:0], mixed[31:7]} : {mixed[11:0], mixed[31:12]};
  end

  always_comb begin
    v_d = v_q;
    for (int unsigned i = 0; i < 4; i++) begin
      v_d[i] = sum[i];
      if (diagonal_q) begin
        v_d[4 + (i + 1) % 4]  = b_new[i];
        v_d[8 + (i + 2) % 4]  = total[i];
        v_d[12 + (i + 3) % 4] = d_new[i];
      end else begin
        v_d[4 + i]  = b_new[i];
        v_d[8 + i]  = total[i];
        v_d[12 + i] = d_new[i];
      end
    end
  end
  logic take, last_step;
  assign ready_o   = !busy_q;
  assign take      = valid_i && ready_o;
  assign last_step = diagonal_q && second_q && round_q == 4'd9;

  always_ff @(posedge clk_i) begin
    if (take) begin
      v_q <= begun;
      m_q <= block_i;
      h_q <= h_i;
    end else if (busy_q && !done_q) begin
      v_q <= v_d;
    end else if (done_q) begin
      for (int unsigned i = 0; i < 8; i++) h_q[i] <= h_q[i] ^ v_q[i] ^ v_q[i + 8];
    end
    if (take) {round_q, diagonal_q, second_q} <= '0;
    else if (busy_q) begin
      second_q   <= !second_q;
      diagonal_q <= diagonal_q ^ second_q;
      if (diagonal_q && second_q) round_q <= round_q + 4'd1;
    end
    done_q <= busy_q && !done_q && last_step;
    valid_o <= done_q;
    if (take) busy_q <= 1'b1;
    else if (done_q) busy_q <= 1'b0;
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      done_q  <= 1'b0;
      valid_o <= 1'b0;
    end
  end
  assign h_o = h_q;

  `GS_ASSERT_HOLD(block_waits_until_it_is_taken, valid_i, ready_o, {h_i, block_i, count_i, last_i})
endmodule
