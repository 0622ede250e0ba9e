// SPDX-License-Identifier: Apache-2.0

/// Brings the requests of a tile's cores, its debug bus and its accelerator to cache, mailbox and control unit.
///
/// Every source has a gs_route_port of its own; every unit takes one request a cycle, round robin. The mailbox also
/// reports what it cannot do; those reports join the requests of the control unit as traps, taking turns with all of
/// them: who is granted among seven would take too long to decide.
module gs_route
  import gs_tile_pkg::*;
#(
  /// sources of requests: cores first
  parameter int unsigned Sources = TileCores
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic     [Sources-1:0]    in_valid_i,
  output logic     [Sources-1:0]    in_ready_o,
  input  request_t                  in_i[Sources],
  output logic     [TileCaches-1:0] cache_valid_o,
  input  logic     [TileCaches-1:0] cache_ready_i,
  output routed_t                   cache_o[TileCaches],
  output logic                      mailbox_valid_o,
  input  logic                      mailbox_ready_i,
  output routed_t                   mailbox_o,
  output logic                      control_valid_o,
  input  logic                      control_ready_i,
  output routed_t                   control_o,
  /// reports of the mailbox
  input  logic                      late_valid_i,
  output logic                      late_ready_o,
  input  late_trap_t                late_i
);
  logic    [Sources-1:0][TileCaches-1:0] cache_valid, cache_ready;
  logic    [Sources-1:0]                 mailbox_valid, mailbox_ready;
  logic    [Sources-1:0]                 control_valid, control_ready;
  routed_t                               routed[Sources];

  for (genvar s = 0; s < Sources; s++) begin : gen_port
    gs_route_port #(
      .Guarded(s < TileCores)
    ) u_port (
      .clk_i,
      .rst_ni,
      .in_valid_i     (in_valid_i[s]),
      .in_ready_o     (in_ready_o[s]),
      .in_i           (in_i[s]),
      .cache_valid_o  (cache_valid[s]),
      .mailbox_valid_o(mailbox_valid[s]),
      .control_valid_o(control_valid[s]),
      .cache_ready_i  (cache_ready[s]),
      .mailbox_ready_i(mailbox_ready[s]),
      .control_ready_i(control_ready[s]),
      .out_o          (routed[s])
    );
  end

  for (genvar c = 0; c < TileCaches; c++) begin : gen_cache
    logic [Sources-1:0] valid, ready;
    for (genvar s = 0; s < Sources; s++) begin : gen_source
      assign valid[s]          = cache_valid[s][c];
      assign cache_ready[s][c] = ready[s];
    end
    gs_route_merge #(.N(Sources)) u_merge (
      .clk_i,
      .rst_ni,
      .in_valid_i (valid),
      .in_ready_o (ready),
      .in_i       (routed),
      .out_valid_o(cache_valid_o[c]),
      .out_ready_i(cache_ready_i[c]),
      .out_o      (cache_o[c])
    );
  end

  gs_route_merge #(.N(Sources)) u_mailbox (
    .clk_i,
    .rst_ni,
    .in_valid_i (mailbox_valid),
    .in_ready_o (mailbox_ready),
    .in_i       (routed),
    .out_valid_o(mailbox_valid_o),
    .out_ready_i(mailbox_ready_i),
    .out_o      (mailbox_o)
  );

  // Requests for the control unit, and the mailbox's reports
  logic    [1:0] told_valid, told_ready;
  routed_t       told[2];

  gs_route_merge #(.N(Sources)) u_asked (
    .clk_i,
    .rst_ni,
    .in_valid_i (control_valid),
    .in_ready_o (control_ready),
    .in_i       (routed),
    .out_valid_o(told_valid[0]),
    .out_ready_i(told_ready[0]),
    .out_o      (told[0])
  );

  assign told_valid[1] = late_valid_i;
  assign late_ready_o  = told_ready[1];
  assign told[1]       = '{op: XTrap, thread: late_i.thread, addr: {late_i.cause, PcUnknown}, data: late_i.addr,
                           default: '0};

  gs_route_merge #(.N(2)) u_control (
    .clk_i,
    .rst_ni,
    .in_valid_i (told_valid),
    .in_ready_o (told_ready),
    .in_i       (told),
    .out_valid_o(control_valid_o),
    .out_ready_i(control_ready_i),
    .out_o      (control_o)
  );
endmodule
