// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// A match engine for third-party designs: requests and completions on AXI4-Stream, registers on AXI4-Lite. A processor
/// without a stream port sends requests through registers as well: the window.
///
/// docs/hardware/match.md describes the registers. An access that is undefined, or not allowed in the current state,
/// returns SLVERR and has no effect.
module gs_match_axi
  import gossamer_pkg::*;
#(
  /// as in gs_match
  parameter int unsigned Architecture = 0,
  parameter int unsigned CamEntries   = 64,
  parameter int unsigned Lists        = 1,
  parameter int unsigned Entries      = 4096,
  parameter int unsigned Reserve      = Entries / 8,
  parameter int unsigned Ranks        = 1024
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  // AXI4-Stream: requests (match_command)
  input  logic         s_axis_tvalid_i,
  output logic         s_axis_tready_o,
  input  logic [127:0] s_axis_tdata_i,
  // AXI4-Stream: completions (match_completion)
  output logic         m_axis_tvalid_o,
  input  logic         m_axis_tready_i,
  output logic [127:0] m_axis_tdata_o,
  // AXI4-Lite
  input  logic         s_axil_awvalid_i,
  output logic         s_axil_awready_o,
  input  logic [7:0]   s_axil_awaddr_i,
  input  logic         s_axil_wvalid_i,
  output logic         s_axil_wready_o,
  input  logic [31:0]  s_axil_wdata_i,
  input  logic [3:0]   s_axil_wstrb_i,
  output logic         s_axil_bvalid_o,
  input  logic         s_axil_bready_i,
  output logic [1:0]   s_axil_bresp_o,
  input  logic         s_axil_arvalid_i,
  output logic         s_axil_arready_o,
  input  logic [7:0]   s_axil_araddr_i,
  output logic         s_axil_rvalid_o,
  input  logic         s_axil_rready_i,
  output logic [31:0]  s_axil_rdata_o,
  output logic [1:0]   s_axil_rresp_o
);
  localparam logic [31:0] Identity = 32'h4753_4D31;
  // Register numbers, in words
  localparam logic [5:0] RegIdentity = 6'd0, RegControl = 6'd1, RegStatus = 6'd2, RegPosts = 6'd3, RegMessages = 6'd4;
  localparam logic [5:0] RegSeed = 6'd8, RegCommand = 6'd12, RegCompletion = 6'd16, RegCounters = 6'd20;
  localparam int unsigned Counters = 5;

  logic window_q, sends_q;
  logic [3:0][31:0] seed_q, command_q, done_words;
  logic [Counters-1:0][31:0] counters_q;
  logic cmd_valid, cmd_ready, done_valid, done_ready;
  match_command_t cmd;
  match_completion_t done;
  logic [31:0] posts, messages;
  // Requests that the engine has accepted and not answered, or whose completion waits.
  logic [3:0] in_flight_q;
  logic takes_cmd, takes_done, busy;

  gs_match #(
    .Architecture(Architecture),
    .CamEntries  (CamEntries),
    .Lists       (Lists),
    .Entries     (Entries),
    .Reserve     (Reserve),
    .Ranks       (Ranks)
  ) u_match (
    .clk_i,
    .rst_ni,
    .seed_i      (seed_q),
    .cmd_valid_i (cmd_valid),
    .cmd_ready_o (cmd_ready),
    .cmd_i       (cmd),
    .done_valid_o(done_valid),
    .done_ready_i(done_ready),
    .done_o      (done),
    .posts_o     (posts),
    .messages_o  (messages)
  );

  // ------------------------------------------------------ stream or window
  logic takes_word;
  assign cmd_valid       = window_q ? sends_q : s_axis_tvalid_i;
  assign cmd             = window_q ? match_command_t'(command_q) : match_command_t'(s_axis_tdata_i);
  assign s_axis_tready_o = !window_q && cmd_ready;
  assign m_axis_tvalid_o = !window_q && done_valid;
  assign m_axis_tdata_o  = done;
  assign done_ready      = window_q ? takes_word : m_axis_tready_i;
  assign done_words      = done;
  assign takes_cmd       = cmd_valid && cmd_ready;
  assign takes_done      = done_valid && done_ready;
  assign busy            = sends_q || takes_cmd || in_flight_q != '0;

  // ------------------------------------------------------------ registers
  logic writes, write_ok, reads, read_ok;
  logic [5:0] waddr, raddr;
  logic [31:0] wdata, rdata;
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
    .write_o     (writes),
    .write_word_o(waddr),
    .write_data_o(wdata),
    .write_ok_i  (write_ok),
    .read_o      (reads),
    .read_word_o (raddr),
    .read_data_i (rdata),
    .read_ok_i   (read_ok)
  );

  // A request is accepted only after the engine has accepted the previous one.
  always_comb begin
    write_ok = 1'b0;
    if (waddr == RegControl) write_ok = !busy;
    if (waddr[5:2] == RegSeed[5:2]) write_ok = 1'b1;
    if (waddr[5:2] == RegCommand[5:2]) write_ok = window_q && !sends_q;
  end

  // Reading the last word of a completion removes it.
  assign takes_word       = reads && read_ok && raddr == (RegCompletion | 6'd3);
  always_comb begin
    read_ok = 1'b1;
    rdata   = '0;
    unique case (raddr)
      RegIdentity: rdata = Identity;
      RegControl: rdata = 32'(window_q);
      RegStatus: rdata = {29'd0, busy, window_q && done_valid, window_q && !sends_q};
      RegPosts: rdata = posts;
      RegMessages: rdata = messages;
      default: begin
        if (raddr[5:2] == RegCompletion[5:2]) begin
          read_ok = window_q && done_valid;
          rdata   = read_ok ? done_words[raddr[1:0]] : '0;
        end else if (raddr >= RegCounters && raddr < RegCounters + 6'(Counters)) begin
          rdata = counters_q[3'(raddr - RegCounters)];
        end else begin
          read_ok = 1'b0;
        end
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      window_q    <= 1'b0;
      sends_q     <= 1'b0;
      seed_q      <= '0;
      counters_q  <= '0;
      in_flight_q <= '0;
    end else begin
      in_flight_q <= in_flight_q + 4'(takes_cmd) - 4'(takes_done);
      if (sends_q && cmd_ready) sends_q <= 1'b0;
      if (writes) begin
        if (waddr == RegControl) window_q <= wdata[0];
        if (waddr[5:2] == RegSeed[5:2]) seed_q[waddr[1:0]] <= wdata;
        if (waddr == (RegCommand | 6'd3)) sends_q <= 1'b1;
      end
      for (int unsigned i = 0; i < Counters; i++) begin
        if (takes_done && 32'(done.status) == i) counters_q[i] <= counters_q[i] + 32'd1;
      end
    end
    if (writes && waddr[5:2] == RegCommand[5:2]) command_q[waddr[1:0]] <= wdata;
  end

  `GS_ASSERT_NOW(in_flight_count_never_overflows, in_flight_q != '1 || !takes_cmd)
  `GS_ASSERT_NOW(completion_has_a_request, !done_valid || in_flight_q != '0)
  `GS_ASSERT_HOLD(completion_stable_while_stalled, m_axis_tvalid_o, m_axis_tready_i || window_q, m_axis_tdata_o)
endmodule
