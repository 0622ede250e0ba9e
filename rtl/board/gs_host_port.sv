// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Port of a host at the board's switch: converts streams of the host to channels with credits, and takes part in idle
/// detection.
///
///     host =>[ credits ]=>[ buffers ]=> gate =>[ register ]=> switch
///     host <=[ register ]<=[ buffers ]<= switch
///
/// A message (a packet whose head flit is not of kind header) waits at the gate until idle detection of its job is
/// open, and passes with the epoch and the colour of that moment; it is counted before the hold falls. Messages to the
/// host are counted when they have left. Each virtual network has its own gate and buffers: none waits for
/// another. A message of a job without a slot on this board cannot be counted, and is dropped; so are the end of a
/// packet that is too long, and a packet that receivers would count otherwise than this port (`host_may_send`).
module gs_host_port
  import gs_board_pkg::job_slot_t;
  import gs_idle_pkg::*;
  import gs_noc_pkg::Vnets;
  import gs_switch_pkg::*;
  import gossamer_pkg::*;
#(
  /// job slots, 1 to 16
  parameter int unsigned Jobs   = 1,
  /// credits of a channel, in both directions; a power of two
  parameter int unsigned Window = 8
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  // Idle detection, by job slot
  input  job_slot_t       [Jobs-1:0]     slot_i,
  /// one cycle: the slot is assigned a job, whose counts restart
  input  logic         [Jobs-1:0]     clear_i,
  output logic         [Jobs-1:0]     hold_o,
  input  logic         [Jobs-1:0]     open_i,
  input  logic         [Jobs-1:0][1:0] epoch_i,
  input  logic         [Jobs-1:0]     wave_i,
  output idle_status_t [Jobs-1:0]     status_o,
  // Host: in, valid only if it is ready; out, at most one cycle after it was ready
  input  logic         [Vnets-1:0]    host_in_valid_i,
  output logic         [Vnets-1:0]    host_in_ready_o,
  input  flit_t                       host_in_i,
  output logic         [Vnets-1:0]    host_out_valid_o,
  input  logic         [Vnets-1:0]    host_out_ready_i,
  output flit_t                       host_out_o,
  // Switch
  output channels_t                   out_valid_o,
  output flit_t                       out_o,
  input  channels_t                   out_credit_i,
  input  channels_t                   in_valid_i,
  input  flit_t                       in_i,
  output channels_t                   in_credit_o,
  // Messages of all jobs; a message of this job, which has no slot, was seen
  output logic         [31:0]         sent_o,
  output logic         [31:0]         received_o,
  output logic                        stray_o,
  output logic         [4:0]          stray_job_o
);
  localparam int unsigned SlotW = (Jobs > 1) ? $clog2(Jobs) : 1;
  localparam int unsigned LengthW = $clog2(FabricMaxFlits + 1);

  /// Properties of a packet that the gate needs
  typedef struct packed {
    logic              message;
    logic              known;
    logic [SlotW-1:0] slot;
    logic [4:0]        job;
  } info_t;

  function automatic logic is_message(flit_kind_e kind, vnet_e vnet);
    return kind != FlitKindHeader && vnet != VnetControl;
  endfunction
  function automatic info_t info_of(logic message, logic [4:0] job, job_slot_t [Jobs-1:0] slots);
    automatic info_t info;
    info = '{message: message, job: job, default: '0};
    for (int unsigned j = 0; j < Jobs; j++) begin
      if (slots[j].valid && slots[j].job == job) begin
        info.known = 1'b1;
        info.slot |= SlotW'(j);
      end
    end
    return info;
  endfunction

  // ------------------------------------------------------------- from host
  logic [Vnets-1:0] accept_valid, buffer_valid, buffer_credit, offered, gate, push, pass_valid, pass_ready, passes;
  flit_t accepted, buffered, at_gate, pass;
  logic [Vnets-1:0] inside_q, over_q, cut, lasts;
  logic [Jobs-1:0] hold_d, hold_q, open_q;
  // To the host, and past the gate to the switch
  logic [Vnets-1:0] to_host_valid, from_switch, to_switch_credit, passed_valid, passed_credit;
  flit_t to_host;
  logic [Vnets-1:0][LengthW-1:0] length_q;
  info_t info[Vnets];
  info_t info_in, passing;
  logic [Vnets-1:0] info_valid;

  // A packet that is too long is truncated to the longest length; its end is dropped.
  always_comb begin
    accept_valid = host_in_valid_i & ~over_q;
    accepted     = host_in_i;
    cut          = '0;
    for (int unsigned v = 0; v < Vnets; v++) begin
      cut[v] = accept_valid[v] && length_q[v] == LengthW'(FabricMaxFlits - 1) && !host_in_i.last;
      if (host_in_valid_i[v]) accepted.vnet = vnet_e'(v);
    end
    if (cut != '0) accepted.last = 1'b1;
  end
  for (genvar v = 0; v < Vnets; v++) begin : gen_length
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        length_q[v] <= '0;
        over_q[v]   <= 1'b0;
      end else if (host_in_valid_i[v]) begin
        length_q[v] <= accepted.last ? '0 : length_q[v] + LengthW'(1);
        over_q[v]   <= (over_q[v] || cut[v]) && !host_in_i.last;
        if (over_q[v]) length_q[v] <= '0;
      end
    end
  end

  gs_mesh_local #(.Depth(Window)) u_host (
    .clk_i,
    .rst_ni,
    .tile_valid_i(accept_valid),
    .tile_ready_o(host_in_ready_o),
    .tile_i      (accepted),
    .tile_valid_o(to_host_valid),
    .tile_ready_i(host_out_ready_i),
    .tile_o      (to_host),
    .out_valid_o (buffer_valid),
    .out_o       (buffered),
    .out_credit_i(buffer_credit),
    .in_valid_i  (from_switch),
    .in_i,
    .in_credit_o (to_switch_credit)
  );

  gs_mesh_local #(.Depth(Window)) u_switch (
    .clk_i,
    .rst_ni,
    .tile_valid_i(pass_valid),
    .tile_ready_o(pass_ready),
    .tile_i      (pass),
    .tile_valid_o(offered),
    .tile_ready_i(gate),
    .tile_o      (at_gate),
    .out_valid_o (passed_valid),
    .out_o,
    .out_credit_i(passed_credit),
    .in_valid_i  (buffer_valid),
    .in_i        (buffered),
    .in_credit_o (buffer_credit)
  );

  // Properties of each packet in the buffers, in order.
  always_comb begin
    info_in = info_of(is_message(buffered.kind, buffered.vnet), buffered.job, slot_i);
    // Dropped like a message of an unknown job
    if (!gs_address_pkg::host_may_send(buffered.kind, buffered.vnet, endpoint_e'(buffered.dest[31:29]))) begin
      info_in = '{message: 1'b1, job: buffered.job, default: '0};
    end
  end
  for (genvar v = 0; v < Vnets; v++) begin : gen_gate
    logic unused_ready;
    logic [$clog2(Window+1)-1:0] unused_count;
    assign push[v]  = buffer_valid[v] && !inside_q[v];
    assign lasts[v] = offered[v] && at_gate.last;
    gs_fifo #(
      .data_t(info_t),
      .Depth (Window)
    ) u_info (
      .clk_i,
      .rst_ni,
      .in_valid_i (push[v]),
      .in_ready_o (unused_ready),
      .in_data_i  (info_in),
      .out_valid_o(info_valid[v]),
      .out_ready_i(lasts[v]),
      .out_data_o (info[v]),
      .count_o    (unused_count)
    );
    always_ff @(posedge clk_i) begin
      if (!rst_ni) inside_q[v] <= 1'b0;
      else if (buffer_valid[v]) inside_q[v] <= !buffered.last;
    end
    assign gate[v] = info_valid[v] && pass_ready[v]
        && (!info[v].message || !info[v].known || (hold_q[info[v].slot] && open_q[info[v].slot]));
    assign passes[v] = offered[v] && (!info[v].message || info[v].known);
    `GS_ASSERT_NOW(packet_properties_find_space, !push[v] || unused_ready)
  end

  // The hold is active while a message of the slot is at a gate. Once open during a hold, the gate stays open.
  always_comb begin
    hold_d  = '0;
    passing = '0;
    for (int unsigned v = 0; v < Vnets; v++) begin
      if (info_valid[v] && info[v].message && info[v].known) hold_d[info[v].slot] = 1'b1;
      if (offered[v]) passing |= info[v];
    end
    pass_valid = passes;
    pass       = at_gate;
    if (passing.message) begin
      pass.epoch = epoch_i[passing.slot];
      pass.wave  = wave_i[passing.slot];
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      hold_q <= '0;
      open_q <= '0;
    end else begin
      hold_q <= hold_d;
      open_q <= hold_q & open_i;
    end
  end
  assign hold_o = hold_q;

  // --------------------------------------------------------------- to host
  logic [Vnets-1:0] first_q;
  info_t head, arriving;
  info_t [Vnets-1:0] head_q;
  assign head = info_of(is_message(to_host.kind, to_host.vnet), to_host.job, slot_i);
  always_comb begin
    arriving = '0;
    for (int unsigned v = 0; v < Vnets; v++) if (to_host_valid[v]) arriving |= first_q[v] ? head : head_q[v];
  end
  for (genvar v = 0; v < Vnets; v++) begin : gen_first
    always_ff @(posedge clk_i) begin
      if (!rst_ni) first_q[v] <= 1'b1;
      else if (to_host_valid[v]) first_q[v] <= to_host.last;
      if (to_host_valid[v] && first_q[v]) head_q[v] <= head;
    end
  end
  always_ff @(posedge clk_i) begin
    host_out_valid_o <= rst_ni ? to_host_valid : '0;
    host_out_o       <= to_host;
  end

  // -------------------------------------------------------------- channels
  assign out_valid_o = spread(passed_valid);
  assign passed_credit = gather(out_credit_i);
  assign from_switch = gather(in_valid_i);
  assign in_credit_o = spread(to_switch_credit);

  // ---------------------------------------------------------------- counts
  logic sends, receives, stray_out, stray_in;
  logic [Jobs-1:0][31:0] sent_q, received_q;
  assign sends     = lasts != '0 && passing.message && passing.known;
  assign stray_out = lasts != '0 && passing.message && !passing.known;
  assign receives  = to_host_valid != '0 && to_host.last && arriving.message && arriving.known;
  assign stray_in  = to_host_valid != '0 && to_host.last && arriving.message && !arriving.known;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sent_o     <= '0;
      received_o <= '0;
      sent_q     <= '0;
      received_q <= '0;
      stray_o    <= 1'b0;
    end else begin
      sent_o     <= sent_o + 32'(sends);
      received_o <= received_o + 32'(receives);
      for (int unsigned j = 0; j < Jobs; j++) begin
        sent_q[j]     <= clear_i[j] ? '0 : sent_q[j] + 32'(sends && passing.slot == SlotW'(j));
        received_q[j] <= clear_i[j] ? '0 : received_q[j] + 32'(receives && arriving.slot == SlotW'(j));
      end
      stray_o <= stray_out || stray_in || cut != '0;
    end
    stray_job_o <= stray_out ? passing.job : stray_in ? arriving.job : host_in_i.job;
  end
  // The host has no threads: it votes for everything, and holds while it has a message to send.
  for (genvar j = 0; j < Jobs; j++) begin : gen_status
    assign status_o[j] = '{idle: 1'b1, vote: 1'b1, sent: sent_q[j], received: received_q[j], default: '0};
  end

  for (genvar j = 0; j < Jobs; j++) begin : gen_assert
    `GS_ASSERT_NOW(messages_pass_only_while_idle_detection_is_open,
                   !(pass_valid != '0 && passing.message && passing.slot == SlotW'(j)) || open_i[j])
    `GS_ASSERT(messages_pass_only_during_a_hold, pass_valid != '0 && passing.message && passing.slot == SlotW'(j)
               |-> hold_q[j] && $past(hold_q[j]))
  end
endmodule
