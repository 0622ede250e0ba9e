// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// The programmable multicast router of one port: between a link or an exit of the mesh and the port's ingress.
///
///     mailbox network, each virtual channel ---+-> gs_multicast_engine -+
///                                              |      memory            +-> arbiter -> out
///     other channels --------------------------+-> buffers -------------+
///
/// Each port has its own router, and each virtual channel an engine with its own path to the memory. So engines do
/// not wait for each other, and a packet from a link can only wait for the channels that its records name. Channels
/// wait for their own credits alone.
module gs_multicast
  import gs_multicast_pkg::*;
  import gs_switch_pkg::*;
  import gossamer_pkg::*;
#(
  /// virtual channels that arrive here: 1 or SwitchVcs
  parameter  int unsigned Vcs        = 1,
  /// flits that a channel can queue while records are fetched; a power of two
  parameter  int unsigned QueueFlits = RouterBufferFlits,
  /// log2 of the beats in the cache of records of a channel
  parameter  int unsigned CacheW     = 9,
  /// log2 of the beats that are prefetched
  parameter  int unsigned SlotW      = 4,
  /// flits of a payload; a power of two
  parameter  int unsigned MaxFlits   = MaxPayloadFlits,
  /// credits of a channel, in both directions
  parameter  int unsigned Window     = 8,
  /// bits of a tag at the memory; not to be set
  localparam int unsigned TagW       = SlotW + 1 + SwitchVcBits
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [11:0]          board_i,
  /// colour of the messages that this board sends, by job
  input  logic [31:0]          wave_i,
  /// records in memory have changed
  input  logic                 flush_i,
  // Flits in and out, credits for each channel
  input  channels_t            in_valid_i,
  input  flit_t                in_i,
  output channels_t            in_credit_o,
  output channels_t            out_valid_o,
  output flit_t                out_o,
  input  channels_t            out_credit_i,
  // Memory: a read of a beat, answered in any order
  output logic                 req_valid_o,
  input  logic                 req_ready_i,
  output logic [BeatAddrW-1:0] req_beat_o,
  output logic [TagW-1:0]      req_tag_o,
  input  logic                 rsp_valid_i,
  output logic                 rsp_ready_o,
  input  logic [TagW-1:0]      rsp_tag_i,
  input  beat_t                rsp_i,
  // For idle detection, by virtual channel: messages that arrived, copies made, messages consumed; their jobs
  output logic     [Vcs-1:0]   entered_o,
  output job_tag_t [Vcs-1:0]   entered_tag_o,
  output logic     [Vcs-1:0]   sent_o,
  output logic     [Vcs-1:0]   received_o,
  output job_tag_t [Vcs-1:0]   sent_tag_o,
  output job_tag_t [Vcs-1:0]   received_tag_o,
  // Events that are counted: invalid records and messages in this cycle, lookups of records, cache hits
  output faults_t  [Vcs-1:0]   bad_o,
  output logic     [Vcs-1:0]   lookup_o,
  output logic     [Vcs-1:0]   hit_o,
  /// no flit is inside
  output logic                 empty_o
);
  localparam int unsigned CreditW = $clog2(Window + 1);
  localparam int unsigned EngineTagW = SlotW + 1;

  typedef struct packed {
    logic [BeatAddrW-1:0]    beat;
    logic [SwitchVcBits-1:0] vc;
    logic [EngineTagW-1:0]   tag;
  } read_t;

  if (Vcs != 1 && Vcs != SwitchVcs) begin : gen_illegal_vcs
    $fatal(1, "gs_multicast: Vcs is %0d; it must be 1 or %0d", Vcs, SwitchVcs);
  end

  // -------------------------------------------------------------- engines
  // The channels of the mailbox network come first: it is network 0.
  channels_t credits, requests, chosen, others_in, others, others_credit;
  flit_t copies[Vcs];
  logic [Vcs-1:0] copies_valid, read_valid, read_ready, answer_ready, engine_empty, engine_busy;
  read_t read[Vcs];
  read_t read_req;
  logic [SwitchVcBits-1:0] answered_vc;
  assign answered_vc = rsp_tag_i[TagW-1:EngineTagW];

  // The clock of an engine stops while its channel is idle, that of the rest while no flit passes.
  logic clk;
  gs_clock_gate u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(in_valid_i != '0 || out_credit_i != '0 || flush_i || engine_busy != '0 || !empty_o),
    .clk_o (clk)
  );

  for (genvar v = 0; v < Vcs; v++) begin : gen_engine
    logic engine_clk;
    gs_clock_gate u_gate (
      .clk_i,
      .rst_ni,
      .busy_i(in_valid_i[v] || flush_i || engine_busy[v]),
      .clk_o (engine_clk)
    );
    assign read[v].vc = SwitchVcBits'(v);
    gs_multicast_engine #(
      .QueueFlits(QueueFlits),
      .CacheW    (CacheW),
      .SlotW     (SlotW),
      .MaxFlits  (MaxFlits),
      .Window    (Window)
    ) u_engine (
      .clk_i         (engine_clk),
      .rst_ni,
      .board_i,
      .wave_i,
      .flush_i,
      .in_valid_i    (in_valid_i[v]),
      .in_i,
      .in_credit_o   (in_credit_o[v]),
      .out_valid_o   (copies_valid[v]),
      .out_ready_i   (chosen[v]),
      .out_o         (copies[v]),
      .req_valid_o   (read_valid[v]),
      .req_ready_i   (read_ready[v]),
      .req_beat_o    (read[v].beat),
      .req_tag_o     (read[v].tag),
      .rsp_valid_i   (rsp_valid_i && 32'(answered_vc) == v),
      .rsp_ready_o   (answer_ready[v]),
      .rsp_tag_i     (rsp_tag_i[EngineTagW-1:0]),
      .rsp_i,
      .entered_o     (entered_o[v]),
      .entered_tag_o (entered_tag_o[v]),
      .sent_o        (sent_o[v]),
      .received_o    (received_o[v]),
      .sent_tag_o    (sent_tag_o[v]),
      .received_tag_o(received_tag_o[v]),
      .bad_o         (bad_o[v]),
      .lookup_o      (lookup_o[v]),
      .hit_o         (hit_o[v]),
      .empty_o       (engine_empty[v]),
      .busy_o        (engine_busy[v])
    );
  end

  logic [(Vcs > 1 ? SwitchVcBits : 1)-1:0] unused_from;
  gs_rr_arbiter #(
    .N     (Vcs),
    .data_t(read_t)
  ) u_reads (
    .clk_i      (clk),
    .rst_ni,
    .in_valid_i (read_valid),
    .in_ready_o (read_ready),
    .in_data_i  (read),
    .out_valid_o(req_valid_o),
    .out_ready_i(req_ready_i),
    .out_data_o (read_req),
    .out_idx_o  (unused_from)
  );
  assign req_beat_o = read_req.beat;
  assign req_tag_o = {read_req.vc, read_req.tag};
  always_comb begin
    rsp_ready_o = 1'b0;
    for (int unsigned v = 0; v < Vcs; v++) if (32'(answered_vc) == v) rsp_ready_o = answer_ready[v];
  end

  // ------------------------------------------------------- other channels
  channel_t chosen_at;
  flit_t other_flit;
  logic [SwitchChannels-1:0][CreditW-1:0] credits_q;
  logic unused_first;
  assign others_in = {in_valid_i[SwitchChannels-1:Vcs], Vcs'(0)};
  gs_channel_buffer #(.Window(Window)) u_buffer (
    .clk_i      (clk),
    .rst_ni,
    .in_valid_i (others_in),
    .in_i,
    .in_credit_o(others_credit),
    .some_o     (others),
    .at_i       (chosen_at),
    .flit_o     (other_flit),
    .pop_i      (chosen[SwitchChannels-1:Vcs] != '0)
  );
  assign in_credit_o[SwitchChannels-1:Vcs] = others_credit[SwitchChannels-1:Vcs];
  assign unused_first = ^{others_credit[Vcs-1:0], others[Vcs-1:0]};

  for (genvar c = 0; c < SwitchChannels; c++) begin : gen_credit
    assign credits[c] = credits_q[c] != '0;
    always_ff @(posedge clk) begin
      if (!rst_ni) credits_q[c] <= CreditW'(Window);
      else credits_q[c] <= credits_q[c] + CreditW'(out_credit_i[c]) - CreditW'(chosen[c]);
    end
    `GS_ASSERT_NOW(only_used_credits_return, credits_q[c] < CreditW'(Window) || !out_credit_i[c])
  end

  assign requests = {others[SwitchChannels-1:Vcs], copies_valid} & credits;
  gs_arbiter #(.N(SwitchChannels)) u_arbiter (
    .clk_i    (clk),
    .rst_ni,
    .req_i    (requests),
    .gnt_o    (chosen),
    .idx_o    (chosen_at),
    .advance_i(1'b1)
  );
  always_ff @(posedge clk) begin
    out_valid_o <= rst_ni ? chosen : '0;
    out_o       <= other_flit;
    for (int unsigned v = 0; v < Vcs; v++) if (chosen[v]) out_o <= copies[v];
  end
  assign empty_o = engine_empty == '1 && others[SwitchChannels-1:Vcs] == '0 && out_valid_o == '0 && in_valid_i == '0;
endmodule
