// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// An output of a mesh router: the owner of each of its virtual networks, credits, and the input whose flit leaves.
///
/// In each virtual network one input is the owner, and its packets may leave. When its packet ends, or while it has
/// none, ownership passes round-robin to the next input whose packet waits. A packet that no other input can contest
/// does not wait for ownership. So a flit that could leave (`able_o`) can leave until it does, and no input starves.
module gs_mesh_output
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  // For each input and network: its first flit wants this output, or may want it in the next cycle; the flit is the
  // last of its packet
  input  logic  [Directions-1:0][Vnets-1:0]     want_i,
  input  logic  [Directions-1:0][Vnets-1:0]     may_want_i,
  input  logic  [Directions-1:0][Vnets-1:0]     last_i,
  /// the flit could leave: the input owns the network or is uncontested, and there is a credit
  output logic  [Directions-1:0][Vnets-1:0]     able_o,
  /// the network of the flit that an input offers
  input  logic  [Directions-1:0][Vnets-1:0]     pick_i,
  /// the input whose flit leaves; one cycle later the flit is at `data_i`
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
    logic open_q, credit_q, ends, held, uncontested_q, several, one;
    logic [CountW-1:0] count_q, count_d;

    // ---------------------------------------------------------- ownership
    for (genvar i = 0; i < Directions; i++) begin : gen_input
      assign want[i]       = want_i[i][v];
      assign may_want[i]   = may_want_i[i][v];
      assign able[i]       = want[i] && credit_q && (owner_q[i] || (uncontested_q && !open_q));
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
        owner_q       <= dirs_t'(1);
        open_q        <= 1'b0;
        uncontested_q <= 1'b0;
      end else begin
        uncontested_q <= !several;
        if ((ends || !held) && next != '0) owner_q <= next;
        if (sent[v]) open_q <= !ends;
      end
    end

    // ------------------------------------------------------------- credits
    // The count lags by a cycle: it lacks the flit that leaves now. `credit_q` is exact, so a flit stays able to leave.
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

    `GS_ASSERT_NOW(uncontested_network_has_at_most_one_requester, !uncontested_q || $onehot0(want))
    `GS_ASSERT_NOW(every_network_has_one_owner, $onehot(owner_q))
    `GS_ASSERT_NOW(flits_leave_only_with_a_credit, !sent[v] || count_q > CountW'(sent_q[v]))
    `GS_ASSERT_NOW(only_used_credits_return, count_q < CountW'(MeshBufferFlits) || !out_credit_i[v])
    `GS_ASSERT_NOW(packets_are_not_interleaved, !open_q || (leaves & ~owner_q) == '0)
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

  `GS_ASSERT_NOW(at_most_one_network_sends, $onehot0(sent))
endmodule
