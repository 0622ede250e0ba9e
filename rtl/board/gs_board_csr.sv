// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Executes packets of the control network: tables, jobs, the cluster, relays and counters.
///
/// A packet takes at most 14 cycles, and waits for no other block: the bus to registers answers in the cycle after a
/// request. A packet is rejected as a whole or executed as a whole.
/// Packets of idle detection are forwarded to the slot of their job.
module gs_board_csr
  import gs_board_pkg::*;
  import gs_switch_pkg::*;
  import gossamer_pkg::*;
#(
  parameter int unsigned Links    = 2,
  parameter int unsigned Jobs     = 1,
  parameter int unsigned TableW   = 10,
  /// the host's port of the switch
  parameter int unsigned HostPort = 5,
  /// 1: the board has multicast routers, so its threads may send messages by key
  parameter bit          Multicast = 1'b1
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic       [11:0]         board_i,
  // A packet, accepted with done_o
  input  logic                      valid_i,
  input  control_packet_t           packet_i,
  output logic                      done_o,
  /// with done_o: the reason for which it was rejected, or 0
  output logic       [3:0]          rejection_o,
  // Answers: one is made only while the queue has space
  input  logic                      answer_ready_i,
  output logic                      answer_valid_o,
  output reply_t                    answer_o,
  // Idle detection: the packet is for this job slot
  output logic       [Jobs-1:0]     idle_valid_o,
  input  logic       [Jobs-1:0]     idle_tree_ready_i,
  // Settings
  output logic                      table_we_o,
  output logic       [TableW-1:0]   table_index_o,
  output switch_entry_t             table_entry_o,
  /// 1 and the number of the host that is at this board according to the table
  output logic       [12:0]         host_here_o,
  output job_slot_t     [Jobs-1:0]     slot_o,
  /// one cycle: a slot is assigned a job; tiles that the slot had or has
  output logic       [Jobs-1:0]     clear_o,
  output logic       [Tiles-1:0]    clear_tiles_o,
  output logic       [Tiles-1:0][4:0]  job_o,
  output logic       [Tiles-1:0][31:0] host_o,
  /// the same for streaming ports
  output logic       [StreamEndLanes-1:0]      clear_streams_o,
  output logic       [StreamEndLanes-1:0][4:0] stream_job_o,
  output gs_address_pkg::cluster_t  cluster_o,
  /// address to which answers and events are sent, 0 before it is known
  output logic       [31:0]         reports_o,
  output logic       [7:0]          burst_o,
  output logic                      flush_o,
  output neighbour_t [Children-1:0] children_o,
  /// tiles whose threads the host starts in this run; 0 for a cycle when they are named
  output logic       [Tiles-1:0]    expected_o,
  // Debug buses: a packet for a tile, one cycle; tiles that have space for one
  output logic                      debug_valid_o,
  output control_debug_t            debug_o,
  input  logic       [Tiles-1:0]    debug_space_i,
  /// links that send and receive no frames
  output logic       [Links-1:0]    cut_o,
  // Registers of other blocks
  output register_request_t         register_o,
  input  register_response_t        register_i,
  // Counters
  input  gs_link_pkg::counters_t    links_i[Links],
  input  logic       [Links-1:0]    up_i,
  input  counts_t                   counts_i
);
  localparam int unsigned LinkW = (Links > 1) ? $clog2(Links) : 1;
  localparam logic [31:0] NoHost = {EndpointHost, 29'd0};
  if (Tiles > 64) begin : gen_illegal_tiles
    $fatal(1, "gs_board_csr: Tiles is %0d; control_job has bits for at most 64", Tiles);
  end
  if (Jobs < 1 || Jobs > 16) begin : gen_illegal_jobs
    $fatal(1, "gs_board_csr: Jobs is %0d; it must be 1 to 16", Jobs);
  end

  typedef enum logic [2:0] {Check, Route, Read, Request, Respond, Answer} state_e;
  state_e state_q, state_d;

  control_route_t route;
  control_job_t job;
  control_cluster_t cluster;
  control_relay_t relay;
  control_read_t read;
  control_begin_t run;
  control_debug_t debug;
  control_register_t access;
  register_address_t at;
  idle_report_t report;
  idle_answer_t verdict;
  logic [3:0] op;
  assign route   = packet_i.head;
  assign job     = packet_i.head;
  assign cluster = packet_i.head;
  assign relay   = packet_i.head;
  assign read    = packet_i.head;
  assign run     = packet_i.head;
  assign debug   = packet_i.head;
  assign access  = packet_i.head;
  assign at      = access.address;
  assign report  = packet_i.head;
  assign verdict = packet_i.head;
  assign op      = packet_i.head[3:0];

  // ---------------------------------------------------------------- checks
  job_slot_t [Jobs-1:0] slot_q;
  logic [31:0] reports_q;
  logic [Jobs-1:0] of_job, tree_ready;
  logic [TableW:0] table_end;
  logic [StreamEndLanes-1:0] streams;
  logic job_taken, tiles_taken, streams_taken, two, fits, is_idle, answered, bad_relay, no_slot, not_own;
  logic no_tile, no_space;
  logic [3:0] rejection;
  always_comb begin
    no_slot     = 1'b1;
    not_own     = run.tiles != '0;
    no_tile     = 1'b1;
    no_space    = 1'b1;
    for (int unsigned t = 0; t < Tiles; t++) begin
      if (32'(debug.tile) == t) {no_tile, no_space} = {1'b0, !debug_space_i[t]};
    end
    job_taken   = 1'b0;
    streams     = '0;
    for (int unsigned p = 0; p < StreamEndLanes; p++) begin
      streams[p] = StreamEnds != 0 && p >= 32'(job.first_stream) && p < 32'(job.first_stream) + 32'(job.streams);
    end
    streams_taken = job.streams != '0 && 32'(job.first_stream) + 32'(job.streams) > StreamEnds;
    tiles_taken = (job.tiles >> Tiles) != '0;
    for (int unsigned j = 0; j < Jobs; j++) begin
      of_job[j] = slot_q[j].valid && slot_q[j].job == packet_i.job;
      if (slot_q[j].valid && 32'(run.place) == j) begin
        no_slot = 1'b0;
        not_own = (run.tiles & ~64'(slot_q[j].tiles)) != '0;
      end
      if (slot_q[j].valid && 32'(job.place) != j) begin
        job_taken   |= slot_q[j].job == job.job;
        tiles_taken |= (64'(slot_q[j].tiles) & job.tiles) != '0;
        streams_taken |= (slot_q[j].streams & streams) != '0;
      end
    end
    tree_ready = idle_tree_ready_i & of_job;
    bad_relay  = 1'b0;
    for (int unsigned i = 0; i < Children; i++) begin
      bad_relay |= relay.children[13*i+12] && relay.children[13*i+:12] == board_i;
    end
  end
  // Indices count from the start of the table, or backwards from its end.
  assign table_end  = (TableW + 1)'(route.first[TableW-1:0]) + (TableW + 1)'(route.count);
  assign fits    = (route.first >> TableW == '0 || (~route.first) >> TableW == '0)
      && table_end <= (TableW + 1)'(1 << TableW);
  assign is_idle  = op inside {ControlOpIdleReport, ControlOpIdleAnswer, ControlOpIdleTree};
  assign answered = op inside {ControlOpIdleTree, ControlOpRoute, ControlOpJob, ControlOpCluster, ControlOpRelay,
                              ControlOpRead, ControlOpBegin, ControlOpRegister};
  // A second flit with words follows if words were contributed.
  always_comb begin
    two = 1'b0;
    if (op == ControlOpIdleReport) two = report.given != '0 && !report.withdraw;
    if (op == ControlOpIdleAnswer) two = verdict.given != '0 && verdict.answer == IdleVerdictRelease;
  end

  always_comb begin
    rejection = '0;
    if (packet_i.kind != FlitKindBody || !(is_idle || answered || op == ControlOpDebug)) rejection = RejectionKind;
    else if (packet_i.flits != (two ? 2'd2 : 2'd1)) rejection = RejectionLength;
    else if (answered && !answer_ready_i) rejection = RejectionRoom;
    else begin
      unique case (op)
        ControlOpIdleReport, ControlOpIdleAnswer: if (of_job == '0) rejection = RejectionJob;
        ControlOpIdleTree: begin
          if (of_job == '0) rejection = RejectionJob;
          else if (tree_ready == '0) rejection = RejectionRoom;
        end
        ControlOpRoute: begin
          if (route.count == '0 || route.count > 4'd12) rejection = RejectionLength;
          else if (!fits) rejection = RejectionAddress;
        end
        ControlOpJob: begin
          if (32'(job.place) >= Jobs) rejection = RejectionPlace;
          else if (job_taken || job.job == NoJob) rejection = RejectionJob;
          else if (tiles_taken || streams_taken) rejection = RejectionMask;
        end
        ControlOpCluster: begin
          if (cluster.boards == '0 || cluster.boards > 13'd4096 || cluster.hosts > 13'd4096)
            rejection = RejectionLength;
          else if (cluster.host != '0 && cluster.host[31:29] != EndpointHost) rejection = RejectionAddress;
        end
        ControlOpRelay: if (bad_relay) rejection = RejectionPlace;
        ControlOpDebug: begin
          if (no_tile) rejection = RejectionPlace;
          else if (debug.count == '0 || 32'(debug.count) > DebugPacketBytes) rejection = RejectionLength;
          else if (no_space) rejection = RejectionRoom;
        end
        ControlOpBegin: begin
          if (no_slot) rejection = RejectionPlace;
          else if (not_own) rejection = RejectionMask;
        end
        ControlOpRegister: begin
          // The registers of other blocks are checked there.
          if (at.block == RegisterBlockLink) begin
            if (32'(at.unit) >= Links) rejection = RejectionPlace;
            else if (at.number != LinkRegisterCut && (access.write || at.number > LinkCounterState)) begin
              rejection = RejectionAddress;
            end else if (access.write && packet_i.job != NoJob) rejection = RejectionJob;
          end
        end
        default: begin
          if (read.unit != BoardUnit && 32'(read.unit) >= Links) rejection = RejectionPlace;
          else if (read.counter > ((read.unit == BoardUnit) ? BoardCounterMatchDropped : LinkCounterState)) begin
            rejection = RejectionAddress;
          end
        end
      endcase
    end
  end

  // ------------------------------------------------------------- execution
  logic [3:0] rejection_q, left_q;
  logic answers_q;
  logic [95:0] entries_q;
  logic [TableW-1:0] index_q;
  logic sets;
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Check: if (valid_i) begin
        state_d = Answer;
        if (rejection == '0 && op == ControlOpRoute) state_d = Route;
        if (rejection == '0 && op == ControlOpRead) state_d = Read;
        if (rejection == '0 && op == ControlOpRegister) state_d = (at.block == RegisterBlockLink) ? Read : Request;
      end
      Route: if (left_q == 4'd1) state_d = Answer;
      Read: state_d = Answer;
      Request: state_d = Respond;
      Respond: state_d = Answer;
      default: state_d = Check;
    endcase
  end
  assign sets = state_q == Check && valid_i && rejection == '0;
  assign debug_valid_o = sets && op == ControlOpDebug;
  assign debug_o = debug;
  assign register_o = '{
    valid: state_q == Request, write: access.write, address: at, value: access.value, job: packet_i.job
  };
  assign done_o = state_q == Answer;
  assign rejection_o = rejection_q;
  assign idle_valid_o = (sets && is_idle) ? of_job : '0;

  always_ff @(posedge clk_i) begin
    state_q <= rst_ni ? state_d : Check;
    if (state_q == Check) begin
      rejection_q <= rejection;
      // Decided together with the rejection: space in the queue that is freed later must not let the answer pass.
      answers_q   <= answered && packet_i.kind == FlitKindBody && answer_ready_i;
      left_q      <= route.count;
      entries_q   <= route.entries;
      index_q   <= route.first[TableW-1:0];
    end else if (state_q == Respond) begin
      rejection_q <= register_i.hit ? register_i.rejection : RejectionPlace;
    end else if (state_q == Route) begin
      left_q    <= left_q - 4'd1;
      entries_q <= entries_q >> 8;
      index_q   <= index_q + TableW'(1);
    end
  end

  // --------------------------------------------------------------- settings
  logic [12:0] host_here_q;
  gs_address_pkg::cluster_t cluster_q;
  logic [7:0] burst_q;
  logic flush_q;
  neighbour_t [Children-1:0] children_q;
  logic [Tiles-1:0] expected_q, begin_q;
  switch_entry_t entry;
  logic [TableW-1:0] number;
  assign entry = entries_q[7:0];
  assign number = ~index_q;
  assign table_we_o = state_q == Route;
  assign table_index_o = index_q;
  assign table_entry_o = entry;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      slot_q     <= '0;
      reports_q   <= '0;
      host_here_q <= '0;
      cluster_q   <= '{routers: Multicast, boards: 13'd1, hosts: 13'd1};
      burst_q     <= 8'd8;
      flush_q     <= 1'b0;
      children_q  <= '0;
      expected_q  <= '0;
      begin_q     <= '0;
      cut_o       <= '0;
      clear_o       <= '0;
      clear_tiles_o <= '0;
      clear_streams_o <= '0;
    end else begin
      flush_q       <= 1'b0;
      clear_o       <= '0;
      clear_tiles_o <= '0;
      clear_streams_o <= '0;
      begin_q       <= '0;
      expected_q    <= expected_q | begin_q;
      if (sets) begin
        unique case (op)
          ControlOpJob: begin
            for (int unsigned j = 0; j < Jobs; j++) begin
              if (32'(job.place) == j) begin
                slot_q[j] <= '{
                  valid: 1'b1, job: job.job, tiles: job.tiles[Tiles-1:0], host: job.host, streams: streams
                };
                clear_o[j]    <= 1'b1;
                clear_tiles_o <= slot_q[j].tiles | job.tiles[Tiles-1:0];
                clear_streams_o <= slot_q[j].streams | streams;
                expected_q    <= expected_q & ~(slot_q[j].tiles | job.tiles[Tiles-1:0]);
              end
            end
          end
          ControlOpCluster: begin
            cluster_q <= '{routers: Multicast, boards: cluster.boards, hosts: cluster.hosts};
            reports_q <= cluster.host;
            burst_q   <= cluster.burst;
            flush_q   <= cluster.flush;
          end
          ControlOpRelay: children_q <= relay.children;
          ControlOpBegin: begin
            for (int unsigned j = 0; j < Jobs; j++) begin
              if (32'(run.place) == j) begin
                expected_q <= expected_q & ~(run.add ? run.tiles[Tiles-1:0] : slot_q[j].tiles);
              end
            end
            begin_q <= run.tiles[Tiles-1:0];
          end
          ControlOpRegister: begin
            for (int unsigned l = 0; l < Links; l++) begin
              if (at.block == RegisterBlockLink && access.write && 32'(at.unit) == l) cut_o[l] <= access.value[0];
            end
          end
          default: ;
        endcase
      end
      // The host at this board is the one that the table assigns to the host's port.
      if (table_we_o && entry.valid && 32'(entry.port) == HostPort) host_here_q <= {1'b1, 12'(number)};
      else if (table_we_o && 12'(number) == host_here_q[11:0]) host_here_q[12] <= 1'b0;
    end
  end
  assign slot_o      = slot_q;
  assign host_here_o = host_here_q;
  assign cluster_o   = cluster_q;
  assign reports_o   = reports_q;
  assign burst_o     = burst_q;
  assign flush_o     = flush_q;
  assign children_o  = children_q;
  assign expected_o  = expected_q;
  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    always_ff @(posedge clk_i) begin
      job_o[t]  <= NoJob;
      host_o[t] <= NoHost;
      for (int unsigned j = 0; j < Jobs; j++) begin
        if (rst_ni && slot_q[j].valid && slot_q[j].tiles[t]) begin
          job_o[t]  <= slot_q[j].job;
          host_o[t] <= slot_q[j].host;
        end
      end
    end
  end

  for (genvar p = 0; p < StreamEndLanes; p++) begin : gen_stream
    always_ff @(posedge clk_i) begin
      stream_job_o[p] <= NoJob;
      for (int unsigned j = 0; j < Jobs; j++) begin
        if (rst_ni && slot_q[j].valid && slot_q[j].streams[p]) stream_job_o[p] <= slot_q[j].job;
      end
    end
  end

  // --------------------------------------------------------------- counters
  logic [LinkW-1:0] link;
  logic [3:0] counter;
  logic registers;
  assign registers = op == ControlOpRegister;
  assign link      = registers ? LinkW'(at.unit) : LinkW'(read.unit);
  assign counter   = registers ? at.number : read.counter;
  gs_link_pkg::counters_t link_q;
  logic up_q, cut_q;
  logic [31:0] value;
  always_ff @(posedge clk_i) begin
    link_q <= links_i[link];
    up_q   <= up_i[link];
    cut_q  <= cut_o[link];
  end
  always_comb begin
    value = '0;
    if (!registers && read.unit == BoardUnit) begin
      unique case (counter)
        BoardCounterUnroutable:       value = counts_i.unroutable;
        BoardCounterRecords:      value     = counts_i.records;
        BoardCounterRefused:      value     = counts_i.rejected;
        BoardCounterRelayed:      value     = counts_i.relayed;
        BoardCounterHostSent:     value     = counts_i.host_sent;
        BoardCounterHostReceived: value     = counts_i.host_received;
        BoardCounterTileRefused:  value     = counts_i.tile_drops;
        BoardCounterEntered:      value     = counts_i.entered;
        BoardCounterStreamDropped: value    = counts_i.stream_drops;
        BoardCounterMatchDropped:  value    = counts_i.match_drops;
        default:                  value     = 32'(counts_i.in_flight);
      endcase
    end else begin
      unique case (counter)
        LinkCounterTxFrames:  value = link_q.tx_frames;
        LinkCounterTxBytes:   value = link_q.tx_bytes;
        LinkCounterTxPackets: value = link_q.tx_packets;
        LinkCounterResends:   value = link_q.resends;
        LinkCounterRxFrames:  value = link_q.rx_frames;
        LinkCounterRxBytes:   value = link_q.rx_bytes;
        LinkCounterRxPackets: value = link_q.rx_packets;
        LinkCounterDamaged:   value = link_q.damaged;
        LinkCounterDropped:   value = link_q.dropped;
        LinkCounterStalls:    value = link_q.stalls;
        LinkCounterLost:      value = link_q.lost;
        LinkCounterRestarts:  value = link_q.restarts;
        LinkCounterState:     value = 32'(up_q);
        default:              value = 32'(cut_q);
      endcase
    end
  end

  // ---------------------------------------------------------------- answers
  logic [63:0] value_q;
  always_ff @(posedge clk_i) begin
    value_q <= '0;
    if (state_q == Read && !(registers && access.write)) value_q <= 64'(value);
    if (state_q == Respond) value_q <= register_i.value;
  end
  // Requests rejected because the answer queue is full are not answered either.
  assign answer_valid_o = done_o && answers_q && reports_q != '0;
  always_comb begin
    answer_o = '{asked: op, rejection: rejection_q, value: value_q, default: '0};
    if (registers) answer_o.address = at;
    if (op == ControlOpRead) {answer_o.unit, answer_o.counter} = {read.unit, read.counter};
    if (op == ControlOpJob) answer_o.unit = 5'(job.place);
    if (op == ControlOpBegin) answer_o.unit = 5'(run.place);
    if (op == ControlOpIdleTree) answer_o.unit = packet_i.job;
  end

  logic unused;
  assign unused = ^{packet_i.words, route.spare, job.spare, cluster.spare, relay.spare, read.spare, report, verdict,
                    run.spare, run.op_code, debug, access.spare, access.op_code, job.op_code,
                    cluster.op_code, relay.op_code, read.op_code, route.op_code};

  `GS_ASSERT_NOW(packets_belong_to_one_job_slot, (of_job & (of_job - Jobs'(1))) == '0)
  `GS_ASSERT_HOLD(stalled_packets_are_stable, valid_i, done_o, packet_i)
endmodule
