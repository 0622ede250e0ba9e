// SPDX-License-Identifier: Apache-2.0

/// Two boards without tiles and memory, with streaming ports and a lossy wire between them. The test is the host of
/// board 0, the tiles at the first exit of each board, and the kernels: number 2 b + p is port p of board b.
module streams_top
  import gs_board_pkg::StreamLanes;
  import gossamer_pkg::*;
#(
  parameter  int unsigned Seed    = 1,
  localparam int unsigned Boards  = 2,
  localparam int unsigned Links   = 2,
  localparam int unsigned Jobs    = 3,
  localparam int unsigned Kernels = Boards * StreamLanes,
  localparam int unsigned FlitW   = $bits(flit_t)
) (
  input  logic                                      clk_i,
  input  logic                                      rst_ni,
  /// probability that a frame is lost, in units of 2^-20
  input  logic [20:0]                               loss_i,
  output logic [Boards-1:0]                         ready_o,
  output logic [Boards-1:0][Links-1:0]              up_o,
  // Host of board 0
  input  logic [3:0]                                host_in_valid_i,
  output logic [3:0]                                host_in_ready_o,
  input  logic [FlitW-1:0]                          host_in_i,
  output logic [3:0]                                host_out_valid_o,
  output logic [FlitW-1:0]                          host_out_o,
  // First exit of each board
  input  logic [Boards-1:0][3:0]                    exit_in_valid_i,
  input  logic [Boards-1:0][FlitW-1:0]              exit_in_i,
  output logic [Boards-1:0][3:0]                    exit_in_credit_o,
  output logic [Boards-1:0][3:0]                    exit_out_valid_o,
  output logic [Boards-1:0][FlitW-1:0]              exit_out_o,
  input  logic [Boards-1:0][3:0]                    exit_out_credit_i,
  // Kernels: channels; elements of each kernel below
  input  logic [Kernels-1:0]                        send_open_valid_i,
  output logic [Kernels-1:0]                        send_open_ready_o,
  input  logic [Kernels-1:0][82:0]                  send_open_i,
  input  logic [Kernels-1:0]                        recv_open_valid_i,
  output logic [Kernels-1:0]                        recv_open_ready_o,
  input  logic [Kernels-1:0][50:0]                  recv_open_i,
`define KERNEL_PORTS(K) \
  input  logic                            s``K``_axis_tvalid, \
  output logic                            s``K``_axis_tready, \
  input  logic [8*StreamWidthBytes-1:0]   s``K``_axis_tdata, \
  output logic                            m``K``_axis_tvalid, \
  input  logic                            m``K``_axis_tready, \
  output logic [8*StreamWidthBytes-1:0]   m``K``_axis_tdata, \
  output logic [StreamWidthBytes-1:0]     m``K``_axis_tkeep, \
  output logic                            m``K``_axis_tlast,
  `KERNEL_PORTS(0)
  `KERNEL_PORTS(1)
  `KERNEL_PORTS(2)
  `KERNEL_PORTS(3)
`undef KERNEL_PORTS
  /// messages of each slot that were counted as received because they were dropped
  output logic [Boards-1:0][Jobs-1:0][31:0]         strays_o
);
  if (StreamLanes != 2) begin : gen_illegal_ports
    $fatal(1, "streams_top: StreamPorts is %0d; it must be 2", StreamPorts);
  end

  // Inputs may be random at the start of a test: nothing runs before the first reset.
  logic begun_q, rst_n;
  initial begun_q = 1'b0;
  always_ff @(posedge clk_i) if (!rst_ni) begun_q <= 1'b1;
  assign rst_n = rst_ni && begun_q;

  logic [Kernels-1:0] s_valid, s_ready, m_valid, m_ready, m_last;
  logic [Kernels-1:0][8*StreamWidthBytes-1:0] s_data, m_data;
  logic [Kernels-1:0][StreamWidthBytes-1:0] m_keep;
`define KERNEL(K) \
  assign {s_valid[K], s_data[K], m_ready[K]} = {s``K``_axis_tvalid, s``K``_axis_tdata, m``K``_axis_tready}; \
  assign s``K``_axis_tready = s_ready[K]; \
  assign {m``K``_axis_tvalid, m``K``_axis_tdata, m``K``_axis_tkeep, m``K``_axis_tlast} = \
      {m_valid[K], m_data[K], m_keep[K], m_last[K]};
  `KERNEL(0)
  `KERNEL(1)
  `KERNEL(2)
  `KERNEL(3)
`undef KERNEL

  // Link 0 connects the boards; nothing is connected to link 1.
  logic wire_valid[Boards], wire_last[Boards], wire_error[Boards];
  logic [63:0] wire_data[Boards];
  logic [7:0] wire_keep[Boards];

  for (genvar b = 0; b < Boards; b++) begin : gen_board
    localparam int unsigned First = b * StreamLanes;
    logic [Links-1:0] tx_valid, tx_ready, tx_last, rx_valid, rx_last, rx_error;
    logic [63:0] tx_data[Links], rx_data[Links];
    logic [7:0] tx_keep[Links], rx_keep[Links];
    logic [3:0] mesh_in_valid[RouterMeshPorts], mesh_in_credit[RouterMeshPorts];
    logic [3:0] mesh_out_valid[RouterMeshPorts], mesh_out_credit[RouterMeshPorts];
    flit_t mesh_in[RouterMeshPorts], mesh_out[RouterMeshPorts];
    logic [3:0] host_in_valid, host_in_ready, host_out_valid;
    flit_t host_in, host_out;
    gs_idle_pkg::idle_status_t [Tiles-1:0] status;
    gs_link_pkg::counters_t counters[Links];
    for (genvar t = 0; t < Tiles; t++) begin : gen_tile
      assign status[t] = '{idle: 1'b1, vote: 1'b1, default: '0};
    end
    for (genvar e = 0; e < RouterMeshPorts; e++) begin : gen_exit
      if (e == 0) begin : gen_first
        // The test drives at the falling edge, at which the switch's clock gates decide.
        always_ff @(posedge clk_i) begin
          mesh_in_valid[e]   <= rst_n ? exit_in_valid_i[b] : '0;
          mesh_in[e]         <= exit_in_i[b];
          mesh_out_credit[e] <= rst_n ? exit_out_credit_i[b] : '0;
        end
        assign {exit_in_credit_o[b], exit_out_valid_o[b], exit_out_o[b]} = {
          mesh_in_credit[e], mesh_out_valid[e], mesh_out[e]
        };
      end else begin : gen_other
        assign {mesh_in_valid[e], mesh_in[e]} = '0;
        assign mesh_out_credit[e] = mesh_out_valid[e];
      end
    end
    if (b == 0) begin : gen_host
      assign {host_in_valid, host_in} = {host_in_valid_i, host_in_i};
      assign {host_in_ready_o, host_out_valid_o, host_out_o} = {host_in_ready, host_out_valid, host_out};
    end else begin : gen_no_host
      assign {host_in_valid, host_in} = '0;
    end

    gs_board_fabric #(
      .Links    (Links),
      .Jobs     (Jobs),
      .Multicast(1'b0),
      .TableW   (6)
    ) u_fabric (
      .clk_i,
      .rst_ni           (rst_n),
      .board_i          (12'(b)),
      .ready_o          (ready_o[b]),
      .status_i         (status),
      .started_i        ('0),
      .command_o        (),
      .job_o            (),
      .host_o           (),
      .cluster_o        (),
      .debug_in_valid_o (),
      .debug_in_data_o  (),
      .debug_in_ready_i ('1),
      .debug_out_valid_i('0),
      .debug_out_data_i ('{default: '0}),
      .debug_out_ready_o(),
      .mesh_in_valid_i  (mesh_in_valid),
      .mesh_in_i        (mesh_in),
      .mesh_in_credit_o (mesh_in_credit),
      .mesh_out_valid_o (mesh_out_valid),
      .mesh_out_o       (mesh_out),
      .mesh_out_credit_i(mesh_out_credit),
      .host_in_valid_i  (host_in_valid),
      .host_in_ready_o  (host_in_ready),
      .host_in_i        (host_in),
      .host_out_valid_o (host_out_valid),
      .host_out_ready_i ('1),
      .host_out_o       (host_out),
      .send_open_valid_i(send_open_valid_i[First+:StreamLanes]),
      .send_open_ready_o(send_open_ready_o[First+:StreamLanes]),
      .send_open_i      (send_open_i[First+:StreamLanes]),
      .s_axis_tvalid_i  (s_valid[First+:StreamLanes]),
      .s_axis_tready_o  (s_ready[First+:StreamLanes]),
      .s_axis_tdata_i   (s_data[First+:StreamLanes]),
      .recv_open_valid_i(recv_open_valid_i[First+:StreamLanes]),
      .recv_open_ready_o(recv_open_ready_o[First+:StreamLanes]),
      .recv_open_i      (recv_open_i[First+:StreamLanes]),
      .m_axis_tvalid_o  (m_valid[First+:StreamLanes]),
      .m_axis_tready_i  (m_ready[First+:StreamLanes]),
      .m_axis_tdata_o   (m_data[First+:StreamLanes]),
      .m_axis_tkeep_o   (m_keep[First+:StreamLanes]),
      .m_axis_tlast_o   (m_last[First+:StreamLanes]),
      .collective_i     ('0),
      .collective_o     (),
      .mac_tx_valid_o   (tx_valid),
      .mac_tx_ready_i   (tx_ready),
      .mac_tx_data_o    (tx_data),
      .mac_tx_keep_o    (tx_keep),
      .mac_tx_last_o    (tx_last),
      .mac_rx_valid_i   (rx_valid),
      .mac_rx_data_i    (rx_data),
      .mac_rx_keep_i    (rx_keep),
      .mac_rx_last_i    (rx_last),
      .mac_rx_error_i   (rx_error),
      .up_o             (up_o[b]),
      .counters_o       (counters),
      .req_valid_o      (),
      .req_ready_i      (1'b0),
      .req_beat_o       (),
      .req_tag_o        (),
      .rsp_valid_i      (1'b0),
      .rsp_ready_o      (),
      .rsp_tag_i        ('0),
      .rsp_i            ('0),
      .empty_o          ()
    );
    for (genvar j = 0; j < Jobs; j++) begin : gen_job
      assign strays_o[b][j] = u_fabric.gen_job[j].u_job.strays_q;
    end

    gs_mac_model #(
      .BitsPerKilocycle(40_000),
      .Flight          (20),
      .Seed            (Seed + b)
    ) u_wire (
      .clk_i,
      .rst_ni   (rst_n),
      .loss_i,
      .damage_i ('0),
      .cut_i    (1'b0),
      .valid_i  (tx_valid[0]),
      .ready_o  (tx_ready[0]),
      .data_i   (tx_data[0]),
      .keep_i   (tx_keep[0]),
      .last_i   (tx_last[0]),
      .valid_o  (wire_valid[b]),
      .data_o   (wire_data[b]),
      .keep_o   (wire_keep[b]),
      .last_o   (wire_last[b]),
      .error_o  (wire_error[b]),
      .lost_o   (),
      .damaged_o()
    );
    assign tx_ready[1] = 1'b1;
    assign {rx_valid[0], rx_last[0], rx_error[0]} = {wire_valid[1-b], wire_last[1-b], wire_error[1-b]};
    assign {rx_data[0], rx_keep[0]} = {wire_data[1-b], wire_keep[1-b]};
    assign {rx_valid[1], rx_last[1], rx_error[1], rx_data[1], rx_keep[1]} = '0;
  end
endmodule
