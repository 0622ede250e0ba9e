// SPDX-License-Identifier: Apache-2.0

/// The blocks of the Ethernet shell for tests of each alone: the receive path and the transmitter share a hasher, as in
/// gs_shell; the memory's ports have the names that cocotbext-axi looks for.
module blocks_top #(
  parameter int unsigned RingLog2   = 10,
  parameter int unsigned FramesLog2 = 3,
  parameter int unsigned BlocksLog2 = 2,
  localparam int unsigned OffsetW   = BlocksLog2 + 17
) (
  input  logic                clk_i,
  input  logic                rst_n,
  // Receive path
  /// error, last, valid, data of the MAC
  input  logic [10:0]         rx,
  input  logic [RingLog2:0]   rx_tail,
  /// another requester has the ring's read port
  input  logic                ring_stall,
  input  logic                session,
  input  logic [255:0]        session_h,
  input  logic                pop,
  /// a judged frame waits, queue half full, overrun, bad, seen
  output logic [4:0]          rx_events,
  output logic [RingLog2:0]   judged_start,
  output logic [15:0]         judged_length,
  output logic                judged_authentic,
  // Transmitter
  input  logic                tx_write,
  output logic                tx_write_ready,
  input  logic [8:0]          tx_addr,
  input  logic [31:0]         tx_word,
  output logic                tx_free,
  output logic [1:0]          tx_place,
  input  logic                tx_send,
  input  logic [15:0]         tx_length,
  input  logic                tx_seal,
  output logic [7:0]          tx_data,
  output logic                tx_valid,
  input  logic                tx_ready,
  output logic                tx_last,
  // Two more users of the hasher
  input  logic [1:0]          hash_valid,
  output logic [1:0]          hash_ready,
  input  logic [1:0][31:0]    hash_word,
  input  logic [1:0]          hash_first,
  input  logic [1:0][255:0]   hash_start,
  input  logic [1:0][31:0]    hash_count,
  input  logic [1:0]          hash_last,
  input  logic [1:0]          hash_single,
  output logic [1:0]          hash_done,
  output logic [1:0][255:0]   hash_h,
  // Writer and reader of memory
  input  logic                write_start,
  input  logic [31:0]         write_address,
  input  logic [16:0]         write_bytes,
  output logic                write_done,
  output logic                write_fail,
  input  logic                write_valid,
  output logic                write_ready,
  input  logic [31:0]         write_word,
  input  logic                read_start,
  input  logic [31:0]         read_address,
  input  logic [31:0]         read_bytes,
  output logic                read_busy,
  output logic                read_fail,
  output logic                read_valid,
  input  logic                read_ready,
  output logic [31:0]         read_word,
  output logic                read_last,
  output logic [2:0]          read_count,
  output logic [0:0]          m_axi_awid,
  output logic [31:0]         m_axi_awaddr,
  output logic [7:0]          m_axi_awlen,
  output logic [2:0]          m_axi_awsize,
  output logic [1:0]          m_axi_awburst,
  output logic                m_axi_awvalid,
  input  logic                m_axi_awready,
  output logic [63:0]         m_axi_wdata,
  output logic [7:0]          m_axi_wstrb,
  output logic                m_axi_wlast,
  output logic                m_axi_wvalid,
  input  logic                m_axi_wready,
  input  logic [0:0]          m_axi_bid,
  input  logic [1:0]          m_axi_bresp,
  input  logic                m_axi_bvalid,
  output logic                m_axi_bready,
  output logic [0:0]          m_axi_arid,
  output logic [31:0]         m_axi_araddr,
  output logic [7:0]          m_axi_arlen,
  output logic [2:0]          m_axi_arsize,
  output logic [1:0]          m_axi_arburst,
  output logic                m_axi_arvalid,
  input  logic                m_axi_arready,
  input  logic [0:0]          m_axi_rid,
  input  logic [63:0]         m_axi_rdata,
  input  logic [1:0]          m_axi_rresp,
  input  logic                m_axi_rlast,
  input  logic                m_axi_rvalid,
  output logic                m_axi_rready,
  // Packets of the role
  input  logic                packet_valid,
  output logic                packet_ready,
  input  logic [31:0]         packet_data,
  input  logic [2:0]          packet_bytes,
  input  logic                packet_last,
  input  logic [7:0]          packet_dest,
  input  logic                packet_read,
  input  logic [5:0]          packet_addr,
  output logic [31:0]         packet_word,
  output logic                packet_out,
  input  logic                packet_pop,
  output logic [5:0]          packet_start,
  output logic [15:0]         packet_length,
  output logic [7:0]          packet_to,
  // Guard of the image
  input  logic                image_begin,
  input  logic [OffsetW-1:0]  image_body_at,
  input  logic [31:0]         image_manifest_bytes,
  input  logic [31:0]         image_body_bytes,
  input  logic [255:0]        image_root,
  input  logic                image_discard,
  input  logic                image_write,
  input  logic [OffsetW-1:0]  image_write_at,
  input  logic [16:0]         image_write_bytes,
  output logic                image_write_done,
  output logic                image_write_allowed,
  input  logic                image_writing,
  input  logic                image_check,
  input  logic                image_check_manifest,
  input  logic [BlocksLog2-1:0] image_check_block,
  output logic                image_check_done,
  output logic                image_check_good,
  input  logic                image_load,
  output logic                image_load_done,
  output logic                image_load_refused,
  output logic                image_verified,
  output logic                image_read,
  output logic [OffsetW-1:0]  image_read_at,
  output logic [31:0]         image_read_bytes,
  input  logic                image_read_ended,
  input  logic                image_read_failed,
  output logic                image_to_hash,
  output logic                image_to_expected,
  output logic                image_to_config,
  input  logic                image_word_valid,
  input  logic [31:0]         image_word,
  input  logic                image_hashed,
  input  logic [255:0]        image_digest
);
  // Registers and inputs begin at random: the blocks stay in reset until the first one.
  logic was_reset_q;
  initial was_reset_q = 1'b0;
  logic rst_ni;
  always_ff @(posedge clk_i) if (!rst_n) was_reset_q <= 1'b1;
  assign rst_ni = rst_n && was_reset_q;

  typedef logic [RingLog2:0] ptr_t;
  logic seen, bad, overrun, crowded, judged;
  assign rx_events = {judged, crowded, overrun, bad, seen};

  // ------------------------------------------------------------------------------------------- receive path
  logic                ring_write, frame_valid, frame_tagged, frame_link, frame_room, ring_read, judged_link;
  logic [RingLog2-1:0] ring_waddr, ring_raddr;
  logic [31:0]         ring_wdata, ring_rdata;
  ptr_t                frame_start;
  logic [15:0]         frame_length;
  logic [31:0]         ring[1 << RingLog2];
  always_ff @(posedge clk_i) begin
    if (ring_write) ring[ring_waddr] <= ring_wdata;
    // Another requester's word appears in the cycles in which the tag has no grant.
    ring_rdata <= ring_read && !ring_stall ? ring[ring_raddr] : 32'hDEAD_BEEF;
  end

  gs_shell_rx #(
    .WordsLog2(RingLog2)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .mac_i         (48'h02_46_53_00_00_07),
    .types_i       ({
      16'h88B6, 16'h88B5, 16'h80CB, 16'h80CC, 16'h80DB, 16'h80DD, 16'h80AB, 16'h80AA, 16'h80EF}),
    .data_i        (rx[7:0]),
    .valid_i       (rx[8]),
    .last_i        (rx[9]),
    .error_i       (rx[10]),
    .wvalid_o      (ring_write),
    .waddr_o       (ring_waddr),
    .wdata_o       (ring_wdata),
    .tail_i        (rx_tail),
    .frame_valid_o (frame_valid),
    .frame_start_o (frame_start),
    .frame_length_o(frame_length),
    .frame_tagged_o(frame_tagged),
    .frame_link_o  (frame_link),
    .frame_room_i  (frame_room),
    .seen_o        (seen),
    .bad_o         (bad),
    .overrun_o     (overrun)
  );

  logic [3:0]            h_valid, h_ready, h_first, h_last, h_done;
  logic [3:0][31:0]      h_word, h_count;
  logic [3:0][7:0][31:0] h_digest;
  assign h_valid[3:2] = hash_valid;
  assign h_first[3:2] = hash_first;
  assign h_last[3:2]  = hash_last;
  assign h_word[3:2]  = hash_word;
  assign h_count[3:2] = hash_count;
  assign hash_ready   = h_ready[3:2];
  assign hash_done    = h_done[3:2];
  assign hash_h       = {h_digest[3], h_digest[2]};
  gs_shell_hasher #(
    .Users(4)
  ) u_hasher (
    .clk_i,
    .rst_ni,
    .valid_i (h_valid),
    .ready_o (h_ready),
    .word_i  (h_word),
    .first_i (h_first),
    .h_i     ({hash_start, session_h, session_h}),
    .count_i (h_count),
    .last_i  (h_last),
    .single_i({hash_single, 2'b00}),
    .done_o  (h_done),
    .h_o     (h_digest)
  );

  gs_shell_tag #(
    .WordsLog2 (RingLog2),
    .FramesLog2(FramesLog2)
  ) u_tag (
    .clk_i,
    .rst_ni,
    .in_valid_i     (frame_valid),
    .in_room_o      (frame_room),
    .in_start_i     (frame_start),
    .in_length_i    (frame_length),
    .in_tagged_i    (frame_tagged),
    .in_link_i      (frame_link),
    .session_i      (session),
    .crowded_o      (crowded),
    .calm_o         (),
    .read_valid_o   (ring_read),
    .read_ready_i   (!ring_stall),
    .read_addr_o    (ring_raddr),
    .read_data_i    (ring_rdata),
    .hash_valid_o   (h_valid[0]),
    .hash_ready_i   (h_ready[0]),
    .hash_word_o    (h_word[0]),
    .hash_first_o   (h_first[0]),
    .hash_count_o   (h_count[0]),
    .hash_last_o    (h_last[0]),
    .hash_done_i    (h_done[0]),
    .hash_h_i       (h_digest[0]),
    .out_valid_o    (judged),
    .out_ready_i    (pop),
    .out_start_o    (judged_start),
    .out_length_o   (judged_length),
    .out_authentic_o(judged_authentic),
    .out_link_o     (judged_link)
  );

  gs_shell_tx #(
    .PlaceLog2 (9),
    .PlacesLog2(2)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .write_valid_i(tx_write),
    .write_ready_o(tx_write_ready),
    .write_addr_i (tx_addr),
    .write_data_i (tx_word),
    .free_o       (tx_free),
    .place_o      (tx_place),
    .send_i       (tx_send),
    .length_i     (tx_length),
    .seal_i       (tx_seal),
    .hash_valid_o (h_valid[1]),
    .hash_ready_i (h_ready[1]),
    .hash_word_o  (h_word[1]),
    .hash_first_o (h_first[1]),
    .hash_count_o (h_count[1]),
    .hash_last_o  (h_last[1]),
    .hash_done_i  (h_done[1]),
    .hash_h_i     (h_digest[1]),
    .data_o       (tx_data),
    .valid_o      (tx_valid),
    .ready_i      (tx_ready),
    .last_o       (tx_last),
    .sent_o       ()
  );

  // ------------------------------------------------------------------------------------------- memory
  assign m_axi_awid    = '0;
  assign m_axi_awlen   = '0;
  assign m_axi_awsize  = 3'd3;
  assign m_axi_awburst = 2'd1;
  assign m_axi_wlast   = 1'b1;
  assign m_axi_bready  = 1'b1;
  assign m_axi_arid    = '0;
  assign m_axi_arsize  = 3'd3;
  assign m_axi_arburst = 2'd1;
  gs_shell_writer u_writer (
    .clk_i,
    .rst_ni,
    .start_i     (write_start),
    .address_i   (write_address),
    .bytes_i     (write_bytes),
    .done_o      (write_done),
    .fail_o      (write_fail),
    .word_valid_i(write_valid),
    .word_ready_o(write_ready),
    .word_i      (write_word),
    .aw_valid_o  (m_axi_awvalid),
    .aw_ready_i  (m_axi_awready),
    .aw_addr_o   (m_axi_awaddr),
    .w_valid_o   (m_axi_wvalid),
    .w_ready_i   (m_axi_wready),
    .w_data_o    (m_axi_wdata),
    .w_strb_o    (m_axi_wstrb),
    .b_valid_i   (m_axi_bvalid),
    .b_error_i   (m_axi_bresp[1])
  );
  gs_shell_reader u_reader (
    .clk_i,
    .rst_ni,
    .start_i     (read_start),
    .address_i   (read_address),
    .bytes_i     (read_bytes),
    .busy_o      (read_busy),
    .fail_o      (read_fail),
    .word_valid_o(read_valid),
    .word_ready_i(read_ready),
    .word_o      (read_word),
    .word_last_o (read_last),
    .word_bytes_o(read_count),
    .ar_valid_o  (m_axi_arvalid),
    .ar_ready_i  (m_axi_arready),
    .ar_addr_o   (m_axi_araddr),
    .ar_len_o    (m_axi_arlen),
    .r_valid_i   (m_axi_rvalid),
    .r_ready_o   (m_axi_rready),
    .r_data_i    (m_axi_rdata),
    .r_error_i   (m_axi_rresp[1])
  );

  // ------------------------------------------------------------------------------------------- packets and image
  gs_shell_packets #(
    .WordsLog2  (6),
    .PacketsLog2(2)
  ) u_packets (
    .clk_i,
    .rst_ni,
    .valid_i     (packet_valid),
    .ready_o     (packet_ready),
    .data_i      (packet_data),
    .bytes_i     (packet_bytes),
    .last_i      (packet_last),
    .dest_i      (packet_dest),
    .read_valid_i(packet_read),
    .read_addr_i (packet_addr),
    .read_data_o (packet_word),
    .out_valid_o (packet_out),
    .out_ready_i (packet_pop),
    .out_start_o (packet_start),
    .out_bytes_o (packet_length),
    .out_dest_o  (packet_to)
  );
  gs_shell_image #(
    .BlocksLog2(BlocksLog2)
  ) u_image (
    .clk_i,
    .rst_ni,
    .begin_i         (image_begin),
    .body_at_i       (image_body_at),
    .manifest_bytes_i(image_manifest_bytes),
    .body_bytes_i    (image_body_bytes),
    .root_i          (image_root),
    .discard_i       (image_discard),
    .write_i         (image_write),
    .write_at_i      (image_write_at),
    .write_bytes_i   (image_write_bytes),
    .write_done_o    (image_write_done),
    .write_allowed_o (image_write_allowed),
    .writing_i       (image_writing),
    .check_i         (image_check),
    .check_manifest_i(image_check_manifest),
    .check_block_i   (image_check_block),
    .check_done_o    (image_check_done),
    .check_good_o    (image_check_good),
    .load_i          (image_load),
    .load_done_o     (image_load_done),
    .load_refused_o  (image_load_refused),
    .busy_o          (),
    .verified_o      (image_verified),
    .good_o          (),
    .read_o          (image_read),
    .read_at_o       (image_read_at),
    .read_bytes_o    (image_read_bytes),
    .read_ended_i    (image_read_ended),
    .read_failed_i   (image_read_failed),
    .to_hash_o       (image_to_hash),
    .to_expected_o   (image_to_expected),
    .to_config_o     (image_to_config),
    .word_valid_i    (image_word_valid),
    .word_i          (image_word),
    .hashed_i        (image_hashed),
    .digest_i        (image_digest)
  );
endmodule
