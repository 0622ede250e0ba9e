// SPDX-License-Identifier: Apache-2.0

/// A stencil on up to four ranks in hardware: kernels whose sides are connected through streaming ports of boards in a
/// ring (link 1 of a board leads to link 0 of the next), or, without Boards, by wires that stall.
module stencil_top
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
  import gs_switch_pkg::*;
#(
  parameter  bit          Boards  = 0,
  parameter  int unsigned Columns = 32,
  parameter  int unsigned Border  = 32,
  localparam int unsigned Ranks   = 4,
  localparam int unsigned Sides   = 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [31:0] seed_i,
  output logic        ready_o,
  // Without boards: blocks the transfer from this rank's side in this cycle
  input  logic [15:0] stall_i,
  // By rank and side: whether there is a neighbour, and its rank. Ports are opened for this number of elements.
  input  logic        joined_i[Ranks * Sides],
  input  logic [7:0]  neighbour_i[Ranks * Sides],
  input  logic [31:0] elements_i[Ranks * Sides],
  input  logic        open_i,
  output logic        opened_o,
  input  logic        table_we_i[Ranks],
  input  logic [5:0]  table_index_i,
  input  logic [7:0]  table_entry_i[Ranks],
  // Kernels
  input  logic        start_valid_i[Ranks],
  output logic        start_ready_o[Ranks],
  input  logic [15:0] rows_i,
  input  logic [15:0] columns_i,
  input  logic        copy_i[Ranks],
  input  logic        last_i[Ranks],
  input  logic        in_valid_i[Ranks],
  output logic        in_ready_o[Ranks],
  input  logic [31:0] in_i[Ranks],
  output logic        out_valid_o[Ranks],
  input  logic        out_ready_i[Ranks],
  output logic [31:0] out_o[Ranks],
  output logic        fault_o
);
  logic [Ranks-1:0][Sides-1:0] halo_valid, halo_ready, border_valid, border_ready, joined;
  logic [Ranks-1:0][Sides-1:0][31:0] halo, border;
  for (genvar r = 0; r < Ranks; r++) begin : gen_rank
    for (genvar s = 0; s < Sides; s++) begin : gen_side
      assign joined[r][s] = joined_i[Sides*r+s];
    end
    gs_kernel_stencil #(
      .Columns(Columns),
      .Border (Border)
    ) u_kernel (
      .clk_i,
      .rst_ni,
      .start_valid_i (start_valid_i[r]),
      .start_ready_o (start_ready_o[r]),
      .rows_i,
      .columns_i,
      .sides_i       (joined[r]),
      .copy_i        (copy_i[r]),
      .last_i        (last_i[r]),
      .in_valid_i    (in_valid_i[r]),
      .in_ready_o    (in_ready_o[r]),
      .in_i          (in_i[r]),
      .out_valid_o   (out_valid_o[r]),
      .out_ready_i   (out_ready_i[r]),
      .out_o         (out_o[r]),
      .halo_valid_i  (halo_valid[r]),
      .halo_ready_o  (halo_ready[r]),
      .halo_i        (halo[r]),
      .border_valid_o(border_valid[r]),
      .border_ready_i(border_ready[r]),
      .border_o      (border[r])
    );
  end

  if (!Boards) begin : gen_wires
    // A rank's border enters its neighbour at the opposite side.
    always_comb begin
      halo_valid   = '0;
      halo         = '0;
      border_ready = '0;
      for (int unsigned r = 0; r < Ranks; r++) begin
        for (int unsigned s = 0; s < Sides; s++) begin
          if (joined[r][s] && !stall_i[Sides*r+s]) begin
            halo_valid[neighbour_i[Sides*r+s][1:0]][s^1] = border_valid[r][s];
            halo[neighbour_i[Sides*r+s][1:0]][s^1]       = border[r][s];
            border_ready[r][s] = halo_ready[neighbour_i[Sides*r+s][1:0]][s^1];
          end
        end
      end
    end
    assign ready_o  = 1'b1;
    assign opened_o = 1'b1;
    assign fault_o  = 1'b0;
    logic unused;
    assign unused = ^{seed_i, open_i, table_index_i, table_we_i[0], table_entry_i[0], elements_i[0],
                      neighbour_i[0]};
  end else begin : gen_boards
    localparam int unsigned Links = 2;
    logic [Ranks-1:0][Links-1:0] tx_valid, tx_ready, tx_last, rx_valid, rx_last, rx_error, up;
    logic [Ranks-1:0][Links-1:0][63:0] tx_data, rx_data;
    logic [Ranks-1:0][Links-1:0][7:0] tx_keep, rx_keep;
    logic [Ranks-1:0] ready, reports, dropped, unroutable;
    logic [Ranks-1:0][Sides-1:0] send_pending_q, recv_pending_q;
    logic fault_q;

    for (genvar b = 0; b < Ranks; b++) begin : gen_board
      logic [Sides-1:0] send_ready, recv_ready;
      logic [Sides-1:0] unused_last;
      logic [Sides-1:0][3:0] unused_keep;
      send_open_t [Sides-1:0] send_open;
      recv_open_t [Sides-1:0] recv_open;
      stream_report_t unused_report;
      channels_t unused_credit, unused_valid;
      flit_t unused_own;
      logic [3:0] no_one;
      logic [Links-1:0] unused_tx_fire, unused_rx_fire;
      logic unused_empty;
      // Port s carries the channels to and from the neighbour at side s.
      for (genvar s = 0; s < Sides; s++) begin : gen_port
        localparam int unsigned At = Sides * b + s;
        assign send_open[s] = '{
          rank: neighbour_i[At], element: SmiTypeFloat, own: 8'(b),
          dest: {EndpointStream, 3'd0, 4'd0, neighbour_i[At], 6'd0, 8'(s ^ 1)}, count: elements_i[At]
        };
        assign recv_open[s] = '{
          element: SmiTypeFloat, own: 8'(b), source: neighbour_i[At], count: elements_i[At]
        };
        always_ff @(posedge clk_i) begin
          if (!rst_ni) begin
            send_pending_q[b][s] <= 1'b0;
            recv_pending_q[b][s] <= 1'b0;
          end else begin
            send_pending_q[b][s] <= open_i ? joined[b][s] : send_pending_q[b][s] && !send_ready[s];
            recv_pending_q[b][s] <= open_i ? joined[b][s] : recv_pending_q[b][s] && !recv_ready[s];
          end
        end
      end
      gs_stream_board #(
        .Links   (Links),
        .PortBits(2),
        .Bytes   (4),
        .Depth   (128),
        .Packet  (30)
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
        .send_bind_valid_i('0),
        .send_bind_i      ('0),
        .recv_bind_valid_i('0),
        .recv_bind_i      ('0),
        .send_open_valid_i(send_pending_q[b]),
        .send_open_ready_o(send_ready),
        .send_open_i      (send_open),
        .s_axis_tvalid_i  (border_valid[b]),
        .s_axis_tready_o  (border_ready[b]),
        .s_axis_tdata_i   (border[b]),
        .recv_open_valid_i(recv_pending_q[b]),
        .recv_open_ready_o(recv_ready),
        .recv_open_i      (recv_open),
        .m_axis_tvalid_o  (halo_valid[b]),
        .m_axis_tready_i  (halo_ready[b]),
        .m_axis_tdata_o   (halo[b]),
        .m_axis_tkeep_o   (unused_keep),
        .m_axis_tlast_o   (unused_last),
        .watch_i          ('0),
        .report_valid_o   (reports[b]),
        .report_ready_i   (1'b1),
        .report_o         (unused_report),
        .dropped_o        (dropped[b]),
        .sent_o(),
        .received_o(),
        .own_valid_i      ('0),
        .own_i            ('0),
        .own_credit_o     (unused_credit),
        .own_valid_o      (unused_valid),
        .own_o            (unused_own),
        .own_credit_i     ('0),
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
      assign unroutable[b] = no_one != '0;

      for (genvar l = 0; l < Links; l++) begin : gen_wire
        localparam int unsigned To = (l == 1) ? (b + 1) % Ranks : (b + Ranks - 1) % Ranks;
        logic [31:0] unused_lost, unused_damaged;
        gs_mac_model #(
          .BitsPerKilocycle(40_000),
          .Flight          (100)
        ) u_wire (
          .clk_i,
          .rst_ni,
          .seed_i   (seed_i + 32'(2 * b + l)),
          .loss_i   ('0),
          .damage_i ('0),
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
          .lost_o   (unused_lost),
          .damaged_o(unused_damaged)
        );
      end
    end
    always_ff @(posedge clk_i) fault_q <= rst_ni && (fault_q || reports != '0 || dropped != '0 || unroutable != '0);
    assign fault_o  = fault_q;
    assign ready_o  = &ready && &up;
    assign opened_o = send_pending_q == '0 && recv_pending_q == '0 && !open_i;
    logic unused;
    assign unused = ^stall_i;
  end
endmodule
