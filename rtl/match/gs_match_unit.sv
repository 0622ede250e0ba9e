// SPDX-License-Identifier: Apache-2.0

/// The unit in a tile's accelerator slot for MPI: the match engine and, if configured, a DMA engine.
///
/// Requests to the DMA engine arrive at the match engine's port and are recognized by their first byte; they are always
/// accepted, so packets to the match engine never wait for the DMA engine. Answers of both leave through one port, to
/// mailboxes. The DMA engine's packets and the replies to them have ports of their own: they travel in networks in
/// which other packets wait for the match engine.
module gs_match_unit
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// 1: there is a DMA engine
  parameter bit Dma = 1'b0,
  /// 1: there is no network
  parameter bit Alone = 1'b0
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic [11:0]              board_i,
  input  logic [3:0]               tile_y_i,
  input  logic [3:0]               tile_x_i,
  input  logic [4:0]               job_i,
  input  gs_address_pkg::cluster_t cluster_i,
  input  logic                     in_valid_i,
  output logic                     in_ready_o,
  input  flit_t                    in_i,
  output logic                     out_valid_o,
  input  logic                     out_ready_i,
  output flit_t                    out_o,
  /// the DMA engine's packets to loaders, and the replies, which are always accepted
  output logic                     move_valid_o,
  input  logic                     move_ready_i,
  output flit_t                    move_o,
  input  logic                     move_reply_valid_i,
  input  flit_t                    move_reply_i,
  /// the DMA engine's memory; responses are always accepted
  output logic                     mem_req_valid_o,
  input  logic                     mem_req_ready_i,
  output mem_req_t                 mem_req_o,
  input  logic                     mem_rsp_valid_i,
  input  mem_rsp_t                 mem_rsp_i,
  output logic                     busy_o
);
  logic engine_in_valid, engine_in_ready, engine_out_valid, engine_out_ready, engine_busy;
  flit_t engine_out;

  gs_match_slot #(
    .Receivers (ThreadsPerTile),
    .MaxFlits  (MailboxMaxFlits),
    .CamEntries(MatchCamEntries),
    .Entries   (MatchListEntries),
    .Receives  (MatchReceives),
    .Eager     (MatchEager),
    .Announced (MatchAnnounced),
    .Window    (MatchWindow)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .seed_i     ('0),
    .board_i,
    .tile_y_i,
    .tile_x_i,
    .in_valid_i (engine_in_valid),
    .in_ready_o (engine_in_ready),
    .in_i,
    .out_valid_o(engine_out_valid),
    .out_ready_i(engine_out_ready),
    .out_o      (engine_out),
    .busy_o     (engine_busy),
    .receives_o (),
    .messages_o ()
  );

  if (Dma) begin : gen_dma
    match_move_t head;
    logic first_q, to_dma, to_dma_q, dma_valid, dma_ready, dma_busy;
    logic [1:0] ready;
    logic [3:0] valid;
    flit_t dma_out, chosen;
    logic skid_ready;

    // The first flit of a packet determines its receiver.
    assign head            = in_i.payload;
    assign to_dma        = first_q ? in_i.kind == FlitKindBody && head.kind == MatchPacketMove : to_dma_q;
    assign engine_in_valid = in_valid_i && !to_dma;
    assign in_ready_o      = to_dma || engine_in_ready;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) first_q <= 1'b1;
      else if (in_valid_i && in_ready_o) first_q <= in_i.last;
      if (in_valid_i && first_q) to_dma_q <= to_dma;
    end

    gs_dma #(
      .Receivers(ThreadsPerTile),
      .Alone    (Alone)
    ) u_dma (
      .clk_i,
      .rst_ni,
      .board_i,
      .tile_y_i,
      .tile_x_i,
      .job_i,
      .cluster_i,
      .in_valid_i   (in_valid_i && to_dma),
      .in_i,
      .out_valid_o  (dma_valid),
      .out_ready_i  (dma_ready),
      .out_o        (dma_out),
      .write_valid_o(move_valid_o),
      .write_ready_i(move_ready_i),
      .write_o      (move_o),
      .reply_valid_i(move_reply_valid_i),
      .reply_i      (move_reply_i),
      .mem_req_valid_o,
      .mem_req_ready_i,
      .mem_req_o,
      .mem_rsp_valid_i,
      .mem_rsp_i,
      .busy_o       (dma_busy)
    );

    gs_packet_arbiter #(.N(2)) u_out (
      .clk_i,
      .rst_ni,
      .in_valid_i ({dma_valid, engine_out_valid}),
      .in_ready_o (ready),
      .in_i       ('{engine_out, dma_out}),
      .out_valid_o(valid),
      .out_ready_i({4{skid_ready}}),
      .out_o      (chosen)
    );
    assign {dma_ready, engine_out_ready} = ready;
    // The arbiter needs ready before it names the input; the switch decides ready by the flit's address.
    gs_skid #(.data_t(flit_t)) u_out_skid (
      .clk_i,
      .rst_ni,
      .in_valid_i (valid != '0),
      .in_ready_o (skid_ready),
      .in_data_i  (chosen),
      .out_valid_o,
      .out_ready_i,
      .out_data_o (out_o)
    );
    assign busy_o = engine_busy || dma_busy || out_valid_o;
    logic unused;
    assign unused = ^head;
  end else begin : gen_no_dma
    assign engine_in_valid  = in_valid_i;
    assign in_ready_o       = engine_in_ready;
    assign out_valid_o      = engine_out_valid;
    assign engine_out_ready = out_ready_i;
    assign out_o            = engine_out;
    assign busy_o           = engine_busy;
    assign {move_valid_o, move_o, mem_req_valid_o, mem_req_o} = '0;
    logic unused;
    assign unused = ^{job_i, cluster_i, move_ready_i, move_reply_valid_i, move_reply_i, mem_req_ready_i,
                      mem_rsp_valid_i, mem_rsp_i, Alone};
  end
endmodule
