// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Loopback of message streams as a role of the Ethernet shell: sends each packet back on its stream, unchanged, at a
/// word a cycle. An empty packet ends the kernel and is not sent back.
///
///     s_axis -> queue of Depth words -> m_axis
///
/// Registers, by byte address, of the current run or the last one: 00 packets, 04 bytes that were sent back. Kernel 0
/// is the only one. `done_o` pulses once for each start; with it `code_o` is 0 done, 1 no such kernel, or 4 stopped.
/// When it pulses, the queue is empty.
module gs_role_echo #(
  /// message streams, 1 to 4
  parameter int unsigned Streams = 4,
  /// words of the queue, 2 or more
  parameter int unsigned Depth   = 512
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // Kernel control, from the shell.
  input  logic        start_i,
  input  logic [31:0] kernel_i,
  input  logic        stop_i,
  output logic        done_o,
  output logic [31:0] code_o,
  output logic [63:0] result_address_o,
  output logic [63:0] result_bytes_o,

  // Registers, AXI4-Lite.
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

  // Packets, AXI4-Stream: all words but the last of a packet have four bytes, an empty packet is a word without any.
  /// message streams; constant
  output logic [15:0] streams_o,
  /// streams for which a packet is accepted
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
  output logic [7:0]  m_axis_tdest_o
);
  if (Streams < 1 || Streams > 4) begin : gen_illegal_streams
    $fatal(1, "gs_role_echo: Streams is %0d; it must be 1 to 4", Streams);
  end

  typedef struct packed {
    logic [31:0] data;
    logic [3:0]  keep;
    logic        last;
    logic [7:0]  dest;
  } word_t;
  localparam logic [31:0] CodeDone = 32'd0, CodeKernel = 32'd1, CodeStopped = 32'd4;

  // ---- registers

  logic        unused_write, unused_read;
  logic [5:0]  unused_waddr, raddr;
  logic [31:0] unused_wdata;
  logic [31:0] packets_q, bytes_q;
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
    .write_o     (unused_write),
    .write_word_o(unused_waddr),
    .write_data_o(unused_wdata),
    .write_ok_i  (1'b0),
    .read_o      (unused_read),
    .read_word_o (raddr),
    .read_data_i (raddr[0] ? bytes_q : packets_q),
    .read_ok_i   (raddr < 6'd2)
  );

  // ---- kernel

  logic running_q, ending_q, first_q;
  logic [31:0] code_q;
  word_t in, out;
  logic [$clog2(Depth + 1)-1:0] held;
  logic in_valid, in_ready, sent, empty;
  assign in    = word_t'{data: s_axis_tdata_i, keep: s_axis_tkeep_i, last: s_axis_tlast_i, dest: s_axis_tdest_i};
  logic unused;
  assign unused = ^{unused_write, unused_read, unused_waddr, unused_wdata};
  assign empty = s_axis_tvalid_i && s_axis_tlast_i && s_axis_tkeep_i == '0 && first_q;

  assign in_valid        = running_q && !ending_q && s_axis_tvalid_i && !empty;
  assign s_axis_tready_o = running_q && !ending_q && (empty || in_ready);
  gs_fifo #(
    .data_t(word_t),
    .Depth (Depth),
    .Block (1'b1)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (in_valid),
    .in_ready_o (in_ready),
    .in_data_i  (in),
    .out_valid_o(m_axis_tvalid_o),
    .out_ready_i(m_axis_tready_i),
    .out_data_o (out),
    .count_o    (held)
  );
  assign m_axis_tdata_o = out.data;
  assign m_axis_tkeep_o = out.keep;
  assign m_axis_tlast_o = out.last;
  assign m_axis_tdest_o = out.dest;
  assign sent           = m_axis_tvalid_o && m_axis_tready_i;

  assign streams_o        = 16'(Streams);
  assign wanted_o         = running_q && !ending_q ? 8'((1 << Streams) - 1) : '0;
  assign code_o           = code_q;
  assign result_address_o = '0;
  assign result_bytes_o   = '0;

  always_ff @(posedge clk_i) begin
    done_o <= 1'b0;
    if (s_axis_tvalid_i && s_axis_tready_o) first_q <= s_axis_tlast_i;
    if (sent) begin
      bytes_q <= bytes_q + 32'($countones(out.keep));
      if (out.last) packets_q <= packets_q + 32'd1;
    end
    if (start_i && !running_q) begin
      running_q <= 1'b1;
      ending_q  <= kernel_i != '0;
      code_q    <= kernel_i == '0 ? CodeDone : CodeKernel;
      packets_q <= '0;
      bytes_q   <= '0;
    end else if (running_q) begin
      if (empty && s_axis_tready_o) ending_q <= 1'b1;
      if (stop_i && !ending_q) begin
        ending_q <= 1'b1;
        code_q   <= CodeStopped;
      end
      if (ending_q && held == '0) begin
        running_q <= 1'b0;
        ending_q  <= 1'b0;
        done_o    <= 1'b1;
      end
    end
    if (!rst_ni) begin
      running_q <= 1'b0;
      ending_q  <= 1'b0;
      done_o    <= 1'b0;
      first_q   <= 1'b1;
    end
  end

  `GS_ASSERT_HOLD(word_to_the_host_is_stable, m_axis_tvalid_o, m_axis_tready_i, out)
endmodule
