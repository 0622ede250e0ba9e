// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_ram_sdp: for any address, a read returns the last value written to each byte, after the declared
/// latency; the output is stable while re_i is 0.
module prove_ram_sdp #(
  parameter int unsigned Latency = 1
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       we_i,
  input logic [1:0] wstrb_i,
  input logic [2:0] waddr_i,
  input logic [3:0] wdata_i,
  input logic       re_i,
  input logic [2:0] raddr_i
);
  logic [3:0] rdata;

  gs_ram_sdp #(
    .Width   (4),
    .Depth   (8),
    .ByteBits(2),
    .Latency (Latency),
    .Style   (Latency == 0 ? "distributed" : "auto")
  ) u_ram (
    .clk_i,
    .we_i,
    .wstrb_i,
    .waddr_i,
    .wdata_i,
    .re_i,
    .raddr_i,
    .rdata_o(rdata)
  );

  // Any one address; its value, and which of its two bytes have been written.
  logic [2:0] addr_q;
  logic [1:0] known_q;
  logic [3:0] value_q;
  // Expected output, in the stages of the RAM.
  logic [1:0] first_known_q, second_known_q;
  logic [3:0] first_q, second_q;
  logic       reads;

  assign reads = re_i && raddr_i == addr_q;

  always_ff @(posedge clk_i) begin
    addr_q <= addr_q;
    for (int i = 0; i < 2; i++) begin
      if (we_i && wstrb_i[i] && waddr_i == addr_q) begin
        known_q[i]         <= 1'b1;
        value_q[2*i+:2]    <= wdata_i[2*i+:2];
      end
    end
    if (re_i) begin
      // The result of a read that coincides with a write is undefined.
      first_known_q <= (reads && !(we_i && waddr_i == raddr_i)) ? known_q : '0;
      first_q       <= value_q;
    end
    second_known_q <= first_known_q;
    second_q       <= first_q;
    if (!rst_ni) begin
      known_q        <= '0;
      first_known_q  <= '0;
      second_known_q <= '0;
    end
  end

  for (genvar i = 0; i < 2; i++) begin : gen_byte
    `GS_ASSERT_NOW(ram_stores_the_written_value,
        !known_q[i] || u_ram.mem[addr_q][2*i+:2] == value_q[2*i+:2])
    if (Latency == 0) begin : gen_now
      `GS_ASSERT_NOW(read_returns_the_last_write,
          !(raddr_i == addr_q && known_q[i]) || rdata[2*i+:2] == value_q[2*i+:2])
    end else if (Latency == 1) begin : gen_one
      `GS_ASSERT_NOW(read_returns_the_last_write, !first_known_q[i] || rdata[2*i+:2] == first_q[2*i+:2])
    end else begin : gen_two
      `GS_ASSERT_NOW(read_returns_the_last_write, !second_known_q[i] || rdata[2*i+:2] == second_q[2*i+:2])
      `GS_ASSERT_NOW(value_is_in_the_first_register,
          !first_known_q[i] || u_ram.gen_registered.first_q[2*i+:2] == first_q[2*i+:2])
    end
  end

  `GS_COVER_NOW(read_combines_bytes_of_two_writes, reads && known_q == '1 && value_q[1:0] != value_q[3:2])
  `GS_COVER_NOW(read_coincides_with_a_write, reads && we_i && waddr_i == raddr_i && known_q != '0)
endmodule
