// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_ram_mixed, and of the gs_ram_tdp in it: for any word, a read at either port returns the last value that
/// either port wrote to each byte, after the declared latency.
module prove_ram_mixed #(
  parameter int unsigned Latency = 1
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       n_en_i,
  input logic       n_we_i,
  input logic [1:0] n_strb_i,
  input logic [2:0] n_addr_i,
  input logic [1:0] n_wdata_i,
  input logic       w_en_i,
  input logic       w_we_i,
  input logic [3:0] w_strb_i,
  input logic [1:0] w_addr_i,
  input logic [3:0] w_wdata_i
);
  logic [1:0] n_rdata;
  logic [3:0] w_rdata;

  gs_ram_mixed #(
    .NarrowBits(2),
    .WideBits  (4),
    .WideDepth (4),
    .ByteBits  (1),
    .Latency   (Latency)
  ) u_ram (
    .clk_i,
    .n_en_i,
    .n_we_i,
    .n_strb_i,
    .n_addr_i,
    .n_wdata_i,
    .n_rdata_o(n_rdata),
    .w_en_i,
    .w_we_i,
    .w_strb_i,
    .w_addr_i,
    .w_wdata_i,
    .w_rdata_o(w_rdata)
  );

  // Any one narrow word; its value, and which of its two bytes have been written.
  logic [2:0] addr_q;
  logic [1:0] known_q, value_q;
  logic       lane, n_here, w_here, n_write, w_write, meet;

  assign lane    = addr_q[0];
  assign n_here  = n_en_i && n_addr_i == addr_q;
  assign w_here  = w_en_i && w_addr_i == addr_q[2:1];
  assign n_write = n_here && n_we_i;
  assign w_write = w_here && w_we_i;
  assign meet    = n_en_i && w_en_i && n_addr_i[2:1] == w_addr_i;

  `GS_ASSUME_NOW(ports_never_write_the_same_word, !(meet && n_we_i && w_we_i))

  // Expected outputs, in the stages of the RAM.
  logic [1:0] n_known_q, n_known_2_q, n_first_q, n_second_q;
  logic [1:0] w_known_q, w_known_2_q, w_first_q, w_second_q;

  always_ff @(posedge clk_i) begin
    addr_q <= addr_q;
    for (int i = 0; i < 2; i++) begin
      if (n_write && n_strb_i[i]) begin
        known_q[i] <= 1'b1;
        value_q[i] <= n_wdata_i[i];
      end
      if (w_write && w_strb_i[2*32'(lane)+i]) begin
        known_q[i] <= 1'b1;
        value_q[i] <= w_wdata_i[2*32'(lane)+i];
      end
    end
    if (n_en_i) begin
      n_known_q <= (n_here && !n_we_i && !w_write) ? known_q : '0;
      n_first_q <= value_q;
    end
    if (w_en_i) begin
      w_known_q <= (w_here && !w_we_i && !n_write) ? known_q : '0;
      w_first_q <= value_q;
    end
    n_known_2_q <= n_known_q;
    n_second_q  <= n_first_q;
    w_known_2_q <= w_known_q;
    w_second_q  <= w_first_q;
    if (!rst_ni) begin
      known_q     <= '0;
      n_known_q   <= '0;
      n_known_2_q <= '0;
      w_known_q   <= '0;
      w_known_2_q <= '0;
    end
  end

  logic [1:0] n_word, w_word, w_early;
  assign n_word = n_rdata;
  assign w_word = lane ? w_rdata[3:2] : w_rdata[1:0];
  assign w_early = lane ? u_ram.gen_lane[1].u_ram.b_first_q : u_ram.gen_lane[0].u_ram.b_first_q;

  for (genvar i = 0; i < 2; i++) begin : gen_byte
    `GS_ASSERT_NOW(low_lane_stores_the_written_value,
        !known_q[i] || lane || u_ram.gen_lane[0].u_ram.mem[addr_q[2:1]][i] == value_q[i])
    `GS_ASSERT_NOW(high_lane_stores_the_written_value,
        !known_q[i] || !lane || u_ram.gen_lane[1].u_ram.mem[addr_q[2:1]][i] == value_q[i])
    if (Latency == 1) begin : gen_one
      `GS_ASSERT_NOW(narrow_port_returns_the_last_write, !n_known_q[i] || n_word[i] == n_first_q[i])
      `GS_ASSERT_NOW(wide_port_returns_the_last_write, !w_known_q[i] || w_word[i] == w_first_q[i])
    end else begin : gen_two
      `GS_ASSERT_NOW(narrow_port_returns_the_last_write, !n_known_2_q[i] || n_word[i] == n_second_q[i])
      `GS_ASSERT_NOW(wide_port_returns_the_last_write, !w_known_2_q[i] || w_word[i] == w_second_q[i])
      `GS_ASSERT_NOW(value_is_in_the_wide_ports_first_register, !w_known_q[i] || w_early[i] == w_first_q[i])
      `GS_ASSERT_NOW(value_is_in_the_narrow_ports_first_register,
          !n_known_q[i] || (u_ram.gen_two.first_q == lane
                            && (lane ? u_ram.gen_lane[1].u_ram.a_first_q[i] : u_ram.gen_lane[0].u_ram.a_first_q[i])
                               == n_first_q[i]))
    end
  end
  if (Latency == 1) begin : gen_lane_one
    `GS_ASSERT_NOW(lane_follows_the_data, n_known_q == '0 || u_ram.lane_q == lane)
  end

  `GS_COVER_NOW(narrow_port_reads_a_wide_write, n_known_2_q == '1 && lane)
  `GS_COVER_NOW(wide_port_reads_a_write, w_known_2_q == '1 && !lane)
  `GS_COVER_NOW(both_ports_read_a_word, n_known_q != '0 && w_known_q != '0)
endmodule
