// SPDX-License-Identifier: Apache-2.0

/// Two ends of a link under full load in both directions, for the bench: packets of so many flits for threads of one
/// board, or stream packets, as fast as the link takes them; or one short message now and then.
module link_bench
  import gossamer_pkg::*;
  import gs_link_pkg::*;
#(
  /// flits of payload
  parameter int unsigned Flits  = 4,
  /// stream packets instead of messages to threads
  parameter bit          Stream = 1'b0,
  /// cycles between packets; 0: as fast as can be
  parameter int unsigned Every  = 0,
  /// frames that are lost, of 2^20
  parameter int unsigned Loss   = 0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic [1:0]  up_o,
  /// flits of payload that have come, by end
  output logic [63:0] flits_o,
  output logic [63:0] resends_o,
  /// cycles from a flit's entry to its exit, of the last packet that end 1 has received
  output logic [31:0] latency_o,
  /// a flit came that was not expected
  output logic [1:0]  wrong_o
);
  logic [1:0] tx_valid, tx_ready, tx_last, rx_valid, rx_last, rx_error, up;
  logic [63:0] tx_data[2];
  logic [63:0] rx_data[2];
  logic [7:0] tx_keep[2];
  logic [7:0] rx_keep[2];
  logic [31:0] entry_q;

  for (genvar e = 0; e < 2; e++) begin : gen_end
    logic [Channels-1:0] give, given, ready, come;
    flit_t gives, comes;
    counters_t count;
    events_t unused_events;
    logic unused;
    logic [31:0] sent_q, came_q, wait_q, payload_q;
    logic [5:0] at_q, from_q;
    localparam int unsigned Length = Flits + 32'(Stream);
    localparam channel_t Channel = channel_t'(Stream ? 2 : 0);

    // The data count packets and flits.
    assign give  = (up[e] && (Every == 0 || (e == 0 && wait_q == Every))) ? Channels'(1) << Channel : '0;
    assign ready = '1;
    always_comb begin
      gives         = '0;
      gives.last    = 32'(at_q) == Length - 1;
      gives.vnet    = Stream ? VnetRequest : VnetMailbox;
      gives.dest    = {Stream ? EndpointStream : EndpointThread, 3'd0, 12'd7, Stream ? 14'd0 : sent_q[13:0]};
      gives.kind    = (Stream && at_q == '0) ? FlitKindHeader : FlitKindBody;
      gives.payload = (Stream && at_q == '0) ? 128'd0 : {64'(at_q), 32'd0, sent_q};
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        sent_q    <= '0;
        came_q    <= '0;
        wait_q    <= '0;
        at_q      <= '0;
        from_q    <= '0;
        payload_q <= '0;
        wrong_o[e] <= 1'b0;
      end else begin
        if (wait_q != Every) wait_q <= wait_q + 1'b1;
        if ((give & given) != '0) begin
          at_q <= gives.last ? '0 : at_q + 1'b1;
          if (gives.last) sent_q <= sent_q + 1'b1;
          if (gives.last) wait_q <= '0;
        end
        if (come != '0) begin
          from_q <= comes.last ? '0 : from_q + 1'b1;
          if (comes.last) came_q <= came_q + 1'b1;
          if (comes.kind == FlitKindBody) payload_q <= payload_q + 1'b1;
          if (comes.kind == FlitKindBody && comes.payload != {64'(from_q), 32'd0, came_q}) wrong_o[e] <= 1'b1;
        end
      end
    end
    assign flits_o[32*e+:32]   = payload_q;
    assign unused = ^{comes, count};
    assign resends_o[32*e+:32] = count.resends;

    logic [31:0] now_q;
    always_ff @(posedge clk_i) begin
      now_q <= rst_ni ? now_q + 1'b1 : '0;
      if (e == 0 && (give & given) != '0) entry_q <= now_q;
      if (e == 1 && come != '0) latency_o <= now_q - entry_q;
    end

    gs_link u_link (
      .clk_i,
      .rst_ni,
      .tx_valid_i    (give),
      .tx_ready_o    (given),
      .tx_flit_i     (gives),
      .rx_valid_o    (come),
      .rx_ready_i    (ready),
      .rx_flit_o     (comes),
      .mac_tx_valid_o(tx_valid[e]),
      .mac_tx_ready_i(tx_ready[e]),
      .mac_tx_data_o (tx_data[e]),
      .mac_tx_keep_o (tx_keep[e]),
      .mac_tx_last_o (tx_last[e]),
      .mac_rx_valid_i(rx_valid[e]),
      .mac_rx_data_i (rx_data[e]),
      .mac_rx_keep_i (rx_keep[e]),
      .mac_rx_last_i (rx_last[e]),
      .mac_rx_error_i(rx_error[e]),
      .up_o          (up[e]),
      .idle_o        (),
      .events_o      (unused_events),
      .counters_o    (count)
    );

    gs_mac_model #(
      .BitsPerKilocycle(LinkBitsPerKilocycle),
      .Flight          (LinksFlightCycles),
      .Trailer         (LinksOverheadBytes - 8),
      .Seed            (e + 1)
    ) u_wire (
      .clk_i,
      .rst_ni,
      .loss_i   (21'(Loss)),
      .damage_i ('0),
      .cut_i    (1'b0),
      .valid_i  (tx_valid[e]),
      .ready_o  (tx_ready[e]),
      .data_i   (tx_data[e]),
      .keep_i   (tx_keep[e]),
      .last_i   (tx_last[e]),
      .valid_o  (rx_valid[1-e]),
      .data_o   (rx_data[1-e]),
      .keep_o   (rx_keep[1-e]),
      .last_o   (rx_last[1-e]),
      .error_o  (rx_error[1-e]),
      .lost_o   (),
      .damaged_o()
    );
  end
  assign up_o = up;
endmodule
