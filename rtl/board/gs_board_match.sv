// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Match engines at the board, shared by jobs: their packets, registers and events.
///
///     switch => job of the packet = job of engine and rank? => queue => engine => switch: packets to threads
///     control unit: registers, events; idle detection: counts and state of each job's engines
///
/// An engine serves the threads of an equal share of the board's tiles. A rank is the thread's part of a program's
/// address (address_match), so its upper bits name the engine.
///
/// An engine belongs to the first job that holds one of its tiles, until that job holds none of them. It is cleared
/// when its job changes, and when a job slot that has tiles of it is assigned its job again. Packets of other jobs, to
/// ranks of tiles that the job does not hold, to ranks that do not exist, of other kinds and of ended epochs are
/// dropped whole, counted and reported. Longer packets than threads can send are counted and reported, and have no
/// effect.
///
/// The engines accept every packet of the request network within the time of one request, whatever their threads
/// accept: packets to threads wait in the engines' stores (gs_match_response_queue). Packets of other networks are
/// dropped in the cycle in which they arrive, so none of them waits for an engine.
module gs_board_match
  import gs_board_pkg::*;
  import gs_idle_pkg::*;
  import gs_noc_pkg::Vnets;
  import gs_switch_pkg::*;
  import gossamer_pkg::*;
#(
  /// job slots
  parameter int unsigned Jobs   = 1,
  /// credits of a channel, in both directions; a power of two
  parameter int unsigned Window = 8
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic [11:0]               board_i,
  // Job of each tile, or NoJob; one cycle before a change: the tile's slot is assigned
  input  logic [Tiles-1:0][4:0]     job_i,
  input  logic [Tiles-1:0]          clear_tiles_i,
  // Job slots; epoch and colour of their messages
  input  job_slot_t [Jobs-1:0]      slot_i,
  input  logic [Jobs-1:0][1:0]      epoch_i,
  input  logic [Jobs-1:0]           wave_i,
  /// state of each job's engines
  output idle_status_t [Jobs-1:0]   status_o,
  // Switch
  input  channels_t                 sw_valid_i,
  input  flit_t                     sw_i,
  output channels_t                 sw_credit_o,
  output channels_t                 sw_valid_o,
  output flit_t                     sw_o,
  input  channels_t                 sw_credit_i,
  // Registers
  input  register_request_t         register_i,
  output register_response_t        register_o,
  // Dropped packets, and the event of one of them
  output logic [31:0]               drops_o,
  output logic                      event_o,
  output logic [63:0]               event_value_o,
  input  logic                      event_reported_i,
  // A message of this job, which its sender counted, was dropped before it entered an engine
  output logic                      lost_o,
  output logic [4:0]                lost_job_o
);
  localparam int unsigned Engines = (MatchOnBoard > 0) ? MatchOnBoard : 1;
  localparam int unsigned EngineW = (Engines > 1) ? $clog2(Engines) : 1;
  localparam int unsigned PlaceW = Log2MeshWidth + Log2MeshHeight;
  localparam int unsigned RankW = Log2ThreadsPerTile + PlaceW;
  localparam int unsigned Shift = $clog2(MatchRanks);
  typedef logic [EngineW-1:0] engine_t;

  // Engine of a tile
  function automatic int unsigned engine_of(int unsigned tile);
    return ((((tile / MeshWidth) << Log2MeshWidth) + tile % MeshWidth) << Log2ThreadsPerTile) >> Shift;
  endfunction

  // ---------------------------------------------------------------- owners
  logic [Engines-1:0][4:0] owner_q, owner_d;
  logic [Engines-1:0] held, assigned, flush_q;
  logic [Tiles-1:0] clear_tiles_q;
  always_comb begin
    held     = '0;
    assigned = '0;
    owner_d  = owner_q;
    for (int unsigned e = 0; e < Engines; e++) begin
      for (int unsigned t = 0; t < Tiles; t++) begin
        if (engine_of(t) == e && job_i[t] == owner_q[e] && owner_q[e] != NoJob) begin
          held[e]      = 1'b1;
          assigned[e] |= clear_tiles_q[t];
        end
      end
      if (!held[e]) begin
        owner_d[e] = NoJob;
        for (int unsigned t = Tiles; t > 0; t--) begin
          if (engine_of(t - 1) == e && job_i[t-1] != NoJob) owner_d[e] = job_i[t-1];
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    clear_tiles_q <= rst_ni ? clear_tiles_i : '0;
    for (int unsigned e = 0; e < Engines; e++) begin
      owner_q[e] <= rst_ni ? owner_d[e] : NoJob;
      flush_q[e] <= rst_ni && (owner_d[e] != owner_q[e] || assigned[e]);
    end
  end

  // Epoch and colour of each engine's job
  logic [Engines-1:0][1:0] epoch;
  logic [Engines-1:0] wave;
  always_comb begin
    {epoch, wave} = '0;
    for (int unsigned e = 0; e < Engines; e++) begin
      for (int unsigned j = 0; j < Jobs; j++) begin
        if (slot_i[j].valid && slot_i[j].job == owner_q[e]) {epoch[e], wave[e]} = {epoch_i[j], wave_i[j]};
      end
    end
  end

  // --------------------------------------------------------------- channels
  logic [Vnets-1:0] offered, accept, send, space, from_credit, to_valid;
  flit_t flit, sent;
  gs_mesh_local #(.Depth(Window)) u_port (
    .clk_i,
    .rst_ni,
    .tile_valid_i(send),
    .tile_ready_o(space),
    .tile_i      (sent),
    .tile_valid_o(offered),
    .tile_ready_i(accept),
    .tile_o      (flit),
    .out_valid_o (to_valid),
    .out_o       (sw_o),
    .out_credit_i(gather(sw_credit_i)),
    .in_valid_i  (gather(sw_valid_i)),
    .in_i        (sw_i),
    .in_credit_o (from_credit)
  );
  assign sw_credit_o = spread(from_credit);
  assign sw_valid_o  = spread(to_valid);

  // ---------------------------------------------------------------- filter
  // A packet is judged by its first flit. Packets of different networks may interleave; only those of the request
  // network enter an engine.
  address_match_t dest;
  address_thread_t place;
  logic [Vnets-1:0] inside_q;
  logic first, known, message, drop, dropping_q, overlong, valid_q, go, of_request;
  logic [4:0] owner, tile_job;
  logic [1:0] of_epoch;
  logic [3:0] why;
  engine_t to, at, at_q;
  logic [$clog2(MailboxMaxFlits+2)-1:0] length_q;
  flit_t flit_q;
  logic [Engines-1:0] in_valid, in_ready;
  assign dest       = flit.dest;
  assign place      = gs_address_pkg::gs_wire_address(
      {EndpointThread, 29'(dest.rank)}, Log2ThreadsPerTile, Log2MeshWidth, Log2MeshHeight);
  assign first      = (offered & ~inside_q) != '0;
  assign of_request = offered[VnetRequest];
  assign message    = flit.kind != FlitKindHeader && !offered[VnetControl];
  assign to         = engine_t'(dest.rank >> Shift);
  always_comb begin
    known    = 1'b0;
    tile_job = NoJob;
    for (int unsigned t = 0; t < Tiles; t++) begin
      if (dest.rank >> RankW == '0 && 32'(place.tile_y) == t / MeshWidth && 32'(place.tile_x) == t % MeshWidth) begin
        {known, tile_job} = {1'b1, job_i[t]};
      end
    end
    owner    = NoJob;
    of_epoch = '0;
    for (int unsigned e = 0; e < Engines; e++) begin
      if (32'(to) == e) {owner, of_epoch} = {owner_q[e], epoch[e]};
    end
    why = '0;
    if (!of_request || flit.kind != FlitKindBody) why = RejectionKind;
    else if (!known) why = RejectionThread;
    else if (owner == NoJob || flit.job != owner || flit.job != tile_job) why = RejectionJob;
    else if (flit.epoch - of_epoch > 2'd1) why = RejectionEpoch;
  end
  assign at       = first ? to : at_q;
  assign drop     = first ? why != '0 : dropping_q || flush_q[at_q];
  assign overlong = of_request && !first && !drop && 32'(length_q) == MailboxMaxFlits;
  // Ready does not depend on the flit: a flit of another network takes no place.
  assign go       = !valid_q || (in_valid & in_ready) != '0;
  always_comb begin
    accept              = '1;
    accept[VnetRequest] = go;
    in_valid            = '0;
    for (int unsigned e = 0; e < Engines; e++) in_valid[e] = valid_q && 32'(at_q) == e;
  end

  typedef struct packed {
    logic        dropped;
    logic [3:0]  why;
    logic [4:0]  job;
    logic [13:0] rank;
  } fate_t;
  fate_t fate_q;
  logic [13:0] rank_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q       <= '0;
      valid_q        <= 1'b0;
      lost_o         <= 1'b0;
      dropping_q     <= 1'b0;
      fate_q.dropped <= 1'b0;
    end else begin
      inside_q       <= flit.last ? inside_q & ~offered : inside_q | offered;
      if (go) valid_q <= of_request && !drop;
      // What an engine's former job has sent is discarded with the engine's queue.
      if (valid_q && flush_q[at_q] && !(go && of_request)) valid_q <= 1'b0;
      if (of_request) dropping_q <= drop;
      else if (flush_q[at_q]) dropping_q <= 1'b1;
      lost_o         <= first && why != '0 && message;
      fate_q.dropped <= (first && why != '0) || overlong;
    end
    if (go) flit_q <= flit;
    if (of_request) begin
      at_q     <= at;
      length_q <= first ? 1 : (32'(length_q) <= MailboxMaxFlits) ? length_q + 1'b1 : length_q;
      if (first) rank_q <= dest.rank;
    end
    lost_job_o  <= flit.job;
    fate_q.why  <= overlong ? 4'(RejectionLength) : why;
    fate_q.job  <= flit.job;
    fate_q.rank <= overlong ? rank_q : dest.rank;
  end

  // --------------------------------------------------------------- engines
  logic [Engines-1:0] out_valid, out_ready, received, left, busy, clears;
  flit_t out[Engines];
  logic [Engines-1:0][31:0] receives, messages, received_q, sent_q;
  logic [3:0] to_send;
  for (genvar e = 0; e < Engines; e++) begin : gen_engine
    gs_board_match_engine #(
      .Receivers(MatchRanks),
      .First    (e * MatchRanks)
    ) u_engine (
      .clk_i,
      .rst_ni,
      .board_i,
      .owner_i    (owner_q[e]),
      .epoch_i    (epoch[e]),
      .wave_i     (wave[e]),
      .flush_i    (flush_q[e]),
      .clear_i    (clears[e]),
      .seed_i     (register_i.value),
      .in_valid_i (in_valid[e] && !flush_q[e]),
      .in_ready_o (in_ready[e]),
      .in_i       (flit_q),
      .out_valid_o(out_valid[e]),
      .out_ready_i(out_ready[e]),
      .out_o      (out[e]),
      .received_o (received[e]),
      .sent_o     (left[e]),
      .busy_o     (busy[e]),
      .receives_o (receives[e]),
      .messages_o (messages[e])
    );
    always_ff @(posedge clk_i) begin
      if (!rst_ni || flush_q[e]) begin
        received_q[e] <= '0;
        sent_q[e]     <= '0;
      end else begin
        if (received[e]) received_q[e] <= received_q[e] + 32'd1;
        if (left[e]) sent_q[e] <= sent_q[e] + 32'd1;
      end
    end
  end

  gs_packet_arbiter #(.N(Engines)) u_out (
    .clk_i,
    .rst_ni,
    .in_valid_i (out_valid),
    .in_ready_o (out_ready),
    .in_i       (out),
    .out_valid_o(to_send),
    .out_ready_i({4{space[VnetMailbox]}}),
    .out_o      (sent)
  );
  always_comb begin
    send              = '0;
    send[VnetMailbox] = to_send != '0;
  end

  always_comb begin
    for (int unsigned j = 0; j < Jobs; j++) begin
      status_o[j] = '{idle: 1'b1, vote: 1'b1, default: '0};
      for (int unsigned e = 0; e < Engines; e++) begin
        if (slot_i[j].job == owner_q[e]) begin
          status_o[j].idle     &= !busy[e];
          status_o[j].sent     += sent_q[e];
          status_o[j].received += received_q[e];
        end
      end
    end
  end

  // -------------------------------------------------------- dropped packets
  logic [4:0] drop_job;
  logic [17:0] drop_what;
  match_drop_t drop_event;
  gs_board_packet_drops #(.Width(18)) u_drops (
    .clk_i,
    .rst_ni,
    .drop_i    (fate_q.dropped),
    .job_i     (fate_q.job),
    .what_i    ({fate_q.why, fate_q.rank}),
    .due_o     (event_o),
    .reported_i(event_reported_i),
    .job_o     (drop_job),
    .what_o    (drop_what),
    .count_o   (drops_o)
  );
  assign drop_event = '{
    why: rejection_e'(drop_what[17:14]), job: drop_job, rank: drop_what[13:0], count: drops_o, default: '0
  };
  assign event_value_o = drop_event;

  // --------------------------------------------------------------- registers
  register_address_t address;
  engine_t unit;
  logic hit;
  logic [63:0] read;
  logic [3:0] rejection;
  match_state_t state;
  logic [Engines-1:0][31:0] dropped_q;
  register_response_t response_q;
  assign address    = register_i.address;
  assign unit       = engine_t'(address.unit);
  assign hit        = register_i.valid && address.block == RegisterBlockMatch && 32'(address.unit) < Engines;
  assign state      = '{busy: busy[unit], job: owner_q[unit], default: '0};
  assign register_o = response_q;
  always_comb begin
    read      = '0;
    rejection = '0;
    clears    = '0;
    unique case (address.number)
      MatchRegisterState:   read = state;
      MatchRegisterWaiting: read = {messages[unit], receives[unit]};
      MatchRegisterPackets: read = {sent_q[unit], received_q[unit]};
      MatchRegisterDropped: read = 64'(dropped_q[unit]);
      default:              rejection = RejectionAddress;
    endcase
    if (register_i.write) begin
      if (address.number != MatchRegisterClear) rejection = RejectionAddress;
      else if (owner_q[unit] == NoJob || register_i.job != owner_q[unit]) rejection = RejectionJob;
      else rejection = '0;
      clears[unit] = hit && rejection == '0;
    end
  end
  always_ff @(posedge clk_i) begin
    response_q <= '0;
    if (rst_ni && hit) response_q <= '{hit: 1'b1, rejection: rejection, value: register_i.write ? '0 : read};
    for (int unsigned e = 0; e < Engines; e++) begin
      if (!rst_ni) dropped_q[e] <= '0;
      else if (fate_q.dropped && 32'(fate_q.rank) >> Shift == e) dropped_q[e] <= dropped_q[e] + 32'd1;
    end
  end

  logic unused;
  assign unused = ^{space, dest.kind, dest.spare, dest.board, place, flit_q.kind};

  `GS_ASSERT_NOW(one_flit_leaves_at_a_time, $onehot0(out_ready & out_valid))
  `GS_ASSERT_NOW(request_is_not_lost, !of_request || go)
endmodule
