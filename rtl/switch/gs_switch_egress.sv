// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Egress of the board switch: chooses among the offers for this port, and stores granted packets by channel.
///
///     offers -> arbiter -> grant          flits of the granted ingress -> RAM, a region a channel -> out
///                                                                     \---- if the RAM is empty -/
///
/// A packet is granted only when its channel has space for the longest packet: so a packet never stops inside the
/// switch, and a channel that is not drained blocks no other. An ingress that keeps offering keeps the port for
/// `burst_i` flits (R of the SMI paper); then the next one is served. `gs_switch_starvation_guard` serves packets that
/// this order omits. A circuit (`gs_circuit`) keeps its channel for one ingress, whatever R is.
module gs_switch_egress
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  /// ports of the switch
  parameter int unsigned Ports  = 4,
  /// number of this port
  parameter int unsigned Here   = 0,
  /// virtual channels that leave here: 1 or SwitchVcs
  parameter int unsigned Vcs    = SwitchVcs,
  /// flits of the longest packet
  parameter int unsigned MaxFlits = FabricMaxFlits,
  /// flits that a channel can hold: a power of two, at least MaxFlits
  parameter int unsigned Region = 64,
  /// initial credits of a channel: the receiver's slots
  parameter int unsigned Window = 8,
  /// circuits are supported
  parameter bit          Circuits = 0
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  /// flits for which an ingress keeps the port; 0 as 1
  input  logic [7:0]             burst_i,
  // The channel whose heads are shown now, and the last cycle of its window
  input  channel_t               window_i,
  input  logic                   closes_i,
  // Offers of all ingresses; those for this port may be granted
  input  logic [Ports-1:0]       offer_valid_i,
  input  waiting_t               offer_i[Ports],
  input  logic [Ports-1:0]       shown_valid_i,
  input  shown_t                 shown_i[Ports],
  output logic [Ports-1:0]       grant_o,
  output channels_t              space_o,
  // Flits that ingresses read, one cycle after their grants
  input  flit_t                  data_i[Ports],
  // Flits out, and one credit back for each slot that becomes free
  output channels_t              valid_o,
  output flit_t                  flit_o,
  input  channels_t              credit_i,
  // No flit is inside
  output logic                   empty_o
);
  localparam int unsigned RegionW = $clog2(Region);
  localparam int unsigned Lanes = 4 * Vcs;
  localparam int unsigned LaneW = $clog2(Lanes);
  localparam int unsigned CreditW = $clog2(Window + 1);
  localparam int unsigned PortW = (Ports > 1) ? $clog2(Ports) : 1;
  typedef logic [LaneW-1:0] lane_t;

  if (Region != 1 << RegionW || Region < MaxFlits) begin : gen_illegal_region
    $fatal(1, "gs_switch_egress: Region is %0d; it must be a power of two of at least %0d flits", Region,
           MaxFlits);
  end
  if (Vcs != 1 && Vcs != SwitchVcs) begin : gen_illegal_vcs
    $fatal(1, "gs_switch_egress: Vcs is %0d; it must be 1 or %0d", Vcs, SwitchVcs);
  end

  // A lane is a channel as stored here: without virtual channels all channels of a network share one lane.
  function automatic lane_t lane_of(channel_t channel);
    return lane_t'(Vcs == 1 ? channel >> SwitchVcBits : channel);
  endfunction

  // ---------------------------------------------------------------- grant
  logic [Lanes-1:0] space;
  logic [Ports-1:0] offered, requests, grant, shown;
  logic [PortW-1:0] chosen, from_q, owner_q, due_from;
  logic [SwitchLengthW-1:0] left_q, taken;
  logic [8:0] burst_q, burst;
  logic advance, feeds_q;
  lane_t to_q, chosen_lane, due_lane;
  lane_t [Ports-1:0] shown_at;
  logic [Lanes-1:0] reserved;
  logic due, guard_busy, clk;

  logic circuit, more, held;
  logic [PortW-1:0] holder;
  lane_t held_at;
  always_comb begin
    for (int unsigned i = 0; i < Ports; i++) begin
      offered[i]  = offer_valid_i[i] && 32'(offer_i[i].port) == Here;
      requests[i]     = offered[i] && left_q == '0 &&
                    (due ? due_from == PortW'(i) && due_lane == lane_of(offer_i[i].channel)
                         : space[lane_of(offer_i[i].channel)] && !reserved[lane_of(offer_i[i].channel)] &&
                           !(held && lane_of(offer_i[i].channel) == held_at && holder != PortW'(i)));
      shown[i]    = shown_valid_i[i] && 32'(shown_i[i].port) == Here;
      shown_at[i] = lane_of(shown_i[i].channel);
    end
  end
  gs_switch_starvation_guard #(
    .Ports(Ports),
    .Lanes(Lanes)
  ) u_starvation_guard (
    .clk_i      (clk),
    .rst_ni,
    .network_i  (vnet_e'(window_i >> SwitchVcBits)),
    .closes_i,
    .shown_i    (shown),
    .at_i       (shown_at),
    .space_i    (space),
    .held_i     (held ? Lanes'(1) << held_at : '0),
    .granted_i  (grant != '0),
    .from_i     (chosen),
    .to_i       (chosen_lane),
    // A burst ends with the packet that reaches R, or with a packet of another ingress.
    .burst_end_i(grant != '0 && (advance || (chosen != owner_q && burst_q != '0))),
    .reserved_o (reserved),
    .due_o      (due),
    .due_from_o (due_from),
    .due_lane_o (due_lane),
    .busy_o     (guard_busy)
  );
  if (Circuits) begin : gen_circuits
    gs_circuit #(
      .N       (Ports),
      .Channels(Lanes)
    ) u_circuit (
      .clk_i    (clk),
      .rst_ni,
      .grant_i  (grant != '0),
      .from_i   (chosen),
      .at_i     (chosen_lane),
      .circuit_i(circuit),
      .more_i   (more),
      .held_o   (held),
      .holder_o (holder),
      .at_o     (held_at)
    );
  end else begin : gen_packets
    logic unused;
    assign held = 1'b0;
    assign holder = '0;
    assign held_at = '0;
    assign unused = circuit ^ more;
  end
  gs_arbiter #(.N(Ports)) u_arbiter (
    .clk_i    (clk),
    .rst_ni,
    .req_i    (requests),
    .gnt_o    (grant),
    .idx_o    (chosen),
    .advance_i(advance)
  );
  always_comb begin
    taken       = '0;
    chosen_lane = '0;
    circuit     = 1'b0;
    more        = 1'b0;
    for (int unsigned i = 0; i < Ports; i++) begin
      if (grant[i]) begin
        taken        |= offer_i[i].flits;
        chosen_lane |= lane_of(offer_i[i].channel);
        circuit      |= offer_i[i].circuit;
        more         |= offer_i[i].more;
      end
    end
    burst   = (chosen == owner_q ? burst_q : '0) + 9'(taken);
    advance = burst >= 9'(burst_i);
  end
  assign grant_o = grant;

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      left_q  <= '0;
      burst_q <= '0;
      feeds_q <= 1'b0;
      owner_q <= '0;
    end else begin
      feeds_q <= grant != '0 || left_q != '0;
      if (grant != '0) begin
        left_q  <= taken - SwitchLengthW'(1);
        owner_q <= chosen;
        burst_q <= advance ? '0 : burst;
      end else if (left_q != '0) begin
        left_q <= left_q - SwitchLengthW'(1);
      end
    end
    if (grant != '0) begin
      from_q <= chosen;
      to_q   <= chosen_lane;
    end
  end

  // ------------------------------------------------------------- crossbar
  logic in_valid_q;
  lane_t in_at_q;
  flit_t in_q;
  always_ff @(posedge clk) begin
    in_valid_q <= rst_ni && feeds_q;
    in_at_q    <= to_q;
    in_q       <= data_i[from_q];
  end

  // -------------------------------------------------------------- storage
  logic [Lanes-1:0][RegionW-1:0] write_q, read_q;
  logic [Lanes-1:0] filled, sends, direct_to, stored_to;
  logic [Lanes-1:0][CreditW-1:0] credits_q;
  lane_t sends_at, out_at_q;
  logic direct, reading_q, out_valid_q;
  lane_t reading_at_q;
  flit_t stored, out_q;

  gs_ram_sdp #(
    .Width($bits(flit_t)),
    .Depth(Lanes * Region),
    .Style("block")
  ) u_flits (
    .clk_i  (clk),
    .we_i   (in_valid_q && !direct),
    .wstrb_i(1'b1),
    .waddr_i({in_at_q, write_q[in_at_q]}),
    .wdata_i(in_q),
    .re_i   (1'b1),
    .raddr_i({sends_at, read_q[sends_at]}),
    .rdata_o(stored)
  );

  logic [Lanes-1:0] requests_out;
  gs_arbiter #(.N(Lanes)) u_out (
    .clk_i    (clk),
    .rst_ni,
    .req_i    (requests_out),
    .gnt_o    (sends),
    .idx_o    (sends_at),
    .advance_i(1'b1)
  );
  // A flit bypasses the RAM if its lane is empty, no flit is read from the RAM now, and the receiver has a free slot.
  assign direct = in_valid_q && !filled[in_at_q] && !reading_q && credits_q[in_at_q] != '0;

  for (genvar p = 0; p < Lanes; p++) begin : gen_lane
    localparam int unsigned Channel = p * (SwitchVcs / Vcs);
    logic [RegionW:0] stored_q, free_q;
    logic leaves;
    assign filled[p] = stored_q != '0;
    assign requests_out[p] = filled[p] && credits_q[p] != '0;
    assign direct_to[p] = direct && in_at_q == lane_t'(p);
    assign stored_to[p] = in_valid_q && !direct && in_at_q == lane_t'(p);
    assign leaves = sends[p] || direct_to[p];
    assign space[p] = free_q >= (RegionW + 1)'(MaxFlits);
    always_ff @(posedge clk) begin
      if (!rst_ni) begin
        stored_q     <= '0;
        free_q       <= (RegionW + 1)'(Region);
        credits_q[p] <= CreditW'(Window);
        write_q[p]   <= '0;
        read_q[p]    <= '0;
      end else begin
        stored_q     <= stored_q + (RegionW + 1)'(stored_to[p]) - (RegionW + 1)'(sends[p]);
        credits_q[p] <= credits_q[p] + CreditW'(credit_i[Channel]) - CreditW'(leaves);
        free_q       <= free_q + (RegionW + 1)'(leaves) -
                        (grant != '0 && chosen_lane == lane_t'(p) ? (RegionW + 1)'(taken) : '0);
        if (stored_to[p]) write_q[p] <= write_q[p] + RegionW'(1);
        if (sends[p]) read_q[p] <= read_q[p] + RegionW'(1);
      end
    end
    `GS_ASSERT_NOW(pointers_differ_by_the_stored_flits, RegionW'(write_q[p] - read_q[p]) == RegionW'(stored_q))
    `GS_ASSERT_NOW(lanes_do_not_overflow, !stored_to[p] || stored_q != (RegionW + 1)'(Region))
    `GS_ASSERT_NOW(slots_are_all_accounted_for,
                   32'(free_q) + 32'(stored_q) + (to_q == lane_t'(p) ? 32'(left_q) + 32'(feeds_q) : 0) +
                   32'(in_valid_q && in_at_q == lane_t'(p)) == Region)
    `GS_ASSERT_NOW(credits_return_once, !credit_i[Channel] || credits_q[p] != CreditW'(Window))
    `GS_ASSERT_NOW(packets_are_granted_only_with_space,
                   grant == '0 || chosen_lane != lane_t'(p) || free_q >= (RegionW + 1)'(taken))
  end

  always_ff @(posedge clk) begin
    reading_q    <= rst_ni && sends != '0;
    reading_at_q <= sends_at;
    out_valid_q  <= rst_ni && (reading_q || direct);
    out_at_q     <= reading_q ? reading_at_q : in_at_q;
    out_q        <= reading_q ? stored : in_q;
  end

  always_comb begin
    valid_o = '0;
    if (out_valid_q) valid_o[Vcs == 1 ? channel_t'(32'(out_at_q) << SwitchVcBits) : channel_t'(out_at_q)] = 1'b1;
    space_o = '0;
    for (int unsigned c = 0; c < SwitchChannels; c++) space_o[c] = space[lane_of(channel_t'(c))];
  end
  assign flit_o = out_q;

  always_ff @(posedge clk) begin
    empty_o <= rst_ni && grant == '0 && left_q == '0 && !feeds_q && !in_valid_q && filled == '0 && !reading_q &&
               !out_valid_q;
  end

  // The clock stops while no packet is offered or shown for this port, none is inside, no credit arrives, and no
  // circuit is held (a held circuit measures time).
  gs_clock_gate u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(offered != '0 || shown != '0 || guard_busy || held || left_q != '0 || feeds_q || in_valid_q ||
            filled != '0 || reading_q || out_valid_q || credit_i != '0),
    .clk_o (clk)
  );

  for (genvar i = 0; i < Ports; i++) begin : gen_offer
    `GS_ASSERT_NOW(due_packets_are_granted_when_offered,
                   !due || left_q != '0 || due_from != PortW'(i) || !offer_valid_i[i] ||
                   32'(offer_i[i].port) != Here || lane_of(offer_i[i].channel) != due_lane || grant[i])
  end
  `GS_ASSERT_NOW(at_most_one_ingress_is_granted, (grant & (grant - Ports'(1))) == '0)
  `GS_ASSERT_NOW(sent_flit_is_not_read_while_it_is_written, !(u_flits.collides && sends != '0))
endmodule
