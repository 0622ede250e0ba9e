// SPDX-License-Identifier: Apache-2.0

/// The surroundings of a simulated board: models of its memories, and of the wires of its links.
///
/// Words of a link leave when their last bits have been sent, after one cycle of the flight time; the simulator models
/// the rest of the flight.
module gs_sim_surroundings
  import gs_board_memory_pkg::*;
  import gossamer_pkg::*;
#(
  /// simulated links, 1 to 8
  parameter int unsigned Links = 4
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // Memories of the board
  input  logic                  mem_req_valid_i[Memories],
  output logic                  mem_req_ready_o[Memories],
  input  mem_req_t              mem_req_i[Memories],
  output logic                  mem_rsp_valid_o[Memories],
  input  logic                  mem_rsp_ready_i[Memories],
  output mem_rsp_t              mem_rsp_o[Memories],
  // MACs of the board
  input  logic     [Links-1:0]  mac_tx_valid_i,
  output logic     [Links-1:0]  mac_tx_ready_o,
  input  logic [8*LinksDatapathBytes-1:0] mac_tx_data_i[Links],
  input  logic [LinksDatapathBytes-1:0] mac_tx_keep_i[Links],
  input  logic     [Links-1:0]  mac_tx_last_i,
  output logic     [Links-1:0]  mac_rx_valid_o,
  output logic [8*LinksDatapathBytes-1:0] mac_rx_data_o[Links],
  output logic [LinksDatapathBytes-1:0] mac_rx_keep_o[Links],
  output logic     [Links-1:0]  mac_rx_last_o,
  output logic     [Links-1:0]  mac_rx_error_o,
  input  logic     [Links-1:0]  up_i,
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
  output logic     [31:0]           lost_o[Links]
);
  localparam int unsigned BitsPerKilocycle = 32'((64'(LinksRateMbps) * 64'd1_000_000_000) / 64'(ClockHz));
  // Preamble before a frame; check sum and gap after it.
  localparam int unsigned Preamble = 8;
  localparam int unsigned Trailer = (LinksOverheadBytes > Preamble) ? LinksOverheadBytes - Preamble : 0;

  for (genvar p = 0; p < DramCount; p++) begin : gen_port
    localparam int unsigned First = p * PortMemories;
    gs_sim_memory_models #(
      .Srams    (PortSrams),
      .mem_req_t(mem_req_t),
      .mem_rsp_t(mem_rsp_t)
    ) u_models (
      .clk_i,
      .rst_ni,
      .req_valid_i(mem_req_valid_i[First:First+PortMemories-1]),
      .req_ready_o(mem_req_ready_o[First:First+PortMemories-1]),
      .req_i      (mem_req_i[First:First+PortMemories-1]),
      .rsp_valid_o(mem_rsp_valid_o[First:First+PortMemories-1]),
      .rsp_ready_i(mem_rsp_ready_i[First:First+PortMemories-1]),
      .rsp_o      (mem_rsp_o[First:First+PortMemories-1])
    );
  end

  for (genvar l = 0; l < Links; l++) begin : gen_wire
    logic [31:0] lost, damaged;
    // Words of the wire
    logic tx_valid, tx_ready, tx_last;
    logic [63:0] tx_data;
    logic [7:0] tx_keep;

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
      .valid_i  (tx_valid),
      .ready_o  (tx_ready),
      .data_i   (tx_data),
      .keep_i   (tx_keep),
      .last_i   (tx_last),
      .valid_o  (tx_valid_o[l]),
      .data_o   (tx_data_o[l]),
      .keep_o   (tx_keep_o[l]),
      .last_o   (tx_last_o[l]),
      .error_o  (tx_error_o[l]),
      .lost_o   (lost),
      .damaged_o(damaged)
    );
    assign lost_o[l] = lost + damaged;
    if (LinksDatapathBytes == 8) begin : gen_words
      assign {tx_valid, tx_data, tx_keep, tx_last} =
          {mac_tx_valid_i[l], mac_tx_data_i[l], mac_tx_keep_i[l], mac_tx_last_i[l]};
      assign mac_tx_ready_o[l] = tx_ready;
      assign mac_rx_valid_o[l] = rx_valid_i[l];
      assign mac_rx_data_o[l]  = rx_data_i[l];
      assign mac_rx_keep_o[l]  = rx_keep_i[l];
      assign mac_rx_last_o[l]  = rx_last_i[l];
      assign mac_rx_error_o[l] = rx_error_i[l];
    end else begin : gen_beats
      gs_mac_beats u_beats (
        .clk_i,
        .rst_ni,
        .tx_valid_i(mac_tx_valid_i[l]),
        .tx_ready_o(mac_tx_ready_o[l]),
        .tx_data_i (mac_tx_data_i[l]),
        .tx_keep_i (mac_tx_keep_i[l]),
        .tx_last_i (mac_tx_last_i[l]),
        .rx_valid_o(mac_rx_valid_o[l]),
        .rx_data_o (mac_rx_data_o[l]),
        .rx_keep_o (mac_rx_keep_o[l]),
        .rx_last_o (mac_rx_last_o[l]),
        .rx_error_o(mac_rx_error_o[l]),
        .valid_o   (tx_valid),
        .ready_i   (tx_ready),
        .data_o    (tx_data),
        .keep_o    (tx_keep),
        .last_o    (tx_last),
        .valid_i   (rx_valid_i[l]),
        .data_i    (rx_data_i[l]),
        .keep_i    (rx_keep_i[l]),
        .last_i    (rx_last_i[l]),
        .error_i   (rx_error_i[l])
      );
    end
    assign up_o[l] = up_i[l];
  end
endmodule
