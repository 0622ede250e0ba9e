// SPDX-License-Identifier: Apache-2.0

/// Two endpoints at one switch, for the tests. Port p belongs to rank p; numbering continues over both endpoints.
module pair_top
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
  import gs_switch_pkg::*;
#(
  /// ports of an endpoint, log2
  parameter  int unsigned PortBits = 1,
  parameter  int unsigned Bytes    = 4,
  parameter  int unsigned Send     = 64,
  parameter  int unsigned Depth    = 64,
  parameter  int unsigned Packet   = 32,
  parameter  int unsigned Linger   = 16,
  parameter  int unsigned VoqDepth    = 0,
  parameter  bit          ElementBeats = 0,
  localparam int unsigned Ports    = 1 << PortBits,
  localparam int unsigned All      = 2 * Ports
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  output logic                     ready_o,
  input  logic [All-1:0]           send_bind_valid_i,
  input  logic [All-1:0][53:0]     send_bind_i,
  input  logic [All-1:0]           recv_bind_valid_i,
  input  logic [All-1:0][45:0]     recv_bind_i,
  input  logic [All-1:0]           send_open_valid_i,
  output logic [All-1:0]           send_open_ready_o,
  input  logic [All-1:0][82:0]     send_open_i,
  input  logic [All-1:0]           s_valid_i,
  output logic [All-1:0]           s_ready_o,
  input  logic [All-1:0][8*Bytes-1:0] s_data_i,
  input  logic [All-1:0]           recv_open_valid_i,
  output logic [All-1:0]           recv_open_ready_o,
  input  logic [All-1:0][50:0]     recv_open_i,
  output logic [All-1:0]           m_valid_o,
  input  logic [All-1:0]           m_ready_i,
  output logic [All-1:0][8*Bytes-1:0] m_data_o,
  output logic [All-1:0][Bytes-1:0] m_keep_o,
  output logic [All-1:0]           m_last_o,
  output logic [1:0]               report_valid_o,
  input  logic [1:0]               report_ready_i,
  output logic [1:0][160:0]        report_o,
  output logic [1:0]               dropped_o,
  // The test's own packets, at a third port of the switch; the flits that the two endpoints send
  input  logic [7:0]               raw_valid_i,
  input  logic [172:0]             raw_i,
  output logic [7:0]               raw_credit_o,
  output logic [1:0][7:0]          wire_valid_o,
  output logic [1:0][172:0]        wire_o,
  output logic [2:0]               unroutable_o
);
  localparam home_t Home = '{stream: '{first: 8'd0, count: 8'd2}, default: '0};

  channels_t in_valid[3], in_credit[3], out_valid[3], out_credit[3];
  flit_t in[3];
  flit_t out[3];
  logic [31:0] unused_dest[3];
  logic unused_empty;

  // Inputs may be random at the start of a test: nothing runs before the first reset.
  logic begun_q;
  initial begun_q = 1'b0;
  always_ff @(posedge clk_i) if (!rst_ni) begun_q <= 1'b1;
  logic rst_n;
  assign rst_n = rst_ni && begun_q;

  for (genvar e = 0; e < 2; e++) begin : gen_end
    gs_stream_endpoint #(
      .Ports   (Ports),
      .First   (e * Ports),
      .Bytes   (Bytes),
      .Send    (Send),
      .Depth   (Depth),
      .Packet  (Packet),
      .Ranks   (All),
      .Linger  (Linger),
      .VoqDepth(VoqDepth),
      .ElementBeats({Ports{ElementBeats}})
    ) u_end (
      .clk_i,
      .rst_ni           (rst_n),
      .board_i          (12'd3),
      .job_i            ({Ports{5'd9}}),
      .sw_valid_i       (out_valid[e]),
      .sw_i             (out[e]),
      .sw_credit_o      (out_credit[e]),
      .sw_valid_o       (in_valid[e]),
      .sw_o             (in[e]),
      .sw_credit_i      (in_credit[e]),
      .send_bind_valid_i(send_bind_valid_i[e*Ports+:Ports]),
      .send_bind_i      (send_bind_i[e*Ports+:Ports]),
      .recv_bind_valid_i(recv_bind_valid_i[e*Ports+:Ports]),
      .recv_bind_i      (recv_bind_i[e*Ports+:Ports]),
      .send_open_valid_i(send_open_valid_i[e*Ports+:Ports]),
      .send_open_ready_o(send_open_ready_o[e*Ports+:Ports]),
      .send_open_i      (send_open_i[e*Ports+:Ports]),
      .s_axis_tvalid_i  (s_valid_i[e*Ports+:Ports]),
      .s_axis_tready_o  (s_ready_o[e*Ports+:Ports]),
      .s_axis_tdata_i   (s_data_i[e*Ports+:Ports]),
      .recv_open_valid_i(recv_open_valid_i[e*Ports+:Ports]),
      .recv_open_ready_o(recv_open_ready_o[e*Ports+:Ports]),
      .recv_open_i      (recv_open_i[e*Ports+:Ports]),
      .m_axis_tvalid_o  (m_valid_o[e*Ports+:Ports]),
      .m_axis_tready_i  (m_ready_i[e*Ports+:Ports]),
      .m_axis_tdata_o   (m_data_o[e*Ports+:Ports]),
      .m_axis_tkeep_o   (m_keep_o[e*Ports+:Ports]),
      .m_axis_tlast_o   (m_last_o[e*Ports+:Ports]),
      .watch_i          ('0),
      .report_valid_o   (report_valid_o[e]),
      .report_ready_i   (report_ready_i[e]),
      .report_o         (report_o[e]),
      .dropped_o        (dropped_o[e]),
      .sent_o(),
      .received_o()
    );
    assign wire_valid_o[e] = in_valid[e];
    assign wire_o[e] = in[e];
  end

  assign in_valid[2] = raw_valid_i;
  assign in[2] = raw_i;
  assign raw_credit_o = in_credit[2];
  assign out_credit[2] = out_valid[2];

  gs_switch #(
    .Ports     (3),
    .Virtual   (3'b000),
    .Home      (Home),
    .StreamBits(PortBits),
    .TableW    (4)
  ) u_switch (
    .clk_i,
    .rst_ni           (rst_n),
    .board_i          (12'd3),
    .burst_i          (8'd8),
    .ready_o,
    .table_we_i       (1'b0),
    .table_index_i    ('0),
    .table_entry_i    ('0),
    .in_valid_i       (in_valid),
    .in_i             (in),
    .in_credit_o      (in_credit),
    .out_valid_o      (out_valid),
    .out_o            (out),
    .out_credit_i     (out_credit),
    .unroutable_o,
    .unroutable_dest_o(unused_dest),
    .unroutable_message_o(),
    .unroutable_job_o(),
    .empty_o          (unused_empty)
  );
  logic unused;
  assign unused = ^{out[2], unused_empty};
endmodule
