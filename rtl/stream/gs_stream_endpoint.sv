// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Streaming ports that share a port of the board switch. Each port sends one channel and receives one channel at a
/// time.
///
///     kernels --> gs_stream_send --+--> requests --+--> switch
///             <-- gs_stream_pop ---+--> credits  --+
///                      ^
///                      +---- packets by port <--------- switch
///
/// The endpoint accepts every flit in the cycle in which the switch offers it: elements are covered by credits, the
/// receiver stores one ask per rank, and credits are counted. So a stalled kernel blocks neither the switch nor another
/// port. Packets for none of the ports, or from a sender without credits, are dropped whole; `dropped_o` reports them.
module gs_stream_endpoint
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
  import gs_switch_pkg::*;
#(
  /// ports; the board numbers them starting at First
  parameter int unsigned Ports  = 1,
  parameter int unsigned First  = 0,
  /// bytes of a beat at a kernel; flits of a port's buffer to send and to receive; flits of the longest packet
  parameter int unsigned Bytes  = 4,
  parameter int unsigned Send   = 64,
  parameter int unsigned Depth  = 64,
  parameter int unsigned Packet = 32,
  /// ranks that may ask for credits, a power of two, 2 or more
  parameter int unsigned Ranks  = 16,
  /// cycles after which waiting elements are sent
  parameter int unsigned Linger = 16,
  /// initial credits of a channel of the switch
  parameter int unsigned Window = 8,
  /// bytes of a beat at each port, if some are narrower than Bytes: the low bytes are used
  parameter logic [Ports-1:0][4:0] Widths = {Ports{5'(Bytes)}},
  /// the ports' numbers on the board, each used once, if they are not consecutive
  parameter logic [Ports-1:0][7:0] Numbers = (8 * Ports)'(numbers_from(First)),
  /// halves that exist; packets to an absent half are dropped
  parameter logic [Ports-1:0] Sends = '1,
  parameter logic [Ports-1:0] Receives = '1,
  /// flits of each rank's virtual output queue at a port, for messages that wait for their receiver: 0 (none), or a
  /// power of two, 4 or more
  parameter int unsigned VoqDepth  = 0,
  /// by port: flits of the receive buffer, of the send buffer, of a virtual output queue
  parameter logic [Ports-1:0][15:0] Depths = {Ports{16'(Depth)}},
  parameter logic [Ports-1:0][15:0] SendDepths = {Ports{16'(Send)}},
  parameter logic [Ports-1:0][15:0] VoqDepths = {Ports{16'(VoqDepth)}},
  /// ports that send messages as circuits (gs_circuit), except from virtual output queues
  parameter logic [Ports-1:0] Circuits = '0,
  /// ports at which a beat has one element of the message's type, in its low bytes, instead of all bytes of the port
  parameter logic [Ports-1:0] ElementBeats = '0
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic [11:0]                     board_i,
  /// job of packets that each port sends
  input  logic [Ports-1:0][4:0]           job_i,
  // Switch
  input  channels_t                       sw_valid_i,
  input  flit_t                           sw_i,
  output channels_t                       sw_credit_o,
  output channels_t                       sw_valid_o,
  output flit_t                           sw_o,
  input  channels_t                       sw_credit_i,
  // Bindings
  input  logic [Ports-1:0]                send_bind_valid_i,
  input  send_bind_t [Ports-1:0]          send_bind_i,
  input  logic [Ports-1:0]                recv_bind_valid_i,
  input  recv_bind_t [Ports-1:0]          recv_bind_i,
  // Kernels: channels, and elements as AXI4-Stream
  input  logic [Ports-1:0]                send_open_valid_i,
  output logic [Ports-1:0]                send_open_ready_o,
  input  send_open_t [Ports-1:0]          send_open_i,
  input  logic [Ports-1:0]                s_axis_tvalid_i,
  output logic [Ports-1:0]                s_axis_tready_o,
  input  logic [Ports-1:0][8*Bytes-1:0]   s_axis_tdata_i,
  input  logic [Ports-1:0]                recv_open_valid_i,
  output logic [Ports-1:0]                recv_open_ready_o,
  input  recv_open_t [Ports-1:0]          recv_open_i,
  output logic [Ports-1:0]                m_axis_tvalid_o,
  input  logic [Ports-1:0]                m_axis_tready_i,
  output logic [Ports-1:0][8*Bytes-1:0]   m_axis_tdata_o,
  output logic [Ports-1:0][Bytes-1:0]     m_axis_tkeep_o,
  output logic [Ports-1:0]                m_axis_tlast_o,
  /// the collective that uses a port, else 0
  input  watch_t [Ports-1:0]              watch_i,
  // Fault reports of ports; dropped packets
  output logic                            report_valid_o,
  input  logic                            report_ready_i,
  output stream_report_t                  report_o,
  output logic                            dropped_o,
  // By port: the last flit of a packet with elements leaves for the switch; that of an accepted one has arrived
  output logic [Ports-1:0]                sent_o,
  output logic [Ports-1:0]                received_o
);
  localparam int unsigned PortW = (Ports > 1) ? $clog2(Ports) : 1;
  localparam int unsigned CountW = $clog2(Window + 1);
  localparam int unsigned Request = SwitchVcs * 32'(VnetRequest);
  localparam int unsigned Reply = SwitchVcs * 32'(VnetReply);
  typedef logic [PortW-1:0] port_t;

  if (Ports < 1 || First + Ports > 256) begin : gen_illegal_ports
    $fatal(1, "gs_stream_endpoint: %0d ports from %0d; a board has ports 0 to 255", Ports, First);
  end

  // ---------------------------------------------------------------- input
  // An incoming flit is registered and decoded in the first cycle, and distributed to its port in the second.
  typedef struct packed {
    logic           valid;
    logic           request;
    logic           first;
    logic           last;
    /// in neither of these two networks
    logic           other_vnet;
    flit_kind_e     kind;
    logic [127:0]   payload;
    stream_header_t header;
    stream_tag_t    tag;
  } arrival_t;
  arrival_t in, in_q;
  stream_header_t header_q;
  stream_long_t head;
  stream_tag_t tag_q;
  logic request_inside_q, reply_inside_q, local_match, drop_q, drop, short_data;
  port_t local_index;
  logic [Ports-1:0] rejects, ask_rejects, credit_drops, data_valid, ask_valid, credit_valid;
  logic is_data, is_ask, is_credit;

  assign head = sw_i.payload;
  always_comb begin
    in = '{
      valid:   sw_valid_i != '0,
      request: sw_valid_i[Request],
      first:   sw_valid_i[Request] ? !request_inside_q : !reply_inside_q,
      last:    sw_i.last,
      other_vnet:     !sw_valid_i[Request] && !sw_valid_i[Reply],
      kind:    sw_i.kind,
      payload: sw_i.payload,
      header:  (sw_valid_i[Request] && request_inside_q) ? header_q : sw_i.payload[31:0],
      tag:     request_inside_q ? tag_q : '0
    };
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      request_inside_q <= 1'b0;
      reply_inside_q   <= 1'b0;
      in_q.valid       <= 1'b0;
      sw_credit_o      <= '0;
    end else begin
      if (sw_valid_i[Request]) request_inside_q <= !sw_i.last;
      if (sw_valid_i[Reply]) reply_inside_q <= !sw_i.last;
      in_q.valid <= in.valid;
      // Every flit is accepted.
      sw_credit_o <= sw_valid_i;
    end
    if (sw_valid_i[Request] && !request_inside_q) begin
      header_q <= head.header;
      tag_q    <= head.tag;
    end
    in_q.tag        <= in.tag;
    in_q.request    <= in.request;
    in_q.first      <= in.first;
    in_q.last       <= in.last;
    in_q.other_vnet <= in.other_vnet;
    in_q.kind       <= in.kind;
    in_q.payload    <= in.payload;
    in_q.header     <= in.header;
  end

  if (Numbers == (8 * Ports)'(numbers_from(First))) begin : gen_in_a_row
    logic [7:0] local_port;
    assign local_port = in_q.header.port - 8'(First);
    // A number below First wraps around to one that is too high.
    assign local_match = 32'(local_port) < Ports;
    assign local_index = port_t'(local_port);
  end else begin : gen_by_number
    always_comb begin
      local_match = 1'b0;
      local_index = '0;
      for (int unsigned p = 0; p < Ports; p++) begin
        if (in_q.header.port == Numbers[p]) begin
          local_match = 1'b1;
          local_index = port_t'(p);
        end
      end
    end
  end
  always_comb begin
    is_data    = in_q.request && in_q.header.op inside {StreamOpData, StreamOpClose};
    is_ask     = in_q.request && in_q.header.op == StreamOpAsk;
    is_credit  = !in_q.request && in_q.header.op == StreamOpCredit;
    short_data = in_q.first && in_q.last;
    // Only requests have further flits: a credit is one flit, and the rest of a longer reply is dropped with its first.
    drop = drop_q || !in_q.request;
    if (in_q.first) begin
      drop = in_q.other_vnet || !local_match || in_q.kind != FlitKindHeader || !(is_data || is_ask || is_credit)
             || (!is_data && !in_q.last) || (is_data && rejects[local_index])
             || (is_data && in_q.last && in_q.header.valid > 5'(ShortBytes));
    end
    for (int unsigned p = 0; p < Ports; p++) begin
      data_valid[p]   = in_q.valid && local_index == port_t'(p) && !drop && is_data && (!in_q.first || in_q.last);
      ask_valid[p]    = in_q.valid && local_index == port_t'(p) && !drop && is_ask;
      credit_valid[p] = in_q.valid && local_index == port_t'(p) && !drop && is_credit;
    end
  end
  always_ff @(posedge clk_i) begin
    if (in_q.valid && in_q.request) drop_q <= drop;
    // Packets in flight to a half that is bound again belong to its previous binding.
    for (int unsigned p = 0; p < Ports; p++) begin
      if (recv_bind_valid_i[p] && header_q.port == Numbers[p]) drop_q <= 1'b1;
    end
    dropped_o <= rst_ni && ((in_q.valid && in_q.first && drop) || ask_rejects != '0 || credit_drops != '0);
  end

  // --------------------------------------------------------------- ports
  logic [Ports-1:0] push_valid, push_ready, credit_out_valid, credit_out_ready;
  flit_t push[Ports];
  flit_t credit_out[Ports];
  // A fault of a sending half is pending until it is reported.
  logic [2*Ports-1:0] report_valid, report_taken;
  stream_report_t report[2*Ports];

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    localparam logic [7:0] Number = Numbers[p];
    localparam int unsigned Width = 32'(Widths[p]);
    if (Width > Bytes) begin : gen_illegal_width
      $fatal(1, "gs_stream_endpoint: port %0d has beats of %0d bytes; Bytes is %0d", p, Width, Bytes);
    end
    if (Width < Bytes) begin : gen_narrow
      logic unused_high;
      assign unused_high = ^s_axis_tdata_i[p][8*Bytes-1:8*Width];
      assign m_axis_tdata_o[p][8*Bytes-1:8*Width] = '0;
      assign m_axis_tkeep_o[p][Bytes-1:Width] = '0;
    end
    logic [31:0] own;
    logic failed, fault_q;
    stream_report_t failure, fault_report_q;
    assign own = {EndpointStream, 3'd0, board_i, 6'd0, Number};

    if (Sends[p]) begin : gen_send
      gs_stream_send #(
        .Bytes   (Width),
        .Depth   (32'(SendDepths[p])),
        .Packet  (Packet),
        .Linger  (Linger),
        .Circuit (Circuits[p]),
        .ElementBeats(ElementBeats[p]),
        .Ranks   (Ranks),
        .VoqDepth(32'(VoqDepths[p]))
      ) u_send (
        .clk_i,
        .rst_ni,
        .own_i           (own),
        .job_i           (job_i[p]),
        .bind_valid_i    (send_bind_valid_i[p]),
        .bind_i          (send_bind_i[p]),
        .open_valid_i    (send_open_valid_i[p]),
        .open_ready_o    (send_open_ready_o[p]),
        .open_i          (send_open_i[p]),
        .in_valid_i      (s_axis_tvalid_i[p]),
        .in_ready_o      (s_axis_tready_o[p]),
        .in_data_i       (s_axis_tdata_i[p][8*Width-1:0]),
        .watch_i         (watch_i[p]),
        .credit_valid_i  (credit_valid[p]),
        .credit_i        (in_q.payload),
        .credit_dropped_o(credit_drops[p]),
        .out_valid_o     (push_valid[p]),
        .out_ready_i     (push_ready[p]),
        .out_o           (push[p]),
        .report_valid_o  (failed),
        .report_o        (failure)
      );
    end else begin : gen_no_send
      logic unused;
      assign send_open_ready_o[p] = 1'b0;
      assign s_axis_tready_o[p] = 1'b0;
      assign credit_drops[p] = credit_valid[p];
      assign push_valid[p] = 1'b0;
      assign push[p] = '0;
      assign failed = 1'b0;
      assign failure = '0;
      assign unused = ^{send_bind_valid_i[p], send_bind_i[p], send_open_valid_i[p], send_open_i[p], s_axis_tvalid_i[p],
                        s_axis_tdata_i[p], push_ready[p], own};
    end
    if (Receives[p]) begin : gen_pop
      gs_stream_pop #(
        .Bytes(Width),
        .Depth(32'(Depths[p])),
        .Ranks(Ranks),
        .ElementBeats(ElementBeats[p])
      ) u_pop (
        .clk_i,
        .rst_ni,
        .port_i        (Number),
        .job_i         (job_i[p]),
        .bind_valid_i  (recv_bind_valid_i[p]),
        .bind_i        (recv_bind_i[p]),
        .open_valid_i  (recv_open_valid_i[p]),
        .open_ready_o  (recv_open_ready_o[p]),
        .open_i        (recv_open_i[p]),
        .out_valid_o   (m_axis_tvalid_o[p]),
        .out_ready_i   (m_axis_tready_i[p]),
        .out_data_o    (m_axis_tdata_o[p][8*Width-1:0]),
        .out_keep_o    (m_axis_tkeep_o[p][Width-1:0]),
        .out_last_o    (m_axis_tlast_o[p]),
        .watch_i       (watch_i[p]),
        .in_valid_i    (data_valid[p]),
        .in_last_i     (in_q.last),
        .in_header_i   (in_q.header),
        .in_tag_i      (in_q.tag),
        .in_data_i     (short_data ? 128'(in_q.payload[127:32]) : in_q.payload),
        .reject_o      (rejects[p]),
        .ask_valid_i   (ask_valid[p]),
        .ask_i         (in_q.payload),
        .ask_rejected_o(ask_rejects[p]),
        .credit_valid_o(credit_out_valid[p]),
        .credit_ready_i(credit_out_ready[p]),
        .credit_o      (credit_out[p]),
        .report_valid_o(report_valid[p]),
        .report_ready_i(report_taken[p]),
        .report_o      (report[p])
      );
    end else begin : gen_no_pop
      logic unused;
      assign recv_open_ready_o[p] = 1'b0;
      assign m_axis_tvalid_o[p] = 1'b0;
      assign m_axis_tdata_o[p][8*Width-1:0] = '0;
      assign m_axis_tkeep_o[p][Width-1:0] = '0;
      assign m_axis_tlast_o[p] = 1'b0;
      assign rejects[p] = 1'b1;
      assign ask_rejects[p] = ask_valid[p];
      assign credit_out_valid[p] = 1'b0;
      assign credit_out[p] = '0;
      assign report_valid[p] = 1'b0;
      assign report[p] = '0;
      assign unused = ^{recv_bind_valid_i[p], recv_bind_i[p], recv_open_valid_i[p], recv_open_i[p], m_axis_tready_i[p],
                        data_valid[p], credit_out_ready[p], report_taken[p]};
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) fault_q <= 1'b0;
      else fault_q <= failed || (fault_q && !report_taken[Ports+p]);
      if (failed) fault_report_q <= failure;
    end
    assign report_valid[Ports+p] = fault_q;
    assign report[Ports+p] = fault_report_q;
  end

  localparam int unsigned ReportW = $clog2(2 * Ports);
  logic [ReportW-1:0] unused_report;
  gs_rr_arbiter #(
    .N     (2 * Ports),
    .data_t(stream_report_t)
  ) u_reports (
    .clk_i,
    .rst_ni,
    .in_valid_i (report_valid),
    .in_ready_o (report_taken),
    .in_data_i  (report),
    .out_valid_o(report_valid_o),
    .out_ready_i(report_ready_i),
    .out_data_o (report_o),
    .out_idx_o  (unused_report)
  );

  // --------------------------------------------------------------- output
  // A request keeps the output for a packet, or for a circuit; a credit may pass between two of its flits.
  logic [Ports-1:0] candidates, grant, owner_q;
  port_t grant_index;
  logic held;
  port_t holder;
  logic sending_q, request_valid, reply_valid, request_fire, reply_fire;
  flit_t request, reply;
  port_t unused_credit;
  logic [CountW-1:0] request_credits_q, reply_credits_q;

  always_comb begin
    candidates = push_valid;
    if (held) candidates &= Ports'(1) << holder;
    if (sending_q) candidates = push_valid & owner_q;
  end
  gs_arbiter #(.N(Ports)) u_request_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (candidates),
    .gnt_o    (grant),
    .idx_o    (grant_index),
    .advance_i(request_fire && request.last)
  );
  if (Circuits != '0) begin : gen_circuits
    logic unused_at;
    gs_circuit #(.N(Ports)) u_circuit (
      .clk_i,
      .rst_ni,
      .grant_i  (request_fire && !sending_q),
      .from_i   (grant_index),
      .at_i     (1'b0),
      .circuit_i(is_circuit(request.vnet, request.dest[31:29], request.epoch[0])),
      .more_i   (request.wave),
      .held_o   (held),
      .holder_o (holder),
      .at_o     (unused_at)
    );
  end else begin : gen_packets
    logic unused_grant;
    assign held = 1'b0;
    assign holder = '0;
    assign unused_grant = ^grant_index;
  end
  always_comb begin
    request = '0;
    for (int unsigned p = 0; p < Ports; p++) if (grant[p]) request |= push[p];
  end
  assign request_valid = candidates != '0;
  gs_rr_arbiter #(
    .N     (Ports),
    .data_t(flit_t)
  ) u_credit_arbiter (
    .clk_i,
    .rst_ni,
    .in_valid_i (credit_out_valid),
    .in_ready_o (credit_out_ready),
    .in_data_i  (credit_out),
    .out_valid_o(reply_valid),
    .out_ready_i(reply_fire),
    .out_data_o (reply),
    .out_idx_o  (unused_credit)
  );
  assign reply_fire = reply_valid && reply_credits_q != '0;
  assign request_fire = request_valid && request_credits_q != '0 && !reply_fire;
  assign push_ready = request_fire ? grant : '0;

  // For counters: a request of one flit that asks for credits carries no elements.
  stream_header_t out_header;
  logic carries;
  assign out_header = request.payload[31:0];
  assign carries    = request.kind != FlitKindHeader || out_header.op != StreamOpAsk;
  assign sent_o     = request_fire && request.last && carries ? grant : '0;
  assign received_o = in_q.last ? data_valid : '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sending_q         <= 1'b0;
      request_credits_q <= CountW'(Window);
      reply_credits_q   <= CountW'(Window);
      sw_valid_o        <= '0;
    end else begin
      if (request_fire) sending_q <= !request.last;
      request_credits_q <= request_credits_q - CountW'(request_fire) + CountW'(sw_credit_i[Request]);
      reply_credits_q   <= reply_credits_q - CountW'(reply_fire) + CountW'(sw_credit_i[Reply]);
      sw_valid_o        <= (channels_t'(request_fire) << Request) | (channels_t'(reply_fire) << Reply);
    end
    if (request_fire) owner_q <= grant;
    sw_o <= reply_fire ? reply : request;
  end

  logic unused;
  assign unused = ^{head.spare, in_q.payload, in_q.tag, short_data, out_header, sw_i.vnet, sw_i.job, sw_i.epoch,
                    sw_i.wave, sw_i.dest, sw_credit_i};

  `GS_ASSERT_NOW(credit_returned_only_if_used,
                 (request_credits_q < CountW'(Window) || !sw_credit_i[Request])
                 && (reply_credits_q < CountW'(Window) || !sw_credit_i[Reply]))
  `GS_ASSERT_NOW(flit_arrives_on_one_channel, (sw_valid_i & (sw_valid_i - channels_t'(1))) == '0)
endmodule
