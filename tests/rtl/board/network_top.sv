// SPDX-License-Identifier: Apache-2.0

/// Networks of three boards in a ring, connected by links over lossy wires, without tiles: structures as plain fields.
///
/// Link 0 of a board leads to the next one, link 1 to the previous one. Ports of a board, in this order: two exits of
/// the mesh (as in `quad`), control unit, host.
module network_top
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
  import gs_multicast_pkg::*;
#(
  parameter int unsigned Seed = 1
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [20:0]  loss_i,
  input  logic [20:0]  damage_i,
  /// wires that are cut: from board b by its link l at bit 2 b + l
  input  logic [5:0]   cut_i,
  input  logic [7:0]   burst_i,
  input  logic         flush_i,
  output logic         ready_o,
  output logic [5:0]   up_o,
  input  logic [2:0]   table_we_i,
  input  logic [5:0]   table_index_i,
  input  logic [7:0]   table_entry_i,
  // Ports, [board * 4 + port]
  input  logic [7:0]   in_valid_i[12],
  input  logic [1:0]   in_kind_i[12],
  input  logic         in_last_i[12],
  input  logic [1:0]   in_vnet_i[12],
  input  logic [7:0]   in_tags_i[12],
  input  logic [31:0]  in_dest_i[12],
  input  logic [127:0] in_payload_i[12],
  output logic [7:0]   in_credit_o[12],
  output logic [7:0]   out_valid_o[12],
  output logic [1:0]   out_kind_o[12],
  output logic         out_last_o[12],
  output logic [1:0]   out_vnet_o[12],
  output logic [7:0]   out_tags_o[12],
  output logic [31:0]  out_dest_o[12],
  output logic [127:0] out_payload_o[12],
  input  logic [7:0]   out_credit_i[12],
  // Records
  output logic         req_valid_o[3],
  input  logic         req_ready_i[3],
  output logic [26:0]  req_beat_o[3],
  output logic [7:0]   req_tag_o[3],
  input  logic         rsp_valid_i[3],
  output logic         rsp_ready_o[3],
  input  logic [7:0]   rsp_tag_i[3],
  input  logic [255:0] rsp_i[3],
  // Idle detection, of job 5: sums over the routers of a board, and messages that enter
  output logic         idle_o[3],
  output logic [31:0]  sent_o[3],
  output logic [31:0]  received_o[3],
  output logic [1:0]   entered_o[3],
  output logic [5:0]   unroutable_o[3],
  output logic [2:0]   empty_o,
  output logic [2:0]   in_flight_o[3],
  output logic [31:0]  lost_o
);
  localparam int unsigned Boards = 3, Links = 2, Exits = RouterMeshPorts, Locals = 2, Ports = Exits + Locals;

  logic [Links-1:0] tx_valid[Boards], tx_ready[Boards], tx_last[Boards];
  logic [63:0] tx_data[Boards][Links], rx_data[Boards][Links];
  logic [7:0] tx_keep[Boards][Links], rx_keep[Boards][Links];
  logic [Links-1:0] rx_valid[Boards], rx_last[Boards], rx_error[Boards];
  logic [2:0] ready;
  logic [31:0] lost[Boards][Links], damaged[Boards][Links];

  for (genvar b = 0; b < Boards; b++) begin : gen_board
    flit_t in[Ports], out[Ports];
    logic [3:0] mesh_in[Exits], mesh_in_credit[Exits], mesh_out[Exits], mesh_out_credit[Exits];
    channels_t local_in[Locals], local_in_credit[Locals], local_out[Locals], local_out_credit[Locals];
    gs_idle_pkg::idle_status_t [0:0][Exits+Links-1:0] idle;
    gs_idle_pkg::idle_entry_t [0:0][Links-1:0] entry;
    gs_link_pkg::events_t unused_events[Links];
    gs_link_pkg::counters_t unused_counters[Links];
    logic [31:0] unused_dest[Exits+Links+Locals];
    gs_multicast_pkg::router_faults_t [Exits+Links-1:0] unused_bad;
    logic [Exits+Links+Locals-1:0] unused_entered;

    for (genvar p = 0; p < Ports; p++) begin : gen_port
      localparam int unsigned I = b * Ports + p;
      assign in[p] = '{kind: flit_kind_e'(in_kind_i[I]), last: in_last_i[I], vnet: vnet_e'(in_vnet_i[I]),
                       wave: in_tags_i[I][7], job: in_tags_i[I][6:2], epoch: in_tags_i[I][1:0],
                       dest: in_dest_i[I], payload: in_payload_i[I]};
      assign out_kind_o[I] = out[p].kind;
      assign out_last_o[I] = out[p].last;
      assign out_vnet_o[I] = out[p].vnet;
      assign out_tags_o[I] = {out[p].wave, out[p].job, out[p].epoch};
      assign out_dest_o[I] = out[p].dest;
      assign out_payload_o[I] = out[p].payload;
      if (p < Exits) begin : gen_exit
        for (genvar v = 0; v < 4; v++) begin : gen_network
          assign mesh_in[p][v] = in_valid_i[I][2*v];
          assign in_credit_o[I][2*v+:2] = {1'b0, mesh_in_credit[p][v]};
          assign out_valid_o[I][2*v+:2] = {1'b0, mesh_out[p][v]};
          assign mesh_out_credit[p][v] = out_credit_i[I][2*v];
        end
      end else begin : gen_local
        assign local_in[p-Exits] = in_valid_i[I];
        assign in_credit_o[I] = local_in_credit[p-Exits];
        assign out_valid_o[I] = local_out[p-Exits];
        assign local_out_credit[p-Exits] = out_credit_i[I];
      end
    end

    gs_board_network #(
      .Links (Links),
      .Locals(Locals),
      .TableW(6),
      .CacheW(4)
    ) u_network (
      .clk_i,
      .rst_ni,
      .board_i           (12'(b)),
      .job_i             (5'd5),
      .wave_i            ('0),
      .clear_i           (1'b0),
      .host_i            (13'h1000),
      .burst_i,
      .flush_i,
      .cut_i             (2'b0),
      .ready_o           (ready[b]),
      .table_we_i        (table_we_i[b]),
      .table_index_i,
      .table_entry_i,
      .mesh_in_valid_i   (mesh_in),
      .mesh_in_i         (in[0:Exits-1]),
      .mesh_in_credit_o  (mesh_in_credit),
      .mesh_out_valid_o  (mesh_out),
      .mesh_out_o        (out[0:Exits-1]),
      .mesh_out_credit_i (mesh_out_credit),
      .local_in_valid_i  (local_in),
      .local_in_i        (in[Exits:Ports-1]),
      .local_in_credit_o (local_in_credit),
      .local_out_valid_o (local_out),
      .local_out_o       (out[Exits:Ports-1]),
      .local_out_credit_i(local_out_credit),
      .mac_tx_valid_o    (tx_valid[b]),
      .mac_tx_ready_i    (tx_ready[b]),
      .mac_tx_data_o     (tx_data[b]),
      .mac_tx_keep_o     (tx_keep[b]),
      .mac_tx_last_o     (tx_last[b]),
      .mac_rx_valid_i    (rx_valid[b]),
      .mac_rx_data_i     (rx_data[b]),
      .mac_rx_keep_i     (rx_keep[b]),
      .mac_rx_last_i     (rx_last[b]),
      .mac_rx_error_i    (rx_error[b]),
      .up_o              (up_o[2*b+:2]),
      .events_o          (unused_events),
      .counters_o        (unused_counters),
      .req_valid_o       (req_valid_o[b]),
      .req_ready_i       (req_ready_i[b]),
      .req_beat_o        (req_beat_o[b]),
      .req_tag_o         (req_tag_o[b]),
      .rsp_valid_i       (rsp_valid_i[b]),
      .rsp_ready_o       (rsp_ready_o[b]),
      .rsp_tag_i         (rsp_tag_i[b]),
      .rsp_i             (rsp_i[b]),
      .idle_o            (idle),
      .entry_o           (entry),
      .unroutable_o          (unroutable_o[b]),
      .unroutable_dest_o     (unused_dest),
      .unroutable_message_o(),
      .unroutable_job_o(),
      .bad_o             (unused_bad),
      .entered_o         (unused_entered),
      .in_flight_o       (in_flight_o[b]),
      .empty_o           (empty_o[b])
    );
    assign entered_o[b] = {entry[0][1].valid, entry[0][0].valid};

    always_comb begin
      idle_o[b]     = 1'b1;
      sent_o[b]     = '0;
      received_o[b] = '0;
      for (int unsigned r = 0; r < Exits + Links; r++) begin
        idle_o[b]     &= idle[0][r].idle;
        sent_o[b]     += idle[0][r].sent;
        received_o[b] += idle[0][r].received;
      end
    end

    // The wire from link l of this board: to link 1 - l of its neighbour there.
    for (genvar l = 0; l < Links; l++) begin : gen_wire
      localparam int unsigned To = (l == 0) ? (b + 1) % Boards : (b + Boards - 1) % Boards;
      gs_mac_model #(
        .BitsPerKilocycle(40_000),
        .Seed            (Seed + 10 * b + l)
      ) u_wire (
        .clk_i,
        .rst_ni,
        .loss_i,
        .damage_i,
        .cut_i    (cut_i[2*b+l]),
        .valid_i  (tx_valid[b][l]),
        .ready_o  (tx_ready[b][l]),
        .data_i   (tx_data[b][l]),
        .keep_i   (tx_keep[b][l]),
        .last_i   (tx_last[b][l]),
        .valid_o  (rx_valid[To][1-l]),
        .data_o   (rx_data[To][1-l]),
        .keep_o   (rx_keep[To][1-l]),
        .last_o   (rx_last[To][1-l]),
        .error_o  (rx_error[To][1-l]),
        .lost_o   (lost[b][l]),
        .damaged_o(damaged[b][l])
      );
    end
  end

  assign ready_o = &ready;
  always_comb begin
    lost_o = '0;
    for (int unsigned b = 0; b < Boards; b++) begin
      for (int unsigned l = 0; l < Links; l++) lost_o += lost[b][l] + damaged[b][l];
    end
  end
endmodule
