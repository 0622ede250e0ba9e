// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// The DMA engine of a tile: copies memory of this tile to memory of any tile, on request by messages from threads.
///
///     request ->[ queue ]-> check -> write packets, request network -> the other tile's loader -> its memory
///                                ^ memory of this tile                          |
///     answers to both threads <- wait <------------ reply, reply network -------+
///
/// A request is two flits, match_move and match_move_places. A thread has at most one request in flight, so a queue
/// with one entry per thread never overflows, and requests never wait outside: their path into the engine never blocks.
/// The loader answers the first packet, which reports whether it accepts the transfer at all, and the last packet, once
/// all data are in memory. Then both threads are notified: `landed` goes to the thread whose memory was written,
/// `moved` to the requester. A rejected request is reported only to the requester. A transfer keeps the job of its
/// request, even if the tile's job changes; tiles of another job reject it.
///
///     Idle -> Check -> Begin -> Head -> Data --last flit--> Head
///               |                ^        +--first or last packet--> Wait --good--> Head, or Landed -> Moved -> Idle
///               |                +-----------------------------------+ +--rejected-> Drop -> Moved
///               +--rejected or nothing to move--> Landed, or Moved
module gs_dma
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// threads of the tile, 2 to 64
  parameter int unsigned Receivers = 16,
  /// 1: there is no network: other tiles do not exist
  parameter bit          Alone     = 1'b0
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic [11:0]              board_i,
  input  logic [3:0]               tile_y_i,
  input  logic [3:0]               tile_x_i,
  input  logic [4:0]               job_i,
  input  gs_address_pkg::cluster_t cluster_i,
  /// requests, sent to the port number of the requesting thread; always accepted
  input  logic                     in_valid_i,
  input  flit_t                    in_i,
  /// answers to threads
  output logic                     out_valid_o,
  input  logic                     out_ready_i,
  output flit_t                    out_o,
  /// write packets to loaders, of this tile or another
  output logic                     write_valid_o,
  input  logic                     write_ready_i,
  output flit_t                    write_o,
  /// replies of loaders, one flit each; always accepted
  input  logic                     reply_valid_i,
  input  flit_t                    reply_i,
  /// memory; responses are always accepted
  output logic                     mem_req_valid_o,
  input  logic                     mem_req_ready_i,
  output mem_req_t                 mem_req_o,
  input  logic                     mem_rsp_valid_i,
  input  mem_rsp_t                 mem_rsp_i,
  /// a request or an answer is in flight
  output logic                     busy_o
);
  if (Receivers < 2 || Receivers > 64) begin : gen_illegal_receivers
    $fatal(1, "gs_dma: %0d threads; there must be 2 to 64", Receivers);
  end

  // Flits of data in the longest packet to a loader.
  localparam int unsigned PacketFlits = 16;
  localparam int unsigned CountW = $clog2(Receivers + 1);

  typedef struct packed {
    logic [4:0]         job;
    logic [5:0]         thread;
    match_move_t        move;
    match_move_places_t places;
  } request_move_t;

  typedef enum logic [3:0] {Idle, Check, Begin, Head, Data, Wait, Drop, Landed, Moved, Bad} state_e;
  state_e state_q, state_d;

  // -------------------------------------------------------------- requests
  // A second request of a thread, or a request that is not two flits, is answered with an error.
  logic [Receivers-1:0] in_flight_q, error_pending_q, notified, ended;
  match_move_t head_q;
  logic first_q, second_q, valid_request, enters, queued, takes;
  logic [5:0] port, port_q;
  address_accelerator_t dest_in;
  request_move_t incoming, next, current_q;
  logic unused_room;
  logic [CountW-1:0] unused_count;

  assign dest_in       = in_i.dest;
  assign port          = first_q ? dest_in.port : port_q;
  assign valid_request = second_q && in_i.last && !in_flight_q[port_q[$clog2(Receivers)-1:0]];
  assign enters        = in_valid_i && in_i.last && 32'(port) < Receivers;
  assign incoming      = '{job: job_i, thread: port_q, move: head_q, places: in_i.payload};
  assign takes         = state_q == Idle && queued && error_pending_q == '0;

  gs_fifo #(
    .data_t(request_move_t),
    .Depth (Receivers)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (enters && valid_request),
    .in_ready_o (unused_room),
    .in_data_i  (incoming),
    .out_valid_o(queued),
    .out_ready_i(takes),
    .out_data_o (next),
    .count_o    (unused_count)
  );

  // Answers one of these threads: the lowest.
  logic [5:0] bad_thread;
  always_comb begin
    bad_thread = '0;
    for (int unsigned t = Receivers; t > 0; t--) if (error_pending_q[t-1]) bad_thread = 6'(t - 1);
    notified = '0;
    ended    = '0;
    for (int unsigned t = 0; t < Receivers; t++) begin
      notified[t] = state_q == Bad && out_ready_i && 32'(current_q.thread) == t;
      ended[t]    = state_q == Moved && out_ready_i && 32'(current_q.thread) == t;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q         <= 1'b1;
      second_q        <= 1'b0;
      in_flight_q     <= '0;
      error_pending_q <= '0;
    end else begin
      if (in_valid_i) begin
        first_q  <= in_i.last;
        second_q <= first_q && !in_i.last;
      end
      for (int unsigned t = 0; t < Receivers; t++) begin
        if (ended[t]) in_flight_q[t] <= 1'b0;
        if (notified[t]) error_pending_q[t] <= 1'b0;
        if (enters && 32'(port) == t) begin
          if (valid_request) in_flight_q[t] <= 1'b1;
          else error_pending_q[t] <= 1'b1;
        end
      end
    end
    if (in_valid_i && first_q) begin
      head_q <= in_i.payload;
      port_q <= dest_in.port;
    end
  end

  // ----------------------------------------------------------------- check
  address_thread_t target_address;
  address_accelerator_t own_address;
  logic [31:0] last_from, last_to;
  logic [3:0] rejection, status_q;
  logic target_missing, wraps;

  assign own_address = '{kind: EndpointAccelerator, board: board_i, tile_y: tile_y_i, tile_x: tile_x_i, default: '0};
  assign target_address = gs_address_pkg::gs_wire_address(current_q.move.thread, Log2ThreadsPerTile, Log2MeshWidth,
                                                          Log2MeshHeight);
  assign last_from      = current_q.places.source + current_q.move.length - 32'd1;
  assign last_to        = current_q.places.target + current_q.move.length - 32'd1;
  assign target_missing = target_address.kind != EndpointThread || target_address.spare != '0
                          || 32'(target_address.thread) >= ThreadsPerTile
                          || (Alone ? {target_address.board, target_address.tile_y, target_address.tile_x}
                                      != {board_i, tile_y_i, tile_x_i}
                                    : 13'(target_address.board) >= cluster_i.boards
                                      || 32'(target_address.tile_y) >= MeshHeight
                                      || 32'(target_address.tile_x) >= MeshWidth);
  // Both ends are in memory, and in the same window, so all bytes between them are too.
  assign wraps = {last_from[31:30], last_to[31:30]} != {current_q.places.source[31:30], current_q.places.target[31:30]}
                  || last_from < current_q.places.source || last_to < current_q.places.target;
  always_comb begin
    rejection = '0;
    if (current_q.job != job_i) rejection = RejectionJob;
    else if (target_missing) rejection = RejectionPlace;
    else if (current_q.move.length[Log2LineBytes-1:0] != '0) rejection = RejectionLength;
    else if (current_q.move.length != '0 && (current_q.places.target[Log2LineBytes-1:0] != '0 || wraps
                                         || !is_mapped(current_q.places.source) || !is_mapped(last_from)
                                         || !is_mapped(current_q.places.target) || !is_mapped(last_to))) begin
      rejection = RejectionAddress;
    end
  end

  // ----------------------------------------------------------------- packets
  logic [31:0] to_q;
  logic [27:0] left_q, left_next;
  // Flits of this packet still to be sent
  logic [4:0] size, packet_q;
  logic [7:0] tag_q;
  logic begun_q, wants_reply, wants_reply_q, packet_ends;
  logic valid, ready, read_valid, read_busy;
  logic [127:0] read_data;
  load_header_t header, reply;
  flit_t flit;
  logic answered;

  assign size        = (left_q > 28'(PacketFlits)) ? 5'(PacketFlits) : 5'(left_q);
  assign left_next   = left_q - 28'(size);
  assign wants_reply = !begun_q || left_next == '0;
  assign packet_ends = packet_q == 5'd1;
  assign reply       = reply_i.payload;
  assign answered    = reply_valid_i && state_q == Wait && reply.tag == tag_q;

  gs_dma_read u_read (
    .clk_i,
    .rst_ni,
    .start_i        (state_q == Begin),
    .from_i         (current_q.places.source),
    .flits_i        (current_q.move.length[31:4]),
    .stop_i         (state_q == Drop),
    .busy_o         (read_busy),
    .valid_o        (read_valid),
    .ready_i        (state_q == Data && ready),
    .data_o         (read_data),
    .mem_req_valid_o,
    .mem_req_ready_i,
    .mem_req_o,
    .mem_rsp_valid_i,
    .mem_rsp_i
  );

  assign header = '{
    reply: wants_reply ? own_address : '0, length: 32'(size) << 4, address: to_q, tag: tag_q, op: LoadOpWrite,
    default: '0
  };
  // A packet starts when its first data are available.
  assign valid = read_valid && (state_q == Head || state_q == Data);
  assign flit  = '{
    kind: FlitKindHeader, last: state_q == Data && packet_ends, vnet: VnetRequest, job: current_q.job, epoch: '0,
    wave: '0, dest: {EndpointTile, 3'd0, target_address.board, target_address.tile_y, target_address.tile_x, 6'd0},
    payload: (state_q == Head) ? header : read_data
  };
  flit_t flit_kind;
  always_comb begin
    flit_kind = flit;
    if (state_q == Data) flit_kind.kind = FlitKindBody;
  end
  gs_skid #(.data_t(flit_t)) u_write (
    .clk_i,
    .rst_ni,
    .in_valid_i (valid),
    .in_ready_o (ready),
    .in_data_i  (flit_kind),
    .out_valid_o(write_valid_o),
    .out_ready_i(write_ready_i),
    .out_data_o (write_o)
  );

  // ----------------------------------------------------------------- control
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (error_pending_q != '0) state_d = Bad;
      else if (queued) state_d = Check;
      Check: state_d = (rejection != '0) ? Moved : (current_q.move.length == '0) ? Landed : Begin;
      Begin: state_d = Head;
      Head: if (valid && ready) state_d = Data;
      Data: if (valid && ready && packet_ends) state_d = wants_reply_q ? Wait : Head;
      Wait: if (answered) state_d = (reply.status != '0) ? Drop : (left_q == '0) ? Landed : Head;
      Drop: if (!read_busy) state_d = Moved;
      Landed: if (out_ready_i) state_d = Moved;
      default: if (out_ready_i) state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      tag_q   <= '0;
    end else begin
      state_q <= state_d;
      if (takes) tag_q <= tag_q + 8'd1;
    end
    if (takes) current_q <= next;
    else if (state_q == Idle) current_q.thread <= bad_thread;
    if (state_q == Check) begin
      status_q <= rejection;
      to_q     <= current_q.places.target;
      left_q   <= current_q.move.length[31:4];
      begun_q  <= 1'b0;
    end
    if (state_q == Head && valid && ready) begin
      packet_q      <= size;
      left_q        <= left_next;
      to_q          <= to_q + {23'd0, size, 4'd0};
      wants_reply_q <= wants_reply;
      begun_q       <= 1'b1;
    end
    if (state_q == Data && valid && ready) packet_q <= packet_q - 5'd1;
    if (answered) status_q <= reply.status;
  end

  // ----------------------------------------------------------------- answers
  match_move_t answer;
  always_comb begin
    answer              = current_q.move;
    answer.spare        = '0;
    answer.status       = status_q;
    answer.kind         = MatchPacketMoved;
    answer.their_handle = '0;
    out_o = '{
      kind: FlitKindBody, last: 1'b1, vnet: VnetMailbox, job: '0, epoch: '0, wave: '0,
      dest: {EndpointThread, 3'd0, board_i, tile_y_i, tile_x_i, current_q.thread}, payload: '0
    };
    if (state_q == Landed) begin
      out_o.dest    = target_address;
      answer.handle = current_q.move.their_handle;
      answer.kind   = MatchPacketLanded;
    end
    if (state_q == Bad) answer = '{kind: MatchPacketBad, default: '0};
    out_o.payload = answer;
  end
  assign out_valid_o = state_q inside {Landed, Moved, Bad};
  assign busy_o      = state_q != Idle || queued || error_pending_q != '0 || !first_q || read_busy;

  logic unused;
  assign unused = ^{cluster_i.routers, cluster_i.hosts, in_i, dest_in, reply_i, reply, last_from, last_to, current_q};

  `GS_ASSERT_NOW(request_queue_never_overflows, !(enters && valid_request) || unused_room)
  `GS_ASSERT_NOW(all_data_sent_before_last_reply, !answered || left_q != '0 || !read_busy || reply.status != '0)
  `GS_ASSERT_HOLD(payload_stable_while_stalled, out_valid_o, out_ready_i, out_o)
endmodule
