// SPDX-License-Identifier: Apache-2.0

/// gs_shell_links with the transmitter of the shell, and a ring that the test fills.
module links_top #(
  parameter int unsigned Links    = 4,
  parameter int unsigned RingLog2 = 10
) (
  input  logic                clk_i,
  input  logic                rst_n,
  input  logic                run,
  input  logic                bound_set,
  input  logic [3:0]          bound,
  input  logic                table_set,
  input  logic [3:0]          table_at,
  input  logic [31:0]         table_word,
  output logic [127:0]        counts,
  /// read once a cycle: reads_table, frame_done, out_ready, in (error, last, valid, link, byte), tx (last, valid, byte)
  output logic [25:0]         seen,
  // A frame in the ring
  input  logic                ring_write,
  input  logic [RingLog2-1:0] ring_at,
  input  logic [31:0]         ring_word,
  input  logic                ring_stall,
  input  logic                frame,
  input  logic [RingLog2-1:0] frame_start,
  input  logic [15:0]         frame_bytes,
  /// last, valid, link, byte
  input  logic [11:0]         out,
  /// another user has the place, or writes to it
  input  logic                place_stall,
  input  logic                tx_ready
);
  logic        reads_table, frame_done, out_ready, tx_valid, tx_last;
  logic [12:0] in;
  logic [7:0]  tx_data;
  assign seen = {reads_table, frame_done, out_ready, in, tx_last, tx_valid, tx_data};

  logic was_reset_q;
  initial was_reset_q = 1'b0;
  logic rst_ni;
  always_ff @(posedge clk_i) if (!rst_n) was_reset_q <= 1'b1;
  assign rst_ni = rst_n && was_reset_q;

  logic [31:0]         ring[1 << RingLog2];
  logic                read_valid;
  logic [RingLog2-1:0] read_addr;
  logic [31:0]         read_data;
  always_ff @(posedge clk_i) begin
    if (ring_write) ring[ring_at] <= ring_word;
    // Another requester's word appears in the cycles without a grant.
    read_data <= read_valid && !ring_stall ? ring[read_addr] : 32'hDEAD_BEEF;
  end

  logic        claim, taken, write, place_ready, free, send;
  logic [8:0]  addr;
  logic [31:0] word;
  logic [15:0] bytes;
  gs_shell_links #(
    .Links    (Links),
    .WordsLog2(RingLog2),
    .PlaceLog2(9)
  ) u_links (
    .clk_i,
    .rst_ni,
    .mac_i        (48'h02_46_53_00_00_07),
    .type_i       (16'h88B6),
    .run_i        (run),
    .bound_set_i  (bound_set),
    .bound_i      (bound[Links-1:0]),
    .table_set_i  (table_set),
    .table_at_i   (table_at),
    .table_i      (table_word),
    .reads_table_o(reads_table),
    .counts_o     (counts),
    .frame_i      (frame),
    .start_i      (frame_start),
    .bytes_i      (frame_bytes),
    .done_o       (frame_done),
    .read_valid_o (read_valid),
    .read_ready_i (!ring_stall),
    .read_addr_o  (read_addr),
    .read_data_i  (read_data),
    .valid_o      (in[10]),
    .data_o       (in[7:0]),
    .last_o       (in[11]),
    .error_o      (in[12]),
    .dest_o       (in[9:8]),
    .valid_i      (out[10]),
    .ready_o      (out_ready),
    .data_i       (out[7:0]),
    .last_i       (out[11]),
    .dest_i       (out[9:8]),
    .claim_o      (claim),
    .grant_i      (free && !place_stall),
    .taken_o      (taken),
    .write_o      (write),
    .ready_i      (place_ready && !place_stall),
    .addr_o       (addr),
    .word_o       (word),
    .send_o       (send),
    .bytes_o      (bytes)
  );

  gs_shell_tx #(
    .PlaceLog2 (9),
    .PlacesLog2(2)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .write_valid_i(write && !place_stall),
    .write_ready_o(place_ready),
    .write_addr_i (addr),
    .write_data_i (word),
    .free_o       (free),
    .place_o      (),
    .send_i       (send),
    .length_i     (bytes),
    .seal_i       (1'b0),
    .hash_valid_o (),
    .hash_ready_i (1'b0),
    .hash_word_o  (),
    .hash_first_o (),
    .hash_count_o (),
    .hash_last_o  (),
    .hash_done_i  (1'b0),
    .hash_h_i     ('0),
    .data_o       (tx_data),
    .valid_o      (tx_valid),
    .ready_i      (tx_ready),
    .last_o       (tx_last),
    .sent_o       ()
  );

  logic unused;
  assign unused = ^{claim, taken};
endmodule
