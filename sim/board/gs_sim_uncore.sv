// SPDX-License-Identifier: Apache-2.0

/// A simulated board of a cluster without its tiles: memories, network, control unit, idle detection, links.
///
/// All ports are registered, except the host's: there an incoming flit is valid only if it is accepted, and outgoing
/// flits are always accepted. Words of a link leave when their last bits have been sent, after one cycle of the flight
/// time; the simulator models the rest of the flight. Caches are numbered tile by tile; consecutive caches share a
/// DRAM.
module gs_sim_uncore
  import gs_tile_pkg::*;
  import gs_noc_pkg::Vnets;
  import gossamer_pkg::*;
#(
  /// simulated links, 1 to 8
  parameter int unsigned Links = 4,
  /// jobs in which a board can take part
  parameter int unsigned Jobs  = 1
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic     [11:0]           board_i,
  /// the tables are cleared
  output logic                      ready_o,
  // Memory, one stream per cache
  input  logic                      mem_req_valid_i[Tiles*TileCaches],
  output logic                      mem_req_ready_o[Tiles*TileCaches],
  input  mem_req_t                  mem_req_i[Tiles*TileCaches],
  output logic                      mem_rsp_valid_o[Tiles*TileCaches],
  input  logic                      mem_rsp_ready_i[Tiles*TileCaches],
  output mem_rsp_t                  mem_rsp_o[Tiles*TileCaches],
  // Links of the mesh's exits
  input  logic          [Vnets-1:0] mesh_in_valid_i[RouterMeshPorts],
  input  flit_t                     mesh_in_i[RouterMeshPorts],
  output logic          [Vnets-1:0] mesh_in_credit_o[RouterMeshPorts],
  output logic          [Vnets-1:0] mesh_out_valid_o[RouterMeshPorts],
  output flit_t                     mesh_out_o[RouterMeshPorts],
  input  logic          [Vnets-1:0] mesh_out_credit_i[RouterMeshPorts],
  // The host at the switch's local port
  input  logic          [Vnets-1:0] host_in_valid_i,
  output logic          [Vnets-1:0] host_in_ready_o,
  input  flit_t                     host_in_i,
  output logic          [Vnets-1:0] host_out_valid_o,
  output flit_t                     host_out_o,
  // Idle detection; the host starts threads of these tiles
  input  gs_idle_pkg::idle_status_t idle_i[Tiles],
  input  logic                      started_i[Tiles],
  input  logic                      expected_i[Tiles],
  output gs_idle_pkg::idle_command_t idle_command_o[Tiles],
  // Settings of the tiles: job, host of their reports, cluster
  output logic     [4:0]            job_o[Tiles],
  output logic     [31:0]           host_o[Tiles],
  output gs_address_pkg::cluster_t  cluster_o,
  // Wires: probabilities of loss and damage in units of 2^-20, outgoing wires that are cut, seeds of random numbers
  input  logic     [20:0]           loss_i[Links],
  input  logic     [20:0]           damage_i[Links],
  input  logic                      cut_i[Links],
  input  logic     [31:0]           seed_i[Links],
  output logic                      tx_valid_o[Links],
  output logic     [63:0]           tx_data_o[Links],
  output logic     [7:0]            tx_keep_o[Links],
  output logic                      tx_last_o[Links],
  output logic                      tx_error_o[Links],
  input  logic                      rx_valid_i[Links],
  input  logic     [63:0]           rx_data_i[Links],
  input  logic     [7:0]            rx_keep_i[Links],
  input  logic                      rx_last_i[Links],
  input  logic                      rx_error_i[Links],
  output logic                      up_o[Links],
  /// frames that outgoing wires have lost or damaged
  output logic     [31:0]           lost_o[Links],
  /// no packet is in the switch
  output logic                      empty_o
);
  localparam int unsigned TagW = $clog2(RouterMeshPorts + Links + 1) + 4 + 1 + SwitchVcBits;
  localparam int unsigned BitsPerKilocycle = 32'((64'(LinksRateMbps) * 64'd1_000_000_000) / 64'(ClockHz));
  // Preamble before a frame; check sum and gap after it.
  localparam int unsigned Preamble = 8;
  localparam int unsigned Trailer = (LinksOverheadBytes > Preamble) ? LinksOverheadBytes - Preamble : 0;

  // ---------------------------------------------------------------- memory
  logic     record_valid, record_ready, answer_valid, answer_ready;
  mem_req_t record;
  mem_rsp_t answer;
  logic     read_valid, read_ready, beat_valid, beat_ready;
  logic [gs_multicast_pkg::BeatAddrW-1:0] read_beat;
  logic [TagW-1:0] read_tag, beat_tag;
  gs_multicast_pkg::beat_t beat;

  gs_board_memories #(.Records(1'b1)) u_memories (
    .clk_i,
    .rst_ni,
    .mem_req_valid_i,
    .mem_req_ready_o,
    .mem_req_i,
    .mem_rsp_valid_o,
    .mem_rsp_ready_i,
    .mem_rsp_o,
    .record_req_valid_i(record_valid),
    .record_req_ready_o(record_ready),
    .record_req_i      (record),
    .record_rsp_valid_o(answer_valid),
    .record_rsp_ready_i(answer_ready),
    .record_rsp_o      (answer)
  );

  gs_sim_records #(.TagW(TagW)) u_records (
    .clk_i,
    .rst_ni,
    .req_valid_i(read_valid),
    .req_ready_o(read_ready),
    .req_beat_i (read_beat),
    .req_tag_i  (read_tag),
    .rsp_valid_o(beat_valid),
    .rsp_ready_i(beat_ready),
    .rsp_tag_o  (beat_tag),
    .rsp_o      (beat),
    .mem_valid_o(record_valid),
    .mem_ready_i(record_ready),
    .mem_req_o  (record),
    .mem_valid_i(answer_valid),
    .mem_ready_o(answer_ready),
    .mem_rsp_i  (answer)
  );

  // ------------------------------------------------------- begin of a run
  gs_idle_pkg::idle_status_t  [Tiles-1:0] status;
  gs_idle_pkg::idle_command_t [Tiles-1:0] command;
  logic [Tiles-1:0] started, expected, unused_begun, done;
  logic [Tiles-1:0][4:0] job;
  logic [Tiles-1:0][31:0] host;

  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    assign status[t]         = idle_i[t];
    assign started[t]        = started_i[t];
    assign expected[t]       = expected_i[t];
    assign idle_command_o[t] = command[t];
    assign job_o[t]          = job[t];
    assign host_o[t]         = host[t];
  end

  // No barrier is released before each tile that the host starts has had a started thread.
  gs_idle_begun #(
    .Tiles(Tiles)
  ) u_begun (
    .clk_i,
    .rst_ni,
    .started_i (started),
    .expected_i(expected),
    .begun_o   (unused_begun),
    .done_o    (done)
  );

  // --------------------------------------------------------------- fabric
  logic [Links-1:0] mac_tx_valid, mac_tx_ready, mac_tx_last, mac_rx_valid, mac_rx_last, mac_rx_error, up;
  logic [63:0] mac_tx_data[Links], mac_rx_data[Links];
  logic [7:0] mac_tx_keep[Links], mac_rx_keep[Links];

  for (genvar l = 0; l < Links; l++) begin : gen_wire
    logic [31:0] lost, damaged;

    gs_mac_model #(
      .BitsPerKilocycle(BitsPerKilocycle),
      .Flight          (1),
      .Preamble        (Preamble),
      .Trailer         (Trailer)
    ) u_wire (
      .clk_i,
      .rst_ni,
      .seed_i   (seed_i[l]),
      .loss_i   (loss_i[l]),
      .damage_i (damage_i[l]),
      .cut_i    (cut_i[l]),
      .valid_i  (mac_tx_valid[l]),
      .ready_o  (mac_tx_ready[l]),
      .data_i   (mac_tx_data[l]),
      .keep_i   (mac_tx_keep[l]),
      .last_i   (mac_tx_last[l]),
      .valid_o  (tx_valid_o[l]),
      .data_o   (tx_data_o[l]),
      .keep_o   (tx_keep_o[l]),
      .last_o   (tx_last_o[l]),
      .error_o  (tx_error_o[l]),
      .lost_o   (lost),
      .damaged_o(damaged)
    );
    assign lost_o[l]       = lost + damaged;
    assign mac_rx_valid[l] = rx_valid_i[l];
    assign mac_rx_data[l]  = rx_data_i[l];
    assign mac_rx_keep[l]  = rx_keep_i[l];
    assign mac_rx_last[l]  = rx_last_i[l];
    assign mac_rx_error[l] = rx_error_i[l];
    assign up_o[l]         = up[l];
  end

  // Read by the simulator's observers.
  gs_link_pkg::counters_t sim_links[Links]  /*verilator public_flat_rd*/;

  gs_board_fabric #(
    .Links(Links),
    .Jobs (Jobs)
  ) u_fabric (
    .clk_i,
    .rst_ni,
    .board_i,
    .ready_o,
    .status_i         (status),
    .begun_i          (done),
    .command_o        (command),
    .job_o            (job),
    .host_o           (host),
    .cluster_o,
    .mesh_in_valid_i,
    .mesh_in_i,
    .mesh_in_credit_o,
    .mesh_out_valid_o,
    .mesh_out_o,
    .mesh_out_credit_i,
    .host_in_valid_i,
    .host_in_ready_o,
    .host_in_i,
    .host_out_valid_o,
    .host_out_ready_i ('1),
    .host_out_o,
    .mac_tx_valid_o   (mac_tx_valid),
    .mac_tx_ready_i   (mac_tx_ready),
    .mac_tx_data_o    (mac_tx_data),
    .mac_tx_keep_o    (mac_tx_keep),
    .mac_tx_last_o    (mac_tx_last),
    .mac_rx_valid_i   (mac_rx_valid),
    .mac_rx_data_i    (mac_rx_data),
    .mac_rx_keep_i    (mac_rx_keep),
    .mac_rx_last_i    (mac_rx_last),
    .mac_rx_error_i   (mac_rx_error),
    .up_o             (up),
    .counters_o       (sim_links),
    .req_valid_o      (read_valid),
    .req_ready_i      (read_ready),
    .req_beat_o       (read_beat),
    .req_tag_o        (read_tag),
    .rsp_valid_i      (beat_valid),
    .rsp_ready_o      (beat_ready),
    .rsp_tag_i        (beat_tag),
    .rsp_i            (beat),
    .empty_o
  );
endmodule
