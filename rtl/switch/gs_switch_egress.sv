// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Egress of the board switch: chooses among the offers for this port, and keeps granted packets by channel.
///
///     offers -> arbiter -> grant          flits of the granted ingress -> RAM, a region a channel -> out
///                                                                     \-------- if it is empty -/
///
/// A packet is granted only when its channel has room for the longest: inside the switch a packet never stops, and
/// a channel that is not emptied stops no other. An ingress that goes on offering keeps the port for `burst_i` flits
/// (SMI's R); then it is the next one's turn. What that leaves out is served by `gs_switch_starvation_guard`. A circuit
/// (`gs_circuit`) keeps its channel for one ingress, whatever R is.
module gs_switch_egress
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  /// ports of the switch
  parameter int unsigned Ports  = 4,
  /// number of this one
  parameter int unsigned Here   = 0,
  /// virtual channels that leave here: 1 or SwitchVcs
  parameter int unsigned Vcs    = SwitchVcs,
  /// flits of the longest packet
  parameter int unsigned MaxFlits = FabricMaxFlits,
  /// flits that a channel holds: a power of two, at least MaxFlits
  parameter int unsigned Region = 64,
  /// credits to begin with, a channel: places that the receiver has
  parameter int unsigned Window = 8,
  /// there are circuits
  parameter bit          Circuits = 0
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  /// flits for which an ingress keeps the port; 0 as 1
  input  logic [7:0]             burst_i,
  // The channel whose heads are shown now, and the last cycle of that
  input  channel_t               window_i,
  input  logic                   closes_i,
  // Offers of all ingresses, those for this port are granted
  input  logic [Ports-1:0]       offer_valid_i,
  input  waiting_t               offer_i[Ports],
  input  logic [Ports-1:0]       shown_valid_i,
  input  shown_t                 shown_i[Ports],
  output logic [Ports-1:0]       grant_o,
  output channels_t              room_o,
  // What ingresses read, a cycle behind their grants
  input  flit_t                  data_i[Ports],
  // Flits out, a credit back for each place that is free again
  output channels_t              valid_o,
  output flit_t                  flit_o,
  input  channels_t              credit_i,
  // Nothing is inside
  output logic                   empty_o
);
  localparam int unsigned RegionW = $clog2(Region);
  localparam int unsigned Places = 4 * Vcs;
  localparam int unsigned PlaceW = $clog2(Places);
  localparam int unsigned CreditW = $clog2(Window + 1);
  localparam int unsigned PortW = (Ports > 1) ? $clog2(Ports) : 1;
  typedef logic [PlaceW-1:0] place_t;

  if (Region != 1 << RegionW || Region < MaxFlits) begin : gen_illegal_region
    $fatal(1, "gs_switch_egress: Region is %0d; it must be a power of two of at least %0d flits", Region,
           MaxFlits);
  end
  if (Vcs != 1 && Vcs != SwitchVcs) begin : gen_illegal_vcs
    $fatal(1, "gs_switch_egress: Vcs is %0d; it must be 1 or %0d", Vcs, SwitchVcs);
  end

  // Without virtual channels here, those of a network are one.
  function automatic place_t place_of(channel_t channel);
    return place_t'(Vcs == 1 ? channel >> SwitchVcBits : channel);
  endfunction

  // ---------------------------------------------------------------- grant
  logic [Places-1:0] room;
  logic [Ports-1:0] offered, asks, grant, shown;
  logic [PortW-1:0] chosen, from_q, owner_q, due_from;
  logic [SwitchLengthW-1:0] left_q, taken;
  logic [8:0] burst_q, burst;
  logic advance, feeds_q;
  place_t to_q, chosen_place, due_place;
  place_t [Ports-1:0] shown_at;
  logic [Places-1:0] kept;
  logic due, turns_busy, clk;

  logic circuit, more, held;
  logic [PortW-1:0] holder;
  place_t held_at;
  always_comb begin
    for (int unsigned i = 0; i < Ports; i++) begin
      offered[i]  = offer_valid_i[i] && 32'(offer_i[i].port) == Here;
      asks[i]     = offered[i] && left_q == '0 &&
                    (due ? due_from == PortW'(i) && due_place == place_of(offer_i[i].channel)
                         : room[place_of(offer_i[i].channel)] && !kept[place_of(offer_i[i].channel)] &&
                           !(held && place_of(offer_i[i].channel) == held_at && holder != PortW'(i)));
      shown[i]    = shown_valid_i[i] && 32'(shown_i[i].port) == Here;
      shown_at[i] = place_of(shown_i[i].channel);
    end
  end
  gs_switch_starvation_guard #(
    .Ports (Ports),
    .Places(Places)
  ) u_starvation_guard (
    .clk_i      (clk),
    .rst_ni,
    .network_i  (vnet_e'(window_i >> SwitchVcBits)),
    .closes_i,
    .shown_i    (shown),
    .at_i       (shown_at),
    .room_i     (room),
    .held_i     (held ? Places'(1) << held_at : '0),
    .granted_i  (grant != '0),
    .from_i     (chosen),
    .to_i       (chosen_place),
    // A burst ends with the packet that reaches R, or with another ingress' packet.
    .passes_i   (grant != '0 && (advance || (chosen != owner_q && burst_q != '0))),
    .kept_o     (kept),
    .due_o      (due),
    .due_from_o (due_from),
    .due_place_o(due_place),
    .busy_o     (turns_busy)
  );
  if (Circuits) begin : gen_circuits
    gs_circuit #(
      .N       (Ports),
      .Channels(Places)
    ) u_circuit (
      .clk_i    (clk),
      .rst_ni,
      .grant_i  (grant != '0),
      .from_i   (chosen),
      .at_i     (chosen_place),
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
    .req_i    (asks),
    .gnt_o    (grant),
    .idx_o    (chosen),
    .advance_i(advance)
  );
  always_comb begin
    taken        = '0;
    chosen_place = '0;
    circuit      = 1'b0;
    more         = 1'b0;
    for (int unsigned i = 0; i < Ports; i++) begin
      if (grant[i]) begin
        taken        |= offer_i[i].flits;
        chosen_place |= place_of(offer_i[i].channel);
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
      to_q   <= chosen_place;
    end
  end

  // ------------------------------------------------------------- crossbar
  logic in_valid_q;
  place_t in_at_q;
  flit_t in_q;
  always_ff @(posedge clk) begin
    in_valid_q <= rst_ni && feeds_q;
    in_at_q    <= to_q;
    in_q       <= data_i[from_q];
  end

  // -------------------------------------------------------------- storage
  logic [Places-1:0][RegionW-1:0] write_q, read_q;
  logic [Places-1:0] filled, sends, direct_to, stored_to;
  logic [Places-1:0][CreditW-1:0] credits_q;
  place_t sends_at, out_at_q;
  logic direct, reading_q, out_valid_q;
  place_t reading_at_q;
  flit_t stored, out_q;

  gs_ram_sdp #(
    .Width($bits(flit_t)),
    .Depth(Places * Region),
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

  logic [Places-1:0] asks_out;
  gs_arbiter #(.N(Places)) u_out (
    .clk_i    (clk),
    .rst_ni,
    .req_i    (asks_out),
    .gnt_o    (sends),
    .idx_o    (sends_at),
    .advance_i(1'b1)
  );
  // Past the RAM when the channel's is empty, nothing comes from the RAM now, and the receiver has a place.
  assign direct = in_valid_q && !filled[in_at_q] && !reading_q && credits_q[in_at_q] != '0;

  for (genvar p = 0; p < Places; p++) begin : gen_place
    localparam int unsigned Channel = p * (SwitchVcs / Vcs);
    logic [RegionW:0] stored_q, free_q;
    logic gone;
    assign filled[p] = stored_q != '0;
    assign asks_out[p] = filled[p] && credits_q[p] != '0;
    assign direct_to[p] = direct && in_at_q == place_t'(p);
    assign stored_to[p] = in_valid_q && !direct && in_at_q == place_t'(p);
    assign gone = sends[p] || direct_to[p];
    assign room[p] = free_q >= (RegionW + 1)'(MaxFlits);
    always_ff @(posedge clk) begin
      if (!rst_ni) begin
        stored_q     <= '0;
        free_q       <= (RegionW + 1)'(Region);
        credits_q[p] <= CreditW'(Window);
        write_q[p]   <= '0;
        read_q[p]    <= '0;
      end else begin
        stored_q     <= stored_q + (RegionW + 1)'(stored_to[p]) - (RegionW + 1)'(sends[p]);
        credits_q[p] <= credits_q[p] + CreditW'(credit_i[Channel]) - CreditW'(gone);
        free_q       <= free_q + (RegionW + 1)'(gone) -
                        (grant != '0 && chosen_place == place_t'(p) ? (RegionW + 1)'(taken) : '0);
        if (stored_to[p]) write_q[p] <= write_q[p] + RegionW'(1);
        if (sends[p]) read_q[p] <= read_q[p] + RegionW'(1);
      end
    end
    `GS_ASSERT_NOW(a_channel_does_not_overflow, !stored_to[p] || stored_q != (RegionW + 1)'(Region))
    `GS_ASSERT_NOW(every_place_is_accounted_for,
                   32'(free_q) + 32'(stored_q) + (to_q == place_t'(p) ? 32'(left_q) + 32'(feeds_q) : 0) +
                   32'(in_valid_q && in_at_q == place_t'(p)) == Region)
    `GS_ASSERT_NOW(credits_come_back_once, !credit_i[Channel] || credits_q[p] != CreditW'(Window))
    `GS_ASSERT_NOW(a_packet_is_granted_only_with_room,
                   grant == '0 || chosen_place != place_t'(p) || free_q >= (RegionW + 1)'(taken))
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
    room_o = '0;
    for (int unsigned c = 0; c < SwitchChannels; c++) room_o[c] = room[place_of(channel_t'(c))];
  end
  assign flit_o = out_q;

  always_ff @(posedge clk) begin
    empty_o <= rst_ni && grant == '0 && left_q == '0 && !feeds_q && !in_valid_q && filled == '0 && !reading_q &&
               !out_valid_q;
  end

  // It sleeps while nothing is offered or shown for here, nothing is inside, no credit comes, and no circuit is held,
  // which measures time.
  gs_clock_gate u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(offered != '0 || shown != '0 || turns_busy || held || left_q != '0 || feeds_q || in_valid_q ||
            filled != '0 || reading_q || out_valid_q || credit_i != '0),
    .clk_o (clk)
  );

  for (genvar i = 0; i < Ports; i++) begin : gen_offer
    `GS_ASSERT_NOW(what_is_due_and_offered_is_granted,
                   !due || left_q != '0 || due_from != PortW'(i) || !offer_valid_i[i] ||
                   32'(offer_i[i].port) != Here || place_of(offer_i[i].channel) != due_place || grant[i])
  end
  `GS_ASSERT_NOW(one_ingress_is_granted, (grant & (grant - Ports'(1))) == '0)
endmodule
