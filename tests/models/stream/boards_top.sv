// SPDX-License-Identifier: Apache-2.0

/// Boards of streaming ports in a ring: link 1 of a board leads to link 0 of the next. For tests and the bench.
module boards_top
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
  import gs_switch_pkg::*;
#(
  parameter  int unsigned Boards   = 4,
  parameter  int unsigned PortBits = 1,
  parameter  int unsigned Bytes    = 8,
  parameter  int unsigned Depth    = 1024,
  parameter  int unsigned Packet   = 30,
  /// ports of each board that send messages as circuits, one bit each
  parameter  int unsigned Circuits = 0,
  localparam int unsigned Ports    = 1 << PortBits,
  localparam int unsigned All      = Boards * Ports
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [31:0]  seed_i,
  input  logic [20:0]  loss_i,
  input  logic [20:0]  damage_i,
  output logic         ready_o,
  output logic         up_o,
  input  logic         table_we_i[Boards],
  input  logic [5:0]   table_index_i,
  input  logic [7:0]   table_entry_i[Boards],
  // By board and port
  input  logic         bind_i,
  input  logic [53:0]  send_bind_i[All],
  input  logic [45:0]  recv_bind_i[All],
  input  logic         send_open_valid_i[All],
  output logic         send_open_ready_o[All],
  input  logic [31:0]  send_dest_i[All],
  input  logic [31:0]  send_count_i[All],
  input  logic         s_valid_i[All],
  output logic         s_ready_o[All],
  input  logic [63:0]  s_data_i[All],
  input  logic         recv_open_valid_i[All],
  output logic         recv_open_ready_o[All],
  input  logic [7:0]   recv_source_i[All],
  input  logic [31:0]  recv_count_i[All],
  output logic         m_valid_o[All],
  input  logic         m_ready_i[All],
  output logic [63:0]  m_data_o[All],
  output logic [7:0]   m_keep_o[All],
  output logic         m_last_o[All],
  output logic         fault_o,
  // Messages of one flit to threads, in the mailbox network
  input  logic         own_valid_i[Boards],
  input  logic [31:0]  own_dest_i[Boards],
  input  logic [127:0] own_payload_i[Boards],
  output logic         own_credit_o[Boards],
  output logic         own_valid_o[Boards],
  output logic [31:0]  own_dest_o[Boards],
  output logic [127:0] own_payload_o[Boards],
  output logic [31:0]  lost_o
);
  localparam int unsigned Links = 2;

  logic [Boards-1:0][Links-1:0] tx_valid, tx_ready, tx_last, rx_valid, rx_last, rx_error, up;
  logic [Boards-1:0][Links-1:0][63:0] tx_data, rx_data;
  logic [Boards-1:0][Links-1:0][7:0] tx_keep, rx_keep;
  logic [Boards-1:0][Links-1:0][31:0] lost;
  logic [Boards-1:0] ready, reports, dropped, unroutable;
  logic fault_q;

  for (genvar b = 0; b < Boards; b++) begin : gen_board
    logic [Ports-1:0] send_open_valid, send_open_ready, s_valid, s_ready, recv_open_valid, recv_open_ready;
    logic [Ports-1:0] m_valid, m_ready, m_last;
    send_bind_t [Ports-1:0] send_bind;
    recv_bind_t [Ports-1:0] recv_bind;
    send_open_t [Ports-1:0] send_open;
    recv_open_t [Ports-1:0] recv_open;
    logic [Ports-1:0][63:0] s_data, m_data;
    logic [Ports-1:0][7:0] m_keep;
    channels_t own_credit, own_valid;
    flit_t own, own_in;
    stream_report_t unused_report;
    logic [3:0] no_one;
    logic [Links-1:0] unused_tx_fire, unused_rx_fire;
    logic unused_empty;

    for (genvar p = 0; p < Ports; p++) begin : gen_port
      localparam int unsigned At = b * Ports + p;
      assign send_bind[p] = send_bind_i[At];
      assign recv_bind[p] = recv_bind_i[At];
      assign send_open_valid[p] = send_open_valid_i[At];
      assign send_open_ready_o[At] = send_open_ready[p];
      // The rank is the number of its board.
      assign send_open[p] = '{
        rank: send_dest_i[At][21:14], element: SmiTypeFloat, own: 8'(b), dest: send_dest_i[At], count: send_count_i[At]
      };
      assign s_valid[p] = s_valid_i[At];
      assign s_ready_o[At] = s_ready[p];
      assign s_data[p] = s_data_i[At];
      assign recv_open_valid[p] = recv_open_valid_i[At];
      assign recv_open_ready_o[At] = recv_open_ready[p];
      assign recv_open[p] = '{element: SmiTypeFloat, own: 8'(b), source: recv_source_i[At], count: recv_count_i[At]};
      assign m_valid_o[At] = m_valid[p];
      assign m_ready[p] = m_ready_i[At];
      assign m_data_o[At] = m_data[p];
      assign m_keep_o[At] = m_keep[p];
      assign m_last_o[At] = m_last[p];
    end

    assign own_in = '{
      kind: FlitKindBody, last: 1'b1, vnet: VnetMailbox, job: 5'd1, epoch: '0, wave: 1'b0, dest: own_dest_i[b],
      payload: own_payload_i[b]
    };
    assign own_credit_o[b] = own_credit[0];
    assign own_valid_o[b] = own_valid != '0;
    assign own_dest_o[b] = own.dest;
    assign own_payload_o[b] = own.payload;
    assign unroutable[b] = no_one != '0;
    logic unused;
    assign unused = ^{own_credit, own};

    gs_stream_board #(
      .Links   (Links),
      .PortBits(PortBits),
      .Bytes   (Bytes),
      .Depth   (Depth),
      .Packet  (Packet),
      .Circuits(Ports'(Circuits))
    ) u_board (
      .clk_i,
      .rst_ni,
      .board_i          (12'(b)),
      .job_i            (5'd1),
      .burst_i          (8'd8),
      .ready_o          (ready[b]),
      .table_we_i       (table_we_i[b]),
      .table_index_i,
      .table_entry_i    (table_entry_i[b]),
      .send_bind_valid_i({Ports{bind_i}}),
      .send_bind_i      (send_bind),
      .recv_bind_valid_i({Ports{bind_i}}),
      .recv_bind_i      (recv_bind),
      .send_open_valid_i(send_open_valid),
      .send_open_ready_o(send_open_ready),
      .send_open_i      (send_open),
      .s_axis_tvalid_i  (s_valid),
      .s_axis_tready_o  (s_ready),
      .s_axis_tdata_i   (s_data),
      .recv_open_valid_i(recv_open_valid),
      .recv_open_ready_o(recv_open_ready),
      .recv_open_i      (recv_open),
      .m_axis_tvalid_o  (m_valid),
      .m_axis_tready_i  (m_ready),
      .m_axis_tdata_o   (m_data),
      .m_axis_tkeep_o   (m_keep),
      .m_axis_tlast_o   (m_last),
      .watch_i          ('0),
      .report_valid_o   (reports[b]),
      .report_ready_i   (1'b1),
      .report_o         (unused_report),
      .dropped_o        (dropped[b]),
      .sent_o(),
      .received_o(),
      .own_valid_i      (channels_t'(own_valid_i[b])),
      .own_i            (own_in),
      .own_credit_o     (own_credit),
      .own_valid_o      (own_valid),
      .own_o            (own),
      .own_credit_i     (own_valid),
      .mac_tx_valid_o   (tx_valid[b]),
      .mac_tx_ready_i   (tx_ready[b]),
      .mac_tx_data_o    (tx_data[b]),
      .mac_tx_keep_o    (tx_keep[b]),
      .mac_tx_last_o    (tx_last[b]),
      .mac_rx_valid_i   (rx_valid[b]),
      .mac_rx_data_i    (rx_data[b]),
      .mac_rx_keep_i    (rx_keep[b]),
      .mac_rx_last_i    (rx_last[b]),
      .mac_rx_error_i   (rx_error[b]),
      .up_o             (up[b]),
      .unroutable_o     (no_one),
      .tx_fire_o        (unused_tx_fire),
      .rx_fire_o        (unused_rx_fire),
      .empty_o          (unused_empty)
    );

    for (genvar l = 0; l < Links; l++) begin : gen_wire
      localparam int unsigned To = (l == 1) ? (b + 1) % Boards : (b + Boards - 1) % Boards;
      logic [31:0] unused_damaged;
      gs_mac_model #(
        .BitsPerKilocycle(40_000),
        .Flight          (100)
      ) u_wire (
        .clk_i,
        .rst_ni,
        .seed_i   (seed_i + 32'(2 * b + l)),
        .loss_i,
        .damage_i,
        .cut_i    (1'b0),
        .valid_i  (tx_valid[b][l]),
        .ready_o  (tx_ready[b][l]),
        .data_i   (tx_data[b][l]),
        .keep_i   (tx_keep[b][l]),
        .last_i   (tx_last[b][l]),
        .valid_o  (rx_valid[To][1-l]),
        .data_o   (rx_data[To][1-l]),
        .keep_o   (rx_keep[To][1-l]),
        .last_o   (rx_last[To][1-l]),
        .error_o  (rx_error[To][1-l]),
        .lost_o   (lost[b][l]),
        .damaged_o(unused_damaged)
      );
    end
  end

  always_comb begin
    lost_o = '0;
    for (int unsigned b = 0; b < Boards; b++) for (int unsigned l = 0; l < Links; l++) lost_o += lost[b][l];
  end
  // A fault, a dropped or an unroutable packet: none of these may occur.
  always_ff @(posedge clk_i) fault_q <= rst_ni && (fault_q || reports != '0 || dropped != '0 || unroutable != '0);
  assign fault_o = fault_q;
  assign ready_o = &ready;
  assign up_o = &up;
endmodule
