// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Sending side of a mailbox: reads messages from their slots and makes packets of them.
///
/// A thread has at most one send in flight; so the sends wait in a RAM indexed by thread, and gs_mailbox_send_queues
/// keeps their order for each route. A send is fetched when its route has space for a whole packet, which is then
/// reserved. From there on nothing stops it: its flits are read one a cycle. The next send is fetched meanwhile.
///
///     order ->[ sends ]->[ entry: head, flits ]->[ scratchpad ]->[ queues ]-> local, net, far
module gs_mailbox_tx
  import gs_mailbox_pkg::*;
  import gossamer_pkg::flit_t, gossamer_pkg::flit_kind_e, gossamer_pkg::FlitKindBody;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads   = 64,
  /// slots of the tile, a power of two
  parameter  int unsigned Slots     = 1024,
  /// flits that a slot can hold, a power of two
  parameter  int unsigned SlotFlits = 4,
  /// longest message in flits
  parameter  int unsigned MaxFlits  = 4,
  /// 1: messages with a mask are supported
  parameter  bit          Multicast = 1'b1,
  localparam int unsigned LengthW   = (MaxFlits > 1) ? $clog2(MaxFlits) : 1,
  localparam int unsigned ThreadW   = $clog2(Threads),
  localparam int unsigned SlotW     = $clog2(Slots),
  localparam int unsigned LinW      = $clog2(Slots * SlotFlits)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// a send; it is always accepted
  input  logic               send_i,
  input  logic [ThreadW-1:0] send_thread_i,
  input  logic [SlotW-1:0]   send_slot_i,
  /// flits minus one
  input  logic [LengthW-1:0] send_length_i,
  /// kind of the head flit; body: no head flit
  input  flit_kind_e         send_kind_i,
  input  route_e             send_route_i,
  input  logic [31:0]        send_dest_i,
  /// mask or key of the head flit
  input  logic [63:0]        send_head_i,
  /// flits of the scratchpad, which never stalls; data are returned three clock edges later
  output logic               read_valid_o,
  output logic [LinW-1:0]    read_flit_o,
  input  logic [127:0]       read_data_i,
  /// the last flit of a send was read. No packet begins while done_ready_i is 0; one more may end
  output logic               done_valid_o,
  input  logic               done_ready_i,
  output logic [ThreadW-1:0] done_thread_o,
  /// packets by route (route_e); the mailbox sets their job and epoch
  output logic [Routes-1:0]  out_valid_o,
  input  logic [Routes-1:0]  out_ready_i,
  output flit_t              out_o[Routes],
  /// work is in progress
  output logic               busy_o
);
  localparam int unsigned HeadW = Multicast ? 64 : 32;
  localparam int unsigned FlitW = LinW - SlotW;
  localparam int unsigned MaxPacket = MaxFlits + 1;
  localparam int unsigned SizeW = $clog2(MaxPacket + 1);

  typedef struct packed {
    logic [SlotW-1:0]   slot;
    logic [LengthW-1:0] length;
    flit_kind_e         kind;
    route_e             route;
    logic [31:0]        dest;
    logic [HeadW-1:0]   head;
  } send_t;

  logic unused_head;
  assign unused_head = &{1'b0, send_head_i};

  // The sends and their order.
  send_t send, fetched;
  logic fetch;
  logic [Routes-1:0] some, space, open;
  route_e route, last_route_q;
  logic [ThreadW-1:0] order_thread;
  logic [SizeW-1:0] order_size;

  assign send = '{
          slot: send_slot_i,
          length: send_length_i,
          kind: send_kind_i,
          route: send_route_i,
          dest: send_dest_i,
          head: send_head_i[HeadW-1:0]
      };

  gs_ram_sdp #(
    .Width  ($bits(send_t)),
    .Depth  (Threads),
    .Latency(2),
    .Style  ("block")
  ) u_sends (
    .clk_i,
    .we_i   (send_i),
    .wstrb_i(1'b1),
    .waddr_i(send_thread_i),
    .wdata_i(send),
    .re_i   (fetch),
    .raddr_i(order_thread),
    .rdata_o(fetched)
  );

  gs_mailbox_send_queues #(
    .Threads(Threads),
    .SizeW  (SizeW)
  ) u_order (
    .clk_i,
    .rst_ni,
    .push_i       (send_i),
    .push_route_i (send_route_i),
    .push_thread_i(send_thread_i),
    .push_size_i  (SizeW'(send_length_i) + SizeW'(send_kind_i != FlitKindBody) + SizeW'(1)),
    .some_o       (some),
    .pop_route_i  (route),
    .pop_i        (fetch),
    .pop_thread_o (order_thread),
    .pop_size_o   (order_size)
  );

  // Routes are served round-robin.
  assign open = some & space;
  always_comb begin
    route = RouteLocal;
    unique case (last_route_q)
      RouteLocal: route = open[RouteNet] ? RouteNet : open[RouteFar] ? RouteFar : RouteLocal;
      RouteNet:   route = open[RouteFar] ? RouteFar : open[RouteLocal] ? RouteLocal : RouteNet;
      default:    route = open[RouteLocal] ? RouteLocal : open[RouteNet] ? RouteNet : RouteFar;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) last_route_q <= RouteLocal;
    else if (fetch) last_route_q <= route;
  end

  // One send is being read from the RAM or waits in its output register; the flits of another are read.
  logic read_q, fetched_q, entry_valid_q, entry_load, entry_end;
  logic [ThreadW-1:0] fetched_thread_q, entry_thread_q;
  route_e fetched_route_q;
  logic [SizeW-1:0] fetched_size_q;
  send_t entry_q;

  assign entry_load = fetched_q && (!entry_valid_q || entry_end);
  assign fetch      = open != '0 && !read_q && (!fetched_q || entry_load);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q        <= 1'b0;
      fetched_q     <= 1'b0;
      entry_valid_q <= 1'b0;
    end else begin
      read_q <= fetch;
      if (read_q) fetched_q <= 1'b1;
      else if (entry_load) fetched_q <= 1'b0;
      if (entry_load) entry_valid_q <= 1'b1;
      else if (entry_end) entry_valid_q <= 1'b0;
    end
    if (fetch) begin
      fetched_thread_q <= order_thread;
      fetched_route_q  <= route;
      fetched_size_q   <= order_size;
    end
    if (entry_load) begin
      entry_q        <= fetched;
      entry_thread_q <= fetched_thread_q;
    end
  end

  // Flits: the head, if any, then those of the slot.
  logic begun_q, headed_q, beat, beat_head, beat_last;
  logic [LengthW-1:0] index_q;

  assign beat_head = entry_q.kind != FlitKindBody && !headed_q;
  assign beat_last = !beat_head && index_q == entry_q.length;
  assign beat      = entry_valid_q && (begun_q || done_ready_i);
  assign entry_end = beat && beat_last;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      begun_q  <= 1'b0;
      headed_q <= 1'b0;
      index_q  <= '0;
    end else if (beat) begin
      begun_q  <= !beat_last;
      headed_q <= !beat_last;
      index_q  <= (beat_head || beat_last) ? '0 : index_q + LengthW'(1);
    end
  end

  assign read_valid_o  = beat && !beat_head;
  assign read_flit_o   = (LinW'(entry_q.slot) << FlitW) | LinW'(index_q);
  assign done_valid_o  = entry_end;
  assign done_thread_o = entry_thread_q;

  // Side data of a flit while it is read.
  typedef struct packed {
    logic             is_head;
    flit_kind_e       kind;
    route_e           route;
    logic [31:0]      dest;
    logic [HeadW-1:0] head;
    logic             last;
  } tag_t;
  localparam int unsigned ReadCycles = 3;
  tag_t tag_q[ReadCycles];
  logic [ReadCycles-1:0] tag_valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) tag_valid_q <= '0;
    else tag_valid_q <= {tag_valid_q[ReadCycles-2:0], beat};
    tag_q[0] <= '{
        is_head: beat_head,
        kind: entry_q.kind,
        route: entry_q.route,
        dest: entry_q.dest,
        head: entry_q.head,
        last: beat_last
    };
    for (int unsigned i = 1; i < ReadCycles; i++) tag_q[i] <= tag_q[i-1];
  end

  // The virtual network is stored in the spare bits of the address, which are 0.
  typedef struct packed {
    flit_kind_e          kind;
    logic [2:0]          dest_kind;
    gossamer_pkg::vnet_e vnet;
    logic [25:0]         dest_low;
    logic [127:0]        payload;
    logic                last;
  } out_t;
  out_t out_in, out[Routes];
  tag_t tag;
  logic queues_busy;

  assign tag    = tag_q[ReadCycles-1];
  assign out_in = '{
          kind: tag.is_head ? tag.kind : FlitKindBody,
          dest_kind: tag.dest[31:29],
          vnet: gs_address_pkg::vnet_of(gossamer_pkg::endpoint_e'(tag.dest[31:29])),
          dest_low: tag.dest[25:0],
          payload: tag.is_head ? 128'(tag.head) : read_data_i,
          last: tag.last
      };

  gs_mailbox_out #(
    .data_t   (out_t),
    .MaxPacket(MaxPacket)
  ) u_out (
    .clk_i,
    .rst_ni,
    .space_o        (space),
    // One cycle later: until then no other send is fetched.
    .reserve_i      (read_q),
    .reserve_route_i(fetched_route_q),
    .reserve_size_i (fetched_size_q),
    .in_valid_i     (tag_valid_q[ReadCycles-1]),
    .in_route_i     (tag.route),
    .in_data_i      (out_in),
    .out_valid_o,
    .out_ready_i,
    .out_data_o     (out),
    .busy_o         (queues_busy)
  );

  for (genvar r = 0; r < int'(Routes); r++) begin : gen_out
    assign out_o[r] = '{
            kind: out[r].kind,
            last: out[r].last,
            vnet: (r == int'(RouteFar)) ? out[r].vnet : gossamer_pkg::VnetMailbox,
            job: '0,
            epoch: '0,
            wave: '0,
            dest: {out[r].dest_kind, 3'd0, out[r].dest_low},
            payload: out[r].payload
        };
  end
  // Sends that have left the order have space reserved.
  assign busy_o      = some != '0 || read_q || queues_busy;

  `GS_ASSERT_NOW(send_is_not_read_while_it_is_written, !u_sends.collides)
endmodule
