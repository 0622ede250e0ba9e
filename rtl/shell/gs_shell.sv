// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// The Ethernet shell of a board: discovery, sessions, configuration, memory, kernels (docs/hardware/shell.md).
///
///     MAC -> gs_shell_rx -> ring -> gs_shell_tag -> gs_shell_fast -> processor (gs_rv32) -> gs_shell_tx -> MAC
///                            |                            |              |                      |
///                            |              gs_shell_messages, ---------|----------------------+
///                            |              gs_shell_links               |
///                            |                            |              |
///                            +--> gs_shell_writer <-------+--------------+
///                                        |
///                                        +--> memory --> gs_shell_reader --> tx, role's streams, configuration port
///
/// The hardware receives, checks checksums and tags, moves all bytes, executes writes that the firmware allows
/// (gs_shell_fast), and moves packets between frames and the role's streams (gs_shell_messages) and frames of its links
/// (gs_shell_links); the firmware (device/firmware) decides about the other frames. It cannot load an image that is not
/// whole: gs_shell_image guards that. The role may be missing or hang.
module gs_shell
  import gossamer_shell_pkg::*;
#(
  /// logarithm of the receive ring's words of 32 bits
  parameter  int unsigned RingLog2   = 12,
  /// logarithm of the words of a place for a frame to send, and of the places
  parameter  int unsigned PlaceLog2  = 9,
  parameter  int unsigned PlacesLog2 = 2,
  /// logarithm of the most blocks of 64 KiB of an image
  parameter  int unsigned BlocksLog2 = 11,
  /// address of the image in memory, a multiple of 64; the role's memory lies below. The image's area has
  /// 2**(BlocksLog2 + 17) bytes, behind it are 4 MiB for packets between host and role
  parameter  logic [31:0] ImageBase  = 32'h0400_0000,
  /// bytes of the processor's RAM, and its contents (gossamer.shell._firmware)
  parameter  int unsigned RamBytes   = 65536,
  parameter  string       Firmware   = "",
  /// virtual links to other boards, at most 4
  parameter  int unsigned Links      = 4,
  /// cycles after which a register of the role that does not answer has failed
  parameter  int unsigned RoleWait   = 4096
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
  output logic             pause_o,        ///< the ring or the queue was half full, and not yet less than a quarter:
                                           ///< the MAC may pause its peer (IEEE 802.3, annex 31B)
  output logic             overrun_o       ///< a frame was lost because the ring or the queue is full
);
  typedef logic [RingLog2:0] ptr_t;
  localparam int unsigned OffsetW = BlocksLog2 + 17;
  localparam int unsigned StreamLog2 = PlaceLog2 + 1;   // words of the ring for packets of the role
  localparam logic [31:0] PacketBase = ImageBase + (32'd1 << OffsetW);

  // ---------------------------------------------------------------------------------------------- time and counts
  logic [31:0] ms_q, seen_q, bad_q, overrun_q;
  logic        seen, bad, overrun;
  always_ff @(posedge clk_i) begin
    ms_q      <= ms_q + 32'(ms_i);
    seen_q    <= seen_q + 32'(seen);
    bad_q     <= bad_q + 32'(bad);
    overrun_q <= overrun_q + 32'(overrun);
    if (!rst_ni) begin
      ms_q       <= '0;
      seen_q     <= '0;
      bad_q      <= '0;
      overrun_q  <= '0;
    end
  end
  assign overrun_o = overrun;

  // The firmware must give a sign of life once a second.
  logic [31:0] silent_q;
  logic        alive, trap_seen;
  always_ff @(posedge clk_i) begin
    if (alive) silent_q <= '0;
    else if (!watchdog_o && ms_i) silent_q <= silent_q + 1;
    watchdog_o <= watchdog_o || trap_seen || silent_q == 32'd1000;
    if (!rst_ni) begin
      silent_q   <= '0;
      watchdog_o <= 1'b0;
    end
  end

  // ---------------------------------------------------------------------------------------------- receive
  logic                rx_write, xor_write, xor_read, xor_ready;
  logic [RingLog2-1:0] rx_addr, xor_at_q, xor_to_q;
  logic [31:0]         rx_word, xor_word;
  ptr_t                tail_q;
  logic                frame_valid, frame_tagged, frame_link, frame_room;
  ptr_t                frame_start;
  logic [15:0]         frame_length;
  gs_shell_rx #(
    .WordsLog2(RingLog2),
    .Types    (9)
  ) i_rx (
    .clk_i,
    .rst_ni,
    .mac_i,
    .types_i,
    .data_i        (rx_data_i),
    .valid_i       (rx_valid_i),
    .last_i        (rx_last_i),
    .error_i       (rx_error_i),
    .wvalid_o      (rx_write),
    .waddr_o       (rx_addr),
    .wdata_o       (rx_word),
    .tail_i        (tail_q),
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

  // Short frames fill the queue of frames before the ring.
  logic [RingLog2:0] ring_used;
  logic              crowded, calm;
  assign ring_used = frame_start - tail_q;
  always_ff @(posedge clk_i) begin
    if (ring_used[RingLog2] || ring_used[RingLog2-1] || crowded) pause_o <= 1'b1;
    else if (!ring_used[RingLog2-2] && calm) pause_o <= 1'b0;
    if (!rst_ni) pause_o <= 1'b0;
  end

  // One port reads the ring: tags, the writer of memory, XOR, headers of writes or link frames, the processor.
  logic                tag_read, tag_ready, source_read, fast_read, fast_ready, cpu_ring_read, cpu_ring_ready;
  logic [RingLog2-1:0] tag_addr, source_addr, fast_addr, ring_addr;
  logic [RingLog2-1:0] cpu_ring_addr;
  logic [31:0]         ring_data;
  logic                source_ready;
  logic                link_read;            // never with fast_read
  logic [RingLog2-1:0] link_addr;
  always_comb begin
    ring_addr = cpu_ring_addr;
    if (tag_read) ring_addr = tag_addr;
    else if (source_read) ring_addr = source_addr;
    else if (xor_read) ring_addr = xor_at_q;
    else if (fast_read) ring_addr = fast_addr;
    else if (link_read) ring_addr = link_addr;
  end
  assign tag_ready      = 1'b1;
  assign source_ready   = !tag_read;
  assign xor_ready      = !tag_read && !source_read;
  assign fast_ready     = !tag_read && !source_read && !xor_read;
  assign cpu_ring_ready = fast_ready && !fast_read && !link_read;
  gs_ram_sdp #(
    .Width(32),
    .Depth(1 << RingLog2),
    .Style("block")
  ) i_ring (
    .clk_i,
    .we_i   (rx_write || xor_write),
    .wstrb_i(1'b1),
    .waddr_i(rx_write ? rx_addr : xor_to_q),
    .wdata_i(rx_write ? rx_word : xor_word),
    .re_i   (tag_read || source_read || xor_read || fast_read || link_read || cpu_ring_read),
    .raddr_i(ring_addr),
    .rdata_o(ring_data)
  );

  // ---------------------------------------------------------------------------------------------- tags and hashes
  localparam int unsigned Users = 4;         // received frames, frames to send, images, the processor
  logic [Users-1:0]            hash_valid, hash_ready, hash_first, hash_last, hash_done;
  logic [Users-1:0][31:0]      hash_word, hash_count;
  logic [Users-1:0][7:0][31:0] hash_start, hash_h;
  logic [7:0][31:0]            session_key_q;
  logic                        session_q;
  // BLAKE2s without a key (RFC 7693): the initial values and the parameters of a digest of 32 bytes
  localparam logic [7:0][31:0] Unkeyed = {
    32'h5BE0CD19, 32'h1F83D9AB, 32'h9B05688C, 32'h510E527F, 32'hA54FF53A, 32'h3C6EF372, 32'hBB67AE85, 32'h6B08E647
  };
  logic [7:0][31:0]            chain_q;
  assign hash_start = {chain_q, Unkeyed, session_key_q, session_key_q};
  gs_shell_hasher #(
    .Users(Users)
  ) i_hasher (
    .clk_i,
    .rst_ni,
    .valid_i(hash_valid),
    .ready_o(hash_ready),
    .word_i (hash_word),
    .first_i(hash_first),
    .h_i    (hash_start),
    .count_i(hash_count),
    .last_i (hash_last),
    .single_i(4'b1000),
    .done_o (hash_done),
    .h_o    (hash_h)
  );

  logic        judged_valid, judged_authentic, judged_link, judged_ready, link_frame, link_frame_done;
  ptr_t        judged_start;
  logic [15:0] judged_length;
  gs_shell_tag #(
    .WordsLog2 (RingLog2),
    .FramesLog2(6)
  ) i_tag (
    .clk_i,
    .rst_ni,
    .in_valid_i     (frame_valid),
    .in_room_o      (frame_room),
    .in_start_i     (frame_start),
    .in_length_i    (frame_length),
    .in_tagged_i    (frame_tagged),
    .in_link_i      (frame_link && Links != 0),
    .session_i      (session_q),
    .crowded_o      (crowded),
    .calm_o         (calm),
    .read_valid_o   (tag_read),
    .read_ready_i   (tag_ready),
    .read_addr_o    (tag_addr),
    .read_data_i    (ring_data),
    .hash_valid_o   (hash_valid[0]),
    .hash_ready_i   (hash_ready[0]),
    .hash_word_o    (hash_word[0]),
    .hash_first_o   (hash_first[0]),
    .hash_count_o   (hash_count[0]),
    .hash_last_o    (hash_last[0]),
    .hash_done_i    (hash_done[0]),
    .hash_h_i       (hash_h[0]),
    .out_valid_o    (judged_valid),
    .out_ready_i    (judged_ready),
    .out_start_o    (judged_start),
    .out_length_o   (judged_length),
    .out_authentic_o(judged_authentic),
    .out_link_o     (judged_link)
  );

  logic                fast_q, fast_write, pattern_set, expected_set, writer_busy_q;
  logic                writer_asked_q;              // the processor's write waits
  logic                message, message_packet, messages_on, message_write;
  logic [1:0]          message_stream;
  logic [31:0]         message_seq, message_acknowledge;
  logic [21:0]         message_to;
  logic [2:0]          streams;
  logic [15:0]         message_most;
  assign streams      = role_streams_i < 16'd4 ? role_streams_i[2:0] : 3'd4;
  assign message_most = mtu_i - 16'(gs_shell_frame_pkg::HeadBytes - 14);
  logic [RingLog2-1:0] fast_from;
  logic [31:0]         fast_to, fast_expected, io_wdata;
  logic [15:0]         fast_bytes;
  logic [9:0]          index;
  logic                frame_q, frame_authentic_q, frame_stored_q, pop;   // the processor's frame
  ptr_t                frame_start_q, released;
  gs_shell_fast #(
    .WordsLog2(RingLog2)
  ) i_fast (
    .clk_i,
    .rst_ni,
    .enable_i       (fast_q),
    .messages_i     (messages_on),
    .pattern_set_i  (pattern_set),
    .pattern_at_i   (index[3:0]),
    .pattern_i      (io_wdata),
    .expected_set_i (expected_set),
    .expected_i     (io_wdata),
    .expected_o     (fast_expected),
    .memory_bytes_i,
    .message_type_i (types_i[7]),
    .streams_i      (streams),
    .most_i         (message_most),
    .in_valid_i     (judged_valid),
    .in_ready_o     (judged_ready),
    .in_start_i     (judged_start),
    .in_length_i    (judged_length),
    .in_authentic_i (judged_authentic),
    .in_link_i      (judged_link),
    .read_valid_o   (fast_read),
    .read_ready_i   (fast_ready),
    .read_addr_o    (fast_addr),
    .read_data_i    (ring_data),
    .writer_busy_i  (writer_busy_q || writer_asked_q),
    .write_o        (fast_write),
    .write_from_o   (fast_from),
    .write_to_o     (fast_to),
    .write_bytes_o  (fast_bytes),
    .message_o            (message),
    .message_packet_o     (message_packet),
    .message_stream_o     (message_stream),
    .message_seq_o        (message_seq),
    .message_acknowledge_o(message_acknowledge),
    .link_o         (link_frame),
    .link_done_i    (link_frame_done),
    .out_valid_o    (frame_q),
    .out_ready_i    (pop),
    .out_start_o    (frame_start_q),
    .out_authentic_o(frame_authentic_q),
    .out_stored_o   (frame_stored_q),
    .released_o     (released)
  );
  always_ff @(posedge clk_i) begin
    // The writer may still read a frame that is released.
    if (!writer_busy_q && !writer_asked_q) tail_q <= released;
    if (!rst_ni) tail_q <= '0;
  end

  // ---------------------------------------------------------------------------------------------- processor
  logic        io_valid, io_ready, io_write;
  logic [31:0] io_addr, io_rdata, trap_pc;
  logic [3:0]  io_strb;
  logic        trap;
  logic [31:0] unused_ram;
  gs_rv32_ram #(
    .RamBytes(RamBytes),
    .InitFile(Firmware)
  ) i_processor (
    .clk_i,
    .rst_ni,
    .io_valid_o (io_valid),
    .io_ready_i (io_ready),
    .io_addr_o  (io_addr),
    .io_write_o (io_write),
    .io_strb_o  (io_strb),
    .io_wdata_o (io_wdata),
    .io_rdata_i (io_rdata),
    .trap_o     (trap),
    .trap_pc_o  (trap_pc),
    .ram_en_i   (1'b0),
    .ram_strb_i ('0),
    .ram_addr_i ('0),
    .ram_wdata_i('0),
    .ram_rdata_o(unused_ram)
  );
  // Windows: registers, the place for the next frame to send, and the ring; the latter two also with swapped bytes
  // (bit 23), since numbers in frames have their most significant byte first.
  logic is_place, is_ring, is_register, swapped;
  assign swapped     = io_addr[23];
  assign is_register = io_addr[27:24] == 4'h0;
  assign is_place    = io_addr[27:24] == 4'h1;
  assign is_ring     = io_addr[27:24] == 4'h2;
  assign index = io_addr[11:2];
  logic set;
  assign alive     = set && index == 10'h000;
  assign trap_seen = trap;
  assign set = io_valid && io_ready && io_write && is_register;

  // ---------------------------------------------------------------------------------------------- memory writer
  logic        writer_image_q, writer_bad_q, writer_go_q, writer_start, writer_done, writer_fail;
  logic        writer_packet_q;              // the source is the ring of packets of the role
  logic        writer_message_q;             // the bytes are those of a packet, not of a command
  logic        writer_area_q;                // the destination is the area for packets
  logic [RingLog2-1:0] writer_from_q, asked_from_q;
  logic [31:0] writer_to_q, asked_to_q;
  logic        asked_image_q;
  logic [16:0] asked_bytes_q;
  logic        store_valid, store_ready;     // a packet of the role waits for the writer
  logic [StreamLog2-1:0] store_from;
  logic [21:0] store_to;
  logic [15:0] store_bytes;
  logic [16:0] writer_bytes_q;
  logic        guard_write_done, guard_write_allowed, guard_verified, guard_busy, guard_check_done, guard_check_good;
  logic        guard_load_done, guard_load_refused;
  logic        source_valid, source_take;
  logic [31:0] source_word;

  logic role_range;
  assign role_range   = writer_area_q || 33'(writer_to_q) + 33'(writer_bytes_q) <= 33'(memory_bytes_i);
  assign writer_start = writer_go_q && (writer_image_q ? guard_write_done && guard_write_allowed : role_range);
  logic [31:0] writer_to;
  always_comb begin
    writer_to = writer_to_q;
    if (writer_image_q) writer_to = ImageBase + writer_to_q;
    else if (writer_area_q) writer_to = PacketBase + {10'd0, writer_to_q[21:0]};
  end
  gs_shell_writer #(
    .AddrW(32)
  ) i_writer (
    .clk_i,
    .rst_ni,
    .start_i     (writer_start),
    .address_i   (writer_to),
    .bytes_i     (writer_bytes_q),
    .done_o      (writer_done),
    .fail_o      (writer_fail),
    .word_valid_i(source_valid),
    .word_ready_o(source_take),
    .word_i      (source_word),
    .aw_valid_o,
    .aw_ready_i,
    .aw_addr_o,
    .w_valid_o,
    .w_ready_i,
    .w_data_o,
    .w_strb_o,
    .b_valid_i,
    .b_error_i
  );
  // Words of the ring, one ahead of the writer. The word after the last one is not read: the next frame, or the role's
  // next packet, may be written there.
  logic [RingLog2-1:0] fetch_q, fetch_last_q;
  logic                fetching_q, fetched_q, kept_q;
  logic [31:0]         kept_word_q, packet_word;
  logic [31:0]         ring_or_packet;
  assign ring_or_packet = writer_packet_q ? packet_word : ring_data;
  assign source_valid   = fetched_q;
  assign source_word    = kept_q ? kept_word_q : ring_or_packet;
  logic source_wanted, packet_read;
  assign source_wanted  = fetching_q && (!fetched_q || source_take);
  assign source_read    = source_wanted && !writer_packet_q;
  assign packet_read    = source_wanted && writer_packet_q;
  assign source_addr    = fetch_q;
  logic fetch;
  assign fetch = packet_read || (source_read && source_ready);
  always_ff @(posedge clk_i) begin
    if (fetch) fetch_q <= fetch_q + 1'b1;
    if (fetch && fetch_q == fetch_last_q) fetching_q <= 1'b0;
    fetched_q <= fetch || (fetched_q && !source_take);
    kept_q    <= fetched_q && !source_take;
    if (fetched_q && !kept_q) kept_word_q <= ring_or_packet;
    if (writer_start) begin
      fetching_q   <= 1'b1;
      fetch_q      <= writer_from_q;
      fetch_last_q <= writer_from_q + RingLog2'((writer_bytes_q - 17'd1) >> 2);
      fetched_q    <= 1'b0;
      kept_q       <= 1'b0;
    end
    if (writer_done) begin
      fetching_q    <= 1'b0;
      fetched_q     <= 1'b0;
      writer_busy_q <= 1'b0;
      writer_bad_q  <= writer_fail;
    end
    if (writer_go_q && writer_image_q && guard_write_done) begin
      writer_go_q <= 1'b0;
      if (!guard_write_allowed) {writer_busy_q, writer_bad_q} <= 2'b01;
    end
    if (writer_go_q && !writer_image_q) begin
      writer_go_q <= 1'b0;
      if (!role_range) {writer_busy_q, writer_bad_q} <= 2'b01;
    end
    if (set && index == 10'h028) asked_from_q <= io_wdata[2+:RingLog2];
    if (set && index == 10'h029) asked_to_q <= io_wdata;
    if (set && index == 10'h02A && !writer_asked_q) begin
      asked_bytes_q  <= io_wdata[16:0];
      asked_image_q  <= io_wdata[31];
      writer_asked_q <= io_wdata[16:0] != '0;
    end
    // gs_shell_fast commits nothing while the writer is busy, or the processor's write waits.
    if (fast_write || message_write) begin
      writer_from_q    <= fast_from;
      writer_to_q      <= message_write ? {10'd0, message_to} : fast_to;
      writer_bytes_q   <= 17'(fast_bytes);
      writer_image_q   <= 1'b0;
      writer_packet_q  <= 1'b0;
      writer_area_q    <= message_write;
      writer_message_q <= message_write;
      writer_busy_q    <= fast_bytes != '0;
      writer_go_q      <= fast_bytes != '0;
      writer_bad_q     <= 1'b0;
    end else if (writer_asked_q && !writer_busy_q) begin
      writer_asked_q   <= 1'b0;
      writer_from_q    <= asked_from_q;
      writer_to_q      <= asked_to_q;
      writer_bytes_q   <= asked_bytes_q;
      writer_image_q   <= asked_image_q;
      writer_packet_q  <= 1'b0;
      writer_area_q    <= 1'b0;
      writer_message_q <= 1'b0;
      writer_busy_q    <= 1'b1;
      writer_go_q      <= 1'b1;
      writer_bad_q     <= 1'b0;
    end else if (store_valid && store_ready) begin
      writer_from_q    <= RingLog2'(store_from);
      writer_to_q      <= {10'd0, store_to};
      writer_bytes_q   <= 17'(store_bytes);
      writer_image_q   <= 1'b0;
      writer_packet_q  <= 1'b1;
      writer_area_q    <= 1'b1;
      writer_message_q <= 1'b1;
      writer_busy_q    <= 1'b1;
      writer_go_q      <= 1'b1;
      writer_bad_q     <= 1'b0;
    end
    if (!rst_ni) begin
      writer_asked_q <= 1'b0;
      writer_busy_q <= 1'b0;
      writer_go_q   <= 1'b0;
      writer_bad_q  <= 1'b0;
      fetching_q    <= 1'b0;
      fetched_q     <= 1'b0;
    end
  end

  assign store_ready = !writer_busy_q && !writer_asked_q && !fast_write && !message_write;

  // ---------------------------------------------------------------------------------------------- memory reader
  typedef enum logic [2:0] {ToPlace, ToXor, ToStream, ToHash, ToExpected, ToConfig} dest_e;
  logic               reader_busy, reader_fail, reader_start, word_valid, word_ready, word_last;
  logic [31:0]        word, reader_at, reader_bytes;
  logic [2:0]         word_bytes;
  dest_e              dest_q, request_dest_q;
  logic               request_q, request_failed_q, mine_q;   // the processor's read waits; has failed; is running
  logic [31:0]        request_at_q;
  logic [27:0]        request_bytes_q;
  logic               message_read, message_read_ready, message_to_role, message_mine_q;
  logic [21:0]        message_at;
  logic [15:0]        message_bytes;
  logic               guard_read, guard_to_hash, guard_to_expected, guard_to_config, busy_before_q;
  logic [OffsetW-1:0] guard_at;
  logic [31:0]        guard_bytes;
  logic               guard_waits_q, guard_wants, reader_ended;
  assign guard_wants  = guard_read || guard_waits_q;
  assign reader_start = !reader_busy && !busy_before_q && (guard_wants || request_q || message_read);
  assign message_read_ready = reader_start && !guard_wants && !request_q;
  always_comb begin
    reader_at    = PacketBase + {10'd0, message_at};
    reader_bytes = 32'(message_bytes);
    if (guard_wants) begin
      reader_at    = ImageBase + 32'(guard_at);
      reader_bytes = guard_bytes;
    end else if (request_q) begin
      reader_at    = request_at_q;
      reader_bytes = 32'(request_bytes_q);
    end
  end
  assign reader_ended = busy_before_q && !reader_busy;
  gs_shell_reader #(
    .AddrW(32)
  ) i_reader (
    .clk_i,
    .rst_ni,
    .start_i     (reader_start),
    .address_i   (reader_at),
    .bytes_i     (reader_bytes),
    .busy_o      (reader_busy),
    .fail_o      (reader_fail),
    .word_valid_o(word_valid),
    .word_ready_i(word_ready),
    .word_o      (word),
    .word_last_o (word_last),
    .word_bytes_o(word_bytes),
    .ar_valid_o,
    .ar_ready_i,
    .ar_addr_o,
    .ar_len_o,
    .r_valid_i,
    .r_ready_o,
    .r_data_i,
    .r_error_i
  );
  always_ff @(posedge clk_i) begin
    busy_before_q <= reader_busy;
    guard_waits_q <= guard_wants && !reader_start;
    if (reader_start) begin
      if (guard_wants) dest_q <= guard_to_hash ? ToHash : guard_to_expected ? ToExpected : ToConfig;
      else if (request_q) dest_q <= request_dest_q;
      else dest_q <= message_to_role ? ToStream : ToPlace;
      mine_q         <= !guard_wants && request_q;
      message_mine_q <= message_read_ready;
      if (!guard_wants) request_q <= 1'b0;
    end
    if (reader_ended && mine_q) begin
      mine_q           <= 1'b0;
      request_failed_q <= reader_fail;
    end
    if (set && index == 10'h02C) request_at_q <= io_wdata;
    if (set && index == 10'h02E && !request_q && !mine_q) begin
      request_q       <= io_wdata[27:0] != '0;
      request_bytes_q <= io_wdata[27:0];
      request_dest_q  <= io_wdata[28] ? ToXor : ToPlace;
    end
    if (!rst_ni) begin
      busy_before_q <= 1'b0;
      guard_waits_q <= 1'b0;
      request_q     <= 1'b0;
      mine_q        <= 1'b0;
      message_mine_q <= 1'b0;
    end
  end

  // Words of blocks that are hashed: zeros fill the last block.
  logic [31:0] hashed_words_q, hash_bytes_q;
  logic        padding_q, pad;
  logic        hash_take;
  assign pad           = padding_q;
  assign hash_valid[2] = (dest_q == ToHash && reader_busy && word_valid) || pad;
  assign hash_word[2]  = pad ? '0 : word;
  assign hash_first[2] = hashed_words_q < 32'd16;
  logic [31:0] hash_end;
  assign hash_end      = {hashed_words_q[29:4], 6'd0} + 32'd64;
  assign hash_last[2]  = hash_end >= hash_bytes_q;
  assign hash_count[2] = hash_last[2] ? hash_bytes_q : hash_end;
  assign hash_take     = hash_valid[2] && hash_ready[2];
  always_ff @(posedge clk_i) begin
    if (hash_take) begin
      hashed_words_q <= hashed_words_q + 1;
      if (&hashed_words_q[3:0]) padding_q <= 1'b0;
      else if (!pad && word_last) padding_q <= 1'b1;
    end
    // Another read may begin while zeros still follow the last word of a block.
    if (reader_start && guard_wants && guard_to_hash) begin
      hashed_words_q <= '0;
      hash_bytes_q   <= reader_bytes;
    end
    if (!rst_ni) padding_q <= 1'b0;
  end

  // XOR of memory into a frame in the ring: a word is read while the sum of the one before is written.
  logic                xor_valid_q, xor_fresh_q, xor_take;
  logic [31:0]         xor_word_q, xor_kept_q, xor_old;
  assign xor_read = dest_q == ToXor && reader_busy && word_valid && (!xor_valid_q || xor_write);
  assign xor_take = xor_read && xor_ready;
  assign xor_old  = xor_fresh_q ? ring_data : xor_kept_q;
  assign xor_word  = xor_old ^ xor_word_q;
  assign xor_write = xor_valid_q && !rx_write;
  always_ff @(posedge clk_i) begin
    xor_fresh_q <= xor_take;
    if (xor_fresh_q) xor_kept_q <= ring_data;
    if (xor_take) begin
      xor_valid_q <= 1'b1;
      xor_word_q  <= word;
      xor_to_q    <= xor_at_q;
      xor_at_q    <= xor_at_q + 1'b1;
    end else if (xor_write) begin
      xor_valid_q <= 1'b0;
    end
    if (set && index == 10'h02D) xor_at_q <= io_wdata[2+:RingLog2];
    if (!rst_ni) xor_valid_q <= 1'b0;
  end

  // ---------------------------------------------------------------------------------------------- image
  logic [OffsetW-1:0]   body_at_q;
  logic [31:0]          manifest_bytes_q, body_bytes_q;
  logic [7:0][31:0]     root_q;
  logic                 image_begin_q, image_discard_q, check_q, check_manifest_q, load_q;
  logic [BlocksLog2-1:0] check_block_q;
  logic                 image_good_q, image_done_q;
  logic [BlocksLog2:0]  image_blocks;
  gs_shell_image #(
    .BlocksLog2(BlocksLog2)
  ) i_image (
    .clk_i,
    .rst_ni,
    .begin_i         (image_begin_q),
    .body_at_i       (body_at_q),
    .manifest_bytes_i(manifest_bytes_q),
    .body_bytes_i    (body_bytes_q),
    .root_i          (root_q),
    .discard_i       (image_discard_q),
    .write_i         (writer_go_q && writer_image_q && !guard_write_done),
    .write_at_i      (writer_to_q[OffsetW-1:0]),
    .write_bytes_i   (writer_bytes_q),
    .write_done_o    (guard_write_done),
    .write_allowed_o (guard_write_allowed),
    .writing_i       ((writer_busy_q && writer_image_q) || (writer_asked_q && asked_image_q)),
    .check_i         (check_q),
    .check_manifest_i(check_manifest_q),
    .check_block_i   (check_block_q),
    .check_done_o    (guard_check_done),
    .check_good_o    (guard_check_good),
    .load_i          (load_q),
    .load_done_o     (guard_load_done),
    .load_refused_o  (guard_load_refused),
    .busy_o          (guard_busy),
    .verified_o      (guard_verified),
    .good_o          (image_blocks),
    .read_o          (guard_read),
    .read_at_o       (guard_at),
    .read_bytes_o    (guard_bytes),
    .read_ended_i    (reader_ended && !mine_q && !message_mine_q),
    .read_failed_i   (reader_fail),
    .to_hash_o       (guard_to_hash),
    .to_expected_o   (guard_to_expected),
    .to_config_o     (guard_to_config),
    .word_valid_i    (dest_q == ToExpected && word_valid && reader_busy),
    .word_i          (word),
    .hashed_i        (hash_done[2]),
    .digest_i        (hash_h[2])
  );
  logic config_request_q, config_done_q, config_error_q;
  always_ff @(posedge clk_i) begin
    image_begin_q   <= 1'b0;
    image_discard_q <= 1'b0;
    if (guard_check_done) check_q <= 1'b0;
    if (guard_load_done) load_q <= 1'b0;
    if (guard_check_done || guard_load_done) begin
      image_done_q <= 1'b1;
      image_good_q <= guard_check_done ? guard_check_good : !guard_load_refused;
    end
    // The end of an image that the firmware has given up is none of the next one.
    if (config_done_i && config_grant_i) {config_done_q, config_error_q} <= {1'b1, config_error_i};
    if (set) begin
      case (index)
        10'h030: body_at_q <= io_wdata[OffsetW-1:0];
        10'h031: manifest_bytes_q <= io_wdata;
        10'h032: body_bytes_q <= io_wdata;
        10'h033: begin
          image_done_q     <= 1'b0;
          image_begin_q    <= io_wdata[2:0] == 3'd1;
          image_discard_q  <= io_wdata[2:0] == 3'd2;
          check_q          <= io_wdata[2:0] == 3'd3 || io_wdata[2:0] == 3'd4;
          check_manifest_q <= io_wdata[2:0] == 3'd3;
          check_block_q    <= io_wdata[8+:BlocksLog2];
          load_q           <= io_wdata[2:0] == 3'd5;
        end
        10'h050: begin
          config_request_q <= io_wdata[0];
          config_done_q    <= 1'b0;
        end
        default: ;
      endcase
      if (index[9:3] == 7'h07) root_q[index[2:0]] <= io_wdata;
    end
    if (!rst_ni) begin
      image_begin_q    <= 1'b0;
      image_discard_q  <= 1'b0;
      check_q          <= 1'b0;
      load_q           <= 1'b0;
      config_request_q <= 1'b0;
      config_done_q    <= 1'b0;
    end
  end
  assign config_request_o = config_request_q;
  assign config_valid_o   = dest_q == ToConfig && reader_busy && word_valid && config_grant_i && config_request_q;
  assign config_data_o    = word;
  assign config_bytes_o   = word_bytes;
  assign config_last_o    = word_last;

  localparam int unsigned RoomW = $clog2((1 << PlaceLog2) + 1);
  logic             empty_q, room_ready, empty_packet;
  logic [RoomW-1:0] stream_held;
  logic [1:0]       message_dest, stream_dest_q;

  // ---------------------------------------------------------------------------------------------- send
  logic                  place_free, place_ready, place_write;
  logic [PlacesLog2-1:0] unused_place;
  logic [31:0]           place_word;
  assign place_word = swapped ? gs_shell_frame_pkg::swap(io_wdata) : io_wdata;
  logic [PlaceLog2-1:0]  place_word_q;        // where the reader's next word goes
  logic                  reader_place, unused_sent;
  assign reader_place = dest_q == ToPlace && reader_busy && word_valid;
  assign place_write  = io_valid && io_write && is_place;
  // The place to fill belongs to the processor from its read of 25 on, to gs_shell_messages, or to gs_shell_links,
  // until it is sent. No requester starves: after a read of 25 that found it taken, only the processor gets the place;
  // links claim it, and messages do not begin while they do.
  logic        place_mine_q, place_wanted_q, place_available, place_asked, message_taken, message_header, message_send;
  logic [3:0]  message_word_at;
  logic [31:0] message_word;
  logic [15:0] message_length, link_length;
  logic        link_claim, link_taken, link_write, link_send;
  logic [PlaceLog2-1:0] link_word_at;
  logic [31:0] link_word;
  assign place_asked = io_valid && io_ready && !io_write && is_register && index == 10'h025;
  assign place_available = place_free && !message_taken && !link_taken;
  always_ff @(posedge clk_i) begin
    if (place_asked) place_wanted_q <= !place_available;
    if (place_asked && place_available) place_mine_q <= 1'b1;
    if (set && index == 10'h025) place_mine_q <= 1'b0;
    if (!rst_ni) begin
      place_mine_q   <= 1'b0;
      place_wanted_q <= 1'b0;
    end
  end
  logic [PlaceLog2-1:0] place_addr;
  logic [31:0]          place_data;
  always_comb begin
    place_addr = place_word_q;
    place_data = word;
    if (place_write) begin
      place_addr = io_addr[2+:PlaceLog2];
      place_data = place_word;
    end else if (message_header) begin
      place_addr = PlaceLog2'(message_word_at);
      place_data = message_word;
    end else if (link_write) begin
      place_addr = link_word_at;
      place_data = link_word;
    end
  end
  gs_shell_tx #(
    .PlaceLog2 (PlaceLog2),
    .PlacesLog2(PlacesLog2)
  ) i_tx (
    .clk_i,
    .rst_ni,
    .write_valid_i(place_write || message_header || link_write || reader_place),
    .write_ready_o(place_ready),
    .write_addr_i (place_addr),
    .write_data_i (place_data),
    .free_o       (place_free),
    .place_o      (unused_place),
    .send_i       (message_send || link_send || (set && index == 10'h025)),
    .length_i     (message_send ? message_length : link_send ? link_length : io_wdata[15:0]),
    .seal_i       (message_send || (io_wdata[31] && !link_send)),
    .hash_valid_o (hash_valid[1]),
    .hash_ready_i (hash_ready[1]),
    .hash_word_o  (hash_word[1]),
    .hash_first_o (hash_first[1]),
    .hash_count_o (hash_count[1]),
    .hash_last_o  (hash_last[1]),
    .hash_done_i  (hash_done[1]),
    .hash_h_i     (hash_h[1]),
    .data_o       (tx_data_o),
    .valid_o      (tx_valid_o),
    .ready_i      (tx_ready_i),
    .last_o       (tx_last_o),
    .sent_o       (unused_sent)
  );
  always_ff @(posedge clk_i) begin
    if (reader_start) place_word_q <= PlaceLog2'(gs_shell_frame_pkg::HeadBytes / 4);
    else if (reader_place && place_ready && !place_write && !message_header) place_word_q <= place_word_q + 1'b1;
  end

  always_comb begin
    case (dest_q)
      ToPlace:    word_ready = place_ready && !place_write && !message_header;
      ToXor:      word_ready = xor_take;
      ToStream:   word_ready = (room_ready && !empty_q) || role_stop_o;   // the rest of a packet is dropped
      ToHash:     word_ready = hash_ready[2] && !pad;
      ToExpected: word_ready = 1'b1;
      // The rest of an image that was rejected or given up is dropped: blocks are read by the same reader.
      default:    word_ready = (config_ready_i && config_grant_i) || config_done_q || !config_request_q;
    endcase
  end

  // ---------------------------------------------------------------------------------------------- packets
  typedef struct packed {
    logic [31:0] data;
    logic [2:0]  bytes;
    logic        last;
    logic [7:0]  dest;
  } stream_t;
  // A packet is read only if all of it has room here, so that a role that stops holds up nothing else.
  stream_t          stream_in, stream_out;
  assign stream_in = empty_q ? stream_t'{data: '0, bytes: '0, last: 1'b1, dest: 8'(stream_dest_q)}
                             : stream_t'{data: word, bytes: word_bytes, last: word_last, dest: 8'(stream_dest_q)};
  gs_fifo #(
    .data_t(stream_t),
    .Depth (1 << PlaceLog2),
    .Block (1'b1)
  ) i_stream (
    .clk_i,
    .rst_ni     (rst_ni && !role_stop_o),
    .in_valid_i (empty_q || (dest_q == ToStream && reader_busy && word_valid)),
    .in_ready_o (room_ready),
    .in_data_i  (stream_in),
    .out_valid_o(stream_valid_o),
    .out_ready_i(stream_ready_i),
    .out_data_o (stream_out),
    .count_o    (stream_held)
  );
  assign stream_data_o  = stream_out.data;
  assign stream_bytes_o = stream_out.bytes;
  assign stream_last_o  = stream_out.last;
  assign stream_dest_o  = stream_out.dest;
  logic                  packet_valid, packet_pop;
  logic [StreamLog2-1:0] packet_start;
  logic [15:0]           packet_bytes;
  logic [7:0]            packet_dest;
  gs_shell_packets #(
    .WordsLog2(StreamLog2)
  ) i_packets (
    .clk_i,
    .rst_ni      (rst_ni && !role_stop_o),
    .valid_i     (stream_valid_i),
    .ready_o     (stream_ready_o),
    .data_i      (stream_data_i),
    .bytes_i     (stream_bytes_i),
    .last_i      (stream_last_i),
    .dest_i      (stream_dest_i),
    .read_valid_i(packet_read),
    .read_addr_i (fetch_q[StreamLog2-1:0]),
    .read_data_o (packet_word),
    .out_valid_o (packet_valid),
    .out_ready_i (packet_pop),
    .out_start_o (packet_start),
    .out_bytes_o (packet_bytes),
    .out_dest_o  (packet_dest)
  );
  always_ff @(posedge clk_i) begin
    if (room_ready) empty_q <= 1'b0;
    if (empty_packet) empty_q <= 1'b1;
    // The next job may begin while an empty packet waits.
    if (!empty_q) stream_dest_q <= message_dest;
    if (!rst_ni || role_stop_o) empty_q <= 1'b0;
  end

  logic [7:0]  message_events;
  logic [3:0]  message_pending;
  logic        message_busy;
  logic [15:0] messages_handled;
  logic [31:0] messages_accepted, messages_sent;
  gs_shell_messages #(
    .WordsLog2(StreamLog2)
  ) i_messages (
    .clk_i,
    .rst_ni,
    .start_i            (set && index == 10'h060 && io_wdata[0]),
    .stop_i             (set && index == 10'h060 && !io_wdata[0]),
    .resend_i           (set && index == 10'h061),
    .resend_stream_i    (io_wdata[1:0]),
    .header_set_i       (set && index[9:4] == 6'h09),
    .header_at_i        (index[3:0]),
    .header_i           (io_wdata),
    .clear_i            (set && index == 10'h062 ? io_wdata[7:0] : 8'd0),
    .events_o           (message_events),
    .pending_o          (message_pending),
    .enabled_o          (messages_on),
    .busy_o             (message_busy),
    .handled_o          (messages_handled),
    .accepted_o         (messages_accepted),
    .sent_o             (messages_sent),
    .streams_i          (streams),
    .most_i             (message_most),
    .frame_i            (message),
    .frame_packet_i     (message_packet),
    .frame_stream_i     (message_stream),
    .frame_seq_i        (message_seq),
    .frame_acknowledge_i(message_acknowledge),
    .frame_bytes_i      (fast_bytes),
    .frame_write_o      (message_write),
    .frame_to_o         (message_to),
    .store_valid_o      (store_valid),
    .store_ready_i      (store_ready),
    .store_from_o       (store_from),
    .store_to_o         (store_to),
    .store_bytes_o      (store_bytes),
    .written_i          (writer_done),
    .packet_valid_i     (packet_valid),
    .packet_ready_o     (packet_pop),
    .packet_start_i     (packet_start),
    .packet_bytes_i     (packet_bytes),
    .packet_dest_i      (packet_dest),
    .read_valid_o       (message_read),
    .read_ready_i       (message_read_ready),
    .read_at_o          (message_at),
    .read_bytes_o       (message_bytes),
    .read_to_role_o     (message_to_role),
    .read_ended_i       (reader_ended && message_mine_q),
    .role_stop_i        (role_stop_o),
    .queue_empty_i      (stream_held == '0 && !empty_q),
    .wanted_i           (stream_wanted_i[3:0]),
    .dest_o             (message_dest),
    .empty_packet_o     (empty_packet),
    .place_free_i       (place_free && !place_mine_q && !place_wanted_q && !place_asked && !link_taken && !link_claim),
    .place_taken_o      (message_taken),
    .place_write_o      (message_header),
    .place_ready_i      (place_ready && !place_write),
    .place_addr_o       (message_word_at),
    .place_data_o       (message_word),
    .send_o             (message_send),
    .send_bytes_o       (message_length)
  );

  // ---------------------------------------------------------------------------------------------- links
  logic             link_reads_table;
  logic [3:0][31:0] link_counts;
  if (Links != 0) begin : gen_links
    gs_shell_links #(
      .Links    (Links),
      .WordsLog2(RingLog2),
      .PlaceLog2(PlaceLog2)
    ) i_links (
      .clk_i,
      .rst_ni,
      .mac_i,
      .type_i       (types_i[8]),
      .run_i        (messages_on && !role_stop_o),
      .bound_set_i  (set && index == 10'h0B0),
      .bound_i      (io_wdata[Links-1:0]),
      .table_set_i  (set && index[9:4] == 6'h0A),
      .table_at_i   (index[3:0]),
      .table_i      (io_wdata),
      .reads_table_o(link_reads_table),
      .counts_o     (link_counts),
      .frame_i      (link_frame),
      .start_i      (judged_start[RingLog2-1:0]),
      .bytes_i      (judged_length),
      .done_o       (link_frame_done),
      .read_valid_o (link_read),
      .read_ready_i (fast_ready),
      .read_addr_o  (link_addr),
      .read_data_i  (ring_data),
      .valid_o      (link_valid_o),
      .data_o       (link_data_o),
      .last_o       (link_last_o),
      .error_o      (link_error_o),
      .dest_o       (link_dest_o),
      .valid_i      (link_valid_i),
      .ready_o      (link_ready_o),
      .data_i       (link_data_i),
      .last_i       (link_last_i),
      .dest_i       (link_dest_i),
      .claim_o      (link_claim),
      .grant_i      (place_free && !place_mine_q && !place_wanted_q && !place_asked && !message_taken),
      .taken_o      (link_taken),
      .write_o      (link_write),
      .ready_i      (place_ready && !place_write),
      .addr_o       (link_word_at),
      .word_o       (link_word),
      .send_o       (link_send),
      .bytes_o      (link_length)
    );
  end else begin : gen_no_links
    assign {link_reads_table, link_counts, link_frame_done, link_read, link_addr} = '0;
    assign {link_valid_o, link_data_o, link_last_o, link_error_o, link_dest_o} = '0;
    assign {link_claim, link_taken, link_write, link_word_at, link_word, link_send, link_length} = '0;
    assign link_ready_o = 1'b1;
    logic unused_links;
    assign unused_links = ^{link_frame, link_valid_i, link_data_i, link_last_i, link_dest_i};
  end

  // ---------------------------------------------------------------------------------------------- role
  logic        stop_q, running_q, done_q;
  logic [31:0] code_q;
  logic [63:0] cycles_q, result_address_q, result_bytes_q;
  logic        register_q, register_failed_q;
  logic [31:0] register_data_q, register_wait_q;
  assign role_stop_o      = stop_q || local_busy_i;
  assign role_start_o     = set && index == 10'h040;
  assign role_kernel_o    = io_wdata;
  assign register_valid_o = register_q;
  always_ff @(posedge clk_i) begin
    if (running_q) cycles_q <= cycles_q + 1;
    if (role_start_o) begin
      running_q <= 1'b1;
      done_q    <= 1'b0;
      cycles_q  <= '0;
    end
    if (running_q && role_done_i) begin
      running_q        <= 1'b0;
      done_q           <= 1'b1;
      code_q           <= role_code_i;
      result_address_q <= role_result_address_i;
      result_bytes_q   <= role_result_bytes_i;
    end
    if (set && index == 10'h041) stop_q <= io_wdata[0];
    if (local_busy_i || (set && index == 10'h041 && io_wdata[0])) {running_q, done_q} <= '0;
    // A register that does not answer fails; the role's reset ends the request.
    if (register_q) register_wait_q <= register_wait_q + 1;
    if (register_q && register_ready_i) begin
      register_q      <= 1'b0;
      register_data_q <= register_data_i;
    end else if (register_q && register_wait_q == 32'(RoleWait)) begin
      register_q        <= 1'b0;
      register_failed_q <= 1'b1;
    end
    if (set && index == 10'h04D) register_data_o <= io_wdata;
    if (set && (index == 10'h04C || index == 10'h04E) && !register_q) begin
      register_q         <= !role_stop_o;
      register_failed_q  <= role_stop_o;
      register_wait_q    <= '0;
      register_write_o   <= index == 10'h04E;
      register_address_o <= io_wdata;
    end
    if (!rst_ni) begin
      stop_q     <= 1'b1;
      running_q  <= 1'b0;
      done_q     <= 1'b0;
      register_q <= 1'b0;
    end
  end

  // Blocks that the processor hashes: it writes the chaining value, the count, then 16 words.
  logic [31:0] hash_word_q, hash_count_q;
  logic        hash_waits_q, hash_running_q, hash_last_q;
  assign hash_valid[3] = hash_waits_q;
  assign hash_word[3]  = hash_word_q;
  assign hash_first[3] = 1'b1;
  assign hash_count[3] = hash_count_q;
  assign hash_last[3]  = hash_last_q;
  always_ff @(posedge clk_i) begin
    if (hash_ready[3]) hash_waits_q <= 1'b0;
    if (hash_done[3]) hash_running_q <= 1'b0;
    if (set && index == 10'h070) begin
      hash_waits_q <= 1'b1;
      hash_word_q  <= io_wdata;
    end
    if (set && index == 10'h071) begin
      {hash_count_q, hash_last_q} <= {1'b0, io_wdata};
      hash_running_q              <= 1'b1;
    end
    if (set && index[9:3] == 7'h0F) chain_q[index[2:0]] <= io_wdata;
    if (!rst_ni) begin
      hash_waits_q   <= 1'b0;
      hash_running_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------------------------------------- local port, keys
  logic [7:0] local_loads_q, local_failures_q;
  logic       store_valid_q, store_busy_q, store_failed_q;
  assign store_valid_o = store_valid_q;
  always_ff @(posedge clk_i) begin
    if (local_done_i && !local_error_i) local_loads_q <= local_loads_q + 1'b1;
    if (local_done_i && local_error_i) local_failures_q <= local_failures_q + 1'b1;
    if (store_ready_i) store_valid_q <= 1'b0;
    if (store_busy_q && store_done_i) {store_busy_q, store_failed_q} <= {1'b0, store_failed_i};
    if (set && (index == 10'h052 || index == 10'h053)) begin
      store_valid_q <= 1'b1;
      store_data_o  <= io_wdata;
      store_last_o  <= index[0];
      store_busy_q  <= 1'b1;
    end
    if (!rst_ni) begin
      local_loads_q    <= '0;
      local_failures_q <= '0;
      store_valid_q    <= 1'b0;
      store_busy_q     <= 1'b0;
    end
  end

  // ---------------------------------------------------------------------------------------------- registers
  // A read of the ring takes a cycle after its grant.
  logic ring_wait_q;
  assign cpu_ring_read = io_valid && !io_write && is_ring && !ring_wait_q;
  assign cpu_ring_addr = io_addr[2+:RingLog2];
  assign pop           = set && index == 10'h021;
  assign expected_set  = set && index == 10'h027;
  assign pattern_set   = set && index[9:4] == 6'h08;
  always_ff @(posedge clk_i) ring_wait_q <= cpu_ring_read && cpu_ring_ready && rst_ni;
  always_comb begin
    io_ready = 1'b1;
    if (is_ring && !io_write) io_ready = ring_wait_q;
    if (is_place && io_write) io_ready = place_ready;
    if (is_register && io_write && index == 10'h070) io_ready = !hash_waits_q;
  end
  logic unused;
  assign unused = ^{trap_pc, io_strb, unused_ram, frame_start_q[RingLog2], unused_place, unused_sent,
      io_addr[31:28], io_addr[22:14], io_addr[1:0], guard_to_config, stream_wanted_i[7:4]};
  logic [31:0] key_word, next_key_word;
  // Words of the key with the first byte in the lowest bits, as BLAKE2s has them
  assign key_word      = gs_shell_frame_pkg::swap(key_i[32*(7-32'(index[2:0]))+:32]);
  assign next_key_word = gs_shell_frame_pkg::swap(next_key_i[32*(7-32'(index[2:0]))+:32]);
  always_comb begin
    io_rdata = swapped ? gs_shell_frame_pkg::swap(ring_data) : ring_data;
    if (is_register) begin
      case (index)
        10'h000: io_rdata = ms_q;
        10'h001: io_rdata = entropy_i[31:0];
        10'h002: io_rdata = entropy_i[63:32];
        10'h003: io_rdata = {16'd0, mac_i[47:32]};
        10'h004: io_rdata = mac_i[31:0];
        10'h005: io_rdata = board_type_i;
        10'h006: io_rdata = {vendor_i, product_i};
        10'h007: io_rdata = serial_i[63:32];
        10'h008: io_rdata = serial_i[31:0];
        10'h009: io_rdata = boot_i;
        10'h00A: io_rdata = memory_bytes_i;
        10'h00B: io_rdata = image_max_i;
        10'h00C: io_rdata = {16'd0, mtu_i};
        10'h00E: io_rdata = ImageBase;
        10'h00F: io_rdata = PacketBase;
        10'h00D: io_rdata = {16'd0, 16'(4 << RingLog2)};
        10'h010, 10'h011, 10'h012, 10'h013, 10'h014, 10'h015, 10'h016, 10'h017: io_rdata = key_word;
        10'h018, 10'h019, 10'h01A, 10'h01B, 10'h01C, 10'h01D, 10'h01E, 10'h01F: io_rdata = next_key_word;
        10'h020: io_rdata = {31'd0, next_key_valid_i};
        10'h021: io_rdata = {16'(frame_start_q[RingLog2-1:0]) << 2, 13'd0, frame_stored_q, frame_authentic_q, frame_q};
        10'h022: io_rdata = seen_q;
        10'h023: io_rdata = bad_q;
        10'h024: io_rdata = overrun_q;
        10'h025: io_rdata = {31'd0, place_available};
        10'h026: io_rdata = fast_expected;
        10'h02A: io_rdata = {30'd0, writer_bad_q, writer_asked_q || (writer_busy_q && !writer_message_q)};
        10'h02E: io_rdata = {30'd0, request_failed_q, request_q || mine_q};
        10'h033: io_rdata = {16'(image_blocks), 11'd0, guard_busy, guard_verified, image_done_q, image_good_q,
                             check_q || load_q};
        10'h041: io_rdata = {29'd0, role_idle_i, done_q, running_q};
        10'h042: io_rdata = code_q;
        10'h043: io_rdata = cycles_q[63:32];
        10'h044: io_rdata = cycles_q[31:0];
        10'h045: io_rdata = result_address_q[63:32];
        10'h046: io_rdata = result_address_q[31:0];
        10'h047: io_rdata = result_bytes_q[63:32];
        10'h048: io_rdata = result_bytes_q[31:0];
        10'h049: io_rdata = {16'd0, role_streams_i};
        10'h04C: io_rdata = {30'd0, register_failed_q, register_q};
        10'h04D: io_rdata = register_data_q;
        10'h050: io_rdata = {29'd0, config_error_q, config_done_q, config_grant_i};
        10'h051: io_rdata = {15'd0, local_busy_i, local_failures_q, local_loads_q};
        10'h053: io_rdata = {29'd0, store_failed_q, store_busy_q, store_valid_q};
        10'h054, 10'h055, 10'h056, 10'h057: io_rdata = local_role_i[32*(3-32'(index[1:0]))+:32];
        10'h071: io_rdata = {31'd0, hash_running_q};
        10'h078, 10'h079, 10'h07A, 10'h07B, 10'h07C, 10'h07D, 10'h07E, 10'h07F: io_rdata = hash_h[3][index[2:0]];
        10'h0B0: io_rdata = {role_links_i, 7'd0, link_reads_table, 8'(Links)};
        10'h0B4, 10'h0B5, 10'h0B6, 10'h0B7: io_rdata = link_counts[index[1:0]];
        10'h060: io_rdata = {messages_handled, packet_valid, message_busy, 2'd0, message_pending, message_events};
        10'h061: io_rdata = messages_accepted;
        10'h062: io_rdata = messages_sent;
        10'h068, 10'h069, 10'h06A, 10'h06B: io_rdata = {types_i[{index[1:0], 1'b1}], types_i[{index[1:0], 1'b0}]};
        10'h06C: io_rdata = {16'd0, types_i[8]};
        default: io_rdata = '0;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (set && index[9:3] == 7'h03) session_key_q[index[2:0]] <= io_wdata;
    if (set && index == 10'h020) session_q <= io_wdata[0];
    if (set && index == 10'h026) fast_q <= io_wdata[0];
    if (!rst_ni) begin
      session_q <= 1'b0;
      fast_q    <= 1'b0;
    end
  end

  `GS_ASSERT_NOW(frame_is_not_read_while_it_is_written, !i_ring.collides)
endmodule
