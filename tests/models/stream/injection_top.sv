// SPDX-License-Identifier: Apache-2.0

/// Two boards whose switches are connected by one link that is as wide as a flit with its header, one flit per cycle.
/// Board 0 sends from several endpoints, each at its own port of the switch; board 1 receives. The bench measures the
/// rate of short messages.
module injection_top
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
  import gs_switch_pkg::*;
#(
  parameter int unsigned Ends  = 4,
  parameter int unsigned Links = 4,
  parameter int unsigned Depth = 1024
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  /// flits for which an ingress of the switch keeps an egress: SMI's R
  input  logic [7:0]  burst_i,
  output logic        ready_o,
  input  logic        boot_i,
  // Board 0
  input  logic        send_valid_i[Ends],
  output logic        send_ready_o[Ends],
  input  logic        s_valid_i[Ends],
  output logic        s_ready_o[Ends],
  input  logic [31:0] s_data_i[Ends],
  // The link, from board 0: the flit sent in this cycle
  output logic        link_valid_o,
  output logic        link_last_o,
  output logic [31:0] link_dest_o,
  // Board 1
  input  logic        recv_valid_i[Ends],
  output logic        recv_ready_o[Ends],
  output logic        m_valid_o[Ends],
  output logic [31:0] m_data_o[Ends],
  output logic        m_last_o[Ends],
  output logic        fault_o
);
  localparam int unsigned Ports = Ends + Links;
  localparam home_t Home = '{
    stream:  '{first: 8'd0, count: 8'(Ends)},
    link:    '{first: 8'(Ends), count: 8'(Links)},
    default: '0
  };
  localparam logic [Ports-1:0] Virtual = Ports'(((1 << Links) - 1) << Ends);

  logic [1:0] ready;
  logic [1:0][Ends-1:0] faults, dropped;
  logic [1:0][Ports-1:0] unroutable;
  logic fault_q;
  channels_t tx_valid[2], tx_ready[2], rx_valid[2], rx_ready[2];
  flit_t tx[2];
  // A cable: a flit offered by one board is offered to the other.
  for (genvar b = 0; b < 2; b++) begin : gen_cable
    assign rx_valid[1-b] = tx_valid[b];
    assign tx_ready[b] = rx_ready[1-b];
  end

  for (genvar b = 0; b < 2; b++) begin : gen_board
    channels_t in_valid[Ports], in_credit[Ports], out_valid[Ports], out_credit[Ports];
    flit_t in[Ports];
    flit_t out[Ports];
    logic [31:0] unused_dest[Ports];
    logic unused_empty;

    for (genvar p = 0; p < Ends; p++) begin : gen_end
      localparam logic [31:0] FarPort = {EndpointStream, 3'd0, 12'(1 - b), 6'd0, 8'(p)};
      send_bind_t send_bind;
      recv_bind_t recv_bind;
      send_open_t send_open;
      recv_open_t recv_open;
      stream_report_t unused_report;
      logic send_ready, s_ready, recv_ready, m_valid, m_last;
      logic [31:0] m_data;
      logic [3:0] m_keep;
      assign send_bind = '{eager: 1'b1, account: '0, dest: FarPort, flits: credits_t'(Depth)};
      assign recv_bind = '{eager: 1'b1, account: '0, source: 8'(Ends * (1 - b) + p), reply: FarPort};
      assign send_open = '{rank: '0, element: SmiTypeInt, own: 8'(Ends * b + p), dest: FarPort, count: 32'd1};
      assign recv_open = '{
        element: SmiTypeInt, own: 8'(Ends * b + p), source: 8'(Ends * (1 - b) + p), count: 32'd1
      };
      gs_stream_endpoint #(
        .Ports(1),
        .First(p),
        .Bytes(4),
        .Depth(Depth)
      ) u_endpoint (
        .clk_i,
        .rst_ni,
        .board_i          (12'(b)),
        .job_i            (5'd1),
        .sw_valid_i       (out_valid[p]),
        .sw_i             (out[p]),
        .sw_credit_o      (out_credit[p]),
        .sw_valid_o       (in_valid[p]),
        .sw_o             (in[p]),
        .sw_credit_i      (in_credit[p]),
        .send_bind_valid_i(boot_i),
        .send_bind_i      (send_bind),
        .recv_bind_valid_i(boot_i),
        .recv_bind_i      (recv_bind),
        .send_open_valid_i(b == 0 && send_valid_i[p]),
        .send_open_ready_o(send_ready),
        .send_open_i      (send_open),
        .s_axis_tvalid_i  (b == 0 && s_valid_i[p]),
        .s_axis_tready_o  (s_ready),
        .s_axis_tdata_i   (s_data_i[p]),
        .recv_open_valid_i(b == 1 && recv_valid_i[p]),
        .recv_open_ready_o(recv_ready),
        .recv_open_i      (recv_open),
        .m_axis_tvalid_o  (m_valid),
        .m_axis_tready_i  (1'b1),
        .m_axis_tdata_o   (m_data),
        .m_axis_tkeep_o   (m_keep),
        .m_axis_tlast_o   (m_last),
        .watch_i          ('0),
        .report_valid_o   (faults[b][p]),
        .report_ready_i   (1'b1),
        .report_o         (unused_report),
        .dropped_o        (dropped[b][p]),
        .sent_o(),
        .received_o()
      );
      if (b == 0) begin : gen_sender
        assign send_ready_o[p] = send_ready;
        assign s_ready_o[p] = s_ready;
        logic unused;
        assign unused = ^{recv_ready, m_valid, m_data, m_keep, m_last};
      end else begin : gen_receiver
        assign recv_ready_o[p] = recv_ready;
        assign m_valid_o[p] = m_valid;
        assign m_data_o[p] = m_data;
        assign m_last_o[p] = m_last && m_keep == 4'hF;
        logic unused;
        assign unused = ^{send_ready, s_ready};
      end
    end

    for (genvar l = 0; l < Links; l++) begin : gen_link
      channels_t valid, unused_ready;
      logic unused_drained;
      flit_t flit;
      gs_link_egress u_egress (
        .clk_i,
        .rst_ni,
        .in_valid_i (out_valid[Ends+l]),
        .in_i       (out[Ends+l]),
        .in_credit_o(out_credit[Ends+l]),
        .empty_o    (unused_drained),
        .tx_valid_o (valid),
        .tx_ready_i (l == 0 ? tx_ready[b] : '0),
        .tx_flit_o  (flit)
      );
      if (l == 0) begin : gen_cabled
        assign tx_valid[b] = valid;
        assign tx[b] = flit;
        assign rx_ready[b] = unused_ready;
      end else begin : gen_open
        logic unused;
        assign unused = ^{valid, flit, unused_ready};
      end
      gs_link_ingress u_ingress (
        .clk_i,
        .rst_ni,
        .rx_valid_i  (l == 0 ? rx_valid[b] : '0),
        .rx_ready_o  (unused_ready),
        .rx_flit_i   (tx[1-b]),
        .out_valid_o (in_valid[Ends+l]),
        .out_o       (in[Ends+l]),
        .out_credit_i(in_credit[Ends+l])
      );
    end

    gs_switch #(
      .Ports  (Ports),
      .Virtual(Virtual),
      .Home   (Home),
      .TableW (4)
    ) u_switch (
      .clk_i,
      .rst_ni,
      .board_i(12'(b)),
      .burst_i,
      .ready_o(ready[b]),
      // The first link leads to the other board.
      .table_we_i       (boot_i),
      .table_index_i    (4'(1 - b)),
      .table_entry_i    ('{valid: 1'b1, vc: '0, port: 5'(Ends)}),
      .in_valid_i       (in_valid),
      .in_i             (in),
      .in_credit_o      (in_credit),
      .out_valid_o      (out_valid),
      .out_o            (out),
      .out_credit_i     (out_credit),
      .unroutable_o     (unroutable[b]),
      .unroutable_dest_o(unused_dest),
      .unroutable_message_o(),
      .unroutable_job_o(),
      .empty_o          (unused_empty)
    );
  end

  always_ff @(posedge clk_i) begin
    fault_q <= rst_ni && (fault_q || faults != '0 || dropped != '0 || unroutable != '0);
  end
  assign fault_o = fault_q;
  assign ready_o = &ready;
  // A board offers only flits that the link is ready for: an offered flit is sent.
  assign link_valid_o = tx_valid[0] != '0;
  assign link_last_o = tx[0].last;
  assign link_dest_o = tx[0].dest;
endmodule
