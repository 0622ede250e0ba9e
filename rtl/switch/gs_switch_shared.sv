// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// The shared-datapath switch (gs_switch): moves one flit a cycle, from any ingress to any port. For boards with slow
/// links.
///
///     port 0 in -> gs_shared_ingress 0 --\                        /-> port 0 out
///     port 1 in -> gs_shared_ingress 1 ---> one flit -> register ---> port 1 out
///        ...                heads |  ^ reads                      \->   ...
///                                 v  |
///       gs_shared_allocator: which head has an outgoing lane;  gs_shared_select: which of these sends a flit
///
/// A lane is a channel as stored here: without virtual channels all channels of a network share one lane. An outgoing
/// lane belongs to one packet at a time, from its first flit to its last, and sends its flits as the receiver returns
/// credits. So a packet in an ingress waits only for its own outgoing lane, for packets before it, and for its slots of
/// the datapath, which every lane that can send gets in bounded time. There are no egress buffers.
///
///     cycle 0  the last flit is at the input           9  the outgoing lane is granted
///     cycle 3  the packet is fetched                   11  a flit is chosen
///     cycle 5  it is the lane's head, and waits        12  it is read; 14  it is at the output
module gs_switch_shared
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
  /// flits and packets that a channel can hold at an ingress
  parameter int unsigned       InRegion  = 64,
  /// credits of a channel, in both directions
  parameter int unsigned       Window    = 8
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [11:0]       board_i,
  /// flits for which an ingress keeps an egress (R of the SMI paper)
  input  logic [7:0]        burst_i,
  // Table; while it is being cleared, no destination has a route
  input  logic              clearing_i,
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
  // Lanes of a network, numbered port * SwitchVcs + virtual channel.
  localparam int unsigned N = Ports * SwitchVcs;
  localparam int unsigned IdxW = $clog2(N);
  localparam int unsigned PortW = (Ports > 1) ? $clog2(Ports) : 1;
  localparam int unsigned CreditW = $clog2(Window + 1);
  typedef logic [IdxW-1:0] idx_t;

  logic clk, busy;
  logic [Ports-1:0] in_any, credit_any, in_empty;
  gs_clock_gate u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(in_any != '0 || credit_any != '0 || table_we_i || busy),
    .clk_o (clk)
  );

  // ------------------------------------------------------------ ingresses
  logic [3:0][N-1:0] head_valid, granted, unroutable, settled, allocate, send, send_q;
  logic [3:0][N-1:0][IdxW-1:0] to;
  logic [3:0][N-1:0][SwitchLengthW-1:0] left;
  logic [Ports-1:0] last;
  flit_t data[Ports];

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    localparam int unsigned Vcs = Virtual[p] ? SwitchVcs : 1;
    logic [4*Vcs-1:0] head_valid_p, granted_p, settled_p, grant_p, read_p;
    shared_route_t [4*Vcs-1:0] head_p;
    logic [4*Vcs-1:0][SwitchLengthW-1:0] left_p;
    gs_shared_ingress #(
      .Ports     (Ports),
      .Virtual   (Virtual),
      .TableW    (TableW),
      .Home      (Home),
      .StreamBits(StreamBits),
      .Vcs       (Vcs),
      .MaxFlits  (MaxFlits),
      .Region    (InRegion),
      .Window    (Window)
    ) u_ingress (
      .clk_i        (clk),
      .rst_ni,
      .board_i,
      .clearing_i,
      .table_we_i,
      .table_index_i,
      .table_entry_i,
      .valid_i      (in_valid_i[p]),
      .flit_i       (in_i[p]),
      .credit_o     (in_credit_o[p]),
      .head_valid_o (head_valid_p),
      .granted_o    (granted_p),
      .head_o       (head_p),
      .left_o       (left_p),
      .settled_o    (settled_p),
      .grant_i      (grant_p),
      .read_i       (read_p),
      .last_o       (last[p]),
      .data_o       (data[p]),
      .empty_o      (in_empty[p])
    );
    for (genvar v = 0; v < 4; v++) begin : gen_network
      for (genvar c = 0; c < SwitchVcs; c++) begin : gen_lane
        localparam int unsigned I = p * SwitchVcs + c;
        if (c < Vcs) begin : gen_used
          assign head_valid[v][I] = head_valid_p[v*Vcs+c];
          assign granted[v][I] = granted_p[v*Vcs+c];
          assign unroutable[v][I] = head_p[v*Vcs+c].unroutable;
          assign to[v][I] = idx_t'({head_p[v*Vcs+c].port, head_p[v*Vcs+c].vc});
          assign left[v][I] = left_p[v*Vcs+c];
          assign settled[v][I] = settled_p[v*Vcs+c];
          assign grant_p[v*Vcs+c] = allocate[v][I];
          assign read_p[v*Vcs+c] = send_q[v][I];
        end else begin : gen_none
          assign head_valid[v][I] = 1'b0;
          assign granted[v][I] = 1'b0;
          assign unroutable[v][I] = 1'b0;
          assign to[v][I] = '0;
          assign left[v][I] = '0;
          assign settled[v][I] = 1'b0;
        end
      end
    end
    assign in_any[p] = in_valid_i[p] != '0;
    assign credit_any[p] = out_credit_i[p] != '0;
  end

  // ----------------------------------------------------- outgoing lanes
  logic done, allocator_idle;
  logic [1:0] network_q;
  idx_t to_sent;
  gs_shared_allocator #(.N(N)) u_allocator (
    .clk_i         (clk),
    .rst_ni,
    .burst_i,
    .req_i         (head_valid & ~granted & ~unroutable),
    .to_i          (to),
    .flits_i       (left),
    .grant_o       (allocate),
    .done_i        (done),
    .done_network_i(network_q),
    .done_to_i     (to_sent),
    .idle_o        (allocator_idle)
  );

  // ------------------------------------------------ the flit that is sent
  // A flit that is chosen is counted two cycles later. Until then its lane is not chosen again, and no other lane
  // shares its outgoing lane. So a lane sends a flit in at most every third cycle.
  logic [3:0][N-1:0] some, sendable, sendable_q, sent_to;
  logic [3:0][N-1:0][CreditW-1:0] credits_q;
  logic sends, sends_q, drops;
  logic [1:0] network;
  idx_t idx, idx_q;
  always_comb begin
    for (int unsigned v = 0; v < 4; v++) begin
      for (int unsigned o = 0; o < N; o++) some[v][o] = credits_q[v][o] != '0;
      for (int unsigned i = 0; i < N; i++) begin
        sendable[v][i] = ((granted[v][i] && some[v][to[v][i]]) || (head_valid[v][i] && unroutable[v][i])) &&
                         (left[v][i] != SwitchLengthW'(1) || settled[v][i]) && !send_q[v][i];
      end
    end
  end
  always_ff @(posedge clk) sendable_q <= rst_ni ? sendable : '0;
  gs_shared_select #(.N(N)) u_select (
    .clk_i    (clk),
    .rst_ni,
    .req_i    (sendable_q & ~send_q),
    .valid_o  (sends),
    .gnt_o    (send),
    .network_o(network),
    .idx_o    (idx)
  );
  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      send_q  <= '0;
      sends_q <= 1'b0;
    end else begin
      send_q  <= send;
      sends_q <= sends;
    end
    network_q <= network;
    idx_q     <= idx;
  end

  // ------------------------------------------------------ it is read
  assign to_sent = to[network_q][idx_q];
  assign drops = unroutable[network_q][idx_q];
  assign done = sends_q && !drops && last != '0;
  always_comb begin
    sent_to = '0;
    if (sends_q && !drops) sent_to[network_q][to_sent] = 1'b1;
  end
  for (genvar v = 0; v < 4; v++) begin : gen_credits
    for (genvar o = 0; o < N; o++) begin : gen_lane
      if (o % SwitchVcs == 0 || Virtual[o/SwitchVcs]) begin : gen_used
        logic credit;
        assign credit = out_credit_i[o/SwitchVcs][v*SwitchVcs+o%SwitchVcs];
        always_ff @(posedge clk) begin
          if (!rst_ni) credits_q[v][o] <= CreditW'(Window);
          else if (credit && !sent_to[v][o]) credits_q[v][o] <= credits_q[v][o] + CreditW'(1);
          else if (!credit && sent_to[v][o]) credits_q[v][o] <= credits_q[v][o] - CreditW'(1);
        end
        `GS_ASSERT_NOW(credits_return_once, !credit || credits_q[v][o] != CreditW'(Window))
        `GS_ASSERT_NOW(flits_are_sent_with_credits, !sent_to[v][o] || credits_q[v][o] != '0)
      end else begin : gen_none
        assign credits_q[v][o] = '0;
      end
    end
  end

  // ------------------------------------------------------ it is sent
  logic read_q, dropped_q, first_q, out_dropped_q, inside_q;
  logic [PortW-1:0] from_q, out_from_q;
  channels_t [Ports-1:0] lane_q, out_valid_q;
  flit_t out_q;
  logic [3:0][N-1:0] dropping_q;  // a flit of the head has been dropped before
  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      read_q        <= 1'b0;
      dropped_q     <= 1'b0;
      out_dropped_q <= 1'b0;
      lane_q        <= '0;
      out_valid_q   <= '0;
      dropping_q    <= '0;
    end else begin
      read_q        <= sends_q;
      dropped_q     <= sends_q && drops;
      out_dropped_q <= dropped_q && first_q;
      for (int unsigned p = 0; p < Ports; p++) begin
        for (int unsigned c = 0; c < SwitchChannels; c++) begin
          lane_q[p][c] <= sent_to[c/SwitchVcs][p*SwitchVcs+c%SwitchVcs];
        end
      end
      out_valid_q <= lane_q;
      if (sends_q && drops) dropping_q[network_q][idx_q] <= last == '0;
    end
    first_q    <= !dropping_q[network_q][idx_q];
    from_q     <= PortW'(32'(idx_q) / SwitchVcs);
    out_from_q <= from_q;
    out_q      <= data[from_q];
  end

  for (genvar p = 0; p < Ports; p++) begin : gen_out
    assign out_o[p] = out_q;
    assign out_valid_o[p] = out_valid_q[p];
    assign unroutable_o[p] = out_dropped_q && out_from_q == PortW'(p);
    assign unroutable_dest_o[p] = out_q.dest;
    assign unroutable_message_o[p] = unroutable_o[p] && out_q.kind != FlitKindHeader && out_q.vnet != VnetControl;
    assign unroutable_job_o[p] = out_q.job;
  end

  assign busy = in_empty != '1 || !allocator_idle || sends_q || read_q || out_valid_q != '0 || out_dropped_q;
  always_ff @(posedge clk) begin
    inside_q <= busy;
    empty_o  <= rst_ni && !busy && !inside_q;
  end

  `GS_ASSERT_NOW(at_most_one_flit_is_sent, (send_q & (send_q - 1'b1)) == '0)
endmodule
