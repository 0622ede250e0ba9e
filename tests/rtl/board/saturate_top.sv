// SPDX-License-Identifier: Apache-2.0

/// The network of one board with every buffer at its minimum depth, and the wires that its links drive: structures as
/// plain fields. The harness connects many of them to a cluster.
///
/// Ports, in this order: two exits of the mesh (as in `quad`), control unit, host, two streaming ports. Of a port's
/// channels the first of each virtual network is used.
module saturate_top
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
  import gs_multicast_pkg::*;
#(
  localparam int unsigned Links = 4, Locals = 4, Ports = RouterMeshPorts + Locals
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [11:0]  board_i,
  input  logic [31:0]  seed_i,
  input  logic [20:0]  loss_i,
  output logic         ready_o,
  output logic [3:0]   up_o,
  output logic [2:0]   in_flight_o,
  input  logic         table_we_i,
  input  logic [5:0]   table_index_i,
  input  logic [7:0]   table_entry_i,
  input  logic [3:0]   in_valid_i[Ports],
  input  logic [1:0]   in_kind_i[Ports],
  input  logic         in_last_i[Ports],
  input  logic [1:0]   in_vnet_i[Ports],
  input  logic [7:0]   in_tags_i[Ports],
  input  logic [31:0]  in_dest_i[Ports],
  input  logic [127:0] in_payload_i[Ports],
  output logic [3:0]   in_credit_o[Ports],
  output logic [3:0]   out_valid_o[Ports],
  output logic [1:0]   out_kind_o[Ports],
  output logic         out_last_o[Ports],
  output logic [1:0]   out_vnet_o[Ports],
  output logic [7:0]   out_tags_o[Ports],
  output logic [31:0]  out_dest_o[Ports],
  output logic [127:0] out_payload_o[Ports],
  input  logic [3:0]   out_credit_i[Ports],
  // Records
  output logic         req_valid_o,
  output logic [26:0]  req_beat_o,
  output logic [8:0]   req_tag_o,
  input  logic         rsp_valid_i,
  output logic         rsp_ready_o,
  input  logic [8:0]   rsp_tag_i,
  input  logic [255:0] rsp_i,
  // Wires: words that have arrived at their ends, and words that arrive from other boards
  output logic [3:0]   wire_valid_o,
  output logic [63:0]  wire_data_o[Links],
  output logic [7:0]   wire_keep_o[Links],
  output logic [3:0]   wire_last_o,
  output logic [3:0]   wire_error_o,
  input  logic [3:0]   wire_valid_i,
  input  logic [63:0]  wire_data_i[Links],
  input  logic [7:0]   wire_keep_i[Links],
  input  logic [3:0]   wire_last_i,
  input  logic [3:0]   wire_error_i,
  /// unroutable packets, invalid records
  output logic [9:0]   unroutable_o,
  output gs_multicast_pkg::router_faults_t [5:0] bad_o
);
  localparam int unsigned Exits = RouterMeshPorts;
  // Frames that hold the longest packet, two of them in flight; buffers for one packet.
  localparam gs_link_pkg::shape_t Least = '{
    frame_bytes: 572, least_bytes: 60, window: 2, rx_buffers: 2, tx_words: 256, tx_flits: 64, rx_flits: 64,
    hello_cycles: 256, probe_cycles: 64, keep_cycles: 512, dead_cycles: 6000
  };

  flit_t in[Ports], out[Ports];
  logic [3:0] mesh_in[Exits], mesh_in_credit[Exits], mesh_out[Exits], mesh_out_credit[Exits];
  channels_t local_in[Locals], local_in_credit[Locals], local_out[Locals], local_out_credit[Locals];
  logic [Links-1:0] tx_valid, tx_ready, tx_last;
  logic [63:0] tx_data[Links];
  logic [7:0] tx_keep[Links];
  gs_idle_pkg::idle_status_t [0:0][Exits+Links-1:0] unused_idle;
  logic [Exits+Links+Locals-1:0] unused_entered;
  logic unused_empty;
  gs_idle_pkg::idle_entry_t [0:0][Links-1:0] unused_entry;
  gs_link_pkg::events_t unused_events[Links];
  gs_link_pkg::counters_t unused_counters[Links];
  logic [31:0] unused_dest[Exits+Links+Locals], unused_lost[Links], unused_damaged[Links];

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
    end else begin : gen_local
      for (genvar v = 0; v < 4; v++) begin : gen_network
        assign local_in[p-Exits][2*v+:2] = {1'b0, in_valid_i[I][v]};
        assign in_credit_o[I][v] = local_in_credit[p-Exits][2*v];
        assign out_valid_o[I][v] = local_out[p-Exits][2*v];
        assign local_out_credit[p-Exits][2*v+:2] = {1'b0, out_credit_i[I][v]};
      end
    end
  end

  gs_board_network #(
    .Links  (Links),
    .Locals (Locals),
    .Control('{first: 8'(Exits + Links), count: 8'd1}),
    .Streams('{first: 8'(Exits + Links + 2), count: 8'd2}),
    .TableW (6),
    .CacheW (2),
    .Shape  (Least)
  ) u_network (
    .clk_i,
    .rst_ni,
    .board_i,
    .job_i             (5'd5),
    .wave_i            ('0),
    .clear_i           (1'b0),
    .host_i            ('0),
    .burst_i           (8'd8),
    .flush_i           (1'b0),
    .cut_i             ('0),
    .ready_o,
    .table_we_i,
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
    .mac_tx_valid_o    (tx_valid),
    .mac_tx_ready_i    (tx_ready),
    .mac_tx_data_o     (tx_data),
    .mac_tx_keep_o     (tx_keep),
    .mac_tx_last_o     (tx_last),
    .mac_rx_valid_i    (wire_valid_i),
    .mac_rx_data_i     (wire_data_i),
    .mac_rx_keep_i     (wire_keep_i),
    .mac_rx_last_i     (wire_last_i),
    .mac_rx_error_i    (wire_error_i),
    .up_o,
    .events_o          (unused_events),
    .counters_o        (unused_counters),
    .req_valid_o,
    .req_ready_i       (1'b1),
    .req_beat_o,
    .req_tag_o,
    .rsp_valid_i,
    .rsp_ready_o,
    .rsp_tag_i,
    .rsp_i,
    .idle_o            (unused_idle),
    .entry_o           (unused_entry),
    .unroutable_o,
    .unroutable_dest_o     (unused_dest),
    .unroutable_message_o(),
    .unroutable_job_o(),
    .bad_o,
    .entered_o         (unused_entered),
    .in_flight_o,
    .empty_o           (unused_empty)
  );

  for (genvar l = 0; l < Links; l++) begin : gen_wire
    gs_mac_model #(.BitsPerKilocycle(40_000)) u_wire (
      .clk_i,
      .rst_ni,
      .seed_i   (seed_i + 32'(l)),
      .loss_i,
      .damage_i (loss_i),
      .cut_i    (1'b0),
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
      .lost_o   (unused_lost[l]),
      .damaged_o(unused_damaged[l])
    );
  end
endmodule
