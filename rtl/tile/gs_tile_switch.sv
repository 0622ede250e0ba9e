// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Connects mailbox, loader, accelerator and DMA engine of a tile to the network's four virtual networks.
///
///     network, mailbox    ==> mailbox                          (the mailbox checks its packets itself)
///     network, request    ==> loader, accelerator              by kind of address; others are rejected
///     network, reply      ==> DMA engine, one flit for each of its writes; others are rejected
///     network, control    ==> rejected
///     mailbox             ==> network; accelerator of the tile
///     loader              ==> network, reply; DMA engine of the tile
///     faults              ==> network, reply
///     accelerator         ==> network; mailbox of the tile
///     DMA engine          ==> network, request; loader of the tile
///
/// A message of the job's next epoch waits upstream of the accelerator until that epoch begins in this tile: its answer
/// would have the old epoch, and would be rejected. It is rejected if the tile gets another job meanwhile. A release
/// uses the control network, so it never waits in this switch.
///
/// A rejected packet is dropped as a whole and counted. Packets of different virtual networks share no buffer, so no
/// cycle of waiting packets can form. The accelerator waits only for the mailbox network, which always drains. The DMA
/// engine has its own output port: its packets wait for loaders, and loaders wait for memory and for the replies to it,
/// which it always accepts.
module gs_tile_switch
  import gossamer_pkg::*;
  import gs_address_pkg::*;
#(
  /// 1: there is an accelerator
  parameter bit Accelerator = 1'b0,
  /// 1: there is no network: the accelerator can send only to its own tile and to hosts
  parameter bit Alone       = 1'b0,
  /// 1: there is a DMA engine
  parameter bit Dma       = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [11:0] board_i,
  input  logic [3:0]  tile_y_i,
  input  logic [3:0]  tile_x_i,
  input  logic [4:0]  job_i,
  input  logic [1:0]  epoch_i,
  input  logic        wave_i,
  input  cluster_t    cluster_i,
  // network: a handshake for each virtual network, shared data
  input  logic [3:0]  net_in_valid_i,
  output logic [3:0]  net_in_ready_o,
  input  flit_t       net_in_i,
  output logic [3:0]  net_out_valid_o,
  input  logic [3:0]  net_out_ready_i,
  output flit_t       net_out_o,
  // mailbox: in, out in its network, out in the others
  output logic        box_in_valid_o,
  input  logic        box_in_ready_i,
  output flit_t       box_in_o,
  input  logic        box_out_valid_i,
  output logic        box_out_ready_o,
  input  flit_t       box_out_i,
  input  logic        far_out_valid_i,
  output logic        far_out_ready_o,
  input  flit_t       far_out_i,
  // loader
  output logic        load_in_valid_o,
  input  logic        load_in_ready_i,
  output flit_t       load_in_o,
  input  logic        load_out_valid_i,
  output logic        load_out_ready_o,
  input  flit_t       load_out_i,
  // accelerator: in, out, faults of its memory accesses
  output logic        acc_in_valid_o,
  input  logic        acc_in_ready_i,
  output flit_t       acc_in_o,
  input  logic        acc_out_valid_i,
  output logic        acc_out_ready_o,
  input  flit_t       acc_out_i,
  input  logic        fault_valid_i,
  output logic        fault_ready_o,
  input  flit_t       fault_i,
  // DMA engine: its packets to loaders, the replies to it
  input  logic        dma_valid_i,
  output logic        dma_ready_o,
  input  flit_t       dma_i,
  output logic        dma_reply_valid_o,
  output flit_t       dma_reply_o,
  // a flit waits for loader or accelerator
  output logic        busy_o,
  // the accelerator sent a message to a destination that does not exist; packets that were rejected in this cycle
  output logic        acc_dropped_o,
  output logic [1:0]  dropped_o,
  // the rejected packet was a message of this job, which counts as received
  output logic        dropped_own_o,
  // the rejected packet was in the request network: reason and job
  output gs_idle_pkg::idle_drop_t drop_o
);
  // ------------------------------------------------------------ from network
  // The header selects the receiver of a request packet: loader, accelerator or none. Each flit is registered together
  // with this decision. A header for the accelerator waits in the register while it is of the next epoch.
  address_accelerator_t dest;
  logic here, everywhere, first_q, to_load, to_acc, to_load_q, to_acc_q, own_q, request_valid_q, request_go;
  logic request_taken, request_first_q, request_dropped, early, epoch_over, waited_job_over, waited_over;
  rejection_e why_q;
  logic acc_net_ready, acc_net_valid, load_net_ready, load_net_valid, reply_dropped;
  flit_t request_q;

  assign dest       = net_in_i.dest;
  assign here       = {dest.board, dest.tile_y, dest.tile_x} == {board_i, tile_y_i, tile_x_i};
  assign everywhere = {dest.board, dest.tile_y, dest.tile_x} == '1;
  assign to_load    = dest.kind == EndpointTile && (here || everywhere);
  // Valid messages are of this epoch or of the next.
  assign epoch_over = net_in_i.epoch - epoch_i > 2'd1;
  assign to_acc     = Accelerator && dest.kind == EndpointAccelerator && here && net_in_i.job == job_i
                     && !epoch_over;
  assign early      = to_acc_q && request_first_q && request_q.epoch != epoch_i;
  // A message that waited while the tile's job or epoch changed.
  assign waited_job_over = to_acc_q && request_first_q && request_q.job != job_i;
  assign waited_over     = waited_job_over || (to_acc_q && request_first_q && request_q.epoch - epoch_i > 2'd1);

  // ready depends on registers only, never on the incoming flit.
  assign request_go                  = to_load_q ? load_net_ready
                                     : !to_acc_q || waited_over || (acc_net_ready && !early);
  assign net_in_ready_o[VnetRequest] = !request_valid_q || request_go;
  assign request_taken               = net_in_valid_i[VnetRequest] && net_in_ready_o[VnetRequest];
  assign load_net_valid              = request_valid_q && to_load_q;
  assign acc_net_valid               = request_valid_q && to_acc_q && !early && !waited_over;
  assign busy_o                      = request_valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q         <= 1'b1;
      request_valid_q <= 1'b0;
    end else begin
      if (request_taken) first_q <= net_in_i.last;
      if (net_in_ready_o[VnetRequest]) request_valid_q <= net_in_valid_i[VnetRequest];
    end
    if (net_in_ready_o[VnetRequest]) begin
      request_q       <= net_in_i;
      request_first_q <= first_q;
    end
    // The rest of a message that waited in vain is dropped too.
    if (request_valid_q && waited_over) to_acc_q <= 1'b0;
    if (request_taken && first_q) begin
      own_q     <= dest.kind == EndpointAccelerator && net_in_i.job == job_i;
      to_load_q <= to_load;
      to_acc_q  <= to_acc;
      why_q     <= RejectionKind;
      if (dest.kind == EndpointAccelerator && net_in_i.job != job_i) why_q <= RejectionJob;
      else if (dest.kind == EndpointAccelerator && !here) why_q <= RejectionPlace;
      else if (dest.kind == EndpointAccelerator && epoch_over) why_q <= RejectionEpoch;
    end
  end

  assign net_in_ready_o[VnetReply]   = 1'b1;
  assign net_in_ready_o[VnetControl] = 1'b1;
  // A flit for neither of them is dropped in a cycle. A request is dropped a cycle after it arrives, so in the cycle of
  // a packet of another network.
  assign request_dropped = request_valid_q && request_first_q && !to_load_q && (!to_acc_q || waited_over);
  assign dropped_o       = 2'(request_dropped) + 2'(reply_dropped)
                         + 2'(net_in_valid_i[VnetControl] && net_in_i.last);
  assign dropped_own_o   = request_dropped && own_q && !waited_job_over;
  always_comb begin
    drop_o = '{valid: request_dropped, why: why_q, job: request_q.job};
    if (to_acc_q) drop_o.why = waited_job_over ? RejectionJob : RejectionEpoch;
  end

  // ------------------------------------------------------------------ DMA engine
  logic dma_net_valid, dma_net_ready, load_net_out_valid, load_net_out_ready;

  if (Dma) begin : gen_dma
    address_tile_t dma_dest;
    address_accelerator_t load_dest, reply_dest;
    logic dma_here, reply_here, load_here;
    logic [1:0] load_ready;
    logic [3:0] load_valid;

    // To the tile's own loader, or to the network
    assign dma_dest      = dma_i.dest;
    assign dma_here      = {dma_dest.board, dma_dest.tile_y, dma_dest.tile_x} == {board_i, tile_y_i, tile_x_i};
    assign dma_net_valid = dma_valid_i && !dma_here;
    assign dma_ready_o   = dma_here ? load_ready[1] : dma_net_ready;
    gs_packet_arbiter #(.N(2)) u_load (
      .clk_i,
      .rst_ni,
      .in_valid_i ({dma_valid_i && dma_here, load_net_valid}),
      .in_ready_o (load_ready),
      .in_i       ('{request_q, dma_i}),
      .out_valid_o(load_valid),
      .out_ready_i({4{load_in_ready_i}}),
      .out_o      (load_in_o)
    );
    assign load_in_valid_o = load_valid != '0;
    assign load_net_ready  = load_ready[0];

    // Replies to the DMA engine, one flit each; those of the network have priority.
    assign reply_dest         = net_in_i.dest;
    assign load_dest          = load_out_i.dest;
    assign reply_here         = net_in_valid_i[VnetReply] && net_in_i.kind == FlitKindHeader && net_in_i.last
                             && reply_dest.kind == EndpointAccelerator
                             && {reply_dest.board, reply_dest.tile_y, reply_dest.tile_x}
                             == {board_i, tile_y_i, tile_x_i};
    assign load_here          = load_dest.kind == EndpointAccelerator
                             && {load_dest.board, load_dest.tile_y, load_dest.tile_x} == {board_i, tile_y_i, tile_x_i};
    assign dma_reply_valid_o  = reply_here || (load_out_valid_i && load_here);
    assign dma_reply_o        = reply_here ? net_in_i : load_out_i;
    assign load_net_out_valid = load_out_valid_i && !load_here;
    assign load_out_ready_o   = load_here ? !reply_here : load_net_out_ready;
    assign reply_dropped      = net_in_valid_i[VnetReply] && net_in_i.last && !reply_here;
    logic unused_dma;
    assign unused_dma = ^{dma_dest, load_dest, reply_dest};
  end else begin : gen_no_dma
    assign load_in_valid_o    = load_net_valid;
    assign load_in_o          = request_q;
    assign load_net_ready     = load_in_ready_i;
    assign load_net_out_valid = load_out_valid_i;
    assign load_out_ready_o   = load_net_out_ready;
    assign reply_dropped      = net_in_valid_i[VnetReply] && net_in_i.last;
    assign dma_net_valid      = 1'b0;
    assign dma_ready_o        = 1'b0;
    assign dma_reply_valid_o  = 1'b0;
    assign dma_reply_o        = '0;
    logic unused_dma;
    assign unused_dma = ^{dma_valid_i, dma_i, dma_net_ready, dma_net_valid};
  end

  // ------------------------------------------------------------ accelerator
  logic far_net_valid, far_net_ready, acc_far_valid, acc_far_ready;
  flit_t acc_flit;

  if (Accelerator) begin : gen_accelerator
    address_accelerator_t far_dest;
    address_thread_t acc_dest;
    logic acc_here, acc_legal, acc_to_box, acc_drop;
    logic box_acc_ready;
    logic [1:0] ready_box, ready_acc;
    logic [3:0] box_valid, acc_valid;
    logic net_acc_valid, net_acc_ready, box_net_valid, box_net_ready;
    flit_t net_acc, box_net, box_flit, acc_in_flit;
    logic box_ready, acc_ready;

    // From the mailbox: to the tile's own accelerator, or to the network.
    assign far_dest = far_out_i.dest;
    logic far_acc;
    assign far_acc         = far_dest.kind == EndpointAccelerator
                          && {far_dest.board, far_dest.tile_y, far_dest.tile_x} == {board_i, tile_y_i, tile_x_i};
    assign far_net_valid   = far_out_valid_i && !far_acc;
    assign far_out_ready_o = far_acc ? ready_acc[1] : far_net_ready;

    // From the accelerator: to the tile's own mailbox, to the network, or dropped. The switch sets virtual network, job
    // and epoch of its flits.
    assign acc_dest = acc_out_i.dest;
    always_comb begin
      acc_flit       = acc_out_i;
      acc_flit.vnet  = vnet_of(acc_dest.kind);
      acc_flit.job   = job_i;
      acc_flit.epoch = epoch_i;
      acc_flit.wave  = wave_i;
    end
    assign acc_here = {acc_dest.board, acc_dest.tile_y, acc_dest.tile_x} == {board_i, tile_y_i, tile_x_i};
    always_comb begin
      acc_legal = acc_dest.spare == '0;
      unique case (acc_dest.kind)
        EndpointThread, EndpointTile, EndpointAccelerator: begin
          if (acc_dest.kind == EndpointThread && 32'(acc_dest.thread) >= ThreadsPerTile) acc_legal = 1'b0;
          if (Alone ? !acc_here : (13'(acc_dest.board) >= cluster_i.boards || 32'(acc_dest.tile_y) >= MeshHeight
                                   || 32'(acc_dest.tile_x) >= MeshWidth)) acc_legal = 1'b0;
        end
        EndpointHost: if (13'(acc_out_i.dest[25:14]) >= cluster_i.hosts) acc_legal = 1'b0;
        default: acc_legal = 1'b0;
      endcase
    end
    assign acc_to_box    = acc_here && acc_dest.kind inside {EndpointThread, EndpointTile};
    assign acc_drop      = acc_out_valid_i && !acc_legal;
    assign acc_far_valid = acc_out_valid_i && acc_legal && !acc_to_box;
    always_comb begin
      acc_out_ready_o = acc_far_ready;
      if (acc_to_box) acc_out_ready_o = box_acc_ready;
      if (!acc_legal) acc_out_ready_o = 1'b1;
    end
    assign acc_dropped_o = acc_drop && acc_out_i.last;

    // To the mailbox
    gs_skid #(.data_t(flit_t)) u_box_net (
      .clk_i,
      .rst_ni,
      .in_valid_i (net_in_valid_i[VnetMailbox]),
      .in_ready_o (net_in_ready_o[VnetMailbox]),
      .in_data_i  (net_in_i),
      .out_valid_o(box_net_valid),
      .out_ready_i(box_net_ready),
      .out_data_o (box_net)
    );
    gs_packet_arbiter #(.N(2)) u_box (
      .clk_i,
      .rst_ni,
      .in_valid_i ({acc_out_valid_i && acc_legal && acc_to_box, box_net_valid}),
      .in_ready_o (ready_box),
      .in_i       ('{box_net, acc_flit}),
      .out_valid_o(box_valid),
      .out_ready_i({4{box_ready}}),
      .out_o      (box_flit)
    );
    assign {box_acc_ready, box_net_ready} = ready_box;
    gs_skid #(.data_t(flit_t)) u_box_in (
      .clk_i,
      .rst_ni,
      .in_valid_i (box_valid != '0),
      .in_ready_o (box_ready),
      .in_data_i  (box_flit),
      .out_valid_o(box_in_valid_o),
      .out_ready_i(box_in_ready_i),
      .out_data_o (box_in_o)
    );

    // To the accelerator
    gs_skid #(.data_t(flit_t)) u_acc_net (
      .clk_i,
      .rst_ni,
      .in_valid_i (acc_net_valid),
      .in_ready_o (acc_net_ready),
      .in_data_i  (request_q),
      .out_valid_o(net_acc_valid),
      .out_ready_i(net_acc_ready),
      .out_data_o (net_acc)
    );
    gs_packet_arbiter #(.N(2)) u_acc (
      .clk_i,
      .rst_ni,
      .in_valid_i ({far_out_valid_i && far_acc, net_acc_valid}),
      .in_ready_o (ready_acc),
      .in_i       ('{net_acc, far_out_i}),
      .out_valid_o(acc_valid),
      .out_ready_i({4{acc_ready}}),
      .out_o      (acc_in_flit)
    );
    assign net_acc_ready = ready_acc[0];
    gs_skid #(.data_t(flit_t)) u_acc_in (
      .clk_i,
      .rst_ni,
      .in_valid_i (acc_valid != '0),
      .in_ready_o (acc_ready),
      .in_data_i  (acc_in_flit),
      .out_valid_o(acc_in_valid_o),
      .out_ready_i(acc_in_ready_i),
      .out_data_o (acc_in_o)
    );
    logic unused_here;
    assign unused_here = ^{far_dest.spare, far_dest.port, cluster_i.routers};
  end else begin : gen_no_accelerator
    assign box_in_valid_o              = net_in_valid_i[VnetMailbox];
    assign net_in_ready_o[VnetMailbox] = box_in_ready_i;
    assign box_in_o                    = net_in_i;
    assign far_net_valid               = far_out_valid_i;
    assign far_out_ready_o             = far_net_ready;
    assign acc_net_ready               = 1'b1;
    assign acc_in_valid_o              = 1'b0;
    assign acc_in_o                    = '0;
    assign acc_out_ready_o             = 1'b0;
    assign acc_far_valid               = 1'b0;
    assign acc_flit                    = '0;
    assign acc_dropped_o               = 1'b0;
    logic unused_accelerator;
    assign unused_accelerator = ^{acc_net_valid, acc_in_ready_i, acc_out_valid_i, acc_out_i, acc_far_ready, cluster_i,
                                  wave_i, job_i};
  end

  // -------------------------------------------------------------- to network
  // box_out and the accelerator send in the mailbox network; far_out, loader, faults, accelerator and DMA engine in the
  // others.
  localparam int unsigned NonDmaSources = Accelerator ? 5 : 3;
  localparam int unsigned Sources = Dma ? NonDmaSources + 1 : NonDmaSources;
  logic [Sources-1:0] out_valid, out_ready;
  flit_t out[Sources];
  assign out_valid[2:0] = {load_net_out_valid, far_net_valid, box_out_valid_i};
  assign {load_net_out_ready, far_net_ready, box_out_ready_o} = out_ready[2:0];
  assign out[0] = box_out_i;
  assign out[1] = far_out_i;
  assign out[2] = load_out_i;
  if (Accelerator) begin : gen_accelerator_out
    assign out_valid[4:3] = {fault_valid_i, acc_far_valid};
    assign {fault_ready_o, acc_far_ready} = out_ready[4:3];
    assign out[3] = acc_flit;
    assign out[4] = fault_i;
  end else begin : gen_no_accelerator_out
    assign {fault_ready_o, acc_far_ready} = '0;
    logic unused_out;
    assign unused_out = ^{fault_valid_i, fault_i, acc_far_valid, acc_flit};
  end
  if (Dma) begin : gen_dma_out
    assign out_valid[NonDmaSources] = dma_net_valid;
    assign dma_net_ready            = out_ready[NonDmaSources];
    assign out[NonDmaSources]       = dma_i;
  end else begin : gen_no_dma_out
    assign dma_net_ready = 1'b0;
  end

  gs_packet_arbiter #(.N(Sources)) u_out (
    .clk_i,
    .rst_ni,
    .in_valid_i (out_valid),
    .in_ready_o (out_ready),
    .in_i       (out),
    .out_valid_o(net_out_valid_o),
    .out_ready_i(net_out_ready_i),
    .out_o      (net_out_o)
  );

  logic unused_dest;
  assign unused_dest = ^{dest.spare, dest.port};
endmodule
