// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// A board of threads as a role of the Ethernet shell, with a clock of its own: a host drives it by packets alone.
///
///     shell <=> gs_board_host_stream <=> gs_board <=> memory controllers, MACs of the links
///
/// Stream v to the board has the flits for virtual network v of its host port; stream 0 from the board has all of its
/// flits, with cycles (gs_board_host_stream). While no kernel runs,
/// the board is in reset. Kernel 0 releases it, accepts packets as soon as the board is ready, and ends when a packet
/// without bytes arrives, or when it is stopped; the board is in reset again before `done_o`, which pulses once for
/// each start. With it `code_o` is 0 done, 1 no such kernel, or 4 stopped.
///
/// Registers, by byte address: 00 number of the board, to be written before the start; 04 bit 0: the board's tables are
/// cleared, bits 8 and up: links that are up; 08 packets that were dropped, in whole or at their end, in this run.
module gs_role_board
  import gs_board_memory_pkg::Memories;
  import gs_noc_pkg::Vnets;
  import gs_board_pkg::StreamLanes;
  import gossamer_pkg::*;
#(
  /// as in gs_board
  parameter int unsigned Links       = 4,
  parameter int unsigned Jobs        = 1,
  parameter bit          Multicast   = 1'b1,
  parameter bit          Accelerator = 1'b0,
  parameter gs_link_pkg::shape_t Shape = gs_link_pkg::DefaultShape
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // Kernel control, from the shell
  input  logic        start_i,
  input  logic [31:0] kernel_i,
  input  logic        stop_i,
  output logic        done_o,
  output logic [31:0] code_o,
  output logic [63:0] result_address_o,
  output logic [63:0] result_bytes_o,

  // Registers, AXI4-Lite
  input  logic        s_axil_awvalid_i,
  output logic        s_axil_awready_o,
  input  logic [7:0]  s_axil_awaddr_i,
  input  logic        s_axil_wvalid_i,
  output logic        s_axil_wready_o,
  input  logic [31:0] s_axil_wdata_i,
  input  logic [3:0]  s_axil_wstrb_i,
  output logic        s_axil_bvalid_o,
  input  logic        s_axil_bready_i,
  output logic [1:0]  s_axil_bresp_o,
  input  logic        s_axil_arvalid_i,
  output logic        s_axil_arready_o,
  input  logic [7:0]  s_axil_araddr_i,
  output logic        s_axil_rvalid_o,
  input  logic        s_axil_rready_i,
  output logic [31:0] s_axil_rdata_o,
  output logic [1:0]  s_axil_rresp_o,

  // Packets, AXI4-Stream, as at gs_role_echo
  output logic [15:0] streams_o,
  output logic [7:0]  wanted_o,
  input  logic        s_axis_tvalid_i,
  output logic        s_axis_tready_o,
  input  logic [31:0] s_axis_tdata_i,
  input  logic [3:0]  s_axis_tkeep_i,
  input  logic        s_axis_tlast_i,
  input  logic [7:0]  s_axis_tdest_i,
  output logic        m_axis_tvalid_o,
  input  logic        m_axis_tready_i,
  output logic [31:0] m_axis_tdata_o,
  output logic [3:0]  m_axis_tkeep_o,
  output logic        m_axis_tlast_o,
  output logic [7:0]  m_axis_tdest_o,

  // Board: all ports below have its clock
  input  logic        board_clk_i,
  /// reset of the memory controllers, and of the links' ends at their MACs
  output logic        board_rst_no,
  // Memories, as at gs_board
  output logic        mem_req_valid_o[Memories],
  input  logic        mem_req_ready_i[Memories],
  output gs_board_memory_pkg::mem_req_t mem_req_o[Memories],
  input  logic        mem_rsp_valid_i[Memories],
  output logic        mem_rsp_ready_o[Memories],
  input  gs_board_memory_pkg::mem_rsp_t mem_rsp_i[Memories],
  // Kernels of the streaming ports, as at gs_board
  input  logic [StreamLanes-1:0] kernel_send_open_valid_i,
  output logic [StreamLanes-1:0] kernel_send_open_ready_o,
  input  gs_stream_pkg::send_open_t [StreamLanes-1:0] kernel_send_open_i,
  input  logic [StreamLanes-1:0] kernel_s_axis_tvalid_i,
  output logic [StreamLanes-1:0] kernel_s_axis_tready_o,
  input  logic [StreamLanes-1:0][8*StreamWidthBytes-1:0] kernel_s_axis_tdata_i,
  input  logic [StreamLanes-1:0] kernel_recv_open_valid_i,
  output logic [StreamLanes-1:0] kernel_recv_open_ready_o,
  input  gs_stream_pkg::recv_open_t [StreamLanes-1:0] kernel_recv_open_i,
  output logic [StreamLanes-1:0] kernel_m_axis_tvalid_o,
  input  logic [StreamLanes-1:0] kernel_m_axis_tready_i,
  output logic [StreamLanes-1:0][8*StreamWidthBytes-1:0] kernel_m_axis_tdata_o,
  output logic [StreamLanes-1:0][StreamWidthBytes-1:0] kernel_m_axis_tkeep_o,
  output logic [StreamLanes-1:0] kernel_m_axis_tlast_o,
  input  gs_board_pkg::collective_in_t  [gs_board_pkg::CollectiveLanes-1:0] kernel_collective_i,
  output gs_board_pkg::collective_out_t [gs_board_pkg::CollectiveLanes-1:0] kernel_collective_o,
  // Links, as at gs_board: gs_role_links for virtual links, a gs_link_mac for a PHY, or a PHY of the board's clock
  output logic [Links-1:0] mac_tx_valid_o,
  input  logic [Links-1:0] mac_tx_ready_i,
  output logic [8*LinksDatapathBytes-1:0] mac_tx_data_o[Links],
  output logic [LinksDatapathBytes-1:0] mac_tx_keep_o[Links],
  output logic [Links-1:0] mac_tx_last_o,
  input  logic [Links-1:0] mac_rx_valid_i,
  input  logic [8*LinksDatapathBytes-1:0] mac_rx_data_i[Links],
  input  logic [LinksDatapathBytes-1:0] mac_rx_keep_i[Links],
  input  logic [Links-1:0] mac_rx_last_i,
  input  logic [Links-1:0] mac_rx_error_i,
  output logic [Links-1:0] up_o
);
  localparam logic [31:0] CodeDone = 32'd0, CodeKernel = 32'd1, CodeStopped = 32'd4;

  // ---- registers

  logic        write, read;
  logic [5:0]  write_word, read_word;
  logic [31:0] write_data, read_data;
  logic [11:0] board_q;
  logic [31:0] dropped_q;
  logic        ready;
  logic [Links-1:0] up;
  logic        running_q, ending_q;
  gs_axil u_axil (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i,
    .s_axil_awready_o,
    .s_axil_awaddr_i,
    .s_axil_wvalid_i,
    .s_axil_wready_o,
    .s_axil_wdata_i,
    .s_axil_wstrb_i,
    .s_axil_bvalid_o,
    .s_axil_bready_i,
    .s_axil_bresp_o,
    .s_axil_arvalid_i,
    .s_axil_arready_o,
    .s_axil_araddr_i,
    .s_axil_rvalid_o,
    .s_axil_rready_i,
    .s_axil_rdata_o,
    .s_axil_rresp_o,
    .write_o     (write),
    .write_word_o(write_word),
    .write_data_o(write_data),
    // The board reads its number in another clock: it is constant while the board runs.
    .write_ok_i  (write_word == '0 && !running_q),
    .read_o      (read),
    .read_word_o (read_word),
    .read_data_i (read_data),
    .read_ok_i   (read_word < 6'd3)
  );
  always_comb begin
    case (read_word[1:0])
      2'd0: read_data = 32'(board_q);
      2'd1: read_data = {24'(up), 7'd0, ready};
      default: read_data = dropped_q;
    endcase
  end

  // ---- kernel

  logic [Vnets-1:0] wanted;
  logic             accept, first_q, ends, malformed, idle, in_reset, stop;
  logic [31:0]      code_q;
  assign streams_o        = 16'(Vnets);
  // Packets wait for the board: what they set in its tables while these are being cleared would be lost.
  assign wanted_o         = running_q && !ending_q && ready ? 8'(wanted) : '0;
  assign code_o           = code_q;
  assign result_address_o = '0;
  assign result_bytes_o   = '0;
  assign accept           = s_axis_tvalid_i && s_axis_tready_o;
  assign ends             = accept && s_axis_tlast_i && s_axis_tkeep_i == '0 && first_q;
  assign stop             = !running_q || ending_q;

  // Idle, run, wait for the end of the packet that is being sent, wait for the board's reset
  logic resets_q;
  always_ff @(posedge clk_i) begin
    done_o <= 1'b0;
    if (accept) first_q <= s_axis_tlast_i;
    if (malformed) dropped_q <= dropped_q + 32'd1;
    if (write && write_word == '0) board_q <= write_data[11:0];
    if (start_i && !running_q && !resets_q) begin
      running_q <= kernel_i == '0;
      resets_q  <= kernel_i != '0;
      code_q    <= kernel_i == '0 ? CodeDone : CodeKernel;
      dropped_q <= '0;
    end
    if (running_q) begin
      if (ends || stop_i) ending_q <= 1'b1;
      if (stop_i && !ending_q && !ends) code_q <= CodeStopped;
      if (ending_q && idle) begin
        running_q <= 1'b0;
        ending_q  <= 1'b0;
        resets_q  <= 1'b1;
      end
    end
    if (resets_q && in_reset) begin
      resets_q <= 1'b0;
      done_o   <= 1'b1;
    end
    if (!rst_ni) begin
      running_q <= 1'b0;
      ending_q  <= 1'b0;
      resets_q  <= 1'b0;
      done_o    <= 1'b0;
      first_q   <= 1'b1;
      board_q   <= '0;
      dropped_q <= '0;
    end
  end

  // ---- board

  logic [Vnets-1:0] host_in_valid, host_in_ready, host_out_valid, host_out_ready;
  flit_t            host_in, host_out;
  gs_board_host_stream u_stream (
    .clk_i,
    .rst_ni          (running_q && rst_ni),
    .stop_i          (stop),
    .idle_o          (idle),
    .malformed_o     (malformed),
    .wanted_o        (wanted),
    .s_axis_tvalid_i,
    .s_axis_tready_o,
    .s_axis_tdata_i,
    .s_axis_tkeep_i,
    .s_axis_tlast_i,
    .s_axis_tdest_i,
    .m_axis_tvalid_o,
    .m_axis_tready_i,
    .m_axis_tdata_o,
    .m_axis_tkeep_o,
    .m_axis_tlast_o,
    .m_axis_tdest_o,
    .board_clk_i,
    .board_rst_no,
    .in_reset_o      (in_reset),
    .host_in_valid_o (host_in_valid),
    .host_in_ready_i (host_in_ready),
    .host_in_o       (host_in),
    .host_out_valid_i(host_out_valid),
    .host_out_ready_o(host_out_ready),
    .host_out_i      (host_out)
  );

  logic                   board_ready, unused_empty;
  gs_link_pkg::counters_t unused_counters[Links];
  gs_board #(
    .Links      (Links),
    .Jobs       (Jobs),
    .Multicast  (Multicast),
    .Accelerator(Accelerator),
    .Shape      (Shape)
  ) u_board (
    .clk_i           (board_clk_i),
    .rst_ni          (board_rst_no),
    .board_i         (board_q),
    .ready_o         (board_ready),
    .mem_req_valid_o,
    .mem_req_ready_i,
    .mem_req_o,
    .mem_rsp_valid_i,
    .mem_rsp_ready_o,
    .mem_rsp_i,
    .host_in_valid_i (host_in_valid),
    .host_in_ready_o (host_in_ready),
    .host_in_i       (host_in),
    .host_out_valid_o(host_out_valid),
    .host_out_ready_i(host_out_ready),
    .host_out_o      (host_out),
    .send_open_valid_i(kernel_send_open_valid_i),
    .send_open_ready_o(kernel_send_open_ready_o),
    .send_open_i     (kernel_send_open_i),
    .s_axis_tvalid_i (kernel_s_axis_tvalid_i),
    .s_axis_tready_o (kernel_s_axis_tready_o),
    .s_axis_tdata_i  (kernel_s_axis_tdata_i),
    .recv_open_valid_i(kernel_recv_open_valid_i),
    .recv_open_ready_o(kernel_recv_open_ready_o),
    .recv_open_i     (kernel_recv_open_i),
    .m_axis_tvalid_o (kernel_m_axis_tvalid_o),
    .m_axis_tready_i (kernel_m_axis_tready_i),
    .m_axis_tdata_o  (kernel_m_axis_tdata_o),
    .m_axis_tkeep_o  (kernel_m_axis_tkeep_o),
    .m_axis_tlast_o  (kernel_m_axis_tlast_o),
    .collective_i    (kernel_collective_i),
    .collective_o    (kernel_collective_o),
    .mac_tx_valid_o,
    .mac_tx_ready_i,
    .mac_tx_data_o,
    .mac_tx_keep_o,
    .mac_tx_last_o,
    .mac_rx_valid_i,
    .mac_rx_data_i,
    .mac_rx_keep_i,
    .mac_rx_last_i,
    .mac_rx_error_i,
    .up_o,
    .counters_o      (unused_counters),
    .empty_o         (unused_empty)
  );

  // Of the board, for the registers; each bit by itself
  gs_sync u_sync_ready (.clk_i, .rst_ni, .data_i(board_ready && board_rst_no), .data_o(ready));
  for (genvar l = 0; l < Links; l++) begin : gen_up
    gs_sync u_sync_up (.clk_i, .rst_ni, .data_i(up_o[l]), .data_o(up[l]));
  end
  logic unused;
  assign unused = ^{read, write_data[31:12], unused_empty};
endmodule
