// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// An input of a mesh router: buffers, the route of each packet, and the choice of the virtual network that may send.
///
/// The route is computed while the flit is written into the buffer, and is ready at the same time. Only the flit of one
/// network (`pick_o`) may leave in a cycle. The picked network stays picked while it has a flit that could leave and is
/// not granted: otherwise the picks here and the grants of the outputs could synchronize, and a network would starve.
/// Next is the next network in round-robin order whose flit could leave, or else the network of the arriving flit.
module gs_mesh_input
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
#(
  /// direction of the link that feeds this input
  parameter dir_e From = Local
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic  [11:0]          board_i,
  input  logic  [3:0]           tile_y_i,
  input  logic  [3:0]           tile_x_i,
  input  dirs_t                 to_exit_i,
  // link
  input  logic  [Vnets-1:0]     in_valid_i,
  input  flit_t                 in_i,
  output logic  [Vnets-1:0]     in_credit_o,
  // For the first flit of each network: the output that it wants (none if there is no flit), and its last bit
  output dirs_t [Vnets-1:0]     want_o,
  output logic  [Vnets-1:0]     last_o,
  /// all outputs that it may want in the next cycle
  output dirs_t [Vnets-1:0]     may_want_o,
  /// the flit could leave: its output has a credit for it and admits it
  input  logic  [Vnets-1:0]     able_i,
  /// one-hot: the network whose flit may leave in this cycle
  output logic  [Vnets-1:0]     pick_o,
  /// the flit leaves; one cycle later it is at `out_o`
  input  logic                  grant_i,
  output flit_t                 out_o
);
  localparam int unsigned PtrW = $clog2(MeshBufferFlits);

  // The stored fields of a flit, without its data
  typedef struct packed {
    dirs_t want;
    logic  last;
  } info_t;

  logic [Vnets-1:0] pop, some, more, pick_q, pick_d, pick_next, credit_q;
  logic [Vnets-1:0][PtrW-1:0] first, second, newest;
  logic [PtrW+1:0] raddr_q, raddr_d;
  info_t [Vnets-1:0] head_q;
  // The route of the packet that is arriving
  logic [Vnets-1:0] open_q;
  dirs_t [Vnets-1:0] route_q;
  dirs_t route_head;
  address_thread_t dest;
  logic home;

  assign pop         = pick_q & {Vnets{grant_i}};
  assign pick_o      = pick_q;
  assign in_credit_o = credit_q;
  assign dest        = in_i.dest;
  assign home        = gs_address_pkg::names_tile(dest.kind) && dest.board == board_i;
  assign route_head  = route(home, dest.tile_y, dest.tile_x, tile_y_i & RowBits, tile_x_i & ColumnBits, to_exit_i,
                             From);

  for (genvar v = 0; v < Vnets; v++) begin : gen_vnet
    info_t arriving, following, head_d;

    assign want_o[v]  = head_q[v].want;
    assign last_o[v]  = head_q[v].last;
    // Whether the first flit leaves is known too late to be used here, and so is the route of an arriving head.
    assign may_want_o[v] = head_q[v].want | (more[v] ? following.want : '0)
                        | (in_valid_i[v] ? (open_q[v] ? route_q[v] : '1) : '0);
    assign arriving       = '{want: open_q[v] ? route_q[v] : route_head, last: in_i.last};

    gs_ram_sdp #(
      .Width  ($bits(info_t)),
      .Depth  (1 << PtrW),
      .Latency(0),
      .Style  ("distributed")
    ) u_info (
      .clk_i,
      .we_i   (in_valid_i[v]),
      .wstrb_i(1'b1),
      .waddr_i(newest[v]),
      .wdata_i(arriving),
      .re_i   (1'b1),
      .raddr_i(second[v]),
      .rdata_o(following)
    );

    always_comb begin
      head_d = head_q[v];
      if (pop[v] || !some[v]) begin
        head_d = arriving;
        if (!in_valid_i[v]) head_d.want = '0;
        if (more[v]) head_d = following;
      end
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        head_q[v].want <= '0;
        open_q[v]      <= 1'b0;
      end else begin
        head_q[v].want <= head_d.want;
        if (in_valid_i[v]) open_q[v] <= !in_i.last;
      end
      head_q[v].last <= head_d.last;
      if (in_valid_i[v]) route_q[v] <= arriving.want;
    end

    `GS_ASSERT_NOW(wanted_outputs_are_announced_a_cycle_ahead, (head_d.want & ~may_want_o[v]) == '0)
    `GS_ASSERT_NOW(every_waiting_flit_wants_exactly_one_output,
                   some[v] ? $onehot(head_q[v].want) : head_q[v].want == '0)
  end

  gs_vnet_buffer u_buffer (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_i,
    .pop_i   (pop),
    .some_o  (some),
    .more_o  (more),
    .first_o (first),
    .second_o(second),
    .last_o  (newest),
    .raddr_i (raddr_q),
    .rdata_o (out_o)
  );

  gs_rr_pick #(.N(Vnets)) u_next (
    .clk_i,
    .rst_ni,
    .current_i(pick_q),
    .req_i    (able_i),
    .next_o   (pick_next)
  );

  always_comb begin
    pick_d = (pick_next != '0) ? pick_next : (in_valid_i != '0) ? in_valid_i : pick_q;
    if ((pick_q & able_i) != '0 && !grant_i) pick_d = pick_q;
    raddr_d = '0;
    for (int unsigned v = 0; v < Vnets; v++) if (pick_q[v]) raddr_d |= {2'(v), first[v]};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pick_q   <= Vnets'(1);
      credit_q <= '0;
    end else begin
      pick_q   <= pick_d;
      credit_q <= pop;
    end
    raddr_q <= raddr_d;
  end

  logic unused_dest;
  assign unused_dest = ^{dest.spare, dest.thread};

  `GS_ASSERT_NOW(granted_flits_are_able_to_leave, (pop & ~able_i) == '0)
endmodule
