// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Streaming ports of a board (gs_stream_endpoint), shared by jobs: their packets, registers and events.
///
///     switch => job of the packet = job of the port? => gs_stream_endpoint <=> kernels
///     switch <= destination is a streaming port      <=
///     control unit: registers, events
///
/// The streaming ports of kernels are followed by those of the blocks of collectives (gs_board_collectives), which are
/// owned and bound alike.
///
/// A port belongs to the job whose slot names it. Packets of other jobs, to ports that do not exist and of other kinds
/// are dropped whole, counted and reported. Only packets of the port's job bind it. A port that changes its job is
/// unbound, and the kernel of a port without a job waits. Every flit is accepted in the cycle in which the switch
/// offers it. Streams take no part in idle detection: no job of threads waits for a stream.
module gs_board_streams
  import gs_board_pkg::*;
  import gs_stream_pkg::send_bind_t;
  import gs_stream_pkg::recv_bind_t;
  import gs_stream_pkg::send_open_t;
  import gs_stream_pkg::recv_open_t;
  import gs_stream_pkg::stream_report_t;
  import gs_switch_pkg::*;
  import gossamer_pkg::*;
#(
  /// flits of the longest packet, without its header
  parameter  int unsigned Packet = (StreamSendFlits / 2 < 30) ? StreamSendFlits / 2 : 30,
  localparam int unsigned Kernels = StreamLanes,
  localparam int unsigned Ports  = StreamEndLanes,
  localparam int unsigned Bytes  = StreamWidthBytes
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [11:0]                   board_i,
  /// job of each port, or NoJob; one cycle before a change: the port's slot is assigned
  input  logic [Ports-1:0][4:0]         job_i,
  input  logic [Ports-1:0]              clear_i,
  // Switch
  input  channels_t                     sw_valid_i,
  input  flit_t                         sw_i,
  output channels_t                     sw_credit_o,
  output channels_t                     sw_valid_o,
  output flit_t                         sw_o,
  input  channels_t                     sw_credit_i,
  // Registers
  input  register_request_t             register_i,
  output register_response_t            register_o,
  // Dropped packets; events: of a dropped packet in bit 0, of a fault in bit 1
  output logic [31:0]                   drops_o,
  output logic [1:0]                    event_o,
  output logic [1:0][63:0]              event_value_o,
  input  logic [1:0]                    event_reported_i,
  // A message of this job, which its sender counted, was dropped
  output logic                          lost_o,
  output logic [4:0]                    lost_job_o,
  // Kernels: as in gs_stream_endpoint
  input  logic [Kernels-1:0]              send_open_valid_i,
  output logic [Kernels-1:0]              send_open_ready_o,
  input  send_open_t [Kernels-1:0]        send_open_i,
  input  logic [Kernels-1:0]              s_axis_tvalid_i,
  output logic [Kernels-1:0]              s_axis_tready_o,
  input  logic [Kernels-1:0][8*Bytes-1:0] s_axis_tdata_i,
  input  logic [Kernels-1:0]              recv_open_valid_i,
  output logic [Kernels-1:0]              recv_open_ready_o,
  input  recv_open_t [Kernels-1:0]        recv_open_i,
  output logic [Kernels-1:0]              m_axis_tvalid_o,
  input  logic [Kernels-1:0]              m_axis_tready_i,
  output logic [Kernels-1:0][8*Bytes-1:0] m_axis_tdata_o,
  output logic [Kernels-1:0][Bytes-1:0]   m_axis_tkeep_o,
  output logic [Kernels-1:0]              m_axis_tlast_o,
  // Kernels of the blocks of collectives
  input  collective_in_t [CollectiveLanes-1:0]  collective_i,
  output collective_out_t [CollectiveLanes-1:0] collective_o
);
  localparam int unsigned PortW = (Ports > 1) ? $clog2(Ports) : 1;
  localparam channels_t Request = channels_t'(1) << (SwitchVcs * 32'(VnetRequest));
  localparam channels_t Reply = channels_t'(1) << (SwitchVcs * 32'(VnetReply));
  localparam channels_t Control = channels_t'(1) << (SwitchVcs * 32'(VnetControl));

  // Two cycles after its slot was assigned a port has its job, and loses its bindings. A write takes longer to arrive.
  logic [Ports-1:0] clear_q, unbind_q;

  // ---------------------------------------------------------------- filter
  // A packet is judged by its first flit, which may arrive between flits of another channel's packet.
  address_stream_t dest;
  stream_header_t header;
  channels_t inside_q, dropping_q;
  logic first, drop, message;
  logic [4:0] owner;
  logic [3:0] why;
  logic known;
  assign dest    = sw_i.dest;
  assign header  = sw_i.payload[31:0];
  assign first   = (sw_valid_i & ~inside_q) != '0;
  assign message = sw_i.kind != FlitKindHeader && (sw_valid_i & Control) == '0;
  always_comb begin
    known = 1'b0;
    owner = NoJob;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (32'(dest.port) == p) {known, owner} = {1'b1, job_i[p]};
    end
    why = '0;
    if (!known) why = RejectionPlace;
    else if (sw_i.kind != FlitKindHeader || header.port != dest.port || (sw_valid_i & (Request | Reply)) == '0) begin
      why = RejectionKind;
    end else if (owner == NoJob || sw_i.job != owner) why = RejectionJob;
    drop = first ? why != '0 : (sw_valid_i & dropping_q) != '0;
  end

  // Progress of a packet through filter and endpoint, which reports the packets that it drops two cycles later
  typedef struct packed {
    logic       dropped;
    logic [3:0] why;
    logic [4:0] job;
    logic [7:0] port;
  } fate_t;
  fate_t fate_q[3];
  fate_t fate;
  channels_t valid_q;
  flit_t flit_q;
  logic rejected;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q          <= '0;
      valid_q           <= '0;
      sw_credit_o       <= '0;
      lost_o            <= 1'b0;
      fate_q[0].dropped <= 1'b0;
      fate_q[1].dropped <= 1'b0;
      fate_q[2].dropped <= 1'b0;
    end else begin
      inside_q          <= sw_i.last ? inside_q & ~sw_valid_i : inside_q | sw_valid_i;
      valid_q           <= drop ? '0 : sw_valid_i;
      sw_credit_o       <= sw_valid_i;
      lost_o            <= first && drop && message;
      fate_q[0].dropped <= first && drop;
      fate_q[1].dropped <= fate_q[0].dropped;
      fate_q[2].dropped <= fate_q[1].dropped;
    end
    if (first) dropping_q <= drop ? dropping_q | sw_valid_i : dropping_q & ~sw_valid_i;
    flit_q     <= sw_i;
    lost_job_o <= sw_i.job;
    {fate_q[0].why, fate_q[0].job, fate_q[0].port} <= {why, sw_i.job, dest.port};
    for (int unsigned s = 1; s < 3; s++) begin
      {fate_q[s].why, fate_q[s].job, fate_q[s].port} <= {fate_q[s-1].why, fate_q[s-1].job, fate_q[s-1].port};
    end
  end
  always_comb begin
    fate = fate_q[2];
    if (rejected) {fate.dropped, fate.why} = {1'b1, 4'(RejectionRoom)};
  end

  // -------------------------------------------------------- dropped packets
  logic [4:0] at;
  logic [11:0] what;
  logic [31:0] count;
  logic [Ports-1:0][31:0] dropped_q;
  stream_drop_t drop_event;
  gs_board_packet_drops #(.Width(12)) u_drops (
    .clk_i,
    .rst_ni,
    .drop_i    (fate.dropped),
    .job_i     (fate.job),
    .what_i    ({fate.why, fate.port}),
    .due_o     (event_o[0]),
    .reported_i(event_reported_i[0]),
    .job_o     (at),
    .what_o    (what),
    .count_o   (count)
  );
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Ports; p++) begin
      if (!rst_ni || clear_q[p]) dropped_q[p] <= '0;
      else if (fate.dropped && 32'(fate.port) == p) dropped_q[p] <= dropped_q[p] + 32'd1;
    end
  end
  assign drop_event = '{
    why: rejection_e'(what[11:8]), job: at, port: what[7:0], count: count, default: '0
  };
  assign drops_o          = count;
  assign event_value_o[0] = drop_event;

  // --------------------------------------------------------------- registers
  logic [Ports-1:0] bind_send_q, bind_recv_q, selected;
  logic [PortW-1:0] unit;
  logic [63:0] written_q, read;
  stream_send_bind_t send_bind;
  stream_recv_bind_t recv_bind;
  stream_state_t state;
  logic [Ports-1:0][31:0] sent_q, received_q;
  logic [Ports-1:0][7:0] faults_q;
  // The last fault of each port, and its counts
  stream_fault_report_t fault_report_q[Ports];
  logic [63:0] counts_q[Ports];
  logic hit, binds;
  logic [3:0] rejection;
  register_response_t response_q, collective_response;
  assign register_o = response_q | collective_response;
  register_address_t address;
  assign address   = register_i.address;
  assign unit      = PortW'(address.unit);
  assign hit       = register_i.valid && address.block == RegisterBlockStream && 32'(address.unit) < Ports;
  assign selected  = Ports'(1) << unit;
  assign send_bind = written_q;
  assign recv_bind = written_q;
  assign binds     = address.number inside {StreamRegisterSendBind, StreamRegisterRecvBind};
  assign state     = '{job: job_i[unit], faults: faults_q[unit], default: '0};

  always_comb begin
    rejection = '0;
    read      = '0;
    unique case (address.number)
      StreamRegisterState:    read = state;
      StreamRegisterFault:    read = fault_report_q[unit];
      StreamRegisterCounts:   read = counts_q[unit];
      StreamRegisterSent:     read = 64'(sent_q[unit]);
      StreamRegisterReceived: read = 64'(received_q[unit]);
      StreamRegisterDropped:  read = 64'(dropped_q[unit]);
      default:                rejection = register_i.write && binds ? '0 : RejectionAddress;
    endcase
    if (register_i.write && !binds) rejection = RejectionAddress;
    if (register_i.write && rejection == '0 && (job_i[unit] == NoJob || register_i.job != job_i[unit])) begin
      rejection = RejectionJob;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      response_q  <= '0;
      clear_q     <= '0;
      unbind_q    <= '0;
      bind_send_q <= '0;
      bind_recv_q <= '0;
    end else begin
      response_q <= '0;
      if (hit) response_q <= '{hit: 1'b1, rejection: rejection, value: register_i.write ? '0 : read};
      clear_q  <= clear_i;
      unbind_q <= clear_q;
      bind_send_q <= (hit && register_i.write && rejection == '0 && address.number == StreamRegisterSendBind)
          ? selected : '0;
      bind_recv_q <= (hit && register_i.write && rejection == '0 && address.number == StreamRegisterRecvBind)
          ? selected : '0;
    end
    written_q <= register_i.value;
  end

  // --------------------------------------------------------------- endpoint
  logic [Ports-1:0] owned, send_open_valid, recv_open_valid, s_valid, s_ready, m_valid, m_ready, m_last;
  send_open_t [Ports-1:0] send_open;
  recv_open_t [Ports-1:0] recv_open;
  gs_stream_pkg::watch_t [Ports-1:0] watch;
  logic [Ports-1:0][8*Bytes-1:0] s_data, m_data;
  logic [Ports-1:0][Bytes-1:0] m_keep;
  send_bind_t [Ports-1:0] send_binds;
  recv_bind_t [Ports-1:0] recv_binds;
  logic [Ports-1:0] send_ready, recv_ready;
  logic report_valid;
  stream_report_t report;
  flit_t out;
  address_stream_t out_dest;
  channels_t unused_credit;
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign owned[p]      = job_i[p] != NoJob;
    assign send_binds[p] = unbind_q[p] ? '0 : '{
        eager: send_bind.eager, account: send_bind.account, dest: send_bind.dest, flits: send_bind.flits
      };
    assign recv_binds[p] = unbind_q[p] ? '0 : '{
        eager: recv_bind.eager, account: recv_bind.account, source: recv_bind.source, reply: recv_bind.reply
      };
    always_ff @(posedge clk_i) begin
      if (!rst_ni || clear_q[p]) begin
        sent_q[p]     <= '0;
        received_q[p] <= '0;
      end else begin
        if (s_valid[p] && s_ready[p]) sent_q[p] <= sent_q[p] + 32'd1;
        if (m_valid[p] && m_ready[p]) received_q[p] <= received_q[p] + 32'd1;
      end
    end
  end
  assign send_open_valid[Kernels-1:0] = send_open_valid_i & owned[Kernels-1:0];
  assign recv_open_valid[Kernels-1:0] = recv_open_valid_i & owned[Kernels-1:0];
  assign send_open[Kernels-1:0]       = send_open_i;
  assign recv_open[Kernels-1:0]       = recv_open_i;
  assign s_valid[Kernels-1:0]         = s_axis_tvalid_i;
  assign s_data[Kernels-1:0]          = s_axis_tdata_i;
  assign m_ready[Kernels-1:0]         = m_axis_tready_i;
  assign watch[Kernels-1:0]           = '0;
  assign send_open_ready_o            = send_ready[Kernels-1:0] & owned[Kernels-1:0];
  assign recv_open_ready_o            = recv_ready[Kernels-1:0] & owned[Kernels-1:0];
  assign s_axis_tready_o              = s_ready[Kernels-1:0];
  assign m_axis_tvalid_o              = m_valid[Kernels-1:0];
  assign m_axis_tdata_o               = m_data[Kernels-1:0];
  assign m_axis_tkeep_o               = m_keep[Kernels-1:0];
  assign m_axis_tlast_o               = m_last[Kernels-1:0];

  if (StreamBlocks > 0) begin : gen_collectives
    gs_board_collectives u_collectives (
      .clk_i,
      .rst_ni,
      .job_i            (job_i[Ports-1:Kernels]),
      .clear_i          (clear_i[Ports-1:Kernels]),
      .register_i,
      .register_o       (collective_response),
      .collective_i,
      .collective_o,
      .watch_o          (watch[Ports-1:Kernels]),
      .send_open_valid_o(send_open_valid[Ports-1:Kernels]),
      .send_open_ready_i(send_ready[Ports-1:Kernels]),
      .send_open_o      (send_open[Ports-1:Kernels]),
      .push_valid_o     (s_valid[Ports-1:Kernels]),
      .push_ready_i     (s_ready[Ports-1:Kernels]),
      .push_data_o      (s_data[Ports-1:Kernels]),
      .recv_open_valid_o(recv_open_valid[Ports-1:Kernels]),
      .recv_open_ready_i(recv_ready[Ports-1:Kernels]),
      .recv_open_o      (recv_open[Ports-1:Kernels]),
      .pop_valid_i      (m_valid[Ports-1:Kernels]),
      .pop_ready_o      (m_ready[Ports-1:Kernels]),
      .pop_data_i       (m_data[Ports-1:Kernels])
    );
  end else begin : gen_no_collectives
    assign {collective_response, collective_o} = '0;
    logic unused_collectives;
    assign unused_collectives = ^collective_i;
  end

  gs_stream_endpoint #(
    .Ports (Ports),
    .Bytes (Bytes),
    .Send  (StreamSendFlits),
    .Depth (StreamDepthFlits),
    .Packet(Packet),
    .Ranks (StreamRanks),
    .VoqDepths   ((16 * Ports)'({Kernels{16'(StreamVoqFlits)}})),
    .ElementBeats({Ports{StreamElementBeats}})
  ) u_endpoint (
    .clk_i,
    .rst_ni,
    .board_i,
    .job_i,
    .sw_valid_i       (valid_q),
    .sw_i             (flit_q),
    .sw_credit_o      (unused_credit),
    .sw_valid_o,
    .sw_o             (out),
    .sw_credit_i,
    .send_bind_valid_i(bind_send_q | unbind_q),
    .send_bind_i      (send_binds),
    .recv_bind_valid_i(bind_recv_q | unbind_q),
    .recv_bind_i      (recv_binds),
    .send_open_valid_i(send_open_valid),
    .send_open_ready_o(send_ready),
    .send_open_i      (send_open),
    .s_axis_tvalid_i  (s_valid),
    .s_axis_tready_o  (s_ready),
    .s_axis_tdata_i   (s_data),
    .recv_open_valid_i(recv_open_valid),
    .recv_open_ready_o(recv_ready),
    .recv_open_i      (recv_open),
    .m_axis_tvalid_o  (m_valid),
    .m_axis_tready_i  (m_ready),
    .m_axis_tdata_o   (m_data),
    .m_axis_tkeep_o   (m_keep),
    .m_axis_tlast_o   (m_last),
    .watch_i          (watch),
    .report_valid_o   (report_valid),
    .report_ready_i   (1'b1),
    .report_o         (report),
    .dropped_o        (rejected),
    .sent_o           (),
    .received_o       ()
  );
  // Kernels and asks supply addresses: whatever they are, packets reach only streaming ports.
  assign out_dest = out.dest;
  always_comb begin
    sw_o      = out;
    sw_o.dest = {EndpointStream, 3'd0, out_dest.board, 6'd0, out_dest.port};
  end

  // ----------------------------------------------------------------- faults
  // The last report of each port is kept; a port that has reported a fault is halted until it is bound again.
  logic [Ports-1:0] fault_q, fault_next, reports;
  logic [PortW-1:0] fault_at;
  assign reports    = report_valid ? Ports'(1) << PortW'(report.port) : '0;
  assign fault_next = fault_q & (~fault_q + Ports'(1));
  always_comb begin
    fault_at = '0;
    for (int unsigned p = 0; p < Ports; p++) if (fault_next[p]) fault_at |= PortW'(p);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) fault_q <= '0;
    else fault_q <= ((fault_q & ~(event_reported_i[1] ? fault_next : '0)) | reports) & ~clear_q;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (!rst_ni || clear_q[p]) faults_q[p] <= '0;
      else if (reports[p]) faults_q[p] <= faults_q[p] + 8'd1;
    end
    if (report_valid) begin
      fault_report_q[PortW'(report.port)] <= '{
        theirs: report.theirs, mine: report.mine, peer: report.peer, own: report.own, fault: report.fault,
        job: job_i[PortW'(report.port)], port: report.port, default: '0
      };
      counts_q[PortW'(report.port)] <= {report.their_count, report.my_count};
    end
  end
  assign event_o[1]       = fault_q != '0;
  assign event_value_o[1] = fault_report_q[fault_at];

  logic unused;
  // Without collectives tags are 0.
  assign unused = ^{report.my_tag, report.their_tag, unused_credit, dest.kind, dest.spare, dest.board, dest.spare_low,
                    header, out_dest, send_bind.spare, recv_bind.spare, owned, m_last, m_keep};

  `GS_ASSERT_NOW(a_packet_is_dropped_once, !(rejected && fate_q[2].dropped))
  `GS_ASSERT_NOW(only_due_events_are_reported, (event_reported_i & ~event_o) == '0)
endmodule
