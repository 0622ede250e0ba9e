// SPDX-License-Identifier: Apache-2.0

/// Sending half of a streaming port, with or without virtual output queues.
///
///     elements --> gs_stream_push ------+--> packets
///                         \--> VOQ -----+
module gs_stream_send
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// as in gs_stream_push
  parameter int unsigned Bytes  = 4,
  parameter int unsigned Depth  = 64,
  parameter int unsigned Packet = 32,
  parameter int unsigned Linger = 16,
  parameter bit          Circuit = 0,
  parameter bit          ElementBeats = 0,
  /// ranks, and flits of the virtual output queue of each (gs_stream_voq); 0: no queues
  parameter int unsigned Ranks  = 16,
  parameter int unsigned VoqDepth  = 0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // As in gs_stream_push
  input  logic [31:0]          own_i,
  input  logic [4:0]           job_i,
  input  logic                 bind_valid_i,
  input  send_bind_t           bind_i,
  input  logic                 open_valid_i,
  output logic                 open_ready_o,
  input  send_open_t           open_i,
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  logic [8*Bytes-1:0]   in_data_i,
  input  watch_t               watch_i,
  input  logic                 credit_valid_i,
  input  stream_credit_t       credit_i,
  output logic                 credit_dropped_o,
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output flit_t                out_o,
  output logic                 report_valid_o,
  output stream_report_t       report_o
);
  logic [7:0] rank;
  logic voq_nonempty, offered, voq_accept, in_head, own_credit, credit_voq, push_valid, push_ready;
  send_open_t offer;
  bytes_t offer_bytes;
  logic [127:0] offer_flit;
  account_t account;
  flit_t push;

  gs_stream_push #(
    .Bytes       (Bytes),
    .Depth       (Depth),
    .Packet      (Packet),
    .Linger      (Linger),
    .Circuit     (Circuit),
    .ElementBeats(ElementBeats)
  ) u_push (
    .clk_i,
    .rst_ni,
    .own_i,
    .job_i,
    .bind_valid_i,
    .bind_i,
    .open_valid_i,
    .open_ready_o,
    .open_i,
    .in_valid_i,
    .in_ready_o,
    .in_data_i,
    .watch_i,
    .credit_valid_i,
    .credit_i,
    .credit_dropped_o,
    .rank_o          (rank),
    .voq_nonempty_i  (voq_nonempty),
    .offer_valid_o   (offered),
    .offer_o         (offer),
    .offer_bytes_o   (offer_bytes),
    .offer_flit_o    (offer_flit),
    .voq_accept_i    (voq_accept),
    .in_head_i       (in_head),
    .account_o       (account),
    .credit_valid_o  (own_credit),
    .credit_voq_i    (credit_voq),
    .out_valid_o     (push_valid),
    .out_ready_i     (push_ready),
    .out_o           (push),
    .report_valid_o,
    .report_o
  );

  if (VoqDepth > 0) begin : gen_voq
    stream_header_t credit_header;
    logic voq_valid;
    flit_t voq;
    logic [1:0] valid, grant, owner_q;
    logic unused_grant, sending_q;
    assign credit_header = credit_i.header;

    gs_stream_voq #(
      .Ranks (Ranks),
      .Flits (VoqDepth),
      .Packet(Packet)
    ) u_voq (
      .clk_i,
      .rst_ni,
      .own_i,
      .job_i,
      .account_i       (account),
      .clear_i         (bind_valid_i),
      .offer_valid_i   (offered),
      .offer_i         (offer),
      .bytes_i         (offer_bytes),
      .flit_i          (offer_flit),
      .accept_o        (voq_accept),
      .in_head_o       (in_head),
      .rank_i          (rank),
      .nonempty_o      (voq_nonempty),
      .credit_valid_i  (own_credit),
      .credit_rank_i   (credit_header.source),
      .credit_flits_i  (credit_i.flits),
      .credit_for_voq_o(credit_voq),
      .out_valid_o     (voq_valid),
      .out_ready_i     (out_ready_i && grant[1]),
      .out_o           (voq)
    );
    // Arbitrates per packet.
    assign valid = {voq_valid, push_valid} & (sending_q ? owner_q : 2'b11);
    gs_arbiter #(.N(2)) u_arbiter (
      .clk_i,
      .rst_ni,
      .req_i    (valid),
      .gnt_o    (grant),
      .idx_o    (unused_grant),
      .advance_i(out_ready_i && out_o.last)
    );
    assign out_valid_o = valid != '0;
    assign out_o = grant[1] ? voq : push;
    assign push_ready = out_ready_i && grant[0];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) sending_q <= 1'b0;
      else if (out_valid_o && out_ready_i) sending_q <= !out_o.last;
      if (out_valid_o && out_ready_i) owner_q <= grant;
    end
    logic unused;
    assign unused = ^{credit_i.spare, credit_i.message, credit_i.tag, credit_header};
  end else begin : gen_no_voq
    assign voq_nonempty = 1'b0;
    assign voq_accept   = 1'b0;
    assign in_head = 1'b0;
    assign credit_voq = 1'b0;
    assign out_valid_o = push_valid;
    assign push_ready = out_ready_i;
    assign out_o = push;
    logic unused;
    assign unused = ^{rank, offered, offer, offer_bytes, offer_flit, account, own_credit};
  end
endmodule
