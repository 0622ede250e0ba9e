// SPDX-License-Identifier: Apache-2.0

/// The proofs of all memories in one design, for all latencies. All inputs are unconstrained.
module prove_memories (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       we_i,
  input logic [1:0] wstrb_i,
  input logic [2:0] waddr_i,
  input logic [3:0] wdata_i,
  input logic       re_i,
  input logic [2:0] raddr_i,
  input logic       w_we_i,
  input logic [3:0] w_strb_i,
  input logic [1:0] w_wdata_i
);
  for (genvar latency = 0; latency <= 2; latency++) begin : gen_latency
    prove_ram_sdp #(.Latency(latency)) u_sdp (
      .clk_i, .rst_ni, .we_i, .wstrb_i, .waddr_i, .wdata_i, .re_i, .raddr_i
    );
    if (latency > 0) begin : gen_mixed
      prove_ram_mixed #(.Latency(latency)) u_mixed (
        .clk_i, .rst_ni, .n_en_i(re_i), .n_we_i(w_we_i), .n_strb_i(wstrb_i), .n_addr_i(raddr_i),
        .n_wdata_i(w_wdata_i), .w_en_i(waddr_i[2]), .w_we_i(we_i), .w_strb_i, .w_addr_i(waddr_i[1:0]),
        .w_wdata_i(wdata_i)
      );
    end
  end
endmodule
