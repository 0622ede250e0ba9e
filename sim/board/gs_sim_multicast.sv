// SPDX-License-Identifier: Apache-2.0

/// Observer of a multicast router for a simulator's harness: flits of the mailbox network that arrive and that leave,
/// and messages by key that are consumed. Not synthesized.
///
/// It is bound to every gs_multicast, which is unaware of it. All values are of the cycle before the last edge; a flit
/// keeps its value until the next.
module gs_sim_multicast
  import gossamer_pkg::flit_t;
#(
  /// virtual channels with an engine
  parameter int unsigned Vcs = 1
) (
  input logic           clk_i,
  // A flit arrives, by its channel; one leaves. A channel's copies leave in the order of their messages.
  input logic [Vcs-1:0] came_i,
  input flit_t          came_flit_i,
  input logic [Vcs-1:0] left_i,
  input flit_t          left_flit_i,
  // All copies of a channel's first message have left.
  input logic [Vcs-1:0] consumed_i
);
  localparam int unsigned Words = 6;

  logic [7:0]  sim_came  /*verilator public_flat_rd*/;
  logic [7:0]  sim_left  /*verilator public_flat_rd*/;
  logic [7:0]  sim_consumed  /*verilator public_flat_rd*/;
  logic [31:0] sim_came_flit[Words]  /*verilator public_flat_rd*/;
  logic [31:0] sim_left_flit[Words]  /*verilator public_flat_rd*/;

  // Only harnesses read these, so blocking assignments are allowed; they cost the simulator less.
  always @(posedge clk_i) begin
    sim_came     = 8'(came_i);
    sim_left     = 8'(left_i);
    sim_consumed = 8'(consumed_i);
    if (came_i != '0) begin
      for (int unsigned i = 0; i < Words; i++) sim_came_flit[i] = 32'((32 * Words)'(came_flit_i) >> (32 * i));
    end
    if (left_i != '0) begin
      for (int unsigned i = 0; i < Words; i++) sim_left_flit[i] = 32'((32 * Words)'(left_flit_i) >> (32 * i));
    end
  end
endmodule

bind gs_multicast gs_sim_multicast #(
  .Vcs(Vcs)
) u_seen (
  .clk_i,
  .came_i     (in_valid_i[Vcs-1:0]),
  .came_flit_i(in_i),
  .left_i     (out_valid_o[Vcs-1:0]),
  .left_flit_i(out_o),
  .consumed_i (received_o)
);
