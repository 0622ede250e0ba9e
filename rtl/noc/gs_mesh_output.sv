// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// An output of a mesh router: who owns each virtual network of it, credits, and the input whose flit leaves.
///
/// In each virtual network one input is the owner, and its packets may leave. When its packet ends, or while it has
/// none, ownership goes in turn to the next input whose packet waits; a packet that no other can meet need not wait
/// for that. So what could leave (`able_o`) can leave until it does, and nobody starves.
module gs_mesh_output
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  // Of each input and network: its first flit is for this output, or may be in the next cycle; that flit is the last of
  // its packet
  input  logic  [Directions-1:0][Vnets-1:0]     want_i,
  input  logic  [Directions-1:0][Vnets-1:0]     may_want_i,
  input  logic  [Directions-1:0][Vnets-1:0]     last_i,
  /// it could leave: the network is the input's, and there is a credit
  output logic  [Directions-1:0][Vnets-1:0]     able_o,
  /// the network of the flit that an input offers
  input  logic  [Directions-1:0][Vnets-1:0]     pick_i,
  /// the input whose flit leaves; one cycle later it is at `data_i`
  output dirs_t                                 grant_o,
  input  flit_t [Directions-1:0]                data_i,
  // link
  output logic  [Vnets-1:0]                     out_valid_o,
  output flit_t                                 out_o,
  input  logic  [Vnets-1:0]                     out_credit_i
);
  localparam int unsigned CountW = $clog2(MeshBufferFlits + 1);

  logic [Vnets-1:0] sent, sent_q, out_valid_q;
  dirs_t req, from_q;
  flit_t out_q, out_d;

  for (genvar v = 0; v < Vnets; v++) begin : gen_vnet
    dirs_t want, able, leaves, next, owner_q;
    dirs_t may_want;
    logic open_q, credit_q, ends, held, alone_q, several, one;
    logic [CountW-1:0] count_q, count_d;

    // ---------------------------------------------------------- ownership
    for (genvar i = 0; i < Directions; i++) begin : gen_input
      assign want[i]       = want_i[i][v];
      assign may_want[i]   = may_want_i[i][v];
      assign able[i]       = want[i] && credit_q && (owner_q[i] || (alone_q && !open_q));
      assign able_o[i][v]  = able[i];
      assign leaves[i]     = grant_o[i] && pick_i[i][v];
    end

    gs_rr_pick #(.N(Directions)) u_next (
      .clk_i,
      .rst_ni,
      .current_i(owner_q),
      .req_i    (want),
      .next_o   (next)
    );

    always_comb begin
      ends = 1'b0;
      for (int unsigned i = 0; i < Directions; i++) if (leaves[i] && last_i[i][v]) ends = 1'b1;
    end
    always_comb begin
      {several, one} = '0;
      for (int unsigned i = 0; i < Directions; i++) begin
        several |= one && may_want[i];
        one |= may_want[i];
      end
    end
    assign sent[v] = leaves != '0;
    assign held    = open_q || (want & owner_q) != '0;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        owner_q <= dirs_t'(1);
        open_q  <= 1'b0;
        alone_q <= 1'b0;
      end else begin
        alone_q <= !several;
        if ((ends || !held) && next != '0) owner_q <= next;
        if (sent[v]) open_q <= !ends;
      end
    end

    // ------------------------------------------------------------- credits
    // The count is a cycle late: it lacks what leaves now. `credit_q` is exact, so that what can leave stays so.
    assign count_d = count_q - CountW'(sent_q[v]) + CountW'(out_credit_i[v]);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        count_q  <= CountW'(MeshBufferFlits);
        credit_q <= 1'b1;
      end else begin
        count_q  <= count_d;
        credit_q <= count_d > CountW'(1) || (count_d == CountW'(1) && !sent[v]);
      end
    end

    `GS_ASSERT_NOW(whoever_is_alone_is_so, !alone_q || $onehot0(want))
    `GS_ASSERT_NOW(a_network_has_one_owner, $onehot(owner_q))
    `GS_ASSERT_NOW(a_flit_leaves_only_with_a_credit, !sent[v] || count_q > CountW'(sent_q[v]))
    `GS_ASSERT_NOW(no_credit_comes_that_was_not_used, count_q < CountW'(MeshBufferFlits) || !out_credit_i[v])
    `GS_ASSERT_NOW(no_packet_enters_another, !open_q || (leaves & ~owner_q) == '0)
  end

  // ---------------------------------------------------------------- switch
  always_comb begin
    for (int unsigned i = 0; i < Directions; i++) req[i] = (able_o[i] & pick_i[i]) != '0;
  end

  gs_arbiter_lrg #(.N(Directions)) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i(req),
    .gnt_o(grant_o)
  );

  always_comb begin
    out_d = '0;
    for (int unsigned i = 0; i < Directions; i++) if (from_q[i]) out_d |= data_i[i];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sent_q      <= '0;
      out_valid_q <= '0;
    end else begin
      sent_q      <= sent;
      out_valid_q <= sent_q;
    end
    from_q <= grant_o;
    if (sent_q != '0) out_q <= out_d;
  end
  assign out_valid_o = out_valid_q;
  assign out_o       = out_q;

  `GS_ASSERT_NOW(a_flit_is_of_one_network, $onehot0(sent))
endmodule
