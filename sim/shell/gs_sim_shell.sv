// SPDX-License-Identifier: Apache-2.0

/// The Ethernet shell for simulation: the firmware is read at the start of the simulation (+firmware=FILE), so that
/// another one needs no new model. The configuration port has two sources, the shell and the local port.
module gs_sim_shell #(
  parameter int unsigned RingLog2   = 13,
  parameter int unsigned PlaceLog2  = 12,
  parameter int unsigned PlacesLog2 = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  /// 1 for a cycle in each millisecond
  input  logic             ms_i,
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
  input  logic [15:0]      mtu_i,
  input  logic [8:0][15:0] types_i,        ///< EtherTypes in the order of the enumeration ethertype
  /// a number that differs after each reset and that no one can guess
  input  logic [63:0]      entropy_i,
  // MAC
  input  logic [7:0]       rx_data_i,
  input  logic             rx_valid_i,
  input  logic             rx_last_i,
  input  logic             rx_error_i,
  output logic [7:0]       tx_data_o,
  output logic             tx_valid_o,
  input  logic             tx_ready_i,
  output logic             tx_last_o,
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
  // The local source of the configuration port
  input  logic             local_request_i,
  output logic             local_grant_o,
  input  logic             local_valid_i,
  output logic             local_ready_o,
  input  logic [31:0]      local_data_i,
  input  logic [2:0]       local_bytes_i,
  input  logic             local_last_i,
  output logic             local_done_o,
  output logic             local_error_o,
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
  output logic             pause_o,        ///< the ring or the queue is half full: the MAC may pause its peer (802.3x)
  output logic             overrun_o,      ///< a frame was lost because the ring or the queue is full
  output logic [31:0]      pc_o            ///< address of the processor's instruction
);
  logic        shell_request, shell_grant, shell_valid, shell_ready, shell_last, shell_done, shell_error;
  logic [31:0] shell_data;
  logic [2:0]  shell_bytes;
  assign pc_o = i_shell.trap_pc;
  gs_shell #(
    .RingLog2  (RingLog2),
    .PlaceLog2 (PlaceLog2),
    .PlacesLog2(PlacesLog2)
  ) i_shell (
    .config_request_o(shell_request),
    .config_grant_i  (shell_grant),
    .config_valid_o  (shell_valid),
    .config_ready_i  (shell_ready),
    .config_data_o   (shell_data),
    .config_bytes_o  (shell_bytes),
    .config_last_o   (shell_last),
    .config_done_i   (shell_done),
    .config_error_i  (shell_error),
    .local_busy_i    (local_grant_o),
    .local_done_i    (local_done_o),
    .local_error_i   (local_error_o),
    .*
  );
  gs_config_mux #(
    .Sources(2)
  ) i_mux (
    .clk_i,
    .rst_ni,
    .request_i     ({shell_request, local_request_i}),
    .grant_o       ({shell_grant, local_grant_o}),
    .valid_i       ({shell_valid, local_valid_i}),
    .ready_o       ({shell_ready, local_ready_o}),
    .data_i        ({shell_data, local_data_i}),
    .bytes_i       ({shell_bytes, local_bytes_i}),
    .last_i        ({shell_last, local_last_i}),
    .done_o        ({shell_done, local_done_o}),
    .error_o       ({shell_error, local_error_o}),
    .port_request_o(config_request_o),
    .port_grant_i  (config_grant_i),
    .port_valid_o  (config_valid_o),
    .port_ready_i  (config_ready_i),
    .port_data_o   (config_data_o),
    .port_bytes_o  (config_bytes_o),
    .port_last_o   (config_last_o),
    .port_done_i   (config_done_i),
    .port_error_i  (config_error_i)
  );

  string file;
  initial begin
    if (!$value$plusargs("firmware=%s", file)) $fatal(1, "gs_sim_shell: give the firmware as +firmware=FILE");
    $readmemh(file, i_shell.i_processor.mem);
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && i_shell.trap && !watchdog_o)
      $display("shell_rtl: the processor has stopped at %08x", i_shell.trap_pc);
  end
endmodule
