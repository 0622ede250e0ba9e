// SPDX-License-Identifier: Apache-2.0

/// A board without tiles and memory, with a lossy wire at each link: structures as plain fields.
///
/// Ports, in this order: two exits of the mesh (as in `quad`), host. The harness models tiles, exits, host, memory and
/// the other ends of the wires.
module fabric_top
  import gossamer_pkg::*;
  import gs_multicast_pkg::*;
#(
  parameter int unsigned Seed = 1,
  parameter bit Multicast = 1'b1,
  localparam int unsigned Links = 2, Jobs = 2, Ports = RouterMeshPorts + 1
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [20:0]  loss_i,
  input  logic [20:0]  damage_i,
  /// wires that are cut
  input  logic [1:0]   cut_i,
  input  logic [11:0]  board_i,
  output logic         ready_o,
  output logic [1:0]   up_o,
  output logic         empty_o,
  output logic [31:0]  lost_o,
  // Ports, one bit per network. Out: exits return credits, hosts provide ready
  input  logic [3:0]   in_valid_i[Ports],
  output logic [3:0]   in_credit_o[Ports],
  input  logic [1:0]   in_kind_i[Ports],
  input  logic         in_last_i[Ports],
  input  logic [1:0]   in_vnet_i[Ports],
  input  logic [7:0]   in_tags_i[Ports],
  input  logic [31:0]  in_dest_i[Ports],
  input  logic [127:0] in_payload_i[Ports],
  output logic [3:0]   out_valid_o[Ports],
  input  logic [3:0]   out_credit_i[Ports],
  output logic [1:0]   out_kind_o[Ports],
  output logic         out_last_o[Ports],
  output logic [1:0]   out_vnet_o[Ports],
  output logic [7:0]   out_tags_o[Ports],
  output logic [31:0]  out_dest_o[Ports],
  output logic [127:0] out_payload_o[Ports],
  // Tiles
  input  logic         tile_idle_i[Tiles],
  input  logic         tile_vote_i[Tiles],
  input  logic         tile_started_i[Tiles],
  input  logic [31:0]  tile_sent_i[Tiles],
  input  logic [31:0]  tile_received_i[Tiles],
  input  logic [5:0]   tile_given_i[Tiles],
  input  logic         tile_chunk_valid_i[Tiles],
  input  logic [7:0]   tile_chunk_i[Tiles],
  output logic         tile_release_o[Tiles],
  output logic         tile_agreed_o[Tiles],
  output logic         tile_wave_o[Tiles],
  output logic         tile_scan_o[Tiles],
  output logic [3:0]   tile_op_o[Tiles],
  output logic         tile_chunk_valid_o[Tiles],
  output logic [7:0]   tile_chunk_o[Tiles],
  /// messages that a tile drops: two of {valid, why[4], job[5]}
  input  logic [19:0]  tile_drops_i[Tiles],
  output logic         tile_clear_o[Tiles],
  output logic [4:0]   tile_job_o[Tiles],
  output logic [31:0]  tile_host_o[Tiles],
  output logic [12:0]  boards_o,
  output logic [12:0]  hosts_o,
  // Records
  output logic         req_valid_o,
  output logic [26:0]  req_beat_o,
  output logic [8:0]   req_tag_o,
  input  logic         rsp_valid_i,
  output logic         rsp_ready_o,
  input  logic [8:0]   rsp_tag_i,
  input  logic [255:0] rsp_i,
  // Wires: words that have arrived at their ends, and words that arrive from the other boards
  output logic [1:0]   wire_valid_o,
  output logic [63:0]  wire_data_o[Links],
  output logic [7:0]   wire_keep_o[Links],
  output logic [1:0]   wire_last_o,
  output logic [1:0]   wire_error_o,
  input  logic [1:0]   wire_valid_i,
  input  logic [63:0]  wire_data_i[Links],
  input  logic [7:0]   wire_keep_i[Links],
  input  logic [1:0]   wire_last_i,
  input  logic [1:0]   wire_error_i
);
  localparam int unsigned Exits = RouterMeshPorts;
  logic [Links-1:0] tx_valid, tx_ready, tx_last;
  logic [63:0] tx_data[Links];
  logic [7:0] tx_keep[Links];
  logic [31:0] lost[Links], damaged[Links];
  flit_t in[Ports], out[Ports];
  logic [3:0] mesh_in[Exits], mesh_in_credit[Exits], mesh_out[Exits], mesh_out_credit[Exits];
  gs_idle_pkg::idle_status_t [Tiles-1:0] status;
  gs_idle_pkg::idle_command_t [Tiles-1:0] command;
  logic [Tiles-1:0] started, debug_in_valid, debug_in_ready, debug_out_valid, debug_out_ready;
  logic [7:0] debug_in_data, echo_q[Tiles];
  logic [Tiles-1:0][4:0] job;
  logic [Tiles-1:0][31:0] host;
  gs_address_pkg::cluster_t cluster;
  gs_link_pkg::counters_t unused_counters[Links];

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    localparam int unsigned I = p;
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
      assign mesh_in[p] = in_valid_i[I];
      assign in_credit_o[I] = mesh_in_credit[p];
      assign out_valid_o[I] = mesh_out[p];
      assign mesh_out_credit[p] = out_credit_i[I];
    end
  end

  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    localparam int unsigned I = t;
    assign status[t] = '{idle: tile_idle_i[I], vote: tile_vote_i[I], started: tile_started_i[I], epoch: '0,
                         sent: tile_sent_i[I], received: tile_received_i[I], given: tile_given_i[I],
                         chunk_valid: tile_chunk_valid_i[I], chunk: tile_chunk_i[I],
                         drops: tile_drops_i[I]};
    assign tile_clear_o[I] = command[t].clear;
    assign started[t] = tile_started_i[I];
    // Each tile answers every byte with its complement.
    logic full_q;
    assign debug_in_ready[t]  = !full_q;
    assign debug_out_valid[t] = full_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) full_q <= 1'b0;
      else full_q <= full_q ? !debug_out_ready[t] : debug_in_valid[t];
      if (debug_in_valid[t]) echo_q[t] <= ~debug_in_data;
    end
    assign tile_release_o[I] = command[t].release_all;
    assign tile_agreed_o[I] = command[t].agreed;
    assign tile_wave_o[I] = command[t].wave;
    assign tile_scan_o[I] = command[t].scan;
    assign tile_op_o[I] = command[t].op;
    assign tile_chunk_valid_o[I] = command[t].chunk_valid;
    assign tile_chunk_o[I] = command[t].chunk;
    assign tile_job_o[I] = job[t];
    assign tile_host_o[I] = host[t];
  end
  assign boards_o = cluster.boards;
  assign hosts_o = cluster.hosts;

  // Tiles learn whether their board has routers.
  always_ff @(posedge clk_i) if (rst_ni && cluster.routers != Multicast) $fatal(1, "a board announces other routers");

  gs_board_fabric #(
    .Links (Links),
    .Jobs  (Jobs),
    .Multicast(Multicast),
    .TableW(6),
    .CacheW(4)
  ) u_fabric (
    .clk_i,
    .rst_ni,
    .board_i          (board_i),
    .ready_o          (ready_o),
    .status_i         (status),
    .started_i        (started),
    .debug_in_valid_o (debug_in_valid),
    .debug_in_data_o  (debug_in_data),
    .debug_in_ready_i (debug_in_ready),
    .debug_out_valid_i(debug_out_valid),
    .debug_out_data_i (echo_q),
    .debug_out_ready_o(debug_out_ready),
    .command_o        (command),
    .job_o            (job),
    .host_o           (host),
    .cluster_o        (cluster),
    .mesh_in_valid_i  (mesh_in),
    .mesh_in_i        (in[0:Exits-1]),
    .mesh_in_credit_o (mesh_in_credit),
    .mesh_out_valid_o (mesh_out),
    .mesh_out_o       (out[0:Exits-1]),
    .mesh_out_credit_i(mesh_out_credit),
    .host_in_valid_i  (in_valid_i[Exits]),
    .host_in_ready_o  (in_credit_o[Exits]),
    .host_in_i        (in[Exits]),
    .host_out_valid_o (out_valid_o[Exits]),
    .host_out_ready_i (out_credit_i[Exits]),
    .host_out_o       (out[Exits]),
    .send_open_valid_i('0),
    .send_open_ready_o(),
    .send_open_i      ('0),
    .s_axis_tvalid_i  ('0),
    .s_axis_tready_o  (),
    .s_axis_tdata_i   ('0),
    .recv_open_valid_i('0),
    .recv_open_ready_o(),
    .recv_open_i      ('0),
    .m_axis_tvalid_o  (),
    .m_axis_tready_i  ('0),
    .m_axis_tdata_o   (),
    .m_axis_tkeep_o   (),
    .m_axis_tlast_o   (),
    .collective_i     ('0),
    .collective_o     (),
    .mac_tx_valid_o   (tx_valid),
    .mac_tx_ready_i   (tx_ready),
    .mac_tx_data_o    (tx_data),
    .mac_tx_keep_o    (tx_keep),
    .mac_tx_last_o    (tx_last),
    .mac_rx_valid_i   (wire_valid_i),
    .mac_rx_data_i    (wire_data_i),
    .mac_rx_keep_i    (wire_keep_i),
    .mac_rx_last_i    (wire_last_i),
    .mac_rx_error_i   (wire_error_i),
    .up_o             (up_o),
    .counters_o       (unused_counters),
    .req_valid_o      (req_valid_o),
    .req_ready_i      (1'b1),
    .req_beat_o       (req_beat_o),
    .req_tag_o        (req_tag_o),
    .rsp_valid_i      (rsp_valid_i),
    .rsp_ready_o      (rsp_ready_o),
    .rsp_tag_i        (rsp_tag_i),
    .rsp_i            (rsp_i),
    .empty_o          (empty_o)
  );

  for (genvar l = 0; l < Links; l++) begin : gen_wire
    gs_mac_model #(
      .BitsPerKilocycle(40_000),
      .Seed            (Seed + l)
    ) u_wire (
      .clk_i,
      .rst_ni,
      .loss_i,
      .damage_i,
      .cut_i    (cut_i[l]),
      .valid_i  (tx_valid[l]),
      .ready_o  (tx_ready[l]),
      .data_i   (tx_data[l]),
      .keep_i   (tx_keep[l]),
      .last_i   (tx_last[l]),
      .valid_o  (wire_valid_o[l]),
      .data_o   (wire_data_o[l]),
      .keep_o   (wire_keep_o[l]),
      .last_o   (wire_last_o[l]),
      .error_o  (wire_error_o[l]),
      .lost_o   (lost[l]),
      .damaged_o(damaged[l])
    );
  end

  always_comb begin
    lost_o = '0;
    for (int unsigned l = 0; l < Links; l++) lost_o += lost[l] + damaged[l];
  end
endmodule
