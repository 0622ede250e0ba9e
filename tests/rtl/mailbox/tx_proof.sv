// SPDX-License-Identifier: Apache-2.0

/// Proof of the sending side, gs_mailbox_tx with its send queues and its output queues: space is reserved for exactly
/// the flits that are written, so each finds a free entry and no space is lost; each flit leaves its route once, in
/// order and unchanged; the block reports idle only without work; the routes are served in turn, into the queues and
/// out of them.
///
/// One arbitrary route is watched, and one arbitrary flit of it. A thread has at most one send in flight; everything
/// else is arbitrary: sends, receivers, the contents of the scratchpad, when ends of sends are accepted.
module tx_proof
  import gs_mailbox_pkg::*;
  import gossamer_pkg::flit_t, gossamer_pkg::flit_kind_e, gossamer_pkg::FlitKindBody;
#(
  parameter  bit          Multicast = 1'b1,
  parameter  int unsigned Threads   = 4,
  localparam int unsigned MaxFlits  = 2,
  localparam int unsigned ThreadW   = $clog2(Threads)
) (
  input logic               clk_i,
  input logic               send_i,
  input logic [ThreadW-1:0] send_thread_i,
  input logic [1:0]         send_slot_i,
  input logic               send_length_i,
  input logic               send_masked_i,
  input logic [1:0]         send_route_i,
  input logic [7:0]         data_i,
  input logic               done_ready_i,
  input logic [Routes-1:0]  ready_i,
  input logic [1:0]         watched_i,
  input logic               mark_i
);
  logic started_q = 1'b0;
  logic rst_ni;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // The watched route: arbitrary but constant.
  logic [1:0] watched;
  always_ff @(posedge clk_i) if (!rst_ni) watched <= (watched_i == 2'd3) ? 2'd0 : watched_i;

  logic send, done_valid, read_valid, tx_busy;
  logic [ThreadW-1:0] done_thread;
  logic [2:0] read_flit;
  flit_kind_e send_kind;
  route_e send_route;
  logic [Routes-1:0] out_valid;
  flit_t out[Routes];
  logic [Threads-1:0] in_flight_q;

  assign send       = send_i && !in_flight_q[send_thread_i];
  assign send_kind  = (Multicast && send_masked_i) ? gossamer_pkg::FlitKindMask : FlitKindBody;
  assign send_route = route_e'((send_route_i == 2'd3) ? 2'd0 : send_route_i);

  gs_mailbox_tx #(
    .Threads  (Threads),
    .Slots    (4),
    .SlotFlits(2),
    .MaxFlits (MaxFlits),
    .Multicast(Multicast)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .send_i       (send),
    .send_thread_i,
    .send_slot_i,
    .send_length_i,
    .send_kind_i  (send_kind),
    .send_route_i (send_route),
    .send_dest_i  ('0),
    .send_head_i  ('0),
    .read_valid_o (read_valid),
    .read_flit_o  (read_flit),
    .read_data_i  (128'(data_i)),
    .done_valid_o (done_valid),
    .done_ready_i,
    .done_thread_o(done_thread),
    .out_valid_o  (out_valid),
    .out_ready_i  (ready_i),
    .out_o        (out),
    .busy_o       (tx_busy)
  );

  // A thread's send is in flight until its end is reported; it is in the send queue until it is fetched.
  logic [Threads-1:0] ordered_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_flight_q <= '0;
      ordered_q   <= '0;
    end else begin
      if (done_valid) in_flight_q[done_thread] <= 1'b0;
      if (send) in_flight_q[send_thread_i] <= 1'b1;
      if (u_tx.fetch) ordered_q[u_tx.order_thread] <= 1'b0;
      if (send) ordered_q[send_thread_i] <= 1'b1;
    end
  end

  // ---- Flits of each route that have space reserved and are not written: of the fetched send, of the entry, and those
  // being read ----
  localparam int unsigned HeadW = Multicast ? 64 : 32;
  // The types of gs_mailbox_tx.
  typedef struct packed {
    logic [1:0]       slot;
    logic             length;
    flit_kind_e       kind;
    route_e           route;
    logic [31:0]      dest;
    logic [HeadW-1:0] head;
  } send_t;
  localparam int unsigned OutW = $bits(flit_kind_e) + 3 + $bits(gossamer_pkg::vnet_e) + 26 + 128 + 1;

  function automatic logic [2:0] size_of(send_t of);
    return 3'(of.length) + 3'd1 + 3'(of.kind != FlitKindBody);
  endfunction

  logic fetching;
  send_t first, second;
  logic [Routes-1:0][4:0] owed, used;
  assign first    = u_tx.u_sends.gen_registered.first_q;
  assign second   = u_tx.fetched;
  assign fetching = u_tx.read_q || u_tx.fetched_q;

  for (genvar r = 0; r < int'(Routes); r++) begin : gen_queue
    localparam int unsigned Depth = (r == int'(RouteNet)) ? 16 : 8;
    logic [2:0] of_fetched, of_entry, of_tags;
    always_comb begin
      of_fetched = (u_tx.fetched_q && first.route == route_e'(r)) ? size_of(first) : '0;
      of_entry   = '0;
      if (u_tx.entry_valid_q && u_tx.entry_q.route == route_e'(r)) begin
        of_entry = 3'(u_tx.entry_q.length) - 3'(u_tx.index_q) + 3'd1 + 3'(u_tx.beat_head);
      end
      of_tags = '0;
      for (int unsigned i = 0; i < 3; i++) begin
        of_tags += 3'(u_tx.tag_valid_q[i] && u_tx.tag_q[i].route == route_e'(r));
      end
      owed[r] = 5'(of_fetched) + 5'(of_entry) + 5'(of_tags);
      used[r] = u_tx.u_out.wptr_q[r] - u_tx.u_out.rptr_q[r];
      if (r != int'(RouteNet)) used[r] = 5'(used[r][3:0]);
    end
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        space_is_conserved:
        assert (32'(u_tx.u_out.space_q[r]) + 32'(owed[r]) + 32'(used[r]) + 32'(u_tx.u_out.freed_q[r]) == Depth);
      end
    end
  end

  // ---- The watched flit, from its write into the queue until it leaves ----
  typedef enum logic [1:0] {Nowhere, Queued, Offered} where_e;
  where_e where_q;
  logic [4:0] ahead_q, watched_rptr;
  logic [OutW-1:0] data_q, at_out, in_memory;
  logic writes, goes;
  logic [3:0] address;
  assign writes  = u_tx.tag_valid_q[2] && 2'(u_tx.tag.route) == watched;
  assign goes    = u_tx.u_out.go[watched];
  assign at_out  = u_tx.out[watched];
  always_comb begin
    watched_rptr = u_tx.u_out.rptr_q[watched] + ahead_q;
    address      = u_tx.u_out.address(32'(watched), watched_rptr[3:0]);
    in_memory    = (32'(watched) == 32'(RouteNet)) ? u_tx.u_out.u_net.mem[address] : u_tx.u_out.u_others.mem[address];
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) where_q <= Nowhere;
    else begin
      unique case (where_q)
        Nowhere: if (mark_i && writes) begin
          where_q <= Queued;
          ahead_q <= used[watched] - 5'(goes);
          data_q  <= u_tx.out_in;
        end
        Queued: if (goes) begin
          ahead_q <= ahead_q - 5'd1;
          if (ahead_q == '0) where_q <= Offered;
        end
        default: if (ready_i[watched]) where_q <= Nowhere;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      watched_flit_is_offered_unchanged: assert (where_q != Offered || (out_valid[watched] && at_out == data_q));
      watched_flit_keeps_its_position: assert (where_q != Queued || (ahead_q < used[watched] && in_memory == data_q));
      idle_only_without_work: assert (tx_busy || (owed == '0 && used == '0 && out_valid == '0
                                                    && ordered_q == '0 && !u_tx.entry_valid_q && !fetching));
      // Packets without masks fill the queue only after more cycles than the covers search.
      c_all_space_is_reserved: cover (!Multicast || u_tx.u_out.space_q[RouteFar] == '0);
      c_leaves_although_other_routes_are_blocked:
      cover (goes && watched == 2'(RouteLocal) && ready_i == '0 && out_valid == 3'b110);
      c_two_packets_wait: cover (used[watched] == 5'd5);
      c_read_is_repeated: cover (u_tx.u_out.some_q[watched] && u_tx.u_out.grant[watched] && !goes);
      c_watched_flit_leaves: cover (where_q == Offered && ready_i[watched] && used[watched] == 5'd2);
    end
  end

  // ---- The routes are served fairly ----
  // A route that has a send and space for it waits for at most one send of each of the two others. The network's flits
  // leave independently of all others. Of the two routes that share a memory, one with a flit in its queue and a ready
  // receiver waits for at most one packet of the other, or less if that one's receiver stops.
  logic [Routes-1:0][1:0] passed_q;
  for (genvar r = 0; r < int'(Routes); r++) begin : gen_fairness
    // Sends until this route is served, including its own
    logic [1:0] left;
    assign left = (2'(u_tx.last_route_q) == 2'((r + 2) % Routes)) ? 2'd1
        : (2'(u_tx.last_route_q) == 2'((r + 1) % Routes)) ? 2'd2 : 2'd3;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || !u_tx.open[r] || (u_tx.fetch && 2'(u_tx.route) == 2'(r))) passed_q[r] <= '0;
      else if (u_tx.fetch) passed_q[r] <= passed_q[r] + 2'd1;
      if (rst_ni) begin
        at_most_two_sends_go_first: assert (3'(passed_q[r]) + 3'(left) <= 3'd3);
        c_two_sends_go_first: cover (passed_q[r] == 2'd2);
      end
    end
  end
  for (genvar i = 0; i < 2; i++) begin : gen_pair
    localparam int unsigned R = (i == 0) ? 32'(RouteLocal) : 32'(RouteFar);
    localparam int unsigned Other = (i == 0) ? 32'(RouteFar) : 32'(RouteLocal);
    // A packet of the other route has begun to leave while this one waits.
    logic begun_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || !u_tx.u_out.requests[i] || u_tx.u_out.grant[R]) begun_q <= 1'b0;
      else if (u_tx.u_out.go[Other] && u_tx.u_out.ended_q[1-i]) begun_q <= 1'b1;
      if (rst_ni && u_tx.u_out.requests[i] && !u_tx.u_out.grant[R]) begin
        at_most_one_packet_goes_first: assert (!begun_q || !u_tx.u_out.go[Other] || !u_tx.u_out.ended_q[1-i]);
        c_one_packet_goes_first: cover (begun_q);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      network_waits_only_for_its_receiver:
      assert (!u_tx.u_out.some_q[RouteNet] || u_tx.u_out.go[RouteNet]
              || (out_valid[RouteNet] && !ready_i[RouteNet]));
    end
  end

`ifdef INDUCTION
  // ---- Invariants for the induction ----
  logic [Threads-1:0][1:0] route_of;
  logic [Threads-1:0][ThreadW-1:0] successor;
  for (genvar t = 0; t < int'(Threads); t++) begin : gen_thread
    send_t waiting;
    logic [1:0] route;
    assign waiting      = u_tx.u_sends.mem[t];
    assign route        = 2'(waiting.route);
    assign route_of[t]  = route;
    assign successor[t] = u_tx.u_order.u_successors.mem[t];
    always_ff @(posedge clk_i) begin
      if (rst_ni && ordered_q[t]) begin
        assert (in_flight_q[t]);
        assert (route != 2'd3 && u_tx.u_order.some_q[route]);
        assert (32'(waiting.length) < MaxFlits && (Multicast || waiting.kind == FlitKindBody));
        assert (3'(u_tx.u_order.u_sizes.mem[t]) == size_of(waiting));
      end
    end
  end
  for (genvar r = 0; r < int'(Routes); r++) begin : gen_route
    logic [Threads-1:0] listed, members;
    logic [ThreadW-1:0] here;
    logic ended, twice;
    always_comb begin
      listed = '0;
      twice  = 1'b0;
      ended  = !u_tx.u_order.some_q[r];
      here   = u_tx.u_order.head_q[r];
      for (int unsigned t = 0; t < Threads; t++) begin
        members[t] = ordered_q[t] && route_of[t] == 2'(r);
        if (!ended) begin
          twice        = twice || listed[here];
          listed[here] = 1'b1;
          ended        = here == u_tx.u_order.tail_q[r];
          here         = successor[here];
        end
      end
    end
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        // From head to tail, the list has each of its threads once.
        assert (listed == members && ended && !twice);
        if (r != int'(RouteNet)) assert (!u_tx.u_out.wptr_q[r][4] && !u_tx.u_out.rptr_q[r][4]);
        if (r != int'(RouteNet)) assert (!u_tx.u_out.space_q[r][4]);
        if (u_tx.u_out.freed_q[r]) assert (u_tx.u_out.valid_q[r]);
        if (u_tx.u_out.some_q[r]) assert (used[r] != '0);
        if (u_tx.read_q && 2'(u_tx.fetched_route_q) == 2'(r)) assert (u_tx.u_out.space_q[r] >= 5'd3);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (watched != 2'd3);
      assert (!(u_tx.read_q && u_tx.fetched_q));
      assert (!u_tx.fetched_q || first == second);
      if (fetching) begin
        assert (in_flight_q[u_tx.fetched_thread_q] && !ordered_q[u_tx.fetched_thread_q]);
        assert (u_tx.fetched_route_q == first.route && 3'(u_tx.fetched_size_q) == size_of(first));
        assert (2'(first.route) != 2'd3 && (Multicast || first.kind == FlitKindBody));
      end
      if (u_tx.entry_valid_q) begin
        assert (in_flight_q[u_tx.entry_thread_q] && !ordered_q[u_tx.entry_thread_q]);
        assert (!fetching || u_tx.entry_thread_q != u_tx.fetched_thread_q);
        assert (2'(u_tx.entry_q.route) != 2'd3 && (Multicast || u_tx.entry_q.kind == FlitKindBody));
        assert (u_tx.index_q <= u_tx.entry_q.length);
        assert (u_tx.begun_q == u_tx.headed_q);
        assert (u_tx.begun_q || u_tx.index_q == '0);
      end else begin
        assert (!u_tx.begun_q && !u_tx.headed_q && u_tx.index_q == '0);
      end
      for (int unsigned i = 0; i < 3; i++) assert (!u_tx.tag_valid_q[i] || 2'(u_tx.tag_q[i].route) != 2'd3);
    end
  end
`endif
endmodule
