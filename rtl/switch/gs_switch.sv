// SPDX-License-Identifier: Apache-2.0

/// The board switch: forwards packets of all ports to the port that leads to their destination.
///
///     port 0 in -> +---------------------------+ -> port 0 out
///     port 1 in -> | gs_switch_crossbar, or    | -> port 1 out
///        ...       | gs_switch_shared          |      ...
///                  +---------------------------+
///
/// The crossbar moves a flit a cycle from every ingress and to every egress. The shared datapath moves one flit a cycle
/// in all, with a third of the area. In both the flits of a channel's packets are never interleaved, no packet is lost
/// or duplicated, and packets of one ingress and channel that leave by the same port and channel keep their order. A
/// channel that waits does not block another. No packet starves if its receiver returns credits. Every port has credits
/// in both directions: a sender starts with `Window` for each channel. A packet without a route is dropped, and
/// reported by `unroutable_o`.
module gs_switch
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  /// ports
  parameter int unsigned       Ports     = 4,
  /// one bit per port: the port has virtual channels, as those of links do
  parameter logic [Ports-1:0]  Virtual   = '1,
  /// ports of the board's own endpoints
  parameter home_t             Home      = '0,
  /// log2 of the streaming ports that share one port of the switch: streaming port n is at Home's port n >> StreamBits
  parameter int unsigned       StreamBits = 0,
  /// log2 of the routing table's entries, for boards and hosts
  parameter int unsigned       TableW    = 10,
  /// flits of the longest packet
  parameter int unsigned       MaxFlits  = FabricMaxFlits,
  /// flits that a channel can hold at an ingress, and at an egress
  parameter int unsigned       InRegion  = 64,
  parameter int unsigned       OutRegion = 64,
  /// packets that a channel's queue at an ingress can hold, more than Window
  parameter int unsigned       Packets   = 32,
  /// credits of a channel, at ingresses and egresses
  parameter int unsigned       Window    = 8,
  /// streams may be sent as circuits (gs_circuit)
  parameter bit                Circuits  = 0,
  /// one datapath for all ports instead of a crossbar: without egress buffers (OutRegion) and circuits
  parameter bit                Shared    = SwitchDatapath == "shared"
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [11:0]       board_i,
  /// flits for which an ingress keeps an egress (R of the SMI paper)
  input  logic [7:0]        burst_i,
  // Table; ready after it has been cleared following reset
  output logic              ready_o,
  input  logic              table_we_i,
  input  logic [TableW-1:0] table_index_i,
  input  switch_entry_t     table_entry_i,
  // Ports
  input  channels_t         in_valid_i[Ports],
  input  flit_t             in_i[Ports],
  output channels_t         in_credit_o[Ports],
  output channels_t         out_valid_o[Ports],
  output flit_t             out_o[Ports],
  input  channels_t         out_credit_i[Ports],
  // A packet without a route entered by this port
  output logic [Ports-1:0]  unroutable_o,
  output logic [31:0]       unroutable_dest_o[Ports],
  // It was a message, which idle detection counts, of this job
  output logic [Ports-1:0]  unroutable_message_o,
  output logic [Ports-1:0][4:0] unroutable_job_o,
  /// no packet is inside: the table may be replaced by any other
  output logic              empty_o
);
  // ------------------------------------------------ the table's clearing
  logic clearing_q, write;
  logic [TableW-1:0] clear_q, index;
  switch_entry_t entry;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clearing_q <= 1'b1;
      clear_q    <= '0;
    end else if (clearing_q) begin
      clear_q <= clear_q + TableW'(1);
      if (clear_q == '1) clearing_q <= 1'b0;
    end
  end
  assign ready_o = !clearing_q;
  assign write = clearing_q || table_we_i;
  assign index = clearing_q ? clear_q : table_index_i;
  assign entry = clearing_q ? '0 : table_entry_i;

  if (Shared) begin : gen_shared
    if (Circuits) begin : gen_illegal_circuits
      $fatal(1, "gs_switch: Circuits is 1; the shared datapath (Shared) has no circuits");
    end
    gs_switch_shared #(
      .Ports     (Ports),
      .Virtual   (Virtual),
      .Home      (Home),
      .StreamBits(StreamBits),
      .TableW    (TableW),
      .MaxFlits  (MaxFlits),
      .InRegion  (InRegion),
      .Window    (Window)
    ) u_switch (
      .clk_i,
      .rst_ni,
      .board_i,
      .burst_i,
      .clearing_i    (clearing_q),
      .table_we_i    (write),
      .table_index_i (index),
      .table_entry_i (entry),
      .in_valid_i,
      .in_i,
      .in_credit_o,
      .out_valid_o,
      .out_o,
      .out_credit_i,
      .unroutable_o,
      .unroutable_dest_o,
      .unroutable_message_o,
      .unroutable_job_o,
      .empty_o
    );
  end else begin : gen_crossbar
    gs_switch_crossbar #(
      .Ports     (Ports),
      .Virtual   (Virtual),
      .Home      (Home),
      .StreamBits(StreamBits),
      .TableW    (TableW),
      .MaxFlits  (MaxFlits),
      .InRegion  (InRegion),
      .OutRegion (OutRegion),
      .Packets   (Packets),
      .Window    (Window),
      .Circuits  (Circuits)
    ) u_switch (
      .clk_i,
      .rst_ni,
      .board_i,
      .burst_i,
      .clearing_i    (clearing_q),
      .table_we_i    (write),
      .table_index_i (index),
      .table_entry_i (entry),
      .in_valid_i,
      .in_i,
      .in_credit_o,
      .out_valid_o,
      .out_o,
      .out_credit_i,
      .unroutable_o,
      .unroutable_dest_o,
      .unroutable_message_o,
      .unroutable_job_o,
      .empty_o
    );
  end
endmodule
