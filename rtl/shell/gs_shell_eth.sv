// SPDX-License-Identifier: Apache-2.0

/// The Ethernet shell with its MAC: gs_shell and gs_eth_mac_rgmii, from the pins of a PHY to memory, configuration port
/// and role. Ports that both have are described there.
///
///     PHY --RGMII-- gs_eth_mac_rgmii --bytes, clk_i-- gs_shell -- memory, configuration port, role
///         clock of the PHY, tx_clk_i | clk_i
///
/// All clock crossings are those of the MAC. `rst_ni` is in `clk_i` and may last one cycle: the MAC ignores the rest of
/// a frame that arrives, and cuts the one that it sends. The shell accepts a byte in each cycle, so `clk_i` is not
/// slower than 125 MHz by more than 200 ppm.
module gs_shell_eth #(
  /// most bytes of a frame after its Ethernet header: 1500 or 9000
  parameter int unsigned Mtu         = 1500,
  /// cycles of clk_i in a millisecond
  parameter int unsigned CyclesPerMs = 125_000,
  /// of gs_eth_mac_rgmii
  parameter bit          Ecp5        = 1'b0,
  parameter bit          InBand      = 1'b1,
  parameter int unsigned RxDelay     = 0,
  /// of gs_shell; a place holds a frame
  parameter int unsigned RingLog2    = 12,
  parameter int unsigned PlaceLog2   = 9,
  parameter int unsigned PlacesLog2  = 2,
  parameter int unsigned BlocksLog2  = 11,
  parameter logic [31:0] ImageBase   = 32'h0400_0000,
  parameter int unsigned RamBytes    = 65536,
  parameter string       Firmware    = "",
  parameter int unsigned Links       = 4,
  parameter int unsigned RoleWait    = 4096
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  /// clock of transmission, 125 MHz, and the same a quarter of its period later (docs/hardware/ethernet-mac.md)
  input  logic             tx_clk_i,
  input  logic             tx_clk90_i,
  // What distinguishes the board; constant
  input  logic [47:0]      mac_i,
  input  logic [255:0]     key_i,          ///< first byte in the highest bits
  input  logic [255:0]     next_key_i,     ///< the key that replaces it when a session opens with it
  input  logic             next_key_valid_i,
  input  logic [15:0]      vendor_i,
  input  logic [15:0]      product_i,
  input  logic [31:0]      board_type_i,
  input  logic [63:0]      serial_i,
  input  logic [31:0]      boot_i,
  input  logic [31:0]      memory_bytes_i,
  input  logic [31:0]      image_max_i,    ///< bytes
  input  logic [8:0][15:0] types_i,        ///< EtherTypes in the order of the enumeration ethertype
  /// a number that differs after each reset and that no one can guess
  input  logic [63:0]      entropy_i,
  // PHY
  input  logic             rgmii_rxc_i,
  input  logic [3:0]       rgmii_rxd_i,
  input  logic             rgmii_rx_ctl_i,
  output logic             rgmii_txc_o,
  output logic [3:0]       rgmii_txd_o,
  output logic             rgmii_tx_ctl_o,
  input  gs_eth_pkg::speed_e speed_i,      ///< of the PHY, without InBand
  output logic             link_o,
  output logic             duplex_o,
  output gs_eth_pkg::speed_e speed_o,
  output gs_eth_pkg::counters_t counters_o,  ///< frames of the MAC
  // Memory, AXI4 with 64 bits
  output logic             aw_valid_o,
  input  logic             aw_ready_i,
  output logic [31:0]      aw_addr_o,
  output logic             w_valid_o,
  input  logic             w_ready_i,
  output logic [63:0]      w_data_o,
  output logic [7:0]       w_strb_o,
  input  logic             b_valid_i,
  input  logic             b_error_i,
  output logic             ar_valid_o,
  input  logic             ar_ready_i,
  output logic [31:0]      ar_addr_o,
  output logic [7:0]       ar_len_o,
  input  logic             r_valid_i,
  output logic             r_ready_o,
  input  logic [63:0]      r_data_i,
  input  logic             r_error_i,
  // Configuration port: request and grant, then the body of the image in words; the port says how it ended
  output logic             config_request_o,
  input  logic             config_grant_i,
  output logic             config_valid_o,
  input  logic             config_ready_i,
  output logic [31:0]      config_data_o,
  output logic [2:0]       config_bytes_o,
  output logic             config_last_o,
  input  logic             config_done_i,
  input  logic             config_error_i,
  // Store of keys, which survives a reset: 8 words of the key, then 8 of the next one or none. Words have their first
  // byte in the lowest bits. All are stored, or the store keeps what it has and fails, as it does after another number
  // of words. A board without a store is always ready, done and failed
  output logic             store_valid_o,
  input  logic             store_ready_i,
  output logic [31:0]      store_data_o,
  output logic             store_last_o,
  input  logic             store_done_i,   ///< 1 for a cycle after the last word
  input  logic             store_failed_i, ///< with store_done_i
  // The local source of the configuration port (gs_config_mux). The role is stopped while it has the port
  input  logic             local_busy_i,
  input  logic             local_done_i,   ///< 1 for a cycle: its image has ended, and is the role unless it failed
  input  logic             local_error_i,  ///< with local_done_i
  input  logic [127:0]     local_role_i,   ///< first 16 bytes of the root of its last image, first byte highest
  // Role
  output logic             role_stop_o,    ///< held: the role is in reset, and its ports are idle
  input  logic             role_idle_i,    ///< no kernel runs
  output logic             role_start_o,
  output logic [31:0]      role_kernel_o,
  input  logic             role_done_i,
  input  logic [31:0]      role_code_i,
  input  logic [63:0]      role_result_address_i,
  input  logic [63:0]      role_result_bytes_i,
  input  logic [15:0]      role_streams_i,
  // Registers of the role: a request is held until it is acknowledged
  output logic             register_valid_o,
  output logic             register_write_o,
  output logic [31:0]      register_address_o,
  output logic [31:0]      register_data_o,
  input  logic             register_ready_i,
  input  logic [31:0]      register_data_i,
  // Packets to the role, and from it; words of at most four bytes, the last of a packet may have fewer
  output logic             stream_valid_o,
  input  logic             stream_ready_i,
  output logic [31:0]      stream_data_o,
  output logic [2:0]       stream_bytes_o,
  output logic             stream_last_o,
  output logic [7:0]       stream_dest_o,
  input  logic [7:0]       stream_wanted_i,  ///< streams for which the role would take a packet
  input  logic             stream_valid_i,
  output logic             stream_ready_o,
  input  logic [31:0]      stream_data_i,
  input  logic [2:0]       stream_bytes_i,
  input  logic             stream_last_i,
  input  logic [7:0]       stream_dest_i,
  // Frames of the role's links to other boards, a byte a cycle. Those from other boards come without back-pressure, and
  // frames of different links may interleave; with an error at the end, a frame is damaged and its last byte is none
  input  logic [15:0]      role_links_i,     ///< links of the role
  output logic             link_valid_o,
  output logic [7:0]       link_data_o,
  output logic             link_last_o,
  output logic             link_error_o,
  output logic [1:0]       link_dest_o,
  input  logic             link_valid_i,     ///< frames of at most 16,383 bytes, one after the other
  output logic             link_ready_o,
  input  logic [7:0]       link_data_i,
  input  logic             link_last_i,
  input  logic [1:0]       link_dest_i,
  // Status
  output logic             watchdog_o,     ///< the processor has stopped: the shell needs a reset
  output logic             pause_o,        ///< the ring or the queue is half full: the MAC pauses its peer
  output logic             overrun_o       ///< a frame was lost because the ring is full
);
  localparam int unsigned HeadBytes = 14, FcsBytes = 4;
  if (Mtu < 1500 || Mtu > 9000) begin : gen_illegal_mtu
    $fatal(1, "gs_shell_eth: Mtu is %0d; it must be 1500 to 9000 bytes", Mtu);
  end
  if ((4 << PlaceLog2) < Mtu + HeadBytes) begin : gen_illegal_place
    $fatal(1, "gs_shell_eth: PlaceLog2 is %0d; a place of %0d bytes holds no frame of %0d", PlaceLog2, 4 << PlaceLog2,
           Mtu + HeadBytes);
  end
  if ((4 << RingLog2) < 4 * (Mtu + HeadBytes)) begin : gen_illegal_ring
    $fatal(1, "gs_shell_eth: RingLog2 is %0d; the ring must hold four frames of %0d bytes", RingLog2, Mtu + HeadBytes);
  end
  if (CyclesPerMs < 2) begin : gen_illegal_ms
    $fatal(1, "gs_shell_eth: CyclesPerMs is %0d; it must be 2 or more", CyclesPerMs);
  end

  localparam int unsigned MsW = $clog2(CyclesPerMs);
  logic [MsW-1:0] cycle_q;
  logic           ms_q;
  always_ff @(posedge clk_i) begin
    ms_q    <= cycle_q == MsW'(CyclesPerMs - 1);
    cycle_q <= cycle_q == MsW'(CyclesPerMs - 1) ? '0 : cycle_q + 1'b1;
    if (!rst_ni) begin
      ms_q    <= 1'b0;
      cycle_q <= '0;
    end
  end

  logic [7:0] rx_data, tx_data;
  logic       rx_valid, rx_last, rx_error, tx_valid, tx_ready, tx_last;
  gs_eth_mac_rgmii #(
    .MaxBytes(HeadBytes + Mtu + FcsBytes),
    .Ecp5    (Ecp5),
    .InBand  (InBand),
    .RxDelay (RxDelay)
  ) u_mac (
    .clk_i,
    .rst_ni,
    .tx_clk_i,
    .tx_clk90_i,
    .speed_i,
    .rx_axis_tdata_o (rx_data),
    .rx_axis_tvalid_o(rx_valid),
    .rx_axis_tready_i(1'b1),
    .rx_axis_tlast_o (rx_last),
    .rx_axis_tuser_o (rx_error),
    .tx_axis_tdata_i (tx_data),
    .tx_axis_tvalid_i(tx_valid),
    .tx_axis_tready_o(tx_ready),
    .tx_axis_tlast_i (tx_last),
    .mac_i,
    .pause_i         (pause_o),
    .counters_o,
    .link_o,
    .duplex_o,
    .speed_o,
    .rgmii_rxc_i,
    .rgmii_rxd_i,
    .rgmii_rx_ctl_i,
    .rgmii_txc_o,
    .rgmii_txd_o,
    .rgmii_tx_ctl_o
  );

  gs_shell #(
    .RingLog2  (RingLog2),
    .PlaceLog2 (PlaceLog2),
    .PlacesLog2(PlacesLog2),
    .BlocksLog2(BlocksLog2),
    .ImageBase (ImageBase),
    .RamBytes  (RamBytes),
    .Firmware  (Firmware),
    .Links     (Links),
    .RoleWait  (RoleWait)
  ) u_shell (
    .ms_i      (ms_q),
    .mtu_i     (16'(Mtu)),
    .rx_data_i (rx_data),
    .rx_valid_i(rx_valid),
    .rx_last_i (rx_last),
    .rx_error_i(rx_error),
    .tx_data_o (tx_data),
    .tx_valid_o(tx_valid),
    .tx_ready_i(tx_ready),
    .tx_last_o (tx_last),
    .*
  );
endmodule
