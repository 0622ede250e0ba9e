// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Reports of a board to its host: answers in the order of the requests, and events, as packets of one flit.
///
/// An event is pending until it is sent, one for each source and kind; repetitions meanwhile are merged with it
/// (counters count them). Before the board knows a host, events stay pending. Packets are of kind header, so they are
/// not messages.
module gs_board_reports
  import gs_board_pkg::*;
  import gossamer_pkg::*;
#(
  /// links, ports of the switch, multicast routers
  parameter int unsigned Links   = 2,
  parameter int unsigned Ports   = 6,
  parameter int unsigned Routers = 5,
  /// answers that can be queued, a power of two
  parameter int unsigned Depth   = 16
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [11:0]           board_i,
  input  logic [31:0]           reports_i,
  // Answers; ready guarantees space for one answer in any later cycle of the same packet
  input  logic                  answer_valid_i,
  output logic                  answer_ready_o,
  input  reply_t                answer_i,
  // Events, one cycle each
  input  gs_link_pkg::events_t  links_i[Links],
  input  logic [Links-1:0]      up_i,
  input  logic [Ports-1:0]      unroutable_i,
  input  logic [31:0]           unroutable_dest_i[Ports],
  input  logic [Routers-1:0]    bad_i,
  input  logic                  rejected_i,
  input  logic [3:0]            rejection_i,
  input  logic [31:0]           rejected_word_i,
  input  logic [4:0]            rejected_job_i,
  input  logic                  stray_i,
  input  logic [4:0]            stray_job_i,
  // Messages that tiles have dropped: one is to be reported, which one, and how many there were; it is reported
  input  logic                  tile_i,
  input  reported_drop_t        tile_drop_i,
  input  logic [31:0]           tile_count_i,
  output logic                  tile_reported_o,
  // Streaming ports, the same: dropped packets in bit 0, faults in bit 1
  input  logic [1:0]            stream_i,
  input  logic [1:0][63:0]      stream_value_i,
  output logic [1:0]            stream_reported_o,
  // Match engines at the board, the same: dropped packets
  input  logic                  match_i,
  input  logic [63:0]           match_value_i,
  output logic                  match_reported_o,
  // To the reply network
  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output flit_t                 out_o
);
  // ---------------------------------------------------------------- events
  // Sources by number: up, down, restarted, mismatch of each link; unroutable packets of each port; records of each
  // router; rejected control packets; stray messages; messages that tiles dropped, packets that streaming ports
  // dropped, faults of these, and packets that match engines dropped, which are pending outside.
  localparam int unsigned Unroutable = 4 * Links;
  localparam int unsigned Record = Unroutable + Ports;
  localparam int unsigned Control = Record + Routers;
  localparam int unsigned Stray = Control + 1;
  localparam int unsigned Tile = Stray + 1;
  localparam int unsigned Stream = Tile + 1;
  localparam int unsigned Match = Stream + 2;
  localparam int unsigned Matches = (MatchOnBoard > 0) ? 1 : 0;
  localparam int unsigned Sources = Match + Matches;
  localparam int unsigned SourceW = $clog2(Sources);

  logic [Sources-1:0] raised, pending_q, pending, sends, granted;
  logic [SourceW-1:0] at;
  logic [31:0] dest_q[Ports];
  logic [40:0] rejected_q;
  logic [4:0] stray_q;
  always_comb begin
    raised = '0;
    for (int unsigned l = 0; l < Links; l++) begin
      raised[4*l+:4] = {links_i[l].mismatch, links_i[l].restarted, links_i[l].silent, links_i[l].up};
    end
    raised[Unroutable+:Ports] = unroutable_i;
    raised[Record+:Routers]   = bad_i;
    raised[Control]           = rejected_i;
    raised[Stray]             = stray_i;
  end

  logic event_valid, event_ready, event_load, match_granted;
  assign pending[Match-1:0] = {stream_i, tile_i, pending_q[Tile-1:0]};
  if (MatchOnBoard > 0) begin : gen_match
    assign pending[Match]   = match_i;
    assign match_reported_o = sends[Match];
    assign match_granted    = granted[Match];
  end else begin : gen_no_match
    assign {match_reported_o, match_granted} = '0;
    logic unused_match;
    assign unused_match = match_i;
  end
  assign stream_reported_o = sends[Stream+:2];
  assign event_load = (pending != '0) && reports_i != '0 && (!event_valid || event_ready);
  assign tile_reported_o = sends[Tile];
  gs_arbiter #(.N(Sources)) u_next (
    .clk_i,
    .rst_ni,
    .req_i    (pending),
    .gnt_o    (granted),
    .idx_o    (at),
    .advance_i(event_load)
  );
  assign sends = event_load ? granted : '0;

  control_event_t event_d, event_q;
  always_comb begin
    event_d = '{what: BoardEventUnroutable, board: board_i, op_code: ControlOpEvent, default: '0};
    for (int unsigned l = 0; l < Links; l++) begin
      for (int unsigned k = 0; k < 4; k++) begin
        if (granted[4*l+k]) begin
          event_d.what  = board_event_e'(4'd1 + 4'(k));
          event_d.unit  = 5'(l);
          event_d.value = 64'(up_i[l]);
        end
      end
    end
    for (int unsigned p = 0; p < Ports; p++) begin
      if (granted[Unroutable+p]) begin
        event_d.what  = BoardEventUnroutable;
        event_d.unit  = 5'(p);
        event_d.value = 64'(dest_q[p]);
      end
    end
    for (int unsigned r = 0; r < Routers; r++) begin
      if (granted[Record+r]) begin
        event_d.what = BoardEventRecord;
        event_d.unit = 5'(r);
      end
    end
    if (granted[Control]) begin
      event_d.what  = BoardEventControl;
      event_d.value = 64'(rejected_q);
    end
    if (granted[Stray]) begin
      event_d.what  = BoardEventJob;
      event_d.value = 64'(stray_q);
    end
    if (granted[Tile]) begin
      event_d.what  = BoardEventTileDropped;
      event_d.value = {15'd0, tile_drop_i, tile_count_i};
    end
    for (int unsigned k = 0; k < 2; k++) begin
      if (granted[Stream+k]) begin
        event_d.what  = (k == 0) ? BoardEventStreamDropped : BoardEventStreamFault;
        event_d.value = stream_value_i[k];
      end
    end
    if (match_granted) begin
      event_d.what  = BoardEventMatchDropped;
      event_d.value = match_value_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pending_q   <= '0;
      event_valid <= 1'b0;
    end else begin
      pending_q <= (pending_q & ~sends) | raised;
      if (event_load) event_valid <= 1'b1;
      else if (event_ready) event_valid <= 1'b0;
    end
    if (event_load) event_q <= event_d;
    // Of merged events the first one's value is reported.
    for (int unsigned p = 0; p < Ports; p++) begin
      if (!pending_q[Unroutable+p] || sends[Unroutable+p]) dest_q[p] <= unroutable_dest_i[p];
    end
    if (!pending_q[Control] || sends[Control]) rejected_q <= {rejected_job_i, rejection_i, rejected_word_i};
    if (!pending_q[Stray] || sends[Stray]) stray_q <= stray_job_i;
  end

  // --------------------------------------------------------------- answers
  logic answered, reply_valid, answer_ready;
  reply_t reply;
  logic [$clog2(Depth+1)-1:0] count;
  gs_fifo #(
    .data_t(reply_t),
    .Depth (Depth)
  ) u_answers (
    .clk_i,
    .rst_ni,
    .in_valid_i (answer_valid_i),
    .in_ready_o (answered),
    .in_data_i  (answer_i),
    .out_valid_o(reply_valid),
    .out_ready_i(answer_ready),
    .out_data_o (reply),
    .count_o    (count)
  );
  assign answer_ready_o = answered;

  control_answer_t answer;
  assign answer = '{
      value: reply.value, address: reply.address, rejection: rejection_e'(reply.rejection), counter: reply.counter,
      unit: reply.unit,
      asked: control_op_e'(reply.asked),
      board: board_i, op_code: ControlOpAnswer, default: '0
    };

  // ---------------------------------------------------------------- packets
  logic [127:0] payloads[2];
  logic unused_from;
  assign payloads[0] = answer;
  assign payloads[1] = event_q;
  logic [127:0] payload;
  gs_rr_arbiter #(
    .N     (2),
    .data_t(logic [127:0])
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .in_valid_i ({event_valid, reply_valid}),
    .in_ready_o ({event_ready, answer_ready}),
    .in_data_i  (payloads),
    .out_valid_o,
    .out_ready_i,
    .out_data_o (payload),
    .out_idx_o  (unused_from)
  );
  assign out_o = '{kind: FlitKindHeader, last: 1'b1, vnet: VnetReply, dest: reports_i, payload: payload, default: '0};

  logic unused;
  assign unused = ^{at, count, pending_q[Sources-1:Tile]};

  `GS_ASSERT_NOW(answers_find_space, !answer_valid_i || answered)
endmodule
