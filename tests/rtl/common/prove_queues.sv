// SPDX-License-Identifier: Apache-2.0

/// The proofs of all queues in one design, because the tools' start takes longer than the proofs. All inputs are
/// unconstrained.
module prove_queues (
  input logic clk_i,
  input logic rst_ni,
  input logic [5:0]      valid_i,
  input logic [5:0][2:0] data_i,
  input logic [4:0]      ready_i,
  input logic [5:0]      watch_i,
  input logic [1:0]      to_i,
  input logic [2:0]      all_ready_i
);
  prove_fifo #(.Depth(4), .Block(1'b0)) u_even (
    .clk_i, .rst_ni, .in_valid_i(valid_i[0]), .in_data_i(data_i[0]), .out_ready_i(ready_i[0]), .watch_i(watch_i[0])
  );
  prove_fifo #(.Depth(5), .Block(1'b0)) u_odd (
    .clk_i, .rst_ni, .in_valid_i(valid_i[1]), .in_data_i(data_i[1]), .out_ready_i(ready_i[1]), .watch_i(watch_i[1])
  );
  prove_fifo #(.Depth(4), .Block(1'b1)) u_even_block (
    .clk_i, .rst_ni, .in_valid_i(valid_i[2]), .in_data_i(data_i[2]), .out_ready_i(ready_i[2]), .watch_i(watch_i[2])
  );
  prove_fifo #(.Depth(3), .Block(1'b1)) u_odd_block (
    .clk_i, .rst_ni, .in_valid_i(valid_i[3]), .in_data_i(data_i[3]), .out_ready_i(ready_i[3]), .watch_i(watch_i[3])
  );
  prove_skid u_skid (
    .clk_i, .rst_ni, .in_valid_i(valid_i[4]), .in_data_i(data_i[4]), .out_ready_i(ready_i[4]), .watch_i(watch_i[4])
  );
  prove_steer_queue u_sort_queue (
    .clk_i, .rst_ni, .in_valid_i(valid_i[5]), .in_to_i(to_i), .in_data_i(data_i[5]), .out_ready_i(all_ready_i),
    .watch_i(watch_i[5])
  );
endmodule
