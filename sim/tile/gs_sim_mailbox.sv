// SPDX-License-Identifier: Apache-2.0

/// A mailbox's events for simulation harnesses: sends, packets sent and received, messages delivered to threads. Not
/// synthesized.
///
/// Each event toggles its bit; the event's fields hold their values until the next such event. So a harness sees no
/// event twice if the simulator skips cycles without changes. This module is bound to every gs_mailbox, which does not
/// depend on it.
module gs_sim_mailbox
  import gossamer_pkg::flit_t, gossamer_pkg::flit_kind_e;
#(
  /// threads of the tile
  parameter  int unsigned Threads = 64,
  localparam int unsigned ThreadW = $clog2(Threads)
) (
  input logic               clk_i,
  // A send has been accepted; the sends of a route are transmitted in this order.
  input logic               send_i,
  input logic [ThreadW-1:0] send_thread_i,
  input logic [1:0]         send_route_i,
  input flit_kind_e         send_kind_i,
  input logic [31:0]        send_dest_i,
  input logic [63:0]        send_head_i,
  // A flit is sent to the mailbox network.
  input logic               out_i,
  input flit_t              out_flit_i,
  // A flit is sent to another virtual network.
  input logic               far_i,
  input flit_t              far_flit_i,
  // A flit is received, from this tile or from the network; with the last one in_dropped_i reports whether the packet
  // is dropped.
  input logic               in_i,
  input logic               in_local_i,
  input logic               in_dropped_i,
  input flit_t              in_flit_i,
  // A message enters the queues of threads, in the order of the last flits of accepted packets.
  input logic               deal_i,
  input logic               deal_masked_i,
  input logic [ThreadW-1:0] deal_thread_i,
  input logic [Threads-1:0] deal_mask_i
);
  localparam int unsigned Words = 6;

  logic        sim_send  /*verilator public_flat_rd*/;
  logic [7:0]  sim_send_thread  /*verilator public_flat_rd*/;
  logic [7:0]  sim_send_route  /*verilator public_flat_rd*/;
  logic [7:0]  sim_send_kind  /*verilator public_flat_rd*/;
  logic [31:0] sim_send_dest  /*verilator public_flat_rd*/;
  logic [63:0] sim_send_head  /*verilator public_flat_rd*/;
  logic        sim_out  /*verilator public_flat_rd*/;
  logic [31:0] sim_out_flit[Words]  /*verilator public_flat_rd*/;
  logic        sim_far  /*verilator public_flat_rd*/;
  logic [31:0] sim_far_flit[Words]  /*verilator public_flat_rd*/;
  logic        sim_in  /*verilator public_flat_rd*/;
  logic        sim_in_local  /*verilator public_flat_rd*/;
  logic        sim_in_dropped  /*verilator public_flat_rd*/;
  logic [31:0] sim_in_flit[Words]  /*verilator public_flat_rd*/;
  logic        sim_deal  /*verilator public_flat_rd*/;
  logic [63:0] sim_deal_mask  /*verilator public_flat_rd*/;

  initial begin
    sim_send = 1'b0;
    sim_out  = 1'b0;
    sim_far  = 1'b0;
    sim_in   = 1'b0;
    sim_deal = 1'b0;
  end

  // Only harnesses read these variables: blocking assignments are less work for the simulator.
  always @(posedge clk_i) begin
    if (send_i) begin
      sim_send        = !sim_send;
      sim_send_thread = 8'(send_thread_i);
      sim_send_route  = 8'(send_route_i);
      sim_send_kind   = 8'(send_kind_i);
      sim_send_dest   = send_dest_i;
      sim_send_head   = send_head_i;
    end
    if (out_i) begin
      sim_out = !sim_out;
      for (int unsigned i = 0; i < Words; i++) sim_out_flit[i] = 32'((32 * Words)'(out_flit_i) >> (32 * i));
    end
    if (far_i) begin
      sim_far = !sim_far;
      for (int unsigned i = 0; i < Words; i++) sim_far_flit[i] = 32'((32 * Words)'(far_flit_i) >> (32 * i));
    end
    if (in_i) begin
      sim_in         = !sim_in;
      sim_in_local   = in_local_i;
      sim_in_dropped = in_dropped_i;
      for (int unsigned i = 0; i < Words; i++) sim_in_flit[i] = 32'((32 * Words)'(in_flit_i) >> (32 * i));
    end
    if (deal_i) begin
      sim_deal      = !sim_deal;
      sim_deal_mask = deal_masked_i ? 64'(deal_mask_i) : 64'd1 << deal_thread_i;
    end
  end
endmodule

bind gs_mailbox gs_sim_mailbox #(
  .Threads(Threads)
) u_seen (
  .clk_i,
  .send_i       (send),
  .send_thread_i(send_thread),
  .send_route_i (send_route),
  .send_kind_i  (send_kind),
  .send_dest_i  (send_dest),
  .send_head_i  (send_head),
  .out_i        (net_out_valid_o && net_out_ready_i),
  .out_flit_i   (net_out_o),
  .far_i        (far_out_valid_o && far_out_ready_i),
  .far_flit_i   (far_out_o),
  .in_i         (u_rx.load),
  .in_local_i   (u_rx.local_q),
  .in_dropped_i (u_rx.drop),
  .in_flit_i    (u_rx.next),
  .deal_i       (message_go),
  .deal_masked_i(message_masked),
  .deal_thread_i(message_thread),
  .deal_mask_i  (message_mask)
);
